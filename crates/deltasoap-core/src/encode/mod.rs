//! Writing messages: values in, bytes out.
//!
//! An [`Encoder`] knows prefixes, open elements and escaping; the routines for [`complex`] elements
//! and [arrays](mod@array) walk a value by its schema. Arrays of flat values take the same shortcut
//! as when they are read: [`flat`] writes one item by the general routines, notes the markup
//! between its leaves, and copies that markup for the items that follow.

pub mod array;
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
