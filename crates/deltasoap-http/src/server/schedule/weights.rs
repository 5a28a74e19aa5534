//! The weight of requests: the measured processor time of an operation's requests, as a number of
//! bytes.
//!
//! "Small requests first" approximates "shortest job first", with the length of a request as an
//! estimate of its work. The estimate is bad where few bytes need much work. So the work of each
//! operation is measured, by the length of the request, and converted by the time that a byte takes
//! to decode: what takes as long as a megabyte to decode weighs a megabyte.
//!
//! This module uses no clock: callers pass times.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Time that the handler of an operation computes and its response is written, by the length of the
/// request.
#[derive(Debug, Default)]
pub(crate) struct Costs([AtomicU64; CLASSES]);

/// Number of length classes. Each covers a factor of eight; the last starts at 2 MiB. One operation
/// may serve both short and long lists.
const CLASSES: usize = 8;
/// One request counts for this fraction of the average, so that the average follows a changed
/// operation after about twenty requests.
const SHARE: u64 = 8;

impl Costs {
    /// Records the work of one request of this length.
    pub(crate) fn note(&self, length: u64, work: Duration) {
        // One of two concurrent updates may be lost, which does not matter for an average. Zero
        // means no request so far.
        let (cost, work) = (self.entry(length), super::super::stats::nanos(work).max(1));
        let next = match cost.load(Relaxed) {
            0 => work,
            before => before - before / SHARE + work / SHARE,
        };
        cost.store(next.max(1), Relaxed);
    }

    /// Returns the expected work of a request of this length: zero before the first such request.
    pub(crate) fn expected(&self, length: u64) -> Duration {
        Duration::from_nanos(self.entry(length).load(Relaxed))
    }

    fn entry(&self, length: u64) -> &AtomicU64 {
        let factor = length.checked_ilog2().unwrap_or(0) / 3;
        &self.0[(factor as usize).min(CLASSES - 1)]
    }
}

/// Average time that a byte takes to decode, over the messages of a service.
#[derive(Debug, Default)]
pub(super) struct Rate {
    nanos: AtomicU64,
    bytes: AtomicU64,
}

/// After this many bytes, older ones count half.
const REMEMBERED: u64 = 1 << 32;
/// The rate is kept within these bounds, in bytes per microsecond, because most of a short
/// message's time does not depend on its bytes.
const RATE: std::ops::RangeInclusive<u64> = 60..=4000;
/// The rate before the first message.
const FIRST_RATE: u64 = 500;

impl Rate {
    /// Records a decoded message.
    pub(super) fn note(&self, bytes: u64, time: Duration) {
        self.nanos.fetch_add(super::super::stats::nanos(time), Relaxed);
        if self.bytes.fetch_add(bytes, Relaxed) >= REMEMBERED {
            for sum in [&self.nanos, &self.bytes] {
                sum.store(sum.load(Relaxed) / 2, Relaxed);
            }
        }
    }

