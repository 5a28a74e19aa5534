//! Arrays of doubles as the base64 of their bytes: exact, a third of the size of decimal text, and without
//! conversion.
//!
//! XSD has no such type; on the wire it is `base64Binary`, and both sides have to agree on the order of the bytes.
//! Big-endian IEEE 754, which is XDR's form too, is the default.

use super::{Lexical, LexicalError, Partial, WhiteSpace, base64};
use crate::{Buffer, Escape};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Doubles, carried as `base64Binary` of eight bytes each.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubleArray<O: ByteOrder = BigEndian> {
    /// The numbers; not-a-number keeps its bits.
    pub values: Vec<f64>,
    order: PhantomData<O>,
}

/// The order of a double's bytes.
pub trait ByteOrder: Debug + Clone + PartialEq {
    /// A double from its bytes.
    fn read(bytes: [u8; 8]) -> f64;
    /// A double's bytes.
    fn write(value: f64) -> [u8; 8];
}

/// The most significant byte first, as in XDR.
#[derive(Debug, Clone, PartialEq)]
pub enum BigEndian {}

/// The least significant byte first, as most processors have it.
#[derive(Debug, Clone, PartialEq)]
pub enum LittleEndian {}

impl ByteOrder for BigEndian {
    fn read(bytes: [u8; 8]) -> f64 {
        f64::from_be_bytes(bytes)
    }

    fn write(value: f64) -> [u8; 8] {
        value.to_be_bytes()
    }
}

impl ByteOrder for LittleEndian {
    fn read(bytes: [u8; 8]) -> f64 {
        f64::from_le_bytes(bytes)
    }

    fn write(value: f64) -> [u8; 8] {
        value.to_le_bytes()
    }
}

impl<O: ByteOrder> From<Vec<f64>> for DoubleArray<O> {
    fn from(values: Vec<f64>) -> Self {
        DoubleArray { values, order: PhantomData }
    }
}

impl<O: ByteOrder> From<DoubleArray<O>> for Vec<f64> {
    fn from(array: DoubleArray<O>) -> Self {
        array.values
    }
}

/// Doubles that are converted at a time; their bytes are a multiple of three, so that no quad is padded early.
const BLOCK: usize = 192;
/// Characters of as many doubles.
const BLOCK_TEXT: usize = BLOCK * 8 / 3 * 4;

impl<O: ByteOrder> Lexical for DoubleArray<O> {
    const XSD_NAME: &'static str = "base64Binary";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;
    const STREAMED: bool = true;

    fn vacant() -> Self {
        Vec::new().into()
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        let (mut value, mut partial) = (Self::vacant(), Partial::default());
        value.append(text, &mut partial)?;
        value.finish(&mut partial)?;
        Ok(value)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut value = Self::vacant();
        let used = value.scan_into(bytes)?;
        Some((value, used))
    }

    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        let text = &bytes[..memchr::memchr(b'<', bytes)?];
        let mut partial = Partial::default();
        self.clear();
        self.decode(text, &mut partial).ok()?;
        self.finish(&mut partial).ok()?;
        Some(text.len())
    }

    fn format(&self, out: &mut Buffer, _: Escape) {
        let mut bytes = [0; BLOCK * 8];
        for values in self.values.chunks(BLOCK) {
            for (eight, value) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                *eight = O::write(*value);
            }
            base64::encode(&bytes[..values.len() * 8], out);
        }
    }

    fn clear(&mut self) {
        self.values.clear();
    }

    fn progress(&self) -> usize {
        self.values.len()
    }

    fn keep(&mut self, progress: usize) {
        self.values.truncate(progress);
    }

    fn append(&mut self, piece: &str, partial: &mut Partial) -> Result<(), LexicalError> {
        self.decode(piece.as_bytes(), partial).map_err(LexicalError::new::<Self>)
    }

    fn finish(&mut self, partial: &mut Partial) -> Result<(), LexicalError> {
        base64::finish(partial).map_err(LexicalError::new::<Self>)?;
        if partial.bytes_len == 0 { Ok(()) } else { Err(LexicalError::new::<Self>("not a multiple of eight bytes")) }
    }
}

impl<O: ByteOrder> DoubleArray<O> {
    /// Decodes text block by block, through bytes that stay in the processor's cache.
    fn decode(&mut self, text: &[u8], partial: &mut Partial) -> Result<(), &'static str> {
        let mut bytes = Vec::with_capacity(text.len().min(BLOCK_TEXT));
        for block in text.chunks(BLOCK_TEXT) {
            bytes.clear();
            bytes.extend_from_slice(&partial.bytes[..usize::from(partial.bytes_len)]);
            base64::decode(block, partial, &mut bytes)?;
            let (eights, rest) = bytes.as_chunks::<8>();
            self.values.extend(eights.iter().map(|eight| O::read(*eight)));
            partial.bytes[..rest.len()].copy_from_slice(rest);
            partial.bytes_len = rest.len() as u8;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, streams, text_of};
    use proptest::prelude::*;

    #[test]
    fn forms() {
        let array = |values: &[f64]| DoubleArray::<BigEndian>::from(values.to_vec());
        assert_valid(&[
            ("", array(&[])),
            ("P/AAAAAAAAA=", array(&[1.0])),
            ("P/AAAAAAAADA CAAA\nAAAAAA==", array(&[1.0, -3.0])),
        ]);
        assert_eq!(text_of(&DoubleArray::<LittleEndian>::from(vec![1.0])), "AAAAAAAA8D8=");
        assert_invalid::<DoubleArray>(&["AA==", "P/AAAAAAAAA", "P/AAAAAAAAAA", "P/AAAAAAAAA=P/AAAAAAAAA=", "1.0"]);
    }

    #[test]
    fn bits_are_kept() {
        let nan = f64::from_bits(0x7FF8_0000_0000_1234);
        let text = text_of(&DoubleArray::<BigEndian>::from(vec![nan, -0.0, f64::INFINITY]));
        let read = DoubleArray::<BigEndian>::parse(&text).expect("valid");
        let bits = read.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits, [nan.to_bits(), (-0.0f64).to_bits(), f64::INFINITY.to_bits()]);
    }

    #[test]
    fn blocks_join() {
        for len in [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5] {
            let array = DoubleArray::<LittleEndian>::from((0..len).map(|i| i as f64 / 3.0).collect::<Vec<_>>());
            let text = text_of(&array);
            assert_eq!(DoubleArray::parse(&text).as_ref(), Ok(&array));
            let lines = text.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line).into_owned());
            assert_eq!(DoubleArray::parse(&lines.collect::<Vec<_>>().join("\n")).as_ref(), Ok(&array));
        }
    }

    proptest! {
        #[test]
        fn laws_hold(values in prop::collection::vec(any::<f64>(), 0..12)) {
            laws(&DoubleArray::<BigEndian>::from(values.clone()));
            laws(&DoubleArray::<LittleEndian>::from(values));
        }

        #[test]
        fn any_cut(text in "[A-D01 ]{0,40}={0,2}") {
            streams::<DoubleArray>(&text);
        }
    }
}
