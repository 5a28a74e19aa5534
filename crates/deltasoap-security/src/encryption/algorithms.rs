//! Ciphers for content and for keys, and their identifiers (XML Encryption 1.1, section 5).

use super::undecipherable;
use crate::error::SecurityError;
use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{self, DecryptingKey, DecryptionContext, UnboundCipherKey};
use aws_lc_rs::{aead, rand};

/// Bytes of the nonce and the tag of AES-GCM (XML Encryption 1.1, section 5.2.4).
const NONCE: usize = 12;
/// Bytes of a block of AES.
const BLOCK: usize = 16;

/// A cipher for the content of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ContentCipher {
    /// AES-GCM with a key of 128 bits.
    Aes128Gcm,
    /// AES-GCM with a key of 192 bits. Few peers know it.
    Aes192Gcm,
    /// AES-GCM with a key of 256 bits. The default.
    #[default]
    Aes256Gcm,
    /// AES-CBC with a key of 128 bits, which is only read.
    Aes128Cbc,
    /// AES-CBC with a key of 192 bits, which is only read.
    Aes192Cbc,
    /// AES-CBC with a key of 256 bits, which is only read.
    Aes256Cbc,
}

const CIPHERS: [(ContentCipher, &str); 6] = [
    (ContentCipher::Aes128Gcm, "http://www.w3.org/2009/xmlenc11#aes128-gcm"),
    (ContentCipher::Aes192Gcm, "http://www.w3.org/2009/xmlenc11#aes192-gcm"),
    (ContentCipher::Aes256Gcm, "http://www.w3.org/2009/xmlenc11#aes256-gcm"),
    (ContentCipher::Aes128Cbc, "http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
    (ContentCipher::Aes192Cbc, "http://www.w3.org/2001/04/xmlenc#aes192-cbc"),
    (ContentCipher::Aes256Cbc, "http://www.w3.org/2001/04/xmlenc#aes256-cbc"),
];

/// Decrypted content.
#[derive(Debug)]
pub(crate) struct Plaintext {
    pub(crate) bytes: Vec<u8>,
    /// False if the padding is wrong. The content is then processed as if it were right, so that
    /// the time says nothing, and refused in the end.
    pub(crate) is_valid: bool,
}

impl ContentCipher {
    /// Returns the cipher's identifier.
    pub fn uri(self) -> &'static str {
        CIPHERS.iter().find(|(cipher, _)| *cipher == self).map_or("", |(_, uri)| uri)
    }

    /// Returns the cipher with this identifier.
    ///
    /// # Errors
    /// Returns an error for an unknown cipher.
    pub fn from_uri(uri: &str) -> Result<Self, SecurityError> {
        let found = CIPHERS.iter().find(|(_, known)| *known == uri).map(|(cipher, _)| *cipher);
        found.ok_or_else(|| SecurityError::Unsupported(format!("the cipher {uri:?} is not supported")))
    }

    /// Returns true for AES-CBC, which protects no content from changes.
    pub fn is_cbc(self) -> bool {
        matches!(self, ContentCipher::Aes128Cbc | ContentCipher::Aes192Cbc | ContentCipher::Aes256Cbc)
    }

    /// Returns the length of the key in bytes.
    pub(crate) fn key_len(self) -> usize {
        match self {
            ContentCipher::Aes128Gcm | ContentCipher::Aes128Cbc => 16,
            ContentCipher::Aes192Gcm | ContentCipher::Aes192Cbc => 24,
            ContentCipher::Aes256Gcm | ContentCipher::Aes256Cbc => 32,
        }
    }

    /// Encrypts some pieces. Returns the nonce, the ciphertext and the tag.
    ///
    /// # Errors
    /// Returns an error for AES-CBC, and if there are no random numbers.
    pub(crate) fn encrypt<'p>(
        self,
        key: &[u8],
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Result<Vec<u8>, SecurityError> {
        let failed = |_| SecurityError::Write("the content cannot be encrypted".to_owned());
        let nonce = random(NONCE)?;
        let mut content: Vec<u8> = Vec::new();
        pieces.for_each(|piece| content.extend_from_slice(piece));
        let sealing = self.gcm_key(key).ok_or_else(|| {
            SecurityError::Write(format!("{} is only read: it does not protect content from changes", self.uri()))
        })?;
        let unique = Nonce::try_assume_unique_for_key(&nonce).map_err(failed)?;
        sealing.seal_in_place_append_tag(unique, Aad::empty(), &mut content).map_err(failed)?;
        Ok([nonce, content].concat())
    }

    /// Decrypts content.
    ///
    /// # Errors
    /// Returns the error that all failures have. A wrong padding is none yet.
    pub(crate) fn decrypt(self, key: &ContentKey, mut data: Vec<u8>) -> Result<Plaintext, SecurityError> {
        let key = key.of_len(self.key_len())?;
        let opened = match self.gcm_key(&key) {
            Some(key) => open_gcm(&key, &mut data).map(|len| (NONCE, len, true)),
            None => open_cbc(&key, &mut data),
        };
        let (start, len, is_valid) = opened.ok_or_else(undecipherable)?;
        data.truncate(start + len);
        data.drain(..start);
        Ok(Plaintext { bytes: data, is_valid })
    }

    fn gcm_key(self, key: &[u8]) -> Option<LessSafeKey> {
        let algorithm: &'static aead::Algorithm = match self {
            ContentCipher::Aes128Gcm => &AES_128_GCM,
            ContentCipher::Aes192Gcm => &AES_192_GCM,
            ContentCipher::Aes256Gcm => &AES_256_GCM,
            _ => return None,
        };
        UnboundKey::new(algorithm, key).ok().map(LessSafeKey::new)
    }
}

