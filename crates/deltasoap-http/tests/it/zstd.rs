//! Bodies in zstd, both ways: selected by weight, in pieces, of several frames, within limits, and
//! invalid ones.

use crate::common::*;
use bytes::Bytes;
use deltasoap::attachments::Part;
use deltasoap::client::CallError;
use deltasoap::engine::Limits;
use deltasoap::server::SoapServiceBuilder;
use deltasoap::soap::Version;
use deltasoap::transport::{CodingError, Compression, ContentCoding, GzipLimits};
use deltasoap::{Client, Fault, Lease, SoapService};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use std::convert::Infallible;
use tower::ServiceExt;
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

const ALWAYS: Compression = Compression::ALWAYS.coding(ContentCoding::Zstd);

fn builder() -> SoapServiceBuilder {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().operation(handler).operation(fail)
}

async fn fail(request: Lease<Fail>) -> Result<EchoResponse, Fault> {
    Err(Fault::sender(request.how.repeat(1000)))
}

fn build(builder: SoapServiceBuilder) -> SoapService {
    builder.build().expect("a service")
}

/// Returns a frame with a checksum.
fn zstd(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut coded = Vec::with_capacity(zstd_safe::compress_bound(bytes.as_ref().len()));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::ChecksumFlag(true)).expect("a parameter");
    context.compress2(&mut coded, bytes.as_ref()).expect("room");
    coded
}

/// Returns a frame that announces a window of 2 to the power of `log` bytes, whatever its content.
fn windowed(log: u32, bytes: &[u8]) -> Vec<u8> {
    let mut coded = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()) + 100);
    let mut context = CCtx::create();
    context.set_parameter(CParameter::WindowLog(log)).expect("a parameter");
    let mut output = OutBuffer::around(&mut coded);
    for (piece, end) in
        [(&bytes[..1], ZSTD_EndDirective::ZSTD_e_continue), (&bytes[1..], ZSTD_EndDirective::ZSTD_e_end)]
    {
        context.compress_stream2(&mut output, &mut InBuffer::around(piece), end).expect("room");
    }
    coded
}

fn plain(coded: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(8 << 20);
    zstd_safe::decompress(&mut bytes, coded).expect("a frame");
    String::from_utf8(bytes).expect("UTF-8")
}

fn long(last: i32) -> Echo {
    Echo { text: "a text".to_owned(), numbers: (0..20_000).chain([last]).collect() }
}

async fn post_coded(service: &SoapService, body: &[u8], size: usize) -> Answered {
    let request = Request::post("/").header("content-type", "text/xml").header("content-encoding", "zstd");
    send(service, request.body(Pieces::of(body, size)).expect("a request")).await
}

async fn ask(service: &SoapService, accepted: &str, body: String) -> Response<Bytes> {
    let request = Request::post("/").header("content-type", "text/xml").header("accept-encoding", accepted);
    let request = request.body(Full::from(body)).expect("a request");
    let (parts, body) = service.clone().oneshot(request).await.expect("infallible").into_parts();
    Response::from_parts(parts, body.collect().await.expect("a body").to_bytes())
}

#[tokio::test]
async fn requests_are_read_in_frames_of_any_number() {
    let service = build(builder());
    let text = message(Version::Soap11, &[], &echo("coded"));
    let (head, tail) = text.split_at(100);
    // Magic number and length of a frame to skip (RFC 8878, 3.1.2).
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for body in [zstd(&text), [zstd(head), zstd(""), skipped, zstd(tail), zstd("")].concat()] {
        for size in [1, 7, 1000] {
            let answered = post_coded(&service, &body, size).await;
            assert_eq!(answered.body, message(Version::Soap11, &[], &echoed(&echo("coded"))), "{answered:?}");
        }
    }
}

#[tokio::test]
async fn broken_streams_are_the_senders_fault() {
    let service = build(builder());
    let coded = zstd(message(Version::Soap11, &[], &echo("coded")));
    let mut wrong_sum = coded.clone();
    let sum = wrong_sum.len() - 1;
    wrong_sum[sum] ^= 1;
    for (body, what) in [
        (coded[..coded.len() - 1].to_vec(), "ended early"),
        (coded[..30].to_vec(), "ended early"),
        (coded[..3].to_vec(), "ended early"),
        ([&coded[..], b"more"].concat(), "bytes after the end"),
        (wrong_sum, "corrupt"),
        (b"<plain/>".to_vec(), "corrupt"),
    ] {
        for size in [1, 1000] {
            let answered = post_coded(&service, &body, size).await;
            assert_eq!(answered.status, StatusCode::BAD_REQUEST, "{answered:?}");
            assert!(answered.body.contains(what), "{what}: {}", answered.body);
        }
    }
}

