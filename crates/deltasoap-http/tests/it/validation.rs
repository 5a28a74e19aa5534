//! Validation: what clients and services do with the findings of a validator. The validator here
//! finds texts that are `no`; `deltasoap-dynamic` tests validation by a WSDL.

use crate::common::*;
use bytes::Bytes;
use deltasoap::attachments::{Mtom, Part};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::server::{Reply, Sharing, SoapServiceBuilder};
use deltasoap::soap::Version;
use deltasoap::transport::Body;
use deltasoap::types::PartUri;
use deltasoap::validation::{Finding, PartLookup, Validation, Validator};
use deltasoap::{Binary, Client, Context, Fault, Lease, Soap, SoapService};
use http::{Request, Response};
use http_body_util::Full;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tower::Service;

const URL: &str = "http://localhost/test";

/// Has a finding for each text `no`, and counts messages.
#[derive(Debug, Clone, Default)]
struct NoNo {
    validated: Arc<AtomicUsize>,
    /// The bytes of the part `cid:part`, if the parts of the last message are known.
    part: Arc<Mutex<Option<Option<Bytes>>>>,
}

impl Validator for NoNo {
    fn findings(&self, message: &[u8], part: Option<&PartLookup<'_>>, _: usize) -> Vec<Finding> {
        self.validated.fetch_add(1, Relaxed);
        *self.part.lock().expect("no panic") = part.map(|part| part(&PartUri::new("cid:part")));
        let places = message.windows(4).enumerate().filter(|(_, window)| window == b">no<");
        places.map(|(at, _)| finding(at)).collect()
    }
}

fn finding(at: usize) -> Finding {
    Finding { line: 1, column: at + 1, path: "/Envelope/Body/Echo/text".to_owned(), message: "\"no\" is no".to_owned() }
}

/// An echo service whose responses say how many findings their requests have.
fn builder() -> SoapServiceBuilder {
    let echo = async |context: Context, request: Lease<Echo>| {
        let numbers = vec![i32::try_from(context.findings().len()).unwrap_or(-1)];
        Ok::<_, Infallible>(EchoResponse { numbers, ..echoed(&request) })
    };
    SoapService::builder().sharing(Sharing::Operation).operation(echo)
}

fn number_of_findings(answered: &Answered) -> &str {
    answered.body.split("<numbers>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or("none")
}

#[tokio::test]
async fn a_service_refuses_invalid_requests_by_the_rules_of_the_version() {
    let service = builder().validate(NoNo::default(), Validation::Refuse).build().expect("a service");
    for (version, code, status) in [(Version::Soap11, "Client", 500), (Version::Soap12, "Sender", 400)] {
        let answered = post(&service, version.media_type(), message(version, &[], &echo("no"))).await;
        let reason = "/Envelope/Body/Echo/text: \"no\" is no";
        assert_eq!(answered.status.as_u16(), status);
        assert!(answered.body.contains(code) && answered.body.contains(reason), "{answered:?}");
        let answered = post(&service, version.media_type(), message(version, &[], &echo("yes"))).await;
        assert_eq!((answered.status.as_u16(), number_of_findings(&answered)), (200, "0"));
    }
    let stats = service.stats().snapshot();
    assert_eq!((stats.messages, stats.faults, stats.invalid_messages), (4, 2, 2));
}

/// The decoder skips what is equal to the message before; the validator sees all of it.
#[tokio::test]
async fn an_invalid_value_is_reported_in_every_message_of_a_stream() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let build = || builder().name("Reporting").validate(NoNo::default(), Validation::Report).build();
    let service = metrics::with_local_recorder(&recorder, build).expect("a service");
    let of = |text: &str, last: i32| {
        let numbers = (0..500).chain([last]).collect();
        message(Version::Soap11, &[], &Echo { text: text.to_owned(), numbers })
    };
    let stream = [("ok", 0), ("no", 0), ("no", 0), ("no", 1), ("ok", 1), ("ok", 2), ("no", 3)];
    for (text, last) in stream {
        for size in [100, 100_000] {
            let answered = post_pieces(&service, "text/xml", of(text, last).as_bytes(), size).await;
            let expected = if text == "no" { "1" } else { "0" };
            assert_eq!((answered.status.as_u16(), number_of_findings(&answered)), (200, expected), "{text} {last}");
            assert!(answered.body.contains(&format!("<text>{text}</text>")), "{answered:?}");
        }
    }
    let stats = service.stats().snapshot();
    assert!(stats.differential.messages > 0, "it is a stream");
    assert_eq!(stats.invalid_messages, 8);
    let metrics = recorder.handle().render();
    assert!(metrics.contains("deltasoap_invalid_messages_total{service=\"Reporting\"} 8"), "{metrics}");
}

