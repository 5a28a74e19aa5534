//! The exclusive or of a portion's 32-bit words: the fastest sum of *Differential Deserialization*,
//! Table 2.
//!
//! It misses words that swap places, and equal changes of two words: two digits that change alike
//! in two numbers four bytes apart are enough. No initial value helps, since it cancels out.

use super::{PortionMatcher, Sum32};

/// Exclusive or.
#[derive(Debug, Default)]
pub(crate) struct Xor;

impl PortionMatcher for Xor {
    type Sum = Sum32;

    fn sum(&self, bytes: &[u8]) -> Sum32 {
        let (eights, rest) = bytes.as_chunks::<8>();
        let wide = eights.iter().fold(0, |sum, eight| sum ^ u64::from_le_bytes(*eight));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let wide = wide ^ u64::from_le_bytes(last);
        ((wide as u32) ^ ((wide >> 32) as u32)).to_le_bytes()
    }

    fn write(sum: &Sum32, out: &mut Vec<u8>) {
        out.extend_from_slice(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(Xor.sum(b""), [0; 4]);
        assert_eq!(Xor.sum(&[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(Xor.sum(&[1, 2, 3, 4, 1, 2, 3, 4]), [0; 4]);
        assert_eq!(Xor.sum(&[0, 0, 0, 0, 0, 0, 0, 0, 9]), [9, 0, 0, 0]);
    }

    #[test]
    fn words_that_trade_places_go_unseen() {
        assert_eq!(Xor.sum(b"abcdefgh"), Xor.sum(b"efghabcd"));
    }
}
