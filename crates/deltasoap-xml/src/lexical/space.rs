//! White space handling, and the shared fast path of all short values.

use super::WhiteSpace;
use crate::scan::text::plain_text;
use std::borrow::Cow;

/// The characters that XSD defines as white space.
pub(crate) const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// Trims white space at the ends, which is all that `collapse` does to a value that cannot contain
/// white space.
#[inline]
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(SPACES)
}

/// Splits a text at white space.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(SPACES).filter(|item| !item.is_empty())
}

/// Returns the text after white space handling; borrowed if nothing had to change.
pub(crate) fn handle(text: &str, how: WhiteSpace) -> Cow<'_, str> {
    match how {
        WhiteSpace::Preserve => Cow::Borrowed(text),
        WhiteSpace::Replace => replace(text),
        WhiteSpace::Collapse => collapse(text),
    }
}

/// Returns true if white space handling would change nothing.
#[inline]
pub(crate) fn is_handled(text: &str, how: WhiteSpace) -> bool {
    match how {
        WhiteSpace::Preserve => true,
        WhiteSpace::Replace => !text.contains(&SPACES[1..]),
        WhiteSpace::Collapse => is_collapsed(text),
    }
}

/// Returns plain ASCII text up to a `<`; `None` for anything else.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> Option<&str> {
    let text = plain_text(bytes);
    (bytes.get(text.len()) == Some(&b'<')).then_some(text)
}

fn replace(text: &str) -> Cow<'_, str> {
    if is_handled(text, WhiteSpace::Replace) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(&SPACES[1..], " "))
    }
}

fn collapse(text: &str) -> Cow<'_, str> {
    let text = trim(text);
    if is_collapsed(text) {
        return Cow::Borrowed(text);
    }
    let mut collapsed = String::with_capacity(text.len());
    for item in items(text) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(item);
    }
    Cow::Owned(collapsed)
}

fn is_collapsed(text: &str) -> bool {
    let mut after_space = true;
    for &byte in text.as_bytes() {
        match byte {
            b' ' if after_space => return false,
            b'\t' | b'\n' | b'\r' => return false,
            _ => after_space = byte == b' ',
        }
    }
    text.is_empty() || !after_space
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_facets() {
        let text = " \t a\r\n b  c\u{a0} ";
        assert_eq!(handle(text, WhiteSpace::Preserve), text);
        assert_eq!(handle(text, WhiteSpace::Replace), "   a   b  c\u{a0} ");
        assert_eq!(handle(text, WhiteSpace::Collapse), "a b c\u{a0}");
        assert_eq!(handle(" \n ", WhiteSpace::Collapse), "");
        assert!(matches!(handle(" a b ", WhiteSpace::Collapse), Cow::Borrowed("a b")));
    }

    proptest! {
        #[test]
        fn collapse_joins_the_items(text in "[ \t\n\rab]{0,12}") {
            let naive = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(handle(&text, WhiteSpace::Collapse), naive);
        }
    }
}
