//! Records: the dynamic values of complex elements.

use super::{Column, Simple, Table, Value, table};
use crate::content::Shortcuts;
use crate::content::{APPENDED, Content};
use crate::decode::Names;
use crate::decode::flat::{self, Patch, Run};
use crate::decode::items::{open_item, splice_items, still_there};
use crate::decode::{Cursor, DecodeFields, FlatSource, Leaf, Step, nil_attribute};
use crate::encode::flat::{encode_item, encode_items};
use crate::encode::overlay;
use crate::encode::{EncodeFields, Encoder, FlatSink};
use crate::schema::{ChoiceFault, ComplexElement, Compositor, Element, Field, QName, View};
use crate::soap::Parts;
use crate::types::is_name;
use deltasoap_xml::lexical::LexicalError;
use std::collections::BTreeMap;

const NO_MEMBER: LexicalError =
    LexicalError { expected: "simple type", reason: "not an allowed value of the attribute" };

const OTHER_ATTRIBUTE: &str = "an attribute that the type of its element does not allow";

/// Fields and attributes, each in the order of the schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// One value per field: [`Value::Absent`] if it does not occur, [`Value::List`],
    /// [`Value::Column`] or [`Value::Table`] if it can occur more than once. For simple content a
    /// single value, that of the text.
    pub fields: Vec<Value>,
    /// One value per attribute; `None` if it is absent.
    pub attributes: Vec<Option<Simple>>,
    /// The attributes that the schema does not name, if it [allows
    /// any](ComplexElement::any_attribute). Their values are the text of the message: a prefix in
    /// it is known only at its position there.
    pub others: BTreeMap<QName, String>,
}

impl Record {
    /// Creates a record without values.
    pub(super) fn vacant(complex: &ComplexElement, view: View<'_>) -> Self {
        let vacant = |field: &Field| vacant_field(complex, field, view.follow(field.element));
        let text = complex.text.map(|text| Value::vacant(view.follow(text)));
        let attributes = vec![None; complex.attributes.len()];
        Record {
            fields: complex.fields.iter().map(vacant).chain(text).collect(),
            attributes,
            others: Default::default(),
        }
    }

    /// Creates a record to be read: required values are created only when they arrive.
    pub(super) fn blank(complex: &ComplexElement, view: View<'_>) -> Self {
        let blank = |field: &Field| match field.is_repeated() {
            true => no_items(field, view.follow(field.element)),
            false => Value::Absent,
        };
        let mut fields = Vec::with_capacity(complex.fields.len() + usize::from(complex.text.is_some()));
        fields.extend(complex.fields.iter().map(blank));
        fields.extend(complex.text.map(|_| Value::Absent));
        Record { fields, attributes: vec![None; complex.attributes.len()], others: Default::default() }
    }

    /// Returns the error in the choices between the fields.
    pub fn choice_fault(&self, complex: &ComplexElement) -> Option<ChoiceFault> {
        complex.choice_fault(|field| self.count(complex, field))
    }

