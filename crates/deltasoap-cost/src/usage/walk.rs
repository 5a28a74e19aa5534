//! The walk over a message and its schema.

use super::{Feature, Usage};
use crate::element_path::ElementPath;
use crate::workload::{Body, Class};
use deltasoap_core::content::Shortcuts;
use deltasoap_core::schema::{Attribute, Element, ElementRef, Field, SimpleElement, Use, View};
use deltasoap_core::{Child, Node, QName, Record, Simple, Value};
use std::collections::{BTreeMap, HashSet};

/// Returns the features of each part of a message, in document order: the message itself, with an
/// empty path, comes first. All occurrences of a field are one part.
pub fn parts(body: &Body<'_>) -> Vec<(String, Usage)> {
    let mut walk = Walk {
        parts: Vec::new(),
        places: BTreeMap::new(),
        path: ElementPath::default(),
        encoded: body.encoding == Use::Encoded,
        scope: vec![body.name.namespace.to_string()],
        listed: HashSet::new(),
    };
    walk.usage().add(Feature::Message, 1.0);
    let is_encoded = walk.encoded;
    walk.usage().add(Feature::Encoded, f64::from(is_encoded));
    walk.usage().add(Feature::Described, described(body.view) as f64);
    walk.content(body.value, body.view);
    let values: f64 = walk.parts.iter().map(|(_, part)| part.values()).sum();
    walk.parts[0].1.add(Feature::Far, (values - NEAR).max(0.0));
    walk.parts
}

/// Approximate number of values of a message that fit the nearer caches: those stored individually,
/// not in columns.
const NEAR: f64 = 32_768.0;

struct Walk {
    parts: Vec<(String, Usage)>,
    places: BTreeMap<String, usize>,
    path: ElementPath,
    encoded: bool,
    /// The namespaces in scope, except SOAP's own.
    scope: Vec<String>,
    /// The flat lists seen so far, by item type and item name.
    listed: HashSet<(*const Element, QName)>,
}

impl Walk {
    /// Returns the counts of the current part.
    fn usage(&mut self) -> &mut Usage {
        let parts = &mut self.parts;
        let at = *self.places.entry(self.path.as_str().to_owned()).or_insert_with(|| {
            parts.push((self.path.as_str().to_owned(), Usage::default()));
            parts.len() - 1
        });
        &mut parts[at].1
    }

    fn content(&mut self, value: &Value, view: View<'_>) {
        match (value, view.element) {
            (Value::Simple(simple), element) => self.leaf(simple, simple_of(element), Feature::Field),
            (Value::Packed(column), Element::Simple(SimpleElement { packed: Some(packing), .. })) => {
                let octets = column.len() * packing.size();
                self.usage().add(Feature::Field(Class::Binary), 1.0);
                self.usage().add(Feature::Octet, octets as f64);
            }
            (Value::Name(_), _) => self.usage().add(Feature::Field(Class::QName), 1.0),
            (Value::Record(record), Element::Complex(_)) => self.record(record, view),
            (Value::List(items), Element::Array(array)) => {
                let field = item_field(array.item_name.clone(), array.item);
                self.list(items, &field, view.follow(array.item));
            }
            (Value::Shared(shared), _) => self.shared(shared, view),
            (value, Element::Shared(content)) => self.content(value, view.follow(*content)),
            (Value::Tree(node), _) => self.tree(node),
            (Value::Nil, _) => self.usage().add(Feature::Attribute(Class::Int), 1.0),
            (Value::NilWith(attributes), _) => {
                self.usage().add(Feature::Attribute(Class::Int), 1.0);
                self.usage().add(Feature::Attribute(Class::Text), attributes.len() as f64);
            }
            (Value::Typed(typed), Element::Open(open)) => {
                self.usage().add(Feature::Typed, 1.0);
                self.held(&typed.value, open.named(&typed.name), view);
            }
            (value, Element::Open(open)) => self.held(value, open.base, view),
            _ => {}
        }
    }

