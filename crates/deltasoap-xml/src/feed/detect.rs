//! Detects the encoding of a document from its first bytes (XML 1.0, appendix F): a byte order
//! mark, `<?` in UTF-16, or the label in the XML declaration.
//!
//! Single-byte encodings look like UTF-8 up to the label, so the declaration is inspected before
//! the reader sees any of it. Detection waits only for bytes that can still name an encoding; the
//! reader reports errors in the declaration.

use crate::chars::{WHITE, has};

/// The encoding of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16, big-endian.
    Utf16Be,
    /// UTF-16, little-endian.
    Utf16Le,
    /// ISO-8859-1: each byte is the character with that number, also from 0x80 to 0x9F.
    Latin1,
    /// Windows-1252: as ISO-8859-1, but with other characters from 0x80 to 0x9F, such as the euro
    /// sign. As in the WHATWG's Encoding Standard, the five unassigned bytes are controls, as in
    /// ISO-8859-1.
    Windows1252,
}

impl Encoding {
    /// Returns its name, as in messages and `charset` parameters.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Windows1252 => "windows-1252",
        }
    }

    /// Returns the single-byte encoding that a label names, in a declaration or a `charset`
    /// parameter and in any case; `None` if it names no supported one. US-ASCII is not among them:
    /// it is read as the subset of UTF-8 that it is.
    pub fn single_byte(label: &[u8]) -> Option<Encoding> {
        // The Encoding Standard has one decoder for all three labels, which would turn Latin-1's
        // controls into characters.
        if encoding_rs::Encoding::for_label(label) != Some(encoding_rs::WINDOWS_1252) {
            return None;
        }
        match label.trim_ascii().to_ascii_lowercase().as_slice() {
            b"ascii" | b"us-ascii" | b"ansi_x3.4-1968" => None,
            b"windows-1252" | b"cp1252" | b"x-cp1252" => Some(Encoding::Windows1252),
            _ => Some(Encoding::Latin1),
        }
    }

    /// Returns true if a document in this encoding may declare it by this label.
    pub(crate) fn is_labelled(self, label: &[u8]) -> bool {
        let names: &[&str] = match self {
            Encoding::Utf8 => &["UTF-8", "US-ASCII", "ASCII", "UTF8"],
            Encoding::Utf16Be => &["UTF-16", "UTF-16BE", "ISO-10646-UCS-2"],
            Encoding::Utf16Le => &["UTF-16", "UTF-16LE", "ISO-10646-UCS-2"],
            Encoding::Latin1 | Encoding::Windows1252 => return Encoding::single_byte(label) == Some(self),
        };
        names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(label))
    }

    /// Returns the number of bytes that UTF-8 text takes in this encoding.
    pub fn length_of(self, text: &[u8]) -> u64 {
        match self {
            Encoding::Utf8 => text.len() as u64,
            Encoding::Utf16Be | Encoding::Utf16Le => 2 * units(text),
            Encoding::Latin1 | Encoding::Windows1252 => text.iter().map(|&b| u64::from(is_first(b))).sum(),
        }
    }
}

/// Returns the number of UTF-16 code units of UTF-8 text: one for each character, plus one for each
/// character of four bytes.
fn units(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&b| u64::from(is_first(b)) + u64::from(b >= 0xF0)).sum()
}

/// Returns true for the first byte of a character in UTF-8.
fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// The encoding that the first bytes of a document indicate; UTF-8 without a mark by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detected {
    /// The encoding.
    pub encoding: Encoding,
    /// True if there was a byte order mark. UTF-16 without one must be declared.
    pub mark: bool,
}

impl Detected {
    /// Detects the encoding of a document that starts with these bytes; `fallback` if they
    /// indicate none. `None` if the bytes after them decide.
    pub fn at_start(document: &[u8], fallback: Encoding) -> Option<Detected> {
        let head = &document[..document.len().min(MAX_DECLARATION)];
        if let Some((_, detected)) = STARTS.iter().find(|(start, _)| head.starts_with(start)) {
            return Some(*detected);
        }
        if STARTS.iter().any(|(start, _)| start.starts_with(head)) {
            return None;
        }
        let encoding = match declared_label(head) {
            Ok(label) => named(label).unwrap_or(fallback),
            Err(Undeclared::Open) if head.len() < MAX_DECLARATION => return None,
            Err(_) => fallback,
        };
        Some(Detected { encoding, mark: false })
    }

