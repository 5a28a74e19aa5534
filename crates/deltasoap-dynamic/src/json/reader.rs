//! Conversion of JSON to values.

use super::branches::by_branches;
use super::error::kind;
use super::identities::{ID, Known};
use super::keys::{Layout, Slot, is_choice};
use super::nil::{NIL, is_nil};
use super::open::{is_tree, plain};
use super::path::Path;
use super::scalar::checked;
use super::{JsonError, Layouts, PART, scalar};
use crate::contract::Types;
use crate::facets;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ChoiceFault, ComplexElement, Compositor, Element, ElementRef, Field, Packing,
    Schema, SimpleElement, View,
};
use deltasoap_core::{Column, PartUri, QName, Record, Shared, Simple, Value};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Reads JSON as one value, with everything in it.
pub(crate) struct JsonReader<'c> {
    pub(super) types: &'c Types,
    pub(super) layouts: Layouts<'c>,
    known: Known,
}

impl<'c> JsonReader<'c> {
    pub(crate) fn new(types: &'c Types) -> Self {
        JsonReader { types, layouts: Layouts::new(&types.lowered.schema), known: Known::default() }
    }

    /// Reads the content of an element of this name that is not nil.
    ///
    /// # Errors
    /// If the JSON does not match the schema.
    pub(crate) fn content(
        &self,
        json: &Json,
        content: ElementRef,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let view = self.layouts.schema.view(content);
        match view.element {
            Element::Simple(SimpleElement { base: Builtin::Base64Binary, .. }) if json.get(PART).is_some() => {
                part(json, path).map(Value::Part)
            }
            Element::Simple(SimpleElement { packed: Some(packing), .. }) => {
                numbers(json, *packing, path).map(Value::Packed)
            }
            element if element.is_name() => scalar::name_from_json(json, path).map(Value::Name),
            Element::Simple(_) | Element::Union(_) => self.simple(json, content, path).map(Value::Simple),
            Element::Complex(complex) => self.complex(json, content, complex, &[], path),
            Element::Array(array) => self.rows(json, array, &sizes(json, array.dimensions), path),
            Element::Shared(content) => self.shared(json, *content, name, path).map(Value::Shared),
            Element::Any => self.tree(json, Some(name), path),
            Element::Open(open) => self.open(json, content, open, name, path),
        }
    }

    /// Reads a value of a simple type; a boolean is read as a digit if its pattern requires one.
    fn simple(&self, json: &Json, content: ElementRef, path: &Path<'_>) -> Result<Simple, JsonError> {
        let view = self.layouts.schema.view(content);
        let origin = self.types.lowered.origin(content).filter(|_| matches!(view.element, Element::Union(_)));
        if let (Json::Bool(it), Some(origin)) = (json, origin) {
            let fits = |text: &str| facets::violation(self.types.import.schemas(), origin.type_id, text).is_none();
            let digit = if *it { "1" } else { "0" };
            if !fits(&it.to_string()) && fits(digit) {
                return scalar::from_json(&Json::from(digit), view, path);
            }
        }
        scalar::from_json(json, view, path)
    }

    fn shared(
        &self,
        json: &Json,
        content: ElementRef,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Shared<Value>, JsonError> {
        if let Some(known) = self.known.referred(json, content, path)? {
            return Ok(known);
        }
        self.known.identified(json, content, path, || match self.layouts.schema.view(content).element {
            _ if json.get(NIL) == Some(&Json::Bool(true)) => self.nil(json, content, path),
            Element::Complex(complex) => self.complex(json, content, complex, &[ID], path),
            _ => match json.as_object().filter(|object| object.contains_key(ID) && is_tree(object)) {
                Some(object) => {
                    let mut tree = object.clone();
                    tree.remove(ID);
                    self.content(&Json::Object(tree), content, name, path)
                }
                None => self.content(json, content, name, path),
            },
        })
    }

    /// Reads the items of an array, in rows if there are several dimensions. `lengths` are those of
    /// the first row, of the first row in it, and so on, which all rows must have.
    fn rows(&self, json: &Json, array: &ArrayElement, lengths: &[usize], path: &Path<'_>) -> Result<Value, JsonError> {
        let items = items(json, &array.item_name, path)?;
        let item = |(index, item): (usize, &Json)| match (item, lengths) {
            (row, [length, inner @ ..]) => {
                let path = path.index(index);
                match row.as_array().map_or(*length, Vec::len) {
                    found if found == *length => self.rows(row, array, inner, &path),
                    found => {
                        Err(JsonError::new(&path, format!("a row of {length}, like the first one"), an_array(found)))
                    }
                }
            }
            (item, []) if is_nil(item, array.nillable) => self.nil(item, array.item, &path.index(index)),
            (item, []) => self.content(item, array.item, &array.item_name, &path.index(index)),
        };
        items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::List)
    }

