//! Access to descriptions that not everybody may read.
//!
//! Credentials go to one origin alone, that of the description: documents can name others anywhere,
//! and redirects lead anywhere.

use deltasoap_http::{Credentials, Identity};
use http::{HeaderName, HeaderValue};
use std::fmt;
use url::{Origin, Url};

/// What an origin is shown by a [`WebClient`](super::WebClient).
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
    pub(super) credentials: Option<Credentials>,
    pub(super) identity: Option<Identity>,
    pub(super) is_unverified: bool,
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
        Access { origin: url.origin(), headers: Vec::new(), credentials: None, identity: None, is_unverified: false }
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
    /// When there is a colon in the name, or a control character in either.
    pub fn basic(self, name: &str, password: &str) -> Result<Self, AccessError> {
        Ok(self.credentials(Credentials::basic(name, password).map_err(|_| AccessError::Credentials)?))
    }

    /// Name and password of Digest authentication (RFC 7616, by SHA-256 where it is offered, else
    /// by MD5, with `qop=auth`): the challenge is fetched first. A challenge to another scheme is
    /// not answered.
    ///
    /// # Errors
    /// When there is a control character in either.
    pub fn digest(self, name: impl Into<String>, password: impl Into<String>) -> Result<Self, AccessError> {
        Ok(self.credentials(Credentials::digest(name, password).map_err(|_| AccessError::Credentials)?))
    }

    /// Credentials, as those of clients of services.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Takes the origin's certificate whatever it is. Whoever is on the way can read what is sent,
    /// and answer in its place.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.is_unverified = true;
        self
    }

    /// The certificate to show to an origin that asks for one (mutual TLS).
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }
}

/// What cannot be shown to anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// A header that HTTP does not allow: its name.
    Header(String),
    /// A user's name or password with a character that cannot be sent.
    Credentials,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Header(name) => write!(f, "HTTP does not allow the header {name:?}"),
            AccessError::Credentials => f.write_str("the name or the password holds a character that cannot be sent"),
        }
    }
}

impl std::error::Error for AccessError {}
