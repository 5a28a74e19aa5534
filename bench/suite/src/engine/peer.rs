//! Other toolkits: one process each, controlled by the protocol of `bench/peers/PROTOCOL.md`.
//!
//! The peer times itself, so the pipe is never part of a measurement. Its results are not trusted:
//! checksums are compared after all runs, and its encoded messages are decoded here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Engine, Session, WrongValues};
use crate::messages::{Payload, Sample, Visitor, with_sample};
use crate::send::socket::Receiver;
use crate::workload::{Action, PeerDefinition, Values, Workload};

/// A toolkit's process; killed when dropped.
pub struct Peer {
    name: String,
    /// The supported workloads.
    workloads: Vec<String>,
    /// The operations of its server.
    operations: Vec<String>,
    /// The operations that its client can call.
    calls: Vec<String>,
    /// The transports of its server and client besides plain HTTP.
    transports: Vec<String>,
    /// Name and version.
    version: String,
    /// Duration of runs before they count.
    warm: Duration,
    /// True if the current transport is not plain HTTP.
    is_other: bool,
    link: Link,
}

impl Peer {
    /// Starts the peer's program below `folder`, and asks for its identity.
    ///
    /// # Errors
    /// When there is no such peer, it is not built, or it does not answer as a peer.
    pub fn start(definition: &PeerDefinition, folder: &Path) -> Result<Self> {
        if let Some(reason) = &definition.missing {
            bail!("{}: {reason}", definition.name);
        }
        ensure!(Peer::is_built(definition, folder), Peer::not_built(definition));
        let program = folder.join(&definition.program);
        let mut link = Link::start(&program)?;
        let hello: Hello = link.ask("hello", b"")?;
        eprintln!("{} is {} {}", definition.name, hello.peer, hello.version);
        let version = format!("{} {}", hello.peer, hello.version);
        let Hello { workloads, operations, calls, transports, warm, .. } = hello;
        let (name, warm) = (definition.name.clone(), Duration::from_millis(warm));
        Ok(Peer { name, workloads, operations, calls, transports, version, warm, is_other: false, link })
    }

    /// Returns true if its program exists below `folder`.
    pub fn is_built(definition: &PeerDefinition, folder: &Path) -> bool {
        definition.missing.is_none() && folder.join(&definition.program).exists()
    }

    /// Returns the reason for a row of a peer that is not built.
    pub fn not_built(definition: &PeerDefinition) -> String {
        format!("{} is not built: run `{}`", definition.name, definition.build)
    }
}

impl Engine for Peer {
    fn name(&self) -> &str {
        &self.name
    }

    fn offers(&self, workload: &Workload) -> bool {
        self.workloads.contains(&workload.name)
    }

    fn prepare<'a>(&'a mut self, workload: &Workload, n: usize) -> Result<Box<dyn Session + 'a>> {
        let work = (workload.action, workload.values, n);
        let mut session = PeerSession::prepare(&mut self.link, &workload.name, work)?;
        session.warm_up(self.warm)?;
        Ok(Box::new(session))
    }
}

impl Peer {
    /// Starts the peer's server, for this many concurrent connections; returns its address.
    ///
    /// # Errors
    /// When the peer has no server.
    pub fn serve(&mut self, connections: usize) -> Result<SocketAddr> {
        ensure!(!self.operations.is_empty(), "{} has no server", self.name);
        let serving: Serving = self.link.ask(&format!("serve {connections}"), b"")?;
        Ok((Ipv4Addr::LOCALHOST, serving.port).into())
    }

    /// Disables the warm-up; the caller does it.
    #[must_use]
    pub fn without_warm_up(self) -> (Self, Duration) {
        (Peer { warm: Duration::ZERO, ..self }, self.warm)
    }

    /// Returns the duration of runs in memory before they count; zero for ahead-of-time compiled
    /// toolkits.
    pub fn warm(&self) -> Duration {
        self.warm
    }

