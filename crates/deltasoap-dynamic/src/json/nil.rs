//! Nil elements, with the attributes and the type that they may have.

use super::error::kind;
use super::open::plain;
use super::path::Path;
use super::scalar::checked;
use super::{JsonError, JsonReader, JsonWriter, parse_name};
use deltasoap_core::schema::{Element, ElementRef};
use deltasoap_core::{QName, Value, ns};
use deltasoap_wsdl::xsd::TypeId;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The property that marks a nil element.
pub(super) const NIL: &str = "$nil";

/// The property of the type, for types that the message chooses.
pub(super) const TYPE: &str = "$type";

const XSI_TYPE: QName = QName::new(ns::XSI, "type");

/// Returns the JSON of a nil element. The engine also reads nil where the schema does not allow it,
/// so it is marked there.
pub(super) fn nil(is_nillable: bool) -> Json {
    if is_nillable { Json::Null } else { marked(std::iter::empty()) }
}

/// Returns true for a nil element: `null` if the schema allows it; a marked object otherwise, and
/// if there are attributes.
pub(crate) fn is_nil(json: &Json, is_nillable: bool) -> bool {
    match json {
        Json::Null => is_nillable,
        Json::Object(object) => {
            let is_beside = |key: &String| [NIL, TYPE].contains(&key.as_str()) || key.starts_with('@');
            object.get(NIL) == Some(&Json::Bool(true)) && object.keys().all(is_beside)
        }
        _ => false,
    }
}

fn marked(properties: impl Iterator<Item = (String, Json)>) -> Json {
    Json::Object(Map::from_iter(std::iter::once((NIL.to_owned(), Json::Bool(true))).chain(properties)))
}

impl JsonWriter<'_> {
    /// Converts a nil element with its attributes, and its type if that is not the declared one;
    /// returns `None` for other values.
    pub(crate) fn nil(&self, value: &Value, content: ElementRef, is_nillable: bool) -> Option<Json> {
        let attributes = match value {
            Value::Nil => return Some(nil(is_nillable)),
            Value::NilWith(attributes) => attributes,
            _ => return None,
        };
        let property = |(name, text): (&QName, &String)| match self.layouts.schema.view(content).element {
            Element::Complex(complex) => {
                Some((self.layouts.of(content, complex).attribute(complex, name), text.clone()))
            }
            Element::Any | Element::Open(_) if *name == XSI_TYPE => {
                Some((TYPE.to_owned(), self.label_beside_nil(text, content)?))
            }
            _ => Some((format!("@{name}"), text.clone())),
        };
        let properties: Vec<_> = attributes.iter().filter_map(property).collect();
        Some(match properties.is_empty() {
            true => nil(is_nillable),
            false => marked(properties.into_iter().map(|(key, text)| (key, Json::String(text)))),
        })
    }

    /// Returns the label of a nil element's type; `None` for the declared type.
    fn label_beside_nil(&self, text: &str, content: ElementRef) -> Option<String> {
        let name = parse_name(text)?;
        let declared = self.types.lowered.origin(content).map(|origin| origin.type_id);
        (self.types.named(&name) != declared || declared.is_none()).then(|| self.types.label_of(&name))
    }
}

impl JsonReader<'_> {
    /// Reads a nil element with its attributes.
    ///
    /// # Errors
    /// If an attribute is not allowed there.
    pub(crate) fn nil(&self, json: &Json, content: ElementRef, path: &Path<'_>) -> Result<Value, JsonError> {
        let properties = json.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with('@'));
        let mut attributes = BTreeMap::new();
        for (key, json) in properties {
            let path = path.key(key);
            let name = self.attribute_beside_nil(key, content).filter(|name| !attributes.contains_key(name));
            let name = name.ok_or_else(|| JsonError::new(&path, "an attribute that is allowed here", "another"))?;
            let text = plain(json).ok_or_else(|| JsonError::new(&path, "a string", kind(json)))?;
            attributes.insert(name, checked(&text, &path)?);
        }
        if let Some(label) = json.get(TYPE) {
            attributes.insert(XSI_TYPE, self.type_beside_nil(label, content, &path.key(TYPE))?.to_string());
        }
        Ok(if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) })
    }

    fn type_beside_nil(&self, label: &Json, content: ElementRef, path: &Path<'_>) -> Result<QName, JsonError> {
        if !matches!(self.layouts.schema.view(content).element, Element::Any | Element::Open(_)) {
            return Err(JsonError::new(path, "no type, since there is only one", "a property"));
        }
        let named = match self.types.lowered.origin(content).filter(|origin| origin.type_id != TypeId::ANY) {
            Some(origin) => self.types.import.schemas()[self.types.chosen(label, origin, path)?].name.clone(),
            None => label.as_str().and_then(|label| self.types.name_of_label(label)),
        };
        named.ok_or_else(|| JsonError::new(path, "the name of a type", kind(label)))
    }

    fn attribute_beside_nil(&self, key: &str, content: ElementRef) -> Option<QName> {
        match self.layouts.schema.view(content).element {
            Element::Complex(complex) => self.layouts.of(content, complex).attribute_named(complex, key),
            element => parse_name(key.strip_prefix('@')?).filter(|name| element.takes_beside_nil(name)),
        }
    }
}
