//! Our own servers as processes.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A process that serves until this value is dropped.
#[derive(Debug)]
pub struct Serving {
    /// The process.
    pub child: Child,
    /// What it printed.
    pub url: String,
    /// Kept open, so that the server can go on printing.
    _output: BufReader<ChildStdout>,
}

impl Serving {
    /// Starts a server, and waits until it prints `listening on` with its URL.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program runs");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Serving { child, url, _output: output }
    }

    /// Sends the process a signal by its name.
    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
    }

    /// Kills the process. Returns what it wrote to its standard error, if that was piped.
    pub fn kill(&mut self) -> String {
        self.child.kill().expect("killed");
        self.child.wait().expect("an end");
        let mut written = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut written).expect("text");
        }
        written
    }

    /// Returns the address in the URL.
    pub fn address(&self) -> SocketAddr {
        let address = self.url.split("//").nth(1).and_then(|rest| rest.split('/').next()?.parse().ok());
        address.unwrap_or_else(|| panic!("{} has no address", self.url))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
