//! Authentication of senders: a hook that names the [`Principal`] or denies the request, and two
//! ready-made hooks.

use super::memory::Principal;
use crate::media;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use http::{StatusCode, header};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Determines the identity of a request's sender: a closure, [`Basic`], or [`ByCertificate`].
///
/// See [`SoapServiceBuilder::authenticate`](crate::SoapServiceBuilder::authenticate). It is called
/// for each request, of any method, before any of the body is read, on the task of the connection:
/// it must not block. If it has to wait, for example for a database, use a layer around the service
/// that attaches the [`Principal`].
///
/// ```
/// use deltasoap_http::{Denial, Principal, SoapService};
///
/// let builder = SoapService::builder().authenticate(|request: &http::request::Parts, _peer: Option<_>| {
///     match request.headers.get("x-device").and_then(|value| value.to_str().ok()) {
///         Some("device-7") => Ok(Some(Principal::new("device-7"))),
///         _ => Err(Denial::forbidden()),
///     }
/// });
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the principal of a request, given without its body; `None` for an anonymous sender.
    /// The peer is known if [`Server`](crate::Server) accepted the connection.
    ///
    /// # Errors
    /// When the request must not be served.
    fn authenticate(&self, request: &Parts, peer: Option<SocketAddr>) -> Result<Option<Principal>, Denial>;
}

impl<F> Authenticate for F
where
    F: Fn(&Parts, Option<SocketAddr>) -> Result<Option<Principal>, Denial> + Send + Sync + 'static,
{
    fn authenticate(&self, request: &Parts, peer: Option<SocketAddr>) -> Result<Option<Principal>, Denial> {
        self(request, peer)
    }
}

/// A request that is not served because of its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub(crate) status: StatusCode,
    pub(crate) challenge: Option<HeaderValue>,
}

impl Denial {
    /// Denies with HTTP 401: credentials are missing or wrong. The challenge names acceptable ones
    /// (`WWW-Authenticate`, RFC 9110, 11.6.1).
    pub fn unauthorized(challenge: HeaderValue) -> Self {
        Denial { status: StatusCode::UNAUTHORIZED, challenge: Some(challenge) }
    }

    /// Returns the status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the answer's `WWW-Authenticate`, if it has one.
    pub fn challenge(&self) -> Option<&HeaderValue> {
        self.challenge.as_ref()
    }

    /// Denies with HTTP 403: no other credentials are requested.
    pub fn forbidden() -> Self {
        Denial { status: StatusCode::FORBIDDEN, challenge: None }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied with status {}", self.status)
    }
}

impl std::error::Error for Denial {}

/// Basic authentication (RFC 7617): each request carries a name and a password, readable by anyone
/// who can read the connection.
///
/// ```
/// use deltasoap_http::{Basic, SoapService};
///
/// let builder = SoapService::builder().authenticate(Basic::users("devices", [("ada", "analytical engine")]));
/// ```
pub struct Basic {
    challenge: HeaderValue,
    check: Box<Check>,
}

type Check = dyn Fn(&str, &str) -> Option<Principal> + Send + Sync;

impl Basic {
    /// Authenticates these users by their passwords. A user's principal has the user's name.
    /// Passwords are compared in constant time, and kept as SHA-256 sums.
    pub fn users<U, P>(realm: &str, users: impl IntoIterator<Item = (U, P)>) -> Self
    where
        U: Into<String>,
        P: AsRef<str>,
    {
        let sums = users.into_iter().map(|(user, password)| (user.into(), sum(password.as_ref())));
        let sums: HashMap<String, [u8; 32]> = sums.collect();
        Self::new(realm, move |user, password| {
            let known = sums.get(user);
            // The password of an unknown user is compared too, so that the time does not reveal
            // which users exist.
            let is_same = bool::from(sum(password).ct_eq(known.unwrap_or(&[0; 32])));
            (known.is_some() && is_same).then(|| Principal::new(user))
        })
    }

    /// Authenticates by a function, which gets name and password, and returns the principal if they
    /// are correct. It must not block, and should compare in constant time. Clients show the realm
    /// to users; characters that a header cannot carry are removed from it.
    pub fn new(realm: &str, check: impl Fn(&str, &str) -> Option<Principal> + Send + Sync + 'static) -> Self {
        let realm: String = realm.chars().filter(|c| matches!(c, ' '..='~')).collect();
        let challenge = format!("Basic realm={}, charset=\"UTF-8\"", media::quote(&realm));
        let challenge = HeaderValue::try_from(challenge).unwrap_or(HeaderValue::from_static("Basic"));
        Basic { challenge, check: Box::new(check) }
    }
}

fn sum(password: &str) -> [u8; 32] {
    Sha256::digest(password).into()
}

impl Authenticate for Basic {
    fn authenticate(&self, request: &Parts, _: Option<SocketAddr>) -> Result<Option<Principal>, Denial> {
        let pair = request.headers.get(AUTHORIZATION).and_then(user_and_password);
        let principal = pair.and_then(|(user, password)| (self.check)(&user, &password));
        principal.map(Some).ok_or_else(|| Denial::unauthorized(self.challenge.clone()))
    }
}

