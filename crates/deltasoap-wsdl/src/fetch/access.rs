//! Access to protected WSDLs.
//!
//! Credentials are sent only to one origin, that of the WSDL: documents and redirects can lead
//! anywhere.

use deltasoap_http::{Credentials, Identity};
use http::{HeaderName, HeaderValue};
use std::fmt;
use url::{Origin, Url};

/// Headers and credentials that a [`WebClient`](super::WebClient) sends to one origin.
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
    /// Prints no secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Access").field("origin", &self.origin).field("headers", &names).finish_non_exhaustive()
    }
}

impl Access {
    /// Creates access to the origin of a URL, without headers or credentials.
    pub fn to(url: &Url) -> Self {
        Access { origin: url.origin(), headers: Vec::new(), credentials: None, identity: None, is_unverified: false }
    }

    /// Adds an HTTP header.
    ///
    /// # Errors
    /// Returns an error if HTTP does not allow the name or the value.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, AccessError> {
        let name: HeaderName = name.parse().map_err(|_| AccessError::Header(name.to_owned()))?;
        let mut text: HeaderValue = value.parse().map_err(|_| AccessError::Header(name.to_string()))?;
        text.set_sensitive(true);
        self.headers.push((name, text));
        Ok(self)
    }

    /// Sets name and password for Basic authentication (RFC 7617).
    ///
    /// # Errors
    /// Returns an error if the name has a colon, or either has a control character.
    pub fn basic(self, name: &str, password: &str) -> Result<Self, AccessError> {
        Ok(self.credentials(Credentials::basic(name, password).map_err(|_| AccessError::Credentials)?))
    }

    /// Sets name and password for Digest authentication (RFC 7616, with SHA-256 if the server
    /// offers it, else MD5, and `qop=auth`). The client fetches the challenge first. It does not
    /// answer challenges to other schemes.
    ///
    /// # Errors
    /// Returns an error if either has a control character.
    pub fn digest(self, name: impl Into<String>, password: impl Into<String>) -> Result<Self, AccessError> {
        Ok(self.credentials(Credentials::digest(name, password).map_err(|_| AccessError::Credentials)?))
    }

    /// Sets the same credentials that service clients use.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Accepts any certificate of the origin. Anyone on the network path can then read what is sent
    /// and answer in the origin's place.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.is_unverified = true;
        self
    }

    /// Sets the client certificate for an origin that asks for one (mutual TLS).
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }
}

/// Error for a header or credentials that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// HTTP does not allow the header with this name.
    Header(String),
    /// The user name or password has a character that cannot be sent.
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
