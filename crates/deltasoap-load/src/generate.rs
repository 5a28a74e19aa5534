//! The generator: connections on a few threads, each with its own runtime, and their statistics.

use crate::pace::Pace;
use crate::plan::{Plan, Traffic, Turn};
use crate::record::{Failed, Failure, Lateness, Tally};
use crate::series::{Series, Stretch};
use crate::wire::{Target, Wire};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Time until a failed connection is retried.
const RECONNECT: Duration = Duration::from_millis(100);
/// Interval of progress reports.
const TICK: Duration = Duration::from_millis(100);
/// A time that no load lasts: a year.
const ENDLESS: Duration = Duration::from_secs(365 * 86_400);

/// The results of a load.
#[derive(Debug)]
pub struct Outcome {
    /// The statistics of each kind of request.
    pub tallies: Vec<Tally>,
    /// From the beginning of the measurement to the last answer, and at least the plan's time.
    pub time: Duration,
    /// Number of requests answered in this time, including those that began before it.
    pub served: u64,
    /// The course of the load, if the plan asks for it.
    pub series: Option<Series>,
    /// Requests of an open loop that were sent late.
    pub lateness: Lateness,
    /// Number of requests of an open loop that were due before the end, and were not sent: no
    /// connection was free.
    pub unsent: u64,
    /// Why the load ended.
    pub end: End,
}

impl Outcome {
    /// Returns the statistics of all kinds together.
    pub fn total(&self) -> Tally {
        self.tallies.iter().fold(Tally::default(), |mut sum, tally| {
            sum.add(tally);
            sum
        })
    }
}

/// Why a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The plan is fulfilled.
    Complete,
    /// Too many requests failed.
    Failures,
    /// It was [stopped](Stop).
    Stopped,
}

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A thread's runtime cannot be created.
    #[error("the generator has no runtime")]
    Runtime(#[from] io::Error),
    /// No certificate can have this name.
    #[error("{0:?} is neither a host's name nor an address")]
    Host(String),
    /// A connection failed in a way that is a bug.
    #[error("a thread of the generator panicked")]
    Panicked,
}

/// Ends a load early. Requests in flight are given up, and do not count.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Stop(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Ends the load.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    async fn stopped(&self) {
        // The sender exists as long as this.
        let _ = self.0.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }
}

/// An observer of a load, in the thread that called [`run`].
pub trait Watch {
    /// The measurement begins.
    fn begin(&mut self) {}

    /// Some time has passed.
    fn tick(&mut self, progress: &Progress<'_>) {
        let _ = progress;
    }
}

/// Nobody watches.
impl Watch for () {}

/// The state of a load.
pub struct Progress<'a> {
    /// Time since the load began, with its warm-up.
    pub elapsed: Duration,
    /// Time since the measurement began.
    pub measured: Duration,
    so_far: &'a dyn Fn() -> Stretch,
}

impl Progress<'_> {
    /// Returns the statistics so far, of all kinds of requests together; nothing if the plan has no
    /// [stretches](Plan::stretch).
    pub fn so_far(&self) -> Stretch {
        (self.so_far)()
    }
}

/// Runs a load; returns after its end.
///
/// # Errors
/// When the system refuses a necessary resource.
pub fn run<T: Traffic>(
    target: &Target,
    traffic: T,
    plan: &Plan,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Outcome, LoadError> {
    let runtimes = (0..plan.threads).map(|_| runtime()).collect::<io::Result<Vec<_>>>()?;
    let begin = Instant::now();
    let load = Arc::new(Load::new(target, traffic, plan, stop, begin));
    let (done, ended) = channel();
    let (mut parts, mut threads) = (Vec::new(), Vec::new());
    for (number, runtime) in runtimes.into_iter().enumerate() {
        let part = Arc::new(Part::new(Arc::clone(&load), number));
        parts.push(Arc::clone(&part));
        let done: Sender<()> = done.clone();
        threads.push(thread::spawn(move || {
            runtime.block_on(part.run());
            // The receiver may be gone only after a panic.
            let _ = done.send(());
        }));
    }
    drop(done);
    follow(&load, &parts, &ended, watch);
    threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| LoadError::Panicked))?;
    Ok(outcome(&load, &parts))
}