    /// Reads a record. `extra` lists additional properties that it may have.
    pub(super) fn complex(
        &self,
        json: &Json,
        content: ElementRef,
        complex: &ComplexElement,
        extra: &[&'static str],
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let layout = self.layouts.of(content, complex);
        let bare;
        let object = match json {
            Json::Object(object) => object,
            Json::Null | Json::Array(_) => return Err(self.wants_object(complex, json, path)),
            text if complex.text.is_some() => {
                bare = Map::from_iter([("$".to_owned(), text.clone())]);
                &bare
            }
            json => return Err(self.wants_object(complex, json, path)),
        };
        self.only_known(object, complex, &layout, extra, path)?;
        let view = self.layouts.schema.view(content);
        Ok(Value::Record(Box::new(self.record(object, complex, &layout, view, path)?)))
    }

    fn wants_object(&self, complex: &ComplexElement, json: &Json, path: &Path<'_>) -> JsonError {
        let name = &complex.name.local;
        let expected = if name.is_empty() { "an object".to_owned() } else { format!("an object of {name}") };
        JsonError::new(path, expected, kind(json))
    }

    /// Refuses unknown properties.
    fn only_known(
        &self,
        object: &Map<String, Json>,
        complex: &ComplexElement,
        layout: &Layout,
        extra: &[&'static str],
        path: &Path<'_>,
    ) -> Result<(), JsonError> {
        let mut known = Vec::new();
        layout.properties(&mut known);
        known.extend(complex.text.map(|_| "$"));
        known.extend(extra);
        let names_itself = |key: &str, value: &Json| {
            key == "$type" && value.as_str().is_some_and(|label| self.types.is_named(&complex.name, label))
        };
        let is_known = |key: &str, value: &Json| {
            known.contains(&key) || names_itself(key, value) || complex.any_attribute && key.starts_with('@')
        };
        let mut unknown = object.iter().filter(|(key, value)| !is_known(key, value));
        match unknown.next() {
            None => Ok(()),
            Some((key, _)) => Err(JsonError::new(&path.key(key), expected_properties(&known), "an unknown property")),
        }
    }

    fn record(
        &self,
        object: &Map<String, Json>,
        complex: &ComplexElement,
        layout: &Layout,
        view: View<'_>,
        path: &Path<'_>,
    ) -> Result<Record, JsonError> {
        let chosen = by_branches(object, complex, layout, view, path)?;
        let layout = chosen.as_ref().unwrap_or(layout);
        let attributes = complex.attributes.iter().zip(&layout.attributes);
        let attributes = attributes.map(|(attribute, key)| self.attribute(object, attribute, key, path));
        let attributes = attributes.collect::<Result<_, _>>()?;
        let mut record = Record { fields: Vec::new(), attributes, others: others(object, complex, layout, path)? };
        if let Some(text) = complex.text {
            let missing = || JsonError::new(&path.key("$"), scalar::expected(view.follow(text)), "nothing");
            let json = object.get("$").ok_or_else(missing)?;
            record.fields.push(self.content(json, text, &complex.name, &path.key("$"))?);
            return Ok(record);
        }
        for (field, slot) in complex.fields.iter().zip(&layout.slots) {
            record.fields.push(self.field(object, field, slot, complex.compositor == Compositor::Choice, path)?);
        }
        if complex.compositor == Compositor::Choice {
            check_choice(object, &record, layout, complex, path)?;
        }
        self.check_groups(object, &record, layout, complex, path)?;
        Ok(record)
    }

    fn attribute(
        &self,
        object: &Map<String, Json>,
        attribute: &Attribute,
        key: &str,
        path: &Path<'_>,
    ) -> Result<Option<Simple>, JsonError> {
        let path = path.key(key);
        match object.get(key) {
            None if attribute.required => {
                let expected = scalar::expected(self.layouts.schema.view(attribute.element));
                Err(JsonError::new(&path, expected, "nothing, and it is required"))
            }
            None => Ok(None),
            Some(json) => self.simple(json, attribute.element, &path).map(Some),
        }
    }

    /// Checks that a choice between groups has exactly one of them, complete.
    fn check_groups(
        &self,
        object: &Map<String, Json>,
        record: &Record,
        layout: &Layout,
        complex: &ComplexElement,
        path: &Path<'_>,
    ) -> Result<(), JsonError> {
        let Some(fault) = record.choice_fault(complex) else { return Ok(()) };
        let properties = |fields: &[usize]| {
            let mut properties = Vec::new();
            fields
                .iter()
                .filter_map(|&field| layout.slots.get(field))
                .for_each(|slot| slot.properties(&mut properties));
            one_of(&properties)
        };
        Err(match &fault {
            ChoiceFault::Several(fields) => JsonError::new(
                path,
                format!("{}, and what belongs to it", properties(fields)),
                format!("properties of several of them: {}", found_of(object, layout)),
            ),
            ChoiceFault::Nothing(fields) => JsonError::new(path, properties(fields), "none of them"),
            &ChoiceFault::TooFew { field, min } => {
                let mut properties = Vec::new();
                layout.slots[field].properties(&mut properties);
                let key = properties.first().copied().unwrap_or_default();
                let wanted = Field { min, ..complex.fields[field].clone() };
                match object.get(key).filter(|_| wanted.is_repeated()) {
                    Some(json) => too_few(json.as_array().map_or(1, Vec::len), min, &path.key(key)),
                    None => self.missing(&wanted, &path.key(key)),
                }
            }
        })
    }

    fn field(
        &self,
        object: &Map<String, Json>,
        field: &Field,
        slot: &Slot,
        is_choice: bool,
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let is_optional = field.min == 0 || is_choice;
        match slot {
            Slot::Property(key) => match object.get(key) {
                None if is_optional => Ok(nothing(field)),
                None => Err(self.missing(field, &path.key(key))),
                Some(json) => self.occurrences(json, field, is_choice, &path.key(key)),
            },
            Slot::Choices(key, layout) => match object.get(key) {
                None if is_optional => Ok(nothing(field)),
                None => Err(self.missing(field, &path.key(key))),
                Some(json) => self.choices(json, field, layout, &path.key(key)),
            },
            Slot::Among(layout) => self.choice_among(object, field, layout, is_optional, path),
            Slot::Nowhere => Ok(nothing(field)),
        }
    }

    fn missing(&self, field: &Field, path: &Path<'_>) -> JsonError {
        let view = self.layouts.schema.view(field.element);
        let expected = match view.element {
            _ if field.is_repeated() => format!("an array of at least {}", field.min),
            Element::Simple(_) | Element::Union(_) => scalar::expected(view),
            Element::Complex(_) | Element::Shared(_) => "an object".to_owned(),
            Element::Array(_) => "an array".to_owned(),
            Element::Any | Element::Open(_) => "content".to_owned(),
        };
        JsonError::new(path, expected, "nothing, and it is required")
    }

    fn occurrences(&self, json: &Json, field: &Field, is_choice: bool, path: &Path<'_>) -> Result<Value, JsonError> {
        if !field.is_repeated() {
            return self.occurrence(json, field, path);
        }
        let items = counted(items(json, &field.name, path)?, field, is_choice, path)?;
        let item = |(index, item)| self.occurrence(item, field, &path.index(index));
        let mut list = Value::List(items.iter().enumerate().map(item).collect::<Result<_, _>>()?);
        list.gather(field, self.layouts.schema.view(field.element));
        Ok(list)
    }

    /// Reads an item of a list that has these items.
    ///
    /// # Errors
    /// If the JSON does not match the schema.
    pub(crate) fn item(&self, json: &Json, field: &Field, path: &Path<'_>) -> Result<Value, JsonError> {
        match self.layouts.schema.view(field.element).element {
            Element::Complex(complex) if field.inline => {
                self.choice(json, field, complex, &self.layouts.of(field.element, complex), path)
            }
            _ => self.occurrence(json, field, path),
        }
    }

    /// Forgets the ids in the value that was read: they mean nothing in the next one.
    pub(crate) fn forget_ids(&mut self) {
        self.known = Known::default();
    }

    fn occurrence(&self, json: &Json, field: &Field, path: &Path<'_>) -> Result<Value, JsonError> {
        match json {
            json if is_nil(json, field.nillable) => self.nil(json, field.element, path),
            json if field.inline => self.tree(json, None, path),
            json => self.content(json, field.element, &field.name, path),
        }
    }

    fn choices(&self, json: &Json, field: &Field, layout: &Layout, path: &Path<'_>) -> Result<Value, JsonError> {
        let Element::Complex(complex) = self.layouts.schema.view(field.element).element else {
            return Err(JsonError::new(path, "a choice", "a schema without one"));
        };
        let Json::Array(items) = json else {
            return Err(JsonError::new(
                path,
                format!("an array of objects {}", with_properties(complex, layout)),
                kind(json),
            ));
        };
        let items = counted(items, field, false, path)?;
        let choice = |(index, json)| self.choice(json, field, complex, layout, &path.index(index));
        items.iter().enumerate().map(choice).collect::<Result<_, _>>().map(Value::List)
    }

    /// Reads an occurrence of a repeated choice or group.
    fn choice(
        &self,
        json: &Json,
        field: &Field,
        complex: &ComplexElement,
        layout: &Layout,
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let Json::Object(object) = json else {
            return Err(JsonError::new(path, format!("an object {}", with_properties(complex, layout)), kind(json)));
        };
        self.only_known(object, complex, layout, &[], path)?;
        self.choice_among(object, field, layout, false, path)
    }

    /// Reads a choice whose properties appear among others.
    fn choice_among(
        &self,
        object: &Map<String, Json>,
        field: &Field,
        layout: &Layout,
        is_optional: bool,
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let view = self.layouts.schema.view(field.element);
        let Element::Complex(complex) = view.element else { return Ok(Value::Absent) };
        let mut properties = Vec::new();
        layout.properties(&mut properties);
        let is_there = properties.iter().any(|property| object.contains_key(*property));
        match is_there {
            true => Ok(Value::Record(Box::new(self.record(object, complex, layout, view, path)?))),
            false if is_optional => Ok(Value::Absent),
            false => Err(JsonError::new(path, one_of(&properties), "none of them")),
        }
    }
}

/// Reads packed numbers from an array.
fn numbers(json: &Json, packing: Packing, path: &Path<'_>) -> Result<Column, JsonError> {
    let wanted = || format!("an array of xsd:{}", packing.items.local());
    let (Some(items), Some(mut column)) = (json.as_array(), Column::new(packing.items)) else {
        return Err(JsonError::new(path, wanted(), kind(json)));
    };
    let (mut schema, base) = (Schema::new(), packing.items);
    let (name, enumeration, default, packed) = (base.name(), Default::default(), None, None);
    let item = schema.add(Element::Simple(SimpleElement { name, base, enumeration, default, packed }));
    for (index, json) in items.iter().enumerate() {
        column.push(&scalar::from_json(json, schema.view(item), &path.index(index))?);
    }
    Ok(column)
}

/// Reads a reference to another part of the package.
fn part(json: &Json, path: &Path<'_>) -> Result<PartUri, JsonError> {
    let path = path.key(PART);
    let uri = json.get(PART).and_then(Json::as_str).ok_or_else(|| JsonError::new(&path, "a URI", "something else"))?;
    checked(uri, &path).map(PartUri::new)
}

/// Reads the attributes that the schema does not name.
fn others(
    object: &Map<String, Json>,
    complex: &ComplexElement,
    layout: &Layout,
    path: &Path<'_>,
) -> Result<BTreeMap<QName, String>, JsonError> {
    let mut others = BTreeMap::new();
    let is_other = |key: &String| complex.any_attribute && key.starts_with('@') && !layout.attributes.contains(key);
    for (key, json) in object.iter().filter(|(key, _)| is_other(key)) {
        let path = path.key(key);
        let name = layout.attribute_named(complex, key);
        let refuse = || JsonError::new(&path, "an attribute that the schema does not name (@name)", "another property");
        let name = name.filter(|name| !others.contains_key(name)).ok_or_else(refuse)?;
        let text = plain(json).ok_or_else(|| JsonError::new(&path, "a string", kind(json)))?;
        others.insert(name, checked(&text, &path)?);
    }
    Ok(others)
}

/// Checks that a choice has exactly one alternative, or none if one of them may be omitted.
fn check_choice(
    object: &Map<String, Json>,
    record: &Record,
    layout: &Layout,
    complex: &ComplexElement,
    path: &Path<'_>,
) -> Result<(), JsonError> {
    let is_there = |value: &&Value| !matches!(value, Value::Absent) && **value != Value::List(Vec::new());
    let can_be_empty = complex.fields.iter().any(|field| field.min == 0);
    let found = match record.fields.iter().filter(is_there).count() {
        1 => return Ok(()),
        0 if can_be_empty => return Ok(()),
        0 => "none of them".to_owned(),
        _ => format!("several of them: {}", found_of(object, layout)),
    };
    let mut properties = Vec::new();
    layout.properties(&mut properties);
    let name = if complex.name.local.is_empty() { "the choice" } else { &complex.name.local };
    Err(JsonError::new(path, format!("{} for {name}", one_of(&properties)), found))
}

/// Lists the properties of a layout that an object has.
fn found_of(object: &Map<String, Json>, layout: &Layout) -> String {
    let mut properties = Vec::new();
    layout.slots.iter().for_each(|slot| slot.properties(&mut properties));
    properties.retain(|property| object.contains_key(*property));
    listed(&properties)
}

/// Returns the value of a field that does not occur.
fn nothing(field: &Field) -> Value {
    if field.is_repeated() { Value::List(Vec::new()) } else { Value::Absent }
}

fn items<'j>(json: &'j Json, name: &QName, path: &Path<'_>) -> Result<&'j [Json], JsonError> {
    match json {
        Json::Array(items) => Ok(items),
        json => Err(JsonError::new(path, format!("an array of {}", name.local), kind(json))),
    }
}

/// Returns the lengths of the first row of an array, of the first row in it, and so on, for all
/// dimensions but the last.
fn sizes(json: &Json, dimensions: u32) -> Vec<usize> {
    let rows = std::iter::successors(json.get(0), |row| row.get(0)).map(Some).chain(std::iter::repeat(None));
    let length = |row: Option<&Json>| row.and_then(Json::as_array).map_or(0, Vec::len);
    rows.map(length).take(dimensions.saturating_sub(1) as usize).collect()
}

/// Returns the occurrences of a field, checked against its bounds; a field of a choice may always
/// be absent.
fn counted<'j>(items: &'j [Json], field: &Field, is_choice: bool, path: &Path<'_>) -> Result<&'j [Json], JsonError> {
    let is_counted = !(is_choice && items.is_empty());
    if is_counted && (items.len() as u64) < u64::from(field.min) {
        return Err(too_few(items.len(), field.min, path));
    }
    if let Some(max) = field.max.filter(|&max| items.len() as u64 > u64::from(max)) {
        return Err(JsonError::new(path, format!("an array of at most {max}"), an_array(items.len())));
    }
    Ok(items)
}

fn too_few(count: usize, min: u32, path: &Path<'_>) -> JsonError {
    JsonError::new(path, format!("an array of at least {min}"), an_array(count))
}

fn an_array(count: usize) -> String {
    format!("an array of {count}")
}

/// Lists the properties of an occurrence of a repeated choice or group.
fn with_properties(choice: &ComplexElement, layout: &Layout) -> String {
    let mut properties = Vec::new();
    layout.properties(&mut properties);
    match is_choice(choice) {
        true => format!("with {}", one_of(&properties)),
        false => format!("with the properties {}", listed(&properties)),
    }
}

fn expected_properties(known: &[&str]) -> String {
    if known.is_empty() { "no properties".to_owned() } else { one_of(known) }
}

fn one_of(properties: &[&str]) -> String {
    format!("one of the properties {}", listed(properties))
}

pub(super) fn listed(properties: &[&str]) -> String {
    const MAX_PROPERTIES: usize = 20;
    let more = if properties.len() > MAX_PROPERTIES { ", …" } else { "" };
    format!("{}{more}", properties[..properties.len().min(MAX_PROPERTIES)].join(", "))
}
