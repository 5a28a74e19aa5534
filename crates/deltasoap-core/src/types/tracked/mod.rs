//! Values that know what changed since they were last written.
//!
//! A template can find out what differs from the message sent before by comparing every value. A
//! tracked value spares it that: each write through it is noted (*Differential Serialization*, HPDC
//! 2004, section 3.1: the accessors that keep the DUT table). What was not touched since the last
//! message is not even looked at.
//!
//! | type | stands for | notes |
//! |---|---|---|
//! | [`Tracked<T>`] | `T` | that something inside may have changed |
//! | [`TrackedVec<T>`] | `Vec<T>` | which items may have changed |
//! | [`TrackedArray<T>`] | [`SoapArray<T>`](crate::SoapArray) | the same |
//!
//! They can be nested in each other and mixed with plain types: where a tracked value was touched,
//! what is plain inside is compared and what is tracked tells more. They look like what they stand
//! for, in Rust and in XML. To note too much is harmless: in the end a value's bits decide whether
//! it is written.
//!
//! The idea: each value has an *identity*, and counts *epochs*. Writing it into a message ends an
//! epoch; the first change after that begins the next one, with nothing noted but itself. A
//! template that holds the same identity and epoch holds the same value; one that holds the epoch
//! before differs in what is noted, and in nothing else. Any other has to be compared. So no value
//! needs to know in which templates it stands, and one that is sent to several places is never
//! wrong.

mod array;
mod epoch;
mod list;
mod list_access;
mod marks;
mod span;
#[cfg(test)]
mod tests;
mod value;

pub use array::TrackedArray;
pub use list::TrackedVec;
pub use span::Span;
pub use value::Tracked;
