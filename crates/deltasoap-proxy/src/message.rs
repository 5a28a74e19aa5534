//! What a message is: its version, its operation, whether it is a fault; and the message as a tree.

use bytes::Bytes;
use deltasoap_core::soap::Version;
use deltasoap_core::{Node, PartUri, QName};
use deltasoap_http::{AttachmentLimits, Attachments, PartHeaders, self_described};
use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use flate2::bufread::MultiGzDecoder;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::Full;
use std::borrow::Cow;
use std::io::Read as _;

/// What the beginning of a message shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) version: Version,
    /// The first element of the body; `None` for an empty body.
    pub(crate) entry: Option<QName>,
}

impl Glance {
    /// Looks at a message, or at its beginning: `None` if it is not one, or the body does not begin
    /// in it.
    pub(crate) fn at(start: &[u8]) -> Option<Self> {
        let limits = Limits::server();
        let (mut feed, mut reader) = (Feed::new(limits), Reader::new(limits, Instructions::Skip));
        let (mut version, mut found) = (None, None);
        // What follows, or is missing, does not matter.
        let _ = feed.push::<Box<XmlError>>(start, |window: &mut Window<'_>| {
            let step = glance(&mut reader, window, &mut version, &mut found);
            window.halted = step.is_ok();
            step
        });
        found
    }

    /// Returns true if the body holds a fault.
    pub(crate) fn is_fault(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.is(self.version.namespace(), "Fault"))
    }
}

fn glance(
    reader: &mut Reader,
    window: &mut Window<'_>,
    version: &mut Option<Version>,
    found: &mut Option<Glance>,
) -> Result<(), Option<Box<XmlError>>> {
    loop {
        let event = match reader.next(window) {
            Ok(Event::Done) => return Ok(()),
            Ok(event) => event,
            Err(Stop::Pending) => return Err(None),
            Err(Stop::Error(error)) => return Err(Some(error)),
        };
        let (names, depth) = (reader.names(), reader.depth());
        let is_in_body = |version: Version| {
            let body = reader.open_name_id(1);
            names.local(body) == "Body" && names.namespace(body) == version.namespace()
        };
        match (event, depth, *version) {
            (Event::Start, 1, _) => {
                *version = Version::from_namespace(names.namespace(reader.name()));
                if version.is_none() || names.local(reader.name()) != "Envelope" {
                    return Ok(());
                }
            }
            (Event::Start, 3, Some(version)) if is_in_body(version) => {
                let name = reader.name();
                let entry = QName::owned(names.namespace(name), names.local(name));
                *found = Some(Glance { version, entry: Some(entry) });
                return Ok(());
            }
            (Event::End, 1, Some(version)) => {
                let closed = reader.closed_name();
                if names.local(closed) == "Body" && names.namespace(closed) == version.namespace() {
                    *found = Some(Glance { version, entry: None });
                    return Ok(());
                }
            }
            _ => {}
        }
    }
}

/// Returns the action of a request: that of `SOAPAction`, or of the media type in SOAP 1.2.
pub(crate) fn action(headers: &HeaderMap) -> Option<String> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    if let Some(value) = headers.get("soapaction") {
        return Some(text(value).trim_matches('"').to_owned()).filter(|action| !action.is_empty());
    }
    let media = headers.get(CONTENT_TYPE).map(text)?;
    parameter(&media, "action").filter(|action| !action.is_empty())
}

/// Returns the parts of a media type: its essence, and its parameters. A semicolon in quotes ends
/// none.
pub(crate) fn media_parts(media: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    media.split(move |c| {
        is_quoted ^= c == '"';
        c == ';' && !is_quoted
    })
}

