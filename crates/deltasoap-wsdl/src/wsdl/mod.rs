//! WSDL 1.1 as a model: services, their ports, SOAP bindings, port types and messages, with every
//! reference resolved.

mod actions;
mod bindings;
mod names;
mod policies;
mod read;

pub(crate) use read::read;

pub use actions::Actions;
pub use names::name_matches;

use crate::Place;
use crate::xsd::{ElementId, TypeId};
use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::soap::{PolicyDocuments, Version};

/// The definitions in the WSDLs of an import. Components refer to each other by index.
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
    /// Its position.
    pub place: Place,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its name.
    pub name: Box<str>,
    /// Its content.
    pub content: PartContent,
    /// Its position.
    pub place: Place,
}

/// Content of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartContent {
    /// A global element; `None` if no schema declares it, so that it can contain anything.
    Element(QName, Option<ElementId>),
    /// Content of a type, in an element named by the binding.
    Type(TypeId),
}

/// A port type (WSDL 1.1, 2.4).
#[derive(Debug, Clone)]
pub struct PortType {
    /// Its name.
    pub name: QName,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
    /// Its position.
    pub place: Place,
}

/// An operation of a port type: see [`OperationKind`].
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its name, which may not be unique.
    pub name: Box<str>,
    /// The first message: its `input`, or its `output` if the service starts.
    pub request: Option<Parameter>,
    /// The response message.
    pub response: Option<Parameter>,
    /// True if the service starts: an `output` comes first.
    pub is_solicited: bool,
    /// Faults.
    pub faults: Vec<Parameter>,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
    /// Its position.
    pub place: Place,
}

/// The message exchange of an operation (WSDL 1.1, 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// The client sends, the service responds.
    RequestResponse,
    /// The client sends.
    OneWay,
    /// The service sends, the client responds.
    SolicitResponse,
    /// The service sends.
    Notification,
    /// Neither sends.
    Empty,
}

impl Operation {
    /// Returns the kind of message exchange.
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
    /// Its name; the default is derived from the operation's name (WSDL 1.1, 2.4.5).
    pub name: Box<str>,
    /// Index of its message.
    pub message: usize,
    /// Its action in WS-Addressing, if the WSDL has one; see
    /// [`Definitions::actions`].
    pub action: Option<Box<str>>,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
}

/// A SOAP binding (WSDL 1.1, section 3).
#[derive(Debug, Clone)]
pub struct Binding {
    /// Its name.
    pub name: QName,
    /// Index of the port type.
    pub port_type: usize,
    /// The SOAP version.
    pub version: Version,
    /// URI of the transport.
    pub transport: Box<str>,
    /// Operations.
    pub operations: Vec<BoundOperation>,
    /// Requirements of its policies.
    pub policy: Policy,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
    /// Its position.
    pub place: Place,
}

/// Requirements of policies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Attachments by MTOM (`OptimizedMimeSerialization`).
    pub mtom: bool,
    /// WS-Addressing; `None` if no policy mentions it.
    pub addressing: Option<AddressingPolicy>,
    /// Local names of other assertions.
    pub others: Vec<Box<str>>,
    /// The requirements that this library does not meet by itself: the local names of assertions
    /// that are not optional, from the alternative that requires the least, and, as `extension
    /// {namespace}name`, unknown WSDL extension elements with `wsdl:required="true"`.
    pub required: Vec<Box<str>>,
    /// The assertions of WS-SecurityPolicy.
    pub security: SecurityAssertions,
}

/// The assertions of WS-SecurityPolicy in policies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecurityAssertions {
    /// Local names of those that are not optional, from the alternative that requires the least.
    /// [`TRANSPORT`](Policy::TRANSPORT) is met by `https`.
    pub required: Vec<Box<str>>,
    /// The policies with such assertions, as `wsp:Policy` elements one after the other, references
    /// replaced by what they refer to. These apply to requests and responses.
    pub exchange: Box<str>,
    /// Like `exchange`, for requests alone.
    pub request: Box<str>,
    /// Like `exchange`, for responses alone.
    pub response: Box<str>,
}

