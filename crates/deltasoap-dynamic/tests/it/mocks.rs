//! Mocks of operations that accept the same element, and recorded answers with header blocks.

use crate::support::send;
use deltasoap_core::soap::Version;
use deltasoap_dynamic::{Contract, DynamicClient, Mock};
use deltasoap_http::SoapService;
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;

fn contract() -> Contract {
    Contract::from_text(include_str!("../data/alike.wsdl")).expect("a description")
}

fn service() -> SoapService {
    let mock = Mock::new(contract()).answer("Issue", &json!("issued")).expect("an operation");
    mock.answer("Cancel", &json!("cancelled")).expect("an operation").service().expect("a service")
}

#[tokio::test]
async fn the_action_tells_operations_with_the_same_element_apart() {
    for version in [Version::Soap11, Version::Soap12] {
        let client = DynamicClient::with_transport(contract(), service()).version(version);
        for (operation, expected) in [("Issue", "issued"), ("Cancel", "cancelled"), ("Issue", "issued")] {
            assert_eq!(client.call(operation, &json!("x")).await.expect("a response"), json!(expected));
        }
    }
    let alike = Mock::new(contract()).indistinguishable();
    assert_eq!(alike, [("S.Po11.Renew".to_owned(), "S.Po11.Cancel".to_owned())]);
}

/// Sends a request with an action in HTTP, and header blocks.
async fn post(action: Option<&str>, blocks: &str) -> String {
    let text = format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header>{blocks}</s:Header>\
         <s:Body><Ask xmlns='urn:alike'>x</Ask></s:Body></s:Envelope>"
    );
    let request = http::Request::post("/");
    let request = action.into_iter().fold(request, |request, action| request.header("soapaction", action));
    send(service(), request, text).await.1
}

#[tokio::test]
async fn an_action_in_a_header_block_tells_them_apart_too_and_without_any_none_is_guessed() {
    for namespace in ["http://www.w3.org/2005/08/addressing", "http://schemas.xmlsoap.org/ws/2004/08/addressing"] {
        let block = format!("<a:Action xmlns:a='{namespace}'> urn:cancel </a:Action>");
        assert!(post(None, &block).await.contains("cancelled"));
        assert!(post(Some("\"\""), &block).await.contains("cancelled"));
    }
    for action in [None, Some("\"urn:other\"")] {
        let text = post(action, "").await;
        assert!(text.contains("Fault") && text.contains("urn:issue") && text.contains("urn:cancel"), "{text}");
    }
}

#[tokio::test]
async fn the_page_offers_each_of_them() {
    let request = http::Request::get("http://localhost/").header("accept", "text/html");
    let response = service().oneshot(request.body(deltasoap_http::Body::default()).expect("a request")).await;
    let body = response.expect("a response").into_body().collect().await.expect("a body").to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    assert!(text.contains(">Ask (urn:issue)<") && text.contains(">Ask (urn:cancel)<"), "{text}");
}

#[tokio::test]
async fn recorded_answers_keep_their_header_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, body: &str| {
        let block =
            "<t:Session s:actor='http://schemas.xmlsoap.org/soap/actor/next' s:mustUnderstand='0'>abc</t:Session>";
        let text = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:alike'>\
             <s:Header>{block}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
        );
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write("Issue-1.xml", "<t:Answer>y</t:Answer>");
    for (version, next) in [
        (Version::Soap11, "http://schemas.xmlsoap.org/soap/actor/next"),
        (Version::Soap12, "http://www.w3.org/2003/05/soap-envelope/role/next"),
    ] {
        let service = Mock::new(contract()).recorded(folder.path()).expect("replies").service().expect("a service");
        let client = DynamicClient::with_transport(contract(), service).version(version);
        let reply = client.prepare("Issue").expect("an operation").send_json(&json!("x")).await;
        let reply = reply.expect("a response").expect("a response");
        assert_eq!(reply.head.headers.len(), 1, "{version:?}");
        let block = &reply.head.headers[0];
        assert_eq!((block.node.text().as_str(), block.role(version)), ("abc", Some(next)));
        assert_eq!(block.mandatory(version), Ok(false));
        assert!(block.node.attributes.iter().all(|(name, _)| name.namespace == version.namespace()));
    }
    // Its element alone does not identify the operation.
    write("a.xml", "<t:Answer>y</t:Answer>");
    let error = Mock::new(contract()).recorded(folder.path()).expect_err("an answer of one of three").to_string();
    assert!(error.contains("a.xml") && error.contains("both answer") && error.contains("Issue.xml"), "{error}");
    std::fs::remove_file(folder.path().join("a.xml")).expect("no file");
    // A fault has no place for them.
    write("Issue-fault.xml", "<s:Fault><faultcode>s:Server</faultcode><faultstring>no</faultstring></s:Fault>");
    let error = Mock::new(contract()).recorded(folder.path()).expect_err("a fault with a block").to_string();
    assert!(error.contains("header blocks of a fault"), "{error}");
}
