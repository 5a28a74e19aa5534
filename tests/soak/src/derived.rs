//! Derived Rust types, those of the engine's own tests: in normal and in compact form.

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

/// The macro turns the types above into checks of trials.
mod stream {
    use crate::coverage::Coverage;
    use crate::trial::{self, Difference, Trial};
    use deltasoap::engine::{Tolerance, Typed};
    use std::fmt::Debug;

    /// A type, represented by its functions.
    pub struct Kind {
        /// An initial document.
        pub document: &'static str,
        /// See [`trial::check`].
        pub check: fn(&Trial, &mut Coverage) -> Option<Difference>,
        /// See [`trial::is_good`].
        pub is_good: fn(&[u8], Tolerance) -> bool,
    }

    impl Kind {
        /// Creates the kind of a type with an initial document.
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

/// Number of types.
pub const COUNT: usize = shapes::KINDS.len() + compact_shapes::KINDS.len();

/// Returns a type by its number; the compact ones come last.
pub fn kind(index: usize) -> Option<&'static Kind> {
    static KINDS: [Kind; shapes::KINDS.len()] = shapes::KINDS;
    static COMPACT: [Kind; compact_shapes::KINDS.len()] = compact_shapes::KINDS;
    KINDS.iter().chain(&COMPACT).nth(index)
}

/// Returns the document of a type, as the only entry of a SOAP body.
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
            assert!(
                (kind.is_good)(message(kind).as_bytes(), deltasoap::engine::Tolerance::Strict),
                "{}",
                kind.document
            );
        }
    }
}
