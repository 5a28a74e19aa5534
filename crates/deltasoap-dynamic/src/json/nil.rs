//! What is nil, and the attributes that it may have all the same.

use super::error::kind;
use super::open::{checked, plain};
use super::path::Path;
use super::{JsonError, Reading, Writing, parse_name};
use deltasoap_core::schema::{Element, ElementRef};
use deltasoap_core::{QName, Value};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The property that marks what is nil.
pub(super) const NIL: &str = "$nil";

/// What is nil. Where the schema does not allow it, the engine reads it all the same, and so it is marked.
pub(crate) fn nil(is_nillable: bool) -> Json {
    if is_nillable { Json::Null } else { marked(std::iter::empty()) }
}

/// True for what is nil: `null` where the schema allows it, marked elsewhere, and where there are attributes.
pub(crate) fn is_nil(json: &Json, is_nillable: bool) -> bool {
    match json {
        Json::Null => is_nillable,
        Json::Object(object) => {
            object.get(NIL) == Some(&Json::Bool(true)) && object.keys().all(|key| key == NIL || key.starts_with('@'))
        }
        _ => false,
    }
}

fn marked(properties: impl Iterator<Item = (String, Json)>) -> Json {
    Json::Object(Map::from_iter(std::iter::once((NIL.to_owned(), Json::Bool(true))).chain(properties)))
}

impl Writing<'_> {
    /// What is nil beside attributes.
    pub(super) fn nil_with(&self, attributes: &BTreeMap<QName, String>, content: ElementRef) -> Json {
        let key = |name| match self.layouts.schema.view(content).element {
            Element::Complex(complex) => self.layouts.of(content, complex).attribute(complex, name),
            _ => format!("@{name}"),
        };
        marked(attributes.iter().map(|(name, text)| (key(name), Json::String(text.clone()))))
    }
}

impl Reading<'_> {
    /// What is nil, with its attributes.
    ///
    /// # Errors
    /// When it has one that cannot stand there.
    pub(crate) fn nil(&self, json: &Json, content: ElementRef, path: &Path<'_>) -> Result<Value, JsonError> {
        let properties = json.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with('@'));
        let mut attributes = BTreeMap::new();
        for (key, json) in properties {
            let path = path.key(key);
            let name = self.attribute_beside_nil(key, content).filter(|name| !attributes.contains_key(name));
            let name = name.ok_or_else(|| JsonError::new(&path, "an attribute that may stand here", "another"))?;
            let text = plain(json).ok_or_else(|| JsonError::new(&path, "a string", kind(json)))?;
            attributes.insert(name, checked(&text, &path)?);
        }
        Ok(if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) })
    }

    fn attribute_beside_nil(&self, key: &str, content: ElementRef) -> Option<QName> {
        match self.layouts.schema.view(content).element {
            Element::Complex(complex) => self.layouts.of(content, complex).attribute_named(complex, key),
            element => parse_name(key.strip_prefix('@')?).filter(|name| element.takes_beside_nil(name)),
        }
    }
}
