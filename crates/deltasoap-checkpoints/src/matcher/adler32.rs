//! Adler-32 (RFC 1950, section 8).
//!
//! It consists of two sums modulo 65,521. For portions of a hundred bytes of text, most sums lie in
//! a small part of the range, so accidental collisions are far more frequent than one in 2^32.
//! Senders can make undetected changes at will.

use super::{PortionMatcher, Sum32};

/// Adler-32.
#[derive(Debug, Default)]
pub(crate) struct Adler32;

impl PortionMatcher for Adler32 {
    type Sum = Sum32;

    fn sum(&self, bytes: &[u8]) -> Sum32 {
        simd_adler32::adler32(&bytes).to_le_bytes()
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
        assert_eq!(Adler32.sum(b""), [1, 0, 0, 0]);
        assert_eq!(u32::from_le_bytes(Adler32.sum(b"Wikipedia")), 0x11E6_0398);
    }
}
