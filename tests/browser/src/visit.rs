//! A visit: a tab, the browser's complaints about it, and the requests that it sent.

use crate::browser::Browser;
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit for an action of the page.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The properties of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub is_phone: bool,
    pub is_dark: bool,
}

/// A desktop window.
pub const DESKTOP: Screen = Screen { width: 1280, height: 900, is_phone: false, is_dark: false };
/// A phone in portrait orientation.
pub const PHONE: Screen = Screen { width: 375, height: 812, is_phone: true, is_dark: false };

/// True if the page does not scroll sideways. `innerWidth` would not do: on a phone it grows with
/// whatever is too wide.
pub const FITS: &str = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";

/// One tab.
pub struct Visit<'b> {
    browser: &'b mut Browser,
    target: String,
    session: String,
    origin: String,
    screenshots: PathBuf,
    complaints: Vec<String>,
    requests: Vec<String>,
}

impl<'b> Visit<'b> {
    /// Opens an empty tab.
    pub fn new(browser: &'b mut Browser, origin: &str, screenshots: &Path) -> Result<Self> {
        let target = text_of(&browser.call(None, "Target.createTarget", json!({ "url": "about:blank" }))?["targetId"])?;
        let attached = browser.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
        let session = text_of(&attached["sessionId"])?;
        let (origin, screenshots) = (origin.to_owned(), screenshots.to_owned());
        let (complaints, requests) = (Vec::new(), Vec::new());
        let mut visit = Visit { browser, target, session, origin, screenshots, complaints, requests };
        for domain in ["Log", "Network", "Page", "Runtime"] {
            visit.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(visit)
    }

    /// Sends a command to the tab, and records the events that arrive.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Value> {
        let result = self.browser.call(Some(&self.session), method, parameters);
        for event in self.browser.take_events(&self.session) {
            self.note(&event);
        }
        result
    }

    fn note(&mut self, event: &Value) {
        let (method, params) = (event["method"].as_str().unwrap_or_default(), &event["params"]);
        let is_bad = |level: &Value| matches!(level.as_str(), Some("error" | "warning" | "assert"));
        let shown = |text: &Value| text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        match method {
            "Network.requestWillBeSent" => self.requests.push(shown(&params["request"]["url"])),
            "Log.entryAdded" if is_bad(&params["entry"]["level"]) => {
                self.complaints.push(shown(&params["entry"]["text"]));
            }
            "Runtime.exceptionThrown" => self.complaints.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if is_bad(&params["type"]) => self.complaints.push(params["args"].to_string()),
            _ => {}
        }
    }

