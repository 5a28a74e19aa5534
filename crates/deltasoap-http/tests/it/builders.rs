//! Settings of builders, in any order.

use crate::common::*;
use deltasoap::attachments::{AttachmentOptions, Mtom};
use deltasoap::client::ClientBuilder;
use deltasoap::engine::{Limits, Tolerance};
use deltasoap::server::{BuildError, SoapServiceBuilder};
use deltasoap::soap::Version;
use deltasoap::{Binary, Client, Lease, Soap, SoapService};
use http::StatusCode;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message, response = Kept)]
struct Keep {
    content: Binary,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:test", message)]
struct Kept {
    is_part: bool,
}

/// Returns the service with a limit on messages that is set before or after all limits.
fn limited(bytes: u64, is_last: bool) -> SoapService {
    let (limits, builder) = (Limits { depth: 20, ..Limits::server() }, SoapService::builder());
    let builder = match is_last {
        true => builder.limits(limits).message_limit(bytes),
        false => builder.message_limit(bytes).limits(limits),
    };
    let builder = builder.operation(async |request: Lease<Echo>| echoed(&request));
    builder.build().expect("a service")
}

#[tokio::test]
async fn limits_of_a_service_and_its_message_limit_both_hold() {
    let long = message(Version::Soap11, &[], &echo(&"x".repeat(5000)));
    let deep = long.replace("<soap:Body>", &format!("<soap:Header>{}</soap:Header><soap:Body>", nested(30)));
    for is_last in [false, true] {
        let limited_to = |bytes| limited(bytes, is_last);
        assert_eq!(post(&limited_to(10_000), "text/xml", &long).await.status, StatusCode::OK);
        assert_eq!(post(&limited_to(1000), "text/xml", &long).await.status, StatusCode::PAYLOAD_TOO_LARGE);
        let refused = post(&limited_to(10_000), "text/xml", &deep).await;
        assert!(refused.body.contains("`depth` of 20"), "{}", refused.body);
    }
}

fn nested(depth: usize) -> String {
    format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth))
}

/// Returns true if a client sends a binary value as a part.
async fn sends_parts(configure: impl FnOnce(ClientBuilder) -> ClientBuilder) -> bool {
    let keep = async |keep: Lease<Keep>| Kept { is_part: matches!(keep.content, Binary::Part(_)) };
    let service = SoapService::builder().operation(keep).build().expect("a service");
    let client = configure(Client::builder("http://localhost/")).build_with(service).expect("a client");
    client.call(&Keep { content: vec![1; 100].into() }).await.expect("a response").is_part
}

#[tokio::test]
async fn mtom_of_a_client_holds_whatever_its_other_attachment_options() {
    let options = || AttachmentOptions { threshold: 50, ..AttachmentOptions::client() };
    assert!(!sends_parts(|client| client.attachments(options())).await);
    assert!(sends_parts(|client| client.attachments(options()).mtom(Mtom::On)).await);
    assert!(sends_parts(|client| client.mtom(Mtom::On).attachments(options())).await);
    assert!(!sends_parts(|client| client.mtom(Mtom::On)).await, "the default threshold is larger");
}

#[tokio::test]
async fn limits_of_a_client_leave_its_tolerance() {
    let limits = Limits::default();
    let clients: [fn(ClientBuilder, Limits) -> ClientBuilder; 2] = [
        |client, limits| client.tolerance(Tolerance::Strict).limits(limits),
        |client, limits| client.limits(limits).tolerance(Tolerance::Strict),
    ];
    for configure in clients {
        let client = configure(Client::builder("http://localhost/"), limits).build().expect("a client");
        assert_eq!(client.decode_options().tolerance, Tolerance::Strict);
    }
}

#[test]
fn a_service_has_one_wsdl() {
    const WSDL: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"/>"#;
    let several: [fn(SoapServiceBuilder) -> SoapServiceBuilder; 2] = [
        |builder| builder.wsdl(WSDL).wsdl_named("shop.wsdl", WSDL),
        |builder| builder.wsdl_file("shop.wsdl").wsdl(WSDL),
    ];
    for describe in several {
        assert_eq!(describe(SoapService::builder()).build().err(), Some(BuildError::SeveralWsdls));
    }
    assert!(SoapService::builder().wsdl(WSDL).build().is_ok());
}
