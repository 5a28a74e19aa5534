//! Fills a sample with lists and strings of the requested sizes.

use crate::CostError;
use crate::element_path::ElementPath;
use crate::usage::item_field;
use crate::workload::{Class, typical};
use deltasoap_core::schema::{Element, Field, SimpleElement, View};
use deltasoap_core::{QName, Record, Shared, Simple, Value};
use deltasoap_streams::prng::{SEED, SplitMix64};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of values in a message.
const MAX_VALUES: usize = 500_000;
/// Maximum number of characters in all strings of a message together.
const MAX_CHARACTERS: usize = 100_000_000;

/// The sizes that a WSDL leaves open, by path.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// Items of lists.
    pub lengths: BTreeMap<String, usize>,
    /// Characters of strings, octets of binary data.
    pub texts: BTreeMap<String, usize>,
    /// The share of leaves that change from one message to the next, from 0 to 1; the empty path
    /// means the whole message.
    pub changed: BTreeMap<String, f64>,
    /// Items of lists without a given size.
    pub length: usize,
    /// Characters of strings without a given size.
    pub text: usize,
}

impl Default for Sizes {
    /// Ten items, twenty characters, no changes.
    fn default() -> Self {
        let (lengths, texts, changed) = Default::default();
        Sizes { lengths, texts, changed, length: 10, text: 20 }
    }
}

/// A part whose size the WSDL leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenPart {
    /// The path of the part.
    pub path: String,
    /// The kind of size.
    pub kind: SizeKind,
    /// The size used.
    pub size: usize,
    /// True if the size was not given.
    pub is_assumed: bool,
}

/// The kind of size that a WSDL leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeKind {
    /// Number of items in a list.
    Length,
    /// Number of characters in a string, or of octets.
    Text,
}

/// Fills one sample.
pub(super) struct Filler<'s> {
    sizes: &'s Sizes,
    pub(super) open: Vec<OpenPart>,
    known: BTreeSet<(SizeKind, String)>,
    path: ElementPath,
    random: SplitMix64,
    values: usize,
    characters: usize,
}

impl<'s> Filler<'s> {
    pub(super) fn new(sizes: &'s Sizes) -> Self {
        let (open, known, path) = Default::default();
        Filler { sizes, open, known, path, random: SplitMix64::new(SEED), values: 0, characters: 0 }
    }

