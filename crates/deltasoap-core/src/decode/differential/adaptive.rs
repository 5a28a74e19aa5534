//! Decides by net time whether a stream of messages is worth comparing.
//!
//! ```text
//! first message:   regular mode, timed: the cost without comparison
//! second:          regular mode, elements noted: the message to compare the next one with
//! from then on:    compared, timed now and then
//! little gained twice, or no prospect of it:
//!                  regular mode for 8, then 32, then 128, then 256 messages, then note and compare again
//! instead of the 4th comparison if those before it gain less than half, of the 16th, and of each 1,024th if they gain little:
//!                  two messages in regular mode, timed
//! in between:      messages that are not compared, such as short ones, from which nothing is learned
//! ```
//!
//! A stream without similarity pays for noting one message and comparing two in 259. A stream that
//! becomes similar is detected again within as many. Noting the second message and not the first
//! keeps single messages free of all cost. The first message of a stream takes longer than others,
//! as nothing is in the processor's caches; so it is the reference for a few messages only.
//!
//! Small messages are handled similarly, with an attempt to mend the value instead of a comparison,
//! and longer waits: reading the clock takes as much as a tenth of the time of such a message.
//!
//! | limit | counts | at most | then |
//! |---|---|---|---|
//! | slower | comparisons in a row that gain less than a tenth | 2 | regular mode for 8 to 256 |
//! | slower, small messages | the same for mending | 4 | regular mode for 64, 256, 1,024 |
//! | misses | small messages in a row that cannot be mended | 32 | the same |
//! | noted without use | messages since a comparison, unlike the noted one | 2 | as if slower |
//! | short | bytes of the operation | less than 512 | regular mode |
//!
//! Waits are in messages. Dynamic values of at most 4,096 bytes may be mended even if they are
//! short.

use std::time::Duration;

/// How the next message is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// In regular mode; nothing is kept.
    Plain,
    /// In regular mode; the data needed to compare the next message is kept.
    Note,
    /// Compared, if there is a message to compare with; else noted.
    Compare,
    /// Mended, if it differs only in texts; else noted.
    Mend,
    /// Like `Plain`, to measure how long that takes.
    Measure,
}

/// Number of messages in regular mode between two attempts: minimum, maximum, and growth factor.
const MIN_WAIT: u32 = 8;
const MAX_WAIT: u32 = 256;
const GROWTH: u32 = 4;
/// Number of attempts in a row that must be slower than regular mode before comparing is given up.
const SLOWER: u32 = 2;
/// The fraction of regular mode's time that comparing must save: smaller gains cannot be measured
/// reliably.
const MIN_GAIN: f64 = 0.1;
/// Minimum size of an operation, in bytes, for which comparing can pay: it costs a few hundred
/// nanoseconds in any case, in which regular mode reads about as many bytes.
const WORTHWHILE: u64 = 512;
/// Messages of at least this length are all timed, of shorter ones one in [`SAMPLED`]: reading the
/// clock takes as long as decoding a few hundred bytes.
const TIMED: u64 = 32 << 10;
const SAMPLED: u64 = 16;
/// The attempt that is replaced by a new measurement of regular mode if those before it gain less
/// than half.
const DOUBTED: u32 = 4;
/// The attempts that are replaced by a new measurement, whatever the earlier ones gain: the first,
/// and every multiple of the second. `MEASURED` is the number of messages read for it.
const EARLY: u32 = 16;
const LATE: u32 = 1024;
const MEASURED: u32 = 2;
/// Minimum and maximum wait for small messages, and the number of attempts in a row that must be
/// slower.
const SMALL_MIN_WAIT: u32 = 64;
const SMALL_MAX_WAIT: u32 = 1024;
const SMALL_SLOWER: u32 = 4;
/// Number of small messages in a row that could not be mended; more of them also cause a wait.
const MISSES: u32 = 32;
/// One in this many small messages is timed.
const SMALL_SAMPLED: u64 = 8;

/// Statistics of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Adaptive {
    messages: u64,
    /// Size of the last message.
    bytes: u64,
    regular: Rate,
    compared: Rate,
    /// Number of messages to read in regular mode before the next attempt.
    wait: u32,
    /// The initial length of that wait.
    waited: u32,
    /// Number of attempts in a row that were slower.
    slower: u32,
    /// Number of messages since the last comparison that were noted but never compared with.
    unmatched: u32,
    /// Number of timed attempts since the last wait.
    attempts: u32,
    /// Number of comparisons so far, and number of messages still to read to measure regular mode.
    compares: u32,
    measuring: u32,
    small: Small,
}

/// Statistics of small messages.
#[derive(Debug, Clone, Default)]
struct Small {
    messages: u64,
    regular: Rate,
    tried: Rate,
    wait: u32,
    waited: u32,
    slower: u32,
    attempts: u32,
    measuring: u32,
    /// Number of messages in a row that could not be mended.
    misses: u32,
}