    /// Sets the transport of server and client from now on; `None` is plain HTTP. A peer that
    /// supports only plain HTTP is not notified.
    ///
    /// # Errors
    /// When the peer does not support the transport.
    pub fn speak(&mut self, transport: Option<&Transport>) -> Result<()> {
        let plain = Transport { name: PLAIN, folder: PathBuf::from(".") };
        let Transport { name, folder } = transport.unwrap_or(&plain);
        if *name != PLAIN || self.is_other {
            self.link.ask::<Done>(&format!("transport {name} {}", folder.display()), b"")?;
            self.is_other = *name != PLAIN;
        }
        Ok(())
    }

    /// Returns the transports of its server and client besides plain HTTP.
    pub fn transports(&self) -> &[String] {
        &self.transports
    }

    /// Returns the peer's name and version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the operations of its server.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// Returns the operations that its client can call.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Prepares calls of an operation by the toolkit's own client, and makes one.
    ///
    /// # Errors
    /// When the peer cannot call, or gets a wrong result.
    pub fn prepare_call(&mut self, call: &Call<'_>) -> Result<Box<dyn Session + '_>> {
        let Call { operation, n, message, checksum, server, transport } = call;
        self.speak(*transport)?;
        let request = format!("call {} {operation} {n} {}", server.port(), message.len());
        let prepared: Prepared = self.link.ask(&request, message).with_context(|| request.clone())?;
        let session =
            Calls { link: &mut self.link, checksum: (*checksum).to_owned(), bytes: prepared.bytes, peak_bytes: 0 };
        session.check_checksum(&prepared.checksum)?;
        Ok(Box::new(session))
    }

    /// Prepares reading a message of its own kind, with this checksum.
    ///
    /// # Errors
    /// When the peer does not support it, or gets a wrong result.
    pub fn prepare_message(&mut self, workload: &str, message: &[u8], checksum: &str) -> Result<Box<dyn Session + '_>> {
        ensure!(self.workloads.iter().any(|offered| offered == workload), "{} does not offer {workload}", self.name);
        let request = format!("prepare {workload} 1 {}", message.len());
        let prepared: Prepared = self.link.ask(&request, message).with_context(|| request.clone())?;
        let (checksum, bytes) = (checksum.to_owned(), prepared.bytes);
        let session = Calls { link: &mut self.link, checksum, bytes, peak_bytes: 0 };
        session.check_checksum(&prepared.checksum)?;
        Ok(Box::new(session))
    }

    /// Returns its process ID.
    pub fn pid(&self) -> u32 {
        self.link.process.id()
    }

    /// Prepares sending `n` elements to a server repeatedly.
    ///
    /// # Errors
    /// When the peer does not support it, cannot connect, or writes a wrong message.
    pub fn prepare_send<'a>(
        &'a mut self,
        values: Values,
        n: usize,
        server: SocketAddr,
    ) -> Result<Box<dyn Session + 'a>> {
        let name = format!("send-{}", crate::options::name(values));
        ensure!(self.workloads.contains(&name), "{} does not offer {name}", self.name);
        self.link.connect(server)?;
        let mut session = PeerSession::prepare(&mut self.link, &name, (Action::Encode, values, n))?;
        session.warm_up(self.warm)?;
        Ok(Box::new(Sender { session, server }))
    }
}

/// The protocol's name for a transport that neither compresses nor encrypts.
const PLAIN: &str = "plain";

/// The transport of a peer's server and client: the protocol's `transport`.
#[derive(Debug, Clone)]
pub struct Transport {
    /// `plain`, `gzip`, `tls` or `gzip+tls`.
    pub name: &'static str,
    /// Folder of `certificate.pem` and `key.pem`.
    pub folder: PathBuf,
}

/// A call by a peer's client.
#[derive(Debug)]
pub struct Call<'a> {
    /// The operation.
    pub operation: &'a str,
    /// Number of items.
    pub n: usize,
    /// A message that sends the items; empty if none are sent.
    pub message: &'a [u8],
    /// The checksum of the expected result.
    pub checksum: &'a str,
    /// The address of the server.
    pub server: SocketAddr,
    /// The transport.
    pub transport: Option<&'a Transport>,
}

