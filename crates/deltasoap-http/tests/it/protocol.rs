//! HTTP as a server sees it, over raw sockets: versions, framings, methods, limits of the head, and
//! the end of the connection.

use crate::common::*;
use deltasoap::attachments::Part;
use deltasoap::server::{Monitor, Reply, ServerHandle};
use deltasoap::soap::Version;
use deltasoap::{Binary, Fault, Lease, Server, Soap, SoapService};
use deltasoap_test_support::latin_1;
use futures_util::stream;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

/// Returns a connection to a new server.
async fn connect() -> (TcpStream, ServerHandle) {
    let (address, handle) = serve(service().0).await;
    (TcpStream::connect(address).await.expect("a connection"), handle)
}

/// Returns a request with a body of announced length.
fn post(version: &str, headers: &str, body: &str) -> String {
    let len = body.len();
    format!(
        "POST / HTTP/{version}\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {len}\r\n{headers}\r\n{body}"
    )
}

fn echo_message() -> String {
    message(Version::Soap11, &[], &echo("on the wire"))
}

/// Sends text and reads to the end of the connection.
async fn exchange(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    timeout(SOON, stream.read_to_end(&mut answer)).await.expect("an end in time").expect("an orderly end");
    String::from_utf8(answer).expect("UTF-8")
}

/// Reads a head, in lower case.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(SOON, stream.read_u8()).await.expect("a head in time").expect("a head"));
    }
    String::from_utf8(head).expect("text").to_lowercase()
}

/// Reads a response with a length: its head, in lower case, and its body.
async fn response(stream: &mut TcpStream) -> (String, String) {
    let head = head(stream).await;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    stream.read_exact(&mut body).await.expect("a body");
    (head, String::from_utf8(body).expect("UTF-8"))
}

#[tokio::test]
async fn http_1_0_is_answered_and_ends() {
    let (mut stream, _handle) = connect().await;
    let answer = exchange(&mut stream, &post("1.0", "", &echo_message())).await;
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    assert!(answer.to_lowercase().contains("content-length: ") && answer.ends_with(":Envelope>"), "{answer}");
}

#[tokio::test]
async fn http_1_0_without_a_host_is_answered() {
    let (mut stream, _handle) = connect().await;
    let answer = exchange(&mut stream, "GET /x?wsdl HTTP/1.0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 200") && answer.contains("location=\"/x\""), "{answer}");
}

#[tokio::test]
async fn http_1_0_is_kept_alive_where_asked_for() {
    let (mut stream, _handle) = connect().await;
    for _ in 0..2 {
        let request = post("1.0", "Connection: keep-alive\r\n", &echo_message());
        stream.write_all(request.as_bytes()).await.expect("sent");
        let (head, body) = response(&mut stream).await;
        assert!(head.starts_with("http/1.0 200") && head.contains("connection: keep-alive"), "{head}");
        assert!(body.contains("on the wire"));
    }
}