    /// Returns the length of the byte order mark.
    pub(super) fn mark_len(self) -> usize {
        match self.encoding {
            _ if !self.mark => 0,
            Encoding::Utf8 => 3,
            Encoding::Utf16Be | Encoding::Utf16Le => 2,
            Encoding::Latin1 | Encoding::Windows1252 => 0,
        }
    }
}

/// Starts of documents and what they indicate: the byte order marks, and `<?` in UTF-16.
const STARTS: [(&[u8], Detected); 5] = [
    (b"\xEF\xBB\xBF", Detected { encoding: Encoding::Utf8, mark: true }),
    (b"\xFE\xFF", Detected { encoding: Encoding::Utf16Be, mark: true }),
    (b"\xFF\xFE", Detected { encoding: Encoding::Utf16Le, mark: true }),
    (b"\0<\0?", Detected { encoding: Encoding::Utf16Be, mark: false }),
    (b"<\0?\0", Detected { encoding: Encoding::Utf16Le, mark: false }),
];

/// Maximum number of bytes that a decision takes. A declaration that has not named an encoding by
/// then is taken to name none.
const MAX_DECLARATION: usize = 256;

/// The reason why a document declares no encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undeclared {
    /// The bytes that follow may still declare one.
    Open,
    /// It has no declaration, or one without an encoding, or an invalid one.
    Never,
}

/// Returns the label in the XML declaration that a document starts with (XML 2.8, 4.3.3).
fn declared_label(document: &[u8]) -> Result<&[u8], Undeclared> {
    let rest = after(document, b"<?xml")?;
    let (_, rest) = pair(rest, b"version")?;
    pair(rest, b"encoding").map(|(label, _)| label)
}

/// Parses white space and `name="value"`; returns the value and the text after it.
fn pair<'a>(text: &'a [u8], name: &[u8]) -> Result<(&'a [u8], &'a [u8]), Undeclared> {
    if text.first().is_some_and(|&b| !has(b, WHITE)) {
        return Err(Undeclared::Never);
    }
    let rest = after(without_white(text), name)?;
    let rest = without_white(after(without_white(rest), b"=")?);
    let (quote, rest) = rest.split_first().ok_or(Undeclared::Open)?;
    if !matches!(quote, b'"' | b'\'') {
        return Err(Undeclared::Never);
    }
    let is_end = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    let end = rest.iter().position(is_end).ok_or(Undeclared::Open)?;
    if rest[end] == *quote { Ok((&rest[..end], &rest[end + 1..])) } else { Err(Undeclared::Never) }
}

/// Returns the text after `word`, which must be its prefix.
fn after<'a>(text: &'a [u8], word: &[u8]) -> Result<&'a [u8], Undeclared> {
    let fail = if word.starts_with(text) { Undeclared::Open } else { Undeclared::Never };
    text.strip_prefix(word).ok_or(fail)
}

fn without_white(text: &[u8]) -> &[u8] {
    let white = text.iter().take_while(|&&b| has(b, WHITE)).count();
    &text[white..]
}

/// Returns the encoding of a label in a document that looks like ASCII up to the label.
fn named(label: &[u8]) -> Option<Encoding> {
    if Encoding::Utf8.is_labelled(label) { Some(Encoding::Utf8) } else { Encoding::single_byte(label) }
}

/// Collects the first bytes of a document until they decide.
#[derive(Debug, Default)]
pub(super) struct Detector {
    /// Bytes that did not decide, fewer than [`MAX_DECLARATION`].
    head: Vec<u8>,
    /// The encoding of a document that indicates none.
    fallback: Encoding,
    detected: Option<Detected>,
}

/// The bytes taken to decide: the document continues with `head` and then with the chunk from
/// `used` on.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    pub(super) head: Vec<u8>,
    pub(super) used: usize,
}

