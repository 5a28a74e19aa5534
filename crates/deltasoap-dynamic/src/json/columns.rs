//! Long lists of doubles, between text and columns, without a JSON value for each number.
//!
//! They would take most of the time otherwise: a JSON value of a number holds a text of its own.
//! Everything else goes through JSON values, so that there is one mapping. When reading, the lists
//! are directly in the message's element; text that is anything but plain numbers there is read in
//! the usual way, which also finds what is wrong with it. When writing, a list is a mark in the
//! JSON value, and becomes text with it.

use super::keys::{Layout, Slot};
use super::{JsonError, JsonReader, Path, parse};
use deltasoap_core::schema::{Builtin, ComplexElement, Compositor, Element, ElementRef, View};
use deltasoap_core::{Column, Lexical, QName, Value};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json};
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

/// Shorter texts are read in the usual way.
const MIN_TEXT: usize = 4 << 10;
/// Shorter lists are written in the usual way.
const MIN_ITEMS: usize = 64;
/// The key of a mark. No name of XML has this character.
const MARK: &str = "\0";

/// The reason why a text is not the JSON of a message.
#[derive(Debug)]
#[non_exhaustive]
pub enum TextError {
    /// It is not JSON, or an object has a duplicate key.
    Syntax(serde_json::Error),
    /// It does not match the schema.
    Json(JsonError),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::Syntax(error) => error.fmt(f),
            TextError::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TextError {}

/// Reads the content of the element `name` from text.
///
/// # Errors
/// If the text is not JSON, or does not match the schema.
pub(crate) fn from_text(
    reader: &JsonReader<'_>,
    text: &str,
    content: ElementRef,
    name: &QName,
    path: &Path<'_>,
) -> Result<Option<Value>, TextError> {
    let view = reader.layouts.schema.view(content);
    let Some(complex) = view.complex().filter(|_| text.len() >= MIN_TEXT) else { return Ok(None) };
    let layout = reader.layouts.of(content, complex);
    let lists = lists(complex, &layout, view);
    let Some(split) = (!lists.is_empty()).then(|| split(text, &lists)).flatten() else { return Ok(None) };
    let mut value = reader.content(&Json::Object(split.object), content, name, path).map_err(TextError::Json)?;
    if let Value::Record(record) = &mut value {
        for (field, items) in split.columns {
            record.fields[field] = Value::Column(Column::Double(items));
        }
    }
    Ok(Some(value))
}

/// A list of doubles.
struct DoubleList<'l> {
    key: &'l str,
    field: usize,
    min: usize,
}

/// Returns the lists of doubles among the fields of an element that has no choices.
fn lists<'l>(complex: &ComplexElement, layout: &'l Layout, view: View<'_>) -> Vec<DoubleList<'l>> {
    if complex.compositor == Compositor::Choice || !complex.choices.is_empty() || complex.text.is_some() {
        return Vec::new();
    }
    let fields = complex.fields.iter().zip(&layout.slots).enumerate();
    let list = |(field, (it, slot)): (usize, (&deltasoap_core::schema::Field, &'l Slot))| {
        let is_double = matches!(view.follow(it.element).element,
            Element::Simple(simple) if simple.base == Builtin::Double && simple.enumeration.is_empty());
        match slot {
            Slot::Property(key) if is_double && it.max.is_none() && !it.nillable && !it.inline => {
                Some(DoubleList { key, field, min: it.min as usize })
            }
            _ => None,
        }
    };
    fields.filter_map(list).collect()
}

/// An object, and the long lists that were taken out of it.
struct Split {
    object: Map<String, Json>,
    columns: Vec<(usize, Vec<f64>)>,
}

/// Reads an object; `None` if it has to be read in the usual way.
fn split(text: &str, lists: &[DoubleList<'_>]) -> Option<Split> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let split = SplitObject(lists).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(split)
}

struct SplitObject<'l>(&'l [DoubleList<'l>]);

impl<'de> DeserializeSeed<'de> for SplitObject<'_> {
    type Value = Split;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Split, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SplitObject<'_> {
    type Value = Split;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Split, A::Error> {
        let mut split = Split { object: Map::new(), columns: Vec::new() };
        let mut keys = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom("a duplicate key"));
            }
            let list = self.0.iter().find(|list| list.key == key);
            let json = match list {
                Some(list) => {
                    let items = object.next_value_seed(Doubles)?;
                    if items.len() < list.min.max(1) {
                        return Err(A::Error::custom("too few items"));
                    }
                    split.columns.push((list.field, items));
                    // As many as the reader requires; they are replaced.
                    Json::Array(vec![Json::Number(Number::from(0)); list.min])
                }
                None => parse(object.next_value::<&RawValue>()?.get()).map_err(A::Error::custom)?,
            };
            split.object.insert(key, json);
        }
        Ok(split)
    }
}

/// Reads an array of plain numbers.
struct Doubles;

impl<'de> DeserializeSeed<'de> for Doubles {
    type Value = Vec<f64>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Vec<f64>, D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Doubles {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<f64>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element::<&RawValue>()? {
            let text = item.get();
            let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            let number = if is_number { f64::parse(text).ok().filter(|it| it.is_finite()) } else { None };
            all.push(number.ok_or_else(|| A::Error::custom("not a plain number"))?);
        }
        Ok(all)
    }
}

