//! Messages in packages, between our client and our server and as raw bytes: MTOM, SOAP with
//! Attachments, DIME.

use crate::common::{Pieces, post_pieces, serve};
use bytes::Bytes;
use deltasoap::attachments::{AttachmentError, AttachmentLimits, AttachmentOptions, Mtom, Part};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::server::{Operation, Reply, SoapServiceBuilder};
use deltasoap::soap::Version;
use deltasoap::transport::Body;
use deltasoap::types::PartUri;
use deltasoap::{Binary, Client, Context, Fault, Lease, Soap, SoapService};
use futures_util::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::{ServiceExt, service_fn};

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Store {
    name: String,
    content: Binary,
    more: Vec<Binary>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
struct Stored {
    lengths: Vec<u64>,
    /// The bytes that came as content.
    content: Binary,
    /// Content IDs and media types of parts that the message does not refer to.
    others: Vec<String>,
}

/// Reads all values in the order of the message, then the other parts in theirs.
async fn store(mut context: Context, request: Lease<Store>) -> Result<Stored, AttachmentError> {
    let attachments = context.attachments();
    let mut values = Vec::new();
    for binary in std::iter::once(&request.content).chain(&request.more) {
        values.push(attachments.bytes(binary).await?);
    }
    let mut others = Vec::new();
    while let Some(part) = attachments.next().await? {
        let (id, kind) = (part.content_id().unwrap_or("-").to_owned(), part.content_type().unwrap_or("-").to_owned());
        others.push(format!("{id} {kind} {}", part.bytes().await?.len()));
    }
    let lengths = values.iter().map(|value| value.len() as u64).collect();
    Ok(Stored { lengths, content: values.swap_remove(0).into(), others })
}

fn builder() -> SoapServiceBuilder {
    SoapService::builder().operation(store)
}

fn options(limits: AttachmentLimits) -> AttachmentOptions {
    AttachmentOptions { limits, ..AttachmentOptions::server() }
}

fn service() -> SoapService {
    builder().build().expect("a service")
}

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|index| (index as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

fn request(content: impl Into<Binary>) -> Store {
    Store { name: "a name".to_owned(), content: content.into(), more: Vec::new() }
}

/// Messages on the wire, as media types and text.
#[derive(Debug, Default)]
struct Seen {
    request: (String, String),
    response: (String, String),
}

fn text_of(headers: &http::HeaderMap, body: &[u8]) -> (String, String) {
    let media = headers.get("content-type").map_or("", |value| value.to_str().expect("text"));
    (media.to_owned(), String::from_utf8_lossy(body).into_owned())
}

/// Calls a service, and records the messages.
async fn call(
    service: SoapService,
    attachments: AttachmentOptions,
    version: Version,
    request: &Store,
    call_options: CallOptions,
) -> (Result<Stored, CallError>, Seen) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let wire = Arc::clone(&seen);
    let transport = service_fn(move |request: Request<Body>| {
        let (service, wire) = (service.clone(), Arc::clone(&wire));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            wire.lock().expect("not poisoned").request = text_of(&parts.headers, &body);
            let (parts, body) = match service.oneshot(Request::from_parts(parts, Full::new(body))).await {
                Ok(response) => response.into_parts(),
                Err(never) => match never {},
            };
            let body = body.collect().await?.to_bytes();
            wire.lock().expect("not poisoned").response = text_of(&parts.headers, &body);
            Ok::<_, deltasoap::Error>(Response::from_parts(parts, Full::new(body)))
        }
    });
    let client = Client::builder("http://test/").version(version).attachments(attachments).build_with(transport);
    let result = client.expect("a client").call_as_with::<Stored>(request, call_options).await;
    let result = match result {
        Ok(mut response) => {
            let content = response.attachments.bytes(&response.body.content).await.expect("the part");
            response.body.content = content.into();
            Ok(response.body)
        }
        Err(error) => Err(error),
    };
    (result, std::mem::take(&mut *seen.lock().expect("not poisoned")))
}