/// Returns a parameter of a media type.
pub(crate) fn parameter(media: &str, name: &str) -> Option<String> {
    media_parts(media).skip(1).find_map(|part| {
        let (found, value) = part.split_once('=')?;
        found.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// Returns the media type without parameters, in lower case.
pub(crate) fn essence(headers: &HeaderMap) -> String {
    let media = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns true for media types of XML.
pub(crate) fn is_xml(essence: &str) -> bool {
    essence.ends_with("/xml") || essence.ends_with("+xml")
}

/// Returns true for media types of messages with parts.
pub(crate) fn is_package(essence: &str) -> bool {
    essence == "multipart/related" || essence == "application/dime"
}

/// Returns a body without its content coding.
///
/// # Errors
/// Returns the reason if it has an unknown coding, is malformed, or has more than `limit` bytes.
pub(crate) fn decoded<'b>(headers: &HeaderMap, body: &'b [u8], limit: usize) -> Result<Cow<'b, [u8]>, String> {
    let codings = headers.get_all(CONTENT_ENCODING).into_iter();
    let codings: Vec<_> = codings.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase()).collect();
    match codings.join(",").trim() {
        "" | "identity" => Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" if body.is_empty() => Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" => {
            let mut out = Vec::new();
            let read = MultiGzDecoder::new(body).take((limit as u64).saturating_add(1)).read_to_end(&mut out);
            read.map_err(|error| format!("it is not valid gzip: {error}"))?;
            if out.len() > limit {
                return Err(format!("it has more than {limit} bytes after decompression"));
            }
            Ok(Cow::Owned(out))
        }
        other => Err(format!("it is in the content coding {other:?}, which is not read here")),
    }
}

/// Returns the beginning of a body without its content coding, as far as it can be read.
pub(crate) fn decoded_start<'b>(headers: &HeaderMap, start: &'b [u8], limit: usize) -> Cow<'b, [u8]> {
    if !headers.contains_key(CONTENT_ENCODING) {
        return Cow::Borrowed(start);
    }
    let mut out = Vec::new();
    // The end is missing; what comes before it counts.
    let _ = MultiGzDecoder::new(start).take(limit as u64).read_to_end(&mut out);
    Cow::Owned(out)
}

/// A message and the parts that came with it.
#[derive(Debug)]
pub(crate) struct Message {
    /// The envelope, in an encoding that it declares.
    pub(crate) root: Bytes,
    pub(crate) parts: Vec<(PartHeaders, Bytes)>,
    pub(crate) is_package: bool,
}

impl Message {
    /// Reads the message in a body without content coding.
    ///
    /// # Errors
    /// Returns the reason if a package or a charset is wrong.
    pub(crate) async fn read(headers: &HeaderMap, body: Bytes) -> Result<Self, String> {
        let media = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let media = media.unwrap_or_default();
        if !is_package(&essence(headers)) {
            let root = self_described(&media, body).map_err(|error| error.to_string())?;
            return Ok(Message { root, parts: Vec::new(), is_package: false });
        }
        let wrong = |error: deltasoap_http::AttachmentError| error.to_string();
        // All of it is in memory already.
        let limits = AttachmentLimits { memory: usize::MAX, whole: usize::MAX, ..AttachmentLimits::default() };
        let mut package = Attachments::open(&media, Full::new(body), limits).map_err(wrong)?;
        let root = package.root().await.map_err(wrong)?;
        let media = root.content_type().unwrap_or_default().to_owned();
        let root = root.bytes().await.map_err(wrong)?;
        let root = self_described(&media, root).map_err(|error| error.to_string())?;
        let mut parts = Vec::new();
        while let Some(part) = package.next().await.map_err(wrong)? {
            let headers = part.headers().clone();
            parts.push((headers, part.bytes().await.map_err(wrong)?));
        }
        Ok(Message { root, parts, is_package: true })
    }

    /// Returns a part by its URI.
    pub(crate) fn part(&self, uri: &PartUri) -> Option<&Bytes> {
        self.parts.iter().find(|(headers, _)| headers.is_at(uri)).map(|(_, bytes)| bytes)
    }
}

/// A message as a tree.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) version: Version,
    pub(crate) envelope: Node,
}

