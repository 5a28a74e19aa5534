//! Reads the unused rest of a body, so that the client can read the answer and the connection can
//! continue.

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use std::pin::Pin;
use std::time::Duration;

/// Maximum number of bytes that are read and discarded; a longer rest closes the connection.
pub(crate) const DRAINED: usize = 64 << 10;

/// Maximum time to wait for that rest.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// Reads the rest of a body, within a limit. Returns true if that was all of it.
pub(crate) async fn drain<B: Body<Data = Bytes> + ?Sized>(mut body: Pin<&mut B>) -> bool {
    let draining = async {
        let mut left = DRAINED;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            let len = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(len) else { return false };
            left = rest;
        }
        true
    };
    tokio::time::timeout(DRAIN_TIME, draining).await.unwrap_or(false)
}
