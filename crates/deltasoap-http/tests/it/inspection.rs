//! Inspection: services and clients see complete messages, as they were sent, and may refuse them.

use crate::common::*;
use bytes::Bytes;
use deltasoap::client::CallError;
use deltasoap::server::SoapServiceBuilder;
use deltasoap::soap::Version;
use deltasoap::transport::{Body, BoxError};
use deltasoap::{Client, Lease, SoapService};
use deltasoap_test_support::latin_1;
use http::{Request, Response};
use http_body_util::Full;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::Service;

const URL: &str = "http://localhost/test";

fn builder() -> SoapServiceBuilder {
    SoapService::builder().operation(async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request)))
}

/// Keeps the last message, and refuses those that contain `no`.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl Seen {
    fn inspector(&self) -> impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static {
        let seen = self.clone();
        move |message| {
            *seen.0.lock().expect("no panic") = message.to_vec();
            let is_refused = message.windows(4).any(|window| window == b">no<");
            if is_refused { Err("not that".into()) } else { Ok(()) }
        }
    }

    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().expect("no panic"))).expect("UTF-8")
    }
}

#[tokio::test]
async fn a_service_sees_its_requests_whole_and_may_refuse_them() {
    let seen = Seen::default();
    let service = builder().inspect(seen.inspector()).build().expect("a service");
    let long = Echo { text: "long".to_owned(), numbers: (0..20_000).collect() };
    for request in [echo("yes"), long] {
        let text = message(Version::Soap11, &[], &request);
        for size in [1000, 4096, text.len()] {
            let answered = post_pieces(&service, "text/xml", text.as_bytes(), size).await;
            assert_eq!(answered.status, 200);
            assert_eq!(seen.take(), text);
        }
    }
    // The same message is refused each time, even if it is read differentially.
    for (version, code) in [(Version::Soap11, "Client"), (Version::Soap12, "Sender"), (Version::Soap11, "Client")] {
        let text = message(version, &[], &echo("no"));
        let answered = post_pieces(&service, version.media_type(), text.as_bytes(), 50).await;
        assert!(answered.body.contains("not that") && answered.body.contains(code), "{answered:?}");
    }
    let answered = post(&service, "text/xml", message(Version::Soap11, &[], &echo("yes"))).await;
    assert_eq!(answered.status, 200);
}

#[tokio::test]
async fn what_is_seen_has_neither_package_nor_charset() {
    let seen = Seen::default();
    let service = builder().inspect(seen.inspector()).build().expect("a service");
    let text = message(Version::Soap11, &[], &echo("\u{e4}"));
    let text = text.split_once("?>").map_or(text.clone(), |(_, envelope)| envelope.to_owned());
    let answered = post(&service, "text/xml; charset=iso-8859-1", latin_1(&text)).await;
    assert_eq!((answered.status.as_u16(), seen.take()), (200, text.clone()));
    let package = format!("--b\r\nContent-Type: text/xml\r\n\r\n{text}\r\n--b\r\n\r\na part\r\n--b--\r\n");
    let answered = post(&service, "multipart/related; boundary=b; type=\"text/xml\"", package).await;
    assert_eq!((answered.status.as_u16(), seen.take()), (200, text));
}

#[tokio::test]
async fn a_panic_of_an_inspector_ends_one_request() {
    for text in ["short".to_owned(), "long".repeat(50_000)] {
        let inspect = move |message: &[u8]| match message.windows(6).any(|window| window == b">panic") {
            true => panic!("not my day"),
            false => Ok(()),
        };
        let service = builder().inspect(inspect).build().expect("a service");
        let answered = post(&service, "text/xml", message(Version::Soap11, &[], &echo(&format!("panic{text}")))).await;
        assert!(answered.body.contains("an internal error") && !answered.body.contains("my day"), "{answered:?}");
        let answered = post(&service, "text/xml", message(Version::Soap11, &[], &echo(&text))).await;
        assert_eq!(answered.status, 200);
    }
}

/// Returns a client of a service that does not inspect requests, and echoes them.
fn client(
    seen: &Seen,
) -> Client<impl Service<Request<Body>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send> + Clone> {
    let answers = tower::service_fn(async |request: Request<Body>| {
        use http_body_util::BodyExt;
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        let text = String::from_utf8(body.to_vec()).expect("UTF-8").replace("Echo", "EchoResponse");
        Ok::<_, Infallible>(
            Response::builder().header("content-type", "text/xml").body(Full::from(text)).expect("a response"),
        )
    });
    Client::builder(URL).inspect(seen.inspector()).build_with(answers).expect("a client")
}

#[tokio::test]
async fn a_client_sees_its_answers_whole_and_may_refuse_them() {
    let seen = Seen::default();
    let client = client(&seen);
    let answer: EchoResponse = client.call_as(&echo("yes")).await.expect("an answer");
    assert_eq!(answer.text, "yes");
    assert!(seen.take().contains("<text>yes</text>"));
    for _ in 0..3 {
        let refused = client.call_as::<EchoResponse>(&echo("no")).await;
        assert!(matches!(&refused, Err(CallError::Refused(error)) if error.to_string() == "not that"), "{refused:?}");
        let refused = client.call_leased_as::<EchoResponse>(&echo("no")).await;
        assert!(matches!(&refused, Err(CallError::Refused(_))));
        let answer = client.call_leased_as::<EchoResponse>(&echo("yes")).await.expect("an answer");
        assert_eq!(answer.text, "yes");
    }
}
