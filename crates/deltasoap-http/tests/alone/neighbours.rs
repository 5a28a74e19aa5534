//! Clients that attack each other through the service's memory of earlier messages: with ten
//! thousand principals and as many styles of messages, and with a clock.
//!
//! `cargo xtask attacks` runs the large tests, which are ignored here, and prints a row for each.

use crate::common::*;
use crate::{ALLOCATOR, ALONE};
use deltasoap::server::{MemoryBounds, Principal, Sharing};
use deltasoap::{Fault, Lease, SoapService};
use http::Request;
use http_body_util::{BodyExt, Full};
use peakmem_alloc::PeakMemAllocTrait;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

/// Maximum bytes that the services may keep, for requests and for responses each.
const BOUND: usize = 4 << 20;

fn bounded(sharing: Sharing) -> SoapService {
    let bounds = MemoryBounds { total_bytes: BOUND, ..MemoryBounds::default() };
    let builder = SoapService::builder().memory_bounds(bounds).sharing(sharing);
    builder.operation(async |echo: Lease<Echo>| Ok::<_, Fault>(echoed(&echo))).build().expect("a service")
}

/// Returns a message whose element has this prefix, which determines the sender's style.
fn styled(prefix: &str, text: &str) -> String {
    let items: String = (0..40).map(|number| format!("<{prefix}:numbers>{number}</{prefix}:numbers>")).collect();
    let items = items.replace(&format!("{prefix}:"), "");
    format!(
        "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><{prefix}:Echo xmlns:{prefix}=\"urn:test\">\
         <text>{text}</text>{items}</{prefix}:Echo></e:Body></e:Envelope>"
    )
}

async fn posted(service: &SoapService, principal: Option<&str>, body: String) -> String {
    let mut request = Request::post("/").header("content-type", "text/xml").body(Full::from(body)).expect("a request");
    if let Some(principal) = principal {
        request.extensions_mut().insert(Principal::new(principal));
    }
    let response = service.clone().oneshot(request).await.expect("infallible");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.into()).expect("UTF-8")
}

/// A connection.
struct Wire(TcpStream);

impl Wire {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option");
        Wire(stream)
    }

    /// Sends a message and reads the answer, which ends with its envelope.
    async fn post(&mut self, body: &str) -> String {
        let length = body.len();
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n");
        self.0.write_all((head + body).as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b":Envelope>") {
            assert!(self.0.read_buf(&mut answer).await.expect("an answer") > 0, "{}", String::from_utf8_lossy(&answer));
        }
        String::from_utf8(answer).expect("UTF-8")
    }
}

/// Sends messages of `count` principals, or in `count` styles, twice; returns the peak of allocated
/// bytes beyond those allocated before.
async fn crowd(service: &SoapService, count: usize, styles: bool) -> usize {
    ALLOCATOR.reset_peak_memory();
    for round in 0..2 {
        for number in 0..count {
            let (text, name) = (format!("secret-{number}-{round}"), format!("p{number}"));
            let answer = match styles {
                false => posted(service, Some(&name), styled("p", &text)).await,
                true => posted(service, None, styled(&name, &text)).await,
            };
            assert!(answer.contains(&format!(">{text}<")), "{answer}");
            assert_eq!(answer.matches("secret-").count(), 1, "{answer}");
            let held = service.stats().snapshot().differential.memory;
            assert!(held <= BOUND as u64, "{held} bytes are kept");
        }
    }
    ALLOCATOR.get_peak_memory()
}

