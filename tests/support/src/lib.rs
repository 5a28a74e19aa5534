//! What the tests of several packages share: random numbers, encodings, files of the repository,
//! servers that answer as they are told, and our own servers as processes.
//!
//! It knows nothing of deltasoap, except its message streams. Code panics where a test would fail.

#![forbid(unsafe_code)]

mod answering;
mod chance;
mod encodings;
mod entropy;
pub mod files;
mod serving;

pub use answering::{Answering, read_request};
pub use chance::Chance;
pub use encodings::{latin_1, utf16};
pub use entropy::Entropy;
pub use serving::Serving;
