//! Schemas inferred from messages: a record for each element with children, a list where a name
//! repeats, an optional field where it is missing in some records, and leaves of a simple type that
//! accepts the texts that were seen.
//!
//! Whatever messages do not determine is random: which simple type; whether a list is a SOAP array;
//! whether fields come in any order, unknown elements are skipped, a value may be shared, or
//! content is kept as a tree.

use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement,
    UnionElement,
};
use deltasoap_core::{QName, Simple};
use deltasoap_test_support::Chance;
use roxmltree::{Document, Node};
use std::borrow::Cow;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const SOAP: [&str; 2] = ["http://schemas.xmlsoap.org/soap/encoding/", "http://www.w3.org/2003/05/soap-encoding"];
/// Deeper elements are ignored.
const MAX_DEPTH: usize = 24;
/// Maximum number of texts of a leaf that are considered.
const MAX_TEXTS: usize = 40;

const TYPES: [Builtin; 18] = [
    Builtin::Int,
    Builtin::Long,
    Builtin::Double,
    Builtin::Boolean,
    Builtin::Decimal,
    Builtin::DateTime,
    Builtin::UnsignedByte,
    Builtin::Base64Binary,
    Builtin::HexBinary,
    Builtin::Float,
    Builtin::Integer,
    Builtin::Date,
    Builtin::Duration,
    Builtin::AnyUri,
    Builtin::QName,
    Builtin::Token,
    Builtin::NmTokens,
    Builtin::NormalizedString,
];

/// The observations of an element in all messages.
#[derive(Debug, Default)]
pub struct Shape {
    children: Vec<(QName, Child)>,
    texts: Vec<String>,
    attributes: Vec<(QName, Vec<String>)>,
    /// Number of elements seen.
    seen: usize,
    is_unordered: bool,
    is_nil: bool,
    is_array: bool,
    is_shared: bool,
    has_position: bool,
}

#[derive(Debug, Default)]
struct Child {
    shape: Shape,
    /// Number of parents that it was seen in.
    parents: usize,
    most: usize,
}

impl Shape {
    /// Adds the first element of a message's body.
    pub fn add_message(&mut self, text: &str) {
        let Ok(document) = Document::parse(text) else { return };
        let body = document.root_element().children().find(|it| it.tag_name().name() == "Body");
        if let Some(entry) = body.and_then(|body| body.first_element_child()) {
            self.add(entry, &document, 0);
        }
    }

    fn add(&mut self, node: Node<'_, '_>, document: &Document<'_>, depth: usize) {
        let referred = referred(node, document);
        self.is_shared |= referred.is_some();
        let node = referred.unwrap_or(node);
        self.seen += 1;
        self.is_nil |= node.attribute((XSI, "nil")).is_some();
        self.is_array |=
            SOAP.iter().any(|&it| node.has_attribute((it, "arrayType")) || node.has_attribute((it, "itemType")));
        self.has_position |= SOAP.iter().any(|&it| node.has_attribute((it, "position")));
        self.add_attributes(node);
        if let Some(text) = node.text().filter(|_| self.texts.len() < MAX_TEXTS && node.first_element_child().is_none())
        {
            self.texts.push(text.to_owned());
        }
        if depth < MAX_DEPTH {
            self.add_children(node, document, depth + 1);
        }
    }

