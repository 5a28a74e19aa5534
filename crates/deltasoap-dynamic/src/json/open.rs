//! Content whose type the message chooses: the JSON of that type, with a `$type`. Content of an
//! unknown type is a tree.

use super::error::kind;
use super::identities::ID;
use super::nil::TYPE;
use super::path::Path;
use super::tree::with_type_name;
use super::{JsonError, JsonReader, JsonWriter, scalar};
use deltasoap_core::decode::{Decoder, ElementRoot, value_from_slice};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{Element, ElementRef, OpenElement, Use};
use deltasoap_core::{Buffer, Content, DecodeOptions, Deviation, Node, QName, Tolerance, TypedValue, Value, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::{TypeDefinition, TypeId};
use serde_json::{Map, Value as Json};

impl JsonWriter<'_> {
    /// Converts content whose type the message does not name, or that has an unknown type, to a
    /// tree. Text is a string if a simple type is allowed.
    pub(super) fn open_tree(&self, node: &Node, content: ElementRef, name: &QName) -> Json {
        match self.types.is_text(node, content) {
            true => Json::String(node.text()),
            false => self.types.tree_to_json(node, Some(name)),
        }
    }

    /// Converts a value of a named type.
    ///
    /// # Errors
    /// If the value has another shape than its type.
    pub(super) fn typed(
        &self,
        typed: &TypedValue,
        open: &OpenElement,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Json, JsonError> {
        let label = self.types.label_of(&typed.name);
        let unknown = || JsonError::new(path, "a value of a type that is allowed here", label.clone());
        let content = open.named(&typed.name).ok_or_else(unknown)?;
        let json = self.content(&typed.value, content, name, path)?;
        Ok(labelled(label, json))
    }
}

/// Adds the name of its type to a value's JSON.
fn labelled(label: String, json: Json) -> Json {
    let mut object = Map::from_iter([(TYPE.to_owned(), Json::String(label))]);
    match json {
        Json::Object(properties) => object.extend(properties),
        json => _ = object.insert("$".to_owned(), json),
    }
    Json::Object(object)
}

impl JsonReader<'_> {
    /// Reads a tree.
    ///
    /// # Errors
    /// If the JSON is not a tree.
    pub(super) fn tree(&self, json: &Json, name: Option<&QName>, path: &Path<'_>) -> Result<Value, JsonError> {
        match json {
            Json::Object(object) if is_tree(object) => {
                self.types.tree_from_json(object, name, path).map(|node| Value::Tree(Box::new(node)))
            }
            _ => Err(JsonError::new(path, "a tree: an object with $name and $content, or $xml", kind(json))),
        }
    }

    /// Reads the content of an element whose type the JSON chooses.
    ///
    /// # Errors
    /// If the JSON is neither a tree nor matches its type.
    pub(super) fn open(
        &self,
        json: &Json,
        content: ElementRef,
        open: &OpenElement,
        name: &QName,
        path: &Path<'_>,
    ) -> Result<Value, JsonError> {
        let origin = match (json, self.types.lowered.origin(content)) {
            (Json::Object(object), Some(origin)) if !is_tree(object) => origin,
            (Json::Object(_), _) | (_, None) => return self.tree(json, Some(name), path),
            (_, Some(origin)) => origin,
        };
        let label = json.as_object().and_then(|object| object.get(TYPE));
        // A plain string is an `xsd:anySimpleType` as it is.
        let is_natural = match origin.type_id {
            TypeId::ANY => true,
            TypeId::ANY_SIMPLE => !json.is_string(),
            _ => false,
        };
        let chosen = match label {
            Some(label) => Some(self.types.chosen(label, origin, &path.key(TYPE))?),
            None if is_natural => Some(natural_type(json, &path.key(TYPE))?),
            None => None,
        };
        let Some(id) = chosen else {
            return match (open.base, json) {
                (Some(base), _) => self.of_type(json, base, name, path),
                (None, Json::String(text)) if origin.type_id == TypeId::ANY_SIMPLE => {
                    let text = scalar::checked(text, path)?;
                    let is_empty = text.is_empty();
                    let node = if is_empty { Node::new(name.clone()) } else { Node::with_text(name.clone(), text) };
                    Ok(Value::Tree(Box::new(node)))
                }
                (None, _) => {
                    let expected =
                        format!("a property $type, since the type is abstract: {}", self.types.candidates(origin));
                    Err(JsonError::new(path, expected, "none"))
                }
            };
        };
        let type_name = self.types.import.schemas()[id].name.clone().unwrap_or_default();
        let exact = open.named(&type_name).ok_or_else(|| {
            JsonError::new(&path.key(TYPE), self.types.candidates(origin), format!("{type_name}, which is abstract"))
        })?;
        Ok(Value::typed(type_name, self.of_type(json, exact, name, path)?))
    }

    /// Reads the content of an element of one type, whose properties may include the name of the
    /// type, and an id.
    fn of_type(&self, json: &Json, content: ElementRef, name: &QName, path: &Path<'_>) -> Result<Value, JsonError> {
        let object = json.as_object().filter(|object| object.contains_key(TYPE) || object.contains_key(ID));
        let Some(object) = object else { return self.content(json, content, name, path) };
        match (self.layouts.schema.view(content).element, object.get("$")) {
            (Element::Complex(complex), _) => self.complex(json, content, complex, &[ID, TYPE], path),
            (_, Some(value)) => self.content(value, content, name, &path.key("$")),
            (_, None) => self.content(json, content, name, path),
        }
    }
}

