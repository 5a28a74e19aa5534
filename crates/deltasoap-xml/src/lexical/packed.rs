//! Packed numbers: arrays of numbers as the base64 of their bytes. They are exact, shorter than
//! decimal text, and need no conversion.
//!
//! XSD has no such type. On the wire it is `base64Binary`, and both sides have to agree on the type
//! of the numbers and on their byte order. Govindaraju and others name the form as a way to avoid
//! conversion, the largest part of the cost of scientific data (*Toward Characterizing the
//! Performance of SOAP Toolkits*, GRID 2004, section 2.8).

use super::{Lexical, LexicalError, Partial, WhiteSpace, base64};
use crate::{Buffer, Escape};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Numbers, carried as the `base64Binary` of their bytes. This type is the text form alone; for
/// element content, `deltasoap-core` has `Packed`, which can also be sent in a separate part
/// (MTOM).
///
/// The default byte order is little-endian, as on most processors.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedText<T: PackedNumber, O: ByteOrder = LittleEndian> {
    /// The numbers; not-a-number keeps its bits.
    pub values: Vec<T>,
    order: PhantomData<O>,
}

/// The byte order of a number.
pub trait ByteOrder: Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// True if the most significant byte comes first.
    const IS_BIG_ENDIAN: bool;
}

/// Big-endian, as in XDR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BigEndian {}

/// Little-endian, as on most processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LittleEndian {}

impl ByteOrder for BigEndian {
    const IS_BIG_ENDIAN: bool = true;
}

impl ByteOrder for LittleEndian {
    const IS_BIG_ENDIAN: bool = false;
}

mod sealed {
    pub trait Sealed {}
}

/// A type of packed numbers: an integer of two, four or eight bytes, or an IEEE 754 number of four
/// or eight.
pub trait PackedNumber: Lexical + Debug + Copy + PartialEq + Send + Sync + sealed::Sealed + 'static {
    /// The number's size in bytes: 2, 4 or 8.
    const SIZE: usize;
    /// The index of the type among those of this trait.
    const NUMBER: usize;
    /// The reason to refuse bytes that are not a whole number of items.
    const CUT_OFF: &'static str;

    /// Appends the numbers that `bytes` encode. Returns the number of bytes after the last whole
    /// item.
    fn unpack<O: ByteOrder>(bytes: &[u8], into: &mut Vec<Self>) -> usize;

    /// Writes the bytes of as many numbers as fit.
    fn pack<O: ByteOrder>(values: &[Self], into: &mut [u8]);
}

macro_rules! packed_numbers {
    ($($number:literal = $type:ident: $size:literal, $name:literal);* $(;)?) => {$(
        impl sealed::Sealed for $type {}

        impl PackedNumber for $type {
            const SIZE: usize = $size;
            const NUMBER: usize = $number;
            const CUT_OFF: &'static str = concat!("the bytes are not a multiple of ", $size, ", the size of ", $name);

            fn unpack<O: ByteOrder>(bytes: &[u8], into: &mut Vec<Self>) -> usize {
                let (numbers, rest) = bytes.as_chunks::<$size>();
                let read = if O::IS_BIG_ENDIAN { $type::from_be_bytes } else { $type::from_le_bytes };
                into.extend(numbers.iter().map(|bytes| read(*bytes)));
                rest.len()
            }

            fn pack<O: ByteOrder>(values: &[Self], into: &mut [u8]) {
                let bytes_of = if O::IS_BIG_ENDIAN { $type::to_be_bytes } else { $type::to_le_bytes };
                for (place, value) in into.as_chunks_mut::<$size>().0.iter_mut().zip(values) {
                    *place = bytes_of(*value);
                }
            }
        }
    )*};
}

packed_numbers! {
    0 = i16: 2, "a short";
    1 = u16: 2, "an unsignedShort";
    2 = i32: 4, "an int";
    3 = u32: 4, "an unsignedInt";
    4 = i64: 8, "a long";
    5 = u64: 8, "an unsignedLong";
    6 = f32: 4, "a float";
    7 = f64: 8, "a double";
}

impl<T: PackedNumber, O: ByteOrder> From<Vec<T>> for PackedText<T, O> {
    fn from(values: Vec<T>) -> Self {
        PackedText { values, order: PhantomData }
    }
}

impl<T: PackedNumber, O: ByteOrder> From<PackedText<T, O>> for Vec<T> {
    fn from(packed: PackedText<T, O>) -> Self {
        packed.values
    }
}

/// Number of bytes converted at a time: a multiple of three, so that no quad is padded early, and
/// of each number's size.
const BLOCK: usize = 1536;
/// Number of base64 characters of one block.
const BLOCK_TEXT: usize = BLOCK / 3 * 4;

impl<T: PackedNumber, O: ByteOrder> Lexical for PackedText<T, O> {
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
        let mut bytes = [0; BLOCK];
        for values in self.values.chunks(BLOCK / T::SIZE) {
            let bytes = &mut bytes[..values.len() * T::SIZE];
            T::pack::<O>(values, bytes);
            base64::encode(bytes, out);
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
        if partial.bytes_len == 0 { Ok(()) } else { Err(LexicalError::new::<Self>(T::CUT_OFF)) }
    }
}

