//! Access to descriptions that not everybody may read.
//!
//! What proves who asks goes to one origin alone, that of the description: documents can name others anywhere, and redirects lead
//! anywhere.

use deltasoap_xml::Buffer;
use deltasoap_xml::lexical::Base64;
use http_auth::digest::{Algorithm, DigestClient, Qop};
use http_auth::{PasswordParams, parse_challenges};
use std::fmt;
use std::sync::{Arc, LazyLock};
use ureq::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use url::{Origin, Position, Url};

/// The certificates that the system trusts, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`; read once, as that takes milliseconds.
static SYSTEM: LazyLock<Vec<Certificate<'static>>> = LazyLock::new(|| {
    let found = rustls_native_certs::load_native_certs().certs;
    found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect()
});

/// What an origin is shown by a [`WebClient`](super::WebClient), and by which certificates it is known.
///
/// ```
/// use deltasoap_wsdl::Importer;
/// use deltasoap_wsdl::fetch::{Access, WebClient};
///
/// let url = "https://example.org/shop?wsdl".parse()?;
/// let access = Access::to(&url).basic("ada", "analytical engine")?.header("x-tenant", "7")?;
/// let importer = Importer::new().fetch_with(WebClient::with_access(access));
/// # let _ = importer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Access {
    pub(super) origin: Origin,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    digest: Option<Digest>,
    roots: Vec<Certificate<'static>>,
    identity: Option<ClientCert>,
    is_unverified: bool,
}

/// A name and a password that answer a challenge.
#[derive(Clone)]
struct Digest {
    name: String,
    password: String,
}

impl fmt::Debug for Access {
    /// Tells no secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Access").field("origin", &self.origin).field("headers", &names).finish_non_exhaustive()
    }
}

impl Access {
    /// For the origin of a URL, nothing yet.
    pub fn to(url: &Url) -> Self {
        Access {
            origin: url.origin(),
            headers: Vec::new(),
            digest: None,
            roots: Vec::new(),
            identity: None,
            is_unverified: false,
        }
    }

    /// Adds an HTTP header.
    ///
    /// # Errors
    /// When HTTP does not allow the name or the value.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, AccessError> {
        let name: HeaderName = name.parse().map_err(|_| AccessError::Header(name.to_owned()))?;
        let mut text: HeaderValue = value.parse().map_err(|_| AccessError::Header(name.to_string()))?;
        text.set_sensitive(true);
        self.headers.push((name, text));
        Ok(self)
    }

    /// Name and password of Basic authentication (RFC 7617).
    ///
    /// # Errors
    /// When there is a colon in the name.
    pub fn basic(self, name: &str, password: &str) -> Result<Self, AccessError> {
        if name.contains(':') {
            return Err(AccessError::Name);
        }
        let mut pair = Buffer::new();
        Base64::write(format!("{name}:{password}").as_bytes(), &mut pair);
        self.header(AUTHORIZATION.as_str(), &format!("Basic {}", String::from_utf8_lossy(pair.as_slice())))
    }

    /// Name and password of Digest authentication (RFC 7616, by SHA-256 where it is offered, else by MD5, with `qop=auth`): for each document
    /// the challenge is fetched first. A challenge to another scheme is not answered.
    #[must_use]
    pub fn digest(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.digest = Some(Digest { name: name.into(), password: password.into() });
        self
    }

    /// Takes the origin's certificate whatever it is. Whoever is on the way can read what is sent, and answer in its place.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.is_unverified = true;
        self
    }

    /// Trusts these certificates (PEM) as well as those that the system trusts.
    ///
    /// # Errors
    /// When there is none, or what is there is none.
    pub fn roots_pem(mut self, pem: &[u8]) -> Result<Self, AccessError> {
        self.roots.extend(certificates(pem).ok_or(AccessError::Certificate)?);
        Ok(self)
    }

    /// Shows a certificate with its chain (PEM), whose private key this is (PEM).
    ///
    /// # Errors
    /// When there is no certificate, or no key.
    pub fn identity_pem(mut self, chain: &[u8], key: &[u8]) -> Result<Self, AccessError> {
        let chain = certificates(chain).ok_or(AccessError::Certificate)?;
        let key = PrivateKey::from_pem(key).map_err(|_| AccessError::Key)?;
        self.identity = Some(ClientCert::new_with_certs(&chain, key));
        Ok(self)
    }

    /// How to connect. Without an access only the system's certificates count, or those of the public authorities where it has none.
    pub(super) fn tls(access: Option<&Access>) -> TlsConfig {
        let own = access.map_or(&[][..], |access| &access.roots);
        let trusted: Vec<_> = own.iter().chain(&*SYSTEM).cloned().collect();
        let roots = if trusted.is_empty() { RootCerts::WebPki } else { RootCerts::Specific(Arc::new(trusted)) };
        TlsConfig::builder()
            .root_certs(roots)
            .client_cert(access.and_then(|access| access.identity.clone()))
            .disable_verification(access.is_some_and(|access| access.is_unverified))
            .build()
    }

    /// What answers the challenge in the headers of a response to `GET`; `None` where there is nothing to answer, or with.
    pub(super) fn proof(&self, url: &Url, received: &HeaderMap) -> Option<HeaderValue> {
        let Digest { name, password } = self.digest.as_ref()?;
        let uri = &url[Position::BeforePath..Position::AfterQuery];
        let params = PasswordParams { username: name, password, uri, method: "GET", body: None };
        let mut proof: HeaderValue = challenge(received)?.respond(&params).ok()?.parse().ok()?;
        proof.set_sensitive(true);
        Some(proof)
    }
}

/// The strongest challenge that can be answered.
fn challenge(received: &HeaderMap) -> Option<DigestClient> {
    let texts = received.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let challenges = texts.filter_map(|text| parse_challenges(text).ok()).flatten();
    let digests = challenges.filter(|challenge| challenge.scheme.eq_ignore_ascii_case("digest"));
    let clients = digests.filter_map(|challenge| DigestClient::try_from(&challenge).ok());
    let answered = clients.filter(|client| client.qop() & Qop::Auth && !client.rfc2069_compat());
    answered.max_by_key(|client| !matches!(client.algorithm(), Algorithm::Md5))
}

/// The certificates of a PEM file; `None` for none, and for a file at fault.
fn certificates(pem: &[u8]) -> Option<Vec<Certificate<'static>>> {
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.ok()? {
            found.push(certificate);
        }
    }
    (!found.is_empty()).then_some(found)
}

/// What cannot be shown to anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// A header that HTTP does not allow: its name.
    Header(String),
    /// A user's name with a colon.
    Name,
    /// Not a certificate in PEM.
    Certificate,
    /// Not a private key in PEM.
    Key,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Header(name) => write!(f, "HTTP does not allow the header {name:?}"),
            AccessError::Name => f.write_str("a user's name has no colon"),
            AccessError::Certificate => f.write_str("no certificates in PEM"),
            AccessError::Key => f.write_str("no private key in PEM"),
        }
    }
}

impl std::error::Error for AccessError {}
