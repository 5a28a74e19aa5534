//! Records: the dynamic values of complex elements.

use super::{Simple, Value};
use crate::content::Content;
use crate::decode::flat::{self, Run};
use crate::decode::{Cursor, DecodeFields, FlatScan, Step};
use crate::encode::flat::encode_items;
use crate::encode::{EncodeFields, Encoder, FlatWrite};
use crate::schema::{ComplexElement, Compositor, Element, Field, View};
use deltasoap_xml::lexical::LexicalError;

/// Fields and attributes, each in the order of the schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// A value a field: [`Value::Absent`] where it does not occur, [`Value::List`] where it can occur more than once.
    pub fields: Vec<Value>,
    /// A value an attribute; `None` where it is absent.
    pub attributes: Vec<Option<Simple>>,
    /// The types of the attributes.
    types: Vec<Simple>,
}

impl Record {
    /// A record without values.
    pub(super) fn vacant(complex: &ComplexElement, view: View<'_>) -> Self {
        let is_choice = complex.compositor == Compositor::Choice;
        let vacant = |field: &Field| match field {
            field if field.is_repeated() => Value::List(Vec::new()),
            field if field.min == 0 || is_choice || field.inline => Value::Absent,
            field => match view.follow(field.element).element {
                Element::Complex(_) => Value::Absent,
                _ => Value::vacant(view.follow(field.element)),
            },
        };
        let types = complex.attributes.iter().map(|attribute| match view.follow(attribute.element).element {
            Element::Simple(simple) => Simple::vacant(simple.base),
            _ => Simple::String(String::new()),
        });
        Record {
            fields: complex.fields.iter().map(vacant).collect(),
            attributes: vec![None; complex.attributes.len()],
            types: types.collect(),
        }
    }

    pub(super) fn scan_flat(&mut self, scan: &mut FlatScan<'_>, view: View<'_>) -> Option<()> {
        let complex = view.complex()?;
        for (value, field) in self.fields.iter_mut().zip(complex.fields.iter()) {
            let content = view.follow(field.element);
            if *value == Value::Absent {
                *value = Value::vacant(content);
            }
            value.scan_flat(scan, content)?;
        }
        Some(())
    }

    pub(super) fn write_flat(&self, write: &mut FlatWrite<'_>, view: View<'_>) {
        let Some(complex) = view.complex() else { return };
        for (value, field) in self.fields.iter().zip(complex.fields.iter()) {
            value.write_flat(write, view.follow(field.element));
        }
    }

    pub(super) fn is_flat(&self, view: View<'_>) -> bool {
        let Some(complex) = view.complex() else { return false };
        let mut pairs = self.fields.iter().zip(complex.fields.iter());
        self.fields.len() == complex.fields.len()
            && pairs.all(|(value, field)| value.is_flat(view.follow(field.element)))
    }
}

/// How deep a flat type may nest: a bound against schemas that require themselves.
const FLAT_DEPTH: usize = 32;

/// See [`Content::flat_leaves`].
pub(super) fn flat_leaves(view: View<'_>, depth: usize) -> Option<usize> {
    match view.element {
        Element::Simple(simple) if simple.enumeration.is_empty() => Some(1),
        Element::Complex(complex) if depth < FLAT_DEPTH && is_plain(complex) => {
            let leaves = complex.fields.iter().map(|field| flat_leaves(view.follow(field.element), depth + 1));
            leaves.sum::<Option<usize>>().filter(|&leaves| leaves > 0)
        }
        _ => None,
    }
}

/// True if every value of the type has the same fields, each once.
fn is_plain(complex: &ComplexElement) -> bool {
    let is_once = |field: &Field| field.min == 1 && field.max == Some(1) && !field.nillable && !field.inline;
    complex.compositor == Compositor::Sequence
        && complex.attributes.is_empty()
        && complex.text.is_none()
        && !complex.open
        && complex.fields.iter().all(is_once)
}

impl DecodeFields for Record {
    fn open(&mut self, field: usize, view: View<'_>) {
        match &mut self.fields[field] {
            Value::List(items) => items.push(Value::vacant(view)),
            value => *value = Value::vacant(view),
        }
    }

    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        match &mut self.fields[field] {
            Value::List(items) if !matches!(view.element, Element::Array(_)) => match items.last_mut() {
                Some(item) => item.decode(cursor, view),
                None => unreachable!("an occurrence that was not opened"),
            },
            value => value.decode(cursor, view),
        }
    }

    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        match &mut self.fields[field] {
            Value::List(items) if Value::flat_leaves(view).is_some() => {
                flat::run(items, cursor, std::ptr::from_ref(decl).addr(), view)
            }
            _ => Run::Items(0),
        }
    }

    fn item_leaves(&self, _: usize, view: View<'_>) -> Option<usize> {
        Value::flat_leaves(view)
    }

    fn attribute(&mut self, index: usize, text: &str) -> Result<(), LexicalError> {
        self.attributes[index] = Some(Simple::parse(self.types[index].builtin(), text)?);
        Ok(())
    }
}

impl EncodeFields for Record {
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        match self.fields.get(index) {
            None | Some(Value::Absent) => {}
            Some(value) if field.inline => value.encode_inline(encoder, view),
            Some(Value::List(items)) if field.is_repeated() => encode_items(items, encoder, field, view),
            Some(value) => {
                encoder.start(&field.name);
                value.encode(encoder, view);
                encoder.end();
            }
        }
    }

    fn encode_attribute(&self, index: usize, encoder: &mut Encoder, complex: &ComplexElement) {
        if let Some(Some(value)) = self.attributes.get(index) {
            value.attribute(encoder, &complex.attributes[index].name);
        }
    }
}
