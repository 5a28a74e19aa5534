//! WSDL 1.1 as a model: services, their ports, SOAP bindings, port types and messages, every
//! reference resolved.

mod bindings;
mod names;
mod policies;
mod read;

pub(crate) use read::read;

pub use names::is_meant;

use crate::Place;
use crate::xsd::{ElementId, TypeId};
use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::Version;

/// What the descriptions of an import define. Components refer to each other by index.
#[derive(Debug, Default)]
pub struct Definitions {
    /// Messages.
    pub messages: Vec<Message>,
    /// Port types.
    pub port_types: Vec<PortType>,
    /// SOAP bindings; others are left out.
    pub bindings: Vec<Binding>,
    /// Services, with the ports that have a SOAP binding.
    pub services: Vec<Service>,
}

/// A message (WSDL 1.1, 2.3).
#[derive(Debug, Clone)]
pub struct Message {
    /// Its name.
    pub name: QName,
    /// Its parts in order.
    pub parts: Vec<Part>,
    /// True if no document defines it.
    pub is_missing: bool,
    /// Where it is.
    pub place: Place,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its name.
    pub name: Box<str>,
    /// What it holds.
    pub content: PartContent,
    /// Where it is.
    pub place: Place,
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartContent {
    /// A global element; `None` if no schema declares it, so that it can hold anything.
    Element(QName, Option<ElementId>),
    /// Content of a type, in an element that the binding names.
    Type(TypeId),
}

/// A port type (WSDL 1.1, 2.4).
#[derive(Debug, Clone)]
pub struct PortType {
    /// Its name.
    pub name: QName,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
    /// Where it is.
    pub place: Place,
}

/// An operation of a port type: see [`OperationKind`].
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its name; not always the only one of this name.
    pub name: Box<str>,
    /// The message that begins it: its `input`, or its `output` if the service begins.
    pub request: Option<Parameter>,
    /// The message that answers.
    pub response: Option<Parameter>,
    /// True if the service begins: an `output` comes first.
    pub is_solicited: bool,
    /// Faults.
    pub faults: Vec<Parameter>,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
    /// Where it is.
    pub place: Place,
}

/// Who sends what in an operation (WSDL 1.1, 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// The client sends, the service answers.
    RequestResponse,
    /// The client sends.
    OneWay,
    /// The service sends, the client answers.
    SolicitResponse,
    /// The service sends.
    Notification,
    /// Nobody sends anything.
    Empty,
}

impl Operation {
    /// Who sends what.
    pub fn kind(&self) -> OperationKind {
        match (&self.request, &self.response, self.is_solicited) {
            (None, ..) => OperationKind::Empty,
            (_, Some(_), true) => OperationKind::SolicitResponse,
            (_, Some(_), false) => OperationKind::RequestResponse,
            (_, None, true) => OperationKind::Notification,
            (_, None, false) => OperationKind::OneWay,
        }
    }
}

/// An input, an output or a fault of an operation.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name; by default made from the operation's (WSDL 1.1, 2.4.5).
    pub name: Box<str>,
    /// Index of its message.
    pub message: usize,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
}

/// A SOAP binding (WSDL 1.1, section 3).
#[derive(Debug, Clone)]
pub struct Binding {
    /// Its name.
    pub name: QName,
    /// Index of the port type.
    pub port_type: usize,
    /// The version of SOAP.
    pub version: Version,
    /// URI of the transport.
    pub transport: Box<str>,
    /// Operations.
    pub operations: Vec<BoundOperation>,
    /// What its policies ask for.
    pub policy: Policy,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
    /// Where it is.
    pub place: Place,
}

/// What policies ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Attachments by MTOM (`OptimizedMimeSerialization`).
    pub mtom: bool,
    /// WS-Addressing headers.
    pub addressing: bool,
    /// Local names of other assertions.
    pub others: Vec<Box<str>>,
    /// What a partner must do and this library does not do by itself: local names of assertions
    /// that are not optional, of the alternative that asks for the least, and as `extension
    /// {namespace}name` the extension elements of WSDL with `wsdl:required="true"` that are not
    /// known. [`TRANSPORT`](Self::TRANSPORT) is met by `https`.
    pub required: Vec<Box<str>>,
}

impl Policy {
    /// The assertion that asks for TLS and for nothing in messages.
    pub const TRANSPORT: &str = "TransportBinding";
}

/// An operation of a binding.
#[derive(Debug, Clone)]
pub struct BoundOperation {
    /// Index among the port type's operations.
    pub operation: usize,
    /// `SOAPAction`.
    pub action: Box<str>,
    /// Document or rpc.
    pub style: Style,
    /// How the message that begins the operation is written.
    pub request: Option<BoundMessage>,
    /// How the message that answers is written.
    pub response: Option<BoundMessage>,
    /// Names of the faults and how they are written.
    pub faults: Vec<(Box<str>, Use)>,
    /// What the policies of the operation and of its messages ask for, beside those of the binding.
    pub policy: Policy,
    /// Where it is.
    pub place: Place,
}

/// How a message stands in an envelope (WSDL 1.1, 3.5 to 3.8).
#[derive(Debug, Clone)]
pub struct BoundMessage {
    /// Literal or encoded.
    pub encoding: Use,
    /// Namespace of the element around the parts, for rpc.
    pub namespace: Box<str>,
    /// The parts in the body; `None` for all that are not headers.
    pub parts: Option<Vec<Box<str>>>,
    /// Header blocks.
    pub headers: Vec<BoundHeader>,
    /// True if other parts are sent beside the envelope, as MIME parts.
    pub has_attachments: bool,
}

impl BoundMessage {
    /// True if a part of the message with this index stands in the body: if it is named, or, where
    /// no parts are, no header block.
    pub fn is_in_body(&self, message: usize, part: &str) -> bool {
        match &self.parts {
            Some(named) => named.iter().any(|it| **it == *part),
            None => !self.headers.iter().any(|header| header.message == message && *header.part == *part),
        }
    }
}

/// A header block.
#[derive(Debug, Clone)]
pub struct BoundHeader {
    /// Index of the message.
    pub message: usize,
    /// The part that the block holds.
    pub part: Box<str>,
    /// Literal or encoded.
    pub encoding: Use,
    /// The namespace of a block that a type describes (WSDL 1.1, 3.7): that of the message, where
    /// the binding names none.
    pub namespace: Box<str>,
    /// Header blocks that come with faults about this one: message and part.
    pub faults: Vec<(usize, Box<str>)>,
}

/// A service (WSDL 1.1, 2.7).
#[derive(Debug, Clone)]
pub struct Service {
    /// Its name.
    pub name: QName,
    /// Its ports.
    pub ports: Vec<Port>,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
}

/// A port: a binding at an address.
#[derive(Debug, Clone)]
pub struct Port {
    /// Its name.
    pub name: Box<str>,
    /// Index of the binding.
    pub binding: usize,
    /// Its URL; empty if the description gives none.
    pub address: Box<str>,
    /// What the description says about it, for people.
    pub documentation: Option<Box<str>>,
}