#[tokio::test]
async fn binary_values_become_parts_where_mtom_is_on_and_they_are_long() {
    let long = bytes(5000, 1);
    let request = Store { more: vec![bytes(10, 2).into(), bytes(6000, 3).into()], ..request(long.clone()) };
    let expected = Stored { lengths: vec![5000, 10, 6000], content: long.into(), others: vec![] };
    for (mtom, is_package) in [(Mtom::Off, false), (Mtom::Auto, true), (Mtom::On, true)] {
        for version in [Version::Soap11, Version::Soap12] {
            let options = AttachmentOptions { mtom, ..AttachmentOptions::client() };
            let call_options = CallOptions::new().action("urn:act");
            let (result, seen) = call(service(), options, version, &request, call_options).await;
            assert_eq!(result.expect("a response"), expected, "{mtom:?}");
            for (media, text) in [&seen.request, &seen.response] {
                assert_eq!(media.starts_with("multipart/related; boundary="), is_package, "{media}");
                assert_eq!(text.contains("xop:Include"), is_package);
                let info = "type=\"application/xop+xml\"; start=\"<root.";
                let start_info = format!("start-info=\"{}\"", version.media_type());
                assert_eq!(media.contains(info) && media.contains(&start_info), is_package, "{media}");
            }
            let parts = seen.request.1.matches("Content-ID: <binary-").count();
            assert_eq!(parts, if is_package { 2 } else { 0 }, "the short one stands in the message");
            let has_action = seen.request.0.contains("action=\"urn:act\"");
            assert_eq!(has_action, version == Version::Soap12, "{}", seen.request.0);
        }
    }
}

#[tokio::test]
async fn messages_without_long_values_go_by_themselves_unless_mtom_is_on() {
    for (mtom, is_package) in [(Mtom::Auto, false), (Mtom::On, true)] {
        let (result, seen) = call(
            service(),
            AttachmentOptions::client(),
            Version::Soap11,
            &request(bytes(10, 0)),
            CallOptions::new().mtom(mtom),
        )
        .await;
        assert_eq!(result.expect("a response").lengths, [10]);
        assert_eq!(seen.request.0.starts_with("multipart/related"), is_package);
        assert!(seen.response.0.starts_with("text/xml"), "{}", seen.response.0);
    }
    let always = AttachmentOptions { mtom: Mtom::On, threshold: 1, ..AttachmentOptions::server() };
    let service = builder().attachments(always).build().expect("a service");
    let plain = AttachmentOptions::client();
    let (result, seen) = call(service, plain, Version::Soap11, &request(bytes(10, 0)), CallOptions::new()).await;
    assert_eq!(result.expect("a response").content, bytes(10, 0).into());
    assert!(seen.request.0.starts_with("text/xml") && seen.response.0.contains("xop+xml"));
}

