//! The benchmark's messages as the traffic of the generator (`deltasoap-load`), and the resources of
//! the server meanwhile.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use deltasoap_load::{Answer, Arrivals, Failed, Failure, Plan, Progress, Shares, Stop, Tally, Target, Traffic, Turn};
use deltasoap_load::{Watch, Wire, run, runtime};
use deltasoap_streams::prng::SEED;

use super::kind::{Message, MessageKind, Share};
use super::usage::Usage;

/// Number of messages of a kind that are tried before a load.
const TRIAL_MESSAGES: usize = 16;
/// Time after which a server has done its work for answered messages.
const SETTLE: Duration = Duration::from_millis(100);

/// The load on a server.
#[derive(Debug, Clone)]
pub struct Load {
    /// The kinds of messages.
    pub shares: Vec<Share>,
    /// Percentage of the items that change from message to message.
    pub changed: u32,
    /// Number of connections.
    pub connections: usize,
    /// Requests per second, and their distribution; `None` for a closed loop.
    pub open: Option<(f64, Arrivals)>,
    /// Time before the measurement.
    pub warm_up: Duration,
    /// Time of the measurement.
    pub time: Duration,
    /// Number of threads of the generator.
    pub threads: usize,
}

/// The results.
#[derive(Debug)]
pub struct Measured {
    /// The statistics of each kind, in the order of the shares.
    pub tallies: Vec<(MessageKind, Tally)>,
    /// From the beginning of the measurement to the last answer.
    pub time: Duration,
    /// Number of requests answered in this time, including those that began before it.
    pub served: u64,
    /// Resource usage of the server at the beginning and the end; `None` if its process is unknown.
    pub usage: Option<[Usage; 2]>,
}

impl Measured {
    /// Returns the number of requests without a correct answer.
    pub fn failed(&self) -> u64 {
        self.tallies.iter().map(|(_, tally)| tally.failed()).sum()
    }

    /// Describes the failures with their counts.
    pub fn failures(&self) -> String {
        let failures = self.tallies.iter().flat_map(|(_, tally)| &tally.failures);
        failures.map(|(failure, all)| format!("{} × {}", all.count, failure.name())).collect::<Vec<_>>().join(", ")
    }

    /// Returns correct answers per second.
    pub fn throughput(&self) -> f64 {
        let answers: u64 = self.tallies.iter().map(|(_, tally)| tally.answered()).sum();
        answers as f64 / self.time.as_secs_f64()
    }

    /// Returns the server's processor time per request in microseconds.
    pub fn cpu_us(&self) -> Option<f64> {
        let [before, after] = self.usage?;
        let spent = after.cpu.saturating_sub(before.cpu);
        (self.served > 0).then(|| spent.as_secs_f64() * 1e6 / self.served as f64)
    }
}

/// Loads the server at an address, with process ID `pid`; `tick` gets the elapsed time.
///
/// # Errors
/// When the first answer to a message is wrong, or the system refuses a necessary resource.
pub fn generate(server: SocketAddr, pid: Option<u32>, load: &Load, tick: impl FnMut(Duration)) -> Result<Measured> {
    let messages = Messages::new(server, load);
    let target = Target::plain(server);
    runtime()?.block_on(try_out(server, &target, &messages.groups))?;
    let usage = || pid.map(Usage::of).transpose();
    let mut watcher = Watcher { usage, tick, before: Ok(None) };
    let outcome = run(&target, messages, &load.plan(), &Stop::default(), &mut watcher)?;
    let (before, after) = (watcher.before?, usage()?);
    Ok(Measured {
        tallies: load.shares.iter().map(|share| share.kind).zip(outcome.tallies).collect(),
        time: outcome.time,
        served: outcome.served,
        usage: before.zip(after).map(|(before, after)| [before, after]),
    })
}

/// Samples the server's usage when the measurement begins.
struct Watcher<U, T> {
    usage: U,
    tick: T,
    before: Result<Option<Usage>>,
}

impl<U: Fn() -> Result<Option<Usage>>, T: FnMut(Duration)> Watch for Watcher<U, T> {
    fn begin(&mut self) {
        self.before = (self.usage)();
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        (self.tick)(progress.elapsed);
    }
}

