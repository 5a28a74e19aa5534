//! The generator: connections on a few threads, each with its own runtime, and their statistics.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deltasoap_streams::prng::{SEED, SplitMix64};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::kind::{Message, MessageKind, Share};
use super::pace::{Arrivals, Pace};
use super::record::Tally;
use super::usage::Usage;
use super::wire::{Failure, Wire};

/// An answer that takes longer than this is a failure.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time until a failed connection is retried.
const RECONNECT: Duration = Duration::from_millis(100);
/// Number of messages of a kind that are tried before a load.
const TRIAL_MESSAGES: usize = 16;
/// Interval of progress reports.
const TICK: Duration = Duration::from_millis(100);

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
        failures.map(|(failure, count)| format!("{count} × {}", failure.name())).collect::<Vec<_>>().join(", ")
    }

    /// Returns correct answers per second.
    pub fn throughput(&self) -> f64 {
        let answers: u64 = self.tallies.iter().map(|(_, tally)| tally.latencies.len()).sum();
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
    let groups: Vec<RequestGroup> =
        load.shares.iter().map(|share| RequestGroup::new(server, share, load.changed)).collect();
    let groups: Arc<[RequestGroup]> = groups.into();
    runtime()?.block_on(try_out(server, &groups))?;
    let begin = Instant::now();
    let start = begin + load.warm_up;
    let shared = |thread: usize| Shared {
        server,
        groups: Arc::clone(&groups),
        pace: load.pace(begin, thread),
        start,
        end: start + load.time,
        tallies: Mutex::new(vec![Tally::default(); groups.len()]),
        served: AtomicU64::new(0),
    };
    let shared: Vec<Arc<Shared>> = (0..load.threads).map(|thread| Arc::new(shared(thread))).collect();
    run(&shared, load, pid, tick)
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
    let resident = || Usage::of(pid).map(|usage| usage.resident);
    let open = async |all: &mut Vec<Wire>| {
        for _ in 0..connections {
            let mut wire = Wire::connect(server).await?;
            let body = wire.exchange(&request.bytes).await?;
            request.check(body)?;
            all.push(wire);
        }
        Ok::<(), Failure>(())
    };
    let mut all = Vec::new();
    let both = async {
        open(&mut all).await?;
        // Work after the answer is done by then.
        tokio::time::sleep(RECONNECT).await;
        let before = resident();
        open(&mut all).await?;
        tokio::time::sleep(RECONNECT).await;
        Ok((before, resident()))
    };
    let outcome: Result<_, Failure> = runtime()?.block_on(both);
    let (before, after) =
        outcome.map_err(|failure| anyhow::anyhow!("a message was answered with: {}", failure.name()))?;
    Ok((after? as f64 - before? as f64) / connections as f64)
}

fn run(shared: &[Arc<Shared>], load: &Load, pid: Option<u32>, tick: impl FnMut(Duration)) -> Result<Measured> {
    let usage = |pid: Option<u32>| pid.map(Usage::of).transpose();
    let mut threads = Vec::new();
    for (number, shared) in shared.iter().enumerate() {
        let connections = load.connections_of(number);
        let (shared, runtime) = (Arc::clone(shared), runtime()?);
        threads.push(thread::spawn(move || runtime.block_on(connect_all(&shared, connections))));
    }
    let before = watch(&shared[0], pid, tick)?;
    threads.into_iter().for_each(|thread| thread.join().expect("connections do not panic"));
    let (time, after) = (shared[0].start.elapsed(), usage(pid)?);
    let mut tallies = vec![Tally::default(); load.shares.len()];
    for shared in shared {
        let own = shared.tallies.lock().unwrap_or_else(PoisonError::into_inner);
        tallies.iter_mut().zip(&*own).for_each(|(sum, own)| sum.add(own));
    }
    Ok(Measured {
        tallies: load.shares.iter().map(|share| share.kind).zip(tallies).collect(),
        time,
        served: shared.iter().map(|shared| shared.served.load(Relaxed)).sum(),
        usage: before.zip(after).map(|(before, after)| [before, after]),
    })
}

/// Waits until the measurement ends, and samples the server's usage when it begins.
fn watch(shared: &Shared, pid: Option<u32>, mut tick: impl FnMut(Duration)) -> Result<Option<Usage>> {
    let begin = Instant::now();
    let mut sleep_until = |time: Instant| {
        while let Some(left) = time.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            thread::sleep(left.min(TICK));
            tick(begin.elapsed());
        }
    };
    sleep_until(shared.start);
    let before = pid.map(Usage::of).transpose()?;
    sleep_until(shared.end);
    Ok(before)
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("no runtime")
}

impl Load {
    fn pace(&self, begin: Instant, thread: usize) -> Pace {
        match self.open {
            None => Pace::Closed,
            Some((rate, arrivals)) => Pace::open(arrivals, rate / self.threads as f64, begin, thread as u64),
        }
    }

