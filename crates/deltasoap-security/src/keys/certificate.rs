//! X.509 certificates, and the ways in which messages refer to them.

use super::decryption::oaep;
use super::distinguished_name::DistinguishedName;
use super::{KeyKind, PublicKey, VerifyingKey};
use crate::encryption::KeyTransport;
use crate::error::SecurityError;
use aws_lc_rs::digest;
use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::fmt;
use std::sync::Arc;
use x509_cert::der::asn1::{Any, ObjectIdentifier};
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectKeyIdentifier;

/// An X.509 certificate.
#[derive(Clone)]
pub struct Certificate(Arc<Parsed>);

struct Parsed {
    der: CertificateDer<'static>,
    subject: String,
    issuer: DistinguishedName,
    issuer_text: String,
    serial: Vec<u8>,
    key_identifier: Option<Vec<u8>>,
    thumbprint: Vec<u8>,
    key: Option<VerifyingKey>,
    /// The key with its algorithm (`SubjectPublicKeyInfo`), in DER.
    key_info: Vec<u8>,
}

/// What identifies a certificate in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateId {
    /// The SHA-1 digest of the certificate.
    Thumbprint(Vec<u8>),
    /// The subject key identifier.
    KeyIdentifier(Vec<u8>),
    /// The issuer, and the serial number in decimal digits.
    IssuerSerial { issuer: String, serial: String },
}

/// Maximum number of certificates of a path.
const MAX_PATH: usize = 10;

