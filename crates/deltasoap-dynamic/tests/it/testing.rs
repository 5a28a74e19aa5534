//! Tests of services: the requests are what they are said to be, our own services pass, planted
//! faults are found, and failing requests become small.

use bytes::Bytes;
use deltasoap_core::Node;
use deltasoap_dynamic::testing::{
    Access, Aspect, Breach, Case, Check, Checks, Finding, Form, Generation, Kind, Outcome, Report, Settings, Severity,
    Stop, Tester,
};
use deltasoap_dynamic::{Contract, Mock, Operation};
use deltasoap_http::{Body, BoxError};
use deltasoap_test_support::files;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::{Service, ServiceExt};

const WSDL: &str = r#"<definitions name="Desk" targetNamespace="urn:desk" xmlns="http://schemas.xmlsoap.org/wsdl/"
    xmlns:tns="urn:desk" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:desk" elementFormDefault="qualified">
    <xs:simpleType name="Colour"><xs:restriction base="xs:string">
      <xs:enumeration value="red"/><xs:enumeration value="blue"/></xs:restriction></xs:simpleType>
    <xs:simpleType name="Short"><xs:restriction base="xs:string"><xs:maxLength value="5"/></xs:restriction></xs:simpleType>
    <xs:element name="Put"><xs:complexType><xs:sequence>
      <xs:element name="name" type="xs:string"/>
      <xs:element name="short" type="tns:Short" minOccurs="0"/>
      <xs:element name="colour" type="tns:Colour" minOccurs="0"/>
      <xs:element name="count" type="xs:int" minOccurs="0" nillable="true"/>
      <xs:element name="item" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="PutResponse"><xs:complexType><xs:sequence>
      <xs:element name="name" type="xs:string"/><xs:element name="size" type="xs:int"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="In"><part name="body" element="tns:Put"/></message>
  <message name="Out"><part name="body" element="tns:PutResponse"/></message>
  <portType name="P"><operation name="Put"><input message="tns:In"/><output message="tns:Out"/></operation></portType>
  <binding name="B" type="tns:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Put"><soap:operation soapAction="urn:desk#Put"/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
  <service name="Desk"><port name="Port" binding="tns:B"><soap:address location="http://localhost/"/></port></service>
</definitions>"#;

fn desk() -> Contract {
    Contract::from_text(WSDL).expect("a WSDL")
}

fn access() -> Access {
    let url = "http://localhost/".parse().expect("a URL");
    Access { timeout: Duration::from_millis(1500), ..Access::to(url) }
}

/// Decides by a request, as text and as the operation's element, if it is one.
type Planted = dyn Fn(&str, Option<&Node>) -> Plant + Send + Sync;

/// A service in this process: our own, between a look at the request and one at the answer.
#[derive(Clone)]
struct Faulty {
    inner: deltasoap_http::SoapService,
    plant: Arc<Planted>,
}

/// What a faulty service does with a request.
enum Plant {
    /// What our own does.
    Nothing,
    /// Something else with the answer of our own.
    Changes(fn(String) -> String),
    /// This answer.
    Answers(u16, String),
    /// The end of the connection.
    Hangs,
    Fails,
}

impl Service<Request<Body>> for Faulty {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            let envelope = Node::parse(&body).ok();
            let put = envelope
                .as_ref()
                .and_then(|it| it.element(&it.name.namespace, "Body"))
                .and_then(|it| it.elements().next());
            let plant = (this.plant)(&text, put);
            let usual = http::HeaderValue::from_static("text/xml; charset=utf-8");
            let (status, media, text) = match plant {
                Plant::Answers(status, text) => (status, usual, text),
                Plant::Hangs => std::future::pending().await,
                Plant::Fails => return Err("the connection was closed".into()),
                plant => {
                    let response = this.inner.oneshot(Request::from_parts(parts, Body::from(body))).await?;
                    let status = response.status().as_u16();
                    let media = response.headers().get("content-type").cloned().unwrap_or(usual);
                    let text = String::from_utf8(response.into_body().collect().await?.to_bytes().to_vec())?;
                    match plant {
                        Plant::Changes(change) => (status, media, change(text)),
                        _ => (status, media, text),
                    }
                }
            };
            let response = Response::builder().status(status).header("content-type", media);
            Ok(response.body(Full::from(text))?)
        })
    }
}