/// A peer whose work has a result with a checksum, such as the call of an operation.
struct Calls<'a> {
    link: &'a mut Link,
    /// The checksum of the expected result.
    checksum: String,
    bytes: usize,
    /// The peak memory reported by the peer.
    peak_bytes: u64,
}

impl Calls<'_> {
    fn check_checksum(&self, found: &str) -> Result<()> {
        Ok(WrongValues::unless_same(found, &self.checksum)?)
    }
}

impl Session for Calls<'_> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let runs: Runs = self.link.ask(&format!("run {count}"), b"")?;
        ensure!(runs.ns.len() == count, "the peer made {} calls, not {count}", runs.ns.len());
        self.check_checksum(&runs.checksum)?;
        self.peak_bytes = self.peak_bytes.max(runs.peak_bytes);
        Ok(runs.ns)
    }

    /// Answers were verified by checksum after each batch of runs.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(self.peak_bytes)
    }
}

/// A peer that sends to a server.
struct Sender<'a> {
    session: PeerSession<'a>,
    server: SocketAddr,
}

impl Session for Sender<'_> {
    fn bytes(&self) -> usize {
        self.session.bytes()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        self.session.run(count)
    }

    /// Sends a message to a server that keeps it, and checks it there.
    fn check(&mut self) -> Result<()> {
        self.session.check()?;
        let receiver = Receiver::start()?;
        self.session.link.connect(receiver.address())?;
        self.session.run(1)?;
        self.session.link.connect(self.server)?;
        let Work { values, n, .. } = self.session.work;
        with_sample(values, n, CheckMessage(&receiver.message()?))
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        self.session.peak_bytes()
    }
}

/// A workload prepared by a peer.
struct PeerSession<'a> {
    link: &'a mut Link,
    work: Work,
    bytes: usize,
    /// The peak memory reported by the peer.
    peak_bytes: u64,
}

/// The requested work.
struct Work {
    action: Action,
    values: Values,
    n: usize,
    /// The checksum of the values.
    checksum: String,
}

impl Work {
    fn check_checksum(&self, found: &str) -> Result<()> {
        Ok(WrongValues::unless_same(found, &self.checksum)?)
    }
}

impl<'a> PeerSession<'a> {
    /// Prepares a workload.
    fn prepare(link: &'a mut Link, name: &str, (action, values, n): (Action, Values, usize)) -> Result<Self> {
        let Summary { message, checksum } = with_sample(values, n, Summarize);
        let request = format!("prepare {name} {n} {}", message.len());
        let prepared: Prepared = link.ask(&request, &message).with_context(|| request.clone())?;
        let work = Work { action, values, n, checksum };
        let session = PeerSession { link, work, bytes: prepared.bytes, peak_bytes: 0 };
        session.work.check_checksum(&prepared.checksum)?;
        Ok(session)
    }

    /// Lets a JIT-compiled toolkit run for a while in batches of growing length, whose times are
    /// dropped.
    fn warm_up(&mut self, time: Duration) -> Result<()> {
        let start = Instant::now();
        let mut batch = 1;
        while start.elapsed() < time {
            self.run(batch)?;
            batch = if start.elapsed() < time / 4 { batch * 2 } else { batch };
        }
        Ok(())
    }
}

impl Session for PeerSession<'_> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let runs: Runs = self.link.ask(&format!("run {count}"), b"")?;
        ensure!(runs.ns.len() == count, "the peer did {} runs, not {count}", runs.ns.len());
        self.work.check_checksum(&runs.checksum)?;
        self.peak_bytes = self.peak_bytes.max(runs.peak_bytes);
        Ok(runs.ns)
    }

    /// The values of a decode were verified by checksum after each batch of runs.
    fn check(&mut self) -> Result<()> {
        if self.work.action != Action::Encode {
            return Ok(());
        }
        let output = self.link.output()?;
        ensure!(output.len() == self.bytes, "the peer wrote {} bytes, not {}", output.len(), self.bytes);
        with_sample(self.work.values, self.work.n, CheckMessage(&output))
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(self.peak_bytes)
    }
}

