//! `serve` and `mock` as processes: among thousands of slow clients, told to stop, and killed.
//!
//! `cargo xtask attacks` runs the large attacks, which are ignored here, and prints a row for each.

#![cfg(unix)]

use deltasoap_test_support::Serving;
use std::net::SocketAddr;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Starts a server as a process.
fn serving(arguments: &[&str], listen: &str) -> Serving {
    Serving::start(Command::new(env!("CARGO_BIN_EXE_deltasoap")).args(arguments).args(["--listen", listen]))
}

/// Waits for the process to end, at most for `patience`.
async fn end(server: &mut Serving, patience: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(status) = server.child.try_wait().expect("a child") {
            return Some(status);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    None
}

/// Returns the process's current and maximum memory in KiB; zero if the system does not report it.
fn memory(server: &Serving) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    (of("VmRSS:"), of("VmHWM:"))
}

const VOID: &str = "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><b:echoVoid xmlns:b=\"urn:bench\"/></e:Body></e:Envelope>";

fn head(length: usize) -> String {
    format!("POST /bench HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n")
}

fn request(body: &str) -> String {
    head(body.len()) + body
}

/// Returns a message of about `bytes` bytes that the service echoes.
fn echo(bytes: usize) -> String {
    let items = "<item>a text of some length</item>".repeat(bytes / 34);
    VOID.replace(
        "<b:echoVoid xmlns:b=\"urn:bench\"/>",
        &format!("<b:echoStrings xmlns:b=\"urn:bench\">{items}</b:echoStrings>"),
    )
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// Reads the answer on a connection, up to the end of its envelope or of the connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"Envelope>") && stream.read_buf(&mut read).await.is_ok_and(|count| count > 0) {}
    String::from_utf8_lossy(&read).into_owned()
}

/// Behaviours of slow clients.
#[derive(Debug, Clone, Copy)]
enum Slow {
    /// Sends a byte of the head now and then.
    Head,
    /// Sends a byte of the body now and then, after announcing a long one.
    Body,
    /// Sends requests and reads nothing.
    Reader,
    /// Connects and sends nothing.
    Silent,
}

/// Attacks until the server closes the connection, or forever.
async fn slow(kind: Slow, address: SocketAddr, pace: Duration) {
    let socket = TcpSocket::new_v4().expect("a socket");
    // Unread data then waits at the server, not here.
    socket.set_recv_buffer_size(4096).expect("an option");
    let Ok(mut stream) = socket.connect(address).await else { return };
    let first = match kind {
        Slow::Head => "POST /bench HTTP/1.1\r\nHost: h\r\nX: ".to_owned(),
        Slow::Body => head(1 << 20),
        Slow::Reader => request(&echo(64 << 10)).repeat(3),
        Slow::Silent => String::new(),
    };
    if stream.write_all(first.as_bytes()).await.is_err() {
        return;
    }
    let again: &[u8] = if matches!(kind, Slow::Silent | Slow::Reader) { b"" } else { b" " };
    loop {
        tokio::time::sleep(pace).await;
        if stream.write_all(again).await.is_err() {
            return;
        }
    }
}

/// The results of ordinary clients.
#[derive(Debug, Default)]
struct Met {
    times: Vec<Duration>,
    failed: usize,
}

impl Met {
    /// Sends `count` requests, each over a connection of its own.
    async fn asking(address: SocketAddr, count: usize) -> Self {
        let mut met = Met::default();
        let body = request(&echo(2000));
        for _ in 0..count {
            let start = Instant::now();
            let asked = async {
                let mut stream = TcpStream::connect(address).await.ok()?;
                stream.write_all(body.as_bytes()).await.ok()?;
                Some(answer(&mut stream).await)
            };
            let answer = tokio::time::timeout(Duration::from_secs(20), asked).await;
            let is_right = answer
                .ok()
                .flatten()
                .is_some_and(|text| text.starts_with("HTTP/1.1 200") && text.contains("echoStringsResponse"));
            met.failed += usize::from(!is_right);
            met.times.push(start.elapsed());
        }
        met.times.sort_unstable();
        met
    }

    fn quantile(&self, share: f64) -> Duration {
        self.times[((self.times.len() - 1) as f64 * share) as usize]
    }
}

