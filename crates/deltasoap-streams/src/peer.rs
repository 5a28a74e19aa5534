//! Other toolkits, controlled through the peer protocol (`bench/peers/PROTOCOL.md`): a process
//! each, which times itself.
//!
//! A request is a line, sometimes with bytes after it; an answer is a line of JSON. A peer's
//! results are only as right as its checksums: see [`checksum`](crate::checksum).

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A peer's process; killed when dropped.
#[derive(Debug)]
pub struct PeerProcess {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A peer and its capabilities.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The toolkit.
    pub peer: String,
    /// The toolkit's version.
    pub version: String,
    /// The workloads in memory, and those that send.
    pub workloads: Vec<String>,
    /// The operations of its server; empty if there is none.
    pub operations: Vec<String>,
    /// The operations that its client can call; empty if there is none.
    pub calls: Vec<String>,
    /// The transports of its server and client besides plain HTTP.
    pub transports: Vec<String>,
    /// Milliseconds of runs before times count, for a toolkit that is compiled while it runs.
    pub warm: u64,
    /// True if it corrupts characters outside of Unicode's Basic Multilingual Plane.
    pub basic_plane: bool,
    /// True if it cannot encode the minimum `xsd:int` or decode an infinite `xsd:double`.
    pub no_extremes: bool,
    /// True if it corrupts characters of more than two bytes in UTF-8.
    pub two_octets: bool,
}

/// Work that a peer has done once, and can repeat.
#[derive(Debug, Clone, Deserialize)]
pub struct Prepared {
    /// The checksum of the values.
    pub checksum: String,
    /// Size of the message that the timed runs use.
    pub bytes: usize,
}

/// Timed runs.
#[derive(Debug, Clone, Deserialize)]
pub struct Runs {
    /// Nanoseconds of each run.
    pub ns: Vec<u64>,
    /// The checksum of the values of the last run.
    pub checksum: String,
    /// Processor time of all runs in nanoseconds, if the peer knows it.
    #[serde(default)]
    pub cpu_ns: Option<u64>,
    /// Growth of the peer's memory in bytes; 0 if the peer does not know it.
    #[serde(default)]
    pub peak_bytes: u64,
}

#[derive(Deserialize)]
struct Done {}

#[derive(Deserialize)]
struct Serving {
    port: u16,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// Why a peer has not answered, or not with a result.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The request could not be sent, or the answer not read.
    #[error("the peer exited before {request:?}")]
    Pipe {
        /// The request.
        request: String,
        /// The cause.
        source: io::Error,
    },
    /// The process ended.
    #[error("the peer exited without answering {request:?}")]
    Exited {
        /// The request.
        request: String,
    },
    /// The peer refused the request, or failed.
    #[error("the peer reported: {0}")]
    Reported(String),
    /// The answer is not one of the protocol.
    #[error("unexpected answer {answer:?}")]
    Unexpected {
        /// The answer.
        answer: String,
    },
    /// The process ended with a status other than success.
    #[error("the peer ended with {0}")]
    Status(ExitStatus),
}

