//! Counters of differential decoding.

use std::ops::{AddAssign, Sub};
use std::time::Duration;

/// Counters of differential decoding. All except [`memory`](Self::memory) only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DifferentialStats {
    /// Messages of operations, with or without a previous one to compare with.
    pub messages: u64,
    /// Messages that began in fast mode.
    pub compared: u64,
    /// Bytes of operations that were skipped because they equal those of the previous message.
    pub fast_bytes: u64,
    /// Bytes of operations that were read.
    pub regular_bytes: u64,
    /// Switches from fast to regular mode, after something was skipped.
    pub to_regular: u64,
    /// Attempts at fast mode, by the papers' policies, that skipped nothing because the first
    /// portion differed.
    pub futile: u64,
    /// Switches from regular to fast mode, except the first one of a message.
    pub to_fast: u64,
    /// Checkpoints created. With leaf checkpoints: positions noted.
    pub checkpoints: u64,
    /// Leaves, or whole flat items, reread in place.
    pub leaves: u64,
    /// Elements of arrays that were found to be inserted or removed.
    pub shifted: u64,
    /// Lists of flat items that were realigned with those of the previous message, because items
    /// were inserted or removed.
    pub realigned: u64,
    /// Small messages whose old value was mended: they differed only in texts, each of which was
    /// replaced.
    pub mended: u64,
    /// Saved states restored, by the papers' policies.
    pub restored: u64,
    /// Messages reread from their start, because comparing them had no prospect or could not
    /// continue.
    pub restarted: u64,
    /// Portions with equal sums but different bytes; only counted in tests, where bytes are kept
    /// beside sums.
    pub false_matches: u64,
    /// Bytes currently held in addition to the value: received buffers by their capacity,
    /// positions, saved states.
    pub memory: u64,
    /// Time saved compared with regular mode, estimated from the time that regular mode took for
    /// the same stream.
    pub saved: Duration,
    /// Time lost on messages that took longer than regular mode would have, estimated in the same
    /// way.
    pub lost: Duration,
}

impl AddAssign for DifferentialStats {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.compared += other.compared;
        self.fast_bytes += other.fast_bytes;
        self.regular_bytes += other.regular_bytes;
        self.to_regular += other.to_regular;
        self.futile += other.futile;
        self.to_fast += other.to_fast;
        self.checkpoints += other.checkpoints;
        self.leaves += other.leaves;
        self.shifted += other.shifted;
        self.realigned += other.realigned;
        self.mended += other.mended;
        self.restored += other.restored;
        self.restarted += other.restarted;
        self.false_matches += other.false_matches;
        self.memory = other.memory;
        self.saved += other.saved;
        self.lost += other.lost;
    }
}

impl Sub for DifferentialStats {
    type Output = Self;

    /// Returns the counts since `before`, with the current memory.
    fn sub(self, before: Self) -> Self {
        DifferentialStats {
            messages: self.messages - before.messages,
            compared: self.compared - before.compared,
            fast_bytes: self.fast_bytes - before.fast_bytes,
            regular_bytes: self.regular_bytes - before.regular_bytes,
            to_regular: self.to_regular - before.to_regular,
            futile: self.futile - before.futile,
            to_fast: self.to_fast - before.to_fast,
            checkpoints: self.checkpoints - before.checkpoints,
            leaves: self.leaves - before.leaves,
            shifted: self.shifted - before.shifted,
            realigned: self.realigned - before.realigned,
            mended: self.mended - before.mended,
            restored: self.restored - before.restored,
            restarted: self.restarted - before.restarted,
            false_matches: self.false_matches - before.false_matches,
            memory: self.memory,
            saved: self.saved.saturating_sub(before.saved),
            lost: self.lost.saturating_sub(before.lost),
        }
    }
}