    /// Returns the number of connections of a thread.
    fn connections_of(&self, thread: usize) -> usize {
        self.connections / self.threads + usize::from(thread < self.connections % self.threads)
    }
}

/// The messages of a kind, as requests.
#[derive(Debug)]
struct RequestGroup {
    kind: MessageKind,
    requests: Vec<Request>,
    weight: f64,
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
        RequestGroup { kind: share.kind, requests, weight: share.weight }
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

    fn check(&self, body: &[u8]) -> Result<(), Failure> {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if *right == body && !body.is_empty() {
            return Ok(());
        }
        if !self.message.is_answered_by(body) {
            return Err(Failure::Wrong);
        }
        body.clone_into(&mut right);
        Ok(())
    }
}

/// Exchanges some messages of each kind once: a server that fails from the start is not loaded.
async fn try_out(server: SocketAddr, groups: &[RequestGroup]) -> Result<()> {
    let mut wire = Wire::connect(server).await.map_err(|_| anyhow::anyhow!("no server listens at {server}"))?;
    for group in groups {
        for request in group.requests.iter().take(TRIAL_MESSAGES) {
            if !wire.is_open() {
                wire = Wire::connect(server).await.map_err(|_| anyhow::anyhow!("no server listens at {server}"))?;
            }
            let answer = tokio::time::timeout(TIMEOUT, wire.exchange(&request.bytes)).await;
            let checked = answer.unwrap_or(Err(Failure::Timeout)).and_then(|body| request.check(body));
            ensure!(checked.is_ok(), "{} is answered with: {}", group.kind, checked.unwrap_err().name());
        }
    }
    Ok(())
}

/// The state shared by the connections of a thread.
struct Shared {
    server: SocketAddr,
    groups: Arc<[RequestGroup]>,
    pace: Pace,
    start: Instant,
    end: Instant,
    tallies: Mutex<Vec<Tally>>,
    served: AtomicU64,
}

async fn connect_all(shared: &Arc<Shared>, connections: usize) {
    let mut tasks = JoinSet::new();
    for number in 0..connections {
        tasks.spawn(Connection::new(Arc::clone(shared), number).run());
    }
    tasks.join_all().await;
}

/// A connection that sends requests one by one.
struct Connection {
    shared: Arc<Shared>,
    wire: Option<Wire>,
    random: SplitMix64,
    /// The position in the ring of each kind.
    next: Vec<usize>,
}

impl Connection {
    fn new(shared: Arc<Shared>, number: usize) -> Self {
        let next = vec![number; shared.groups.len()];
        Connection { shared, wire: None, random: SplitMix64::stream(SEED, number as u64), next }
    }

    async fn run(mut self) {
        // Connections are made before the first request, so that its time does not include them.
        self.wire = Wire::connect(self.shared.server).await.ok();
        loop {
            let begin = self.shared.pace.next(self.shared.end).await;
            if begin >= self.shared.end {
                break;
            }
            let kind = self.draw();
            let outcome = tokio::time::timeout(TIMEOUT, self.exchange(kind)).await.unwrap_or(Err(Failure::Timeout));
            self.note(kind, begin, outcome);
            if outcome.is_err() {
                self.wire = None;
            }
            if outcome == Err(Failure::Connect) {
                tokio::time::sleep(RECONNECT).await;
            }
        }
    }

    /// Returns a random kind, by weight.
    fn draw(&mut self) -> usize {
        let groups = &self.shared.groups;
        let mut left = self.random.uniform() * groups.iter().map(|group| group.weight).sum::<f64>();
        let drawn = groups.iter().position(|group| {
            left -= group.weight;
            left <= 0.0
        });
        drawn.unwrap_or(groups.len() - 1)
    }

    async fn exchange(&mut self, kind: usize) -> Result<(), Failure> {
        let requests = &self.shared.groups[kind].requests;
        let request = &requests[self.next[kind] % requests.len()];
        self.next[kind] += 1;
        let mut wire = match self.wire.take().filter(Wire::is_open) {
            Some(wire) => wire,
            None => Wire::connect(self.shared.server).await?,
        };
        request.check(wire.exchange(&request.bytes).await?)?;
        self.wire = Some(wire);
        Ok(())
    }

    fn note(&self, kind: usize, begin: Instant, outcome: Result<(), Failure>) {
        let now = Instant::now();
        if outcome.is_ok() && now >= self.shared.start {
            self.shared.served.fetch_add(1, Relaxed);
        }
        if begin >= self.shared.start {
            let mut tallies = self.shared.tallies.lock().unwrap_or_else(PoisonError::into_inner);
            tallies[kind].note(outcome.map(|()| now - begin));
        }
    }
}
