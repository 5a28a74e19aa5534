//! Access to descriptions that not everybody may read.
//!
//! What proves who asks goes to one origin alone, that of the description: documents can name others anywhere, and redirects lead
//! anywhere.

use deltasoap_xml::Buffer;
use deltasoap_xml::lexical::Base64;
use std::fmt;
use std::sync::Arc;
use ureq::http::{HeaderName, HeaderValue, header::AUTHORIZATION};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use url::{Origin, Url};

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
    roots: Vec<Certificate<'static>>,
    identity: Option<ClientCert>,
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
        Access { origin: url.origin(), headers: Vec::new(), roots: Vec::new(), identity: None }
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

    /// Trusts these certificates (PEM) as well.
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

    /// Ways to connect, one of which will do: trusting the added certificates, and those of the public authorities.
    pub(super) fn ways(&self) -> Vec<TlsConfig> {
        let with = |roots| TlsConfig::builder().client_cert(self.identity.clone()).root_certs(roots).build();
        let own = (!self.roots.is_empty()).then(|| with(RootCerts::Specific(Arc::new(self.roots.clone()))));
        own.into_iter().chain([with(RootCerts::WebPki)]).collect()
    }
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
