//! Algorithm suites (WS-SecurityPolicy 1.3, section 6.1).

use crate::encryption::ContentCipher;

/// The algorithms that a policy names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) name: String,
    /// True for SHA-1 digests and signatures by RSA with SHA-1. The specification has the latter in
    /// all suites. Those with SHA-256 digests mean RSA with SHA-256 in practice: WCF and Metro take
    /// them so, CXF has a setting.
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
        const CIPHERS: [(&str, Option<ContentCipher>); 4] = [
            ("Basic256", Some(ContentCipher::Aes256Gcm)),
            ("Basic192", Some(ContentCipher::Aes192Gcm)),
            ("Basic128", Some(ContentCipher::Aes128Gcm)),
            ("TripleDes", None),
        ];
        let (rest, cipher) = CIPHERS.iter().find_map(|(prefix, cipher)| Some((name.strip_prefix(prefix)?, *cipher)))?;
        let (is_gcm, rest) = match rest.strip_prefix("GCM") {
            Some(rest) if cipher.is_some() => (true, rest),
            _ => (false, rest),
        };
        let (is_sha1, is_rsa15) = match rest {
            "" => (true, false),
            // CXF has no such suite with AES-GCM.
            "Sha256" if !is_gcm => (false, false),
            "Rsa15" => (true, true),
            "Sha256Rsa15" => (false, true),
            _ => return None,
        };
        Some(Suite { name: name.to_owned(), is_sha1, is_gcm, is_rsa15, cipher })
    }
}
