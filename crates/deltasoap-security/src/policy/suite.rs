//! Algorithm suites (WS-SecurityPolicy 1.3, section 6.1).

use crate::encryption::ContentCipher;
use crate::encryption::KeyTransport;

/// The algorithms that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) name: String,
    /// True for SHA-1 digests and signatures by RSA with SHA-1. The specification has the latter in
    /// all suites. Those with SHA-256 digests mean RSA with SHA-256 in practice: WCF and Metro take them
    /// so, CXF has a setting.
    pub(super) is_sha1: bool,
    /// True for AES-GCM, which the suites of CXF have; the others encrypt by AES-CBC.
    pub(super) is_gcm: bool,
    /// True for RSA 1.5 in place of OAEP.
    pub(super) is_rsa15: bool,
    pub(super) cipher: Option<ContentCipher>,
}

impl Suite {
    /// Reads the name of a suite; `None` if there is none of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        if name == "CustomAlgorithmSuite" {
            let (name, cipher) = (name.to_owned(), Some(ContentCipher::default()));
            return Some(Suite { name, is_sha1: false, is_gcm: true, is_rsa15: false, cipher });
        }
        let rest = name.strip_prefix("Basic").or_else(|| name.starts_with("TripleDes").then_some(name))?;
        let cipher = match rest {
            _ if rest.starts_with("256") => Some(ContentCipher::Aes256Gcm),
            _ if rest.starts_with("192") => Some(ContentCipher::Aes192Gcm),
            _ if rest.starts_with("128") => Some(ContentCipher::Aes128Gcm),
            _ if rest.starts_with("TripleDes") => None,
            _ => return None,
        };
        let has = |part: &str| rest.contains(part);
        Some(Suite {
            name: name.to_owned(),
            is_sha1: !(has("Sha256") || has("Sha384") || has("Sha512")),
            is_gcm: has("GCM"),
            is_rsa15: has("Rsa15"),
            cipher,
        })
    }

    /// Returns how keys are encrypted.
    pub(super) fn transport(&self) -> KeyTransport {
        KeyTransport::RsaOaepSha1
    }
}
