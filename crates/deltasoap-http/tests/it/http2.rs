//! HTTP/2: which version a connection has, limits, refusals, and what differs from HTTP/1.1.

#![cfg(feature = "http2")]

use crate::common::authority::Authority;
use crate::common::*;
use bytes::Bytes;
use deltasoap::client::{CallError, HttpTransport, HttpTransportBuilder};
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap::server::ServerHandle;
use deltasoap::{Client, Context, Fault, Lease, Server, Soap, SoapService};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response, StatusCode, Version};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Asks for the cookies, the host and the version of the request.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Look {}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Seen {
    cookies: Vec<String>,
    host: Option<String>,
    version: String,
}

async fn look(context: Context, _: Lease<Look>) -> Result<Seen, Fault> {
    let texts = |name: &str| {
        context.parts().headers.get_all(name).iter().map(|it| it.to_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let version = format!("{:?}", context.parts().version);
    Ok(Seen { cookies: texts("cookie"), host: texts("host").pop(), version })
}

fn service() -> SoapService {
    let echo = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().operation(look).operation(echo).build().expect("a service")
}

async fn serve(adapt: impl FnOnce(Server) -> Server) -> (SocketAddr, ServerHandle) {
    let server = adapt(Server::bind("127.0.0.1:0").await.expect("a port"));
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    tokio::spawn(server.serve(service()));
    (address, handle)
}

/// A connection of another implementation's client, and its end.
async fn connected(address: SocketAddr) -> (SendRequest<Bytes>, tokio::task::JoinHandle<Result<(), h2::Error>>) {
    let stream = TcpStream::connect(address).await.expect("a connection");
    // A window so small that no response fits in.
    let shaken = h2::client::Builder::new().initial_window_size(16).handshake(stream).await;
    let (client, connection) = shaken.expect("a handshake");
    (client.ready().await.expect("a stream"), tokio::spawn(connection))
}

const LOOK: &str = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><Look xmlns='urn:test'/></e:Body></e:Envelope>";

fn post(client: &mut SendRequest<Bytes>, request: http::request::Builder) -> (ResponseFuture, SendStream<Bytes>) {
    post_text(client, request, Bytes::from_static(LOOK.as_bytes()))
}

fn post_text(
    client: &mut SendRequest<Bytes>,
    request: http::request::Builder,
    text: Bytes,
) -> (ResponseFuture, SendStream<Bytes>) {
    let request = request.method("POST").uri("http://a.example/").header("content-type", "text/xml").body(());
    let (response, mut body) = client.send_request(request.expect("a request"), false).expect("sent");
    body.send_data(text, true).expect("sent");
    (response, body)
}

async fn text(response: Response<RecvStream>) -> String {
    let mut body = response.into_body();
    let mut all = Vec::new();
    while let Some(part) = body.data().await {
        let part = part.expect("a part");
        body.flow_control().release_capacity(part.len()).expect("released");
        all.extend_from_slice(&part);
    }
    String::from_utf8(all).expect("text")
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn tls_negotiates_the_version() {
    let authority = Authority::new();
    let (address, _handle) = serve(|server| server.tls(authority.server()).expect("an identity")).await;
    type Adapt = fn(HttpTransportBuilder) -> HttpTransportBuilder;
    let ways: [(Adapt, &str); 3] = [
        (|builder| builder, "HTTP/2.0"),
        (HttpTransportBuilder::http1_only, "HTTP/1.1"),
        (HttpTransportBuilder::http2_prior_knowledge, "HTTP/2.0"),
    ];
    for (adapt, version) in ways {
        let transport = adapt(HttpTransport::builder()).tls(authority.client()).expect("roots").build();
        let url = format!("https://localhost:{}/", address.port());
        let client = Client::builder(url).build_with(transport).expect("a client");
        let seen: Seen = client.call_as(&Look {}).await.expect("a response");
        assert_eq!(
            seen,
            Seen { cookies: vec![], host: Some(format!("localhost:{}", address.port())), version: version.into() }
        );
    }
}

#[tokio::test]
async fn without_tls_clients_send_http_1() {
    let (address, _handle) = serve(|server| server).await;
    let client: Client = Client::new(format!("http://{address}/")).expect("a client");
    assert_eq!(client.call_as::<Seen>(&Look {}).await.expect("a response").version, "HTTP/1.1");
}

#[tokio::test]
async fn requests_are_as_in_http_1() {
    let (address, _handle) = serve(|server| server).await;
    let (mut client, _connection) = connected(address).await;
    let (response, _) = post(&mut client, Request::builder().header("cookie", "a=1").header("cookie", "b=2"));
    let response = response.await.expect("a response");
    assert_eq!((response.status(), response.version()), (StatusCode::OK, Version::HTTP_2));
    let text = text(response).await;
    assert!(text.contains("<cookies>a=1; b=2</cookies><host>a.example</host><version>HTTP/2.0</version>"), "{text}");
}

#[tokio::test]
async fn requests_that_must_be_rejected_are() {
    let (address, _handle) = serve(|server| server.max_headers(20)).await;
    let (mut client, _connection) = connected(address).await;
    let (response, _) = post(&mut client, Request::builder().header("host", "b.example"));
    assert_eq!(response.await.expect("a response").status(), StatusCode::BAD_REQUEST);
    let many = (0..20).fold(Request::builder(), |request, number| request.header(format!("x-{number}"), "x"));
    let (response, _) = post(&mut client, many);
    assert_eq!(response.await.expect("a response").status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let (response, _) = post(&mut client, Request::builder().header("expect", "a-miracle"));
    assert_eq!(response.await.expect("a response").status(), StatusCode::EXPECTATION_FAILED);
    let (response, _) = post(&mut client, Request::builder().header("host", "A.example"));
    assert_eq!(response.await.expect("a response").status(), StatusCode::OK);
}

#[tokio::test]
async fn idle_connections_end() {
    let (address, _handle) = serve(|server| server.header_read_timeout(Duration::from_millis(300))).await;
    // Neither one that sends nothing, nor one that sends a part of the preface.
    for first in [&b""[..], b"PRI * HTTP"] {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.try_write(first).expect("sent");
        let mut stream = stream;
        let end = timeout(Duration::from_secs(5), stream.read(&mut [0; 10])).await.expect("in time");
        assert!(
            matches!(end, Ok(0)) || end.as_ref().is_err_and(|error| error.kind() != ErrorKind::WouldBlock),
            "{end:?}"
        );
    }
    let (mut client, connection) = connected(address).await;
    let begin = Instant::now();
    let (response, _) = post(&mut client, Request::builder());
    text(response.await.expect("a response")).await;
    let ended = timeout(Duration::from_secs(5), connection).await.expect("in time").expect("no panic");
    ended.expect("a graceful end");
    assert!(begin.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_response_that_its_client_does_not_take_is_reset_alone() {
    const LIMIT: Duration = Duration::from_millis(300);
    let long = "x".repeat(500_000);
    let long =
        LOOK.replace("<Look xmlns='urn:test'/>", &format!("<t:Echo xmlns:t='urn:test'><text>{long}</text></t:Echo>"));
    let (address, _handle) = serve(|server| server.write_timeout(LIMIT)).await;
    let (mut client, _connection) = connected(address).await;
    // A part of a response waits, or all of it.
    for message in [long, LOOK.to_owned()] {
        let begin = Instant::now();
        let (response, _) = post_text(&mut client, Request::builder(), message.into());
        let mut body = response.await.expect("a response").into_body();
        // Another exchange of the connection goes on.
        let (other, _) = post(&mut client, Request::builder());
        assert!(text(other.await.expect("a response")).await.contains("<version>"));
        let reset = timeout(Duration::from_secs(5), async {
            loop {
                match body.data().await {
                    Some(Ok(_)) => {}
                    end => return end,
                }
            }
        });
        let reset = reset.await.expect("in time");
        assert!(matches!(&reset, Some(Err(error)) if error.is_remote()), "{reset:?}");
        assert!(begin.elapsed() >= LIMIT);
    }
}

#[tokio::test]
async fn a_request_for_the_head_alone_has_no_body() {
    let (address, _handle) = serve(|server| server).await;
    let (mut client, _connection) = connected(address).await;
    let mut ask = async |method: &str| {
        let request = Request::builder().method(method).uri("http://a.example/").body(()).expect("a request");
        let (response, _) = client.send_request(request, true).expect("sent");
        let response = response.await.expect("a response");
        let length = response.headers().get("content-length").cloned();
        (response.status(), length, text(response).await.len())
    };
    let (status, length, bytes) = ask("GET").await;
    assert_eq!(
        (status, length.as_ref().map(|it| it.to_str().expect("text").parse())),
        (StatusCode::OK, Some(Ok(bytes)))
    );
    assert_eq!(ask("HEAD").await, (StatusCode::OK, length, 0));
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_idle_clients() {
    // One that says nothing, and one whose implementation answers.
    for is_silent in [true, false] {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let (address, handle) = (server.local_addr().expect("an address"), server.handle());
        let serving = tokio::spawn(server.serve(service()));
        let (mut client, connection) = connected(address).await;
        let (response, _) = post(&mut client, Request::builder());
        text(response.await.expect("a response")).await;
        if is_silent {
            connection.abort();
        }
        let _kept = TcpStream::connect(address).await.expect("a connection");
        handle.shutdown();
        timeout(Duration::from_secs(5), serving).await.expect("in time").expect("no panic").expect("served");
    }
}

#[tokio::test]
async fn exchanges_run_at_the_same_time_on_one_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let leaf = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, seen) = (Arc::clone(&running), Arc::clone(&most));
    let echo = move |request: Lease<Echo>| {
        let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
        async move {
            seen.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            tokio::time::sleep(Duration::from_millis(100)).await;
            now.fetch_sub(1, SeqCst);
            Ok::<_, Infallible>(echoed(&request))
        }
    };
    let service = SoapService::builder().differential(leaf).operation(echo).build().expect("a service");
    tokio::spawn(Server::from_listener(listener).serve(service.clone()));
    let transport = HttpTransport::builder().http2_prior_knowledge().build();
    let client = Client::with_service(format!("http://{address}/"), transport).expect("a client");
    client.call_as::<EchoResponse>(&echo_of(0)).await.expect("a response");
    for _ in 0..2 {
        let calls = (0..8).map(|number| {
            let client = client.clone();
            tokio::spawn(async move { (number, client.call_as::<EchoResponse>(&echo_of(number)).await) })
        });
        for call in calls.collect::<Vec<_>>() {
            let (number, response) = call.await.expect("no panic");
            assert_eq!(response.expect("a response"), echoed(&echo_of(number)));
        }
    }
    assert!(most.load(SeqCst) > 2, "{most:?}");
    // The first message of each memory has nothing to be compared with.
    let stats = service.stats().snapshot().differential;
    assert_eq!(stats.messages, 17);
    assert!(stats.compared >= 8, "{stats:?}");
}

fn echo_of(number: i32) -> Echo {
    Echo { text: "the same".to_owned(), numbers: vec![number; 300] }
}

/// A server that refuses each request at first, and never says more than that nothing happened.
#[tokio::test]
async fn a_request_that_the_server_did_not_process_is_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.expect("a handshake");
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let reason = if request.uri().path() == "/later" { Reason::REFUSED_STREAM } else { Reason::CANCEL };
                    if counted.fetch_add(1, SeqCst) == 0 {
                        respond.send_reset(reason);
                        continue;
                    }
                    let head = Response::builder().header("content-type", "text/xml").body(()).expect("a response");
                    let mut body = respond.send_response(head, false).expect("sent");
                    let answer = LOOK.replace(
                        "<Look xmlns='urn:test'/>",
                        "<t:Seen xmlns:t='urn:test'><version>2</version></t:Seen>",
                    );
                    body.send_data(answer.into(), true).expect("sent");
                }
            });
        }
    });
    let transport = HttpTransport::builder().http2_prior_knowledge().build();
    let call = async |path: &str| {
        requests.store(0, SeqCst);
        let client = Client::with_service(format!("http://{address}{path}"), transport.clone()).expect("a client");
        client.call_as::<Seen>(&Look {}).await
    };
    assert_eq!(call("/later").await.expect("a response").version, "2");
    assert_eq!(requests.load(SeqCst), 2);
    let broken = call("/now").await;
    assert!(matches!(broken, Err(CallError::Http(_))), "{broken:?}");
    assert_eq!(requests.load(SeqCst), 1, "it may have been processed");
}
