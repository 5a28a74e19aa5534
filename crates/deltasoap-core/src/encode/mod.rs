//! Writing of messages: converts values to bytes.
//!
//! An [`Encoder`] handles prefixes, open elements and escaping. The routines for [`complex`]
//! elements and [arrays](mod@array) traverse a value by its schema. Arrays of flat values use the
//! same shortcut as in decoding: [`flat`] writes one item by the general routines, notes the markup
//! between its leaves, and copies that markup for the items that follow.
//!
//! Characters that XML cannot represent are an error, not a silent replacement. Dynamic values that
//! do not have the shape their schema specifies take the general path.

pub mod array;
mod canonical;
pub mod complex;
pub mod differential;
mod encoder;
pub mod flat;
pub mod overlay;
pub(crate) mod parts;
mod references;

pub use complex::EncodeFields;
pub use encoder::{Encoder, leaf};
pub use flat::FlatSink;
