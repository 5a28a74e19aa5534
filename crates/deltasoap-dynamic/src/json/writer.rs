//! Conversion of values to JSON.
//!
//! Nested values are written by nested calls. Code that only some values need is in functions of
//! its own, because every level takes the stack space of all functions on its path.

use super::identities::{SharedIds, SharedOccurrence, identified, reference};
use super::keys::{Layout, Slot};
use super::nil::nil;
use super::path::Path;
use super::{Decimals, JsonError, Layouts, Marked, PART, scalar};
use crate::client::Parts;
use crate::contract::{Contract, Types};
use deltasoap_core::lexical::Base64;
use deltasoap_core::schema::{ArrayElement, ComplexElement, Element, ElementRef, Field, OpenElement, Packing, View};
use deltasoap_core::{Column, PartUri, QName, Record, Shared, Simple, Value};
use serde_json::{Map, Value as Json};
use std::borrow::Borrow;

/// Writes one value as JSON, with everything in it.
pub(crate) struct JsonWriter<'c> {
    pub(super) types: &'c Types,
    pub(super) layouts: Layouts<'c>,
    shared: SharedIds,
    decimals: Decimals,
    /// Bytes that came in separate parts.
    parts: Option<&'c Parts>,
    /// The place for long lists that become text at once.
    marked: Option<&'c Marked>,
}

impl<'c> JsonWriter<'c> {
    pub(crate) fn new(contract: &'c Contract, value: &Value) -> Self {
        let types = &*contract.types;
        JsonWriter {
            types,
            layouts: Layouts::new(&types.lowered.schema),
            shared: SharedIds::of(value),
            decimals: contract.decimals,
            parts: None,
            marked: None,
        }
    }

    /// Starts another value, with ids of its own.
    pub(crate) fn of_another(self, value: &Value) -> Self {
        JsonWriter { shared: SharedIds::of(value), ..self }
    }

    /// Writes an item of a list.
    ///
    /// # Errors
    /// If the item has another shape than its schema.
    pub(crate) fn item(&self, item: &Value, field: &Field, path: &Path<'_>) -> Result<Json, JsonError> {
        self.occurrence(item, field, path)
    }

    /// Writes an item of a list as text.
    ///
    /// # Errors
    /// Those of [`item`](Self::item). Then nothing was written.
    pub(crate) fn write_item(
        contract: &'c Contract,
        item: &Value,
        field: &Field,
        to: &mut Vec<u8>,
    ) -> Result<(), JsonError> {
        match (item, contract.view(field.element).element) {
            (Value::Tree(node), _) if field.inline => contract.types.write_tree(node, None, to),
            (Value::Tree(node), Element::Any) => contract.types.write_tree(node, Some(&field.name), to),
            (Value::Tree(node), Element::Open(_)) if !contract.types.is_text(node, field.element) => {
                contract.types.write_tree(node, Some(&field.name), to);
            }
            _ => {
                let json = JsonWriter::new(contract, item).item(item, field, &Path::Root)?;
                // Writing to memory does not fail.
                let _ = serde_json::to_writer(to, &json);
            }
        }
        Ok(())
    }

    /// Adds the bytes of parts that the value refers to.
    pub(crate) fn with_parts(self, parts: &'c Parts) -> Self {
        JsonWriter { parts: Some(parts), ..self }
    }

    /// Leaves marks for long lists of doubles; [`Marked::to_text`] writes them.
    pub(crate) fn with_marks(self, marked: &'c Marked) -> Self {
        JsonWriter { marked: Some(marked), ..self }
    }

