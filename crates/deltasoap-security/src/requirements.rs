//! What is required of received messages, and whom they may come from.

use crate::encryption::Decryption;
use crate::error::SecurityError;
use crate::keys::{Certificate, Identity};
use crate::replay::ReplayCache;
use crate::token::binary::{TokenHook, TokenVerifier};
use crate::token::saml::AssertionRules;
use crate::token::timestamp::Freshness;
use crate::token::username::Users;
use crate::trust::Trust;
use deltasoap_core::QName;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Default maximum difference of the clocks.
const SKEW: Duration = Duration::from_secs(60);
/// Default maximum age of a message.
const AGE: Duration = Duration::from_secs(300);

/// The security that a side requires of the messages that it receives, and whom it trusts.
///
/// Everything that a message contains is verified, required or not: an invalid signature fails a
/// message even if no signature is required.
///
/// ```no_run
/// use deltasoap_security::{Requirements, Trust};
///
/// # fn main() -> Result<(), deltasoap_security::SecurityError> {
/// let trust = Trust::nobody().authorities(std::fs::read("authorities.pem").expect("a file"))?;
/// let requirements = Requirements::new().trust(trust).signed_body().signed_timestamp();
/// # Ok(())
/// # }
/// ```
pub struct Requirements {
    pub(crate) trust: Arc<Trust>,
    /// A certificate that messages may refer to without containing it.
    pub(crate) peer: Option<Certificate>,
    pub(crate) users: Option<Arc<dyn Users>>,
    /// True if user names are skipped.
    pub(crate) ignores_users: bool,
    pub(crate) assertions: Option<Arc<AssertionRules>>,
    /// The verifiers of tokens, by type.
    pub(crate) tokens: Vec<TokenHook<dyn TokenVerifier>>,
    pub(crate) replays: Option<Arc<ReplayCache>>,
    pub(crate) decryption: Decryption,
    pub(crate) freshness: Freshness,
    /// `None` for the present.
    pub(crate) now: Option<SystemTime>,
    pub(crate) needs: Needs,
}

/// What a message must have.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) user: bool,
    pub(crate) timestamp: bool,
    pub(crate) assertion: bool,
    pub(crate) token: bool,
    pub(crate) signed_body: bool,
    pub(crate) signed_timestamp: bool,
    pub(crate) signed_token: bool,
    pub(crate) signed_headers: Vec<Blocks>,
    pub(crate) encrypted_body: bool,
    pub(crate) encrypted_headers: Vec<QName>,
    pub(crate) confirmation: bool,
    pub(crate) signed_attachments: bool,
    pub(crate) digest_password: bool,
    /// True for SAML 2.0, `None` for either version.
    pub(crate) saml2: Option<bool>,
    pub(crate) encrypted_user: bool,
    pub(crate) signed_certificates: bool,
    pub(crate) encrypted_signatures: bool,
}

/// Header blocks, except the security header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blocks {
    All,
    In(String),
    Named(QName),
}

impl Default for Requirements {
    fn default() -> Self {
        Self::new()
    }
}

impl Requirements {
    /// Requires nothing and trusts nobody. Clocks may differ by a minute; messages with a time may
    /// be five minutes old; what was accepted once is not accepted again.
    pub fn new() -> Self {
        Requirements {
            trust: Arc::new(Trust::nobody()),
            peer: None,
            users: None,
            ignores_users: false,
            assertions: None,
            tokens: Vec::new(),
            replays: Some(Arc::default()),
            decryption: Decryption::default(),
            freshness: Freshness { skew: SKEW, age: AGE },
            now: None,
            needs: Needs::default(),
        }
    }

    /// Sets whose signatures are accepted.
    #[must_use]
    pub fn trust(mut self, trust: impl Into<Arc<Trust>>) -> Self {
        self.trust = trust.into();
        self
    }

    /// Sets the source of users' passwords, and requires a `UsernameToken` with a password.
    #[must_use]
    pub fn users(self, users: impl Users + 'static) -> Self {
        self.shared_users(Arc::new(users))
    }

