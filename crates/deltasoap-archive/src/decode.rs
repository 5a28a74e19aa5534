//! Decodes captures by their contract.
//!
//! The messages of one sender and operation are compared with each other, as a server does for a
//! connection. The number of senders whose last messages are kept is bounded, and so is the memory
//! that they take; a sender who was forgotten starts again.

use crate::direction::Direction;
use crate::message::Message;
use bytes::Bytes;
use deltasoap_arrow::Parts;
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::{EnvelopeReader, Fault, Head, Receiver};
use deltasoap_core::{
    Content as _, DecodeOptions, Error, ErrorKind, Memory, Node, PartUri, QName, Tolerance, Typed as _, Value,
};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::xsd::{self, ElementId};
use std::collections::HashMap;

/// What is kept of senders, to compare their next messages with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptSenders {
    /// Maximum number of senders.
    pub senders: usize,
    /// Maximum number of bytes of their last messages.
    pub bytes: usize,
}

impl Default for KeptSenders {
    /// 256 senders, 64 MiB.
    fn default() -> Self {
        KeptSenders { senders: 256, bytes: 64 << 20 }
    }
}

/// A message of an operation.
#[derive(Debug)]
pub struct MessageType {
    /// The operation's name, with the port if several operations have it.
    pub operation: String,
    /// The operation's own name.
    short: String,
    /// Whether it is the request or the response.
    pub direction: Direction,
    /// The name of the body's element.
    pub name: QName,
    /// The content of that element.
    pub content: ElementRef,
}

impl MessageType {
    /// Returns true for a name of its operation.
    pub fn is_of(&self, operation: &str) -> bool {
        operation == self.operation || operation == self.short
    }
}

/// What a source knows of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hint<'h> {
    /// A name of its operation.
    pub operation: Option<&'h str>,
    /// Its direction.
    pub direction: Option<Direction>,
}

/// A decoded message.
#[derive(Debug)]
pub enum Decoded<'d> {
    /// The number of a message's type, and its value.
    Message(usize, &'d Value),
    /// A fault.
    Fault(Box<Fault>),
}

/// A message that was not decoded.
#[derive(Debug)]
pub struct Undecoded {
    /// The number of its type, if the body's element shows it.
    pub kind: Option<usize>,
    /// Why.
    pub error: Error,
}

/// Decodes messages of all senders.
pub struct Decoding {
    contract: Contract,
    tolerance: Tolerance,
    limits: KeptSenders,
    types: Vec<MessageType>,
    by_local: HashMap<String, Vec<usize>>,
    senders: HashMap<String, Sender>,
    /// Counts messages, to find the sender who was silent the longest.
    clock: u64,
    kept: usize,
}

/// What is kept of a sender.
struct Sender {
    decoder: Decoder,
    memories: HashMap<usize, Memory<Value>>,
    last: u64,
    kept: usize,
}

impl std::fmt::Debug for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoding").field("types", &self.types).field("kept", &self.kept).finish_non_exhaustive()
    }
}

impl Decoding {
    /// Prepares for the messages of a contract.
    pub fn new(contract: &Contract, tolerance: Tolerance, limits: KeptSenders) -> Self {
        let types = types_of(contract);
        let mut by_local = HashMap::<String, Vec<usize>>::new();
        for (index, each) in types.iter().enumerate() {
            by_local.entry(each.name.local.to_string()).or_default().push(index);
        }
        let contract = contract.clone();
        Decoding { contract, tolerance, limits, types, by_local, senders: HashMap::new(), clock: 0, kept: 0 }
    }

    /// Returns the types of messages whose bodies are one element.
    pub fn types(&self) -> &[MessageType] {
        &self.types
    }

    /// Decodes the next message of a sender. Returns also the types, to which the result refers.
    pub fn decode(
        &mut self,
        sender: &str,
        message: Bytes,
        hint: Hint<'_>,
    ) -> (&[MessageType], Result<Decoded<'_>, Undecoded>) {
        self.make_room(sender);
        self.clock += 1;
        if !self.senders.contains_key(sender) {
            let options = DecodeOptions { tolerance: self.tolerance, ..DecodeOptions::default() };
            let new = Sender { decoder: Decoder::new(options), memories: HashMap::new(), last: 0, kept: 0 };
            self.senders.insert(sender.to_owned(), new);
        }
        let Some(of_sender) = self.senders.get_mut(sender) else { unreachable!("a sender who was just added") };
        of_sender.last = self.clock;
        let Sender { decoder, memories, kept, .. } = of_sender;
        let types = &self.types;
        let lookup = Lookup { types, by_local: &self.by_local, hint };
        let dispatch = Dispatch { contract: &self.contract, lookup, memories, chosen: None, fault: None };
        let mut reader = EnvelopeReader::new(dispatch);
        let result = decoder.decode_bytes(&mut reader, message);
        let Dispatch { chosen, fault, memories, .. } = reader.receiver;
        let now = memories.values().map(Memory::bytes).sum::<usize>();
        self.kept = self.kept - *kept + now;
        *kept = now;
        let memory = chosen.and_then(|kind| Some((kind, memories.get(&kind)?)));
        let decoded = match (result, fault, memory) {
            (Err(error), ..) => Err(Undecoded { kind: chosen, error }),
            (Ok(()), Some(fault), _) => match Fault::from_node(&fault) {
                Ok(fault) => Ok(Decoded::Fault(Box::new(fault))),
                Err(error) => Err(Undecoded { kind: None, error }),
            },
            (Ok(()), None, Some((kind, memory))) => Ok(Decoded::Message(kind, memory.value())),
            (Ok(()), None, None) => unreachable!("a body that was decoded"),
        };
        (types, decoded)
    }

