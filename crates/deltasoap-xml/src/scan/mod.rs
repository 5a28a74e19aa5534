//! Byte kernels: search and comparison at memory speed. The only place where `unsafe` may live.
//!
//! Single-byte and few-byte searches are the `memchr` crate's; here is what it does not have.

mod mismatch;
mod tag;
pub mod text;
mod white;

pub use mismatch::first_mismatch;
pub use tag::TagScan;
pub use white::skip_white;
