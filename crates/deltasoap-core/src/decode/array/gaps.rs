//! Positions in arrays that were passed over: items can specify their position (SOAP 1.1, section
//! 5.4.2.2).

use std::collections::BTreeMap;

/// Ranges of positions whose items are missing so far, for all arrays being read.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// By the level of the array's routine and the first position: the position after the last.
    ranges: BTreeMap<(usize, usize), usize>,
    /// Number of positions passed over in this message so far.
    omitted: usize,
}

impl Gaps {
    /// Prepares for another message.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.omitted = 0;
    }

    /// Records that the positions `from..to` were passed over. Returns false if this exceeds the
    /// limit for a message.
    pub(super) fn add(&mut self, level: usize, from: usize, to: usize, limit: usize) -> bool {
        self.omitted = self.omitted.saturating_add(to - from);
        self.ranges.insert((level, from), to);
        self.omitted <= limit
    }

    /// Fills a position. Returns false if it was not passed over, or is already filled.
    pub(super) fn fill(&mut self, level: usize, place: usize) -> bool {
        let Some((&key, &end)) = self.ranges.range(..=(level, place)).next_back() else { return false };
        if key.0 != level || end <= place {
            return false;
        }
        self.ranges.remove(&key);
        if key.1 < place {
            self.ranges.insert(key, place);
        }
        if place + 1 < end {
            self.ranges.insert((level, place + 1), end);
        }
        true
    }

    /// Forgets the positions of arrays whose routines have left.
    pub(super) fn leave(&mut self, level: usize) {
        if !self.ranges.is_empty() {
            self.ranges.split_off(&(level, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_filled_once() {
        let mut gaps = Gaps::default();
        assert!(gaps.add(3, 2, 6, 10) && gaps.add(4, 0, 1, 10));
        for place in [4, 2, 5, 3] {
            assert!(gaps.fill(3, place), "{place}");
            assert!(!gaps.fill(3, place), "{place} again");
        }
        assert!(!gaps.fill(3, 1) && !gaps.fill(3, 6) && !gaps.fill(2, 3));
        gaps.leave(4);
        assert!(!gaps.fill(4, 0));
        assert!(!gaps.add(3, 10, 20, 10), "too many in total");
    }
}
