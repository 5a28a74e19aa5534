//! A certificate authority for one run of the tests, and the identity that it signs for all
//! servers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// PEM files, created for each run.
pub struct Files {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Key and certificate in one file.
    pub identity: PathBuf,
}

/// Creates an authority and an identity for `localhost`, in a folder.
pub fn make(folder: &Path) -> Result<Files> {
    let mut parameters = CertificateParams::new([])?;
    parameters.distinguished_name.push(DnType::CommonName, "authority of the interoperability tests");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
    let [authority_file, certificate_file, key_file, identity] =
        ["authority.pem", "certificate.pem", "key.pem", "identity.pem"].map(|name| folder.join(name));
    fs::write(&authority_file, authority.pem())?;
    fs::write(&certificate_file, certificate.pem())?;
    fs::write(&key_file, key.serialize_pem())?;
    fs::write(&identity, key.serialize_pem() + &certificate.pem())?;
    Ok(Files { authority: authority_file, certificate: certificate_file, key: key_file, identity })
}
