//! Other toolkits: one process each, controlled by the protocol of `bench/peers/PROTOCOL.md`.
//!
//! The peer times itself, so the pipe is never part of a measurement. Its results are not trusted:
//! checksums are compared after all runs, and its encoded messages are decoded here.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use deltasoap_streams::peer::{Hello, PeerProcess, Prepared};

use super::{Engine, Session, WrongValues};
use crate::messages::with_sample;
use crate::payload::{Payload, Sample, Visitor};
use crate::socket::Receiver;
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
    process: PeerProcess,
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
        let started = PeerProcess::start(&program);
        let mut process = started.with_context(|| format!("cannot start {}", program.display()))?;
        let hello = process.hello()?;
        eprintln!("{} is {} {}", definition.name, hello.peer, hello.version);
        let version = format!("{} {}", hello.peer, hello.version);
        let Hello { workloads, operations, calls, transports, warm, .. } = hello;
        let (name, warm) = (definition.name.clone(), Duration::from_millis(warm));
        Ok(Peer { name, workloads, operations, calls, transports, version, warm, is_other: false, process })
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
        let mut session = PeerSession::prepare(&mut self.process, &workload.name, work)?;
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
        Ok((Ipv4Addr::LOCALHOST, self.process.serve(connections)?).into())
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
            self.process.transport(name, folder)?;
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
        let prepared = self.process.call(server.port(), operation, *n, message);
        let prepared = prepared.with_context(|| format!("call of {operation} with {n} items"))?;
        Ok(Box::new(PeerSession::new(&mut self.process, &prepared, (*checksum).to_owned())?))
    }

    /// Prepares reading a message of its own kind, with this checksum.
    ///
    /// # Errors
    /// When the peer does not support it, or gets a wrong result.
    pub fn prepare_message(&mut self, workload: &str, message: &[u8], checksum: &str) -> Result<Box<dyn Session + '_>> {
        ensure!(self.workloads.iter().any(|offered| offered == workload), "{} does not offer {workload}", self.name);
        let prepared = self.process.prepare(workload, 1, message).with_context(|| workload.to_owned())?;
        Ok(Box::new(PeerSession::new(&mut self.process, &prepared, checksum.to_owned())?))
    }

    /// Returns its process ID.
    pub fn pid(&self) -> u32 {
        self.process.id()
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
        self.process.connect(server.port(), None)?;
        let mut session = PeerSession::prepare(&mut self.process, &name, (Action::Encode, values, n))?;
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
        self.session.process.connect(receiver.address().port(), None)?;
        self.session.run(1)?;
        self.session.process.connect(self.server.port(), None)?;
        self.session.check_written(&receiver.message()?)
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        self.session.peak_bytes()
    }
}

/// Work prepared by a peer.
struct PeerSession<'a> {
    process: &'a mut PeerProcess,
    /// The checksum of the expected values.
    checksum: String,
    bytes: usize,
    /// The peak memory reported by the peer.
    peak_bytes: u64,
    /// The values that the peer writes, and their number; `None` if it only reads.
    written: Option<(Values, usize)>,
}

impl<'a> PeerSession<'a> {
    /// Creates a session of what was prepared.
    fn new(process: &'a mut PeerProcess, prepared: &Prepared, checksum: String) -> Result<Self> {
        WrongValues::unless_same(&prepared.checksum, &checksum)?;
        Ok(PeerSession { process, checksum, bytes: prepared.bytes, peak_bytes: 0, written: None })
    }

    /// Prepares a workload.
    fn prepare(process: &'a mut PeerProcess, name: &str, (action, values, n): (Action, Values, usize)) -> Result<Self> {
        let Summary { message, checksum } = with_sample(values, n, Summarize);
        let prepared = process.prepare(name, n, &message).with_context(|| format!("{name} {n}"))?;
        let written = (action == Action::Encode).then_some((values, n));
        Ok(PeerSession { written, ..PeerSession::new(process, &prepared, checksum)? })
    }

    fn check_written(&self, message: &[u8]) -> Result<()> {
        self.written.map_or(Ok(()), |(values, n)| with_sample(values, n, CheckMessage(message)))
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
        let runs = self.process.run(count)?;
        ensure!(runs.ns.len() == count, "the peer did {} runs, not {count}", runs.ns.len());
        WrongValues::unless_same(&runs.checksum, &self.checksum)?;
        self.peak_bytes = self.peak_bytes.max(runs.peak_bytes);
        Ok(runs.ns)
    }

    /// Values that were read are verified by checksum after each batch of runs.
    fn check(&mut self) -> Result<()> {
        if self.written.is_none() {
            return Ok(());
        }
        let output = self.process.output()?;
        ensure!(output.len() == self.bytes, "the peer wrote {} bytes, not {}", output.len(), self.bytes);
        self.check_written(&output)
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
