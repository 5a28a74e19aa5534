//! `string`: any text of XML characters, with white space preserved.

use super::{Lexical, LexicalError, Partial, WhiteSpace, chars};
use crate::scan::text::{plain_text, text_run, wide_text_run};
use crate::{Buffer, Escape};
use memchr::memmem;

impl Lexical for String {
    const XSD_NAME: &'static str = "string";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Preserve;
    const MAX_WIDTH: Option<usize> = None;
    const STREAMED: bool = true;

    fn vacant() -> Self {
        String::new()
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        legal(text).map(str::to_owned)
    }

    #[inline]
    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let text = scan_text(bytes)?;
        Some((text.to_owned(), text.len()))
    }

    #[inline]
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        let text = scan_text(bytes)?;
        if self.capacity() == 0 {
            // Growing an empty string costs more than allocating one of the right size.
            *self = text.to_owned();
        } else {
            String::clear(self);
            self.push_str(text);
        }
        Some(text.len())
    }

    #[inline]
    fn format(&self, out: &mut Buffer, escape: Escape) {
        out.push_text(self, escape);
    }

    /// A text without references stands for itself.
    #[inline]
    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        if self.as_bytes() == text {
            return memchr::memchr(b'&', text).is_none();
        }
        let may_be_escaped = self.len() < text.len();
        may_be_escaped && {
            scratch.clear();
            self.format(scratch, Escape::Text);
            scratch.as_slice() == text && !scratch.has_replaced()
        }
    }

    fn clear(&mut self) {
        String::clear(self);
    }

    fn progress(&self) -> usize {
        String::len(self)
    }

    fn keep(&mut self, progress: usize) {
        if self.is_char_boundary(progress) {
            self.truncate(progress);
        }
    }

    fn append(&mut self, piece: &str, _: &mut Partial) -> Result<(), LexicalError> {
        legal(piece).map(|piece| self.push_str(piece))
    }
}

fn legal(text: &str) -> Result<&str, LexicalError> {
    match chars::find_illegal(text) {
        None => Ok(text),
        Some(_) => Err(LexicalError::new::<String>("a character that XML does not allow")),
    }
}

/// Returns the text up to a `<`, if it stands for itself: no reference, no carriage return, no
/// `]]>`, all of it UTF-8 and XML characters.
#[inline]
pub(super) fn scan_text(bytes: &[u8]) -> Option<&str> {
    let text = plain_text(bytes);
    if bytes.get(text.len()) == Some(&b'<') { Some(text) } else { scan_mixed(bytes, text.len()) }
}

/// Like [`scan_text`], from the first byte that is not plain ASCII text.
fn scan_mixed(bytes: &[u8], mut at: usize) -> Option<&str> {
    let mut ascii = true;
    loop {
        match bytes[at..] {
            [b'<', ..] => return if ascii { utf8(&bytes[..at]) } else { legal_utf8(&bytes[..at]) },
            [b'\t' | b'\n', ..] => at += 1,
            [b']', b']', b'>' | b']', ..] | [b']'] | [b']', b']'] => return None,
            [b']', ..] => at += 1,
            [0x80..=0xFF, ..] => ascii = false,
            _ => return None,
        }
        at += if ascii { text_run(&bytes[at..]) } else { wide_text_run(&bytes[at..]) };
    }
}

fn utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Returns the bytes as text if they are UTF-8 without U+FFFE and U+FFFF.
fn legal_utf8(bytes: &[u8]) -> Option<&str> {
    let text = utf8(bytes)?;
    let noncharacter = memmem::find_iter(bytes, b"\xEF\xBF").any(|at| matches!(bytes.get(at + 2), Some(0xBE | 0xBF)));
    (!noncharacter).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, laws, scan_agrees, streams, text_of};
    use proptest::prelude::*;

    #[test]
    fn any_text_of_xml_characters() {
        for text in ["", " a  b\t\r\n ", "<&>]]>\"'", "\u{e9}\u{4e2d}\u{1f600}\u{fffd}\u{7f}\u{85}"] {
            assert_eq!(String::parse(text).as_deref(), Ok(text));
            streams::<String>(text);
        }
        assert_invalid::<String>(&["\0", "a\u{b}", "\u{fffe}", "abc\u{ffff}def"]);
    }

    #[test]
    fn scan_stops_only_where_it_must() {
        let scan = |text: &str| String::scan(text.as_bytes());
        for text in ["", "plain", "tab\tand\nline", "a]b]", "a]]b", "caf\u{e9} \u{4e2d}\u{ff0c}\u{fffd}] \n.", "a>b"] {
            assert_eq!(scan(&format!("{text}<")), Some((text.to_owned(), text.len())), "{text:?}");
        }
        for text in
            ["a&amp;<", "a\r<", "a]]><", "a]]]><", "a", "a]", "a]]", "\u{fffe}<", "\u{ffff}<", "a\u{1}<", "\u{e9}"]
        {
            assert_eq!(scan(text), None, "{text:?}");
        }
        assert_eq!(String::scan(b"\xff<"), None);
        assert_eq!(String::scan(b"caf\xc3<"), None);
    }

    #[test]
    fn scan_into_keeps_the_memory() {
        let mut value = String::with_capacity(64);
        let memory = value.as_ptr();
        assert_eq!(value.scan_into(b"one</a>"), Some(3));
        assert_eq!(value.scan_into(b"seven</a>"), Some(5));
        assert_eq!((value.as_str(), value.as_ptr()), ("seven", memory));
    }

    #[test]
    fn format_never_breaks_the_document() {
        assert_eq!(text_of(&"a\0<\u{ffff}".to_owned()), "a\u{fffd}&lt;\u{fffd}");
    }

    proptest! {
        #[test]
        fn laws_hold(text in "[^<>&\r\u{0}-\u{8}\u{b}-\u{1f}\u{fffe}\u{ffff}]{0,80}") {
            laws(&text);
            streams::<String>(&text);
        }

        #[test]
        fn scan_and_parse_agree(text in "[ -;=-~]{0,40}[\\]\u{80}-\u{ffff}]{0,3}[ -;=-~]{0,20}") {
            if !text.contains(['&', '\r']) {
                scan_agrees::<String>(&text);
            }
        }

        #[test]
        fn scan_gives_legal_text(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Some((text, used)) = String::scan(&bytes) {
                prop_assert_eq!(text.as_bytes(), &bytes[..used]);
                prop_assert!(bytes[used] == b'<' && chars::find_illegal(&text).is_none() && !text.contains("]]>"));
            }
        }
    }
}
