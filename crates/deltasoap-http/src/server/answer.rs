//! What handlers give back: responses with or without header blocks.

use crate::Part;
use deltasoap_core::Message;
use deltasoap_core::soap::HeaderBlock;

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

/// What a handler may return as its response: a message, or an [`Answer`] with header blocks around one.
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