    /// Returns the number of occurrences of a field.
    fn count(&self, complex: &ComplexElement, field: usize) -> u32 {
        match (self.fields.get(field), complex.fields.get(field)) {
            (None | Some(Value::Absent), _) => 0,
            (Some(Value::List(items)), Some(field)) if field.is_repeated() || items.is_empty() => {
                u32::try_from(items.len()).unwrap_or(u32::MAX)
            }
            (Some(Value::List(_)), _) => 1,
            (Some(value), _) => value.occurrences().map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX)),
        }
    }

    /// Returns true if fields are present that exclude a field.
    pub(super) fn excludes(&self, complex: &ComplexElement, field: usize) -> bool {
        let mut others = (0..complex.fields.len()).filter(|other| *other != field);
        if complex.compositor == Compositor::Choice {
            return others.any(|other| self.count(complex, other) > 0);
        }
        let with_it = |other| self.count(complex, other).max(u32::from(other == field));
        !complex.choices.is_empty() && matches!(complex.choice_fault(with_it), Some(ChoiceFault::Several(_)))
    }

    /// Returns true if fields that exclude each other are present. Missing fields do not matter for
    /// writing.
    pub(super) fn has_several(&self, complex: &ComplexElement) -> bool {
        !complex.choices.is_empty() && matches!(self.choice_fault(complex), Some(ChoiceFault::Several(_)))
    }

    /// Returns true if the record has no attributes, not even absent ones.
    pub(super) fn has_fields_alone(&self) -> bool {
        self.attributes.is_empty() && self.others.is_empty()
    }

    pub(super) fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        let complex = view.complex()?;
        for (value, field) in self.fields.iter_mut().zip(complex.fields.iter()) {
            let content = view.follow(field.element);
            if matches!(value, Value::Absent) {
                *value = Value::vacant(content);
            }
            value.scan_flat(scan, content)?;
        }
        Some(())
    }

    /// Like [`scan_flat`](Self::scan_flat), but creates a record. Flat records have no attributes.
    pub(super) fn read_flat<S: FlatSource>(complex: &ComplexElement, scan: &mut S, view: View<'_>) -> Option<Self> {
        let mut fields = Vec::new();
        fields.resize_with(complex.fields.len(), || Value::Absent);
        for (value, field) in fields.iter_mut().zip(complex.fields.iter()) {
            value.fill_flat(scan, view.follow(field.element))?;
        }
        Some(Record { fields, attributes: Vec::new(), others: Default::default() })
    }

    pub(super) fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        let Some(complex) = view.complex() else { return };
        for (value, field) in self.fields.iter().zip(complex.fields.iter()) {
            value.write_flat(sink, view.follow(field.element));
        }
    }

    pub(super) fn is_flat(&self, view: View<'_>) -> bool {
        let Some(complex) = view.complex() else { return false };
        let mut pairs = self.fields.iter().zip(complex.fields.iter());
        self.fields.len() == complex.fields.len()
            && pairs.all(|(value, field)| value.is_flat(view.follow(field.element)))
    }
}

/// Creates the value of a field that does not occur. `view` is that of its content.
fn vacant_field(complex: &ComplexElement, field: &Field, view: View<'_>) -> Value {
    let is_choice = complex.compositor == Compositor::Choice;
    match view.element {
        _ if field.is_repeated() => no_items(field, view),
        _ if field.min == 0 || is_choice || field.inline => Value::Absent,
        Element::Complex(_) | Element::Open(_) | Element::Shared(_) => Value::Absent,
        _ => Value::vacant(view),
    }
}

/// Creates the value of a repeated field that does not occur. `view` is that of its content. A
/// table is created with the first item; without items it would waste memory.
fn no_items(field: &Field, view: View<'_>) -> Value {
    Column::for_field(field, view).map_or(Value::List(Vec::new()), Value::Column)
}

/// Maximum number of elements of a flat type: a bound against schemas that require themselves, or a
/// very large number of elements.
const FLAT_ELEMENTS: usize = 1024;

/// See [`Shortcuts::flat_leaves`].
pub(super) fn flat_leaves(view: View<'_>) -> Option<usize> {
    // Most types are not flat; this check rejects them quickly.
    if !matches!(view.element, Element::Simple(_)) && !view.complex().is_some_and(is_plain) {
        return None;
    }
    let (mut leaves, mut elements) = (0, 0);
    let mut ahead = vec![view];
    while let Some(view) = ahead.pop() {
        elements += 1;
        match view.element {
            _ if elements > FLAT_ELEMENTS => return None,
            // The meaning of a name depends on more than its text, and an empty text may stand for
            // a default.
            Element::Simple(simple) if simple.default.is_some() || is_name(simple.base) => return None,
            Element::Simple(simple) if simple.packed.is_some() => return None,
            Element::Simple(simple) if simple.enumeration.is_empty() => leaves += 1,
            Element::Complex(complex) if is_plain(complex) => {
                ahead.extend(complex.fields.iter().map(|field| view.follow(field.element)));
            }
            _ => return None,
        }
    }
    Some(leaves).filter(|&leaves| leaves > 0)
}

/// Returns true if every value of the type has the same fields in the same order, each once.
fn is_plain(complex: &ComplexElement) -> bool {
    complex.compositor == Compositor::Sequence && complex.has_required_fields_alone()
}

