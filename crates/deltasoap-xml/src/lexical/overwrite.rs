//! Writes text over other text of the same length.
//!
//! Bytes outside the place are not touched, and nothing is written if the text does not fit
//! exactly. Therefore the bytes after the place need not be written again, and the caller can fall
//! back to another way. Short texts are copied as two overlapping pieces of fixed size.

use super::Lexical;
use crate::{Buffer, Escape};

/// Formats a value in `scratch`, and copies the text to a place of the same length.
#[inline]
pub(super) fn put_formatted<T: Lexical>(value: &T, place: &mut [u8], scratch: &mut Buffer) -> bool {
    scratch.clear();
    value.format(scratch, Escape::Text);
    put(scratch.as_slice(), place)
}

/// Copies a text to a place of the same length. Returns false and writes nothing if the lengths
/// differ.
#[inline(always)]
pub(super) fn put(text: &[u8], place: &mut [u8]) -> bool {
    if text.len() != place.len() {
        return false;
    }
    match text.len() {
        16..=32 => put_twice::<16>(text, place),
        8..16 => put_twice::<8>(text, place),
        4..8 => put_twice::<4>(text, place),
        _ => place.copy_from_slice(text),
    }
    true
}

/// Like [`put`], for up to 16 characters in a register, the first in its lowest byte.
#[inline(always)]
pub(super) fn put_word((text, len): (u128, usize), place: &mut [u8]) -> bool {
    if len != place.len() {
        return false;
    }
    let from = |start: usize| text >> (8 * start);
    match len {
        8..=16 => put_ends((text as u64).to_le_bytes(), (from(len - 8) as u64).to_le_bytes(), place),
        4..8 => put_ends((text as u32).to_le_bytes(), (from(len - 4) as u32).to_le_bytes(), place),
        2..4 => put_ends((text as u16).to_le_bytes(), (from(len - 2) as u16).to_le_bytes(), place),
        _ => put_ends([text as u8], [text as u8], place),
    }
    true
}

/// Like [`put_word`], for 16 to 32 characters, given as the first 16 and the last 16.
#[inline(always)]
pub(super) fn put_long(first: u128, last: u128, len: usize, place: &mut [u8]) -> bool {
    if len != place.len() {
        return false;
    }
    put_ends(first.to_le_bytes(), last.to_le_bytes(), place);
    true
}

/// Writes the first and the last `N` bytes, which together cover the place.
#[inline(always)]
fn put_ends<const N: usize>(first: [u8; N], last: [u8; N], place: &mut [u8]) {
    if let Some(to) = place.first_chunk_mut::<N>() {
        *to = first;
    }
    if let Some(to) = place.last_chunk_mut::<N>() {
        *to = last;
    }
}

/// Copies the first and the last `N` bytes, which together cover the text.
#[inline(always)]
fn put_twice<const N: usize>(text: &[u8], place: &mut [u8]) {
    if let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        put_ends(*first, *last, place);
    }
}

#[cfg(test)]
mod tests {
    use super::{put, put_word};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_takes_its_place_or_nothing_happens(text in "[0-9a-z]{0,70}", len in 0..70usize, fits: bool) {
            let len = if fits { text.len() } else { len };
            let mut bytes = [b'<'; 80];
            let is_put = put(text.as_bytes(), &mut bytes[5..5 + len]);
            let mut expected = [b'<'; 80];
            if len == text.len() {
                expected[5..5 + len].copy_from_slice(text.as_bytes());
            }
            prop_assert_eq!(is_put, len == text.len());
            prop_assert_eq!(bytes, expected);
            if (1..=16).contains(&text.len()) {
                let word = text.bytes().rev().fold(0, |word, byte| word << 8 | u128::from(byte));
                let mut bytes = [b'<'; 80];
                prop_assert_eq!(put_word((word, text.len()), &mut bytes[5..5 + len]), len == text.len());
                prop_assert_eq!(bytes, expected);
            }
        }
    }
}
