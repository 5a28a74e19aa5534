//! Turns: a task processes its request only while it holds a slot.
//!
//! A [`Ticket`] represents a request in the scheduling. It does not outlive the request: when it is
//! dropped, waiting or running, its place goes to the next.
//!
//! One mutex per service guards the queue. It is held for a few comparisons.

use super::queue::{Number, Queue, Slots};
use super::weights::{Costs, Rate};
use super::{SmallFirst, Weigh};
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};

/// The slots of one service.
#[derive(Debug)]
pub(crate) struct Scheduler {
    options: SmallFirst,
    start: Instant,
    /// Decoding time of a byte, where weights are learned.
    rate: Rate,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    /// Wakers of waiting requests only.
    wakers: HashMap<Number, Waker>,
    /// Number of requests that wait to begin.
    new: usize,
    /// The number of the next request.
    next: Number,
}

/// No slot for another request was available, now or in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy {
    pub(crate) retry_after: Duration,
}

impl Scheduler {
    pub(crate) fn new(options: SmallFirst) -> Arc<Self> {
        let slots = Slots { common: options.slots.max(1), express: options.express, small: options.small };
        let state = State { queue: Queue::new(slots), wakers: HashMap::new(), new: 0, next: 0 };
        Arc::new(Scheduler { options, start: Instant::now(), rate: Rate::default(), state: Mutex::new(state) })
    }

    /// Waits until a request of a known or unknown length may begin. The request weighs at least
    /// `weight` bytes.
    ///
    /// # Errors
    /// When it may not begin, now or in time.
    pub(crate) async fn begin(self: &Arc<Self>, length: Option<u64>, weight: u64) -> Result<Arc<Ticket>, Busy> {
        let weight = length.unwrap_or(self.options.unknown).max(weight);
        let ticket = Arc::new(Ticket {
            scheduler: Arc::clone(self),
            number: self.number(),
            standing: Mutex::new(Standing { weight, slot: SlotState::New, waited: Duration::ZERO, keeps: false }),
        });
        let first = timeout(self.options.wait, poll_fn(|task| ticket.poll_begin(task))).await;
        match first {
            Ok(begun) => begun.map(|()| ticket),
            Err(_) => Err(self.busy()),
        }
    }

    /// Returns true if weights are learned from earlier requests of an operation.
    pub(crate) fn learns(&self) -> bool {
        self.options.weigh == Weigh::Operation
    }

    /// Returns the weight in bytes of a request of a known or unknown length, by the costs of
    /// earlier requests of its operation.
    pub(crate) fn learned(&self, costs: &Costs, length: Option<u64>) -> u64 {
        if !self.learns() {
            return 0;
        }
        self.rate.bytes_in(costs.expected(length.unwrap_or(self.options.unknown)))
    }

    /// Returns the number of currently held slots.
    pub(crate) fn held(&self) -> usize {
        self.lock().queue.held()
    }

