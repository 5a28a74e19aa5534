//! Chromium, started for these tests and controlled through its DevTools protocol: JSON in both
//! directions of one WebSocket.
//!
//! Commands are answered in turn; events that arrive in between are kept until a caller asks for
//! them. Everything here runs in one thread, so what a test sees does not depend on the timing of
//! another thread.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// No sandbox, since the tests run as root; no prompts.
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

/// Prefix of the line of standard error in which the browser announces its URL.
const ANNOUNCEMENT: &str = "DevTools listening on ";

/// Time limit for an answer, and for the start of the browser.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The browser; terminated when dropped.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    /// The number of the last command.
    number: u64,
    /// Events that no caller has asked for yet.
    events: Vec<Value>,
    /// The browser's profile, which is deleted with it.
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with an empty profile.
    pub fn start(program: &Path) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        let mut command = killed_with_parent(program);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let (process, socket) = started(&mut command, TIMEOUT)?;
        Ok(Browser { process, socket, number: 0, events: Vec::new(), _profile: profile })
    }

    /// Sends a command, to the tab of a session or to the browser itself, and waits for the result.
    pub fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Result<Value> {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = session {
            command["sessionId"] = session.into();
        }
        self.socket.send(Message::text(command.to_string())).context("the browser disconnected")?;
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

    /// Returns the events of a session that were not taken before.
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
        // If it does not close by itself, it is killed.
        let _ = self.call(None, "Browser.close", json!({}));
        end(&mut self.process);
    }
}

fn end(process: &mut Child) {
    // Errors only mean that the process has already ended.
    let _ = process.kill();
    let _ = process.wait();
}

/// Creates a command whose process is killed when the thread that started it ends: an interrupted
/// run leaves no browser.
fn killed_with_parent(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts a browser and connects to it; kills it if that fails or takes longer than `timeout`.
fn started(command: &mut Command, timeout: Duration) -> Result<(Child, WebSocket<TcpStream>)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().context("cannot start the browser")?;
    match announced_url(&mut process, timeout).and_then(|url| connect(&url)) {
        Ok(socket) => Ok((process, socket)),
        Err(error) => {
            end(&mut process);
            Err(error)
        }
    }
}

/// Returns the URL that the browser listens on.
fn announced_url(process: &mut Child, timeout: Duration) -> Result<String> {
    let output = process.stderr.take().context("the browser has no standard error")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(read_url(output)));
    match receiver.recv_timeout(timeout) {
        Ok(url) => url,
        Err(_) => bail!("the browser did not announce its URL within {timeout:?}"),
    }
}

/// Reads up to the line with the URL. A separate thread reads and discards the rest.
fn read_url(output: ChildStderr) -> Result<String> {
    let mut output = BufReader::new(output);
    let mut said = String::new();
    loop {
        let begin = said.len();
        ensure!(output.read_line(&mut said)? > 0, "the browser exited immediately: {said}");
        if let Some(url) = said[begin..].strip_prefix(ANNOUNCEMENT) {
            let url = url.trim().to_owned();
            thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
            return Ok(url);
        }
    }
}

fn connect(url: &str) -> Result<WebSocket<TcpStream>> {
    let authority = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
    let stream = TcpStream::connect(authority.with_context(|| format!("an unexpected URL: {url}"))?)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let (socket, _) = tungstenite::client(url, stream).context("the browser does not speak WebSocket")?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Creates a browser that prints nothing.
    fn silent() -> Command {
        let mut command = killed_with_parent(Path::new("sleep"));
        command.arg("100");
        command
    }

    #[test]
    fn a_browser_that_does_not_say_where_it_listens_is_ended() {
        let begin = Instant::now();
        let error = started(&mut silent(), Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.contains("within 100ms"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(50), "it was waited for");
    }

    #[test]
    fn a_browser_that_ends_is_not_waited_for() {
        let mut command = Command::new("sh");
        let error = started(command.args(["-c", "echo no display >&2"]), TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("exited immediately: no display"), "{error}");
    }

    #[test]
    fn a_browser_ends_with_what_started_it() {
        let begin = Instant::now();
        let start = || {
            let mut command = killed_with_parent(Path::new("sh"));
            let mut process = command.args(["-c", "echo; exec sleep 100"]).stdout(Stdio::piped()).spawn().unwrap();
            // Once it has printed a line, it is bound.
            BufReader::new(process.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
            process
        };
        let mut process = thread::spawn(start).join().unwrap();
        assert!(!process.wait().unwrap().success(), "it was killed");
        assert!(begin.elapsed() < Duration::from_secs(50), "it ran to its own end");
    }
}
