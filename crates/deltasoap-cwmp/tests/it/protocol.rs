//! The server's answers to handwritten messages: in order, out of order, and not CWMP at all.

use crate::common::*;
use deltasoap_cwmp::{Acs, CallError, Session, SessionEnd, Version};
use http::Request;
use std::sync::{Arc, Mutex};

const V: Version = Version::V1_0;

/// Creates a server that asks for methods twice.
fn asking() -> (Acs, Arc<Mutex<Vec<SessionEnd>>>) {
    let (handler, noted) = noted(async |session: Session| {
        let _ = session.get_rpc_methods().await;
        let _ = session.get_rpc_methods().await;
    });
    (Acs::new(handler), noted)
}

fn methods(id: &str) -> String {
    let body = r#"<cwmp:GetRPCMethodsResponse><MethodList enc:arrayType="xsd:string[1]"><string>Reboot</string>
        </MethodList></cwmp:GetRPCMethodsResponse>"#;
    envelope(V, &with_id(id), body)
}

async fn begin(acs: &Acs) -> String {
    let begun = post(acs, None, inform(V, "1")).await;
    assert_eq!((begun.status.as_u16(), begun.element(), begun.id()), (200, "InformResponse".into(), "i1".into()));
    begun.cookie.expect("a cookie")
}

#[tokio::test]
async fn a_session_in_bytes() {
    let (acs, noted) = asking();
    let cookie = begin(&acs).await;
    let asked = post(&acs, Some(&cookie), "").await;
    assert_eq!((asked.status.as_u16(), asked.element()), (200, "GetRPCMethods".to_owned()));
    assert!(asked.body.contains(r#"<cwmp:ID soap:mustUnderstand="1">"#), "{}", asked.body);
    assert!(asked.body.contains(r#"xmlns:cwmp="urn:dslforum-org:cwmp-1-0""#), "{}", asked.body);
    let again = post(&acs, Some(&cookie), methods(&asked.id())).await;
    assert_ne!(again.id(), asked.id());
    // A device that omits the ID can mean only one request.
    let body = methods("x").replace(&with_id("x"), "");
    let end = post(&acs, Some(&cookie), body).await;
    assert_eq!((end.status.as_u16(), end.body.as_str()), (204, ""));
    assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Completed]));
    assert_eq!(post(&acs, Some(&cookie), "").await.status, 400);
}

#[tokio::test]
async fn what_belongs_to_no_session_is_refused() {
    let (acs, _) = asking();
    let cookie = begin(&acs).await;
    let unknown = format!("cwmp={:032x}", 7);
    for other in [None, Some(""), Some("cwmp=1"), Some(unknown.as_str())] {
        for message in [String::new(), methods("x"), envelope(V, "", "<cwmp:GetRPCMethods/>"), fault("1")] {
            let refused = post(&acs, other, message).await;
            assert_eq!((refused.status.as_u16(), refused.cookie), (400, None));
        }
    }
    assert_eq!(post(&acs, Some(&cookie), "").await.status, 200);
}

fn fault(id: &str) -> String {
    let body = r#"<s:Fault><faultcode>Client</faultcode><faultstring>CWMP fault</faultstring><detail><cwmp:Fault>
        <FaultCode>9002</FaultCode><FaultString>no</FaultString></cwmp:Fault></detail></s:Fault>"#;
    envelope(V, &with_id(id), body)
}

#[tokio::test]
async fn what_answers_no_request_ends_the_session() {
    let wrong: [fn(&str) -> String; 5] = [
        |_| String::new(),
        |_| methods("other"),
        |_| fault("other"),
        |id| envelope(V, &with_id(id), "<cwmp:RebootResponse/>"),
        |id| envelope(V, &with_id(id), "<cwmp:OtherResponse/>"),
    ];
    for message in wrong {
        let (acs, noted) = asking();
        let cookie = begin(&acs).await;
        let asked = post(&acs, Some(&cookie), "").await;
        assert_eq!(post(&acs, Some(&cookie), message(&asked.id())).await.status, 400);
        assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Invalid]));
    }
    // A response before any request.
    let (acs, noted) = asking();
    let cookie = begin(&acs).await;
    assert_eq!(post(&acs, Some(&cookie), methods("x")).await.status, 400);
    assert_eq!(ends(&noted), [SessionEnd::Invalid]);
}

#[tokio::test]
async fn what_cannot_be_read_ends_the_session() {
    let unknown_header = r#"<x:Other xmlns:x="urn:x" s:mustUnderstand="1"/>"#;
    let garbage = [
        "no XML".to_owned(),
        "<a/>".to_owned(),
        inform(V, "1").replace("2026-01-02T03:04:05Z", "yesterday"),
        envelope(V, "", ""),
        envelope(V, unknown_header, "<cwmp:GetRPCMethods/>"),
        envelope(V, "", "<cwmp:GetRPCMethods/><cwmp:GetRPCMethods/>"),
        inform(V, "1")[..300].to_owned(),
    ];
    for message in garbage {
        let (acs, noted) = asking();
        let cookie = begin(&acs).await;
        let refused = post(&acs, Some(&cookie), message.clone()).await;
        assert_eq!(refused.status, 400, "{message}");
        assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Invalid]), "{message}");
    }
}

