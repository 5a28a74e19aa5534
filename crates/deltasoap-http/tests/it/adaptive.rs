//! Compression where the throughput of the connection is measured: responses and requests over sockets whose other end takes bytes slowly
//! or fast, servers that say what they read, or do not, or refuse it, and transports where nothing is measured.

use crate::common::*;
use bytes::Bytes;
use deltasoap::http::transport::{Connector, Http, HttpPool, InMemory, Protocol, memory};
use deltasoap::http::{Client, Compression, Connection, Server, SoapService};
use deltasoap::soap::Version;
use deltasoap::{Lease, Templating};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Either, Full};
use std::convert::Infallible;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;
use tower::ServiceExt;

/// Bytes that sockets hold, so that writing waits for the network soon.
const BUFFER: u32 = 16 << 10;
/// Bytes a second of a slow network, and of one that is faster than any compression.
const SLOW: u64 = 1_000_000;
const FAST: u64 = 20_000_000_000;
/// Calls within which a way is found.
const CALLS: usize = 10;

fn service() -> SoapService {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let builder = SoapService::builder().operation(handler).templating(Templating::OFF);
    builder.compression(Compression::ADAPTIVE).build().expect("a service")
}

/// A message of some 600 KB that shrinks to a part.
fn long() -> Echo {
    Echo { text: "long".to_owned(), numbers: (0..20_000_i32).map(|n| n.wrapping_mul(1_103_515_245)).collect() }
}

fn listener() -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_send_buffer_size(BUFFER).expect("a size");
    socket.set_recv_buffer_size(BUFFER).expect("a size");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    socket.listen(16).expect("a listener")
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.connect(address).await
}

/// Serves a service behind a network of a rate.
async fn network(
    service: impl tower::Service<
        Request<deltasoap::http::transport::Arriving>,
        Response = Response<
            impl http_body::Body<Data = Bytes, Error: Into<deltasoap::http::BoxError>> + Send + 'static,
        >,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + 'static,
    rate: &Arc<AtomicU64>,
) -> SocketAddr {
    let (served, way, rate) = (listener(), listener(), Arc::clone(rate));
    let (address, entry) = (served.local_addr().expect("one"), way.local_addr().expect("one"));
    tokio::spawn(Server::from_listener(served).serve(service));
    tokio::spawn(async move {
        while let Ok((client, _)) = way.accept().await {
            let server = connect(address).await.expect("the server listens");
            let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
            tokio::spawn(carry(from_client, to_server, Arc::clone(&rate)));
            tokio::spawn(carry(from_server, to_client, Arc::clone(&rate)));
        }
    });
    entry
}

/// Carries bytes at a rate.
async fn carry(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    rate: Arc<AtomicU64>,
) -> io::Result<()> {
    let (mut buffer, mut next) = (vec![0; 8 << 10], Instant::now());
    loop {
        let bytes = from.read(&mut buffer).await?;
        if bytes == 0 {
            return to.shutdown().await;
        }
        next = next.max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / rate.load(Relaxed) as f64);
        // The timer's turns are longer than what a fast network takes.
        if next > Instant::now() + Duration::from_millis(1) {
            tokio::time::sleep_until(next).await;
        }
        to.write_all(&buffer[..bytes]).await?;
    }
}

/// Connects with small buffers.
#[derive(Clone)]
struct Small(SocketAddr);

impl Connector for Small {
    type Stream = TcpStream;

    async fn connect(&self, _: &Uri) -> io::Result<TcpStream> {
        connect(self.0).await
    }
}

fn client(address: SocketAddr, compression: Compression) -> Client<HttpPool<Small>> {
    let builder = Client::builder("http://localhost/").compression(compression).templating(Templating::OFF);
    builder.build_with(Http::default().pool(Small(address))).expect("a client")
}

/// Which of some calls had a compressed response.
async fn calls<S, B>(client: &Client<S>, count: usize) -> Vec<bool>
where
    S: tower::Service<Request<deltasoap::http::Body>, Response = Response<B>> + Clone,
    S::Error: Into<deltasoap::http::BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<deltasoap::http::BoxError>,
{
    let mut coded = Vec::new();
    for _ in 0..count {
        let response = client.call_with::<_, EchoResponse>(&long(), Default::default()).await.expect("a response");
        assert_eq!(response.body, echoed(&long()));
        coded.push(response.http_headers.contains_key(CONTENT_ENCODING));
    }
    coded
}

/// Asks for the echo of a message without reading it as one; true if it came in gzip.
async fn fetch(transport: &HttpPool<Small>, echo: &Echo) -> bool {
    let request = Request::post("http://localhost/").header("content-type", "text/xml");
    let request = request.header("accept-encoding", "gzip").body(message(Version::Soap11, &[], echo).into());
    let response = transport.clone().oneshot(request.expect("a request")).await.expect("a response");
    assert_eq!(
        (response.status(), &response.headers()["vary"]),
        (StatusCode::OK, &"accept-encoding".parse().expect("a value"))
    );
    let is_coded = response.headers().contains_key(CONTENT_ENCODING);
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    let expected = message(Version::Soap11, &[], &echoed(echo));
    let mut text = String::new();
    match is_coded {
        true => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).map(drop).expect("gzip"),
        false => text.push_str(std::str::from_utf8(&bytes).expect("UTF-8")),
    }
    assert!(text == expected, "another message");
    is_coded
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_are_compressed_over_a_slow_network_until_it_is_fast() {
    let rate = Arc::new(AtomicU64::new(SLOW));
    let transport = Http::default().pool(Small(network(service(), &rate).await));
    let fetch = async |echo: &Echo| fetch(&transport, echo).await;
    assert!(!fetch(&long()).await, "nothing is known");
    // On a busy machine, compression may take longer than the network at first.
    let mut calls = 0;
    while !fetch(&long()).await {
        calls += 1;
        assert!(calls < CALLS, "the network is slow");
    }
    assert!(!fetch(&echo("short")).await);
    rate.store(FAST, Relaxed);
    // What is compressed arrives sooner than the network was thought to carry it.
    let (mut calls, mut plain) = (0, 0);
    while plain < 3 {
        plain = if fetch(&long()).await { 0 } else { plain + 1 };
        calls += 1;
        assert!(calls < 10 * CALLS, "the network is fast");
    }
}