    /// Sets the screen and opens a path of the server.
    pub fn open(&mut self, screen: Screen, path: &str) -> Result<()> {
        let Screen { width, height, is_phone, is_dark } = screen;
        let scale = if is_phone { 2 } else { 1 };
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_phone });
        self.call("Emulation.setDeviceMetricsOverride", metrics)?;
        let scheme = json!({ "name": "prefers-color-scheme", "value": if is_dark { "dark" } else { "light" } });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [scheme] }))?;
        // The mark does not exist in the next page.
        self.value("window.left = true")?;
        let gone = self.call("Page.navigate", json!({ "url": format!("{}{path}", self.origin) }))?;
        ensure!(gone["errorText"].is_null(), "{path} cannot be opened: {}", gone["errorText"]);
        self.wait("window.left !== true && document.readyState === 'complete'")
    }

    /// Evaluates an expression in the page, awaits it if it is a promise, and returns the value as
    /// text.
    fn value(&mut self, expression: &str) -> Result<String> {
        let expression = format!("(async () => String(await ({expression})))()");
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let given = self.call("Runtime.evaluate", parameters)?;
        ensure!(given["exceptionDetails"].is_null(), "{expression}: {}", given["exceptionDetails"]);
        text_of(&given["result"]["value"])
    }

    /// Checks that an expression is true.
    pub fn check(&mut self, expression: &str) -> Result<()> {
        let value = self.value(expression)?;
        ensure!(value == "true", "{expression} is {value}");
        Ok(())
    }

    /// Checks that a list of texts is empty; it says what is wrong.
    pub fn check_none(&mut self, expression: &str) -> Result<()> {
        let wrong = self.value(&format!("JSON.stringify(({expression}).slice(0, 10))"))?;
        ensure!(wrong == "[]", "{wrong}");
        Ok(())
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) -> Result<()> {
        let begin = Instant::now();
        // During navigation there may be no page to ask.
        while !self.value(expression).is_ok_and(|value| value == "true") {
            if begin.elapsed() > TIMEOUT {
                bail!("{expression} did not become true; the form: {}", self.text("#try").unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the visible text of an element.
    pub fn text(&mut self, selector: &str) -> Result<String> {
        self.value(&format!("document.querySelector(`{selector}`).innerText"))
    }

    /// Checks the visible text of an element.
    pub fn check_text(&mut self, selector: &str, parts: &[&str]) -> Result<()> {
        let text = self.text(selector)?;
        match parts.iter().find(|part| !text.contains(**part)) {
            Some(part) => bail!("{selector} does not show {part:?}, but: {text}"),
            None => Ok(()),
        }
    }

    /// Clicks an element at the position where a mouse would.
    pub fn click(&mut self, selector: &str) -> Result<()> {
        let place = self.value(&format!(
            "(() => {{
                const element = document.querySelector(`{selector}`);
                element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                const {{ x, y, width, height }} = element.getBoundingClientRect();
                return JSON.stringify({{ x: x + width / 2, y: y + height / 2, button: 'left', clickCount: 1 }});
            }})()"
        ))?;
        let mut parameters: Value = serde_json::from_str(&place)?;
        for kind in ["mousePressed", "mouseReleased"] {
            parameters["type"] = kind.into();
            self.call("Input.dispatchMouseEvent", parameters.clone())?;
        }
        Ok(())
    }

    /// Sets a field; to the page it looks like user input.
    pub fn set(&mut self, selector: &str, value: &str) -> Result<()> {
        let value = json!(value);
        self.check(&format!(
            "(() => {{
                const field = document.querySelector(`{selector}`);
                field.value = {value};
                return field.dispatchEvent(new Event('change', {{ bubbles: true }}));
            }})()"
        ))
    }

    /// Replaces a part of the request in the form.
    pub fn edit(&mut self, old: &str, new: &str) -> Result<()> {
        let (request, old, new) = ("document.querySelector('#request')", json!(old), json!(new));
        self.check(&format!("{request}.value.includes({old})"))?;
        self.check(&format!("({request}.value = {request}.value.replace({old}, {new})).includes({new})"))
    }

    /// Types a text into the field with the focus.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({ "text": text })).map(drop)
    }

    /// Puts the focus on an element.
    pub fn focus(&mut self, selector: &str) -> Result<()> {
        self.value(&format!("document.querySelector(`{selector}`).focus()")).map(drop)
    }

    /// Presses a key, with the control key held down or not: `Tab` or `Enter`.
    pub fn press(&mut self, key: &str, with_control: bool) -> Result<()> {
        let (code, text) = if key == "Enter" { (13, "\r") } else { (9, "") };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            event["modifiers"] = json!(if with_control { 2 } else { 0 });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", event)?;
        }
        Ok(())
    }

    /// Saves a screenshot of the screen, or of the whole page.
    pub fn screenshot(&mut self, name: &str, is_whole: bool) -> Result<()> {
        let shot = self.call("Page.captureScreenshot", json!({ "captureBeyondViewport": is_whole }))?;
        let png = base64::prelude::BASE64_STANDARD.decode(text_of(&shot["data"])?)?;
        let path = self.screenshots.join(format!("{name}.png"));
        std::fs::write(&path, png).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Expects complaints of the browser that the server refused something, as intended.
    pub fn expect_refusals(&mut self, count: usize) -> Result<()> {
        let before = self.complaints.len();
        self.complaints.retain(|complaint| !complaint.contains("the server responded with a status of"));
        let refused = before - self.complaints.len();
        ensure!(refused == count, "the server refused {refused} requests instead of {count}");
        Ok(())
    }

    /// Removes and returns expected complaints of the browser, and the requests that caused them.
    pub fn take_complaints(&mut self) -> Vec<String> {
        self.requests.retain(|url| url.starts_with(&self.origin));
        std::mem::take(&mut self.complaints)
    }

    /// Ends the visit.
    ///
    /// # Errors
    /// Returns an error if the browser complained, or the page sent a request elsewhere.
    pub fn close(mut self) -> Result<()> {
        // The answer comes after all earlier events.
        self.value("0")?;
        ensure!(self.complaints.is_empty(), "the browser complains: {}", self.complaints.join("; "));
        let is_ours = |url: &&String| url.starts_with(&self.origin) || url.starts_with("data:");
        let others: Vec<_> = self.requests.iter().filter(|url| !is_ours(url)).collect();
        ensure!(others.is_empty(), "the page sent requests elsewhere: {others:?}");
        ensure!(!self.requests.is_empty(), "the page sent no requests");
        self.browser.call(None, "Target.closeTarget", json!({ "targetId": self.target })).map(drop)
    }
}

fn text_of(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("the browser returned no text but {value}"))
}
