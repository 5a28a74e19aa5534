//! Converts documents to UTF-8. The encoding is detected from the byte order mark or the
//! declaration.
//!
//! SOAP messages use few encodings, but WSDLs were written with all sorts of editors.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// Number of bytes at the start that are searched for a declaration.
const HEAD: usize = 256;

/// Returns the document as UTF-8 without a byte order mark; `None` if its bytes are invalid in its
/// encoding.
pub(super) fn to_utf8(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let encoding = detect(bytes)?;
    if encoding == UTF_8 {
        return Some(Cow::Borrowed(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)));
    }
    let (text, failed) = encoding.decode_with_bom_removal(bytes);
    (!failed).then(|| Cow::Owned(without_declaration(&text).into_bytes()))
}

/// Decodes a document that came with a charset (RFC 7303, 3.2). The charset applies only if neither
/// a byte order mark nor a declaration gives the encoding: servers often send one without looking
/// into the file.
#[cfg(any(feature = "http", test))]
pub(crate) fn in_charset(bytes: Vec<u8>, charset: &str) -> Vec<u8> {
    let is_declared =
        detect(&bytes) != Some(UTF_8) || declared(&bytes).is_some() || Encoding::for_bom(&bytes).is_some();
    let encoding = Encoding::for_label(charset.as_bytes()).filter(|encoding| !is_declared && *encoding != UTF_8);
    let decoded = encoding.and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(&bytes));
    match decoded {
        Some(text) => text.into_owned().into_bytes(),
        None => bytes,
    }
}

/// Decodes a document in any encoding; returns `None` if its bytes are invalid in its encoding.
pub fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(to_utf8(bytes)?.into_owned()).ok()
}

fn detect(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding);
    }
    match bytes {
        [0, b'<', 0, b'?', ..] => Some(UTF_16BE),
        [b'<', 0, b'?', 0, ..] => Some(UTF_16LE),
        _ => match declared(bytes) {
            // The declaration itself was read as ASCII.
            Some(label) => Encoding::for_label(label).filter(|it| it.is_ascii_compatible()),
            None => Some(UTF_8),
        },
    }
}

/// Returns the encoding in the XML declaration.
fn declared(bytes: &[u8]) -> Option<&[u8]> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let end = memchr::memmem::find(head, b"?>").filter(|_| head.starts_with(b"<?xml"))?;
    let at = memchr::memmem::find(&head[..end], b"encoding")? + "encoding".len();
    let value = head[at..end].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    Some(&value[..memchr::memchr(*quote, value)?])
}

/// Blanks out the XML declaration, which no longer applies. Positions stay the same.
fn without_declaration(text: &str) -> String {
    match text.find("?>").filter(|_| text.starts_with("<?xml")) {
        Some(end) => {
            let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
            text[..end + 2].chars().map(blank).chain(text[end + 2..].chars()).collect()
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_encodings_become_utf8() {
        let latin = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xE9</a>";
        assert!(to_utf8(latin).unwrap().ends_with("<a>é</a>".as_bytes()));
        let utf16: Vec<u8> = "\u{FEFF}<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(&*to_utf8(&utf16).unwrap(), "<a>é</a>".as_bytes());
        assert_eq!(&*to_utf8(b"\xEF\xBB\xBF<a/>").unwrap(), b"<a/>");
        assert_eq!(to_utf8(b"<?xml version='1.0' encoding='nonsense'?><a/>"), None);
    }

    #[test]
    fn a_charset_holds_where_the_document_tells_nothing() {
        let latin = |text: &[u8]| in_charset(text.to_vec(), "ISO-8859-1");
        assert_eq!(latin(b"<a>\xE9</a>"), "<a>é</a>".as_bytes());
        assert_eq!(latin(b"<?xml version='1.0'?><a>\xE9</a>"), "<?xml version='1.0'?><a>é</a>".as_bytes());
        for document in ["\u{FEFF}<a>é</a>", "<?xml version='1.0' encoding='utf-8'?><a>é</a>"] {
            assert_eq!(latin(document.as_bytes()), document.as_bytes());
        }
        for charset in ["nonsense", "utf-8", "us-ascii-or-so", "euc-jp"] {
            assert_eq!(in_charset(b"<a>\xE9</a>".to_vec(), charset), b"<a>\xE9</a>", "{charset}");
        }
    }
}
