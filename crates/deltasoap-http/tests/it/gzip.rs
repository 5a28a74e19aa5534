//! Bodies in gzip, both ways: in all framings, with differential decoding and writing, within
//! limits, and invalid ones.

use crate::common::*;
use bytes::Bytes;
use deltasoap::attachments::{Attachment, Part};
use deltasoap::client::CallError;
use deltasoap::engine::Limits;
use deltasoap::server::{Reply, SoapServiceBuilder};
use deltasoap::soap::Version;
use deltasoap::transport::{CodingError, Compression, GzipLimits};
use deltasoap::{Client, Context, Fault, Lease, SoapService};
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use std::convert::Infallible;
use std::io::{Read, Write};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

const URL: &str = "http://localhost/";

fn builder() -> SoapServiceBuilder {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().operation(handler).operation(describe)
}

/// Counts the bytes of the parts, and answers with the same number of parts.
async fn describe(mut context: Context, _: Lease<Describe>) -> Result<Reply<DescribeResponse>, Fault> {
    let mut answer = Reply::new(DescribeResponse { action: None, peer: None, user_agent: None });
    while let Some(part) = context.attachments().next().await? {
        let bytes = Attachment::bytes(part).await?;
        answer = answer.with_part(Part::new("back@example.org", "a/b", bytes));
    }
    Ok(answer)
}

fn build(builder: SoapServiceBuilder) -> SoapService {
    builder.build().expect("a service")
}

fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes.as_ref()).and_then(|()| encoder.finish()).expect("no error")
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).expect("gzip");
    text
}

fn long(last: i32) -> Echo {
    Echo { text: "a text".to_owned(), numbers: (0..20_000).chain([last]).collect() }
}

/// Posts bytes as gzip, in pieces of `size` bytes.
async fn post_coded(service: &SoapService, coding: &str, body: &[u8], size: usize) -> Answered {
    let request = Request::post("/").header("content-type", "text/xml").header("content-encoding", coding);
    send(service, request.body(Pieces::of(body, size)).expect("a request")).await
}

/// Returns the response to a message, for a client that accepts these codings.
async fn ask(service: &SoapService, accepted: &str, echo: &Echo) -> Response<deltasoap::transport::Body> {
    let request = Request::post("/").header("content-type", "text/xml").header("accept-encoding", accepted);
    let body = Full::from(message(Version::Soap11, &[], echo));
    service.clone().oneshot(request.body(body).expect("a request")).await.expect("infallible")
}

async fn bytes_of(response: Response<deltasoap::transport::Body>) -> Bytes {
    response.into_body().collect().await.expect("a body").to_bytes()
}

#[tokio::test]
async fn requests_are_read_in_gzip() {
    let service = build(builder());
    let text = message(Version::Soap11, &[], &echo("coded"));
    for (coding, body) in [("gzip", gzip(&text)), ("X-Gzip", gzip(&text)), ("identity", text.clone().into_bytes())] {
        for size in [1, 7, 1000] {
            let answered = post_coded(&service, coding, &body, size).await;
            assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
            assert_eq!(answered.body, message(Version::Soap11, &[], &echoed(&echo("coded"))));
            assert!(!answered.headers.contains_key("content-encoding") && !answered.headers.contains_key("vary"));
        }
    }
}

#[tokio::test]
async fn broken_streams_are_the_senders_fault() {
    let service = build(builder());
    let coded = gzip(message(Version::Soap11, &[], &echo("coded")));
    let mut wrong_sum = coded.clone();
    let sum = wrong_sum.len() - 8;
    wrong_sum[sum] ^= 1;
    for (body, what) in [
        (coded[..coded.len() - 1].to_vec(), "ended early"),
        (coded[..30].to_vec(), "ended early"),
        ([&coded[..], b"more"].concat(), "bytes after the end"),
        (wrong_sum, "corrupt"),
        (b"<plain/>".to_vec(), "corrupt"),
    ] {
        for size in [1, 1000] {
            let answered = post_coded(&service, "gzip", &body, size).await;
            assert_eq!(answered.status, StatusCode::BAD_REQUEST, "{answered:?}");
            assert!(answered.body.contains(what), "{}", answered.body);
        }
    }
    assert_eq!(post_coded(&service, "gzip", &coded, 100).await.status, StatusCode::OK);
}

