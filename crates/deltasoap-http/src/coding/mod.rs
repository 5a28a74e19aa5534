//! Content codings: bodies that are compressed for transmission (RFC 9110, 8.4).
//!
//! The only one is gzip (RFC 1952). Bodies are coded piece by piece, while they arrive or are sent: nothing is collected, and the output of
//! a piece is bounded, whatever its content. [`Inflated`] reads; the writer is a form of [`Body`](crate::Body).

mod bound;
mod error;
#[cfg(feature = "gzip")]
mod inflated;
mod negotiate;
mod options;

pub(crate) use bound::Bound;
pub use error::CodingError;
#[cfg(feature = "gzip")]
pub(crate) use inflated::Inflated;
pub(crate) use negotiate::{Coding, accepts_gzip, check_transfer};
pub use options::{Compression, GzipLimits};
