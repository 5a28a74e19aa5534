//! Features that a dynamic client shares with any other: templates, parts, references, several
//! ports.

use crate::support::shop;
use bytes::Bytes;
use deltasoap_core::soap::Version;
use deltasoap_core::{Templating, Value};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock};
use deltasoap_http::{AttachmentOptions, Body, CallError, CallOptions, Mtom, SharedTemplates, SoapService, Trace};
use http::{Request, Response};
use http_body::Frame;
use serde_json::{Value as Json, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// Returns a document wrapped service with bytes in a struct, in a list, and alone.
fn files() -> Contract {
    Contract::from_text(include_str!("../data/files.wsdl")).expect("a description")
}

fn graph() -> Contract {
    Contract::from_text(include_str!("../data/graph.wsdl")).expect("a description")
}

fn echoing(contract: Contract, operation: &str) -> SoapService {
    let mock = Mock::new(contract).handle(operation, Ok).expect("an operation");
    let attachments = AttachmentOptions { mtom: Mtom::Auto, threshold: 100, ..AttachmentOptions::server() };
    mock.mount(SoapService::builder().attachments(attachments)).build().expect("a service")
}

/// Returns base64 text of `len` characters.
fn base64(len: usize) -> Json {
    Json::String("AQID".repeat(len / 4))
}

fn stored() -> Json {
    json!({ "name": "a", "content": base64(4000), "thumbnail": base64(8), "page": [base64(800), base64(4), base64(1200)] })
}

#[tokio::test]
async fn bytes_travel_in_parts_both_ways() {
    for version in [Version::Soap11, Version::Soap12] {
        let trace = Trace::default();
        let noted = trace.clone();
        let client = DynamicClient::with_transport(files(), echoing(files(), "Store")).version(version);
        let client = client.configure(move |builder| {
            let attachments = AttachmentOptions { mtom: Mtom::Auto, threshold: 100, ..AttachmentOptions::client() };
            builder.attachments(attachments).trace(&noted)
        });
        for _ in 0..3 {
            assert_eq!(client.call("Store", &stored()).await.expect("a response"), stored());
        }
        let exchanges = format!("{:?}", trace.exchanges());
        assert_eq!(exchanges.matches("multipart/related").count(), 6, "requests and responses");
        let call = client.prepare("Store").expect("an operation").options(CallOptions::new().mtom(Mtom::Off));
        let reply = call.send_json(&stored()).await.expect("a response").expect("a response");
        assert_eq!(reply.to_json().expect("JSON"), stored());
    }
}

/// The `xmime:contentType` of bytes is the type of their part, in both directions; without it, the
/// type of parts is unknown.
#[tokio::test]
async fn parts_are_of_the_media_type_that_their_element_says() {
    let trace = Trace::default();
    let noted = trace.clone();
    let client = DynamicClient::with_transport(files(), echoing(files(), "Store")).configure(move |builder| {
        let attachments = AttachmentOptions { mtom: Mtom::On, threshold: 100, ..AttachmentOptions::client() };
        builder.attachments(attachments).trace(&noted)
    });
    let photo = |media: &str| json!({ "@contentType": media, "$": base64(4000) });
    for (media, shown) in
        [("image/png", "image/png"), ("audio/x; rate=8", "audio/x; rate=8"), ("a\u{e9}", "application/octet-stream")]
    {
        let request = json!({ "name": "a", "content": base64(8), "page": [base64(800)], "photo": photo(media) });
        assert_eq!(client.call("Store", &request).await.expect("a response"), request, "{media}");
        let exchanges = trace.exchanges();
        let exchange = exchanges.last().expect("an exchange");
        let response = exchange.response.as_ref().expect("a response");
        for body in [exchange.request.message(), response.message()] {
            let text = String::from_utf8_lossy(&body).into_owned();
            let types: Vec<&str> =
                text.split("\r\nContent-Type: ").skip(2).filter_map(|it| it.split("\r\n").next()).collect();
            assert_eq!(types, ["application/octet-stream", shown], "{media}");
        }
    }
}

/// Bytes with attributes, too, come back as text if they are sent as text.
#[tokio::test]
async fn bytes_beside_attributes_may_be_text() {
    let client = DynamicClient::with_transport(files(), echoing(files(), "Store"));
    let photo = json!({ "@contentType": "image/png", "$": base64(4000) });
    let request = json!({ "name": "a", "content": "", "photo": photo });
    assert_eq!(client.call("Store", &request).await.expect("a response"), request);
}

/// Returns the WSDL with a policy in its first binding, that of SOAP 1.1.
fn files_with_policy() -> Contract {
    let text = include_str!("../data/files.wsdl");
    let at = text.find("<soap:binding").expect("a binding");
    let policy = "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy'><m:MTOM xmlns:m='urn:mtom'/></p:Policy>";
    Contract::from_text(&format!("{}{policy}{}", &text[..at], &text[at..])).expect("a description")
}

#[tokio::test]
async fn a_policy_switches_mtom_on_for_its_binding() {
    let packages = async |version, mtom: Option<Mtom>| {
        let trace = Trace::default();
        let noted = trace.clone();
        let client = DynamicClient::with_transport(files_with_policy(), echoing(files(), "Store")).version(version);
        let client = client.configure(move |builder| {
            let builder = builder.trace(&noted);
            mtom.into_iter().fold(builder, deltasoap_http::ClientBuilder::mtom)
        });
        assert_eq!(client.call("Store", &stored()).await.expect("a response"), stored());
        format!("{:?}", trace.exchanges()).matches("multipart/related").count()
    };
    assert_eq!(packages(Version::Soap11, None).await, 2);
    assert_eq!(packages(Version::Soap12, None).await, 0, "the other binding has no policy");
    assert_eq!(packages(Version::Soap11, Some(Mtom::Off)).await, 0);
}

#[tokio::test]
async fn a_part_is_found_by_what_refers_to_it() {
    let client = DynamicClient::with_transport(files(), echoing(files(), "Store"));
    let call = client.prepare("Store").expect("an operation").options(CallOptions::new().mtom(Mtom::On));
    let reply = call.send_json(&json!({ "name": "a", "content": base64(40_000) })).await.expect("a response");
    let reply = reply.expect("a response");
    let Value::Record(record) = &*reply.body else { panic!("{:?}", reply.body) };
    let Value::Part(uri) = &record.fields[1] else { panic!("{record:?}") };
    assert_eq!(reply.part(uri).map(bytes::Bytes::len), Some(30_000));
}

/// A text, followed by one byte per second without end.
struct Trickling {
    text: Bytes,
    pause: Pin<Box<Sleep>>,
}

impl http_body::Body for Trickling {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.text.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.text)))));
        }
        ready!(self.pause.as_mut().poll(task));
        self.pause = Box::pin(sleep(Duration::from_secs(1)));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_bounds_the_parts_of_its_answer() {
    let root = "--B\r\nContent-Type: text/xml\r\n\r\n<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
                <CatalogueResponse xmlns='urn:shop'><root><name>all</name></root></CatalogueResponse></s:Body></s:Envelope>\r\n--B";
    for behind in ["\r\n\r\n", "--\r\n"] {
        let text = Bytes::from(format!("{root}{behind}"));
        let answering = tower::service_fn(move |_: Request<Body>| {
            let body = Trickling { text: text.clone(), pause: Box::pin(sleep(Duration::from_secs(1))) };
            let answer = Response::builder().header("content-type", "multipart/related; boundary=B; type=\"text/xml\"");
            std::future::ready(Ok::<_, Infallible>(answer.body(body).expect("an answer")))
        });
        let client = DynamicClient::with_transport(shop(), answering).version(Version::Soap11);
        let client = client.configure(|builder| builder.timeout(Duration::from_secs(7)));
        for (options, seconds) in [(CallOptions::new(), 7), (CallOptions::new().timeout(Duration::from_secs(20)), 20)] {
            let start = Instant::now();
            let call = client.prepare("Catalogue").expect("an operation").options(options);
            let error = call.send_json(&json!({})).await.expect_err("it does not end");
            assert!(matches!(error, DynamicError::Call(CallError::Timeout(_))), "{behind:?}: {error:?}");
            assert_eq!(start.elapsed().as_secs(), seconds, "{behind:?}");
        }
    }
}

