//! One bit per item.

use std::ops::Range;

const BITS: usize = u64::BITS as usize;

/// The items of a list that may have changed. Only as long as needed for the last marked item.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Removes all marks.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// Removes the marks of items after the first `len`.
    pub(super) fn cut(&mut self, len: usize) {
        self.words.truncate(len.div_ceil(BITS));
        if let (Some(last), 1..) = (self.words.get_mut(len / BITS), len % BITS) {
            *last &= low(len % BITS);
        }
    }

    #[inline]
    pub(super) fn mark(&mut self, item: usize) {
        self.reach(item / BITS + 1);
        self.words[item / BITS] |= 1 << (item % BITS);
    }

    pub(super) fn mark_range(&mut self, items: Range<usize>) {
        if items.is_empty() {
            return;
        }
        let (first, last) = (items.start / BITS, (items.end - 1) / BITS);
        self.reach(last + 1);
        for word in first..=last {
            let start = items.start.saturating_sub(word * BITS);
            let end = (items.end - word * BITS).min(BITS);
            self.words[word] |= low(end) & !low(start);
        }
    }

    #[inline]
    fn reach(&mut self, words: usize) {
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
    }
}

/// Returns a mask of the lowest `count` bits, at most 64.
fn low(count: usize) -> u64 {
    if count >= BITS { u64::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        One(usize),
        Many(usize, usize),
        Cut(usize),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..300usize).prop_map(Step::One),
            4 => (0..300usize, 0..300usize).prop_map(|(start, len)| Step::Many(start, len)),
            2 => (0..300usize).prop_map(Step::Cut),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn as_a_bool_an_item(steps in prop::collection::vec(step(), 0..30)) {
            let (mut marks, mut naive) = (Marks::default(), vec![false; 600]);
            for step in steps {
                match step {
                    Step::One(item) => { marks.mark(item); naive[item] = true; }
                    Step::Many(start, len) => {
                        marks.mark_range(start..start + len);
                        naive[start..start + len].fill(true);
                    }
                    Step::Cut(len) => { marks.cut(len); naive[len..].fill(false); }
                    Step::Clear => { marks.clear(); naive.fill(false); }
                }
                let is_marked = |item: usize| marks.words().get(item / 64).is_some_and(|word| word >> (item % 64) & 1 == 1);
                prop_assert!((0..600).all(|item| is_marked(item) == naive[item]));
            }
        }
    }
}
