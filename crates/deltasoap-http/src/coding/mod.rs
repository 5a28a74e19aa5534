//! Content codings: bodies that are compressed for transmission (RFC 9110, 8.4).
//!
//! They are gzip (RFC 1952) and, with a feature of its own, zstd (RFC 8878). Bodies are coded piece
//! by piece, while they arrive or are sent: nothing is collected, and the output of a piece is
//! bounded, whatever its content. [`Inflated`] reads; the writer is a form of
//! [`Body`](crate::Body). The decision to compress a message may depend on the connection's
//! [`throughput`]: [`adaptive`] compares.

mod adaptive;
mod bound;
#[cfg(feature = "gzip")]
mod coder;
mod error;
#[cfg(feature = "gzip")]
mod inflated;
mod negotiate;
mod options;
mod throughput;

pub(crate) use adaptive::{AdaptiveState, Codec, LearnedEffects, MIN_COMPRESSED_LENGTH};
pub(crate) use bound::Bound;
#[cfg(feature = "gzip")]
pub(crate) use coder::{Encoder, Next};
pub use error::CodingError;
#[cfg(feature = "gzip")]
pub(crate) use inflated::Inflated;
pub(crate) use negotiate::{READ, check_transfer};
pub(crate) use options::Codings;
pub use options::{Compression, ContentCoding, GzipLimits};
#[cfg(feature = "gzip")]
pub(crate) use options::{FREE, RATIO};
pub(crate) use throughput::{Link, Throughput};