    /// Forgets the senders who were silent the longest, until there is room.
    fn make_room(&mut self, sender: &str) {
        while self.senders.len() > self.limits.senders || self.kept > self.limits.bytes {
            let others = self.senders.iter().filter(|(name, _)| *name != sender);
            let oldest = others.min_by_key(|(_, it)| it.last).map(|(name, _)| name.clone());
            // One sender alone may have many types of messages.
            let name = oldest.unwrap_or_else(|| sender.to_owned());
            let Some(gone) = self.senders.remove(&name) else { break };
            self.kept -= gone.kept;
        }
    }
}

impl Parts for Message {
    fn bytes(&self, uri: &PartUri) -> Option<Bytes> {
        self.part(uri).cloned()
    }
}

/// Returns the messages of a contract whose bodies are one element. A schema alone has no
/// operations: there each global element is a message, and `XResponse` the response of `X`.
fn types_of(contract: &Contract) -> Vec<MessageType> {
    let operations = contract.operations();
    if operations.is_empty() {
        return elements_of(contract);
    }
    let mut types: Vec<MessageType> = Vec::new();
    let mut owners: Vec<&Operation> = Vec::new();
    for operation in &operations {
        let request = operation.request().map(|it| (Direction::Request, it));
        let response = operation.response().map(|it| (Direction::Response, it));
        for (direction, (name, content)) in request.into_iter().chain(response) {
            // Ports often offer the same operations in several versions of SOAP.
            let is_known = types.iter().zip(&owners).any(|(known, owner)| {
                known.name == *name
                    && known.direction == direction
                    && owner.distinct_name() == operation.distinct_name()
            });
            if name.local.is_empty() || is_known {
                continue;
            }
            let short = operation.distinct_name();
            types.push(MessageType { operation: short.clone(), short, direction, name: name.clone(), content });
            owners.push(operation);
        }
    }
    let is_taken = |index: usize| {
        let one = &types[index];
        let same = |other: &MessageType| other.short == one.short && other.direction == one.direction;
        types.iter().filter(|other| same(other)).count() > 1
    };
    let full: Vec<bool> = (0..types.len()).map(is_taken).collect();
    for ((each, owner), is_full) in types.iter_mut().zip(owners).zip(full) {
        if is_full {
            each.operation = owner.full_name();
        }
    }
    types
}

fn elements_of(contract: &Contract) -> Vec<MessageType> {
    let schemas = contract.description().schemas();
    let message = |(id, element): (ElementId, &xsd::Element)| {
        let content = contract.lowered().element(id)?;
        let name = element.name.clone();
        let asked =
            name.local.strip_suffix("Response").map(|local| QName::owned(name.namespace.to_string(), local.to_owned()));
        let (operation, direction) = match asked.filter(|asked| schemas.element_named(asked).is_some()) {
            Some(asked) => (asked.local.to_string(), Direction::Response),
            None => (name.local.to_string(), Direction::Request),
        };
        Some(MessageType { short: operation.clone(), operation, direction, name, content })
    };
    let mut types: Vec<_> = schemas.elements().filter_map(message).collect();
    types.sort_by(|one, other| (&one.name.local, &one.name.namespace).cmp(&(&other.name.local, &other.name.namespace)));
    types
}

/// Finds the type of a message.
struct Lookup<'l> {
    types: &'l [MessageType],
    by_local: &'l HashMap<String, Vec<usize>>,
    hint: Hint<'l>,
}

impl Lookup<'_> {
    /// Returns the type with this body element. Several operations may have the same element: then
    /// what the source knows decides, or else the first one.
    fn find(&self, namespace: &str, local: &str) -> Option<usize> {
        let named = self.by_local.get(local)?.iter().copied();
        let fits = |&index: &usize| {
            let it = &self.types[index];
            let is_operation = self.hint.operation.is_some_and(|name| it.is_of(name));
            let is_direction = self.hint.direction == Some(it.direction);
            (!is_operation, !is_direction, index)
        };
        named.filter(|&index| self.types[index].name.namespace == namespace).min_by_key(fits)
    }
}

/// Finds the type of a message by the body's element, and the sender's last message of it.
struct Dispatch<'d, 'm> {
    contract: &'d Contract,
    lookup: Lookup<'d>,
    memories: &'m mut HashMap<usize, Memory<Value>>,
    chosen: Option<usize>,
    fault: Option<Node>,
}

impl Receiver for Dispatch<'_, '_> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if namespace == head.version().namespace() && local == "Fault" {
            self.fault = Some(Node::default());
            return Ok(());
        }
        self.chosen = self.lookup.find(namespace, local);
        match self.chosen {
            Some(kind) => {
                self.memories.entry(kind).or_insert_with(|| Memory::new(Value::Absent));
                Ok(())
            }
            None => Err(ErrorKind::UnknownOperation(QName::owned(namespace, local).to_string())),
        }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if let Some(fault) = &mut self.fault {
            return fault.decode(cursor, Node::view());
        }
        let Some(kind) = self.chosen else { unreachable!("a body that was not opened") };
        let view = self.contract.view(self.lookup.types[kind].content);
        match self.memories.get_mut(&kind) {
            Some(memory) => memory.decode(cursor, view),
            None => unreachable!("a body that was not opened"),
        }
    }
}
