//! Errors of coded bodies.

use crate::error::BoxError;
use std::fmt;

/// A body whose content coding or transfer coding cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodingError {
    /// The body has an unknown coding, or more than one, or compression was not requested. Has the
    /// header's value.
    Unknown(String),
    /// The body has another transfer coding than `chunked`, or has `chunked` twice. Has the
    /// header's value.
    Transfer(String),
    /// The body is not a stream of its coding, or its checksum does not match.
    Corrupt,
    /// The stream ended early.
    Ended,
    /// A member of the stream, or a frame, is followed by bytes that are not another one.
    Trailing,
    /// Memory for decoding could not be allocated.
    Memory,
    /// The stream exceeds a limit.
    Limit {
        /// The limit's name: `ratio` of [`GzipLimits`](crate::GzipLimits), `members` of a stream
        /// that produce almost no output, `window` of a stream in zstd in bytes, `message` of
        /// [`Limits`](deltasoap_core::Limits), or `total` of
        /// [`AttachmentLimits`](crate::AttachmentLimits).
        name: &'static str,
        /// The value of the limit.
        limit: u64,
    },
}

impl CodingError {
    /// Returns the error that ended a body, if it is of this type.
    ///
    /// # Errors
    /// Returns the error itself, if it is of another type.
    pub(crate) fn downcast(error: BoxError) -> Result<Self, BoxError> {
        error.downcast::<CodingError>().map(|error| *error)
    }
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodingError::Unknown(codings) => write!(f, "the content coding {codings:?} is not accepted"),
            CodingError::Transfer(codings) => write!(f, "the transfer coding {codings:?} is not accepted"),
            CodingError::Corrupt => f.write_str("the compressed stream is corrupt"),
            CodingError::Ended => f.write_str("the compressed stream ended early"),
            CodingError::Trailing => f.write_str("there are bytes after the end of the compressed stream"),
            CodingError::Memory => f.write_str("not enough memory to decode the compressed stream"),
            CodingError::Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
        }
    }
}

impl std::error::Error for CodingError {}
