//! Servers that attack their clients, each against a client with a short timeout: the result of the
//! call, its duration, and the peak memory. `cargo test -p deltasoap-http --test alone
//! hostile_servers -- --nocapture --test-threads 1` prints a row for each.
//!
//! Every allocation is counted, including those of the server in the same program.

use crate::common::scripted::{Act, Scripted, read_request};
use crate::common::*;
use crate::{ALLOCATOR, ALONE};
use bytes::Bytes;
use deltasoap::Client;
use deltasoap::client::{CallError, CallOptions, ClientBuilder, Credentials, Redirects, Retries};
use deltasoap::engine::Limits;
use deltasoap::soap::Version;
use flate2::write::GzEncoder;
use peakmem_alloc::PeakMemAllocTrait;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Maximum time of a call.
const TIME: Duration = Duration::from_millis(700);
/// Maximum length of an answer that clients read, in bytes.
const LARGEST: u64 = 4 << 20;
/// Maximum bytes that the client and the server may allocate together.
const MEMORY: usize = 16 << 20;

/// A server's behaviour on each connection.
#[derive(Clone)]
struct Script {
    /// True if it reads a request first.
    reads: bool,
    first: Bytes,
    /// Sent repeatedly, as long as the client reads.
    again: Bytes,
    pause: Duration,
    /// True if it closes the connection at the end.
    closes: bool,
}

impl Script {
    /// Sends bytes and closes the connection.
    fn once(first: impl Into<Bytes>) -> Self {
        Script { reads: true, first: first.into(), again: Bytes::new(), pause: Duration::ZERO, closes: true }
    }

    /// Sends `first`, and then `again` without end.
    fn endless(first: impl Into<Bytes>, again: impl AsRef<[u8]>) -> Self {
        // Large writes, so that the server is not the bottleneck.
        let again = again.as_ref();
        Script { again: again.repeat((1 << 16) / again.len() + 1).into(), ..Script::once(first) }
    }

    /// As [`endless`](Self::endless), slowly.
    fn trickling(first: impl Into<Bytes>, again: &'static [u8]) -> Self {
        Script { again: again.into(), pause: Duration::from_millis(10), ..Script::once(first) }
    }

    fn hanging(self) -> Self {
        Script { closes: false, ..self }
    }

    fn unasked(self) -> Self {
        Script { reads: false, ..self }
    }
}

/// A server that follows a script, with the number of connections and requests.
struct Hostile {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl Hostile {
    async fn new(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (address, requests) = (listener.local_addr().expect("an address"), Arc::<AtomicUsize>::default());
        let count = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(follow(stream, script.clone(), Arc::clone(&count)));
            }
        });
        Hostile { address, requests }
    }

    fn builder(&self) -> ClientBuilder {
        let limits = Limits { message: LARGEST, text: LARGEST as usize, ..Limits::default() };
        Client::builder(format!("http://{}/", self.address)).timeout(TIME).limits(limits)
    }
}

async fn follow(mut stream: TcpStream, script: Script, requests: Arc<AtomicUsize>) {
    if script.reads && read_request(&mut stream).await.is_none() {
        return;
    }
    requests.fetch_add(usize::from(script.reads), SeqCst);
    if stream.write_all(&script.first).await.is_err() {
        return;
    }
    while !script.again.is_empty() && stream.write_all(&script.again).await.is_ok() {
        tokio::time::sleep(script.pause).await;
    }
    if !script.closes {
        std::future::pending::<()>().await;
    }
}

/// Returns an answer's head, without the empty line.
fn head(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n{headers}")
}

fn right_message() -> String {
    message(Version::Soap11, &[], &echoed(&echo("x")))
}

/// Returns an answer up to the beginning of a text.
fn opened() -> String {
    let text = message(Version::Soap11, &[], &echoed(&echo("MARK")));
    text.split_once("MARK").expect("the text").0.to_owned()
}

/// A fault up to the content of its detail.
const FAULT: &str = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><e:Fault><faultcode>e:Server</faultcode>\
                     <faultstring>x</faultstring><detail>";

fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn chunked(first: &str) -> Vec<u8> {
    [head("Transfer-Encoding: chunked\r\n\r\n").into_bytes(), chunk(first)].concat()
}

/// Returns an answer in gzip, with many spaces within a text.
fn bomb() -> Vec<u8> {
    // In small steps: allocations here count for the test that runs concurrently.
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut spaces = std::io::repeat(b' ').take(64 << 20);
    let written = encoder.write_all(opened().as_bytes()).and_then(|()| std::io::copy(&mut spaces, &mut encoder));
    let body = written.and_then(|_| encoder.finish()).expect("no error");
    let head = head(&format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len()));
    [head.as_bytes(), &body].concat()
}

