//! How a side meets an alternative: what it adds to the messages that it sends, and what it
//! requires of those that it receives.

use super::assertions::{
    Alternative, Asymmetric, Binding, Parts, Password, SupportingToken, Token, TokenKind, TransportToken,
};
use super::credentials::{PolicyCredentials, Tls};
use super::suite::Suite;
use crate::encryption::KeyTransport;
use crate::outgoing::Protection;
use crate::requirements::Requirements;
use crate::token::binary::TokenHook;
use crate::token::username::UsernameToken;
use crate::trust::Trust;
use deltasoap_core::QName;
use std::sync::Arc;
use std::time::Duration;

/// The time for which sent messages are valid.
const VALIDITY: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// Returns what is added to sent messages; `None` for nothing.
///
/// # Errors
/// Returns the reasons why the alternative is not met.
pub(super) fn protection(
    alternative: &Alternative,
    side: Side,
    credentials: &PolicyCredentials,
) -> Result<Option<Protection>, Vec<String>> {
    let mut sending = Sending {
        attempt: Attempt::new(alternative, credentials),
        is_request: side == Side::Client,
        protection: Protection::new(),
        is_used: false,
    };
    sending.add();
    sending.attempt.done(sending.is_used.then_some(sending.protection))
}

/// Returns what is required of received messages; `None` for nothing.
///
/// # Errors
/// Returns the reasons why the alternative is not met.
pub(super) fn requirements(
    alternative: &Alternative,
    side: Side,
    credentials: &PolicyCredentials,
) -> Result<Option<Requirements>, Vec<String>> {
    let mut receiving = Receiving {
        attempt: Attempt::new(alternative, credentials),
        is_request: side == Side::Server,
        requirements: Requirements::new(),
        is_used: false,
    };
    receiving.add();
    receiving.attempt.done(receiving.is_used.then_some(receiving.requirements))
}

/// An attempt to meet an alternative, and the reasons why it fails.
struct Attempt<'m> {
    alternative: &'m Alternative,
    credentials: &'m PolicyCredentials,
    reasons: Vec<String>,
}

impl<'m> Attempt<'m> {
    fn new(alternative: &'m Alternative, credentials: &'m PolicyCredentials) -> Self {
        let mut attempt = Attempt { alternative, credentials, reasons: alternative.unsupported() };
        if let Some(Binding::Transport { token, .. }) = &alternative.binding {
            attempt.transport(*token);
        }
        attempt
    }

    fn fails(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Returns the credentials that were given, or notes what is missing.
    fn given<T>(&mut self, given: Option<T>, what: &str) -> Option<T> {
        if given.is_none() {
            self.fails(format!("it needs {what}"));
        }
        given
    }

    fn transport(&mut self, token: TransportToken) {
        match (self.credentials.tls, token.has_client_certificate) {
            (None, _) => self.fails("it needs TLS: a URL with https, or PolicyCredentials::tls"),
            (Some(Tls::Server), true) => {
                self.fails("it needs TLS with a client certificate: PolicyCredentials::tls with Tls::Mutual");
            }
            _ => {}
        }
        if token.has_http_authentication && !self.credentials.has_http_authentication {
            self.fails("it needs HTTP authentication: PolicyCredentials::http_authentication");
        }
    }

    fn done<T>(self, met: Option<T>) -> Result<Option<T>, Vec<String>> {
        if self.reasons.is_empty() { Ok(met) } else { Err(self.reasons) }
    }
}

struct Sending<'m> {
    attempt: Attempt<'m>,
    is_request: bool,
    protection: Protection,
    is_used: bool,
}

