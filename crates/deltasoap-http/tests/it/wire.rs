//! The server on the wire, byte by byte: framing, keep-alive, shutdown, and use within a router.

use crate::common::*;
use deltasoap::soap::Version;
use deltasoap::transport::{Frames, Protocol, memory};
use deltasoap::{Client, Lease, Server, SoapService};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// An HTTP response as received.
#[derive(Debug)]
struct Raw {
    /// Status line and headers, in lower case.
    head: String,
    body: Vec<u8>,
}

impl Raw {
    fn status(&self) -> &str {
        &self.head[9..12]
    }

    fn content_length(&self) -> usize {
        let line = self.head.lines().find_map(|line| line.strip_prefix("content-length: "));
        line.expect("a content-length").parse().expect("a number")
    }
}

/// Reads one response of exactly the announced length.
async fn read_response(stream: &mut TcpStream) -> Raw {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a head"));
    }
    let mut raw = Raw { head: String::from_utf8(head).expect("text").to_lowercase(), body: Vec::new() };
    raw.body.resize(raw.content_length(), 0);
    stream.read_exact(&mut raw.body).await.expect("a body");
    raw
}

fn with_length(body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn chunked(body: &str, size: usize) -> String {
    let mut text =
        String::from("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n");
    for chunk in body.as_bytes().chunks(size) {
        let chunk = std::str::from_utf8(chunk).expect("ASCII");
        text.push_str(&format!("{:x};ext=1\r\n{chunk}\r\n", chunk.len()));
    }
    text + "0\r\n\r\n"
}

async fn connect() -> (TcpStream, SocketAddr) {
    let (address, _handle) = serve(service().0).await;
    (TcpStream::connect(address).await.expect("a connection"), address)
}

#[tokio::test]
async fn one_connection_serves_many_requests_in_all_framings() {
    let (mut stream, _) = connect().await;
    let body = message(Version::Soap11, &[], &echo("kept alive"));
    for request in [with_length(&body), chunked(&body, 1), chunked(&body, 7), chunked(&body, 1000), with_length(&body)]
    {
        stream.write_all(request.as_bytes()).await.expect("sent");
        let response = read_response(&mut stream).await;
        assert_eq!(response.status(), "200");
        let text = String::from_utf8(response.body).expect("UTF-8");
        assert!(text.starts_with("<?xml") && text.ends_with(":Envelope>"), "{text}");
        assert!(!response.head.contains("transfer-encoding"));
    }
}

#[tokio::test]
async fn bytes_may_trickle_in() {
    let (mut stream, _) = connect().await;
    stream.set_nodelay(true).expect("a socket");
    for byte in with_length(&message(Version::Soap12, &[], &echo("slow"))).as_bytes() {
        stream.write_all(&[*byte]).await.expect("sent");
        tokio::task::yield_now().await;
    }
    assert_eq!(read_response(&mut stream).await.status(), "200");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let (mut stream, _) = connect().await;
    let requests: String = ["one", "two"].map(|text| with_length(&message(Version::Soap11, &[], &echo(text)))).concat();
    stream.write_all(requests.as_bytes()).await.expect("sent");
    for text in ["one", "two"] {
        let body = String::from_utf8(read_response(&mut stream).await.body).expect("UTF-8");
        assert!(body.contains(&format!(">{text}<")), "{body}");
    }
}

#[tokio::test]
async fn a_fault_leaves_the_connection_usable() {
    let (mut stream, _) = connect().await;
    let good = message(Version::Soap11, &[], &echo(""));
    let early = format!("<wrong>{}</wrong>", "x".repeat(10_000));
    let panicking = message(Version::Soap11, &[], &Fail { how: "panic".to_owned() });
    for bad in [with_length("<a></b>"), chunked(&early, 100), with_length(&early), with_length(&panicking)] {
        stream.write_all(bad.as_bytes()).await.expect("sent");
        assert_eq!(read_response(&mut stream).await.status(), "500");
        stream.write_all(with_length(&good).as_bytes()).await.expect("sent");
        assert_eq!(read_response(&mut stream).await.status(), "200");
    }
}

#[tokio::test]
async fn too_long_a_body_is_refused_before_it_is_sent() {
    let (mut stream, _) = connect().await;
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("sent");
    let response = read_response(&mut stream).await;
    assert_eq!(response.status(), "413");
    assert!(String::from_utf8(response.body).expect("UTF-8").contains("200000"));
    assert_eq!(stream.read(&mut [0]).await.expect("an end"), 0, "the connection is closed");
}

#[tokio::test]
async fn a_client_that_goes_away_is_survived() {
    let (mut stream, address) = connect().await;
    let request = with_length(&message(Version::Soap11, &[], &echo("")));
    stream.write_all(&request.as_bytes()[..request.len() - 20]).await.expect("sent");
    drop(stream);
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("sent");
    assert_eq!(read_response(&mut stream).await.status(), "200");
}

/// Returns a service whose handler waits for this time, and a channel that reports how each request
/// ended: true if it was answered, false if it was dropped.
fn waiting_service(time: Duration) -> (SoapService, mpsc::UnboundedReceiver<bool>) {
    struct Ending {
        sender: mpsc::UnboundedSender<bool>,
        is_answered: bool,
    }
    impl Ending {
        fn answered(mut self) {
            self.is_answered = true;
        }
    }
    impl Drop for Ending {
        fn drop(&mut self) {
            let _ = self.sender.send(self.is_answered);
        }
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = move |request: Lease<Echo>| {
        let ending = Ending { sender: sender.clone(), is_answered: false };
        async move {
            tokio::time::sleep(time).await;
            ending.answered();
            Ok::<_, Infallible>(echoed(&request))
        }
    };
    (SoapService::builder().operation(handler).build().expect("a service"), receiver)
}

/// Serves it, with this patience for clients that have closed their half.
async fn waiting(time: Duration, patience: Duration) -> (SocketAddr, mpsc::UnboundedReceiver<bool>) {
    let (service, receiver) = waiting_service(time);
    let server = Server::bind("127.0.0.1:0").await.expect("a port").half_closed_timeout(patience);
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(service));
    (address, receiver)
}

const LONG: Duration = Duration::from_secs(60);

/// However soon the end of the stream is seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_half_gets_its_answer() {
    let text = message(Version::Soap11, &[], &echo(&"long ".repeat(100_000)));
    for (time, rounds) in [(Duration::ZERO, 50), (Duration::from_millis(1), 50), (Duration::from_secs(1), 1)] {
        let (address, mut ends) = waiting(time, LONG).await;
        for request in [with_length(&text), chunked(&text, 1000)] {
            for _ in 0..rounds {
                let mut stream = TcpStream::connect(address).await.expect("a connection");
                stream.write_all(request.as_bytes()).await.expect("sent");
                stream.shutdown().await.expect("half closed");
                let response = read_response(&mut stream).await;
                assert_eq!((response.status(), response.body.len() > 500_000), ("200", true));
                let end = tokio::time::timeout(LONG / 2, stream.read(&mut [0])).await;
                assert_eq!(end.expect("in time").expect("an end"), 0, "the connection is closed");
                assert_eq!(ends.recv().await, Some(true));
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_closes_its_half_gets_answers_to_all_that_it_asked() {
    let (address, _ends) = waiting(Duration::from_millis(300), LONG).await;
    let request = with_length(&message(Version::Soap11, &[], &echo("")));
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.repeat(3).as_bytes()).await.expect("sent");
    stream.shutdown().await.expect("half closed");
    for _ in 0..3 {
        assert_eq!(read_response(&mut stream).await.status(), "200");
    }
    assert_eq!(stream.read(&mut [0]).await.expect("an end"), 0);
}

/// The handler ends with the connection: soon if it is reset, and after a while if it is closed.
#[tokio::test]
async fn the_handler_of_a_client_that_is_gone_is_dropped() {
    let request = with_length(&message(Version::Soap11, &[], &echo("")));
    for (patience, is_reset) in [(LONG, true), (Duration::from_millis(200), false)] {
        let (address, mut ends) = waiting(LONG, patience).await;
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sent");
        tokio::time::sleep(Duration::from_millis(100)).await;
        if is_reset {
            stream.set_zero_linger().expect("an option");
        }
        drop(stream);
        let end = tokio::time::timeout(LONG / 4, ends.recv()).await;
        assert_eq!(end.expect("in time"), Some(false), "{patience:?}");
    }
}

#[tokio::test]
async fn the_handler_of_a_client_that_is_gone_is_dropped_over_frames_too() {
    let (service, mut ends) = waiting_service(LONG);
    let (listener, connector) = memory();
    let server = Server::over(listener, Frames::default()).half_closed_timeout(Duration::from_millis(200));
    tokio::spawn(server.serve(service));
    let client =
        Client::builder("frames://localhost/").build_with(Frames::default().pool(connector)).expect("a client");
    let request = echo("");
    let call = tokio::time::timeout(Duration::from_millis(100), client.call_as::<EchoResponse>(&request));
    assert!(call.await.is_err(), "it takes long");
    drop(client);
    assert_eq!(tokio::time::timeout(LONG / 4, ends.recv()).await.expect("in time"), Some(false));
}

#[tokio::test]
async fn a_client_that_has_closed_its_half_is_left_when_its_time_is_over() {
    let (address, mut ends) = waiting(LONG, Duration::from_millis(200)).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = with_length(&message(Version::Soap11, &[], &echo("")));
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream.shutdown().await.expect("half closed");
    let end = tokio::time::timeout(LONG / 4, stream.read(&mut [0])).await;
    assert_eq!(end.expect("in time").expect("an end"), 0, "nothing is answered");
    assert_eq!(ends.recv().await, Some(false));
}

#[tokio::test]
async fn a_head_request_gets_a_head() {
    let (mut stream, _) = connect().await;
    stream.write_all(b"HEAD /?wsdl HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await.expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("a response");
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("\r\n\r\n"), "{text}");
}

#[tokio::test]
async fn a_one_way_message_is_accepted_with_an_empty_body() {
    let (service, mut events) = service();
    let (address, _handle) = serve(service).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let body = message(Version::Soap11, &[], &Notify { event: "raw".to_owned() });
    stream.write_all(with_length(&body).as_bytes()).await.expect("sent");
    let response = read_response(&mut stream).await;
    assert_eq!((response.status(), response.content_length()), ("202", 0));
    assert_eq!(events.recv().await.as_deref(), Some("raw"));
}

#[tokio::test]
async fn a_server_stops_when_told() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port").shutdown_timeout(Duration::from_secs(5));
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    let running = tokio::spawn(server.serve(service().0));
    let mut idle = TcpStream::connect(address).await.expect("a connection");
    idle.write_all(with_length(&message(Version::Soap11, &[], &echo(""))).as_bytes()).await.expect("sent");
    assert_eq!(read_response(&mut idle).await.status(), "200");
    handle.shutdown();
    running.await.expect("no panic").expect("no error");
    assert_eq!(idle.read(&mut [0]).await.expect("an end"), 0, "idle connections are closed");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn heads_that_never_end_are_cut_off() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port").header_read_timeout(Duration::from_millis(50));
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(service().0));
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(b"POST / HTTP/1.1\r\nHo").await.expect("sent");
    let mut rest = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    end.expect("an end in time").expect("an orderly end");
}

#[tokio::test]
async fn bodies_that_stop_coming_are_refused() {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    let service = SoapService::builder().operation(handler).body_timeout(Duration::from_millis(50)).build();
    let (address, _handle) = serve(service.expect("a service")).await;
    for version in [Version::Soap11, Version::Soap12] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = with_length(&message(version, &[], &echo("slow")));
        stream.write_all(&request.as_bytes()[..request.len() - 20]).await.expect("sent");
        let response = tokio::time::timeout(Duration::from_secs(5), read_response(&mut stream)).await.expect("in time");
        assert_eq!(response.status(), "408");
        assert!(response.head.contains("connection: close") && response.head.contains(version.media_type()));
        assert!(String::from_utf8(response.body).expect("UTF-8").contains("did not arrive in time"));
        assert_eq!(stream.read(&mut [0]).await.expect("an end"), 0, "the connection is closed");
    }
}