/// Decrypts in place. Returns the length of the plaintext, which begins after the nonce.
fn open_gcm(key: &LessSafeKey, data: &mut [u8]) -> Option<usize> {
    let (nonce, sealed) = data.split_at_mut_checked(NONCE)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    key.open_in_place(nonce, Aad::empty(), sealed).ok().map(|plain| plain.len())
}

/// Decrypts in place. Returns the place and the length of the plaintext, and whether its padding is
/// right: its last byte is the length of the padding, the others may be anything (XML Encryption
/// 1.1, section 5.2.3).
fn open_cbc(key: &[u8], data: &mut [u8]) -> Option<(usize, usize, bool)> {
    let (vector, blocks) = data.split_first_chunk_mut::<BLOCK>()?;
    if blocks.is_empty() {
        return None;
    }
    let algorithm = match key.len() {
        16 => &cipher::AES_128,
        24 => &cipher::AES_192,
        _ => &cipher::AES_256,
    };
    let key = DecryptingKey::cbc(UnboundCipherKey::new(algorithm, key).ok()?).ok()?;
    let plain = key.decrypt(blocks, DecryptionContext::Iv128((&*vector).into())).ok()?;
    let padding = usize::from(*plain.last()?);
    let is_valid = (1..=BLOCK).contains(&padding);
    let removed = if is_valid { padding } else { BLOCK };
    Some((BLOCK, plain.len() - removed, is_valid))
}

/// The key of some content.
#[derive(Clone)]
pub(crate) struct ContentKey(Vec<u8>);

impl ContentKey {
    /// Takes a key that was decrypted; `None` if that failed.
    pub(crate) fn new(key: Option<Vec<u8>>) -> Self {
        ContentKey(key.unwrap_or_default())
    }

    /// Returns the key if it has a length, and a random key otherwise. Content then fails to
    /// decrypt as it does with a wrong key, and nobody learns whether the key itself could be
    /// decrypted.
    fn of_len(&self, len: usize) -> Result<Vec<u8>, SecurityError> {
        let other = random(len)?;
        Ok(if self.0.len() == len { self.0.clone() } else { other })
    }
}

/// Omits the key.
impl std::fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentKey").finish_non_exhaustive()
    }
}