#[tokio::test]
async fn attached_parts_go_in_mime_or_dime() {
    for is_dime in [false, true] {
        for version in [Version::Soap11, Version::Soap12] {
            let content = Part::new("the content@x y", "image/png", bytes(300, 5));
            let other =
                Part::stream("other", "text/plain", stream::iter(["to ", "", "be"]).map(|text| Ok(text.into())));
            let options = AttachmentOptions { dime: is_dime, ..AttachmentOptions::client() };
            let call_options = CallOptions::new().part(other.clone()).part(content.clone());
            let (result, seen) = call(service(), options, version, &request(content.binary()), call_options).await;
            let stored = result.expect("a response");
            assert_eq!(stored.content, bytes(300, 5).into());
            assert_eq!(stored.others, ["other text/plain 5"]);
            assert!(seen.request.1.contains(r#"href="cid:the%20content@x%20y""#));
            assert_eq!(seen.request.0 == "application/dime", is_dime);
            assert_eq!(seen.request.0.contains(&format!("type=\"{}\"", version.media_type())), !is_dime);
        }
    }
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Fetch {
    parts: i32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Fetched {
    part: Vec<Binary>,
}

async fn fetch(fetch: Lease<Fetch>) -> Result<Reply<Fetched>, Fault> {
    let parts: Vec<_> = (0..fetch.parts).map(|n| Part::new(format!("{n}@x"), "a/b", bytes(1000, n as u8))).collect();
    let body = Fetched { part: parts.iter().map(Part::binary).collect() };
    Ok(parts.into_iter().fold(Reply::new(body), Reply::with_part))
}

#[tokio::test]
async fn responses_have_parts_that_are_read_in_any_order() {
    let (address, handle) = serve(SoapService::builder().operation(fetch).build().expect("a service")).await;
    let limits = AttachmentLimits { memory: 2500, ..AttachmentLimits::default() };
    let options = AttachmentOptions { limits, ..AttachmentOptions::client() };
    let client = Client::builder(format!("http://{address}/")).attachments(options).build().expect("a client");
    for _ in 0..3 {
        let mut response =
            client.call_as_with::<Fetched>(&Fetch { parts: 6 }, CallOptions::new()).await.expect("a response");
        for n in [4, 1, 5, 0, 2, 3] {
            let part = response.attachments.bytes(&response.body.part[n]).await.expect("a part");
            assert_eq!(part, bytes(1000, n as u8));
        }
        let again = response.attachments.bytes(&response.body.part[0]).await.expect_err("was taken");
        assert!(again.to_string().contains("there is no part \"cid:0@x\""), "{again}");
    }
    let plain: Fetched = client.call_as(&Fetch { parts: 2 }).await.expect("a response");
    assert_eq!(plain.part[1], Binary::part("1@x"));
    let leased = client.call_leased_as::<Fetched>(&Fetch { parts: 2 }).await.expect("a response");
    assert_eq!(leased.part.len(), 2);
    handle.shutdown();
}

/// Returns a package of parts with these headers and contents.
fn related(parts: &[(&str, &str)]) -> String {
    let parts = parts.iter().map(|(headers, content)| format!("--b\r\n{headers}\r\n\r\n{content}\r\n"));
    parts.collect::<String>() + "--b--\r\n"
}

fn envelope(content: &str) -> String {
    let store = format!("<t:Store xmlns:t='urn:test'><name>n</name><content {content}</t:Store>");
    format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{store}</s:Body></s:Envelope>")
}

fn include(href: &str) -> String {
    let include = format!("<i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='{href}'/>");
    envelope(&format!(">{include}</content>"))
}

const XOP: &str = "multipart/related; boundary=b; type=\"application/xop+xml\"; start-info=\"text/xml\"";

/// Posts a package in pieces of several sizes, which must make no difference. Returns the relevant
/// part of the answer.
async fn answer(service: &SoapService, media: &str, package: impl AsRef<[u8]>) -> String {
    let mut answers = Vec::new();
    for size in [1, 50, usize::MAX] {
        let answered = post_pieces(service, media, package.as_ref(), size).await;
        answers.push(format!("{} {}", answered.status.as_u16(), answered.body));
    }
    let without_part = |text: &String| text.split(" (part").next().map(str::to_owned);
    assert!(answers.iter().all(|other| without_part(other) == without_part(&answers[0])), "{answers:#?}");
    answers.swap_remove(0)
}

#[tokio::test]
async fn the_root_may_stand_anywhere_and_be_encoded() {
    let service = service();
    let root = include("cid:a%40x");
    let headers = "Content-ID: <r>\r\nContent-Type: application/xop+xml";
    let part = ("Content-ID: <a@x>\r\nContent-Transfer-Encoding: base64", "Zm9v\r\nYmFy\r\n");
    let found = |text: &str| text.starts_with("200 ") && text.contains("<lengths>6</lengths>");
    let first = related(&[(headers, &root), part]);
    assert!(found(&answer(&service, XOP, &first).await));
    assert!(found(&answer(&service, &format!("{XOP}; start=\"<r>\""), &first).await));
    let last = related(&[part, ("X: y", "z"), (headers, &root)]);
    assert!(found(&answer(&service, &format!("{XOP}; start=r"), &last).await));
    let quoted = root.replace('=', "=3D").replace("<s:Body>", "<s:Body>=\r\n");
    let headers = "Content-Type: text/xml; charset=utf-8\r\ncontent-transfer-encoding: Quoted-Printable";
    assert!(found(&answer(&service, XOP, &related(&[(headers, &quoted), part])).await));
    let mixed = "Multipart/Related; BOUNDARY=\"b\"";
    assert!(found(&answer(&service, mixed, &related(&[("Content-Type: text/xml", &root), part])).await));
}

#[tokio::test]
async fn packages_at_fault_are_answered_with_a_fault() {
    let (service, root) = (service(), include("cid:a"));
    let xml = "Content-Type: text/xml";
    let latin = || "<?xml version='1.0' encoding='latin1'?>".to_owned();
    let no_start = format!("{XOP}; start=\"<nowhere>\"");
    for (media, package, status, expected) in [
        (XOP, related(&[]), 400, "the package ended before a first part"),
        (XOP, "nothing".to_owned(), 400, "the package ended before the first boundary"),
        (XOP, related(&[(xml, &root)])[..50].to_owned(), 400, "before the last boundary"),
        (&no_start, related(&[(xml, &root)]), 400, "the part that the media type names as its start"),
        (XOP, related(&[("Content-Type: image/png", &root)]), 400, "not an XML message"),
        (XOP, related(&[("Content-Type: text/xml; charset=koi8-r", &root)]), 400, "not an XML message"),
        (XOP, related(&[("Content-Type: text/xml; charset=iso-8859-1", &(latin() + &root))]), 500, "there is no part"),
        (XOP, related(&[("Content-Type: text/xml; charset=utf-8", &(latin() + &root))]), 400, "is in ISO-8859-1"),
        (XOP, related(&[("Content-Type: text/xml; charset=utf-16", &root)]), 400, "says charset=utf-16, but"),
        (XOP, related(&[("Content-Transfer-Encoding: x", &root)]), 400, "unknown Content-Transfer-Encoding: \"x\""),
        (XOP, related(&[(xml, &root)]), 500, "there is no part \"cid:a\""),
        (
            XOP,
            related(&[("Content-ID: a", &root), ("Content-ID: <a>", "")]),
            500,
            "two parts have the content ID \"a\"",
        ),
        (XOP, related(&[(xml, &root), ("Content-Transfer-Encoding: base64\r\nContent-ID: a", "?")]), 500, "base64"),
        (XOP, related(&[(xml, "<no-envelope/>")]), 500, "not a SOAP Envelope"),
        ("application/dime", "not a record".to_owned(), 400, "not of DIME&#39;s version 1"),
        ("multipart/related; boundary=\"b \"", related(&[]), 400, "has no boundary, or an invalid one"),
    ] {
        let answer = answer(&service, media, &package).await;
        let answer = answer.replace("&apos;", "&#39;").replace("DIME's", "DIME&#39;s");
        assert!(answer.starts_with(&status.to_string()) && answer.contains(expected), "{expected}: {answer}");
    }
    assert!(answer(&service, "multipart/related", "").await.starts_with("415"));
    assert!(answer(&service, "multipart/form-data; boundary=b", "").await.starts_with("415"));
}

#[tokio::test]
async fn nothing_outside_of_the_package_is_looked_up() {
    let service = service();
    for href in ["http://localhost:9/x", "file:///etc/passwd", "//host/x", "x"] {
        let reply = answer(&service, XOP, &related(&[("Content-Type: text/xml", &include(href))])).await;
        assert!(reply.contains("a cid: URL; no other URL is resolved"), "{reply}");
        let attribute = envelope(&format!("href='{href}'/>"));
        let reply = answer(&service, XOP, &related(&[("Content-Type: text/xml", &attribute)])).await;
        assert!(reply.contains("there is no part"), "{reply}");
    }
    let located = related(&[("X: y", &envelope("href='http://h/x'/>")), ("Content-Location: http://h/x", "12345")]);
    assert!(answer(&service, XOP, &located).await.contains("<lengths>5</lengths>"));
    // A message without a package has no parts.
    assert!(answer(&service, "text/xml", &include("cid:a")).await.contains("there is no part"));
    let reply = answer(&service, "text/xml", &envelope("href='#a'/>")).await;
    assert!(reply.contains("reference #a: no element has this id"), "{reply}");
}

#[tokio::test]
async fn limits_are_told() {
    let part = |id: &str, len: usize| (format!("Content-ID: {id}"), "x".repeat(len));
    let package = |parts: &[(String, String)]| {
        let root = [("X: y".to_owned(), include("cid:last"))];
        let parts: Vec<_> = root.iter().chain(parts).map(|(headers, data)| (headers.as_str(), data.as_str())).collect();
        related(&parts)
    };
    let default = AttachmentLimits::default();
    let last = part("last", 10);
    for (limits, parts, name) in [
        (AttachmentLimits { parts: 2, ..default }, vec![part("a", 1), last.clone()], "parts"),
        (AttachmentLimits { headers: 100, ..default }, vec![part(&"a".repeat(100), 1)], "headers"),
        (AttachmentLimits { part: 400, ..default }, vec![part("a", 401), last.clone()], "part"),
        (AttachmentLimits { total: 800, ..default }, vec![part("a", 500), last.clone()], "total"),
        (AttachmentLimits { whole: 400, ..default }, vec![part("last", 401)], "whole"),
        (AttachmentLimits { memory: 10, spilled: 400, ..default }, vec![part("a", 401), last.clone()], "spilled"),
    ] {
        let limited = builder().attachments(options(limits)).build().expect("a service");
        let package = package(&parts);
        let reply = post_pieces(&limited, XOP, package.as_bytes(), 64).await.body;
        assert!(reply.contains(&format!("the limit `{name}` of ")), "{name}: {reply}");
        assert!(answer(&service(), XOP, &package).await.contains("lengths") || name == "headers");
    }
    let limits = AttachmentLimits { total: 100, ..default };
    let limited = builder().attachments(options(limits)).build().expect("a service");
    assert_eq!(post_pieces(&limited, XOP, package(&[last]).as_bytes(), 64).await.status, 413);
}

#[tokio::test]
async fn parts_that_come_too_early_are_spilled_to_files() {
    let limits = AttachmentLimits { memory: 64 << 10, ..AttachmentLimits::default() };
    let service = builder().attachments(options(limits)).build().expect("a service");
    let (address, handle) = serve(service).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let part = |n: u8, len| Part::new(format!("{n}@x"), "a/b", bytes(len, n));
    let parts = [part(0, 3_000_000), part(1, 50_000), part(2, 40_000), part(3, 10)];
    let request = Store { more: parts.iter().map(Part::binary).collect(), ..request(parts[3].binary()) };
    let request = Store { more: request.more[..3].iter().rev().cloned().collect(), ..request };
    let mtom = CallOptions::new().mtom(Mtom::On);
    let options = parts.into_iter().fold(mtom, CallOptions::part);
    let stored: Stored = client.call_as_with(&request, options).await.expect("a response").body;
    assert_eq!((stored.lengths, stored.content), (vec![10, 40_000, 50_000, 3_000_000], bytes(10, 3).into()));
    handle.shutdown();
}

/// Equal bytes of the message, different bytes of the part.
#[tokio::test]
async fn a_reference_that_is_the_same_means_the_part_of_its_own_message() {
    let service = service();
    let stats = service.stats();
    let (address, handle) = serve(service).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    for round in 0..6_u8 {
        let request = Store { name: "n".repeat(3000), ..request(bytes(5000, round)) };
        let options = CallOptions::new().mtom(Mtom::On);
        let mut response = client.call_as_with::<Stored>(&request, options).await.expect("a response");
        let content = response.attachments.bytes(&response.body.content).await.expect("the part");
        assert_eq!(content, bytes(5000, round), "round {round}");
    }
    let differential = stats.snapshot().differential;
    assert!(differential.compared >= 3 && differential.fast_bytes > 9000, "{differential:?}");
    handle.shutdown();
}

#[tokio::test]
async fn values_change_between_text_and_parts() {
    let (address, handle) = serve(service()).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    for round in 0..12_u8 {
        let part = Part::new(format!("part-{}@x", round / 4), "a/b", bytes(100, round));
        let own = Store { more: vec![bytes(usize::from(round), 1).into(); 3], ..request(bytes(90, round)) };
        let (request, expected) = match round % 3 {
            0 => (own, bytes(90, round)),
            1 => (Store { content: part.binary(), ..own }, bytes(100, round)),
            _ => (Store { content: part.binary(), more: own.more[1..].to_vec(), ..own }, bytes(100, round)),
        };
        let stored: Stored =
            client.call_as_with(&request, CallOptions::new().part(part)).await.expect("a response").body;
        assert_eq!(stored.content, expected.into(), "round {round}");
        assert_eq!(stored.lengths.len(), 1 + request.more.len());
    }
    handle.shutdown();
}

#[tokio::test]
async fn files_and_streams_are_sent_while_they_are_read() {
    let (address, handle) = serve(service()).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("content");
    std::fs::write(&path, bytes(700_000, 9)).expect("a file");
    for dime in [false, true] {
        let options = AttachmentOptions { dime, ..AttachmentOptions::client() };
        let url = format!("http://{address}/");
        let client = Client::builder(url).attachments(options).build().expect("a client");
        let file = Part::file("f", "a/b", &path).await.expect("a file");
        let pieces = stream::iter(0..100_u8).map(|n| Ok(Bytes::from(bytes(usize::from(n), n))));
        let streamed = Part::stream("s", "a/b", pieces);
        let request = Store { more: vec![streamed.binary()], ..request(file.binary()) };
        let call_options = CallOptions::new().part(file).part(streamed);
        let stored: Stored = client.call_as_with(&request, call_options.clone()).await.expect("a response").body;
        assert_eq!((stored.lengths, stored.content), (vec![700_000, 4950], bytes(700_000, 9).into()));
        let again = client.call_as_with::<Stored>(&request, call_options).await.expect_err("sent before");
        assert!(matches!(again, CallError::Encode(_)), "{again}");
    }
    let wrong = [
        Part::stream("s", "a/b", stream::iter([Err(io::Error::other("no"))])),
        Part::stream("s", "a/b", stream::iter([Ok(Bytes::from_static(b"four"))])).with_len(5),
        Part::stream("s", "a/b", stream::iter([Ok(Bytes::from_static(b"four"))])).with_len(3),
    ];
    for part in wrong {
        let request = request(part.binary());
        let error = client.call_as_with::<Stored>(&request, CallOptions::new().part(part)).await.expect_err("broken");
        assert!(matches!(error, CallError::Encode(_)), "{error}");
    }
    let twice = [Part::new("same", "a/b", "1"), Part::new("<same>", "a/b", "2")];
    let options = twice.into_iter().fold(CallOptions::new(), CallOptions::part);
    let error = client.call_as_with::<Stored>(&request(bytes(1, 1)), options).await.expect_err("one ID");
    assert!(error.to_string().contains("two parts have the same content ID"), "{error}");
    handle.shutdown();
}

/// A body that stops in the middle of a part while the handler reads it.
#[tokio::test(start_paused = true)]
async fn a_part_that_stops_coming_is_an_error() {
    let service = builder().body_timeout(Duration::from_secs(5)).build().expect("a service");
    let package = related(&[("X: y", &include("cid:a")), ("Content-ID: a", "and so on")]);
    let first = Bytes::from(package[..package.len() - 12].to_owned());
    let body = stream::iter([Ok::<_, Infallible>(http_body::Frame::data(first))]).chain(stream::pending());
    let request = Request::post("/").header("content-type", XOP).body(http_body_util::StreamBody::new(body));
    let response = service.oneshot(request.expect("a request")).await.expect("infallible");
    let answered = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(String::from_utf8_lossy(&answered).contains("the package did not arrive in time"), "{answered:?}");
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Deliver {
    content: Binary,
}

#[tokio::test]
async fn a_one_way_message_is_accepted_with_all_its_parts() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    let deliver = move |mut context: Context, deliver: Lease<Deliver>| {
        let sender = sender.clone();
        async move {
            let content = context.attachments().bytes(&deliver.content).await?;
            let _ = sender.send(content).await;
            Ok::<_, AttachmentError>(())
        }
    };
    let operation = Operation::new(deliver);
    let service = SoapService::builder().add_operation(operation).build().expect("a service");
    let (address, handle) = serve(service.clone()).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    let part = Part::new("a", "a/b", bytes(300_000, 7));
    client.send_with(&Deliver { content: part.binary() }, CallOptions::new().part(part)).await.expect("accepted");
    assert_eq!(receiver.recv().await.expect("delivered"), bytes(300_000, 7));
    let body = envelope("").replace("<name>n</name><content ", "").replace("Store", "Deliver");
    let body = body.replace("</t:", "<content href='cid:a'/></t:");
    let cut = related(&[("X: y", &body), ("Content-ID: a", "data")]);
    let answered = post_pieces(&service, XOP, &cut.as_bytes()[..cut.len() - 10], 64).await;
    assert!(answered.status == 400 && answered.body.contains("before the last boundary"), "{}", answered.body);
    handle.shutdown();
}

#[tokio::test]
async fn bodies_of_any_length_can_be_posted_in_pieces() {
    let service = service();
    let package = related(&[("X: y", &include("cid:a")), ("Content-ID: a", "12345678")]);
    for size in 1..200 {
        let request = Request::post("/").header("content-type", XOP).body(Pieces::of(package.as_bytes(), size));
        let response = service.clone().oneshot(request.expect("a request")).await.expect("infallible");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("<lengths>8</lengths>"), "{size}");
    }
    assert_eq!(PartUri::from_content_id("a").to_string(), "cid:a");
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Act {}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Acted {
    action: Option<String>,
}

#[tokio::test]
async fn the_action_is_found_in_all_its_places() {
    let act = async |context: Context, _: Lease<Act>| Ok::<_, Fault>(Acted { action: context.action() });
    let service = SoapService::builder().operation(act).build().expect("a service");
    let body = "<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'><s:Body><t:Act xmlns:t='urn:test'/></s:Body>\
                </s:Envelope>";
    let package = related(&[("Content-Type: application/xop+xml", body)]);
    let inside = r#"start-info="application/soap+xml; action=\"urn:a\"""#;
    for parameter in ["action=\"urn:a\"", "action=urn:a", inside] {
        let media = format!("multipart/related; boundary=b; {parameter}");
        let reply = answer(&service, &media, &package).await;
        assert!(reply.contains("<action>urn:a</action>"), "{reply}");
    }
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Glance {
    part: Option<String>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Glanced {
    first: i32,
}

/// Reads the requested part, or none, and ignores errors.
async fn glance(mut context: Context, request: Lease<Glance>) -> Result<Glanced, Fault> {
    let first = match &request.part {
        Some(id) => context.attachments().bytes(&Binary::part(id)).await.map_or(-1, |part| part.len() as i32),
        None => 0,
    };
    Ok(Glanced { first })
}

fn glance_envelope(part: Option<&str>) -> String {
    let part = part.map_or(String::new(), |id| format!("<part>{id}</part>"));
    let body = format!("<t:Glance xmlns:t='urn:test'>{part}</t:Glance>");
    format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>")
}

/// Returns packages whose message and first part `a` are valid, with the error that follows.
fn invalid_after_the_first_part(root: &str) -> Vec<(String, u16, &'static str)> {
    let valid = related(&[("Content-ID: r", root), ("Content-ID: a", "12345")]);
    let open = valid.strip_suffix("--b--\r\n").expect("a last boundary").to_owned();
    let with = |rest: &str| format!("{open}{rest}");
    let part = |headers: &str| with(&format!("--b\r\n{headers}\r\n\r\nx\r\n--b--\r\n"));
    vec![
        (part("Content-ID: <a>"), 400, "two parts have the content ID \"a\""),
        (part("Content-ID: <r>"), 400, "two parts have the content ID \"r\""),
        (
            part("Content-Location: x\r\n\r\n1\r\n--b\r\nContent-Location: x"),
            400,
            "two parts have the content ID \"x\"",
        ),
        (part("Content-ID: b\r\ncontent-id: c"), 400, "a part has two headers Content-ID"),
        (part(&format!("X: {}", "y".repeat(400))), 413, "the limit `headers` of 300"),
        (part(&"X: y\r\n".repeat(101).trim_end().replace("X: y", "X:")), 413, "the limit `headers` of 300"),
        (part(&"X:\n".repeat(101)[..302]), 413, "the limit `headers` of 300"),
        (part("no colon"), 400, "a header of a part has no colon"),
        (part("Content-Transfer-Encoding: x"), 400, "unknown Content-Transfer-Encoding"),
        (with("--b\r\n\r\n3\r\n--b\r\n\r\n4\r\n--b\r\n\r\n5\r\n--b--\r\n"), 413, "the limit `parts` of 4"),
        (with(&format!("--b\r\n\r\n{}\r\n--b--\r\n", "z".repeat(3000))), 413, "the limit `part` of 2000"),
        (with("--b--junk\r\n"), 400, "unexpected text follows the last boundary on its line"),
        (with("--b-- \t.\r\n"), 400, "unexpected text follows the last boundary on its line"),
        (with("--b\r\n\r\n3\r\n--bjunk\r\n\r\n"), 400, "unexpected text follows a boundary on its line"),
        (with(""), 400, "the package ended before the last boundary"),
        (with("--b-"), 400, "the package ended before the end of a boundary"),
        (with("--b\r\n\r\n3\r\n"), 400, "the package ended before the last boundary"),
        (format!("{valid}{}", "e".repeat(5000)), 413, "the limit `total` of 5000"),
    ]
}

fn glancing() -> SoapService {
    let limits = AttachmentLimits { parts: 4, headers: 300, part: 2000, total: 5000, ..AttachmentLimits::default() };
    let builder = SoapService::builder().operation(glance);
    builder.attachments(options(limits)).build().expect("a service")
}

#[tokio::test]
async fn a_package_is_checked_to_its_end_before_its_answer_counts() {
    let service = glancing();
    for part in [None, Some("a")] {
        let root = glance_envelope(part);
        for valid in ["--b--\r\n", "--b--", "--b-- \t\r\n", "--b--\r\nan epilogue --b", "--b\r\n\r\n3\r\n--b--"] {
            let package = related(&[("Content-ID: r", &root), ("Content-ID: a", "12345")]).replace("--b--\r\n", valid);
            let reply = answer(&service, XOP, &package).await;
            let first = part.map_or(0, |_| 5);
            assert!(
                reply.starts_with("200 ") && reply.contains(&format!("<first>{first}</first>")),
                "{valid:?}: {reply}"
            );
        }
        for (package, status, expected) in invalid_after_the_first_part(&root) {
            let reply = answer(&service, XOP, &package).await;
            assert!(reply.starts_with(&status.to_string()) && reply.contains(expected), "{part:?} {expected}: {reply}");
        }
    }
    // An error that the handler ignores still makes the package invalid.
    let root = glance_envelope(Some("a"));
    let broken = related(&[("Content-ID: r", &root), ("Content-ID: a\r\nContent-Transfer-Encoding: base64", "?")]);
    let reply = answer(&service, XOP, &broken).await;
    assert!(reply.starts_with("400 ") && reply.contains("the package is invalid: "), "{reply}");
    // The handler decides about a missing part.
    let without = related(&[("Content-ID: r", &root)]);
    assert!(answer(&service, XOP, &without).await.contains("<first>-1</first>"));
}

#[tokio::test]
async fn a_one_way_message_is_checked_to_its_packages_end() {
    let operation = Operation::new(async |_: Lease<Glance>| Ok::<_, Fault>(()));
    let limits = AttachmentLimits { parts: 4, headers: 300, part: 2000, total: 5000, ..AttachmentLimits::default() };
    let service = SoapService::builder().attachments(options(limits)).add_operation(operation).build();
    let (service, root) = (service.expect("a service"), glance_envelope(None));
    for (package, status, expected) in invalid_after_the_first_part(&root) {
        let reply = answer(&service, XOP, &package).await;
        assert!(reply.starts_with(&status.to_string()) && reply.contains(expected), "{expected}: {reply}");
    }
}

#[tokio::test]
async fn bytes_after_the_last_record_of_dime_are_refused() {
    let record = |flags: u8, kind: u8, id: &str, name: &str, data: &str| {
        let mut bytes = vec![8 | flags, kind << 4, 0, 0, 0, id.len() as u8, 0, name.len() as u8];
        bytes.extend((data.len() as u32).to_be_bytes());
        for text in [id, name, data] {
            bytes.extend(text.bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    };
    let (service, root) = (glancing(), glance_envelope(None));
    let message = record(4, 2, "r", "http://schemas.xmlsoap.org/soap/envelope/", &root);
    let valid = [&message[..], &record(2, 1, "a", "a/b", "1")].concat();
    assert!(answer(&service, "application/dime", &valid).await.starts_with("200 "));
    for (package, expected) in [
        ([&valid[..], b"\r\n"].concat(), "bytes follow the last record"),
        (valid[..valid.len() - 1].to_vec(), "the package ended before a record"),
        (message.clone(), "the package ended before the last record"),
        ([message, record(0, 1, "cid:a", "a/b", "1"), record(2, 1, "cid:a", "a/b", "1")].concat(), "two parts have"),
    ] {
        let reply = answer(&service, "application/dime", &package).await;
        assert!(reply.starts_with("400 ") && reply.contains(expected), "{expected}: {reply}");
    }
}

/// A server may be hostile too.
#[tokio::test]
async fn a_client_checks_the_package_of_a_response_to_its_end() {
    let root = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><t:Glanced xmlns:t='urn:test'>\
                <first>1</first></t:Glanced></s:Body></s:Envelope>";
    let limits = AttachmentLimits { parts: 4, headers: 300, part: 2000, total: 5000, ..AttachmentLimits::default() };
    let client = |package: String| {
        let transport = service_fn(move |_: Request<Body>| {
            let response = Response::builder().header("content-type", XOP);
            let response = response.body(Pieces::of(package.as_bytes(), 100)).expect("a response");
            async move { Ok::<_, Infallible>(response) }
        });
        Client::builder("http://test/").attachments(options(limits)).build_with(transport).expect("a client")
    };
    let valid = client(related(&[("Content-ID: r", root), ("Content-ID: a", "12345")]));
    let request = Glance { part: None };
    assert_eq!(valid.call_as::<Glanced>(&request).await.expect("a response").first, 1);
    for (package, _, expected) in invalid_after_the_first_part(root) {
        let client = client(package);
        let error = client.call_as::<Glanced>(&request).await.expect_err(expected);
        assert!(matches!(&error, CallError::Attachment(error) if error.to_string().contains(expected)), "{error:?}");
        let error = client.call_leased_as::<Glanced>(&request).await.expect_err(expected);
        assert!(matches!(&error, CallError::Attachment(error) if error.to_string().contains(expected)), "{error:?}");
        // The message is valid, and so is its part if it is complete; the error comes later.
        let mut response = client.call_as_with::<Glanced>(&request, CallOptions::new()).await.expect("a message");
        let part = response.attachments.bytes(&Binary::part("a")).await;
        assert!(part.map_or_else(|error| error.to_string().contains(expected), |part| part == "12345"));
        let error = response.into_body().await.expect_err(expected);
        assert!(matches!(&error, CallError::Attachment(error) if error.to_string().contains(expected)), "{error:?}");
    }
}
