//! What is left out of recordings: passwords, tokens, assertions.
//!
//! Headers whose names look secret lose their values, as do parameters in URLs and fields of forms.
//! Messages lose the content of elements and attributes whose names end with words such as
//! `password`, `secret` or `token`, values beside such a name, and SAML assertions. Certificates stay. A
//! body in which a secret may be and cannot be found, since it is no well-formed XML or in UTF-16, is
//! not recorded.

use crate::document::{self, Edits};
use deltasoap_http::is_secret_header;
use deltasoap_xml::{Event, Reader};
use http::header::{CONTENT_LOCATION, LOCATION, REFERER};
use http::{HeaderName, HeaderValue};
use std::borrow::Cow;
use url::Url;

/// Stands for what was left out.
pub(crate) const HIDDEN: &str = "(not recorded)";

/// Namespaces of SAML 1.1 and 2.0.
const SAML: [&str; 2] = ["urn:oasis:names:tc:SAML:1.0:assertion", "urn:oasis:names:tc:SAML:2.0:assertion"];
/// The end of the types of binary tokens that are certificates.
const CERTIFICATES: [&str; 3] = ["#X509v3", "#X509PKIPathv1", "#PKCS7"];
/// Words without which a body has none of the elements, in lower case.
const SIGNS: [&[u8]; 11] = [
    b"passw",
    b"passphrase",
    b"passcode",
    b"pwd",
    b"secret",
    b"token",
    b"assertion",
    b"key",
    b"session",
    b"jwt",
    b"credential",
];
/// Ends of names of elements, attributes and parameters that hold secrets, in lower case.
const ENDS: [&str; 15] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "sessionid",
    "session_id",
    "jwt",
    "credential",
    "credentials",
];
/// Elements that end like that and hold others, which are looked at themselves.
const HOLDERS: [&str; 2] = ["usernametoken", "requestsecuritytoken"];

/// Returns a header's value as it is recorded.
pub(crate) fn header<'v>(name: &HeaderName, value: &'v HeaderValue, keeps_secrets: bool) -> Cow<'v, str> {
    let text = String::from_utf8_lossy(value.as_bytes());
    match !keeps_secrets && (value.is_sensitive() || is_secret_header(name)) {
        true => Cow::Borrowed(HIDDEN),
        false if [REFERER, LOCATION, CONTENT_LOCATION].contains(name) => Cow::Owned(target(&text, keeps_secrets)),
        false => text,
    }
}

/// Returns a URL, or a path and query, as it is recorded: without a password, and without the values
/// of parameters with secret names.
pub(crate) fn target(text: &str, keeps_secrets: bool) -> String {
    if keeps_secrets {
        return text.to_owned();
    }
    let mut text = Cow::Borrowed(text);
    if let Ok(mut url) = Url::parse(&text)
        && url.password().is_some()
        && url.set_password(None).is_ok()
    {
        text = Cow::Owned(url.to_string());
    }
    let mut out = String::with_capacity(text.len());
    let Some(at) = text.find(['?', '#']) else { return text.into_owned() };
    out.push_str(&text[..at]);
    for part in text[at..].split_inclusive(['?', '&', ';', '#']) {
        let (part, end) = match part.chars().next_back().filter(|c| matches!(c, '?' | '&' | ';' | '#')) {
            Some(end) => (&part[..part.len() - 1], Some(end)),
            None => (part, None),
        };
        match part.split_once('=') {
            Some((name, _)) if is_secret_parameter(name) => {
                out.push_str(name);
                out.push_str("=hidden");
            }
            _ => out.push_str(part),
        }
        out.extend(end);
    }
    out
}

/// Returns true for names of parameters such as `token`, `pass%77ord` or `user[password]`.
fn is_secret_parameter(name: &str) -> bool {
    let decoded = url::form_urlencoded::parse(name.as_bytes()).next().map(|(name, _)| name.into_owned());
    let name = decoded.unwrap_or_default();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    plain.parse().is_ok_and(|name| is_secret_header(&name))
}

