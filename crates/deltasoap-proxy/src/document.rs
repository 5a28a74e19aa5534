//! Documents as bytes: what is in them, and changes that leave all other bytes as they are.

use deltasoap_xml::{Event, Instructions, Limits, Reader, Stop, Window, XmlError};
use std::ops::Range;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a whole document in UTF-8. `see` gets each event, the reader, and the place after the
/// event; it returns false to end early.
///
/// # Errors
/// Returns an error if the document is not well-formed, or not in UTF-8.
pub(crate) fn read(
    document: &[u8],
    mut see: impl FnMut(Event<'_>, &Reader, usize) -> bool,
) -> Result<(), Box<XmlError>> {
    let mut reader = Reader::new(Limits::server(), Instructions::Skip);
    let mut window = Window::whole(document.strip_prefix(MARK).unwrap_or(document));
    let mark = document.len() - window.bytes.len();
    loop {
        match reader.next(&mut window) {
            Ok(Event::Done) => return Ok(()),
            Ok(event) => {
                if !see(event, &reader, window.pos + mark) {
                    return Ok(());
                }
            }
            Err(Stop::Pending) => return Ok(()),
            Err(Stop::Error(error)) => return Err(error),
        }
    }
}

/// Returns the place at which the last tag began.
pub(crate) fn tag_start(document: &[u8], reader: &Reader) -> usize {
    let mark = if document.starts_with(MARK) { MARK.len() } else { 0 };
    reader.tag_offset() as usize + mark
}

/// Returns true if the element whose tag was just read has this name.
pub(crate) fn is_named(reader: &Reader, namespace: &str, local: &str) -> bool {
    let (names, name) = (reader.names(), reader.name());
    names.local(name) == local && names.namespace(name) == namespace
}

/// Changes of a document, in its order.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Replaces a range, which comes after those of earlier changes.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changed document.
    pub(crate) fn apply(self, document: &[u8]) -> Vec<u8> {
        let (mut out, mut from) = (Vec::with_capacity(document.len() + 64), 0);
        for (range, text) in self.0 {
            if range.start < from {
                continue;
            }
            out.extend_from_slice(&document[from..range.start]);
            out.extend_from_slice(text.as_bytes());
            from = range.end;
        }
        out.extend_from_slice(&document[from..]);
        out
    }
}

/// Returns the range of an attribute's value in a well-formed start tag. The attribute is in no
/// namespace.
pub(crate) fn attribute_value(tag: &[u8], name: &str) -> Option<Range<usize>> {
    attributes(tag).find(|(found, _)| *found == name.as_bytes()).map(|(_, range)| range)
}

/// Returns the attributes of a well-formed start tag as they are written: names, and ranges of values.
pub(crate) fn attributes(tag: &[u8]) -> impl Iterator<Item = (&[u8], Range<usize>)> {
    let mut at = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
    std::iter::from_fn(move || {
        at += tag[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let equals = at + tag[at..].iter().position(|byte| *byte == b'=')?;
        let name = tag[at..equals].trim_ascii_end();
        let open = equals + tag[equals..].iter().position(|byte| matches!(byte, b'"' | b'\''))?;
        let close = open + 1 + tag[open + 1..].iter().position(|byte| *byte == tag[open])?;
        at = close + 1;
        Some((name, open + 1..close))
    })
}

/// Escapes text for an attribute's value, and for content.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_in_tags() {
        let tag = br#"<a:b  xmlns:a = "u>x" a:location='no' location = 'http://h/' x="location='y'"/>"#;
        assert_eq!(attribute_value(tag, "location").map(|range| &tag[range]), Some(&b"http://h/"[..]));
        assert_eq!(attribute_value(tag, "other"), None);
        assert_eq!(attribute_value(b"<a>", "other"), None);
    }

    #[test]
    fn edits_leave_the_rest() {
        let mut edits = Edits::default();
        edits.replace(1..2, "XY");
        edits.replace(3..3, "Z");
        assert_eq!(edits.apply(b"abcd"), b"aXYcZd");
    }
}
