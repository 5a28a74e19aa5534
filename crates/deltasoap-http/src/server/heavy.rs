//! Prevents long computations from delaying the other tasks of their thread.
//!
//! Decoding yields between two windows of a message. Work that cannot be interrupted, such as a
//! computing handler or the writing of a response, runs on a thread where no task waits after it,
//! if the message is large.
//!
//! The future of such work is polled on a thread of the pool for blocking work, one poll at a time,
//! and waits where it always would. The number of these threads is bounded, by the slots if there
//! are any. Decoding stays on the connection's task: it comes in short pieces anyway, and a change
//! of threads costs about as much as decoding a small window.

use super::schedule::Ticket;
use super::yielding::give_way;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, spawn_blocking};
use tracing::Span;

/// How large messages are prevented from delaying small ones.
///
/// ```
/// use deltasoap_http::{HeavyWork, SoapService};
///
/// let builder = SoapService::builder().heavy_work(HeavyWork { from: Some(1 << 20), ..HeavyWork::default() });
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeavyWork {
    /// Time after which decoding yields to other tasks, once it has read the current window. On
    /// [`Server`](crate::Server) a window is 32 KiB at most. `None`: only when the runtime requires
    /// it. Default 200 µs.
    pub quantum: Option<Duration>,
    /// Minimum length in bytes of a request whose handler runs, and whose response is written, on a
    /// thread of the runtime's pool for blocking work. The same applies if short requests of the
    /// operation recently had responses of this size, and with [`SmallFirst`](crate::SmallFirst) to
    /// requests of at least this weight. `None`: never. Default 256 KiB.
    pub from: Option<u64>,
    /// Maximum number of these threads used at one time, at least 1; other requests wait. With
    /// [`SmallFirst`](crate::SmallFirst) the slots are the bound. Default: the number of
    /// processors.
    pub threads: usize,
}

impl HeavyWork {
    /// All work is done where its connection is served.
    pub const OFF: HeavyWork = HeavyWork { quantum: None, from: None, threads: 1 };
}

impl Default for HeavyWork {
    fn default() -> Self {
        HeavyWork { quantum: Some(Duration::from_micros(200)), from: Some(256 << 10), threads: processors() }
    }
}

/// Returns the number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The options, and their state while the service runs.
#[derive(Debug)]
pub(crate) struct Heavy {
    options: HeavyWork,
    threads: Arc<Semaphore>,
}

impl Heavy {
    pub(crate) fn new(options: HeavyWork) -> Self {
        let threads = options.threads.clamp(1, Semaphore::MAX_PERMITS);
        Heavy { options, threads: Arc::new(Semaphore::new(threads)) }
    }

    /// Returns the pace of one request.
    pub(crate) fn pace(&self, ticket: Option<Arc<Ticket>>) -> Pace {
        Pace { quantum: self.options.quantum, used: Duration::ZERO, ticket }
    }

    /// Returns true if work for a message of this length is done on another thread.
    pub(crate) fn is_heavy(&self, length: u64) -> bool {
        self.options.from.is_some_and(|from| length >= from)
    }

    /// Waits for a thread. A request with a slot need not wait, since there are as many threads as
    /// slots.
    pub(crate) async fn thread<'a>(&self, ticket: Option<&'a Ticket>) -> Thread<'a> {
        let threads = ticket.is_none().then(|| Arc::clone(&self.threads));
        Thread { permit: permit(threads.as_ref()).await, threads, ticket }
    }
}

/// How long a request may run without yielding to others.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    quantum: Option<Duration>,
    /// Time used since the last yield.
    used: Duration,
    ticket: Option<Arc<Ticket>>,
}

impl Pace {
    pub(crate) fn ticket(&self) -> Option<&Ticket> {
        self.ticket.as_deref()
    }

    /// Yields to others if the request has used up its time. It gives up its slot only if another
    /// request should get it.
    pub(crate) async fn pause(&mut self, used: Duration) {
        self.used += used;
        if self.quantum.is_none_or(|quantum| self.used < quantum) {
            return;
        }
        self.used = Duration::ZERO;
        let _kept = self.ticket.as_deref().map(KeptSlot::unless_requested);
        give_way().await;
    }
}

/// A slot that is kept for a while, even if its holder stops waiting.
struct KeptSlot<'a>(&'a Ticket);

impl<'a> KeptSlot<'a> {
    fn unless_requested(ticket: &'a Ticket) -> Self {
        ticket.keep(!ticket.should_yield());
        KeptSlot(ticket)
    }
}

impl Drop for KeptSlot<'_> {
    fn drop(&mut self) {
        self.0.keep(false);
    }
}

/// The right to work on a thread of the pool for blocking work.
#[derive(Debug)]
pub(crate) struct Thread<'a> {
    /// The bound on the number of threads, unless the slots are the bound.
    threads: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
    ticket: Option<&'a Ticket>,
}

