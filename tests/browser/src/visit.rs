//! A visit: a tab, what the browser complained about in it, and whom it asked.

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Log, Network, Page, Runtime};
use headless_chrome::{Browser, Tab};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for the page to do something.
const PATIENCE: Duration = Duration::from_secs(20);

/// A screen.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub is_phone: bool,
    pub is_dark: bool,
}

/// A window on a desk.
pub const DESKTOP: Screen = Screen { width: 1280, height: 900, is_phone: false, is_dark: false };
/// A phone held upright.
pub const PHONE: Screen = Screen { width: 390, height: 844, is_phone: true, is_dark: false };

/// One tab.
pub struct Visit {
    tab: Arc<Tab>,
    origin: String,
    screenshots: PathBuf,
    seen: Arc<Mutex<Seen>>,
}

/// What was noted of a tab.
#[derive(Debug, Default)]
struct Seen {
    complaints: Vec<String>,
    requests: Vec<String>,
}

impl Visit {
    /// An empty tab.
    pub fn new(browser: &Browser, origin: &str, screenshots: &Path) -> Result<Self> {
        let tab = browser.new_tab()?;
        tab.set_default_timeout(PATIENCE);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let noted = Arc::clone(&seen);
        tab.add_event_listener(Arc::new(move |event: &Event| note(&noted, event)))?;
        tab.enable_log()?.enable_runtime()?;
        tab.call_method(Network::Enable {
            max_total_buffer_size: None,
            max_resource_buffer_size: None,
            max_post_data_size: None,
            report_direct_socket_traffic: None,
            enable_durable_messages: None,
        })?;
        Ok(Visit { tab, origin: origin.to_owned(), screenshots: screenshots.to_owned(), seen })
    }

    /// Sets the screen and opens a path of the server.
    pub fn open(&self, screen: Screen, path: &str) -> Result<()> {
        self.tab.call_method(Emulation::SetDeviceMetricsOverride {
            width: screen.width,
            height: screen.height,
            device_scale_factor: if screen.is_phone { 2.0 } else { 1.0 },
            mobile: screen.is_phone,
            scale: None,
            screen_width: None,
            screen_height: None,
            position_x: None,
            position_y: None,
            dont_set_visible_size: None,
            screen_orientation: None,
            viewport: None,
            display_feature: None,
            device_posture: None,
        })?;
        let scheme = Emulation::MediaFeature {
            name: "prefers-color-scheme".to_owned(),
            value: if screen.is_dark { "dark" } else { "light" }.to_owned(),
        };
        self.tab.call_method(Emulation::SetEmulatedMedia { media: None, features: Some(vec![scheme]) })?;
        self.tab.navigate_to(&format!("{}{path}", self.origin))?.wait_until_navigated()?;
        Ok(())
    }

    /// The value of an expression in the page, once a promise is fulfilled.
    fn value(&self, expression: &str) -> Result<String> {
        let object = self.tab.evaluate(&format!("(async () => String({expression}))()"), true)?;
        let value = object.value.as_ref().and_then(|value| value.as_str());
        value.map(str::to_owned).with_context(|| format!("{expression} gave no text but {:?}", object.description))
    }

    /// Checks that an expression is true.
    pub fn check(&self, expression: &str) -> Result<()> {
        let value = self.value(expression)?;
        ensure!(value == "true", "{expression} is {value}");
        Ok(())
    }