    /// Writes the content of an element of this name.
    ///
    /// # Errors
    /// If the value has another shape than its schema.
    pub(crate) fn content(
        &self,
        value: &Value,
        content: ElementRef,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Json, JsonError> {
        if let Some(nil) = self.nil(value, content, true) {
            return Ok(nil);
        }
        let view = self.layouts.schema.view(content);
        match (value, view.element) {
            (Value::Simple(simple), Element::Simple(_) | Element::Union(_)) => {
                Ok(scalar::to_json(simple, view, self.decimals))
            }
            (Value::Name(name), Element::Simple(_)) => Ok(Json::String(name.to_string())),
            (Value::Packed(column), Element::Simple(_)) => Ok(items_of(column, view, self.decimals)),
            (Value::Part(uri), Element::Simple(simple)) => Ok(self.part(uri, simple.packed, view)),
            (Value::Record(record), Element::Complex(complex)) => {
                let layout = self.layouts.of(content, complex);
                self.record(record, complex, &layout, path).map(Json::Object)
            }
            (Value::List(items), Element::Array(array)) => self.rows(items, array, array.dimensions, path),
            (Value::Tree(node), Element::Open(_)) => Ok(self.open_tree(node, content, name)),
            (Value::Tree(node), Element::Any) => Ok(self.types.tree_to_json(node, Some(name))),
            (Value::Typed(typed), Element::Open(open)) => self.typed(typed, open, name, path),
            (value, Element::Open(OpenElement { base: Some(base), .. })) => self.content(value, *base, name, path),
            (Value::Shared(shared), Element::Shared(content)) => self.shared(shared, *content, name, path),
            (value, Element::Shared(content)) => self.content(value, *content, name, path),
            _ => Err(misshapen(path)),
        }
    }

    /// Writes the bytes of a part, or the numbers that they encode, or a reference to the part.
    fn part(&self, uri: &PartUri, packed: Option<Packing>, view: View<'_>) -> Json {
        let bytes = self.parts.and_then(|parts| parts.bytes(uri));
        let column = bytes.zip(packed).and_then(|(bytes, packing)| Column::from_packed(bytes, packing).ok());
        match (column, bytes) {
            (Some(column), _) => items_of(&column, view, self.decimals),
            (None, Some(bytes)) => Json::String(Simple::Base64Binary(Base64(bytes.to_vec())).to_string()),
            (None, None) => Json::Object(Map::from_iter([(PART.to_owned(), Json::String(uri.to_string()))])),
        }
    }

    /// Writes the items of an array, in rows if there are several dimensions.
    fn rows(&self, items: &[Value], array: &ArrayElement, dimensions: u32, path: &Path<'_>) -> Result<Json, JsonError> {
        let item = |(index, item): (usize, &Value)| match item {
            Value::List(items) if dimensions > 1 => self.rows(items, array, dimensions - 1, &path.index(index)),
            item => match self.nil(item, array.item, array.nillable) {
                Some(nil) => Ok(nil),
                None => self.content(item, array.item, &array.item_name, &path.index(index)),
            },
        };
        items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Json::Array)
    }

