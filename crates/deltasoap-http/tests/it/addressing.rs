//! WS-Addressing of both sides: header blocks of requests and replies, where replies go, and what
//! is refused.

use crate::common::scripted::{Act, Scripted};
use crate::common::{Echo, EchoResponse, Notify, Ticket, echo, echoed, serve};
use bytes::Bytes;
use deltasoap::client::{CallError, CallOptions, Credentials};
use deltasoap::schema::QName;
use deltasoap::server::{ActionCheck, AddressingMode, Operation, SoapServiceBuilder};
use deltasoap::soap::addressing::{Addressing, AddressingFault, AddressingHeaders, EndpointReference, RelatesTo};
use deltasoap::soap::{Head, HeaderBlock, Version};
use deltasoap::transport::HttpRequestBody;
use deltasoap::types::Node;
use deltasoap::{Client, Fault, Lease, Server, SoapService};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tower::ServiceExt;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const ACTION: &str = "urn:test/Port/EchoRequest";
const V10: Addressing = Addressing::V10;

/// A service that echoes, except for the text `fail`, and the number of its calls.
fn builder() -> (SoapServiceBuilder, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let handler = move |request: Lease<Echo>| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            match &*request.text {
                "fail" => Err(Fault::sender("asked for")),
                _ => Ok(echoed(&request)),
            }
        }
    };
    let echo = Operation::new(handler).action(ACTION).response_action("urn:test/Port/EchoResponse");
    let other = Operation::new(async |_: Lease<Ticket>| Ok::<_, Fault>(Ticket { number: 1 })).action("urn:other");
    (SoapService::builder().add_operation(echo).add_operation(other), calls)
}

fn service() -> SoapService {
    builder().0.build().expect("a service")
}

/// A message with header blocks in the namespace `a` of a version.
fn message(soap: Version, version: Addressing, blocks: &str, text: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{}' xmlns:a='{}' xmlns:t='urn:test'><s:Header>{blocks}</s:Header><s:Body><t:Echo><text>{text}\
         </text></t:Echo></s:Body></s:Envelope>",
        soap.namespace(),
        version.namespace()
    )
}

/// The answer to a message: its status, head, and what is in its body.
#[derive(Debug)]
struct Got {
    status: StatusCode,
    head: Head,
    body: Option<Node>,
}

impl Got {
    async fn of<B: http_body::Body<Data = Bytes, Error: std::fmt::Debug>>(response: Response<B>) -> Self {
        let status = response.status();
        let bytes = response.into_body().collect().await.expect("a body").to_bytes();
        let (head, body) = if bytes.is_empty() { (Head::default(), None) } else { parse(&bytes) };
        Got { status, head, body }
    }

    fn addressing(&self) -> AddressingHeaders {
        AddressingHeaders::read(&self.head).expect("valid").expect("addressed")
    }

    fn fault(&self) -> Fault {
        Fault::from_node(self.body.as_ref().expect("a body")).expect("a fault")
    }

    /// Returns the innermost code of WS-Addressing, and the name of the header block in the detail.
    fn violation(&self) -> (String, Option<String>) {
        let fault = self.fault();
        let in_header = self.head.header(V10.namespace(), "FaultDetail").and_then(|it| it.node.elements().next());
        let detail = in_header.or(fault.detail.first());
        let local = |it: &Node| it.text().rsplit(':').next().unwrap_or_default().to_owned();
        (AddressingFault::code_in(&fault).unwrap_or("none").to_owned(), detail.map(local))
    }
}

fn parse(bytes: &[u8]) -> (Head, Option<Node>) {
    let envelope = Node::parse(bytes).expect("XML");
    let namespace = &*envelope.name.namespace;
    let header = envelope.element(namespace, "Header");
    let block = |node: &Node| {
        let bindings = envelope.bindings.iter().chain(node.bindings.iter()).cloned().collect();
        HeaderBlock { node: Node { bindings, ..node.clone() } }
    };
    let headers = header.map(|header| header.elements().map(block).collect()).unwrap_or_default();
    let body = envelope.element(namespace, "Body").and_then(|body| body.elements().next()).cloned();
    (Head { version: Version::from_namespace(namespace), headers }, body)
}

