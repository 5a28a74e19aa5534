//! Answers that handlers write themselves: messages of other types, no message, and answers to
//! requests without a message.

use bytes::Bytes;
use deltasoap::engine::content::Shortcuts;
use deltasoap::engine::decode::{Cursor, Step};
use deltasoap::engine::encode::Encoder;
use deltasoap::engine::{Buffer, Content, Typed};
use deltasoap::schema::{Element, QName, View};
use deltasoap::soap::Envelope;
use deltasoap::types::Node;
use deltasoap::{Fault, Lease, Message, Soap};
use deltasoap_http::{Context, MessageReply, Operation, SoapService};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody};
use std::convert::Infallible;
use tower::ServiceExt;

#[derive(Soap)]
#[soap(namespace = "urn:t", message)]
struct Ping {
    number: i32,
}

/// Any element.
struct Any(Node);

impl Content for Any {
    const REPLACES: bool = true;

    fn vacant(view: View<'_>) -> Self {
        Any(Node::vacant(view))
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.0.decode(cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        self.0.encode(encoder, view);
    }
}

impl Shortcuts for Any {}

impl Typed for Any {
    const TYPE_NAME: QName = Node::TYPE_NAME;

    fn element() -> &'static Element {
        <Node as Typed>::element()
    }
}

impl Message for Any {
    const ELEMENT: QName = QName::new("", "any");
}

fn ping(number: i32) -> Result<MessageReply, deltasoap::Error> {
    Ok(MessageReply::message(Envelope::new(&Ping { number }).write(Buffer::new())?))
}

/// Answers even numbers with half of them, odd ones with nothing, other elements with a fault that
/// names them, and empty requests with 1.
fn service() -> SoapService {
    let halve = async |_: Context, request: Lease<Ping>| match request.number {
        odd if odd % 2 != 0 => Ok(MessageReply::status(StatusCode::NO_CONTENT)),
        even => ping(even / 2),
    };
    let other = async |_: Context, request: Lease<Any>| {
        let fault = Fault::sender(request.0.name.to_string());
        let written = Envelope::fault(&fault).write(Buffer::new())?;
        Ok::<_, Fault>(MessageReply::fault(written).with_status(StatusCode::OK))
    };
    SoapService::builder()
        .add_operation(Operation::new(halve))
        .add_operation(Operation::new(halve).named(QName::new("urn:u", "Pong")))
        .fallback(Operation::new(other))
        .empty_post(async |context: Context| match context.parts().headers.contains_key("x-fault") {
            true => Err(Fault::receiver("as asked")),
            false => Ok(ping(1)?),
        })
        .build()
        .expect("a service")
}

async fn answer(body: impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static) -> (u16, String) {
    let Ok(response) = service().oneshot(Request::post("/").body(body).expect("a request")).await;
    let (parts, body) = response.into_parts();
    assert_eq!(parts.headers.contains_key("content-type"), parts.status != StatusCode::NO_CONTENT);
    let body = body.collect().await.expect("a body").to_bytes();
    (parts.status.as_u16(), String::from_utf8(body.into()).expect("UTF-8"))
}

fn envelope(body: &str) -> Full<Bytes> {
    let message = format!(
        r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{body}</s:Body></s:Envelope>"#
    );
    message.into()
}

#[tokio::test]
async fn handlers_choose_what_they_answer() {
    let (status, body) = answer(envelope(r#"<Ping xmlns="urn:t"><number xmlns="">8</number></Ping>"#)).await;
    assert!(status == 200 && body.contains("<number>4<"), "{status} {body}");
    let (status, body) = answer(envelope(r#"<Pong xmlns="urn:u"><number xmlns="">6</number></Pong>"#)).await;
    assert!(status == 200 && body.contains("<number>3<"), "{status} {body}");
    assert_eq!(
        answer(envelope(r#"<Ping xmlns="urn:t"><number xmlns="">7</number></Ping>"#)).await,
        (204, String::new())
    );
    let (status, body) = answer(envelope(r#"<Other xmlns="urn:o"><a/></Other>"#)).await;
    assert!(status == 200 && body.contains("{urn:o}Other"), "{status} {body}");
}

/// Returns a body of unknown length in these frames.
fn frames(frames: &[&'static str]) -> impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static + use<> {
    let frames: Vec<_> =
        frames.iter().map(|text| Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes())))).collect();
    StreamBody::new(futures_util::stream::iter(frames))
}

#[tokio::test]
async fn nothing_is_told_from_what_begins_with_nothing() {
    for body in [&[][..], &[""], &["", ""]] {
        let (status, body) = answer(frames(body)).await;
        assert!(status == 200 && body.contains("<number>1<"), "{status} {body}");
    }
    assert_eq!(answer(Full::default()).await.0, 200);
    let parts = [
        "",
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>",
        "<Ping xmlns='urn:t'><number xmlns=''>4</number></Ping>",
        "</s:Body></s:Envelope>",
    ];
    let (status, body) = answer(frames(&parts)).await;
    assert!(status == 200 && body.contains("<number>2<"), "{status} {body}");
    assert_eq!(answer(frames(&["", " "])).await.0, 500);
}

#[tokio::test]
async fn a_request_without_a_body_can_fail() {
    let request = Request::post("/").header("x-fault", "1").body(Full::<Bytes>::default()).expect("a request");
    let Ok(response) = service().oneshot(request).await;
    assert_eq!(response.status(), 500);
    // Without a handler it is a message that ends too early.
    let plain = SoapService::builder().build().expect("a service");
    let Ok(response) = plain.oneshot(Request::post("/").body(Full::<Bytes>::default()).expect("a request")).await;
    assert_eq!(response.status(), 500);
}