/// Runs thousands of slow clients, and ordinary ones among them.
async fn crowd(attackers: usize, asked: usize) {
    let server = serving(&["serve"], "127.0.0.1:0");
    let alone = Met::asking(server.address(), asked).await;
    let (before, _) = memory(&server);
    let mut crowd = JoinSet::new();
    let start = Instant::now();
    for number in 0..attackers {
        let kind = [Slow::Head, Slow::Body, Slow::Reader, Slow::Silent][number % 4];
        crowd.spawn(slow(kind, server.address(), Duration::from_millis(500)));
        // No faster than the server's queue of new connections takes them.
        if number % 100 == 99 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    let met = Met::asking(server.address(), asked).await;
    let under_way = crowd.len();
    let (_, peak) = memory(&server);
    println!(
        "| {attackers} slow clients at one time: heads and bodies by the byte, readers that do not read, silent ones | {} of {asked} ordinary requests \
         answered right | median {:.1} ms, 99 of 100 within {:.0} ms, slowest {:.0} ms (alone {:.1}, {:.0} and {:.0} ms); {:.1} s in all | {} KiB before, {} KiB at most: {} KiB a slow client |",
        asked - met.failed,
        met.quantile(0.5).as_secs_f64() * 1e3,
        met.quantile(0.99).as_secs_f64() * 1e3,
        met.quantile(1.0).as_secs_f64() * 1e3,
        alone.quantile(0.5).as_secs_f64() * 1e3,
        alone.quantile(0.99).as_secs_f64() * 1e3,
        alone.quantile(1.0).as_secs_f64() * 1e3,
        start.elapsed().as_secs_f64(),
        before,
        peak,
        peak.saturating_sub(before) / attackers as u64
    );
    assert!(under_way * 2 > attackers, "the attack goes on: {under_way}");
    assert_eq!(met.failed, 0);
    assert!(met.quantile(0.99) < Duration::from_secs(5), "{:?}", met.quantile(0.99));
    // A reader's response, its request, and the memory of a connection.
    assert!(peak.saturating_sub(before) < attackers as u64 * 512, "{before} KiB before, {peak} KiB at most");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ordinary_clients_are_served_among_slow_ones() {
    crowd(400, 50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs 20,000 files at one time; cargo xtask attacks runs it"]
async fn attack_with_slow_clients_by_the_thousand() {
    crowd(9_000, 500).await;
}

/// A request that is under way when the server is told to stop is answered; then the process exits
/// successfully.
async fn told_to_end(arguments: &[&str], signal: &str, path: &str, body: &str) {
    let mut server = serving(arguments, "127.0.0.1:0");
    let mut stream = connect(server.address()).await;
    let request = request(body).replace("/bench", path);
    let (first, rest) = request.split_at(request.len() - 20);
    stream.write_all(first.as_bytes()).await.expect("sent");
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.signal(signal);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.child.try_wait().expect("a child"), None, "it waits for the request");
    assert!(TcpStream::connect(server.address()).await.is_err(), "it accepts no more connections");
    stream.write_all(rest.as_bytes()).await.expect("sent");
    let answer = answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{arguments:?}, {signal}: {answer}");
    let status = end(&mut server, Duration::from_secs(10)).await.expect("an end");
    assert!(status.success(), "{arguments:?}, {signal}: {status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_told_to_end_answers_first() {
    let wsdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/wsdl/bench.wsdl");
    for signal in ["TERM", "INT"] {
        told_to_end(&["serve"], signal, "/bench", VOID).await;
        told_to_end(&["mock", wsdl], signal, "/", VOID).await;
    }
}

/// When a server is told to stop, a stalling client delays its end for
/// `Server::shutdown_timeout`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes half a minute; cargo xtask attacks runs it"]
async fn attack_on_a_server_that_is_told_to_end() {
    let mut server = serving(&["serve"], "127.0.0.1:0");
    let mut crowd = JoinSet::new();
    for number in 0..200 {
        let kind = [Slow::Head, Slow::Body, Slow::Reader, Slow::Silent][number % 4];
        crowd.spawn(slow(kind, server.address(), Duration::from_millis(100)));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.signal("TERM");
    let start = Instant::now();
    let status = end(&mut server, Duration::from_secs(60)).await;
    println!(
        "| SIGTERM among 200 slow clients | {} | {:.1} s | |",
        status.map_or_else(|| "no end".to_owned(), |status| status.to_string()),
        start.elapsed().as_secs_f64()
    );
    assert!(status.is_some_and(|status| status.success()) && start.elapsed() < Duration::from_secs(40));
}

/// If the server is killed or aborted during requests, no client keeps waiting; restarted at the
/// same address, it serves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_killed_can_be_started_again() {
    let mut server = serving(&["serve"], "127.0.0.1:0");
    let address = server.address();
    let mut waiting = JoinSet::new();
    for _ in 0..20 {
        let mut stream = connect(address).await;
        stream.write_all(request(VOID).as_bytes()).await.expect("sent");
        assert!(answer(&mut stream).await.starts_with("HTTP/1.1 200"));
        let half = request(&echo(10_000));
        stream.write_all(&half.as_bytes()[..5000]).await.expect("sent");
        waiting.spawn(async move { answer(&mut stream).await });
    }
    let mut slowest = Duration::ZERO;
    for signal in ["KILL", "ABRT"] {
        server.signal(signal);
        let start = Instant::now();
        assert!(!end(&mut server, Duration::from_secs(5)).await.expect("an end").success());
        while let Some(left) = tokio::time::timeout(Duration::from_secs(5), waiting.join_next()).await.expect("no wait")
        {
            assert_eq!(left.expect("no panic"), "");
        }
        server = serving(&["serve"], &address.to_string());
        let met = Met::asking(address, 20).await;
        assert_eq!(met.failed, 0, "after {signal}");
        slowest = slowest.max(start.elapsed());
    }
    println!(
        "| SIGKILL and SIGABRT, 20 half requests under way | their connections end, and the server starts again at the same address; 40 of 40 \
         requests answered right | {:.0} ms to the twentieth answer at most | |",
        slowest.as_secs_f64() * 1e3
    );
}