    /// Returns the number of requests that currently wait for a slot.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().queue.waiting()
    }

    fn number(&self) -> Number {
        let mut state = self.lock();
        state.next += 1;
        state.next
    }

    fn busy(&self) -> Busy {
        Busy { retry_after: self.options.retry_after }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases a slot, and wakes the request that gets it.
    fn release(&self, weight: u64) {
        let now = self.start.elapsed();
        let mut state = self.lock();
        let next = state.queue.release(weight, now);
        let waker = next.and_then(|number| state.wakers.remove(&number));
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A request in the scheduler.
#[derive(Debug)]
pub(crate) struct Ticket {
    scheduler: Arc<Scheduler>,
    number: Number,
    /// Locked only by the request's task, so never for long.
    standing: Mutex<Standing>,
}

#[derive(Debug)]
struct Standing {
    /// The weight of the request in bytes: its length, or more.
    weight: u64,
    slot: SlotState,
    /// Its total waiting time.
    waited: Duration,
    /// True while it keeps its slot although its task is idle.
    keeps: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// It has not begun.
    New,
    /// It has begun, and waits for something other than a slot.
    Away,
    /// It waits for a slot, since a time relative to the scheduler's start.
    Waiting { since: Duration, is_new: bool },
    /// It has a slot.
    Holding,
}

impl Ticket {
    /// Runs work in turns.
    pub(crate) async fn run<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|task| {
            if self.poll_turn(task).is_pending() {
                return Poll::Pending;
            }
            let poll = work.as_mut().poll(task);
            if poll.is_ready() || !self.standing().keeps {
                self.leave();
            }
            poll
        })
        .await
    }

    /// Sets whether the slot is kept while the task waits. Only for a thread that continues the
    /// work.
    pub(crate) fn keep(&self, keeps: bool) {
        self.standing().keeps = keeps;
    }

    /// Returns the scheduler whose slots it uses.
    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Records the time in which the request's message was decoded.
    pub(crate) fn note_decoded(&self, bytes: u64, time: Duration) {
        if self.scheduler.learns() {
            self.scheduler.rate.note(bytes, time);
        }
    }

    /// Returns true if the slot should be passed to another request.
    pub(crate) fn should_yield(&self) -> bool {
        let standing = self.standing();
        let (weight, is_overdue) = (standing.weight, standing.waited >= self.scheduler.options.overtaken);
        drop(standing);
        self.scheduler.lock().queue.should_yield(weight, is_overdue, self.scheduler.start.elapsed())
    }

    /// Raises the weight of the request to at least `bytes`. If its slot is for smaller requests,
    /// or a smaller one wants it, the slot is passed on, and the request waits for another as a
    /// request that has not begun does. Must be called within [`run`](Self::run).
    ///
    /// # Errors
    /// When too many wait, or it waited too long.
    pub(crate) async fn weigh(&self, bytes: u64) -> Result<(), Busy> {
        let before = self.standing().waited;
        if !self.pass_on(bytes)? {
            return Ok(());
        }
        // The next poll waits for a slot.
        yield_now().await;
        let waited = self.standing().waited.saturating_sub(before);
        if waited > self.scheduler.options.wait { Err(self.scheduler.busy()) } else { Ok(()) }
    }

    fn pass_on(&self, bytes: u64) -> Result<bool, Busy> {
        let options = &self.scheduler.options;
        let mut standing = self.standing();
        if standing.slot != SlotState::Holding || bytes <= standing.weight {
            return Ok(false);
        }
        let before = std::mem::replace(&mut standing.weight, bytes);
        drop(standing);
        let is_other = before <= options.small && bytes > options.small;
        if !is_other && !self.should_yield() {
            return Ok(false);
        }
        self.standing().slot = SlotState::New;
        self.scheduler.release(before);
        if self.scheduler.lock().new >= options.queue { Err(self.scheduler.busy()) } else { Ok(true) }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll_begin(&self, task: &mut Context<'_>) -> Poll<Result<(), Busy>> {
        let mut standing = self.standing();
        if standing.slot == SlotState::New {
            let mut state = self.scheduler.lock();
            if state.queue.take(standing.weight) {
                standing.slot = SlotState::Holding;
            } else if state.new >= self.scheduler.options.queue {
                return Poll::Ready(Err(self.scheduler.busy()));
            } else {
                state.new += 1;
                standing.slot = self.wait(&mut state, &standing, true);
            }
        }
        drop(standing);
        self.poll_turn(task).map(Ok)
    }

    fn poll_turn(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut standing = self.standing();
        if standing.slot == SlotState::Holding {
            return Poll::Ready(());
        }
        let mut state = self.scheduler.lock();
        if matches!(standing.slot, SlotState::New | SlotState::Away) {
            if state.queue.take(standing.weight) {
                standing.slot = SlotState::Holding;
                return Poll::Ready(());
            }
            let is_new = standing.slot == SlotState::New;
            state.new += usize::from(is_new);
            standing.slot = self.wait(&mut state, &standing, is_new);
        }
        let SlotState::Waiting { since, is_new } = standing.slot else { return Poll::Ready(()) };
        if let Some(waker) = state.wakers.get_mut(&self.number) {
            waker.clone_from(task.waker());
            return Poll::Pending;
        }
        state.new -= usize::from(is_new);
        standing.waited += self.scheduler.start.elapsed().saturating_sub(since);
        standing.slot = SlotState::Holding;
        Poll::Ready(())
    }

    /// Joins the queue. The waker is set at the first check of the queue.
    fn wait(&self, state: &mut State, standing: &Standing, is_new: bool) -> SlotState {
        let since = self.scheduler.start.elapsed();
        let patience = self.scheduler.options.overtaken.saturating_sub(standing.waited);
        state.queue.wait(self.number, standing.weight, since + patience);
        state.wakers.insert(self.number, Waker::noop().clone());
        SlotState::Waiting { since, is_new }
    }

    /// Releases the slot, or leaves the queue.
    fn leave(&self) {
        let mut standing = self.standing();
        let (slot, weight) = (standing.slot, standing.weight);
        // A request that has not begun remains so.
        if slot != SlotState::New {
            standing.slot = SlotState::Away;
        }
        drop(standing);
        match slot {
            SlotState::New | SlotState::Away => {}
            SlotState::Holding => self.scheduler.release(weight),
            SlotState::Waiting { is_new, .. } => {
                let mut state = self.scheduler.lock();
                state.new -= usize::from(is_new);
                state.wakers.remove(&self.number);
                let has_slot = !state.queue.leave(self.number);
                drop(state);
                if has_slot {
                    self.scheduler.release(weight);
                }
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use tokio::task::LocalSet;
    use tokio::time::sleep;

    fn one_slot() -> SmallFirst {
        SmallFirst { slots: 1, express: 0, small: 10, ..SmallFirst::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_is_left_while_its_holder_waits_and_asked_for_again() {
        let scheduler = Scheduler::new(one_slot());
        let sleeper = scheduler.begin(Some(5), 0).await.expect("a slot");
        let other = scheduler.begin(Some(5), 0).now_or_never();
        assert!(other.is_none(), "there is one slot");
        let mut running = Box::pin(sleeper.run(sleep(Duration::from_secs(1))));
        assert!(running.as_mut().now_or_never().is_none());
        assert_eq!((scheduler.held(), scheduler.waiting()), (0, 0));
        let other = scheduler.begin(Some(5), 0).await.expect("the slot that was left");
        sleep(Duration::from_secs(2)).await;
        assert!(running.as_mut().now_or_never().is_none(), "it has to wait for its slot now");
        assert_eq!((scheduler.held(), scheduler.waiting()), (1, 1));
        drop(other);
        running.await;
        assert_eq!((scheduler.held(), scheduler.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_can_be_kept() {
        let scheduler = Scheduler::new(one_slot());
        let ticket = scheduler.begin(None, 0).await.expect("a slot");
        let work = async {
            ticket.keep(true);
            sleep(Duration::from_secs(1)).await;
            ticket.keep(false);
            sleep(Duration::from_secs(1)).await;
        };
        let mut running = Box::pin(ticket.run(work));
        assert!(running.as_mut().now_or_never().is_none());
        assert_eq!(scheduler.held(), 1);
        sleep(Duration::from_millis(1500)).await;
        assert!(running.as_mut().now_or_never().is_none());
        assert_eq!(scheduler.held(), 0);
        running.await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_is_bounded_in_number_and_in_time() {
        let scheduler = Scheduler::new(SmallFirst { queue: 1, wait: Duration::from_secs(3), ..one_slot() });
        let holder = scheduler.begin(Some(1), 0).await.expect("a slot");
        let mut waiting = Box::pin(scheduler.begin(Some(1), 0));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(scheduler.begin(Some(1), 0).await.err(), Some(Busy { retry_after: Duration::from_secs(1) }));
        assert_eq!(scheduler.waiting(), 1);
        let start = Instant::now();
        assert!(waiting.await.is_err());
        assert_eq!((start.elapsed(), scheduler.waiting()), (Duration::from_secs(3), 0));
        drop(holder);
        assert!(scheduler.begin(Some(1), 0).await.is_ok(), "who gave up does not count any more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_request_makes_way_for_smaller_ones_as_long_as_it_may_be_overtaken() {
        let scheduler = Scheduler::new(SmallFirst { overtaken: Duration::from_secs(1), ..one_slot() });
        let large = scheduler.begin(Some(100), 0).await.expect("a slot");
        assert!(!large.should_yield());
        let small = scheduler.begin(Some(1), 0).shared();
        assert!(small.clone().now_or_never().is_none());
        assert!(large.should_yield());
        let mut rest = Box::pin(large.run(yield_now()));
        assert!(rest.as_mut().now_or_never().is_none());
        let small = small.await.expect("the slot");
        assert!(rest.as_mut().now_or_never().is_none());
        sleep(Duration::from_secs(1)).await;
        drop(small);
        rest.await;
        let large = scheduler.begin(Some(100), 0).await.expect("a slot");
        large.standing().waited = Duration::from_secs(1);
        assert!(scheduler.begin(Some(1), 0).now_or_never().is_none());
        assert!(!large.should_yield());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_turns_out_to_be_heavy_waits_with_the_others_of_its_weight() {
        let scheduler = Scheduler::new(SmallFirst { express: 1, ..one_slot() });
        let large = scheduler.begin(Some(100), 0).await.expect("the common slot");
        let heavy = scheduler.begin(Some(1), 0).await.expect("the express slot");
        assert_eq!(heavy.weigh(5).await, Ok(()), "still a small one");
        assert_eq!(scheduler.held(), 2);
        let mut rest = Box::pin(heavy.run(heavy.weigh(50)));
        assert!(rest.as_mut().now_or_never().is_none());
        assert_eq!(scheduler.held(), 1, "the express slot is not for it");
        assert!(rest.as_mut().now_or_never().is_none());
        assert_eq!((scheduler.held(), scheduler.waiting()), (1, 1));
        let small = scheduler.begin(Some(2), 0).await.expect("the express slot");
        drop(large);
        assert_eq!(rest.await, Ok(()));
        drop(small);
        assert_eq!((scheduler.held(), scheduler.waiting()), (0, 0));
        // Its weight is known from the start.
        let holder = scheduler.begin(Some(1), 50).await.expect("the common slot");
        assert!(scheduler.begin(Some(1), 50).now_or_never().is_none(), "the express slot is not for it");
        assert!(scheduler.begin(Some(1), 0).await.is_ok());
        drop(holder);
    }

    #[tokio::test(start_paused = true)]
    async fn heavy_requests_are_refused_as_those_that_have_not_begun() {
        let options = SmallFirst { express: 2, queue: 1, wait: Duration::from_secs(3), ..one_slot() };
        let scheduler = Scheduler::new(options);
        let large = scheduler.begin(Some(100), 0).await.expect("the common slot");
        let [one, other] = [scheduler.begin(Some(1), 0), scheduler.begin(Some(1), 0)];
        let (one, other) = (one.await.expect("a slot"), other.await.expect("a slot"));
        let mut first = Box::pin(one.run(one.weigh(50)));
        assert!(first.as_mut().now_or_never().is_none() && first.as_mut().now_or_never().is_none());
        assert_eq!(scheduler.waiting(), 1);
        assert!(other.run(other.weigh(50)).await.is_err(), "as many wait as may");
        sleep(Duration::from_secs(4)).await;
        drop(large);
        assert!(first.await.is_err(), "it waited too long");
        drop((one, other));
        assert_eq!((scheduler.held(), scheduler.waiting(), scheduler.lock().new), (0, 0, 0));
    }

    /// The behaviour of one of many requests.
    #[derive(Debug, Clone)]
    struct Script {
        comes: u64,
        length: u64,
        /// The weight that is found before its second step.
        weight: u64,
        /// Steps of work; true if a wait for something else follows, false for a mere yield.
        steps: Vec<(u64, bool)>,
        /// The time at which it is dropped.
        ends: Option<u64>,
    }

    fn script() -> impl Strategy<Value = Script> {
        let steps = prop::collection::vec((0..20_u64, any::<bool>()), 1..5);
        (0..100_u64, 0..40_u64, 0..40_u64, steps, prop::option::weighted(0.2, 0..200_u64))
            .prop_map(|(comes, length, weight, steps, ends)| Script { comes, length, weight, steps, ends })
    }

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    /// Works for a time: the clock advances, and no slot is released.
    async fn work(ticket: &Ticket, time: u64) {
        ticket.keep(true);
        sleep(ms(time)).await;
        ticket.keep(false);
    }

    async fn follow(scheduler: Arc<Scheduler>, script: Script, log: Rc<RefCell<Vec<usize>>>) {
        sleep(ms(script.comes)).await;
        let Ok(ticket) = scheduler.begin(Some(script.length), 0).await else { panic!("not refused here") };
        let steps = async {
            for (time, waits) in script.steps {
                log.borrow_mut().push(scheduler.held());
                work(&ticket, time).await;
                assert_eq!(ticket.weigh(script.weight).await, Ok(()));
                if waits {
                    sleep(ms(time)).await;
                } else if ticket.should_yield() {
                    yield_now().await;
                }
            }
        };
        ticket.run(steps).await;
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever requests do, arrive, wait, yield or leave: no slot is used twice, no slot is
        /// lost, no request is forgotten.
        #[test]
        fn all_come_to_an_end(
            slots in 1..4_usize, express in 0..3_usize, scripts in prop::collection::vec(script(), 1..30),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            let options = SmallFirst { slots, express, small: 10, wait: Duration::from_secs(3600), ..SmallFirst::default() };
            let log = Rc::new(RefCell::new(Vec::new()));
            let scheduler = LocalSet::new().block_on(&runtime.expect("a runtime"), async {
                let scheduler = Scheduler::new(options);
                let tasks: Vec<_> = scripts
                    .into_iter()
                    .map(|script| {
                        let ends = script.ends.map_or(Duration::from_secs(3600), ms);
                        let following = follow(Arc::clone(&scheduler), script, Rc::clone(&log));
                        tokio::task::spawn_local(timeout(ends, following))
                    })
                    .collect();
                for task in tasks {
                    let _ = task.await.expect("no panic");
                }
                // More than the total work, one request at a time.
                assert!(scheduler.start.elapsed() < Duration::from_secs(30 * 5));
                scheduler
            });
            prop_assert!(log.borrow().iter().all(|held| (1..=slots + express).contains(held)));
            prop_assert_eq!((scheduler.held(), scheduler.waiting()), (0, 0));
            prop_assert_eq!(scheduler.lock().new, 0);
            prop_assert!(scheduler.lock().wakers.is_empty());
        }
    }
}
