//! The client's credentials, for HTTP's Basic or Digest authentication.

#[cfg(feature = "digest")]
use super::digest::Digest;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{HeaderMap, HeaderValue, PROXY_AUTHENTICATE, WWW_AUTHENTICATE};
use http::{Method, StatusCode, Uri};
use http_auth::parse_challenges;
use percent_encoding::percent_decode_str;
use std::fmt;

/// A user's name and password; see
/// [`ClientBuilder::credentials`](crate::ClientBuilder::credentials). A clone does not share the
/// challenge of the server that the original was used with.
#[derive(Clone)]
pub struct Credentials(Scheme);

#[derive(Clone)]
enum Scheme {
    Basic(HeaderValue),
    Digest(Digest),
}

/// Without the feature, this type has no values.
#[cfg(not(feature = "digest"))]
#[derive(Clone)]
enum Digest {}

impl Credentials {
    /// Creates credentials for Basic authentication (RFC 7617), sent preemptively.
    ///
    /// Every request carries name and password, readable by anyone who can read the connection. Use
    /// it over TLS.
    ///
    /// # Errors
    /// Returns an error if the name contains a colon, or either contains a control character.
    pub fn basic(user: &str, password: &str) -> Result<Self, InvalidCredentials> {
        if user.contains(':') || user.chars().chain(password.chars()).any(char::is_control) {
            return Err(InvalidCredentials);
        }
        let coded = BASE64_STANDARD.encode(format!("{user}:{password}"));
        let header = sensitive(format!("Basic {coded}")).ok_or(InvalidCredentials)?;
        Ok(Credentials(Scheme::Basic(header)))
    }

    /// Creates credentials for Digest authentication (RFC 7616) by SHA-256 or MD5 with `qop=auth`.
    ///
    /// The server's challenge is fetched with the first request and reused, with a counter, for
    /// later ones. Challenges for other schemes, such as Basic, are not answered, nor those without
    /// `qop`. All credentials of a client are for one server: the one in its URL.
    ///
    /// # Errors
    /// Returns an error if the name or the password contains a control character.
    #[cfg(feature = "digest")]
    pub fn digest(user: impl Into<String>, password: impl Into<String>) -> Result<Self, InvalidCredentials> {
        let (user, password) = (user.into(), password.into());
        if user.chars().chain(password.chars()).any(char::is_control) {
            return Err(InvalidCredentials);
        }
        Ok(Credentials(Scheme::Digest(Digest::new(user, password))))
    }

    /// Removes user name and password from a URL. Returns them as credentials for Basic
    /// authentication, unless the name is empty.
    pub(super) fn take_from(url: String) -> (String, Option<Result<Self, InvalidCredentials>>) {
        // Without a scheme the URL is invalid, but the error must not show the password either.
        let start = url.find("://").map_or(0, |colon| colon + 3);
        let (scheme, rest) = url.split_at(start);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let Some((user, host)) = rest[..end].rsplit_once('@') else { return (url, None) };
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = (!user.is_empty()).then(|| Credentials::basic(&decoded(name), &decoded(password)));
        (format!("{scheme}{host}{}", &rest[end..]), credentials)
    }

    /// Returns true if a challenge is needed and missing.
    pub(super) fn needs_challenge(&self) -> bool {
        matches!(&self.0, Scheme::Digest(digest) if !digest.has_challenge())
    }

    /// Returns true if a request may have to be sent again after a challenge.
    pub(super) fn can_be_challenged(&self) -> bool {
        matches!(&self.0, Scheme::Digest(_))
    }

    /// Returns the value of `Authorization` for a request; `None` if there is no challenge to
    /// answer yet.
    pub fn authorization(&self, method: &Method, uri: &Uri) -> Option<HeaderValue> {
        match &self.0 {
            Scheme::Basic(header) => Some(header.clone()),
            Scheme::Digest(digest) => digest.respond(method, uri),
        }
    }

    /// Returns the names of the authentication schemes that a refusal (401, or 407 from a proxy)
    /// offers, without the rest of its challenges; empty for other answers.
    pub fn offered(status: StatusCode, received: &HeaderMap) -> Vec<String> {
        offered(status, received)
    }

