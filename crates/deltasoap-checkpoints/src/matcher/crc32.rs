//! CRC-32 (ISO 3309, as in Ethernet and gzip). Uses the processor's carry-less multiplication if
//! available.
//!
//! It detects every change of up to 32 consecutive bits, and misses other changes once in 2^32. A
//! malicious sender can make undetected changes: the sum is affine, so a difference that does not
//! change it does so for every content and every initial value. *Differential Deserialization*,
//! footnote 6, proposes random initial values; they do not help.

use super::{PortionMatcher, Sum32};

/// CRC-32.
#[derive(Debug, Default)]
pub(crate) struct Crc32;

impl PortionMatcher for Crc32 {
    type Sum = Sum32;

    fn sum(&self, bytes: &[u8]) -> Sum32 {
        crc32fast::hash(bytes).to_le_bytes()
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
        assert_eq!(Crc32.sum(b""), [0; 4]);
        assert_eq!(u32::from_le_bytes(Crc32.sum(b"123456789")), 0xCBF4_3926);
    }
}
