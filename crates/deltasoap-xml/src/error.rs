//! What can be wrong with a document, and where.

use std::fmt;

/// A fault in a document: what, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlError {
    /// What is wrong.
    pub kind: XmlErrorKind,
    /// Absolute offset of the fault, in bytes of the document as received (also for UTF-16).
    pub offset: u64,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum XmlErrorKind {
    /// The document ended too early.
    UnexpectedEnd,
    /// Bytes that are not well-formed in the document's encoding.
    Encoding,
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for XmlError {}
