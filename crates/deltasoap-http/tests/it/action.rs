//! Actions that contradict the body are refused; actions that real clients send are accepted.

use crate::common::*;
use deltasoap::server::{ActionCheck, Operation};
use deltasoap::soap::Version;
use deltasoap::{Fault, Lease, SoapService};
use http::{Request, StatusCode};
use std::convert::Infallible;

/// Builds a service: `Echo` with an action, `Fail` with another, `Describe` with none.
fn build(check: ActionCheck) -> SoapService {
    let repeat =
        Operation::new(async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request))).action("urn:test#Echo");
    let fail = Operation::new(async |_: Lease<Fail>| Err::<EchoResponse, _>(Fault::receiver("asked for")));
    let describe = Operation::new(async |_: Lease<Describe>| Ok::<_, Infallible>(echoed(&echo(""))));
    let builder = SoapService::builder().action_check(check);
    let builder = builder.add_operation(repeat).add_operation(fail.action("urn:test#Fail")).add_operation(describe);
    builder.build().expect("a service")
}

/// Posts `Echo` with this action as the header's value.
async fn echo_as(service: &SoapService, action: &str) -> Answered {
    let request = Request::post("/").header("content-type", "text/xml").header("soapaction", action);
    let body = message(Version::Soap11, &[], &echo("x"));
    send(service, request.body(Pieces::of(body.as_bytes(), 1000)).expect("a request")).await
}

async fn echo_as_12(service: &SoapService, content_type: &str) -> Answered {
    post(service, content_type, message(Version::Soap12, &[], &echo("x"))).await
}

#[tokio::test]
async fn another_operations_action_is_refused() {
    let service = build(ActionCheck::default());
    for action in ["\"urn:test#Fail\"", "urn:test#Fail", " \"urn:test#Fail\" "] {
        let answer = echo_as(&service, action).await;
        assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{action}");
        assert!(answer.body.contains(":Client</faultcode>"), "{}", answer.body);
        let reason = "the action \"urn:test#Fail\" contradicts the body: &lt;{urn:test}Echo&gt; is for an operation whose \
            action is \"urn:test#Echo\"";
        assert!(answer.body.replace("&quot;", "\"").contains(reason), "{}", answer.body);
    }
    let answer = echo_as_12(&service, "application/soap+xml; action=\"urn:test#Fail\"").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(":Sender<"), "{}", answer.body);
    // An operation without an action does not accept another operation's action.
    let body = message(Version::Soap11, &[], &Describe {});
    let request = Request::post("/").header("content-type", "text/xml").header("soapaction", "\"urn:test#Fail\"");
    let answer = send(&service, request.body(Pieces::of(body.as_bytes(), 1000)).expect("a request")).await;
    assert!(answer.body.contains("which has no action"), "{}", answer.body);
    assert_eq!(service.stats().snapshot().faults, 5);
}

#[tokio::test]
async fn two_actions_are_refused_unless_they_are_the_same() {
    let (service, body) = (build(ActionCheck::default()), message(Version::Soap11, &[], &echo("x")));
    for (other, status) in [("urn:test#Fail", 400), ("urn:test#Echo", 200)] {
        let request = Request::post("/").header("content-type", "text/xml");
        let request = request.header("soapaction", "urn:test#Echo").header("soapaction", other);
        let answer = send(&service, request.body(Pieces::of(body.as_bytes(), 1000)).expect("a request")).await;
        assert_eq!(answer.status, status, "{other}: {}", answer.body);
    }
}

/// A filter sees no other operation's action in any place.
#[tokio::test]
async fn the_action_of_another_operation_is_refused_in_each_place() {
    let service = build(ActionCheck::default());
    let (own, other) = ("urn:test#Echo", "urn:test#Fail");
    for (version, media) in [(Version::Soap11, "text/xml"), (Version::Soap12, "application/soap+xml")] {
        for (of_header, of_media, is_fine) in [(own, own, true), (own, other, false), (other, own, false)] {
            let request = Request::post("/").header("soapaction", of_header);
            let request = request.header("content-type", format!("{media}; action=\"{of_media}\""));
            let body = message(version, &[], &echo("x"));
            let answer = send(&service, request.body(Pieces::of(body.as_bytes(), 1000)).expect("a request")).await;
            assert_eq!(answer.status.is_success(), is_fine, "{media}, {of_header}, {of_media}: {}", answer.body);
        }
    }
}

