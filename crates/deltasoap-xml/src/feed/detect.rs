//! Which encoding a document is in, from its first bytes (XML 1.0, appendix F).

/// The encoding that a document came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[default]
    Utf8,
    /// UTF-16, big end first.
    Utf16Be,
    /// UTF-16, little end first.
    Utf16Le,
}

impl Encoding {
    /// Its name for people and for `charset` parameters.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Utf16Le => "UTF-16LE",
        }
    }
}

/// What the first bytes of a document say; by default UTF-8 without a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detected {
    /// The encoding.
    pub encoding: Encoding,
    /// True if there was a byte order mark. UTF-16 without one must be declared.
    pub mark: bool,
}

impl Detected {
    /// Bytes of the byte order mark.
    pub(super) fn mark_len(self) -> usize {
        match self.encoding {
            _ if !self.mark => 0,
            Encoding::Utf8 => 3,
            Encoding::Utf16Be | Encoding::Utf16Le => 2,
        }
    }
}

const UTF_8: Detected = Detected { encoding: Encoding::Utf8, mark: false };

/// Starts of documents and what they say: the marks, and `<?` in UTF-16.
const STARTS: [(&[u8], Detected); 5] = [
    (b"\xEF\xBB\xBF", Detected { encoding: Encoding::Utf8, mark: true }),
    (b"\xFE\xFF", Detected { encoding: Encoding::Utf16Be, mark: true }),
    (b"\xFF\xFE", Detected { encoding: Encoding::Utf16Le, mark: true }),
    (b"\0<\0?", Detected { encoding: Encoding::Utf16Be, mark: false }),
    (b"<\0?\0", Detected { encoding: Encoding::Utf16Le, mark: false }),
];

/// Most bytes that a decision takes.
const LONGEST: usize = 4;

/// Collects first bytes until they decide.
#[derive(Debug, Default)]
pub(super) struct Detector {
    /// Bytes that did not decide, fewer than [`LONGEST`].
    head: Vec<u8>,
    detected: Option<Detected>,
}

/// What was taken to decide: the document goes on with `head` and then with the chunk from `used` on.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    pub(super) head: Vec<u8>,
    pub(super) used: usize,
}

impl Detector {
    /// What the document is in, once decided.
    pub(super) fn detected(&self) -> Option<Detected> {
        self.detected
    }

    /// Adds the next chunk; gives what was taken, without the byte order mark, if that decides.
    pub(super) fn add(&mut self, chunk: &[u8]) -> Option<Prefix> {
        let before = self.head.len();
        let used = chunk.len().min(LONGEST - before);
        self.head.extend_from_slice(&chunk[..used]);
        let detected = decide(&self.head)?;
        self.detected = Some(detected);
        let head = std::mem::take(&mut self.head);
        match before {
            0 => Some(Prefix { head: Vec::new(), used: detected.mark_len() }),
            _ => Some(Prefix { head: head[detected.mark_len()..].to_vec(), used }),
        }
    }

    /// Decides without more bytes.
    pub(super) fn settle(&mut self) -> Prefix {
        self.detected = Some(UTF_8);
        Prefix { head: std::mem::take(&mut self.head), used: 0 }
    }
}

fn decide(head: &[u8]) -> Option<Detected> {
    if let Some((_, detected)) = STARTS.iter().find(|(start, _)| head.starts_with(start)) {
        return Some(*detected);
    }
    let is_open = STARTS.iter().any(|(start, _)| start.starts_with(head));
    (!is_open).then_some(UTF_8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decision and the bytes left of the document, for every chunking into pieces of `size`.
    fn detect(bytes: &[u8], size: usize) -> (Detected, Vec<u8>) {
        let mut detector = Detector::default();
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
}