    /// Records the challenge of an answer. Returns true if the request should be sent again: it was
    /// sent without an answer to a challenge, or with an answer to one that the server declares
    /// stale.
    pub fn note_challenge(&self, was_authorized: bool, received: &HeaderMap) -> bool {
        match &self.0 {
            Scheme::Digest(digest) => digest.note_challenge(was_authorized, received),
            Scheme::Basic(_) => false,
        }
    }
}

#[cfg(not(feature = "digest"))]
impl Digest {
    fn has_challenge(&self) -> bool {
        match *self {}
    }

    fn respond(&self, _: &Method, _: &Uri) -> Option<HeaderValue> {
        match *self {}
    }

    fn note_challenge(&self, _: bool, _: &HeaderMap) -> bool {
        match *self {}
    }
}

pub(super) fn sensitive(text: String) -> Option<HeaderValue> {
    let mut header = HeaderValue::try_from(text).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Maximum number of schemes reported.
const MAX_OFFERED: usize = 8;
/// Maximum length of a scheme's name.
const MAX_NAME: usize = 32;

/// See [`Credentials::offered`].
pub(super) fn offered(status: StatusCode, headers: &HeaderMap) -> Vec<String> {
    let header = match status {
        StatusCode::UNAUTHORIZED => WWW_AUTHENTICATE,
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => PROXY_AUTHENTICATE,
        _ => return Vec::new(),
    };
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= MAX_NAME
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let mut names: Vec<String> = Vec::new();
    for value in headers.get_all(header) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let found: Vec<_> = match parse_challenges(&text) {
            Ok(challenges) => challenges.iter().map(|challenge| challenge.scheme).collect(),
            // Some servers violate the grammar after the name.
            Err(_) => text.split([' ', ',']).take(1).collect(),
        };
        for name in found.into_iter().filter(|name| is_name(name)) {
            if names.len() < MAX_OFFERED && !names.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Shows only the scheme.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match &self.0 {
            Scheme::Basic(_) => "Basic",
            Scheme::Digest(_) => "Digest",
        };
        f.debug_tuple("Credentials").field(&scheme).finish()
    }
}

/// A name or a password that the scheme cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCredentials;

impl fmt::Display for InvalidCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or the password holds a character that cannot be sent")
    }
}

impl std::error::Error for InvalidCredentials {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_named_without_what_else_challenges_say() {
        let offered = |status: u16, values: &[&'static str]| {
            let headers = values.iter().map(|value| (WWW_AUTHENTICATE, HeaderValue::from_static(value)));
            super::offered(StatusCode::from_u16(status).expect("a status"), &headers.collect()).join(" ")
        };
        assert_eq!(offered(401, &["Basic realm=\"secret, place\", Digest realm=\"x\", nonce=\"y\""]), "Basic Digest");
        assert_eq!(
            offered(401, &["Negotiate", "NTLM TlRMTVNTUAAC==", "basic realm=x", "Basic"]),
            "Negotiate NTLM basic"
        );
        assert_eq!(offered(401, &["Odd = ?", "<b>", ""]), "Odd");
        assert_eq!((offered(403, &["Basic"]), offered(401, &[])), (String::new(), String::new()));
    }

    #[test]
    fn urls_may_contain_a_user_and_a_password() {
        for (url, rest, decoded) in [
            ("http://ada:s%40cret@a.example:80/x?y=a@b", "http://a.example:80/x?y=a@b", Some("ada:s@cret")),
            ("https://ada@a.example", "https://a.example", Some("ada:")),
            ("http://a@b:c@a.example#d@e", "http://a.example#d@e", Some("a@b:c")),
            ("http://:key@a.example/", "http://a.example/", Some(":key")),
            ("http://@a.example/", "http://a.example/", None),
            ("http://a.example/x@y", "http://a.example/x@y", None),
            ("a:b@c", "c", Some("a:b")),
        ] {
            let (found, credentials) = Credentials::take_from(url.to_owned());
            let header = credentials.map(|it| it.expect("credentials").authorization(&Method::POST, &Uri::default()));
            let expected = decoded.map(|text| format!("Basic {}", BASE64_STANDARD.encode(text)));
            assert_eq!(found, rest);
            assert_eq!(header.flatten().map(|header| header.to_str().expect("ASCII").to_owned()), expected, "{url}");
        }
        let (_, refused) = Credentials::take_from("http://a%3Ab:c@a.example/".to_owned());
        assert!(refused.is_some_and(|it| it.is_err()));
    }
}