/// The columns that are marks in a JSON value.
#[derive(Debug, Default)]
pub(crate) struct Marked(RefCell<Vec<Vec<f64>>>);

impl Marked {
    /// Returns a mark for a long list of doubles; `None` for other columns.
    pub(super) fn mark(&self, column: &Column) -> Option<Json> {
        let Column::Double(items) = column else { return None };
        if items.len() < MIN_ITEMS {
            return None;
        }
        let mut all = self.0.borrow_mut();
        all.push(items.clone());
        Some(Json::Object(Map::from_iter([(MARK.to_owned(), Json::from(all.len() - 1))])))
    }

    /// Returns a JSON value as text, with the lists in place of their marks.
    pub(crate) fn to_text(&self, json: &Json) -> String {
        let columns = self.0.borrow();
        // Serializing JSON to memory does not fail.
        serde_json::to_string(&WithColumns { json, columns: &columns }).unwrap_or_default()
    }
}

struct WithColumns<'j> {
    json: &'j Json,
    columns: &'j [Vec<f64>],
}

impl<'j> WithColumns<'j> {
    fn within(&self, json: &'j Json) -> Self {
        WithColumns { json, columns: self.columns }
    }

    fn marked(&self, object: &Map<String, Json>) -> Option<&'j [f64]> {
        let index = object.get(MARK)?.as_u64().and_then(|index| usize::try_from(index).ok())?;
        self.columns.get(index).map(Vec::as_slice)
    }
}

impl Serialize for WithColumns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.json {
            Json::Object(object) => match self.marked(object) {
                Some(items) => serializer.collect_seq(items.iter().map(|item| Item(*item))),
                None => {
                    let mut map = serializer.serialize_map(Some(object.len()))?;
                    for (key, json) in object {
                        map.serialize_entry(key, &self.within(json))?;
                    }
                    map.end()
                }
            },
            Json::Array(items) => serializer.collect_seq(items.iter().map(|item| self.within(item))),
            json => json.serialize(serializer),
        }
    }
}

/// A double as [`scalar`](super::scalar) writes it.
struct Item(f64);

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            it if it.is_finite() => serializer.serialize_f64(it),
            it if it.is_nan() => serializer.serialize_str("NaN"),
            it => serializer.serialize_str(if it > 0.0 { "INF" } else { "-INF" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contract;
    use proptest::prelude::*;

    fn contract() -> Contract {
        Contract::from_text(include_str!("../../tests/data/lab.wsdl")).expect("a description")
    }

    /// Returns the text of a message with these levels.
    fn message(levels: &[String]) -> String {
        format!(r#"{{"station": "a", "level": [{}], "note": "{}"}}"#, levels.join(", "), "x".repeat(MIN_TEXT))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn lists_are_what_they_are_in_the_usual_way(
            levels in prop::collection::vec(prop::num::f64::ANY.prop_map(|it| format!("{it:?}")), 0..200),
            odd in prop::option::of(prop::sample::select(&["\"INF\"", "\" 1 \"", "null", "1e400", "01", "true", "[1]", "1.50", "-0", "1E2"][..])),
        ) {
            let contract = contract();
            let operation = contract.operation("Measure").expect("an operation");
            let (name, content) = operation.response().expect("a response");
            let levels: Vec<_> = levels.into_iter().filter(|it| it != "NaN" && !it.contains("inf"))
                .chain(odd.map(ToOwned::to_owned)).collect();
            let text = message(&levels);
            let fast = contract.from_json_text(name, content, &text);
            let usual = parse(&text).map_err(TextError::Syntax)
                .and_then(|json| contract.from_json(name, content, &json).map_err(TextError::Json));
            match (fast, usual) {
                (Ok(fast), Ok(usual)) => {
                    let written = operation.response_to_text(&fast, &crate::Parts::default()).expect("text");
                    prop_assert_eq!(written, operation.response_to_json(&usual).expect("JSON").to_string());
                }
                (fast, usual) => prop_assert_eq!(
                    fast.map(|_| ()).map_err(|it| it.to_string()), usual.map(|_| ()).map_err(|it| it.to_string())
                ),
            }
        }
    }

    #[test]
    fn other_errors_are_found_in_the_usual_way() {
        let contract = contract();
        let (operation, levels) = (contract.operation("Measure").expect("an operation"), vec!["1.5".to_owned(); 2000]);
        let (name, content) = operation.response().expect("a response");
        let read = |text: &str| contract.from_json_text(name, content, text).map_err(|error| error.to_string());
        let good = message(&levels);
        assert!(read(&good).is_ok());
        for (from, to, expected) in [
            ("\"station\"", "\"level\": [1], \"station\"", "the key \"level\" appears twice"),
            ("\"station\"", "\"sttion\"", ".sttion: expected"),
            ("\"note\"", "\"\\u0000\"", "an unknown property"),
            ("}", "", "EOF"),
        ] {
            let error = read(&good.replacen(from, to, 1)).expect_err(to);
            assert!(error.contains(expected), "{error}");
        }
    }
}
