//! Streams of similar messages, ready to send: the bytes of each, and its value.
//!
//! A stream is a *ring*: it repeats, and its first message resembles its last one as any message
//! resembles its predecessor. All messages are created before the timing starts, each in separate
//! memory, so that none is in the processor's cache because its predecessor was. [`lane`] decodes a
//! stream.

mod dummy;
mod encoded;
pub mod inform;
pub mod lane;
mod recorded;
pub mod target;

use anyhow::Result;
use bytes::Bytes;
use deltasoap_streams::arrays;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar::{self, Changes};
use serde::Deserialize;

use crate::messages::{SendDoubles, SendInts, SendMios, SendStrings};
use crate::payload::{Payload, Same};

/// The kind of a stream's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `xsd:int`
    Ints,
    /// `xsd:double`, few digits
    Easy,
    /// `xsd:double`, up to 17 digits
    Hard,
    /// `xsd:string`
    Strings,
    /// Mesh interface objects
    Structs,
    /// Hard doubles, one of which changes without changing its length
    One,
    /// Hard doubles, one of which changes, including its length
    OneLonger,
    /// Hard doubles; one more in every other message
    Insert,
    /// Two alternating arrays of hard doubles; the chosen share of each changes
    Turns,
    /// Two alternating arrays of hard doubles in SOAP encoding
    EncodedTurns,
    /// Ints in SOAP encoding
    EncodedInts,
    /// Hard doubles in SOAP encoding
    EncodedDoubles,
    /// Strings in SOAP encoding
    EncodedStrings,
    /// Mesh interface objects in SOAP encoding
    EncodedStructs,
    /// Mesh interface objects by reference, as written by Axis
    EncodedReferences,
    /// TR-069
    Inform,
    /// vSphere
    Fetch,
    /// vSphere's responses, as trees
    FetchTrees,
    /// As [`Ints`](Self::Ints), without conversion.
    UnreadInts,
    /// As [`Easy`](Self::Easy), without conversion.
    UnreadEasy,
    /// As [`Hard`](Self::Hard), without conversion.
    UnreadHard,
}

impl Kind {
    /// Returns true if there are streams of any size with any share of changes.
    pub fn is_array(self) -> bool {
        matches!(self, Kind::Ints | Kind::Easy | Kind::Hard | Kind::Strings | Kind::Structs)
    }

    /// Returns true if there are streams of any size.
    pub fn has_sizes(self) -> bool {
        !matches!(self, Kind::Inform | Kind::Fetch | Kind::FetchTrees)
    }
}

/// A stream's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Recipe {
    /// The kind of messages.
    pub kind: Kind,
    /// Number of elements in an array; unused for recorded messages.
    pub n: usize,
    /// Percentage of values that change from message to message; only for arrays.
    pub percent: u32,
    /// Number of parts of the array that have that percentage in their middle; only for arrays.
    pub partitions: usize,
}

impl Recipe {
    /// Returns the changes from message to message.
    fn changes(&self) -> Changes {
        Changes { percent: self.percent, partitions: self.partitions }
    }

    /// Returns a stream of equal messages.
    pub fn identical(kind: Kind, n: usize) -> Self {
        Recipe { kind, n, percent: 0, partitions: 1 }
    }
}

/// One message of a stream.
#[derive(Debug)]
pub struct Sent<T> {
    /// The message.
    pub bytes: Bytes,
    /// The value of the message.
    pub value: T,
    /// The number of its sender. Only messages of the same sender are compared with each other.
    pub sender: usize,
}

/// A ring of messages.
#[derive(Debug)]
pub struct Stream<T> {
    /// The messages, in order of arrival.
    pub messages: Vec<Sent<T>>,
    /// The number of senders.
    pub senders: usize,
}

impl<T> Stream<T> {
    /// Returns the mean size of a message in bytes.
    pub fn message_len(&self) -> usize {
        let total: usize = self.messages.iter().map(|message| message.bytes.len()).sum();
        total / self.messages.len().max(1)
    }
}

impl<T: Payload> Stream<T> {
    fn from_one_sender(values: Vec<T>) -> Self {
        let send = |value: T| Sent { bytes: fixed(value.naive().into_bytes()), value, sender: 0 };
        Stream { messages: values.into_iter().map(send).collect(), senders: 1 }
    }
}

