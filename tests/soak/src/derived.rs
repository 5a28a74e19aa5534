//! Derived Rust types, those of the engine's own tests.

#[path = "../../../crates/deltasoap/tests/engine/leaves/shapes.rs"]
#[allow(dead_code, missing_docs, reason = "shared with tests")]
mod shapes;

/// What the types above are made into: here a way to check a trial.
mod stream {
    use crate::coverage::Coverage;
    use crate::trial::{self, Difference, Trial};
    use deltasoap::Typed;
    use std::fmt::Debug;

    /// A type, by what is done with it.
    pub struct Kind {
        /// A document to begin with.
        pub document: &'static str,
        /// See [`trial::check`].
        pub check: fn(&Trial, &mut Coverage) -> Option<Difference>,
        /// See [`trial::is_good`].
        pub is_good: fn(&[u8]) -> bool,
    }

    impl Kind {
        /// A type with a document to begin with.
        pub const fn of<T: Typed + PartialEq + Debug>(document: &'static str) -> Self {
            Kind {
                document,
                check: |trial, coverage| trial::check::<T>(trial, T::view(), coverage),
                is_good: |message| trial::is_good::<T>(message, T::view()),
            }
        }
    }
}

pub use shapes::KINDS;
pub use stream::Kind;

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
        for kind in &KINDS {
            assert!((kind.is_good)(message(kind).as_bytes()), "{}", kind.document);
        }
    }
}
