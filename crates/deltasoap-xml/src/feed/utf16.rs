//! UTF-16 to UTF-8: strict, resumable at every byte, with the exact position of malformed input.
//!
//! An error must name the exact byte received; streaming transcoders report a chunk.

use super::detect::{Detected, Encoding};

/// A decoder in the middle of a document.
#[derive(Debug)]
pub(super) struct Utf16 {
    big_end_first: bool,
    /// Bytes of an unfinished character: part of a code unit, or a high surrogate and perhaps part
    /// of the next unit.
    left: Vec<u8>,
    /// Number of received bytes that have been decoded: the offset of the first byte in `left`.
    decoded: u64,
}

impl Utf16 {
    /// Creates a decoder for a document, after its byte order mark.
    pub(super) fn new(detected: Detected) -> Self {
        Utf16 {
            big_end_first: detected.encoding == Encoding::Utf16Be,
            left: Vec::new(),
            decoded: detected.mark_len() as u64,
        }
    }

    /// Decodes the next bytes and appends their characters.
    ///
    /// # Errors
    /// The offset of an unpaired surrogate; the characters before it have been appended.
    pub(super) fn decode(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<(), u64> {
        while let ([_, ..], [first, rest @ ..]) = (&*self.left, bytes) {
            self.left.push(*first);
            bytes = rest;
            let mut left = std::mem::take(&mut self.left);
            let used = self.characters(&left, out)?;
            left.drain(..used);
            self.left = left;
        }
        let used = self.characters(bytes, out)?;
        self.left.extend_from_slice(&bytes[used..]);
        Ok(())
    }

    /// Returns the offset of an unfinished character.
    pub(super) fn unfinished(&self) -> Option<u64> {
        (!self.left.is_empty()).then_some(self.decoded)
    }

    /// Decodes the whole characters that `bytes` start with; returns the number of bytes they took.
    fn characters(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, u64> {
        let mut at = 0;
        while let Some(unit) = self.unit(bytes, at) {
            let (c, length) = match unit {
                0..0x80 => {
                    out.push(unit as u8);
                    at += 2;
                    continue;
                }
                0xD800..0xDC00 => match self.unit(bytes, at + 2) {
                    None => break,
                    Some(low) => (pair(unit, low), 4),
                },
                _ => (char::from_u32(u32::from(unit)), 2),
            };
            let c = c.ok_or(self.decoded + at as u64)?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            at += length;
        }
        self.decoded += at as u64;
        Ok(at)
    }

    fn unit(&self, bytes: &[u8], at: usize) -> Option<u16> {
        let pair = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.big_end_first { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    }
}

/// Returns the character of a surrogate pair; `None` if `low` is not a low surrogate.
fn pair(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(units: &[u16], cut: usize) -> (Vec<u8>, Result<Option<u64>, u64>) {
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        let mut decoder = Utf16::new(Detected { encoding: Encoding::Utf16Be, mark: true });
        let mut out = Vec::new();
        let result = decoder.decode(head, &mut out).and_then(|()| decoder.decode(tail, &mut out));
        (out, result.map(|()| decoder.unfinished()))
    }

    proptest! {
        #[test]
        fn equals_the_standard_library_at_every_cut(units in proptest::collection::vec(prop_oneof![0u16..200, 0xD7F0u16..0xE010, any::<u16>()], 0..12), cut in 0usize..26) {
            let (out, result) = decode(&units, cut);
            let good: Vec<char> = char::decode_utf16(units.iter().copied()).map_while(Result::ok).collect();
            let place = 2 + 2 * good.iter().map(|c| c.len_utf16() as u64).sum::<u64>();
            let ended = place == 2 + 2 * units.len() as u64;
            prop_assert_eq!(String::from_utf8(out).unwrap(), good.iter().collect::<String>());
            match result {
                Ok(None) => prop_assert!(ended),
                Ok(Some(at)) => prop_assert_eq!((at, ended), (place, false)),
                Err(at) => prop_assert_eq!((at, ended), (place, false)),
            }
        }
    }
}