#[tokio::test]
async fn bombs_are_bounded() {
    let service = build(builder());
    let blank = zstd([message(Version::Soap11, &[], &echo("")).as_bytes(), &vec![b' '; 100 << 20]].concat());
    let limits = Limits { message: 1 << 19, ..Limits::server() };
    let lenient = GzipLimits { ratio: u64::MAX, free: 0 };
    let short = build(builder().limits(limits).gzip_limits(lenient));
    let wide = windowed(24, message(Version::Soap11, &[], &echo("")).as_bytes());
    for (service, body, name) in [
        (&service, &blank, "`ratio` of 200"),
        (&short, &blank, "message"),
        (&service, &zstd("").repeat(100_000), "`members` of 1024"),
        (&service, &wide, "`window` of 8388608"),
    ] {
        let answered = post_coded(service, body, 1000).await;
        assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE, "{name}: {answered:?}");
        assert!(answered.body.contains(name), "{name}: {}", answered.body);
        assert!(service.stats().snapshot().bytes_in <= 2 << 20, "refused early");
    }
}

/// A window of 8 MiB is within what RFC 9659 allows.
#[tokio::test]
async fn the_largest_window_is_read() {
    let coded = windowed(23, message(Version::Soap11, &[], &echo("wide")).as_bytes());
    // Its descriptor follows the magic number and the frame's descriptor (RFC 8878, 3.1.1.1).
    assert_eq!(coded[5] >> 3, 23 - 10);
    let answered = post_coded(&build(builder()), &coded, 10).await;
    assert_eq!(answered.body, message(Version::Soap11, &[], &echoed(&echo("wide"))));
}

#[tokio::test]
async fn responses_are_in_the_coding_that_is_preferred() {
    let text = || message(Version::Soap11, &[], &long(1));
    let expected = message(Version::Soap11, &[], &echoed(&long(1)));
    for (compression, accepted, coding) in [
        (ALWAYS, "gzip, zstd", Some("zstd")),
        (Compression::ALWAYS, "gzip, zstd", Some("gzip")),
        (Compression::ALWAYS, "gzip;q=0.5, zstd", Some("zstd")),
        (ALWAYS, "gzip", Some("gzip")),
        (ALWAYS.level(19), "zstd", Some("zstd")),
        (ALWAYS.level(0), "zstd", Some("zstd")),
        (ALWAYS, "br", None),
    ] {
        let response = ask(&build(builder().compression(compression)), accepted, text()).await;
        let found = response.headers().get("content-encoding").map(|coding| coding.to_str().expect("text"));
        assert_eq!(found, coding, "{accepted}");
        assert_eq!(response.headers()["vary"], "accept-encoding");
        match coding {
            Some("zstd") => assert_eq!(plain(response.body()), expected),
            Some(_) => assert!(response.body().len() < expected.len() / 2),
            None => assert_eq!(response.body(), &expected),
        }
    }
}

#[tokio::test]
async fn faults_and_heads_of_pages_are_coded_and_packages_are_not() {
    let service = build(builder().compression(ALWAYS));
    let fault = ask(&service, "zstd", message(Version::Soap11, &[], &Fail { how: "so".to_owned() })).await;
    assert_eq!(
        (fault.status(), &fault.headers()["content-encoding"]),
        (StatusCode::INTERNAL_SERVER_ERROR, &"zstd".parse().expect("a value"))
    );
    assert!(plain(fault.body()).contains("sososo"));
    for method in ["GET", "HEAD"] {
        let request = Request::builder().method(method).uri("/").header("accept-encoding", "zstd");
        let request = request.body(Full::<Bytes>::default()).expect("a request");
        let response = service.clone().oneshot(request).await.expect("infallible");
        assert_eq!(response.headers()["content-encoding"], "zstd", "{method}");
    }
    let client = Client::builder("http://localhost/").compression(ALWAYS);
    let trace = deltasoap::client::Trace::default();
    let client = client.trace(&trace).build_with(service).expect("a client");
    let options = deltasoap::client::CallOptions::new().part(Part::new("a@b", "a/b", vec![1; 10_000]));
    let response = client.call_as_with::<EchoResponse>(&long(1), options).await.expect("a response");
    assert_eq!(response.body, echoed(&long(1)));
    assert_eq!(response.http_headers["content-encoding"], "zstd");
    let sent = trace.exchanges().pop().expect("an exchange");
    assert!(!sent.request.headers.contains_key("content-encoding"), "{sent:?}");
}

