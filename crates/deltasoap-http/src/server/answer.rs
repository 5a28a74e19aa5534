//! What handlers give back: responses with or without header blocks, and faults with typed details.

use crate::Part;
use deltasoap_core::soap::{Fault, FaultCode, HeaderBlock};
use deltasoap_core::{Error, Message};

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

/// A fault with one typed detail entry: what WSDL declares as an operation's fault.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedFault<D> {
    /// Who or what is at fault.
    pub code: FaultCode,
    /// What happened, for people.
    pub reason: String,
    /// The detail entry.
    pub detail: D,
}

impl<D: Message> TypedFault<D> {
    /// The sender is at fault.
    pub fn sender(reason: impl Into<String>, detail: D) -> Self {
        TypedFault { code: FaultCode::Sender, reason: reason.into(), detail }
    }

    /// The receiver is at fault.
    pub fn receiver(reason: impl Into<String>, detail: D) -> Self {
        TypedFault { code: FaultCode::Receiver, reason: reason.into(), detail }
    }

    /// The typed form of a fault that was received; `None` if it has no detail entry of this type.
    pub fn from_fault(fault: &Fault) -> Option<Result<Self, Error>> {
        let (code, reason) = (fault.code.clone(), fault.reason.clone());
        Some(fault.detail::<D>()?.map(|detail| TypedFault { code, reason, detail }))
    }
}

/// The fault; if the detail holds text that XML cannot carry, then without it.
impl<D: Message> From<TypedFault<D>> for Fault {
    fn from(typed: TypedFault<D>) -> Self {
        let fault = Fault::new(typed.code, typed.reason);
        match fault.clone().with_detail(&typed.detail) {
            Ok(detailed) => detailed,
            Err(error) => {
                tracing::error!(%error, "a fault's detail could not be written");
                fault
            }
        }
    }
}
