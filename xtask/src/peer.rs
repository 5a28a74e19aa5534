//! A running peer, controlled through the protocol of `bench/peers/PROTOCOL.md`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
pub struct Hello {
    pub peer: String,
    pub version: String,
    pub workloads: Vec<String>,
    /// Operations that its server offers; none if it has no server.
    #[serde(default)]
    pub operations: Vec<String>,
    /// Operations that its client can call; none if it has no client.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Transports of server and client besides plain HTTP.
    #[serde(default)]
    pub transports: Vec<String>,
    /// True if it corrupts characters outside of Unicode's Basic Multilingual Plane.
    #[serde(default)]
    pub basic_plane: bool,
    /// True if it cannot encode the minimum xsd:int or decode an infinite xsd:double.
    #[serde(default)]
    pub no_extremes: bool,
    /// True if it corrupts characters of more than two bytes in UTF-8.
    #[serde(default)]
    pub two_octets: bool,
}

#[derive(Deserialize)]
pub struct Prepared {
    pub checksum: String,
    /// Size of the message that the timed runs use.
    pub bytes: usize,
}

#[derive(Deserialize)]
pub struct Runs {
    /// Nanoseconds of each run.
    pub ns: Vec<u64>,
    pub checksum: String,
}

#[derive(Deserialize)]
struct Connected {}

#[derive(Deserialize)]
struct Serving {
    port: u16,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// A peer's process; killed when dropped.
pub struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    pub fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let requests = process.stdin.take().context("the peer has no standard input")?;
        let answers = process.stdout.take().context("the peer has no standard output")?;
        Ok(Peer { process, requests, answers: BufReader::new(answers) })
    }

    /// Ends the process after this time, unless the returned sender is dropped before.
    pub fn limit(&self, time: Duration) -> Sender<()> {
        let (sender, receiver) = mpsc::channel();
        let process = self.process.id().to_string();
        thread::spawn(move || {
            if receiver.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                // An error only means that the process has already ended.
                let _ = Command::new("kill").args(["-9", &process]).status();
            }
        });
        sender
    }

    pub fn hello(&mut self) -> Result<Hello> {
        self.ask("hello", b"")
    }

    pub fn prepare(&mut self, workload: &str, items: usize, message: &[u8]) -> Result<Prepared> {
        self.ask(&format!("prepare {workload} {items} {}", message.len()), message)
    }

    pub fn run(&mut self, count: usize) -> Result<Runs> {
        self.ask(&format!("run {count}"), b"")
    }

    /// Has the peer's client call an operation of a server on this machine, once as a preparation.
    pub fn call(&mut self, port: u16, operation: &str, items: usize, message: &[u8]) -> Result<Prepared> {
        self.ask(&format!("call {port} {operation} {items} {}", message.len()), message)
    }

    /// Has the peer connect to a server on this machine, for workloads that send.
    pub fn connect(&mut self, port: u16) -> Result<()> {
        self.ask::<Connected>(&format!("connect {port}"), b"").map(drop)
    }

    /// Sets the transport of server and client from now on; the folder contains the secrets.
    pub fn transport(&mut self, name: &str, folder: &Path) -> Result<()> {
        self.ask::<Connected>(&format!("transport {name} {}", folder.display()), b"").map(drop)
    }

    /// Has the peer start its server, for this number of concurrent connections; returns its port.
    pub fn serve(&mut self, connections: usize) -> Result<u16> {
        self.ask::<Serving>(&format!("serve {connections}"), b"").map(|serving| serving.port)
    }

    /// Returns the last encoded message.
    pub fn output(&mut self) -> Result<Vec<u8>> {
        let line = self.request("output", b"")?;
        let Ok(length) = line.trim_end().parse::<u64>() else {
            return understand::<u64>(&line).map(|_| Vec::new());
        };
        let mut message = Vec::new();
        self.answers.by_ref().take(length).read_to_end(&mut message)?;
        Ok(message)
    }

    /// Has the peer exit, and returns an error unless it exits successfully.
    pub fn quit(mut self) -> Result<()> {
        self.requests.write_all(b"quit\n")?;
        let status = self.process.wait()?;
        if status.success() { Ok(()) } else { bail!("the peer ended with {status}") }
    }

    fn ask<T: DeserializeOwned>(&mut self, line: &str, bytes: &[u8]) -> Result<T> {
        understand(&self.request(line, bytes)?)
    }

    fn request(&mut self, line: &str, bytes: &[u8]) -> Result<String> {
        writeln!(self.requests, "{line}")?;
        self.requests.write_all(bytes)?;
        self.requests.flush()?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => bail!("the peer has ended without an answer to {line:?}"),
            _ => Ok(answer),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Errors only mean that the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn understand<T: DeserializeOwned>(answer: &str) -> Result<T> {
    if let Ok(failure) = serde_json::from_str::<Failure>(answer) {
        bail!("{}", failure.error);
    }
    serde_json::from_str(answer).with_context(|| format!("unexpected answer {answer:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_never_answers_is_ended() {
        let mut peer = Peer::start(Path::new("/bin/cat")).unwrap();
        let limit = peer.limit(Duration::from_millis(50));
        peer.process.wait().unwrap();
        drop(limit);
        assert!(peer.hello().is_err());
    }

    #[test]
    fn a_limit_that_is_dropped_ends_nothing() {
        let mut peer = Peer::start(Path::new("/bin/cat")).unwrap();
        drop(peer.limit(Duration::from_millis(50)));
        thread::sleep(Duration::from_millis(200));
        assert!(peer.process.try_wait().unwrap().is_none());
    }
}
