//! Keys: what signs, and what verifies.

mod certificate;
mod distinguished_name;

pub use certificate::Certificate;
pub(crate) use certificate::CertificateId;

use crate::{SecurityError, SignatureAlgorithm};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{PublicKey, PublicKeyComponents};
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, Ed25519KeyPair, RsaEncoding, RsaKeyPair, RsaParameters, UnparsedPublicKey,
};
use aws_lc_rs::{constant_time, hmac};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use std::fmt;
use std::sync::Arc;

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
    /// The own certificate, then those of the authorities that the peer may lack.
    pub(crate) chain: Vec<Certificate>,
}

impl Identity {
    /// Creates an identity from the PEM texts of certificates, the own one first, and of a private
    /// key. Both may be in one text.
    ///
    /// # Errors
    /// Returns an error if a text cannot be read.
    pub fn from_pem(certificates: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        Ok(Self::new(SigningKey::from_pem(key)?, Certificate::all_from_pem(certificates)?))
    }

    /// Creates an identity with a key that may be elsewhere. The certificates are the own one, then
    /// those of authorities that the peer may lack.
    pub fn new(signer: impl Signer + 'static, certificates: Vec<Certificate>) -> Self {
        Identity { signer: Arc::new(signer), chain: certificates }
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
    /// The content of a certificate's public key.
    Rsa(Vec<u8>),
    /// Modulus and exponent, as in `RSAKeyValue`.
    RsaParts {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of P-256.
    P256(Vec<u8>),
    /// A point of P-384.
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
    /// A shared secret.
    Secret(Vec<u8>),
}

impl VerifyingKey {
    /// Returns true if both are the same public key.
    pub(crate) fn is_same(&self, other: &VerifyingKey) -> bool {
        match (self, other) {
            (VerifyingKey::Rsa(der), VerifyingKey::RsaParts { modulus, exponent })
            | (VerifyingKey::RsaParts { modulus, exponent }, VerifyingKey::Rsa(der)) => {
                let Ok(key) = PublicKey::from_der(der) else { return false };
                let parts =
                    (key.modulus().big_endian_without_leading_zero(), key.exponent().big_endian_without_leading_zero());
                parts == (modulus, exponent)
            }
            (VerifyingKey::Secret(_), _) => false,
            _ => self == other,
        }
    }

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
            (VerifyingKey::Secret(secret), SignatureAlgorithm::HmacSha1 | SignatureAlgorithm::HmacSha256) => {
                let algorithm = match algorithm {
                    SignatureAlgorithm::HmacSha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                    _ => hmac::HMAC_SHA256,
                };
                let expected = hmac::sign(&hmac::Key::new(algorithm, secret), message);
                constant_time::verify_slices_are_equal(expected.as_ref(), signature).is_ok()
            }
            (VerifyingKey::Rsa(key), algorithm) => {
                let parameters = rsa_parameters(algorithm).ok_or_else(unfit)?;
                UnparsedPublicKey::new(parameters, key).verify(message, signature).is_ok()
            }
            (VerifyingKey::RsaParts { modulus, exponent }, algorithm) => {
                let parameters = rsa_parameters(algorithm).ok_or_else(unfit)?;
                PublicKeyComponents { n: modulus, e: exponent }.verify(parameters, message, signature).is_ok()
            }
            (VerifyingKey::P256(point), SignatureAlgorithm::EcdsaP256Sha256) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (VerifyingKey::P384(point), SignatureAlgorithm::EcdsaP384Sha384) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point).verify(message, signature).is_ok()
            }
            (VerifyingKey::Ed25519(key), SignatureAlgorithm::Ed25519) => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature).is_ok()
            }
            _ => return Err(unfit()),
        };
        is_valid.then_some(()).ok_or_else(|| SecurityError::Check("a signature does not match".to_owned()))
    }
}
