//! The values that we exchange with other toolkits, of each kind that WSDL can describe: the cases
//! of the services `/types` (`testdata/wsdl/types.wsdl`) and `/encoded`
//! (`testdata/wsdl/encoded.wsdl`).
//!
//! A [`Kind`] is a type with cases: values with names. An [`Exchange`] is a kind with the messages
//! that carry it in one of the two services. The server returns a case by its name, checks one that
//! is sent back, and echoes any value; so a peer's client needs no values of its own to be tested
//! in both directions, and a peer's server only has to echo. Both our server and our client are
//! built from these definitions by a [`Visitor`].

#![forbid(unsafe_code)]

mod arrays;
mod calls;
mod exchange;
mod graph;
mod primitives;
mod shapes;
mod sparse;
mod structs;

pub use arrays::{Anything, Arrays, Grids, Jagged, Large, LargeArray, Lists, Names, Row};
pub use calls::{Calls, EncodedCalls, Fields, LiteralCalls};
pub use exchange::{Exchange, Visitor, encoded, literal};
pub use graph::{Graph, Node};
pub use primitives::{Calendar, Integers, Qualified, Reals, Texts, Times};
pub use shapes::{Circle, Drawing, EncodedDrawing, Rectangle, Shape, Square};
pub use sparse::{Partial, Scattered, Sparse};
pub use structs::{Contact, Contacts, Nils, Phone, Point, Step, Steps};

use deltasoap::engine::Typed;
use std::fmt::Debug;

/// A named value; created on demand, since some are large.
pub type Case<T> = (&'static str, fn() -> T);

/// A type with cases.
pub trait Kind: Typed + Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The name within the operations' names, such as `Integers` in `echoIntegers`.
    const NAME: &'static str;

    /// The feature that its cases test.
    const FEATURE: &'static str;

    /// The cases; their names are unique.
    const CASES: &'static [Case<Self>];

    /// Returns true if both are the same value, allowing for different forms that peers write. By
    /// default, compares for equality.
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    /// Returns a case by its name.
    fn case(name: &str) -> Option<Self> {
        Self::CASES.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
    }
}

/// Describes the difference of a value from `expected`; empty if there is none.
pub fn problem<K: Kind>(expected: &K, found: &K) -> String {
    if expected.is_same(found) {
        return String::new();
    }
    let show = |value: &K| format!("{value:?}").chars().take(MAX_SHOWN).collect::<String>();
    format!("expected {}, got {}", show(expected), show(found))
}

/// Maximum number of characters of a value in a description.
const MAX_SHOWN: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Message;
    use deltasoap::engine::Buffer;
    use deltasoap::schema::Use;
    use deltasoap::soap::{Envelope, Version, decode_request};

    /// Encodes and decodes each case.
    struct RoundTrip(Use, usize);

    impl Visitor for RoundTrip {
        fn visit<E: Exchange>(&mut self) {
            for (name, make) in E::Kind::CASES {
                for version in [Version::Soap11, Version::Soap12] {
                    self.round_trip::<E>(name, make(), version);
                }
            }
        }
    }

    impl RoundTrip {
        fn round_trip<E: Exchange>(&mut self, name: &str, value: E::Kind, version: Version) {
            let request = E::Echo::from(value.clone());
            let message =
                Envelope::new(&request).version(version).encoding(self.0).write(Buffer::new()).expect("writable");
            let (_, read) = decode_request::<E::Echo>(message.as_slice()).expect(name);
            let problem = problem(&value, E::value(&read));
            assert!(problem.is_empty(), "{} {name}: {problem}", E::Kind::NAME);
            assert_eq!(E::Kind::case(name).map(|again| again.is_same(&value)), Some(true), "{name}");
            assert!(E::Echo::ELEMENT.local.ends_with(E::Kind::NAME));
            self.1 += 1;
        }
    }

    #[test]
    fn all_cases_are_read_as_they_are_written() {
        let mut literal_cases = RoundTrip(Use::Literal, 0);
        literal(&mut literal_cases);
        let mut encoded_cases = RoundTrip(Use::Encoded, 0);
        encoded(&mut encoded_cases);
        assert!(literal_cases.1 > 50 && encoded_cases.1 > 40, "{} {}", literal_cases.1, encoded_cases.1);
    }

    #[test]
    fn a_problem_shows_both() {
        let [one, two] = [0, 1].map(|at| Integers::CASES[at].1());
        assert_eq!(problem(&one, &one), "");
        let problem = problem(&one, &two);
        assert!(problem.contains("-128") && problem.contains("127"), "{problem}");
    }
}