    pub(crate) fn shared_users(mut self, users: Arc<dyn Users>) -> Self {
        self.users = Some(users);
        self.needs.user = true;
        self
    }

    /// Accepts `UsernameToken` without checking the password, for recorded messages. Such a user is
    /// not the [sender](crate::Sender).
    #[must_use]
    pub fn unchecked_users(mut self) -> Self {
        self.ignores_users = true;
        self
    }

    /// Sets which SAML assertions are accepted, and requires one.
    #[must_use]
    pub fn assertions(mut self, rules: impl Into<Arc<AssertionRules>>) -> Self {
        self.assertions = Some(rules.into());
        self.needs.assertion = true;
        self
    }

    /// Requires that SAML assertions are of version 2.0, or else of version 1.1.
    pub(crate) fn saml_version(mut self, is_saml2: bool) -> Self {
        self.needs.saml2 = Some(is_saml2);
        self
    }

    /// Sets the verifier of a `BinarySecurityToken` of this type, and requires one: a Kerberos
    /// ticket, for instance, of the type [`GSS_KERBEROS_V5_AP_REQ`](crate::GSS_KERBEROS_V5_AP_REQ).
    /// May be called for several types, of which a message needs one.
    #[must_use]
    pub fn binary_tokens(self, value_type: impl Into<String>, verifier: impl TokenVerifier + 'static) -> Self {
        self.shared_binary_tokens(TokenHook { value_type: value_type.into(), hook: Arc::new(verifier) })
    }

    pub(crate) fn shared_binary_tokens(mut self, verifier: TokenHook<dyn TokenVerifier>) -> Self {
        self.tokens.push(verifier);
        self.needs.token = true;
        self
    }

    /// Accepts messages without a `UsernameToken`, an assertion or a `BinarySecurityToken` too;
    /// what is there is verified.
    #[must_use]
    pub fn optional_tokens(mut self) -> Self {
        (self.needs.user, self.needs.assertion, self.needs.token) = (false, false, false);
        self
    }

    /// Requires a `Timestamp`.
    #[must_use]
    pub fn timestamp(mut self) -> Self {
        self.needs.timestamp = true;
        self
    }

    /// Requires a `Timestamp` that is signed. Without one, a signed message can be sent again.
    #[must_use]
    pub fn signed_timestamp(mut self) -> Self {
        (self.needs.timestamp, self.needs.signed_timestamp) = (true, true);
        self
    }

    /// Requires that the body is signed.
    #[must_use]
    pub fn signed_body(mut self) -> Self {
        self.needs.signed_body = true;
        self
    }

    /// Requires that header blocks with this name are signed, if there are any.
    #[must_use]
    pub fn signed_header(mut self, name: QName) -> Self {
        self.needs.signed_headers.push(Blocks::Named(name));
        self
    }

    /// Requires that header blocks in this namespace are signed, if there are any.
    #[must_use]
    pub fn signed_headers_in(mut self, namespace: impl Into<String>) -> Self {
        self.needs.signed_headers.push(Blocks::In(namespace.into()));
        self
    }

    /// Requires that all header blocks except the security header are signed.
    #[must_use]
    pub fn all_headers_signed(mut self) -> Self {
        self.needs.signed_headers.push(Blocks::All);
        self
    }

    /// Requires that `UsernameToken` and assertions are signed with the message.
    #[must_use]
    pub fn signed_tokens(mut self) -> Self {
        self.needs.signed_token = true;
        self
    }

    /// Decrypts what is encrypted for an identity, whose key must be an RSA key. May be called
    /// several times, for certificates that replace each other. Without it, encrypted messages are
    /// refused.
    ///
    /// The head of a message, up to 1 MiB, is then held back until its body begins, and encrypted
    /// data until its end.
    ///
    /// # Errors
    /// Returns an error if the identity has no certificate, or no key that decrypts.
    pub fn decrypt_with(mut self, identity: Identity) -> Result<Self, SecurityError> {
        if identity.decrypter.is_none() || identity.certificate().is_none() {
            return Err(SecurityError::Key("the identity has no certificate or no key that decrypts".to_owned()));
        }
        self.decryption.identities.push(identity);
        Ok(self)
    }

