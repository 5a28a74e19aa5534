//! The line that servers and clients log for each message, by `tracing`. Runs alone: interest in
//! events is cached for all threads of a process, and tests without a subscriber have none.

use crate::ALONE;
use crate::common::*;
use deltasoap::Client;
use deltasoap::server::Principal;
use deltasoap::soap::Version;
use http::Request;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tower::ServiceExt;
use tracing::Level;
use tracing::subscriber::DefaultGuard;

/// The log of events.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Begins to log from a level on.
    pub fn start(level: Level) -> (Self, DefaultGuard) {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_max_level(level).with_ansi(false);
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }

    /// Returns the lines of a target.
    fn lines(&self, target: &str) -> Vec<String> {
        self.text().lines().filter(|line| line.contains(target)).map(ToOwned::to_owned).collect()
    }
}

const SERVER: &str = " deltasoap_http::server::request: ";
const CLIENT: &str = " deltasoap_http::client::call: ";
const TRACE_PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn each_request_has_one_line() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::INFO);
    let service = service().0;
    let body = message(Version::Soap11, &[], &echo("on the wire"));
    post(&service, "text/xml", &body).await;
    post(&service, "application/soap+xml", message(Version::Soap12, &[], &Unserved {})).await;
    let lines = log.lines(SERVER);
    let [good, bad] = &lines[..] else { panic!("two lines of {}", log.text()) };
    for field in [
        "answered",
        "http.request.method=\"POST\"",
        "url.path=\"/\"",
        "rpc.method=\"Echo\"",
        "http.response.status_code=200",
        "duration=0.",
        "soap.version=\"1.1\"",
        &format!("soap.request.size={}", body.len()),
        "soap.request.match=\"full\"",
        "soap.response.size=",
        "soap.response.match=\"first\"",
    ] {
        assert!(good.contains(field), "{field} in {good}");
    }
    for field in ["soap.version=\"1.2\"", "http.response.status_code=400", "soap.fault.code=\"Sender\""] {
        assert!(bad.contains(field), "{field} in {bad}");
    }
    assert!(!bad.contains("rpc.method"), "{bad}");
    assert!(!log.text().contains("on the wire"), "{}", log.text());
}

#[tokio::test]
async fn lines_tell_how_messages_match() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::INFO);
    let (service, connection) = (service().0, deltasoap::server::Connection::new());
    // Short messages may be read and written in full.
    let long = |last| Echo { text: "same".repeat(500), numbers: [vec![7; 5_000], vec![last]].concat() };
    // The second message is kept to be compared with; the first may be the only one.
    for last in [4, 4, 4, 5] {
        let request = Request::post("/").header("content-type", "text/xml").extension(connection.clone());
        let request = request.body(Pieces::of(message(Version::Soap11, &[], &long(last)).as_bytes(), usize::MAX));
        send(&service, request.expect("a request")).await;
    }
    let lines = log.lines(SERVER);
    let matches = ["full", "full", "content", "partial"].map(|kind| format!("soap.request.match=\"{kind}\""));
    let responses = ["first", "content", "content", "perfect"].map(|kind| format!("soap.response.match=\"{kind}\""));
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, (request, response)) in lines.iter().zip(matches.iter().zip(&responses)) {
        assert!(line.contains(request) && line.contains(response), "{request}, {response} in {line}");
    }
}

/// Mostly `qualified` was forgotten, and each answer would be read as empty.
#[tokio::test]
async fn elements_skipped_for_their_namespace_are_a_warning_once() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::WARN);
    let answer = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <t:EchoResponse xmlns:t='urn:test'><text>x</text><new/><t:numbers>7</t:numbers></t:EchoResponse>\
        </s:Body></s:Envelope>";
    let canned = tower::service_fn(move |_: Request<deltasoap::transport::Body>| {
        let response = http::Response::builder().header("content-type", "text/xml");
        std::future::ready(response.body(http_body_util::Full::from(answer)))
    });
    let client = Client::with_service("http://localhost/", canned).expect("a client");
    for _ in 0..2 {
        let response = client.call_as::<EchoResponse>(&echo("")).await.expect("a response");
        assert!(response.numbers.is_empty());
    }
    let text = log.text();
    let place = "element skipped for its namespace: {urn:test}numbers in /Envelope/Body/EchoResponse";
    assert_eq!(text.matches(place).count(), 1, "{text}");
    assert!(text.contains("WARN") && text.contains("declare the elements of the type as qualified"), "{text}");
}

#[tokio::test]
async fn calls_have_one_line_with_the_trace_of_the_caller() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::INFO);
    let client = Client::with_service("http://ada:secret@shop.example:81/a?key=hidden", service().0).expect("a client");
    let options = deltasoap::client::CallOptions::new()
        .http_header(http::HeaderName::from_static("traceparent"), http::HeaderValue::from_static(TRACE_PARENT));
    client.call_as_with::<EchoResponse>(&echo("on the wire"), options).await.expect("a response");
    client.call_as::<EchoResponse>(&Fail { how: "fault".to_owned() }).await.expect_err("a fault");
    let lines = log.lines(CLIENT);
    let [good, bad] = &lines[..] else { panic!("two lines of {}", log.text()) };
    for field in [
        "answered",
        "server.address=\"shop.example\"",
        "server.port=81",
        "rpc.method=\"Echo\"",
        "http.response.status_code=200",
        "attempts=1",
        "soap.request.match=\"first\"",
        "soap.response.match=\"full\"",
        "trace_id=0af7651916cd43dd8448eb211c80319c",
    ] {
        assert!(good.contains(field), "{field} in {good}");
    }
    assert!(bad.contains("failed") && bad.contains("soap.fault.code="), "{bad}");
    assert!(log.lines(SERVER)[0].contains("trace_id=0af7651916cd43dd8448eb211c80319c"), "{}", log.text());
    for secret in ["secret", "hidden", "on the wire", "ada"] {
        assert!(!log.text().contains(secret), "{secret} in {}", log.text());
    }
}

#[tokio::test]
async fn what_others_send_cannot_imitate_a_line() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::INFO);
    let path = format!("/{}", "p".repeat(5000));
    let request = Request::post(path).header("content-type", "text/xml");
    let request = request.extension(Principal::new("eve\n2026-01-01 INFO forged\u{1b}[31m\u{2028}"));
    let body = message(Version::Soap11, &[], &Unserved {}).replace("Unserved", &"n".repeat(5000));
    service().0.oneshot(request.body(Pieces::of(body.as_bytes(), usize::MAX)).expect("a request")).await.expect("sent");
    let text = log.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("eve") && !text.contains('\u{1b}') && !text.contains('\u{2028}'), "{text}");
    assert!(text.len() < 1000, "{text}");
}

#[tokio::test]
async fn lines_can_be_switched_off() {
    let _alone = ALONE.lock().await;
    let (log, _guard) = Log::start(Level::WARN);
    let client = Client::with_service("http://localhost/", service().0).expect("a client");
    client.call_as::<EchoResponse>(&echo("quiet")).await.expect("a response");
    assert_eq!(log.text(), "");
}
