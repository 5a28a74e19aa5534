//! `hexBinary`: bytes, two hexadecimal digits for each, in either case; written in upper case, the
//! canonical form.

use super::{Lexical, LexicalError, Partial, WhiteSpace, space};
use crate::{Buffer, Escape};

/// An XSD `hexBinary`: any bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub Vec<u8>);

impl Lexical for Hex {
    const XSD_NAME: &'static str = "hexBinary";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;
    const STREAMED: bool = true;

    fn vacant() -> Self {
        Hex::default()
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        let mut value = Self::vacant();
        decode(space::trim(text).as_bytes(), &mut value.0).map_err(LexicalError::new::<Self>)?;
        Ok(value)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut value = Self::vacant();
        let used = value.scan_into(bytes)?;
        Some((value, used))
    }

    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        let text = &bytes[..memchr::memchr(b'<', bytes)?];
        self.0.clear();
        decode(text, &mut self.0).ok()?;
        Some(text.len())
    }

    fn format(&self, out: &mut Buffer, _: Escape) {
        let len = self.0.len() * 2;
        if const_hex::encode_to_slice_upper(&self.0, &mut out.spare(len)[..len]).is_ok() {
            out.commit(len);
        }
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn progress(&self) -> usize {
        self.0.len()
    }

    fn keep(&mut self, progress: usize) {
        self.0.truncate(progress);
    }

    /// White space is allowed at the ends only; the ends may be in any piece.
    fn append(&mut self, piece: &str, partial: &mut Partial) -> Result<(), LexicalError> {
        let started = partial.text_len > 0 || !self.0.is_empty();
        let digits = if started { piece } else { piece.trim_start_matches(space::SPACES) };
        let kept = digits.trim_end_matches(space::SPACES);
        if partial.ended && !kept.is_empty() {
            return Err(LexicalError::new::<Self>(SPACED));
        }
        partial.ended = kept.len() < digits.len();
        let word = kept.find(space::SPACES).map_or(kept, |end| &kept[..end]);
        append_digits(word.as_bytes(), partial, &mut self.0).map_err(LexicalError::new::<Self>)?;
        if word.len() < kept.len() { Err(LexicalError::new::<Self>(SPACED)) } else { Ok(()) }
    }

    fn finish(&mut self, partial: &mut Partial) -> Result<(), LexicalError> {
        if partial.text_len == 0 { Ok(()) } else { Err(LexicalError::new::<Self>(ODD)) }
    }
}

const ODD: &str = "an odd number of digits";
const SPACED: &str = "white space between digits";

fn append_digits(mut digits: &[u8], partial: &mut Partial, sink: &mut Vec<u8>) -> Result<(), &'static str> {
    if let ([first, rest @ ..], 1) = (digits, partial.text_len) {
        decode(&[partial.text[0], *first], sink)?;
        (digits, partial.text_len) = (rest, 0);
    }
    let (pairs, rest) = digits.split_at(digits.len() & !1);
    if let [last] = rest {
        (partial.text[0], partial.text_len) = (*last, 1);
    }
    decode(pairs, sink)
}

/// Decodes pairs of digits and appends the bytes to `sink`.
fn decode(digits: &[u8], sink: &mut Vec<u8>) -> Result<(), &'static str> {
    let start = sink.len();
    sink.resize(start + digits.len() / 2, 0);
    match const_hex::decode_to_slice(digits, &mut sink[start..]) {
        Ok(()) => Ok(()),
        Err(_) if digits.len() % 2 == 1 => Err(ODD),
        Err(_) => Err("not a hexadecimal digit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees, streams, text_of};
    use proptest::prelude::*;

    #[test]
    fn forms() {
        assert_valid(&[
            ("", Hex(vec![])),
            ("0FB7", Hex(vec![0x0f, 0xb7])),
            (" 0fB7\n", Hex(vec![0x0f, 0xb7])),
            ("00", Hex(vec![0])),
        ]);
        assert_invalid::<Hex>(&["0", "0FB", "0G", "0F B7", "0 F", "0x0F", "0F\u{a0}", "0F\nB7", " 0 ", "-1", "\u{e9}"]);
        assert_eq!(text_of(&Hex(vec![0xab, 0xcd])), "ABCD");
    }

    proptest! {
        #[test]
        fn laws_hold(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            laws(&Hex(bytes));
        }

        #[test]
        fn scan_and_parse_agree(text in " {0,2}[0-9a-fA-F]{0,8}[ g]?[0-9a-f]{0,8} {0,2}") {
            scan_agrees::<Hex>(&text);
            streams::<Hex>(&text);
        }
    }
}