    pub(super) fn fill(&mut self, value: &mut Value, view: View<'_>) -> Result<(), CostError> {
        if let Element::Open(open) = view.element {
            let (content, held) = match value {
                Value::Typed(typed) => (open.named(&typed.name), &mut typed.value),
                value => (open.base, value),
            };
            return content.map_or(Ok(()), |content| self.fill(held, view.follow(content)));
        }
        self.count(1)?;
        match (&mut *value, view.element) {
            (Value::Simple(simple), Element::Simple(element)) => {
                self.leaf(simple, element)?;
                if view.element.is_name() {
                    let local = simple.to_string();
                    *value = Value::Name(Box::new(QName::owned("", local)));
                }
            }
            (Value::Record(record), Element::Complex(_)) => self.record(record, view)?,
            (Value::List(items), Element::Array(array)) => {
                let field = item_field(array.item_name.clone(), array.item);
                self.list(items, &field, view.follow(array.item))?;
            }
            (Value::Shared(shared), Element::Shared(content)) => {
                let held = shared.get().map(|value| (*value).clone());
                if let Some(mut value) = held {
                    self.fill(&mut value, view.follow(*content))?;
                    *shared = Shared::new(value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, values: usize) -> Result<(), CostError> {
        self.values = self.values.saturating_add(values);
        bounded(self.values, MAX_VALUES, "values")
    }

    fn record(&mut self, record: &mut Record, view: View<'_>) -> Result<(), CostError> {
        let Some(complex) = view.complex() else { return Ok(()) };
        for (value, attribute) in record.attributes.iter_mut().zip(complex.attributes.iter()) {
            if let (Some(value), Element::Simple(element)) = (value, view.follow(attribute.element).element) {
                let outside = self.path.enter(&format!("@{}", attribute.name.local));
                self.leaf(value, element)?;
                self.path.leave(outside);
            }
        }
        if let Some(text) = complex.text {
            return record.fields.iter_mut().try_for_each(|value| self.fill(value, view.follow(text)));
        }
        let fields = record.fields.iter_mut().zip(complex.fields.iter());
        for (value, field) in fields {
            self.field(value, field, view.follow(field.element))?;
        }
        Ok(())
    }

    fn field(&mut self, value: &mut Value, field: &Field, view: View<'_>) -> Result<(), CostError> {
        if field.inline {
            return match value {
                Value::List(items) => items.iter_mut().try_for_each(|item| self.fill(item, view)),
                value => self.fill(value, view),
            };
        }
        let outside = self.path.enter(&field.name.local);
        value.spread();
        let filled = match value {
            Value::List(items) if field.is_repeated() => self.list(items, field, view),
            value => self.fill(value, view),
        };
        self.path.leave(outside);
        filled
    }

    /// Fills a list to its requested length, each item with its own values. A list without items
    /// stays empty: its type would have no end.
    fn list(&mut self, items: &mut Vec<Value>, field: &Field, view: View<'_>) -> Result<(), CostError> {
        let Some(pattern) = items.first().cloned() else { return Ok(()) };
        let (least, most) = (field.min as usize, field.max.map_or(usize::MAX, |max| max as usize));
        let length = self.size(SizeKind::Length, (least, most));
        // Count the content of all items before creating them; each counts itself again when
        // filled.
        let ahead = length.saturating_mul(values_in(&pattern));
        bounded(self.values.saturating_add(ahead), MAX_VALUES, "values")?;
        self.count(length)?;
        *items = vec![pattern; length];
        items.iter_mut().try_for_each(|item| self.fill(item, view))
    }

    fn leaf(&mut self, value: &mut Simple, element: &SimpleElement) -> Result<(), CostError> {
        let is_open = Class::from_builtin(element.base).has_length() && element.enumeration.is_empty();
        let length = if is_open { self.size(SizeKind::Text, (0, usize::MAX)) } else { 0 };
        self.characters = self.characters.saturating_add(length);
        bounded(self.characters, MAX_CHARACTERS, "characters")?;
        if let Some(typical) = typical(element, length, &mut self.random) {
            *value = typical;
        }
        Ok(())
    }

    /// Returns the size of the current part. An assumed size is clamped to the bounds of the
    /// schema; a given one is used as is.
    fn size(&mut self, kind: SizeKind, (least, most): (usize, usize)) -> usize {
        let (given, assumed) = match kind {
            SizeKind::Length => (&self.sizes.lengths, self.sizes.length.clamp(least, most.max(least))),
            SizeKind::Text => (&self.sizes.texts, self.sizes.text),
        };
        let given = given.get(self.path.as_str()).copied();
        let size = given.unwrap_or(assumed);
        if self.known.insert((kind, self.path.as_str().to_owned())) {
            self.open.push(OpenPart { path: self.path.as_str().to_owned(), kind, size, is_assumed: given.is_none() });
        }
        size
    }
}

/// Returns the number of values in a value, including itself.
fn values_in(value: &Value) -> usize {
    let below = match value {
        Value::Record(record) => record.fields.iter().map(values_in).sum(),
        Value::List(items) => items.iter().map(values_in).sum(),
        Value::Column(column) | Value::Packed(column) => column.len(),
        Value::Table(table) => table.len() * (table.columns().len() + 1),
        Value::Shared(shared) => shared.get().map_or(0, |held| values_in(&held)),
        _ => 0,
    };
    below + 1
}

fn bounded(found: usize, limit: usize, what: &'static str) -> Result<(), CostError> {
    if found > limit { Err(CostError::TooLarge { limit, what }) } else { Ok(()) }
}