/// Thousands of principals and styles: kept memory stays within its bound, allocated memory within
/// a small multiple of it, and no client gets another's data.
async fn crowds(count: usize) {
    let _alone = ALONE.lock().await;
    for (name, sharing, styles) in
        [("principals", Sharing::Principal, false), ("ways to begin a message", Sharing::Operation, true)]
    {
        let service = bounded(sharing);
        let start = Instant::now();
        let peak = crowd(&service, count, styles).await;
        let stats = service.stats().snapshot();
        println!(
            "| {count} {name}, two messages each, {} MiB to be kept at most | right answers, {} memories dropped | {:.1} s | {} KiB counted, {} KiB allocated at most |",
            BOUND >> 20,
            stats.evictions,
            start.elapsed().as_secs_f64(),
            stats.differential.memory >> 10,
            peak >> 10
        );
        assert!(stats.evictions > 0, "{stats:?}");
        // For requests and responses, including values, which are not counted.
        assert!(peak < 4 * BOUND, "{name}: {peak} bytes");
    }
}

#[tokio::test]
async fn thousands_of_neighbours_stay_within_the_bounds() {
    crowds(2_000).await;
}

#[tokio::test]
#[ignore = "takes longer; cargo xtask attacks runs it"]
async fn attack_with_ten_thousand_neighbours() {
    crowds(10_000).await;
}

