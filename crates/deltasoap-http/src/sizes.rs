//! Sizes of messages of one kind, recorded so that buffers need not grow, and that small messages
//! are written in full.
//!
//! The saving by templates grows with the message. Looking them up, comparing and keeping them
//! costs about as much as writing two kilobytes of numbers.

use deltasoap_core::EncodeStats;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The sizes of the messages of an operation, or of a client's requests of one type.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    last: AtomicUsize,
    /// The largest size, less a 64th for each message since.
    high: AtomicUsize,
}

/// Maximum number of bytes reserved for a message before it is written. They are zeroed, a cost
/// that a small message after a large one should not pay. Larger messages double their buffer from
/// here.
const EXPECTED: usize = 1 << 20;
/// Number of bytes by which the next message may exceed the last one.
const SLACK: usize = 512;
/// Messages below this size are written in full.
pub(crate) const SMALL: usize = 2 << 10;

impl Sizes {
    /// Returns the number of bytes to reserve for the next message.
    pub(crate) fn expected(&self) -> usize {
        self.last.load(Relaxed).min(EXPECTED) + SLACK
    }

    /// Records a message's size.
    pub(crate) fn note(&self, len: usize) {
        self.last.store(len, Relaxed);
        let high = self.high.load(Relaxed);
        self.high.store(len.max(high - high.div_ceil(64)), Relaxed);
    }

    /// Returns true if recent messages are small; false if there were none.
    pub(crate) fn are_small(&self) -> bool {
        (1..SMALL).contains(&self.high.load(Relaxed))
    }
}

/// Returns the statistics of a message that is written without templates.
pub(crate) fn in_full(len: usize) -> EncodeStats {
    let mut stats = EncodeStats::default();
    (stats.messages, stats.first) = (1, 1);
    (stats.bytes, stats.written) = (len as u64, len as u64);
    stats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_made_as_large_as_the_last_message_and_no_larger_than_the_bound() {
        let sizes = Sizes::default();
        assert_eq!(sizes.expected(), SLACK);
        sizes.note(1000);
        assert_eq!(sizes.expected(), 1000 + SLACK);
        sizes.note(usize::MAX);
        assert_eq!(sizes.expected(), (1 << 20) + SLACK);
    }

    #[test]
    fn a_small_message_now_and_then_does_not_make_its_kind_small() {
        let sizes = Sizes::default();
        assert!(!sizes.are_small(), "nothing is known yet");
        sizes.note(SMALL - 1);
        assert!(sizes.are_small());
        for len in [SMALL * 2, 10, 10, SMALL * 2, 10] {
            sizes.note(len);
            assert!(!sizes.are_small());
        }
        (0..10).for_each(|_| sizes.note(10));
        assert!(!sizes.are_small(), "a mixture of sizes keeps its templates");
        (0..60).for_each(|_| sizes.note(10));
        assert!(sizes.are_small());
        sizes.note(SMALL);
        assert!(!sizes.are_small());
    }
}