/// Creates the runtime of a thread of the generator.
///
/// # Errors
/// When the system refuses a necessary resource.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Reports progress until all threads have ended.
fn follow<T: Traffic>(load: &Load<T>, parts: &[Arc<Part<T>>], ended: &Receiver<()>, watch: &mut dyn Watch) {
    let so_far = || {
        let mut sum = Stretch::default();
        parts.iter().for_each(|part| part.record().series.iter().for_each(|series| sum.add(&series.whole)));
        sum
    };
    let mut has_begun = false;
    loop {
        let now = Instant::now();
        if !has_begun && now >= load.start {
            has_begun = true;
            watch.begin();
        }
        let elapsed = now - load.begin;
        watch.tick(&Progress { elapsed, measured: now.saturating_duration_since(load.start), so_far: &so_far });
        let until_start = load.start.saturating_duration_since(now);
        let pause = if has_begun { TICK } else { TICK.min(until_start) };
        match ended.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn outcome<T: Traffic>(load: &Load<T>, parts: &[Arc<Part<T>>]) -> Outcome {
    let mut whole = Record::new(load);
    parts.iter().for_each(|part| whole.add(&part.record()));
    let end = match (load.has_failed(), load.stop.is_stopped()) {
        (true, _) => End::Failures,
        (false, true) => End::Stopped,
        (false, false) => End::Complete,
    };
    let last = match (end, load.plan.time) {
        (End::Complete, Some(_)) if load.plan.requests.is_none() => whole.last.max(load.end),
        (End::Complete, _) => whole.last,
        _ => Instant::now().min(load.end),
    };
    let room = load.plan.requests.map_or(u64::MAX, |most| most.saturating_sub(load.measured.load(Relaxed)));
    Outcome {
        unsent: whole.unsent + whole.undrawn.min(room),
        tallies: whole.tallies,
        time: last.saturating_duration_since(load.start),
        served: whole.served,
        series: whole.series,
        lateness: whole.lateness,
        end,
    }
}

/// What all connections share.
struct Load<T> {
    target: Target,
    traffic: T,
    plan: Plan,
    stop: Stop,
    begin: Instant,
    start: Instant,
    end: Instant,
    /// The number of the next request.
    next: AtomicU64,
    /// Number of measured requests that have begun.
    measured: AtomicU64,
    failed: AtomicU64,
    /// Set when there are no more requests.
    exhausted: Stop,
}

impl<T: Traffic> Load<T> {
    fn new(target: &Target, traffic: T, plan: &Plan, stop: &Stop, begin: Instant) -> Self {
        let start = begin + plan.warm_up;
        Load {
            target: target.clone(),
            traffic,
            plan: plan.clone(),
            stop: stop.clone(),
            begin,
            start,
            end: start + plan.time.unwrap_or(ENDLESS).min(ENDLESS),
            next: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            exhausted: Stop::default(),
        }
    }

    fn has_failed(&self) -> bool {
        self.plan.max_failed.is_some_and(|max| self.failed.load(Relaxed) >= max)
    }

    /// Returns true if the plan has room for another request, which begins at this time.
    fn takes(&self, begin: Instant) -> bool {
        let is_room = match self.plan.requests {
            Some(requests) if begin >= self.start => self.measured.fetch_add(1, Relaxed) < requests,
            _ => true,
        };
        if !is_room {
            self.exhausted.stop();
        }
        is_room
    }
}

/// The connections of a thread.
struct Part<T> {
    load: Arc<Load<T>>,
    number: usize,
    pace: Pace,
    record: Mutex<Record>,
}

/// The statistics of a thread.
struct Record {
    tallies: Vec<Tally>,
    served: u64,
    series: Option<Series>,
    lateness: Lateness,
    /// Number of requests that a connection took, and did not send any more.
    unsent: u64,
    /// Number of requests that were due, and that no connection took.
    undrawn: u64,
    /// The end of the last measured request.
    last: Instant,
}

impl Record {
    fn new<T: Traffic>(load: &Load<T>) -> Self {
        Record {
            tallies: vec![Tally::default(); load.traffic.kinds()],
            served: 0,
            series: load.plan.stretch.map(Series::new),
            lateness: Lateness::default(),
            unsent: 0,
            undrawn: 0,
            last: load.start,
        }
    }

    fn add(&mut self, other: &Record) {
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(sum, own)| sum.add(own));
        self.served += other.served;
        if let (Some(series), Some(other)) = (&mut self.series, &other.series) {
            series.add(other.clone());
        }
        self.lateness.add(other.lateness);
        self.unsent += other.unsent;
        self.undrawn += other.undrawn;
        self.last = self.last.max(other.last);
    }
}

impl<T: Traffic> Part<T> {
    fn new(load: Arc<Load<T>>, number: usize) -> Self {
        let record = Mutex::new(Record::new(&load));
        Part { pace: Pace::new(&load.plan, load.begin, number), load, number, record }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        for number in self.load.plan.connections_of(self.number) {
            tasks.spawn(Connection::new(Arc::clone(&self), number).run());
        }
        tokio::select! {
            () = async { while tasks.join_next().await.is_some() {} } => {}
            () = self.load.stop.stopped() => tasks.shutdown().await,
        }
        if !self.load.exhausted.is_stopped() {
            self.record().undrawn = self.pace.undrawn(self.load.start, Instant::now().min(self.load.end));
        }
    }
}

/// A connection that sends requests one by one.
struct Connection<T> {
    part: Arc<Part<T>>,
    number: usize,
    wire: Option<Wire>,
    /// The position in the requests of each kind.
    positions: Vec<usize>,
    buffer: Vec<u8>,
}

/// When a request was sent.
struct Slot {
    /// The time from which its latency counts.
    begin: Instant,
    /// The delay until it was sent.
    late: Duration,
    /// True if the connection was free before that time.
    was_free: bool,
}

/// What came of a request: when the answer was read, and its bytes.
struct Exchanged {
    end: Instant,
    sent: usize,
    received: usize,
}

impl<T: Traffic> Connection<T> {
    fn new(part: Arc<Part<T>>, number: usize) -> Self {
        let positions = vec![number; part.load.traffic.kinds()];
        Connection { part, number, wire: None, positions, buffer: Vec::new() }
    }

    async fn run(mut self) {
        let part = Arc::clone(&self.part);
        let (load, plan) = (&part.load, &part.load.plan);
        if plan.open.is_none() {
            let delay = plan.ramp.mul_f64(self.number as f64 / plan.connections as f64);
            tokio::select! {
                () = tokio::time::sleep_until((load.begin + delay).min(load.end).into()) => {}
                () = load.exhausted.stopped() => return,
            }
            if Instant::now() >= load.end {
                return;
            }
        }
        if !plan.reconnect && !self.connect().await {
            return;
        }
        loop {
            let begin = part.pace.draw();
            if !load.takes(begin) {
                return;
            }
            let was_free = part.pace.wait(begin, load.end).await;
            if begin >= load.end {
                return;
            }
            if Instant::now() >= load.end {
                self.part.record().unsent += u64::from(begin >= load.start);
                return;
            }
            let slot = Slot { begin, late: begin.elapsed(), was_free };
            let turn = self.turn();
            let exchange = tokio::time::timeout(plan.timeout, self.exchange(turn)).await;
            let outcome = exchange.unwrap_or_else(|_| Err(Failure::Timeout.into()));
            let is_unreachable = matches!(&outcome, Err(failed) if failed.failure == Failure::Connect);
            self.note(turn, slot, outcome);
            if is_unreachable {
                tokio::time::sleep(RECONNECT).await;
            }
            if !plan.think.is_zero() {
                tokio::time::sleep(plan.think.min(load.end.saturating_duration_since(Instant::now()))).await;
            }
        }
    }

    /// Connects before the first request, so that its time does not include this. A server that does
    /// not let it happen in the time of a request has failed one. Returns false if there are no more
    /// requests.
    async fn connect(&mut self) -> bool {
        let part = Arc::clone(&self.part);
        let (load, start) = (&part.load, Instant::now());
        match tokio::time::timeout(load.plan.timeout, Wire::connect(&load.target)).await {
            // The first request tries again, and fails if this does.
            Ok(connected) => self.wire = connected.ok(),
            Err(_) => {
                let begin = if load.plan.open.is_some() { part.pace.draw().min(Instant::now()) } else { start };
                if !load.takes(begin) {
                    return false;
                }
                let slot = Slot { begin, late: Duration::ZERO, was_free: true };
                let turn = self.turn();
                self.note(turn, slot, Err(Failed::new(Failure::Timeout, "there was no connection in time")));
            }
        }
        true
    }

    fn turn(&mut self) -> Turn {
        let load = &self.part.load;
        let number = load.next.fetch_add(1, Relaxed);
        let kind = load.traffic.kind(number);
        let position = self.positions[kind];
        self.positions[kind] = position.wrapping_add(1);
        Turn { kind, number, position }
    }

    /// Exchanges a request with its answer. The inner error is what the check has found.
    async fn exchange(&mut self, turn: Turn) -> Result<(Exchanged, Result<(), Failed>), Failed> {
        let load = &*self.part.load;
        // A connection that fails is dropped.
        let mut wire = match self.wire.take().filter(Wire::is_open) {
            Some(wire) => wire,
            None => Wire::connect(&load.target).await?,
        };
        self.buffer.clear();
        let request = load.traffic.request(turn, &mut self.buffer);
        let answer = wire.exchange(request).await?;
        let exchanged = Exchanged { end: Instant::now(), sent: request.len(), received: answer.received() };
        let checked = load.traffic.check(turn, &answer);
        if !load.plan.reconnect {
            self.wire = Some(wire);
        }
        Ok((exchanged, checked))
    }

    fn note(&self, turn: Turn, slot: Slot, outcome: Result<(Exchanged, Result<(), Failed>), Failed>) {
        let load = &*self.part.load;
        let (exchanged, checked) = match outcome {
            Ok((exchanged, checked)) => (exchanged, checked),
            Err(failed) => (Exchanged { end: Instant::now(), sent: 0, received: 0 }, Err(failed)),
        };
        let (end, is_measured, is_failed) = (exchanged.end, slot.begin >= load.start, checked.is_err());
        let mut record = self.part.record();
        record.served += u64::from(!is_failed && end >= load.start);
        if !is_measured {
            return;
        }
        let latency = end.saturating_duration_since(slot.begin);
        if let Some(series) = &mut record.series {
            series.note(end - load.start, (!is_failed).then_some(latency));
        }
        if load.plan.open.is_some() {
            record.lateness.note(slot.late, slot.was_free);
        }
        record.last = record.last.max(end);
        let tally = &mut record.tallies[turn.kind];
        tally.sent += exchanged.sent as u64;
        tally.received += exchanged.received as u64;
        tally.note(checked.map(|()| latency));
        drop(record);
        if is_failed {
            load.failed.fetch_add(1, Relaxed);
            if load.has_failed() {
                load.stop.stop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Arrivals;
    use crate::wire::Answer;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};

    /// Two kinds of requests in turn; the answers to the second kind are wrong.
    struct Turns;

    impl Traffic for Turns {
        fn kinds(&self) -> usize {
            2
        }

        fn kind(&self, number: u64) -> usize {
            (number % 2) as usize
        }

        fn request<'a>(&'a self, _: Turn, buffer: &'a mut Vec<u8>) -> &'a [u8] {
            assert!(buffer.is_empty());
            buffer.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
            buffer
        }

        fn check(&self, turn: Turn, answer: &Answer<'_>) -> Result<(), Failed> {
            assert_eq!((answer.body, answer.received()), (&b"x"[..], 39));
            if turn.kind == 0 { Ok(()) } else { Err(Failed::new(Failure::Wrong, turn.number.to_string())) }
        }
    }

    /// Starts a server, which answers once it has so many connections; returns it with the numbers of connections
    /// and requests so far.
    fn serve(least: u64) -> (Target, Arc<[AtomicU64; 2]>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (target, counts) = (Target::plain(listener.local_addr().unwrap()), Arc::<[AtomicU64; 2]>::default());
        let shared = Arc::clone(&counts);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                shared[0].fetch_add(1, Relaxed);
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    while shared[0].load(Relaxed) < least {
                        thread::sleep(Duration::from_millis(1));
                    }
                    answer(&stream, &shared[1]);
                });
            }
        });
        (target, counts)
    }

    fn answer(mut stream: &TcpStream, count: &AtomicU64) {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if line.is_empty() {
                count.fetch_add(1, Relaxed);
                let answered = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
                if answered.is_err() {
                    return;
                }
            }
        }
    }

    fn load(plan: &Plan) -> (Outcome, [u64; 2]) {
        load_from(serve(0), plan)
    }

    fn load_from((target, counts): (Target, Arc<[AtomicU64; 2]>), plan: &Plan) -> (Outcome, [u64; 2]) {
        let outcome = run(&target, Turns, plan, &Stop::default(), &mut ()).unwrap();
        (outcome, [0, 1].map(|index| counts[index].load(Relaxed)))
    }

    #[test]
    fn as_many_requests_are_measured_as_planned() {
        let plan = Plan { connections: 5, threads: 2, time: None, requests: Some(101), ..Plan::default() };
        // Without waiting, a thread that starts late may find nothing left to send.
        let (outcome, [connections, requests]) = load_from(serve(5), &plan);
        assert_eq!((connections, requests, outcome.served, outcome.end), (5, 101, 51, End::Complete));
        let [right, wrong] = [&outcome.tallies[0], &outcome.tallies[1]];
        assert_eq!((right.answered(), wrong.failed(), wrong.failures[&Failure::Wrong].count), (51, 50, 50));
        assert_eq!((right.received, wrong.received, right.sent), (51 * 39, 50 * 39, 51 * 18));
        // Those before the measurement come in addition.
        let (outcome, [_, requests]) = load(&Plan { warm_up: Duration::from_millis(50), ..plan });
        assert_eq!(outcome.total().answered() + outcome.total().failed(), 101);
        assert!(requests > 101, "{requests}");
    }

    #[test]
    fn connections_may_be_new_for_each_request() {
        let plan = Plan { connections: 2, time: None, requests: Some(20), reconnect: true, ..Plan::default() };
        let (outcome, counts) = load(&plan);
        assert_eq!((outcome.total().answered(), counts), (10, [20, 20]));
    }

    #[test]
    fn too_many_failures_end_a_load() {
        let plan = Plan { time: None, max_failed: Some(3), stretch: Some(RECONNECT), ..Plan::default() };
        let (outcome, _) = load(&plan);
        assert_eq!((outcome.end, outcome.total().failed()), (End::Failures, 3));
        assert_eq!(outcome.series.unwrap().whole.failed, 3);
    }

    /// Forty connections at ten requests a second: when the last of three requests is sent, others do
    /// not wait for times that will not come.
    #[test]
    fn an_open_loop_of_few_requests_ends_with_the_last() {
        let open = Some((10.0, Arrivals::Constant));
        let (outcome, _) = load(&Plan { connections: 40, open, time: None, requests: Some(3), ..Plan::default() });
        assert!(outcome.total().answered() == 2 && outcome.time < Duration::from_secs(3), "{:?}", outcome.time);
    }

    /// Starts a server that takes connections, and says nothing.
    fn silent() -> (TcpListener, Target) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::plain(listener.local_addr().unwrap());
        (listener, target)
    }

    /// Two of 300 requests begin in the time, and get theirs. The others are not sent afterwards.
    #[test]
    fn an_open_loop_ends_with_its_time_though_the_server_hangs() {
        let (_listener, target) = silent();
        let ms = Duration::from_millis;
        let plan = Plan {
            connections: 2,
            open: Some((1000.0, Arrivals::Constant)),
            time: Some(ms(300)),
            timeout: ms(500),
            ..Plan::default()
        };
        let outcome = run(&target, Turns, &plan, &Stop::default(), &mut ()).unwrap();
        assert_eq!((outcome.total().failed(), outcome.unsent, outcome.end), (2, 298, End::Complete));
        assert!(outcome.time < Duration::from_secs(20), "{:?}", outcome.time);
        let few = Plan { requests: Some(10), ..plan.clone() };
        assert_eq!(run(&target, Turns, &few, &Stop::default(), &mut ()).unwrap().unsent, 8);
        // A rate that nobody can send ends, too.
        let (outcome, _) = load(&Plan { open: Some((1e12, Arrivals::Poisson)), ..plan });
        assert!(outcome.unsent > 1_000_000_000 && outcome.time < Duration::from_secs(20), "{}", outcome.unsent);
    }

    #[test]
    fn what_is_sent_in_time_leaves_nothing_unsent() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let open = Some((50.0, arrivals));
            let (outcome, _) =
                load(&Plan { connections: 8, threads: 2, open, time: Some(RECONNECT), ..Plan::default() });
            assert_eq!(outcome.unsent, 0, "{arrivals:?}");
        }
    }

    #[test]
    fn thinking_clients_send_less_and_connections_join_one_by_one() {
        let (target, counts) = serve(0);
        let time = Some(Duration::from_millis(300));
        let plan = Plan { connections: 2, think: Duration::from_millis(100), time, ..Plan::default() };
        let outcome = run(&target, Turns, &plan, &Stop::default(), &mut ()).unwrap();
        assert!((2..=6).contains(&counts[1].load(Relaxed)) && outcome.time >= Duration::from_millis(300));
        // The second connection begins after half of the ramp, when the load has ended.
        let (outcome, [connections, _]) =
            load(&Plan { ramp: Duration::from_secs(60), time: Some(RECONNECT), ..plan.clone() });
        assert!(connections <= 1, "{connections}, {:?}", outcome.time);
        let long = Plan { think: Duration::from_secs(600), ..plan.clone() };
        assert!(load(&long).0.time < Duration::from_secs(20), "nobody thinks longer than the load lasts");
        let few = Plan { time: None, requests: Some(2), think: Duration::ZERO, ..plan };
        let (outcome, _) = load(&Plan { ramp: Duration::from_secs(60), ..few });
        assert!(outcome.time < Duration::from_secs(20), "nobody waits to join: {:?}", outcome.time);
    }

    #[test]
    fn a_load_is_stopped_from_outside() {
        struct StopAtOnce(Stop);
        impl Watch for StopAtOnce {
            fn tick(&mut self, progress: &Progress<'_>) {
                assert_eq!(progress.so_far().failed, 0, "there are no stretches");
                self.0.stop();
            }
        }
        let (stop, plan) = (Stop::default(), Plan { time: None, ..Plan::default() });
        let outcome = run(&serve(0).0, Turns, &plan, &stop, &mut StopAtOnce(stop.clone())).unwrap();
        assert_eq!(outcome.end, End::Stopped);
    }
}
