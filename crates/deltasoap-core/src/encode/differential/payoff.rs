//! Decides whether templates pay off for a stream of messages.
//!
//! Messages that have little in common with earlier ones cost more against a template than in full,
//! and so do short messages, since searching for differences takes time too. If most of each
//! message is new, a message is written in full now and then, to learn how long that takes. If
//! little is new, a message is additionally written in full once templates have taken so long that
//! this is a small part of their time: streams whose messages take almost no time are never
//! measured. The time that templates take beyond messages in full is a *debt*, which messages in
//! full pay off by a part of their time. So in the long run trying costs little more than that
//! part, for any stream, and a stream that becomes similar is detected.
//!
//! The part is a 48th of the time of messages in full. Of short messages, one in sixteen is timed,
//! and counts for those before it. The time of a message in full is estimated as a fixed part and a
//! part per byte: streams mix lengths, and short messages take longer per byte.

use std::time::Duration;

/// A message is new if more than this part of it had to be written.
const NEW: f64 = 0.25;
/// Number of consecutive new messages after which something must change.
pub(super) const MANY: u32 = 2;
/// The part of the time of messages in full that trying may take.
const PART: f64 = 1.0 / 48.0;
/// Maximum that a timed message adds to the debt, with those before it, as a multiple of its time
/// in full: more is usually caused by the machine.
const MAX_LOSS: f64 = 8.0;
/// Maximum credit from the gains of earlier messages, as a number of messages in full.
const MAX_GAIN: f64 = 4.0;
/// Number of messages after which the time of a message in full is measured again.
const STALE: u32 = 256;
/// Number of messages that must pass before one is written in full for a first measurement.
const SETTLED: u32 = 32;
/// Minimum time of those messages, as a multiple of the time of a message in full.
const WORTH: f64 = 48.0;
/// The same for short messages, for which templates are often slower.
const SHORT_SETTLED: u32 = 8;
const SHORT_WORTH: f64 = 12.0;
/// Upper bound of the time of a message in full, in nanoseconds per byte, used until it is
/// measured.
const SLOWEST: f64 = 2.0;
/// The fixed part of the time of a message in full, as a number of bytes that take as long.
const FIXED: f64 = 512.0;
/// Of the first measurements in full, the fastest counts: others find code and data outside the
/// processor's caches. If messages are new, nothing is decided before there are two.
const FIRST: u32 = 4;
const ENOUGH: u32 = 2;
/// Of messages shorter than this, only one in [`TIMED`] is timed: reading the clock takes a part of
/// their time.
pub(super) const SHORT: usize = 16 << 10;
const TIMED: u32 = 16;

/// The measurements of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Payoff {
    /// Nanoseconds per byte in full, smoothed; 0 if unknown. See [`weight`].
    full: f64,
    /// Number of measurements in full, up to [`FIRST`].
    measured: u32,
    /// Nanoseconds lost by templates and not paid off; negative if they gained.
    debt: f64,
    /// Number of messages since one was measured in full.
    age: u32,
    /// Number of consecutive new messages.
    pub(super) new: u32,
    /// Number of messages since one was timed, and the sum of their weights.
    untimed: u32,
    untimed_weight: f64,
    /// True if the last message was written in full.
    was_full: bool,
    /// Nanoseconds that messages against templates took since one was measured in full.
    spent: f64,
}

impl Payoff {
    /// Returns true if the next message should be written in full.
    pub(super) fn wants_full(&self) -> bool {
        self.debt > 0.0 || (self.new >= MANY && (self.measured < ENOUGH || self.age >= STALE))
    }

    /// Returns true if the next message, of about `bytes` bytes, should be timed.
    pub(super) fn wants_time(&self, bytes: usize) -> bool {
        let decides = match self.wants_full() {
            true => self.measured < FIRST || !self.was_full,
            // New messages probably lose time, and the first one after messages in full decides.
            false => self.full == 0.0 || self.new > 0 || self.was_full,
        };
        bytes >= SHORT || self.untimed >= TIMED || decides
    }

    /// Returns true if it is time to measure a message in full, of the length of the last message.
    pub(super) fn wants_measure(&self, bytes: usize) -> bool {
        let (rate, age, worth) = match self.full {
            0.0 if bytes < SHORT => (SLOWEST, SHORT_SETTLED, SHORT_WORTH),
            0.0 => (SLOWEST, SETTLED, WORTH),
            full => (full, STALE, WORTH),
        };
        self.age >= age && self.spent > worth * rate * weight(bytes)
    }

    /// Returns true if the last message was written in full: a template that is used now is on
    /// trial.
    pub(super) fn is_trial(&self) -> bool {
        self.was_full
    }

    /// Notes the time spent to find out that no template suits the next message.
    pub(super) fn add_search(&mut self, time: Duration) {
        self.debt += time.as_nanos() as f64;
    }

