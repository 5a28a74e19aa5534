//! Whether templates pay for a stream of messages.
//!
//! Messages that have little in common with those before cost more against a template than in full. As long as little of
//! each message is written anew, nothing is measured. Else one message is written in full now and then, to know how long that
//! takes, and where templates are slower twice in a row they are left alone: for 8 messages, then 32, then 64.

use std::time::Duration;

/// A message is new if more than this part of it had to be written.
const NEW: f64 = 0.25;
/// New messages in a row after which something must change.
pub(super) const MANY: u32 = 2;
/// Messages in full between two attempts: at first, at most, and how much longer each time.
const SHORTEST_WAIT: u32 = 8;
const LONGEST_WAIT: u32 = 64;
const GROWTH: u32 = 4;
/// After so many messages, what one in full takes is measured again.
const STALE: u32 = 256;

/// What is known of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Effort {
    /// Nanoseconds a byte, smoothed; 0 if not known.
    full: f64,
    against: f64,
    /// Messages since one was measured in full.
    age: u32,
    /// New messages in a row.
    pub(super) new: u32,
    slower: u32,
    wait: u32,
    waited: u32,
}

impl Effort {
    /// True if the next message shall be written in full, and timed.
    pub(super) fn wants_full(&self) -> bool {
        self.wait > 0 || (self.new >= MANY && (self.full == 0.0 || self.age >= STALE))
    }

    /// Notes a message in full.
    pub(super) fn add_full(&mut self, bytes: usize, time: Duration) {
        smooth(&mut self.full, bytes, time);
        self.age = 0;
        self.wait = self.wait.saturating_sub(1);
        if self.wait == 0 {
            self.slower = 0;
        }
    }

    /// Notes a message against a template, of which so many bytes were written.
    pub(super) fn add_against(&mut self, bytes: usize, written: u64, time: Duration) {
        self.age = self.age.saturating_add(1);
        if (written as f64) < NEW * bytes as f64 {
            (self.new, self.slower, self.waited) = (0, 0, 0);
            return;
        }
        self.new = self.new.saturating_add(1);
        smooth(&mut self.against, bytes, time);
        if self.full == 0.0 || self.new < MANY {
            return;
        }
        self.slower = if self.against > self.full { self.slower + 1 } else { 0 };
        if self.slower >= MANY {
            self.waited = (self.waited * GROWTH).clamp(SHORTEST_WAIT, LONGEST_WAIT);
            self.wait = self.waited;
        }
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