/// Returns a message as it is received: in a buffer without spare capacity.
fn fixed(message: Vec<u8>) -> Bytes {
    Bytes::from(message.into_boxed_slice())
}

/// An operation on streams with messages of any type.
pub trait Visitor {
    /// The result.
    type Output;

    /// Visits a stream.
    ///
    /// # Errors
    /// When the operation fails.
    fn visit<T: Same>(self, stream: Stream<T>) -> Result<Self::Output>;
}

/// Limits of a stream's content: a minimum number of messages, and more if they are small.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// Total size of the messages in bytes, unless these would be too few.
    pub bytes: usize,
    /// Maximum number of messages.
    pub messages: usize,
}

impl Bound {
    /// Minimum number of messages.
    const MIN_MESSAGES: usize = 4;

    /// For measurements that must not depend on caches: 64 MiB, 16 messages.
    pub const LARGE: Bound = Bound { bytes: 64 << 20, messages: 16 };

    /// For many consecutive measurements: 4 messages.
    pub const SMALL: Bound = Bound { bytes: 0, messages: Self::MIN_MESSAGES };

    /// Returns the number of messages of `size` bytes in a stream; an even number.
    fn messages(self, size: usize) -> usize {
        (self.bytes / size.max(1)).clamp(Self::MIN_MESSAGES, self.messages.max(Self::MIN_MESSAGES)) & !1
    }
}

/// Creates a stream and passes it to `visitor`.
///
/// # Errors
/// When a recorded message cannot be decoded, or `visitor` fails.
pub fn with_stream<V: Visitor>(recipe: Recipe, bound: Bound, visitor: V) -> Result<V::Output> {
    let n = recipe.n;
    match recipe.kind {
        Kind::Ints => visitor.visit(changing::<SendInts, _>(arrays::ints(n), recipe, bound, similar::int(n))),
        Kind::Easy => {
            visitor.visit(changing::<SendDoubles, _>(arrays::easy_doubles(n), recipe, bound, similar::easy_double(n)))
        }
        Kind::Hard => {
            visitor.visit(changing::<SendDoubles, _>(arrays::hard_doubles(n), recipe, bound, similar::hard_double))
        }
        Kind::Strings => visitor.visit(changing::<SendStrings, _>(arrays::strings(n), recipe, bound, similar::string)),
        Kind::Structs => visitor.visit(changing::<SendMios, _>(arrays::mios(n), recipe, bound, similar::mio(n))),
        Kind::One => visitor.visit(doubles(n, bound, |first, count| similar::one_changed(first, count, true))),
        Kind::OneLonger => visitor.visit(doubles(n, bound, |first, count| similar::one_changed(first, count, false))),
        Kind::Insert => visitor.visit(doubles(n, bound, similar::inserted)),
        Kind::Turns => visitor.visit(turns(recipe, bound)),
        Kind::EncodedTurns => visitor.visit(encoded::turns(recipe, bound)),
        Kind::EncodedInts => visitor.visit(encoded::ints(recipe, bound)),
        Kind::EncodedDoubles => visitor.visit(encoded::doubles(recipe, bound)),
        Kind::EncodedStrings => visitor.visit(encoded::strings(recipe, bound)),
        Kind::EncodedStructs => visitor.visit(encoded::structs(recipe, bound)),
        Kind::EncodedReferences => visitor.visit(encoded::references(recipe, bound)),
        Kind::Inform => visitor.visit(inform::stream()?),
        Kind::Fetch => visitor.visit(recorded::fetches()?),
        Kind::FetchTrees => visitor.visit(recorded::trees()?),
        Kind::UnreadInts => visitor.visit(dummy::ints(&arrays::ints(n), Bound::MIN_MESSAGES)),
        Kind::UnreadEasy => visitor.visit(dummy::doubles(&arrays::easy_doubles(n), Bound::MIN_MESSAGES)),
        Kind::UnreadHard => visitor.visit(dummy::doubles(&arrays::hard_doubles(n), Bound::MIN_MESSAGES)),
    }
}

fn changing<T, E>(first: Vec<E>, recipe: Recipe, bound: Bound, draw: impl FnMut(&mut SplitMix64) -> E) -> Stream<T>
where
    T: Payload + From<Vec<E>>,
    E: Clone + PartialEq,
{
    let size = T::from(first.clone()).naive().len();
    let ring = similar::changed(&first, recipe.changes(), bound.messages(size), draw);
    Stream::from_one_sender(ring.into_iter().map(T::from).collect())
}