#[tokio::test]
async fn requests_out_of_turn_are_denied_and_the_session_goes_on() {
    let (acs, noted) = asking();
    let cookie = begin(&acs).await;
    let request = envelope(V, &with_id("r"), "<cwmp:GetRPCMethods/>");
    let answered = post(&acs, Some(&cookie), request.clone()).await;
    assert_eq!((answered.element(), answered.id()), ("GetRPCMethodsResponse".to_owned(), "r".to_owned()));
    let unknown = post(&acs, Some(&cookie), envelope(V, &with_id("u"), "<cwmp:X_Other><A/></cwmp:X_Other>")).await;
    assert_eq!((unknown.code(), unknown.id()), (8000, "u".to_owned()));
    let asked = post(&acs, Some(&cookie), "").await;
    let denied = post(&acs, Some(&cookie), request.clone()).await;
    assert_eq!((denied.status.as_u16(), denied.code(), denied.id()), (500, 8001, "r".to_owned()));
    let asked = post(&acs, Some(&cookie), methods(&asked.id())).await;
    assert_eq!(post(&acs, Some(&cookie), fault(&asked.id())).await.status, 204);
    assert_eq!(ends(&noted), [SessionEnd::Completed]);
}

#[tokio::test]
async fn an_inform_begins_anew() {
    let (acs, noted) = asking();
    let first = begin(&acs).await;
    let second = begin(&acs).await;
    assert_ne!(first, second);
    assert_eq!((acs.sessions(), ends(&noted)), (1, vec![SessionEnd::Replaced]));
    assert_eq!(post(&acs, Some(&first), "").await.status, 400);
    assert_eq!(post(&acs, Some(&second), "").await.status, 200);
    // In the middle of a session too, and with its cookie.
    let third = post(&acs, Some(&second), inform(V, "1")).await;
    assert_eq!(third.status, 200);
    assert_eq!((acs.sessions(), ends(&noted).len()), (1, 2));
}

#[tokio::test]
async fn versions_do_not_mix_names() {
    let (acs, _) = asking();
    let begun = post(&acs, None, inform(Version::V1_2, "1")).await;
    let asked = post(&acs, begun.cookie.as_deref(), "").await;
    assert!(asked.body.contains("urn:dslforum-org:cwmp-1-2"));
    assert!(!asked.body.contains("urn:dslforum-org:cwmp-1-0"));
}

#[tokio::test]
async fn requests_are_held_by_a_header() {
    let acs = Acs::new(async |session: Session| {
        session.hold_requests(true);
        let _ = session.get_rpc_methods().await;
        session.hold_requests(false);
        let _ = session.get_rpc_methods().await;
    });
    let cookie = begin(&acs).await;
    let asked = post(&acs, Some(&cookie), "").await;
    assert_eq!(asked.header("HoldRequests").as_deref(), Some("1"));
    let asked = post(&acs, Some(&cookie), methods(&asked.id())).await;
    assert_eq!(asked.header("HoldRequests"), None);
}

#[tokio::test]
async fn a_fault_without_a_number_is_shown_as_it_is() {
    let found = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&found);
    let acs = Acs::new(move |session: Session| {
        let noted = Arc::clone(&noted);
        async move { *noted.lock().expect("a lock") = session.get_rpc_methods().await.err() }
    });
    let cookie = begin(&acs).await;
    let asked = post(&acs, Some(&cookie), "").await;
    let body = "<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault>";
    let end = post(&acs, Some(&cookie), envelope(V, &with_id(&asked.id()), body)).await;
    assert_eq!(end.status, 204);
    let found = found.lock().expect("a lock").take();
    assert!(matches!(&found, Some(CallError::Soap(fault)) if fault.reason == "no"), "{found:?}");
}

#[tokio::test]
async fn other_methods_and_media_types_are_those_of_http() {
    let (acs, _) = asking();
    let get = Request::get(URL).body(Default::default()).expect("a request");
    assert_eq!(send(&acs, get).await.status, 404);
    let put = Request::put(URL).body(Default::default()).expect("a request");
    assert_eq!(send(&acs, put).await.status, 405);
    let other = Request::post(URL).header("content-type", "text/plain").body(inform(V, "1").into()).expect("a request");
    assert_eq!(send(&acs, other).await.status, 415);
}

#[tokio::test]
async fn one_request_leads_a_session_and_who_goes_away_ends_it() {
    let (handler, noted) = noted(async |session: Session| {
        tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
        drop(session);
    });
    let acs = Acs::new(handler);
    let cookie = begin(&acs).await;
    let mut waiting = Box::pin(post(&acs, Some(&cookie), ""));
    let soon = std::time::Duration::from_millis(20);
    assert!(tokio::time::timeout(soon, &mut waiting).await.is_err());
    // A second request at the same time does not disturb it.
    assert_eq!(post(&acs, Some(&cookie), "").await.status, 400);
    assert_eq!((acs.sessions(), ends(&noted).len()), (1, 0));
    drop(waiting);
    assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Abandoned]));
}
