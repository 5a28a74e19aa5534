//! Small requests first, over sockets: which requests wait, overtake or are refused, and a slow
//! sender delays nobody.

#![cfg(feature = "tls")]

use crate::attack::{Echo, Echoed, echo, message};
use deltasoap::schema::QName;
use deltasoap::server::{HeavyWork, Operation, Scheduling, ServerHandle, ServiceStats, SmallFirst, Weigh};
use deltasoap::{Fault, Lease, Message, Server, SoapService};
use http_body_util::BodyExt;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tower::ServiceExt;

/// Maximum length of a small request. The handlers of larger ones run on other threads, as long as
/// the test wants.
const SMALL: u64 = 4 << 10;
const LONG: Duration = Duration::from_secs(20);

/// A service with one slot for all requests, and one for small requests.
struct Stage {
    service: SoapService,
    stats: Arc<ServiceStats>,
    address: SocketAddr,
    handle: ServerHandle,
    serving: JoinHandle<std::io::Result<()>>,
    /// Completes the handler of one large request.
    go: Sender<()>,
    /// Senders whose requests were processed, in order.
    order: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    async fn new(policy: SmallFirst) -> Self {
        let (go, gate) = channel();
        let (gate, order) = (Arc::new(Mutex::new(gate)), Arc::default());
        let policy = SmallFirst { slots: 1, express: 1, small: SMALL, ..policy };
        let service = SoapService::builder()
            .scheduling(Scheduling::SmallFirst(policy))
            .heavy_work(HeavyWork { from: Some(SMALL + 1), ..HeavyWork::default() })
            .operation(handler(Arc::clone(&gate), Arc::clone(&order)))
            .add_operation(report(handler(Arc::clone(&gate), Arc::clone(&order))))
            .add_operation(slow(handler(gate, Arc::clone(&order))))
            .build()
            .expect("a service");
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let (address, handle) = (server.local_addr().expect("an address"), server.handle());
        let serving = tokio::spawn(server.serve(service.clone()));
        Stage { stats: service.stats(), service, address, handle, serving, go, order }
    }

    /// Calls the service with a large request; returns once its handler has begun.
    async fn first(&self) -> JoinHandle<String> {
        let first = self.call("first", 10_000);
        let end = Instant::now() + LONG;
        while !self.order().iter().any(|sender| sender == "first") {
            assert!(Instant::now() < end, "{:?}", self.order());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.until(1, 0).await;
        first
    }

    /// As [`call`](Self::call), for the operation with a large weight.
    fn call_report(&self, sender: &str, action: &str) -> JoinHandle<String> {
        self.call_other(sender, action, "Report")
    }

    fn call_other(&self, sender: &str, action: &str, name: &str) -> JoinHandle<String> {
        let body = String::from_utf8(body(sender, 10)).expect("UTF-8").replace("Echo", name);
        let head = http::Request::post("/").header("content-type", "text/xml").header("content-length", body.len());
        self.post(head.header("soapaction", action).body(http_body_util::Full::from(body)).expect("a request"))
    }

    /// As [`call`](Self::call), for the operation whose handler takes long.
    fn call_slow(&self, sender: &str, action: &str) -> JoinHandle<String> {
        self.call_other(sender, action, "Slow")
    }

    /// Sends a request of about `bytes` bytes.
    async fn send(&self, sender: &str, bytes: usize) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        stream.write_all(&request(sender, bytes)).await.expect("sent");
        stream
    }

    /// Calls the service with a request whose bytes are all available, so that it never waits for
    /// them: over a socket it may, and then its slot goes to another.
    fn call(&self, sender: &str, bytes: usize) -> JoinHandle<String> {
        let body = body(sender, bytes);
        let head = http::Request::post("/").header("content-type", "text/xml").header("content-length", body.len());
        self.post(head.body(http_body_util::Full::from(body)).expect("a request"))
    }

    fn post(&self, request: http::Request<http_body_util::Full<bytes::Bytes>>) -> JoinHandle<String> {
        let answer = self.service.clone().oneshot(request);
        tokio::spawn(async move {
            let (head, body) = answer.await.expect("an answer").into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            format!("{:?} {}\r\n\r\n{}", head.version, head.status.as_u16(), String::from_utf8_lossy(&body))
        })
    }

