//! Stage four: lowers types and operations to the schema that the engine uses.
//!
//! Lowering may widen what a schema allows, but never narrow it: every valid message is read, and
//! is written again in the same order. Groups that have no element of their own become fields:
//!
//! - a sequence within a sequence: its parts; each optional if the sequence is
//! - a choice of elements: an inline choice
//! - a choice that contains sequences, or elements that may be repeated: the parts of all branches,
//!   and which of them exclude each other (an optional sequence is present as a whole or not at
//!   all); only the parts, each optional, if the first element does not determine the branch
//! - a repeatable sequence, or a repeatable choice that contains sequences: a group, one inline
//!   record per occurrence
//! - other repeatable particles, and groups whose end a message does not show at once: an inline
//!   choice of all their elements, any number of times
//! - the head of a substitution group: an inline choice of the head and its substitutes
//! - `xsd:any`: elements that no other field names, as inline trees
//! - `xsd:anyAttribute`: all attributes without a field, as text; nothing in SOAP encoding
//! - `xsd:list`: its text; for names (`xsd:QName`) the names
//! - facets: only enumerations
//! - a pattern on numbers, dates and the like: a union with the type as its only member, whose
//!   values keep their text
//! - in SOAP encoding, a type that contains itself: values that may be shared
//! - mixed content: trees
//! - names that XML does not allow: nothing; what needs such a name is left out, with the
//!   operations that need it
//! - `default` and `fixed`: the value of an empty element or an absent attribute
//! - elements of abstract types, of types that others are derived from, of `xsd:anyType` and of
//!   `xsd:anySimpleType`: content whose type the message chooses ([`Element::Open`])
//!
//! Content that the engine cannot type is kept as a tree, without loss; `Lowered::notes` lists it.
//! An operation whose messages cannot be read and written carries the reason.

mod complex;
mod defaults;
mod names;
mod notes;
mod operations;
mod origin;
mod shared;
mod simple;

pub use operations::{LoweredOperation, Method, body_parts};
pub use origin::Origin;

use crate::xsd::{ElementId, Schemas, TypeDefinition, TypeId};
use crate::{Definitions, Import};
use deltasoap_core::lexical::is_ncname;
use deltasoap_core::schema::{Element, ElementRef, Schema, Use};
use names::Unwritable;
use notes::Notes;
pub(crate) use origin::Origins;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// An import lowered to the engine's schema.
#[derive(Debug, Clone, Default)]
pub struct Lowered {
    /// The content of elements.
    pub schema: Arc<Schema>,
    /// All operations of all SOAP bindings.
    pub operations: Vec<LoweredOperation>,
    /// Differences from the original schema, each with the number of affected types and one of
    /// them.
    pub notes: Vec<String>,
    pub(crate) elements: HashMap<ElementId, ElementRef>,
    pub(crate) origins: Origins,
}

impl Lowered {
    /// Returns the content of a global element.
    pub fn element(&self, id: ElementId) -> Option<ElementRef> {
        self.elements.get(&id).copied()
    }

    /// Returns the type that content was lowered from; `None` for content without a type in the
    /// schema: bodies of RPC messages and inline choices.
    pub fn origin(&self, content: ElementRef) -> Option<Origin> {
        self.origins.of(content)
    }

    /// Returns the content of exactly this type, if an `xsi:type` may name it.
    pub fn exactly(&self, id: TypeId, encoding: Use) -> Option<ElementRef> {
        self.origins.exactly(id, encoding)
    }
}

/// Lowers all operations and all global elements.
pub(crate) fn lower(import: &Import) -> Lowered {
    let (schemas, definitions) = (import.schemas(), import.definitions());
    let mut lowering = Lowering {
        schemas,
        definitions,
        queue: Vec::new(),
        known: HashMap::new(),
        open: HashMap::new(),
        defaulted: HashMap::new(),
        open_defaulted: HashMap::new(),
        choices: 0,
        groups: HashMap::new(),
        remaining_parts: import.limits().particles,
        notes: Notes::default(),
    };
    let mut operations = lowering.operations();
    let globals = schemas.elements().filter(|(_, element)| element.is_global);
    let mut elements: HashMap<_, _> = globals.map(|(id, _)| (id, lowering.element(id, Use::Literal))).collect();
    let schema = lowering.build();
    lowering.leave_out_unwritable(&schema, &mut operations, &mut elements);
    let origins = Origins::new(lowering.known, &lowering.open, lowering.defaulted, lowering.open_defaulted);
    Lowered { schema: Arc::new(schema), operations, notes: lowering.notes.list(schemas), elements, origins }
}