    /// Notes a message written in full, with its time if it was timed.
    pub(super) fn add_full(&mut self, bytes: usize, time: Option<Duration>) {
        if let Some(time) = time {
            self.measure(bytes, time);
        }
        self.untimed = if time.is_some() { 0 } else { self.untimed + 1 };
        self.untimed_weight = 0.0;
        self.was_full = true;
        // A long message pays debts, but gives no credit for losses to come.
        self.debt = (self.debt - self.in_full(bytes) * PART).max(self.debt.min(0.0));
    }

    /// Notes the time of a message in full.
    pub(super) fn measure(&mut self, bytes: usize, time: Duration) {
        let rate = time.as_nanos() as f64 / weight(bytes);
        self.full = match self.measured {
            0 => rate,
            1..FIRST => self.full.min(rate),
            _ => smooth(self.full, rate),
        };
        self.measured = (self.measured + 1).min(FIRST);
        (self.age, self.spent) = (0, 0.0);
    }

    /// Notes a message against a template, with the number of bytes written, and its time if it was
    /// timed.
    pub(super) fn add_against(&mut self, bytes: usize, written: u64, time: Option<Duration>) {
        self.age = self.age.saturating_add(1);
        self.new = if (written as f64) < NEW * bytes as f64 { 0 } else { self.new.saturating_add(1) };
        self.add_time(bytes, time);
    }

    /// Notes the time of a message that was written against a template, or that created one.
    pub(super) fn add_time(&mut self, bytes: usize, time: Option<Duration>) {
        self.untimed += 1;
        self.untimed_weight += weight(bytes);
        self.was_full = false;
        let Some(time) = time else { return };
        let (time, full) = (time.as_nanos() as f64, self.in_full(bytes));
        // The untimed messages before it are assumed to have taken as long per byte.
        let times = std::mem::take(&mut self.untimed_weight) / weight(bytes);
        self.untimed = 0;
        self.spent += time * times;
        let lost = ((time - full) * times).min(full * MAX_LOSS);
        self.debt = (self.debt + lost).max(-full * MAX_GAIN);
    }

    /// Returns the time of a message of `bytes` bytes in full; 0 if unknown.
    fn in_full(&self, bytes: usize) -> f64 {
        self.full * weight(bytes)
    }
}

/// Returns the number of bytes of a message, and of those that take as long as its fixed part.
fn weight(bytes: usize) -> f64 {
    bytes as f64 + FIXED
}

/// Returns the smoothed rate after another one was measured. A single slow message is usually
/// caused by the machine; a fast one never is.
fn smooth(rate: f64, now: f64) -> f64 {
    let part = if now < rate { 0.5 } else { 0.25 };
    rate + (now.min(rate * 4.0) - rate) * part
}

#[cfg(test)]
impl Payoff {
    /// Wants the next message in full.
    pub(super) fn indebted() -> Self {
        Payoff { full: 1.0, measured: FIRST, debt: f64::MAX, ..Payoff::default() }
    }

