//! Keys: what signs, and what verifies.

mod certificate;
mod decryption;
mod distinguished_name;

pub use certificate::Certificate;
pub(crate) use certificate::CertificateId;
pub use decryption::{Decrypter, DecryptionKey};

use crate::algorithms::SignatureAlgorithm;
use crate::error::SecurityError;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, Ed25519KeyPair, ParsedPublicKey, RsaEncoding, RsaKeyPair, RsaParameters, VerificationAlgorithm,
};
use aws_lc_rs::{constant_time, hmac};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use x509_cert::der::Encode;
use x509_cert::der::asn1::UintRef;

/// Signs bytes with a private key that it does not reveal: a key in memory ([`SigningKey`]), or one
/// in a hardware module or a key service.
pub trait Signer: Send + Sync {
    /// Returns the algorithm of the signatures.
    fn algorithm(&self) -> SignatureAlgorithm;

    /// Signs a message, which is hashed by the algorithm. ECDSA signatures are in the fixed form of
    /// XML Signature, section 6.4.3: the two numbers after each other.
    ///
    /// # Errors
    /// Returns an error if the key cannot be used now.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SecurityError>;
}

/// A private key, or a shared secret for HMAC, in memory.
pub struct SigningKey {
    algorithm: SignatureAlgorithm,
    key: PrivateKey,
}

enum PrivateKey {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Hmac(Box<hmac::Key>),
}

impl SigningKey {
    /// Reads an unencrypted private key from PEM text: PKCS #8, or PKCS #1 or SEC1 without it. The
    /// algorithm is the usual one for the key: RSA with SHA-256 (PKCS #1 v1.5), ECDSA with the
    /// digest of its curve, or Ed25519.
    ///
    /// # Errors
    /// Returns an error if there is no key in the text, or none of a supported kind. It contains
    /// nothing of the text.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        let unreadable = |_| SecurityError::Key("the PEM text holds no unencrypted private key".to_owned());
        Self::from_der(&PrivateKeyDer::from_pem_slice(pem.as_ref()).map_err(unreadable)?)
    }

    /// Like [`from_pem`](Self::from_pem), from DER.
    ///
    /// # Errors
    /// Returns an error if the key is of no supported kind.
    pub fn from_der(der: &PrivateKeyDer<'_>) -> Result<Self, SecurityError> {
        let bytes = der.secret_der();
        if let Ok(key) = RsaKeyPair::from_pkcs8(bytes).or_else(|_| RsaKeyPair::from_der(bytes)) {
            return Ok(SigningKey { algorithm: SignatureAlgorithm::RsaSha256, key: PrivateKey::Rsa(key) });
        }
        for (algorithm, curve) in [
            (SignatureAlgorithm::EcdsaP256Sha256, &signature::ECDSA_P256_SHA256_FIXED_SIGNING),
            (SignatureAlgorithm::EcdsaP384Sha384, &signature::ECDSA_P384_SHA384_FIXED_SIGNING),
        ] {
            let key =
                EcdsaKeyPair::from_pkcs8(curve, bytes).or_else(|_| EcdsaKeyPair::from_private_key_der(curve, bytes));
            if let Ok(key) = key {
                return Ok(SigningKey { algorithm, key: PrivateKey::Ecdsa(key) });
            }
        }
        match Ed25519KeyPair::from_pkcs8(bytes) {
            Ok(key) => Ok(SigningKey { algorithm: SignatureAlgorithm::Ed25519, key: PrivateKey::Ed25519(key) }),
            Err(_) => Err(SecurityError::Key(
                "the private key is not supported: use RSA of 2048 bits or more, P-256, P-384 or Ed25519".to_owned(),
            )),
        }
    }

    /// Creates a key for HMAC with SHA-256 from a shared secret.
    pub fn hmac(secret: &[u8]) -> Self {
        let key = PrivateKey::Hmac(Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret)));
        SigningKey { algorithm: SignatureAlgorithm::HmacSha256, key }
    }

    /// Sets the algorithm of an RSA key.
    ///
    /// # Errors
    /// Returns an error if the key cannot be used with the algorithm. RSA with SHA-1 is only
    /// verified.
    pub fn with_algorithm(self, algorithm: SignatureAlgorithm) -> Result<Self, SecurityError> {
        let is_possible = match self.key {
            PrivateKey::Rsa(_) => rsa_encoding(algorithm).is_some(),
            _ => algorithm == self.algorithm,
        };
        if is_possible {
            Ok(SigningKey { algorithm, ..self })
        } else {
            Err(SecurityError::Key(format!("the private key cannot sign with {algorithm}")))
        }
    }
}

