//! Whether a stream of messages is worth comparing: net time decides.
//!
//! ```text
//! first message:   regular mode, timed: what it would cost
//! second:          regular mode, elements noted: what the next one is compared with
//! from then on:    compared, timed now and then
//! little gained twice, or no prospect of it:
//!                  regular mode for 8, then 32, then 128, then 256 messages, then note and compare again
//! in place of the 4th comparison if those before it gain less than half, of the 16th, and of each 1,024th if they gain little:
//!                  two messages in regular mode, timed
//! in between:      messages that are not compared, such as short ones, of which nothing is learned
//! ```
//!
//! A stream that is not similar pays for noting one message and comparing two in 259. One that
//! becomes similar is found again within as many. Noting the second message and not the first keeps
//! single messages free of all cost. The first message of a stream takes longer than others, as
//! nothing is in the processor's caches; so it is the measure for a few messages only.
//!
//! Small messages are read likewise, with an attempt to mend the value in place of a comparison,
//! and longer waits: a look at the clock costs as much as a tenth of such a message.

use std::time::Duration;

/// How the next message is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// In regular mode; nothing is kept.
    Plain,
    /// In regular mode; what is needed to compare the next one is kept.
    Note,
    /// Compared, if there is something to compare with; else noted.
    Compare,
    /// Mended, if it differs in texts alone; else noted.
    Mend,
    /// As `Plain`, to see how long that takes.
    Measure,
}

/// Messages in regular mode between two attempts: at first, at most, and how much longer each time.
const SHORTEST_WAIT: u32 = 8;
const LONGEST_WAIT: u32 = 256;
const GROWTH: u32 = 4;
/// Attempts in a row that must be slower than regular mode before it is gone back to.
const SLOWER: u32 = 2;
/// The part of the time of regular mode that comparing has to gain: to measure so little is a
/// guess.
const LEAST_GAIN: f64 = 0.1;
/// Bytes of an operation from which on comparing can pay: it costs a few hundred nanoseconds
/// whatever it finds, in which regular mode reads about as many bytes.
const WORTHWHILE: u64 = 512;
/// Messages at least so long are all timed, of shorter ones one in [`SAMPLED`]: a look at the clock
/// takes as long as a few hundred bytes.
const TIMED: u64 = 32 << 10;
const SAMPLED: u64 = 16;
/// The attempt in whose place regular mode is measured anew if those before it gain less than half.
const DOUBTED: u32 = 4;
/// The same whatever they gain: at first, and from then on. And messages read for that.
const EARLY: u32 = 16;
const LATE: u32 = 1024;
const MEASURED: u32 = 2;
/// The same waits for small messages, and attempts in a row that must be slower.
const SMALL_SHORTEST_WAIT: u32 = 64;
const SMALL_LONGEST_WAIT: u32 = 1024;
const SMALL_SLOWER: u32 = 4;
/// Small messages in a row that could not be mended after which it is waited, too.
const MISSES: u32 = 32;
/// One in so many small messages is timed.
const SMALL_SAMPLED: u64 = 8;

/// What is known about a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Adaptive {
    messages: u64,
    /// Bytes of the last message.
    bytes: u64,
    regular: Rate,
    compared: Rate,
    /// Messages to be read in regular mode before the next attempt.
    wait: u32,
    /// The length of that wait when it began.
    waited: u32,
    /// Attempts in a row that were slower.
    slower: u32,
    /// Messages that were noted and never compared with, since the last comparison.
    in_vain: u32,
    /// Timed attempts since the last wait.
    attempts: u32,
    /// Comparisons so far, and messages still to be read to measure regular mode.
    compares: u32,
    measuring: u32,
    small: Small,
}

/// What is known about small messages.
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
    /// Messages in a row that could not be mended.
    misses: u32,
}

/// Time by length, smoothed.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    nanoseconds_per_byte: f64,
}