    /// Counts the content of an element whose type the message chooses.
    fn held(&mut self, value: &Value, content: Option<ElementRef>, view: View<'_>) {
        if let Some(content) = content {
            self.content(value, view.follow(content));
        }
    }

    fn shared(&mut self, shared: &deltasoap_core::Shared<Value>, view: View<'_>) {
        if let Some(value) = shared.get() {
            self.content(&value, view.content());
        }
    }

    fn record(&mut self, record: &Record, view: View<'_>) {
        let Some(complex) = view.complex() else { return };
        self.usage().add(Feature::Record, 1.0);
        for (value, attribute) in record.attributes.iter().zip(complex.attributes.iter()) {
            self.attribute(value.as_ref(), attribute, view);
        }
        self.usage().add(Feature::Attribute(Class::Text), record.others.len() as f64);
        if let Some(text) = complex.text {
            return record.fields.iter().for_each(|value| self.content(value, view.follow(text)));
        }
        for (value, field) in record.fields.iter().zip(complex.fields.iter()) {
            self.field(value, field, view.follow(field.element));
        }
    }

    fn attribute(&mut self, value: Option<&Simple>, attribute: &Attribute, view: View<'_>) {
        let Some(value) = value else { return };
        let outside = self.path.enter(&format!("@{}", attribute.name.local));
        let declared = self.declare(&attribute.name.namespace);
        self.scope.truncate(self.scope.len() - declared);
        self.usage().add(Feature::Declared, declared as f64);
        self.usage().add(Feature::Markup, attribute.name.local.len() as f64);
        self.leaf(value, simple_of(view.follow(attribute.element).element), Feature::Attribute);
        self.path.leave(outside);
    }

    fn field(&mut self, value: &Value, field: &Field, view: View<'_>) {
        match value {
            Value::Absent => self.usage().add(Feature::Absent, 1.0),
            Value::List(items) if items.is_empty() => self.usage().add(Feature::Absent, 1.0),
            Value::List(items) if field.is_repeated() && field.inline => {
                items.iter().for_each(|item| self.content(item, view));
            }
            Value::Column(column) => self.field(&Value::List(column.to_values()), field, view),
            Value::Table(table) => self.field(&Value::List(table.to_values()), field, view),
            value if field.inline => self.content(value, view),
            Value::List(items) if field.is_repeated() => {
                let outside = self.path.enter(&field.name.local);
                self.list(items, field, view);
                self.path.leave(outside);
            }
            value => {
                let outside = self.path.enter(&field.name.local);
                self.element(value, field, view);
                self.path.leave(outside);
            }
        }
    }

    /// Counts an element that is read and written individually.
    fn element(&mut self, value: &Value, field: &Field, view: View<'_>) {
        let (encoded, declared) = (self.encoded, self.declare(&field.name.namespace));
        let usage = self.usage();
        usage.add(Feature::Markup, 2.0 * field.name.local.len() as f64);
        usage.add(Feature::Qualified, f64::from(!field.name.namespace.is_empty()));
        usage.add(Feature::Declared, declared as f64);
        usage.add(Feature::Typed, f64::from(encoded));
        self.content(value, view);
        self.scope.truncate(self.scope.len() - declared);
    }

    /// Adds a namespace to the scope; returns the number of declarations needed, zero or one.
    fn declare(&mut self, namespace: &str) -> usize {
        let is_new = !namespace.is_empty() && !self.scope.iter().any(|known| known == namespace);
        if is_new {
            self.scope.push(namespace.to_owned());
        }
        usize::from(is_new)
    }

