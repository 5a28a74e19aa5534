//! Requests with a list of any length, written while they are sent.

use crate::common::{serve, service};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::engine::{Buffer, ErrorKind, Limits, Templating};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, HeaderBlock, Version};
use deltasoap::stream::{Overlay, Streamed, StreamedArray};
use deltasoap::transport::Body;
use deltasoap::{Client, Fault, Lease, Soap, SoapService};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:sum", message, response = Total)]
struct Sum {
    label: String,
    item: Streamed<f64>,
    times: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:sum", message, response = Total)]
struct Join {
    parts: StreamedArray<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:sum", message)]
struct Total {
    label: String,
    total: f64,
}

fn sum() -> Sum {
    Sum { label: "a & b".to_owned(), item: vec![0.5].into(), times: 2 }
}

fn total(count: i32) -> Total {
    let total = (0..count).map(f64::from).sum::<f64>() + 0.5;
    Total { label: "a & b".to_owned(), total: total * 2.0 }
}

fn numbers(count: i32) -> impl Iterator<Item = f64> + Send + 'static {
    (0..count).map(f64::from)
}

/// Returns a service that adds numbers, and a counter of the messages that arrived completely.
fn adder() -> (SoapService, Arc<AtomicUsize>) {
    let whole = Arc::new(AtomicUsize::new(0));
    let (sums, joins) = (Arc::clone(&whole), Arc::clone(&whole));
    let add = move |sum: Lease<Sum>| {
        sums.fetch_add(1, Ordering::Relaxed);
        let total = sum.item.iter().sum::<f64>() * f64::from(sum.times);
        std::future::ready(Ok::<_, Fault>(Total { label: sum.label.clone(), total }))
    };
    let join = move |join: Lease<Join>| {
        joins.fetch_add(1, Ordering::Relaxed);
        let total = join.parts.len() as f64;
        std::future::ready(Ok::<_, Fault>(Total { label: join.parts.concat(), total }))
    };
    let limits = Limits { message: 64 << 20, ..Limits::default() };
    let service = SoapService::builder().limits(limits).operation(add).operation(join).build();
    (service.expect("a service"), whole)
}

#[tokio::test]
async fn calls_in_memory() {
    for version in [Version::Soap11, Version::Soap12] {
        let client = Client::builder("http://localhost/").version(version).build_with(adder().0).expect("a client");
        for count in [0, 1, 20_000] {
            let answer: Total = client.call_overlaid(&sum(), numbers(count)).await.expect("a response");
            assert_eq!(answer, total(count));
        }
        let parts = (0..3000).map(|n| (n % 10).to_string()).collect::<Vec<_>>();
        let join = Join { parts: StreamedArray::default() };
        let options = CallOptions::new().encoding(Use::Encoded);
        let answer = client.call_overlaid_with(&join, parts.clone(), options).await;
        assert_eq!(answer.expect("a response").body, Total { label: parts.concat(), total: 3000.0 });
    }
}

#[tokio::test]
async fn calls_over_loopback() {
    let (address, _handle) = serve(adder().0).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    for count in [0, 100_000, 7] {
        let answer: Total = client.call_overlaid(&sum(), numbers(count)).await.expect("a response");
        assert_eq!(answer, total(count));
    }
    let plain = Sum { item: numbers(1000).collect(), ..sum() };
    client.call_as::<Total>(&plain).await.expect("the same type without an overlay");
}

#[tokio::test]
async fn one_way_messages_and_faults() {
    let client = Client::with_service("http://localhost/", service().0).expect("a client");
    let result = client.send_overlaid(&sum(), numbers(10)).await;
    assert!(matches!(result, Err(CallError::Fault(_))), "nothing serves it: {result:?}");
}

/// Receives the bytes of a connection, until the last chunk of a chunked body.
async fn receive(listener: &TcpListener) -> (String, String) {
    let (mut socket, _) = listener.accept().await.expect("a connection");
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"0\r\n\r\n") {
        assert_ne!(socket.read_buf(&mut bytes).await.expect("no error"), 0, "the request breaks off");
    }
    socket.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.expect("no error");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_ascii_lowercase(), unchunked(body))
}

