//! Shared values over the wire: written once, or copied if configured.

use bytes::Bytes;
use deltasoap::client::{CallError, CallOptions};
use deltasoap::engine::{Buffer, Differential};
use deltasoap::schema::Use;
use deltasoap::server::Connection;
use deltasoap::soap::{Envelope, Version};
use deltasoap::types::Shared;
use deltasoap::{Client, Fault, Lease, Soap, SoapService};
use http::Request;
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:g")]
struct Vertex {
    name: String,
    next: Option<Shared<Vertex>>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:g")]
struct Pair {
    one: Shared<Vertex>,
    other: Shared<Vertex>,
}

/// The received values, and whether they were shared.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:g")]
struct Seen {
    shared: bool,
    back: Pair,
}

async fn seen(pair: Lease<Pair>) -> Result<Seen, Fault> {
    Ok(Seen { shared: Shared::ptr_eq(&pair.one, &pair.other), back: pair.clone() })
}

fn client(version: Version, server: bool, own: bool) -> Client<SoapService> {
    let service = SoapService::builder().encoding(Use::Encoded).references(server).operation(seen);
    let client = Client::builder("http://localhost/").version(version).encoding(Use::Encoded).references(own);
    client.build_with(service.build().expect("a service")).expect("a client")
}

fn pair(name: &str) -> Pair {
    let one = Shared::new(Vertex { name: name.to_owned(), next: None });
    Pair { other: one.clone(), one }
}

fn is_shared(pair: &Pair) -> bool {
    Shared::ptr_eq(&pair.one, &pair.other)
}

/// Long names: templates are kept for responses of more than 2 KiB.
fn names() -> [String; 3] {
    ["a".to_owned(), "b".repeat(3000), "c".repeat(3000)]
}

#[tokio::test]
async fn each_side_says_whether_it_writes_references() {
    for (version, server, own) in [Version::Soap11, Version::Soap12]
        .into_iter()
        .flat_map(|it| [(true, true), (true, false), (false, true)].map(|(server, own)| (it, server, own)))
    {
        let client = client(version, server, own);
        for name in names() {
            let seen: Seen = client.call_as(&pair(&name)).await.expect("a response");
            assert_eq!((seen.shared, is_shared(&seen.back)), (own, server && own), "{version:?} {name}");
            let options = CallOptions::new().references(!own);
            let seen: Seen = client.call_as_with(&pair(&name), options).await.expect("a response").body;
            assert_eq!((seen.shared, is_shared(&seen.back)), (!own, server && !own), "{version:?} {name}");
        }
    }
}

#[tokio::test]
async fn a_cycle_cannot_be_copied() {
    let ring = Shared::cyclic(|ring| Vertex { name: "a".to_owned(), next: Some(ring) });
    let ring = Pair { one: ring.clone(), other: ring };
    let error = client(Version::Soap11, true, false).call_as::<Seen>(&ring).await.expect_err("a cycle");
    assert!(matches!(&error, CallError::Encode(it) if it.to_string().contains("a cycle")), "{error}");
    let fault = client(Version::Soap11, false, true).call_as::<Seen>(&ring).await.expect_err("a cycle");
    assert!(matches!(fault, CallError::Fault(_)), "{fault}");
    let seen: Seen = client(Version::Soap11, true, true).call_as(&ring).await.expect("a response");
    assert!(seen.shared && is_shared(&seen.back));
}

/// Returns the response to a message, as text.
async fn answered(service: &SoapService, connection: Connection, message: String) -> String {
    let request = Request::post("/").header("content-type", "text/xml").extension(connection);
    let request = request.body(Full::<Bytes>::from(message)).expect("a request");
    let response = service.clone().oneshot(request).await.expect("infallible");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.into()).expect("UTF-8")
}

/// The service keeps requests on a connection, so their handles exist while the response is
/// written.
#[tokio::test]
async fn a_response_does_not_depend_on_what_is_kept_of_the_request() {
    let build =
        |differential| SoapService::builder().encoding(Use::Encoded).differential(differential).operation(seen).build();
    let forgetful = build(Differential::OFF).expect("a service");
    let keeping = build(Differential::default()).expect("a service");
    let connection = Connection::new();
    let vertex = |name: &str, next| Shared::new(Vertex { name: name.to_owned(), next });
    for round in 0..4 {
        let name = "n".repeat(if round < 2 { 1 } else { 3000 });
        let apart = Pair { one: vertex(&name, Some(vertex("b", None))), other: vertex(&name, None) };
        let below = vertex("below", None);
        let diamond = Pair { one: vertex(&name, Some(below.clone())), other: vertex("c", Some(below)) };
        for (pair, references) in [(apart, 0), (diamond, 2), (pair(&name), 2)] {
            let text = Envelope::new(&pair).encoding(Use::Encoded).write(Buffer::new()).expect("a message");
            let text = String::from_utf8(text.into_vec()).expect("UTF-8");
            assert_eq!(text.matches("href=").count(), references, "other handles than those of the message: {text}");
            let without = answered(&forgetful, Connection::new(), text.clone()).await;
            let with = answered(&keeping, connection.clone(), text).await;
            assert_eq!(with, without, "round {round}");
            assert_eq!(with.matches("href=").count(), references, "{with}");
        }
    }
}

#[test]
fn handles_outside_of_the_message_change_nothing() {
    for version in [Version::Soap11, Version::Soap12] {
        let write =
            |pair: &Pair| Envelope::new(pair).version(version).encoding(Use::Encoded).to_vec().expect("a message");
        let vertex = |next| Shared::new(Vertex { name: "a".to_owned(), next });
        let pair = Pair { one: vertex(Some(vertex(None))), other: vertex(None) };
        let alone = write(&pair);
        let (kept, weak) = (pair.one.clone(), pair.other.weak());
        assert_eq!(write(&pair), alone);
        let mixed = Pair { one: kept.clone(), other: kept };
        let text = String::from_utf8(write(&mixed)).expect("UTF-8");
        assert_eq!(text.matches("id0").count(), if version == Version::Soap11 { 3 } else { 2 }, "{text}");
        assert!(!text.contains("id1"), "what is within it is met once: {text}");
        drop(weak);
    }
}