impl fmt::Debug for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Basic").field("challenge", &self.challenge).finish_non_exhaustive()
    }
}

/// Returns the content of `Authorization: Basic …`.
fn user_and_password(header: &HeaderValue) -> Option<(String, String)> {
    let (scheme, coded) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD.decode(coded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The verified certificates that a client presented, its own first, attached to requests by
/// [`Server`](crate::Server) over TLS.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerCertificates(Arc<[Vec<u8>]>);

impl PeerCertificates {
    /// Wraps verified certificates in DER, the client's own first. For servers other than ours.
    pub fn new(verified: impl IntoIterator<Item = Vec<u8>>) -> Self {
        PeerCertificates(verified.into_iter().collect())
    }

    /// Returns the client's own certificate in DER; empty if there is none.
    pub fn end_entity(&self) -> &[u8] {
        self.0.first().map_or(&[], Vec::as_slice)
    }

    /// Returns all certificates in DER, the client's own first.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Returns the SHA-256 sum of the client's own certificate, as 64 hexadecimal digits in lower
    /// case.
    pub fn fingerprint(&self) -> String {
        Sha256::digest(self.end_entity()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Shows the fingerprint.
impl fmt::Debug for PeerCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PeerCertificates").field(&self.fingerprint()).finish()
    }
}

/// Identifies clients by the certificate that they presented (mutual TLS); those without one are
/// forbidden.
pub struct ByCertificate(Box<Name>);

type Name = dyn Fn(&PeerCertificates) -> Option<Principal> + Send + Sync;

impl ByCertificate {
    /// Names the principal after the certificate's [fingerprint](PeerCertificates::fingerprint), so
    /// a renewed certificate results in another principal.
    pub fn fingerprint() -> Self {
        Self::named(|certificates| Some(Principal::new(certificates.fingerprint())))
    }

    /// Names the principal with a function; clients for which it returns `None` are forbidden.
    pub fn named(name: impl Fn(&PeerCertificates) -> Option<Principal> + Send + Sync + 'static) -> Self {
        ByCertificate(Box::new(name))
    }
}

impl Authenticate for ByCertificate {
    fn authenticate(&self, request: &Parts, _: Option<SocketAddr>) -> Result<Option<Principal>, Denial> {
        let certificates = request.extensions.get::<PeerCertificates>();
        certificates.and_then(&self.0).map(Some).ok_or_else(Denial::forbidden)
    }
}

impl fmt::Debug for ByCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByCertificate").finish_non_exhaustive()
    }
}

/// The authentication hook of a service, if any.
#[derive(Clone, Default)]
pub(crate) struct Gate(Option<Arc<dyn Authenticate>>);

impl Gate {
    pub(crate) fn new(hook: impl Authenticate) -> Self {
        Gate(Some(Arc::new(hook)))
    }

    /// Attaches the principal that the hook returns, and removes the credentials, which no later
    /// layer needs.
    pub(crate) fn pass(&self, parts: &mut Parts, peer: Option<SocketAddr>) -> Result<(), Denial> {
        let Some(hook) = &self.0 else { return Ok(()) };
        if let Some(principal) = hook.authenticate(parts, peer)? {
            parts.extensions.insert(principal);
        }
        parts.headers.remove(header::AUTHORIZATION);
        Ok(())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn parts(authorization: &str) -> Parts {
        Request::get("/").header(AUTHORIZATION, authorization).body(()).expect("a request").into_parts().0
    }

    fn ada() -> Basic {
        Basic::users("a \"b\"", [("ada", "se:cret")])
    }

    #[test]
    fn basic_takes_the_right_password_alone() {
        let encoded = |text: &str| format!("basic {}", BASE64_STANDARD.encode(text));
        let named = ada().authenticate(&parts(&encoded("ada:se:cret")), None);
        assert_eq!(named, Ok(Some(Principal::new("ada"))));
        for wrong in ["ada:secret", "ada:", "ada", "bob:se:cret", ":", ""] {
            assert!(ada().authenticate(&parts(&encoded(wrong)), None).is_err(), "{wrong}");
        }
        for malformed in ["", "Basic", "Basic %", "Bearer YWRhOnNlOmNyZXQ=", "BasicYWRhOnNlOmNyZXQ="] {
            assert!(ada().authenticate(&parts(malformed), None).is_err(), "{malformed}");
        }
    }

    #[test]
    fn basic_says_what_it_wants() {
        let denial = ada().authenticate(&parts("x"), None).expect_err("a denial");
        let challenge = denial.challenge.expect("a challenge");
        assert_eq!(challenge, r#"Basic realm="a \"b\"", charset="UTF-8""#);
    }

    #[test]
    fn secrets_are_not_shown() {
        assert!(!format!("{:?}", ada()).contains("cret"));
    }
}
