//! How the types of Rust and of XSD take part: built-in simple types, `Option`, `Vec`, `Box`, SOAP arrays.

mod attribute;
mod empty;
pub mod enumeration;
mod occurs;
mod simple;
mod soap_array;
pub mod union;

pub use attribute::AttributeValue;
pub use empty::Empty;
pub use soap_array::SoapArray;