/// Calls a server once; returns the error as users see it, and checks time, memory and the number
/// of requests.
async fn attacked(name: &str, script: Script) -> String {
    let _alone = ALONE.lock().await;
    let server = Hostile::new(script).await;
    let client = server.builder().build().expect("a client");
    let measured = Measured::begin();
    let result = client.call_as::<EchoResponse>(&echo("x")).await;
    let (time, memory) = measured.end();
    let answer = match &result {
        Ok(response) => format!("a response: {}", response.text),
        Err(error) => with_causes(error),
    };
    let shown: String = answer.chars().take(100).collect();
    row(name, &format!("{shown:?}"), (time, memory));
    assert!(time < TIME + Duration::from_secs(3), "{name}: {time:?}");
    assert!(memory < MEMORY, "{name}: {memory} bytes");
    assert!(server.requests.load(SeqCst) <= 1, "{name}: the request was sent again");
    answer
}

/// Time and allocated bytes of an attack.
struct Measured {
    start: Instant,
    before: usize,
}

impl Measured {
    fn begin() -> Self {
        // Twice: allocations of another thread during the first reset may count everything that an
        // earlier test still holds.
        ALLOCATOR.reset_peak_memory();
        ALLOCATOR.reset_peak_memory();
        Measured { start: Instant::now(), before: ALLOCATOR.get_peak_memory() }
    }

    fn end(&self) -> (Duration, usize) {
        (self.start.elapsed(), ALLOCATOR.get_peak_memory().saturating_sub(self.before))
    }
}

/// Prints a row of the table of attacks.
fn row(name: &str, answer: &str, (time, memory): (Duration, usize)) {
    println!("| hostile server: {name} | {answer} | {} ms | {} KiB |", time.as_millis(), memory >> 10);
}

/// Returns an error with its causes.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

async fn expect(name: &str, script: Script, expected: &str) {
    let answer = attacked(name, script).await;
    assert!(answer.contains(expected), "{name}: {answer:?}, not {expected:?}");
}

