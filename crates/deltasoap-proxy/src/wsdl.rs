//! Descriptions that pass: their addresses become those of the proxy, so that clients come back.
//!
//! Every `soap:address` is rewritten: the origin becomes that of the proxy, and a path below that
//! of the target becomes the path below the proxy. Imports that are relative stay, since paths do
//! too; those of the target's origin are rewritten in the same way. Everything else stays byte for
//! byte.

use crate::document::{self, Edits, attribute_value, escaped};
use deltasoap_xml::{Event, Reader};
use url::Url;

/// Namespaces of addresses: SOAP 1.1, SOAP 1.2 and HTTP in WSDL 1.1.
const ADDRESSES: [&str; 3] = [
    "http://schemas.xmlsoap.org/wsdl/soap/",
    "http://schemas.xmlsoap.org/wsdl/soap12/",
    "http://schemas.xmlsoap.org/wsdl/http/",
];
const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// The target and the proxy, as origins with the paths that correspond to each other.
#[derive(Debug)]
pub(crate) struct Places<'p> {
    /// The base URL of the target.
    pub(crate) target: &'p Url,
    /// The URL of the proxy, as the client knows it, without a slash at its end.
    pub(crate) proxy: &'p str,
    /// The URL at the target that the document came from.
    pub(crate) document: &'p Url,
}

/// Returns a WSDL or a schema with the addresses of the proxy; `None` if it is none, or nothing in
/// it changes.
pub(crate) fn rewritten(document: &[u8], places: &Places<'_>) -> Option<Vec<u8>> {
    let mut edits = Edits::default();
    let mut is_description = true;
    let read = document::read(document, |event, reader, after| {
        if event != Event::Start {
            return true;
        }
        if reader.depth() == 1 {
            is_description =
                document::is_named(reader, WSDL, "definitions") || document::is_named(reader, XSD, "schema");
        }
        let start = document::tag_start(document, reader);
        let tag = &document[start..after];
        if let Some((attribute, is_address)) = reference(reader)
            && let Some(range) = attribute_value(tag, attribute)
            && let Some(url) = places.at_proxy(&value(reader, attribute), is_address)
        {
            edits.replace(start + range.start..start + range.end, escaped(&url));
        }
        is_description
    });
    (read.is_ok() && is_description && !edits.is_empty()).then(|| edits.apply(document))
}

/// Returns the attribute with a URL of the start tag just read, and whether it is that of a
/// service.
fn reference(reader: &Reader) -> Option<(&'static str, bool)> {
    let (names, name) = (reader.names(), reader.name());
    match (names.namespace(name), names.local(name)) {
        (namespace, "address") if ADDRESSES.contains(&namespace) => Some(("location", true)),
        (WSDL, "import") => Some(("location", false)),
        (XSD, "import" | "include" | "redefine") => Some(("schemaLocation", false)),
        _ => None,
    }
}

/// Returns the value of an attribute of the start tag just read.
fn value(reader: &Reader, attribute: &str) -> String {
    let names = reader.names();
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let found = attributes.find(|(name, _)| names.local(*name) == attribute && names.namespace(*name).is_empty());
    found.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

impl Places<'_> {
    /// Returns the URL by which clients come to the proxy; `None` if the reference stays.
    fn at_proxy(&self, reference: &str, is_address: bool) -> Option<String> {
        let is_absolute = Url::parse(reference).is_ok();
        if !is_absolute && !is_address && !reference.starts_with('/') {
            return None;
        }
        let url = self.document.join(reference).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        if !is_address && url.origin() != self.target.origin() {
            return None;
        }
        let base = self.target.path().trim_end_matches('/');
        let path = match url.path().strip_prefix(base) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            // Elsewhere at the target, where the proxy does not lead.
            _ => return None,
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        Some(format!("{}{path}{query}", self.proxy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(target: &str, document: &str) -> Option<String> {
        let target = Url::parse(target).expect("a URL");
        let from = target.join("?wsdl").expect("a URL");
        let places = Places { target: &target, proxy: "http://proxy:1", document: &from };
        rewritten(document.as_bytes(), &places).map(|text| String::from_utf8(text).expect("UTF-8"))
    }

    fn wsdl(content: &str) -> String {
        format!(
            "\u{feff}<w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' \
             xmlns:x='http://www.w3.org/2001/XMLSchema'>{content}</w:definitions>"
        )
    }

    #[test]
    fn addresses_lead_to_the_proxy() {
        for (before, after) in [
            (
                "<s:address location='http://other:9/shop?a=1&amp;b=2'/>",
                "<s:address location='http://proxy:1/shop?a=1&amp;b=2'/>",
            ),
            (
                "<s:address x:location='no' location=\"https://target/\" />",
                "<s:address x:location='no' location=\"http://proxy:1/\" />",
            ),
            ("<w:import location='http://target:80/b.wsdl'/>", "<w:import location='http://proxy:1/b.wsdl'/>"),
            ("<x:include schemaLocation='/a.xsd'/>", "<x:include schemaLocation='http://proxy:1/a.xsd'/>"),
        ] {
            assert_eq!(text("http://target/", &wsdl(before)), Some(wsdl(after)));
        }
        for stays in [
            "<x:import schemaLocation='a.xsd'/>",
            "<x:import schemaLocation='http://other/a.xsd'/>",
            "<address location='http://h/'/>",
            "<s:address location='jms:queue'/>",
        ] {
            assert_eq!(text("http://target/", &wsdl(stays)), None, "{stays}");
        }
        assert_eq!(
            text(
                "http://target/",
                "<html><s:address xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' location='http://h/'/></html>"
            ),
            None
        );
    }

    #[test]
    fn paths_are_below_that_of_the_target() {
        let address = |url: &str| wsdl(&format!("<s:address location='{url}'/>"));
        let target = "http://target/soap/shop";
        assert_eq!(text(target, &address("http://target/soap/shop")), Some(address("http://proxy:1/")));
        assert_eq!(text(target, &address("http://target/soap/shop/v2")), Some(address("http://proxy:1/v2")));
        assert_eq!(text(target, &address("http://target/soap/shopping")), None);
        assert_eq!(text(target, &address("http://target/other")), None);
    }
}
