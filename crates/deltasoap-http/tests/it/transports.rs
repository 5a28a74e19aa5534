//! The same calls over every transport: properties of HTTP over TCP also hold over system sockets,
//! over frames, and in memory.

#![cfg(unix)]

use crate::common::*;
use deltasoap::attachments::{AttachmentError, Mtom, Part};
use deltasoap::client::{CallError, CallOptions, HttpTransport};
use deltasoap::engine::{Checkpoints, Differential, Limits};
use deltasoap::server::{Denial, Principal, Reply, ServerHandle};
use deltasoap::soap::{FaultCode, HeaderBlock, Version};
use deltasoap::stream::Streamed;
use deltasoap::transport::{
    Body, Compression, Frames, Http, InMemory, Listener, Protocol, TcpConnector, UnixConnector, UnixListener, UnixPeer,
    memory,
};
use deltasoap::{Binary, Client, Context, Fault, Lease, Server, Soap, SoapService};
use http::request::Parts;
use http::{Request, StatusCode};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Turn {
    image: Binary,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Turned {
    image: Binary,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = Total)]
struct Sum {
    item: Streamed<f64>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Total {
    total: f64,
}

/// A list that cannot contain every text.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = Total)]
struct Texts {
    item: Streamed<String>,
}

/// Waits before it answers.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Wait {
    milliseconds: u32,
}

async fn turn(mut context: Context, turn: Lease<Turn>) -> Result<Reply<Turned>, AttachmentError> {
    let image = context.attachments().bytes(&turn.image).await?;
    let turned: Vec<u8> = image.iter().rev().copied().collect();
    let part = Part::new("turned@example.org", "image/png", turned);
    Ok(Reply::new(Turned { image: part.binary() }).with_part(part))
}

async fn wait(wait: Lease<Wait>) -> Result<Total, Fault> {
    tokio::time::sleep(Duration::from_millis(wait.milliseconds.into())).await;
    Ok(Total { total: f64::from(wait.milliseconds) })
}

async fn describe(context: Context, _: Lease<Describe>) -> Result<Reply<DescribeResponse>, Fault> {
    let ticket = context.header::<Ticket>().transpose()?;
    let headers = ticket.iter().map(HeaderBlock::from_message).collect::<Result<_, _>>()?;
    let body = DescribeResponse { action: context.action(), peer: None, user_agent: None };
    Ok(Reply { headers, ..Reply::new(body) })
}

async fn fail(fail: Lease<Fail>) -> Result<EchoResponse, Fault> {
    assert_ne!(fail.how, "panic", "asked for");
    Err(Fault::sender(fail.how.clone()))
}

/// Maximum size of a message that the service accepts, in bytes.
const LARGEST: u64 = 1 << 20;

/// Not adaptive, so that the result does not depend on the time that decoding takes.
const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };

fn all() -> SoapService {
    let limits = Limits { message: LARGEST, ..Limits::default() };
    SoapService::builder()
        .limits(limits)
        .differential(LEAF)
        .compression(Compression::from_bytes(1000))
        .body_timeout(Duration::from_millis(500))
        .operation(async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request)))
        .operation(async |sum: Lease<Sum>| Ok::<_, Fault>(Total { total: sum.item.iter().sum() }))
        .operation(async |texts: Lease<Texts>| Ok::<_, Fault>(Total { total: texts.item.iter().count() as f64 }))
        .operation(wait)
        .operation(fail)
        .operation(turn)
        .operation(describe)
        .operation(async |_: Lease<Notify>| Ok::<_, Infallible>(()))
        .build()
        .expect("a service")
}

/// A service at the other end of a transport.
struct Far<T> {
    url: String,
    transport: T,
    service: SoapService,
    running: Option<(ServerHandle, tokio::task::JoinHandle<std::io::Result<()>>)>,
    _folder: Option<TempDir>,
}

impl<T> Far<T> {
    /// Serves a listener's connections by a protocol.
    fn serve<L: Listener, P: Protocol>(url: String, transport: T, listener: L, protocol: P) -> Self {
        Self::serve_on(0, url, transport, listener, protocol)
    }

    /// As [`serve`](Self::serve), on the server's own threads.
    fn serve_on<L: Listener, P: Protocol>(threads: usize, url: String, transport: T, listener: L, protocol: P) -> Self {
        let service = all();
        let server = Server::over(listener, protocol).worker_threads(threads);
        let handle = server.handle();
        let running = Some((handle, tokio::spawn(server.serve(service.clone()))));
        Far { url, transport, service, running, _folder: None }
    }
}

async fn tcp() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