impl Signer for SigningKey {
    fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SecurityError> {
        let failed = |_| SecurityError::Key("the private key cannot sign".to_owned());
        match &self.key {
            PrivateKey::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                let encoding = rsa_encoding(self.algorithm)
                    .ok_or_else(|| SecurityError::Key(format!("an RSA key cannot sign with {}", self.algorithm)))?;
                key.sign(encoding, &SystemRandom::new(), message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            PrivateKey::Ecdsa(key) => Ok(key.sign(&SystemRandom::new(), message).map_err(failed)?.as_ref().to_vec()),
            PrivateKey::Ed25519(key) => Ok(key.sign(message).as_ref().to_vec()),
            PrivateKey::Hmac(key) => Ok(hmac::sign(key, message).as_ref().to_vec()),
        }
    }
}

/// Omits the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

fn rsa_encoding(algorithm: SignatureAlgorithm) -> Option<&'static dyn RsaEncoding> {
    Some(match algorithm {
        SignatureAlgorithm::RsaSha256 => &signature::RSA_PKCS1_SHA256,
        SignatureAlgorithm::RsaSha384 => &signature::RSA_PKCS1_SHA384,
        SignatureAlgorithm::RsaSha512 => &signature::RSA_PKCS1_SHA512,
        SignatureAlgorithm::RsaPssSha256 => &signature::RSA_PSS_SHA256,
        SignatureAlgorithm::RsaPssSha384 => &signature::RSA_PSS_SHA384,
        SignatureAlgorithm::RsaPssSha512 => &signature::RSA_PSS_SHA512,
        _ => return None,
    })
}

fn rsa_parameters(algorithm: SignatureAlgorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        SignatureAlgorithm::RsaSha1 => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        SignatureAlgorithm::RsaSha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        SignatureAlgorithm::RsaSha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        SignatureAlgorithm::RsaSha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        SignatureAlgorithm::RsaPssSha256 => &signature::RSA_PSS_2048_8192_SHA256,
        SignatureAlgorithm::RsaPssSha384 => &signature::RSA_PSS_2048_8192_SHA384,
        SignatureAlgorithm::RsaPssSha512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// A key with its certificate, by which one side identifies itself.
#[derive(Clone)]
pub struct Identity {
    pub(crate) signer: Arc<dyn Signer>,
    pub(crate) decrypter: Option<Arc<dyn Decrypter>>,
    /// The own certificate, then those of the authorities that the peer may lack.
    pub(crate) chain: Vec<Certificate>,
}

impl Identity {
    /// Creates an identity from the PEM texts of certificates, the own one first, and of a private
    /// key. Both may be in one text. An RSA key decrypts too.
    ///
    /// # Errors
    /// Returns an error if a text cannot be read.
    pub fn from_pem(certificates: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        let identity = Self::new(SigningKey::from_pem(&key)?, Certificate::all_from_pem(certificates)?);
        Ok(match DecryptionKey::from_pem(key) {
            Ok(key) => identity.decrypter(key),
            Err(_) => identity,
        })
    }

    /// Creates an identity with a key that may be elsewhere. The certificates are the own one, then
    /// those of authorities that the peer may lack.
    pub fn new(signer: impl Signer + 'static, certificates: Vec<Certificate>) -> Self {
        Identity { signer: Arc::new(signer), decrypter: None, chain: certificates }
    }

    /// Sets what decrypts keys that were encrypted for the own certificate.
    #[must_use]
    pub fn decrypter(mut self, decrypter: impl Decrypter + 'static) -> Self {
        self.decrypter = Some(Arc::new(decrypter));
        self
    }

    /// Returns the own certificate.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.chain.first()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.certificate().map(Certificate::subject);
        f.debug_struct("Identity").field("subject", &subject).finish_non_exhaustive()
    }
}

