//! The keys of all parties of the secured service, made for each run.

use crate::Failure;
use deltasoap::security::{Certificate, Identity, Trust};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_RSA_SHA256};
use std::path::{Path, PathBuf};

/// A folder with the certificate `NAME.pem` and the key `NAME.key` of each party.
#[derive(Debug, Clone)]
pub struct Keys(PathBuf);

impl Keys {
    /// Makes an authority, `client` and `server` with certificates of it, and `stranger`, whose
    /// certificate is its own.
    pub fn make(folder: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder)?;
        let keys = Self::open(folder);
        let authority = CertifiedIssuer::self_signed(of_authority("authority"), key()?)?;
        std::fs::write(keys.file("authority", "pem"), authority.pem())?;
        for name in ["client", "server"] {
            let own = key()?;
            keys.write(name, &own, &named(name).signed_by(&own, &authority)?.pem())?;
        }
        let own = key()?;
        keys.write("stranger", &own, &of_authority("stranger").self_signed(&own)?.pem())?;
        Ok(keys)
    }

    pub fn open(folder: &Path) -> Self {
        Keys(folder.to_owned())
    }

    pub fn identity(&self, name: &str) -> Result<Identity, Failure> {
        Ok(Identity::from_pem(self.certificates(name)?, std::fs::read(self.file(name, "key"))?)?)
    }

    pub fn certificate(&self, name: &str) -> Result<Certificate, Failure> {
        Ok(Certificate::all_from_pem(self.certificates(name)?)?.swap_remove(0))
    }

    /// Returns trust in an authority.
    pub fn trust(&self, authority: &str) -> Result<Trust, Failure> {
        Ok(Trust::nobody().authorities(self.certificates(authority)?)?)
    }

    /// Returns the PEM text with a party's certificate.
    fn certificates(&self, name: &str) -> Result<Vec<u8>, Failure> {
        Ok(std::fs::read(self.file(name, "pem"))?)
    }

    fn write(&self, name: &str, key: &KeyPair, certificate: &str) -> Result<(), Failure> {
        std::fs::write(self.file(name, "pem"), certificate)?;
        Ok(std::fs::write(self.file(name, "key"), key.serialize_pem())?)
    }

    fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.0.join(name).with_extension(extension)
    }
}

/// RSA, the only keys that content can be encrypted for, and that older toolkits know.
fn key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_for(&PKCS_RSA_SHA256)
}

fn named(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}

fn of_authority(name: &str) -> CertificateParams {
    let mut parameters = named(name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters
}