impl Detector {
    /// Returns the encoding of the document, once decided.
    pub(super) fn detected(&self) -> Option<Detected> {
        self.detected
    }

    /// Sets the encoding of a document that indicates none.
    pub(super) fn set_fallback(&mut self, encoding: Encoding) {
        self.fallback = encoding;
    }

    /// Adds the next chunk. If that decides, returns the bytes taken, without the byte order mark.
    /// A first chunk that decides by itself is not copied.
    pub(super) fn add(&mut self, chunk: &[u8]) -> Option<Prefix> {
        if !self.head.is_empty() {
            return self.add_to_head(chunk);
        }
        self.detected = Detected::at_start(chunk, self.fallback);
        if self.detected.is_none() {
            self.head.extend_from_slice(chunk);
        }
        self.detected.map(|detected| Prefix { head: Vec::new(), used: detected.mark_len() })
    }

    fn add_to_head(&mut self, chunk: &[u8]) -> Option<Prefix> {
        let used = chunk.len().min(MAX_DECLARATION - self.head.len());
        self.head.extend_from_slice(&chunk[..used]);
        let detected = Detected::at_start(&self.head, self.fallback)?;
        self.detected = Some(detected);
        let mut head = std::mem::take(&mut self.head);
        head.drain(..detected.mark_len());
        Some(Prefix { head, used })
    }

