//! What is left out of recordings: passwords, tokens, assertions.
//!
//! Headers whose names look secret lose their values. Messages lose the content of elements that
//! hold secrets: those named `Password` or that end with it in any namespace, tokens of WS-Security
//! other than certificates, keys of WS-Trust, and SAML assertions. A body in which such an element
//! may be and cannot be found, since it is not well-formed or in UTF-16, is not recorded.

use crate::document::{self, Edits};
use deltasoap_http::is_secret_header;
use deltasoap_xml::{Event, Reader};
use http::{HeaderName, HeaderValue};
use std::borrow::Cow;

/// Stands for what was left out.
pub(crate) const HIDDEN: &str = "(not recorded)";

/// Namespaces of SAML 1.1 and 2.0.
const SAML: [&str; 2] = ["urn:oasis:names:tc:SAML:1.0:assertion", "urn:oasis:names:tc:SAML:2.0:assertion"];
/// The end of the types of binary tokens that are certificates.
const CERTIFICATES: [&str; 3] = ["#X509v3", "#X509PKIPathv1", "#PKCS7"];
/// Words without which a body has none of the elements.
const SIGNS: [&str; 4] = ["assword", "Assertion", "BinarySecurityToken", "BinarySecret"];

/// Returns a header's value as it is recorded.
pub(crate) fn header<'v>(name: &HeaderName, value: &'v HeaderValue, keeps_secrets: bool) -> Cow<'v, str> {
    match !keeps_secrets && (value.is_sensitive() || is_secret_header(name)) {
        true => Cow::Borrowed(HIDDEN),
        false => String::from_utf8_lossy(value.as_bytes()),
    }
}

/// Returns a path and query as it is recorded: without the values of parameters with secret names.
pub(crate) fn target(path_and_query: &str, keeps_secrets: bool) -> String {
    let Some((path, query)) = path_and_query.split_once('?').filter(|_| !keeps_secrets) else {
        return path_and_query.to_owned();
    };
    let parameter = |part: &str| match part.split_once('=') {
        Some((name, _)) if name.parse().is_ok_and(|name| is_secret_header(&name)) => format!("{name}=hidden"),
        _ => part.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&"))
}

/// Returns a body as it is recorded.
///
/// # Errors
/// Returns the reason why it cannot be.
pub(crate) fn body(body: &[u8], boundary: Option<&str>) -> Result<Vec<u8>, &'static str> {
    match boundary {
        Some(boundary) => package(body, boundary),
        None => message(body),
    }
}

/// Hides the secrets of a package's parts, which are separated by a boundary.
fn package(body: &[u8], boundary: &str) -> Result<Vec<u8>, &'static str> {
    let delimiter = format!("--{boundary}");
    let mut out = Vec::with_capacity(body.len());
    let mut from = 0;
    let places: Vec<_> = memchr::memmem::find_iter(body, delimiter.as_bytes()).chain([body.len()]).collect();
    for place in places {
        let piece = &body[from..place];
        let head = memchr::memmem::find(piece, b"\r\n\r\n").map(|at| at + 4);
        match head {
            Some(head) if is_text(&piece[..head]) => {
                let content = piece[head..].strip_suffix(b"\r\n").unwrap_or(&piece[head..]);
                out.extend_from_slice(&piece[..head]);
                out.extend_from_slice(&message(content)?);
                out.extend_from_slice(&piece[head + content.len()..]);
            }
            _ => out.extend_from_slice(piece),
        }
        from = place;
    }
    Ok(out)
}

/// Returns true for a part that may be XML, by its headers.
fn is_text(head: &[u8]) -> bool {
    memchr::memmem::find(&head.to_ascii_lowercase(), b"xml").is_some()
}