const RSA: &str = "1.2.840.113549.1.1.1";
const RSA_PSS: &str = "1.2.840.113549.1.1.10";
const EC: &str = "1.2.840.10045.2.1";
const P256: &str = "1.2.840.10045.3.1.7";
const P384: &str = "1.3.132.0.34";
const ED25519: &str = "1.3.101.112";

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    /// Returns an error if the bytes are no certificate.
    pub fn from_der(der: impl Into<Vec<u8>>) -> Result<Self, SecurityError> {
        let der: Vec<u8> = der.into();
        let unreadable = |_| SecurityError::Token("the certificate cannot be read".to_owned());
        let certificate = x509_cert::Certificate::from_der(&der).map_err(unreadable)?;
        let inner = certificate.tbs_certificate();
        let key_identifier = inner.get_extension::<SubjectKeyIdentifier>().ok().flatten();
        let issuer_text = inner.issuer().to_string();
        Ok(Certificate(Arc::new(Parsed {
            subject: inner.subject().to_string(),
            issuer: DistinguishedName::parse(&issuer_text),
            issuer_text,
            serial: inner.serial_number().as_bytes().to_vec(),
            key_identifier: key_identifier.map(|(_, identifier)| identifier.0.as_bytes().to_vec()),
            thumbprint: digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &der).as_ref().to_vec(),
            key: key_of(inner.subject_public_key_info()),
            key_info: inner.subject_public_key_info().to_der().map_err(unreadable)?,
            der: CertificateDer::from(der),
        })))
    }

    /// Reads the certificates of a PEM text.
    ///
    /// # Errors
    /// Returns an error if there is none, or one that cannot be read.
    pub fn all_from_pem(pem: impl AsRef<[u8]>) -> Result<Vec<Self>, SecurityError> {
        let malformed = |_| SecurityError::Key("the PEM text is malformed".to_owned());
        let ders = CertificateDer::pem_slice_iter(pem.as_ref()).collect::<Result<Vec<_>, _>>().map_err(malformed)?;
        if ders.is_empty() {
            return Err(SecurityError::Key("the PEM text holds no certificate".to_owned()));
        }
        ders.iter().map(|der| Self::from_der(der.as_ref())).collect()
    }

    /// Reads a path of certificates (`X509PKIPathv1`), in which the own one is last. Returns it
    /// first.
    pub(crate) fn path_from_der(der: &[u8]) -> Result<Vec<Self>, SecurityError> {
        let unreadable = |_| SecurityError::Token("the path of certificates cannot be read".to_owned());
        let path = Vec::<Any>::from_der(der).map_err(unreadable)?;
        if path.len() > MAX_PATH {
            return Err(SecurityError::Token(format!("a path has more than {MAX_PATH} certificates")));
        }
        let ders = path.iter().rev().map(|one| one.to_der().map_err(unreadable));
        let path = ders.map(|der| Self::from_der(der?)).collect::<Result<Vec<_>, _>>()?;
        if path.is_empty() {
            Err(SecurityError::Token("the path of certificates is empty".to_owned()))
        } else {
            Ok(path)
        }
    }

    /// Returns a path of certificates, of which the own one is given first.
    pub(crate) fn path_to_der(chain: &[Self]) -> Result<Vec<u8>, SecurityError> {
        let unwritable = |_| SecurityError::Key("the path of certificates cannot be written".to_owned());
        let path = chain.iter().rev().map(|one| Any::from_der(one.der())).collect::<Result<Vec<_>, _>>();
        path.and_then(|path| path.to_der()).map_err(unwritable)
    }

    /// Returns the certificate in DER.
    pub fn der(&self) -> &[u8] {
        &self.0.der
    }

    /// Returns the name of the subject, as RFC 4514 writes it: `CN=client,O=Example`.
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// Returns the name of the issuer, as RFC 4514 writes it.
    pub fn issuer(&self) -> &str {
        &self.0.issuer_text
    }

    /// Returns the serial number in decimal digits.
    pub fn serial(&self) -> String {
        decimal(&self.0.serial)
    }

    /// Returns the subject key identifier, if the certificate has one.
    pub fn key_identifier(&self) -> Option<&[u8]> {
        self.0.key_identifier.as_deref()
    }

    /// Returns the SHA-1 digest of the certificate, by which messages may refer to it.
    pub fn thumbprint(&self) -> &[u8] {
        &self.0.thumbprint
    }

    /// Returns the SHA-256 digest of the certificate, in hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let digest = digest::digest(&digest::SHA256, self.der());
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn as_der(&self) -> &CertificateDer<'static> {
        &self.0.der
    }

    /// Returns the public key.
    ///
    /// # Errors
    /// Returns an error if the key is of no supported kind.
    pub(crate) fn key(&self) -> Result<&VerifyingKey, SecurityError> {
        self.0.key.as_ref().ok_or_else(|| {
            SecurityError::Unsupported(format!(
                "the certificate of {} has a key of an unsupported kind",
                self.subject()
            ))
        })
    }

    /// Encrypts a key for the owner of the certificate.
    ///
    /// # Errors
    /// Returns an error if the certificate has no RSA key, or a too short one.
    pub(crate) fn encrypt(&self, transport: KeyTransport, key: &[u8]) -> Result<Vec<u8>, SecurityError> {
        let unusable = || {
            SecurityError::Key(format!("nothing can be encrypted for {}: its key must be an RSA key", self.subject()))
        };
        // Some certificates restrict the key to RSA-PSS, for signatures alone.
        let public = PublicEncryptingKey::from_der(&self.0.key_info).map_err(|_| unusable())?;
        let public = OaepPublicEncryptingKey::new(public).map_err(|_| unusable())?;
        let mut out = vec![0; public.ciphertext_size()];
        let len = public.encrypt(oaep(transport), key, &mut out, None).map_err(|_| unusable())?.len();
        out.truncate(len);
        Ok(out)
    }

    /// Returns true if the certificate has the name of the other one's issuer.
    pub(crate) fn may_have_issued(&self, other: &Certificate) -> bool {
        DistinguishedName::parse(self.subject()) == other.0.issuer
    }

    /// Returns true if `id` identifies the certificate.
    pub(crate) fn is(&self, id: &CertificateId) -> bool {
        match id {
            CertificateId::Thumbprint(thumbprint) => *thumbprint == self.0.thumbprint,
            CertificateId::KeyIdentifier(identifier) => Some(identifier) == self.0.key_identifier.as_ref(),
            CertificateId::IssuerSerial { issuer, serial } => {
                serial.trim() == self.serial() && DistinguishedName::parse(issuer) == self.0.issuer
            }
        }
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.0.der == other.0.der
    }
}

impl Eq for Certificate {}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("subject", &self.0.subject).field("issuer", &self.0.issuer_text).finish()
    }
}

fn key_of(info: &x509_cert::spki::SubjectPublicKeyInfoOwned) -> Option<VerifyingKey> {
    let bytes = info.subject_public_key.as_bytes()?;
    let public = |kind| Some(VerifyingKey::Public(PublicKey::new(kind, bytes)));
    match info.algorithm.oid.to_string().as_str() {
        RSA | RSA_PSS => public(KeyKind::Rsa),
        ED25519 => public(KeyKind::Ed25519),
        EC => {
            let curve: ObjectIdentifier = info.algorithm.parameters.as_ref()?.decode_as().ok()?;
            match curve.to_string().as_str() {
                P256 => public(KeyKind::P256),
                P384 => public(KeyKind::P384),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a number in decimal digits; it is given in bytes, the most significant first.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0u8];
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            (*digit, carry) = ((value % 10) as u8, value / 10);
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_in_decimal_digits() {
        for (bytes, text) in
            [(&[][..], "0"), (&[0], "0"), (&[255], "255"), (&[1, 0], "256"), (&[0, 0x8e, 0x1f], "36383")]
        {
            assert_eq!(decimal(bytes), text);
        }
        assert_eq!(decimal(&[0xff; 20]), "1461501637330902918203684832716283019655932542975");
    }
}