    /// Returns the number of bytes that are decoded in a time.
    pub(super) fn bytes_in(&self, time: Duration) -> u64 {
        let (nanos, bytes) = (self.nanos.load(Relaxed), self.bytes.load(Relaxed));
        let rate = match bytes.saturating_mul(1000).checked_div(nanos) {
            Some(rate) => rate.clamp(*RATE.start(), *RATE.end()),
            None => FIRST_RATE,
        };
        u64::try_from(time.as_nanos() * u128::from(rate) / 1000).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::{Number, Queue, Slots};
    use super::*;
    use std::collections::BTreeSet;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn work_is_learned_by_length_and_forgotten_when_it_changes() {
        let costs = Costs::default();
        assert_eq!(costs.expected(300), Duration::ZERO);
        costs.note(300, 1000 * MICRO);
        assert_eq!((costs.expected(300), costs.expected(400)), (1000 * MICRO, 1000 * MICRO));
        assert_eq!((costs.expected(30), costs.expected(3_000_000)), (Duration::ZERO, Duration::ZERO));
        costs.note(u64::MAX, MICRO);
        assert_eq!((costs.expected(2 << 20), costs.expected(0)), (MICRO, Duration::ZERO));
        // One different request changes little; many change the average completely.
        costs.note(300, 9 * MICRO);
        assert!(costs.expected(300) > 870 * MICRO, "{:?}", costs.expected(300));
        (0..40).for_each(|_| costs.note(300, 9 * MICRO));
        assert!((9 * MICRO..20 * MICRO).contains(&costs.expected(300)), "{:?}", costs.expected(300));
    }

    #[test]
    fn work_is_converted_by_what_a_byte_takes() {
        let rate = Rate::default();
        assert_eq!(rate.bytes_in(1000 * MICRO), 500_000);
        rate.note(1_000_000, 1000 * MICRO);
        assert_eq!(rate.bytes_in(10 * MICRO), 10_000);
        rate.note(1_000_000, 3000 * MICRO);
        assert_eq!(rate.bytes_in(10 * MICRO), 5_000);
        // Short messages say little about the time of a byte, as do messages that are compared with
        // earlier ones.
        let (slow, fast) = (Rate::default(), Rate::default());
        slow.note(10, 1000 * MICRO);
        fast.note(1 << 30, MICRO);
        assert_eq!((slow.bytes_in(MICRO), fast.bytes_in(MICRO)), (60, 4000));
        assert_eq!(fast.bytes_in(Duration::MAX), u64::MAX);
    }

    #[test]
    fn old_messages_count_less_and_less() {
        let rate = Rate::default();
        (0..40).for_each(|_| rate.note(1 << 30, Duration::from_secs(1)));
        (0..40).for_each(|_| rate.note(1 << 30, Duration::from_secs(4)));
        let (now, before) = (rate.bytes_in(MICRO), 1073);
        assert!((before / 4..before / 3).contains(&now), "{now}");
    }

    /// Requests of one length arrive at random, half of them with a thousand times as much work. In
    /// order of length, each goes when it arrives; in order of their operation's cost, those with
    /// little work hardly wait. The clock is simulated.
    #[test]
    fn requests_with_little_to_do_do_not_wait_for_short_ones_with_much() {
        let [by_length, by_operation] = [false, true].map(|learns| Simulation::new(learns).run());
        let of = |times: &[Duration], percent: usize| times[times.len() * percent / 100];
        let (before, after) = (of(&by_length.light, 99), of(&by_operation.light, 99));
        assert!(after * 10 < before, "light ones: {before:?} by length, {after:?} by operation");
        let (before, after) = (of(&by_length.heavy, 99), of(&by_operation.heavy, 99));
        assert!(after < before * 6, "heavy ones: {before:?} by length, {after:?} by operation");
        assert_eq!(by_operation.light.len() + by_operation.heavy.len(), REQUESTS);
    }

    const REQUESTS: usize = 20_000;
    const LENGTH: u64 = 300;
    const LIGHT: Duration = Duration::from_micros(10);
    const HEAVY: Duration = Duration::from_millis(10);

    /// A server with a common and an express slot, each with a processor of its own.
    struct Simulation {
        queue: Queue,
        /// Learned costs of light and heavy requests.
        costs: [Costs; 2],
        rate: Rate,
        learns: bool,
        /// Time at which the work of each request in a slot ends, with its number.
        working: BTreeSet<(Duration, Number)>,
        /// Arrival time of a request, true if it is heavy, and its weight.
        requests: Vec<(Duration, bool, u64)>,
        times: Times,
    }

    /// Total times of requests, the shortest first.
    #[derive(Default)]
    struct Times {
        light: Vec<Duration>,
        heavy: Vec<Duration>,
    }

    impl Simulation {
        fn new(learns: bool) -> Self {
            Simulation {
                queue: Queue::new(Slots { common: 1, express: 1, small: 64 << 10 }),
                costs: Default::default(),
                rate: Rate::default(),
                learns,
                working: BTreeSet::new(),
                requests: Vec::new(),
                times: Times::default(),
            }
        }

        fn run(mut self) -> Times {
            let (mut now, mut random) = (Duration::ZERO, 1_u64);
            for _ in 0..REQUESTS {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Heavy requests take 0.7 of a processor.
                let pause = (random >> 40) as f64 / f64::from(1 << 24) * 2.0 * 7.14e-3;
                now += Duration::from_secs_f64(pause);
                self.until(now);
                self.come(now, random >> 33 & 1 == 1);
            }
            self.until(Duration::MAX);
            self.times.light.sort_unstable();
            self.times.heavy.sort_unstable();
            self.times
        }

        fn come(&mut self, now: Duration, is_heavy: bool) {
            let learned = self.rate.bytes_in(self.costs[usize::from(is_heavy)].expected(LENGTH));
            let weight = if self.learns { LENGTH.max(learned) } else { LENGTH };
            let number = self.requests.len() as Number;
            self.requests.push((now, is_heavy, weight));
            if self.queue.take(weight) {
                self.begin(number, now);
            } else {
                self.queue.wait(number, weight, now + Duration::from_millis(250));
            }
        }

        fn begin(&mut self, number: Number, now: Duration) {
            let is_heavy = self.requests[number as usize].1;
            self.working.insert((now + if is_heavy { HEAVY } else { LIGHT }, number));
        }

        /// Ends the work that is done by this time.
        fn until(&mut self, time: Duration) {
            while let Some((end, number)) = self.working.first().copied().filter(|(end, _)| *end <= time) {
                self.working.pop_first();
                let (came, is_heavy, weight) = self.requests[number as usize];
                self.costs[usize::from(is_heavy)].note(LENGTH, if is_heavy { HEAVY } else { LIGHT });
                let times = if is_heavy { &mut self.times.heavy } else { &mut self.times.light };
                times.push(end - came);
                if let Some(next) = self.queue.release(weight, end) {
                    self.begin(next, end);
                }
            }
        }
    }
}
