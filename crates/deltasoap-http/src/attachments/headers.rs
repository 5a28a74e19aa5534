//! The headers of a part (RFC 2045, section 3), parsed as leniently as real senders require.

use super::transfer::TransferEncoding;
use deltasoap_core::PartUri;

/// Maximum number of headers of one part: each takes many times the memory of its minimum size.
const FIELDS: usize = 100;

/// Headers that a part may have only once, since readers differ in which of two they take, and the
/// error for a second one.
const SINGLE: [(&str, &str); 4] = [
    ("content-id", "a part has two headers Content-ID"),
    ("content-type", "a part has two headers Content-Type"),
    ("content-location", "a part has two headers Content-Location"),
    ("content-transfer-encoding", "a part has two headers Content-Transfer-Encoding"),
];

/// The headers of a part.
///
/// The headers of a DIME record get their MIME names: `Content-Type` and `Content-ID`, or
/// `Content-Location` for an ID that is not a `cid:` URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartHeaders {
    fields: Vec<(String, String)>,
}

impl PartHeaders {
    pub(super) fn from_fields(fields: Vec<(String, String)>) -> Self {
        PartHeaders { fields }
    }

    /// Parses the lines before the empty one.
    pub(super) fn parse(block: &[u8]) -> Result<Self, &'static str> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in block.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let text = String::from_utf8_lossy(line);
            match (fields.last_mut(), line.first()) {
                (_, None) => {}
                (Some((_, value)), Some(b' ' | b'\t')) => {
                    value.push(' ');
                    value.push_str(text.trim());
                }
                _ => fields.push(field(&text)?),
            }
            if fields.len() > FIELDS {
                return Err("a part has more than 100 headers");
            }
        }
        let headers = PartHeaders { fields };
        match SINGLE.iter().find(|(name, _)| headers.count(name) > 1) {
            Some((_, error)) => Err(error),
            None => Ok(headers),
        }
    }

    fn count(&self, name: &str) -> usize {
        self.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).count()
    }

    /// Returns the first header with this name, compared case-insensitively.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns all headers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the media type.
    pub fn content_type(&self) -> Option<&str> {
        self.get("content-type")
    }

    /// Returns the content ID, without its angle brackets, which some senders omit.
    pub fn content_id(&self) -> Option<&str> {
        self.get("content-id").map(bare_id).filter(|id| !id.is_empty())
    }

    /// Returns the `Content-Location` (RFC 2557).
    pub fn location(&self) -> Option<&str> {
        self.get("content-location")
    }

    /// Returns the name that no other part may have: its content ID, or its location if it has none
    /// (as for DIME's IDs of other schemes than `cid:`).
    pub(super) fn identity(&self) -> Option<&str> {
        self.content_id().or(self.location().filter(|location| !location.is_empty()))
    }

    /// Returns true if a reference targets the part: by its content ID, or by its location.
    pub fn is_at(&self, uri: &PartUri) -> bool {
        match uri.content_id() {
            Some(id) => self.content_id() == Some(&*id),
            None => self.location() == Some(uri.as_str()) || self.content_id() == Some(uri.as_str()),
        }
    }

    /// Returns the part's encoding; identity by default.
    pub(super) fn transfer(&self) -> Option<TransferEncoding> {
        self.get("content-transfer-encoding").map_or(Some(TransferEncoding::Identity), TransferEncoding::named)
    }
}

fn field(line: &str) -> Result<(String, String), &'static str> {
    let (name, value) = line.split_once(':').ok_or("a header of a part has no colon")?;
    let name = name.trim_end();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("a header of a part has no name");
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// Strips white space and angle brackets from an ID.
pub(super) fn bare_id(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_all_spellings() {
        let block = b"content-ID: <a@b>\r\nContent-Type : text/xml;\r\n\tcharset=utf-8\nX:\r\n";
        let headers = PartHeaders::parse(block).expect("headers");
        assert_eq!(headers.content_id(), Some("a@b"));
        assert_eq!(headers.content_type(), Some("text/xml; charset=utf-8"));
        assert_eq!((headers.get("x"), headers.get("y"), headers.iter().count()), (Some(""), None, 3));
        assert_eq!(PartHeaders::parse(b""), Ok(PartHeaders::default()));
    }

    #[test]
    fn broken_lines_are_refused() {
        for block in [&b"no colon\r\n"[..], b": x", b" folded: first", b"a b: c", b"\0: x"] {
            assert!(PartHeaders::parse(block).is_err(), "{block:?}");
        }
    }

    #[test]
    fn headers_that_tell_parts_apart_stand_once() {
        for (name, error) in SINGLE {
            let twice = format!("{name}: a\r\n{}: a\r\n", name.to_ascii_uppercase());
            assert_eq!(PartHeaders::parse(twice.as_bytes()), Err(error));
        }
        assert!(PartHeaders::parse(b"X: a\r\nX: b\r\n").is_ok());
    }

    #[test]
    fn headers_are_counted() {
        assert_eq!(PartHeaders::parse(&b"a:\n".repeat(FIELDS)).map(|headers| headers.iter().count()), Ok(FIELDS));
        assert!(PartHeaders::parse(&b"a:\n".repeat(FIELDS + 1)).is_err_and(|what| what.contains(&FIELDS.to_string())));
    }

    #[test]
    fn references_are_by_id_or_location() {
        let headers = |text: &str| PartHeaders::parse(text.as_bytes()).expect("headers");
        let (by_id, at) = (headers("Content-ID: a b"), headers("Content-Location: http://x/y"));
        assert!(by_id.is_at(&PartUri::new("cid:a%20b")) && !by_id.is_at(&PartUri::new("cid:a%20c")));
        assert!(at.is_at(&PartUri::new("http://x/y")) && !at.is_at(&PartUri::new("cid:http://x/y")));
        assert!(headers("Content-ID: <http://x/y>").is_at(&PartUri::new("cid:http://x/y")));
        assert!(headers("Content-ID: <http://x/y>").is_at(&PartUri::new("http://x/y")));
        assert_eq!(headers("Content-ID: <>").content_id(), None);
    }
}