/// Returns true for names of elements, attributes and parameters that hold secrets.
fn is_secret_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-' | ']'));
    let is_again = || {
        name.starts_with("password")
            && ["confirm", "confirmation", "repeat", "text"].iter().any(|end| name.ends_with(end))
    };
    !HOLDERS.contains(&end) && (ENDS.iter().any(|word| end.ends_with(word)) || is_again())
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
    const UNREADABLE: &str = "it may hold secrets, and its parts cannot be read";
    let delimiter = format!("--{boundary}");
    let mut out = Vec::with_capacity(body.len());
    let places: Vec<_> = memchr::memmem::find_iter(body, delimiter.as_bytes()).collect();
    let first = places.first().copied().unwrap_or(body.len());
    if has_sign(&body[..first]) {
        return Err(UNREADABLE);
    }
    out.extend_from_slice(&body[..first]);
    let ends = places.iter().skip(1).copied().chain([body.len()]);
    for (from, end) in places.iter().copied().zip(ends) {
        let piece = &body[from..end];
        let crlf = memchr::memmem::find(piece, b"\r\n\r\n").map(|at| at + 4);
        let lf = memchr::memmem::find(piece, b"\n\n").map(|at| at + 2);
        let Some(head) = [crlf, lf].into_iter().flatten().min() else {
            if has_sign(piece) {
                return Err(UNREADABLE);
            }
            out.extend_from_slice(piece);
            continue;
        };
        let (head, content) = piece.split_at(head);
        let len = content.strip_suffix(b"\n").map_or(content, |line| line.strip_suffix(b"\r").unwrap_or(line)).len();
        let (content, line_end) = content.split_at(len);
        out.extend_from_slice(head);
        out.extend_from_slice(&part(head, content)?);
        out.extend_from_slice(line_end);
    }
    Ok(out)
}

/// Hides the secrets of a part.
fn part<'p>(head: &[u8], content: &'p [u8]) -> Result<Cow<'p, [u8]>, &'static str> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let name = head.split_once("name=").map(|(_, rest)| rest.trim_start_matches('"'));
    let name = name.and_then(|rest| rest.split(['"', ';', '\r', '\n']).next());
    if head.contains("form-data") && name.is_some_and(|name| is_secret_name(name) || is_secret_parameter(name)) {
        return Ok(Cow::Borrowed(HIDDEN.as_bytes()));
    }
    let is_xml = head.contains("xml") || content.trim_ascii_start().starts_with(b"<");
    let is_text = is_xml || head.contains("text/") || head.contains("json");
    let is_encoded = head.contains("base64") || head.contains("quoted-printable");
    if is_text && is_encoded {
        return Err("it may hold secrets, in a part with a transfer encoding");
    }
    match is_xml {
        true => Ok(Cow::Owned(message(content)?)),
        false if has_sign(content) && std::str::from_utf8(content).is_ok() => {
            Err("it may hold secrets, in a part that is not XML")
        }
        false => Ok(Cow::Borrowed(content)),
    }
}

fn has_sign(body: &[u8]) -> bool {
    let body = body.to_ascii_lowercase();
    SIGNS.iter().any(|sign| memchr::memmem::find(&body, sign).is_some())
}

fn message(body: &[u8]) -> Result<Vec<u8>, &'static str> {
    if body.contains(&0) {
        return Err("it may hold secrets, which are not found in its encoding");
    }
    if !has_sign(body) {
        return Ok(body.to_vec());
    }
    let (mut edits, mut hidden_from) = (Edits::default(), None::<(usize, usize)>);
    let mut pair = Pair::default();
    let read = document::read(body, |event, reader, after| {
        match (event, hidden_from) {
            (Event::Start, None) => {
                let start = document::tag_start(body, reader);
                let tag = &body[start..after];
                let is_pair = is_secret_pair(tag);
                for (name, range) in document::attributes(tag) {
                    let name = local(name);
                    if !name.starts_with("xmlns") && is_secret_name(&name) || is_pair && is_value(&name) {
                        edits.replace(start + range.start..start + range.end, HIDDEN);
                    }
                }
                let is_hidden = is_secret(reader) || is_pair || pair.hides(reader);
                if is_hidden && !reader.tag_is_empty() {
                    hidden_from = Some((reader.depth(), after));
                }
                pair.text.clear();
            }
            (Event::Text(text), None) if pair.text.len() < 100 => pair.text.extend(text.chars().take(100)),
            (Event::End, Some((depth, from))) if reader.depth() + 1 == depth => {
                let end = document::tag_start(body, reader);
                if end > from {
                    edits.replace(from..end, HIDDEN);
                }
                hidden_from = None;
            }
            (Event::End, None) => pair.ends(reader),
            _ => {}
        }
        true
    });
    read.map_err(|_| "it may hold secrets, and is not well-formed XML in UTF-8")?;
    Ok(if edits.is_empty() { body.to_vec() } else { edits.apply(body) })
}