#[tokio::test]
async fn connections_beyond_the_bound_wait() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port").max_connections(1);
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(service().0));
    let request = with_length(&message(Version::Soap11, &[], &echo("")));
    let mut first = TcpStream::connect(address).await.expect("a connection");
    first.write_all(request.as_bytes()).await.expect("sent");
    assert_eq!(read_response(&mut first).await.status(), "200");
    let mut second = TcpStream::connect(address).await.expect("a connection");
    second.write_all(request.as_bytes()).await.expect("sent");
    let early = tokio::time::timeout(Duration::from_millis(100), second.peek(&mut [0])).await;
    assert!(early.is_err(), "there is no place yet");
    drop(first);
    let response = tokio::time::timeout(Duration::from_secs(5), read_response(&mut second)).await;
    assert_eq!(response.expect("in time").status(), "200");
}

#[tokio::test]
async fn a_service_lives_in_a_router() {
    let router = axum::Router::new()
        .route("/health", axum::routing::get(async || "fine"))
        .nest_service("/nested", service().0)
        .route_service("/soap", service().0);
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(router));
    for path in ["soap", "nested", "nested/deeper"] {
        let client = deltasoap::Client::new(format!("http://{address}/{path}")).expect("a client");
        let response: EchoResponse = client.call_as(&echo(path)).await.expect("a response");
        assert_eq!(response.text, path);
    }
}
