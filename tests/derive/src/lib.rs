//! The examples in the documentation of the derive macros.

#![forbid(unsafe_code)]

/// Those of `#[derive(Soap)]`.
#[cfg(doctest)]
#[doc = include_str!("../../../crates/deltasoap-derive/docs/soap.md")]
pub struct Soap;