/// RFC 1952 (2.2): a stream may have several members.
#[tokio::test]
async fn streams_of_several_members_are_read() {
    let (service, text) = (build(builder()), message(Version::Soap11, &[], &echo("coded")));
    let (head, tail) = text.split_at(100);
    let members = [gzip(head), gzip(""), gzip(tail), gzip("")].concat();
    for size in [1, 7, 1000] {
        let answered = post_coded(&service, "gzip", &members, size).await;
        assert_eq!(answered.body, message(Version::Soap11, &[], &echoed(&echo("coded"))), "{size}");
    }
    let text = message(Version::Soap11, &[], &echoed(&echo("x")));
    let members = text.as_bytes().chunks(50).flat_map(gzip).collect();
    let client = Client::with_service(URL, answering("gzip", StatusCode::OK, members)).expect("a client");
    assert_eq!(client.call_as::<EchoResponse>(&echo("x")).await.expect("an answer").text, "x");
}

/// An empty member takes 20 bytes, but more time to set up than to read.
#[tokio::test]
async fn a_bomb_of_members_is_bounded() {
    let service = build(builder());
    for size in [7, 64 << 10] {
        let answered = post_coded(&service, "gzip", &gzip("").repeat(100_000), size).await;
        assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{answered:?}");
        assert!(answered.body.contains("the limit `members` of 1024 is exceeded"), "{}", answered.body);
    }
}

#[tokio::test]
async fn limits_hold_for_what_comes_out_and_are_named() {
    let bomb = gzip(
        [&b"<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>"[..], &vec![b' '; 100 << 20]].concat(),
    );
    let limits = Limits { message: 1 << 19, ..Limits::server() };
    let lenient = GzipLimits { ratio: 2000, free: 0 };
    for (service, name) in [
        (build(builder()), "`ratio` of 200"),
        (build(builder().gzip_limits(GzipLimits { ratio: 10, free: 1000 })), "`ratio` of 10"),
        (build(builder().limits(limits).gzip_limits(lenient)), "message"),
    ] {
        let answered = post_coded(&service, "gzip", &bomb, 1000).await;
        assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{answered:?}");
        assert!(answered.body.contains(name), "{}", answered.body);
        assert!(service.stats().snapshot().bytes_in <= 2 << 20, "refused early");
    }
}

#[tokio::test]
async fn differential_decoding_compares_what_comes_out() {
    let service = build(builder());
    let (address, _handle) = serve(service.clone()).await;
    let client = Client::builder(format!("http://{address}/")).compression(Compression::ALWAYS).build();
    let client = client.expect("a client");
    for last in 0..4 {
        let response: EchoResponse = client.call_as(&long(last)).await.expect("a response");
        assert_eq!(response, echoed(&long(last)));
    }
    let stats = service.stats().snapshot();
    assert_eq!(stats.differential.messages, 4);
    assert!(stats.differential.regular_bytes < stats.bytes_in / 2, "{:?}", stats.differential);
    let stats = client.encode_stats();
    assert_eq!((stats.first, stats.perfect + stats.partial), (1, 3), "{stats:?}");
}

#[tokio::test]
async fn both_ways_over_loopback() {
    let service = build(builder().compression(Compression::from_bytes(500)));
    let (address, _handle) = serve(service.clone()).await;
    for version in [Version::Soap11, Version::Soap12] {
        let client = Client::builder(format!("http://{address}/")).version(version).compression(Compression::ALWAYS);
        let client = client.build().expect("a client");
        for (request, is_coded) in [(echo("short"), false), (long(1), true), (long(2), true), (long(1), true)] {
            let response = client.call_as_with::<EchoResponse>(&request, Default::default()).await.expect("a response");
            assert_eq!(response.body, echoed(&request));
            assert_eq!(response.http_headers.contains_key("content-encoding"), is_coded);
        }
        let leased: Lease<EchoResponse> = client.call_leased_as(&long(3)).await.expect("a response");
        assert_eq!(*leased, echoed(&long(3)));
    }
    assert!(service.stats().snapshot().encode.partial > 0, "written against templates");
}