struct Lowering<'i> {
    schemas: &'i Schemas,
    definitions: &'i Definitions,
    /// Elements in the order of their references, which are assigned before the elements are built.
    queue: Vec<Work>,
    /// References by type; true for encoded.
    known: HashMap<(TypeId, bool), ElementRef>,
    /// References to content of a type or of a type derived from it; true for encoded.
    open: HashMap<(TypeId, bool), ElementRef>,
    /// References to content with a default, by type and default; true for encoded.
    defaulted: HashMap<((TypeId, bool), Box<str>), ElementRef>,
    /// References to open content with a default, with the same key.
    open_defaulted: HashMap<((TypeId, bool), Box<str>), ElementRef>,
    /// Number of types listed by all open content.
    choices: usize,
    /// Choices of substitution groups by their head; true for encoded.
    groups: HashMap<(ElementId, bool), ElementRef>,
    /// Number of message parts that may still be lowered.
    remaining_parts: usize,
    notes: Notes,
}

enum Work {
    Type(TypeId, Use),
    Defaulted(TypeId, Use, Box<str>),
    Open(TypeId, Use, Option<Box<str>>),
    Done(Element),
}

impl Lowering<'_> {
    /// Builds all referenced elements, and those that they refer to.
    fn build(&mut self) -> Schema {
        let mut elements = Vec::new();
        let mut next = 0;
        while next < self.queue.len() {
            let element = match std::mem::replace(&mut self.queue[next], Work::Done(Element::Any)) {
                Work::Type(id, encoding) => self.type_element(id, encoding),
                Work::Defaulted(id, encoding, text) => self.defaulted_element(id, encoding, text),
                Work::Open(id, encoding, text) => Element::Open(self.open_element(id, encoding, text.as_deref())),
                Work::Done(element) => element,
            };
            elements.push(element);
            next += 1;
        }
        shared::share(&mut elements, self.encoded());
        let mut schema = Schema::new();
        elements.into_iter().for_each(|element| _ = schema.add(element));
        schema
    }

    /// Returns the numbers of the types in SOAP encoding, in order.
    fn encoded(&self) -> BTreeSet<u32> {
        let number = |(&(_, is_encoded), &reference): (&(TypeId, bool), &ElementRef)| match reference {
            ElementRef::Index(number) if is_encoded => Some(number),
            _ => None,
        };
        self.known.iter().chain(&self.open).filter_map(number).collect()
    }

    /// Removes what needs a name that XML does not allow from what can be written.
    fn leave_out_unwritable(
        &mut self,
        schema: &Schema,
        operations: &mut [LoweredOperation],
        elements: &mut HashMap<ElementId, ElementRef>,
    ) {
        let schemas = self.schemas;
        // Literal messages name types only in `xsi:type`; encoded messages always do.
        let defaulted = self.defaulted.iter().map(|((key, _), content)| (key, content));
        let encoded = self.known.iter().chain(defaulted).filter(|((_, is_encoded), _)| *is_encoded);
        let named = encoded.filter_map(|((id, _), &content)| Some((content, schemas[*id].name.as_ref()?)));
        let named = named.filter(|(_, name)| !is_ncname(&name.local));
        let unwritable = Unwritable::find(schema, named);
        for operation in operations {
            let why = operation.method.as_ref().ok().and_then(|method| unwritable.why_not(method));
            if let Some(why) = why {
                operation.method = Err(why);
            }
        }
        elements.retain(|&id, content| is_ncname(&schemas[id].name.local) && unwritable.why(*content).is_none());
        self.known.retain(|_, content| unwritable.why(*content).is_none());
        self.defaulted.retain(|_, content| unwritable.why(*content).is_none());
    }

    fn refer(&mut self, work: Work) -> ElementRef {
        self.queue.push(work);
        ElementRef::Index(self.queue.len() as u32 - 1)
    }

    /// Returns the content of an element that is declared with this type.
    fn content(&mut self, id: TypeId, encoding: Use) -> ElementRef {
        let is_open = matches!(id, TypeId::ANY | TypeId::ANY_SIMPLE) || self.is_polymorphic(id);
        if is_open { self.open(id, encoding) } else { self.exactly(id, encoding) }
    }

    /// Returns the content of an element of exactly this type.
    fn exactly(&mut self, id: TypeId, encoding: Use) -> ElementRef {
        if let Some(&known) = self.known.get(&(id, encoding == Use::Encoded)) {
            return known;
        }
        let reference = self.refer(Work::Type(id, encoding));
        self.known.insert((id, encoding == Use::Encoded), reference);
        reference
    }

    /// Returns true if an element of this type may have content of another type, named by
    /// `xsi:type`.
    fn is_polymorphic(&self, id: TypeId) -> bool {
        let TypeDefinition::Complex(complex) = &self.schemas[id].definition else { return false };
        let is_derived_from = id != TypeId::ANY && !self.schemas.derived(id).is_empty();
        let is_array = self.schemas.content(id).is_some_and(|normal| normal.array.is_some())
            || simple::is_soap_encoding(self.schemas, id);
        (complex.is_abstract || is_derived_from) && !is_array
    }

    fn type_element(&mut self, id: TypeId, encoding: Use) -> Element {
        match &self.schemas[id].definition {
            _ if id == TypeId::ANY => Element::Any,
            TypeDefinition::Simple(_) => self.simple(id),
            TypeDefinition::Complex(_) => self.complex(id, encoding),
        }
    }
}
