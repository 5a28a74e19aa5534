//! Errors in a package, with their positions.

use crate::coding::CodingError;
use crate::error::BoxError;
use crate::slow::TooSlow;
use deltasoap_core::lexical::LexicalError;
use deltasoap_core::soap::Fault;
use std::{fmt, io};

/// A package, or a part of it, that cannot be read.
#[derive(Debug)]
pub struct AttachmentError {
    kind: AttachmentErrorKind,
    part: usize,
    offset: u64,
}

/// The kind of an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachmentErrorKind {
    /// The package does not follow its format.
    Malformed(&'static str),
    /// The package ended early; names the missing part.
    Ended(&'static str),
    /// The package exceeds a limit.
    Limit {
        /// The limit's name in [`AttachmentLimits`](crate::AttachmentLimits).
        name: &'static str,
        /// The value of the limit.
        limit: u64,
    },
    /// Two parts have this content ID, or this location and no content ID.
    Duplicate(String),
    /// There is no such part, or it was already taken.
    Missing(String),
    /// The bytes of a part are not a value of the type that refers to it.
    Value {
        /// The reference to the part, as in the message.
        uri: String,
        /// The error in the bytes.
        error: LexicalError,
    },
    /// An unknown `Content-Transfer-Encoding`.
    UnknownEncoding(String),
    /// A part is not what was signed, or not signed at all.
    Insecure(BoxError),
    /// The content coding of the body cannot be decoded.
    Coding(CodingError),
    /// The body did not arrive in full.
    Transport(BoxError),
    /// The body stopped arriving.
    Timeout,
    /// The package was found invalid before, for this reason.
    Refused(String),
    /// A temporary file could not be written or read.
    Io(io::Error),
}

impl AttachmentError {
    /// Creates an error in a part, counted from 1, or before all parts (0), at a byte offset of the
    /// package.
    #[cold]
    pub(super) fn new(kind: AttachmentErrorKind, part: usize, offset: u64) -> Self {
        AttachmentError { kind, part, offset }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &AttachmentErrorKind {
        &self.kind
    }

    /// Returns the part with the error, counted from 1; 0 before the first.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Returns the byte offset in the package as received. For data that arrives in pieces, it can
    /// be one piece later.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// The error that ended a body.
impl From<BoxError> for AttachmentErrorKind {
    fn from(error: BoxError) -> Self {
        if error.is::<TooSlow>() {
            return AttachmentErrorKind::Timeout;
        }
        CodingError::downcast(error).map_or_else(AttachmentErrorKind::Transport, AttachmentErrorKind::Coding)
    }
}

impl fmt::Display for AttachmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (part {}, byte {} of the package)", self.kind, self.part, self.offset)
    }
}

impl fmt::Display for AttachmentErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachmentErrorKind::Malformed(what) => f.write_str(what),
            AttachmentErrorKind::Ended(what) => write!(f, "the package ended before {what}"),
            AttachmentErrorKind::Limit { name, limit } => write!(f, "the limit `{name}` of {limit} is exceeded"),
            AttachmentErrorKind::Duplicate(id) => write!(f, "two parts have the content ID {id:?}"),
            AttachmentErrorKind::Missing(uri) => write!(f, "there is no part {uri:?}, or it was taken already"),
            AttachmentErrorKind::Value { uri, error } => write!(f, "the part {uri:?} is {error}"),
            AttachmentErrorKind::UnknownEncoding(name) => write!(f, "an unknown Content-Transfer-Encoding: {name:?}"),
            AttachmentErrorKind::Insecure(error) => error.fmt(f),
            AttachmentErrorKind::Coding(error) => error.fmt(f),
            AttachmentErrorKind::Transport(_) => f.write_str("the package did not arrive whole"),
            AttachmentErrorKind::Timeout => f.write_str("the package did not arrive in time"),
            AttachmentErrorKind::Refused(why) => write!(f, "the package is invalid: {why}"),
            AttachmentErrorKind::Io(_) => f.write_str("a part could not be stored"),
        }
    }
}

impl std::error::Error for AttachmentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            AttachmentErrorKind::Transport(error) => Some(&**error),
            AttachmentErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// For handlers: blames the sender, except for errors on this side.
impl From<AttachmentError> for Fault {
    fn from(error: AttachmentError) -> Self {
        match &error.kind {
            AttachmentErrorKind::Io(cause) => {
                tracing::error!(%cause, "a part could not be stored");
                Fault::receiver("a part could not be stored")
            }
            _ => Fault::sender(error.to_string()),
        }
    }
}
