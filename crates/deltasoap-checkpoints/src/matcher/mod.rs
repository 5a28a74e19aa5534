//! Matchers: how a portion of a message is found to be the one of the message before.
//!
//! A matcher keeps something of a portion's bytes and later tells whether other bytes fit it. Sums
//! can fit without the bytes being equal; each matcher's module says how likely that is and what a
//! sender can do about it.

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

/// A sum of 32 bits, least byte first: without alignment, as a list has many.
type Sum32 = [u8; 4];

/// A way to match portions.
pub(crate) trait PortionMatcher: Debug + Default + Send + Sync + 'static {
    /// What is kept of a portion.
    type Sum: Debug + Default + PartialEq + Send + Sync;

    /// What is to be kept of these bytes.
    fn sum(&self, bytes: &[u8]) -> Self::Sum;

    /// True if bytes of the same number fit what was kept.
    fn matches(&self, sum: &Self::Sum, bytes: &[u8]) -> bool {
        self.sum(bytes) == *sum
    }

    /// Bytes that a sum holds beside itself.
    fn held(sum: &Self::Sum) -> usize {
        let _ = sum;
        0
    }

    /// Writes a sum after others, for checkpoints that are kept as bytes.
    fn write(sum: &Self::Sum, out: &mut Vec<u8>);

    /// True if `bytes` fit the sum that was written at the start of `written`.
    fn matches_written(&self, written: &[u8], bytes: &[u8]) -> bool {
        let mut own = Vec::new();
        Self::write(&self.sum(bytes), &mut own);
        written.starts_with(&own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matcher fits the bytes that it has summed, in both forms, and none of these others.
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