#[test]
fn parts_without_their_package_are_named() {
    let contract = files();
    let operation = contract.operation("Store").expect("an operation");
    let json = json!({ "name": "a", "content": { "$part": "cid:1@x" } });
    let value = operation.request_from_json(&json).expect("a value");
    assert_eq!(operation.request_to_json(&value).expect("JSON"), json);
}

#[tokio::test]
async fn requests_are_written_against_earlier_ones() {
    let templates = SharedTemplates::default();
    let kept = templates.clone();
    let client = DynamicClient::with_transport(files(), echoing(files(), "Store"));
    let client = client.configure(move |builder| builder.templates(kept.clone()));
    for count in 0..4 {
        let page = (0..2000).map(|page| base64(4 * ((page + count) % 3))).collect::<Vec<_>>();
        let request = json!({ "name": "a", "content": "", "page": page });
        assert_eq!(client.call("Store", &request).await.expect("a response")["page"], request["page"]);
    }
    assert_eq!(client.encode_stats().messages, 4);
    assert!(client.encode_stats().first < 4 && templates.memory() > 0, "{:?}", client.encode_stats());
    let off = DynamicClient::with_transport(files(), echoing(files(), "Store"));
    let off = off.configure(|builder| builder.templating(Templating::OFF));
    assert!(off.call("Store", &stored()).await.is_ok());
}

#[tokio::test]
async fn references_can_be_switched_off() {
    let client = DynamicClient::with_transport(graph(), echoing(graph(), "Echo"));
    let vertex = |id: &str| json!({ "$id": id, "name": "a", "next": null, "others": [] });
    let twice = json!({ "first": vertex("1"), "second": { "$ref": "1" } });
    let plain = json!({ "name": "a", "next": null, "others": [] });
    let copied = json!({ "first": plain, "second": plain });
    assert_eq!(client.call("Echo", &twice).await.expect("a response"), twice);
    let call = client.prepare("Echo").expect("an operation").options(CallOptions::new().references(false));
    let reply = call.send_json(&twice).await.expect("a response").expect("a response");
    assert_eq!(reply.to_json().expect("JSON"), copied);
    let ring = json!({ "first": { "$id": "1", "name": "a", "next": { "$ref": "1" }, "others": [] }, "second": null });
    let client = client.configure(|builder| builder.references(false));
    match client.call("Echo", &ring).await {
        Err(DynamicError::Call(CallError::Encode(error))) => assert!(error.to_string().contains("a cycle"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_port_has_its_version() {
    let client = DynamicClient::with_transport(graph(), echoing(graph(), "Echo"));
    let request = json!({ "first": null, "second": null });
    for (name, version) in [("Soap11.Echo", Version::Soap11), ("Soap12.Echo", Version::Soap12)] {
        let reply = client.prepare(name).expect("an operation").send_json(&request).await;
        assert_eq!(reply.expect("a response").expect("a response").head.version(), version);
    }
}