    fn add_attributes(&mut self, node: Node<'_, '_>) {
        for attribute in node.attributes() {
            let namespace = attribute.namespace().unwrap_or_default();
            let is_of_soap = namespace == XSI || SOAP.contains(&namespace) || namespace.contains("envelope");
            if is_of_soap || ["id", "href"].contains(&attribute.name()) {
                continue;
            }
            let name = QName::owned(namespace, attribute.name());
            match self.attributes.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(attribute.value().to_owned()),
                None => self.attributes.push((name, vec![attribute.value().to_owned()])),
            }
        }
    }

    fn add_children(&mut self, node: Node<'_, '_>, document: &Document<'_>, depth: usize) {
        let mut counts = vec![0; self.children.len()];
        let mut last = 0;
        for child in node.children().filter(Node::is_element) {
            let name = QName::owned(child.tag_name().namespace().unwrap_or_default(), child.tag_name().name());
            let index = self.children.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                self.children.push((name, Child::default()));
                counts.push(0);
                counts.len() - 1
            });
            self.is_unordered |= index < last;
            last = index;
            counts[index] += 1;
            self.children[index].1.shape.add(child, document, depth);
        }
        for ((_, child), count) in self.children.iter_mut().zip(counts) {
            child.parents += usize::from(count > 0);
            child.most = child.most.max(count);
        }
    }

    /// Returns a schema for the observations, and its root.
    pub fn schema(&self, chance: &mut Chance) -> (Schema, ElementRef) {
        let mut schema = Schema::new();
        let root = match self.children.is_empty() {
            true => self.text(chance, &mut schema),
            false => self.record(chance, &mut schema),
        };
        (schema, root)
    }

    fn element(&self, chance: &mut Chance, schema: &mut Schema) -> ElementRef {
        let element = match () {
            () if chance.one_in(24) => schema.add(Element::Any),
            () if self.is_array || self.children.len() == 1 && chance.one_in(3) => self.array(chance, schema),
            () if self.children.is_empty() => self.text(chance, schema),
            () => self.record(chance, schema),
        };
        match self.is_shared && chance.one_in(2) || chance.one_in(32) {
            true => schema.add(Element::Shared(element)),
            false => element,
        }
    }

    fn array(&self, chance: &mut Chance, schema: &mut Schema) -> ElementRef {
        let (name, item) = match self.children.first() {
            Some((name, child)) => (name.clone(), child.shape.element(chance, schema)),
            None => (QName::new("", "item"), simple(schema, Builtin::String)),
        };
        schema.add(Element::Array(ArrayElement {
            name: QName::new("urn:inferred", "Array"),
            item_name: name,
            item,
            item_type: QName::new("urn:inferred", "Item"),
            nillable: chance.one_in(3),
            dimensions: if chance.one_in(12) { 2 } else { 1 },
        }))
    }

    fn text(&self, chance: &mut Chance, schema: &mut Schema) -> ElementRef {
        let text = leaf(&self.texts, chance, schema);
        if self.attributes.is_empty() || chance.one_in(4) {
            return text;
        }
        let attributes = self.typed_attributes(chance, schema);
        schema.add(Element::Complex(ComplexElement {
            text: Some(text),
            attributes: attributes.into(),
            any_attribute: chance.one_in(3),
            ..record(Vec::new())
        }))
    }

    fn record(&self, chance: &mut Chance, schema: &mut Schema) -> ElementRef {
        let fields: Vec<_> =
            self.children.iter().map(|(name, child)| child.field(name, self.seen, chance, schema)).collect();
        let attributes = self.typed_attributes(chance, schema);
        let (open, any_attribute) = (chance.one_in(6), chance.one_in(4));
        let is_choice = self.is_unordered && chance.one_in(2);
        let compositor = if self.is_unordered || chance.one_in(8) { Compositor::All } else { Compositor::Sequence };
        let fields = if is_choice { vec![repeated_choice(fields, schema)] } else { fields };
        let compositor = if is_choice { Compositor::Sequence } else { compositor };
        let attributes = attributes.into();
        schema.add(Element::Complex(ComplexElement { attributes, open, any_attribute, compositor, ..record(fields) }))
    }

    fn typed_attributes(&self, chance: &mut Chance, schema: &mut Schema) -> Vec<Attribute> {
        let all = self.attributes.iter();
        // If any attribute is allowed, some need no declaration.
        let named = all.filter(|_| !chance.one_in(8)).collect::<Vec<_>>().into_iter();
        let typed = named.map(|(name, values)| {
            let base = accepted(values, chance);
            let required = values.len() == self.seen && chance.one_in(2);
            let default = default_of(values, base, chance);
            Attribute { name: name.clone(), element: simple(schema, base), required, default }
        });
        typed.collect()
    }
}