/// The occurrences of a repeated field.
pub(super) trait Occurrences {
    /// See [`Occurs::open`](crate::Occurs::open).
    fn open(&mut self, place: usize, view: View<'_>) -> usize;

    /// See [`Occurs::splice`](crate::Occurs::splice).
    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize;

    /// Keeps the first `count` occurrences.
    fn truncate(&mut self, count: usize);

    /// See [`ListShortcuts::run`](crate::content::ListShortcuts::run).
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run;

    /// See [`ListShortcuts::patch`](crate::content::ListShortcuts::patch).
    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch;
}

impl Occurrences for Vec<Value> {
    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        open_item(self, place, view)
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        splice_items(self, place, removed, inserted, view)
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }

    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        match Value::flat_leaves(view) {
            Some(_) => flat::run(self, cursor, std::ptr::from_ref(field).addr(), view),
            None => Run::Items(0),
        }
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        flat::patch(self, cursor, view)
    }
}

/// A record being read, with its schema.
pub(super) struct Target<'t> {
    pub(super) record: &'t mut Record,
    pub(super) complex: &'t ComplexElement,
    pub(super) view: View<'t>,
}

impl Target<'_> {
    /// Returns the occurrences of a repeated field.
    fn list(&mut self, field: usize) -> Option<&mut dyn Occurrences> {
        let is_repeated = self.is_repeated(field);
        match &mut self.record.fields[field] {
            Value::Column(column) => Some(column),
            Value::Table(table) => Some(&mut **table),
            Value::List(items) if is_repeated => Some(items),
            _ => None,
        }
    }

    fn is_repeated(&self, field: usize) -> bool {
        self.complex.fields.get(field).is_some_and(Field::is_repeated)
    }

    /// Converts an empty list to a table if the next item can only be a row.
    fn prepare(&mut self, field: usize, view: View<'_>) {
        if let Value::List(items) = &self.record.fields[field]
            && items.is_empty()
            && let Some(decl) = self.complex.fields.get(field)
            && let Some(table) = Table::for_field(decl, view)
        {
            self.record.fields[field] = Value::Table(Box::new(table));
        }
    }
}

impl DecodeFields for Target<'_> {
    fn open(&mut self, field: usize, place: usize, view: View<'_>) -> usize {
        self.prepare(field, view);
        match self.list(field) {
            Some(list) => list.open(place, view),
            None => {
                // The value is created when it is read.
                if place == APPENDED {
                    self.record.fields[field] = Value::Absent;
                }
                0
            }
        }
    }

    fn splice(&mut self, field: usize, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        self.list(field).map_or(0, |list| list.splice(place, removed, inserted, view))
    }

    fn keep(&mut self, field: usize, count: usize, view: View<'_>) {
        match self.list(field) {
            Some(list) => list.truncate(count),
            None if count == 0 => {
                self.record.fields[field] = vacant_field(self.complex, &self.complex.fields[field], view);
            }
            None => {}
        }
    }

    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (place, is_repeated) = (cursor.place(), self.is_repeated(field));
        let value = &mut self.record.fields[field];
        let is_gathered = matches!(value, Value::Column(_) | Value::Table(_)) && cursor.is_entering();
        if is_gathered && (cursor.takes_no_shortcuts() || nil_attribute(cursor)?.0) {
            value.spread();
        }
        match value {
            Value::Column(column) => column.decode(place, cursor, view),
            Value::Table(_) => table::decode_row(value, place, cursor, view),
            Value::List(items) if is_repeated => {
                let place = still_there(place, items.len());
                match items.get_mut(place) {
                    Some(item) => item.decode(cursor, view),
                    None => unreachable!("an occurrence that was not opened"),
                }
            }
            value => value.decode(cursor, view),
        }
    }

    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        self.prepare(field, view);
        self.list(field).map_or(Run::Items(0), |list| list.run(cursor, decl, view))
    }

    fn patch(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        self.list(field).map_or(Patch::Other { field: 0, count: 0 }, |list| list.patch(cursor, view))
    }

    fn item_leaves(&self, _: usize, view: View<'_>) -> Option<usize> {
        Value::flat_leaves(view)
    }

    #[inline]
    fn scan_leaf(&mut self, field: usize, scan: &mut Leaf<'_>, view: View<'_>) -> Option<()> {
        if let Value::Column(column) = &mut self.record.fields[field] {
            return column.scan_leaf(scan);
        }
        let Element::Simple(simple) = view.element else { return None };
        // The meaning of a name depends on more than its text, and that of bytes on their packing.
        if is_name(simple.base) || simple.packed.is_some() {
            return None;
        }
        let mut value = Value::Absent;
        Simple::fill_flat(&mut value, scan, simple.base)?;
        if !simple.enumeration.is_empty() && !matches!(&value, Value::Simple(value) if value.is_one_of(simple)) {
            return None;
        }
        let is_repeated = self.is_repeated(field);
        match &mut self.record.fields[field] {
            Value::List(items) if is_repeated => items.push(value),
            place => *place = value,
        }
        Some(())
    }

    /// Marks a field as missing. If a table's row became a record while it was read, the field
    /// would otherwise keep the column's value.
    fn note_missing(&mut self, field: usize) {
        if !self.is_repeated(field) {
            self.record.fields[field] = Value::Absent;
        }
    }

    fn vacate(&mut self, view: View<'_>) {
        *self.record = Record::vacant(self.complex, view);
    }

    fn vacate_attributes(&mut self) {
        self.record.attributes.fill(None);
        self.record.others.clear();
    }

    fn other_attribute(&mut self, name: QName, text: &str) {
        self.record.others.insert(name, text.to_owned());
    }

    fn attribute(&mut self, index: usize, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        let view = self.view.follow(self.complex.attributes[index].element);
        self.record.attributes[index] = Some(match view.element {
            Element::Simple(simple) if view.element.is_name() => Simple::named_in(simple.base, text, names)?,
            Element::Simple(simple) => Simple::parse_as(simple, text)?,
            Element::Union(union) => Simple::parse_union_in(union, view, text, names).ok_or(NO_MEMBER)?,
            _ => Simple::String(text.to_owned()),
        });
        Ok(())
    }
}