#[tokio::test]
async fn both_ways_over_loopback() {
    let service = build(builder().compression(ALWAYS));
    let (address, _handle) = serve(service.clone()).await;
    let client = Client::builder(format!("http://{address}/")).compression(ALWAYS).build().expect("a client");
    for last in 0..4 {
        let response = client.call_as_with::<EchoResponse>(&long(last), Default::default()).await.expect("a response");
        assert_eq!(
            (response.body, &response.http_headers["content-encoding"]),
            (echoed(&long(last)), &"zstd".parse().expect("a value"))
        );
    }
    let short: EchoResponse = client.call_as(&echo("short")).await.expect("a response");
    assert_eq!(short.text, "short");
}

#[tokio::test]
async fn answers_that_are_broken_or_unasked_are_errors() {
    let coded = zstd(message(Version::Soap11, &[], &echoed(&echo("x"))));
    for (body, is_accepted, expected) in [
        (coded[..50].to_vec(), true, CodingError::Ended),
        ([&coded[..], b"x"].concat(), true, CodingError::Trailing),
        (b"plain".to_vec(), true, CodingError::Corrupt),
        (coded.clone(), false, CodingError::Unknown("zstd".to_owned())),
        (zstd(vec![b' '; 10 << 20]), true, CodingError::Limit { name: "ratio", limit: 200 }),
    ] {
        let answer = tower::service_fn(move |_: Request<deltasoap::transport::Body>| {
            let response = Response::builder().header("content-type", "text/xml").header("content-encoding", "zstd");
            std::future::ready(Ok::<_, Infallible>(response.body(Full::from(body.clone())).expect("a response")))
        });
        let client =
            Client::builder("http://localhost/").accept_gzip(is_accepted).build_with(answer).expect("a client");
        let result = client.call_as::<EchoResponse>(&echo("x")).await;
        assert!(matches!(&result, Err(CallError::Coding(error)) if *error == expected), "{result:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_coded_is_read_as_what_is_not(numbers in prop::collection::vec(any::<i32>(), 0..3000), size in 1..3000_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let request = Echo { text: "t".to_owned(), numbers };
        let text = message(Version::Soap11, &[], &request);
        let service = build(builder().compression(ALWAYS));
        let coded = runtime.block_on(post_coded(&service, &zstd(&text), size));
        let expected = message(Version::Soap11, &[], &echoed(&request));
        prop_assert_eq!(&coded.body, &expected);
        let back = runtime.block_on(ask(&service, "zstd", text));
        prop_assert_eq!(plain(back.body()), expected);
    }

    #[test]
    fn what_is_changed_is_never_taken_for_the_original(at: prop::sample::Index, flip in 1..=255_u8, size in 1..50_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let service = build(builder().compression(ALWAYS));
        let text = message(Version::Soap11, &[], &echo("changed"));
        let response = runtime.block_on(ask(&service, "zstd", text));
        let mut coded = response.body().to_vec();
        *at.get_mut(&mut coded) ^= flip;
        let answer = tower::service_fn(move |_: Request<deltasoap::transport::Body>| {
            let response = Response::builder().header("content-type", "text/xml").header("content-encoding", "zstd");
            let body = http_body_util::StreamBody::new(futures_util::stream::iter(
                coded.chunks(size).map(|piece| Ok::<_, Infallible>(http_body::Frame::data(Bytes::copy_from_slice(piece)))).collect::<Vec<_>>(),
            ));
            std::future::ready(Ok::<_, Infallible>(response.body(body).expect("a response")))
        });
        let client = Client::builder("http://localhost/").build_with(answer).expect("a client");
        let result = runtime.block_on(client.call_as::<EchoResponse>(&echo("changed")));
        prop_assert!(result.as_ref().map_or(true, |response| *response == echoed(&echo("changed"))), "{:?}", result);
    }
}
