//! Polls a connection until nothing has woken it in the meantime.
//!
//! Within a connection's task, hyper passes bodies through a channel, which wakes that same task. A
//! multi-threaded runtime treats this as new work: it wakes another thread, which finds the task,
//! polls it without effect, and takes over the sockets. For small requests on an idle server, that
//! costs as much as all other work. So a wake during a poll of the connection is answered here, by
//! another poll.

use futures_util::task::AtomicWaker;
use hyper::rt::Executor;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Maximum number of consecutive polls. A future that is woken again after that waits for its turn:
/// it may only have wanted to yield.
const POLLS: usize = 2;

pin_project! {
    /// A future that is polled again immediately if it was woken while it was polled.
    #[derive(Debug)]
    pub(crate) struct Settled<F> {
        #[pin]
        future: F,
        woken: Arc<Woken>,
        waker: Waker,
    }
}

impl<F> Settled<F> {
    pub(crate) fn new(future: F) -> Self {
        let woken = Arc::new(Woken::default());
        Settled { future, waker: Arc::clone(&woken).into(), woken }
    }
}

impl<F: Future> Future for Settled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        this.woken.task.register(task.waker());
        for _ in 0..POLLS {
            this.woken.begin();
            let poll = this.future.as_mut().poll(&mut Context::from_waker(this.waker));
            if poll.is_ready() || this.woken.end() {
                return poll;
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs a client's connections on the runtime.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Connections;

impl<F> Executor<F> for Connections
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, connection: F) {
        tokio::spawn(Settled::new(connection));
    }
}

/// The wake state of the future, and the waker to notify.
#[derive(Debug, Default)]
struct Woken {
    is_polled: AtomicBool,
    is_woken: AtomicBool,
    task: AtomicWaker,
}

impl Woken {
    /// Begins a poll, which answers all wakes before it.
    fn begin(&self) {
        self.is_polled.store(true, Ordering::SeqCst);
        self.is_woken.store(false, Ordering::SeqCst);
    }

    /// Ends a poll. Returns true if there was no wake during it. From here on, wakes go to the
    /// task.
    fn end(&self) -> bool {
        self.is_polled.store(false, Ordering::SeqCst);
        !self.is_woken.load(Ordering::SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polled.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    /// Counts the wakes.
    #[derive(Debug, Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Polls once a future that wakes itself in its first polls and never ends. Returns the number
    /// of its polls, and of the task's wakes.
    fn restless(wakes: usize) -> (usize, usize) {
        let (counted, mut polls) = (Arc::new(Counted::default()), 0);
        let future = poll_fn(|task| {
            polls += 1;
            if polls <= wakes {
                task.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        let mut settled = Box::pin(Settled::new(future));
        assert!(settled.as_mut().poll(&mut Context::from_waker(&Arc::clone(&counted).into())).is_pending());
        drop(settled);
        (polls, counted.0.load(Ordering::SeqCst))
    }

    #[test]
    fn a_wake_in_a_poll_is_answered_without_the_task() {
        assert_eq!(restless(0), (1, 0));
        assert_eq!(restless(1), (2, 0));
    }

    #[test]
    fn one_that_always_wakes_itself_lets_others_go_on() {
        assert_eq!(restless(2), (2, 1));
        assert_eq!(restless(100), (2, 1));
    }

    #[test]
    fn a_wake_from_elsewhere_wakes_the_task() {
        let (counted, mut inner) = (Arc::new(Counted::default()), None);
        let future = poll_fn(|task| {
            inner = Some(task.waker().clone());
            Poll::<()>::Pending
        });
        let mut settled = Box::pin(Settled::new(future));
        assert!(settled.as_mut().poll(&mut Context::from_waker(&Arc::clone(&counted).into())).is_pending());
        drop(settled);
        inner.expect("it was polled").wake();
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_wake_is_lost() {
        let passing = async |rounds: usize| {
            let (there, mut here) = tokio::sync::mpsc::channel(1);
            let sending = tokio::spawn(Settled::new(async move {
                for round in 0..rounds {
                    there.send(round).await.expect("somebody receives");
                }
            }));
            let receiving = tokio::spawn(Settled::new(async move {
                let mut received = 0;
                while let Some(round) = here.recv().await {
                    assert_eq!(round, received);
                    received += 1;
                }
                received
            }));
            sending.await.expect("no panic");
            assert_eq!(receiving.await.expect("no panic"), rounds);
        };
        let all = futures_util::future::join_all((0..8).map(|_| passing(20_000)));
        tokio::time::timeout(Duration::from_secs(60), all).await.expect("no wake was lost");
    }
}
