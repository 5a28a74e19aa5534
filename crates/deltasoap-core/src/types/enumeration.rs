//! Enumerated values (XSD 1.0 part 2, 4.3.5): code shared by all enumerations.

use crate::Lexical;
use crate::decode::simple::{self, WholeText};
use crate::decode::{Cursor, FlatSource, Step};
use crate::encode::Encoder;
use crate::lexical::LexicalError;
use crate::schema::View;
use std::borrow::Cow;

/// Looks up a text unchanged, then with its white space collapsed.
///
/// # Errors
/// Returns an error if `find` knows neither.
pub fn parse<T>(text: &str, name: &'static str, find: impl Fn(&str) -> Option<T>) -> Result<T, LexicalError> {
    let unknown = LexicalError { expected: name, reason: "not one of the enumerated values" };
    lookup(text, find).ok_or(unknown)
}

/// Like [`parse`], for an enumeration that has a value for all `other` texts.
pub fn parse_or<T>(text: &str, other: impl FnOnce(&str) -> T, find: impl Fn(&str) -> Option<T>) -> T {
    lookup(text, find).unwrap_or_else(|| other(text))
}

fn lookup<T>(text: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    find(text).or_else(|| find(&collapse(text)))
}

/// Looks up the text before the first `<`. Returns `None` if there is no `<` in the first `longest
/// + 1` bytes.
#[inline]
pub fn scan<T>(bytes: &[u8], longest: usize, find: impl Fn(&[u8]) -> Option<T>) -> Option<(T, usize)> {
    let end = bytes.iter().take(longest + 1).position(|&byte| byte == b'<')?;
    Some((find(&bytes[..end])?, end))
}

/// An enumeration that compiles small: its values and texts are lists.
pub trait Enumeration: Lexical + Clone + 'static {
    /// The enumerated values, in order.
    const VALUES: &'static [Self];
    /// The texts of the values.
    const TEXTS: &'static [Cow<'static, str>];

    /// The length of the longest of them.
    const MAX_LENGTH: usize = longest(Self::TEXTS);
    /// True if other texts are values too: those with [`other`](Self::other).
    const IS_OPEN: bool = false;

    /// Returns the index of an enumerated value in the lists.
    fn place(&self) -> usize;

    /// Returns the text of a value that is not enumerated.
    fn other(&self) -> Option<&str> {
        None
    }

    /// Returns the value for a text that is not enumerated; `None` if the enumeration is not open.
    fn from_other(text: &str) -> Option<Self> {
        let _ = text;
        None
    }
}

/// Returns the length of the longest text.
pub const fn longest(texts: &[Cow<'static, str>]) -> usize {
    let (mut longest, mut place) = (0, 0);
    while place < texts.len() {
        if let Cow::Borrowed(text) = &texts[place]
            && text.len() > longest
        {
            longest = text.len();
        }
        place += 1;
    }
    longest
}

/// Returns the length of the longest text of a value; `None` if there is no maximum.
pub const fn max_width<T: Enumeration>() -> Option<usize> {
    if T::IS_OPEN { None } else { Some(T::MAX_LENGTH) }
}

/// Returns the text of a value.
#[inline]
pub fn text<T: Enumeration>(value: &T) -> &str {
    match value.other() {
        Some(text) if T::IS_OPEN => text,
        _ => &T::TEXTS[value.place()],
    }
}

/// Like [`parse`], using the lists.
///
/// # Errors
/// Returns an error if the text is none of the values.
#[inline]
pub fn parse_listed<T: Enumeration>(text: &str) -> Result<T, LexicalError> {
    match parse_text(text, T::XSD_NAME, T::TEXTS) {
        Ok(place) => Ok(T::VALUES[place].clone()),
        Err(unknown) => T::from_other(text).ok_or(unknown),
    }
}

/// Like [`scan`], using the lists.
#[inline]
pub fn scan_listed<T: Enumeration>(bytes: &[u8]) -> Option<(T, usize)> {
    let (place, used) = scan_text(bytes, T::MAX_LENGTH, T::TEXTS)?;
    Some((T::VALUES[place].clone(), used))
}

/// Reads a value as an element's content. All enumerations share one routine.
///
/// # Errors
/// Returns an error if the text is none of the values.
pub fn decode<T: Enumeration>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    decode_listed(value, cursor, view)
}

