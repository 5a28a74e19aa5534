//! Adler-32 (RFC 1950, section 8).
//!
//! Two sums modulo 65,521: of a portion of a hundred bytes of text most sums lie in a small part of the range, so that
//! chance alone makes far more errors than one in 2^32. Senders can make changes that go unseen at will.

use super::PortionMatcher;

/// Adler-32.
#[derive(Debug, Default)]
pub(crate) struct Adler32;

impl PortionMatcher for Adler32 {
    type Sum = u32;

    fn sum(&self, bytes: &[u8]) -> u32 {
        simd_adler32::adler32(&bytes)
    }

    fn write(sum: &u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&sum.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(Adler32.sum(b""), 1);
        assert_eq!(Adler32.sum(b"Wikipedia"), 0x11E6_0398);
    }
}