#[tokio::test]
async fn http_1_1_ends_where_asked_for() {
    let (mut stream, _handle) = connect().await;
    let answer = exchange(&mut stream, &post("1.1", "Connection: close\r\n", &echo_message())).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.to_lowercase().contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn clients_that_wait_to_continue_are_told_to() {
    let (mut stream, _handle) = connect().await;
    let (request, body) = (post("1.1", "Expect: 100-continue\r\n", &echo_message()), echo_message());
    let (before, _) = request.split_at(request.len() - body.len());
    stream.write_all(before.as_bytes()).await.expect("sent");
    assert_eq!(head(&mut stream).await, "http/1.1 100 continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.expect("sent");
    assert!(response(&mut stream).await.0.starts_with("http/1.1 200"));
    // Other versions do not wait.
    stream.write_all(request.as_bytes()).await.expect("sent");
    assert_eq!(head(&mut stream).await, "http/1.1 100 continue\r\n\r\n");
    assert!(response(&mut stream).await.0.starts_with("http/1.1 200"));
}

#[derive(Soap)]
#[soap(namespace = "urn:test", message)]
struct Fetch {}

#[derive(Soap)]
#[soap(namespace = "urn:test", message)]
struct FetchResponse {
    data: Binary,
}

/// Returns a service whose response has no known length.
fn streaming() -> SoapService {
    let fetch = async |_: Lease<Fetch>| {
        let pieces = stream::iter(["in ", "three ", "pieces"]).map_ok_bytes();
        let part = Part::stream("part@h", "text/plain", pieces);
        Ok::<_, Fault>(Reply::new(FetchResponse { data: part.binary() }).with_part(part))
    };
    SoapService::builder().operation(fetch).build().expect("a service")
}

/// Text as the pieces of a part.
trait Pieced: Sized + futures_util::Stream<Item = &'static str> {
    fn map_ok_bytes(self) -> impl futures_util::Stream<Item = std::io::Result<bytes::Bytes>> {
        futures_util::StreamExt::map(self, |text| Ok(bytes::Bytes::from_static(text.as_bytes())))
    }
}

impl<S: futures_util::Stream<Item = &'static str>> Pieced for S {}

#[tokio::test]
async fn a_response_of_unknown_length_is_chunked_for_1_1_and_ends_for_1_0() {
    let (address, _handle) = serve(streaming()).await;
    for (version, is_chunked) in [("1.1", true), ("1.0", false)] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = post(version, "Connection: close\r\n", &message(Version::Soap11, &[], &Fetch {}));
        let answer = exchange(&mut stream, &request).await;
        let head = answer.split_once("\r\n\r\n").expect("a head").0.to_lowercase();
        assert!(head.starts_with(&format!("http/{version} 200")), "{answer}");
        assert_eq!(head.contains("transfer-encoding: chunked"), is_chunked, "{answer}");
        assert!(!head.contains("content-length"), "{answer}");
        assert!(answer.contains("pieces"), "{answer}");
        assert_eq!(answer.ends_with("\r\n0\r\n\r\n"), is_chunked, "{answer}");
        assert_eq!(answer.contains("in three pieces"), !is_chunked, "{answer}");
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    for path in ["/", "/?wsdl", "/?xsd=none", "/?sample=Echo&ns=urn:test"] {
        let (mut stream, _handle) = connect().await;
        let ask = |method: &str| format!("{method} {path} HTTP/1.1\r\nHost: h\r\n\r\n");
        stream.write_all(ask("HEAD").as_bytes()).await.expect("sent");
        let of_head = head(&mut stream).await;
        stream.write_all(ask("GET").as_bytes()).await.expect("sent");
        let (of_get, body) = response(&mut stream).await;
        let fields = |head: &str| -> Vec<String> {
            head.lines().filter(|line| !line.starts_with("date: ")).map(str::to_owned).collect()
        };
        assert_eq!(fields(&of_head), fields(&of_get), "{path}");
        assert!(!body.is_empty());
    }
}

#[tokio::test]
async fn heads_beyond_a_limit_are_refused() {
    let long = format!("POST / HTTP/1.1\r\nHost: h\r\nX-Long: {}", "x".repeat(140_000));
    let many = format!("POST / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X-Many: x\r\n".repeat(500));
    for request in [long, many] {
        let (mut stream, _handle) = connect().await;
        stream.write_all(request.as_bytes()).await.expect("sent");
        let head = head(&mut stream).await;
        assert!(head.starts_with("http/1.1 431") && head.contains("connection: close"), "{head}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    for garbage in ["\0\0\0\0\r\n\r\n", "POST / HTTP/1.1\r\nHost : h\r\n\r\n", "POST / HTTP/3.7\r\n\r\n"] {
        let (mut stream, _handle) = connect().await;
        stream.write_all(garbage.as_bytes()).await.expect("sent");
        let head = head(&mut stream).await;
        assert!(head.starts_with("http/1.1 400") || head.starts_with("http/1.1 505"), "{garbage:?}: {head}");
    }
}

#[tokio::test]
async fn two_lengths_are_one_too_many() {
    let body = echo_message();
    let smuggled = [
        format!("Content-Length: {}\r\nContent-Length: 5\r\n", body.len()),
        format!("Content-Length: {}, 5\r\n", body.len()),
    ];
    for headers in smuggled {
        let (mut stream, _handle) = connect().await;
        let request = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\n{headers}\r\n{body}");
        stream.write_all(request.as_bytes()).await.expect("sent");
        assert!(head(&mut stream).await.starts_with("http/1.1 400"), "{headers}");
    }
}

#[tokio::test]
async fn one_way_messages_are_accepted_in_both_versions_of_soap() {
    let (service, mut events) = service();
    let (address, _handle) = serve(service).await;
    for version in [Version::Soap11, Version::Soap12] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let body = message(version, &[], &crate::common::Notify { event: version.namespace().to_owned() });
        stream.write_all(post("1.1", "", &body).as_bytes()).await.expect("sent");
        let (head, body) = response(&mut stream).await;
        assert!(head.starts_with("http/1.1 202") && body.is_empty(), "{head}{body}");
        assert_eq!(events.recv().await.as_deref(), Some(version.namespace()));
    }
}

/// Returns a server whose operation waits for a signal, and the channels that report its start and
/// release it.
async fn waiting(
    workers: usize,
) -> (SocketAddr, ServerHandle, tokio::task::JoinHandle<std::io::Result<()>>, [Arc<Notify>; 2]) {
    let [begun, go_on] = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let signals = [Arc::clone(&begun), Arc::clone(&go_on)];
    let handler = move |request: Lease<Echo>| {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        async move {
            begun.notify_one();
            go_on.notified().await;
            Ok::<_, Infallible>(echoed(&request))
        }
    };
    let service = SoapService::builder().operation(handler).build().expect("a service");
    let server = Server::bind("127.0.0.1:0").await.expect("a port").shutdown_timeout(SOON).worker_threads(workers);
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    (address, handle, tokio::spawn(server.serve(service)), signals)
}

#[tokio::test]
async fn what_is_under_way_is_finished_before_the_end() {
    for workers in [0, 2] {
        is_finished_before_the_end(workers).await;
    }
}

async fn is_finished_before_the_end(workers: usize) {
    let (address, handle, running, [begun, go_on]) = waiting(workers).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(post("1.1", "", &echo_message()).as_bytes()).await.expect("sent");
    begun.notified().await;
    handle.shutdown();
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_finished(), "a request is under way");
    // A busy thread may see the signal a moment later.
    tokio::time::sleep(Duration::from_millis(50)).await;
    go_on.notify_one();
    let (head, body) = response(&mut stream).await;
    assert!(head.starts_with("http/1.1 200") && head.contains("connection: close"), "{workers}: {head}");
    assert!(body.contains("on the wire"));
    timeout(SOON, running).await.expect("an end").expect("no panic").expect("no error");
}