impl Rate {
    fn add(&mut self, bytes: u64, time: Duration) {
        let rate = time.as_nanos() as f64 / bytes.max(1) as f64;
        self.nanoseconds_per_byte = match self.nanoseconds_per_byte {
            0.0 => rate,
            // One slow message is most often the machine's doing.
            known => known * 0.75 + rate.min(known * 4.0) * 0.25,
        };
    }

    fn time(self, bytes: u64) -> Duration {
        Duration::from_nanos((self.nanoseconds_per_byte * bytes as f64) as u64)
    }
}

/// What a comparison gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gain {
    pub(crate) saved: Duration,
    pub(crate) lost: Duration,
}

impl Adaptive {
    /// True if the next message is so short that comparing it cannot pay, as far as is known: of
    /// its operation so many bytes are at hand, and perhaps all; there is something to compare it
    /// with, or not. Then it has no [plan](Self::plan).
    pub(crate) fn is_short(&self, at_hand: usize, is_all: bool, has_old: bool) -> bool {
        let bytes = if is_all { at_hand as u64 } else { self.bytes.max(at_hand as u64) };
        let is_known = is_all || (self.bytes > 0 && !has_old);
        is_known && bytes < WORTHWHILE
    }

    /// A message without a plan was read.
    pub(crate) fn passed_over(&mut self, bytes: u64) {
        // It was not as short as it seemed.
        if bytes >= WORTHWHILE {
            self.bytes = bytes;
        }
    }