#[tokio::test]
async fn without_validation_nothing_is_validated() {
    let validator = NoNo::default();
    let builder = builder().validate(validator.clone(), Validation::Off);
    let service = builder.validate_sent(validator.clone(), Validation::Off).build().expect("a service");
    let client = Client::builder(URL).validate(validator.clone(), Validation::Off);
    let client = client.validate_sent(validator.clone(), Validation::Off).build_with(service.clone());
    let client = client.expect("a client");
    let response = client.call_with(&echo("no"), CallOptions::new()).await.expect("a response");
    assert_eq!((&*response.body.text, response.findings), ("no", Vec::new()));
    assert_eq!((client.invalid_messages(), service.stats().snapshot().invalid_messages), (0, 0));
    assert_eq!(validator.validated.load(Relaxed), 0);
}

#[tokio::test]
async fn one_way_requests_and_packages_are_validated() {
    let (events, mut received) = tokio::sync::mpsc::unbounded_channel();
    let notify = move |message: Lease<Notify>| {
        let events = events.clone();
        async move { events.send(message.event.clone()).map_err(|error| Fault::receiver(error.to_string())) }
    };
    let builder = builder().operation(notify).validate(NoNo::default(), Validation::Refuse);
    let service = builder.build().expect("a service");
    for (event, status) in [("no", 500), ("yes", 202)] {
        let text = message(Version::Soap11, &[], &Notify { event: event.to_owned() });
        assert_eq!(post(&service, "text/xml", text).await.status, status, "{event}");
    }
    assert_eq!(received.recv().await.as_deref(), Some("yes"));
    for (text, status) in [("no", 500), ("yes", 200)] {
        let text = message(Version::Soap11, &[], &echo(text));
        let package = format!("--b\r\nContent-Type: text/xml\r\n\r\n{text}\r\n--b\r\n\r\na part\r\n--b--\r\n");
        let answered = post(&service, "multipart/related; boundary=b; type=\"text/xml\"", package).await;
        assert_eq!(answered.status, status, "{text}");
    }
}

/// Returns a transport that echoes texts, or answers with a fault if there is a reason; it counts
/// requests.
fn transport(
    reason: Option<&'static str>,
    sent: &Arc<AtomicUsize>,
) -> impl Service<Request<Body>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send> + Clone + use<> {
    let sent = Arc::clone(sent);
    tower::service_fn(move |request: Request<Body>| {
        let sent = Arc::clone(&sent);
        async move {
            use http_body_util::BodyExt;
            sent.fetch_add(1, Relaxed);
            let body = request.into_body().collect().await.expect("a body").to_bytes();
            let mut text = String::from_utf8(body.to_vec()).expect("UTF-8").replace("Echo", "EchoResponse");
            if let Some(reason) = reason {
                text = format!(
                    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Server\
                     </faultcode><faultstring>{reason}</faultstring></s:Fault></s:Body></s:Envelope>"
                );
            }
            let response = Response::builder().header("content-type", "text/xml");
            Ok::<_, Infallible>(response.body(Full::from(text)).expect("a response"))
        }
    })
}

#[tokio::test]
async fn a_client_reports_or_refuses_invalid_answers() {
    let sent = Arc::default();
    let client = |validation| {
        let builder = Client::builder(URL).validate(NoNo::default(), validation);
        builder.build_with(transport(None, &sent)).expect("a client")
    };
    let reporting = client(Validation::Report);
    for (text, count) in [("yes", 0), ("no", 1), ("no", 1), ("yes", 0), ("no", 1)] {
        let options = CallOptions::new;
        let response = reporting.call_with(&echo(text), options()).await.expect("a response");
        assert_eq!((&*response.body.text, response.findings.len()), (text, count));
        let leased = reporting.call_leased_with(&echo(text), options()).await.expect("a response");
        assert_eq!((&*leased.body.text, leased.findings.len()), (text, count));
    }
    assert_eq!(reporting.invalid_messages(), 6);
    let refusing = client(Validation::Refuse);
    for _ in 0..2 {
        let refused = refusing.call(&echo("no")).await;
        let Err(CallError::InvalidResponse(invalid)) = &refused else { panic!("{refused:?}") };
        assert_eq!(invalid.findings[0].path, "/Envelope/Body/Echo/text");
        let refused = refusing.call_leased(&echo("no")).await.expect_err("it is refused");
        assert!(refused.to_string().contains("the answer is refused: the message is invalid: 1:"), "{refused}");
        assert_eq!(refusing.call_leased(&echo("yes")).await.expect("a response").text, "yes");
    }
    assert_eq!(refusing.invalid_messages(), 4);
    let items = refusing.call_items(&echo("yes"), |response: &mut EchoResponse| &mut response.numbers).await;
    assert!(matches!(items, Err(CallError::RefusedRequest(_))), "items are used before the end");
}