/// Smoothed time per byte.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    nanoseconds_per_byte: f64,
}

impl Rate {
    fn add(&mut self, bytes: u64, time: Duration) {
        let rate = time.as_nanos() as f64 / bytes.max(1) as f64;
        self.nanoseconds_per_byte = match self.nanoseconds_per_byte {
            0.0 => rate,
            // A single slow message is usually caused by the machine.
            known => known * 0.75 + rate.min(known * 4.0) * 0.25,
        };
    }

    fn time(self, bytes: u64) -> Duration {
        Duration::from_nanos((self.nanoseconds_per_byte * bytes as f64) as u64)
    }
}

/// The gain of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gain {
    pub(crate) saved: Duration,
    pub(crate) lost: Duration,
}

impl Adaptive {
    /// Returns true if the next message is known to be so short that comparing it cannot pay.
    /// `at_hand` bytes of its operation are available, all of them if `is_all`; `has_old` tells if
    /// there is a message to compare it with. A short message has no [plan](Self::plan).
    pub(crate) fn is_short(&self, at_hand: usize, is_all: bool, has_old: bool) -> bool {
        let bytes = if is_all { at_hand as u64 } else { self.bytes.max(at_hand as u64) };
        let is_known = is_all || (self.bytes > 0 && !has_old);
        is_known && bytes < WORTHWHILE
    }

    /// Records a message that was read without a plan.
    pub(crate) fn passed_over(&mut self, bytes: u64) {
        // It was longer than expected.
        if bytes >= WORTHWHILE {
            self.bytes = bytes;
        }
    }

    /// Returns how the next message is to be read, and true if it is to be timed.
    pub(crate) fn plan(&mut self, has_old: bool) -> (Plan, bool) {
        self.messages += 1;
        let is_first = self.messages == 1;
        if self.measuring > 0 {
            self.measuring -= 1;
            return (Plan::Measure, true);
        }
        if is_first || self.wait > 0 {
            self.wait = self.wait.saturating_sub(1);
            return (Plan::Plain, is_first || self.is_timed());
        }
        if !has_old {
            return (Plan::Note, false);
        }
        self.compares = self.compares.saturating_add(1);
        let is_early = self.compares == EARLY || (self.compares == DOUBTED && self.gains_less_than(2.0));
        if is_early {
            self.regular = Rate::default();
        }
        if is_early || self.is_measured_again() {
            // Comparing resumes right after the measurement.
            (self.measuring, self.attempts) = (MEASURED - 1, 0);
            return (Plan::Measure, true);
        }
        let is_attempt = self.attempts < 2 * SLOWER;
        (Plan::Compare, is_attempt || self.is_timed())
    }

    /// Returns true from time to time, if comparing gains little: regular mode may be faster by
    /// now.
    fn is_measured_again(&self) -> bool {
        self.compares.is_multiple_of(LATE) && self.gains_less_than(4.0)
    }

    /// Returns true if regular mode takes less than `times` times as long as comparing.
    fn gains_less_than(&self, times: f64) -> bool {
        self.compared.nanoseconds_per_byte * times > self.regular.nanoseconds_per_byte
    }

    /// Returns how the next message is to be read if it is small and of a type that can be mended,
    /// and true if it is to be timed.
    pub(crate) fn plan_small(&mut self) -> (Plan, bool) {
        self.messages += 1;
        self.small.plan()
    }

    /// Records a small message, for which mending was tried or not. Returns true if mending is
    /// paused for some time.
    pub(crate) fn small(&mut self, bytes: u64, was_tried: bool, was_mended: bool, time: Option<Duration>) -> bool {
        self.small.learn(bytes, was_tried, was_mended, time)
    }

    fn is_timed(&self) -> bool {
        self.bytes >= TIMED || self.messages.is_multiple_of(SAMPLED)
    }

    /// Records a message that was read in regular mode.
    pub(crate) fn regular(&mut self, bytes: u64, time: Option<Duration>) {
        self.bytes = bytes;
        if let Some(time) = time {
            self.regular.add(bytes, time);
        }
    }

    /// Records a message that was compared. Returns the gain for all messages that this one
    /// represents.
    pub(crate) fn compared(&mut self, bytes: u64, time: Option<Duration>) -> Gain {
        (self.bytes, self.unmatched) = (bytes, 0);
        let Some(time) = time else { return Gain::default() };
        self.compared.add(bytes, time);
        self.attempts = self.attempts.saturating_add(1);
        let regular = self.regular.time(bytes);
        let weight = if bytes >= TIMED || self.attempts <= 2 * SLOWER { 1 } else { SAMPLED as u32 };
        if regular.is_zero() {
            return Gain::default();
        }
        let gain = Gain { saved: regular.saturating_sub(time) * weight, lost: time.saturating_sub(regular) * weight };
        if time > regular.mul_f64(1.0 - MIN_GAIN) {
            self.slower += 1;
            self.give_up_if_slow();
            return gain;
        }
        self.slower = 0;
        if self.attempts > 2 * SLOWER {
            self.waited = 0;
        }
        gain
    }

