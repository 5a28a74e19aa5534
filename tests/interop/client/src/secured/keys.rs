//! RSA keys with certificates, made for each run: older toolkits know no others.

use crate::Failure;
use deltasoap::security::{Certificate, Identity, Trust};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_RSA_SHA256};
use std::path::PathBuf;

/// A folder with `NAME.pem` and `NAME.key` for `client`, `server` and `stranger`. `authority.pem`
/// issued the first two.
#[derive(Debug, Clone)]
pub struct Keys {
    folder: PathBuf,
}

impl Keys {
    /// Uses the keys in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Keys { folder: folder.into() }
    }

    /// Makes new keys in the folder.
    ///
    /// # Errors
    /// Returns an error if a key cannot be made or written.
    pub fn make(&self) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder)?;
        let (authority, other) = (authority("authority")?, authority("other authority")?);
        std::fs::write(self.folder.join("authority.pem"), authority.pem())?;
        for (name, issuer) in [("client", &authority), ("server", &authority), ("stranger", &other)] {
            let (key, params) = (KeyPair::generate_for(&PKCS_RSA_SHA256)?, named(name));
            std::fs::write(self.folder.join(format!("{name}.pem")), params.signed_by(&key, issuer)?.pem())?;
            std::fs::write(self.folder.join(format!("{name}.key")), key.serialize_pem())?;
        }
        Ok(())
    }

    /// Returns the key and the certificate with a name.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn identity(&self, name: &str) -> Result<Identity, Failure> {
        let read = |extension: &str| std::fs::read(self.folder.join(format!("{name}.{extension}")));
        Ok(Identity::from_pem(read("pem")?, read("key")?)?)
    }

    /// Returns the certificate with a name.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn certificate(&self, name: &str) -> Result<Certificate, Failure> {
        Ok(self.identity(name)?.certificate().cloned().ok_or("no certificate")?)
    }

    /// Returns trust in the authority.
    ///
    /// # Errors
    /// Returns an error if its certificate cannot be read.
    pub fn trust(&self) -> Result<Trust, Failure> {
        Ok(Trust::nobody().authorities(std::fs::read(self.folder.join("authority.pem"))?)?)
    }
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, Failure> {
    let mut params = named(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate_for(&PKCS_RSA_SHA256)?)?)
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
