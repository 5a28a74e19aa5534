//! The size of portions, tuned at run time, and the decision whether checkpoints pay off for a
//! stream.
//!
//! Each switch to regular mode reads about one portion that has not changed (a futile attempt at
//! fast mode does not), and each portion costs as much as reading some bytes. With s switches in a
//! message of n bytes, the total cost is lowest for portions of sqrt(n * cost / s) bytes. The size
//! moves there by a factor of two a message, within bounds.

use super::MAX_PORTION;
use crate::Portions;
use deltasoap_core::DifferentialStats;

/// The cost of a portion, in bytes read in regular mode; measured with arrays of doubles.
const COST: u64 = 48;
const MIN_TUNED: u64 = 32;
const MAX_TUNED: u64 = 4096;

/// The size of portions.
#[derive(Debug)]
pub(super) struct Tuning {
    portion: u64,
    is_on: bool,
}

impl Tuning {
    pub(super) fn new(portions: &Portions) -> Self {
        Tuning { portion: u64::from(portions.size).clamp(1, MAX_PORTION as u64 / 2), is_on: portions.tune }
    }

    /// Returns the number of bytes between two interrupts.
    pub(super) fn portion(&self) -> u64 {
        self.portion
    }

    /// Learns from a message.
    pub(super) fn learn(&mut self, stats: &DifferentialStats) {
        if !self.is_on || stats.compared == 0 {
            return;
        }
        let bytes = stats.fast_bytes + stats.regular_bytes;
        let best = (bytes * COST / stats.to_regular.max(1)).isqrt().clamp(MIN_TUNED, MAX_TUNED);
        if best >= self.portion * 2 {
            self.portion = (self.portion * 2).min(MAX_TUNED.max(self.portion));
        } else if best * 2 <= self.portion {
            self.portion = (self.portion / 2).max(1);
        }
    }
}

/// Number of messages without similarity before a stream is left alone.
const PATIENCE: u32 = 3;
/// Maximum number of messages for which a stream is left alone.
const MAX_REST: u32 = 256;

/// Decides whether checkpoints pay off for a stream.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    /// Number of consecutive messages without similarity.
    idle: u32,
    /// Number of messages still to leave alone.
    rest: u32,
    /// Number of messages to leave alone the next time.
    gap: u32,
}

impl Backoff {
    /// Returns true if the message that begins is left alone.
    pub(super) fn rests(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        rests
    }

    /// Learns from a message.
    pub(super) fn learn(&mut self, stats: &DifferentialStats) {
        if stats.compared == 0 {
            return;
        }
        if stats.fast_bytes * 16 > stats.regular_bytes {
            *self = Backoff::default();
            return;
        }
        self.idle += 1;
        if self.idle >= PATIENCE {
            self.gap = (self.gap * 2).clamp(2, MAX_REST);
            (self.rest, self.idle) = (self.gap, PATIENCE - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(fast_bytes: u64, regular_bytes: u64, to_regular: u64) -> DifferentialStats {
        DifferentialStats { compared: 1, fast_bytes, regular_bytes, to_regular, ..DifferentialStats::default() }
    }

    #[test]
    fn many_switches_make_small_portions_and_few_make_large_ones() {
        let options = Portions { size: 512, tune: true, ..Portions::default() };
        let mut tuning = Tuning::new(&options);
        (0..9).for_each(|_| tuning.learn(&stats(500_000, 500_000, 50_000)));
        assert_eq!(tuning.portion(), 32);
        (0..9).for_each(|_| tuning.learn(&stats(1_000_000, 0, 0)));
        assert_eq!(tuning.portion(), 4096);
    }

    #[test]
    fn a_stream_without_similarity_is_left_alone_for_longer_and_longer() {
        let mut backoff = Backoff::default();
        let mut tried = Vec::new();
        for message in 0..100 {
            if !backoff.rests() {
                tried.push(message);
                backoff.learn(&stats(0, 100, 1));
            }
        }
        assert_eq!(tried, [0, 1, 2, 5, 10, 19, 36, 69]);
        backoff.learn(&stats(50, 50, 1));
        assert!(!backoff.rests());
    }
}
