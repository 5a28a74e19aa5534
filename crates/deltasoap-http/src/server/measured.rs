//! Measures the computing time of calls, for the [weights](super::schedule) of later ones.

use super::record::Record;
use futures_util::future::BoxFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A call whose computing time is measured, on any thread. The time is recorded when the call ends,
/// even if it is dropped because its client left or its time was up.
pub(super) struct Measured<T> {
    call: BoxFuture<'static, T>,
    spent: Duration,
    record: Arc<Record>,
    /// Length of the request in bytes.
    length: u64,
}

impl<T: 'static> Measured<T> {
    pub(super) fn boxed(call: BoxFuture<'static, T>, record: Arc<Record>, length: u64) -> BoxFuture<'static, T> {
        Box::pin(Measured { call, spent: Duration::ZERO, record, length })
    }
}

impl<T> Future for Measured<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        let start = Instant::now();
        let poll = self.call.as_mut().poll(task);
        self.spent += start.elapsed();
        poll
    }
}

impl<T> Drop for Measured<T> {
    fn drop(&mut self) {
        if self.spent > Duration::ZERO {
            self.record.costs().note(self.length, self.spent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::QName;
    use futures_util::FutureExt;
    use std::future::pending;
    use std::thread::sleep;

    const WORK: Duration = Duration::from_millis(5);

    fn record() -> Arc<Record> {
        Arc::new(Record::unregistered(QName::new("", "a")))
    }

    #[test]
    fn time_counts_while_a_call_computes_and_not_while_it_waits() {
        let record = record();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let computing = async {
            sleep(WORK);
            let received = receiver.await;
            sleep(WORK);
            received
        };
        let mut call = Measured::boxed(Box::pin(computing), Arc::clone(&record), 300);
        assert_eq!(call.as_mut().now_or_never(), None);
        sleep(WORK * 40);
        sender.send(7).expect("a receiver");
        assert_eq!(call.now_or_never(), Some(Ok(7)));
        let expected = record.costs().expected(300);
        assert!((2 * WORK..40 * WORK).contains(&expected), "{expected:?}");
    }

    #[test]
    fn calls_that_are_dropped_count_if_they_had_begun() {
        let record = record();
        let call = |work: Duration| {
            let computing = async move {
                sleep(work);
                pending::<()>().await;
            };
            Measured::boxed(Box::pin(computing), Arc::clone(&record), 300)
        };
        drop(call(WORK));
        assert_eq!(record.costs().expected(300), Duration::ZERO);
        assert_eq!(call(WORK).now_or_never(), None);
        assert!(record.costs().expected(300) >= WORK);
    }
}