async fn permit(threads: Option<&Arc<Semaphore>>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(threads?).acquire_owned().await.ok()
}

impl Thread<'_> {
    /// Polls a future on that thread as long as it is ready, and on another thread when it is ready
    /// again. The request keeps its slot while the future runs, and gives it up while it waits.
    pub(crate) async fn run<T: Send + 'static>(mut self, mut work: BoxFuture<'static, T>) -> T {
        let woken = Arc::new(Woken(Notify::new()));
        loop {
            self.keep_slot(true);
            let waker = Waker::from(Arc::clone(&woken));
            let (unfinished, poll) = poll_once(work, waker, self.permit.take()).await.unwrap_or_else(rethrow);
            self.keep_slot(false);
            match poll {
                Poll::Ready(done) => return done,
                Poll::Pending => work = unfinished,
            }
            woken.0.notified().await;
            self.permit = permit(self.threads.as_ref()).await;
        }
    }

    fn keep_slot(&self, keeps: bool) {
        if let Some(ticket) = self.ticket {
            ticket.keep(keeps);
        }
    }
}

async fn poll_once<T: Send + 'static>(
    mut work: BoxFuture<'static, T>,
    waker: Waker,
    permit: Option<OwnedSemaphorePermit>,
) -> Result<(BoxFuture<'static, T>, Poll<T>), JoinError> {
    let span = Span::current();
    let polling = move || {
        let _entered = span.entered();
        let poll = work.as_mut().poll(&mut Context::from_waker(&waker));
        drop(permit);
        (work, poll)
    };
    spawn_blocking(polling).await
}

/// Propagates a panic. When the runtime stops, nobody waits for the result.
fn rethrow<T>(error: JoinError) -> T {
    match error.try_into_panic() {
        Ok(payload) => std::panic::resume_unwind(payload),
        Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
    }
}

/// Remembers that a future was woken, until this is checked.
struct Woken(Notify);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::panic::AssertUnwindSafe;
    use std::thread::{self, ThreadId};
    use tokio::sync::oneshot;
    use tokio::task::yield_now;
    use tokio::time::{sleep, timeout};

    const LIMIT: u64 = 100;

    async fn run<T: Send + 'static>(heavy: &Heavy, work: BoxFuture<'static, T>) -> T {
        heavy.thread(None).await.run(work).await
    }

    fn heavy(threads: usize) -> Heavy {
        Heavy::new(HeavyWork { from: Some(LIMIT), threads, ..HeavyWork::default() })
    }

    #[tokio::test]
    async fn large_work_is_done_elsewhere() {
        let here = thread::current().id();
        let work = || -> BoxFuture<'static, (ThreadId, ThreadId)> {
            Box::pin(async {
                let first = thread::current().id();
                sleep(Duration::from_millis(5)).await;
                yield_now().await;
                (first, thread::current().id())
            })
        };
        let (first, second) = run(&heavy(1), work()).await;
        assert!(first != here && second != here);
        assert!(heavy(1).is_heavy(LIMIT) && !heavy(1).is_heavy(LIMIT - 1));
        assert!(!Heavy::new(HeavyWork::OFF).is_heavy(u64::MAX));
    }

    #[tokio::test]
    async fn a_panic_elsewhere_is_one_here() {
        let work = Box::pin(async { panic!("as asked") });
        let caught = AssertUnwindSafe(run::<()>(&heavy(1), work)).catch_unwind().await;
        assert_eq!(caught.expect_err("a panic").downcast_ref(), Some(&"as asked"));
    }

    #[tokio::test]
    async fn wakes_are_not_lost_and_threads_are_left_while_nothing_goes_on() {
        let heavy = heavy(1);
        let (sender, receiver) = oneshot::channel();
        let waiting = run(&heavy, Box::pin(receiver));
        let sending = run(&heavy, Box::pin(async move { sender.send(7) }));
        let (received, sent) =
            timeout(Duration::from_secs(5), async { tokio::join!(waiting, sending) }).await.expect("in time");
        assert_eq!((received, sent), (Ok(7), Ok(())));
        let many = (0..1000).map(|_| run(&heavy, Box::pin(yield_now())));
        timeout(Duration::from_secs(20), futures_util::future::join_all(many)).await.expect("in time");
        assert_eq!(heavy.threads.available_permits(), 1);
    }

    #[tokio::test]
    async fn the_pace_lets_others_go_on_when_its_time_is_used() {
        let mut pace = heavy(1).pace(None);
        assert!(pace.pause(Duration::from_micros(150)).now_or_never().is_some());
        assert!(pace.pause(Duration::from_micros(50)).now_or_never().is_none());
        assert!(pace.pause(Duration::from_micros(150)).now_or_never().is_some());
        let mut pace = Heavy::new(HeavyWork::OFF).pace(None);
        assert!(pace.pause(Duration::from_secs(1)).now_or_never().is_some());
    }
}