/// Removes the chunk framing from a body.
fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, behind)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        body.push_str(&behind[..size]);
        rest = behind[size..].strip_prefix("\r\n").expect("the end of a chunk");
    }
    body
}

#[tokio::test]
async fn on_the_wire_it_is_the_same_message_in_chunks() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let templating = Templating { chunk: 1000, ..Templating::default() };
    let client = Client::builder(format!("http://{address}/")).templating(templating).build().expect("a client");
    let block = HeaderBlock::from_message(&total(1)).expect("plain text");
    let options = CallOptions::new().action("urn:add").header(block.clone());
    let request = sum();
    let (sent, received) =
        tokio::join!(client.send_overlaid_with(&request, numbers(5000), options), receive(&listener));
    sent.expect("accepted");
    let (head, body) = received;
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-length"), "{head}");
    assert!(head.contains("soapaction: \"urn:add\"") && head.contains("content-type: text/xml"), "{head}");
    let whole = Sum { item: [0.5].into_iter().chain(numbers(5000)).collect(), ..sum() };
    let expected = Envelope::new(&whole).headers(&[block]).write(Buffer::new()).expect("plain text");
    assert_eq!(body.as_bytes(), expected.as_slice());
}

#[tokio::test]
async fn a_request_with_an_item_that_cannot_be_written_is_broken_off() {
    let (service, whole) = adder();
    let (address, _handle) = serve(service).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let texts = |bad: usize| (0..50_000).map(move |n| if n == bad { "\u{0}".to_owned() } else { "text".to_owned() });
    let join = Join { parts: StreamedArray::default() };
    for bad in [49_999, 0] {
        let result = client.call_overlaid(&join, texts(bad)).await;
        let Err(CallError::Encode(error)) = result else { panic!("{result:?}") };
        assert!(matches!(error.kind(), ErrorKind::Unwritable(_)));
    }
    assert_eq!(whole.load(Ordering::Relaxed), 0, "a part was taken for the whole");
    let answer: Total = client.call_overlaid(&join, texts(50_000)).await.expect("a response");
    assert_eq!(answer.total, 50_000.0);
}

#[tokio::test]
async fn a_request_without_a_place_for_items_is_not_sent() {
    let client = Client::with_service("http://localhost/", service().0).expect("a client");
    let result = client.send_overlaid(&total(1), numbers(3)).await;
    assert!(matches!(result, Err(CallError::Encode(_))), "{result:?}");
}

fn body(chunk: usize) -> Body {
    Overlay::new(&Envelope::new(&sum()), numbers(2000), chunk).expect("numbers").into()
}

/// Returns the next frame of a body, however often it must be polled.
async fn frame(body: &mut Body) -> Option<bytes::Bytes> {
    let frame = body.frame().await?.expect("no error");
    Some(frame.into_data().expect("data"))
}

#[tokio::test]
async fn a_chunk_that_was_let_go_is_written_over() {
    let mut body = body(1000);
    let (mut places, mut frames) = (Vec::new(), 0);
    while let Some(chunk) = frame(&mut body).await {
        places.push(chunk.as_ptr());
        frames += 1;
    }
    places.dedup();
    assert!(frames > 20 && places.len() == 1, "{frames} chunks in {} places", places.len());
    assert!(body.is_end_stream() && frame(&mut body).await.is_none());
}

#[tokio::test]
async fn a_chunk_that_is_kept_stays_as_it_is() {
    let kept = body(1000).collect().await.expect("no error").to_bytes();
    let whole = Sum { item: [0.5].into_iter().chain(numbers(2000)).collect(), ..sum() };
    let expected = Envelope::new(&whole).write(Buffer::new()).expect("numbers");
    assert_eq!(kept, expected.as_slice());
}

#[tokio::test]
async fn a_clone_has_no_items() {
    let mut body = body(1000);
    assert!(body.clone().frame().await.expect("a frame").is_err());
    assert!(frame(&mut body).await.is_some() && body.size_hint().exact().is_none());
}
