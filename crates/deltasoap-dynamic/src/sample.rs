//! Samples: values that a schema allows, for request templates and mock services.
//!
//! A sample contains every field and one item of each list. It takes the first alternative of a
//! choice and, for a type that others are derived from, the first type that is not abstract.
//! Recursive content is left out where it is optional. With a seed, all of this is chosen at
//! random, for tests.
//!
//! Literal messages are built from the schema (`tree`), and read by the engine. Those in SOAP
//! encoding are built from the engine's schema, because no document in SOAP encoding is valid by an
//! XML schema.
//!
//! `Value::sample` of the engine is deliberately separate. It has only the schema of a typed
//! service, which links no WSDL, and any readable value is sufficient for it.

mod depending;
mod finite;
mod names;
mod part;
mod simple;
mod tree;

use crate::Operation;
use crate::contract::Types;
use deltasoap_core::schema::{ArrayElement, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, Use};
use deltasoap_core::{Node, QName, Record, Shared, Value, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::{TypeDefinition, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

pub(crate) use finite::Finite;
pub(crate) use simple::candidates;

/// Elements deeper than this are left out even if they are required: the type is infinite.
const MAX_DEPTH: usize = 64;
/// Maximum number of values in one sample.
const MAX_VALUES: usize = 25_000;
/// Elements deeper than this are left out if they are optional.
const MAX_OPTIONAL_DEPTH: usize = 24;
/// Values beyond this number are left out if they are optional, to keep samples readable.
const MAX_OPTIONAL_VALUES: usize = 300;

/// Makes samples of a contract's types.
pub(crate) struct Sampler<'t> {
    types: &'t Types,
    chance: Option<u64>,
    /// Content on the path from the root.
    open: Vec<ElementRef>,
    /// Types on the path from the root of a tree.
    types_open: Vec<TypeId>,
    /// The texts found so far from which values of simple types are chosen.
    good: HashMap<TypeId, Rc<[String]>>,
    /// Number of `xsd:ID`s made.
    made_ids: usize,
    /// The final `xsd:ID`s of the parts finished so far.
    ids: BTreeSet<String>,
    /// True once there may be an `xsd:ID` or a reference to one.
    has_ids: bool,
    /// True while optional references to `xsd:ID`s are left out.
    leaves_out_references: bool,
    /// True if the schemas have identity constraints.
    has_constraints: bool,
    /// True if everything optional is left out.
    is_least: bool,
    /// The namespaces of the prefixes declared for values: `q1`, `q2` and so on.
    prefixes: Vec<String>,
    made: usize,
    /// True once required content was left out.
    is_cut: bool,
}

impl<'t> Sampler<'t> {
    /// Creates a sampler; samples are random if there is a `seed`.
    pub(crate) fn new(types: &'t Types, seed: Option<u64>) -> Self {
        let chance = seed.map(|seed| seed | 1);
        Sampler {
            types,
            chance,
            open: Vec::new(),
            types_open: Vec::new(),
            good: HashMap::new(),
            made_ids: 0,
            ids: BTreeSet::new(),
            has_ids: false,
            leaves_out_references: false,
            has_constraints: types.import.schemas().elements().any(|(_, element)| !element.constraints.is_empty()),
            is_least: false,
            prefixes: Vec::new(),
            made: 0,
            is_cut: false,
        }
    }

    /// Returns a value of some content of an element.
    pub(crate) fn value(&mut self, content: ElementRef, name: &QName) -> Value {
        if let Some(value) = self.by_schema(content, name) {
            return value;
        }
        // The element around parts is not in the schema.
        match self.types.lowered.schema.view(content).element {
            Element::Complex(complex) if self.is_around_parts(content) => {
                self.open.push(content);
                let parts = complex.fields.iter().map(|field| self.value(field.element, &field.name)).collect();
                self.open.pop();
                Value::Record(Box::new(Record { fields: parts, attributes: Vec::new(), others: Default::default() }))
            }
            _ => self.content(content, name),
        }
    }

    /// Returns true for the content of the element around parts, which only occurs outermost. A
    /// damaged compiled file may claim that it contains itself.
    fn is_around_parts(&self, content: ElementRef) -> bool {
        self.open.is_empty() && self.types.lowered.origin(content).is_none()
    }

    /// Returns a value built from the engine's schema, for SOAP encoding.
    fn content(&mut self, content: ElementRef, name: &QName) -> Value {
        self.made += 1;
        self.open.push(content);
        let view = self.types.lowered.schema.view(content);
        let value = match view.element {
            element if element.is_name() => {
                let id = self.types.lowered.origin(content).map(|origin| origin.type_id);
                let name = id.and_then(|id| self.enumerated_name(id)).cloned();
                Value::Name(Box::new(name.unwrap_or_else(|| QName::new("", "name"))))
            }
            Element::Simple(_) | Element::Union(_) => self.leaf(content),
            Element::Complex(complex) => Value::Record(Box::new(self.record(complex))),
            Element::Array(array) => self.array(array),
            Element::Shared(shared) => Value::Shared(Shared::new(self.content(*shared, name))),
            Element::Any => Value::Tree(Box::new(plain(name))),
            Element::Open(open) => self.chosen(open, content, name),
        };
        self.open.pop();
        value
    }

    fn record(&mut self, complex: &ComplexElement) -> Record {
        let mut record = Record::default();
        for attribute in complex.attributes.iter() {
            let is_there = attribute.required || self.takes_optional();
            record.attributes.push(is_there.then(|| self.attribute(attribute)));
        }
        if let Some(text) = complex.text {
            record.fields.push(self.leaf(text));
            return record;
        }
        let chosen = match complex.compositor {
            Compositor::Choice => Some(self.alternative(complex)),
            Compositor::Sequence | Compositor::All => None,
        };
        let taken = complex.taken(|branches| self.branch(complex, branches));
        for (index, field) in complex.fields.iter().enumerate() {
            record.fields.push(match chosen {
                _ if taken[index].is_none() => nothing(field),
                Some(chosen) if chosen != index => nothing(field),
                chosen => self.field(field, chosen.is_some() || taken[index] > Some(0)),
            });
        }
        record
    }

    /// Chooses a field of a choice, preferably one that does not lead back to open content.
    fn alternative(&mut self, complex: &ComplexElement) -> usize {
        let start = if self.chance.is_some() { self.below(complex.fields.len()) } else { 0 };
        let order = (0..complex.fields.len()).map(|step| (start + step) % complex.fields.len());
        let is_new = |&index: &usize| !self.open.contains(&complex.fields[index].element);
        order.clone().find(is_new).or_else(|| order.clone().next()).unwrap_or_default()
    }

    /// Chooses a branch of a choice between groups, preferably one that does not lead back to open
    /// content.
    fn branch(&mut self, complex: &ComplexElement, branches: &[Range<usize>]) -> usize {
        let start = if self.chance.is_some() { self.below(branches.len()) } else { 0 };
        let is_new = |&index: &usize| {
            let fields = &complex.fields[branches[index].clone()];
            !fields.is_empty() && !fields.iter().any(|field| self.open.contains(&field.element))
        };
        (0..branches.len()).map(|step| (start + step) % branches.len()).find(is_new).unwrap_or(start)
    }

    fn field(&mut self, field: &Field, is_chosen: bool) -> Value {
        let is_required = field.min > 0 || is_chosen;
        if !is_required && !self.takes(field) {
            return nothing(field);
        }
        if self.open.len() > MAX_DEPTH || self.made > MAX_VALUES {
            self.is_cut |= is_required;
            return nothing(field);
        }
        if !field.is_repeated() {
            return self.occurrence(field);
        }
        let more = if self.chance.is_some() { self.below(3) } else { 1 };
        let least = field.min.max(u32::from(is_chosen)) as usize;
        let most = field.max.map_or(usize::MAX, |max| max as usize);
        let count = least.max(more).min(most).min(MAX_VALUES.saturating_sub(self.made));
        Value::List((0..count).map(|_| self.occurrence(field)).collect())
    }

    fn occurrence(&mut self, field: &Field) -> Value {
        let is_endless = self.open.contains(&field.element);
        if field.nillable && (is_endless || self.chance.is_some() && self.below(8) == 0) {
            return Value::Nil;
        }
        let free = QName::new("urn:example:any", "any");
        let name = if field.inline { &free } else { &field.name };
        self.content(field.element, name)
    }

    /// Returns true if an optional field is included.
    fn takes(&mut self, field: &Field) -> bool {
        let view = self.types.lowered.schema.view(field.element);
        let is_wildcard = field.inline && *view.element == Element::Any;
        let is_deep = self.open.contains(&field.element)
            || self.open.len() > MAX_OPTIONAL_DEPTH
            || self.made > MAX_OPTIONAL_VALUES;
        !is_deep && self.has_type(field) && (!is_wildcard || self.chance.is_some()) && self.takes_optional()
    }

    /// Returns false if the declared type is abstract and no other can replace it.
    fn has_type(&mut self, field: &Field) -> bool {
        let is_open = matches!(self.types.lowered.schema.view(field.element).element, Element::Open(_));
        let origin = self.types.lowered.origin(field.element).filter(|it| is_open && it.type_id != TypeId::ANY);
        origin.is_none_or(|origin| self.concrete(origin).is_some())
    }

    fn takes_optional(&mut self) -> bool {
        !self.is_least && (self.chance.is_none() || self.below(3) > 0)
    }

    fn array(&mut self, array: &ArrayElement) -> Value {
        let count = if self.chance.is_some() { self.below(4) } else { 1 };
        let is_deep = self.open.len() > MAX_OPTIONAL_DEPTH || self.made > MAX_VALUES;
        let count = if is_deep { 0 } else { count };
        let items: Vec<_> = (0..count).map(|_| self.content(array.item, &array.item_name)).collect();
        // One row in each dimension.
        let rows = if items.is_empty() { 1 } else { array.dimensions.max(1) };
        (1..rows).fold(Value::List(items), |row, _| Value::List(vec![row]))
    }

    /// Returns content of a type that others are derived from, or of any type.
    fn chosen(&mut self, open: &OpenElement, content: ElementRef, name: &QName) -> Value {
        let is_any = |origin: &Origin| matches!(origin.type_id, TypeId::ANY | TypeId::ANY_SIMPLE);
        let origin = self.types.lowered.origin(content);
        let chosen = origin.filter(|it| !is_any(it)).and_then(|origin| Some((origin, self.concrete(origin)?)));
        let Some((origin, (id, exact))) = chosen else {
            // In SOAP encoding a value names its type if the accessor does not (SOAP 1.1, 5.2.4).
            let string = QName::new(ns::XSD, "string");
            let is_encoded = origin.is_some_and(|origin| origin.encoding == Use::Encoded);
            return match open.named(&string).filter(|_| is_encoded) {
                Some(exact) => Value::typed(string, self.content(exact, name)),
                None => Value::Tree(Box::new(plain(name))),
            };
        };
        let value = self.content(exact, name);
        match &self.types.import.schemas()[id].name {
            Some(name) if id != origin.type_id => Value::typed(name.clone(), value),
            _ => value,
        }
    }

    /// Returns the first allowed type that is not abstract, or a random one.
    fn concrete(&mut self, origin: Origin) -> Option<(TypeId, ElementRef)> {
        const MAX_CANDIDATES: usize = 50;
        let (mut found, mut ahead) = (Vec::new(), vec![origin.type_id]);
        while let Some(id) = ahead.pop() {
            let is_abstract =
                matches!(&self.types.import.schemas()[id].definition, TypeDefinition::Complex(it) if it.is_abstract);
            let exact = self.types.lowered.exactly(id, origin.encoding).filter(|_| !is_abstract);
            found.extend(exact.filter(|exact| !self.open.contains(exact)).map(|exact| (id, exact)));
            if found.len() >= MAX_CANDIDATES || !found.is_empty() && self.chance.is_none() {
                break;
            }
            ahead.extend(self.types.import.schemas().derived(id).iter().rev());
        }
        let index = if self.chance.is_some() { self.below(found.len().max(1)) } else { 0 };
        found.get(index).copied()
    }

    /// Returns a random number less than `bound`.
    fn below(&mut self, bound: usize) -> usize {
        let state = self.chance.get_or_insert(1);
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as usize % bound.max(1)
    }
}

/// Returns text for content of any type.
fn plain(name: &QName) -> Node {
    Node::with_text(name.clone(), "text")
}

/// Returns the value of a field that does not occur.
fn nothing(field: &Field) -> Value {
    if field.is_repeated() { Value::List(Vec::new()) } else { Value::Absent }
}

impl Operation {
    /// Returns a request that contains every field, valid by the schema if one could be made;
    /// `None` if the operation cannot be used.
    pub fn request_sample(&self) -> Option<Value> {
        self.sample(self.request(), None)
    }

    /// Returns a response that contains every field; `None` if there is none.
    pub fn response_sample(&self) -> Option<Value> {
        self.sample(self.response(), None)
    }

    /// Returns a request with random values and fields, for tests; `None` also if it would be
    /// infinite.
    pub fn random_request(&self, seed: u64) -> Option<Value> {
        self.sample(self.request(), Some(seed))
    }

    /// Returns a response with random values and fields, for tests; `None` also if it would be
    /// infinite.
    pub fn random_response(&self, seed: u64) -> Option<Value> {
        self.sample(self.response(), Some(seed))
    }

    fn sample(&self, body: Option<(&QName, ElementRef)>, seed: Option<u64>) -> Option<Value> {
        let (name, content) = body?;
        let mut sampler = Sampler::new(&self.contract().types, seed);
        let value = sampler.value(content, name);
        (seed.is_none() || !sampler.is_cut).then_some(value)
    }
}