fn unix() -> (TempDir, UnixListener, UnixConnector) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("socket");
    (folder, UnixListener::bind(&path).expect("a socket"), UnixConnector::new(&path))
}

/// Every way to reach a service.
mod ways {
    use super::*;

    type Pool<P, C> = Far<<P as Protocol>::Pool<C>>;

    pub async fn http_over_tcp() -> Far<HttpTransport> {
        let (listener, address) = tcp().await;
        Far::serve(format!("http://{address}/a"), HttpTransport::new(), listener, Http::default())
    }

    pub async fn http_over_unix() -> Pool<Http, UnixConnector> {
        let (folder, listener, connector) = unix();
        let transport = Http::default().pool(connector);
        let far = Far::serve("http://localhost/a".to_owned(), transport, listener, Http::default());
        Far { _folder: Some(folder), ..far }
    }

    pub async fn http_in_memory() -> Pool<Http, deltasoap::transport::MemoryConnector> {
        let (listener, connector) = memory();
        Far::serve("http://localhost/a".to_owned(), Http::default().pool(connector), listener, Http::default())
    }

    pub async fn http2_over_tcp() -> Far<HttpTransport> {
        let (listener, address) = tcp().await;
        let transport = HttpTransport::builder().http2_prior_knowledge().build();
        Far::serve(format!("http://{address}/a"), transport, listener, Http::default())
    }

    pub async fn http2_in_memory_on_workers() -> Pool<Http, deltasoap::transport::MemoryConnector> {
        let (listener, connector) = memory();
        let transport = Http::http2_prior_knowledge().pool(connector);
        Far::serve_on(2, "http://localhost/a".to_owned(), transport, listener, Http::default())
    }

    pub async fn http_over_tcp_on_workers() -> Far<HttpTransport> {
        let (listener, address) = tcp().await;
        Far::serve_on(2, format!("http://{address}/a"), HttpTransport::new(), listener, Http::default())
    }

    pub async fn http_over_unix_on_workers() -> Pool<Http, UnixConnector> {
        let (folder, listener, connector) = unix();
        let transport = Http::default().pool(connector);
        let far = Far::serve_on(2, "http://localhost/a".to_owned(), transport, listener, Http::default());
        Far { _folder: Some(folder), ..far }
    }

    pub async fn frames_in_memory_on_workers() -> Pool<Frames, deltasoap::transport::MemoryConnector> {
        let (listener, connector) = memory();
        let transport = Frames::default().pool(connector);
        Far::serve_on(2, "frames://localhost/a".to_owned(), transport, listener, Frames::default())
    }

    pub async fn frames_over_tcp() -> Pool<Frames, TcpConnector> {
        let (listener, address) = tcp().await;
        let transport = Frames::default().pool(TcpConnector::new());
        Far::serve(format!("frames://{address}/a"), transport, listener, Frames::default())
    }

    pub async fn frames_over_unix() -> Pool<Frames, UnixConnector> {
        let (folder, listener, connector) = unix();
        let transport = Frames::default().pool(connector);
        let far = Far::serve("frames://localhost/a".to_owned(), transport, listener, Frames::default());
        Far { _folder: Some(folder), ..far }
    }

    pub async fn frames_in_memory() -> Pool<Frames, deltasoap::transport::MemoryConnector> {
        let (listener, connector) = memory();
        let transport = Frames::default().pool(connector);
        Far::serve("frames://localhost/a".to_owned(), transport, listener, Frames::default())
    }

    pub async fn in_memory() -> Far<InMemory<SoapService>> {
        let service = all();
        let transport = InMemory::new(service.clone());
        Far { url: "http://localhost/a".to_owned(), transport, service, running: None, _folder: None }
    }
}