/// A key that verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VerifyingKey {
    Public(PublicKey),
    /// A shared secret.
    Secret(Secret),
}

/// A shared secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    pub(crate) fn new(secret: Vec<u8>) -> Self {
        Secret(secret)
    }
}

/// Omits the secret.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A public key. Clones share what was computed from it: to parse an RSA key takes longer than to
/// verify a signature with it.
#[derive(Clone)]
pub(crate) struct PublicKey {
    kind: KeyKind,
    /// An RSA key in PKCS #1, a point of a curve, or the key of Ed25519.
    bytes: Arc<[u8]>,
    parsed: Arc<Mutex<Vec<(SignatureAlgorithm, ParsedPublicKey)>>>,
}

/// The kind of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl PublicKey {
    pub(crate) fn new(kind: KeyKind, bytes: &[u8]) -> Self {
        PublicKey { kind, bytes: bytes.into(), parsed: Arc::default() }
    }

    /// Creates an RSA key from its modulus and exponent, the most significant bytes first.
    ///
    /// # Errors
    /// Returns an error if a number is too long.
    pub(crate) fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Self, SecurityError> {
        let malformed = |_| SecurityError::Malformed("an RSA key is malformed".to_owned());
        let number = |bytes| UintRef::new(bytes).map_err(malformed);
        // A sequence of two integers (RFC 8017, appendix A.1.1).
        let key = vec![number(modulus)?, number(exponent)?];
        Ok(Self::new(KeyKind::Rsa, &key.to_der().map_err(malformed)?))
    }

    /// Returns the algorithm for verifying; `None` if it is not one for the key.
    fn algorithm(&self, algorithm: SignatureAlgorithm) -> Option<&'static dyn VerificationAlgorithm> {
        match (self.kind, algorithm) {
            (KeyKind::Rsa, algorithm) => {
                rsa_parameters(algorithm).map(|parameters| parameters as &'static dyn VerificationAlgorithm)
            }
            (KeyKind::P256, SignatureAlgorithm::EcdsaP256Sha256) => Some(&signature::ECDSA_P256_SHA256_FIXED),
            (KeyKind::P384, SignatureAlgorithm::EcdsaP384Sha384) => Some(&signature::ECDSA_P384_SHA384_FIXED),
            (KeyKind::Ed25519, SignatureAlgorithm::Ed25519) => Some(&signature::ED25519),
            _ => None,
        }
    }

    /// Returns the key, parsed for an algorithm.
    fn parsed(&self, algorithm: SignatureAlgorithm) -> Option<ParsedPublicKey> {
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = parsed.iter().find(|(other, _)| *other == algorithm) {
            return Some(key.clone());
        }
        let key = ParsedPublicKey::new(self.algorithm(algorithm)?, &self.bytes).ok()?;
        parsed.push((algorithm, key.clone()));
        Some(key)
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.bytes) == (other.kind, &other.bytes)
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.kind).finish()
    }
}

impl VerifyingKey {
    /// Verifies a signature.
    ///
    /// # Errors
    /// Returns an error if the signature does not match, or the algorithm is not one of the key.
    /// HMAC is verified with shared secrets alone: otherwise a public key would do as the secret.
    pub(crate) fn verify(
        &self,
        algorithm: SignatureAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SecurityError> {
        let unfit =
            || SecurityError::Check(format!("a signature with {algorithm} was made with a key of another kind"));
        let is_valid = match (self, algorithm) {
            (VerifyingKey::Secret(Secret(secret)), SignatureAlgorithm::HmacSha1 | SignatureAlgorithm::HmacSha256) => {
                let algorithm = match algorithm {
                    SignatureAlgorithm::HmacSha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                    _ => hmac::HMAC_SHA256,
                };
                let expected = hmac::sign(&hmac::Key::new(algorithm, secret), message);
                constant_time::verify_slices_are_equal(expected.as_ref(), signature).is_ok()
            }
            (VerifyingKey::Secret(_), _) => return Err(unfit()),
            (VerifyingKey::Public(key), algorithm) => {
                key.parsed(algorithm).ok_or_else(unfit)?.verify_sig(message, signature).is_ok()
            }
        };
        is_valid.then_some(()).ok_or_else(|| SecurityError::Check("a signature does not match".to_owned()))
    }
}
