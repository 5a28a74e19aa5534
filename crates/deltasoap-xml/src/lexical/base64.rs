//! `base64Binary`: bytes, four characters for three of them.
//!
//! White space is allowed between any two characters (XSD 1.0 part 2, 3.2.16), so text is decoded
//! word by word: whole quads of a word are decoded in place, and the remaining characters wait in
//! [`Partial`] for the next word or piece.

use super::{Lexical, LexicalError, Partial, WhiteSpace};
use crate::scan::text::word_run;
use crate::{Buffer, Escape};
use base64::Engine;
use base64::engine::Simd;
use base64::engine::general_purpose::PAD;
use std::sync::LazyLock;

/// An XSD `base64Binary`: any bytes, as text. For element content, `deltasoap-core` has `Binary`,
/// which can also be sent in a separate part (MTOM).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Base64(pub Vec<u8>);

impl Base64 {
    /// Appends the text form of borrowed bytes.
    pub fn write(bytes: &[u8], out: &mut Buffer) {
        encode(bytes, out);
    }
}

/// Standard alphabet, padding required, unused bits zero: the lexical space of XSD 1.0.
static ENGINE: LazyLock<Simd> = LazyLock::new(|| Simd::standard(PAD));

impl Lexical for Base64 {
    const XSD_NAME: &'static str = "base64Binary";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;
    const STREAMED: bool = true;

    fn vacant() -> Self {
        Base64::default()
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
        self.0.clear();
        ENGINE.decode_vec(text, &mut self.0).ok()?;
        Some(text.len())
    }

    fn format(&self, out: &mut Buffer, _: Escape) {
        encode(&self.0, out);
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

    fn append(&mut self, piece: &str, partial: &mut Partial) -> Result<(), LexicalError> {
        decode(piece.as_bytes(), partial, &mut self.0).map_err(LexicalError::new::<Self>)
    }

    fn finish(&mut self, partial: &mut Partial) -> Result<(), LexicalError> {
        finish(partial).map_err(LexicalError::new::<Self>)
    }
}

/// Appends bytes as base64, with the last quad padded.
pub(super) fn encode(bytes: &[u8], out: &mut Buffer) {
    let len = bytes.len().div_ceil(3) * 4;
    let written = ENGINE.encode_slice(bytes, &mut out.spare(len)[..len]).unwrap_or(0);
    out.commit(written);
}

/// Decodes a piece of text and appends the bytes to `sink`.
pub(super) fn decode(mut piece: &[u8], partial: &mut Partial, sink: &mut Vec<u8>) -> Result<(), &'static str> {
    loop {
        let (word, rest) = piece.split_at(word_run(piece));
        decode_word(word, partial, sink)?;
        match rest {
            [] => return Ok(()),
            [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] => piece = rest,
            _ => return Err(NOT_BASE64),
        }
    }
}

const NOT_BASE64: &str = "not base64";
const AFTER_PADDING: &str = "characters after the padding";

/// Returns an error unless all characters are decoded.
pub(super) fn finish(partial: &Partial) -> Result<(), &'static str> {
    if partial.text_len == 0 { Ok(()) } else { Err("not a multiple of four characters") }
}

fn decode_word(word: &[u8], partial: &mut Partial, sink: &mut Vec<u8>) -> Result<(), &'static str> {
    let word = complete_quad(word, partial, sink)?;
    let (quads, rest) = word.split_at(word.len() & !3);
    decode_quads(quads, partial, sink)?;
    if !rest.is_empty() {
        not_ended(partial)?;
        partial.text[..rest.len()].copy_from_slice(rest);
        partial.text_len = rest.len() as u8;
    }
    Ok(())
}

/// Completes the waiting characters to a quad, and returns the rest of the word.
fn complete_quad<'w>(word: &'w [u8], partial: &mut Partial, sink: &mut Vec<u8>) -> Result<&'w [u8], &'static str> {
    let waiting = usize::from(partial.text_len);
    if waiting == 0 {
        return Ok(word);
    }
    let (head, rest) = word.split_at(word.len().min(4 - waiting));
    partial.text[waiting..waiting + head.len()].copy_from_slice(head);
    partial.text_len += head.len() as u8;
    if partial.text_len == 4 {
        partial.text_len = 0;
        decode_quads(&{ partial.text }, partial, sink)?;
    }
    Ok(rest)
}

fn decode_quads(quads: &[u8], partial: &mut Partial, sink: &mut Vec<u8>) -> Result<(), &'static str> {
    if quads.is_empty() {
        return Ok(());
    }
    not_ended(partial)?;
    partial.ended = quads.ends_with(b"=");
    ENGINE.decode_vec(quads, sink).map_err(|_| reason(quads))
}

/// Returns the reason why quads cannot be decoded: that of the first invalid quad, decoded by
/// itself, so that the reason does not depend on how the text was split.
#[cold]
fn reason(quads: &[u8]) -> &'static str {
    let padded = quads.chunks(4).position(|quad| quad.ends_with(b"="));
    let upto = padded.map_or(quads.len(), |at| (at + 1) * 4);
    match ENGINE.decode_vec(&quads[..upto], &mut Vec::new()) {
        Ok(()) => AFTER_PADDING,
        Err(_) => NOT_BASE64,
    }
}

fn not_ended(partial: &Partial) -> Result<(), &'static str> {
    if partial.ended { Err(AFTER_PADDING) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    fn value(bytes: &[u8]) -> Base64 {
        Base64(bytes.to_vec())
    }

    #[test]
    fn forms() {
        assert_valid(&[
            ("", value(b"")),
            (" ", value(b"")),
            ("Zg==", value(b"f")),
            ("Zm8=", value(b"fo")),
            ("Zm9v", value(b"foo")),
            ("Zm9v\r\nYmFy", value(b"foobar")),
            (" Z m\t9 v Y g = =\n", value(b"foob")),
            ("+/+/", value(b"\xfb\xff\xbf")),
        ]);
        assert_invalid::<Base64>(&["Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zg==Zg==", "Zg== Zg==", "Zm9vZ"]);
        assert_invalid::<Base64>(&[
            "Zh==",
            "Zm9=",
            "-_-_",
            "Zm9v!",
            "Zm=v",
            "Z=9v",
            "Zm9v\u{e9}",
            "Zm9v\0",
            "Zm9v\u{a0}",
        ]);
    }

    #[test]
    fn lines_of_mime() {
        let bytes = (0..1000u32).map(|i| (i * 7) as u8).collect::<Vec<_>>();
        let text = text_of(&value(&bytes));
        let lines = text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).expect("ASCII"));
        assert_eq!(Base64::parse(&lines.collect::<Vec<_>>().join("\r\n")), Ok(value(&bytes)));
    }

    #[test]
    fn scan_into_keeps_the_memory() {
        let mut kept = Base64(Vec::with_capacity(64));
        let memory = kept.0.as_ptr();
        assert_eq!(kept.scan_into(b"Zm9vYmFy</a>"), Some(8));
        assert_eq!((kept.0.as_slice(), kept.0.as_ptr()), (&b"foobar"[..], memory));
    }

    proptest! {
        #[test]
        fn laws_hold(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            laws(&Base64(bytes));
        }

        #[test]
        fn scan_and_parse_agree(text in "[A-Da-d01+/ ]{0,12}={0,3}[ A]?") {
            scan_agrees::<Base64>(&text);
            crate::lexical::testing::streams::<Base64>(&text);
        }
    }
}
