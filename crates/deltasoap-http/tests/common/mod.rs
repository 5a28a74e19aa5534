//! Code shared by the tests: messages, a service, and functions that call it.

#![allow(dead_code, reason = "each test file uses its part")]

#[cfg(feature = "tls")]
pub mod authority;
pub mod scripted;

use bytes::Bytes;
use deltasoap::engine::{Buffer, Limits};
use deltasoap::schema::QName;
use deltasoap::server::{Operation, Reply, ServerHandle};
use deltasoap::soap::{Envelope, FaultCode, HeaderBlock, TypedFault, Version};
use deltasoap::{Context, Fault, Lease, Message, Server, Soap, SoapService};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use tokio::sync::mpsc;
use tower::ServiceExt;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = EchoResponse)]
pub struct Echo {
    pub text: String,
    pub numbers: Vec<i32>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct EchoResponse {
    pub text: String,
    pub numbers: Vec<i32>,
}

/// Requests a failure of some kind.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct Fail {
    pub how: String,
}

/// A fault's detail.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct NoSuchThing {
    pub name: String,
    pub code: i32,
}

/// A one-way message.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct Notify {
    pub event: String,
}

/// Requests the request's context.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = DescribeResponse)]
pub struct Describe {}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct DescribeResponse {
    pub action: Option<String>,
    pub peer: Option<String>,
    pub user_agent: Option<String>,
}

/// A header block that `Describe` understands and sends back.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct Ticket {
    pub number: i32,
}

/// A message that no operation takes.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message)]
pub struct Unserved {}

pub fn echo(text: &str) -> Echo {
    Echo { text: text.to_owned(), numbers: vec![1, -2, 3] }
}

pub fn echoed(echo: &Echo) -> EchoResponse {
    EchoResponse { text: echo.text.clone(), numbers: echo.numbers.clone() }
}

/// Maximum size of a message that [`service`] accepts, in bytes.
pub const LARGEST: u64 = 200_000;

/// Returns a service; events of one-way messages go to the receiver.
pub fn service() -> (SoapService, mpsc::UnboundedReceiver<String>) {
    let (events, received) = mpsc::unbounded_channel();
    let limits = Limits { message: LARGEST, ..Limits::default() };
    let notify = move |message: Lease<Notify>| {
        let events = events.clone();
        async move {
            assert_ne!(message.event, "panic", "asked for");
            events.send(message.event.clone()).map_err(|error| Fault::receiver(error.to_string()))
        }
    };
    let describe = Operation::new(describe).understands(Ticket::ELEMENT).action("urn:describe");
    let service = SoapService::builder()
        .limits(limits)
        .name("Test & more")
        .operation(async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request)))
        .operation(fail)
        .add_operation(describe)
        .operation(notify)
        .understands(QName::new("urn:test", "Everywhere"))
        .wsdl(WSDL)
        .build()
        .expect("a service");
    (service, received)
}

pub const WSDL: &str = r#"<?xml version="1.0"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/"
 xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"><service name="Test"><port name="a" binding="b">
 <soap:address location="http://example.org/"/></port></service></definitions>"#;

async fn fail(request: Lease<Fail>) -> Result<EchoResponse, Fault> {
    match request.how.as_str() {
        "typed" => {
            let detail = NoSuchThing { name: "thing".to_owned(), code: 7 };
            Err(TypedFault::sender("no such thing", detail).into())
        }
        "panic" => panic!("a secret"),
        "unwritable" => Ok(EchoResponse { text: "\u{0}".to_owned(), numbers: vec![] }),
        "unwritable fault" => Err(Fault::sender("no\u{0} such \u{FFFF}thing")
            .with_detail(&NoSuchThing { name: "thing".to_owned(), code: 7 })?),
        "own code" => Err(Fault::new(FaultCode::Other(QName::new("urn:test", "Own")), "own")),
        how => Err(Fault::receiver(how)),
    }
}

async fn describe(context: Context, _: Lease<Describe>) -> Result<Reply<DescribeResponse>, Fault> {
    let user_agent = context.parts().headers.get("user-agent").and_then(|value| value.to_str().ok());
    let body = DescribeResponse {
        action: context.action(),
        peer: context.peer().map(|peer| peer.ip().to_string()),
        user_agent: user_agent.map(str::to_owned),
    };
    let ticket = context.header::<Ticket>().transpose()?;
    let headers = ticket.iter().map(HeaderBlock::from_message).collect::<Result<_, _>>()?;
    Ok(Reply { headers, ..Reply::new(body) })
}

/// Returns a request message as text.
pub fn message<T: Message>(version: Version, headers: &[HeaderBlock], body: &T) -> String {
    let buffer = Envelope::new(body).version(version).headers(headers).write(Buffer::new()).expect("a message");
    String::from_utf8(buffer.into_vec()).expect("UTF-8")
}

/// A body that consists of these pieces, with its whole length announced or not at all.
pub struct Pieces(pub VecDeque<Bytes>);

impl Pieces {
    /// Splits bytes into pieces of `size`.
    pub fn of(bytes: &[u8], size: usize) -> Self {
        Pieces(bytes.chunks(size).map(Bytes::copy_from_slice).collect())
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }
}

/// An answer as text.
#[derive(Debug)]
pub struct Answered {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answered {
    pub fn content_type(&self) -> &str {
        self.headers.get("content-type").map_or("", |value| value.to_str().expect("text"))
    }
}

/// Posts a message in memory, in pieces of `size` bytes.
pub async fn post_pieces(service: &SoapService, content_type: &str, body: &[u8], size: usize) -> Answered {
    let mut request = Request::post("/");
    if !content_type.is_empty() {
        request = request.header("content-type", content_type);
    }
    send(service, request.body(Pieces::of(body, size)).expect("a request")).await
}

/// Posts a message in memory.
pub async fn post(service: &SoapService, content_type: &str, body: impl AsRef<[u8]>) -> Answered {
    post_pieces(service, content_type, body.as_ref(), usize::MAX).await
}

/// Sends any request in memory.
pub async fn send(service: &SoapService, request: Request<Pieces>) -> Answered {
    read(service.clone().oneshot(request).await.expect("infallible")).await
}

async fn read<B: Body<Data = Bytes>>(response: Response<B>) -> Answered
where
    B::Error: std::fmt::Debug,
{
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Answered { status: parts.status, headers: parts.headers, body: String::from_utf8(body.into()).expect("UTF-8") }
}

/// Serves on a free port.
pub async fn serve(service: SoapService) -> (SocketAddr, ServerHandle) {
    let server = Server::bind("127.0.0.1:0").await.expect("a free port");
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    tokio::spawn(server.serve(service));
    (address, handle)
}

/// Asserts that no error of a chain has the text of its source.
#[track_caller]
pub fn assert_says_each_once(error: &(dyn std::error::Error + 'static)) {
    let chain: Vec<_> = std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
    for texts in chain.windows(2) {
        assert!(!texts[0].contains(&texts[1]), "{chain:?}");
    }
}
