//! Errors, and the faults that they become.

use crate::ns;
use deltasoap_core::QName;
use deltasoap_core::soap::{Fault, FaultCode, Version};
use std::fmt;

/// The reason why a message cannot be secured, or is not accepted.
///
/// The text is for whoever operates this side. The peer only learns the [fault](Self::to_fault),
/// which does not say which check failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecurityError {
    /// The `Security` header, or something in it, is not what the specifications allow.
    Malformed(String),
    /// The message uses something that is not supported, or not allowed by the settings.
    Unsupported(String),
    /// The message lacks something that the settings require.
    Missing(String),
    /// A token is invalid, or its issuer is not trusted.
    Token(String),
    /// The sender did not prove who it is.
    Authentication(String),
    /// A signature or a digest does not match, or something could not be decrypted.
    Check(String),
    /// The token or key that the message refers to is not known here.
    UnknownToken(String),
    /// The message was created too long ago or too far in the future, or was received before.
    Expired(String),
    /// A key or a certificate cannot be used.
    Key(String),
    /// The message that is to be secured cannot be written.
    Write(String),
}

impl SecurityError {
    /// Returns the fault for the peer (SOAP Message Security 1.1, section 12). Its text says no
    /// more than its code. In SOAP 1.1 the code is that of WS-Security, in SOAP 1.2 it is the
    /// subcode.
    pub fn to_fault(&self, version: Version) -> Fault {
        let (namespace, local, text) = match self {
            SecurityError::Malformed(_) => (ns::WSSE, "InvalidSecurity", "the security header cannot be processed"),
            SecurityError::Unsupported(_) => {
                (ns::WSSE, "UnsupportedAlgorithm", "an unsupported algorithm or token was used")
            }
            SecurityError::Missing(_) => {
                (ns::WSSE, "InvalidSecurity", "the message lacks security that the service requires")
            }
            SecurityError::Token(_) => (ns::WSSE, "InvalidSecurityToken", "an invalid security token was provided"),
            SecurityError::Authentication(_) => {
                (ns::WSSE, "FailedAuthentication", "the security token could not be authenticated")
            }
            SecurityError::Check(_) => (ns::WSSE, "FailedCheck", "the signature or decryption was invalid"),
            SecurityError::UnknownToken(_) => {
                (ns::WSSE, "SecurityTokenUnavailable", "a referenced security token could not be retrieved")
            }
            SecurityError::Expired(_) => (ns::WSU, "MessageExpired", "the message has expired"),
            SecurityError::Key(_) | SecurityError::Write(_) => {
                return Fault::receiver("the message could not be secured");
            }
        };
        let code = QName::new(namespace, local);
        if version == Version::Soap11 {
            return Fault::new(FaultCode::Other(code), text);
        }
        let mut fault = Fault::sender(text);
        fault.subcodes = vec![code];
        fault
    }

    fn text(&self) -> &str {
        match self {
            SecurityError::Malformed(text)
            | SecurityError::Unsupported(text)
            | SecurityError::Missing(text)
            | SecurityError::Token(text)
            | SecurityError::Authentication(text)
            | SecurityError::Check(text)
            | SecurityError::UnknownToken(text)
            | SecurityError::Expired(text)
            | SecurityError::Key(text)
            | SecurityError::Write(text) => text,
        }
    }
}

impl fmt::Display for SecurityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for SecurityError {}