    /// Waits until this many messages hold slots, and this many wait for one.
    async fn until(&self, working: u64, waiting: u64) {
        let end = Instant::now() + LONG;
        loop {
            let stats = self.stats.snapshot();
            if (stats.working, stats.waiting) == (working, waiting) {
                return;
            }
            assert!(Instant::now() < end, "{stats:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn order(&self) -> Vec<String> {
        self.order.lock().expect("not poisoned").clone()
    }
}

/// Returns an operation with a large weight.
fn report(handler: impl Fn(Lease<Echo>) -> Work + Send + Sync + 'static) -> Operation {
    let name = QName { local: "Report".into(), ..Echo::ELEMENT };
    Operation::new(handler).named(name).action("urn:report").weight(1 << 20)
}

/// Returns an operation that takes its thread for so long that it counts as a large message,
/// whatever the decoding time of a byte.
fn slow(handler: impl Fn(Lease<Echo>) -> Work + Send + Sync + 'static) -> Operation {
    let slowly = move |echo| {
        std::thread::sleep(Duration::from_millis(30));
        handler(echo)
    };
    let name = QName { local: "Slow".into(), ..Echo::ELEMENT };
    Operation::new(slowly).named(name).action("urn:slow")
}

/// Records senders; keeps its thread until it is released, if the request is large.
fn handler(gate: Arc<Mutex<Receiver<()>>>, order: Arc<Mutex<Vec<String>>>) -> impl Fn(Lease<Echo>) -> Work {
    move |echo| Work { echo: Some(echo), gate: Arc::clone(&gate), order: Arc::clone(&order) }
}

/// The handler's future: it blocks when it is polled.
struct Work {
    echo: Option<Lease<Echo>>,
    gate: Arc<Mutex<Receiver<()>>>,
    order: Arc<Mutex<Vec<String>>>,
}

impl Future for Work {
    type Output = Result<Echoed, Fault>;

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        let echo = self.echo.take().expect("polled once");
        self.order.lock().expect("not poisoned").push(echo.sender.clone());
        if echo.notes[0].len() as u64 > SMALL {
            let _ = self.gate.lock().expect("not poisoned").recv_timeout(LONG);
        }
        std::task::Poll::Ready(Ok(Echoed { notes: vec![], ..Echoed::from(&*echo) }))
    }
}

fn body(sender: &str, bytes: usize) -> Vec<u8> {
    message(&Echo { notes: vec!["x".repeat(bytes)], ..echo(sender) })
}

fn request(sender: &str, bytes: usize) -> Vec<u8> {
    let body = body(sender, bytes);
    let head = format!(
        "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// Reads the whole answer.
async fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let read = tokio::time::timeout(LONG, stream.read_to_string(&mut text)).await;
    read.expect("in time").expect("an answer");
    text
}

fn is_from(answer: &str, sender: &str) -> bool {
    answer.starts_with("HTTP/1.1 200") && answer.contains(&format!(">{sender}<"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_requests_wait_in_the_order_of_their_length_and_small_ones_pass() {
    let stage = Stage::new(SmallFirst { overtaken: LONG, ..SmallFirst::default() }).await;
    let first = stage.first().await;
    let longest = stage.call("longest", 40_000);
    stage.until(1, 1).await;
    let shorter = stage.call("shorter", 20_000);
    stage.until(1, 2).await;
    assert!(is_from(&answer(stage.send("small", 10).await).await, "small"));
    assert_eq!(stage.order(), ["first", "small"]);
    (0..3).for_each(|_| stage.go.send(()).expect("a handler"));
    for (call, sender) in [(first, "first"), (longest, "longest"), (shorter, "shorter")] {
        assert!(is_from(&call.await.expect("no panic"), sender));
    }
    assert_eq!(stage.order(), ["first", "small", "shorter", "longest"]);
    stage.until(0, 0).await;
}

/// The weight of a request is known from its action, or else from its body, once that is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_requests_with_much_to_do_wait_as_long_ones_do() {
    for action in ["\"urn:report\"", "\"\""] {
        let stage = Stage::new(SmallFirst { overtaken: LONG, ..SmallFirst::default() }).await;
        let first = stage.first().await;
        let report = stage.call_report("report", action);
        stage.until(1, 1).await;
        let longer = stage.call("shorter", 20_000);
        stage.until(1, 2).await;
        assert!(is_from(&answer(stage.send("small", 10).await).await, "small"));
        assert_eq!(stage.order(), ["first", "small"]);
        (0..2).for_each(|_| stage.go.send(()).expect("a handler"));
        for call in [first, report, longer] {
            assert!(call.await.expect("no panic").starts_with("HTTP/1.1 200"));
        }
        assert_eq!(stage.order(), ["first", "small", "shorter", "report"], "{action}");
        stage.until(0, 0).await;
    }
}

/// The cost of an operation's requests determines the weight of later ones, whether the action or
/// the body identifies the operation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_operations_took_is_learned() {
    for (action, weigh) in
        [("\"urn:slow\"", Weigh::Operation), ("\"\"", Weigh::Operation), ("\"urn:slow\"", Weigh::Length)]
    {
        let policy = SmallFirst { overtaken: LONG, weigh, ..SmallFirst::default() };
        let stage = Stage::new(policy).await;
        assert!(stage.call_slow("slow", action).await.expect("no panic").starts_with("HTTP/1.1 200"));
        let first = stage.first().await;
        let slow = stage.call_slow("slow", action);
        match weigh {
            // It is no longer small, and the only slot for others is taken.
            Weigh::Operation => stage.until(1, 1).await,
            _ => assert!(slow.await.expect("no panic").starts_with("HTTP/1.1 200")),
        }
        assert!(is_from(&answer(stage.send("small", 10).await).await, "small"));
        stage.go.send(()).expect("a handler");
        assert!(is_from(&first.await.expect("no panic"), "first"));
        stage.until(0, 0).await;
        let order = match weigh {
            Weigh::Operation => ["slow", "first", "small", "slow"],
            _ => ["slow", "first", "slow", "small"],
        };
        assert_eq!(stage.order(), order, "{action} {weigh:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_waited_for_long_is_not_overtaken() {
    let stage = Stage::new(SmallFirst { overtaken: Duration::ZERO, ..SmallFirst::default() }).await;
    let first = stage.first().await;
    let longest = stage.call("longest", 40_000);
    stage.until(1, 1).await;
    let shorter = stage.call("shorter", 20_000);
    stage.until(1, 2).await;
    (0..3).for_each(|_| stage.go.send(()).expect("a handler"));
    for call in [first, longest, shorter] {
        assert!(call.await.expect("no panic").starts_with("HTTP/1.1 200"));
    }
    assert_eq!(stage.order(), ["first", "longest", "shorter"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_the_queue_and_the_wait_requests_are_refused() {
    let policy = SmallFirst { queue: 1, wait: Duration::from_millis(300), ..SmallFirst::default() };
    let stage = Stage::new(SmallFirst { retry_after: Duration::from_secs(7), ..policy }).await;
    let first = stage.send("first", 10_000).await;
    stage.until(1, 0).await;
    let second = stage.send("second", 10_000).await;
    stage.until(1, 1).await;
    // One request finds too many waiting, the other waits for too long.
    for stream in [stage.send("third", 10_000).await, second] {
        let text = answer(stream).await;
        assert!(text.starts_with("HTTP/1.1 503") && text.contains("retry-after: 7"), "{text}");
        assert!(text.contains("Server</faultcode>") && text.contains("the server is busy"), "{text}");
    }
    assert!(is_from(&answer(stage.send("small", 10).await).await, "small"));
    stage.go.send(()).expect("a handler");
    assert!(is_from(&answer(first).await, "first"));
    assert_eq!((stage.order(), stage.stats.snapshot().refused), (vec!["first".to_owned(), "small".to_owned()], 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_senders_hold_no_slot() {
    let stage = Stage::new(SmallFirst::default()).await;
    let mut slow = Vec::new();
    for number in 0..5 {
        let (sender, mut stream) =
            (format!("slow {number}"), TcpStream::connect(stage.address).await.expect("connected"));
        let request = request(&sender, 10_000);
        stream.write_all(&request[..request.len() - 1000]).await.expect("sent");
        slow.push((sender, stream, request));
    }
    stage.go.send(()).expect("a handler");
    assert!(is_from(&answer(stage.send("other", 20_000).await).await, "other"));
    for (sender, mut stream, request) in slow {
        stream.write_all(&request[request.len() - 1000..]).await.expect("sent");
        stage.go.send(()).expect("a handler");
        assert!(is_from(&answer(stream).await, &sender));
    }
}

/// Nor does a slow reader: a slot is for work, and is given up before the response is transferred.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_hold_no_slot() {
    // More than the buffers of both ends hold.
    const RESPONSE: usize = 12 << 20;
    let stage = Stage::new(SmallFirst::default()).await;
    let sender = "s".repeat(RESPONSE);
    let mut slow = stage.send(&sender, 10).await;
    let mut begin = [0; 15];
    slow.read_exact(&mut begin).await.expect("the begin of an answer");
    assert_eq!(&begin, b"HTTP/1.1 200 OK");
    stage.until(0, 0).await;
    stage.go.send(()).expect("a handler");
    assert!(is_from(&answer(stage.send("other", 20_000).await).await, "other"));
    let stats = stage.stats.snapshot();
    assert_eq!((stats.working, stats.waiting), (0, 0));
    let rest = answer(slow).await;
    assert!(rest.len() > RESPONSE && rest.contains(&sender));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_request_that_is_dropped_leaves_its_place() {
    let stage = Stage::new(SmallFirst { queue: 1, ..SmallFirst::default() }).await;
    let first = stage.send("first", 10_000).await;
    stage.until(1, 0).await;
    let body = http_body_util::Full::from(body("dropped", 10_000));
    let request = http::Request::post("/").header("content-type", "text/xml").body(body).expect("a request");
    let dropped = tokio::spawn(stage.service.clone().oneshot(request));
    stage.until(1, 1).await;
    dropped.abort();
    stage.until(1, 0).await;
    let second = stage.send("second", 10_000).await;
    stage.until(1, 1).await;
    (0..2).for_each(|_| stage.go.send(()).expect("a handler"));
    assert!(is_from(&answer(first).await, "first") && is_from(&answer(second).await, "second"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_finishes_what_waits() {
    let stage = Stage::new(SmallFirst::default()).await;
    let first = stage.send("first", 10_000).await;
    stage.until(1, 0).await;
    let second = stage.send("second", 10_000).await;
    stage.until(1, 1).await;
    stage.handle.shutdown();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!stage.serving.is_finished());
    (0..2).for_each(|_| stage.go.send(()).expect("a handler"));
    assert!(is_from(&answer(first).await, "first") && is_from(&answer(second).await, "second"));
    tokio::time::timeout(LONG, stage.serving).await.expect("in time").expect("no panic").expect("no error");
    assert_eq!(stage.handle.connections(), 0);
}
