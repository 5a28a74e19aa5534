//! Compares the `charset` of a media type with the bytes of the message.
//!
//! A message declares its own encoding by a byte order mark or its XML declaration. RFC 7303
//! (section 3) lets `charset` override the declaration, and an intermediary may use either. So they
//! must agree: a message that contradicts its `charset` is rejected, as the Basic Profile requires
//! (1.1, R1018). If the message declares nothing, it is read in the encoding of `charset`:
//! [`Charset::encoding`].
//!
//! Many servers send ISO-8859-1 by default, with messages that declare UTF-8. Pure ASCII is the
//! same in both, and contradicts neither.

use crate::media::MediaType;
use bytes::Bytes;
use deltasoap_xml::{Detected, Encoding, Feed, Limits, Window, XmlError};
use std::fmt;

/// The name for an unsupported encoding.
const UNSUPPORTED: &str = "another encoding";

/// Maximum number of bytes of a piece inspected to detect the encoding: more than detection needs.
const START: usize = 256;

/// A message whose bytes are not in the encoding that its media type names, or that is in an
/// unsupported encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharsetError {
    charset: String,
    found: &'static str,
}

impl CharsetError {
    /// Returns the `charset` of the media type, in lower case.
    pub fn charset(&self) -> &str {
        &self.charset
    }

    /// Returns the encoding of the bytes, as far as it is known.
    pub fn detected(&self) -> &'static str {
        self.found
    }
}

impl fmt::Display for CharsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CharsetError { charset, found } = self;
        if *found != UNSUPPORTED {
            return write!(
                f,
                "the Content-Type says charset={charset}, but the message is in {found}; declare the actual charset, or none"
            );
        }
        // Most places write charsets in upper case.
        let charset = charset.to_ascii_uppercase();
        write!(f, "the encoding {charset} is not supported for non-ASCII characters; use UTF-8 or UTF-16")
    }
}

impl std::error::Error for CharsetError {}

/// Returns a whole message in a form that declares its own encoding: if only `charset` names the
/// encoding, the message is transcoded to UTF-8.
///
/// ```
/// use deltasoap_http::self_described;
///
/// let message = self_described("text/xml; charset=iso-8859-1", b"<name>Ang\xE8le</name>".as_slice().into())?;
/// assert_eq!(message, "<name>Angèle</name>");
/// # Ok::<(), deltasoap_http::CharsetError>(())
/// ```
///
/// # Errors
/// Returns an error if the message is in another encoding than the media type names.
pub fn self_described(media_type: &str, message: Bytes) -> Result<Bytes, CharsetError> {
    let Some(media_type) = MediaType::parse(media_type) else { return Ok(message) };
    let mut charset = Charset::from_media_type(&media_type);
    charset.check(&message)?;
    Ok(Charset::from_media_type(&media_type).self_described(message))
}

/// Transcodes a message from a single-byte encoding to UTF-8.
fn in_utf8(message: &[u8], encoding: Encoding) -> Bytes {
    let mut feed = Feed::new(Limits { message: u64::MAX, ..Limits::default() });
    let mut text = Vec::with_capacity(message.len());
    feed.set_encoding(encoding);
    let mut step = |window: &mut Window<'_>| {
        text.extend_from_slice(&window.bytes[window.pos..]);
        window.pos = window.bytes.len();
        Ok(())
    };
    let read = feed.push::<Box<XmlError>>(message, &mut step).and_then(|()| feed.finish(&mut step));
    debug_assert!(read.is_ok(), "every byte is a character");
    text.into()
}

/// Compares the bytes of a message with its media type, as they arrive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charset {
    named: String,
    expected: Expected,
    /// The first bytes of the message, until they determine the encoding.
    start: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expected {
    /// Nothing was declared, or the declaration is correct.
    #[default]
    Anything,
    Utf8,
    Utf16,
    /// A single-byte encoding.
    Single(Encoding),
    /// Only ASCII: the common part of the charset and UTF-8, or of a single-byte charset and the
    /// declaration.
    Ascii {
        found: &'static str,
    },
}