impl SecurityAssertions {
    /// Returns the policies of an operation, given those of its binding.
    pub fn documents(&self, binding: &SecurityAssertions) -> PolicyDocuments {
        // Of a policy that cannot be read, or is too long, nothing is known but that there is one.
        let is_unknown = |name: &str| name.starts_with("policy ") || name.starts_with("policies ");
        let is_incomplete = binding.required.iter().chain(&self.required).any(|name| is_unknown(name));
        let document = |own: &str, of_binding: &str| {
            let all = [&*binding.exchange, of_binding, &*self.exchange, own].concat();
            match all.is_empty() || is_incomplete {
                true => String::new(),
                false => format!("<Policy xmlns=\"{POLICY}\">{all}</Policy>"),
            }
        };
        let mut required: Vec<&str> = Vec::new();
        for name in binding.required.iter().chain(&self.required) {
            if !required.contains(&&**name) {
                required.push(name);
            }
        }
        PolicyDocuments {
            required: required.join(", ").into(),
            request: document(&self.request, &binding.request).into(),
            response: document(&self.response, &binding.response).into(),
        }
    }
}

/// The namespace of WS-Policy 1.5.
const POLICY: &str = "http://www.w3.org/ns/ws-policy";

impl Policy {
    /// The assertion that requires TLS and nothing in messages.
    pub const TRANSPORT: &str = "TransportBinding";
}

/// The use of WS-Addressing, by its policy assertions `Addressing` and `UsingAddressing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressingPolicy {
    /// The version.
    pub version: Addressing,
    /// True if messages without its header blocks are refused.
    pub is_required: bool,
}

/// An operation of a binding.
#[derive(Debug, Clone)]
pub struct BoundOperation {
    /// Index among the port type's operations.
    pub operation: usize,
    /// `SOAPAction`.
    pub action: Box<str>,
    /// Document or RPC.
    pub style: Style,
    /// Binding of the first message.
    pub request: Option<BoundMessage>,
    /// Binding of the response message.
    pub response: Option<BoundMessage>,
    /// Names of the faults, and whether they are literal or encoded.
    pub faults: Vec<(Box<str>, Use)>,
    /// Requirements of the policies of the operation and its messages, in addition to those of the
    /// binding.
    pub policy: Policy,
    /// Its position.
    pub place: Place,
}

/// How a message is placed in an envelope (WSDL 1.1, 3.5 to 3.8).
#[derive(Debug, Clone)]
pub struct BoundMessage {
    /// Literal or encoded.
    pub encoding: Use,
    /// Namespace of the wrapper element, for RPC.
    pub namespace: Box<str>,
    /// The parts in the body; `None` for all parts that are not headers.
    pub parts: Option<Vec<Box<str>>>,
    /// Header blocks.
    pub headers: Vec<BoundHeader>,
    /// True if other parts are sent next to the envelope, as MIME parts.
    pub has_attachments: bool,
}

impl BoundMessage {
    /// Returns true if a part of the message with this index is in the body: if `parts` names it
    /// or, if `parts` is absent, if it is not a header block.
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
    /// The part in the block.
    pub part: Box<str>,
    /// Literal or encoded.
    pub encoding: Use,
    /// The namespace of a header block whose part has a type (WSDL 1.1, 3.7); the message's
    /// namespace if the binding names none.
    pub namespace: Box<str>,
    /// Header blocks of faults about this one: message and part.
    pub faults: Vec<(usize, Box<str>)>,
}

/// A service (WSDL 1.1, 2.7).
#[derive(Debug, Clone)]
pub struct Service {
    /// Its name.
    pub name: QName,
    /// Its ports.
    pub ports: Vec<Port>,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
}

/// A port: a binding at an address.
#[derive(Debug, Clone)]
pub struct Port {
    /// Its name.
    pub name: Box<str>,
    /// Index of the binding.
    pub binding: usize,
    /// Its URL; empty if the WSDL has none.
    pub address: Box<str>,
    /// Its documentation in the WSDL.
    pub documentation: Option<Box<str>>,
}