    /// Records a message that could not be compared with the one noted for it, or with any other.
    pub(crate) fn noted_without_match(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.unmatched += 1;
        if self.unmatched >= SLOWER {
            self.give_up(bytes);
        }
    }

    fn give_up_if_slow(&mut self) {
        if self.slower >= SLOWER {
            self.give_up(self.bytes);
        }
    }

    /// Pauses comparing for some messages, because it did not pay.
    pub(crate) fn give_up(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.waited = (self.waited * GROWTH).clamp(MIN_WAIT, MAX_WAIT);
        self.wait = self.waited;
        (self.slower, self.unmatched, self.attempts) = (0, 0, 0);
        self.compared = Rate::default();
    }

    /// Ends all waits: the stream turned out to have kinds, so what did not pay so far may pay now.
    pub(crate) fn resume(&mut self) {
        (self.wait, self.small.wait) = (0, 0);
    }

    /// Returns true if the next message will not be compared with the kept one.
    pub(crate) fn is_waiting(&self) -> bool {
        self.wait > 0
    }
}

impl Small {
    fn plan(&mut self) -> (Plan, bool) {
        self.messages += 1;
        let is_sampled = self.messages.is_multiple_of(SMALL_SAMPLED);
        if self.messages == 1 {
            return (Plan::Plain, false);
        }
        if self.measuring > 0 {
            self.measuring -= 1;
            return (Plan::Measure, true);
        }
        if self.wait > 0 {
            self.wait -= 1;
            return (Plan::Plain, is_sampled);
        }
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts == EARLY || self.attempts.is_multiple_of(LATE) {
            self.measuring = MEASURED - 1;
            return (Plan::Measure, true);
        }
        (Plan::Mend, self.attempts <= 2 * SMALL_SLOWER || is_sampled)
    }

