//! Laws that every lexical type must satisfy, for the tests of each type.

use super::{Lexical, Partial};
use crate::{Buffer, Escape};
use std::fmt::Debug;

/// Returns the text form of a value.
pub(crate) fn text_of<T: Lexical>(value: &T) -> String {
    let mut out = Buffer::new();
    value.format(&mut out, Escape::Text);
    String::from_utf8(out.into_vec()).expect("text is UTF-8")
}

/// Asserts that each text is valid and means the value, for parse, for scan, and streamed.
pub(crate) fn assert_valid<T: Lexical + PartialEq + Debug>(forms: &[(&str, T)]) {
    for (text, value) in forms {
        assert_eq!(T::parse(text).as_ref(), Ok(value), "{text:?}");
        scan_agrees::<T>(text);
        laws(value);
    }
}

/// Asserts that no text is valid, neither for parse nor for scan.
pub(crate) fn assert_invalid<T: Lexical + PartialEq + Debug>(forms: &[&str]) {
    for text in forms {
        assert!(T::parse(text).is_err(), "{text:?} is {:?}", T::parse(text));
        scan_agrees::<T>(text);
        if T::STREAMED {
            streams::<T>(text);
        }
    }
}

/// Checks the laws of a value: its text means the value, fits the width, and can be scanned in
/// place.
pub(crate) fn laws<T: Lexical + PartialEq + Debug>(value: &T) {
    let text = text_of(value);
    assert_eq!(T::parse(&text).as_ref(), Ok(value), "{text:?}");
    assert!(T::MAX_WIDTH.is_none_or(|width| text.len() <= width), "{text:?} is wider than {:?}", T::MAX_WIDTH);
    assert_eq!(T::from_image(value.image()).is_some(), T::IMAGE.is_some(), "{text:?}");
    assert!(T::from_image(value.image()).is_none_or(|again| again.image() == value.image()), "{text:?}");
    scan_agrees::<T>(&text);
    takes_its_place(value, &text);
    if T::STREAMED {
        streams::<T>(&text);
    }
}

/// Asserts that a value is written over a text of its length, and over no other.
fn takes_its_place<T: Lexical>(value: &T, text: &str) {
    let mut escaped = Buffer::new();
    value.format(&mut escaped, Escape::Text);
    for len in [escaped.len(), escaped.len() + 1, escaped.len().saturating_sub(1)] {
        let mut bytes = vec![b'<'; len + 40];
        let fits = value.write_over(&mut bytes[20..20 + len], &mut Buffer::new());
        let mut expected = vec![b'<'; len + 40];
        if len == escaped.len() {
            expected[20..20 + len].copy_from_slice(escaped.as_slice());
        }
        assert_eq!((fits, bytes), (len == escaped.len(), expected), "{text:?}");
    }
}

/// Longer than any reader looks ahead; appended to a text, it makes the fast paths run.
pub(crate) const LONG: &str = "                                                                                ";

/// Asserts that a text before a `<` is either left to the slow path or scanned to the value that it
/// parses to, whatever follows.
pub(crate) fn scan_agrees<T: Lexical + PartialEq + Debug>(text: &str) {
    for following in ["<", "</a>", "</item><item>00000000000000000000000000000000"] {
        scan_agrees_before::<T>(text, following);
        scan_agrees_before::<T>(text, &(following.to_owned() + LONG));
    }
    assert!(text.contains('<') || T::scan(text.as_bytes()).is_none(), "{text:?} has no end");
}

fn scan_agrees_before<T: Lexical + PartialEq + Debug>(text: &str, following: &str) {
    let bytes = format!("{text}{following}");
    if let Some((value, used)) = T::scan(bytes.as_bytes()) {
        assert_eq!((Ok(value), used), (T::parse(text), text.len()), "{bytes:?}");
    }
}

/// Asserts that a text in two pieces, split anywhere, or one character at a time, gives the result
/// of the whole, including the reason of an error; and that this is the result of `parse`.
pub(crate) fn streams<T: Lexical + PartialEq + Debug>(text: &str) {
    let whole = streamed::<T>([text]);
    assert_eq!(whole.as_ref().ok(), T::parse(text).ok().as_ref(), "{text:?}");
    for (cut, _) in text.char_indices() {
        let (head, tail) = text.split_at(cut);
        assert_eq!(streamed::<T>([head, tail]), whole, "{head:?} {tail:?}");
    }
    let characters = text.char_indices().map(|(at, character)| &text[at..at + character.len_utf8()]);
    assert_eq!(streamed::<T>(characters), whole, "{text:?} by character");
}

fn streamed<'t, T: Lexical>(pieces: impl IntoIterator<Item = &'t str>) -> Result<T, super::LexicalError> {
    let (mut value, mut partial) = (T::vacant(), Partial::default());
    for piece in pieces {
        value.append(piece, &mut partial)?;
    }
    value.finish(&mut partial)?;
    Ok(value)
}
