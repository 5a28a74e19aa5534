//! `Content-Transfer-Encoding` (RFC 2045, section 6), decoded piece by piece.
//!
//! Quoted-printable is a state machine of our own, because the crate for it decodes whole texts.

use bytes::Bytes;
use deltasoap_xml::lexical::{Base64, Lexical, Partial};

/// The encoding of a part's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    /// Not encoded: 7bit, 8bit, binary.
    Identity,
    Base64,
    QuotedPrintable,
}

impl TransferEncoding {
    /// Returns the encoding with this name; `None` if it is unknown.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "" | "7bit" | "8bit" | "binary" => Some(TransferEncoding::Identity),
            "base64" => Some(TransferEncoding::Base64),
            "quoted-printable" => Some(TransferEncoding::QuotedPrintable),
            _ => None,
        }
    }

    pub(super) fn decoder(self) -> TransferDecoder {
        match self {
            TransferEncoding::Identity => TransferDecoder::Identity,
            TransferEncoding::Base64 => TransferDecoder::Base64(Partial::default()),
            TransferEncoding::QuotedPrintable => TransferDecoder::QuotedPrintable(Quoted::default()),
        }
    }
}

/// Decodes one part.
#[derive(Debug)]
pub(super) enum TransferDecoder {
    Identity,
    Base64(Partial),
    QuotedPrintable(Quoted),
}

const NOT_BASE64: &str = "a part is not valid base64, which its headers declare";

impl TransferDecoder {
    /// Decodes the next piece.
    pub(super) fn push(&mut self, piece: Bytes) -> Result<Bytes, &'static str> {
        match self {
            TransferDecoder::Identity => Ok(piece),
            TransferDecoder::Base64(partial) => {
                let mut decoded = Base64::default();
                let text = std::str::from_utf8(&piece).map_err(|_| NOT_BASE64)?;
                decoded.append(text, partial).map_err(|_| NOT_BASE64)?;
                Ok(decoded.0.into())
            }
            TransferDecoder::QuotedPrintable(quoted) => {
                let mut decoded = Vec::with_capacity(piece.len());
                piece.iter().try_for_each(|&byte| quoted.push(byte, &mut decoded))?;
                Ok(decoded.into())
            }
        }
    }

    /// Ends the part; no input may be left over.
    pub(super) fn finish(&mut self) -> Result<Bytes, &'static str> {
        match self {
            TransferDecoder::Identity => Ok(Bytes::new()),
            TransferDecoder::Base64(partial) => {
                Base64::default().finish(partial).map_err(|_| NOT_BASE64)?;
                Ok(Bytes::new())
            }
            TransferDecoder::QuotedPrintable(quoted) => quoted.finish().map(|()| Bytes::new()),
        }
    }
}

/// Quoted-printable (RFC 2045, section 6.7).
#[derive(Debug, Default)]
pub(super) struct Quoted {
    state: Escape,
    /// Spaces and tabs, which are significant only if something else follows on their line.
    white: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After `=`.
    Opened,
    /// After `=` and a digit of this value.
    Digit(u8),
    /// After `=` and white space, or a carriage return: the end of the line must follow.
    Break,
}

/// Maximum white space at the end of a line: the maximum line length of mail (RFC 5322, 2.1.1).
const WHITE: usize = 998;
const NOT_QUOTED: &str = "a part is not valid quoted-printable, which its headers declare";

impl Quoted {
    fn push(&mut self, byte: u8, decoded: &mut Vec<u8>) -> Result<(), &'static str> {
        let digit = || char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(NOT_QUOTED);
        self.state = match (self.state, byte) {
            (Escape::None, b' ' | b'\t') if self.white.len() < WHITE => {
                self.white.push(byte);
                Escape::None
            }
            (Escape::None, b' ' | b'\t') => return Err(NOT_QUOTED),
            (Escape::None, b'\r' | b'\n') => {
                self.white.clear();
                decoded.push(byte);
                Escape::None
            }
            (Escape::None, _) => {
                decoded.append(&mut self.white);
                if byte == b'=' {
                    Escape::Opened
                } else {
                    decoded.push(byte);
                    Escape::None
                }
            }
            (Escape::Opened | Escape::Break, b'\n') => Escape::None,
            (Escape::Opened | Escape::Break, b'\r' | b' ' | b'\t') => Escape::Break,
            (Escape::Opened, _) => Escape::Digit(digit()?),
            (Escape::Digit(high), _) => {
                decoded.push(high * 16 + digit()?);
                Escape::None
            }
            (Escape::Break, _) => return Err(NOT_QUOTED),
        };
        Ok(())
    }

    /// Ends the part. It may end in a soft line break: the line break itself belongs to the
    /// boundary.
    fn finish(&self) -> Result<(), &'static str> {
        if let Escape::Digit(_) = self.state { Err(NOT_QUOTED) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(name: &str, text: &[u8], size: usize) -> Result<Vec<u8>, &'static str> {
        let mut decoder = TransferEncoding::named(name).expect("a known name").decoder();
        let mut decoded = Vec::new();
        for piece in text.chunks(size) {
            decoded.extend_from_slice(&decoder.push(Bytes::copy_from_slice(piece))?);
        }
        decoded.extend_from_slice(&decoder.finish()?);
        Ok(decoded)
    }

    #[test]
    fn quoted_printable() {
        let text = b"a=3D=C3=bc  \t\r\n b =\r\nc=\nd= \r\ne \t.\r\n=";
        let expected = "a=ü\r\n b cde \t.\r\n".as_bytes();
        for size in 1..text.len() {
            assert_eq!(decode("Quoted-Printable", text, size).as_deref(), Ok(expected));
        }
        for wrong in [&b"=4"[..], b"=x0", b"=4x", b"= x", &[b' '; 1000]] {
            assert_eq!(decode("quoted-printable", wrong, 100), Err(NOT_QUOTED), "{wrong:?}");
        }
    }

    #[test]
    fn base64_in_lines() {
        for size in 1..16 {
            assert_eq!(decode("BASE64", b"Zm9v\r\nYm\r\nFyLg==\r\n", size).as_deref(), Ok(&b"foobar."[..]));
        }
        for wrong in [&b"Zm9"[..], b"Zm9v!", b"\xff\xfe\xfd\xfc"] {
            assert_eq!(decode("base64", wrong, 100), Err(NOT_BASE64));
        }
        assert_eq!(TransferEncoding::named("x-uuencode"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1..50_usize) {
            let mut quoted = String::new();
            for (index, byte) in bytes.iter().enumerate() {
                quoted += &format!("={byte:02X}{}", if index % 20 == 19 { "=\r\n" } else { "" });
            }
            prop_assert_eq!(decode("quoted-printable", quoted.as_bytes(), size), Ok(bytes.clone()));
            prop_assert_eq!(decode("binary", &bytes, size), Ok(bytes));
        }
    }
}
