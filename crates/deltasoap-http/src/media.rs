//! Media types: the `Content-Type` of received messages and of ours.
//!
//! The parser is lenient. The envelope determines the SOAP version, so the media type only has to
//! be one that is used for XML. It determines the version only if no envelope was read, for example
//! when the first byte is invalid.

use deltasoap_core::soap::Version;
use deltasoap_xml::Encoding;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};

/// A parsed `Content-Type`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MediaType {
    /// `type/subtype` in lower case; empty if the header is missing.
    pub(crate) essence: String,
    /// The parameter `charset` in lower case.
    pub(crate) charset: Option<String>,
    /// The parameter `action` (SOAP 1.2 part 2, 7.1.4; RFC 3902).
    pub(crate) action: Option<String>,
    /// The other parameters, names in lower case.
    others: Vec<(String, String)>,
}

impl MediaType {
    /// Returns the media type of a message with these headers; `None` if the header cannot be read,
    /// or appears twice with different values.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        match headers.get(CONTENT_TYPE) {
            None => Some(MediaType::default()),
            Some(_) if contradicts_itself(headers, &CONTENT_TYPE) => None,
            Some(value) => MediaType::parse(value.to_str().ok()?),
        }
    }

    /// Parses the `Content-Type` of a package's root; `None` if no message can have it. The type of
    /// a DIME record is a namespace instead.
    pub(crate) fn from_root(text: &str) -> Option<Self> {
        if Version::from_namespace(text.trim()).is_some() {
            return Some(MediaType::default());
        }
        MediaType::parse(text).filter(MediaType::can_be_root)
    }

    /// Parses a header's value (RFC 9110, 8.3.1).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (essence, mut rest) = text.split_once(';').unwrap_or((text, ""));
        let mut media = MediaType { essence: essence.trim().to_ascii_lowercase(), ..MediaType::default() };
        while !rest.trim().is_empty() {
            let (name, value, behind) = parameter(rest)?;
            match name.as_str() {
                // A second one makes it ambiguous.
                "charset" => {
                    let charset = value.to_ascii_lowercase();
                    if media.charset.replace(charset.clone()).is_some_and(|other| other != charset) {
                        return None;
                    }
                }
                "action" if media.action.as_ref().is_some_and(|other| *other != value) => return None,
                "action" => media.action = Some(value),
                _ if media.parameter(&name).is_some_and(|other| other != value) => return None,
                _ => media.others.push((name, value)),
            }
            rest = behind;
        }
        Some(media)
    }

    /// Returns true if a SOAP message can have this media type: those of both versions, those of
    /// plain XML, and none.
    pub(crate) fn can_be_soap(&self) -> bool {
        ["", "text/xml", "application/soap+xml", "application/xml"].contains(&self.essence.as_str())
    }

    /// Returns a parameter other than `charset` and `action`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.others.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns true if this media type can carry a message as one part of several; a multipart must
    /// name its boundary.
    pub(crate) fn is_package(&self) -> bool {
        (self.essence == "multipart/related" && self.parameter("boundary").is_some()) || self.is_dime()
    }

    /// True for DIME.
    pub(crate) fn is_dime(&self) -> bool {
        self.essence == "application/dime"
    }

    /// Returns true if the root of a package can be a SOAP message: a plain one, or one in XOP.
    pub(crate) fn can_be_root(&self) -> bool {
        self.can_be_soap() || self.essence == "application/xop+xml"
    }

    /// Returns true if messages can be read in the charset. The bytes show whether the message is
    /// actually in it: see [`Charset`](crate::charset::Charset). `utf-16le` and `utf-16be` forbid a
    /// byte order mark, so their bytes would be ambiguous.
    pub(crate) fn is_readable(&self) -> bool {
        let readable = ["utf-8", "utf8", "us-ascii", "ascii", "utf-16"];
        let is_read =
            |charset: &str| readable.contains(&charset) || Encoding::single_byte(charset.as_bytes()).is_some();
        self.charset.as_deref().is_none_or(is_read)
    }

    /// Returns the version that the media type implies.
    pub(crate) fn version(&self) -> Version {
        let is_12 = |text: &str| text.trim_start().to_ascii_lowercase().starts_with(Version::Soap12.media_type());
        let is_inside = || ["type", "start-info"].iter().any(|name| self.parameter(name).is_some_and(is_12));
        if is_12(&self.essence) || (self.is_package() && is_inside()) { Version::Soap12 } else { Version::Soap11 }
    }
}

/// Returns true if a header appears twice with different values, which makes it ambiguous.
pub(crate) fn contradicts_itself(headers: &HeaderMap, name: &HeaderName) -> bool {
    let mut values = headers.get_all(name).iter();
    values.next().is_some_and(|first| values.any(|other| other != first))
}

/// Splits off the first `name=value` of a list of parameters. Also returns the rest after it.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let text = text.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
    if text.is_empty() {
        return Some((String::new(), String::new(), ""));
    }
    let (name, rest) = text.split_once('=')?;
    let (value, behind) = match rest.strip_prefix('"') {
        Some(quoted) => quoted_string(quoted)?,
        None => {
            let end = rest.find(';').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        }
    };
    Some((name.trim().to_ascii_lowercase(), value, behind))
}

