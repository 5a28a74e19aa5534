//! The order of requests: slots, and the requests that wait for one.
//!
//! This module uses no clock, task or lock. Times are relative to an arbitrary start, so that tests
//! can simulate them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Identifies a request. An older request has a smaller number.
pub(super) type Number = u64;

/// The number of slots, by purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    /// Slots for all requests.
    pub(super) common: usize,
    /// Additional slots for small requests only.
    pub(super) express: usize,
    /// Maximum length of a small request, in bytes.
    pub(super) small: u64,
}

/// The held slots, and the waiting requests.
///
/// No request waits while there is a slot for it: an arriving request takes a free slot
/// immediately, and a leaving request passes its slot to the next. So only a leaving request has to
/// wake another.
#[derive(Debug)]
pub(super) struct Queue {
    slots: Slots,
    /// Slots held by small requests, at most `common + express`, and by others, at most `common`.
    small_held: usize,
    large_held: usize,
    waiting: BTreeMap<Number, Waiter>,
    /// The waiting requests by length.
    by_length: BTreeSet<(u64, Number)>,
    /// The waiting requests, except overdue ones, by the time until which they may be overtaken.
    by_deadline: BTreeSet<(Duration, Number)>,
    /// The overdue requests.
    overdue: BTreeSet<Number>,
}

#[derive(Debug, Clone, Copy)]
struct Waiter {
    length: u64,
    /// After this time the request goes before all younger ones, however small they are.
    deadline: Duration,
}

impl Queue {
    pub(super) fn new(slots: Slots) -> Self {
        Queue {
            slots,
            small_held: 0,
            large_held: 0,
            waiting: BTreeMap::new(),
            by_length: BTreeSet::new(),
            by_deadline: BTreeSet::new(),
            overdue: BTreeSet::new(),
        }
    }

    /// Returns the number of held slots.
    pub(super) fn held(&self) -> usize {
        self.small_held + self.large_held
    }

    /// Returns the number of waiting requests.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a slot for a request of this length, if there is one.
    pub(super) fn take(&mut self, length: u64) -> bool {
        let is_free = self.is_free_for(length);
        if is_free {
            self.hold(length);
        }
        is_free
    }

    /// Waits for a slot, after a failed attempt to take one. The number must be removed by
    /// [`leave`](Self::leave), or is returned by [`release`](Self::release).
    pub(super) fn wait(&mut self, number: Number, length: u64, deadline: Duration) {
        self.waiting.insert(number, Waiter { length, deadline });
        self.by_length.insert((length, number));
        self.by_deadline.insert((deadline, number));
    }

    /// Stops waiting. Returns false if the request did not wait: then it was given a slot.
    pub(super) fn leave(&mut self, number: Number) -> bool {
        self.remove(number).is_some()
    }

    /// Releases the slot of a request of this length. The slot is given to the returned request, if
    /// any.
    pub(super) fn release(&mut self, length: u64, now: Duration) -> Option<Number> {
        let held = if self.is_small(length) { &mut self.small_held } else { &mut self.large_held };
        *held = held.saturating_sub(1);
        let (number, waiter) = self.next_for_free(now)?;
        self.remove(number);
        self.hold(waiter.length);
        Some(number)
    }

    /// Returns true if a request of this length that holds a slot should pass it on: to a smaller
    /// request, or to an overdue one. A request that is itself overdue keeps its slot.
    pub(super) fn should_yield(&mut self, length: u64, is_overdue: bool, now: Duration) -> bool {
        if is_overdue || self.is_small(length) {
            return false;
        }
        self.head(now).is_some_and(|(_, head)| head.length < length || head.deadline <= now)
    }

