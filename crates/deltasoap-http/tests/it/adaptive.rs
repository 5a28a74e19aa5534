//! Compression where the throughput of the connection is measured: responses and requests over
//! sockets whose other end reads slowly, servers that announce the codings that they accept, or do
//! not, or refuse them, and transports without measurement.

use crate::common::*;
use bytes::Bytes;
use deltasoap::client::{CallError, Credentials, Redirects};
use deltasoap::engine::Templating;
use deltasoap::server::Connection;
use deltasoap::soap::Version;
use deltasoap::stream::Streamed;
use deltasoap::transport::{Compression, Connector, Http, HttpPool, InMemory, Protocol, memory};
use deltasoap::{Client, Lease, Server, Soap, SoapService};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Either, Full};
use std::convert::Infallible;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;
use tower::ServiceExt;

/// Buffer size of sockets in bytes: small, so that writing soon waits for the network.
const BUFFER: u32 = 16 << 10;
/// Rate of a network that is slower than compression on any machine, in bytes per second.
const SLOW: u64 = 500_000;
/// Number of calls within which the client settles on a coding.
const CALLS: usize = 6;

fn service() -> SoapService {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let builder = SoapService::builder().operation(handler).templating(Templating::OFF);
    builder.compression(Compression::ADAPTIVE).build().expect("a service")
}