/// A body of several elements: each is a field of a record.
impl Parts for Value {
    fn without_parts(view: View<'_>) -> Self {
        let count = view.complex().map_or(0, |complex| complex.fields.len());
        let fields = vec![Value::Absent; count];
        Value::Record(Box::new(Record { fields, attributes: Vec::new(), others: Default::default() }))
    }

    fn open_part(&mut self, _: usize, _: View<'_>) {}

    fn decode_part(&mut self, part: usize, cursor: &mut Cursor<'_>, content: View<'_>) -> Step {
        let Value::Record(record) = self else { return Ok(()) };
        record.fields.get_mut(part).map_or(Ok(()), |value| value.decode(cursor, content))
    }
}

impl EncodeFields for Record {
    fn encode_field(&self, index: usize, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        match self.fields.get(index) {
            None => {}
            Some(list) if overlay::is_at(encoder, list) => encode_streamed(list, encoder, field, view),
            Some(value) => encode_occurrences(value, encoder, field, view),
        }
    }

    fn encode_attribute(&self, index: usize, encoder: &mut Encoder, complex: &ComplexElement) {
        if let Some(Some(value)) = self.attributes.get(index) {
            value.attribute(encoder, &complex.attributes[index].name);
        }
    }

    fn encode_others(&self, encoder: &mut Encoder, complex: &ComplexElement) {
        for (name, text) in &self.others {
            if !complex.takes_other(name) {
                return encoder.fail(OTHER_ATTRIBUTE);
            }
            encoder.attribute(name, text);
        }
    }
}

/// Writes all occurrences of a field.
fn encode_occurrences(value: &Value, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    match value {
        Value::Absent => {}
        value if field.inline => value.encode_inline(encoder, view),
        Value::List(items) if field.is_repeated() => encode_items(items, encoder, field, view),
        Value::Column(column)
            if field.is_repeated() && matches!(view.element, Element::Simple(_) | Element::Union(_)) =>
        {
            column.encode(encoder, field, view);
        }
        Value::Table(table) if field.is_repeated() => table.encode(encoder, field, view),
        value => encode_item(value, encoder, field, view),
    }
}

/// Writes a list whose further items come from an overlay.
fn encode_streamed(list: &Value, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    if field.is_repeated() {
        encode_occurrences(list, encoder, field, view);
        overlay::note(encoder, field);
    } else {
        // An array notes its own place.
        encode_item(list, encoder, field, view);
    }
}