/// Reads a value as a leaf of flat items.
#[inline]
pub fn scan_flat<T: Enumeration, S: FlatSource>(value: &mut T, scan: &mut S) -> Option<()> {
    scan.whole(&mut Reading(value))
}

/// Writes a value as an element's content.
pub fn encode<T: Enumeration>(value: &T, encoder: &mut Encoder, view: View<'_>) {
    encode_text(text(value), max_width::<T>(), encoder, view);
}

/// An enumeration as an object.
trait Listed {
    fn name(&self) -> &'static str;

    /// Returns the texts, and the length of the longest.
    fn texts(&self) -> (Texts, usize);

    /// Sets the value to the one at an index of the list.
    fn set(&mut self, place: usize);

    /// Sets the value to one that is not enumerated. Returns false if there are none.
    fn set_other(&mut self, text: &str) -> bool;
}

impl<T: Enumeration> Listed for T {
    fn name(&self) -> &'static str {
        T::XSD_NAME
    }

    fn texts(&self) -> (Texts, usize) {
        (T::TEXTS, T::MAX_LENGTH)
    }

    fn set(&mut self, place: usize) {
        *self = T::VALUES[place].clone();
    }

    fn set_other(&mut self, text: &str) -> bool {
        let other = T::from_other(text);
        let is_open = other.is_some();
        other.into_iter().for_each(|other| *self = other);
        is_open
    }
}

/// Reads one of the texts.
struct Reading<'v>(&'v mut dyn Listed);

impl WholeText for Reading<'_> {
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        let (texts, longest) = self.0.texts();
        let (place, used) = scan_text(bytes, longest, texts)?;
        self.0.set(place);
        Some(used)
    }

    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError> {
        match parse_text(text, self.0.name(), self.0.texts().0) {
            Ok(place) => self.0.set(place),
            Err(unknown) if !self.0.set_other(text) => return Err(unknown),
            Err(_) => {}
        }
        Ok(())
    }
}

fn decode_listed(value: &mut dyn Listed, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    simple::decode_whole(&mut Reading(value), cursor, view)
}

type Texts = &'static [Cow<'static, str>];

fn parse_text(text: &str, name: &'static str, texts: Texts) -> Result<usize, LexicalError> {
    parse(text, name, |text| place_of(texts, text.as_bytes()))
}

fn scan_text(bytes: &[u8], longest: usize, texts: Texts) -> Option<(usize, usize)> {
    // A text whose characters are escaped or normalized differs from the bytes in a document.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'>');
    scan(bytes, longest, |text| place_of(texts, text).filter(|_| text.iter().all(is_plain)))
}

fn place_of(texts: Texts, text: &[u8]) -> Option<usize> {
    texts.iter().position(|known| known.as_bytes() == text)
}

fn encode_text(text: &str, longest: Option<usize>, encoder: &mut Encoder, view: View<'_>) {
    encoder.type_attribute(view.element.type_name());
    encoder.listed_leaf(text, longest);
}

fn collapse(text: &str) -> String {
    text.split([' ', '\t', '\n', '\r']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [&str; 4] = ["red", "dark blue", " spaced ", ""];

    fn find(text: &str) -> Option<usize> {
        VALUES.iter().position(|value| *value == text)
    }

    #[test]
    fn values_are_found_as_they_stand_or_collapsed() {
        let texts = [("red", 0), (" red\n", 0), ("dark \t blue", 1), (" spaced ", 2), ("", 3), ("\r\n", 3)];
        for (text, value) in texts {
            assert_eq!(parse(text, "Color", find), Ok(value), "{text:?}");
        }
        for text in ["Red", "redd", "re d", "spaced", "darkblue"] {
            assert_eq!(parse(text, "Color", find).map_err(|error| error.expected), Err("Color"), "{text:?}");
        }
    }

    #[test]
    fn scan_stops_at_the_tag_and_at_the_longest_value() {
        let scan = |bytes: &[u8]| scan(bytes, 3, |text| (text == b"red").then_some(()));
        assert_eq!(scan(b"red</c>"), Some(((), 3)));
        for bytes in [&b"red"[..], b"redd<", b" red<", b"re<", b"<", b""] {
            assert_eq!(scan(bytes), None);
        }
    }
}
