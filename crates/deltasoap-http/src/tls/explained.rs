//! Explains TLS errors between client and server in words.
//!
//! The errors of rustls name its own variants, and give times as UNIX seconds.

use super::pinned::WeakKey;
use crate::error::BoxError;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
use std::error::Error as StdError;
use std::fmt;
use std::io;

/// Explains the error in words if TLS failed; otherwise returns it unchanged.
pub(crate) fn explained(error: BoxError) -> BoxError {
    let first: &(dyn StdError + 'static) = &*error;
    let found = std::iter::successors(Some(first), |cause| (*cause).source()).find_map(rustls_error).cloned();
    match found {
        Some(error) => Box::new(TlsFailure(error)),
        None => error,
    }
}

/// Finds the error of rustls, which may be nested in I/O errors: those do not report their content
/// as a cause.
fn rustls_error<'e>(mut cause: &'e (dyn StdError + 'static)) -> Option<&'e Error> {
    while let Some(inner) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        cause = inner;
    }
    cause.downcast_ref()
}

#[derive(Debug)]
struct TlsFailure(Error);

impl StdError for TlsFailure {}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Error::InvalidCertificate(error) => certificate(error, f),
            Error::AlertReceived(AlertDescription::ProtocolVersion)
            | Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
                f.write_str("the server supports neither TLS 1.2 nor TLS 1.3; older versions are insecure")
            }
            Error::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity)
            | Error::PeerIncompatible(_) => {
                f.write_str("client and server have no TLS version, cipher suite and key type in common, or the server requires a certificate that the client did not send")
            }
            Error::AlertReceived(AlertDescription::CertificateRequired) => {
                f.write_str("the server requires a client certificate")
            }
            Error::AlertReceived(alert) => write!(f, "the server ended TLS with the alert {alert:?}"),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                f.write_str("the server does not answer in TLS: is the URL http://?")
            }
            other => write!(f, "TLS failed: {other}"),
        }
    }
}

fn certificate(error: &CertificateError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        CertificateError::ExpiredContext { time, not_after } => {
            write!(f, "the server's certificate expired on {}; it is {} now", Date(not_after), Date(time))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            write!(f, "the server's certificate is not valid before {}; it is {} now", Date(not_before), Date(time))
        }
        CertificateError::UnknownIssuer => {
            f.write_str("the server's certificate was issued by an authority that is not trusted")
        }
        CertificateError::BadSignature => f.write_str(
            "a signature by the server or in its certificate is invalid; a trusted authority may have the issuer's name but another key",
        ),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().filter_map(|name| host(name)).collect();
            let names = if names.is_empty() { "no host".to_owned() } else { names.join(", ") };
            write!(f, "the server's certificate is for {names} and not for {}", expected.to_str())
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            f.write_str("the server's certificate is signed with an unsupported algorithm, such as one with SHA-1")
        }
        CertificateError::Other(other) => match (other.0.downcast_ref(), other.0.downcast_ref()) {
            (Some(WeakKey { bits }), _) => write!(
                f,
                "the server's certificate, or one in its chain, has an RSA key of {bits} bits; 2048 to 8192 are accepted"
            ),
            (_, Some(webpki::Error::CaUsedAsEndEntity)) => {
                f.write_str("the server's certificate is an authority's own (CA:TRUE), and is not trusted itself")
            }
            (_, Some(webpki::Error::UnsupportedCertVersion)) => f.write_str(
                "the server's certificate has X.509 version 1, but version 3 is required, as made by `openssl req -x509`",
            ),
            _ => write!(f, "the server's certificate cannot be verified: {}", other.0),
        },
        other => write!(f, "the server's certificate cannot be verified: {other}"),
    }
}

/// Returns true for a certificate of version 1, which webpki cannot read.
pub(super) fn is_of_version_1(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::UnsupportedCertVersion))
}

/// Extracts a host's name or address from rustls' notation, `DnsName("a.example")`.
fn host(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("DnsName(").or_else(|| name.strip_prefix("IpAddress("))?;
    Some(inner.strip_suffix(')')?.trim_matches('"'))
}

/// A time as a calendar date in UTC.
struct Date<'t>(&'t UnixTime);

impl fmt::Display for Date<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0.as_secs()).ok();
        match seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()) {
            Some(time) => write!(f, "{} UTC", time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M")),
            None => f.write_str("a date after the year 9999"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;
    use std::time::Duration;

    fn said(error: Error) -> String {
        explained(Box::new(io::Error::other(io::Error::other(error)))).to_string()
    }

    #[test]
    fn dates_are_those_of_a_calendar() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expired = CertificateError::ExpiredContext { time: at(1_767_225_600), not_after: at(1_009_843_199) };
        let text = said(expired.into());
        assert_eq!(text, "the server's certificate expired on 2001-12-31 23:59 UTC; it is 2026-01-01 00:00 UTC now");
        let early = CertificateError::NotValidYetContext { time: at(0), not_before: at(u64::MAX) };
        assert!(said(early.into()).contains("before a date after the year 9999; it is 1970-01-01 00:00 UTC now"));
    }

    #[test]
    fn names_are_shown_without_their_kinds() {
        let presented = ["DnsName(\"a.example\")", "0x01", "IpAddress(127.0.0.1)"].map(ToOwned::to_owned).to_vec();
        let expected = ServerName::try_from("b.example").expect("a name");
        let text = said(CertificateError::NotValidForNameContext { expected, presented }.into());
        assert_eq!(text, "the server's certificate is for a.example, 127.0.0.1 and not for b.example");
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        let error: BoxError = Box::new(io::Error::from(io::ErrorKind::ConnectionRefused));
        assert!(explained(error).is::<io::Error>());
    }
}
