//! A SOAP toolkit that does the work of a message only where it differs from the one before it.

#![forbid(unsafe_code)]

pub use deltasoap_core::*;
pub use deltasoap_derive::Soap;
#[cfg(feature = "http")]
pub use deltasoap_http as http;
