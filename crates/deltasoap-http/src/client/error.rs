//! Errors of calls.

use super::redirects::RedirectError;
use crate::BoxError;
use crate::{AttachmentError, CharsetError, CodingError, Invalid};
use deltasoap_core::Error;
use deltasoap_core::soap::Fault;
use http::StatusCode;
use http::header::InvalidHeaderValue;
use std::fmt;

/// The reason why a call returned no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The request could not be sent, or the answer did not arrive.
    Http(BoxError),
    /// The answer is not a SOAP message, or has an error status and is malformed.
    Status(StatusError),
    /// The answer is a fault.
    Fault(Box<Fault>),
    /// The answer is malformed, or is not the expected message.
    Decode(Error),
    /// The answer has a header block that must be understood, but neither the client nor the call
    /// [understands](crate::CallOptions::understands).
    NotUnderstood(Error),
    /// The answer is not in the encoding that its media type names.
    Charset(CharsetError),
    /// The client's [inspector](crate::ClientBuilder::inspect) refused the answer, or an
    /// [interceptor](crate::ClientBuilder::intercept) the request or the response.
    Refused(BoxError),
    /// The answer violates its schema, and the client
    /// [refuses](crate::ClientBuilder::validate) such answers.
    InvalidResponse(Invalid),
    /// The request violates its schema; it was not sent. See
    /// [`ClientBuilder::validate_sent`](crate::ClientBuilder::validate_sent).
    InvalidRequest(Invalid),
    /// The content coding of the answer, or its transfer coding, cannot be decoded.
    Coding(CodingError),
    /// The parts that came with the answer are malformed.
    Attachment(AttachmentError),
    /// The request contains text that XML cannot carry.
    Encode(Error),
    /// The action contains characters that an HTTP header cannot carry.
    Action(InvalidHeaderValue),
    /// The call took too long.
    Timeout,
    /// The answer is a redirect that the client does not follow, although it follows
    /// [others](crate::ClientBuilder::redirects).
    Redirect(RedirectError),
}

impl CallError {
    /// Creates the error of an answer with a status and a malformed message.
    pub fn malformed(status: StatusCode, error: Error) -> Self {
        if status.is_success() {
            return CallError::Decode(error);
        }
        let cause = Some(MessageError::Decode(error));
        CallError::Status(StatusError { status, media_type: None, excerpt: String::new(), schemes: Vec::new(), cause })
    }
}

/// An HTTP answer that is not a readable SOAP message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatusError {
    /// The status.
    pub status: StatusCode,
    /// The declared media type of the body, as received.
    pub media_type: Option<String>,
    /// The first bytes of the body, for people; at most 512 of them.
    pub excerpt: String,
    /// The authentication schemes that the server offers, or a proxy with status 407.
    pub schemes: Vec<String>,
    /// The error in the message, if there is a message.
    pub cause: Option<MessageError>,
}

/// The error in a message that came with an error status.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MessageError {
    /// The message is malformed.
    Decode(Error),
    /// The message is not in the encoding that its media type names, or in an unsupported one.
    Charset(CharsetError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Http(error) => write!(f, "the HTTP exchange failed: {error}"),
            CallError::Status(error) => error.fmt(f),
            CallError::Fault(fault) => fault.fmt(f),
            CallError::Decode(error) => write!(f, "the answer is malformed: {error}"),
            CallError::NotUnderstood(error) => write!(f, "the answer is refused: {error}"),
            CallError::Charset(error) => write!(f, "the answer cannot be read: {error}"),
            CallError::Refused(error) => write!(f, "the answer is refused: {error}"),
            CallError::InvalidResponse(error) => write!(f, "the answer is refused: {error}"),
            CallError::InvalidRequest(error) => write!(f, "the request was not sent: {error}"),
            CallError::Coding(error) => write!(f, "the answer cannot be read: {error}"),
            CallError::Attachment(error) => write!(f, "the answer's package is malformed: {error}"),
            CallError::Encode(error) => write!(f, "the request cannot be written: {error}"),
            CallError::Action(_) => f.write_str("the action has a character that an HTTP header cannot carry"),
            CallError::Timeout => f.write_str("the call took too long"),
            CallError::Redirect(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Http(error) | CallError::Refused(error) => Some(&**error),
            CallError::Status(error) => Some(error),
            CallError::Fault(fault) => Some(fault),
            CallError::Decode(error) | CallError::NotUnderstood(error) | CallError::Encode(error) => Some(error),
            CallError::Charset(error) => Some(error),
            CallError::Coding(error) => Some(error),
            CallError::Attachment(error) => Some(error),
            CallError::Action(error) => Some(error),
            CallError::InvalidResponse(_) | CallError::InvalidRequest(_) | CallError::Timeout => None,
            CallError::Redirect(error) => Some(error),
        }
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cause) = &self.cause {
            return write!(f, "HTTP status {} and {cause}", self.status);
        }
        write!(f, "HTTP status {} and no SOAP message", self.status)?;
        if let Some(media_type) = self.media_type.as_ref().filter(|_| !self.excerpt.is_empty()) {
            write!(f, ", but {media_type}")?;
        }
        if !self.schemes.is_empty() {
            write!(f, " (authentication is offered by {})", self.schemes.join(", "))?;
        }
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, ": {}", self.excerpt) }
    }
}

impl std::error::Error for StatusError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageError::Decode(error) => write!(f, "a malformed SOAP message: {error}"),
            MessageError::Charset(error) => write!(f, "a message that cannot be read: {error}"),
        }
    }
}

impl std::error::Error for MessageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MessageError::Decode(error) => Some(error),
            MessageError::Charset(error) => Some(error),
        }
    }
}
