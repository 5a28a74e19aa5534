//! Yields to everything else: other tasks, and data that has arrived over sockets in the meantime.
//!
//! One yield is not enough within hyper's connections: they poll a response's future again in the
//! same turn of their task, up to 16 times, and the second poll of [`yield_now`] is ready. Waking
//! the own task is not enough either: it is then ready immediately, and the runtime checks its
//! sockets only occasionally while there are ready tasks.

use futures_util::task::AtomicWaker;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tokio::task::yield_now;

/// Completes when the runtime has run all other ready tasks and has checked its sockets, however
/// often it is polled before.
pub(super) async fn give_way() {
    let over = Arc::new(Over::default());
    let waker = Waker::from(Arc::clone(&over));
    let mut is_begun = false;
    poll_fn(|task| {
        over.task.register(task.waker());
        if over.is_over.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut is_begun, true) {
            wake_after_others(&mut Context::from_waker(&waker));
        }
        Poll::Pending
    })
    .await;
}

/// Wakes a task when the runtime has run all others.
pub(super) fn wake_after_others(task: &mut Context<'_>) {
    // The first poll only registers the wake-up.
    let _ = pin!(yield_now()).poll(task);
}

/// A flag that is set once the runtime has completed a round.
#[derive(Debug, Default)]
struct Over {
    is_over: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Over {
    fn wake(self: Arc<Self>) {
        self.is_over.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    /// Polls a future repeatedly in one turn of the task, as hyper does.
    async fn eagerly(future: impl Future<Output = ()>) {
        let mut future = pin!(future);
        poll_fn(|task| (0..16).map(|_| future.as_mut().poll(task)).find(Poll::is_ready).unwrap_or(Poll::Pending)).await;
    }

    #[tokio::test]
    async fn others_go_on_however_often_it_is_polled() {
        let rounds = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&rounds);
        tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        for round in 1..=100 {
            eagerly(give_way()).await;
            assert!(rounds.load(Ordering::Relaxed) >= round, "{round}");
        }
    }

    #[tokio::test]
    async fn what_came_over_sockets_goes_on() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut there = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        let (mut here, _) = listener.accept().await.expect("a connection");
        let reading = tokio::spawn(async move { here.read_u8().await });
        yield_now().await;
        there.write_u8(7).await.expect("to be written");
        // A runtime that checks its sockets only once in 61 turns would take more.
        for _ in 0..10 {
            eagerly(give_way()).await;
        }
        assert!(reading.is_finished());
    }

    #[test]
    fn without_a_runtime_it_ends_too() {
        let woken = Arc::new(Over::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut yielding = pin!(give_way());
        let mut polls = 1;
        while yielding.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            polls += 1;
            assert!(polls < 10 && woken.is_over.swap(false, Ordering::AcqRel));
        }
    }
}
