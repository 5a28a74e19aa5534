//! Values that track what changed since they were last written.
//!
//! A template can find the differences from the previous message by comparing every value. A
//! tracked value makes this unnecessary: each write through it is noted (*Differential
//! Serialization*, HPDC 2004, section 3.1: the accessors that maintain the DUT table). Content that
//! was not touched since the last message is not even inspected.
//!
//! | type | stands for | notes |
//! |---|---|---|
//! | [`Tracked<T>`] | `T` | that something inside may have changed |
//! | [`TrackedVec<T>`] | `Vec<T>` | which items may have changed |
//! | [`TrackedArray<T>`] | [`SoapArray<T>`](crate::SoapArray) | the same |
//!
//! They can be nested in each other and mixed with plain types: inside a touched value, plain
//! content is compared and tracked content narrows the comparison. They look like the types they
//! stand for, in Rust and in XML. Noting too much is harmless: in the end a value's bits decide
//! whether it is written.
//!
//! Each value has an *identity*, and counts *epochs*. Writing the value into a message ends an
//! epoch. The first change after that begins the next one, in which initially only that change is
//! noted. A template that holds the same identity and epoch holds the same value. A template that
//! holds the previous epoch differs only in the noted items. Any other template has to compare
//! everything. So no value needs to know which templates contain it, and a value that is sent to
//! several places is always handled correctly.

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
