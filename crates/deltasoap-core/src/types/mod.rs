//! Types of Rust and XSD as content: built-in simple types, `Option`, `Vec`, `Box`, SOAP arrays,
//! tracked values.

mod any_simple;
mod attribute;
pub(crate) mod binary;
mod builtins;
pub mod derived;
mod empty;
pub mod enumeration;
mod multi_array;
mod nillable;
pub(crate) mod occurs;
mod packed;
mod qname;
#[cfg(feature = "serde")]
mod serde;
mod shared;
mod simple;
mod soap_array;
mod tracked;
pub mod union;

pub use any_simple::AnySimple;
pub use attribute::AttributeValue;
pub use binary::{Binary, PartUri};
pub use builtins::{NonCanonical, Simple};
pub use empty::Empty;
pub use multi_array::MultiArray;
pub use nillable::Nillable;
pub use packed::Packed;
#[cfg(any(feature = "values", feature = "serde"))]
pub(crate) use qname::is_name;
#[cfg(feature = "serde")]
pub(crate) use serde::attributes;
#[cfg(feature = "serde")]
pub use serde::{present, present_number};
pub use shared::{Held, Shared};
pub use soap_array::SoapArray;
pub use tracked::{Span, Tracked, TrackedArray, TrackedVec};
