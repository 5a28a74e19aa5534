//! Servers whose own certificate is one that is trusted.
//!
//! `openssl req -x509` makes a certificate that says of itself that it is an authority's (`CA:TRUE`), and webpki lets no authority's certificate be a
//! server's (`CaUsedAsEndEntity`). Where it is, byte by byte, one of those that the program was told to trust, nobody needs to vouch
//! for it. Its dates and the host's name count as for any other. Without `subjectAltName` the common name is the host's: openssl adds none by
//! itself.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::sync::Arc;
use webpki::EndEntityCert;

/// Verifies chains, and believes certificates that are trusted themselves.
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
        match self.chains.verify_server_cert(end_entity, intermediates, server, ocsp, now) {
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
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// True for what is wrong with a certificate whose dates are valid: webpki looks at those first.
fn can_be_pinned(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
        }
        Error::InvalidCertificate(error) => is_of_other_name(error),
        _ => false,
    }
}

fn is_of_other_name(error: &CertificateError) -> bool {
    matches!(error, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })
}

fn verify_name(certificate: &CertificateDer<'_>, server: &ServerName<'_>) -> Result<(), Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    match verify_server_name(&parsed, server) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }))
            if presented.is_empty() && is_common_name(certificate, server) =>
        {
            Ok(())
        }
        verified => verified,
    }
}

/// True if the certificate's common name is the host's.
fn is_common_name(certificate: &CertificateDer<'_>, server: &ServerName<'_>) -> bool {
    let Ok(certificate) = EndEntityCert::try_from(certificate) else { return false };
    let Some(name) = common_name(certificate.subject()) else { return false };
    server.to_str().eq_ignore_ascii_case(name)
}

/// The `CN` of a subject (RFC 5280, 4.1.2.4): sets of attributes, each a type and a value.
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

/// The first element of DER: tag, content, and what follows.
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