#[tokio::test]
async fn an_invalid_fault_reaches_the_caller() {
    let sent = Arc::default();
    let builder = Client::builder(URL).validate(NoNo::default(), Validation::Refuse);
    let client = builder.build_with(transport(Some("no"), &sent)).expect("a client");
    let failed = client.call(&echo("")).await;
    assert!(matches!(&failed, Err(CallError::Fault(fault)) if fault.reason == "no"), "{failed:?}");
    let failed = client.send(&echo("")).await;
    assert!(matches!(&failed, Err(CallError::Fault(_))), "{failed:?}");
    assert_eq!(client.invalid_messages(), 2);
}

#[tokio::test]
async fn a_client_does_not_send_invalid_requests() {
    let sent = Arc::default();
    let client = |validation| {
        let builder = Client::builder(URL).validate_sent(NoNo::default(), validation);
        builder.build_with(transport(None, &sent)).expect("a client")
    };
    let refusing = client(Validation::Refuse);
    let long = |text: &str| Echo { text: text.to_owned(), numbers: (0..10_000).collect() };
    for round in 1..4 {
        // A request that was not sent changes nothing for the next one.
        for request in [echo("no"), long("no")] {
            let refused = refusing.call(&request).await;
            assert!(matches!(&refused, Err(CallError::InvalidRequest(_))), "{refused:?}");
            assert!(matches!(refusing.send(&request).await, Err(CallError::InvalidRequest(_))));
        }
        for request in [echo("yes"), long("yes")] {
            let response: EchoResponse = refusing.call(&request).await.expect("a response");
            assert_eq!(response, echoed(&request));
        }
        assert_eq!(sent.load(Relaxed), 2 * round);
    }
    assert_eq!(refusing.invalid_messages(), 12);
    let reporting = client(Validation::Report);
    let response: EchoResponse = reporting.call(&echo("no")).await.expect("a response");
    assert_eq!((&*response.text, reporting.invalid_messages()), ("no", 1));
}

#[tokio::test]
async fn a_service_validates_its_responses_and_faults() {
    let build = |validation| {
        let fail = async |_: Lease<Fail>| Err::<EchoResponse, _>(Fault::sender("no"));
        builder().operation(fail).validate_sent(NoNo::default(), validation).build().expect("a service")
    };
    for (validation, status) in [(Validation::Report, 200), (Validation::Refuse, 500)] {
        let service = build(validation);
        for (version, code) in [(Version::Soap11, "Server"), (Version::Soap12, "Receiver"), (Version::Soap11, "Server")]
        {
            let answered = post(&service, version.media_type(), message(version, &[], &echo("no"))).await;
            assert_eq!(answered.status, status, "{answered:?}");
            let is_refused = answered.body.contains(code) && answered.body.contains("the response was not sent");
            assert_eq!(is_refused, status == 500, "{answered:?}");
            let answered = post(&service, version.media_type(), message(version, &[], &echo("yes"))).await;
            assert_eq!(answered.status, 200);
        }
        let fail = message(Version::Soap11, &[], &Fail { how: String::new() });
        let answered = post(&service, "text/xml", fail).await;
        assert!(answered.body.contains("Client") && answered.body.contains(">no<"), "{answered:?}");
        assert_eq!(service.stats().snapshot().invalid_messages, 4);
    }
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = Store)]
struct Store {
    content: Binary,
}

/// Parts that are sent are known; parts that arrive may still be arriving.
#[tokio::test]
async fn the_parts_that_are_sent_are_validated() {
    let store = async |mut context: Context, request: Lease<Store>| {
        let content = context.attachments().bytes(&request.content).await?;
        let part = Part::new("part", "text/plain", content);
        Ok::<_, Fault>(Reply::new(Store { content: part.binary() }).with_part(part))
    };
    let (received, answered, asked) = (NoNo::default(), NoNo::default(), NoNo::default());
    let builder = SoapService::builder().operation(store).validate(received.clone(), Validation::Refuse);
    let service = builder.validate_sent(answered.clone(), Validation::Refuse).build().expect("a service");
    let client = Client::builder(URL).validate_sent(asked.clone(), Validation::Refuse).build_with(service);
    let client = client.expect("a client");
    let known = |validator: &NoNo| validator.part.lock().expect("no panic").clone();
    for mtom in [Mtom::Off, Mtom::On] {
        let part = Part::new("part", "text/plain", "content");
        let request = Store { content: part.binary() };
        let options = CallOptions::new().mtom(mtom).part(part);
        let mut response = client.call_with(&request, options).await.expect("a response");
        assert_eq!(response.attachments.bytes(&response.body.content).await.expect("a part"), "content");
        let content = Some(Some(Bytes::from("content")));
        assert_eq!([known(&received), known(&asked), known(&answered)], [None, content.clone(), content], "{mtom:?}");
    }
    let streamed = Part::stream("part", "text/plain", futures_util::stream::iter([Ok(Bytes::from("content"))]));
    let request = Store { content: streamed.binary() };
    client.call_with(&request, CallOptions::new().part(streamed)).await.expect("a response");
    assert_eq!(known(&asked), None, "nothing is read before it is sent");
}
