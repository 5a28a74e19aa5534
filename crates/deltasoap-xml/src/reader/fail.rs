//! Why a token could not be read: too few bytes, or a fault at a place in the window.

use crate::XmlErrorKind;

/// Why a token could not be read.
#[derive(Debug)]
pub(crate) enum Fail {
    /// The bytes end inside the token, and nothing before their end is at fault.
    RunOut,
    /// A fault.
    Fault {
        /// Index in the window's bytes.
        at: usize,
        /// Boxed to keep the results of hot functions small.
        kind: Box<XmlErrorKind>,
    },
}

/// A fault at index `at` of the window's bytes.
#[cold]
pub(crate) fn fault(at: usize, kind: XmlErrorKind) -> Fail {
    Fail::Fault { at, kind: Box::new(kind) }
}

/// The fault of exceeding the bound `name`.
#[cold]
pub(crate) fn over(at: usize, name: &'static str, limit: usize) -> Fail {
    fault(at, XmlErrorKind::Limit { name, limit: limit as u64 })
}
