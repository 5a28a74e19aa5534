//! Other toolkits: a process each, spoken to by the protocol of `bench/peers/PROTOCOL.md`.
//!
//! The peer times itself, so the pipe is never part of a measurement. It is not trusted with the
//! result: checksums are compared after all runs, and what it has encoded is decoded here.

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
    /// The workloads it can do.
    workloads: Vec<String>,
    /// What its server offers.
    operations: Vec<String>,
    /// What its client can call.
    calls: Vec<String>,
    /// What its server and its client can do besides plain HTTP.
    transports: Vec<String>,
    /// Who it says it is.
    version: String,
    /// How long runs go on before they count.
    warm: Duration,
    /// True if it was last told to speak otherwise than plainly.
    is_other: bool,
    link: Link,
}

impl Peer {
    /// Starts the peer's program, which lies below `folder`, and asks who it is.
    ///
    /// # Errors
    /// When there is no such peer, it is not built, or does not answer as one.
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

    /// True if its program lies below `folder`.
    pub fn is_built(definition: &PeerDefinition, folder: &Path) -> bool {
        definition.missing.is_none() && folder.join(&definition.program).exists()
    }

    /// The reason that rows have where it is not.
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
    /// Lets the peer start its server, for so many connections at one time; gives where it listens.
    ///
    /// # Errors
    /// When it has none.
    pub fn serve(&mut self, connections: usize) -> Result<SocketAddr> {
        ensure!(!self.operations.is_empty(), "{} has no server", self.name);
        let serving: Serving = self.link.ask(&format!("serve {connections}"), b"")?;
        Ok((Ipv4Addr::LOCALHOST, serving.port).into())
    }

    /// The same, but that the caller sees to its warm-up.
    #[must_use]
    pub fn without_warm_up(self) -> (Self, Duration) {
        (Peer { warm: Duration::ZERO, ..self }, self.warm)
    }

    /// How long runs go on in memory before they count; none for what is compiled beforehand.
    pub fn warm(&self) -> Duration {
        self.warm
    }

    /// Says how server and client are to speak from now on, plainly without a transport. Who knows
    /// nothing but plain HTTP is told nothing.
    ///
    /// # Errors
    /// When the peer cannot do that.
    pub fn speak(&mut self, transport: Option<&Transport>) -> Result<()> {
        let plain = Transport { name: PLAIN, folder: PathBuf::from(".") };
        let Transport { name, folder } = transport.unwrap_or(&plain);
        if *name != PLAIN || self.is_other {
            self.link.ask::<Done>(&format!("transport {name} {}", folder.display()), b"")?;
            self.is_other = *name != PLAIN;
        }
        Ok(())
    }

    /// What its server and its client can do besides plain HTTP.
    pub fn transports(&self) -> &[String] {
        &self.transports
    }

    /// Who it says it is: name and version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What its server offers.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// What its client can call.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Makes ready for calls of an operation at a server by the toolkit's own client, and calls it
    /// once.
    ///
    /// # Errors
    /// When the peer cannot call, or gets something wrong.
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

    /// Makes ready for reading a message of its own kind, which has this checksum.
    ///
    /// # Errors
    /// When the peer does not offer that, or gets something wrong.
    pub fn prepare_message(&mut self, workload: &str, message: &[u8], checksum: &str) -> Result<Box<dyn Session + '_>> {
        ensure!(self.workloads.iter().any(|offered| offered == workload), "{} does not offer {workload}", self.name);
        let request = format!("prepare {workload} 1 {}", message.len());
        let prepared: Prepared = self.link.ask(&request, message).with_context(|| request.clone())?;
        let (checksum, bytes) = (checksum.to_owned(), prepared.bytes);
        let session = Calls { link: &mut self.link, checksum, bytes, peak_bytes: 0 };
        session.check_checksum(&prepared.checksum)?;
        Ok(Box::new(session))
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.link.process.id()
    }

    /// Makes ready for sending `n` elements to a server again and again.
    ///
    /// # Errors
    /// When the peer does not offer that, cannot connect, or writes something wrong.
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

/// The protocol's name for what is neither compressed nor encrypted.
const PLAIN: &str = "plain";

/// How a peer's server and client speak: the protocol's `transport`.
#[derive(Debug, Clone)]
pub struct Transport {
    /// `plain`, `gzip`, `tls` or `gzip+tls`.
    pub name: &'static str,
    /// Where `certificate.pem` and `key.pem` lie.
    pub folder: PathBuf,
}

/// What a peer's client is to call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The operation.
    pub operation: &'a str,
    /// Items.
    pub n: usize,
    /// A message that sends the items; empty where none are sent.
    pub message: &'a [u8],
    /// The checksum of what must come back.
    pub checksum: &'a str,
    /// Who is to be called.
    pub server: SocketAddr,
    /// How.
    pub transport: Option<&'a Transport>,
}

/// A peer that does something whose outcome has a checksum, such as to call an operation.
struct Calls<'a> {
    link: &'a mut Link,
    /// What must come back.
    checksum: String,
    bytes: usize,
    /// The highest that the peer has reported.
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

    /// Answers were checked by their checksum after each batch of runs.
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

    /// Sends a message to a server that keeps it, and looks at it there.
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

/// A workload that a peer has prepared.
struct PeerSession<'a> {
    link: &'a mut Link,
    work: Work,
    bytes: usize,
    /// The highest that the peer has reported.
    peak_bytes: u64,
}

/// What the peer was asked to do.
struct Work {
    action: Action,
    values: Values,
    n: usize,
    /// That of the values.
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

    /// Lets a toolkit that is compiled while it runs run for a while: longer and longer batches,
    /// whose times nobody sees.
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

    /// The values of a decode were checked by their checksum after each batch of runs.
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

/// What a peer needs of a sample.
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
    /// None where there is no server.
    #[serde(default)]
    operations: Vec<String>,
    /// None where there is no client.
    #[serde(default)]
    calls: Vec<String>,
    /// None where there is nothing but plain HTTP.
    #[serde(default)]
    transports: Vec<String>,
    /// Milliseconds of runs before times count.
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

    /// Lets the peer connect to a server on this machine.
    fn connect(&mut self, server: SocketAddr) -> Result<()> {
        self.ask::<Done>(&format!("connect {}", server.port()), b"").map(drop)
    }

    /// The last encoded message: a length in a line, then the bytes; or an error like any other.
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
        self.send(line, bytes).with_context(|| format!("the peer has ended before {line:?}"))?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => bail!("the peer has ended without an answer to {line:?}"),
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
        // Both fail only if the process has ended, which is what they are for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn understand<T: DeserializeOwned>(answer: &str) -> Result<T> {
    if let Some(error) = refusal(answer) {
        bail!("the peer says: {error}");
    }
    serde_json::from_str(answer).with_context(|| format!("unexpected answer {answer:?}"))
}

/// The text of an error answer.
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
        assert_eq!(error("{\"ok\":false,\"error\":\"no\"}\n"), "the peer says: no");
        assert!(error("nonsense\n").contains("nonsense"));
    }
}
