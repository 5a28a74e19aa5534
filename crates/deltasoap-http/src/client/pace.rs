//! How long a call is waited for, also if its request waits for items.
//!
//! A call has a time limit for all of it. If its request contains items that come from somewhere
//! else, of any number and at any time, that limit would end it without anyone being late. The
//! limit then counts from the last item that was taken, and the time in which the next item is
//! awaited does not count: it is limited by whoever supplies the items.

use super::error::{CallError, TimeoutError};
use futures_util::stream::Stream;
use pin_project_lite::pin_project;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time limit of a call, and what it counts from.
#[derive(Debug, Clone, Default)]
pub(super) struct Patience {
    pub(super) limit: Option<Duration>,
    /// `None` if the limit is that of the whole.
    pub(super) pace: Option<Pace>,
}

impl From<Option<Duration>> for Patience {
    fn from(limit: Option<Duration>) -> Self {
        Patience { limit, pace: None }
    }
}

impl Patience {
    /// Runs a call, or a part of it, within the limit.
    ///
    /// # Errors
    /// Returns its error, or [`CallError::Timeout`].
    pub(super) async fn within<T>(&self, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let Some(limit) = self.limit else { return call.await };
        let start = Instant::now();
        let mut call = pin!(call);
        loop {
            // While items are awaited, looks again later.
            let Some(end) = self.since(start).unwrap_or_else(Instant::now).checked_add(limit) else {
                return call.await;
            };
            if let Ok(result) = timeout_at(end, &mut call).await {
                return result;
            }
            if self.since(start).is_some_and(|since| since + limit <= Instant::now()) {
                return Err(CallError::Timeout(TimeoutError::of_call(limit)));
            }
        }
    }

    /// Returns the time since which the other side is waited for, in work that began at `start`.
    fn since(&self, start: Instant) -> Option<Instant> {
        self.pace.as_ref().map_or(Some(start), Pace::since).map(|since| since.max(start))
    }
}

/// The progress of a request whose items come from a stream.
#[derive(Debug, Clone)]
pub(super) struct Pace(Arc<Mutex<Option<Instant>>>);

impl Default for Pace {
    fn default() -> Self {
        Pace(Arc::new(Mutex::new(Some(Instant::now()))))
    }
}

impl Pace {
    /// Returns the time since which the receiver of the request is waited for; `None` while an item
    /// is awaited.
    fn since(&self) -> Option<Instant> {
        *self.state()
    }

    fn state(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the progress of a stream.
    pub(super) fn noting<S: Stream>(&self, items: S) -> Paced<S> {
        Paced { items, progress: Progress(self.clone()) }
    }
}

pin_project! {
    /// A stream whose progress is noted.
    pub(super) struct Paced<S> {
        #[pin]
        items: S,
        progress: Progress,
    }
}

/// Notes progress. A stream that is dropped awaits nothing more: the receiver may have answered
/// before the end of the request.
struct Progress(Pace);

impl Progress {
    fn note(&self, since: Option<Instant>) {
        *self.0.state() = since;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.note(Some(Instant::now()));
    }
}

impl<S: Stream> Stream for Paced<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        let polled = this.items.poll_next(context);
        this.progress.note(polled.is_ready().then(Instant::now));
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use futures_util::{FutureExt, StreamExt};

    const LIMIT: Duration = Duration::from_secs(1);

    fn patience() -> (Patience, Pace) {
        let pace = Pace::default();
        (Patience { limit: Some(LIMIT), pace: Some(pace.clone()) }, pace)
    }

    async fn slept(seconds: f64) -> Result<(), CallError> {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_counts_from_the_last_item() {
        let (patience, pace) = patience();
        // Items come slowly, and each is taken at once.
        let items = stream::iter(0..5).then(|_| slept(3.0));
        let taken = async {
            pin!(pace.noting(items)).count().await;
            slept(0.9).await
        };
        assert!(patience.within(taken).await.is_ok());
        // The end of the items is followed by silence.
        let (patience, pace) = self::patience();
        let late = async {
            pin!(pace.noting(stream::iter(0..5).then(|_| slept(3.0)))).count().await;
            slept(1.1).await
        };
        let start = Instant::now();
        assert!(matches!(patience.within(late).await, Err(CallError::Timeout(_))));
        assert_eq!(start.elapsed().as_secs(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_takes_nothing_is_late() {
        let (patience, pace) = patience();
        let stuck = async {
            let mut items = pin!(pace.noting(stream::iter(0..5)));
            items.next().await;
            slept(2.0).await
        };
        assert!(matches!(patience.within(stuck).await, Err(CallError::Timeout(_))));
        // A stream that is given up is not waited for.
        let (patience, pace) = self::patience();
        let dropped = async {
            let mut items = Box::pin(pace.noting(stream::pending::<()>()));
            assert!(items.next().now_or_never().is_none());
            slept(3.0).await?;
            drop(items);
            slept(2.0).await
        };
        let start = Instant::now();
        assert!(matches!(patience.within(dropped).await, Err(CallError::Timeout(_))));
        assert_eq!(start.elapsed().as_secs(), 4);
        let whole = Patience::from(Some(LIMIT));
        assert!(matches!(whole.within(slept(1.1)).await, Err(CallError::Timeout(_))));
        assert!(Patience::default().within(slept(100.0)).await.is_ok());
    }
}
