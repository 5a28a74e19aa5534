//! What may happen to messages on the way.

use bytes::Bytes;
use deltasoap::client::HttpTransport;
use deltasoap::transport::{Body, BoxError};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// What happens to a message.
#[derive(Debug, Clone, Default)]
pub enum Change {
    #[default]
    None,
    /// It says something else: the amount, the ciphertext, or the digest of the password.
    Content,
    /// It names another user.
    User,
    /// Its security header is removed.
    Bare,
    /// An earlier message comes in place of it.
    Replay(String),
}

/// The network, with somebody in it.
#[derive(Debug, Clone, Default)]
pub struct Wire {
    requests: Change,
    responses: Change,
    seen: Arc<Mutex<Seen>>,
    transport: HttpTransport,
}

/// The last messages, as they passed.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub request: String,
    pub response: String,
    pub status: StatusCode,
}

impl Wire {
    pub fn new(requests: Change, responses: Change) -> Self {
        Wire { requests, responses, ..Self::default() }
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn exchange(mut self, request: Request<Body>) -> Result<Response<Full<Bytes>>, BoxError> {
        let (mut head, body) = request.into_parts();
        head.headers.remove(header::CONTENT_LENGTH);
        // What is compressed cannot be changed.
        head.headers.remove(header::ACCEPT_ENCODING);
        let sent = self.requests.apply(text(body.collect().await?.to_bytes())?)?;
        self.note(|seen| seen.request.clone_from(&sent));
        let response = self.transport.call(Request::from_parts(head, sent.into())).await?;
        let (mut head, body) = response.into_parts();
        head.headers.remove(header::CONTENT_LENGTH);
        let received = text(body.collect().await?.to_bytes())?;
        self.note(|seen| {
            seen.response.clone_from(&received);
            seen.status = head.status;
        });
        Ok(Response::from_parts(head, Full::new(self.responses.apply(received)?.into())))
    }

    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Service<Request<Body>> for Wire {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().exchange(request))
    }
}

impl Change {
    fn apply(&self, message: String) -> Result<String, BoxError> {
        let changed = match self {
            Change::None => return Ok(message),
            Change::Replay(earlier) => return Ok(earlier.clone()),
            Change::Content => with_other_content(&message),
            Change::User => Some(message.replacen(">ada<", ">bob<", 1)),
            Change::Bare => without_security(&message),
        };
        changed.filter(|changed| *changed != message).ok_or_else(|| format!("unchanged: {message}").into())
    }
}

fn with_other_content(message: &str) -> Option<String> {
    if message.contains(">250<") {
        return Some(message.replacen(">250<", ">950<", 1));
    }
    // In front of the end of the last ciphertext, or of the password.
    let end = message.rfind("CipherValue>").or_else(|| message.rfind("Password>"))?;
    let end = message.get(..end)?.rfind("</")?.checked_sub(10)?;
    let other = if message.get(end..)?.starts_with('A') { "B" } else { "A" };
    Some([message.get(..end)?, other, message.get(end + 1..)?].concat())
}

fn without_security(message: &str) -> Option<String> {
    let name = message.find("Security ").or_else(|| message.find("Security>"))?;
    let begin = message.get(..name)?.rfind('<')?;
    let end = message.rfind("Security>")? + "Security>".len();
    Some([message.get(..begin)?, message.get(end..)?].concat())
}

fn text(bytes: Bytes) -> Result<String, BoxError> {
    Ok(String::from_utf8(bytes.into())?)
}
