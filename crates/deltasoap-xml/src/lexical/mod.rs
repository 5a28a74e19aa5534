//! The lexical forms of XSD 1.0's built-in simple types: one file per value space, each with parse,
//! format and maximum width.

mod base64;
mod bool;
mod boxed;
mod calendar;
mod chars;
mod decimal;
mod digits;
mod float;
mod hex;
mod image;
mod int;
mod integer;
mod list;
mod overwrite;
mod packed;
#[cfg(feature = "serde")]
mod serde;
mod space;
mod string;
#[cfg(test)]
mod testing;
mod text;

pub use base64::Base64;
pub use calendar::{Date, DateTime, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time, Zone};
pub use chars::{find_illegal, is_name, is_name_char, is_name_start, is_ncname, is_xml_char};
pub use decimal::Decimal;
pub use hex::Hex;
pub use image::Image;
pub use integer::{MAX_DIGITS, NegativeInteger, NonNegativeInteger, NonPositiveInteger, PositiveInteger};
pub use list::{Entities, IdRefs, List, NmTokens};
pub use num_bigint::BigInt;
pub use packed::{BigEndian, ByteOrder, LittleEndian, PackedNumber, PackedText};
#[cfg(feature = "serde")]
pub use serde::number;
pub use text::{AnyUri, Entity, Id, IdRef, Language, Name, NcName, NmToken, NormalizedString, Notation, QName, Token};

use crate::{Buffer, Escape};
use std::fmt;

/// The effect of XSD's `whiteSpace` facet on a value's text before it is parsed (XSD 1.0 part 2,
/// 4.3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhiteSpace {
    /// The text is unchanged.
    Preserve,
    /// Each tab, line feed and carriage return becomes a space.
    Replace,
    /// As `Replace`; then runs of spaces become one space and the ends are trimmed.
    Collapse,
}

/// A value with a text form in XSD.
pub trait Lexical: Sized {
    /// The local name of the XSD built-in type, as in `double`.
    const XSD_NAME: &'static str;
    /// How white space around and inside the text is handled.
    const WHITE_SPACE: WhiteSpace;
    /// Maximum number of bytes that [`format`](Self::format) writes (before escaping), or `None` if
    /// there is no maximum.
    const MAX_WIDTH: Option<usize>;
    /// True for types whose values can be read piece by piece with [`append`](Self::append).
    const STREAMED: bool = false;

    /// Returns the value that decoding starts from: zero, or empty.
    fn vacant() -> Self;

    /// Parses a whole text in which references are resolved; this function handles the white space.
    ///
    /// # Errors
    /// If the text is not in the type's lexical space, or its value is not in its value space.
    fn parse(text: &str) -> Result<Self, LexicalError>;

    /// Fast path: reads a value that starts at `bytes[0]` and ends just before a `<`, and returns
    /// it with the number of bytes up to that `<`. Returns `None` in all other cases (white space,
    /// references, no `<` in sight, an unusual or invalid form): the caller then takes the slow
    /// path through [`parse`](Self::parse), which decides. Never accepts text that `parse` would
    /// refuse, and never returns another value.
    fn scan(bytes: &[u8]) -> Option<(Self, usize)>;

    /// Like [`scan`](Self::scan), into an existing value whose memory may be reused.
    #[inline]
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        let (value, used) = Self::scan(bytes)?;
        *self = value;
        Some(used)
    }

    /// Appends the text form, escaped for the context if the type can contain such characters.
    fn format(&self, out: &mut Buffer, escape: Escape);

    /// The kind and size of the bits that distinguish values, if the type has them.
    const IMAGE: Image = Image::NONE;

    /// Returns the value's bits, the lowest byte first, padded with zeros; only for types with an
    /// [`IMAGE`](Self::IMAGE).
    #[inline]
    fn image(&self) -> [u8; 8] {
        [0; 8]
    }

    /// Returns the value that [`scan`](Self::scan) reads from the text written for this image, bit
    /// for bit. `None` for types without images, and for not-a-number, which has more images than
    /// texts.
    #[inline]
    fn from_image(image: [u8; 8]) -> Option<Self> {
        let _ = image;
        None
    }

    /// Counts the leading values that equal their images; the images are packed without gaps. 0 for
    /// types without images.
    #[inline]
    fn count_same(values: &[Self], images: &[u8]) -> usize {
        match Self::IMAGE.bytes() {
            1 => image::count_same::<Self, 1>(values, images),
            2 => image::count_same::<Self, 2>(values, images),
            4 => image::count_same::<Self, 4>(values, images),
            8 => image::count_same::<Self, 8>(values, images),
            _ => 0,
        }
    }

    /// Writes the text, as [`format`](Self::format) does into an element, over text of the same
    /// length. Returns false if its length differs; nothing is written then. `scratch` is cleared
    /// if it is used; if it was empty before, it records whether characters were
    /// [replaced](Buffer::has_replaced).
    #[inline]
    fn write_over(&self, place: &mut [u8], scratch: &mut Buffer) -> bool {
        overwrite::put_formatted(self, place, scratch)
    }

    /// Returns true if this is the value's text as [`format`](Self::format) writes it into an
    /// element. `scratch` is cleared and used.
    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        scratch.clear();
        self.format(scratch, Escape::Text);
        scratch.as_slice() == text && !scratch.has_replaced()
    }

    /// Makes the value vacant again, as [`append`](Self::append) requires, and keeps its memory if
    /// possible.
    fn clear(&mut self) {
        *self = Self::vacant();
    }

    /// Appends a piece of text to a value under construction; only for [`STREAMED`](Self::STREAMED)
    /// types.
    ///
    /// # Errors
    /// If the piece cannot belong to the type's lexical space.
    fn append(&mut self, piece: &str, partial: &mut Partial) -> Result<(), LexicalError> {
        let _ = (piece, partial);
        unreachable!("append on a type that is not streamed")
    }

    /// Returns the number of characters, bytes or items that [`append`](Self::append) has added to
    /// a value under construction.
    fn progress(&self) -> usize {
        0
    }

    /// Returns to an earlier [`progress`](Self::progress), or from a complete value to an earlier
    /// state of its construction.
    fn keep(&mut self, progress: usize) {
        let _ = progress;
    }

    /// Completes a value built by [`append`](Self::append).
    ///
    /// # Errors
    /// If the text as a whole is not in the type's lexical space.
    fn finish(&mut self, partial: &mut Partial) -> Result<(), LexicalError> {
        let _ = partial;
        Ok(())
    }
}

/// The state of [`Lexical::append`] between two pieces: undecoded characters of base64 or hex, and
/// decoded bytes that do not yet make an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Partial {
    /// Characters not yet decoded: the first `text_len`, fewer than four.
    text: [u8; 4],
    text_len: u8,
    /// Bytes of an unfinished item: the first `bytes_len`, fewer than eight.
    bytes: [u8; 8],
    bytes_len: u8,
    /// True after a character that only white space may follow.
    ended: bool,
}

/// The reason why a text is not a value of the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LexicalError {
    /// The type's local name, as in `int`.
    pub expected: &'static str,
    /// What is wrong, in a short phrase such as "not a digit" or "above 2147483647".
    pub reason: &'static str,
}

impl LexicalError {
    /// Creates an error about a text of a type.
    pub(crate) const fn new<T: Lexical>(reason: &'static str) -> Self {
        LexicalError { expected: T::XSD_NAME, reason }
    }
}

impl fmt::Display for LexicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a valid {}: {}", self.expected, self.reason)
    }
}

impl std::error::Error for LexicalError {}
