//! Servers whose own certificate is trusted, and errors about keys that are too weak.
//!
//! `openssl req -x509` makes a certificate that declares itself an authority's (`CA:TRUE`), and
//! webpki does not accept an authority's certificate for a server (`CaUsedAsEndEntity`). If the
//! certificate is, byte by byte, one that the program trusts, its chain need not be verified. It
//! may also be issued by an authority that is not trusted, as with openssl's `-partial_chain`. Its
//! dates and the host's name are checked as for any other. Without `subjectAltName`, the common
//! name is the host's, because openssl does not add a `subjectAltName` by default.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::fmt;
use std::sync::Arc;
use webpki::EndEntityCert;

/// Verifies chains, and accepts certificates that are trusted themselves.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) chains: Arc<WebPkiServerVerifier>,
    /// The certificates that the program named, not those of the system.
    pub(super) trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.chains.verify_server_cert(end_entity, intermediates, server, ocsp, now);
        let chain = || [end_entity].into_iter().chain(intermediates).chain(&self.trusted);
        match verified.map_err(|error| with_weak_key(error, chain())) {
            Err(error) if can_be_pinned(&error) && self.trusted.iter().any(|trusted| trusted == end_entity) => {
                verify_name(end_entity, server).map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.chains.verify_tls12_signature(message, certificate, signed);
        verified.map_err(|error| with_weak_key(error, [certificate]))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.chains.verify_tls13_signature(message, certificate, signed);
        verified.map_err(|error| with_weak_key(error, [certificate]))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// Returns true for errors about a certificate whose dates are valid: webpki checks those first.
fn can_be_pinned(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) || other.0.is::<WeakKey>()
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => true,
        Error::InvalidCertificate(error) => is_of_other_name(error),
        _ => false,
    }
}

fn is_of_other_name(error: &CertificateError) -> bool {
    matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

fn verify_name(certificate: &CertificateDer<'_>, server: &ServerName<'_>) -> Result<(), Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let verified = verify_server_name(&parsed, server);
    let Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext { expected, presented })) = verified
    else {
        return verified;
    };
    let end_entity = EndEntityCert::try_from(certificate).ok().filter(|_| presented.is_empty());
    let common_name = end_entity.as_ref().and_then(|end_entity| common_name(end_entity.subject()));
    if common_name.is_some_and(|name| server.to_str().eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let presented = common_name.map_or(presented, |name| vec![format!("DnsName({name:?})")]);
    Err(CertificateError::NotValidForNameContext { expected, presented }.into())
}

/// Returns the `CN` of a subject (RFC 5280, 4.1.2.4): sets of attributes, each a type and a value.
fn common_name(mut subject: &[u8]) -> Option<&str> {
    const SET: u8 = 0x31;
    const SEQUENCE: u8 = 0x30;
    const OID: u8 = 0x06;
    const CN: &[u8] = &[0x55, 4, 3];
    while let Some((SET, mut attributes, rest)) = element(subject) {
        subject = rest;
        while let Some((SEQUENCE, attribute, rest)) = element(attributes) {
            attributes = rest;
            if let Some((OID, CN, value)) = element(attribute) {
                return std::str::from_utf8(element(value)?.1).ok();
            }
        }
    }
    None
}

/// An RSA key whose signatures are not verified, because of its size.
#[derive(Debug)]
pub(super) struct WeakKey {
    pub(super) bits: usize,
}

impl fmt::Display for WeakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an RSA key of {} bits", self.bits)
    }
}

impl std::error::Error for WeakKey {}

/// Explains an invalid signature. It may be one by a key that ring does not support; ring does not
/// distinguish the two.
fn with_weak_key<'c>(error: Error, certificates: impl IntoIterator<Item = &'c CertificateDer<'c>>) -> Error {
    if error != Error::InvalidCertificate(CertificateError::BadSignature) {
        return error;
    }
    let bits = certificates.into_iter().filter_map(rsa_bits).find(|bits| !(2048..=8192).contains(bits));
    match bits {
        Some(bits) => CertificateError::Other(OtherError(Arc::new(WeakKey { bits }))).into(),
        None => error,
    }
}

/// Returns the size of a certificate's key, if it is an RSA key (RFC 3279, 2.3.1).
fn rsa_bits(certificate: &CertificateDer<'_>) -> Option<usize> {
    const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
    let key = EndEntityCert::try_from(certificate).ok()?.subject_public_key_info();
    let (_, info, _) = element(&key)?;
    let (_, algorithm, rest) = element(info)?;
    let (_, bits, _) = element(rest).filter(|_| element(algorithm).is_some_and(|(_, oid, _)| oid == RSA))?;
    // The first byte is the number of unused bits.
    let (_, pair, _) = element(bits.get(1..)?)?;
    let (_, modulus, _) = element(pair)?;
    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
    let first = modulus.get(zeros)?;
    Some((modulus.len() - zeros) * 8 - first.leading_zeros() as usize)
}

/// Returns the first DER element: tag, content, and the rest.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = der.split_first_chunk()?;
    let (len, rest) = match (first, rest) {
        (0..=0x7F, rest) => (usize::from(first), rest),
        (0x81, [len, rest @ ..]) => (usize::from(*len), rest),
        (0x82, [high, low, rest @ ..]) => (usize::from(u16::from_be_bytes([*high, *low])), rest),
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_rsa_keys_are_known() {
        use rustls::pki_types::pem::PemObject as _;
        let bits = |pem: &str| rsa_bits(&CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate"));
        assert_eq!(bits(include_str!("../../../../testdata/tls/weak-ca.pem")), Some(1024));
        assert_eq!(bits(include_str!("../../../../testdata/tls/weak-issued.pem")), None, "a key of another kind");
        assert_eq!(rsa_bits(&CertificateDer::from(vec![0x30, 0])), None);
    }

    #[test]
    fn common_names_are_found_among_others() {
        let attribute = |oid: u8, text: &str| {
            let value = [&[0x0C, text.len() as u8], text.as_bytes()].concat();
            let pair = [&[6, 3, 0x55, 4, oid][..], &value].concat();
            let sequence = [&[0x30, pair.len() as u8][..], &pair].concat();
            [&[0x31, sequence.len() as u8][..], &sequence].concat()
        };
        let subject = [attribute(10, "Company"), attribute(3, "localhost")].concat();
        assert_eq!(common_name(&subject), Some("localhost"));
        assert_eq!(common_name(&attribute(10, "Company")), None);
        for end in 0..subject.len() {
            assert_eq!(common_name(&subject[..end]), None, "{end}");
        }
    }
}