    /// Waits until an expression is true.
    pub fn wait(&self, expression: &str) -> Result<()> {
        let begin = Instant::now();
        while self.value(expression)? != "true" {
            if begin.elapsed() > PATIENCE {
                bail!("{expression} did not become true; the page: {}", self.text("body").unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// What a reader sees of an element.
    pub fn text(&self, selector: &str) -> Result<String> {
        self.value(&format!("document.querySelector(`{selector}`).innerText"))
    }

    /// Checks what a reader sees of an element.
    pub fn check_text(&self, selector: &str, parts: &[&str]) -> Result<()> {
        let text = self.text(selector)?;
        match parts.iter().find(|part| !text.contains(**part)) {
            Some(part) => bail!("{selector} does not show {part:?}, but: {text}"),
            None => Ok(()),
        }
    }

    /// Clicks an element, where a mouse would.
    pub fn click(&self, selector: &str) -> Result<()> {
        self.tab.wait_for_element(selector)?.click().with_context(|| format!("cannot click {selector}"))?;
        Ok(())
    }

    /// Sets a field, as far as the page can tell by hand.
    pub fn set(&self, selector: &str, value: &str) -> Result<()> {
        let set = "function (value) { this.value = value; this.dispatchEvent(new Event('change', { bubbles: true })) }";
        self.tab.wait_for_element(selector)?.call_js_fn(set, vec![value.into()], false)?;
        Ok(())
    }

    /// Replaces a part of the request in the form.
    pub fn edit(&self, old: &str, new: &str) -> Result<()> {
        self.check(&format!("document.querySelector('#request').value.includes(`{old}`)"))?;
        let edit = "function (old, by) { this.value = this.value.replace(old, by) }";
        self.tab.wait_for_element("#request")?.call_js_fn(edit, vec![old.into(), new.into()], false)?;
        Ok(())
    }

    /// Puts the focus on an element.
    pub fn focus(&self, selector: &str) -> Result<()> {
        self.tab.wait_for_element(selector)?.focus()?;
        Ok(())
    }

    /// Presses a key, with the control key held down or not.
    pub fn press(&self, key: &str, with_control: bool) -> Result<()> {
        use headless_chrome::browser::tab::ModifierKey;
        let modifiers: &[ModifierKey] = if with_control { &[ModifierKey::Ctrl] } else { &[] };
        self.tab.press_key_with_modifiers(key, Some(modifiers))?;
        Ok(())
    }

    /// Keeps what the screen shows, or the page from top to bottom.
    pub fn screenshot(&self, name: &str, is_whole: bool) -> Result<()> {
        let (width, height) =
            (self.value("document.documentElement.scrollWidth")?, "document.documentElement.scrollHeight");
        let clip =
            Page::Viewport { x: 0.0, y: 0.0, width: width.parse()?, height: self.value(height)?.parse()?, scale: 1.0 };
        let shot = self.tab.call_method(Page::CaptureScreenshot {
            format: Some(Page::CaptureScreenshotFormatOption::Png),
            quality: None,
            clip: is_whole.then_some(clip),
            from_surface: Some(true),
            capture_beyond_viewport: Some(is_whole),
            optimize_for_speed: None,
        })?;
        let png = base64::prelude::BASE64_STANDARD.decode(shot.data)?;
        let path = self.screenshots.join(format!("{name}.png"));
        std::fs::write(&path, png).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Takes note that the browser says that the server refused something, as it was meant to.
    pub fn expect_refusals(&self, count: usize) -> Result<()> {
        let mut seen = self.seen();
        let before = seen.complaints.len();
        seen.complaints.retain(|complaint| !complaint.contains("the server responded with a status of"));
        let refused = before - seen.complaints.len();
        ensure!(refused == count, "the server refused {refused} requests instead of {count}");
        Ok(())
    }

    /// Takes back what the browser complained about on purpose.
    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.seen().complaints)
    }

    /// Ends the visit.
    ///
    /// # Errors
    /// When the browser complained about something, or asked somebody else.
    pub fn close(self) -> Result<()> {
        let seen = self.seen();
        ensure!(seen.complaints.is_empty(), "the browser complains: {}", seen.complaints.join("; "));
        let is_ours = |url: &&String| url.starts_with(&self.origin) || url.starts_with("data:");
        let others: Vec<_> = seen.requests.iter().filter(|url| !is_ours(url)).collect();
        ensure!(others.is_empty(), "the page asks others: {others:?}");
        ensure!(!seen.requests.is_empty(), "nothing was asked for");
        drop(seen);
        self.tab.close(false)?;
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(seen: &Mutex<Seen>, event: &Event) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        Event::NetworkRequestWillBeSent(sent) => seen.requests.push(sent.params.request.url.clone()),
        Event::LogEntryAdded(added) => {
            let entry = &added.params.entry;
            if matches!(entry.level, Log::LogEntryLevel::Error | Log::LogEntryLevel::Warning) {
                seen.complaints.push(entry.text.clone());
            }
        }
        Event::RuntimeExceptionThrown(thrown) => {
            let details = &thrown.params.exception_details;
            let description = details.exception.as_ref().and_then(|exception| exception.description.clone());
            seen.complaints.push(description.unwrap_or_else(|| details.text.clone()));
        }
        Event::RuntimeConsoleAPICalled(called) => {
            use Runtime::ConsoleAPICalledEventTypeOption as Kind;
            if matches!(called.params.Type, Kind::Error | Kind::Warning | Kind::Assert) {
                seen.complaints.push(format!("{:?}", called.params.args));
            }
        }
        _ => {}
    }
}
