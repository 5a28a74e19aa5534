//! Derived Rust types, those of the engine's own tests: as they stand, and compact.

#[macro_use]
#[path = "../../../crates/deltasoap/tests/support/by_default.rs"]
mod by_default;
#[path = "../../../crates/deltasoap/tests/engine/leaves/shapes.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod shapes;

#[macro_use]
#[path = "../../../crates/deltasoap/tests/support/compact.rs"]
mod compact;
#[path = "../../../crates/deltasoap/tests/engine/leaves/shapes.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod compact_shapes;

/// What the types above are made into: here a way to check a trial.
mod stream {
    use crate::coverage::Coverage;
    use crate::trial::{self, Difference, Trial};
    use deltasoap::{Tolerance, Typed};
    use std::fmt::Debug;

    /// A type, by what is done with it.
    pub struct Kind {
        /// A document to begin with.
        pub document: &'static str,
        /// See [`trial::check`].
        pub check: fn(&Trial, &mut Coverage) -> Option<Difference>,
        /// See [`trial::is_good`].
        pub is_good: fn(&[u8], Tolerance) -> bool,
    }

    impl Kind {
        /// A type with a document to begin with.
        pub const fn of<T: Typed + PartialEq + Debug>(document: &'static str) -> Self {
            Kind {
                document,
                check: |trial, coverage| trial::check::<T>(trial, T::view(), coverage),
                is_good: |message, tolerance| trial::is_good::<T>(message, T::view(), tolerance),
            }
        }
    }
}

pub use stream::Kind;

/// How many types there are.
pub const COUNT: usize = shapes::KINDS.len() + compact_shapes::KINDS.len();

/// A type by its number, the compact ones last.
pub fn kind(index: usize) -> Option<&'static Kind> {
    static KINDS: [Kind; shapes::KINDS.len()] = shapes::KINDS;
    static COMPACT: [Kind; compact_shapes::KINDS.len()] = compact_shapes::KINDS;
    KINDS.iter().chain(&COMPACT).nth(index)
}

/// The document of a type, as the only entry of a SOAP body.
pub fn message(kind: &Kind) -> String {
    const OPEN: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>";
    format!("{OPEN}{}</s:Body></s:Envelope>", kind.document)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_document_is_read() {
        for kind in (0..COUNT).filter_map(kind) {
            assert!((kind.is_good)(message(kind).as_bytes(), deltasoap::Tolerance::Strict), "{}", kind.document);
        }
    }
}