/// Namespaces and prefixes of one message are not kept for ever.
async fn ever_new_namespaces(count: usize) {
    let _alone = ALONE.lock().await;
    let service = bounded(Sharing::Principal);
    let (address, _handle) = serve(service).await;
    let mut wire = Wire::open(address).await;
    let mut peaks = Vec::new();
    let start = Instant::now();
    for part in 0..4 {
        ALLOCATOR.reset_peak_memory();
        for number in 0..count / 4 {
            let unique = format!("{part}-{number}-{}", "x".repeat(400));
            let declared = format!("<e:Body xmlns:n{part}x{number}=\"urn:{unique}\">");
            let body = styled("p", "text").replace("<e:Body>", &declared);
            assert!(wire.post(&body).await.contains(">text<"));
        }
        peaks.push(ALLOCATOR.get_peak_memory());
    }
    println!(
        "| {count} messages on one connection, a namespace of 400 bytes of its own in each | right answers | {:.1} s | {:?} KiB allocated at most in each quarter, beyond the last |",
        start.elapsed().as_secs_f64(),
        peaks.iter().map(|peak| peak >> 10).collect::<Vec<_>>()
    );
    assert!(peaks[3] < 1 << 20, "{peaks:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namespaces_do_not_add_up() {
    ever_new_namespaces(4_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes longer; cargo xtask attacks runs it"]
async fn attack_with_ever_new_namespaces() {
    ever_new_namespaces(40_000).await;
}

/// Returns numbers as a message: content that a client does not know of another, and tries to
/// guess.
fn secret(seed: u64, items: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        10_000_000 + state % 80_000_000
    };
    let numbers: String = (0..items).map(|_| format!("<numbers>{}</numbers>", next())).collect();
    format!(
        "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><t:Echo xmlns:t=\"urn:test\"><text>x</text>{numbers}\
         </t:Echo></e:Body></e:Envelope>"
    )
}

/// How the service distinguishes client and victim.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Apart {
    /// By connection, over TCP; default sharing.
    Connections,
    /// By principal; default sharing.
    Principals,
    /// Each calls its own service: they share only the machine, whose caches and branch predictors
    /// have seen the message too.
    Services,
    /// Not at all: `Sharing::Operation`.
    Not,
}

/// Number of times that the other client sends its message: the first few show that keeping
/// memories is useful.
const REPEATED: usize = 4;

/// Returns the time that a new service takes for a message after another client has sent its own. A
/// service that has seen streams of messages without repetitions would no longer look for them.
async fn time_of_guess(apart: Apart, victim: &str, guess: &str) -> Duration {
    let sharing = if apart == Apart::Not { Sharing::Operation } else { Sharing::Principal };
    // The answer is short, so that reading dominates the time.
    let build = || {
        let service = SoapService::builder().sharing(sharing).operation(async |echo: Lease<Echo>| {
            Ok::<_, Fault>(EchoResponse { text: echo.numbers.len().to_string(), numbers: vec![] })
        });
        service.build().expect("a service")
    };
    let service = build();
    if apart != Apart::Connections {
        let [ours, theirs] = ["us", "them"].map(|name| Some(name).filter(|_| apart != Apart::Not));
        let their_service = if apart == Apart::Services { build() } else { service.clone() };
        for _ in 0..REPEATED {
            posted(&their_service, theirs, victim.to_owned()).await;
        }
        let start = Instant::now();
        posted(&service, ours, guess.to_owned()).await;
        return start.elapsed();
    }
    let (address, handle) = serve(service).await;
    let (mut other, mut own) = (Wire::open(address).await, Wire::open(address).await);
    for _ in 0..REPEATED {
        other.post(victim).await;
    }
    let start = Instant::now();
    own.post(guess).await;
    let time = start.elapsed();
    handle.shutdown();
    time
}

/// The times that a service takes for a client's first message, by whether it equals the message
/// that another client has sent just before.
struct Guesses {
    right: Vec<Duration>,
    wrong: Vec<Duration>,
}

impl Guesses {
    async fn new(apart: Apart, rounds: usize, items: usize) -> Self {
        let mut guesses = Guesses { right: Vec::new(), wrong: Vec::new() };
        for round in 0..rounds as u64 * 2 {
            // The order follows a pattern that matches no period of the machine.
            let is_right = round.count_ones().is_multiple_of(2);
            let victim = secret(round, items);
            let guess = if is_right { victim.clone() } else { secret(round + 1_000_000, items) };
            let time = time_of_guess(apart, &victim, &guess).await;
            if is_right { &mut guesses.right } else { &mut guesses.wrong }.push(time);
        }
        guesses
    }

    /// Returns the probability that a right guess is answered sooner than a wrong one, and its
    /// standard error if both took the same time (Mann and Whitney's U, as a share).
    fn advantage(&self) -> (f64, f64) {
        let (n, m) = (self.right.len() as f64, self.wrong.len() as f64);
        let sooner = |right: &Duration| {
            self.wrong
                .iter()
                .map(|wrong| {
                    if right < wrong {
                        1.0
                    } else if right == wrong {
                        0.5
                    } else {
                        0.0
                    }
                })
                .sum::<f64>()
        };
        (self.right.iter().map(sooner).sum::<f64>() / (n * m), ((n + m + 1.0) / (12.0 * n * m)).sqrt())
    }

    fn medians(&mut self) -> [f64; 2] {
        [&mut self.right, &mut self.wrong].map(|times| {
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e6
        })
    }
}

/// By default the time of an answer reveals no more about another client's messages than if the
/// clients had separate services; with shared memories it does, as documented.
async fn timed(rounds: usize, items: usize) {
    let _alone = ALONE.lock().await;
    let mut control = 0.5;
    for apart in [Apart::Services, Apart::Connections, Apart::Principals, Apart::Not] {
        let start = Instant::now();
        let mut guesses = Guesses::new(apart, rounds, items).await;
        let (advantage, error) = guesses.advantage();
        let [right, wrong] = guesses.medians();
        let how = match apart {
            Apart::Services => "of another service, as a control",
            Apart::Connections => "by default",
            Apart::Principals => "by default, as another principal",
            Apart::Not => "with `Sharing::Operation`",
        };
        println!(
            "| timing another client's message of {items} numbers, {} guesses, {how} | a right guess is sooner than a wrong one in {:.1} % (±{:.1}) | {:.1} s; medians {right:.0} and {wrong:.0} µs | |",
            rounds * 2,
            advantage * 100.0,
            error * 100.0,
            start.elapsed().as_secs_f64()
        );
        match apart {
            Apart::Services => control = advantage,
            Apart::Not => assert!(advantage > control + 6.0 * error, "{apart:?}: {advantage} (±{error})"),
            // The difference of two shares has a larger error.
            _ => assert!(advantage - control < 5.0 * 1.5 * error, "{apart:?}: {advantage} (±{error}), not {control}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_an_answer_tells_nothing_of_other_connections() {
    timed(100, 3_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes longer; cargo xtask attacks runs it"]
async fn attack_with_a_clock() {
    timed(2_000, 3_000).await;
}
