//! Bodies: those of requests, read within limits, and those of responses.

use crate::problem::Problem;
use bytes::Bytes;
use deltasoap_http::BoxError;
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use std::time::Duration;

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// Returns a body of these bytes.
pub(crate) fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Reads a body to its end.
///
/// # Errors
/// If it is too long, takes too long, or breaks off.
pub(crate) fn read<B>(body: B, limit: usize, seconds: u64) -> BoxFuture<'static, Result<Bytes, Problem>>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let reading = Limited::new(body, limit).collect();
    Box::pin(async move {
        let Ok(read) = tokio::time::timeout(Duration::from_secs(seconds), reading).await else {
            return Err(Problem::slow(seconds));
        };
        match read {
            Ok(collected) => Ok(collected.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large(limit)),
            Err(_) => Err(Problem::incomplete("the connection broke, or the body's compression is malformed")),
        }
    })
}