/// Returns a request with this head, and an echo as its body.
fn post_with(head: &str) -> String {
    let body = echo_message();
    format!("POST / HTTP/1.1\r\nContent-Type: text/xml\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn one_valid_host_is_named() {
    for (hosts, status) in [
        ("", 400),
        ("Host: a\r\nHost: a\r\n", 400),
        ("Host: a b\r\n", 400),
        ("Host: user@a\r\n", 400),
        ("Host: a/b\r\n", 400),
        ("Host: a:80x\r\n", 400),
        ("Host: [::1]x\r\n", 400),
        ("Host: [zz]\r\n", 400),
        ("Host: a:\r\n", 200),
        ("Host: \u{e4}\r\n", 400),
        ("Host:\r\n", 200),
        ("Host: a.example:8080\r\n", 200),
        ("Host: [::1]:80\r\n", 200),
    ] {
        let (mut stream, _handle) = connect().await;
        let request = post_with(&format!("{hosts}Connection: close\r\n"));
        let answer = exchange(&mut stream, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{hosts:?}: {answer}");
        assert_eq!(status == 200, answer.contains("on the wire"), "{answer}");
    }
    // Requests in older versions may have no `Host`, but not more than one.
    for (hosts, status) in [("", 200), ("Host: a\r\n", 200), ("Host: a\r\nHost: b\r\n", 400), ("Host: a b\r\n", 400)] {
        let (mut stream, _handle) = connect().await;
        let request = post_with(hosts).replacen("HTTP/1.1", "HTTP/1.0", 1);
        let answer = exchange(&mut stream, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.0 {status}")), "{hosts:?}: {answer}");
    }
    // The target of a request can name the host, but the field is required nevertheless.
    let (mut stream, _handle) = connect().await;
    let answer = exchange(&mut stream, "GET http://a/?wsdl HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("has no Host header"), "{answer}");
}

#[tokio::test]
async fn a_head_is_as_large_as_the_limit_says_however_it_arrives() {
    for (len, status) in [(60 << 10, 200), (66 << 10, 431), (90 << 10, 431)] {
        let (mut stream, _handle) = connect().await;
        let request = post_with(&format!("Host: a\r\nConnection: close\r\nX: {}\r\n", "x".repeat(len)));
        let answer = exchange(&mut stream, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{len}: {answer}");
    }
}

#[tokio::test]
async fn the_only_transfer_coding_is_chunked() {
    let body = echo_message();
    for (codings, status) in [
        ("Transfer-Encoding: gzip, chunked\r\n", "501"),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "501"),
        ("Transfer-Encoding: chunked, chunked\r\n", "501"),
        ("Transfer-Encoding: identity, chunked\r\n", "501"),
        ("Transfer-Encoding: chunked, gzip\r\n", "400"),
        ("Transfer-Encoding: gzip\r\n", "400"),
        ("Transfer-Encoding: x-chunked\r\n", "400"),
        ("Transfer-Encoding: Chunked\r\n", "200"),
    ] {
        let (mut stream, _handle) = connect().await;
        let head =
            format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nConnection: close\r\n{codings}\r\n");
        let answer = exchange(&mut stream, &format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{codings:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "nothing else is taken for a request: {answer}");
        assert!(answer.to_lowercase().contains("connection: close"), "{codings:?}: {answer}");
    }
}

#[tokio::test]
async fn an_expectation_that_is_not_known_fails() {
    for (expected, status) in [
        ("Expect: a-pony\r\n", 417),
        ("Expect: 100-continue, a-pony\r\n", 417),
        ("Expect: 100-continue=x\r\n", 417),
        ("Expect: 100-continue, 100-continue\r\n", 417),
        ("Expect: 100-continue,\r\n", 417),
        ("Expect:\r\n", 200),
        ("Expect: 100-Continue\r\n", 200),
    ] {
        let (mut stream, _handle) = connect().await;
        let answer =
            exchange(&mut stream, &post("1.1", &format!("Connection: close\r\n{expected}"), &echo_message())).await;
        let answer = answer.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{expected:?}: {answer}");
    }
    let (mut stream, _handle) = connect().await;
    let answer = exchange(&mut stream, &post("1.0", "Expect: a-pony\r\n", &echo_message())).await;
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
}

/// A request whose answer is known from its head leaves the connection usable if its body is short.
/// Otherwise the answer says that the connection ends (RFC 9112, 9.6).
#[tokio::test]
async fn an_answer_before_the_body_says_whether_the_connection_ends() {
    let soap = serve(service().0).await;
    let elsewhere = Server::bind("127.0.0.1:0").await.expect("a port");
    let (address, handle) = (elsewhere.local_addr().expect("an address"), elsewhere.handle());
    tokio::spawn(elsewhere.serve(Monitor::new()));
    let short = echo_message();
    for (server, line, headers, status) in [
        (soap.0, "POST /", "Content-Type: text/plain\r\n", 415),
        (soap.0, "POST /", "Content-Type: text/xml\r\nContent-Encoding: br\r\n", 415),
        (soap.0, "PUT /", "Content-Type: text/xml\r\n", 405),
        (soap.0, "GET /?wsdl=none", "", 404),
        (address, "POST /none", "Content-Type: text/xml\r\n", 404),
    ] {
        let head = |length: usize, more: &str| {
            format!("{line} HTTP/1.1\r\nHost: h\r\n{headers}Content-Length: {length}\r\n{more}\r\n")
        };
        let mut stream = TcpStream::connect(server).await.expect("a connection");
        for _ in 0..3 {
            stream.write_all(head(short.len(), "").as_bytes()).await.expect("sent");
            for half in [&short[..100], &short[100..]] {
                tokio::time::sleep(Duration::from_millis(20)).await;
                stream.write_all(half.as_bytes()).await.expect("sent");
            }
            let (head, _) = response(&mut stream).await;
            assert!(head.starts_with(&format!("http/1.1 {status}")) && !head.contains("connection: close"), "{head}");
        }
        let chunked = head(0, "").replace("Content-Length: 0", "Transfer-Encoding: chunked");
        stream.write_all(chunked.as_bytes()).await.expect("sent");
        stream.write_all(b"3\r\nabc\r\n0\r\n\r\n").await.expect("sent");
        let (again, _) = response(&mut stream).await;
        assert!(again.starts_with(&format!("http/1.1 {status}")) && !again.contains("connection: close"), "{again}");
        for end in [head(100_000, ""), head(short.len(), "Expect: 100-continue\r\n"), head(short.len(), "")] {
            let mut stream = TcpStream::connect(server).await.expect("a connection");
            let answer = exchange(&mut stream, &end).await.to_lowercase();
            assert!(answer.starts_with(&format!("http/1.1 {status}")), "{end}: {answer}");
            assert!(answer.contains("connection: close"), "{end}: {answer}");
        }
    }
    drop((soap, handle));
}

/// RFC 9112, 2.2: a recipient may accept a single line feed as the end of a line of the head, but
/// not of a chunk's head.
#[tokio::test]
async fn line_feeds_alone_end_the_lines_of_a_head_but_not_of_chunks() {
    let (mut stream, _handle) = connect().await;
    let request = post("1.1", "Connection: close\r\n", &echo_message());
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    let answer = exchange(&mut stream, &format!("{}\n\n{body}", head.replace("\r\n", "\n"))).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("on the wire"), "{answer}");
    for chunks in [format!("{:x}\n{body}\r\n0\r\n\r\n", body.len()), format!("{:x};a\n{body}\r\n0\r\n\r\n", body.len())]
    {
        let (mut stream, _handle) = connect().await;
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n";
        let answer = exchange(&mut stream, &format!("{head}{chunks}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
}

/// Encodes text as UTF-16, little-endian, with a byte order mark.
fn utf_16(text: &str) -> Vec<u8> {
    let text = text.replace("UTF-8", "UTF-16");
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// RFC 7303 and the Basic Profile: the encoding in the media type is right, or absent.
#[tokio::test]
async fn a_charset_that_contradicts_the_message_is_refused() {
    let (eight, sixteen) = (echo_message().into_bytes(), utf_16(&echo_message()));
    let umlaut = message(Version::Soap11, &[], &echo("\u{e4}")).into_bytes();
    let latin = latin_1(&message(Version::Soap11, &[], &echo("\u{e4}")).replace("UTF-8", "ISO-8859-1"));
    for (charset, body, status) in [
        ("", &eight, "200"),
        ("", &sixteen, "200"),
        ("; charset=utf-8", &eight, "200"),
        ("; charset=utf-16", &sixteen, "200"),
        ("; charset=us-ascii", &eight, "200"),
        ("; charset=utf-16", &eight, "400"),
        ("; charset=utf-8", &sixteen, "400"),
        ("; charset=us-ascii", &umlaut, "400"),
        ("; charset=us-ascii", &sixteen, "400"),
        ("; charset=utf-8; charset=utf-16", &eight, "415"),
        ("; charset=koi8-r", &eight, "415"),
        // Pure ASCII text contradicts neither the charset nor the declaration, which names UTF-8.
        ("; charset=iso-8859-1", &eight, "200"),
        ("; charset=iso-8859-1", &umlaut, "400"),
        ("; charset=iso-8859-1", &sixteen, "400"),
        ("; charset=iso-8859-1", &latin, "200"),
        ("", &latin, "200"),
        ("; charset=us-ascii", &latin, "400"),
        ("; charset=utf-8", &latin, "400"),
        ("; charset=windows-1252", &latin, "400"),
    ] {
        let (mut stream, _handle) = connect().await;
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: text/xml{charset}\r\n");
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await.expect("sent");
        stream.write_all(body).await.expect("sent");
        let answer = exchange(&mut stream, "").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{charset:?}: {answer}");
        let is_explained =
            answer.contains("is not supported for non-ASCII") || answer.contains("declare the actual charset, or none");
        assert_eq!(is_explained, status == "400", "{charset:?}: {answer}");
    }
}
