//! Algorithms of digests and signatures, and their identifiers (XML Signature 1.1; RFC 9231).

use crate::error::SecurityError;
use aws_lc_rs::digest;
use std::fmt;

/// A digest algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// SHA-1, accepted only with the feature `legacy-sha1`.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

const DIGESTS: [(DigestAlgorithm, &str); 4] = [
    (DigestAlgorithm::Sha256, "http://www.w3.org/2001/04/xmlenc#sha256"),
    (DigestAlgorithm::Sha384, "http://www.w3.org/2001/04/xmldsig-more#sha384"),
    (DigestAlgorithm::Sha512, "http://www.w3.org/2001/04/xmlenc#sha512"),
    (DigestAlgorithm::Sha1, "http://www.w3.org/2000/09/xmldsig#sha1"),
];

impl DigestAlgorithm {
    /// Returns the algorithm's identifier.
    pub fn uri(self) -> &'static str {
        DIGESTS.iter().find(|(algorithm, _)| *algorithm == self).map_or("", |(_, uri)| uri)
    }

    /// Returns the algorithm with this identifier.
    ///
    /// # Errors
    /// Returns an error for an unknown algorithm, and for SHA-1 without the feature `legacy-sha1`.
    pub fn from_uri(uri: &str) -> Result<Self, SecurityError> {
        let found = DIGESTS.iter().find(|(_, known)| *known == uri).map(|(algorithm, _)| *algorithm);
        let algorithm = found.ok_or_else(|| unsupported("digest", uri))?;
        if algorithm == DigestAlgorithm::Sha1 {
            Err(legacy("digests")).or_else(allow_legacy(algorithm))
        } else {
            Ok(algorithm)
        }
    }

    pub(crate) fn hasher(self) -> Hasher {
        Hasher::new(match self {
            DigestAlgorithm::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            DigestAlgorithm::Sha256 => &digest::SHA256,
            DigestAlgorithm::Sha384 => &digest::SHA384,
            DigestAlgorithm::Sha512 => &digest::SHA512,
        })
    }
}

/// The computation of a digest.
pub(crate) struct Hasher(digest::Context);

impl Hasher {
    pub(crate) fn new(algorithm: &'static digest::Algorithm) -> Self {
        Hasher(digest::Context::new(algorithm))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").finish_non_exhaustive()
    }
}

/// A signature algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// RSA PKCS #1 v1.5 with SHA-1, accepted only with the feature `legacy-sha1`.
    RsaSha1,
    /// RSA PKCS #1 v1.5 with SHA-256.
    RsaSha256,
    /// RSA PKCS #1 v1.5 with SHA-384.
    RsaSha384,
    /// RSA PKCS #1 v1.5 with SHA-512.
    RsaSha512,
    /// RSASSA-PSS with SHA-256.
    RsaPssSha256,
    /// RSASSA-PSS with SHA-384.
    RsaPssSha384,
    /// RSASSA-PSS with SHA-512.
    RsaPssSha512,
    /// ECDSA on P-256 with SHA-256.
    EcdsaP256Sha256,
    /// ECDSA on P-384 with SHA-384.
    EcdsaP384Sha384,
    /// Ed25519.
    Ed25519,
    /// HMAC with SHA-1, accepted only with the feature `legacy-sha1`.
    HmacSha1,
    /// HMAC with SHA-256.
    HmacSha256,
}

const SIGNATURES: [(SignatureAlgorithm, &str); 12] = [
    (SignatureAlgorithm::RsaSha1, "http://www.w3.org/2000/09/xmldsig#rsa-sha1"),
    (SignatureAlgorithm::RsaSha256, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
    (SignatureAlgorithm::RsaSha384, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"),
    (SignatureAlgorithm::RsaSha512, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"),
    (SignatureAlgorithm::RsaPssSha256, "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"),
    (SignatureAlgorithm::RsaPssSha384, "http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1"),
    (SignatureAlgorithm::RsaPssSha512, "http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1"),
    (SignatureAlgorithm::EcdsaP256Sha256, "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"),
    (SignatureAlgorithm::EcdsaP384Sha384, "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"),
    (SignatureAlgorithm::Ed25519, "http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519"),
    (SignatureAlgorithm::HmacSha1, "http://www.w3.org/2000/09/xmldsig#hmac-sha1"),
    (SignatureAlgorithm::HmacSha256, "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"),
];

impl SignatureAlgorithm {
    /// Returns the algorithm's identifier.
    pub fn uri(self) -> &'static str {
        SIGNATURES.iter().find(|(algorithm, _)| *algorithm == self).map_or("", |(_, uri)| uri)
    }

    /// Returns the algorithm with this identifier.
    ///
    /// # Errors
    /// Returns an error for an unknown algorithm, and for SHA-1 without the feature `legacy-sha1`.
    pub fn from_uri(uri: &str) -> Result<Self, SecurityError> {
        let found = SIGNATURES.iter().find(|(_, known)| *known == uri).map(|(algorithm, _)| *algorithm);
        let algorithm = found.ok_or_else(|| unsupported("signature", uri))?;
        match algorithm {
            SignatureAlgorithm::RsaSha1 | SignatureAlgorithm::HmacSha1 => {
                Err(legacy("signatures")).or_else(allow_legacy(algorithm))
            }
            algorithm => Ok(algorithm),
        }
    }

    /// Returns true for HMAC, whose key is a shared secret.
    pub fn is_symmetric(self) -> bool {
        matches!(self, SignatureAlgorithm::HmacSha1 | SignatureAlgorithm::HmacSha256)
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.uri())
    }
}

fn allow_legacy<T>(algorithm: T) -> impl FnOnce(SecurityError) -> Result<T, SecurityError> {
    move |error| if cfg!(feature = "legacy-sha1") { Ok(algorithm) } else { Err(error) }
}

fn legacy(what: &str) -> SecurityError {
    SecurityError::Unsupported(format!(
        "{what} with SHA-1 are only accepted with the feature `legacy-sha1`; SHA-1 is broken"
    ))
}

fn unsupported(what: &str, uri: &str) -> SecurityError {
    SecurityError::Unsupported(format!("the {what} algorithm {uri:?} is not supported"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_lead_to_their_algorithms() {
        for (algorithm, uri) in SIGNATURES {
            let is_legacy = matches!(algorithm, SignatureAlgorithm::RsaSha1 | SignatureAlgorithm::HmacSha1);
            assert_eq!(algorithm.uri(), uri);
            match SignatureAlgorithm::from_uri(uri) {
                Ok(found) => assert!(found == algorithm && (!is_legacy || cfg!(feature = "legacy-sha1"))),
                Err(error) => assert!(is_legacy && !cfg!(feature = "legacy-sha1"), "{error}"),
            }
        }
        for (algorithm, uri) in DIGESTS {
            assert_eq!(algorithm.uri(), uri);
            let is_allowed = algorithm != DigestAlgorithm::Sha1 || cfg!(feature = "legacy-sha1");
            assert_eq!(DigestAlgorithm::from_uri(uri).is_ok(), is_allowed);
        }
        assert!(DigestAlgorithm::from_uri("http://www.w3.org/2001/04/xmldsig-more#md5").is_err());
        assert!(SignatureAlgorithm::from_uri("http://www.w3.org/2000/09/xmldsig#dsa-sha1").is_err());
    }
}