/// Parses a quoted string (RFC 9110, 5.6.4) without its opening quote. Also returns the rest after
/// it.
fn quoted_string(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// Returns the `Content-Type` of our messages without an action.
pub(crate) fn content_type(version: Version) -> HeaderValue {
    HeaderValue::from_static(match version {
        Version::Soap11 => "text/xml; charset=utf-8",
        Version::Soap12 => "application/soap+xml; charset=utf-8",
    })
}

/// Returns the `Content-Type` of a request, which in SOAP 1.2 carries the action.
pub(crate) fn request_type(version: Version, action: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    if version == Version::Soap11 || action.is_empty() {
        return Ok(content_type(version));
    }
    HeaderValue::try_from(format!("application/soap+xml; charset=utf-8; action={}", quote(action)))
}

/// Returns the `Content-Type` of a package in MIME: with the boundary, the root's own type, and for
/// MTOM the type of the message within (MTOM 1.0, section 3.2; RFC 2387).
pub(crate) fn related_type(
    version: Version,
    action: &str,
    is_mtom: bool,
    boundary: &str,
    start: &str,
) -> Result<HeaderValue, InvalidHeaderValue> {
    let kind = if is_mtom { "application/xop+xml" } else { version.media_type() };
    let mut text = format!("multipart/related; boundary=\"{boundary}\"; type=\"{kind}\"; start=\"<{start}>\"");
    if is_mtom {
        text += &format!("; start-info=\"{}\"", version.media_type());
    }
    with_action(text, version, action)
}

/// Returns the `Content-Type` of the root of such a package.
pub(crate) fn root_type(version: Version, action: &str, is_mtom: bool) -> Result<HeaderValue, InvalidHeaderValue> {
    if !is_mtom {
        return request_type(version, action);
    }
    let text = format!("application/xop+xml; charset=utf-8; type=\"{}\"", version.media_type());
    with_action(text, version, action)
}

/// Returns a media type with the action, if the version carries it as a parameter.
fn with_action(mut text: String, version: Version, action: &str) -> Result<HeaderValue, InvalidHeaderValue> {
    if version == Version::Soap12 && !action.is_empty() {
        text += &format!("; action={}", quote(action));
    }
    HeaderValue::try_from(text)
}

/// Returns text as a quoted string.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the text of a `SOAPAction` header (SOAP 1.1, 6.1.1). Many senders omit its quotes.
pub(crate) fn unquote(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"').and_then(quoted_string) {
        Some((value, _)) => value,
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Option<String>, Option<String>) {
        let media = MediaType::parse(text).expect("a media type");
        (media.essence, media.charset, media.action)
    }

    #[test]
    fn parameters_in_all_spellings() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("Text/XML"), ("text/xml".to_owned(), None, None));
        assert_eq!(parsed("text/xml;charset=\"UTF-8\""), ("text/xml".to_owned(), some("utf-8"), None));
        assert_eq!(parsed("text/xml; charset=utf-8; charset=UTF-8"), ("text/xml".to_owned(), some("utf-8"), None));
        assert_eq!(parsed("text/xml ; Charset = utf-8 ;;"), ("text/xml".to_owned(), some("utf-8"), None));
        assert_eq!(
            parsed(r#"application/soap+xml; action="urn:a;b\"c"; charset=utf-16"#),
            ("application/soap+xml".to_owned(), some("utf-16"), some("urn:a;b\"c"))
        );
    }

    #[test]
    fn broken_parameters_are_refused() {
        assert_eq!(MediaType::parse("text/xml; charset"), None);
        assert_eq!(MediaType::parse("text/xml; action=\"open"), None);
        assert_eq!(MediaType::parse("text/xml; charset=utf-8; charset=utf-16"), None);
        assert_eq!(MediaType::parse("multipart/related; boundary=a; start=b; boundary=c"), None);
        assert_eq!(MediaType::parse("application/soap+xml; action=a; action=b"), None);
        assert!(MediaType::parse("application/soap+xml; action=a; action=a; x=1; x=1").is_some());
    }

    #[test]
    fn headers_that_contradict_each_other_are_refused() {
        let of = |values: &[&'static str]| {
            let fields = values.iter().map(|value| (CONTENT_TYPE, HeaderValue::from_static(value)));
            MediaType::from_headers(&HeaderMap::from_iter(fields)).map(|media| media.essence)
        };
        assert_eq!(of(&[]).as_deref(), Some(""));
        assert_eq!(of(&["text/xml", "text/xml"]).as_deref(), Some("text/xml"));
        assert_eq!(of(&["text/xml; charset=utf-8", "text/xml; charset=utf-16"]), None);
    }

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        for text in ["", "urn:a", "a\"b\\c", "with space"] {
            assert_eq!(unquote(&quote(text)), text);
        }
        assert_eq!(unquote(" urn:bare "), "urn:bare");
    }
}
