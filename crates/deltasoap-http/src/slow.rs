//! Bodies that arrive too slowly: a sender may keep a request alive by a byte now and then.
//!
//! Only the time spent waiting for bytes counts, so neither decoding nor a slow handler counts
//! against the sender. The length of one wait is bounded elsewhere, so it is enough to check when
//! bytes arrive.

use crate::error::BoxError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// A body with a minimum rate.
#[derive(Debug)]
pub(crate) struct Paced<B> {
    body: Pin<Box<B>>,
    /// Minimum rate in bytes a second; 0 for no minimum.
    rate: u32,
    /// Additional time allowed.
    grace: Duration,
    bytes: u64,
    waited: Duration,
    /// The start of the current wait for bytes.
    since: Option<Instant>,
}

/// The error of a body that arrives too slowly.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body arrived too slowly")
    }
}

impl std::error::Error for TooSlow {}

impl<B> Paced<B> {
    /// Creates a body with a minimum rate; without `grace` there is no minimum.
    pub(crate) fn new(body: B, rate: u32, grace: Option<Duration>) -> Self {
        let (rate, grace) = grace.map_or((0, Duration::ZERO), |grace| (rate, grace));
        Paced { body: Box::pin(body), rate, grace, bytes: 0, waited: Duration::ZERO, since: None }
    }

    fn is_too_slow(&mut self) -> bool {
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        let Some(waited) = self.waited.checked_sub(self.grace) else { return false };
        self.rate > 0 && waited.as_secs_f64() * f64::from(self.rate) > self.bytes as f64
    }
}

impl<B: Body<Data = Bytes, Error = BoxError>> Body for Paced<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = self.body.as_mut().poll_frame(task) else {
            self.since.get_or_insert_with(Instant::now);
            return Poll::Pending;
        };
        if let Some(Ok(frame)) = &frame {
            self.bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
        Poll::Ready(if self.is_too_slow() { Some(Err(TooSlow.into())) } else { frame })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt, StreamBody};
    use std::convert::Infallible;
    use tokio::time::sleep;

    /// Returns a body of pieces of a fixed size, sent at a fixed interval.
    fn trickle(size: usize, every: Duration) -> impl Body<Data = Bytes, Error = BoxError> {
        let pieces = futures_util::stream::unfold(0, move |sent| async move {
            sleep(every).await;
            (sent < 100).then(|| (Ok::<_, Infallible>(Frame::data(Bytes::from(vec![0; size]))), sent + 1))
        });
        StreamBody::new(pieces).map_err(BoxError::from)
    }

    async fn collect(size: usize, every: Duration, rate: u32, grace: Option<Duration>) -> Result<usize, BoxError> {
        Ok(Paced::new(trickle(size, every), rate, grace).collect().await?.to_bytes().len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_to_keep_its_rate_when_the_grace_is_over() {
        let (second, grace) = (Duration::from_secs(1), Some(Duration::from_secs(10)));
        assert_eq!(collect(100, second, 100, grace).await.expect("fast enough"), 10_000);
        let error = collect(80, second, 100, grace).await.expect_err("too slow");
        assert!(error.is::<TooSlow>());
        assert_eq!(collect(80, second, 0, grace).await.expect("any rate"), 8000);
        assert_eq!(collect(80, second, 100, None).await.expect("any time"), 8000);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_that_the_reader_takes_does_not_count() {
        let mut body = Paced::new(trickle(80, Duration::from_millis(100)), 100, Some(Duration::from_secs(1)));
        while let Some(frame) = body.frame().await {
            frame.expect("fast enough");
            sleep(Duration::from_secs(10)).await;
        }
    }
}
