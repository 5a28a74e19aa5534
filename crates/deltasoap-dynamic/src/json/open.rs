//! Content whose type the message chooses.
//!
//! The engine keeps it as a tree. Where the tree is of a type that is known it is read by that type, and its JSON is that of
//! the type, with a `$type`. So that nothing is lost, what was read is written again, and the tree itself becomes JSON if
//! there is more in it than came back.

use super::error::kind;
use super::path::Path;
use super::tree::with_type_name;
use super::{JsonError, Reading, Writing, scalar};
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{ElementRef, Use};
use deltasoap_core::{Child, CompactString, Content, Node, QName, Value, lexical, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::TypeId;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;

impl Writing<'_> {
    /// The content of an element that is kept as a tree. `name` is the element's, where the schema gives it.
    pub(super) fn open(&self, node: &Node, content: ElementRef, name: Option<&QName>, path: &Path<'_>) -> Json {
        let origin = self.types.lowered.origin(content).filter(|origin| origin.is_open && name.is_some());
        let whole = match (self.types.lowered.default_of_tree(content), &node.children[..]) {
            (Some(text), []) => Cow::Owned(Node { children: vec![Child::Text(text.into())], ..node.clone() }),
            _ => Cow::Borrowed(node),
        };
        let typed = origin.and_then(|origin| self.typed(&whole, origin, path));
        typed.unwrap_or_else(|| self.types.tree_to_json(node, name))
    }

    /// `None` where a tree says it better.
    fn typed(&self, node: &Node, origin: Origin, path: &Path<'_>) -> Option<Json> {
        let named = match node.attribute(ns::XSI, "type") {
            Some(text) => Some(self.types.named(&node.resolve(text)?).filter(|&id| self.types.fits(id, origin))?),
            None => None,
        };
        let id = named.unwrap_or(origin.type_id);
        let exact = self.types.lowered.exactly(id, origin.encoding)?;
        let value = self.types.read_node(node, exact).ok()?;
        let again = self.types.write_node(&node.name, &value, exact, origin.encoding)?;
        let typed;
        let typed = match node.elements().any(names_type) && origin.encoding == Use::Literal {
            true => {
                typed = self.types.write_node(&node.name, &value, exact, Use::Encoded)?;
                &typed
            }
            false => &again,
        };
        if id == TypeId::ANY || !is_whole(&mut vec![node], &again, &mut vec![typed], origin.encoding) {
            return None;
        }
        let json = self.content(&value, exact, &node.name, path).ok()?;
        Some(match named {
            None => json,
            Some(id) => labelled(self.types.label(id)?, json),
        })
    }
}

/// A value's JSON with the name of its type.
fn labelled(label: String, json: Json) -> Json {
    let mut object = Map::from_iter([("$type".to_owned(), Json::String(label))]);
    match json {
        Json::Object(properties) => object.extend(properties),
        json => _ = object.insert("$".to_owned(), json),
    }
    Json::Object(object)
}

/// True if all that the tree says came back: elements, attributes, and text where there was some. The text itself was compared as a value
/// by reading it. Defaults came back too where the tree has nothing. `typed` is what came back with the type that each element is declared
/// with.
fn is_whole<'n>(path: &mut Vec<&'n Node>, again: &Node, typed: &mut Vec<&'n Node>, encoding: Use) -> bool {
    let (Some(&node), Some(&declared)) = (path.last(), typed.last()) else { return false };
    let is_markup = |name: &QName| name.is(ns::XSI, "type") || encoding == Use::Encoded && is_of_encoding(name);
    let is_kept = |(name, _): &&(QName, CompactString)| !is_markup(name);
    let came_back = |(name, _): &(QName, CompactString)| again.attribute(&name.namespace, &name.local).is_some();
    let has_text =
        |node: &Node| node.children.iter().any(|it| matches!(it, Child::Text(text) if !text.trim().is_empty()));
    let is_default = !has_text(node) && node.elements().next().is_none();
    let (children, written, declared) = (in_order(node), in_order(again), in_order(declared));
    node.name == again.name
        && node.attributes.iter().filter(is_kept).all(came_back)
        && (has_text(node) == has_text(again) || is_default)
        && children.len() == written.len()
        && children.len() == declared.len()
        && children.into_iter().zip(written).zip(declared).all(|((child, again), declared)| {
            path.push(child);
            typed.push(declared);
            let is_whole = (again.attribute(ns::XSI, "type").is_some() || says_declared_type(path, typed))
                && is_whole(path, again, typed, encoding);
            path.pop();
            typed.pop();
            is_whole
        })
}

/// True for attributes by which SOAP encoding says where a value stands, or how it is encoded: they are no part of the value. References
/// are, where they were not followed.
fn is_of_encoding(name: &QName) -> bool {
    matches!(
        (&*name.namespace, &*name.local),
        ("", "id")
            | (ns::SOAP11 | ns::SOAP12, "encodingStyle")
            | (ns::SOAP11_ENCODING, "root" | "position" | "offset")
            | (ns::SOAP12_ENCODING, "id" | "nodeType")
    )
}

/// True if an element, or one in it, says its type.
fn names_type(node: &Node) -> bool {
    node.attribute(ns::XSI, "type").is_some() || node.elements().any(names_type)
}

/// The elements in an element by their names. Where the order of names says something the schema has it, and reading keeps to it.
fn in_order(node: &Node) -> Vec<&Node> {
    let mut elements: Vec<_> = node.elements().collect();
    elements.sort_by(|one, other| one.name.cmp(&other.name));
    elements
}

/// True if an element says no type, or the one that it is declared with.
fn says_declared_type(path: &[&Node], typed: &[&Node]) -> bool {
    let named = |path: &[&Node]| {
        let text = path.last()?.attribute(ns::XSI, "type")?;
        Some(Node::resolve_in(path, text))
    };
    named(path).is_none_or(|named_here| named_here.is_some() && named(typed) == Some(named_here))
}