/// The message of a package has headers of its own.
#[tokio::test]
async fn the_action_of_another_operation_is_refused_in_the_own_headers_of_a_root() {
    let service = build(ActionCheck::default());
    let body = message(Version::Soap12, &[], &echo("x"));
    for (action, is_fine) in [("urn:test#Echo", true), ("urn:test#Fail", false)] {
        for root in [
            format!("type=\"application/soap+xml\"; action=\"{action}\""),
            format!("type=\"application/soap+xml; action=\\\"{action}\\\"\""),
        ] {
            let package = format!("--b\r\nContent-Type: application/xop+xml; {root}\r\n\r\n{body}\r\n--b--\r\n");
            let inside = "type=\"application/xop+xml\"; start-info=\"application/soap+xml\"";
            let answer = post(&service, &format!("multipart/related; boundary=b; {inside}"), package).await;
            assert_eq!(answer.status.is_success(), is_fine, "{root}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn what_clients_send_is_taken() {
    // With quotes as .NET, CXF, zeep and gSOAP do; without as older ones; none, as SOAP 1.1 allows;
    // made up of namespace and name, as some clients do without a WSDL.
    let fine =
        ["\"urn:test#Echo\"", "urn:test#Echo", "\"\"", "", "''", "\"urn:test/Echo\"", "Echo", "\"urn:Test#Fail\""];
    for check in [ActionCheck::Refuse, ActionCheck::Log, ActionCheck::Ignore] {
        let service = build(check);
        for action in fine {
            assert_eq!(echo_as(&service, action).await.status, StatusCode::OK, "{check:?} {action}");
        }
        for content_type in [
            "application/soap+xml",
            "application/soap+xml; action=urn:test#Echo",
            "application/soap+xml; charset=utf-8; action=\"urn:test#Echo\"",
            "application/soap+xml; action=\"\"",
        ] {
            assert_eq!(echo_as_12(&service, content_type).await.status, StatusCode::OK, "{check:?} {content_type}");
        }
        let answer = post(&service, "text/xml", message(Version::Soap11, &[], &echo("x"))).await;
        assert_eq!(answer.status, StatusCode::OK, "no action at all");
    }
}

#[tokio::test]
async fn each_version_has_a_place_of_its_own_for_the_action() {
    let service = build(ActionCheck::Refuse);
    let post = async |version: Version, content_type: &str, header: &str| {
        let request = Request::post("/").header("content-type", content_type).header("soapaction", header);
        let body = message(version, &[], &echo("x"));
        send(&service, request.body(Pieces::of(body.as_bytes(), 1000)).expect("a request")).await.status
    };
    let (own, other) = ("application/soap+xml; action=\"urn:test#Echo\"", "\"urn:test#Fail\"");
    assert_eq!(post(Version::Soap12, own, "\"urn:other\"").await, StatusCode::OK);
    assert_eq!(post(Version::Soap12, "application/soap+xml", other).await, StatusCode::BAD_REQUEST);
    assert_eq!(post(Version::Soap11, "text/xml; action=\"urn:other\"", "\"\"").await, StatusCode::OK);
}

#[tokio::test]
async fn how_strictly_is_an_option() {
    assert_eq!(echo_as(&build(ActionCheck::Log), "\"urn:test#Fail\"").await.status, StatusCode::OK);
    assert_eq!(echo_as(&build(ActionCheck::Ignore), "\"urn:test#Fail\"").await.status, StatusCode::OK);
    let strict = build(ActionCheck::Strict);
    for (action, status) in [
        ("\"urn:test#Echo\"", StatusCode::OK),
        ("\"\"", StatusCode::OK),
        ("\"urn:other\"", StatusCode::INTERNAL_SERVER_ERROR),
        ("\"urn:test#Fail\"", StatusCode::INTERNAL_SERVER_ERROR),
    ] {
        assert_eq!(echo_as(&strict, action).await.status, status, "{action}");
    }
    let body = message(Version::Soap12, &[], &Describe {});
    let answer = post(&strict, "application/soap+xml; action=\"urn:any\"", body).await;
    assert_eq!(answer.status, StatusCode::OK, "the operation declares no action");
}

#[tokio::test]
async fn actions_of_the_description_count() {
    const DESCRIPTION: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:test"
        xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
        <message name="E"><part name="p" element="t:Echo"/></message><message name="F"><part name="p" element="t:Fail"/></message>
        <portType name="P"><operation name="e"><input message="t:E"/></operation>
            <operation name="f"><input message="t:F"/></operation></portType>
        <binding name="B" type="t:P"><operation name="e"><soap:operation soapAction="urn:e"/></operation>
            <operation name="f"><soap:operation soapAction="urn:f"/></operation></binding></definitions>"#;
    let service = SoapService::builder()
        .operation(async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request)))
        .operation(async |_: Lease<Fail>| Err::<EchoResponse, _>(Fault::receiver("asked for")))
        .wsdl(DESCRIPTION)
        .build()
        .expect("a service");
    assert_eq!(echo_as(&service, "\"urn:e\"").await.status, StatusCode::OK);
    assert_eq!(echo_as(&service, "\"urn:f\"").await.status, StatusCode::INTERNAL_SERVER_ERROR);
    // A refused request leaves nothing that the next could wrongly be compared with.
    assert_eq!(echo_as(&service, "\"urn:e\"").await.status, StatusCode::OK);
}