async fn post_with(service: &SoapService, soap: Version, message: String, action: &str) -> Got {
    let media = if soap == Version::Soap11 { "text/xml" } else { "application/soap+xml" };
    let request = Request::post("/").header("content-type", media).header("soapaction", format!("\"{action}\""));
    let request = request.body(Full::from(message)).expect("a request");
    Got::of(service.clone().oneshot(request).await.expect("infallible")).await
}

async fn post(service: &SoapService, blocks: &str) -> Got {
    post_with(service, Version::Soap12, message(Version::Soap12, V10, blocks, "hi"), "").await
}

fn action() -> String {
    format!("<a:Action>{ACTION}</a:Action>")
}

fn address(local: &str, address: &str) -> String {
    format!("<a:{local}><a:Address>{address}</a:Address></a:{local}>")
}

#[tokio::test]
async fn replies_say_what_they_answer() {
    let service = service();
    for soap in [Version::Soap11, Version::Soap12] {
        for version in Addressing::ALL {
            let blocks = format!("<a:Action s:mustUnderstand='1'>{ACTION}</a:Action><a:MessageID>urn:1</a:MessageID>");
            let got = post_with(&service, soap, message(soap, version, &blocks, "hi"), "").await;
            let headers = got.addressing();
            assert_eq!(
                (got.status, headers.version, &*headers.action),
                (StatusCode::OK, version, "urn:test/Port/EchoResponse")
            );
            assert_eq!(headers.relates_to, [RelatesTo::reply("urn:1")]);
            assert_eq!(headers.to.as_deref(), Some(version.anonymous()));
            assert!(headers.message_id.is_some_and(|id| id.starts_with("urn:uuid:") && id.len() == 45));

            let got = post_with(&service, soap, message(soap, version, &blocks, "fail"), "").await;
            let headers = got.addressing();
            assert_eq!((&*headers.action, &*got.fault().reason), (version.soap_fault_action(), "asked for"));
            assert_eq!(headers.relates_to, [RelatesTo::reply("urn:1")]);
        }
    }
    let got = post(&service, "").await;
    assert_eq!((got.status, got.head.headers.len()), (StatusCode::OK, 0), "without blocks, none come back");
}

#[tokio::test]
async fn faults_of_unreadable_requests_relate_to_them() {
    let service = service();
    let blocks = format!("{}<a:MessageID>urn:1</a:MessageID><t:Unknown s:mustUnderstand='1'/>", action());
    let got = post(&service, &blocks).await;
    assert!(got.head.header(Version::Soap12.namespace(), "NotUnderstood").is_some());
    let headers = got.addressing();
    assert_eq!(
        (&*headers.action, &headers.relates_to[..]),
        (V10.soap_fault_action(), &[RelatesTo::reply("urn:1")][..])
    );
}

#[tokio::test]
async fn actions_of_replies_follow_from_the_wsdl() {
    let wsdl = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:test" targetNamespace="urn:test"
        xmlns:wsam="http://www.w3.org/2007/05/addressing/metadata" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
        <message name="In"><part name="p" element="t:Echo"/></message>
        <message name="F"><part name="p" element="t:Ticket"/></message>
        <portType name="P"><operation name="Do"><input message="t:In" wsam:Action="urn:do"/><output message="t:Out"/>
        <fault name="Full" message="t:F"/></operation></portType></definitions>"#;
    let handler = async |echo: Lease<Echo>| match &*echo.text {
        "full" => Fault::sender("full").with_detail(&Ticket { number: 1 }).map_err(Fault::from).and_then(Err),
        _ => Ok(echoed(&echo)),
    };
    let service = SoapService::builder().operation(handler).wsdl(wsdl).build().expect("a service");
    for (text, action) in [("hi", "urn:test:P:DoResponse"), ("full", "urn:test:P:Do:Fault:Full")] {
        let request = message(Version::Soap11, V10, "<a:Action>urn:do</a:Action>", text);
        assert_eq!(post_with(&service, Version::Soap11, request, "").await.addressing().action, action);
    }
    let unknown = SoapService::builder()
        .operation(async |echo: Echo| echoed(&echo))
        .wsdl("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>");
    let got = post(&unknown.build().expect("a service"), "<a:Action>urn:do</a:Action>").await;
    assert_eq!(got.addressing().action, "urn:doResponse", "without a declaration");
}