    /// How the next message is to be read, and whether it is to be timed.
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
            // What is measured is compared with at once.
            (self.measuring, self.attempts) = (MEASURED - 1, 0);
            return (Plan::Measure, true);
        }
        let is_attempt = self.attempts < 2 * SLOWER;
        (Plan::Compare, is_attempt || self.is_timed())
    }

    /// True from time to time, if comparing gains little: regular mode may be faster by now.
    fn is_measured_again(&self) -> bool {
        self.compares.is_multiple_of(LATE) && self.gains_less_than(4.0)
    }

    /// True if regular mode takes less than so many times as long.
    fn gains_less_than(&self, times: f64) -> bool {
        self.compared.nanoseconds_per_byte * times > self.regular.nanoseconds_per_byte
    }

    /// How the next message is to be read if it is small and of a type that can be mended, and
    /// whether it is to be timed.
    pub(crate) fn plan_small(&mut self) -> (Plan, bool) {
        self.messages += 1;
        self.small.plan()
    }

    /// A small message was read, and an attempt was made to mend the value, or not. True if no more
    /// are made for some time.
    pub(crate) fn small(&mut self, bytes: u64, was_tried: bool, was_mended: bool, time: Option<Duration>) -> bool {
        self.small.learn(bytes, was_tried, was_mended, time)
    }

    fn is_timed(&self) -> bool {
        self.bytes >= TIMED || self.messages.is_multiple_of(SAMPLED)
    }

    /// A message was read in regular mode.
    pub(crate) fn regular(&mut self, bytes: u64, time: Option<Duration>) {
        self.bytes = bytes;
        if let Some(time) = time {
            self.regular.add(bytes, time);
        }
    }

    /// A message was compared: what that gained, for all messages that this one stands for.
    pub(crate) fn compared(&mut self, bytes: u64, time: Option<Duration>) -> Gain {
        (self.bytes, self.in_vain) = (bytes, 0);
        let Some(time) = time else { return Gain::default() };
        self.compared.add(bytes, time);
        self.attempts = self.attempts.saturating_add(1);
        let regular = self.regular.time(bytes);
        let weight = if bytes >= TIMED || self.attempts <= 2 * SLOWER { 1 } else { SAMPLED as u32 };
        if regular.is_zero() {
            return Gain::default();
        }
        let gain = Gain { saved: regular.saturating_sub(time) * weight, lost: time.saturating_sub(regular) * weight };
        if time > regular.mul_f64(1.0 - LEAST_GAIN) {
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

    /// A message could not be compared with the one that was noted for it, and no other was.
    pub(crate) fn noted_in_vain(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.in_vain += 1;
        if self.in_vain >= SLOWER {
            self.give_up(bytes);
        }
    }

    fn give_up_if_slow(&mut self) {
        if self.slower >= SLOWER {
            self.give_up(self.bytes);
        }
    }

    /// Comparing a message did not pay: not again before some have gone by.
    pub(crate) fn give_up(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.waited = (self.waited * GROWTH).clamp(SHORTEST_WAIT, LONGEST_WAIT);
        self.wait = self.waited;
        (self.slower, self.in_vain, self.attempts) = (0, 0, 0);
        self.compared = Rate::default();
    }

    /// The stream has turned out to have kinds: what did not pay so far may pay now.
    pub(crate) fn resume(&mut self) {
        (self.wait, self.small.wait) = (0, 0);
    }

    /// True if what is kept will not be compared with the next message.
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
            let is_slower = self.tried.nanoseconds_per_byte > regular * (1.0 - LEAST_GAIN) && regular > 0.0;
            self.slower = if is_slower { self.slower + 1 } else { 0 };
        }
        let gives_up = self.misses > MISSES || self.slower >= SMALL_SLOWER;
        if gives_up {
            let waited = (self.waited * GROWTH).clamp(SMALL_SHORTEST_WAIT, SMALL_LONGEST_WAIT);
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

    /// Reads messages, of which a comparison takes `time(n)` microseconds and regular mode 100;
    /// counts plans.
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
        assert!(plain <= u64::from(LONGEST_WAIT) && compare > 700, "{plain} {compare}");
    }

    #[test]
    fn short_messages_are_told_by_their_length() {
        let mut adaptive = Adaptive::default();
        let (short, long) = (WORTHWHILE as usize - 1, WORTHWHILE as usize);
        assert_eq!([short, long].map(|len| adaptive.is_short(len, true, true)), [true, false]);
        assert!(!adaptive.is_short(short, false, false), "nothing is known of its length");
        adaptive.regular(WORTHWHILE - 1, None);
        assert_eq!([short, long].map(|len| adaptive.is_short(len, false, false)), [true, false]);
        assert!(!adaptive.is_short(short, false, true), "it may be as long as the one that waits");
        adaptive.passed_over(WORTHWHILE);
        assert!(!adaptive.is_short(short, false, false), "the last message was longer");
        adaptive.passed_over(WORTHWHILE - 1);
        assert!(!adaptive.is_short(short, false, false), "one that was passed over says nothing of others");
    }

    #[test]
    fn what_is_noted_in_vain_is_given_up() {
        let (mut adaptive, mut has_old, mut noted) = (Adaptive::default(), false, 0);
        for _ in 0..10_000 {
            let (plan, _) = adaptive.plan(has_old);
            noted += u32::from(matches!(plan, Plan::Note | Plan::Compare));
            match plan {
                Plan::Compare => adaptive.noted_in_vain(BYTES),
                _ => adaptive.regular(BYTES, Some(Duration::from_micros(100))),
            }
            has_old = matches!(plan, Plan::Note | Plan::Compare) && !adaptive.is_waiting();
        }
        assert!(noted < 150, "{noted}");
    }

    /// Reads small messages, of which an attempt takes `time` nanoseconds and regular mode 1000;
    /// counts attempts.
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
        let in_vain = run_small(&mut adaptive, 10_000, false, 900);
        assert!(in_vain < 500, "{in_vain}");
        run_small(&mut adaptive, SMALL_LONGEST_WAIT, true, 400);
        assert_eq!(run_small(&mut adaptive, 100, true, 400), 100);
    }

    #[test]
    fn mending_that_takes_longer_than_reading_is_given_up() {
        let tried = run_small(&mut Adaptive::default(), 10_000, true, 1500);
        assert!(tried < 100, "{tried}");
        assert!(run_small(&mut Adaptive::default(), 10_000, true, 500) > 9_960);
    }

    /// The first message takes longer than others, which must not make comparing look good.
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
