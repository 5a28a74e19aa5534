//! The two versions of SOAP and their differences on the wire.

use crate::ns;

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Version {
    /// SOAP 1.1 (W3C Note, 8 May 2000).
    #[default]
    Soap11,
    /// SOAP 1.2 (W3C Recommendation, second edition, 27 April 2007).
    Soap12,
}

impl Version {
    /// Returns the namespace of the envelope.
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => ns::SOAP11,
            Version::Soap12 => ns::SOAP12,
        }
    }

    /// Returns the version with this envelope namespace.
    pub fn from_namespace(namespace: &str) -> Option<Self> {
        [Version::Soap11, Version::Soap12].into_iter().find(|version| version.namespace() == namespace)
    }

    /// Returns the media type of messages: SOAP 1.1 section 6, SOAP 1.2 part 2 section 7.1.4.
    pub const fn media_type(self) -> &'static str {
        match self {
            Version::Soap11 => "text/xml",
            Version::Soap12 => "application/soap+xml",
        }
    }

    /// Returns the namespace of section-5 encoding, which is also the value of `encodingStyle`.
    pub const fn encoding_namespace(self) -> &'static str {
        match self {
            Version::Soap11 => ns::SOAP11_ENCODING,
            Version::Soap12 => ns::SOAP12_ENCODING,
        }
    }
}