/// Returns the service of the desk, which validates and returns the name, with a fault planted in it.
fn faulty(plant: impl Fn(&str, Option<&Node>) -> Plant + Send + Sync + 'static) -> Faulty {
    let mock = Mock::new(desk()).handle("Put", |request| Ok(serde_json::json!({ "name": request["name"], "size": 1 })));
    Faulty { inner: mock.expect("an operation").service().expect("a service"), plant: Arc::new(plant) }
}

async fn run(service: Faulty, settings: Settings) -> Report {
    Tester::new(service, access(), settings).run(&desk().operations(), &|_| {}).await
}

/// Returns what was found, to be shown.
fn shown(report: &Report) -> Vec<String> {
    let of = |it: &Finding| {
        format!("{} {} {}: {}\n  {}", it.check, it.kind, it.what, it.reason, String::from_utf8_lossy(&it.request))
    };
    report.findings.iter().map(of).collect()
}

fn found(report: &Report, check: Check) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.check == check).collect()
}

fn soap(body: &str) -> String {
    format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>")
}

fn fault(code: &str, reason: &str) -> String {
    soap(&format!("<s:Fault><faultcode>s:{code}</faultcode><faultstring>{reason}</faultstring></s:Fault>"))
}

fn response() -> Plant {
    Plant::Answers(200, soap("<PutResponse xmlns='urn:desk'><name>x</name><size>1</size></PutResponse>"))
}

fn child(put: Option<&Node>, name: &str) -> Option<String> {
    put?.element("urn:desk", name).map(Node::text)
}

fn is_nil(node: &Node) -> bool {
    node.attributes.iter().any(|(name, _)| &*name.local == "nil")
}

/// Checks that a planted fault is found by one check, and by no other one, with a request like this.
async fn planted(
    plant: impl Fn(&str, Option<&Node>) -> Plant + Send + Sync + 'static,
    check: Check,
    is_shown_by: impl Fn(&str) -> bool,
) {
    let report = run(faulty(plant), Settings { max_cases: 160, ..Settings::default() }).await;
    let requests: Vec<_> =
        found(&report, check).iter().map(|it| String::from_utf8_lossy(&it.request).into_owned()).collect();
    assert!(!requests.is_empty(), "{check}: {:#?}", shown(&report));
    assert!(requests.iter().any(|request| is_shown_by(request)), "{check}: {requests:#?}");
    let has_others = report.findings.iter().any(|it| it.check != check);
    assert!(!has_others, "{check}: {:#?}", shown(&report));
}

/// The validator confirms each case, valid or not, also in another form of XML.
#[test]
fn requests_for_all_wsdls_are_what_they_are_said_to_be() {
    let folder = files::in_repository("testdata/wsdl");
    let (mut operations, mut kinds) = (0, BTreeSet::new());
    for path in files::below(&folder, &["wsdl"]) {
        let Ok(contract) = Contract::import(&path.to_string_lossy()) else { continue };
        let usable = contract.operations().into_iter().filter(|it| it.method().is_ok());
        for operation in usable.take(1) {
            operations += 1;
            let mut cases = operation.cases(Generation { encodings: true, ..Generation::default() });
            assert!(cases.typical().is_some(), "{}: {} has no valid request", path.display(), operation.full_name());
            for case in cases.by_ref().take(20) {
                kinds.insert(case.kind.name());
                check_case(&operation, &case);
            }
        }
    }
    assert!(operations > 50, "{operations}");
    assert!(kinds.len() > 25, "{kinds:?}");
}