    fn list(&mut self, items: &[Value], field: &Field, view: View<'_>) {
        let is_flat_type = Value::flat_leaves(view).is_some();
        let is_listed = is_flat_type && !items.is_empty();
        let is_again = is_listed && !self.listed.insert((std::ptr::from_ref(view.element), field.name.clone()));
        self.usage().add(Feature::Repeated, f64::from(is_listed));
        let relisted = if view.complex().is_some() { Feature::RelistedRecords } else { Feature::Relisted };
        self.usage().add(relisted, f64::from(is_again));
        let is_flat = is_flat_type && items.len() > 1 && items.iter().all(|item| item.is_flat(view));
        if !is_flat {
            self.usage().add(Feature::Row, if is_flat_type { 0.0 } else { items.len() as f64 });
            return items.iter().for_each(|item| self.element(item, field, view));
        }
        self.usage().add(Feature::List, 1.0);
        self.element(&items[0], field, view);
        items[1..].iter().for_each(|item| self.flat(item, &field.name, view));
    }

    /// Counts an item whose markup, including declarations, is known.
    fn flat(&mut self, item: &Value, name: &QName, view: View<'_>) {
        let declared = self.declare(&name.namespace);
        self.usage().add(Feature::DeclaredItem, declared as f64);
        self.usage().add(Feature::ItemMarkup, 2.0 * name.local.len() as f64);
        match (item, view.complex()) {
            (Value::Simple(simple), _) => self.leaf(simple, simple_of(view.element), Feature::Item),
            (Value::Record(record), Some(complex)) => {
                self.usage().add(Feature::ItemRecord, 1.0);
                for (value, field) in record.fields.iter().zip(complex.fields.iter()) {
                    let outside = self.path.enter(&field.name.local);
                    self.flat(value, &field.name, view.follow(field.element));
                    self.path.leave(outside);
                }
            }
            _ => {}
        }
        self.scope.truncate(self.scope.len() - declared);
    }

    fn leaf(&mut self, value: &Simple, element: Option<&SimpleElement>, feature: fn(Class) -> Feature) {
        let class = Class::from_builtin(value.builtin());
        let usage = self.usage();
        usage.add(feature(class), 1.0);
        match class {
            Class::Text | Class::Token => usage.add_text(text_length(value)),
            Class::Binary => usage.add(Feature::Octet, octets(value) as f64),
            _ => {}
        }
        let alternatives = element.map_or(0, |element| element.enumeration.len());
        usage.add(Feature::Alternative, alternatives.div_ceil(2) as f64);
    }

    /// Counts the elements of a tree iteratively, since it may be deep.
    fn tree(&mut self, root: &Node) {
        let usage = self.usage();
        let mut ahead = vec![root];
        while let Some(node) = ahead.pop() {
            usage.add(Feature::Node, 1.0);
            usage.add(Feature::Attribute(Class::Text), node.attributes.len() as f64);
            for child in &node.children {
                match child {
                    Child::Element(child) => ahead.push(child),
                    Child::Text(text) => usage.add_text(text.len()),
                }
            }
        }
    }
}

/// Returns the number of element declarations in a type, including itself.
fn described(view: View<'_>) -> usize {
    let (mut seen, mut ahead) = (HashSet::new(), vec![view]);
    while let Some(view) = ahead.pop() {
        if !seen.insert(std::ptr::from_ref(view.element)) {
            continue;
        }
        match view.element {
            Element::Complex(complex) => ahead.extend(complex.fields.iter().map(|field| view.follow(field.element))),
            Element::Array(array) => ahead.push(view.follow(array.item)),
            Element::Shared(inner) => ahead.push(view.follow(*inner)),
            _ => {}
        }
    }
    seen.len()
}

fn simple_of(element: &Element) -> Option<&SimpleElement> {
    match element {
        Element::Simple(simple) => Some(simple),
        _ => None,
    }
}

/// Returns an item of a SOAP array as if it were a field.
pub(crate) fn item_field(name: deltasoap_core::QName, element: ElementRef) -> Field {
    Field { name, element, min: 0, max: None, nillable: false, inline: false }
}

fn text_length(value: &Simple) -> usize {
    match value {
        Simple::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

fn octets(value: &Simple) -> usize {
    match value {
        Simple::Base64Binary(octets) => octets.0.len(),
        Simple::HexBinary(octets) => octets.0.len(),
        _ => 0,
    }
}