/// Returns some random bytes.
pub(crate) fn random(len: usize) -> Result<Vec<u8>, SecurityError> {
    let mut bytes = vec![0; len];
    rand::fill(&mut bytes).map_err(|_| SecurityError::Write("there are no random numbers".to_owned()))?;
    Ok(bytes)
}

/// How the key of the content is encrypted for its recipient. RSA PKCS #1 v1.5 is not supported: it
/// lets attackers find the key by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyTransport {
    /// RSA-OAEP with SHA-1 and MGF1 with SHA-1 (`rsa-oaep-mgf1p`), which every peer knows. That
    /// SHA-1 is broken for signatures does not matter here.
    RsaOaepSha1,
    /// RSA-OAEP with SHA-256 and MGF1 with SHA-256 (XML Encryption 1.1). The default.
    #[default]
    RsaOaepSha256,
    /// RSA-OAEP with SHA-384 and MGF1 with SHA-384.
    RsaOaepSha384,
    /// RSA-OAEP with SHA-512 and MGF1 with SHA-512.
    RsaOaepSha512,
}

/// `rsa-oaep-mgf1p`, whose mask is always made with SHA-1.
pub(crate) const RSA_OAEP_MGF1P: &str = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";
/// RSA-OAEP of XML Encryption 1.1, with any mask.
pub(crate) const RSA_OAEP: &str = "http://www.w3.org/2009/xmlenc11#rsa-oaep";

/// Digests with their identifiers, and those of the masks that are made with them.
const TRANSPORTS: [(KeyTransport, &str, &str); 4] = [
    (KeyTransport::RsaOaepSha1, "http://www.w3.org/2000/09/xmldsig#sha1", "http://www.w3.org/2009/xmlenc11#mgf1sha1"),
    (
        KeyTransport::RsaOaepSha256,
        "http://www.w3.org/2001/04/xmlenc#sha256",
        "http://www.w3.org/2009/xmlenc11#mgf1sha256",
    ),
    (
        KeyTransport::RsaOaepSha384,
        "http://www.w3.org/2001/04/xmldsig-more#sha384",
        "http://www.w3.org/2009/xmlenc11#mgf1sha384",
    ),
    (
        KeyTransport::RsaOaepSha512,
        "http://www.w3.org/2001/04/xmlenc#sha512",
        "http://www.w3.org/2009/xmlenc11#mgf1sha512",
    ),
];

impl KeyTransport {
    /// Returns the identifiers of the algorithm, its digest and its mask.
    pub(crate) fn uris(self) -> (&'static str, &'static str, &'static str) {
        let algorithm = if self == KeyTransport::RsaOaepSha1 { RSA_OAEP_MGF1P } else { RSA_OAEP };
        let found = TRANSPORTS.iter().find(|(transport, ..)| *transport == self);
        found.map_or((algorithm, "", ""), |(_, digest, mask)| (algorithm, digest, mask))
    }