#[tokio::test]
async fn nothing_is_compressed_for_those_who_do_not_accept_it() {
    let rate = Arc::new(AtomicU64::new(SLOW));
    let address = network(service(), &rate).await;
    let builder = Client::builder("http://localhost/").accept_gzip(false);
    let client = builder.build_with(Http::default().pool(Small(address))).expect("a client");
    assert_eq!(calls(&client, 3).await, [false; 3]);
}

/// The codings of requests as they arrive.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Option<String>>>>);

impl Seen {
    fn note<B>(&self, request: &Request<B>) -> bool {
        let coding = request.headers().get(CONTENT_ENCODING).map(|coding| coding.to_str().expect("text").to_owned());
        let is_coded = coding.is_some();
        self.0.lock().expect("no panic").push(coding);
        is_coded
    }

    fn coded(&self) -> Vec<bool> {
        self.0.lock().expect("no panic").iter().map(Option::is_some).collect()
    }
}

/// What a server says that it reads.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    Truth,
    Nothing,
    /// That it reads gzip, which it then refuses.
    Lie,
}

/// Calls with requests of some length, of which each is noted, with a server that says something.
async fn requests(says: Says, compression: Compression, count: usize) -> (Vec<bool>, usize) {
    let (seen, failed) = (Seen::default(), AtomicUsize::new(0));
    let (noted, inner) = (seen.clone(), service());
    let service = tower::service_fn(move |request: Request<deltasoap::http::transport::Arriving>| {
        let (is_coded, inner) = (noted.note(&request), inner.clone());
        async move {
            if says == Says::Lie && is_coded {
                let _ = request.into_body().collect().await;
                let mut refusal = Response::new(Either::Left(Full::from("no")));
                *refusal.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return Ok::<_, Infallible>(refusal);
            }
            let mut response = inner.oneshot(request).await?;
            if says == Says::Nothing {
                response.headers_mut().remove(ACCEPT_ENCODING);
            }
            Ok(response.map(Either::Right))
        }
    });
    let rate = Arc::new(AtomicU64::new(SLOW));
    let client = client(network(service, &rate).await, compression);
    for _ in 0..count {
        match client.call::<_, EchoResponse>(&long()).await {
            Ok(response) => assert_eq!(response, echoed(&long())),
            Err(_) => _ = failed.fetch_add(1, Relaxed),
        }
    }
    (seen.coded(), failed.into_inner())
}

#[tokio::test]
async fn requests_are_compressed_once_the_server_says_what_it_reads() {
    // The first answer says it, and the second request is measured.
    let (coded, failed) = requests(Says::Truth, Compression::ADAPTIVE, CALLS).await;
    assert!(!coded[0] && coded.contains(&true) && failed == 0, "{coded:?}, {failed} failed");
    assert_eq!(requests(Says::Nothing, Compression::ADAPTIVE, 4).await, (vec![false; 4], 0));
    // The user knows.
    assert_eq!(requests(Says::Nothing, Compression::ALWAYS, 2).await, (vec![true; 2], 0));
}

#[tokio::test]
async fn a_server_that_refuses_what_it_says_gets_no_more_of_it() {
    let (coded, failed) = requests(Says::Lie, Compression::ADAPTIVE, CALLS).await;
    assert_eq!((coded.iter().filter(|is_coded| **is_coded).count(), failed), (1, 1), "{coded:?}");
}

#[tokio::test]
async fn only_answers_to_long_plain_requests_say_what_is_read() {
    let service = service();
    for (echo, is_said) in [(echo("short"), false), (long(), true)] {
        let text = message(Version::Soap11, &[], &echo);
        let request = Request::post("/").header("content-type", "text/xml");
        let request = request.body(Full::from(text)).expect("a request");
        let response = service.clone().oneshot(request).await.expect("infallible");
        assert_eq!(response.headers().contains_key(ACCEPT_ENCODING), is_said);
    }
}

#[tokio::test]
async fn nothing_is_compressed_in_memory() {
    let client = Client::builder("http://localhost/").compression(Compression::ADAPTIVE);
    let direct = client.build_with(InMemory::new(service())).expect("a client");
    assert_eq!(calls(&direct, 4).await, [false; 4]);
    let (listener, connector) = memory();
    tokio::spawn(Server::over(listener, Http::default()).serve(service()));
    let client = Client::builder("http://localhost/").compression(Compression::ADAPTIVE);
    let client = client.build_with(Http::default().pool(connector)).expect("a client");
    assert_eq!(calls(&client, 4).await, [false; 4]);
    // A connection of another accept loop is not measured either.
    let mut request = Request::post("/").header("content-type", "text/xml").header("accept-encoding", "gzip");
    request.extensions_mut().expect("valid").insert(Connection::new());
    let request = request.body(Full::from(message(Version::Soap11, &[], &long()))).expect("a request");
    let response = service().oneshot(request).await.expect("infallible");
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
}