impl Charset {
    pub(crate) fn from_media_type(media: &MediaType) -> Self {
        let named = media.charset.clone().unwrap_or_default();
        let expected = match named.as_str() {
            "" => Expected::Anything,
            "utf-8" | "utf8" => Expected::Utf8,
            "utf-16" | "utf-16le" | "utf-16be" => Expected::Utf16,
            _ => {
                Encoding::single_byte(named.as_bytes()).map_or(Expected::Ascii { found: UNSUPPORTED }, Expected::Single)
            }
        };
        Charset { named, expected, start: Vec::new() }
    }

    /// Returns the encoding of a message that does not declare its own, if that is not UTF-8.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match self.expected {
            Expected::Single(encoding) => Some(encoding),
            _ => None,
        }
    }

    /// Returns a whole message that was checked; in UTF-8 if it does not declare its own encoding.
    pub(crate) fn self_described(&self, message: Bytes) -> Bytes {
        let Some(encoding) = Encoding::single_byte(self.named.as_bytes()) else { return message };
        let found = |otherwise| Detected::at_start(&message, otherwise).unwrap_or_default().encoding;
        let is_silent = found(encoding) == encoding && found(Encoding::Utf8) == Encoding::Utf8;
        if is_silent { in_utf8(&message, encoding) } else { message }
    }

    /// Checks the next bytes, and cuts off those in another encoding: the bytes before them can be
    /// read, however the message was split.
    ///
    /// # Errors
    /// Returns the same errors as [`check`](Self::check).
    pub(crate) fn cut(&mut self, data: &mut Bytes) -> Result<(), CharsetError> {
        let checked = self.check(data);
        if checked.is_err() {
            let is_bad = |byte: &u8| !byte.is_ascii() || *byte == 0;
            let is_partly_good = matches!(self.expected, Expected::Ascii { .. });
            data.truncate(data.iter().position(is_bad).filter(|_| is_partly_good).unwrap_or_default());
        }
        checked
    }

    /// Checks the next bytes.
    ///
    /// # Errors
    /// Returns an error if they are in another encoding.
    pub(crate) fn check(&mut self, data: &[u8]) -> Result<(), CharsetError> {
        match self.expected {
            Expected::Anything => Ok(()),
            Expected::Ascii { found } => self.check_ascii(data, found),
            Expected::Utf8 | Expected::Utf16 | Expected::Single(_) => self.check_start(data),
        }
    }

    fn check_ascii(&self, data: &[u8], found: &'static str) -> Result<(), CharsetError> {
        if data.is_ascii() && !data.contains(&0) { Ok(()) } else { Err(self.error(found)) }
    }

    /// Checks the first bytes, which determine the encoding.
    fn check_start(&mut self, data: &[u8]) -> Result<(), CharsetError> {
        let Some(Detected { encoding: found, mark }) = self.found(data) else { return Ok(()) };
        match (self.expected, found) {
            (Expected::Utf8, Encoding::Utf8) | (Expected::Utf16, Encoding::Utf16Be | Encoding::Utf16Le) => {}
            (Expected::Single(expected), found) if found == expected => {}
            (Expected::Single(_), Encoding::Utf8) if !mark => {
                // The undecided bytes were ASCII too.
                self.expected = Expected::Ascii { found: found.name() };
                return self.check(data);
            }
            (_, Encoding::Utf16Be | Encoding::Utf16Le) => return Err(self.error("UTF-16")),
            _ => return Err(self.error(found.name())),
        }
        self.expected = Expected::Anything;
        Ok(())
    }

    /// Returns the encoding of the message (XML 1.0, appendix F), once its first bytes determine
    /// it. UTF-16 without a mark is XML only with a declaration, but is reported as UTF-16 in any
    /// case.
    fn found(&mut self, data: &[u8]) -> Option<Detected> {
        let otherwise = self.encoding().unwrap_or_default();
        let is_first = self.start.is_empty();
        if !is_first {
            self.start.extend_from_slice(&data[..data.len().min(START)]);
        }
        let start = if is_first { data } else { &self.start };
        let detected = Detected::at_start(start, otherwise);
        match (detected, start) {
            (Some(_), [0, ..]) => Some(Detected { encoding: Encoding::Utf16Be, mark: false }),
            (Some(_), [b'<', 0, ..]) => Some(Detected { encoding: Encoding::Utf16Le, mark: false }),
            (None, _) if is_first => {
                self.start = data.to_vec();
                None
            }
            (detected, _) => detected,
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
        let mut results = [1, 2, 3, 7, 40, usize::MAX].map(|size| {
            let mut charset = Charset::from_media_type(&media);
            message.chunks(size).try_for_each(|chunk| charset.check(chunk)).map_err(|error| error.detected())
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
        }
        assert_eq!(check("text/xml; charset=utf-16", b""), Ok(()));
        assert_eq!(check("text/xml; charset=us-ascii", b"<a>\xC3\xA4</a>"), Err(UNSUPPORTED));
    }

    #[test]
    fn a_byte_a_character_is_read_if_the_declaration_agrees() {
        let charset = |name: &str, message: &[u8]| check(&format!("text/xml; charset={name}"), message);
        let declared = |label: &str, text: &[u8]| {
            let declaration = format!("<?xml version='1.0' encoding='{label}'?>");
            [declaration.as_bytes(), text].concat()
        };
        for message in [&b"<a>\xE4</a>"[..], b"<?xml version='1.0'?><a>\xE4</a>", "<\u{e4}/>".as_bytes()] {
            assert_eq!(charset("ISO-8859-1", message), Ok(()));
            assert_eq!(charset("windows-1252", message), Ok(()));
            assert_eq!(charset("koi8-r", message), Err(UNSUPPORTED));
        }
        assert_eq!(charset("iso-8859-1", &declared("latin1", b"<a>\xE4</a>")), Ok(()));
        assert_eq!(charset("iso-8859-1", &declared("windows-1252", b"<a/>")), Err("windows-1252"));
        assert_eq!(charset("windows-1252", &declared("latin1", b"<a/>")), Err("ISO-8859-1"));
        assert_eq!(charset("utf-8", &declared("latin1", b"<a/>")), Err("ISO-8859-1"));
        assert_eq!(charset("utf-16", &declared("latin1", b"<a/>")), Err("ISO-8859-1"));
        assert_eq!(charset("us-ascii", &declared("latin1", b"<a/>")), Ok(()));
        // Both give the same bytes.
        assert_eq!(charset("iso-8859-1", &declared("utf-8", b"<a/>")), Ok(()));
        assert_eq!(charset("iso-8859-1", &declared("utf-8", "<\u{e4}/>".as_bytes())), Err("UTF-8"));
        assert_eq!(charset("iso-8859-1", &declared("us-ascii", b"<a>\0</a>")), Err("UTF-8"));
        assert_eq!(charset("iso-8859-1", b"\xEF\xBB\xBF<a/>"), Err("UTF-8"));
        assert_eq!(charset("iso-8859-1", b"\xFF\xFE<\0a\0"), Err("UTF-16"));
        assert_eq!(charset("iso-8859-1", b"<\0a\0"), Err("UTF-16"));
    }

    #[test]
    fn what_the_message_is_in_is_passed_on() {
        let encoding =
            |media: &str| Charset::from_media_type(&MediaType::parse(media).expect("a media type")).encoding();
        assert_eq!(encoding("text/xml; charset=\"ISO-8859-1\""), Some(Encoding::Latin1));
        assert_eq!(encoding("text/xml; charset=Windows-1252"), Some(Encoding::Windows1252));
        for other in ["text/xml", "text/xml; charset=utf-8", "text/xml; charset=us-ascii", "text/xml; charset=koi8-r"] {
            assert_eq!(encoding(other), None, "{other}");
        }
    }
}