fn check_case(operation: &Operation, case: &Case) {
    let message = case.draft.write();
    let findings = operation.contract().validate(&message);
    let text = String::from_utf8_lossy(&message);
    match case.kind {
        Kind::Valid(_) => assert!(findings.is_empty(), "{}: {findings:?}\n{text}", case.what),
        Kind::Invalid(Breach::MustUnderstand) => {
            assert!(findings.is_empty() && text.contains("mustUnderstand"), "{text}");
        }
        Kind::Invalid(_) => {
            assert!(!findings.is_empty() || message.is_empty(), "{}\n{text}", case.what);
            assert!(!case.refusals.is_empty());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_one_others() {
    let contract = Contract::from_text(include_str!("../data/shop.wsdl")).expect("a WSDL");
    let operation = contract.operation("Order").expect("an operation");
    let requests = |seed| {
        let cases = operation.cases(Generation { seed, encodings: false });
        cases.take(300).map(|case| (case.number, case.kind, case.what.clone(), case.draft.write())).collect::<Vec<_>>()
    };
    assert_eq!(requests(7), requests(7));
    assert_eq!(requests(7).len(), 300);
    assert_ne!(requests(7), requests(8));
}

/// The cases of the shop show what its schema has.
#[test]
fn cases_show_the_edges_of_the_schema() {
    let contract = Contract::from_text(include_str!("../data/shop.wsdl")).expect("a WSDL");
    let operation = contract.operation("Order").expect("an operation");
    let all: Vec<String> = operation
        .cases(Generation::default())
        .take(800)
        .map(|case| format!("{} {} {}", case.kind, case.what, String::from_utf8_lossy(&case.draft.write())))
        .collect();
    for (kind, part) in [
        ("bound", "count>1000<"),
        ("facets", "count>1001<"),
        ("bound", "count>1<"),
        ("facets", "count>0<"),
        ("wrong-type", "count>maybe<"),
        ("choice", "address>"),
        ("choice", "coupon>"),
        ("derived-type", ":Invoice\""),
        ("nil-element", ":nil=\"true\""),
        ("lexical", "2024-02-29"),
        ("lexical", "+1"),
        ("unicode", "😀"),
        ("occurrence", "100 times <item>"),
        ("attribute", "urgent=\"1\""),
        ("enumeration", "attribute currency"),
        ("missing-element", "no <customer>"),
        ("wrong-order", "before"),
        ("form", "<![CDATA["),
        ("xsi-type", "Unknown"),
        ("missing-attribute", "no attribute currency"),
        ("wildcard", "one any element"),
    ] {
        assert!(all.iter().any(|it| it.starts_with(&format!("{kind} ")) && it.contains(part)), "{kind}: {part}");
    }
    let operation = contract.operation("Catalogue").expect("an operation");
    assert!(operation.cases(Generation::default()).count() < 100, "there are only so many");
}

/// Our own mocks validate what they get: there is nothing to find. This is the test against false
/// findings.
#[tokio::test]
async fn mocks_of_all_wsdls_have_no_findings() {
    let folder = files::in_repository("testdata/wsdl");
    let mut services = 0;
    for path in files::below(&folder, &["wsdl"]) {
        let Ok(contract) = Contract::import(&path.to_string_lossy()) else { continue };
        let Ok(service) = Mock::new(contract.clone()).service() else { continue };
        let operations: Vec<_> = contract.operations().into_iter().filter(|it| it.method().is_ok()).take(1).collect();
        let settings = Settings { max_cases: 20, checks: strict(), ..Settings::default() };
        let report = Tester::new(service, access(), settings).run(&operations, &|_| {}).await;
        assert!(report.findings.is_empty(), "{}: {:#?}", path.display(), shown(&report));
        assert_eq!(report.stop, None);
        services += usize::from(report.requests > 15);
    }
    assert!(services > 50, "{services}");
}

fn strict() -> Checks {
    Checks { strict: true, ..Checks::default() }
}

#[tokio::test]
async fn a_service_without_faults_has_no_findings() {
    let settings = Settings { max_cases: 300, checks: strict(), idempotent: vec!["Put".into()], ..Settings::default() };
    let report = run(faulty(|_, _| Plant::Nothing), settings).await;
    assert!(report.findings.is_empty(), "{:#?}", shown(&report));
    assert!(report.operations[0].cases > 100 && report.operations[0].tallies[&Check::Idempotent].passed == 1);
}

#[tokio::test]
async fn a_crash_at_an_empty_text_is_found_with_a_small_request() {
    let plant = |_: &str, put: Option<&Node>| match child(put, "short") {
        Some(text) if text.is_empty() => Plant::Answers(500, fault("Server", "index out of range")),
        _ => Plant::Nothing,
    };
    let report = run(faulty(plant), Settings { max_cases: 160, ..Settings::default() }).await;
    let [finding] = found(&report, Check::ServerFault)[..] else { panic!("{:#?}", shown(&report)) };
    let request = Node::parse(&finding.request).expect("XML");
    let put = request.elements().next().and_then(|body| body.elements().next()).expect("an operation");
    // Only what is required, the name, and what fails.
    let left: Vec<_> = put.elements().map(|it| (it.name.local.to_string(), it.text())).collect();
    assert_eq!(left, [("name".to_owned(), String::new()), ("short".to_owned(), String::new())]);
    assert_eq!((finding.severity, finding.is_repeatable), (Severity::Failure, true));
    assert!(finding.reason.contains("index out of range"), "{}", finding.reason);
}

#[tokio::test]
async fn an_off_by_one_at_the_maximum_length_is_found_at_that_length() {
    let plant = |_: &str, put: Option<&Node>| match child(put, "short") {
        Some(text) if text.chars().count() == 5 => Plant::Answers(500, fault("Server", "buffer overflow")),
        _ => Plant::Nothing,
    };
    planted(plant, Check::ServerFault, |request| request.contains("short>xxxxx<")).await;
}

#[tokio::test]
async fn a_fault_at_nil_is_found() {
    let plant = |_: &str, put: Option<&Node>| match put.and_then(|put| put.element("urn:desk", "count")) {
        Some(count) if is_nil(count) && count.children.is_empty() => Plant::Answers(500, fault("Server", "null")),
        _ => Plant::Nothing,
    };
    planted(plant, Check::ServerFault, |request| request.contains("nil=\"true\"") && !request.contains("colour")).await;
}

#[tokio::test]
async fn an_ignored_enumeration_is_a_warning_and_a_failure_if_strict() {
    let plant = |text: &str, put: Option<&Node>| match put.and_then(|put| put.element("urn:desk", "colour")) {
        Some(colour) if desk().validate(text.as_bytes()).len() == 1 => match colour.text().as_str() {
            "red" | "blue" => Plant::Nothing,
            _ if is_nil(colour) || colour.elements().next().is_some() => Plant::Nothing,
            _ => response(),
        },
        _ => Plant::Nothing,
    };
    let check = Check::Refused(Breach::Enumeration);
    for (checks, severity) in [(Checks::default(), Severity::Warning), (strict(), Severity::Failure)] {
        let report = run(faulty(plant), Settings { max_cases: 160, checks, ..Settings::default() }).await;
        let [finding] = found(&report, check)[..] else { panic!("{:#?}", shown(&report)) };
        assert_eq!((finding.severity, report.has_failures()), (severity, severity == Severity::Failure));
    }
    let except = Checks { except: vec![check], ..strict() };
    let report = run(faulty(plant), Settings { max_cases: 160, checks: except, ..Settings::default() }).await;
    assert!(!report.has_failures(), "{:#?}", shown(&report));
}

#[tokio::test]
async fn responses_in_the_wrong_order_are_found() {
    fn swapped(text: String) -> String {
        match text.find("<ns:size>").zip(text.find("<ns:name>")) {
            Some((size, name)) if name < size => {
                format!("{}{}{}", &text[..name], "<ns:size>1</ns:size>", &text[name..size])
                    + text[size..].trim_start_matches("<ns:size>1</ns:size>")
            }
            _ => text.replace("<size>1</size>", "").replace("<name", "<size>1</size><name"),
        }
    }
    planted(|_, _| Plant::Changes(swapped), Check::Response, |request| !request.contains("colour")).await;
}

#[tokio::test]
async fn responses_without_a_required_element_are_found() {
    let plant = |text: &str, _: Option<&Node>| match desk().validate(text.as_bytes()).is_empty()
        && !text.contains("mustUnderstand")
    {
        true => Plant::Answers(200, soap("<PutResponse xmlns='urn:desk'><name>x</name></PutResponse>")),
        false => Plant::Nothing,
    };
    planted(plant, Check::Response, |_| true).await;
}

#[tokio::test]
async fn faults_in_the_wrong_namespace_and_with_status_200_are_found() {
    fn renamed(text: String) -> String {
        text.replace("soap:Fault", "Fault")
    }
    planted(|_, _| Plant::Changes(renamed), Check::Response, |request| request.contains("mustUnderstand")).await;
    let plant = |text: &str, _: Option<&Node>| match text.contains("stray") {
        true => Plant::Answers(200, fault("Client", "no text is allowed here")),
        false => Plant::Nothing,
    };
    planted(plant, Check::Status, |request| request.contains("stray")).await;
}

#[tokio::test]
async fn a_service_that_hangs_on_long_lists_is_found() {
    let plant = |_: &str, put: Option<&Node>| match put
        .map(|put| put.elements().filter(|it| &*it.name.local == "item").count())
    {
        Some(count) if count > 50 => Plant::Hangs,
        _ => Plant::Nothing,
    };
    let only = vec![Check::Answered, Check::Alive];
    let settings = Settings {
        max_cases: 120,
        max_shrinks: 2,
        checks: Checks { only, ..Checks::default() },
        ..Settings::default()
    };
    let report = run(faulty(plant), settings).await;
    let [finding] = found(&report, Check::Answered)[..] else { panic!("{:#?}", shown(&report)) };
    assert!(matches!(finding.outcome, Outcome::TimedOut(_)), "{finding:?}");
    assert_eq!((finding.kind, report.stop), (Kind::Valid(Aspect::Occurrence), None));
}

#[tokio::test]
async fn lost_connections_are_found_and_the_service_is_seen_to_live_on() {
    let plant = |text: &str, _: Option<&Node>| if text.contains('😀') { Plant::Fails } else { Plant::Nothing };
    let only = vec![Check::Answered, Check::Alive];
    let settings = Settings { max_cases: 160, checks: Checks { only, ..Checks::default() }, ..Settings::default() };
    let report = run(faulty(plant), settings).await;
    assert!(found(&report, Check::Alive).is_empty());
    let all = found(&report, Check::Answered);
    assert!(!all.is_empty() && all.iter().all(|it| String::from_utf8_lossy(&it.request).contains('😀')), "{all:#?}");
}

#[tokio::test]
async fn a_service_that_dies_ends_the_test() {
    let is_dead = std::sync::atomic::AtomicBool::new(false);
    let plant = move |text: &str, _: Option<&Node>| {
        use std::sync::atomic::Ordering::SeqCst;
        if text.contains('😀') || is_dead.load(SeqCst) {
            is_dead.store(true, SeqCst);
            return Plant::Fails;
        }
        Plant::Nothing
    };
    let report = run(faulty(plant), Settings::default()).await;
    assert_eq!(report.stop, Some(Stop::Dead));
    let [finding] = found(&report, Check::Alive)[..] else { panic!("{:#?}", shown(&report)) };
    assert!(String::from_utf8_lossy(&finding.request).contains('😀'));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_no_finding() {
    let report = run(faulty(|_, _| Plant::Fails), Settings::default()).await;
    assert!(matches!(report.stop, Some(Stop::Unreachable(_))) && report.findings.is_empty(), "{report:?}");
    let report = run(faulty(|_, _| Plant::Answers(401, String::new())), Settings::default()).await;
    assert_eq!(report.stop, Some(Stop::Denied(401)));
}

#[tokio::test]
async fn unknown_versions_and_header_blocks_that_are_accepted_are_found() {
    let plant = |text: &str, _: Option<&Node>| if text.contains("not-soap") { response() } else { Plant::Nothing };
    planted(plant, Check::Refused(Breach::Version), |request| request.contains("not-soap")).await;
    let plant = |text: &str, _: Option<&Node>| match text.contains("mustUnderstand") {
        true => Plant::Answers(500, fault("Client", "unknown header")),
        false => Plant::Nothing,
    };
    planted(plant, Check::Refused(Breach::MustUnderstand), |request| request.contains("mustUnderstand")).await;
    let plant =
        |text: &str, _: Option<&Node>| if text.contains("mustUnderstand") { response() } else { Plant::Nothing };
    planted(plant, Check::Refused(Breach::MustUnderstand), |request| request.contains("mustUnderstand")).await;
}

#[tokio::test]
async fn lost_characters_are_found_where_texts_come_back() {
    fn lossy(text: String) -> String {
        text.chars().map(|c| if c as u32 > 0xFFFF { '?' } else { c }).collect()
    }
    let settings = Settings { max_cases: 160, ..Settings::default() };
    let report = run(faulty(|_, _| Plant::Changes(lossy)), settings).await;
    let texts = found(&report, Check::Text);
    assert!(!texts.is_empty() && texts[0].reason.contains('?'), "{:#?}", shown(&report));
    assert!(report.findings.iter().all(|it| matches!(it.check, Check::Text | Check::Form)), "{:#?}", shown(&report));
}

#[tokio::test]
async fn stack_traces_and_pages_of_html_are_found() {
    let plant = |text: &str, _: Option<&Node>| match text.contains("maybe") {
        true => Plant::Answers(500, fault("Server", "x at org.example.Desk.put(Desk.java:17)")),
        false => Plant::Nothing,
    };
    let report = run(faulty(plant), Settings { max_cases: 160, ..Settings::default() }).await;
    assert!(!found(&report, Check::StackTrace).is_empty() && !found(&report, Check::FaultCode).is_empty());
    let plant = |text: &str, _: Option<&Node>| match text.contains("maybe") {
        true => Plant::Answers(500, "<html><body>Internal Server Error<br></body></html>".to_owned()),
        false => Plant::Nothing,
    };
    planted(plant, Check::Envelope, |request| request.contains("maybe")).await;
}

#[tokio::test]
async fn cdata_that_is_not_read_is_found_as_a_form() {
    let plant = |text: &str, _: Option<&Node>| match text.contains("<![CDATA[") {
        true => Plant::Answers(500, fault("Client", "what is this?")),
        false => Plant::Nothing,
    };
    planted(plant, Check::Form, |request| request.contains("<![CDATA[")).await;
}

#[tokio::test]
async fn words_where_numbers_are_declared_must_be_refused() {
    let plant = |_: &str, put: Option<&Node>| match child(put, "count") {
        Some(text) if text == "maybe" => response(),
        _ => Plant::Nothing,
    };
    planted(plant, Check::Refused(Breach::Type), |request| request.contains("maybe")).await;
}

#[tokio::test]
async fn answers_that_change_are_found_where_they_must_not() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let plant = move |text: &str, _: Option<&Node>| match desk().validate(text.as_bytes()).is_empty()
        && !text.contains("mustUnderstand")
    {
        true => {
            let size = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let body = format!("<PutResponse xmlns='urn:desk'><name>x</name><size>{size}</size></PutResponse>");
            Plant::Answers(200, soap(&body))
        }
        false => Plant::Nothing,
    };
    let settings = Settings { idempotent: vec!["Put".into()], ..Settings::default() };
    let report = run(faulty(plant), settings).await;
    assert_eq!(report.findings.len(), 1, "{:#?}", shown(&report));
    assert_eq!(report.findings[0].check, Check::Idempotent);
}

#[tokio::test]
async fn slow_answers_are_found() {
    let settings =
        Settings { max_response_time: Some(Duration::ZERO), max_cases: 5, max_shrinks: 3, ..Settings::default() };
    let report = run(faulty(|_, _| Plant::Nothing), settings).await;
    assert!(!found(&report, Check::Time).is_empty());
}

#[tokio::test]
async fn a_finding_is_sent_again_as_it_was() {
    let crash = |_: &str, put: Option<&Node>| match child(put, "short") {
        Some(text) if text.is_empty() => Plant::Answers(500, fault("Server", "index out of range")),
        _ => Plant::Nothing,
    };
    let report = run(faulty(crash), Settings { max_cases: 160, ..Settings::default() }).await;
    let finding = found(&report, Check::ServerFault)[0];
    let operation = desk().operation("Put").expect("an operation");
    let again = Tester::new(faulty(crash), access(), Settings::default());
    let found = again.replay(&operation, finding.check, finding.kind, &finding.request, finding.form).await;
    assert_eq!(found.map(|it| it.check), Some(Check::ServerFault));
    let mended = Tester::new(faulty(|_, _| Plant::Nothing), access(), Settings::default());
    let found = mended.replay(&operation, finding.check, finding.kind, &finding.request, finding.form).await;
    assert!(found.is_none(), "{found:?}");
    // What is not answered has not passed.
    let lost = Tester::new(faulty(|_, _| Plant::Fails), access(), Settings::default());
    let found = lost.replay(&operation, finding.check, finding.kind, &finding.request, finding.form).await;
    assert_eq!(found.map(|it| (it.check, it.severity)), Some((Check::Answered, Severity::Failure)));
    // The number of the case alone finds it, too.
    let settings = Settings { case: Some(finding.case), ..Settings::default() };
    let single = run(faulty(crash), settings).await;
    assert_eq!((single.operations[0].cases, single.findings.len()), (1, 1));
}

#[tokio::test]
async fn a_case_that_does_not_exist_is_said_before_anything_is_sent() {
    let contract = Contract::from_text(include_str!("../data/shop.wsdl")).expect("a WSDL");
    let operation = contract.operation("Catalogue").expect("an operation");
    let count = operation.cases(Generation::default()).count();
    let service = Mock::new(contract.clone()).service().expect("a service");
    let settings = Settings { case: Some(5000), ..Settings::default() };
    let report = Tester::new(service, access(), settings).run(&[operation], &|_| {}).await;
    let expected = format!("it has {count} cases, and none with the number 5000");
    assert_eq!(report.operations[0].skipped.as_deref(), Some(&*expected));
    assert_eq!(report.requests, 0);
}

#[tokio::test]
async fn the_maximum_time_also_ends_what_is_not_sent() {
    let settings =
        Settings { case: Some(1_000_000), max_time: Some(Duration::from_millis(300)), ..Settings::default() };
    let start = std::time::Instant::now();
    let report = run(faulty(|_, _| Plant::Nothing), settings).await;
    assert_eq!((report.stop, report.requests), (Some(Stop::Time), 0));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// A failure that does not come again is a warning, and one in strict tests.
#[tokio::test]
async fn failures_that_come_once_are_warnings_unless_the_test_is_strict() {
    for (strict, severity) in [(false, Severity::Warning), (true, Severity::Failure)] {
        let is_done = std::sync::atomic::AtomicBool::new(false);
        let plant = move |text: &str, _: Option<&Node>| {
            let fails = text.contains('😀') && !is_done.swap(true, std::sync::atomic::Ordering::SeqCst);
            if fails { Plant::Fails } else { Plant::Nothing }
        };
        let only = vec![Check::Answered];
        let settings = Settings { checks: Checks { only, strict, ..Checks::default() }, ..Settings::default() };
        let report = run(faulty(plant), settings).await;
        let [finding] = found(&report, Check::Answered)[..] else { panic!("{:#?}", shown(&report)) };
        assert_eq!((finding.severity, finding.is_repeatable), (severity, false));
    }
}

/// With several requests at a time, the same requests are sent and the same is found.
#[tokio::test]
async fn jobs_change_nothing() {
    let crash = |_: &str, put: Option<&Node>| match child(put, "short") {
        Some(text) if text.is_empty() => Plant::Answers(500, fault("Server", "index out of range")),
        _ => Plant::Nothing,
    };
    let one = run(faulty(crash), Settings { max_cases: 160, ..Settings::default() }).await;
    let many = run(faulty(crash), Settings { max_cases: 160, jobs: 8, ..Settings::default() }).await;
    assert_eq!(shown(&one), shown(&many));
    assert!(Form::named("cdata") == Some(Form::Cdata) && Kind::named("nil") == Some(Kind::Invalid(Breach::Nil)));
}
