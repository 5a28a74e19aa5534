//! Content codings: bodies that are compressed on their way (RFC 9110, 8.4).
//!
//! There is one, gzip (RFC 1952). Bodies are coded piece by piece, while they come or go: nothing is collected, and what a piece
//! becomes is bounded whatever the piece says. [`Inflated`] reads; what writes is a form of [`Body`](crate::Body).

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
pub(crate) use negotiate::{Coding, accepts_gzip};
pub use options::{Compression, GzipLimits};