pub(super) fn is_tree(object: &Map<String, Json>) -> bool {
    ["$name", "$content", "$xml"].iter().any(|key| object.contains_key(*key))
}

/// Returns the type of a plain JSON value where any type is allowed.
fn natural_type(json: &Json, path: &Path<'_>) -> Result<TypeId, JsonError> {
    use deltasoap_core::schema::Builtin;
    let builtin = match json {
        Json::String(_) => Builtin::String,
        Json::Bool(_) => Builtin::Boolean,
        Json::Number(it) => scalar::natural_type(it),
        _ => return Err(JsonError::new(path, "the name of a type, or a tree", "none")),
    };
    Ok(TypeId::from_builtin(builtin))
}

pub(crate) fn document(node: &Node) -> Result<Buffer, deltasoap_core::Error> {
    let mut encoder = Encoder::new();
    node.write(&mut encoder);
    encoder.finish()
}

impl crate::contract::Types {
    /// Returns true for a tree that is a text of a place for any simple type.
    pub(super) fn is_text(&self, node: &Node, content: ElementRef) -> bool {
        let is_simple = self.lowered.origin(content).is_some_and(|it| it.type_id == TypeId::ANY_SIMPLE);
        is_simple && node.attributes.is_empty() && node.elements().next().is_none()
    }

    /// Reads an element by its content's schema.
    pub(crate) fn read_node(&self, node: &Node, content: ElementRef) -> Result<Value, deltasoap_core::Error> {
        value_from_slice(document(node)?.as_slice(), &node.name, self.lowered.schema.view(content))
    }

    /// Like [`read_node`](Self::read_node), and returns the deviations from the schema that were
    /// accepted.
    pub(crate) fn read_node_with(
        &self,
        tolerance: Tolerance,
        node: &Node,
        content: ElementRef,
    ) -> Result<(Value, Vec<Deviation>), deltasoap_core::Error> {
        let mut decoder = Decoder::new(DecodeOptions { tolerance, ..DecodeOptions::default() });
        let mut root = ElementRoot::new(self.lowered.schema.view(content));
        decoder.decode(&mut root, document(node)?.as_slice())?;
        Ok((root.value, decoder.deviations().to_vec()))
    }

    /// Writes an element as a tree; `None` if the value cannot be written.
    pub(crate) fn write_node(&self, name: &QName, value: &Value, content: ElementRef, encoding: Use) -> Option<Node> {
        let mut encoder = Encoder::new();
        encoder.set_encoding(encoding);
        encoder.start(name);
        match value {
            Value::Nil => encoder.nil(),
            value => value.encode(&mut encoder, self.lowered.schema.view(content)),
        }
        encoder.end();
        Node::parse(encoder.finish().ok()?.as_slice()).ok()
    }

    /// Adds an `xsi:type` to a tree.
    pub(crate) fn typed_tree(&self, mut node: Node, id: TypeId) -> Node {
        let Some(name) = &self.import.schemas()[id].name else { return node };
        node.attributes.retain(|(name, _)| !name.is(ns::XSI, "type"));
        with_type_name(node, name)
    }

    pub(super) fn chosen(&self, label: &Json, origin: Origin, path: &Path<'_>) -> Result<TypeId, JsonError> {
        let named = label.as_str().and_then(|label| self.labelled(label)).filter(|&id| self.fits(id, origin));
        named.ok_or_else(|| JsonError::new(path, self.candidates(origin), kind(label)))
    }

    /// Returns the types that are allowed in a place, as a readable list.
    fn candidates(&self, origin: Origin) -> String {
        const MAX_TYPES: usize = 12;
        let schemas = self.import.schemas();
        let (mut names, mut ahead) = (Vec::new(), vec![origin.type_id]);
        while let Some(id) = ahead.pop().filter(|_| names.len() <= MAX_TYPES && origin.type_id != TypeId::ANY) {
            if !matches!(&schemas[id].definition, TypeDefinition::Complex(it) if it.is_abstract) {
                names.extend(self.label(id));
            }
            ahead.extend(schemas.derived(id));
        }
        if names.is_empty() {
            return "the name of a type".to_owned();
        }
        let more = if names.len() > MAX_TYPES { ", …" } else { "" };
        format!("one of the types {}{more}", names[..names.len().min(MAX_TYPES)].join(", "))
    }
}

/// Returns a scalar as text, for places without a type.
pub(super) fn plain(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        _ => None,
    }
}
