//! One document of a WSDL, split at the parts that depend on the service's URL.

use super::metadata::ServiceMetadata;
use crate::server::builder::BuildError;
use deltasoap_core::ns;
use deltasoap_xml::{Instructions, Limits, Node, Owned, nodes};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeMap;

/// The namespace of WSDL 1.1.
pub(super) const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";

/// Namespaces of SOAP bindings: that of WSDL 1.1 (section 3), and that for SOAP 1.2.
pub(super) const BINDINGS: [&str; 2] =
    ["http://schemas.xmlsoap.org/wsdl/soap/", "http://schemas.xmlsoap.org/wsdl/soap12/"];

/// Characters that are not escaped in a query's value.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// `wsdl:definitions`.
    Description,
    /// `xsd:schema`.
    Schema,
}

impl DocumentKind {
    /// Returns the kind of a document.
    ///
    /// # Errors
    /// When the document is not well-formed, or of another kind.
    pub(super) fn detect(name: &str, text: &str) -> Result<Self, BuildError> {
        let root = read(name, text)?.into_iter().find_map(|node| match node {
            Node::Start { name, .. } => Some(name),
            _ => None,
        });
        let root = root.unwrap_or_default();
        match (root.namespace.as_str(), root.local.as_str()) {
            (WSDL, "definitions") => Ok(DocumentKind::Description),
            (ns::XSD, "schema") => Ok(DocumentKind::Schema),
            _ => Err(BuildError::NoDocument { name: name.to_owned(), root: root.local }),
        }
    }
}

/// Returns the query that a document is served under.
pub(super) fn query(kind: DocumentKind, name: &str) -> String {
    let key = if kind == DocumentKind::Schema { "xsd" } else { "wsdl" };
    format!("{key}={}", utf8_percent_encode(name, ESCAPED))
}

/// A document with gaps.
#[derive(Debug)]
pub(super) struct Document {
    kind: DocumentKind,
    /// The text between the gaps, and the suffix of the gap after it: the gap contains the
    /// service's URL followed by the suffix.
    pieces: Vec<(String, String)>,
    /// The text after the last gap.
    rest: String,
}

impl Document {
    /// Parses a document of this name. `main` is the name of the WSDL, `kinds` those of all
    /// documents that are served.
    ///
    /// # Errors
    /// When the text is not well-formed.
    pub(super) fn new(
        name: &str,
        main: &str,
        text: &str,
        kinds: &BTreeMap<String, DocumentKind>,
        metadata: &mut ServiceMetadata,
    ) -> Result<Self, BuildError> {
        let text = text.trim_start_matches('\u{FEFF}');
        let nodes = read(name, text)?;
        metadata.read(&nodes);
        let (mut pieces, mut done) = (Vec::new(), 0);
        for node in &nodes {
            let Node::Start { name: element, attributes, offset, .. } = node else { continue };
            let Some(attribute) = location_of(element) else { continue };
            let value =
                attributes.iter().find(|found| found.name.namespace.is_empty() && found.name.local == attribute);
            let own = match value {
                Some(_) if element.local == "address" => Some(String::new()),
                Some(value) => served(name, &value.value, main, kinds),
                None => None,
            };
            if let (Some(own), Some((start, end))) = (own, span(text, *offset as usize, attribute)) {
                pieces.push((text[done..start].to_owned(), own));
                done = end;
            }
        }
        let kind = kinds.get(name).copied().unwrap_or(DocumentKind::Description);
        Ok(Document { kind, pieces, rest: text[done..].to_owned() })
    }

    pub(super) fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// Returns the document with this URL in the gaps. The URL must be escaped already.
    pub(super) fn at(&self, escaped_url: &str) -> String {
        let pieces = self.pieces.iter().flat_map(|(text, behind)| [text, escaped_url, behind]);
        pieces.chain([self.rest.as_str()]).collect()
    }
}

fn read(name: &str, text: &str) -> Result<Vec<Node>, BuildError> {
    let text = text.trim_start_matches('\u{FEFF}');
    nodes(text.as_bytes(), Limits::default(), Instructions::Skip).map_err(|error| match name {
        "" => BuildError::Wsdl(error),
        name => BuildError::Document { name: name.to_owned(), error },
    })
}

/// Returns the attribute of an element that contains a location.
fn location_of(element: &Owned) -> Option<&'static str> {
    match (element.namespace.as_str(), element.local.as_str()) {
        (namespace, "address") if BINDINGS.contains(&namespace) => Some("location"),
        (WSDL, "import" | "include") => Some("location"),
        (ns::XSD, "import" | "include" | "redefine") => Some("schemaLocation"),
        _ => None,
    }
}

/// Returns the suffix to the service's URL for a location in a document, if its target is served.
fn served(from: &str, location: &str, main: &str, kinds: &BTreeMap<String, DocumentKind>) -> Option<String> {
    let location = location.trim();
    let decoded = percent_decode_str(location).decode_utf8().ok();
    let spellings = [Some(location.into()), decoded].into_iter().flatten();
    let name = spellings.filter_map(|spelling| resolve(from, &spelling)).find(|name| kinds.contains_key(name))?;
    Some(if name == main { "?wsdl".to_owned() } else { format!("?{}", query(kinds[&name], &name)) })
}

/// Resolves a location in the document `from` to a name: relative to its folder, or an unchanged
/// URL. Returns `None` if it leads out of the topmost folder.
pub(super) fn resolve(from: &str, location: &str) -> Option<String> {
    if location.is_empty() || location.contains("://") {
        return (!location.is_empty()).then(|| location.to_owned());
    }
    let folder = if location.starts_with('/') { "" } else { from.rsplit_once('/').map_or("", |(folder, _)| folder) };
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in location.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

/// Returns the position of an attribute's value, in the well-formed tag at `offset`.
fn span(text: &str, offset: usize, name: &str) -> Option<(usize, usize)> {
    let mut at = offset + text[offset..].find(|c: char| c.is_ascii_whitespace() || c == '>')?;
    loop {
        at += text[at..].find(|c: char| !c.is_ascii_whitespace())?;
        let equals = at + text[at..].find(['=', '>'])?;
        if text.as_bytes()[equals] == b'>' {
            return None;
        }
        let open = equals + text[equals..].find(['"', '\''])?;
        let start = open + 1;
        let end = start + text[start..].find(char::from(text.as_bytes()[open]))?;
        if text[at..equals].trim_end() == name {
            return Some((start, end));
        }
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_relative_to_their_document() {
        let resolved = |from, location| resolve(from, location);
        assert_eq!(resolved("", "a.xsd").as_deref(), Some("a.xsd"));
        assert_eq!(resolved("x/y.xsd", "a.xsd").as_deref(), Some("x/a.xsd"));
        assert_eq!(resolved("x/y.xsd", "./../z//a.xsd").as_deref(), Some("z/a.xsd"));
        assert_eq!(resolved("x/y.xsd", "/a.xsd").as_deref(), Some("a.xsd"));
        assert_eq!(resolved("y.xsd", "http://h/../a.xsd").as_deref(), Some("http://h/../a.xsd"));
        assert_eq!(resolved("y.xsd", "../a.xsd"), None);
        assert_eq!(resolved("y.xsd", ""), None);
    }
}
