//! Matchers: ways to find that a portion of a message equals that of the previous message.
//!
//! A matcher keeps something of a portion's bytes and later tests whether other bytes match it.
//! Sums can match although the bytes differ. Each matcher's module states how likely that is and
//! what a sender can do about it.

mod adler32;
mod compare;
mod crc32;
mod keyed;
mod xor;

pub(crate) use adler32::Adler32;
pub(crate) use compare::Compare;
pub(crate) use crc32::Crc32;
pub(crate) use keyed::Keyed;
pub(crate) use xor::Xor;

use std::fmt::Debug;

/// A 32-bit sum in little-endian order, without alignment since lists are long.
type Sum32 = [u8; 4];

/// A way to match portions.
pub(crate) trait PortionMatcher: Debug + Default + Send + Sync + 'static {
    /// The data kept for a portion.
    type Sum: Debug + Default + PartialEq + Send + Sync;

    /// Returns the data to keep for these bytes.
    fn sum(&self, bytes: &[u8]) -> Self::Sum;

    /// Returns true if `bytes`, which have the same length, match the kept sum.
    fn matches(&self, sum: &Self::Sum, bytes: &[u8]) -> bool {
        self.sum(bytes) == *sum
    }

    /// Returns the bytes that a sum holds on the heap.
    fn held(sum: &Self::Sum) -> usize {
        let _ = sum;
        0
    }

    /// Appends a sum to `out`, for checkpoints that are kept as bytes.
    fn write(sum: &Self::Sum, out: &mut Vec<u8>);

    /// Returns true if `bytes` match the sum at the start of `written`.
    fn matches_written(&self, written: &[u8], bytes: &[u8]) -> bool {
        let mut own = Vec::new();
        Self::write(&self.sum(bytes), &mut own);
        written.starts_with(&own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matcher matches the bytes that it has summed, in both forms, and none of these others.
    fn check<M: PortionMatcher>() {
        let matcher = M::default();
        for text in ["", "a", "<item>1.5</item>", "a portion that is longer than one word, or two, or a block of them"]
        {
            let sum = matcher.sum(text.as_bytes());
            let mut written = Vec::new();
            M::write(&sum, &mut written);
            assert!(matcher.matches(&sum, text.as_bytes()) && matcher.matches_written(&written, text.as_bytes()));
            for at in 0..text.len() {
                let mut other = text.as_bytes().to_vec();
                other[at] ^= 1;
                assert!(!matcher.matches(&sum, &other) && !matcher.matches_written(&written, &other), "{text} at {at}");
            }
        }
    }

    #[test]
    fn one_changed_bit_is_seen() {
        check::<Compare>();
        check::<Xor>();
        check::<Adler32>();
        check::<Crc32>();
        check::<Keyed>();
    }
}
