//! Chromium, started for these tests and spoken to by its DevTools protocol: JSON in both directions of one WebSocket.
//!
//! Commands are answered in turn; events that come in between are kept until somebody asks for them. Everything here is one
//! thread, so what a test has seen does not depend on when another thread runs.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// No sandbox, since tests run as root; nothing that asks anybody for anything.
const FLAGS: [&str; 13] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-port=0",
];

/// The browser says where it listens in a line of its standard error that begins so.
const ANNOUNCEMENT: &str = "DevTools listening on ";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The browser; ended when dropped.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    /// The number of the last command.
    number: u64,
    /// Events that nobody has asked for yet.
    events: Vec<Value>,
    /// Its profile, which goes with it.
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with an empty profile.
    pub fn start(program: &Path) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        let mut command = Command::new(program);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let socket = match announced_url(&mut process).and_then(|url| connect(&url)) {
            Ok(socket) => socket,
            Err(error) => {
                end(&mut process);
                return Err(error);
            }
        };
        Ok(Browser { process, socket, number: 0, events: Vec::new(), _profile: profile })
    }

    /// Sends a command, to the tab of a session or to the browser itself, and waits for what it gives.
    pub fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Result<Value> {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.socket.send(Message::text(command.to_string())).context("the browser is gone")?;
        loop {
            let mut message = self.receive().with_context(|| format!("no answer to {method}"))?;
            if message["id"] == self.number {
                ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Ok(message["result"].take());
            }
            if message["method"].is_string() {
                self.events.push(message);
            }
        }
    }

    /// The events of a session so far that were not taken before.
    pub fn take_events(&mut self, session: &str) -> Vec<Value> {
        let (taken, left) = self.events.drain(..).partition(|event| event["sessionId"] == session);
        self.events = left;
        taken
    }

    fn receive(&mut self) -> Result<Value> {
        loop {
            match self.socket.read()? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Close(_) => bail!("the browser closed the connection"),
                _ => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Whether it goes by itself or not, it is ended.
        let _ = self.call(None, "Browser.close", json!({}));
        end(&mut self.process);
    }
}

fn end(process: &mut Child) {
    // Both fail only if the process has ended, which is what they are for.
    let _ = process.kill();
    let _ = process.wait();
}

/// The URL that the browser listens on. What it says from then on is read and thrown away.
fn announced_url(process: &mut Child) -> Result<String> {
    let mut output = BufReader::new(process.stderr.take().context("the browser has no standard error")?);
    let mut said = String::new();
    loop {
        let begin = said.len();
        ensure!(output.read_line(&mut said)? > 0, "the browser ended at once: {said}");
        if let Some(url) = said[begin..].strip_prefix(ANNOUNCEMENT) {
            let url = url.trim().to_owned();
            std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
            return Ok(url);
        }
    }
}

fn connect(url: &str) -> Result<WebSocket<TcpStream>> {
    let authority = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
    let stream = TcpStream::connect(authority.with_context(|| format!("an unexpected URL: {url}"))?)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (socket, _) = tungstenite::client(url, stream).context("the browser does not speak WebSocket")?;
    Ok(socket)
}
