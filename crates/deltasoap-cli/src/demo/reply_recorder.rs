//! A transport that records the replies' bytes as they arrive, so that they can be compared with
//! another server's.

use anyhow::Result;
use bytes::Bytes;
use deltasoap_http::{BoxError, HttpTransport};
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// The bytes of a reply, in the pieces in which they arrived.
pub type Pieces = Vec<Bytes>;

/// HTTP over a connection pool. Clones share the pool and the recorded bytes.
#[derive(Clone, Default)]
pub struct ReplyRecorder {
    transport: HttpTransport,
    noted: Arc<Mutex<Pieces>>,
}

impl ReplyRecorder {
    /// Returns what was recorded since the last call.
    pub fn take(&self) -> Pieces {
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Service<Request<deltasoap_http::Body>> for ReplyRecorder {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.transport.poll_ready(context)
    }

    fn call(&mut self, request: Request<deltasoap_http::Body>) -> Self::Future {
        let (exchange, noted) = (self.transport.call(request), Arc::clone(&self.noted));
        let note = move |data: Bytes| noted.lock().unwrap_or_else(PoisonError::into_inner).push(data);
        Box::pin(async move {
            Ok(exchange.await?.map(|body| {
                let body = body.map_frame(move |frame| {
                    frame.map_data(|data| {
                        note(data.clone());
                        data
                    })
                });
                body.map_err(BoxError::from).boxed_unsync()
            }))
        })
    }
}
