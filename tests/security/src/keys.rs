//! The keys of both sides: files with private keys and certificates.

use std::path::Path;

use anyhow::Result;
use deltasoap_security::{Identity, SigningKey, Trust};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, SignatureAlgorithm};

const SECRET: &[u8] = b"a secret that both sides know";

/// Creates all keys: `KEY.pem` with `KEY.crt`, and `secret.secret`.
pub fn write(folder: &Path) -> Result<()> {
    let kinds: [(&str, &'static SignatureAlgorithm); 4] = [
        ("rsa", &rcgen::PKCS_RSA_SHA256),
        ("p256", &rcgen::PKCS_ECDSA_P256_SHA256),
        ("p384", &rcgen::PKCS_ECDSA_P384_SHA384),
        ("ed25519", &rcgen::PKCS_ED25519),
    ];
    for (name, algorithm) in kinds {
        let key = KeyPair::generate_for(algorithm)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, format!("{name}, of \u{c4}"));
        params.distinguished_name.push(DnType::OrganizationName, "Example & Co");
        // Only certificates of authorities get a subject key identifier.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        std::fs::write(folder.join(format!("{name}.crt")), params.self_signed(&key)?.pem())?;
        std::fs::write(folder.join(format!("{name}.pem")), key.serialize_pem())?;
    }
    Ok(std::fs::write(folder.join("secret.secret"), SECRET)?)
}

/// Returns the identity with a key.
pub fn identity(folder: &Path, key: &str) -> Result<Identity> {
    if key == "secret" {
        return Ok(Identity::new(SigningKey::hmac(SECRET), Vec::new()));
    }
    let read = |extension: &str| std::fs::read(folder.join(format!("{key}.{extension}")));
    Ok(Identity::from_pem(read("crt")?, read("pem")?)?)
}

/// Returns trust in the holder of a key alone.
pub fn trust(folder: &Path, key: &str) -> Result<Trust> {
    if key == "secret" {
        return Ok(Trust::nobody().secret("secret", SECRET));
    }
    Ok(Trust::nobody().certificates(std::fs::read(folder.join(format!("{key}.crt")))?)?)
}