    /// Returns the first of the waiting requests: the oldest overdue one, else the shortest.
    fn head(&mut self, now: Duration) -> Option<(Number, Waiter)> {
        while let Some((_, number)) = self.by_deadline.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.by_deadline.pop_first();
            self.overdue.insert(number);
        }
        self.waiter(self.overdue.first().copied().or_else(|| self.smallest())?)
    }

    /// Returns the first waiting request that there is a slot for.
    fn next_for_free(&mut self, now: Duration) -> Option<(Number, Waiter)> {
        let head = self.head(now);
        let has_slot = |(_, waiter): &(Number, Waiter)| self.is_free_for(waiter.length);
        head.filter(has_slot).or_else(|| self.waiter(self.smallest()?).filter(has_slot))
    }

    fn smallest(&self) -> Option<Number> {
        self.by_length.first().map(|(_, number)| *number)
    }

    fn waiter(&self, number: Number) -> Option<(Number, Waiter)> {
        self.waiting.get(&number).map(|waiter| (number, *waiter))
    }

    fn remove(&mut self, number: Number) -> Option<Waiter> {
        let waiter = self.waiting.remove(&number)?;
        self.by_length.remove(&(waiter.length, number));
        self.by_deadline.remove(&(waiter.deadline, number));
        self.overdue.remove(&number);
        Some(waiter)
    }

    fn is_small(&self, length: u64) -> bool {
        length <= self.slots.small
    }

    fn is_free_for(&self, length: u64) -> bool {
        self.is_small(length) && self.small_held < self.slots.express || self.common_held() < self.slots.common
    }

    /// Returns the number of held common slots.
    fn common_held(&self) -> usize {
        self.large_held + self.small_held.saturating_sub(self.slots.express)
    }

    fn hold(&mut self, length: u64) {
        let held = if self.is_small(length) { &mut self.small_held } else { &mut self.large_held };
        *held += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: u64 = 10;

    fn queue(common: usize, express: usize) -> Queue {
        Queue::new(Slots { common, express, small: SMALL })
    }

    fn at(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn the_shortest_goes_first_and_of_equals_the_first_to_come() {
        let mut queue = queue(1, 0);
        assert!(queue.take(50) && !queue.take(1));
        [90, 20, 20].into_iter().zip(0..).for_each(|(length, number)| queue.wait(number, length, at(100)));
        for expected in [1, 2, 0] {
            assert_eq!(queue.release(20, at(0)), Some(expected));
        }
        assert_eq!(queue.release(90, at(0)), None);
        assert_eq!((queue.held(), queue.waiting()), (0, 0));
    }

    #[test]
    fn nobody_younger_overtakes_whom_the_deadline_has_come_for() {
        let mut queue = queue(1, 0);
        assert!(queue.take(50));
        // The oldest becomes overdue last.
        [(90, 20), (80, 10), (20, 100)]
            .into_iter()
            .zip(0..)
            .for_each(|((length, time), number)| queue.wait(number, length, at(time)));
        assert!(!queue.should_yield(15, false, at(9)) && queue.should_yield(15, false, at(10)));
        assert!(!queue.should_yield(15, true, at(10)));
        assert_eq!(queue.release(50, at(15)), Some(1));
        queue.wait(1, 80, at(0));
        assert_eq!(queue.release(80, at(30)), Some(0));
        assert_eq!(queue.release(90, at(30)), Some(1));
        assert_eq!(queue.release(80, at(30)), Some(2));
    }

    #[test]
    fn small_requests_have_slots_that_large_ones_do_not_take() {
        let mut queue = queue(1, 1);
        assert!(queue.take(50) && !queue.take(50));
        queue.wait(0, 50, at(0));
        assert!(queue.take(SMALL) && !queue.take(SMALL));
        queue.wait(1, SMALL, at(100));
        // The large request is first in line, but the slot is not for it.
        assert_eq!(queue.release(SMALL, at(1)), Some(1));
        assert_eq!(queue.release(50, at(1)), Some(0));
    }

    #[test]
    fn small_requests_do_not_keep_large_ones_from_the_common_slots() {
        let mut queue = queue(1, 1);
        assert!(queue.take(1) && queue.take(1) && !queue.take(50));
        queue.wait(0, 50, at(5));
        queue.wait(1, 1, at(100));
        assert_eq!(queue.release(1, at(5)), Some(0));
        assert_eq!(queue.release(1, at(5)), Some(1));
    }

    #[derive(Debug, Clone, Copy)]
    enum Event {
        Come { length: u64, patience: u64 },
        Leave(usize),
        Release(usize),
        Pass(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => (0..40_u64, 0..50_u64).prop_map(|(length, patience)| Event::Come { length, patience }),
            1 => (0..100_usize).prop_map(Event::Leave),
            3 => (0..100_usize).prop_map(Event::Release),
            2 => (0..30_u64).prop_map(Event::Pass),
        ]
    }

    /// A naive implementation with a list that is searched each time.
    #[derive(Default)]
    struct Naive {
        /// Number, length and deadline of the waiting requests.
        waiting: Vec<(Number, u64, Duration)>,
        held: Vec<u64>,
    }

    impl Naive {
        fn is_free_for(&self, length: u64, slots: Slots) -> bool {
            let small = self.held.iter().filter(|length| **length <= slots.small).count();
            let large = self.held.len() - small;
            let common = large + small.saturating_sub(slots.express);
            common < slots.common || length <= slots.small && small < slots.express
        }

        /// Returns the next among the waiting requests that could have a slot: the oldest overdue
        /// one, unless it could not; otherwise the shortest.
        fn next(&self, slots: Slots, now: Duration) -> Option<Number> {
            let order = |(number, length, deadline): &&(Number, u64, Duration)| {
                if *deadline <= now { (0, 0, *number) } else { (1, *length, *number) }
            };
            let head = self.waiting.iter().min_by_key(order)?;
            let shortest = self.waiting.iter().min_by_key(|(number, length, _)| (*length, *number))?;
            [head, shortest].into_iter().find(|one| self.is_free_for(one.1, slots)).map(|one| one.0)
        }
    }

    proptest! {
        /// There are never more held slots than slots, no request waits if there is a slot for it,
        /// and the order is that of the naive twin: no request past its deadline is overtaken,
        /// except in slots that it cannot have.
        #[test]
        fn as_the_naive_twin(common in 1..4_usize, express in 0..3_usize, events in prop::collection::vec(event(), 0..200)) {
            let slots = Slots { common, express, small: SMALL };
            let (mut queue, mut naive, mut now) = (Queue::new(slots), Naive::default(), Duration::ZERO);
            for (event, count) in events.into_iter().zip(0..) {
                // Numbers that do not increase: a request that waits again is older than those that
                // came meanwhile.
                let number: Number = count ^ 0b101;
                match event {
                    Event::Come { length, patience } => {
                        let is_free = naive.is_free_for(length, slots);
                        prop_assert_eq!(queue.take(length), is_free);
                        if is_free {
                            naive.held.push(length);
                        } else {
                            let deadline = now + at(patience);
                            queue.wait(number, length, deadline);
                            naive.waiting.push((number, length, deadline));
                        }
                    }
                    Event::Leave(index) if !naive.waiting.is_empty() => {
                        let (number, ..) = naive.waiting.remove(index % naive.waiting.len());
                        prop_assert!(queue.leave(number) && !queue.leave(number));
                    }
                    Event::Release(index) if !naive.held.is_empty() => {
                        let length = naive.held.swap_remove(index % naive.held.len());
                        let expected = naive.next(slots, now);
                        prop_assert_eq!(queue.release(length, now), expected);
                        if let Some(index) = naive.waiting.iter().position(|one| Some(one.0) == expected) {
                            naive.held.push(naive.waiting.remove(index).1);
                        }
                    }
                    Event::Pass(time) => now += at(time),
                    Event::Leave(_) | Event::Release(_) => {}
                }
                prop_assert_eq!((queue.held(), queue.waiting()), (naive.held.len(), naive.waiting.len()));
                prop_assert!(naive.waiting.iter().all(|one| !naive.is_free_for(one.1, slots)));
            }
        }

        /// A flood of small requests with a large one among them: with slots that are each held for
        /// a time, the large one runs when it is overdue and the next common slot is released.
        #[test]
        fn no_flood_keeps_a_request_waiting_past_its_deadline(
            common in 1..4_usize, express in 0..3_usize, patience in 1..60_u64, work in 1..20_u64, rate in 1..20_u64,
        ) {
            let mut queue = queue(common, express);
            let mut held: Vec<(u64, u64)> = Vec::new();
            let mut large = None;
            let mut began = None;
            let mut lengths = Vec::new();
            for time in 0..200_u64 {
                let newcomers = std::iter::repeat_n(1, rate as usize).chain(large.is_none().then_some(50));
                for length in newcomers {
                    let number = lengths.len() as Number;
                    lengths.push(length);
                    if queue.take(length) {
                        held.push((length, time + work));
                        continue;
                    }
                    queue.wait(number, length, at(time + patience));
                    if length == 50 {
                        large = Some((number, time));
                    }
                }
                let (ended, rest): (Vec<_>, Vec<_>) = held.iter().partition(|(_, end)| *end <= time);
                held = rest;
                for (length, _) in ended {
                    if let Some(next) = queue.release(length, at(time)) {
                        held.push((lengths[next as usize], time + work));
                        began = began.or((large.map(|large| large.0) == Some(next)).then_some(time));
                    }
                }
                if began.is_some() || large.is_none() {
                    break;
                }
            }
            if let Some((_, asked)) = large {
                // Requests that came with it or before it are overdue as early; each holds a slot
                // at most once more.
                let ahead = (asked + 1) * rate;
                let bound = asked + patience + work * (ahead / common as u64 + 2);
                prop_assert!(began.is_some_and(|began| began <= bound) || bound >= 200, "{began:?} {asked} {bound}");
            }
        }
    }
}