impl Sending<'_> {
    fn add(&mut self) {
        let alternative = self.attempt.alternative;
        if alternative.has_timestamp() {
            self.apply(|protection| protection.timestamp(VALIDITY));
        }
        if self.is_request {
            self.users();
            self.kerberos();
            self.assertion();
        } else if alternative.confirms_signatures {
            self.apply(|protection| protection.confirm_signatures(true));
        }
        match &alternative.binding {
            Some(Binding::Transport { suite, .. }) => self.endorsement(suite.as_ref()),
            Some(Binding::Asymmetric(binding)) => {
                self.signature(binding);
                self.encryption(binding);
            }
            None => {}
        }
    }

    fn apply(&mut self, add: impl FnOnce(Protection) -> Protection) {
        self.protection = add(std::mem::take(&mut self.protection));
        self.is_used = true;
    }

    fn users(&mut self) {
        for supporting in &self.attempt.alternative.supporting {
            let TokenKind::User(password) = supporting.token.kind else { continue };
            let missing = "a user name: PolicyCredentials::user";
            let Some((name, secret)) = self.attempt.given(self.attempt.credentials.user.as_ref(), missing) else {
                continue;
            };
            let token = match password {
                Password::Text => UsernameToken::text(name, secret),
                Password::Digest => UsernameToken::digest(name, secret),
                Password::None => UsernameToken::without_password(name),
            };
            self.apply(|protection| protection.user(token));
        }
    }

    fn kerberos(&mut self) {
        for supporting in &self.attempt.alternative.supporting {
            let Some(value_type) = supporting.token.kind.kerberos_type() else { continue };
            let missing = "Kerberos tickets: PolicyCredentials::kerberos";
            if let Some(source) = self.attempt.given(self.attempt.credentials.kerberos.clone(), missing) {
                self.apply(|protection| protection.binary_token(value_type, move || source.token()));
            }
        }
    }

    fn assertion(&mut self) {
        let Some(is_saml2) = assertion_of(self.attempt.alternative) else { return };
        let missing = "a SAML assertion: PolicyCredentials::assertion";
        let Some(xml) = self.attempt.given(self.attempt.credentials.assertion.as_ref(), missing) else { return };
        match self.protection.clone().assertion(xml) {
            Ok(protection) if is_saml2.is_some_and(|required| protection.has_saml2() != required) => {
                self.attempt.fails("it needs a SAML assertion of the other version");
            }
            Ok(protection) => self.apply(|_| protection),
            Err(error) => self.attempt.fails(error.to_string()),
        }
    }

    /// Signs the time with the key of a token, over TLS.
    fn endorsement(&mut self, suite: Option<&Suite>) {
        let alternative = self.attempt.alternative;
        for supporting in alternative.supporting.iter().filter(|it| it.is_endorsing) {
            if self.is_request {
                self.sign_with(&supporting.token, suite);
                self.apply(|protection| protection.sign_body(false).sign_headers(false).sign_tokens(false));
            }
        }
    }

    fn signature(&mut self, binding: &Asymmetric) {
        let alternative = self.attempt.alternative;
        let Parts { body, attachments, .. } = alternative.signed;
        let has_signed_token = self.is_request && alternative.supporting.iter().any(|it| it.is_signed);
        if !(body || attachments || alternative.signed.has_headers() || alternative.has_timestamp() || has_signed_token)
        {
            return;
        }
        let token = if self.is_request { &binding.initiator } else { &binding.recipient };
        let Some(token) = token else {
            // The reason why there is none is known, or the policy is incomplete.
            self.attempt.fails("AsymmetricBinding without a token that signs is not supported");
            return;
        };
        self.sign_with(token, binding.suite.as_ref());
        let has_headers = alternative.signed.has_headers();
        let signs_tokens = binding.signs_token || has_signed_token;
        self.apply(|protection| {
            let protection = protection.sign_body(body).sign_headers(has_headers).sign_tokens(signs_tokens);
            protection.sign_attachments(attachments)
        });
    }

    fn sign_with(&mut self, token: &Token, suite: Option<&Suite>) {
        let missing = "a key and a certificate: PolicyCredentials::identity";
        let Some(identity) = self.attempt.given(self.attempt.credentials.identity.clone(), missing) else { return };
        let is_sha1 = suite.is_some_and(|suite| suite.is_sha1);
        if is_sha1 && !self.attempt.credentials.uses_modern_algorithms {
            let name = suite.map(|suite| suite.name.as_str()).unwrap_or_default();
            self.attempt.fails(format!(
                "its algorithm suite {name} signs with SHA-1, which is not supported; \
                 PolicyCredentials::modern_algorithms sends SHA-256"
            ));
        }
        if identity.signer.algorithm().is_symmetric() {
            self.attempt.fails("a shared secret cannot sign in place of a certificate");
        }
        if matches!(token.kind, TokenKind::User(_) | TokenKind::Kerberos { .. }) {
            self.attempt.fails("a user name or a Kerberos ticket that signs is not supported");
        }
        let reference = self.attempt.alternative.reference_to(token, self.is_request);
        self.apply(|protection| protection.sign(identity).key_reference(reference));
    }

    fn encryption(&mut self, binding: &Asymmetric) {
        let alternative = self.attempt.alternative;
        let has_encrypted_user = self.is_request
            && alternative.supporting.iter().any(|it| it.is_encrypted && matches!(it.token.kind, TokenKind::User(_)));
        if alternative.encrypted.is_empty() && !binding.encrypts_signature && !has_encrypted_user {
            return;
        }
        let token = if self.is_request { &binding.recipient } else { &binding.initiator };
        let Some(token) = token else {
            self.attempt.fails("AsymmetricBinding without a token that encrypts is not supported");
            return;
        };
        let peer = self.attempt.credentials.peer.clone();
        if self.is_request && peer.is_none() {
            self.attempt.fails("it needs the certificate of the peer, to encrypt for it: PolicyCredentials::peer");
            return;
        }
        let reference = alternative.external_reference(token);
        let (body, signature) = (alternative.encrypted.body, binding.encrypts_signature);
        self.apply(|protection| {
            let encrypting = match peer {
                Some(peer) => protection.encrypt(peer),
                None => protection.encrypt_for_signer(),
            };
            encrypting
                .recipient_reference(reference)
                .encrypt_body(body)
                .encrypt_signature(signature)
                .encrypt_user(has_encrypted_user)
        });
        for (namespace, local) in &alternative.encrypted.headers {
            let name = QName::owned(namespace, local.as_deref().unwrap_or_default());
            self.apply(|protection| protection.encrypt_header(name));
        }
        self.ciphers(binding.suite.as_ref());
    }

    fn ciphers(&mut self, suite: Option<&Suite>) {
        let Some(suite) = suite else { return };
        if !(suite.is_gcm || self.attempt.credentials.uses_modern_algorithms) {
            self.attempt.fails(format!(
                "its algorithm suite {} encrypts with AES-CBC, which is only read; \
                 PolicyCredentials::modern_algorithms sends AES-GCM",
                suite.name
            ));
        }
        if suite.is_rsa15 && !self.attempt.credentials.uses_modern_algorithms {
            self.attempt.fails(format!(
                "its algorithm suite {} encrypts keys by RSA PKCS #1 v1.5, which is not supported; \
                 PolicyCredentials::modern_algorithms sends RSA-OAEP",
                suite.name
            ));
        }
        // The suites have no other OAEP.
        let cipher = suite.cipher.unwrap_or_default();
        self.apply(|protection| protection.cipher(cipher).key_transport(KeyTransport::RsaOaepSha1));
    }
}

