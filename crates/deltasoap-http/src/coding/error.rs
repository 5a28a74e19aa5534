//! What can be wrong with a coded body.

use crate::BoxError;
use std::fmt;

/// A body whose content coding cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodingError {
    /// The body has another coding than gzip, or more than one, or gzip was not asked for: the header's value.
    Unknown(String),
    /// The body is no gzip stream, or its checksum is of other bytes.
    Corrupt,
    /// The stream ended early.
    Ended,
    /// Bytes stand behind a member of the stream that are no other member.
    Trailing,
    /// The stream is beyond a limit.
    Limit {
        /// The limit's name: `ratio` of [`GzipLimits`](crate::GzipLimits), `members` of a stream, of which next to nothing came out,
        /// `message` of [`Limits`](deltasoap_core::Limits), or
        /// `total` of [`AttachmentLimits`](crate::AttachmentLimits).
        name: &'static str,
        /// Its value.
        limit: u64,
    },
}

impl CodingError {
    /// The error that ended a body, if it is one of these, else the error itself.
    ///
    /// # Errors
    /// When it is another.
    pub(crate) fn of(error: BoxError) -> Result<Self, BoxError> {
        error.downcast::<CodingError>().map(|error| *error)
    }
}

impl fmt::Display for CodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodingError::Unknown(codings) => write!(f, "the content coding {codings:?} is not accepted"),
            CodingError::Corrupt => f.write_str("the gzip stream is corrupt"),
            CodingError::Ended => f.write_str("the gzip stream ended early"),
            CodingError::Trailing => f.write_str("there are bytes after the end of the gzip stream"),
            CodingError::Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
        }
    }
}

impl std::error::Error for CodingError {}