impl Reading<'_> {
    /// The tree of an element whose type the JSON chooses. `name` is the element's, where the schema gives it.
    ///
    /// # Errors
    /// When the JSON is no tree, or not what its type says.
    pub(super) fn open(
        &self,
        json: &Json,
        content: ElementRef,
        name: Option<&QName>,
        path: &Path<'_>,
    ) -> Result<Node, JsonError> {
        let origin = self.types.lowered.origin(content).filter(|origin| origin.is_open);
        let is_tree =
            |object: &Map<String, Json>| ["$name", "$content", "$xml"].iter().any(|key| object.contains_key(*key));
        match (json, origin, name) {
            (Json::Object(object), ..) if is_tree(object) => self.types.tree_from_json(object, name, path),
            (_, Some(origin), Some(name)) => self.typed(json, origin, name, path),
            _ => Err(JsonError::new(path, "a tree: an object with $name and $content, or $xml", kind(json))),
        }
    }

    fn typed(&self, json: &Json, origin: Origin, name: &QName, path: &Path<'_>) -> Result<Node, JsonError> {
        let label = json.as_object().and_then(|object| object.get("$type"));
        // A string is an `xsd:anySimpleType` as it is.
        let is_natural = match origin.type_id {
            TypeId::ANY => true,
            TypeId::ANY_SIMPLE => !json.is_string(),
            _ => false,
        };
        let (id, json) = match label {
            Some(label) => (self.types.chosen(label, origin, &path.key("$type"))?, without_label(json)),
            None if is_natural => (natural_type(json, &path.key("$type"))?, json.clone()),
            None => (origin.type_id, json.clone()),
        };
        let is_named = label.is_some() || is_natural;
        let Some(exact) = self.types.lowered.exactly(id, origin.encoding) else {
            let expected = format!("a property $type, since the type is abstract: {}", self.types.candidates(origin));
            return Err(JsonError::new(path, expected, "none"));
        };
        let value = self.content(&json, exact, name, path)?;
        let unwritable = || JsonError::new(path, "what XML can carry", "something else");
        let node = self.types.write_node(name, &value, exact, origin.encoding).ok_or_else(unwritable)?;
        Ok(if is_named { self.types.typed_tree(node, id) } else { node })
    }
}

/// The JSON of the value alone.
fn without_label(json: &Json) -> Json {
    let Json::Object(object) = json else { return json.clone() };
    let mut rest: Map<String, Json> =
        object.iter().filter(|(key, _)| *key != "$type").map(|(key, it)| (key.clone(), it.clone())).collect();
    // A type with attributes has its text under the same property: it takes objects of more than one property alone.
    match rest.remove("$") {
        Some(value) if rest.is_empty() => value,
        Some(value) => {
            rest.insert("$".to_owned(), value);
            Json::Object(rest)
        }
        None => Json::Object(rest),
    }
}

/// The type of a plain JSON value where anything may stand.
fn natural_type(json: &Json, path: &Path<'_>) -> Result<TypeId, JsonError> {
    use deltasoap_core::schema::Builtin;
    let builtin = match json {
        Json::String(_) => Builtin::String,
        Json::Bool(_) => Builtin::Boolean,
        Json::Number(it) => scalar::natural_type(it),
        _ => return Err(JsonError::new(path, "the name of a type, or a tree", "none")),
    };
    Ok(TypeId::of_builtin(builtin))
}

impl crate::contract::Types {
    /// Reads an element by its content's description.
    pub(crate) fn read_node(&self, node: &Node, content: ElementRef) -> Result<Value, deltasoap_core::Error> {
        let mut encoder = Encoder::new();
        node.write(&mut encoder);
        value_from_slice(encoder.finish()?.as_slice(), &node.name, self.lowered.schema.view(content))
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

    /// A tree with an `xsi:type`.
    pub(crate) fn typed_tree(&self, mut node: Node, id: TypeId) -> Node {
        let Some(name) = &self.import.schemas()[id].name else { return node };
        node.attributes.retain(|(name, _)| !name.is(ns::XSI, "type"));
        with_type_name(node, name)
    }

    pub(super) fn chosen(&self, label: &Json, origin: Origin, path: &Path<'_>) -> Result<TypeId, JsonError> {
        let named = label.as_str().and_then(|label| self.labelled(label)).filter(|&id| self.fits(id, origin));
        named.ok_or_else(|| JsonError::new(path, self.candidates(origin), kind(label)))
    }

    /// The types that can stand in a place, for people.
    fn candidates(&self, origin: Origin) -> String {
        const MOST: usize = 12;
        let schemas = self.import.schemas();
        let (mut names, mut ahead) = (Vec::new(), vec![origin.type_id]);
        while let Some(id) = ahead.pop().filter(|_| names.len() <= MOST && origin.type_id != TypeId::ANY) {
            if self.lowered.exactly(id, origin.encoding).is_some() {
                names.extend(self.label(id));
            }
            ahead.extend(schemas.derived(id));
        }
        if names.is_empty() {
            return "the name of a type".to_owned();
        }
        let more = if names.len() > MOST { ", …" } else { "" };
        format!("one of the types {}{more}", names[..names.len().min(MOST)].join(", "))
    }
}

/// Text that XML can carry.
pub(super) fn checked(text: &str, path: &Path<'_>) -> Result<String, JsonError> {
    if text.chars().all(lexical::is_xml_char) {
        return Ok(text.to_owned());
    }
    Err(JsonError::new(path, "characters that XML can carry", "a control character"))
}

/// A scalar as text, for places without a type.
pub(super) fn plain(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        _ => None,
    }
}