struct Receiving<'m> {
    attempt: Attempt<'m>,
    is_request: bool,
    requirements: Requirements,
    is_used: bool,
}

impl Receiving<'_> {
    fn add(&mut self) {
        let alternative = self.attempt.alternative;
        match &alternative.binding {
            Some(Binding::Transport { has_timestamp, .. }) => {
                if *has_timestamp {
                    self.apply(Requirements::timestamp);
                }
                if self.is_request && alternative.supporting.iter().any(is_endorsing) {
                    self.trust();
                    self.apply(Requirements::signed_timestamp);
                }
            }
            Some(Binding::Asymmetric(binding)) => {
                self.signature(binding);
                self.decryption(binding);
            }
            None => {}
        }
        if self.is_request {
            self.tokens();
        } else if alternative.confirms_signatures {
            self.apply(Requirements::signature_confirmation);
        }
    }

    fn apply(&mut self, add: impl FnOnce(Requirements) -> Requirements) {
        self.requirements = add(std::mem::take(&mut self.requirements));
        self.is_used = true;
    }

    fn trust(&mut self) {
        let credentials = self.attempt.credentials;
        let of_peer = || {
            let trust = Trust::nobody().certificate(credentials.peer.clone()?);
            Some(Arc::new(trust))
        };
        let missing = "whose signatures are accepted: PolicyCredentials::trust or peer";
        let trust = self.attempt.given(credentials.trust.clone().or_else(of_peer), missing);
        if let Some(trust) = trust {
            let peer = credentials.peer.clone();
            self.apply(|requirements| Requirements { peer, ..requirements.trust(trust) });
        }
    }

    fn signature(&mut self, binding: &Asymmetric) {
        let alternative = self.attempt.alternative;
        let Parts { body, attachments, all_headers, headers } = &alternative.signed;
        let has_signed_token = self.is_request && alternative.supporting.iter().any(|it| it.is_signed);
        if alternative.signed.is_empty() && !alternative.has_timestamp() && !has_signed_token {
            return;
        }
        self.trust();
        if binding.signs_token {
            self.apply(Requirements::signed_certificates);
        }
        if *body {
            self.apply(Requirements::signed_body);
        }
        if alternative.has_timestamp() {
            self.apply(Requirements::signed_timestamp);
        }
        if *attachments {
            self.apply(Requirements::signed_attachments);
        }
        if *all_headers {
            self.apply(Requirements::all_headers_signed);
        }
        for (namespace, local) in headers {
            self.apply(|requirements| match local {
                Some(local) => requirements.signed_header(QName::owned(namespace, local)),
                None => requirements.signed_headers_in(namespace),
            });
        }
    }

    fn decryption(&mut self, binding: &Asymmetric) {
        let alternative = self.attempt.alternative;
        let has_encrypted_token = self.is_request && alternative.supporting.iter().any(|it| it.is_encrypted);
        if alternative.encrypted.is_empty() && !binding.encrypts_signature && !has_encrypted_token {
            return;
        }
        let missing = "a key and a certificate, to decrypt: PolicyCredentials::identity";
        let Some(identity) = self.attempt.given(self.attempt.credentials.identity.clone(), missing) else { return };
        match std::mem::take(&mut self.requirements).decrypt_with(identity) {
            Ok(requirements) => self.apply(|_| requirements),
            Err(error) => self.attempt.fails(error.to_string()),
        }
        if alternative.encrypted.body {
            self.apply(Requirements::encrypted_body);
        }
        if binding.encrypts_signature {
            self.apply(Requirements::encrypted_signatures);
        }
        if has_encrypted_token {
            self.apply(Requirements::encrypted_users);
        }
        if binding.suite.as_ref().is_some_and(|suite| !suite.is_gcm) {
            self.apply(Requirements::accept_cbc);
        }
        for (namespace, local) in &alternative.encrypted.headers {
            let name = QName::owned(namespace, local.as_deref().unwrap_or_default());
            self.apply(|requirements| requirements.encrypted_header(name));
        }
    }

    fn tokens(&mut self) {
        let alternative = self.attempt.alternative;
        for supporting in &alternative.supporting {
            match supporting.token.kind {
                TokenKind::User(Password::None) => {
                    self.attempt.fails("user names without a password prove nothing, so they are not accepted");
                }
                TokenKind::User(password) => {
                    if password == Password::Digest {
                        self.apply(Requirements::digest_passwords);
                    }
                    let missing = "the passwords of users: PolicyCredentials::users";
                    if let Some(users) = self.attempt.given(self.attempt.credentials.users.clone(), missing) {
                        self.apply(|requirements| requirements.shared_users(users));
                    }
                }
                TokenKind::Kerberos { .. } => {
                    let value_type = supporting.token.kind.kerberos_type().unwrap_or_default();
                    let missing = "who verifies Kerberos tickets: PolicyCredentials::kerberos_verifier";
                    if let Some(hook) = self.attempt.given(self.attempt.credentials.kerberos_verifier.clone(), missing)
                    {
                        let hook = TokenHook { value_type: value_type.to_owned(), hook };
                        self.apply(|requirements| requirements.shared_binary_tokens(hook));
                    }
                }
                TokenKind::X509 { .. } | TokenKind::Saml { .. } => {}
            }
        }
        if let Some(is_saml2) = assertion_of(alternative) {
            let missing = "which SAML assertions are accepted: PolicyCredentials::assertions";
            if let Some(rules) = self.attempt.given(self.attempt.credentials.assertions.clone(), missing) {
                self.apply(|requirements| requirements.assertions(rules));
            }
            if let Some(is_saml2) = is_saml2 {
                self.apply(|requirements| requirements.saml_version(is_saml2));
            }
        }
        let is_asymmetric = matches!(alternative.binding, Some(Binding::Asymmetric(_)));
        if is_asymmetric && alternative.supporting.iter().any(|it| it.is_signed) {
            self.apply(Requirements::signed_tokens);
        }
    }
}

/// Returns the version of the SAML assertion that requests have: true for 2.0, `None` in it for
/// either.
fn assertion_of(alternative: &Alternative) -> Option<Option<bool>> {
    let of_binding = match &alternative.binding {
        Some(Binding::Asymmetric(binding)) => binding.initiator.as_ref(),
        _ => None,
    };
    let supporting = alternative.supporting.iter().map(|supporting| &supporting.token);
    of_binding.into_iter().chain(supporting).find_map(|token| match token.kind {
        TokenKind::Saml { is_saml2 } => Some(is_saml2),
        _ => None,
    })
}

fn is_endorsing(supporting: &SupportingToken) -> bool {
    supporting.is_endorsing
}
