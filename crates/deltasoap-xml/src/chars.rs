//! The character classes of XML 1.0 (fifth edition), and strict UTF-8 decoding of one character.
//!
//! ASCII characters are classified by one table of flags with 256 entries, all others by range
//! tests.

use crate::XmlErrorKind;
use crate::reader::token_error::{TokenError, fault};

/// The byte can start a name; always set together with [`NAME`].
pub(crate) const NAME_START: u8 = 1;
/// The byte can occur in a name.
pub(crate) const NAME: u8 = 2;
/// White space (XML 2.3).
pub(crate) const WHITE: u8 = 4;
/// ASCII that stands for itself in character data and needs no further check.
pub(crate) const PLAIN_TEXT: u8 = 8;
/// Bytes that stand for themselves in attribute values, including those of UTF-8 sequences; quotes
/// are not plain.
pub(crate) const PLAIN_VALUE: u8 = 16;

/// The classes of each byte.
pub(crate) static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = class(byte as u8);
        byte += 1;
    }
    table
}

const fn class(byte: u8) -> u8 {
    let name = match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'_' | b':' => NAME_START | NAME,
        b'0'..=b'9' | b'-' | b'.' => NAME,
        b' ' | b'\t' | b'\r' | b'\n' => WHITE,
        _ => 0,
    };
    let text = match byte {
        b'\t' | b'\n' => PLAIN_TEXT,
        b'<' | b'&' | b']' | 0..0x20 | 0x80.. => 0,
        _ => PLAIN_TEXT,
    };
    let value = match byte {
        b'<' | b'&' | b'"' | b'\'' | 0..0x20 => 0,
        _ => PLAIN_VALUE,
    };
    name | text | value
}

/// Returns true if the byte has one of the given class flags.
#[inline(always)]
pub(crate) fn has(byte: u8, flags: u8) -> bool {
    CLASS[byte as usize] & flags != 0
}

/// `Char` (XML 2.2).
pub(crate) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// `NameStartChar` (XML 2.3).
pub(crate) fn is_name_start(c: char) -> bool {
    match c {
        '\0'..='\x7F' => has(c as u8, NAME_START),
        '\u{C0}'..='\u{2FF}' => !matches!(c, '×' | '÷'),
        '\u{370}'..='\u{1FFF}' => c != '\u{37E}',
        '\u{200C}' | '\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' => true,
        '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' => true,
        _ => matches!(c, '\u{10000}'..='\u{EFFFF}'),
    }
}

/// `NameChar` (XML 2.3).
pub(crate) fn is_name_char(c: char) -> bool {
    match c {
        '\0'..='\x7F' => has(c as u8, NAME),
        _ => is_name_start(c) || matches!(c, '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}'),
    }
}

/// `NCName`: a name without a colon (Namespaces 3).
pub(crate) fn is_ncname(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c != ':' && is_name_start(c)) && chars.all(|c| c != ':' && is_name_char(c))
}

/// Decodes the character at `at`.
///
/// # Errors
/// [`TokenError::Incomplete`] if the bytes end before or inside the character; a fault at `at` if
/// they are not UTF-8.
pub(crate) fn decode(bytes: &[u8], at: usize) -> Result<char, TokenError> {
    let tail = &bytes[at..bytes.len().min(at + 4)];
    match std::str::from_utf8(tail) {
        Ok(text) => text.chars().next().ok_or(TokenError::Incomplete),
        Err(error) if error.valid_up_to() > 0 => decode(&bytes[..at + error.valid_up_to()], at),
        Err(error) if error.error_len().is_none() => Err(TokenError::Incomplete),
        Err(_) => Err(fault(at, XmlErrorKind::Encoding)),
    }
}

/// Returns the error "expected `what`, found the character at `at`", or the error of decoding that
/// character.
#[cold]
pub(crate) fn expected(bytes: &[u8], at: usize, expected: &'static str) -> TokenError {
    match decode(bytes, at) {
        Ok(found) if !is_xml_char(found) => fault(at, XmlErrorKind::ForbiddenCharacter(found)),
        Ok(found) => fault(at, XmlErrorKind::Expected { expected, found }),
        Err(fail) => fail,
    }
}

/// Returns the last character boundary at or before `at`, in bytes that are UTF-8 up to there.
pub(crate) fn floor_boundary(bytes: &[u8], mut at: usize) -> usize {
    while at > 0 && at < bytes.len() && (bytes[at] & 0xC0) == 0x80 {
        at -= 1;
    }
    at
}

/// Returns the index of an unfinished UTF-8 sequence at the end of `bytes`; `None` if the bytes do
/// not end inside one.
pub(crate) fn unfinished_tail(bytes: &[u8]) -> Option<usize> {
    let from = (bytes.len().saturating_sub(3)..bytes.len()).rev().find(|&at| bytes[at] & 0xC0 != 0x80)?;
    match std::str::from_utf8(&bytes[from..]) {
        Err(error) if error.error_len().is_none() => Some(from + error.valid_up_to()),
        _ => None,
    }
}

/// Splits `bytes` after the longest prefix that is UTF-8 and has XML characters only. Returns that
/// prefix and the error after it.
///
/// `open` means that `bytes` reach to the end of the input received so far: an unfinished sequence
/// there needs more bytes. Otherwise it is malformed.
#[inline]
pub(crate) fn valid_prefix(bytes: &[u8], at: usize, open: bool) -> (&str, Option<TokenError>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => match first_forbidden(bytes) {
            None => (text, None),
            Some(end) => (&text[..end], Some(forbidden(bytes, at, end))),
        },
        Err(error) => valid_part(bytes, at, open, error),
    }
}

#[cold]
fn valid_part(bytes: &[u8], at: usize, open: bool, error: std::str::Utf8Error) -> (&str, Option<TokenError>) {
    let end = error.valid_up_to();
    match valid_prefix(&bytes[..end], at, false) {
        (text, None) if open && error.error_len().is_none() => (text, Some(TokenError::Incomplete)),
        (text, None) => (text, Some(fault(at + end, XmlErrorKind::Encoding))),
        earlier => earlier,
    }
}

#[cold]
fn forbidden(bytes: &[u8], at: usize, end: usize) -> TokenError {
    match decode(bytes, end) {
        Ok(found) => fault(at + end, XmlErrorKind::ForbiddenCharacter(found)),
        Err(fail) => fail,
    }
}

/// Returns the index of the first character that is not a `Char` (XML 2.2), in bytes that are
/// UTF-8.
///
/// Besides the control characters these are U+FFFE and U+FFFF: EF BF BE and EF BF BF. Blocks
/// without control characters and EF are skipped at vector speed.
fn first_forbidden(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let suspect = |b: u8| (b < 0x20) & (b != b'\t') & (b != b'\n') & (b != b'\r') | (b == 0xEF);
    let mut at = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(false, |any, &b| any | suspect(b)) {
            let is_bad = |i: &usize| suspect(bytes[*i]) && (bytes[*i] != 0xEF || is_noncharacter(&bytes[*i..]));
            if let Some(found) = (at..at + block.len()).find(is_bad) {
                return Some(found);
            }
        }
        at += block.len();
    }
    None
}

fn is_noncharacter(bytes: &[u8]) -> bool {
    matches!(bytes, [0xEF, 0xBF, 0xBE | 0xBF, ..])
}