    /// Returns the algorithm with these identifiers; digest and mask are made with SHA-1 by
    /// default.
    ///
    /// # Errors
    /// Returns an error for an unknown algorithm, and if digest and mask differ.
    pub(crate) fn from_uris(algorithm: &str, digest: Option<&str>, mask: Option<&str>) -> Result<Self, SecurityError> {
        let unsupported = || {
            SecurityError::Unsupported(format!(
                "the key transport {algorithm:?} with the digest {digest:?} and the mask {mask:?} is not supported"
            ))
        };
        let (_, sha1, mgf1) = TRANSPORTS[0];
        let mask = match algorithm {
            RSA_OAEP_MGF1P => mgf1,
            RSA_OAEP => mask.unwrap_or(mgf1),
            _ => return Err(unsupported()),
        };
        let digest = digest.unwrap_or(sha1);
        let found = TRANSPORTS.iter().find(|(_, one, other)| (*one, *other) == (digest, mask));
        found.map(|(transport, ..)| *transport).ok_or_else(unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_lead_to_their_algorithms() {
        for (cipher, uri) in CIPHERS {
            assert_eq!((cipher.uri(), ContentCipher::from_uri(uri)), (uri, Ok(cipher)));
        }
        assert!(ContentCipher::from_uri("http://www.w3.org/2001/04/xmlenc#tripledes-cbc").is_err());
        for (transport, ..) in TRANSPORTS {
            let (algorithm, digest, mask) = transport.uris();
            assert_eq!(KeyTransport::from_uris(algorithm, Some(digest), Some(mask)), Ok(transport));
        }
        assert_eq!(KeyTransport::from_uris(RSA_OAEP_MGF1P, None, None), Ok(KeyTransport::RsaOaepSha1));
        assert!(KeyTransport::from_uris("http://www.w3.org/2001/04/xmlenc#rsa-1_5", None, None).is_err());
        // The mask of `rsa-oaep-mgf1p` is always made with SHA-1.
        let (_, sha256, mgf256) = TRANSPORTS.map(|(_, digest, mask)| ((), digest, mask))[1];
        assert!(KeyTransport::from_uris(RSA_OAEP_MGF1P, Some(sha256), Some(mgf256)).is_err());
        assert!(KeyTransport::from_uris(RSA_OAEP, Some(sha256), None).is_err());
    }

    #[test]
    fn content_is_encrypted_and_decrypted() {
        for cipher in [ContentCipher::Aes128Gcm, ContentCipher::Aes192Gcm, ContentCipher::Aes256Gcm] {
            let key = random(cipher.key_len()).expect("a key");
            for content in [&b""[..], b"x", &[7; 1000]] {
                let sealed = cipher.encrypt(&key, content.chunks(3)).expect("ciphertext");
                let opened = cipher.decrypt(&ContentKey::new(Some(key.clone())), sealed.clone()).expect("plaintext");
                assert_eq!((opened.bytes.as_slice(), opened.is_valid), (content, true));
                for at in [0, NONCE - 1, NONCE, sealed.len() - 1] {
                    let mut changed = sealed.clone();
                    changed[at] ^= 1;
                    let refused = cipher.decrypt(&ContentKey::new(Some(key.clone())), changed);
                    assert_eq!(refused.err(), Some(undecipherable()), "{at}");
                }
                for key in [None, Some(vec![]), Some(vec![1; 16]), Some(vec![1; 32])] {
                    assert!(cipher.decrypt(&ContentKey::new(key), sealed.clone()).is_err());
                }
                assert!(cipher.decrypt(&ContentKey::new(Some(key.clone())), sealed[..NONCE + 1].to_vec()).is_err());
            }
            assert!(cipher.decrypt(&ContentKey::new(Some(key)), Vec::new()).is_err());
        }
        assert!(ContentCipher::Aes256Cbc.encrypt(&[0; 32], std::iter::empty()).is_err());
    }

    /// NIST SP 800-38A, section F.2.1 (CBC-AES128). Its last block ends in 0x10, which is a padding
    /// of a whole block.
    #[test]
    fn cbc_with_a_published_vector() {
        let hex = |text: &str| -> Vec<u8> {
            let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
            text.as_bytes().chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect()
        };
        let key = ContentKey::new(Some(hex("2b7e151628aed2a6abf7158809cf4f3c")));
        let data = hex("000102030405060708090a0b0c0d0e0f7649abac8119b246cee98e9b12e9197d\
             5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7");
        let plain = ContentCipher::Aes128Cbc.decrypt(&key, data.clone()).expect("plaintext");
        let expected = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
             30c81c46a35ce411e5fbc1191a0a52ef");
        assert_eq!((plain.bytes, plain.is_valid), (expected, true));
        // The block before ends in 0xef, which is no length of a padding.
        let plain = ContentCipher::Aes128Cbc.decrypt(&key, data[..64].to_vec()).expect("plaintext");
        assert!(!plain.is_valid && plain.bytes.len() == 32);
        for len in [0, 15, 16, 17, 63] {
            assert!(ContentCipher::Aes128Cbc.decrypt(&key, data[..len].to_vec()).is_err(), "{len}");
        }
    }
}
