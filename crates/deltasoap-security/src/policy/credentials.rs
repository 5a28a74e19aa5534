//! What a side has to meet a policy with.

use crate::keys::{Certificate, Identity};
use crate::outgoing::Protection;
use crate::requirements::Requirements;
use crate::token::binary::{TokenSource, TokenVerifier};
use crate::token::saml::AssertionRules;
use crate::token::username::Users;
use crate::trust::Trust;
use std::fmt;
use std::sync::Arc;

/// Keys, names and settings of a client or a server, of which a
/// [`SecurityPolicy`](super::SecurityPolicy) takes those that it needs.
#[derive(Clone, Default)]
pub struct PolicyCredentials {
    pub(super) identity: Option<Identity>,
    pub(super) peer: Option<Certificate>,
    pub(super) trust: Option<Arc<Trust>>,
    pub(super) user: Option<(String, String)>,
    pub(super) users: Option<Arc<dyn Users>>,
    pub(super) kerberos: Option<Arc<dyn TokenSource>>,
    pub(super) kerberos_verifier: Option<Arc<dyn TokenVerifier>>,
    pub(super) assertion: Option<Arc<str>>,
    pub(super) assertions: Option<Arc<AssertionRules>>,
    pub(super) tls: Option<Tls>,
    pub(super) has_http_authentication: bool,
    pub(super) uses_modern_algorithms: bool,
    adjust_protection: Option<Adjust<Protection>>,
    adjust_requirements: Option<Adjust<Requirements>>,
}

type Adjust<T> = Arc<dyn Fn(T) -> T + Send + Sync>;

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tls {
    /// By TLS with a certificate of the server.
    Server,
    /// By TLS with certificates of both sides.
    Mutual,
}

impl PolicyCredentials {
    /// Has nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Signs with a key, and decrypts with it.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Encrypts for the owner of a certificate: for a client, the server. A server without it
    /// encrypts for whoever signed the request. Without [`trust`](Self::trust), the peer must sign
    /// with this certificate.
    #[must_use]
    pub fn peer(mut self, certificate: Certificate) -> Self {
        self.peer = Some(certificate);
        self
    }

    /// Sets whose signatures are accepted.
    #[must_use]
    pub fn trust(mut self, trust: impl Into<Arc<Trust>>) -> Self {
        self.trust = Some(trust.into());
        self
    }

    /// Sends this user name with its password, as text or digest as the policy says.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some((name.into(), password.into()));
        self
    }

    /// Sets the source of users' passwords, for a server.
    #[must_use]
    pub fn users(mut self, users: impl Users + 'static) -> Self {
        self.users = Some(Arc::new(users));
        self
    }

    /// Sends Kerberos tickets that a hook makes.
    #[must_use]
    pub fn kerberos(mut self, source: impl TokenSource + 'static) -> Self {
        self.kerberos = Some(Arc::new(source));
        self
    }

    /// Sets the verifier of Kerberos tickets, for a server.
    #[must_use]
    pub fn kerberos_verifier(mut self, verifier: impl TokenVerifier + 'static) -> Self {
        self.kerberos_verifier = Some(Arc::new(verifier));
        self
    }

    /// Sends this SAML assertion, as its issuer wrote it.
    #[must_use]
    pub fn assertion(mut self, xml: impl Into<Arc<str>>) -> Self {
        self.assertion = Some(xml.into());
        self
    }

    /// Sets which SAML assertions are accepted, for a server.
    #[must_use]
    pub fn assertions(mut self, rules: impl Into<Arc<AssertionRules>>) -> Self {
        self.assertions = Some(rules.into());
        self
    }

    /// States that messages travel by TLS. Clients of this library know it from the URL; a server
    /// does not, since something else may end TLS for it.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = self.tls.max(Some(tls));
        self
    }

    /// States that clients authenticate by HTTP: by `ClientBuilder::credentials`, or as a server
    /// checks itself.
    #[must_use]
    pub fn http_authentication(mut self) -> Self {
        self.has_http_authentication = true;
        self
    }

    /// Sends SHA-256 and AES-GCM where the policy's algorithm suite has SHA-1 and AES-CBC, which
    /// this library does not write. Some services accept them; CXF accepts SHA-256, but not
    /// AES-GCM. Default: such policies are not met.
    #[must_use]
    pub fn modern_algorithms(mut self) -> Self {
        self.uses_modern_algorithms = true;
        self
    }

    /// Changes what a policy leads to, after it: for instance, the offset of a camera's clock.
    #[must_use]
    pub fn adjust_protection(mut self, adjust: impl Fn(Protection) -> Protection + Send + Sync + 'static) -> Self {
        self.adjust_protection = Some(Arc::new(adjust));
        self
    }

    /// Like [`adjust_protection`](Self::adjust_protection), for what is required of messages.
    #[must_use]
    pub fn adjust_requirements(
        mut self,
        adjust: impl Fn(Requirements) -> Requirements + Send + Sync + 'static,
    ) -> Self {
        self.adjust_requirements = Some(Arc::new(adjust));
        self
    }

    pub(super) fn adjusted_protection(&self, protection: Protection) -> Protection {
        match &self.adjust_protection {
            Some(adjust) => adjust(protection),
            None => protection,
        }
    }

    pub(super) fn adjusted_requirements(&self, requirements: Requirements) -> Requirements {
        match &self.adjust_requirements {
            Some(adjust) => adjust(requirements),
            None => requirements,
        }
    }
}

/// Omits passwords and keys.
impl fmt::Debug for PolicyCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyCredentials")
            .field("identity", &self.identity.is_some())
            .field("peer", &self.peer)
            .field("trust", &self.trust)
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}
