//! The server under attack, with ordinary clients: every value that they get is checked against
//! what they sent and against a service without differential decoding, and afterwards the server is
//! in its initial state.
//!
//! `DELTASOAP_FAULT_SECONDS` extends the test, `DELTASOAP_FAULT_SEED` selects a different order of
//! attacks.

#![cfg(feature = "tls")]

use crate::attack::*;
use crate::{ALLOCATOR, ALONE};
use deltasoap::client::{Credentials, HttpTransport};
use deltasoap::engine::{Differential, Templating};
use deltasoap::server::ServerHandle;
use deltasoap::tls::{ClientTls, Roots, ServerTls};
use deltasoap::transport::Compression;
use deltasoap::{Client, SoapService};
use deltasoap_test_support::Chance;
use peakmem_alloc::PeakMemAllocTrait;
use std::hint::black_box;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Time limit for clients; attackers exceed it. Ordinary clients are in time even on a busy
/// machine.
const TIME: Duration = Duration::from_secs(2);
/// Maximum time that an ordinary client waits for an answer.
const BOUND: Duration = Duration::from_secs(10);
const ATTACKERS: usize = 24;
const CLIENTS: usize = 8;

/// The sequence of messages of one client: each is the one before with a few changes.
#[derive(Debug)]
struct Sequence {
    random: Chance,
    message: Echo,
}

impl Sequence {
    fn new(sender: String, seed: u64) -> Self {
        let mut random = Chance::seeded(seed);
        let count = [10, 200, 5000][random.below(3)];
        let values = (0..count).map(|_| random.bits() as f64 / 1e3).collect();
        Sequence { random, message: Echo { sender, number: 0, values, notes: vec!["<a> & b".to_owned(); 3] } }
    }

    fn next(&mut self) -> &Echo {
        let Sequence { random, message } = self;
        message.number += 1;
        for _ in 0..random.below(4) {
            let index = random.below(message.values.len());
            message.values[index] =
                if random.below(2) == 0 { random.below(10) as f64 } else { -1.0 / random.bits() as f64 };
        }
        match random.below(8) {
            0 => message.values.push(0.1),
            1 if message.values.len() > 5 => drop(message.values.pop()),
            2 => message.notes[0] = format!("{} note {}", message.sender, random.below(1000)),
            _ => {}
        }
        message
    }
}

/// The server under attack.
struct Target {
    service: SoapService,
    plain: (SocketAddr, ServerHandle),
    secure: (SocketAddr, ServerHandle),
    authority: String,
    /// The same service without differential decoding and writing.
    regular: Client<SoapService>,
}

impl Target {
    async fn new() -> Self {
        let times = builder().body_timeout(TIME).body_rate(10_000).handler_timeout(BOUND / 2);
        let service =
            scheduled(times.authenticate(users()).compression(Compression::ALWAYS)).build().expect("a service");
        let (identity, authority) = identity();
        let regular = builder().differential(Differential::OFF).templating(Templating::OFF).build().expect("a service");
        let forgetful = Client::builder("http://localhost/").templating(Templating::OFF).memories(0).hints(false);
        Target {
            plain: serve(service.clone(), TIME, None).await,
            secure: serve(service.clone(), TIME, Some(ServerTls::new(identity))).await,
            service,
            authority,
            regular: forgetful.build_with(regular).expect("a client"),
        }
    }

    /// Creates a client with its own connections. Some clients share a user.
    fn client(&self, number: usize) -> Client {
        let credentials = Credentials::basic(&format!("user {}", number / 2), "secret").expect("credentials");
        let (scheme, port) =
            if number.is_multiple_of(4) { ("https", self.secure.0.port()) } else { ("http", self.plain.0.port()) };
        let tls = ClientTls::new(Roots::from_pem(&self.authority).expect("roots"));
        let builder = Client::builder(format!("{scheme}://localhost:{port}/")).credentials(credentials);
        let builder = builder.timeout(BOUND).accept_gzip(number.is_multiple_of(3));
        builder.build_with(HttpTransport::with_tls(tls).expect("TLS")).expect("a client")
    }

    fn connections(&self) -> usize {
        self.plain.1.connections() + self.secure.1.connections()
    }