impl<T: PackedNumber, O: ByteOrder> PackedText<T, O> {
    /// Decodes numbers from their bytes.
    ///
    /// # Errors
    /// If the bytes are not a whole number of items.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LexicalError> {
        let mut values = Vec::with_capacity(bytes.len() / T::SIZE);
        match T::unpack::<O>(bytes, &mut values) {
            0 => Ok(values.into()),
            _ => Err(LexicalError::new::<Self>(T::CUT_OFF)),
        }
    }

    /// Returns the bytes that the text encodes in base64.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.byte_len()];
        T::pack::<O>(&self.values, &mut bytes);
        bytes
    }

    /// Returns the number of these bytes.
    pub fn byte_len(&self) -> usize {
        size_of_val(&*self.values)
    }

    /// Decodes text block by block, through bytes that stay in the processor's cache.
    fn decode(&mut self, text: &[u8], partial: &mut Partial) -> Result<(), &'static str> {
        let mut bytes = Vec::with_capacity(text.len().min(BLOCK_TEXT));
        for block in text.chunks(BLOCK_TEXT) {
            bytes.clear();
            bytes.extend_from_slice(&partial.bytes[..usize::from(partial.bytes_len)]);
            base64::decode(block, partial, &mut bytes)?;
            let rest = T::unpack::<O>(&bytes, &mut self.values);
            partial.bytes[..rest].copy_from_slice(&bytes[bytes.len() - rest..]);
            partial.bytes_len = rest as u8;
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
        let array = |values: &[f64]| PackedText::<f64, BigEndian>::from(values.to_vec());
        assert_valid(&[
            ("", array(&[])),
            ("P/AAAAAAAAA=", array(&[1.0])),
            ("P/AAAAAAAADA CAAA\nAAAAAA==", array(&[1.0, -3.0])),
        ]);
        assert_eq!(text_of(&PackedText::<f64>::from(vec![1.0])), "AAAAAAAA8D8=");
        assert_invalid::<PackedText<f64>>(&["AA==", "P/AAAAAAAAA", "P/AAAAAAAAAA", "P/AAAAAAAAA=P/AAAAAAAAA=", "1.0"]);
    }

    /// Checks each type in both orders, against bytes written by hand.
    #[test]
    fn bytes_of_each_type() {
        macro_rules! is {
            ($type:ident: $value:expr, $big:expr) => {{
                let (big, mut little) = ($big, $big);
                little.reverse();
                for count in [0, 1, 3] {
                    let values = vec![$value; count];
                    let (one, other) =
                        (PackedText::<$type, BigEndian>::from(values.clone()), PackedText::<$type>::from(values));
                    assert_eq!((one.to_bytes(), one.byte_len()), (big.repeat(count), big.len() * count));
                    assert_eq!(other.to_bytes(), little.repeat(count));
                    assert_eq!(PackedText::from_bytes(&big.repeat(count)), Ok(one));
                    assert_eq!(PackedText::from_bytes(&little.repeat(count)), Ok(other));
                }
                let cut = PackedText::<$type>::from_bytes(&big[1..]).map_err(|error| error.reason);
                assert_eq!(cut, Err($type::CUT_OFF));
            }};
        }
        is!(i16: -2, [0xFF, 0xFE]);
        is!(u16: 0x0102, [1, 2]);
        is!(i32: -2, [0xFF, 0xFF, 0xFF, 0xFE]);
        is!(u32: 0x0102_0304, [1, 2, 3, 4]);
        is!(i64: -2, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]);
        is!(u64: 0x0102_0304_0506_0708, [1, 2, 3, 4, 5, 6, 7, 8]);
        is!(f32: 1.5, [0x3F, 0xC0, 0, 0]);
        is!(f64: 1.5, [0x3F, 0xF8, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_error_tells_the_size() {
        let error = PackedText::<f32>::parse("AAAA").map_err(|error| error.to_string());
        assert_eq!(
            error.unwrap_err(),
            "not a valid base64Binary: the bytes are not a multiple of 4, the size of a float"
        );
    }

    #[test]
    fn bits_are_kept() {
        let nan = f64::from_bits(0x7FF8_0000_0000_1234);
        let text = text_of(&PackedText::<f64>::from(vec![nan, -0.0, f64::INFINITY]));
        let read = PackedText::<f64>::parse(&text).expect("valid");
        let bits = read.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits, [nan.to_bits(), (-0.0f64).to_bits(), f64::INFINITY.to_bits()]);
    }

    #[test]
    fn blocks_join() {
        fn check<T: PackedNumber>(number: impl Fn(u32) -> T) {
            let block = (BLOCK / T::SIZE) as u32;
            for len in [block - 1, block, block + 1, 3 * block + 5] {
                let array = PackedText::<T>::from((0..len).map(&number).collect::<Vec<_>>());
                let text = text_of(&array);
                assert_eq!(PackedText::parse(&text).as_ref(), Ok(&array));
                let lines = text.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line).into_owned());
                assert_eq!(PackedText::parse(&lines.collect::<Vec<_>>().join("\n")).as_ref(), Ok(&array));
            }
        }
        check(|i| f64::from(i) / 3.0);
        check(|i| i.wrapping_mul(0x01FF_7F01));
        check(|i| i as i16);
    }

    proptest! {
        #[test]
        fn laws_hold(values in prop::collection::vec(any::<f64>(), 0..12)) {
            laws(&PackedText::<f64, BigEndian>::from(values.clone()));
            laws(&PackedText::<i16>::from(values.iter().map(|value| *value as i16).collect::<Vec<_>>()));
            laws(&PackedText::<f64>::from(values));
        }

        #[test]
        fn any_cut(text in "[A-D01 ]{0,40}={0,2}") {
            streams::<PackedText<f64>>(&text);
            streams::<PackedText<u16>>(&text);
            streams::<PackedText<i32, BigEndian>>(&text);
        }
    }
}
