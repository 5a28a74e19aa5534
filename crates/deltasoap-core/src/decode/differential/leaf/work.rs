//! What comparing costs: so that no message costs much more than regular mode would.
//!
//! A switch to regular mode and back takes as long as reading some bytes. A message that differs here and there, all over,
//! is therefore better read in regular mode as a whole, from its start. How much better depends on what regular mode does:
//! elements read one by one take some twenty nanoseconds a byte, flat items one or two.

/// What was spent on switches, in bytes that regular mode would have read meanwhile.
#[derive(Debug, Default)]
pub(super) struct Work(u64);

/// A switch, among elements that are read one by one.
const SWITCH: u64 = 48;
/// A switch, for each element on the way.
const LEVEL: u64 = 4;
/// A switch among flat items costs so much more.
const FLAT: u64 = 208;
/// What any message may spend.
const SPARE: u64 = 16 << 10;
/// What it may spend for each byte that was compared or read.
const ALLOWED: u64 = 2;

impl Work {
    /// A switch to a place within so many elements.
    pub(super) fn add(&mut self, levels: usize) {
        self.0 += SWITCH + LEVEL * levels as u64;
    }

    /// The switch leads to flat items.
    pub(super) fn add_flat(&mut self) {
        self.0 += FLAT;
    }

    /// True if more was spent than `read` bytes allow.
    pub(super) fn is_beyond(&self, read: u64) -> bool {
        self.0 > SPARE + ALLOWED * read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_now_and_then_is_allowed() {
        let mut work = Work::default();
        for switch in 1..10_000_u64 {
            work.add(3);
            work.add_flat();
            assert!(!work.is_beyond(switch * 150));
        }
        assert!(work.is_beyond(10_000 * 100));
    }
}