/// Returns two rings with alternating messages.
fn turns(recipe: Recipe, bound: Bound) -> Stream<SendDoubles> {
    let both = arrays::hard_doubles(2 * recipe.n);
    let (one, other) = both.split_at(recipe.n);
    let count = bound.messages(arrays::message_doubles(one).len());
    let ring = |first: &[f64]| similar::changed(first, recipe.changes(), count, similar::hard_double);
    Stream::from_one_sender(by_turns(ring(one), ring(other)).map(SendDoubles::from).collect())
}

fn by_turns<T>(one: Vec<T>, other: Vec<T>) -> impl Iterator<Item = T> {
    one.into_iter().zip(other).flat_map(|(one, other)| [one, other])
}

fn doubles(n: usize, bound: Bound, ring: impl FnOnce(&[f64], usize) -> Vec<Vec<f64>>) -> Stream<SendDoubles> {
    let first = arrays::hard_doubles(n);
    let count = bound.messages(arrays::message_doubles(&first).len());
    Stream::from_one_sender(ring(&first, count).into_iter().map(SendDoubles::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Returns the messages of a stream, with their senders.
    struct Messages;

    impl Visitor for Messages {
        type Output = Vec<(Bytes, usize)>;

        fn visit<T: Same>(self, stream: Stream<T>) -> Result<Self::Output> {
            assert!(stream.message_len() > 100);
            Ok(stream.messages.into_iter().map(|message| (message.bytes, message.sender)).collect())
        }
    }

    fn messages(recipe: Recipe) -> Vec<(Bytes, usize)> {
        with_stream(recipe, Bound::SMALL, Messages).unwrap()
    }

    #[test]
    fn equal_messages_lie_in_different_memory() {
        let messages = messages(Recipe::identical(Kind::Hard, 10));
        assert_eq!(messages.len(), 4);
        for (bytes, sender) in &messages[1..] {
            assert_eq!((bytes, sender), (&messages[0].0, &0));
            assert_ne!(bytes.as_ptr(), messages[0].0.as_ptr());
        }
    }

    #[test]
    fn neighbours_of_a_changing_stream_differ_and_of_one_kind_in_length() {
        let arrays = [Kind::Ints, Kind::Easy, Kind::Hard, Kind::Strings, Kind::Structs, Kind::EncodedReferences];
        for kind in arrays.into_iter().chain([Kind::One, Kind::OneLonger]) {
            let messages = messages(Recipe { kind, n: 100, percent: 10, partitions: 2 });
            let next = messages.iter().cycle().skip(1);
            for ((one, _), (next, _)) in messages.iter().zip(next) {
                assert_ne!(one, next);
                match kind {
                    Kind::One | Kind::Strings => assert_eq!(one.len(), next.len()),
                    Kind::OneLonger => assert_ne!(one.len(), next.len()),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn an_element_is_inserted_in_every_other_message() {
        let counts: Vec<usize> = messages(Recipe::identical(Kind::Insert, 10))
            .iter()
            .map(|(bytes, _)| bytes.windows(6).filter(|window| window == b"<item>").count())
            .collect();
        assert_eq!(counts, [10, 11, 10, 11]);
    }

    #[test]
    fn bounds_hold() {
        assert_eq!(Bound::LARGE.messages(100), 16);
        assert_eq!(Bound::LARGE.messages(8 << 20), 8);
        assert_eq!(Bound::LARGE.messages(7 << 20), 8);
        assert_eq!(Bound::LARGE.messages(1 << 30), 4);
        assert_eq!(Bound::SMALL.messages(1), 4);
    }

    #[test]
    fn every_sender_of_a_recorded_stream_sends_again_and_again() {
        for kind in [Kind::Inform, Kind::Fetch, Kind::FetchTrees] {
            let messages = messages(Recipe::identical(kind, 0));
            let senders: HashSet<usize> = messages.iter().map(|(_, sender)| *sender).collect();
            assert!(messages.len() >= 40 * senders.len(), "{kind:?}: {} of {senders:?}", messages.len());
        }
    }
}