    /// Accepts content in AES-CBC too, for peers that have nothing better. It does not protect
    /// content from changes, so attackers who see how changed messages are answered can find out
    /// what is in them. Therefore such content is only accepted if it is signed, it is held back
    /// until its signature was verified, and all failures look alike; the time that they take
    /// differs by as little as possible, but differs. Default: AES-GCM alone.
    #[must_use]
    pub fn accept_cbc(mut self) -> Self {
        self.decryption.accepts_cbc = true;
        self
    }

    /// Requires that passwords are sent as digests.
    #[must_use]
    pub fn digest_passwords(mut self) -> Self {
        self.needs.digest_password = true;
        self
    }

    /// Requires that user names are encrypted, with their passwords.
    #[must_use]
    pub fn encrypted_users(mut self) -> Self {
        self.needs.encrypted_user = true;
        self
    }

    /// Requires that certificates in messages are signed, so that none takes the place of another
    /// one with the same key.
    #[must_use]
    pub fn signed_certificates(mut self) -> Self {
        self.needs.signed_certificates = true;
        self
    }

    /// Requires that signatures are encrypted.
    #[must_use]
    pub fn encrypted_signatures(mut self) -> Self {
        self.needs.encrypted_signatures = true;
        self
    }

    /// Requires that all attachments are signed. Signed ones are verified in any case.
    #[must_use]
    pub fn signed_attachments(mut self) -> Self {
        self.needs.signed_attachments = true;
        self
    }

    /// Requires that a response confirms the signatures of its request (SOAP Message Security 1.1,
    /// section 8.5), so that it cannot be the response to another one. Only clients can require it.
    #[must_use]
    pub fn signature_confirmation(mut self) -> Self {
        self.needs.confirmation = true;
        self
    }

    /// Returns true if responses are verified against their requests
    /// ([`begin_response`](Self::begin_response)).
    pub fn refers_to_requests(&self) -> bool {
        self.needs.confirmation
    }

    /// Requires that all content of the body is encrypted. Whoever has this side's certificate can
    /// encrypt, so this says nothing about the sender.
    #[must_use]
    pub fn encrypted_body(mut self) -> Self {
        self.needs.encrypted_body = true;
        self
    }

    /// Requires that header blocks with this name are encrypted, if there are any.
    #[must_use]
    pub fn encrypted_header(mut self, name: QName) -> Self {
        self.needs.encrypted_headers.push(name);
        self
    }

    /// Sets the maximum difference of the clocks. Default: one minute.
    #[must_use]
    pub fn clock_skew(mut self, skew: Duration) -> Self {
        self.freshness.skew = skew;
        self
    }

    /// Sets the maximum age of messages that have a time, whatever they say about their validity.
    /// Default: five minutes.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.freshness.age = age;
        self
    }

    /// Sets the memory of accepted messages, to be shared by several services; `None` accepts
    /// messages again. Default: one of its own.
    #[must_use]
    pub fn replays(mut self, replays: Option<Arc<ReplayCache>>) -> Self {
        self.replays = replays;
        self
    }

    /// Verifies messages as if it were this time, for recorded ones. They may be verified again.
    #[must_use]
    pub fn at(mut self, time: SystemTime) -> Self {
        (self.now, self.replays) = (Some(time), None);
        self
    }

    /// Returns true if encrypted messages can be read.
    pub(crate) fn decrypts(&self) -> bool {
        !self.decryption.identities.is_empty()
    }

    /// Returns true if all content of the body must be encrypted.
    pub(crate) fn needs_encrypted_body(&self) -> bool {
        self.needs.encrypted_body
    }

    /// Returns the time at which messages are verified.
    pub(crate) fn now(&self) -> SystemTime {
        self.now.unwrap_or_else(SystemTime::now)
    }
}

impl fmt::Debug for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requirements").field("trust", &self.trust).field("needs", &self.needs).finish_non_exhaustive()
    }
}
