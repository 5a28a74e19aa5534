//! Versions of CWMP, identified by the namespaces of messages.

use deltasoap::schema::QName;
use std::fmt;

/// The namespace of messages. Versions 1.2, 1.3 and 1.4 of the protocol share one (TR-069 Amendment
/// 6, annex A.6), but some devices use the namespaces 1-3 and 1-4 nevertheless. The CPE chooses
/// with its Inform, and is answered in the same namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Version {
    /// `urn:dslforum-org:cwmp-1-0`.
    #[default]
    V1_0,
    /// `urn:dslforum-org:cwmp-1-1`.
    V1_1,
    /// `urn:dslforum-org:cwmp-1-2`.
    V1_2,
    /// `urn:dslforum-org:cwmp-1-3`.
    V1_3,
    /// `urn:dslforum-org:cwmp-1-4`.
    V1_4,
}

impl Version {
    /// All versions, in order.
    pub const ALL: [Version; 5] = [Version::V1_0, Version::V1_1, Version::V1_2, Version::V1_3, Version::V1_4];

    /// Returns the namespace.
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::V1_0 => "urn:dslforum-org:cwmp-1-0",
            Version::V1_1 => "urn:dslforum-org:cwmp-1-1",
            Version::V1_2 => "urn:dslforum-org:cwmp-1-2",
            Version::V1_3 => "urn:dslforum-org:cwmp-1-3",
            Version::V1_4 => "urn:dslforum-org:cwmp-1-4",
        }
    }

    /// Returns the version with this namespace.
    pub fn from_namespace(namespace: &str) -> Option<Self> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// Returns the name of an element in this version.
    pub(crate) const fn name(self, local: &'static str) -> QName {
        QName::new(self.namespace(), local)
    }
}

/// Formats as `1.0`, and so on.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", *self as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_tell_versions() {
        for version in Version::ALL {
            assert_eq!(Version::from_namespace(version.namespace()), Some(version));
            assert!(version.namespace().ends_with(&version.to_string().replace('.', "-")));
        }
        assert_eq!(Version::from_namespace("urn:dslforum-org:cwmp-2-0"), None);
    }
}
