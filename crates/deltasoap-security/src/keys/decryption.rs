//! Private keys that decrypt the keys of messages.

use crate::encryption::KeyTransport;
use crate::error::SecurityError;
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::{
    KeyPair, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512, OaepAlgorithm,
    OaepPrivateDecryptingKey, PrivateDecryptingKey,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use std::fmt;

/// Decrypts the keys of messages with a private key that it does not reveal: a key in memory
/// ([`DecryptionKey`]), or one in a hardware module or a key service.
pub trait Decrypter: Send + Sync {
    /// Decrypts a key that was encrypted with the public key.
    ///
    /// # Errors
    /// Returns [`SecurityError::Key`] if the private key cannot be used now, which fails the
    /// message. Any other error says that the ciphertext does not decrypt. The message is then read
    /// on with a random key, so that the sender does not learn it.
    fn decrypt(&self, transport: KeyTransport, ciphertext: &[u8]) -> Result<Vec<u8>, SecurityError>;
}

/// An RSA key in memory that decrypts.
pub struct DecryptionKey(OaepPrivateDecryptingKey);

impl DecryptionKey {
    /// Reads an unencrypted RSA key from PEM text, PKCS #8 or PKCS #1.
    ///
    /// # Errors
    /// Returns an error if there is no such key in the text. It contains nothing of the text.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, SecurityError> {
        let unreadable = |_| SecurityError::Key("the PEM text holds no unencrypted private key".to_owned());
        Self::from_der(&PrivateKeyDer::from_pem_slice(pem.as_ref()).map_err(unreadable)?)
    }

    /// Like [`from_pem`](Self::from_pem), from DER.
    ///
    /// # Errors
    /// Returns an error if the key is no RSA key of 2048 to 8192 bits.
    pub fn from_der(der: &PrivateKeyDer<'_>) -> Result<Self, SecurityError> {
        let bytes = der.secret_der();
        let pair = KeyPair::from_pkcs8(bytes).or_else(|_| KeyPair::from_der(bytes)).ok();
        let pkcs8 = pair.and_then(|pair| pair.as_der().ok());
        let key = pkcs8.and_then(|pkcs8| PrivateDecryptingKey::from_pkcs8(pkcs8.as_ref()).ok());
        let key = key.and_then(|key| OaepPrivateDecryptingKey::new(key).ok());
        key.map(DecryptionKey).ok_or_else(|| {
            SecurityError::Key("the private key cannot decrypt: use RSA of 2048 to 8192 bits".to_owned())
        })
    }
}

impl Decrypter for DecryptionKey {
    fn decrypt(&self, transport: KeyTransport, ciphertext: &[u8]) -> Result<Vec<u8>, SecurityError> {
        let mut out = vec![0; self.0.min_output_size()];
        let plain = self.0.decrypt(oaep(transport), ciphertext, &mut out, None);
        let len = plain.map_err(|_| crate::encryption::undecipherable())?.len();
        out.truncate(len);
        Ok(out)
    }
}

/// Omits the key.
impl fmt::Debug for DecryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecryptionKey").finish_non_exhaustive()
    }
}

pub(super) fn oaep(transport: KeyTransport) -> &'static OaepAlgorithm {
    match transport {
        KeyTransport::RsaOaepSha1 => &OAEP_SHA1_MGF1SHA1,
        KeyTransport::RsaOaepSha256 => &OAEP_SHA256_MGF1SHA256,
        KeyTransport::RsaOaepSha384 => &OAEP_SHA384_MGF1SHA384,
        KeyTransport::RsaOaepSha512 => &OAEP_SHA512_MGF1SHA512,
    }
}
