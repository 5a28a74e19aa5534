//! The XML declaration (XML 2.8): version, encoding, standalone, in this order.
//!
//! As the fifth edition requires (2.8), any version `1.x` is read as XML 1.0. The declared encoding
//! must be the detected one; US-ASCII is read as the subset of UTF-8 that it is.

use super::Window;
use super::tag::{expect, skip_white};
use super::token_error::{TokenError, fault};
use crate::XmlErrorKind;
use crate::chars::{WHITE, expected, has};
use crate::feed::{Detected, Encoding};

const END: &str = "`?>` at the end of the XML declaration";

/// Returns true if the window starts with an XML declaration.
///
/// # Errors
/// [`TokenError::Incomplete`] if more bytes are needed to decide.
pub(super) fn is_present(window: &Window<'_>) -> Result<bool, TokenError> {
    let rest = &window.bytes[window.pos..];
    let same = rest.iter().zip(b"<?xml").take_while(|(a, b)| a == b).count();
    match rest.get(same) {
        None if !window.last => Err(TokenError::Incomplete),
        Some(&b) if same == 5 => Ok(has(b, WHITE)),
        _ => Ok(false),
    }
}

/// Reads the XML declaration at `at`; returns the index after it.
pub(super) fn read(bytes: &[u8], at: usize, detected: Detected) -> Result<usize, TokenError> {
    Declaration { bytes, at: at + 5 }.read(detected)
}

/// Refuses a document without an encoding declaration that requires one; `at` is where it is
/// missing.
pub(super) fn without_encoding(detected: Detected, at: usize) -> Result<(), TokenError> {
    match detected {
        Detected { encoding: Encoding::Utf16Be | Encoding::Utf16Le, mark: false } => {
            Err(fault(at, XmlErrorKind::MissingByteOrderMark))
        }
        _ => Ok(()),
    }
}

/// The rest of a declaration: `name="value"` pairs and `?>`.
struct Declaration<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Declaration<'a> {
    fn read(mut self, detected: Detected) -> Result<usize, TokenError> {
        match self.pair(b"version")? {
            Some((version, at)) => check_version(version, at)?,
            None => {
                return Err(expected(self.bytes, skip_white(self.bytes, self.at), "`version` in the XML declaration"));
            }
        }
        match self.pair(b"encoding")? {
            Some((label, at)) => check_encoding(self.bytes, label, at, detected)?,
            None => without_encoding(detected, self.at)?,
        }
        match self.pair(b"standalone")? {
            None | Some((b"yes" | b"no", _)) => {}
            Some((_, at)) => return Err(expected(self.bytes, at, "`yes` or `no`")),
        }
        let question = skip_white(self.bytes, self.at);
        let end = expect(self.bytes, question, b'?', END)?;
        expect(self.bytes, end, b'>', END)
    }

    /// Returns the value of `name="value"` and its index, if this is the next name.
    fn pair(&mut self, name: &'static [u8]) -> Result<Option<(&'a [u8], usize)>, TokenError> {
        let start = skip_white(self.bytes, self.at);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let same = rest.iter().zip(name).take_while(|(a, b)| a == b).count();
        match same {
            _ if same == rest.len() && same < name.len() => return Err(TokenError::Incomplete),
            0 => return Ok(None),
            _ if start == self.at => return Err(expected(self.bytes, start, "white space in the XML declaration")),
            _ if same < name.len() => return Err(expected(self.bytes, start + same, END)),
            _ => {}
        }
        let equals = skip_white(self.bytes, start + same);
        let after_equals = expect(self.bytes, equals, b'=', "`=` in the XML declaration")?;
        self.value(skip_white(self.bytes, after_equals)).map(Some)
    }

    fn value(&mut self, at: usize) -> Result<(&'a [u8], usize), TokenError> {
        let quote = match self.bytes.get(at) {
            None => return Err(TokenError::Incomplete),
            Some(&quote @ (b'"' | b'\'')) => quote,
            Some(_) => return Err(expected(self.bytes, at, "a quoted value in the XML declaration")),
        };
        let rest = &self.bytes[at + 1..];
        let is_end = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        let end = at + 1 + rest.iter().position(is_end).ok_or(TokenError::Incomplete)?;
        self.at = expect(self.bytes, end, quote, "a letter, a digit or a quote in the XML declaration")?;
        Ok((&self.bytes[at + 1..end], at + 1))
    }
}

fn check_version(version: &[u8], at: usize) -> Result<(), TokenError> {
    match version {
        [b'1', b'.', minor @ ..] if !minor.is_empty() && minor.iter().all(u8::is_ascii_digit) => Ok(()),
        _ => Err(fault(at, XmlErrorKind::Version { found: String::from_utf8_lossy(version).into_owned() })),
    }
}

fn check_encoding(bytes: &[u8], label: &[u8], at: usize, detected: Detected) -> Result<(), TokenError> {
    if !label.first().is_some_and(u8::is_ascii_alphabetic) {
        return Err(expected(bytes, at, "the name of an encoding"));
    }
    if detected.encoding.is_labelled(label) {
        return Ok(());
    }
    let declared = String::from_utf8_lossy(label).into_owned();
    Err(fault(at, XmlErrorKind::DeclaredEncoding { declared, actual: detected.encoding.name() }))
}