const TOO_LONG: &str = "ClientBuilder::timeout";
const NOT_HTTP: &str = "does not answer in valid HTTP";
const CLOSED: &str = "closed the connection without an answer";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_without_end() {
    expect("headers without end", Script::endless(head(""), "X: y\r\n"), "exchange failed").await;
    expect("a header without end", Script::endless(head("X: "), "y"), "exchange failed").await;
    expect("a status line without end", Script::endless("HTTP/1.1 200 ", "O"), "exchange failed").await;
    expect("100 Continue without end", Script::endless("", "HTTP/1.1 100 Continue\r\n\r\n"), TOO_LONG).await;
    expect("102 Processing without end, slowly", Script::trickling("", b"HTTP/1.1 102 P\r\n\r\n"), TOO_LONG).await;
    expect("a head that trickles", Script::trickling(head("X: "), b"y"), TOO_LONG).await;
    expect("no answer", Script::once("").hanging(), TOO_LONG).await;
    expect("garbage", Script::endless("", "\u{1b}\0\u{7}garbage"), NOT_HTTP).await;
    expect("another protocol", Script::once("SSH-2.0-OpenSSH_9.6\r\n").hanging(), NOT_HTTP).await;
    expect("an upgrade", Script::once("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n").hanging(), "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_without_end() {
    let limit = "the limit `message` of 4194304";
    let until_close = || head("\r\n");
    expect("a text without end", Script::endless(until_close() + &opened(), "text "), "the limit `").await;
    expect("items without end", Script::endless(until_close() + &opened() + "</text>", "<numbers>1</numbers>"), limit)
        .await;
    expect("white space after the message, without end", Script::endless(until_close() + &right_message(), " "), limit)
        .await;
    expect("a comment without end", Script::endless(until_close() + &opened() + "<!--", "x"), "the limit `").await;
    expect("one attribute without end", Script::endless(until_close() + "<a", " a='b'"), "malformed").await;
    let attributes: String = (0..100_000).map(|number| format!(" a{number}='b'")).collect();
    expect("100,000 attributes", Script::once(until_close() + "<a" + &attributes), "the limit `attributes`").await;
    expect("elements in elements without end", Script::endless(until_close() + FAULT, "<a>"), "the limit `depth`")
        .await;
    expect(
        "header blocks without end",
        Script::endless(
            until_close() + "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header>",
            "<a/>",
        ),
        "the limit `headers`",
    )
    .await;
    expect("chunks of a byte", Script::endless(chunked(&opened()), chunk("x")), "").await;
    expect(
        "a chunk extension without end",
        Script::endless(head("Transfer-Encoding: chunked\r\n\r\n5;"), "x"),
        "exchange failed",
    )
    .await;
    let ended = [chunked(&right_message()), b"0\r\n".to_vec()].concat();
    expect("trailers without end", Script::endless(ended, "X: y\r\n"), "exchange failed").await;
    expect("a body that trickles", Script::trickling(until_close() + &opened(), b"x"), TOO_LONG).await;
    expect(
        "a page without end",
        Script::endless("HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\n\r\n", "<p>"),
        "HTTP status 502",
    )
    .await;
    expect(
        "a page that trickles",
        Script::trickling("HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\n\r\n", b"."),
        TOO_LONG,
    )
    .await;
    let package = "HTTP/1.1 200 OK\r\nContent-Type: multipart/related; boundary=b; type=\"text/xml\"\r\n\r\n--b\r\n";
    expect("headers of a part without end", Script::endless(package, "X: y\r\n"), "package").await;
    let root = format!("{package}Content-Type: text/xml\r\n\r\n{}\r\n--b\r\n\r\n", right_message());
    expect("a part without end", Script::endless(root.clone(), "x"), "").await;
    expect("a part that trickles", Script::trickling(root.clone(), b"x"), TOO_LONG).await;
    let ended = format!("{package}Content-Type: text/xml\r\n\r\n{}\r\n--b--\r\n", right_message());
    expect("an epilogue that trickles", Script::trickling(ended, b"x"), TOO_LONG).await;
    expect("parts without end", Script::endless(root, "x\r\n--b\r\n\r\n"), "").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs() {
    expect("64 MiB of spaces in gzip", Script::once(bomb()), "`ratio`").await;
    let nested = head(&format!("Content-Encoding: gzip, gzip\r\nContent-Length: 20\r\n\r\n{}", " ".repeat(20)));
    expect("gzip in gzip", Script::once(nested), "").await;
    let entities = format!("<!DOCTYPE a [<!ENTITY a '{}'><!ENTITY b '&a;&a;&a;&a;'>]><a>&b;</a>", "x".repeat(100));
    expect("entities", Script::once(head("\r\n") + &entities), "document type").await;
    let external = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>";
    expect("an external entity", Script::once(head("\r\n") + external), "document type").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lengths_that_lie() {
    let body = right_message();
    let with = |headers: &str| Script::once(head(headers) + "\r\n" + &body);
    let length = |length: usize| format!("Content-Length: {length}\r\n");
    expect("a length too large, then closed", with(&length(body.len() + 100)), "exchange failed").await;
    expect("a length too large, then silence", with(&length(body.len() + 100)).hanging(), TOO_LONG).await;
    expect("a length of petabytes", with("Content-Length: 9007199254740991\r\n"), "exchange failed").await;
    expect("a length too small", with(&length(body.len() - 30)), "malformed").await;
    expect("no length and closed early", Script::once(head("\r\n") + &body[..body.len() - 30]), "malformed").await;
    expect("two lengths", with("Content-Length: 5\r\nContent-Length: 6\r\n"), NOT_HTTP).await;
    expect("a length that is no number", with("Content-Length: -1\r\n"), NOT_HTTP).await;
    expect(
        "a chunk longer than all numbers",
        Script::once(head("Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n")),
        "exchange failed",
    )
    .await;
    expect("closed before the answer", Script::once(""), CLOSED).await;
    expect("closed in the head", Script::once("HTTP/1.1 200 OK\r\nContent-Ty"), CLOSED).await;
    expect("closed at once", Script::once("").unasked(), CLOSED).await;
    for codings in ["gzip, chunked", "chunked, chunked", "gzip", "identity"] {
        let answer = head(&format!("Transfer-Encoding: {codings}\r\n\r\n")).into_bytes();
        let answer = [answer, chunk(&body), b"0\r\n\r\n".to_vec()].concat();
        let said = format!("the transfer coding {codings:?} is not accepted");
        expect(&format!("the transfer coding {codings:?}"), Script::once(answer), &said).await;
    }
    expect("a length and chunks", with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "").await;
}

/// An answer that arrives before its request was read completely is an answer; the client does not
/// wait until the rest is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_half_a_request() {
    let _alone = ALONE.lock().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.read_exact(&mut [0; 1000]).await.expect("a thousand bytes");
        let refused = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(refused).await.expect("sent");
        std::future::pending::<()>().await;
    });
    let client = Client::builder(format!("http://{address}/")).timeout(Duration::from_secs(5));
    let client = client.build().expect("a client");
    let large = Echo { text: "x".repeat(32 << 20), numbers: vec![] };
    let measured = Measured::begin();
    let result = client.call_as::<EchoResponse>(&large).await;
    let (time, memory) = measured.end();
    assert!(matches!(&result, Err(CallError::Status(error)) if error.status == 413), "{result:?}");
    row("an answer to the first thousand bytes of 32 MiB", "that answer (413)", (time, memory));
    assert!(time < Duration::from_secs(3), "{time:?}");
}