    /// Has seen messages in full, and wants to try a template.
    pub(super) fn on_trial() -> Self {
        Payoff { full: 1.0, measured: FIRST, debt: f64::MIN, was_full: true, new: MANY, ..Payoff::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Duration = Duration::from_micros(20);
    const FAST: Duration = Duration::from_micros(10);

    #[test]
    fn a_stream_of_alike_messages_is_never_written_in_full() {
        let mut payoff = Payoff::default();
        for _ in 0..1000 {
            assert!(!payoff.wants_full());
            payoff.add_against(10_000, 100, Some(SLOW));
        }
    }

    #[test]
    fn a_stream_of_alike_messages_is_measured_once_that_costs_little() {
        let mut payoff = Payoff::default();
        let measured: Vec<_> = (0..10_000)
            .filter(|_| {
                payoff.add_against(1000, 10, Some(Duration::from_nanos(500)));
                let wants = payoff.wants_measure(1000);
                wants.then(|| payoff.measure(1000, Duration::from_nanos(600)));
                wants
            })
            .collect();
        assert!((10..50).contains(&measured.len()), "{}", measured.len());
        assert!(!payoff.wants_full(), "templates are faster");
    }

    #[test]
    fn a_stream_of_alike_messages_that_are_slower_is_written_in_full() {
        let mut payoff = Payoff::default();
        let (mut tried, mut timed) = (0, 0);
        for _ in 0..10_000 {
            let (is_full, is_timed) = (payoff.wants_full(), payoff.wants_time(1000));
            timed += u32::from(is_timed);
            let time = |nanos| is_timed.then(|| Duration::from_nanos(nanos));
            if is_full {
                payoff.add_full(1000, time(200));
                continue;
            }
            tried += 1;
            payoff.add_against(1000, 10, time(500));
            if payoff.wants_measure(1000) {
                payoff.measure(1000, Duration::from_nanos(200));
            }
        }
        assert!(tried < 800, "{tried}");
        assert!(timed < 1500, "{timed}");
    }

    #[test]
    fn messages_that_take_no_time_are_never_measured() {
        let mut payoff = Payoff::default();
        for _ in 0..2000 {
            payoff.add_against(1_000_000, 0, Some(Duration::from_micros(1)));
            assert!(!payoff.wants_measure(1_000_000));
        }
    }

    #[test]
    fn a_stream_of_new_messages_that_are_slower_is() {
        let mut payoff = Payoff::default();
        let mut full = 0;
        for _ in 0..200 {
            if payoff.wants_full() {
                full += 1;
                payoff.add_full(10_000, Some(FAST));
            } else {
                payoff.add_against(10_000, 9_000, Some(SLOW));
            }
        }
        assert!(full > 150, "{full}");
    }

    #[test]
    fn trying_takes_a_small_part_of_the_time() {
        let mut payoff = Payoff::default();
        let (mut tried, mut full) = (0, 0);
        for message in 0..10_000 {
            let bytes = 1000 * (1 + message % 7);
            if payoff.wants_full() {
                full += bytes;
                payoff.add_full(bytes, Some(Duration::from_nanos(bytes as u64)));
            } else if message % 3 == 0 {
                // Now and then, an unchanged message.
                payoff.add_against(bytes, 0, Some(Duration::from_nanos(50)));
            } else {
                tried += bytes;
                payoff.add_against(bytes, bytes as u64, Some(Duration::from_nanos(3 * bytes as u64)));
            }
        }
        assert!(10 * tried < full, "{tried} bytes against templates, {full} in full");
    }

    #[test]
    fn a_stream_that_becomes_alike_is_found_out() {
        let mut payoff = Payoff::default();
        for message in 0..1000 {
            match payoff.wants_full() {
                true => payoff.add_full(10_000, Some(FAST)),
                false if message < 500 => payoff.add_against(10_000, 9_000, Some(SLOW)),
                false => payoff.add_against(10_000, 100, Some(FAST / 10)),
            }
        }
        assert!(!payoff.wants_full());
        assert!((0..1000).all(|_| {
            payoff.add_against(10_000, 100, Some(FAST / 10));
            !payoff.wants_full()
        }));
    }

    /// Many short messages, which take four times as long against a template, and a long one now
    /// and then: it pays for few attempts.
    #[test]
    fn long_messages_give_no_credit_for_short_ones() {
        let mut payoff = Payoff::default();
        let (mut tried, mut lost, mut all) = (0, 0, 0);
        for message in 0..3000 {
            let bytes = if message % 100 == 50 { 1_000_000 } else { 500 };
            let nanos = 600 + bytes as u64 * 3 / 2;
            all += nanos;
            let (is_full, is_timed) = (payoff.wants_full(), payoff.wants_time(500));
            if is_full {
                payoff.add_full(bytes, is_timed.then(|| Duration::from_nanos(nanos)));
            } else {
                tried += 1;
                lost += 3 * nanos;
                payoff.add_against(bytes, bytes as u64, is_timed.then(|| Duration::from_nanos(4 * nanos)));
            }
        }
        assert!(tried < 150 && lost * 10 < all, "{tried} tried, {lost} of {all} ns lost");
    }

    /// The first message in full takes several times as long as the next ones.
    #[test]
    fn a_cold_measurement_does_not_make_templates_look_good() {
        let mut payoff = Payoff::default();
        let (mut tried, mut full) = (0, 0);
        for _ in 0..200 {
            let is_timed = payoff.wants_time(500);
            let time = |nanos| is_timed.then(|| Duration::from_nanos(nanos));
            if payoff.wants_full() {
                full += 1;
                payoff.add_full(500, time(if full == 1 { 10_000 } else { 1500 }));
            } else {
                tried += 1;
                payoff.add_against(500, 400, time(6000));
            }
        }
        assert!(tried < 8, "{tried}");
    }

    #[test]
    fn messages_that_are_not_timed_count_like_those_that_are() {
        let mut payoff = Payoff::default();
        payoff.measure(1000, Duration::from_nanos(1000));
        for _ in 0..TIMED {
            payoff.add_against(1000, 10, None);
        }
        payoff.add_against(1000, 10, Some(Duration::from_nanos(1100)));
        let lost = 100.0 * f64::from(TIMED + 1);
        assert!((payoff.debt - lost).abs() < 1.0, "{}", payoff.debt);
    }

    #[test]
    fn a_stream_of_new_messages_that_are_faster_is_not() {
        let mut payoff = Payoff::default();
        let mut full = 0;
        for _ in 0..200 {
            if payoff.wants_full() {
                full += 1;
                payoff.add_full(10_000, Some(SLOW));
            } else {
                payoff.add_against(10_000, 9_000, Some(FAST));
            }
        }
        assert_eq!(full, ENOUGH);
    }
}