/// Defines a test over every transport; the test gets the way to the service.
macro_rules! over_each {
    ($($(#[$doc:meta])* async fn $name:ident($far:ident) $body:block)*) => { $(
        $(#[$doc])*
        mod $name {
            use super::*;

            over_each!(@ $far $body http_over_tcp http_over_unix http_in_memory frames_over_tcp frames_over_unix
                frames_in_memory in_memory http_over_tcp_on_workers http_over_unix_on_workers frames_in_memory_on_workers
                http2_over_tcp http2_in_memory_on_workers);
        }
    )* };
    (@ $far:ident $body:block $($way:ident)*) => { $(
        #[tokio::test]
        async fn $way() {
            let $far = ways::$way().await;
            tokio::time::timeout(Duration::from_secs(20), async $body).await.expect("in time");
        }
    )* };
}

/// Creates a client with the defaults.
macro_rules! client {
    ($far:ident) => {
        Client::with_service(&*$far.url, $far.transport.clone()).expect("a client")
    };
}

over_each! {
    async fn calls_are_answered(far) {
        let client = client!(far);
        for size in [0, 1, 1000, 100_000] {
            let request = Echo { text: "ü".repeat(size), numbers: vec![1, -2, 3] };
            assert_eq!(client.call_as::<EchoResponse>(&request).await.expect("a response"), echoed(&request));
        }
        let response: EchoResponse = Client::builder(&*far.url)
            .version(Version::Soap12)
            .build_with(far.transport.clone())
            .expect("a client")
            .call_as(&echo("1.2"))
            .await
            .expect("a response");
        assert_eq!(response.text, "1.2");
    }

    async fn many_calls_at_once_get_their_own_answers(far) {
        let client = client!(far);
        let calls = (0..20).map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                for round in 0..5 {
                    let request = Echo { text: format!("{number} {round}"), numbers: vec![number; 200] };
                    let response: EchoResponse = client.call_as(&request).await.expect("a response");
                    assert_eq!(response, echoed(&request));
                }
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("no panic");
        }
    }

    async fn headers_and_actions_travel_both_ways(far) {
        let ticket = HeaderBlock::from_message(&Ticket { number: 17 }).expect("a block");
        let options = CallOptions::new().header(ticket).action("urn:a");
        let response = client!(far).call_as_with::<DescribeResponse>(&Describe {}, options).await.expect("a response");
        assert_eq!((response.status, response.body.action.as_deref()), (StatusCode::OK, Some("urn:a")));
        let back = response.head.headers.iter().find_map(HeaderBlock::to_typed::<Ticket>).expect("the ticket");
        assert_eq!(back.expect("a ticket").number, 17);
    }

    async fn faults_come_back(far) {
        let client = client!(far);
        for (how, code) in [("told", FaultCode::Sender), ("panic", FaultCode::Receiver)] {
            let result = client.call_as::<EchoResponse>(&Fail { how: how.to_owned() }).await;
            let Err(CallError::Fault(fault)) = result else { panic!("{result:?}") };
            assert_eq!(fault.code, code);
        }
        let unserved = client.call_as::<EchoResponse>(&Unserved {}).await;
        assert!(matches!(unserved, Err(CallError::Fault(_))), "{unserved:?}");
        assert_eq!(client.call_as::<EchoResponse>(&echo("on")).await.expect("a response").text, "on");
    }

    async fn one_way_messages_are_accepted(far) {
        client!(far).send(&Notify { event: "x".to_owned() }).await.expect("accepted");
    }

    async fn limits_hold(far) {
        let client = client!(far);
        let large = Echo { text: "x".repeat(2 * LARGEST as usize), numbers: vec![] };
        let announced = client.call_as::<EchoResponse>(&large).await;
        let Err(CallError::Fault(fault)) = announced else { panic!("{announced:?}") };
        assert!(fault.reason.contains("message"), "{fault}");
        // The length of these is not announced.
        let items = (0..1_000_000).map(f64::from);
        let streamed = client.call_overlaid(&Sum { item: Streamed::default() }, items).await;
        assert!(matches!(&streamed, Err(CallError::Fault(_) | CallError::Http(_))), "{streamed:?}");
        assert_eq!(client.call_as::<EchoResponse>(&echo("on")).await.expect("a response").text, "on");
    }

    async fn lists_of_any_length_are_streamed(far) {
        let sum = Sum { item: Streamed::default() };
        let total: Total = client!(far).call_overlaid(&sum, (0..20_000).map(f64::from)).await.expect("a total");
        assert_eq!(total.total, 199_990_000.0);
    }

    async fn a_request_that_breaks_off_is_not_taken_for_whole(far) {
        let client = client!(far);
        let items = (0..5_000).map(|item| if item < 4_999 { "fine".to_owned() } else { "\u{0}".to_owned() });
        let result = client.call_overlaid(&Texts { item: Streamed::default() }, items).await;
        // Without a wire in between, the service notices it.
        assert!(matches!(&result, Err(CallError::Encode(_) | CallError::Fault(_))), "{result:?}");
        assert_eq!(client.call_as::<EchoResponse>(&echo("on")).await.expect("a response").text, "on");
    }

    async fn calls_end_in_time(far) {
        let client = client!(far);
        let options = CallOptions::new().timeout(Duration::from_millis(50));
        let result = client.call_as_with::<Total>(&Wait { milliseconds: 5_000 }, options).await;
        assert!(matches!(&result, Err(CallError::Timeout(_))), "{result:?}");
        assert_eq!(client.call_as::<Total>(&Wait { milliseconds: 1 }).await.expect("a response").total, 1.0);
    }

    async fn packages_pass(far) {
        let image: Vec<u8> = (0..300_000_u32).map(|byte| (byte % 251) as u8).collect();
        let request = Turn { image: image.clone().into() };
        let client = client!(far);
        for _ in 0..3 {
            let options = CallOptions::new().mtom(Mtom::Auto);
            let mut response = client.call_as_with::<Turned>(&request, options).await.expect("a response");
            let turned = response.attachments.bytes(&response.body.image).await.expect("an image");
            assert!(turned.iter().rev().eq(&image));
        }
    }

    async fn gzip_goes_both_ways(far) {
        let client = Client::builder(&*far.url).compression(Compression::ALWAYS).build_with(far.transport.clone());
        let client = client.expect("a client");
        let request = Echo { text: "the same ".repeat(5_000), numbers: vec![] };
        let response = client.call_as_with::<EchoResponse>(&request, CallOptions::new()).await.expect("a response");
        assert_eq!(response.http_headers["content-encoding"], "gzip");
        assert_eq!(response.body, echoed(&request));
    }

    async fn messages_are_compared_with_those_of_their_connection(far) {
        let client = Client::builder(&*far.url).differential(LEAF).build_with(far.transport.clone()).expect("a client");
        for last in 0..5 {
            let request = Echo { text: "a text".to_owned(), numbers: (0..500).chain([last]).collect() };
            let response: Lease<EchoResponse> = client.call_leased_as(&request).await.expect("a response");
            assert_eq!(*response, echoed(&request));
        }
        let served = far.service.stats().snapshot();
        assert_eq!((served.differential.messages, served.differential.compared), (5, 4));
        assert_eq!(client.differential_stats().compared, 4);
        assert_eq!(served.encode.messages, 5);
        assert!(served.encode.first <= 1, "{:?}", served.encode);
    }

    async fn a_server_that_stops_finishes_what_is_under_way(far) {
        let client = client!(far);
        client.call_as::<EchoResponse>(&echo("first")).await.expect("a response");
        let Some((handle, running)) = far.running else { return };
        let waiting = tokio::spawn(async move { client.call_as::<Total>(&Wait { milliseconds: 700 }).await });
        tokio::time::sleep(Duration::from_millis(300)).await;
        handle.shutdown();
        assert_eq!(waiting.await.expect("no panic").expect("a response").total, 700.0);
        running.await.expect("no panic").expect("no error");
        let client = Client::with_service(&*far.url, far.transport).expect("a client");
        let refused = client.call_as::<Total>(&Wait { milliseconds: 0 }).await;
        assert!(matches!(refused, Err(CallError::Http(_))));
    }
}

#[tokio::test]
async fn who_is_at_the_other_end_of_a_unix_socket_is_known() {
    let (_folder, listener, connector) = unix();
    let mine = std::fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).ok();
    let authenticate = move |parts: &Parts, peer: Option<SocketAddr>| match parts.extensions.get::<UnixPeer>() {
        Some(other) if peer.is_none() && mine.is_none_or(|mine| mine == other.uid) => Ok(Some(Principal::new("me"))),
        _ => Err(Denial::forbidden()),
    };
    let who = async |context: Context, _: Lease<Describe>| {
        let principal = context.principal().map(|principal| principal.0.to_string());
        Ok::<_, Fault>(DescribeResponse { action: None, peer: principal, user_agent: None })
    };
    let service = SoapService::builder().operation(who).authenticate(authenticate).build();
    tokio::spawn(Server::over(listener, Frames::default()).serve(service.expect("a service")));
    let client = Client::with_service("frames://localhost/", Frames::default().pool(connector)).expect("a client");
    assert_eq!(client.call_as::<DescribeResponse>(&Describe {}).await.expect("me").peer.as_deref(), Some("me"));
}