    /// Decides without more bytes.
    pub(super) fn settle(&mut self) -> Prefix {
        self.detected = Some(Detected { encoding: self.fallback, mark: false });
        Prefix { head: std::mem::take(&mut self.head), used: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the decision, UTF-8 if the document indicates none, and the remaining bytes, for
    /// chunks of `size` bytes.
    fn detect(bytes: &[u8], size: usize) -> (Detected, Vec<u8>) {
        detect_or(bytes, size, Encoding::Utf8)
    }

    fn detect_or(bytes: &[u8], size: usize, fallback: Encoding) -> (Detected, Vec<u8>) {
        let mut detector = Detector { fallback, ..Detector::default() };
        let mut chunks = bytes.chunks(size);
        while let Some(chunk) = chunks.next() {
            if let Some(prefix) = detector.add(chunk) {
                let rest = chunks.flatten().copied();
                let document = [prefix.head, chunk[prefix.used..].to_vec(), rest.collect()].concat();
                return (detector.detected().unwrap(), document);
            }
        }
        let prefix = detector.settle();
        (detector.detected().unwrap(), prefix.head)
    }

    #[test]
    fn first_bytes_decide_however_they_come() {
        let cases: [(&[u8], Encoding, &[u8]); 9] = [
            (b"<a/>", Encoding::Utf8, b"<a/>"),
            (b"\xEF\xBB\xBF<a/>", Encoding::Utf8, b"<a/>"),
            (b"\xEF\xBB", Encoding::Utf8, b"\xEF\xBB"),
            (b"\xFE\xFF\0<", Encoding::Utf16Be, b"\0<"),
            (b"\xFF\xFE<\0", Encoding::Utf16Le, b"<\0"),
            (b"<\0?\0x\0", Encoding::Utf16Le, b"<\0?\0x\0"),
            (b"\0<\0?\0x", Encoding::Utf16Be, b"\0<\0?\0x"),
            (b"<\0a\0", Encoding::Utf8, b"<\0a\0"),
            (b"", Encoding::Utf8, b""),
        ];
        for (bytes, encoding, rest) in cases {
            for size in 1..6 {
                let (detected, document) = detect(bytes, size);
                assert_eq!((detected.encoding, &*document), (encoding, rest), "{bytes:?} by {size}");
            }
        }
    }

    /// Returns the encoding of a document, which must not depend on chunks.
    fn encoding(document: &[u8], fallback: Encoding) -> Encoding {
        let whole = detect_or(document, usize::MAX, fallback);
        for size in 1..document.len() {
            assert_eq!(detect_or(document, size, fallback), whole, "{document:?} by {size}");
        }
        assert_eq!(whole.1, document.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(document));
        whole.0.encoding
    }

    #[test]
    fn a_declaration_names_the_encoding() {
        let cases: [(&[u8], Encoding); 24] = [
            (b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", Encoding::Latin1),
            (b"<?xml\tversion = \"1.0\"\r\n encoding\n=\n\"latin1\" standalone='no' ?>", Encoding::Latin1),
            (b"<?xml version='1.0' encoding='iso_8859-1'", Encoding::Latin1),
            (b"<?xml version='1.0' encoding='L1'?>", Encoding::Latin1),
            (b"<?xml version='2.0' encoding='Windows-1252'?>\x80", Encoding::Windows1252),
            (b"<?xml version='1.0' encoding='CP1252'?>", Encoding::Windows1252),
            (b"<?xml version='1.0' encoding='US-ASCII'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='ascii'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='utf-8'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='UTF-16'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='koi8-r'?>", Encoding::Utf8),
            (b"\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?>", Encoding::Utf8),
            // No declaration, or none that is recognised.
            (b" <?xml version='1.0' encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml-x version='1.0' encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml version='1.0'encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml version='1.0' standalone='no' encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='latin1\"?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding=latin1?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='latin 1'?>", Encoding::Utf8),
            (b"<?xml version='1.0' encoding='latin1", Encoding::Utf8),
            (b"<?xml version='1.0' encoding=''?>", Encoding::Utf8),
            (b"<?xml version='\xE9' encoding='latin1'?>", Encoding::Utf8),
            (b"<?xml version='1.0'?><a encoding='latin1'/>", Encoding::Utf8),
        ];
        for (document, expected) in cases {
            assert_eq!(encoding(document, Encoding::Utf8), expected, "{}", String::from_utf8_lossy(document));
        }
    }

    #[test]
    fn an_external_encoding_holds_for_documents_without_one() {
        let external = |document: &[u8]| encoding(document, Encoding::Windows1252);
        for document in [&b"<a>\x80</a>"[..], b"", b"<", b"\xEF\xBB", b"<?xml version='1.0'?><a/>", b"<?xml versi"] {
            assert_eq!(external(document), Encoding::Windows1252, "{document:?}");
        }
        assert_eq!(external(b"\xEF\xBB\xBF<a/>"), Encoding::Utf8);
        assert_eq!(external(b"<?xml version='1.0' encoding='UTF-8'?><a/>"), Encoding::Utf8);
        assert_eq!(external(b"<?xml version='1.0' encoding='latin1'?><a/>"), Encoding::Latin1);
    }

    #[test]
    fn an_endless_declaration_is_not_waited_for() {
        for (white, expected) in [(200, Encoding::Latin1), (300, Encoding::Utf8), (100_000, Encoding::Utf8)] {
            let document = format!("<?xml version='1.0'{}encoding='latin1'?><a/>", " ".repeat(white));
            for size in [1, 7, 255, 256, 257, usize::MAX] {
                let (detected, rest) = detect(document.as_bytes(), size);
                assert_eq!((detected.encoding, &*rest), (expected, document.as_bytes()), "{white} by {size}");
            }
        }
    }

    #[test]
    fn a_first_chunk_that_decides_is_not_copied() {
        for document in [&b"<?xml version='1.0' encoding='UTF-8'?><a/>"[..], b"<?xml version='1.0'?>", b"<a/>"] {
            let mut detector = Detector::default();
            let prefix = detector.add(document).unwrap();
            assert_eq!((prefix.head.capacity(), prefix.used, detector.head.capacity()), (0, 0, 0));
        }
    }

    #[test]
    fn labels_of_single_bytes() {
        for label in ["iso-8859-1", "ISO_8859-1:1987", "latin1", "l1", "IBM819", "cp819", "iso88591", "csISOLatin1"] {
            assert_eq!(Encoding::single_byte(label.as_bytes()), Some(Encoding::Latin1), "{label}");
        }
        for label in ["us-ascii", "ASCII", "ANSI_X3.4-1968", "utf-8", "iso-8859-15", "windows-1250", "", "latin-1"] {
            assert_eq!(Encoding::single_byte(label.as_bytes()), None, "{label}");
        }
    }
}