fn message(body: &[u8]) -> Result<Vec<u8>, &'static str> {
    if body.contains(&0) {
        return Err("it may hold secrets, which are not found in its encoding");
    }
    if !SIGNS.iter().any(|sign| memchr::memmem::find(body, sign.as_bytes()).is_some()) {
        return Ok(body.to_vec());
    }
    let (mut edits, mut hidden_from) = (Edits::default(), None::<(usize, usize)>);
    let read = document::read(body, |event, reader, after| {
        match (event, hidden_from) {
            (Event::Start, None) if is_secret(reader) && !reader.tag_is_empty() => {
                hidden_from = Some((reader.depth(), after));
            }
            (Event::End, Some((depth, from))) if reader.depth() + 1 == depth => {
                let end = document::tag_start(body, reader);
                if end > from {
                    edits.replace(from..end, HIDDEN);
                }
                hidden_from = None;
            }
            _ => {}
        }
        true
    });
    read.map_err(|_| "it may hold secrets, and is not well-formed XML in UTF-8")?;
    Ok(if edits.is_empty() { body.to_vec() } else { edits.apply(body) })
}

/// Returns true if the element whose start tag was just read holds a secret.
fn is_secret(reader: &Reader) -> bool {
    let (names, name) = (reader.names(), reader.name());
    match names.local(name) {
        "Assertion" | "EncryptedAssertion" => SAML.contains(&names.namespace(name)),
        "BinarySecurityToken" => {
            let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
            let kind = attributes.find(|(name, _)| names.local(*name) == "ValueType").map(|(_, value)| value);
            !kind.is_some_and(|kind| CERTIFICATES.iter().any(|end| kind.ends_with(end)))
        }
        "BinarySecret" => true,
        local => local.ends_with("Password") || local.ends_with("password"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        String::from_utf8(body(text.as_bytes(), None).expect("recorded")).expect("UTF-8")
    }

    #[test]
    fn secrets_of_messages_are_hidden() {
        for (text, expected) in [
            (
                "<a><p:Password xmlns:p='u' T='a>b'>x<!-- y --></p:Password>z</a>",
                "<a><p:Password xmlns:p='u' T='a>b'>(not recorded)</p:Password>z</a>",
            ),
            ("<a><Password><![CDATA[x]]></Password></a>", "<a><Password>(not recorded)</Password></a>"),
            (
                "<a><Password/><newpassword>x</newpassword></a>",
                "<a><Password/><newpassword>(not recorded)</newpassword></a>",
            ),
            ("<a><PasswordHint>x</PasswordHint></a>", "<a><PasswordHint>x</PasswordHint></a>"),
            (
                "<a xmlns='urn:oasis:names:tc:SAML:2.0:assertion'><Assertion ID='i'><b/></Assertion></a>",
                "<a xmlns='urn:oasis:names:tc:SAML:2.0:assertion'><Assertion ID='i'>(not recorded)</Assertion></a>",
            ),
            ("<a><Assertion>x</Assertion></a>", "<a><Assertion>x</Assertion></a>"),
            (
                "<a><BinarySecurityToken ValueType='x#X509v3'>c</BinarySecurityToken><BinarySecurityToken ValueType='k'>t</BinarySecurityToken></a>",
                "<a><BinarySecurityToken ValueType='x#X509v3'>c</BinarySecurityToken><BinarySecurityToken ValueType='k'>(not recorded)</BinarySecurityToken></a>",
            ),
            ("no XML", "no XML"),
        ] {
            assert_eq!(hidden(text), expected);
        }
        for not_recorded in [&b"<a><Password>x</a>"[..], b"<\0a\0>\0", b"<a Password"] {
            assert!(body(not_recorded, None).is_err());
        }
    }

    #[test]
    fn secrets_of_packages_are_hidden() {
        let text = "--B\r\nContent-Type: application/xop+xml\r\n\r\n<a><Password>x</Password></a>\r\n--B\r\n\r\n\0\r\n--B--\r\n";
        let out = String::from_utf8(body(text.as_bytes(), Some("B")).expect("recorded")).expect("UTF-8");
        assert_eq!(out, text.replace(">x<", ">(not recorded)<"));
    }

    #[test]
    fn secrets_of_headers_and_queries_are_hidden() {
        let value = HeaderValue::from_static("Basic x");
        assert_eq!(header(&http::header::AUTHORIZATION, &value, false), HIDDEN);
        assert_eq!(header(&http::header::AUTHORIZATION, &value, true), "Basic x");
        assert_eq!(header(&http::header::HOST, &value, false), "Basic x");
        assert_eq!(target("/a?wsdl&api_key=7&b=c", false), "/a?wsdl&api_key=hidden&b=c");
        assert_eq!(target("/a?token=7", true), "/a?token=7");
    }
}