/// The parts of a sample that a peer needs.
struct Summary {
    message: Vec<u8>,
    checksum: String,
}

struct Summarize;

impl Visitor for Summarize {
    type Output = Summary;

    fn visit<T: Payload>(self, sample: Sample<T>) -> Summary {
        Summary { checksum: sample.values.checksum(), message: sample.message }
    }
}

struct CheckMessage<'a>(&'a [u8]);

impl Visitor for CheckMessage<'_> {
    type Output = Result<()>;

    fn visit<T: Payload>(self, sample: Sample<T>) -> Result<()> {
        sample.check_message(self.0)
    }
}

#[derive(Deserialize)]
struct Hello {
    peer: String,
    version: String,
    workloads: Vec<String>,
    /// Empty if there is no server.
    #[serde(default)]
    operations: Vec<String>,
    /// Empty if there is no client.
    #[serde(default)]
    calls: Vec<String>,
    /// Empty if only plain HTTP is supported.
    #[serde(default)]
    transports: Vec<String>,
    /// Duration of runs before times count, in milliseconds.
    #[serde(default)]
    warm: u64,
}

#[derive(Deserialize)]
struct Serving {
    port: u16,
}

#[derive(Deserialize)]
struct Prepared {
    checksum: String,
    bytes: usize,
}

#[derive(Deserialize)]
struct Done {}

#[derive(Deserialize)]
struct Runs {
    ns: Vec<u64>,
    checksum: String,
    peak_bytes: u64,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// The process and its pipes.
struct Link {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Link {
    fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let requests = process.stdin.take().context("the peer has no standard input")?;
        let answers = process.stdout.take().context("the peer has no standard output")?;
        Ok(Link { process, requests, answers: BufReader::new(answers) })
    }

    fn ask<T: DeserializeOwned>(&mut self, line: &str, bytes: &[u8]) -> Result<T> {
        understand(&self.request(line, bytes)?)
    }

    /// Connects the peer to a server on this machine.
    fn connect(&mut self, server: SocketAddr) -> Result<()> {
        self.ask::<Done>(&format!("connect {}", server.port()), b"").map(drop)
    }

    /// Reads the last encoded message: a line with its length, then the bytes; or an error.
    fn output(&mut self) -> Result<Vec<u8>> {
        let line = self.request("output", b"")?;
        let Ok(length) = line.trim_end().parse::<u64>() else {
            bail!(refusal(&line).unwrap_or_else(|| format!("unexpected answer {line:?}")));
        };
        let mut message = Vec::new();
        self.answers.by_ref().take(length).read_to_end(&mut message)?;
        Ok(message)
    }

    fn request(&mut self, line: &str, bytes: &[u8]) -> Result<String> {
        self.send(line, bytes).with_context(|| format!("the peer exited before {line:?}"))?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => bail!("the peer exited without answering {line:?}"),
            _ => Ok(answer),
        }
    }

    fn send(&mut self, line: &str, bytes: &[u8]) -> std::io::Result<()> {
        writeln!(self.requests, "{line}")?;
        self.requests.write_all(bytes)?;
        self.requests.flush()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Errors only mean that the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn understand<T: DeserializeOwned>(answer: &str) -> Result<T> {
    if let Some(error) = refusal(answer) {
        bail!("the peer reported: {error}");
    }
    serde_json::from_str(answer).with_context(|| format!("unexpected answer {answer:?}"))
}

/// Returns the text of an error answer.
fn refusal(answer: &str) -> Option<String> {
    serde_json::from_str::<Failure>(answer).ok().map(|failure| failure.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_result_or_the_peers_error() {
        let prepared: Prepared = understand("{\"ok\":true,\"checksum\":\"00\",\"bytes\":7}\n").unwrap();
        assert_eq!((prepared.checksum.as_str(), prepared.bytes), ("00", 7));
        let error = |answer| understand::<Prepared>(answer).err().unwrap().to_string();
        assert_eq!(error("{\"ok\":false,\"error\":\"no\"}\n"), "the peer reported: no");
        assert!(error("nonsense\n").contains("nonsense"));
    }
}