#[tokio::test]
async fn a_unix_socket_goes_with_its_listener() {
    let (folder, listener, connector) = unix();
    assert!(UnixListener::bind(folder.path().join("socket")).is_err(), "it is taken");
    drop(listener);
    assert!(!folder.path().join("socket").exists());
    let client = Client::with_service("http://localhost/", Http::default().pool(connector)).expect("a client");
    assert!(matches!(client.call_as::<EchoResponse>(&echo("")).await, Err(CallError::Http(_))));
}

#[tokio::test]
async fn plain_http_is_not_taken_for_https() {
    let (listener, connector) = memory();
    tokio::spawn(Server::over(listener, Http::default()).serve(all()));
    let client = Client::with_service("https://localhost/", Http::default().pool(connector)).expect("a client");
    assert!(matches!(client.call_as::<EchoResponse>(&echo("")).await, Err(CallError::Http(_))));
}

/// Returns the answer of a frame server to these bytes, up to the end.
async fn answer_to(bytes: &[u8]) -> Vec<u8> {
    let (listener, address) = tcp().await;
    let server = Server::over(listener, Frames::default()).header_read_timeout(Duration::from_millis(200));
    tokio::spawn(server.serve(all()));
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(bytes).await.expect("sent");
    let mut answer = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await.expect("in time");
    if let Err(error) = end {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    answer
}

#[tokio::test]
async fn what_is_no_frames_ends_the_connection() {
    let streams: [&[u8]; 7] = [
        b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"DSOAP/1\nD\0\0\0\x01x",
        b"DSOAP/1\nH\xff\xff\xff\xff",
        b"DSOAP/1\nH\0\0\0\x02\0\x05",
        b"DSOAP/1\nH\0\0\0\x03\0\x01\xff",
        // Heads that stop arriving are cut off.
        b"DSOAP/1\nH\0\0\0\x10",
    ];
    for stream in streams {
        assert_eq!(answer_to(stream).await, b"", "{}", stream.escape_ascii());
    }
}

/// Returns a request in frames, with a body in pieces and an end of this kind.
fn frames(length: Option<usize>, pieces: &[&str], end: u8) -> Vec<u8> {
    let mut head = b"\0\x01/\x0ccontent-type\0\x08text/xml".to_vec();
    if let Some(length) = length {
        let length = length.to_string();
        head.extend(b"\x0econtent-length\0");
        head.push(length.len() as u8);
        head.extend(length.bytes());
    }
    let frame = |kind: u8, bytes: &[u8]| [&[kind], &(bytes.len() as u32).to_be_bytes()[..], bytes].concat();
    let data = pieces.iter().flat_map(|piece| frame(b'D', piece.as_bytes()));
    [b"DSOAP/1\n".to_vec(), frame(b'H', &head), data.collect(), frame(end, b"")].concat()
}

#[tokio::test]
async fn a_request_can_be_written_by_hand() {
    let message = message(Version::Soap11, &[], &echo("by hand"));
    let (first, second) = message.split_at(100);
    for length in [None, Some(message.len())] {
        let answer = answer_to(&frames(length, &[first, "", second], b'E')).await;
        assert!(answer.starts_with(b"H\0\0") && answer[5..7] == 200_u16.to_be_bytes(), "{}", answer.escape_ascii());
        assert!(answer.ends_with(b"E\0\0\0\0"));
        assert!(answer.windows(7).any(|text| text == b"by hand"));
    }
}

#[tokio::test]
async fn requests_that_are_not_whole_are_not_served() {
    let message = message(Version::Soap11, &[], &echo("by hand"));
    let len = message.len();
    let broken = [
        frames(None, &[&message], b'X'),
        frames(Some(len - 1), &[&message], b'E'),
        frames(Some(len + 1), &[&message], b'E'),
        frames(None, &[&message], b'?'),
        frames(None, &[&message[..len - 20]], b'E'),
    ];
    for request in broken {
        let answer = answer_to(&request).await;
        assert!(answer.len() > 7 && answer[5..7] != 200_u16.to_be_bytes(), "{}", answer.escape_ascii());
        assert!(!answer.windows(12).any(|text| text == b"EchoResponse"));
    }
}

#[tokio::test]
async fn connections_that_a_server_has_closed_are_not_used_again() {
    let (listener, address) = tcp().await;
    let server = Server::over(listener, Frames::default()).header_read_timeout(Duration::from_millis(50));
    tokio::spawn(server.serve(all()));
    let transport = Frames::default().pool(TcpConnector::new());
    let client = Client::with_service(format!("frames://{address}/"), transport).expect("a client");
    for round in 0..3 {
        let text = round.to_string();
        assert_eq!(client.call_as::<EchoResponse>(&echo(&text)).await.expect("a response").text, text);
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
}

/// A user-defined transport: a function.
#[tokio::test]
async fn any_tower_service_is_a_transport() {
    let service = all();
    let transport = tower::service_fn(move |request: Request<Body>| {
        let mut service = service.clone();
        async move { tower::Service::call(&mut service, request).await }
    });
    let client = Client::with_service("http://localhost/", transport).expect("a client");
    assert_eq!(client.call_as::<EchoResponse>(&echo("f")).await.expect("a response").text, "f");
}
