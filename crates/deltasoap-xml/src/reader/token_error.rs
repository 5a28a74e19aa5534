//! The reason why a token could not be read: too few bytes, or an error at a position in the
//! window.

use crate::XmlErrorKind;

/// The reason why a token could not be read.
#[derive(Debug)]
pub(crate) enum TokenError {
    /// The bytes end inside the token, and everything before their end is valid.
    Incomplete,
    /// An error in the document.
    Fault {
        /// Index in the window's bytes.
        at: usize,
        /// Boxed to keep the results of hot functions small.
        kind: Box<XmlErrorKind>,
    },
}

/// Creates a fault at index `at` of the window's bytes.
#[cold]
pub(crate) fn fault(at: usize, kind: XmlErrorKind) -> TokenError {
    TokenError::Fault { at, kind: Box::new(kind) }
}

/// Creates the fault of exceeding the limit `name`.
#[cold]
pub(crate) fn over_limit(at: usize, name: &'static str, limit: usize) -> TokenError {
    fault(at, XmlErrorKind::Limit { name, limit: limit as u64 })
}