#[tokio::test]
async fn responses_are_compressed_for_those_who_accept_it() {
    let service = build(builder().compression(Compression::from_bytes(10_000).level(1)));
    let expected = message(Version::Soap11, &[], &echoed(&long(1)));
    for accepted in ["gzip", "br, x-gzip;q=0.5", "*"] {
        let response = ask(&service, accepted, &long(1)).await;
        assert_eq!(
            (&response.headers()["content-encoding"], &response.headers()["vary"]),
            (&"gzip".parse().expect("a value"), &"accept-encoding".parse().expect("a value"))
        );
        let coded = bytes_of(response).await;
        assert!(coded.len() < expected.len() / 2);
        assert_eq!(gunzip(&coded), expected);
    }
    for accepted in ["", "gzip;q=0", "identity, gzip;q=0.5", "br"] {
        let response = ask(&service, accepted, &long(1)).await;
        assert!(!response.headers().contains_key("content-encoding"), "{accepted}");
        assert_eq!(response.headers()["vary"], "accept-encoding");
        assert_eq!(bytes_of(response).await, expected);
    }
    let short = ask(&service, "gzip", &echo("short")).await;
    assert!(!short.headers().contains_key("content-encoding"));
    let service = build(builder().compression(Compression::ALWAYS));
    let short = ask(&service, "gzip", &echo("short")).await;
    assert!(short.body().size_hint().exact().is_some(), "the length of a short message is announced");
    assert_eq!(gunzip(&bytes_of(short).await), message(Version::Soap11, &[], &echoed(&echo("short"))));
}

#[tokio::test]
async fn packages_are_read_in_gzip_and_sent_as_they_are() {
    let service = build(builder().compression(Compression::ALWAYS));
    let part = "--b\r\n\r\n".to_owned() + &message(Version::Soap11, &[], &Describe {});
    let package = format!("{part}\r\n--b\r\nContent-ID: <a@b>\r\n\r\n{}\r\n--b--\r\n", "x".repeat(1000));
    let post = async |body: Vec<u8>, accepted: &str| {
        let request = Request::post("/").header("content-type", "multipart/related; boundary=b");
        let request = request.header("content-encoding", "gzip").header("accept-encoding", accepted);
        send(&service, request.body(Pieces::of(&body, 11)).expect("a request")).await
    };
    let answered = post(gzip(&package), "gzip").await;
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    assert!(answered.body.contains(&"x".repeat(1000)) && !answered.headers.contains_key("content-encoding"));
    let mut corrupt = gzip(&package);
    corrupt[12] ^= 0xff;
    corrupt.truncate(100);
    let answered = post(corrupt, "identity").await;
    assert_eq!(answered.status, StatusCode::BAD_REQUEST);
    let bomb = gzip(part + "\r\n--b\r\n\r\n" + &" ".repeat(50 << 20));
    // The message before it is answered by a handler that cannot read the part.
    let answered = post(bomb, "identity").await;
    assert!(answered.body.contains("`ratio` of 200"), "{}", answered.body);
}

/// Returns a client of a service with answers that ours never give.
fn answering(
    coding: &'static str,
    status: StatusCode,
    body: Vec<u8>,
) -> impl tower::Service<
    Request<deltasoap::transport::Body>,
    Response = Response<Full<Bytes>>,
    Error = Infallible,
    Future: Send,
