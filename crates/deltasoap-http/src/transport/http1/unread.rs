//! Bodies of requests that are answered before they were read.
//!
//! hyper closes a connection after an answer if some of the request is still arriving, and does not
//! announce it: the client's next request fails (RFC 9112, 9.6). So a body that is dropped unread
//! is returned here. A short one is read to its end, and the connection continues.
//! Otherwise the answer announces that the connection is closed.

use crate::drain::{DRAINED, drain};
use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot::{self, Receiver, Sender};

/// The body of a request over HTTP.
#[derive(Debug)]
pub struct HttpRequestBody {
    body: Option<Incoming>,
    state: State,
    /// Receives the body if it is dropped before its end.
    back: Option<Sender<Left>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read.
    Untouched,
    Begun,
    Broken,
}

/// The unread rest of a body.
#[derive(Debug)]
struct Left {
    body: Option<Incoming>,
    state: State,
}

/// Waits for the unread rest of a request's body.
#[derive(Debug)]
pub(super) struct Unread {
    /// `None` if there was no body.
    back: Option<Receiver<Left>>,
    /// True if the client may wait with the body until it is told to continue.
    is_expecting: bool,
}

impl Unread {
    /// Watches the body of a request.
    pub(super) fn watch(request: Request<Incoming>) -> (Request<HttpRequestBody>, Self) {
        let (parts, body) = request.into_parts();
        let is_expecting = parts.headers.contains_key(EXPECT);
        let (sender, receiver) = if body.is_end_stream() { Default::default() } else { channel() };
        let arriving = HttpRequestBody { body: Some(body), state: State::Untouched, back: sender };
        (Request::from_parts(parts, arriving), Unread { back: receiver, is_expecting })
    }

    /// Returns the answer, once the connection can continue after it; otherwise the answer
    /// announces that the connection is closed.
    pub(super) async fn settle<B>(self, mut answer: Response<B>) -> Response<B> {
        let Some(left) = self.back.and_then(|mut back| back.try_recv().ok()) else { return answer };
        // Boxed, since few requests leave anything unread.
        if !answer.headers().contains_key(CONNECTION) && !Box::pin(left.read(self.is_expecting)).await {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

#[cfg(feature = "http2")]
impl HttpRequestBody {
    /// Creates a body that nobody waits for if it is dropped unread.
    pub(in crate::transport) fn unwatched(body: Incoming) -> Self {
        HttpRequestBody { body: Some(body), state: State::Untouched, back: None }
    }
}

fn channel() -> (Option<Sender<Left>>, Option<Receiver<Left>>) {
    let (sender, receiver) = oneshot::channel();
    (Some(sender), Some(receiver))
}

impl Left {
    /// Returns true if the body was read to its end. Does not wait for a client that was not told
    /// to continue and has not sent its body.
    async fn read(self, is_expecting: bool) -> bool {
        let Some(body) = self.body else { return false };
        let is_waited_for = match self.state {
            State::Untouched => !is_expecting,
            State::Begun => true,
            State::Broken => false,
        };
        is_waited_for && body.size_hint().lower() <= DRAINED as u64 && drain(pin!(body)).await
    }
}

impl Drop for HttpRequestBody {
    fn drop(&mut self) {
        let is_whole = self.body.as_ref().is_none_or(Incoming::is_end_stream);
        if let (Some(back), false) = (self.back.take(), is_whole) {
            // The receiver is gone if the request was answered already.
            let _ = back.send(Left { body: self.body.take(), state: self.state });
        }
    }
}

impl Body for HttpRequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let poll = Pin::new(body).poll_frame(task);
        if self.state == State::Untouched {
            self.state = State::Begun;
        }
        let frame = ready!(poll);
        match &frame {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.state = State::Broken,
            // The end of a chunked body is only known here.
            None => self.back = None,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}
