//! Bodies that are passed on as they arrive.

use super::failed;
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::Error;
use http_body::{Body as _, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// A body of any type. Its clone fails.
pub(super) struct Foreign {
    /// In a mutex, since bodies need not be `Sync`; nobody else ever locks it.
    body: Mutex<Option<UnsyncBoxBody<Bytes, BoxError>>>,
}

impl Foreign {
    pub(super) fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        Foreign { body: Mutex::new(Some(body.map_err(Into::into).boxed_unsync())) }
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let Some(body) = self.body.get_mut().unwrap_or_else(PoisonError::into_inner) else {
            return Poll::Ready(Some(Err(failed("the body was sent already and cannot be sent again"))));
        };
        loop {
            match ready!(Pin::new(&mut *body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(failed(&error.to_string())))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.with(http_body::Body::is_end_stream).unwrap_or_default()
    }

    pub(super) fn size(&self) -> SizeHint {
        self.with(http_body::Body::size_hint).unwrap_or_default()
    }

    fn with<T>(&self, see: impl FnOnce(&UnsyncBoxBody<Bytes, BoxError>) -> T) -> Option<T> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(see)
    }
}

impl Clone for Foreign {
    fn clone(&self) -> Self {
        Foreign { body: Mutex::new(None) }
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::body::Body;
    use bytes::Bytes;
    use http_body::Body as _;
    use http_body_util::{BodyExt, Full};

    #[tokio::test]
    async fn a_body_is_passed_on_once() {
        let body = Body::passed_on(Full::new(Bytes::from_static(b"some text")));
        assert_eq!(body.size_hint().exact(), Some(9));
        let clone = body.clone();
        assert_eq!(body.collect().await.expect("no error").to_bytes(), "some text");
        assert!(clone.collect().await.is_err(), "it cannot be sent again");
    }
}
