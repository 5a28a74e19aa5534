//! Whether a stream of messages is worth comparing: net time decides.
//!
//! ```text
//! first message:   regular mode, timed: what it would cost
//! second:          regular mode, elements noted: what the next one is compared with
//! from then on:    compared, timed now and then
//! slower twice, or next to nothing equal:
//!                  regular mode for 8, then 32, then 64 messages, then note and compare again
//! ```
//!
//! A stream that is not similar pays for noting one message and comparing two in 67. One that becomes similar is found
//! again within as many. Noting the second message and not the first keeps single messages free of all cost.

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
}

/// Messages in regular mode between two attempts: at first, at most, and how much longer each time.
const SHORTEST_WAIT: u32 = 8;
const LONGEST_WAIT: u32 = 64;
const GROWTH: u32 = 4;
/// Attempts in a row that must be slower than regular mode before it is gone back to.
const SLOWER: u32 = 2;
/// Bytes of an operation, the last one's, from which on comparing can pay: it costs a few hundred nanoseconds whatever it
/// finds, in which regular mode reads about as many bytes.
const WORTHWHILE: u64 = 512;
/// Messages at least so long are all timed, of shorter ones one in [`SAMPLED`]: a look at the clock takes as long as a
/// few hundred bytes.
const TIMED: u64 = 32 << 10;
const SAMPLED: u64 = 16;
/// Small messages in a row that could not be mended after which so many are read without an attempt.
const MISSES: u32 = 32;
const MISSES_WAIT: u32 = 64;

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
    /// Timed attempts since the last wait.
    attempts: u32,
    /// Small messages in a row that could not be mended; and those to be read before the next attempt.
    misses: u32,
    misses_wait: u32,
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
    /// How the next message is to be read, and whether it is to be timed. Of its operation so many bytes are at hand, perhaps all.
    pub(crate) fn plan(&mut self, has_old: bool, at_hand: usize, is_all: bool) -> (Plan, bool) {
        self.messages += 1;
        let is_first = self.messages == 1;
        let bytes = if is_all { at_hand as u64 } else { self.bytes.max(at_hand as u64) };
        if bytes < WORTHWHILE && !is_first {
            return (Plan::Plain, false);
        }
        if is_first || self.wait > 0 {
            self.wait = self.wait.saturating_sub(1);
            return (Plan::Plain, is_first || self.is_timed());
        }
        let is_attempt = self.attempts < 2 * SLOWER;
        if has_old { (Plan::Compare, is_attempt || self.is_timed()) } else { (Plan::Note, false) }
    }

    /// How the next message is to be read if it is small and of a type that can be mended. An attempt costs little whatever it finds, so
    /// that no time is taken.
    pub(crate) fn plan_small(&mut self) -> Plan {
        self.messages += 1;
        let is_waiting = self.misses_wait > 0;
        self.misses_wait = self.misses_wait.saturating_sub(1);
        if is_waiting || self.messages == 1 { Plan::Plain } else { Plan::Mend }
    }

    /// A small message was read.
    pub(crate) fn small(&mut self, bytes: u64, was_mended: bool) {
        self.bytes = bytes;
        let was_tried = self.misses_wait == 0;
        self.misses = if was_mended { 0 } else { self.misses + u32::from(was_tried) };
        if self.misses > MISSES {
            (self.misses, self.misses_wait) = (0, MISSES_WAIT);
        }
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
        self.bytes = bytes;
        let Some(time) = time else { return Gain::default() };
        self.compared.add(bytes, time);
        self.attempts = self.attempts.saturating_add(1);
        let regular = self.regular.time(bytes);
        let weight = if bytes >= TIMED || self.attempts <= 2 * SLOWER { 1 } else { SAMPLED as u32 };
        if time > regular && self.regular.nanoseconds_per_byte > 0.0 {
            self.slower += 1;
            self.give_up_if_slow();
            return Gain { saved: Duration::ZERO, lost: (time - regular) * weight };
        }
        self.slower = 0;
        if self.attempts > 2 * SLOWER {
            self.waited = 0;
        }
        Gain { saved: regular.saturating_sub(time) * weight, lost: Duration::ZERO }
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
        self.slower = 0;
        self.attempts = 0;
        self.compared = Rate::default();
    }

    /// True if what is kept will not be compared with the next message.
    pub(crate) fn is_waiting(&self) -> bool {
        self.wait > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: u64 = 100_000;

    /// Reads messages, of which a comparison takes `time(n)` microseconds and regular mode 100; counts plans.
    fn run(adaptive: &mut Adaptive, messages: u64, time: impl Fn(u64) -> u64) -> [u64; 3] {
        let mut counts = [0; 3];
        let mut has_old = false;
        for message in 0..messages {
            let (plan, _) = adaptive.plan(has_old, 0, false);
            counts[plan as usize] += 1;
            match plan {
                Plan::Plain | Plan::Note => adaptive.regular(BYTES, Some(Duration::from_micros(100))),
                Plan::Mend => unreachable!("no message is small"),
                Plan::Compare => {
                    adaptive.compared(BYTES, Some(Duration::from_micros(time(message))));
                }
            }
            has_old = plan != Plan::Plain && !adaptive.is_waiting();
        }
        counts
    }

    #[test]
    fn a_similar_stream_is_compared_from_the_third_message_on() {
        assert_eq!(run(&mut Adaptive::default(), 1000, |_| 10), [1, 1, 998]);
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
        assert!(plain <= u64::from(LONGEST_WAIT) && compare > 900, "{plain} {compare}");
    }

    #[test]
    fn short_messages_are_never_compared() {
        let mut adaptive = Adaptive::default();
        for _ in 0..100 {
            assert_eq!(adaptive.plan(false, 0, false).0, Plan::Plain);
            adaptive.regular(WORTHWHILE - 1, None);
        }
        adaptive.regular(WORTHWHILE, None);
        assert_eq!(adaptive.plan(false, 0, false).0, Plan::Note);
    }

    #[test]
    fn small_messages_that_cannot_be_mended_are_hardly_tried() {
        let mut adaptive = Adaptive::default();
        let mut tried = |was_mended: bool| {
            let is_tried = adaptive.plan_small() == Plan::Mend;
            adaptive.small(300, was_mended && is_tried);
            is_tried
        };
        let in_vain = (0..1000).filter(|_| tried(false)).count();
        assert!((300..400).contains(&in_vain), "{in_vain}");
        assert!((0..100).filter(|_| tried(true)).count() > 30);
        assert_eq!((0..100).filter(|_| tried(true)).count(), 100);
    }

    #[test]
    fn one_slow_message_changes_nothing() {
        assert_eq!(run(&mut Adaptive::default(), 1000, |n| if n % 50 == 7 { 5000 } else { 10 }), [1, 1, 998]);
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