impl Child {
    fn field(&self, name: &QName, parents: usize, chance: &mut Chance, schema: &mut Schema) -> Field {
        let element = self.shape.element(chance, schema);
        let is_optional = self.parents < parents || chance.one_in(8);
        let is_repeated = self.most > 1 || chance.one_in(8);
        let is_bounded = is_repeated && self.most > 1 && chance.one_in(6);
        let around = |room: usize| u32::try_from(room).unwrap_or(u32::MAX);
        let (min, max) = match is_bounded {
            true if is_optional => (0, Some(around(self.most + chance.below(3)))),
            true => (around(self.most.saturating_sub(chance.below(4))), Some(around(self.most + chance.below(3)))),
            false => (u32::from(!is_optional), (!is_repeated).then_some(1)),
        };
        Field { name: name.clone(), element, min, max, nillable: self.shape.is_nil || chance.one_in(8), inline: false }
    }
}

/// Creates a field with elements of several names in any order, any number of times.
fn repeated_choice(fields: Vec<Field>, schema: &mut Schema) -> Field {
    let members = fields.into_iter().map(|field| Field { min: 1, max: Some(1), ..field }).collect();
    let choice = ComplexElement { compositor: Compositor::Choice, ..record(members) };
    let element = schema.add(Element::Complex(choice));
    Field { name: QName::new("", "choice"), element, min: 0, max: None, nillable: false, inline: true }
}

fn record(fields: Vec<Field>) -> ComplexElement {
    ComplexElement {
        name: QName::new("urn:inferred", "Record"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: Cow::Borrowed(&[]),
        text: None,
        open: false,
        any_attribute: false,
        choices: Cow::Borrowed(&[]),
    }
}

fn leaf(texts: &[String], chance: &mut Chance, schema: &mut Schema) -> ElementRef {
    let base = accepted(texts, chance);
    let default = default_of(texts, base, chance);
    if !chance.one_in(16) {
        return schema.add(Element::Simple(SimpleElement { default, ..simple_element(base) }));
    }
    let members = vec![simple(schema, base), simple(schema, Builtin::String)].into();
    schema.add(Element::Union(UnionElement {
        name: QName::new("urn:inferred", "Union"),
        members,
        list: false,
        default,
    }))
}

/// Returns a type that accepts all of these texts; sometimes one that does not.
fn accepted(texts: &[String], chance: &mut Chance) -> Builtin {
    if chance.one_in(40) {
        return *chance.pick(&TYPES);
    }
    let takes_all = |base: &&Builtin| texts.iter().all(|text| Simple::parse(**base, text).is_ok());
    let fitting: Vec<_> = TYPES.iter().filter(takes_all).copied().collect();
    match chance.one_in(3) {
        true => Builtin::String,
        false => chance.choose(&fitting).copied().unwrap_or(Builtin::String),
    }
}

fn simple(schema: &mut Schema, base: Builtin) -> ElementRef {
    schema.add(Element::Simple(simple_element(base)))
}

fn simple_element(base: Builtin) -> SimpleElement {
    SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None }
}

/// Sometimes returns one of the texts that were seen. Qualified names cannot be used without their
/// prefixes.
fn default_of(texts: &[String], base: Builtin, chance: &mut Chance) -> Option<Cow<'static, str>> {
    let has_default = chance.one_in(6) && base != Builtin::QName;
    let text = chance.choose(texts).filter(|text| has_default && Simple::parse(base, text).is_ok());
    text.map(|text| Cow::Owned(text.clone()))
}

/// Returns the element that another one refers to.
fn referred<'a, 'i>(node: Node<'_, '_>, document: &'a Document<'i>) -> Option<Node<'a, 'i>> {
    let id = match node.attribute("href") {
        Some(reference) => reference.strip_prefix('#')?,
        None => node.attribute((SOAP[1], "ref"))?,
    };
    let is_it = |it: &Node<'_, '_>| it.attribute("id") == Some(id) || it.attribute((SOAP[1], "id")) == Some(id);
    document.descendants().find(is_it)
}