impl PeerProcess {
    /// Starts a peer's program.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (requests, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(PeerProcess { process, requests, answers: BufReader::new(answers) })
    }

    /// Returns its process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Asks for its identity.
    ///
    /// # Errors
    /// When there is no such answer, as for all requests.
    pub fn hello(&mut self) -> Result<Hello, PeerError> {
        self.ask("hello", b"")
    }

    /// Has it prepare a workload with a message of so many items.
    ///
    /// # Errors
    /// When it does not offer the workload, or cannot read the message.
    pub fn prepare(&mut self, workload: &str, items: usize, message: &[u8]) -> Result<Prepared, PeerError> {
        self.ask(&format!("prepare {workload} {items} {}", message.len()), message)
    }

    /// Has its client call an operation of the server at a port of this machine, once, as a
    /// preparation.
    ///
    /// # Errors
    /// When it cannot call.
    pub fn call(&mut self, port: u16, operation: &str, items: usize, message: &[u8]) -> Result<Prepared, PeerError> {
        self.ask(&format!("call {port} {operation} {items} {}", message.len()), message)
    }

    /// Repeats what was prepared.
    ///
    /// # Errors
    /// When nothing was, or it fails.
    pub fn run(&mut self, count: usize) -> Result<Runs, PeerError> {
        self.ask(&format!("run {count}"), b"")
    }

    /// Connects it to a port of this machine, for workloads that send. `buffer` is the size of the
    /// socket's buffer: 0 for that of the system, `None` for that of the peer.
    ///
    /// # Errors
    /// When it cannot connect.
    pub fn connect(&mut self, port: u16, buffer: Option<u32>) -> Result<(), PeerError> {
        let buffer = buffer.map_or_else(String::new, |size| format!(" {size}"));
        self.ask::<Done>(&format!("connect {port}{buffer}"), b"").map(drop)
    }

    /// Sets the transport of server and client from now on; the folder has the secrets.
    ///
    /// # Errors
    /// When it does not have the transport.
    pub fn transport(&mut self, name: &str, folder: &Path) -> Result<(), PeerError> {
        self.ask::<Done>(&format!("transport {name} {}", folder.display()), b"").map(drop)
    }

    /// Starts its server, for this number of concurrent connections; returns the port.
    ///
    /// # Errors
    /// When it has no server.
    pub fn serve(&mut self, connections: usize) -> Result<u16, PeerError> {
        self.ask::<Serving>(&format!("serve {connections}"), b"").map(|serving| serving.port)
    }

    /// Returns the last encoded message.
    ///
    /// # Errors
    /// When there is none.
    pub fn output(&mut self) -> Result<Vec<u8>, PeerError> {
        let line = self.request("output", b"")?;
        let length: u64 = understand(line)?;
        let mut message = Vec::new();
        let read = self.answers.by_ref().take(length).read_to_end(&mut message);
        read.map_err(|source| PeerError::Pipe { request: "output".to_owned(), source })?;
        Ok(message)
    }

    /// Has it exit.
    ///
    /// # Errors
    /// When it does not exit successfully.
    pub fn quit(mut self) -> Result<(), PeerError> {
        let ended = self.requests.write_all(b"quit\n").and_then(|()| self.process.wait());
        match ended.map_err(|source| PeerError::Pipe { request: "quit".to_owned(), source })? {
            status if status.success() => Ok(()),
            status => Err(PeerError::Status(status)),
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &str, bytes: &[u8]) -> Result<T, PeerError> {
        understand(self.request(request, bytes)?)
    }

    fn request(&mut self, request: &str, bytes: &[u8]) -> Result<String, PeerError> {
        match self.exchange(request, bytes) {
            Ok(answer) if answer.is_empty() => Err(PeerError::Exited { request: request.to_owned() }),
            answer => answer.map_err(|source| PeerError::Pipe { request: request.to_owned(), source }),
        }
    }

    fn exchange(&mut self, request: &str, bytes: &[u8]) -> io::Result<String> {
        writeln!(self.requests, "{request}")?;
        self.requests.write_all(bytes)?;
        self.requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        // Both fail only if the process has already ended, which is the goal.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn understand<T: DeserializeOwned>(answer: String) -> Result<T, PeerError> {
    // A failure first: a result without fields would accept it.
    match serde_json::from_str::<Failure>(&answer) {
        Ok(failure) => Err(PeerError::Reported(failure.error)),
        Err(_) => serde_json::from_str(&answer).map_err(|_| PeerError::Unexpected { answer }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_result_or_the_peers_error() {
        let prepared: Prepared = understand("{\"ok\":true,\"checksum\":\"00\",\"bytes\":7}\n".to_owned()).unwrap();
        assert_eq!((prepared.checksum.as_str(), prepared.bytes), ("00", 7));
        let error = |answer: &str| understand::<Done>(answer.to_owned()).err().unwrap().to_string();
        assert_eq!(error("{\"ok\":false,\"error\":\"no\"}\n"), "the peer reported: no");
        assert_eq!(error("nonsense"), "unexpected answer \"nonsense\"");
    }

    #[test]
    fn a_process_that_only_repeats_is_no_peer() {
        let mut echo = PeerProcess::start(Path::new("/bin/cat")).unwrap();
        assert!(matches!(echo.hello(), Err(PeerError::Unexpected { answer }) if answer == "hello\n"));
        assert!(matches!(echo.output(), Err(PeerError::Unexpected { .. })));
        let mut gone = PeerProcess::start(Path::new("/bin/true")).unwrap();
        gone.process.wait().unwrap();
        assert!(matches!(gone.run(1), Err(PeerError::Pipe { .. } | PeerError::Exited { .. })));
    }
}