/// Bytes that a server sends after its answer are not an answer to the next request on that
/// connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_ahead_of_their_requests() {
    let _alone = ALONE.lock().await;
    let (measured, mut right_ones) = (Measured::begin(), 0);
    let answer = |text: &str| {
        let body = message(Version::Soap11, &[], &echoed(&echo(text)));
        head(&format!("Content-Length: {}\r\n\r\n{body}", body.len()))
    };
    for pause in [Duration::ZERO, Duration::from_millis(50)] {
        let (right, forged) = (answer("right"), answer("forged"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (right, forged) = (right.clone(), forged.clone());
                tokio::spawn(async move {
                    while read_request(&mut stream).await.is_some() {
                        let together = if pause.is_zero() { [&right[..], &forged].concat() } else { right.clone() };
                        if stream.write_all(together.as_bytes()).await.is_err() {
                            return;
                        }
                        tokio::time::sleep(pause).await;
                        if !pause.is_zero() && stream.write_all(forged.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        let client =
            Client::builder(format!("http://{address}/")).timeout(Duration::from_secs(5)).build().expect("a client");
        for _ in 0..20 {
            if let Ok(response) = client.call_as::<EchoResponse>(&echo("x")).await {
                assert_eq!(response.text, "right");
                right_ones += 1;
            }
            tokio::time::sleep(pause * 2).await;
        }
    }
    let said = format!("no forged answer is taken, {right_ones} of 40 calls get theirs, the others an error");
    row("answers sent ahead of their requests", &said, measured.end());
}

/// Starts a server that answers every request with the same text; also returns the received
/// requests.
async fn answering(answer: String) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let server = Scripted::new(move |_, _| Act::Say(answer.clone())).await;
    (server.address, server.requests)
}

/// Wherever a redirect leads, and however it is spelled, credentials and cookies are not sent to
/// another origin.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_take_no_credentials_elsewhere() {
    let _alone = ALONE.lock().await;
    let body = right_message();
    let (thief, stolen) =
        answering(head(&format!("Set-Cookie: planted=1\r\nContent-Length: {}\r\n\r\n{body}", body.len()))).await;
    let port = thief.port();
    let locations = [
        format!("http://{thief}/"),
        format!("//{thief}/"),
        format!("http:\\\\{thief}\\"),
        format!("http://127.0.0.1:{port}"),
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://localhost:{port}/"),
        format!("HTTP://LOCALHOST:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://ada:secret@{thief}/"),
        format!("http://127.0.0.1:80@{thief}/"),
        format!("http://{thief}/#@127.0.0.1"),
        format!("\thttp://{thief}/"),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        "javascript:alert(1)".to_owned(),
        "https://127.0.0.1:1/".to_owned(),
        String::new(),
    ];
    let (measured, calls, mut arrived) = (Measured::begin(), 2 * locations.len(), 0);
    for location in locations {
        let answer = format!(
            "HTTP/1.1 307 Elsewhere\r\nLocation: {location}\r\nSet-Cookie: session=secret; Domain=127.0.0.1\r\nContent-Length: 0\r\n\r\n"
        );
        let (address, _) = answering(answer).await;
        let builder =
            Client::builder(format!("http://{address}/")).timeout(TIME * 3).redirects(Redirects::any_origin(3));
        let credentials = Credentials::basic("ada", "secret").expect("credentials");
        let client = builder.credentials(credentials).cookies(true).build().expect("a client");
        let mut key = http::HeaderValue::from_static("secret");
        key.set_sensitive(true);
        let options = CallOptions::new().http_header(http::HeaderName::from_static("x-key"), key);
        for _ in 0..2 {
            arrived += usize::from(client.call_as_with::<EchoResponse>(&echo("x"), options.clone()).await.is_ok());
        }
    }
    assert!(arrived > 8, "{arrived} calls were sent on");
    for request in stolen.lock().expect("not poisoned").iter() {
        assert!(!request.contains("secret") && !request.to_lowercase().contains("authorization"), "{request}");
        assert!(!request.contains("YWRh") && !request.to_lowercase().contains("cookie"), "{request}");
    }
    let said = format!("{arrived} of {calls} calls are redirected, without credentials, secret headers or cookies");
    row("redirects to another origin, in 18 spellings", &said, measured.end());
}

/// A client that is challenged repeatedly answers once more (twice if the nonce is stale), then
/// gives up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn challenges_without_end() {
    let _alone = ALONE.lock().await;
    let measured = Measured::begin();
    for challenge in [
        "Digest realm=\"x\", qop=\"auth\", nonce=\"1\", stale=true, algorithm=SHA-256",
        "Digest realm=\"x\", nonce=\"1\"",
        "Basic realm=\"x\"",
        "Negotiate",
        "Digest",
        "",
    ] {
        let (address, sent) =
            answering(format!("HTTP/1.1 401 Who\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n")).await;
        for credentials in [Credentials::digest("ada", "secret"), Credentials::basic("ada", "secret")] {
            let builder = Client::builder(format!("http://{address}/")).timeout(TIME * 3);
            let client = builder.credentials(credentials.expect("credentials")).build().expect("a client");
            let before = sent.lock().expect("not poisoned").len();
            let result = client.call_as::<EchoResponse>(&echo("x")).await;
            assert!(matches!(&result, Err(CallError::Status(error)) if error.status == 401), "{result:?}");
            let most = if challenge.contains("stale") { 3 } else { 2 };
            assert!(sent.lock().expect("not poisoned").len() - before <= most, "{challenge}");
        }
    }
    row("challenges (401) without end, of six kinds", "the 401, after three requests at most", measured.end());
}

/// A client retries as often as configured, and waits as long as configured, whatever the server
/// asks for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_without_end() {
    let _alone = ALONE.lock().await;
    let measured = Measured::begin();
    for later in ["0", "99999999999999999999", "-1", "Thu, 31 Dec 9999 23:59:59 GMT", "x"] {
        let (address, sent) =
            answering(format!("HTTP/1.1 503 Later\r\nRetry-After: {later}\r\nContent-Length: 0\r\n\r\n")).await;
        let retries = Retries::up_to(3).pauses(Duration::from_millis(5), Duration::from_millis(20));
        let builder = Client::builder(format!("http://{address}/")).timeout(TIME * 3).retries(retries);
        let client = builder.build().expect("a client");
        let start = Instant::now();
        let options = CallOptions::new().idempotent(true);
        let result = client.call_as_with::<EchoResponse>(&echo("x"), options).await;
        assert!(matches!(&result, Err(CallError::Status(error)) if error.status == 503), "{later}: {result:?}");
        assert!(sent.lock().expect("not poisoned").len() <= 4, "{later}");
        assert!(start.elapsed() < TIME, "{later}: {:?}", start.elapsed());
    }
    row("503 without end, with five kinds of Retry-After", "the 503, after four requests at most", measured.end());
}

/// Cookies stay with the host that set them, and are bounded in number and size.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_without_end() {
    let _alone = ALONE.lock().await;
    let measured = Measured::begin();
    let body = right_message();
    let many: String = (0..90).map(|number| format!("Set-Cookie: c{number}={}\r\n", "x".repeat(3000))).collect();
    let others = "Set-Cookie: a=1; Domain=com\r\nSet-Cookie: b=1; Domain=example.com\r\nSet-Cookie: __Host-c=1\r\n";
    let (address, sent) = answering(head(&format!("{many}{others}Content-Length: {}\r\n\r\n{body}", body.len()))).await;
    let client = Client::builder(format!("http://{address}/")).timeout(TIME * 3).cookies(true);
    let client = client.build().expect("a client");
    for _ in 0..20 {
        client.call_as::<EchoResponse>(&echo("x")).await.expect("an answer");
    }
    let sent = sent.lock().expect("not poisoned");
    let longest = sent.iter().map(String::len).max().unwrap_or(0);
    assert!(longest < 64 * 4096 + 1000, "{longest}");
    assert!(sent.iter().all(|request| !request.contains("a=1") && !request.contains("__Host")), "foreign cookies");
    row(
        "270 KB of cookies and three of other hosts, 20 times",
        &format!("right answers, requests of {longest} bytes"),
        measured.end(),
    );
}
