//! The `charset` of a media type against the bytes of the message.
//!
//! A message tells its encoding itself, by a byte order mark or its XML declaration, and RFC 7303 (section 3) lets `charset` overrule the
//! declaration. Who is between the two ends may go by either. So they have to agree: what contradicts its `charset` is refused, as the
//! Basic Profile wants it (1.1, R1018).

use crate::media::MediaType;
use std::fmt;

/// What messages are in that are in neither UTF-8 nor UTF-16.
const UNSUPPORTED: &str = "another encoding";

/// A message whose bytes are not in the encoding that its media type names, or in one that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharsetError {
    charset: String,
    found: &'static str,
}

impl CharsetError {
    /// The `charset` of the media type, in lower case.
    pub fn charset(&self) -> &str {
        &self.charset
    }

    /// What the bytes are in, as far as it is known.
    pub fn found(&self) -> &'static str {
        self.found
    }
}

impl fmt::Display for CharsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CharsetError { charset, found } = self;
        if *found != UNSUPPORTED {
            return write!(
                f,
                "the Content-Type says charset={charset}, but the message is in {found}; name the charset it is in, or none"
            );
        }
        // Charsets are written in upper case in most places.
        let charset = charset.to_ascii_uppercase();
        write!(f, "the encoding {charset} is not supported for more than ASCII characters; use UTF-8 or UTF-16")
    }
}

impl std::error::Error for CharsetError {}

/// Compares the bytes of a message with what its media type says, as they come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charset {
    named: String,
    expected: Expected,
    /// The message's first byte, until the second has come.
    first: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expected {
    /// Nothing was said, or what was said is true.
    #[default]
    Anything,
    Utf8,
    Utf16,
    /// Another charset, which may agree with UTF-8 in ASCII alone.
    Ascii,
}

impl Charset {
    pub(crate) fn of(media: &MediaType) -> Self {
        let named = media.charset.clone().unwrap_or_default();
        let expected = match named.as_str() {
            "" => Expected::Anything,
            "utf-8" | "utf8" => Expected::Utf8,
            "utf-16" | "utf-16le" | "utf-16be" => Expected::Utf16,
            _ => Expected::Ascii,
        };
        Charset { named, expected, first: None }
    }

    /// Looks at the next bytes.
    ///
    /// # Errors
    /// When they are in another encoding.
    pub(crate) fn check(&mut self, data: &[u8]) -> Result<(), CharsetError> {
        match self.expected {
            Expected::Anything => Ok(()),
            Expected::Ascii if data.is_ascii() && !data.contains(&0) => Ok(()),
            Expected::Ascii => Err(self.error(UNSUPPORTED)),
            Expected::Utf8 | Expected::Utf16 => self.check_start(data),
        }
    }

    /// Looks at the first two bytes, which tell UTF-16 from UTF-8 (XML 1.0, appendix F).
    fn check_start(&mut self, data: &[u8]) -> Result<(), CharsetError> {
        let mut bytes = self.first.into_iter().chain(data.iter().copied());
        let (Some(first), second) = (bytes.next(), bytes.next()) else { return Ok(()) };
        let Some(second) = second else {
            self.first = Some(first);
            return Ok(());
        };
        let is_utf_16 = matches!((first, second), (0xFE, 0xFF) | (0xFF, 0xFE) | (0, _) | (_, 0));
        match (is_utf_16, self.expected) {
            (true, Expected::Utf8) => Err(self.error("UTF-16")),
            (false, Expected::Utf16) => Err(self.error("UTF-8")),
            _ => {
                self.expected = Expected::Anything;
                Ok(())
            }
        }
    }

    #[cold]
    fn error(&self, found: &'static str) -> CharsetError {
        CharsetError { charset: self.named.clone(), found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(media: &str, message: &[u8]) -> Result<(), &'static str> {
        let media = MediaType::parse(media).expect("a media type");
        let mut results = [1, 2, usize::MAX].map(|size| {
            let mut charset = Charset::of(&media);
            message.chunks(size).try_for_each(|chunk| charset.check(chunk)).map_err(|error| error.found())
        });
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        std::mem::replace(&mut results[0], Ok(()))
    }

    #[test]
    fn what_is_said_has_to_be_true() {
        let utf_16 = [&b"\xFF\xFE<\0a\0"[..], b"\xFE\xFF\0<\0a", b"<\0?\0", b"\0<\0?"];
        let utf_8 = [&b"<a/>"[..], b"\xEF\xBB\xBF<a/>", b" <a/>", "<\u{e4}/>".as_bytes()];
        for message in utf_16 {
            assert_eq!(check("text/xml; charset=UTF-16", message), Ok(()));
            assert_eq!(check("text/xml", message), Ok(()));
            assert_eq!(check("text/xml; charset=\"utf-8\"", message), Err("UTF-16"));
            assert_eq!(check("text/xml; charset=us-ascii", message), Err(UNSUPPORTED));
        }
        for message in utf_8 {
            assert_eq!(check("text/xml; charset=utf-8", message), Ok(()));
            assert_eq!(check("text/xml", message), Ok(()));
            assert_eq!(check("text/xml; charset=utf-16", message), Err("UTF-8"));
            let expected = if message.is_ascii() { Ok(()) } else { Err(UNSUPPORTED) };
            assert_eq!(check("text/xml; charset=iso-8859-1", message), expected);
        }
        assert_eq!(check("text/xml; charset=utf-16", b""), Ok(()));
        assert_eq!(check("text/xml; charset=us-ascii", b"<a>\xC3\xA4</a>"), Err(UNSUPPORTED));
    }
}
