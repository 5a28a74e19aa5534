//! Whom signatures are trusted from.

use crate::error::SecurityError;
use crate::keys::Certificate;
use crate::keys::{CertificateId, Secret, VerifyingKey};
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use webpki::{EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, anchor_from_trusted_cert};

/// Maximum number of certificates whose chain is known to be valid.
const KNOWN: usize = 1024;
/// The time for which a chain counts as valid after it was verified.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// Trusted keys: authorities that issue certificates, certificates themselves, and shared secrets.
#[derive(Default)]
pub struct Trust {
    anchors: Vec<TrustAnchor<'static>>,
    pinned: Vec<Certificate>,
    /// Certificates that messages may refer to without containing them.
    known: Vec<Certificate>,
    secrets: Vec<(String, VerifyingKey)>,
    /// Certificates with valid chains, by their DER, and until when they count as such.
    valid: Mutex<HashMap<Vec<u8>, (Certificate, SystemTime)>>,
}

impl Trust {
    /// Trusts nobody.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// Trusts certificates that these authorities issued. The PEM text holds one or more
    /// certificates.
    ///
    /// # Errors
    /// Returns an error if the text holds no certificate of an authority.
    pub fn authorities(mut self, pem: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        for certificate in Certificate::all_from_pem(pem)? {
            let unusable = |error| {
                SecurityError::Key(format!("the certificate of {} cannot be trusted: {error}", certificate.subject()))
            };
            self.anchors.push(anchor_from_trusted_cert(certificate.as_der()).map_err(unusable)?.to_owned());
        }
        Ok(self)
    }

    /// Trusts exactly these certificates, whoever issued them, and regardless of their time of
    /// validity. Messages may refer to them without containing them. The PEM text holds one or more
    /// certificates.
    ///
    /// # Errors
    /// Returns an error if the text holds no certificate.
    pub fn certificates(mut self, pem: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        self.pinned.extend(Certificate::all_from_pem(pem)?);
        Ok(self)
    }

    /// Trusts exactly this certificate, like [`certificates`](Self::certificates).
    #[must_use]
    pub fn certificate(mut self, certificate: Certificate) -> Self {
        self.pinned.push(certificate);
        self
    }

    /// Knows these certificates, so that messages may refer to them without containing them. They
    /// are trusted if an authority that is trusted issued them.
    ///
    /// # Errors
    /// Returns an error if the text holds no certificate.
    pub fn known(mut self, pem: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        self.known.extend(Certificate::all_from_pem(pem)?);
        Ok(self)
    }

    /// Trusts whoever has a secret, for signatures with HMAC that refer to it by a `KeyName`.
    #[must_use]
    pub fn secret(mut self, name: impl Into<String>, secret: impl Into<Vec<u8>>) -> Self {
        self.secrets.push((name.into(), VerifyingKey::Secret(Secret::new(secret.into()))));
        self
    }

    /// Returns the certificate that a message refers to.
    pub(crate) fn find(&self, id: &CertificateId) -> Option<&Certificate> {
        self.pinned.iter().chain(&self.known).find(|certificate| certificate.is(id))
    }

    /// Returns the secret with a name.
    pub(crate) fn secret_named(&self, name: &str) -> Option<&VerifyingKey> {
        self.secrets.iter().find(|(known, _)| known == name).map(|(_, key)| key)
    }

    /// Returns the trusted certificate that has a public key.
    pub(crate) fn with_key(&self, key: &VerifyingKey) -> Option<&Certificate> {
        self.pinned.iter().find(|certificate| certificate.key().is_ok_and(|own| own == key))
    }

    /// Reads a certificate, unless it is known: what was computed from it is kept with it.
    ///
    /// # Errors
    /// Returns an error if the bytes are no certificate.
    pub(crate) fn read(&self, der: Vec<u8>) -> Result<Certificate, SecurityError> {
        let known = self.pinned.iter().chain(&self.known).find(|certificate| certificate.der() == der);
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let valid = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        match valid.get(&der) {
            Some((known, _)) => Ok(known.clone()),
            None => {
                drop(valid);
                Certificate::from_der(der)
            }
        }
    }

    /// Checks that a certificate is trusted now.
    ///
    /// # Errors
    /// Returns an error if it is not, with the reason.
    pub(crate) fn check(
        &self,
        certificate: &Certificate,
        intermediates: &[Certificate],
        now: SystemTime,
    ) -> Result<(), SecurityError> {
        if self.pinned.contains(certificate) || self.is_known_to_be_valid(certificate, now) {
            return Ok(());
        }
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let invalid = |error: webpki::Error| {
            SecurityError::Token(format!("the certificate of {} is not trusted: {error}", certificate.subject()))
        };
        let intermediates: Vec<CertificateDer<'_>> = intermediates.iter().map(|other| other.as_der().clone()).collect();
        let end_entity = EndEntityCert::try_from(certificate.as_der()).map_err(invalid)?;
        end_entity
            .verify_for_usage(
                webpki::ALL_VERIFICATION_ALGS,
                &self.anchors,
                &intermediates,
                UnixTime::since_unix_epoch(since),
                AnyUsage,
                None,
                None,
            )
            .map_err(invalid)?;
        self.note_valid(certificate, now);
        Ok(())
    }

    fn is_known_to_be_valid(&self, certificate: &Certificate, now: SystemTime) -> bool {
        let valid = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        valid.get(certificate.der()).is_some_and(|&(_, until)| now < until && now + KNOWN_FOR >= until)
    }

    fn note_valid(&self, certificate: &Certificate, now: SystemTime) {
        let mut valid = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        if valid.len() >= KNOWN {
            valid.clear();
        }
        valid.insert(certificate.der().to_vec(), (certificate.clone(), now + KNOWN_FOR));
    }
}

/// Lists what is trusted, without secrets.
impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.secrets.iter().map(|(name, _)| name).collect();
        f.debug_struct("Trust")
            .field("authorities", &self.anchors.len())
            .field("certificates", &self.pinned)
            .field("known", &self.known)
            .field("secrets", &names)
            .finish_non_exhaustive()
    }
}

/// Certificates for signing messages rarely have an extended key usage, and there is none for it.
struct AnyUsage;

impl ExtendedKeyUsageValidator for AnyUsage {
    fn validate(&self, _: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        Ok(())
    }
}