    fn learn(&mut self, bytes: u64, was_tried: bool, was_mended: bool, time: Option<Duration>) -> bool {
        if !was_tried {
            time.into_iter().for_each(|time| self.regular.add(bytes, time));
            return false;
        }
        self.misses = if was_mended { 0 } else { self.misses + 1 };
        if let Some(time) = time {
            self.tried.add(bytes, time);
            let regular = self.regular.nanoseconds_per_byte;
            let is_slower = self.tried.nanoseconds_per_byte > regular * (1.0 - MIN_GAIN) && regular > 0.0;
            self.slower = if is_slower { self.slower + 1 } else { 0 };
        }
        let gives_up = self.misses > MISSES || self.slower >= SMALL_SLOWER;
        if gives_up {
            let waited = (self.waited * GROWTH).clamp(SMALL_MIN_WAIT, SMALL_MAX_WAIT);
            (self.wait, self.waited) = (waited, waited);
            (self.misses, self.slower, self.attempts, self.tried) = Default::default();
        } else if was_mended && self.attempts > 4 * SMALL_SLOWER && self.slower == 0 {
            self.waited = 0;
        }
        gives_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 100_000;

    /// Reads messages for which a comparison takes `time(n)` microseconds and regular mode 100.
    /// Counts the plans.
    fn run(adaptive: &mut Adaptive, messages: u64, time: impl Fn(u64) -> u64) -> [u64; 3] {
        let mut counts = [0; 3];
        let mut has_old = false;
        for message in 0..messages {
            let (plan, _) = adaptive.plan(has_old);
            counts[if plan == Plan::Measure { Plan::Plain } else { plan } as usize] += 1;
            match plan {
                Plan::Plain | Plan::Note | Plan::Measure => {
                    adaptive.regular(BYTES, Some(Duration::from_micros(100)));
                }
                Plan::Mend => unreachable!("no message is small"),
                Plan::Compare => {
                    adaptive.compared(BYTES, Some(Duration::from_micros(time(message))));
                }
            }
            has_old = (has_old || plan == Plan::Note) && !adaptive.is_waiting();
        }
        counts
    }

    #[test]
    fn a_similar_stream_is_compared_from_the_third_message_on() {
        assert_eq!(run(&mut Adaptive::default(), 10_000, |_| 10), [3, 1, 9_996]);
    }

    #[test]
    fn a_stream_without_similarity_is_hardly_compared() {
        let [plain, note, compare] = run(&mut Adaptive::default(), 10_000, |_| 120);
        assert!(compare <= 2 * note && note < 170 && plain > 9500, "{plain} {note} {compare}");
    }

    #[test]
    fn a_stream_that_becomes_similar_is_found_again() {
        let mut adaptive = Adaptive::default();
        run(&mut adaptive, 1000, |_| 150);
        let [plain, _, compare] = run(&mut adaptive, 1000, |_| 20);
        assert!(plain <= u64::from(MAX_WAIT) && compare > 700, "{plain} {compare}");
    }

    #[test]
    fn short_messages_are_recognized_by_their_length() {
        let mut adaptive = Adaptive::default();
        let (short, long) = (WORTHWHILE as usize - 1, WORTHWHILE as usize);
        assert_eq!([short, long].map(|len| adaptive.is_short(len, true, true)), [true, false]);
        assert!(!adaptive.is_short(short, false, false), "its length is unknown");
        adaptive.regular(WORTHWHILE - 1, None);
        assert_eq!([short, long].map(|len| adaptive.is_short(len, false, false)), [true, false]);
        assert!(!adaptive.is_short(short, false, true), "it may be as long as the waiting message");
        adaptive.passed_over(WORTHWHILE);
        assert!(!adaptive.is_short(short, false, false), "the last message was longer");
        adaptive.passed_over(WORTHWHILE - 1);
        assert!(!adaptive.is_short(short, false, false), "a message that was passed over says nothing about others");
    }

    #[test]
    fn noting_without_a_match_is_given_up() {
        let (mut adaptive, mut has_old, mut noted) = (Adaptive::default(), false, 0);
        for _ in 0..10_000 {
            let (plan, _) = adaptive.plan(has_old);
            noted += u32::from(matches!(plan, Plan::Note | Plan::Compare));
            match plan {
                Plan::Compare => adaptive.noted_without_match(BYTES),
                _ => adaptive.regular(BYTES, Some(Duration::from_micros(100))),
            }
            has_old = matches!(plan, Plan::Note | Plan::Compare) && !adaptive.is_waiting();
        }
        assert!(noted < 150, "{noted}");
    }

    /// Reads small messages for which an attempt takes `time` nanoseconds and regular mode 1000.
    /// Counts the attempts.
    fn run_small(adaptive: &mut Adaptive, messages: u32, was_mended: bool, time: u64) -> u32 {
        let mut tried = 0;
        for _ in 0..messages {
            let (plan, is_timed) = adaptive.plan_small();
            let is_tried = plan == Plan::Mend;
            tried += u32::from(is_tried);
            let time = Duration::from_nanos(if is_tried { time } else { 1000 });
            adaptive.small(300, is_tried, was_mended, is_timed.then_some(time));
        }
        tried
    }

    #[test]
    fn small_messages_that_cannot_be_mended_are_hardly_tried() {
        let mut adaptive = Adaptive::default();
        let tried = run_small(&mut adaptive, 10_000, false, 900);
        assert!(tried < 500, "{tried}");
        run_small(&mut adaptive, SMALL_MAX_WAIT, true, 400);
        assert_eq!(run_small(&mut adaptive, 100, true, 400), 100);
    }

    #[test]
    fn mending_that_takes_longer_than_reading_is_given_up() {
        let tried = run_small(&mut Adaptive::default(), 10_000, true, 1500);
        assert!(tried < 100, "{tried}");
        assert!(run_small(&mut Adaptive::default(), 10_000, true, 500) > 9_960);
    }

    /// The first message takes longer than others. That must not make comparing look good.
    #[test]
    fn regular_mode_is_measured_anew() {
        let mut adaptive = Adaptive::default();
        let (mut has_old, mut compares) = (false, 0);
        for message in 0..10_000_u64 {
            let (plan, is_timed) = adaptive.plan(has_old);
            let time = |micros| is_timed.then_some(Duration::from_micros(micros));
            match plan {
                Plan::Compare => {
                    compares += 1;
                    adaptive.compared(BYTES, time(130));
                }
                _ => adaptive.regular(BYTES, time(if message == 0 { 1000 } else { 100 })),
            }
            has_old = (has_old || plan == Plan::Note) && !adaptive.is_waiting();
        }
        assert!(compares < 120, "{compares}");
    }

    #[test]
    fn one_slow_message_changes_nothing() {
        assert_eq!(run(&mut Adaptive::default(), 1000, |n| if n % 50 == 7 { 5000 } else { 10 }), [3, 1, 996]);
    }

    #[test]
    fn gains_are_measured_against_regular_mode() {
        let mut adaptive = Adaptive::default();
        adaptive.regular(BYTES, Some(Duration::from_micros(100)));
        let gain = adaptive.compared(BYTES, Some(Duration::from_micros(30)));
        assert_eq!((gain.saved.as_micros(), gain.lost.as_micros()), (70, 0));
        let gain = adaptive.compared(BYTES, Some(Duration::from_micros(130)));
        assert_eq!((gain.saved.as_micros(), gain.lost.as_micros()), (0, 30));
    }
}