impl Tree {
    /// Reads an envelope.
    ///
    /// # Errors
    /// Returns the reason if it is none.
    pub(crate) fn parse(envelope: &[u8]) -> Result<Self, String> {
        let envelope = Node::parse(envelope).map_err(|error| error.to_string())?;
        let version = Version::from_namespace(&envelope.name.namespace).filter(|_| envelope.name.local == *"Envelope");
        let version = version.ok_or("the root element is not a SOAP Envelope")?;
        let tree = Tree { version, envelope };
        tree.body().map(|_| ()).ok_or("the envelope has no Body")?;
        Ok(tree)
    }

    pub(crate) fn body(&self) -> Option<&Node> {
        self.envelope.element(self.version.namespace(), "Body")
    }

    pub(crate) fn header(&self) -> Option<&Node> {
        self.envelope.element(self.version.namespace(), "Header")
    }

    /// Returns the header blocks.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Node> {
        self.header().into_iter().flat_map(Node::elements)
    }

    /// Returns the text of a header block of WS-Addressing, in any of its versions.
    pub(crate) fn addressing(&self, local: &str) -> Option<String> {
        let block = self.blocks().find(|block| block.name.local == *local && is_addressing(&block.name.namespace));
        block.map(|block| block.text().trim().to_owned())
    }
}

/// Returns true for the namespaces of WS-Addressing.
pub(crate) fn is_addressing(namespace: &str) -> bool {
    const VERSIONS: [&str; 2] =
        ["http://www.w3.org/2005/08/addressing", "http://schemas.xmlsoap.org/ws/2004/08/addressing"];
    VERSIONS.contains(&namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::io::Write as _;

    const ENVELOPE: &str = "<?xml version='1.0'?><e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>\
        <e:Header><x><Body/></x></e:Header><e:Body> <Order xmlns='urn:shop'><code>";

    #[test]
    fn the_operation_is_seen_at_the_beginning() {
        let glance = Glance::at(ENVELOPE.as_bytes()).expect("a message");
        assert_eq!(glance, Glance { version: Version::Soap11, entry: Some(QName::new("urn:shop", "Order")) });
        assert!(!glance.is_fault());
        let empty = "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body/></e:Envelope>";
        assert_eq!(Glance::at(empty.as_bytes()), Some(Glance { version: Version::Soap12, entry: None }));
        let fault = empty.replace("<e:Body/>", "<e:Body><e:Fault>");
        assert!(Glance::at(fault.as_bytes()).is_some_and(|glance| glance.is_fault()));
        for other in ["", "<html><body/>", "<e:Envelope xmlns:e='urn:x'><e:Body><a/>", &ENVELOPE[..140]] {
            assert_eq!(Glance::at(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn actions_are_those_of_both_versions() {
        let mut headers = HeaderMap::new();
        assert_eq!(action(&headers), None);
        headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/soap+xml; charset=utf-8; action=\"urn:a;b\""));
        assert_eq!(action(&headers).as_deref(), Some("urn:a;b"));
        headers.insert("soapaction", HeaderValue::from_static("\"urn:b\""));
        assert_eq!(action(&headers).as_deref(), Some("urn:b"));
    }

    #[test]
    fn gzip_is_undone_within_the_limit() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&[b'x'; 1000]).expect("written");
        let coded = encoder.finish().expect("gzip");
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        assert_eq!(decoded(&headers, &coded, 1000).expect("1000 bytes"), &[b'x'; 1000][..]);
        assert!(decoded(&headers, &coded, 999).expect_err("too long").contains("more than 999 bytes"));
        assert!(decoded(&headers, b"abc", 999).expect_err("no gzip").contains("not valid gzip"));
        assert!(!decoded_start(&headers, &coded[..coded.len() - 9], 500).is_empty());
        let brotli = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("br"))]);
        assert!(decoded(&brotli, &coded, 1000).expect_err("unknown").contains("\"br\""));
    }
}
