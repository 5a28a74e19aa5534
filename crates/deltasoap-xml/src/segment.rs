//! Byte strings that are compared or copied many times.

use crate::Buffer;

/// Number of bytes held as a block, which is compared and copied without a length.
const BLOCK: usize = 32;

/// A piece of markup. A segment of up to 32 bytes is compared as masked 128-bit words and copied as
/// a block.
#[derive(Debug, Clone)]
pub struct Segment {
    bytes: Vec<u8>,
    /// The first bytes, padded with zeros.
    block: [u8; BLOCK],
    words: [u128; 2],
    masks: [u128; 2],
}

impl Segment {
    /// Creates a segment from bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        let mut mask = [0; BLOCK];
        let len = bytes.len().min(BLOCK);
        block[..len].copy_from_slice(&bytes[..len]);
        mask[..len].fill(0xFF);
        Segment { bytes: bytes.to_vec(), block, words: halves(&block), masks: halves(&mask) }
    }

    /// Returns its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "an empty segment is no special case")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if `bytes` starts with the segment.
    #[inline(always)]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        if self.bytes.len() <= BLOCK / 2
            && let Some(block) = bytes.first_chunk()
        {
            return (u128::from_le_bytes(*block) ^ self.words[0]) & self.masks[0] == 0;
        }
        if self.bytes.len() <= BLOCK
            && let Some(block) = bytes.first_chunk()
        {
            let [low, high] = halves(block);
            return ((low ^ self.words[0]) | ((high ^ self.words[1]) & self.masks[1])) == 0;
        }
        bytes.starts_with(&self.bytes)
    }

    /// Appends the segment.
    #[inline(always)]
    pub fn push_to(&self, out: &mut Buffer) {
        if self.bytes.len() <= BLOCK {
            out.push_block(&self.block, self.bytes.len());
        } else {
            out.push(&self.bytes);
        }
    }
}

/// Maximum number of bytes that [`is_same`] can compare.
pub const COMPARED: usize = BLOCK;

/// Returns true if both start with the same `len` bytes; `len` is at most [`COMPARED`].
#[inline(always)]
pub fn is_same(one: &[u8], other: &[u8], len: usize) -> bool {
    let (Some(a), Some(b), Some(mask)) = (one.first_chunk(), other.first_chunk(), mask(len)) else {
        return one.get(..len).is_some_and(|one| other.get(..len) == Some(one));
    };
    let ([a, c], [b, d], [low, high]) = (halves(a), halves(b), halves(mask));
    (((a ^ b) & low) | ((c ^ d) & high)) == 0
}

/// Ones for the first `len` bytes of a block: taken at an offset from a block of ones followed by a
/// block of zeros.
#[inline(always)]
fn mask(len: usize) -> Option<&'static [u8; BLOCK]> {
    static ONES_THEN_ZEROS: [[u8; BLOCK]; 2] = [[0xFF; BLOCK], [0; BLOCK]];
    ONES_THEN_ZEROS.as_flattened().get(BLOCK.checked_sub(len)?..)?.first_chunk()
}

#[inline(always)]
fn halves(block: &[u8; BLOCK]) -> [u128; 2] {
    let (low, high) = block.split_at(BLOCK / 2);
    [low, high].map(|half| half.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_matches_like_starts_with() {
        let text: Vec<u8> = (0..100).collect();
        for len in 0..60 {
            let segment = Segment::new(&text[..len]);
            for given in 0..text.len() {
                assert_eq!(segment.matches(&text[..given]), text[..given].starts_with(&text[..len]));
            }
            for wrong in 0..len {
                let mut other = text.clone();
                other[wrong] ^= 0x80;
                assert!(!segment.matches(&other), "byte {wrong} of {len} differs");
            }
        }
    }

    #[test]
    fn beginnings_are_compared_up_to_their_length() {
        let text: Vec<u8> = (0..80).collect();
        for len in 0..=COMPARED {
            for given in 0..text.len() {
                assert_eq!(is_same(&text[..given], &text, len), given >= len, "{len} of {given}");
                assert_eq!(is_same(&text, &text[..given], len), given >= len, "{len} of {given}");
            }
            for at in 0..text.len() {
                let mut other = text.clone();
                other[at] ^= 1;
                assert_eq!(is_same(&text, &other, len), at >= len, "{len}, byte {at} differs");
            }
        }
    }

    #[test]
    fn a_segment_is_written_as_it_is() {
        let text: Vec<u8> = (0..100).collect();
        for len in 0..text.len() {
            let mut out = Buffer::new();
            out.push(b"x");
            Segment::new(&text[..len]).push_to(&mut out);
            assert_eq!(&out.as_slice()[1..], &text[..len]);
        }
    }
}
