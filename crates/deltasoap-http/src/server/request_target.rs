//! The resource that a browser or a tool requests with `GET`, determined by the query.
//!
//! | query | |
//! |---|---|
//! | `wsdl`, `singlewsdl` | the WSDL |
//! | `wsdl=NAME`, `xsd=NAME` | a document that it imports |
//! | `sample=LOCAL&ns=NAMESPACE&soap=1.2` | a sample request |
//! | anything else, or none | the page |
//!
//! Keys are case-insensitive, since tools differ.

use deltasoap_core::QName;
use deltasoap_core::soap::Version;
use http::Uri;
use http::header::{HOST, HeaderMap};
use http::uri::Authority;

/// The requested resource.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestTarget {
    /// The landing page.
    Page,
    /// The WSDL.
    Description,
    /// A document that the WSDL imports, by its name.
    Document(String),
    /// A sample request of the operation that takes this element.
    Sample(QName, Version),
}

impl RequestTarget {
    /// Returns the resource that a URI's query requests.
    pub(crate) fn from_uri(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or("");
        let Some((key, value)) = form_urlencoded::parse(query.as_bytes()).next() else { return RequestTarget::Page };
        match (key.to_ascii_lowercase().as_str(), value.is_empty()) {
            ("wsdl" | "singlewsdl", true) => RequestTarget::Description,
            ("wsdl" | "xsd", false) => RequestTarget::Document(value.into_owned()),
            ("sample", false) => RequestTarget::Sample(QName::owned(parameter(query, "ns"), value), version(query)),
            _ => RequestTarget::Page,
        }
    }

    /// Returns the query that requests a sample.
    pub(crate) fn sample_query(operation: &QName, version: Version) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("sample", &operation.local).append_pair("ns", &operation.namespace);
        query.append_pair("soap", number(version)).finish()
    }
}

/// Returns the version number of SOAP as text.
pub(crate) fn number(version: Version) -> &'static str {
    match version {
        Version::Soap11 => "1.1",
        Version::Soap12 => "1.2",
    }
}

fn version(query: &str) -> Version {
    if parameter(query, "soap") == number(Version::Soap12) { Version::Soap12 } else { Version::Soap11 }
}

/// Returns a parameter's value; empty if there is none.
fn parameter(query: &str, name: &str) -> String {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Returns the URL that a request was sent to, without its query; `None` if the request names no
/// host.
pub(crate) fn request_url(uri: &Uri, headers: &HeaderMap, scheme: &str) -> Option<String> {
    let from_header = || headers.get(HOST)?.to_str().ok()?.parse::<Authority>().ok();
    let authority = uri.authority().cloned().or_else(from_header)?;
    Some(format!("{}://{authority}{}", uri.scheme_str().unwrap_or(scheme), uri.path()))
}

/// The content at the service's URL for browsers, in programs that are built with the feature
/// `page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LandingPage {
    /// The operations, statistics, and a form that sends requests to the service, with sample
    /// requests.
    #[default]
    Form,
    /// The operations and statistics.
    List,
    /// Nothing: status 404. The WSDL is still served.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(uri: &str) -> RequestTarget {
        RequestTarget::from_uri(&uri.parse().expect("a URI"))
    }

    #[test]
    fn the_query_selects_the_resource() {
        for page in ["/", "/?", "/?a=b", "/?wsd", "/?xsd", "/?sample", "/?health"] {
            assert_eq!(target(page), RequestTarget::Page, "{page}");
        }
        for description in ["/?wsdl", "/a/b?WSDL", "/?singleWsdl", "/?wsdl="] {
            assert_eq!(target(description), RequestTarget::Description, "{description}");
        }
        assert_eq!(target("/?xsd=a/b%20c.xsd"), RequestTarget::Document("a/b c.xsd".to_owned()));
        assert_eq!(target("/?WSDL=a.wsdl&x=y"), RequestTarget::Document("a.wsdl".to_owned()));
    }

    #[test]
    fn the_query_for_a_sample_asks_for_it() {
        for version in [Version::Soap11, Version::Soap12] {
            let name = QName::owned("urn:a&b=c d", "gr\u{FC}\u{DF}e");
            let query = RequestTarget::sample_query(&name, version);
            assert_eq!(target(&format!("/?{query}")), RequestTarget::Sample(name, version), "{query}");
        }
    }
}
