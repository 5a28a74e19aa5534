//! Whether templates pay for a stream of messages.
//!
//! Messages that have little in common with those before cost more against a template than in full. As long as little of
//! each message is written anew, nothing is measured. Else one message is written in full now and then, to know how long that
//! takes; what templates take beyond that is a *debt*, which messages in full pay off by a part of their time. So trying costs little
//! more than that part, whatever the stream, and a stream that becomes alike is found out.

use std::time::Duration;

/// A message is new if more than this part of it had to be written.
const NEW: f64 = 0.25;
/// New messages in a row after which something must change.
pub(super) const MANY: u32 = 2;
/// The part of the time of messages in full that trying may take.
const PART: f64 = 1.0 / 16.0;
/// Most that a message adds to the debt, as a multiple of what it takes in full: more is most often the machine's doing.
const MOST_LOST: f64 = 3.0;
/// How many messages in full the gains of earlier ones are worth at most.
const MOST_GAINED: f64 = 4.0;
/// After so many messages, what one in full takes is measured again.
const STALE: u32 = 256;

/// What is known of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Effort {
    /// Nanoseconds a byte in full, smoothed; 0 if not known.
    full: f64,
    /// Nanoseconds lost by templates and not paid off; less than 0 where they gained.
    debt: f64,
    /// Messages since one was measured in full.
    age: u32,
    /// New messages in a row.
    pub(super) new: u32,
}

impl Effort {
    /// True if the next message shall be written in full, and timed.
    pub(super) fn wants_full(&self) -> bool {
        self.debt > 0.0 || (self.new >= MANY && (self.full == 0.0 || self.age >= STALE))
    }

    /// Notes a message in full.
    pub(super) fn add_full(&mut self, bytes: usize, time: Duration) {
        smooth(&mut self.full, bytes, time);
        self.age = 0;
        self.debt -= (time.as_nanos() as f64).min(self.in_full(bytes)) * PART;
    }

    /// Notes a message against a template, of which so many bytes were written.
    pub(super) fn add_against(&mut self, bytes: usize, written: u64, time: Duration) {
        self.age = self.age.saturating_add(1);
        self.new = if (written as f64) < NEW * bytes as f64 { 0 } else { self.new.saturating_add(1) };
        self.add_time(bytes, time);
    }

    /// Notes what a message took that was not written in full, or that a template was made of.
    pub(super) fn add_time(&mut self, bytes: usize, time: Duration) {
        let full = self.in_full(bytes);
        let lost = (time.as_nanos() as f64 - full).min(full * MOST_LOST);
        self.debt = (self.debt + lost).max(-full * MOST_GAINED);
    }

    /// What a message of so many bytes takes in full; 0 if that is not known.
    fn in_full(&self, bytes: usize) -> f64 {
        self.full * bytes as f64
    }
}

fn smooth(rate: &mut f64, bytes: usize, time: Duration) {
    let now = time.as_nanos() as f64 / bytes.max(1) as f64;
    // One slow message is most often the machine's doing.
    *rate = if *rate == 0.0 { now } else { *rate * 0.75 + now.min(*rate * 4.0) * 0.25 };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Duration = Duration::from_micros(20);
    const FAST: Duration = Duration::from_micros(10);

    #[test]
    fn a_stream_of_alike_messages_is_never_written_in_full() {
        let mut effort = Effort::default();
        for _ in 0..1000 {
            assert!(!effort.wants_full());
            effort.add_against(10_000, 100, SLOW);
        }
    }

    #[test]
    fn a_stream_of_new_messages_that_are_slower_is() {
        let mut effort = Effort::default();
        let mut full = 0;
        for _ in 0..200 {
            if effort.wants_full() {
                full += 1;
                effort.add_full(10_000, FAST);
            } else {
                effort.add_against(10_000, 9_000, SLOW);
            }
        }
        assert!(full > 150, "{full}");
    }

    #[test]
    fn trying_takes_a_small_part_of_the_time() {
        let mut effort = Effort::default();
        let (mut tried, mut full) = (0, 0);
        for message in 0..10_000 {
            let bytes = 1000 * (1 + message % 7);
            if effort.wants_full() {
                full += bytes;
                effort.add_full(bytes, Duration::from_nanos(bytes as u64));
            } else if message % 3 == 0 {
                // Now and then one that is the same.
                effort.add_against(bytes, 0, Duration::from_nanos(50));
            } else {
                tried += bytes;
                effort.add_against(bytes, bytes as u64, Duration::from_nanos(3 * bytes as u64));
            }
        }
        assert!(10 * tried < full, "{tried} bytes against templates, {full} in full");
    }

    #[test]
    fn a_stream_that_becomes_alike_is_found_out() {
        let mut effort = Effort::default();
        for message in 0..1000 {
            match effort.wants_full() {
                true => effort.add_full(10_000, FAST),
                false if message < 500 => effort.add_against(10_000, 9_000, SLOW),
                false => effort.add_against(10_000, 100, FAST / 10),
            }
        }
        assert!(!effort.wants_full());
        assert!((0..1000).all(|_| {
            effort.add_against(10_000, 100, FAST / 10);
            !effort.wants_full()
        }));
    }

    #[test]
    fn a_stream_of_new_messages_that_are_faster_is_not() {
        let mut effort = Effort::default();
        let mut full = 0;
        for _ in 0..200 {
            if effort.wants_full() {
                full += 1;
                effort.add_full(10_000, SLOW);
            } else {
                effort.add_against(10_000, 9_000, FAST);
            }
        }
        assert_eq!(full, 1);
    }
}
