//! Bodies without a wrapping element: empty, or with several parts.

use crate::support::send;
use deltasoap_core::soap::{Fault, Version};
use deltasoap_dynamic::{Contract, DynamicClient, DynamicError, Mock};
use deltasoap_http::SoapService;
use serde_json::{Value as Json, json};

fn contract() -> Contract {
    Contract::from_text(include_str!("../data/bare.wsdl")).expect("a description")
}

fn client(mock: Mock) -> DynamicClient<SoapService> {
    DynamicClient::with_transport(contract(), mock.service().expect("a service"))
}

fn moved() -> Json {
    json!({ "from": 1, "to": { "place": "there" } })
}

#[tokio::test]
async fn the_action_tells_empty_bodies_apart() {
    for version in [Version::Soap11, Version::Soap12] {
        let mock = Mock::new(contract()).answer("Get", &json!("a thing")).expect("an operation");
        let mock = mock.handle("Ping", |_| Err(Box::new(Fault::sender("pinged")))).expect("an operation");
        let client = client(mock).version(version);
        assert_eq!(client.call("Get", &json!({})).await.expect("a response"), json!("a thing"));
        assert_eq!(client.call("Put", &json!("a thing")).await.expect("a response"), json!({}));
        assert_eq!(client.call("Stop", &json!({})).await.expect("nothing"), Json::Null);
        match client.call("Ping", &json!({})).await {
            Err(DynamicError::Fault(fault)) => assert_eq!(fault.fault.reason, "pinged"),
            other => panic!("{other:?}"),
        }
    }
}

/// If no action is declared, none is sent; of the operations without a body, the one without an
/// action is called.
#[tokio::test]
async fn an_operation_without_an_action_may_have_an_empty_body() {
    let text = include_str!("../data/bare.wsdl").replace(" soapAction=\"urn:bare#ping\"", "");
    let contract = || Contract::from_text(&text).expect("a description");
    for version in [Version::Soap11, Version::Soap12] {
        let service = Mock::new(contract()).service().expect("a service");
        let client = DynamicClient::with_transport(contract(), service).version(version);
        assert_eq!(client.call("Ping", &json!({})).await.expect("a response"), json!({}));
        assert_eq!(client.call("Stop", &json!({})).await.expect("nothing"), Json::Null);
    }
}

#[tokio::test]
async fn several_parts_stand_side_by_side() {
    for version in [Version::Soap11, Version::Soap12] {
        let mock = Mock::new(contract()).handle("Move", |mut request| {
            request["from"] = json!(request["from"].as_i64().unwrap_or_default() + 1);
            Ok(request)
        });
        let client = client(mock.expect("an operation")).version(version);
        for _ in 0..3 {
            let expected = json!({ "from": 2, "to": { "place": "there" } });
            assert_eq!(client.call("Move", &moved()).await.expect("a response"), expected);
        }
    }
}

fn envelope(body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body xmlns='urn:bare'>{body}</s:Body></s:Envelope>"
    )
}

/// Sends a message unchanged.
async fn post(action: &str, body: &str) -> (u16, String) {
    let service = Mock::new(contract()).service().expect("a service");
    send(service, http::Request::post("/").header("soapaction", action), envelope(body)).await
}

#[tokio::test]
async fn what_is_missing_or_too_much_is_refused() {
    let (status, text) = post("urn:bare#move", "<from>1</from><to><place>x</place></to>").await;
    assert_eq!(status, 200, "{text}");
    for (action, body, message) in [
        ("urn:bare#move", "<from>1</from>", "missing element"),
        ("urn:bare#move", "<from>1</from><from>1</from>", "expected &lt;{urn:bare}to"),
        ("urn:bare#move", "<from>1</from><to><place/></to><to><place/></to>", "expected no more parts"),
        ("urn:bare#put", "<thing/><thing/>", "more than one element"),
        ("urn:bare#other", "", "the Body is empty"),
        ("", "", "the Body is empty"),
    ] {
        let (status, text) = post(action, body).await;
        assert!(status == 500 && text.contains(message), "{body}: {text}");
    }
}

#[test]
fn such_messages_are_validated() {
    let contract = contract();
    assert_eq!(contract.validate(envelope("").as_bytes()), []);
    assert_eq!(contract.validate(envelope("<from>1</from><to><place/></to>").as_bytes()), []);
    let findings = contract.validate(envelope("<from>x</from><to><place/></to>").as_bytes());
    assert_eq!(findings[0].path, "/Envelope/Body/from");
    let findings = contract.validate(envelope("<from>1</from>").as_bytes());
    assert!(findings[0].message.contains("missing element <{urn:bare}to>"), "{findings:?}");
}

#[test]
fn recorded_answers_have_parts_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = envelope("<from>7</from><to><place>here</place></to>");
    std::fs::write(folder.path().join("Move.xml"), message).expect("a file");
    std::fs::write(folder.path().join("Ping.xml"), envelope("")).expect("a file");
    assert!(Mock::new(contract()).recorded(folder.path()).is_ok());
}

#[tokio::test]
async fn the_page_begins_with_samples() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    for (contract, query, expected) in [
        (contract(), "sample=from&ns=urn:bare", "from xmlns:"),
        (contract(), "sample=ping&ns=", "Body/>"),
        (
            Contract::from_text(include_str!("../data/shop.wsdl")).expect("a description"),
            "sample=Order&ns=urn:shop",
            "A-1<",
        ),
    ] {
        let service = Mock::new(contract).service().expect("a service");
        let request = http::Request::get(format!("http://localhost/?{query}")).header("accept", "text/html");
        let response = service.oneshot(request.body(deltasoap_http::Body::default()).expect("a request")).await;
        let bytes = response.expect("a response").into_body().collect().await.expect("a body").to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains(expected), "{text}");
    }
}
