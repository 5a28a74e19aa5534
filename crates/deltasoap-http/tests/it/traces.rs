//! Calls in a trace.

use crate::common::scripted::{Act, Scripted, answer, right};
use crate::common::*;
use deltasoap::Client;
use deltasoap::attachments::Mtom;
use deltasoap::client::{CallError, CallOptions, Credentials, Trace};
use deltasoap::soap::Version;
use deltasoap::transport::Compression;
use http::{HeaderName, HeaderValue};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[tokio::test]
async fn a_trace_shows_what_went_over_the_wire() {
    let server = Scripted::new(|_, _| right(&echo("x"))).await;
    let trace = Trace::new();
    let options = CallOptions::new().action("urn:act").trace(&trace);
    server.client().call_as_with::<EchoResponse>(&echo("x"), options).await.expect("a response");
    let exchanges = trace.exchanges();
    assert_eq!(exchanges.len(), 1);
    let exchange = &exchanges[0];
    assert_eq!((exchange.method.as_str(), exchange.url.to_string()), ("POST", server.url()));
    assert_eq!(exchange.request.headers["soapaction"], "\"urn:act\"");
    let sent = server.requests().remove(0);
    assert_eq!(exchange.request.body.bytes, sent.split_once("\r\n\r\n").expect("a body").1.as_bytes());
    let response = exchange.response.as_ref().expect("a response");
    assert_eq!(response.message(), message(Version::Soap11, &[], &echoed(&echo("x"))).as_bytes());
    assert_eq!((response.status.as_u16(), response.body.total), (200, response.body.bytes.len() as u64));
    assert!(exchange.error.is_none() && exchange.elapsed > Duration::ZERO);
    assert!(exchange.to_string().contains("soapaction: \\\"urn:act\\\""), "{exchange}");
}

#[tokio::test]
async fn compression_is_seen_and_seen_through() {
    let (service, _) = service();
    let client =
        Client::builder("http://localhost/").compression(Compression::ALWAYS).build_with(service).expect("a client");
    let (trace, request) = (Trace::new(), Echo { text: "again ".repeat(1000), numbers: vec![] });
    client.call_as_with::<EchoResponse>(&request, CallOptions::new().trace(&trace)).await.expect("a response");
    let sent = &trace.exchanges()[0].request;
    assert_eq!(sent.body.bytes[..2], [0x1F, 0x8B], "gzip");
    assert_eq!(String::from_utf8_lossy(&sent.message()), message(Version::Soap11, &[], &request));
    assert!(sent.body.total < 1000);
}

#[tokio::test]
async fn secrets_are_not_shown_unless_asked_for() {
    let server = Scripted::new(|_, _| answer(200, "content-type: text/plain\nset-cookie: session=s3", "")).await;
    let mut key = HeaderValue::from_static("s3");
    key.set_sensitive(true);
    for (trace, is_shown) in [(Trace::new(), false), (Trace::new().with_secrets(), true)] {
        let url = format!("http://user:s3@{}/", server.address);
        let credentials = Credentials::basic("user", "s3").expect("credentials");
        let client = Client::builder(url).credentials(credentials).trace(&trace).build().expect("a client");
        let options = CallOptions::new().http_header(HeaderName::from_static("x-marked"), key.clone());
        let options = options.http_header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("s3"));
        client.call_as_with::<EchoResponse>(&echo(""), options).await.expect_err("no message");
        let exchange = trace.exchanges().remove(0);
        assert!(!exchange.url.to_string().contains('@'));
        let shown = format!("{exchange} {exchange:?}");
        assert_eq!(shown.contains("dXNlcjpzMw=="), is_shown, "{shown}");
        for secret in ["session=s3", "x-marked: s3", "x-api-key: s3"] {
            assert_eq!(shown.contains(secret), is_shown, "{shown}");
        }
        assert!(shown.contains("[not shown]") != is_shown);
    }
}

#[tokio::test]
async fn failures_are_shown_as_far_as_they_got() {
    let trace = Trace::new();
    let server = Scripted::new(|number, _| match number {
        0 => answer(500, "content-type: text/html", "<b>broken</b>"),
        1 => Act::Say("HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: 100\r\n\r\n<half".to_owned()),
        _ => Act::Close,
    })
    .await;
    let client = Client::builder(server.url()).trace(&trace).build().expect("a client");
    let broken = client.call_as::<EchoResponse>(&echo("")).await;
    assert!(matches!(broken, Err(CallError::Status(_))));
    let options = CallOptions::new().timeout(Duration::from_millis(200));
    let late = client.call_as_with::<EchoResponse>(&echo(""), options).await;
    assert!(matches!(late, Err(CallError::Timeout(_))));
    let closed = client.call_as::<EchoResponse>(&echo("")).await;
    assert!(matches!(closed, Err(CallError::Http(_))));
    let exchanges = trace.exchanges();
    assert_eq!(exchanges.len(), 3);
    let answers: Vec<_> =
        exchanges.iter().map(|exchange| exchange.response.as_ref().map(|came| &*came.body.bytes)).collect();
    assert_eq!(answers, [Some(&b"<b>broken</b>"[..]), Some(b"<half"), None]);
    assert!(
        exchanges[2]
            .error
            .as_ref()
            .is_some_and(|error| error.contains("/soap closed the connection without an answer"))
    );
    assert!(exchanges.iter().all(|exchange| exchange.request.body.total > 0));
}

#[tokio::test]
async fn bounds_hold_and_the_rest_is_counted() {
    let (service, _) = service();
    let trace = Trace::new().max_bytes(10).max_exchanges(2);
    let client = Client::builder("http://localhost/").trace(&trace).build_with(service).expect("a client");
    for text in ["a", "b", "c"] {
        client.call_as::<EchoResponse>(&echo(text)).await.expect("a response");
    }
    let exchanges = trace.exchanges();
    assert_eq!(exchanges.len(), 2);
    assert_eq!(exchanges[0].request.body.bytes.len(), 10);
    let whole = message(Version::Soap11, &[], &echo("b")).len() as u64;
    assert_eq!(exchanges[0].request.body.total, whole);
    trace.clear();
    assert!(trace.exchanges().is_empty());
}

#[tokio::test]
async fn observers_see_each_exchange_when_it_is_over() {
    let (service, _) = service();
    let seen = Arc::<Mutex<Vec<(u16, u64)>>>::default();
    let notes = Arc::clone(&seen);
    let trace = Trace::observed(move |exchange| {
        let response = exchange.response.as_ref().expect("a response");
        notes.lock().expect("not poisoned").push((response.status.as_u16(), response.body.total));
    });
    let client = Client::builder("http://localhost/").trace(&trace).build_with(service).expect("a client");
    client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    client.call_as::<EchoResponse>(&Fail { how: "typed".to_owned() }).await.expect_err("a fault");
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(seen.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 500]);
    assert!(seen.iter().all(|(_, total)| *total > 100));
    assert!(trace.exchanges().is_empty(), "they are not kept");
}

#[tokio::test]
async fn packages_are_noted_with_their_parts() {
    let (service, _) = service();
    let trace = Trace::new();
    let client = Client::with_service("http://localhost/", service).expect("a client");
    let options = CallOptions::new().mtom(Mtom::On).trace(&trace);
    client.call_as_with::<EchoResponse>(&echo("x"), options).await.expect("a response");
    let sent = String::from_utf8_lossy(&trace.exchanges()[0].request.body.bytes).into_owned();
    assert!(sent.starts_with("--") && sent.contains("Echo"), "{sent}");
}
