//! The measured part of the papers' grids.

use super::setting::{Condition, Setting};
use crate::stream::{Kind, Recipe};

/// Sizes of arrays in both papers on deserialization.
pub const SIZES: [usize; 6] = [1000, 10_000, 25_000, 50_000, 75_000, 100_000];

/// Sizes of arrays in the paper on serialization.
pub const SENT: [usize; 7] = [1, 100, 500, 1000, 10_000, 50_000, 100_000];

/// The measured sizes and partitions.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Numbers of elements in an array, ascending, at least one.
    pub sizes: Vec<usize>,
    /// Numbers of parts of an array in the papers' large tables.
    pub partitions: Vec<usize>,
    /// Numbers of elements in a sent array, ascending, at least one.
    pub sent: Vec<usize>,
    /// Number of elements in an array for counts: the papers' largest, since counting takes little
    /// time.
    pub counted: usize,
    /// Numbers of elements in arrays for the memory of checkpoints: the papers', for the same
    /// reason.
    pub held: Vec<usize>,
}

impl Scope {
    /// Creates the papers' scope; `is_quick` skips most of it.
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

    /// Returns those of these sizes that are measured, or all measured sizes if there are none.
    pub fn among(&self, wanted: &[usize]) -> Vec<usize> {
        let common: Vec<usize> = self.sizes.iter().copied().filter(|size| wanted.contains(size)).collect();
        if common.is_empty() { self.sizes.clone() } else { common }
    }

    /// Returns the largest size.
    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1)
    }

    /// Returns the largest size of a sent array.
    pub fn largest_sent(&self) -> usize {
        self.sent.last().copied().unwrap_or(1)
    }
}

/// Returns a stream of hard doubles.
pub fn hard(n: usize, percent: u32, partitions: usize) -> Recipe {
    Recipe { kind: Kind::Hard, n, percent, partitions }
}

/// Returns the same setting without shortcuts for flat arrays: the papers' decoders had none, with
/// checkpoints and without.
pub fn general(setting: Setting) -> Setting {
    Setting { condition: Condition::NoShortcuts, ..setting }
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