/// Returns a message of about 200 KB that compresses well.
fn long() -> Echo {
    Echo { text: "long".to_owned(), numbers: (0..7000_i32).map(|n| n.wrapping_mul(1_103_515_245)).collect() }
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

/// Serves a service behind a network with this rate.
async fn network(
    service: impl tower::Service<
        Request<deltasoap::transport::HttpRequestBody>,
        Response = Response<
            impl http_body::Body<Data = Bytes, Error: Into<deltasoap::transport::BoxError>> + Send + 'static,
        >,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + 'static,
    rate: u64,
) -> SocketAddr {
    let (served, relay) = (listener(), listener());
    let (address, entry) = (served.local_addr().expect("one"), relay.local_addr().expect("one"));
    tokio::spawn(Server::from_listener(served).serve(service));
    tokio::spawn(async move {
        while let Ok((client, _)) = relay.accept().await {
            let server = connect(address).await.expect("the server listens");
            let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
            tokio::spawn(carry(from_client, to_server, rate));
            tokio::spawn(carry(from_server, to_client, rate));
        }
    });
    entry
}

/// Forwards bytes at this rate.
async fn carry(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    rate: u64,
) -> io::Result<()> {
    let (mut buffer, mut next) = (vec![0; 8 << 10], Instant::now());
    loop {
        let bytes = from.read(&mut buffer).await?;
        if bytes == 0 {
            return to.shutdown().await;
        }
        next = next.max(Instant::now()) + Duration::from_secs_f64(bytes as f64 / rate as f64);
        tokio::time::sleep_until(next).await;
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

/// Connects to the address of a URL.
#[derive(Clone)]
struct Anywhere;

impl Connector for Anywhere {
    type Stream = TcpStream;

    async fn connect(&self, url: &Uri) -> io::Result<TcpStream> {
        connect(url.authority().expect("a host").as_str().parse().expect("an address")).await
    }
}

fn client(address: SocketAddr, compression: Compression) -> Client<HttpPool<Small>> {
    let builder = Client::builder("http://localhost/").compression(compression).templating(Templating::OFF);
    builder.build_with(Http::default().pool(Small(address))).expect("a client")
}

/// An [`Echo`] that is written while it is sent.
#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:test", name = "Echo", message, response = EchoResponse)]
struct Listed {
    text: String,
    numbers: Streamed<i32>,
}

/// Makes some calls; returns for each whether the response was compressed.
async fn calls<S, B>(client: &Client<S>, count: usize) -> Vec<bool>
where
    S: tower::Service<Request<deltasoap::transport::Body>, Response = Response<B>> + Clone,
    S::Error: Into<deltasoap::transport::BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<deltasoap::transport::BoxError>,
{
    let mut coded = Vec::new();
    for _ in 0..count {
        let response = client.call_as_with::<EchoResponse>(&long(), Default::default()).await.expect("a response");
        assert_eq!(response.body, echoed(&long()));
        coded.push(response.http_headers.contains_key(CONTENT_ENCODING));
    }
    coded
}

/// Requests the echo of a message without decoding it; returns true if it was in gzip.
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

/// The end of compression is tested where the rate is measured, in virtual time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_are_compressed_over_a_slow_network() {
    let transport = Http::default().pool(Small(network(service(), SLOW).await));
    let fetch = async |echo: &Echo| fetch(&transport, echo).await;
    assert!(!fetch(&long()).await, "nothing is known");
    let mut calls = 0;
    while !fetch(&long()).await {
        calls += 1;
        assert!(calls < CALLS, "the network is slow");
    }
    assert!(!fetch(&echo("short")).await);
}

#[tokio::test]
async fn nothing_is_compressed_for_those_who_do_not_accept_it() {
    let address = network(service(), SLOW).await;
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

    fn codings(&self) -> Vec<Option<String>> {
        self.0.lock().expect("no panic").clone()
    }
}

/// What a server announces.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    /// It announces the codings that it accepts.
    Truth,
    Nothing,
    /// It announces all codings, but refuses them with this status and another announcement.
    Lie(StatusCode, Option<&'static str>),
}

/// Returns a service that records its requests.
fn saying(
    says: Says,
    seen: &Seen,
) -> impl tower::Service<
    Request<deltasoap::transport::HttpRequestBody>,
    Response = Response<Either<Full<Bytes>, deltasoap::transport::Body>>,
    Error = Infallible,
    Future: Send,
> + Clone
+ Send
+ 'static {
    let (noted, inner) = (seen.clone(), service());
    tower::service_fn(move |request: Request<deltasoap::transport::HttpRequestBody>| {
        let (is_coded, inner) = (noted.note(&request), inner.clone());
        async move {
            if let (Says::Lie(status, instead), true) = (says, is_coded) {
                let _ = request.into_body().collect().await;
                let mut refusal = Response::new(Either::Left(Full::from("no")));
                *refusal.status_mut() = status;
                refusal
                    .headers_mut()
                    .extend(instead.map(|codings| (ACCEPT_ENCODING, codings.parse().expect("a value"))));
                return Ok::<_, Infallible>(refusal);
            }
            let mut response = inner.oneshot(request).await?;
            if says == Says::Nothing {
                response.headers_mut().remove(ACCEPT_ENCODING);
            }
            Ok(response.map(Either::Right))
        }
    })
}

/// Calls a server with long requests; returns the coding of each request, and the number of failed
/// calls.
async fn requests(says: Says, compression: Compression, count: usize) -> (Vec<Option<String>>, usize) {
    let (seen, mut failed) = (Seen::default(), 0);
    let client = client(network(saying(says, &seen), SLOW).await, compression);
    for _ in 0..count {
        match client.call_as::<EchoResponse>(&long()).await {
            Ok(response) => assert_eq!(response, echoed(&long())),
            Err(_) => failed += 1,
        }
    }
    (seen.codings(), failed)
}

/// Returns the number of compressed requests.
fn coded(requests: &[Option<String>]) -> usize {
    requests.iter().flatten().count()
}

#[tokio::test]
async fn requests_are_compressed_once_the_server_says_what_it_reads() {
    // The first answer announces it, and the second request is measured.
    let (seen, failed) = requests(Says::Truth, Compression::ADAPTIVE, CALLS).await;
    assert!(seen[0].is_none() && coded(&seen) > 0 && failed == 0, "{seen:?}, {failed} failed");
    assert_eq!(requests(Says::Nothing, Compression::ADAPTIVE, 4).await, (vec![None; 4], 0));
    // The user knows that the server accepts it.
    let (seen, failed) = requests(Says::Nothing, Compression::ALWAYS, 2).await;
    assert_eq!((coded(&seen), failed), (2, 0));
}

#[tokio::test]
async fn a_request_whose_coding_is_refused_is_sent_again_without_it() {
    for instead in [None, Some("gzip, zstd")] {
        let says = Says::Lie(StatusCode::UNSUPPORTED_MEDIA_TYPE, instead);
        let (seen, failed) = requests(says, Compression::ADAPTIVE, CALLS).await;
        assert_eq!((coded(&seen), seen.len(), failed), (1, CALLS + 1, 0), "{seen:?}");
    }
    // Not repeated without compression if the user configured it.
    let says = Says::Lie(StatusCode::UNSUPPORTED_MEDIA_TYPE, None);
    let (seen, failed) = requests(says, Compression::ALWAYS, 2).await;
    assert_eq!((coded(&seen), seen.len(), failed), (2, 2, 2));
}

/// As several servers of one name may do, if one is older.
#[tokio::test]
async fn what_a_refusal_says_is_used_instead() {
    let says = Says::Lie(StatusCode::UNSUPPORTED_MEDIA_TYPE, Some("identity"));
    let (seen, failed) = requests(says, Compression::ADAPTIVE, CALLS).await;
    // Each answer to a plain request announces again that codings are accepted.
    assert!(coded(&seen) > 1 && failed == 0 && seen.len() == CALLS + coded(&seen), "{seen:?}, {failed} failed");
}

#[tokio::test]
async fn an_operation_whose_compressed_requests_are_too_large_is_sent_plain() {
    let says = Says::Lie(StatusCode::PAYLOAD_TOO_LARGE, None);
    let (seen, failed) = requests(says, Compression::ADAPTIVE, CALLS).await;
    assert_eq!((coded(&seen), seen.len(), failed), (1, CALLS, 1), "{seen:?}");
}

/// A stream is not sent twice, and the next request is plain.
#[tokio::test]
async fn a_refused_stream_is_an_error() {
    let (seen, says) = (Seen::default(), Says::Lie(StatusCode::UNSUPPORTED_MEDIA_TYPE, None));
    let client = client(network(saying(says, &seen), SLOW).await, Compression::ADAPTIVE);
    let (list, items) = (Listed { text: "long".to_owned(), numbers: Streamed::default() }, || long().numbers);
    let mut failed = 0;
    for _ in 0..CALLS {
        let answer = client.call_overlaid(&list, items()).await;
        failed += usize::from(matches!(answer, Err(CallError::Status(error)) if error.status == 415));
    }
    assert_eq!((coded(&seen.codings()), seen.codings().len(), failed), (1, CALLS, 1));
}

/// Another origin is treated in the same way, but its announcement applies to itself.
#[tokio::test]
async fn another_origin_says_nothing_of_this_one() {
    let (there, seen) = (network(saying(Says::Truth, &Seen::default()), SLOW).await, Seen::default());
    let noted = seen.clone();
    let redirecting = tower::service_fn(move |request: Request<deltasoap::transport::HttpRequestBody>| {
        noted.note(&request);
        async move {
            let _ = request.into_body().collect().await;
            let redirect = Response::builder().status(307).header("location", format!("http://{there}/"));
            Ok::<_, Infallible>(redirect.body(Full::<Bytes>::default()).expect("a response"))
        }
    });
    let here = network(redirecting, SLOW).await;
    let builder = Client::builder(format!("http://{here}/")).compression(Compression::ADAPTIVE);
    let builder = builder.templating(Templating::OFF).redirects(Redirects::any_origin(1));
    let client = builder.build_with(Http::default().pool(Anywhere)).expect("a client");
    for _ in 0..CALLS {
        assert_eq!(client.call_as::<EchoResponse>(&long()).await.expect("a response"), echoed(&long()));
    }
    assert_eq!(seen.codings(), vec![None; CALLS]);
}

#[tokio::test]
async fn a_request_for_a_challenge_has_no_coding() {
    let seen = Seen::default();
    let noted = seen.clone();
    let server = tower::service_fn(move |request: Request<deltasoap::transport::Body>| {
        noted.note(&request);
        let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
        let response = Response::builder().status(401).header("www-authenticate", challenge);
        std::future::ready(Ok::<_, Infallible>(response.body(Full::<Bytes>::default()).expect("a response")))
    });
    let credentials = Credentials::digest("ada", "engine").expect("credentials");
    let builder = Client::builder("http://localhost/").compression(Compression::ALWAYS).credentials(credentials);
    let list = Listed { text: "long".to_owned(), numbers: Streamed::default() };
    let client = builder.build_with(server).expect("a client");
    client.call_overlaid(&list, vec![1, 2]).await.expect_err("never authenticated");
    assert_eq!(seen.codings(), [None, Some("gzip".to_owned())]);
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
    // Connections of other accept loops are not measured either.
    let mut request = Request::post("/").header("content-type", "text/xml").header("accept-encoding", "gzip");
    request.extensions_mut().expect("valid").insert(Connection::new());
    let request = request.body(Full::from(message(Version::Soap11, &[], &long()))).expect("a request");
    let response = service().oneshot(request).await.expect("infallible");
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
}