> + Clone {
    tower::service_fn(move |request: Request<deltasoap::transport::Body>| {
        assert_eq!(request.headers().get("accept-encoding").is_some(), coding != "unasked");
        let coding = if coding == "unasked" { "gzip" } else { coding };
        let response = Response::builder().status(status).header("content-type", "text/xml");
        let response = response.header("content-encoding", coding).body(Full::from(body.clone()));
        std::future::ready(Ok(response.expect("a response")))
    })
}

#[tokio::test]
async fn answers_at_fault_are_errors() {
    let coded = gzip(message(Version::Soap11, &[], &echoed(&echo("x"))));
    let limit = CodingError::Limit { name: "ratio", limit: 200 };
    for (coding, body, expected) in [
        ("gzip", coded[..50].to_vec(), CodingError::Ended),
        ("gzip", [&coded[..], b"x"].concat(), CodingError::Trailing),
        ("x-gzip", b"plain".to_vec(), CodingError::Corrupt),
        ("br", coded.clone(), CodingError::Unknown("br".to_owned())),
        ("unasked", coded.clone(), CodingError::Unknown("gzip".to_owned())),
        ("gzip", gzip(vec![b' '; 10 << 20]), limit),
    ] {
        let builder = Client::builder(URL).accept_gzip(coding != "unasked");
        let client = builder.build_with(answering(coding, StatusCode::OK, body)).expect("a client");
        let result = client.call_as::<EchoResponse>(&echo("x")).await;
        assert!(matches!(&result, Err(CallError::Coding(error)) if *error == expected), "{result:?}");
    }
    let page = answering("gzip", StatusCode::BAD_GATEWAY, gzip("a page"));
    let result = Client::with_service(URL, page).expect("a client").call_as::<EchoResponse>(&echo("x")).await;
    assert!(matches!(&result, Err(CallError::Status(error)) if error.excerpt == "a page"), "{result:?}");
}

/// Sends a request unchanged, and reads until the server closes the connection.
async fn raw(service: SoapService, request: &[u8]) -> (String, Vec<u8>) {
    let (address, _handle) = serve(service).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request).await.expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    let body = answer.split_off(end);
    (String::from_utf8(answer).expect("text").to_lowercase(), body)
}

#[tokio::test]
async fn a_raw_request_is_answered_in_gzip() {
    let body = gzip(message(Version::Soap11, &[], &echo("raw")));
    let head = "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\n\
         Accept-Encoding: deflate, gzip\r\n";
    let with_length = format!("{head}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len()).into_bytes();
    for request in [[&with_length, &body[..]].concat(), [&chunked, &body[..], b"\r\n0\r\n\r\n"].concat()] {
        let (head, body) = raw(build(builder().compression(Compression::ALWAYS)), &request).await;
        assert!(head.starts_with("http/1.1 200") && head.contains("content-encoding: gzip\r\n"), "{head}");
        assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
        assert_eq!(gunzip(&body), message(Version::Soap11, &[], &echoed(&echo("raw"))));
    }
    let announced = format!("{head}Content-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n");
    let (head, body) = raw(build(builder()), announced.as_bytes()).await;
    assert!(head.starts_with("http/1.1 413") && String::from_utf8_lossy(&body).contains("`message`"), "{head}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_coded_is_read_as_what_is_not(numbers in prop::collection::vec(any::<i32>(), 0..3000), size in 1..3000_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let request = Echo { text: "t".to_owned(), numbers };
        let text = message(Version::Soap11, &[], &request);
        let service = build(builder().compression(Compression::ALWAYS));
        let (coded, plain) = runtime.block_on(async {
            let coded = post_coded(&service, "gzip", &gzip(&text), size).await;
            (coded, post(&service, "text/xml", &text).await)
        });
        prop_assert_eq!(coded.status, StatusCode::OK);
        prop_assert_eq!(coded.body, plain.body);
        let back = runtime.block_on(async { bytes_of(ask(&service, "gzip", &request).await).await });
        prop_assert_eq!(gunzip(&back), message(Version::Soap11, &[], &echoed(&request)));
    }
}
