//! Results of handlers: responses with or without header blocks, or messages that they have written themselves.

use crate::{Body, Part};
use deltasoap_core::soap::HeaderBlock;
use deltasoap_core::{Buffer, Message};
use http::StatusCode;

/// A response with header blocks and parts.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// Header blocks, in the order in which they are written.
    pub headers: Vec<HeaderBlock>,
    /// The body's element.
    pub body: T,
    /// Parts that are sent with the message, in their order.
    pub parts: Vec<Part>,
}

impl<T> Answer<T> {
    /// A response without header blocks.
    pub fn new(body: T) -> Self {
        Answer { headers: Vec::new(), body, parts: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with_part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a header block.
    #[must_use]
    pub fn with_header(mut self, block: HeaderBlock) -> Self {
        self.headers.push(block);
        self
    }
}

/// A response of a handler: a message, or an [`Answer`] with header blocks around one.
pub trait IntoAnswer {
    /// The body's element.
    type Body: Message;

    /// The response with its header blocks.
    fn into_answer(self) -> Answer<Self::Body>;
}

impl<T: Message> IntoAnswer for T {
    type Body = T;

    fn into_answer(self) -> Answer<T> {
        Answer::new(self)
    }
}

impl<T: Message> IntoAnswer for Answer<T> {
    type Body = T;

    fn into_answer(self) -> Answer<T> {
        self
    }
}

/// An answer that the handler has written itself: a message of any kind, or none.
///
/// For protocols where the type of the response does not follow from the type of the request, for example where the server sends requests
/// of its own in its responses. See
/// [`Operation::replying`](crate::Operation::replying) and [`ServiceBuilder::empty_post`](crate::ServiceBuilder::empty_post).
#[derive(Debug, Clone)]
pub struct MessageReply {
    pub(crate) status: StatusCode,
    pub(crate) message: Option<Body>,
    /// Counts as a fault in statistics.
    pub(crate) is_fault: bool,
}

impl MessageReply {
    /// A message with status 200. It must be of the request's version of SOAP, which determines the media type.
    pub fn message(message: Buffer) -> Self {
        MessageReply { status: StatusCode::OK, message: Some(message.into()), is_fault: false }
    }

    /// A fault message with status 500 (SOAP 1.1, section 6.2).
    pub fn fault(message: Buffer) -> Self {
        MessageReply { status: StatusCode::INTERNAL_SERVER_ERROR, message: Some(message.into()), is_fault: true }
    }

    /// No message: only a status, such as 204.
    pub fn status(status: StatusCode) -> Self {
        MessageReply { status, message: None, is_fault: !status.is_success() }
    }

    /// Replaces the status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}