    /// Writes a place of a shared value: the first one gets an id, the others refer to it.
    fn shared(
        &self,
        shared: &Shared<Value>,
        content: ElementRef,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Json, JsonError> {
        let number = self.shared.next(shared);
        if let Some(SharedOccurrence::Other(number)) = number {
            return Ok(reference(number));
        }
        let value = shared.get().ok_or_else(|| JsonError::new(path, "a value", "a handle to a dropped value"))?;
        let _within = self.shared.enter(path)?;
        let (json, number) = match (&*value, number) {
            // The id distinguishes it from a place that is itself nil.
            (Value::Nil, None) => (nil(false), Some(SharedOccurrence::First(self.shared.fresh()))),
            (Value::Nil, number) => (nil(false), number),
            (value, number) => (self.content(value, content, name, path)?, number),
        };
        Ok(match number {
            Some(SharedOccurrence::First(number)) => identified(number, json),
            _ => json,
        })
    }

    fn record(
        &self,
        record: &Record,
        complex: &ComplexElement,
        layout: &Layout,
        path: &Path<'_>,
    ) -> Result<Map<String, Json>, JsonError> {
        let mut object = Map::new();
        self.attributes(record, complex, layout, &mut object);
        self.text(record, complex, &mut object, path)?;
        for ((value, field), slot) in record.fields.iter().zip(complex.fields.iter()).zip(&layout.slots) {
            self.field(value, field, slot, &mut object, path)?;
        }
        Ok(object)
    }

    fn attributes(&self, record: &Record, complex: &ComplexElement, layout: &Layout, object: &mut Map<String, Json>) {
        for (index, (value, key)) in record.attributes.iter().zip(&layout.attributes).enumerate() {
            let Some(value) = value else { continue };
            let view = self.layouts.schema.view(complex.attributes[index].element);
            object.insert(key.clone(), scalar::to_json(value, view, self.decimals));
        }
        object.extend(record.others.iter().map(|(name, text)| (layout.other(name), Json::String(text.clone()))));
    }

    fn text(
        &self,
        record: &Record,
        complex: &ComplexElement,
        object: &mut Map<String, Json>,
        path: &Path<'_>,
    ) -> Result<(), JsonError> {
        let text = record.fields.first().filter(|text| **text != Value::Absent);
        if let (Some(content), Some(text)) = (complex.text, text) {
            object.insert("$".to_owned(), self.content(text, content, &complex.name, &path.key("$"))?);
        }
        Ok(())
    }

    fn field(
        &self,
        value: &Value,
        field: &Field,
        slot: &Slot,
        object: &mut Map<String, Json>,
        path: &Path<'_>,
    ) -> Result<(), JsonError> {
        let (key, json) = match slot {
            Slot::Nowhere => return Ok(()),
            _ if *value == Value::Absent => return Ok(()),
            Slot::Property(key) => (key, self.occurrences(value, field, &path.key(key))?),
            Slot::Among(layout) => return self.choice(value, field, layout, object, path),
            Slot::Choices(key, layout) => (key, self.choices(value, field, layout, &path.key(key))?),
        };
        object.extend(json.map(|json| (key.clone(), json)));
        Ok(())
    }

    /// Writes a field's property; `None` for an empty list.
    fn occurrences(&self, value: &Value, field: &Field, path: &Path<'_>) -> Result<Option<Json>, JsonError> {
        match value {
            Value::List(items) if field.is_repeated() => self.items(items.iter(), field, path),
            Value::Column(column) if column.is_empty() => Ok(None),
            Value::Column(column) => {
                let mark = self.marked.and_then(|marked| marked.mark(column));
                let view = self.layouts.schema.view(field.element);
                Ok(Some(mark.unwrap_or_else(|| items_of(column, view, self.decimals))))
            }
            Value::Table(table) => self.items(table.rows().map(|row| Value::Record(Box::new(row))), field, path),
            value => self.occurrence(value, field, path).map(Some),
        }
    }

    fn items<V: Borrow<Value>>(
        &self,
        items: impl Iterator<Item = V>,
        field: &Field,
        path: &Path<'_>,
    ) -> Result<Option<Json>, JsonError> {
        let item = |(index, item): (usize, V)| self.occurrence(item.borrow(), field, &path.index(index));
        let items = items.enumerate().map(item).collect::<Result<Vec<_>, _>>()?;
        Ok(list(items))
    }

    fn occurrence(&self, value: &Value, field: &Field, path: &Path<'_>) -> Result<Json, JsonError> {
        if let Some(nil) = self.nil(value, field.element, field.nillable) {
            return Ok(nil);
        }
        match value {
            Value::Tree(node) if field.inline => Ok(self.types.tree_to_json(node, None)),
            value => self.content(value, field.element, &field.name, path),
        }
    }

    fn choices(
        &self,
        value: &Value,
        field: &Field,
        layout: &Layout,
        path: &Path<'_>,
    ) -> Result<Option<Json>, JsonError> {
        let Value::List(items) = value else {
            return Err(JsonError::new(path, "a list of choices", "another value"));
        };
        let object = |(index, item)| {
            let mut object = Map::new();
            self.choice(item, field, layout, &mut object, &path.index(index))?;
            Ok(Json::Object(object))
        };
        items.iter().enumerate().map(object).collect::<Result<Vec<_>, _>>().map(list)
    }

    fn choice(
        &self,
        value: &Value,
        field: &Field,
        layout: &Layout,
        object: &mut Map<String, Json>,
        path: &Path<'_>,
    ) -> Result<(), JsonError> {
        match (value, self.layouts.schema.view(field.element).element) {
            (Value::Record(record), Element::Complex(complex)) => {
                object.extend(self.record(record, complex, layout, path)?);
                Ok(())
            }
            _ => Err(JsonError::new(path, "a choice", "another value")),
        }
    }
}

/// Returns the property of a list; `None` if it is empty.
fn list(items: Vec<Json>) -> Option<Json> {
    Some(items).filter(|items| !items.is_empty()).map(Json::Array)
}

fn misshapen(path: &Path<'_>) -> JsonError {
    JsonError::new(path, "a value of the shape that its schema defines", "another")
}

/// Writes the items of a column.
fn items_of(column: &Column, view: View<'_>, decimals: Decimals) -> Json {
    column.iter().map(|item| scalar::to_json(&item, view, decimals)).collect()
}
