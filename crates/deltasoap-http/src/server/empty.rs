//! Requests without a body: their handler, and how they are distinguished from others before
//! anything is decoded.

use super::context::Context;
use super::operation::Outcome;
use super::reply::MessageReply;
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::soap::Fault;
use futures_util::future::BoxFuture;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

type Handler = dyn Fn(Context) -> BoxFuture<'static, Outcome> + Send + Sync;

/// The handler of requests without a body, if any.
#[derive(Clone, Default)]
pub(crate) struct EmptyPost(Option<Arc<Handler>>);

impl EmptyPost {
    pub(crate) fn new<H, R, F>(handler: H) -> Self
    where
        H: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<MessageReply, F>> + Send + 'static,
        F: Into<Fault>,
    {
        EmptyPost(Some(Arc::new(move |context| {
            let running = handler(context);
            Box::pin(async move { running.await.map_or_else(|failure| Outcome::Fault(failure.into()), Outcome::Reply) })
        })))
    }

    pub(crate) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) async fn answer(&self, context: Context) -> Outcome {
        match &self.0 {
            Some(handler) => handler(context).await,
            None => Outcome::Fault(Fault::sender("the request has no body")),
        }
    }
}

impl fmt::Debug for EmptyPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EmptyPost").field(&self.is_some()).finish()
    }
}

/// A body whose first frame may have been read ahead.
#[derive(Debug)]
pub(crate) struct Peeked<B> {
    body: B,
    first: Option<Result<Frame<Bytes>, BoxError>>,
}

impl<B: Body<Data = Bytes, Error = BoxError> + Unpin> Peeked<B> {
    pub(crate) fn new(body: B) -> Self {
        Peeked { body, first: None }
    }

    /// Returns true if the body ends before it has any byte. An announced length is trusted;
    /// otherwise this waits for the first frame. If the frame does not arrive in time, the body's
    /// reader handles that.
    pub(crate) async fn is_empty(&mut self, timeout: Option<Duration>) -> bool {
        if self.body.is_end_stream() || self.body.size_hint().exact() == Some(0) {
            return true;
        }
        if self.body.size_hint().lower() > 0 {
            return false;
        }
        while self.first.is_none() {
            let frame = match timeout {
                Some(time) => {
                    tokio::time::timeout(time, self.body.frame()).await.unwrap_or_else(|_| Some(Err(too_slow())))
                }
                None => self.body.frame().await,
            };
            let Some(frame) = frame else { return true };
            let is_nothing = frame.as_ref().is_ok_and(|frame| frame.data_ref().is_none_or(Bytes::is_empty));
            self.first = (!is_nothing).then_some(frame);
        }
        false
    }
}

fn too_slow() -> BoxError {
    crate::slow::TooSlow.into()
}

impl<B: Body<Data = Bytes, Error = BoxError> + Unpin> Body for Peeked<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.first.take() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => Pin::new(&mut self.body).poll_frame(task),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    /// Does not count the first frame: it is only read ahead if the length is unknown.
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
