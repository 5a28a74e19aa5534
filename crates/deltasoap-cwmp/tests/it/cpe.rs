//! The device against misbehaving servers.

use crate::common::*;
use bytes::Bytes;
use deltasoap::engine::Tolerance;
use deltasoap::transport::Body;
use deltasoap_cwmp::{ConnectionRequestError, Cpe, CwmpFault, SessionError, Version};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// A server's answers, in order, and the messages it received.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<(u16, String)>>>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn new<const N: usize>(answers: [(u16, String); N]) -> Self {
        Script { answers: Arc::new(Mutex::new(answers.into())), sent: Arc::default() }
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        self.sent.lock().expect("a lock").push(String::from_utf8(body.into()).expect("UTF-8"));
        let (status, body) = self.answers.lock().expect("a lock").pop_front().unwrap_or((204, String::new()));
        let mut response = Response::new(Body::from(Bytes::from(body)));
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        Ok(response)
    }

    async fn session(&self) -> Result<Vec<String>, SessionError> {
        self.session_with(Tolerance::Strict).await
    }

    async fn session_with(&self, tolerance: Tolerance) -> Result<Vec<String>, SessionError> {
        let script = self.clone();
        let service = tower::service_fn(move |request| script.clone().answer(request));
        let cpe = Cpe::over(service, URL, id("1")).expect("a URL").version(V).tolerance(tolerance);
        cpe.parameters(parameters()).session().await.map(|report| report.answered)
    }
}

const V: Version = Version::V1_2;

fn accepted(header: &str) -> (u16, String) {
    let body = "<cwmp:InformResponse><MaxEnvelopes>1</MaxEnvelopes></cwmp:InformResponse>";
    (200, envelope(V, header, body))
}

fn request(version: Version, header: &str) -> (u16, String) {
    (200, envelope(version, header, "<cwmp:Reboot><CommandKey>k</CommandKey></cwmp:Reboot>"))
}

#[tokio::test]
async fn answers_that_are_none_fail_the_session() {
    let garbage = ["", "no XML", "<a/>", &accepted("").1[..200]].map(str::to_owned);
    for body in garbage {
        let failed = Script::new([(200, body.clone())]).session().await;
        assert!(matches!(failed, Err(SessionError::Invalid(_))), "{body}: {failed:?}");
    }
    let (_, other_version) = request(Version::V1_0, "");
    let scripts = [
        Script::new([(204, String::new())]),
        Script::new([accepted(&with_id("another"))]),
        Script::new([request(V, "")]),
        Script::new([accepted(""), (200, other_version)]),
        Script::new([accepted(""), accepted("")]),
    ];
    for (number, script) in scripts.into_iter().enumerate() {
        let outcome = script.session().await;
        // A response without a request is an unknown request for the device.
        let expected = if number == 4 { outcome.is_ok() } else { matches!(outcome, Err(SessionError::Invalid(_))) };
        assert!(expected, "{number}: {outcome:?}");
    }
    let failed = Script::new([(404, String::new())]).session().await;
    assert!(matches!(failed, Err(SessionError::Status(status)) if status == 404));
}

#[tokio::test]
async fn a_session_without_ids_and_with_held_requests() {
    let hold = r#"<cwmp:HoldRequests s:mustUnderstand="1">1</cwmp:HoldRequests>"#;
    let script = Script::new([accepted(hold), request(V, "")]);
    assert_eq!(script.session().await.expect("a session"), ["Reboot"]);
    let sent = script.sent.lock().expect("a lock").clone();
    // Inform, an empty request while requests are held, the response, and another empty request:
    // 204 ended the hold.
    assert_eq!(sent.len(), 4);
    assert!(sent[0].contains("Inform") && sent[1].is_empty() && sent[3].is_empty());
    assert!(sent[2].contains("RebootResponse") && !sent[2].contains("cwmp:ID"), "{}", sent[2]);
}

#[tokio::test]
async fn header_blocks_that_must_be_understood_are() {
    let header = format!(r#"{}<x:Other xmlns:x="urn:x" s:mustUnderstand="1"/>"#, with_id("7"));
    let script = Script::new([accepted(""), request(V, &header)]);
    assert_eq!(script.session().await.expect("a session"), ["Reboot"]);
    let answer = script.sent.lock().expect("a lock")[2].clone();
    assert!(
        answer.contains("MustUnderstand") && answer.contains(">7<") && !answer.contains("RebootResponse"),
        "{answer}"
    );
}

#[tokio::test]
async fn requests_that_deviate_are_answered_as_the_tolerance_says() {
    let body = "<cwmp:Reboot><Vendor>x</Vendor><CommandKey>k</CommandKey></cwmp:Reboot>";
    for (tolerance, answer) in [(Tolerance::Strict, "<FaultCode>9003<"), (Tolerance::Unknown, "RebootResponse")] {
        let script = Script::new([accepted(""), (200, envelope(V, "", body))]);
        script.session_with(tolerance).await.expect("a session");
        let sent = script.sent.lock().expect("a lock")[2].clone();
        assert!(sent.contains(answer), "{tolerance:?}: {sent}");
    }
}

#[test]
fn errors_print_their_source_or_return_it() {
    let refused = || Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionRefused));
    let session = SessionError::Transport(refused());
    let request = ConnectionRequestError::Transport(refused());
    for error in [&session as &dyn std::error::Error, &request] {
        let source = error.source().expect("a source").to_string();
        assert!(!error.to_string().contains(&source), "{error}");
    }
    let fault = CwmpFault::new(9005, "Invalid parameter name");
    assert!(std::error::Error::source(&SessionError::Refused(fault)).is_none());
}
