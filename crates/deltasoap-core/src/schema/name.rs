//! Expanded names: a namespace URI and a local part.

use std::borrow::Cow;
use std::fmt;

/// An expanded name (Namespaces in XML 1.0, section 2.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct QName {
    /// Namespace URI; empty for no namespace.
    pub namespace: Cow<'static, str>,
    /// Local part.
    pub local: Cow<'static, str>,
}

impl QName {
    /// A name from static parts, usable in `static` schemas.
    pub const fn new(namespace: &'static str, local: &'static str) -> Self {
        QName { namespace: Cow::Borrowed(namespace), local: Cow::Borrowed(local) }
    }

    /// A name from owned or borrowed parts.
    pub fn owned(namespace: impl Into<String>, local: impl Into<String>) -> Self {
        QName { namespace: Cow::Owned(namespace.into()), local: Cow::Owned(local.into()) }
    }

    /// True if this is `{namespace}local`.
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && self.namespace == namespace
    }
}

impl fmt::Display for QName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.local)
        } else {
            write!(f, "{{{}}}{}", self.namespace, self.local)
        }
    }
}
