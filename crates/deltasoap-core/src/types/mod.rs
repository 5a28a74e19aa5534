//! How the types of Rust and of XSD take part: built-in simple types, `Option`, `Vec`, `Box`, SOAP arrays.

mod occurs;
mod simple;
mod soap_array;

pub use soap_array::SoapArray;