/// Returns the server's memory per connection in bytes, for many connections that exchanged one
/// message and are idle since. The same number of other connections comes first, so that shared
/// memory does not count.
///
/// # Errors
/// When an answer is wrong, or the system refuses a necessary resource.
pub fn idle(server: SocketAddr, pid: u32, kind: &MessageKind, connections: usize) -> Result<f64> {
    let group = RequestGroup::new(server, &Share { kind: *kind, weight: 1.0 }, 0);
    let request = group.requests.first().context("there is no message")?;
    let target = Target::plain(server);
    let resident = || Usage::of(pid).map(|usage| usage.resident);
    let open = async |all: &mut Vec<Wire>| {
        for _ in 0..connections {
            let mut wire = Wire::connect(&target).await?;
            request.check(&wire.exchange(&request.bytes).await?)?;
            all.push(wire);
        }
        Ok::<(), Failed>(())
    };
    let mut all = Vec::new();
    let both = async {
        open(&mut all).await?;
        // Work after the answer is done by then.
        tokio::time::sleep(SETTLE).await;
        let before = resident();
        open(&mut all).await?;
        tokio::time::sleep(SETTLE).await;
        Ok((before, resident()))
    };
    let outcome: Result<_, Failed> = runtime()?.block_on(both);
    let (before, after) =
        outcome.map_err(|failed| anyhow!("a message was answered with: {}", failed.failure.name()))?;
    Ok((after? as f64 - before? as f64) / connections as f64)
}

impl Load {
    fn plan(&self) -> Plan {
        let Load { connections, threads, open, warm_up, time, .. } = *self;
        Plan { connections, threads, open, warm_up, time: Some(time), ..Plan::default() }
    }
}

/// The requests of a load.
struct Messages {
    groups: Vec<RequestGroup>,
    shares: Shares,
}

impl Messages {
    fn new(server: SocketAddr, load: &Load) -> Self {
        let groups = load.shares.iter().map(|share| RequestGroup::new(server, share, load.changed)).collect();
        Messages { groups, shares: Shares::new(load.shares.iter().map(|share| share.weight), SEED) }
    }

    fn at(&self, turn: Turn) -> &Request {
        let requests = &self.groups[turn.kind].requests;
        &requests[turn.position % requests.len()]
    }
}

impl Traffic for Messages {
    fn kinds(&self) -> usize {
        self.groups.len()
    }

    fn kind(&self, number: u64) -> usize {
        self.shares.draw(number)
    }

    fn request<'a>(&'a self, turn: Turn, _: &'a mut Vec<u8>) -> &'a [u8] {
        &self.at(turn).bytes
    }

    fn check(&self, turn: Turn, answer: &Answer<'_>) -> Result<(), Failed> {
        self.at(turn).check(answer)
    }
}

/// The messages of a kind, as requests.
#[derive(Debug)]
struct RequestGroup {
    kind: MessageKind,
    requests: Vec<Request>,
}

/// A message as a request.
#[derive(Debug)]
struct Request {
    bytes: Vec<u8>,
    message: Message,
    /// The last answer that was verified as correct: an equal one is correct too.
    right: Mutex<Vec<u8>>,
}

impl RequestGroup {
    fn new(server: SocketAddr, share: &Share, changed: u32) -> Self {
        let ring = share.kind.ring(changed);
        let requests = ring.into_iter().map(|message| Request::new(server, &share.kind, message)).collect();
        RequestGroup { kind: share.kind, requests }
    }
}

impl Request {
    fn new(server: SocketAddr, kind: &MessageKind, message: Message) -> Self {
        let (operation, length) = (kind.operation(), message.text.len());
        let head = format!(
            "POST /bench HTTP/1.1\r\nHost: {server}\r\nContent-Type: text/xml; charset=utf-8\r\n\
             SOAPAction: \"urn:bench#{operation}\"\r\nContent-Length: {length}\r\n\r\n"
        );
        let bytes = [head.as_bytes(), message.text.as_bytes()].concat();
        Request { bytes, message, right: Mutex::default() }
    }

    fn check(&self, answer: &Answer<'_>) -> Result<(), Failed> {
        let Answer { status, body, .. } = *answer;
        if status != 200 {
            return Err(Failure::Status(status).into());
        }
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if *right == body && !body.is_empty() {
            return Ok(());
        }
        if !self.message.is_answered_by(body) {
            return Err(Failure::Wrong.into());
        }
        body.clone_into(&mut right);
        Ok(())
    }
}

/// Exchanges some messages of each kind once: a server that fails from the start is not loaded.
async fn try_out(server: SocketAddr, target: &Target, groups: &[RequestGroup]) -> Result<()> {
    let connect = async || Wire::connect(target).await.map_err(|_| anyhow!("no server listens at {server}"));
    let mut wire = connect().await?;
    for group in groups {
        for request in group.requests.iter().take(TRIAL_MESSAGES) {
            if !wire.is_open() {
                wire = connect().await?;
            }
            let answer = tokio::time::timeout(Plan::default().timeout, wire.exchange(&request.bytes)).await;
            let checked = answer.unwrap_or_else(|_| Err(Failure::Timeout.into()));
            if let Err(failed) = checked.and_then(|answer| request.check(&answer)) {
                bail!("{} is answered with: {}", group.kind, failed.failure.name());
            }
        }
    }
    Ok(())
}
