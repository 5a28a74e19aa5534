//! Certificates for tests.

use deltasoap::tls::{ClientTls, Identity, Roots, ServerTls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// An authority that issues certificates.
pub struct Authority(pub CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        Self::named("authority")
    }

    pub fn named(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority"))
    }

    pub fn roots(&self) -> Roots {
        Roots::from_pem(self.0.pem()).expect("roots")
    }

    pub fn identity(&self, host: &str) -> Identity {
        self.identity_of(CertificateParams::new([host.to_owned()]).expect("parameters"))
    }

    pub fn identity_of(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        Identity::from_pem(certificate.pem(), key.serialize_pem()).expect("an identity")
    }

    pub fn server(&self) -> ServerTls {
        ServerTls::new(self.identity("localhost"))
    }

    pub fn client(&self) -> ClientTls {
        ClientTls::new(self.roots())
    }
}