#[tokio::test]
async fn invalid_requests_are_refused_before_the_handler() {
    let (builder, calls) = builder();
    let service = builder.build().expect("a service");
    let reply_to = address("ReplyTo", "https://evil.example/");
    let cases = [
        (String::new(), "MessageAddressingHeaderRequired", "Action"),
        (format!("{}{}", action(), action()), "InvalidCardinality", "Action"),
        (format!("{}<a:To>nowhere</a:To>", action()), "InvalidAddress", "To"),
        (format!("{}<a:ReplyTo/>", action()), "MissingAddressInEPR", "ReplyTo"),
        (format!("{}{reply_to}", action()), "OnlyAnonymousAddressSupported", "ReplyTo"),
        (
            format!("{}{}", action(), address("FaultTo", "https://evil.example/")),
            "OnlyAnonymousAddressSupported",
            "FaultTo",
        ),
    ];
    for (blocks, code, header) in cases {
        let blocks = format!("{blocks}<a:MessageID>urn:1</a:MessageID>");
        for soap in [Version::Soap11, Version::Soap12] {
            let got = post_with(&service, soap, message(soap, V10, &blocks, "hi"), "").await;
            let (found, detail) = got.violation();
            // SOAP 1.1 has no place for the inner code.
            let inner = soap == Version::Soap12 || code == "MessageAddressingHeaderRequired";
            assert_eq!(found, if inner { code } else { "InvalidAddressingHeader" }, "{blocks}");
            assert_eq!(detail.as_deref(), Some(header));
            let headers = got.addressing();
            assert_eq!(
                (&*headers.action, &headers.relates_to[..]),
                (V10.fault_action(), &[RelatesTo::reply("urn:1")][..])
            );
            assert_eq!(got.status.as_u16(), if soap == Version::Soap11 { 500 } else { 400 });
        }
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn services_may_require_addressing() {
    let (builder, calls) = builder();
    let service = builder.addressing(AddressingMode::Require).build().expect("a service");
    assert_eq!(post(&service, "").await.violation(), ("MessageAddressingHeaderRequired".into(), Some("Action".into())));
    let got = post(&service, &action()).await;
    assert_eq!(got.violation(), ("MessageAddressingHeaderRequired".into(), Some("MessageID".into())));
    let id = format!("{}<a:MessageID>urn:1</a:MessageID>", action());
    let got = post_with(&service, Version::Soap12, message(Version::Soap12, Addressing::V2004, &id, "hi"), "").await;
    assert_eq!(got.violation(), ("MessageInformationHeaderRequired".into(), None), "2004 requires To");
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert_eq!(post(&service, &id).await.status, StatusCode::OK);
}

#[tokio::test]
async fn services_may_ignore_addressing() {
    let service = builder().0.addressing(AddressingMode::Ignore).build().expect("a service");
    let got = post(&service, &format!("{}{}", action(), address("ReplyTo", "https://evil.example/"))).await;
    assert_eq!((got.status, got.head.headers.len()), (StatusCode::OK, 0));
    let got = post(&service, &format!("<a:Action s:mustUnderstand='1'>{ACTION}</a:Action>")).await;
    assert_eq!(got.head.headers[0].node.name, QName::new(Version::Soap12.namespace(), "NotUnderstood"));
}

#[tokio::test]
async fn actions_are_checked_in_one_place() {
    let cases = [
        (ActionCheck::Refuse, "urn:other", "", Some("ActionMismatch")),
        (ActionCheck::Refuse, "urn:unknown", "", None),
        (ActionCheck::Refuse, ACTION, "urn:unknown", None),
        (ActionCheck::Strict, "urn:unknown", "", Some("ActionNotSupported")),
        (ActionCheck::Strict, ACTION, ACTION, None),
        (ActionCheck::Log, "urn:other", "", None),
        (ActionCheck::Ignore, "urn:other", "urn:unknown", None),
    ];
    for (check, in_header, in_http, code) in cases {
        let service = builder().0.action_check(check).build().expect("a service");
        let request = message(Version::Soap12, V10, &format!("<a:Action>{in_header}</a:Action>"), "hi");
        let got = post_with(&service, Version::Soap12, request, in_http).await;
        let found = (got.status != StatusCode::OK).then(|| got.violation().0);
        assert_eq!(found.as_deref(), code, "{check:?} {in_header} {in_http}");
    }
    // Without a declared action, the two actions may still differ.
    let service = SoapService::builder().operation(async |echo: Echo| echoed(&echo)).action_check(ActionCheck::Strict);
    let service = service.wsdl("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>").build().expect("a service");
    let request = message(Version::Soap11, V10, "<a:Action>urn:a</a:Action>", "hi");
    let got = post_with(&service, Version::Soap11, request, "urn:b").await;
    let detail = &got.head.header(V10.namespace(), "FaultDetail").expect("a detail").node;
    let problem = detail.element(V10.namespace(), "ProblemAction").expect("a problem");
    let text = |local| problem.element(V10.namespace(), local).map(Node::text);
    assert_eq!((text("Action"), text("SoapAction")), (Some("urn:a".into()), Some("urn:b".into())));
}

#[tokio::test]
async fn replies_may_be_discarded() {
    let (builder, calls) = builder();
    let service = builder.build().expect("a service");
    let none = address("ReplyTo", V10.none().expect("an address"));
    let got = post(&service, &format!("{}{none}", action())).await;
    assert_eq!((got.status, got.body.is_none(), calls.load(Ordering::SeqCst)), (StatusCode::ACCEPTED, true, 1));
    let faults = address("FaultTo", V10.none().expect("an address"));
    let blocks = format!("{}{faults}", action());
    let failing = message(Version::Soap12, V10, &blocks, "fail");
    assert_eq!(post_with(&service, Version::Soap12, failing, "").await.status, StatusCode::ACCEPTED);
    assert_eq!(post(&service, &blocks).await.status, StatusCode::OK, "responses are not faults");
}

/// A server for replies, which are returned by the receiver: their action in HTTP, and the message.
async fn receiver() -> (String, mpsc::UnboundedReceiver<(String, Got)>, deltasoap::server::ServerHandle) {
    let (sender, received) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<HttpRequestBody>| {
        let sender = sender.clone();
        async move {
            let (parts, body) = request.into_parts();
            let action = parts.headers.get("soapaction").and_then(|action| action.to_str().ok());
            let action = action.unwrap_or_default().to_owned();
            let got = Got::of(Response::new(body)).await;
            let _ = sender.send((action, got));
            let mut response = Response::new(Full::<Bytes>::default());
            *response.status_mut() = StatusCode::ACCEPTED;
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    tokio::spawn(server.serve(service));
    (format!("http://{address}/replies"), received, handle)
}

#[tokio::test]
async fn replies_go_where_they_are_allowed_to() {
    let (url, mut received, _handle) = receiver().await;
    let service = builder().0.reply_targets([&url]).build().expect("a service");
    let key = "<a:ReferenceParameters><t:Key>7</t:Key></a:ReferenceParameters>";
    let reply_to = format!("<a:ReplyTo><a:Address>{url}/1</a:Address>{key}</a:ReplyTo>");
    let blocks =
        format!("{}<a:MessageID>urn:1</a:MessageID>{reply_to}{}", action(), address("FaultTo", &format!("{url}/2")));
    let cases = [(Version::Soap11, "hi", "1"), (Version::Soap11, "fail", "2"), (Version::Soap12, "hi", "1")];
    for (soap, text, expected) in cases {
        let got = post_with(&service, soap, message(soap, V10, &blocks, text), "").await;
        assert_eq!((got.status, got.body.is_none()), (StatusCode::ACCEPTED, true));
        let (action, got) =
            tokio::time::timeout(Duration::from_secs(10), received.recv()).await.expect("in time").expect("a reply");
        let headers = got.addressing();
        let in_http = if soap == Version::Soap11 { "\"\"" } else { "" };
        assert_eq!((headers.to, &*action), (Some(format!("{url}/{expected}")), in_http));
        assert_eq!(headers.relates_to, [RelatesTo::reply("urn:1")]);
        let name = &got.body.as_ref().expect("a body").name;
        assert_eq!(&*name.local, if text == "hi" { "EchoResponse" } else { "Fault" });
        let keys: Vec<_> = headers.reference_parameters.iter().map(Node::text).collect();
        assert_eq!(keys, if text == "hi" { vec!["7"] } else { vec![] });
    }
    let elsewhere = format!("{}{}", action(), address("ReplyTo", &url.replace("/replies", "/admin")));
    assert_eq!(post(&service, &elsewhere).await.violation().0, "OnlyAnonymousAddressSupported");
    // An invalid request is answered in place, whatever it names.
    let invalid = format!("{}{}{}", action(), action(), address("ReplyTo", &url));
    assert_eq!(post(&service, &invalid).await.violation().0, "InvalidCardinality");
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn one_way_messages_have_no_reply() {
    let (sender, mut events) = mpsc::unbounded_channel();
    let handler = move |headers: AddressingHeaders, _: Lease<Notify>| {
        let _ = sender.send(headers.message_id);
        async { Ok::<_, Fault>(()) }
    };
    let service =
        SoapService::builder().operation(handler).addressing(AddressingMode::Require).build().expect("a service");
    let client =
        Client::builder("http://localhost/").addressing(V10).action("urn:notify").build_with(service).expect("a URL");
    let options = CallOptions::new().message_id("urn:mine");
    client.send_with(&Notify { event: "x".into() }, options).await.expect("accepted");
    assert_eq!(events.recv().await, Some(Some("urn:mine".to_owned())));
}

/// Returns a client of a service that keeps the header blocks it gets.
fn recording(version: Option<Addressing>) -> (Client<SoapService>, Arc<Mutex<Vec<Head>>>) {
    let heads = Arc::<Mutex<Vec<Head>>>::default();
    let kept = Arc::clone(&heads);
    let handler = move |context: deltasoap::Context, request: Lease<Echo>| {
        kept.lock().expect("not poisoned").push(context.head().clone());
        let reply = echoed(&request);
        async move { Ok::<_, Fault>(reply) }
    };
    let service = SoapService::builder().operation(handler).reply_targets(["http://reply.example/"]).build();
    let client = Client::builder("http://user:secret@localhost:1/echo?x=1").addressing(version).action(ACTION);
    (client.build_with(service.expect("a service")).expect("a URL"), heads)
}

fn last(heads: &Mutex<Vec<Head>>) -> AddressingHeaders {
    let head = heads.lock().expect("not poisoned").pop().expect("a request");
    AddressingHeaders::read(&head).expect("valid").expect("addressed")
}

#[tokio::test]
async fn requests_are_addressed() -> Result<()> {
    for version in Addressing::ALL {
        let (client, heads) = recording(Some(version));
        client.call(&echo("a")).await?;
        let first = last(&heads);
        assert_eq!((first.version, &*first.action), (version, ACTION));
        assert_eq!(first.to.as_deref(), Some("http://localhost:1/echo?x=1"), "without user and password");
        assert_eq!(first.reply_to, Some(EndpointReference::new(version.anonymous())));
        client.call_leased(&echo("a")).await?;
        let second = last(&heads);
        assert!(first.message_id.is_some() && first.message_id != second.message_id);
    }
    let (client, heads) = recording(None);
    client.call(&echo("a")).await?;
    assert_eq!(heads.lock().expect("not poisoned")[0].headers, []);
    Ok(())
}

#[tokio::test]
async fn calls_set_their_own_properties() -> Result<()> {
    let (client, heads) = recording(None);
    let mut endpoint = EndpointReference::new("urn:endpoint");
    endpoint.reference_parameters.push(Node::with_text(QName::new("urn:k", "Key"), "7"));
    let options =
        CallOptions::new().addressing_action("urn:mine").to_endpoint(&endpoint).relates_to(RelatesTo::reply("urn:0"));
    let later = CallOptions::new().message_id("urn:1").fault_to(EndpointReference::new("http://reply.example/faults"));
    client.call_with(&echo("a"), options.and(later)).await?;
    let sent = last(&heads);
    assert_eq!((sent.to.as_deref(), &*sent.action), (Some("urn:endpoint"), "urn:mine"));
    assert_eq!((sent.message_id.as_deref(), &sent.relates_to[..]), (Some("urn:1"), &[RelatesTo::reply("urn:0")][..]));
    assert_eq!(sent.fault_to, Some(EndpointReference::new("http://reply.example/faults")));
    assert_eq!(sent.reference_parameters[0].text(), "7");

    client.call_with(&echo("a"), CallOptions::new().addressing(Addressing::V2004)).await?;
    assert_eq!(last(&heads).version, Addressing::V2004);
    client.call_with(&echo("a"), CallOptions::new().addressing_action("urn:unused")).await?;
    assert_eq!(heads.lock().expect("not poisoned").pop().expect("a request").headers, []);
    Ok(())
}

#[tokio::test]
async fn an_action_is_required() -> Result<()> {
    let client = Client::builder("http://localhost/").addressing(V10).build_with(service())?;
    match client.call(&echo("a")).await {
        Err(CallError::RefusedRequest(error)) => assert!(error.to_string().contains("action"), "{error}"),
        other => panic!("{other:?}"),
    }
    Ok(())
}

#[tokio::test]
async fn endpoints_are_called_with_their_parameters() -> Result<()> {
    let (builder, _) = builder();
    let (sender, mut heads) = mpsc::unbounded_channel();
    let service = builder.intercept(move |request| {
        let authorization = request.context().parts().headers.contains_key("authorization");
        let _ = sender.send((request.context().head().clone(), authorization));
        Ok(())
    });
    let (address, _handle) = serve(service.build()?).await;
    let mut endpoint = EndpointReference::new(format!("http://{address}/subscription"));
    endpoint.reference_parameters.push(Node::with_text(QName::new("urn:k", "Key"), "7"));
    for (url, keeps_credentials) in [(format!("http://{address}/"), true), ("http://localhost:1/".to_owned(), false)] {
        let client = Client::builder(url).action(ACTION).credentials(Credentials::basic("ada", "secret")?).build()?;
        client.at(&endpoint)?.call(&echo("a")).await?;
        let (head, is_authorized) = heads.recv().await.expect("a request");
        let sent = AddressingHeaders::read(&head)?.expect("addressed");
        assert_eq!((sent.to, sent.reference_parameters[0].text()), (Some(endpoint.address.clone()), "7".to_owned()));
        assert_eq!(is_authorized, keeps_credentials);
    }
    let client = Client::new("http://localhost/")?;
    for address in [V10.anonymous(), Addressing::V2004.anonymous(), V10.none().unwrap_or_default(), "urn:x"] {
        assert!(client.at(&EndpointReference::new(address)).is_err(), "{address}");
    }
    Ok(())
}

/// Answers each request with header blocks.
async fn answering(blocks: &'static str) -> Scripted {
    Scripted::new(move |_, _| {
        let message = format!(
            "<s:Envelope xmlns:s='{}' xmlns:a='{}' xmlns:t='urn:test'><s:Header>{blocks}</s:Header><s:Body><t:EchoResponse>\
             <text/></t:EchoResponse></s:Body></s:Envelope>",
            Version::Soap11.namespace(),
            V10.namespace()
        );
        let length = message.len();
        Act::Say(format!("HTTP/1.1 200 OK\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n{message}"))
    })
    .await
}

#[tokio::test]
async fn responses_answer_their_request() -> Result<()> {
    let cases = [
        ("", None),
        ("<a:Action s:mustUnderstand='1'>urn:x</a:Action>", None),
        ("<a:Action>urn:x</a:Action><a:RelatesTo>urn:1</a:RelatesTo>", None),
        ("<a:Action>urn:x</a:Action><a:RelatesTo>urn:0</a:RelatesTo><a:RelatesTo>urn:1</a:RelatesTo>", None),
        ("<a:Action>urn:x</a:Action><a:RelatesTo RelationshipType='urn:other'>urn:0</a:RelatesTo>", None),
        ("<a:Action>urn:x</a:Action><a:RelatesTo>urn:0</a:RelatesTo>", Some("relates to the message urn:0")),
        ("<a:RelatesTo>urn:1</a:RelatesTo>", Some("wsa:Action is required")),
    ];
    for (blocks, complaint) in cases {
        let server = answering(blocks).await;
        let options = CallOptions::new().message_id("urn:1").action(ACTION);
        let called = server.client().call_with(&echo("a"), options).await;
        match (called, complaint) {
            (Ok(_), None) => {}
            (Err(CallError::Decode(error)), Some(complaint)) => {
                assert!(error.to_string().contains(complaint), "{error}");
            }
            other => panic!("{blocks}: {other:?}"),
        }
    }
    let server = answering("<a:Action s:mustUnderstand='1'>urn:x</a:Action>").await;
    assert!(matches!(server.client().call(&echo("a")).await, Err(CallError::NotUnderstood(_))), "without addressing");
    Ok(())
}

#[tokio::test]
async fn addressing_faults_are_named() -> Result<()> {
    let service = builder().0.addressing(AddressingMode::Require).build()?;
    for (version, code) in
        [(Version::Soap11, "MessageAddressingHeaderRequired"), (Version::Soap12, "MessageAddressingHeaderRequired")]
    {
        let client = Client::builder("http://localhost/").version(version).build_with(service.clone())?;
        let Err(error) = client.call(&echo("a")).await else { panic!("no fault") };
        assert!(
            error.to_string().contains(&format!("Sender fault (wsa:{code}): the header block wsa:Action is required")),
            "{error}"
        );
    }
    let client = Client::builder("http://localhost/").addressing(V10).action(ACTION).build_with(service)?;
    assert_eq!(client.call(&echo("a")).await?, echoed(&echo("a")));
    Ok(())
}

#[tokio::test]
async fn handlers_take_the_header_blocks() -> Result<()> {
    let optional = async |headers: Option<AddressingHeaders>, request: Echo| EchoResponse {
        text: headers.map(|headers| headers.action).unwrap_or_default(),
        ..echoed(&request)
    };
    let service = SoapService::builder().operation(optional).build()?;
    let client = Client::with_service("http://localhost/", service)?;
    let text = async |options| client.call_with(&echo("a"), options).await.map(|response| response.body.text);
    assert_eq!(text(CallOptions::new()).await?, "");
    assert_eq!(text(CallOptions::new().action(ACTION).message_id("urn:1")).await?, ACTION);

    let required = async |_: AddressingHeaders, request: Echo| echoed(&request);
    let service = SoapService::builder().operation(required).build()?;
    let client = Client::with_service("http://localhost/", service)?;
    let Err(CallError::Fault(fault)) = client.call(&echo("a")).await else { panic!("no fault") };
    assert_eq!(AddressingFault::code_in(&fault), Some("MessageAddressingHeaderRequired"));
    Ok(())
}

/// Header blocks that change with each message leave the template of the body alone.
#[tokio::test]
async fn templates_are_used() -> Result<()> {
    let (client, _) = recording(Some(V10));
    let request = Echo { text: "a".repeat(2000), numbers: vec![1; 1000] };
    for _ in 0..4 {
        client.call(&request).await?;
    }
    let stats = client.encode_stats();
    assert!(stats.content >= 2, "{stats:?}");
    Ok(())
}
