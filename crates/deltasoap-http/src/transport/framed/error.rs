//! Errors of a stream of frames.

use crate::error::BoxError;
use std::fmt;
use std::io;

/// An error of an exchange over [`Frames`](super::Frames).
#[derive(Debug)]
#[non_exhaustive]
pub enum FramesError {
    /// The stream broke.
    Io(io::Error),
    /// The stream ended within an exchange.
    Ended,
    /// The peer uses another protocol.
    Preface,
    /// A frame of this kind is not allowed at this position.
    Frame(u8),
    /// A head is malformed or too long.
    Head,
    /// A body's length differs from the one in its head.
    Length,
    /// The peer aborted its body.
    Aborted,
    /// A body could not be sent because of its own error.
    Body(BoxError),
    /// A request's head took too long.
    Timeout,
}

impl fmt::Display for FramesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FramesError::Io(_) => f.write_str("the stream broke"),
            FramesError::Ended => f.write_str("the stream ended too early"),
            FramesError::Preface => f.write_str("the peer does not send frames"),
            FramesError::Frame(kind) => write!(f, "a frame of kind {:?} is not allowed here", char::from(*kind)),
            FramesError::Head => f.write_str("a head is malformed or too long"),
            FramesError::Length => f.write_str("a body's length differs from the announced one"),
            FramesError::Aborted => f.write_str("the peer aborted its body"),
            FramesError::Body(_) => f.write_str("the body cannot be sent"),
            FramesError::Timeout => f.write_str("a request took too long"),
        }
    }
}

impl std::error::Error for FramesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FramesError::Io(error) => Some(error),
            FramesError::Body(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<io::Error> for FramesError {
    fn from(error: io::Error) -> Self {
        FramesError::Io(error)
    }
}
