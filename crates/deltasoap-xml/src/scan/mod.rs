//! Byte kernels: search and comparison at memory speed. The only place where `unsafe` may live.
//!
//! The `memchr` crate does single-byte and few-byte searches; these are the searches that it lacks.

mod mismatch;
mod tag;
pub mod text;
mod white;

pub use mismatch::first_mismatch;
pub use tag::TagScan;
pub use white::skip_white;