    /// Waits until there are no connections and no work.
    async fn rest(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let stats = self.service.stats().snapshot();
            let left = (self.connections(), stats.underway, stats.working, stats.waiting);
            if left == (0, 0, 0, 0) {
                return;
            }
            assert!(Instant::now() < end, "connections, messages, slots and waiting ones are left: {left:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// State shared by everything that runs concurrently.
struct Storm {
    is_over: AtomicBool,
    attacks: AtomicU64,
    calls: AtomicU64,
    slowest: AtomicU64,
}

/// Calls until the storm is over, with a new connection now and then.
async fn ordinary(target: Arc<Target>, storm: Arc<Storm>, number: usize, seed: u64) {
    let mut sequence = Sequence::new(format!("client {number}"), seed);
    let mut client = target.client(number);
    while !storm.is_over.load(Relaxed) {
        if sequence.random.below(50) == 0 {
            client = target.client(number);
        }
        let message = sequence.next();
        let start = Instant::now();
        let answer: Echoed = client.call_as(message).await.unwrap_or_else(|error| panic!("client {number}: {error:?}"));
        let took = start.elapsed();
        storm.slowest.fetch_max(took.as_millis() as u64, Relaxed);
        if took > TIME {
            // If a bound is exceeded, the statistics show the cause.
            let stats = target.service.stats().snapshot();
            println!(
                "client {number} waited {took:?}: {} values, {:?}",
                message.values.len(),
                (stats.underway, stats.working, stats.waiting)
            );
        }
        assert_eq!(answer, Echoed::from(message), "client {number} gets what it sent");
        let regular: Echoed = target.regular.call_as(message).await.expect("an answer");
        assert_eq!(answer, regular, "client {number} gets what regular mode says");
        storm.calls.fetch_add(1, Relaxed);
    }
}

/// Attacks until the storm is over. Some attackers have credentials.
async fn hostile(target: Arc<Target>, storm: Arc<Storm>, seed: u64) {
    let mut random = Chance::seeded(seed);
    while !storm.is_over.load(Relaxed) {
        let attack = Attack::ALL[random.below(Attack::ALL.len())];
        let address = if random.below(5) == 0 { target.secure.0 } else { target.plain.0 };
        // "user 9:secret"
        let authorization = if random.below(4) > 0 { "Authorization: Basic dXNlciA5OnNlY3JldA==\r\n" } else { "" };
        attack.run(address, Duration::from_millis(20), authorization).await;
        storm.attacks.fetch_add(1, Relaxed);
    }
}

/// Runs attacks and calls for a time; returns a summary for a row of the table of attacks.
async fn storm(target: &Arc<Target>, time: Duration, seed: u64) -> String {
    let (is_over, zero) = (AtomicBool::new(false), AtomicU64::default);
    let storm = Arc::new(Storm { is_over, attacks: zero(), calls: zero(), slowest: zero() });
    let mut tasks = JoinSet::new();
    for number in 0..ATTACKERS as u64 {
        tasks.spawn(hostile(Arc::clone(target), Arc::clone(&storm), seed.wrapping_add(number)));
    }
    for number in 0..CLIENTS {
        tasks.spawn(ordinary(Arc::clone(target), Arc::clone(&storm), number, seed.wrapping_mul(3) + number as u64));
    }
    let end = tokio::time::sleep(time);
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end, if !storm.is_over.load(Relaxed) => storm.is_over.store(true, Relaxed),
            ended = tasks.join_next() => match ended {
                Some(ended) => ended.expect("no task fails"),
                None => break,
            }
        }
    }
    let (attacks, calls, slowest) =
        (storm.attacks.load(Relaxed), storm.calls.load(Relaxed), storm.slowest.load(Relaxed));
    assert!(u128::from(slowest) < BOUND.as_millis());
    assert!(attacks > ATTACKERS as u64 / 2 && calls > CLIENTS as u64, "both go on");
    format!(
        "{attacks} attacks of {ATTACKERS} clients | {calls} calls of {CLIENTS} others answered right | slowest {slowest} ms"
    )
}

/// Returns the bytes allocated since the peak was last reset. The value is read from the peak,
/// after an allocation that is larger than any before. That memory is never touched, so the system
/// does nothing for it.
fn allocated() -> usize {
    const BEYOND: usize = 4 << 30;
    drop(black_box(Vec::<u8>::with_capacity(BEYOND)));
    ALLOCATOR.get_peak_memory().saturating_sub(BEYOND)
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_server_goes_on_for_the_others_and_is_then_as_it_was() {
    let _alone = ALONE.lock().await;
    let seed = from_environment("DELTASOAP_FAULT_SEED", 5);
    let seconds = from_environment("DELTASOAP_FAULT_SECONDS", 12);
    println!("DELTASOAP_FAULT_SEED={seed} DELTASOAP_FAULT_SECONDS={seconds}");
    // Panics of handlers and of their types are intended.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if !["a handler of a test", "a type of a test"].iter().any(|asked| text.contains(asked)) {
            print(panic);
        }
    }));
    ALLOCATOR.reset_peak_memory();
    let target = Arc::new(Target::new().await);
    // Most memory that stays (decoders, earlier messages of users, threads) is allocated in the
    // first round.
    storm(&target, Duration::from_secs(4), seed).await;
    target.rest().await;
    let (before, resident_before) = (allocated(), resident());
    let done = storm(&target, Duration::from_secs(seconds), seed + 1000).await;
    target.rest().await;
    let (after, resident_after) = (allocated(), resident());
    println!(
        "| connections reset and half closed, bodies cut, wrong bytes, packages and tokens, panics, in any order: {done}; {seconds} s in all | {} KiB \
         allocated at most after it, {} before |",
        after >> 10,
        before >> 10
    );
    println!("resident {resident_before:?} before, {resident_after:?} after");
    assert!(after < before + (8 << 20), "memory does not come back: {before} bytes before, {after} after");
    if let (Some(before), Some(after)) = (resident_before, resident_after) {
        assert!(after < before + (1 << 30), "resident memory grows: {before} bytes before, {after} after");
    }
}
