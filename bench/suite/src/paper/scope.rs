//! Which part of the papers' grids is measured.

use super::points::{Condition, Way};
use crate::stream::{Kind, Recipe};

/// Sizes of arrays in both papers on deserialization.
pub const SIZES: [usize; 6] = [1000, 10_000, 25_000, 50_000, 75_000, 100_000];

/// Sizes of arrays in the paper on serialization.
pub const SENT: [usize; 7] = [1, 100, 500, 1000, 10_000, 50_000, 100_000];

/// Sizes and partitions that are measured.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Elements in an array, ascending, at least one.
    pub sizes: Vec<usize>,
    /// Parts of an array in the papers' large tables.
    pub partitions: Vec<usize>,
    /// Elements in an array that is sent, ascending, at least one.
    pub sent: Vec<usize>,
    /// Elements in an array of which everything is counted: the papers' largest, since counting
    /// takes little time.
    pub counted: usize,
    /// Elements in arrays of which it is counted what checkpoints hold; the papers', for the same
    /// reason.
    pub held: Vec<usize>,
}

impl Scope {
    /// What the papers measured; `is_quick` leaves most of it out.
    pub fn new(is_quick: bool, sizes: &[usize]) -> Self {
        let (all_sizes, partitions) =
            if is_quick { (&SIZES[..2], vec![1, 100]) } else { (&SIZES[..], vec![1, 100, 200, 500]) };
        let all_sent = if is_quick { &[1, 100, 1000][..] } else { &SENT };
        let ascending = |default: &[usize]| {
            let mut sizes = if sizes.is_empty() { default.to_vec() } else { sizes.to_vec() };
            sizes.sort_unstable();
            sizes
        };
        let largest = sizes.iter().copied().max().unwrap_or(SIZES[SIZES.len() - 1]);
        let (sizes, sent, held) = (ascending(all_sizes), ascending(all_sent), ascending(&SIZES[1..]));
        Scope { sizes, sent, partitions, counted: largest, held }
    }

    /// Of these sizes, those that are measured; all that are measured if it is none of these.
    pub fn among(&self, wanted: &[usize]) -> Vec<usize> {
        let common: Vec<usize> = self.sizes.iter().copied().filter(|size| wanted.contains(size)).collect();
        if common.is_empty() { self.sizes.clone() } else { common }
    }

    /// The largest size.
    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1)
    }

    /// The largest size of an array that is sent.
    pub fn largest_sent(&self) -> usize {
        self.sent.last().copied().unwrap_or(1)
    }
}

/// A stream of hard doubles.
pub fn hard(n: usize, percent: u32, partitions: usize) -> Recipe {
    Recipe { kind: Kind::Hard, n, percent, partitions }
}

/// The same way without shortcuts for flat arrays: the papers' decoders had none, with checkpoints
/// and without.
pub fn general(way: Way) -> Way {
    Way { condition: Condition::NoShortcuts, ..way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_papers_unless_others_are_asked_for() {
        let full = Scope::new(false, &[]);
        assert_eq!((full.largest(), full.among(&[10_000, 7])), (100_000, vec![10_000]));
        let quick = Scope::new(true, &[]);
        assert_eq!((quick.counted, Scope::new(true, &[300, 200]).counted), (100_000, 300));
        assert_eq!((quick.largest(), quick.partitions.len()), (10_000, 2));
        assert_eq!((&quick.held, Scope::new(true, &[300, 200]).held), (&full.held, vec![200, 300]));
        assert_eq!(Scope::new(true, &[300, 200]).among(&[25_000]), [200, 300]);
    }
}