/// Pairs of elements, such as `<name>password</name><value>x</value>`.
#[derive(Default)]
struct Pair {
    text: String,
    /// The depth of an element with a secret name as its text.
    named: Option<usize>,
}

impl Pair {
    fn hides(&self, reader: &Reader) -> bool {
        self.named == Some(reader.depth()) && is_value(reader.names().local(reader.name()))
    }

    fn ends(&mut self, reader: &Reader) {
        let depth = reader.depth() + 1;
        if is_key(reader.names().local(reader.closed_name())) {
            self.named = is_secret_name(&self.text).then_some(depth);
        } else if self.named.is_some_and(|named| depth < named) {
            self.named = None;
        }
        self.text.clear();
    }
}

/// Returns true for a tag such as `<param name="password" value="x"/>`.
fn is_secret_pair(tag: &[u8]) -> bool {
    let mut attributes = document::attributes(tag);
    attributes.any(|(name, range)| is_key(&local(name)) && is_secret_name(&String::from_utf8_lossy(&tag[range])))
}

fn is_key(name: &str) -> bool {
    ["name", "key"].iter().any(|key| name.eq_ignore_ascii_case(key))
}

fn is_value(name: &str) -> bool {
    ["value", "val", "content"].iter().any(|value| name.eq_ignore_ascii_case(value))
}

/// Returns the local part of a name as it is written; `xmlns` for declarations.
fn local(name: &[u8]) -> Cow<'_, str> {
    match name.iter().position(|byte| *byte == b':') {
        Some(at) if &name[..at] != b"xmlns" => String::from_utf8_lossy(&name[at + 1..]),
        _ => String::from_utf8_lossy(name),
    }
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
        local => is_secret_name(local),
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
            (
                "<a p:PassWord = 'x' xmlns:p='u' b=\"c\"><PWD>y</PWD><sessionToken>z</sessionToken></a>",
                "<a p:PassWord = '(not recorded)' xmlns:p='u' b=\"c\"><PWD>(not recorded)</PWD><sessionToken>(not recorded)</sessionToken></a>",
            ),
            (
                "<a><p name='password' value='x'/><p key='apiKey'>y</p><p><name> Password</name><value>z</value></p><value>v</value></a>",
                "<a><p name='password' value='(not recorded)'/><p key='apiKey'>(not recorded)</p><p><name> Password</name><value>(not recorded)</value></p><value>v</value></a>",
            ),
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
        let form = "--B\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nx\r\n--B--\r\n";
        let out = String::from_utf8(body(form.as_bytes(), Some("B")).expect("recorded")).expect("UTF-8");
        assert_eq!(out, form.replace("\r\nx\r\n", "\r\n(not recorded)\r\n"));
        let lines = text.replace("\r\n", "\n").replace("Content-Type: application/xop+xml", "X: y");
        let out = String::from_utf8(body(lines.as_bytes(), Some("B")).expect("recorded")).expect("UTF-8");
        assert_eq!(out, lines.replace(">x<", ">(not recorded)<"));
        for unreadable in [
            text.replace("--B", "--C"),
            text.replace("\r\n\r\n<a>", "\r\n<a>").replace("\r\n\r\n\0", "\0"),
            text.replace("xop+xml", "xop+xml\r\nContent-Transfer-Encoding: base64"),
        ] {
            assert!(body(unreadable.as_bytes(), Some("B")).is_err(), "{unreadable}");
        }
    }

    #[test]
    fn secrets_of_headers_and_queries_are_hidden() {
        let value = HeaderValue::from_static("Basic x");
        assert_eq!(header(&http::header::AUTHORIZATION, &value, false), HIDDEN);
        assert_eq!(header(&http::header::AUTHORIZATION, &value, true), "Basic x");
        assert_eq!(header(&http::header::HOST, &value, false), "Basic x");
        assert_eq!(target("/a?wsdl&api_key=7&b=c", false), "/a?wsdl&api_key=hidden&b=c");
        assert_eq!(target("/a?token=7", true), "/a?token=7");
        assert_eq!(target("/a?user[password]=7;pass%77ord=8&b", false), "/a?user[password]=hidden;pass%77ord=hidden&b");
        let url = HeaderValue::from_static("http://ada:x@h/?token=7#access_token=8");
        assert_eq!(header(&LOCATION, &url, false), "http://ada@h/?token=hidden#access_token=hidden");
    }
}
