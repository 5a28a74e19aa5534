//! Trees as JSON: content without a schema.

use super::JsonError;
use super::error::kind;
use super::open::plain;
use super::path::Path;
use super::scalar::checked;
use crate::contract::Types;
use deltasoap_core::{Child, CompactString, Node, QName, lexical, ns};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::BTreeSet;

impl Types {
    /// Converts a tree to JSON. Its name is omitted if the schema gives the same name.
    pub(crate) fn tree_to_json(&self, node: &Node, name: Option<&QName>) -> Json {
        match serde_json::to_value(TreeJson { types: self, node, name }) {
            Ok(json) => json,
            Err(_) => unreachable!("all keys of a tree are strings"),
        }
    }

    /// Appends the text of what [`tree_to_json`](Self::tree_to_json) returns.
    pub(crate) fn write_tree(&self, node: &Node, name: Option<&QName>, to: &mut Vec<u8>) {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(to, &TreeJson { types: self, node, name });
    }

    /// Reads a tree from JSON; `name` is used if the JSON has none.
    ///
    /// # Errors
    /// If the JSON is not a tree.
    pub(crate) fn tree_from_json(
        &self,
        object: &Map<String, Json>,
        name: Option<&QName>,
        path: &Path<'_>,
    ) -> Result<Node, JsonError> {
        if let Some(xml) = object.get("$xml") {
            return from_xml(xml, name, &path.key("$xml"));
        }
        let mut node = Node::new(match (object.get("$name"), name) {
            (Some(json), _) => name_of(json, &path.key("$name"))?,
            (None, Some(name)) => name.clone(),
            (None, None) => return Err(JsonError::new(&path.key("$name"), "an element's name", "nothing")),
        });
        for (key, json) in object {
            self.property(&mut node, key, json, &path.key(key))?;
        }
        match object.get("$type") {
            Some(label) => self.with_label(node, label, &path.key("$type")),
            None => Ok(node),
        }
    }

    fn property(&self, node: &mut Node, key: &str, json: &Json, path: &Path<'_>) -> Result<(), JsonError> {
        match key {
            "$name" | "$type" => {}
            "$ns" => node.bindings = bindings_of(json, path)?.into(),
            "$content" => node.children = self.children(json, path)?,
            _ => {
                let name = key.strip_prefix('@').map(|name| parse_name(name).ok_or(name));
                let Some(Ok(name)) = name else {
                    return Err(JsonError::new(path, "$name, $ns, $content or attributes (@name)", "another property"));
                };
                if name.namespace == ns::XMLNS || name.is("", "xmlns") {
                    return Err(JsonError::new(path, "prefixes under $ns", "a declaration as an attribute"));
                }
                // An attribute must not have two names.
                if key.starts_with("@{}") {
                    return Err(JsonError::new(path, format!("@{}", name.local), "another spelling of it"));
                }
                let text = plain(json).ok_or_else(|| JsonError::new(path, "a string", kind(json)))?;
                node.attributes.push((name, checked(&text, path)?.into()));
            }
        }
        Ok(())
    }

    fn children(&self, json: &Json, path: &Path<'_>) -> Result<Vec<Child>, JsonError> {
        let refuse = |json, path: &Path<'_>| JsonError::new(path, "an array of strings and elements", kind(json));
        let Json::Array(items) = json else { return Err(refuse(json, path)) };
        let mut children = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            match item {
                Json::Object(object) => children.push(Child::Element(self.tree_from_json(object, None, &path)?)),
                item => push_text(&mut children, &checked(&plain(item).ok_or_else(|| refuse(item, &path))?, &path)?),
            }
        }
        Ok(children)
    }

    fn with_label(&self, node: Node, label: &Json, path: &Path<'_>) -> Result<Node, JsonError> {
        let name = label.as_str().and_then(|label| self.name_of_label(label));
        let name = name.ok_or_else(|| JsonError::new(path, "the name of a type", kind(label)))?;
        Ok(with_type_name(node, &name))
    }
}

/// A tree in JSON: as a value and as text.
struct TreeJson<'t> {
    types: &'t Types,
    node: &'t Node,
    /// The name that the schema gives.
    name: Option<&'t QName>,
}

impl Serialize for TreeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let walk = Walk { types: self.types, outer: RefCell::default(), labels: RefCell::default() };
        ElementJson { walk: &walk, node: self.node, name: self.name }.serialize(serializer)
    }
}

/// What the elements of a tree share while it is written.
struct Walk<'t> {
    types: &'t Types,
    /// The elements around the current one, and itself, from the root.
    outer: RefCell<Vec<&'t Node>>,
    /// Labels of the types that the tree has named, by the text of `xsi:type` under the root's prefixes: long
    /// lists name the same few again and again.
    labels: RefCell<Vec<(&'t str, Option<String>)>>,
}

/// Maximum number of labels that are kept.
const MAX_LABELS: usize = 16;

impl<'t> Walk<'t> {
    /// Passes the label of the current element's type to `take`; `None` if it names none that its prefixes
    /// resolve.
    fn with_label<R>(&self, node: &'t Node, take: impl FnOnce(Option<&str>) -> R) -> R {
        let Some(text) = node.attribute(ns::XSI, "type") else { return take(None) };
        let outer = self.outer.borrow();
        let label = || Node::resolve_in(&outer, text).map(|named| self.types.label_of(&named));
        if outer[1..].iter().any(|node| !node.bindings.is_empty()) {
            return take(label().as_deref());
        }
        let mut labels = self.labels.borrow_mut();
        if let Some((_, label)) = labels.iter().find(|(known, _)| *known == text) {
            return take(label.as_deref());
        }
        let label = label();
        let taken = take(label.as_deref());
        if labels.len() < MAX_LABELS {
            labels.push((text, label));
        }
        taken
    }
}

/// An element of a tree.
struct ElementJson<'w, 't> {
    walk: &'w Walk<'t>,
    node: &'t Node,
    /// The name that the schema gives.
    name: Option<&'t QName>,
}

impl Serialize for ElementJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { walk, node, name } = *self;
        walk.outer.borrow_mut().push(node);
        let bindings = used_bindings(node);
        let is_outermost = walk.outer.borrow().len() == 1;
        let has_content = !node.children.is_empty() || is_outermost;
        // The exact capacity: there may be millions of trees.
        let parts = [name != Some(&node.name), !bindings.is_empty(), has_content].into_iter().filter(|it| *it).count();
        let mut object = serializer.serialize_map(Some(parts + node.attributes.len()))?;
        if name != Some(&node.name) {
            object.serialize_entry("$name", &Shown("", &node.name))?;
        }
        let is_typed = walk.with_label(node, |label| match label {
            Some(label) => object.serialize_entry("$type", label).map(|()| true),
            None => Ok(false),
        })?;
        if !bindings.is_empty() {
            object.serialize_entry("$ns", &bindings)?;
        }
        let is_said = |attribute: &QName| is_typed && attribute.is(ns::XSI, "type");
        for (attribute, value) in node.attributes.iter().filter(|(attribute, _)| !is_said(attribute)) {
            object.serialize_entry(&Shown("@", attribute), value.as_str())?;
        }
        if has_content {
            object.serialize_entry("$content", &ChildrenJson { walk, node })?;
        }
        walk.outer.borrow_mut().pop();
        object.end()
    }
}

/// The children of an element.
struct ChildrenJson<'w, 't> {
    walk: &'w Walk<'t>,
    node: &'t Node,
}

impl Serialize for ChildrenJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { walk, node } = *self;
        let mut array = serializer.serialize_seq(Some(node.children.len()))?;
        for child in &node.children {
            match child {
                Child::Text(text) => array.serialize_element(text.as_str())?,
                Child::Element(node) => array.serialize_element(&ElementJson { walk, node, name: None })?,
            }
        }
        array.end()
    }
}

/// A name as it is shown, after a mark.
struct Shown<'n>(&'static str, &'n QName);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shown(mark, name) = *self;
        if mark.is_empty() && name.namespace.is_empty() {
            return serializer.serialize_str(&name.local);
        }
        // One text is escaped faster than the pieces of a formatted one.
        let mut text = CompactString::with_capacity(mark.len() + name.namespace.len() + name.local.len() + 2);
        text.push_str(mark);
        if !name.namespace.is_empty() {
            text.push('{');
            text.push_str(&name.namespace);
            text.push('}');
        }
        text.push_str(&name.local);
        serializer.serialize_str(&text)
    }
}

/// Returns the tree with an `xsi:type`, whose prefix the tree does not use.
pub(super) fn with_type_name(mut node: Node, name: &QName) -> Node {
    let mut used = BTreeSet::new();
    collect_prefixes(&node, &mut used);
    let is_free =
        |prefix: &String| !used.contains(prefix.as_str()) && node.bindings.iter().all(|(other, _)| other != prefix);
    let prefix = (1..).map(|number| format!("t{number}")).find(is_free).unwrap_or_default();
    let text = if name.namespace.is_empty() { name.local.to_string() } else { format!("{prefix}:{}", name.local) };
    node.attributes.insert(0, (QName::new(ns::XSI, "type"), text.into()));
    if !name.namespace.is_empty() {
        let added = (prefix, name.namespace.to_string());
        node.bindings = node.bindings.iter().cloned().chain([added]).collect();
    }
    node
}

/// Removes the prefixes that the writer added to a tree and that it does not need.
pub(crate) fn tree_of(node: Node) -> Node {
    let bindings = used_bindings(&node);
    let types = prefixes_of_types(&node);
    let is_used = |prefix: &str| bindings.contains_key(prefix) || types.contains(prefix);
    let kept = node.bindings.iter().filter(|(prefix, _)| is_used(prefix)).cloned().collect();
    Node { bindings: kept, ..node }
}

/// Returns the prefixes in the `xsi:type`s of a tree.
fn prefixes_of_types(node: &Node) -> BTreeSet<String> {
    let own = node.attribute(ns::XSI, "type").and_then(|text| Some(text.trim_ascii().split_once(':')?.0.to_owned()));
    own.into_iter().chain(node.elements().flat_map(prefixes_of_types)).collect()
}

/// Appends text; text children are never empty, and never adjacent.
fn push_text(children: &mut Vec<Child>, text: &str) {
    match children.last_mut() {
        _ if text.is_empty() => {}
        Some(Child::Text(last)) => last.push_str(text),
        _ => children.push(Child::Text(text.into())),
    }
}

fn from_xml(json: &Json, name: Option<&QName>, path: &Path<'_>) -> Result<Node, JsonError> {
    let text = json.as_str().ok_or_else(|| JsonError::new(path, "a string", kind(json)))?;
    let node = Node::parse(text.as_bytes());
    let node = node.map_err(|error| JsonError::new(path, "an XML element", format!("invalid XML: {error}")))?;
    Ok(Node { name: name.cloned().unwrap_or_else(|| node.name.clone()), ..node })
}

/// Returns the element's own prefixes that a value in it may use: words before a colon, and the
/// default namespace.
fn used_bindings(node: &Node) -> Map<String, Json> {
    let mut used = BTreeSet::new();
    if node.bindings.is_empty() {
        return Map::new();
    }
    collect_prefixes(node, &mut used);
    let is_used = |prefix: &str, namespace: &str| used.contains(prefix) || prefix.is_empty() && !namespace.is_empty();
    let bindings = || node.bindings.iter().filter(|(prefix, namespace)| is_used(prefix, namespace));
    let mut found = Map::with_capacity(bindings().count());
    found.extend(bindings().map(|(prefix, namespace)| (prefix.clone(), Json::String(namespace.clone()))));
    found
}

/// Collects the words before colons in values, except for `xsi:type`, whose name is written
/// separately.
fn collect_prefixes<'n>(node: &'n Node, used: &mut BTreeSet<&'n str>) {
    let attributes = node.attributes.iter().filter(|(name, _)| !name.is(ns::XSI, "type")).map(|(_, value)| value);
    let texts = node.children.iter().filter_map(|child| match child {
        Child::Text(text) => Some(text),
        Child::Element(_) => None,
    });
    for text in attributes.chain(texts) {
        used.extend(text.match_indices(':').map(|(colon, _)| last_name(&text[..colon])));
    }
    node.elements().for_each(|child| collect_prefixes(child, used));
}

/// Returns the characters at the end of a text that could be a prefix.
fn last_name(text: &str) -> &str {
    let start = text.char_indices().rev().take_while(|(_, c)| *c != ':' && lexical::is_name_char(*c)).last();
    start.map_or("", |(start, _)| &text[start..])
}

fn bindings_of(json: &Json, path: &Path<'_>) -> Result<Vec<(String, String)>, JsonError> {
    let refuse = |json, path: &Path<'_>| JsonError::new(path, "an object of prefixes and namespaces", kind(json));
    let Json::Object(object) = json else { return Err(refuse(json, path)) };
    let mut bindings = Vec::with_capacity(object.len());
    for (prefix, namespace) in object {
        let path = path.key(prefix);
        let Json::String(namespace) = namespace else { return Err(refuse(namespace, &path)) };
        if !prefix.is_empty() && (!lexical::is_ncname(prefix) || namespace.is_empty() || prefix.starts_with("xml")) {
            return Err(JsonError::new(&path, "a prefix that can be declared", "another name"));
        }
        // These two namespaces have fixed prefixes (Namespaces in XML 1.0, section 3).
        if [ns::XML, ns::XMLNS].contains(&namespace.as_str()) {
            return Err(JsonError::new(&path, "a namespace that can be declared", "one that has a reserved prefix"));
        }
        bindings.push((prefix.clone(), checked(namespace, &path)?));
    }
    Ok(bindings)
}

fn name_of(json: &Json, path: &Path<'_>) -> Result<QName, JsonError> {
    let name = json.as_str().and_then(parse_name).filter(|name| name.namespace != ns::XMLNS);
    name.ok_or_else(|| JsonError::new(path, "a name: local or {namespace}local", kind(json)))
}

/// Parses a name in the form in which [`QName`] is displayed.
pub(crate) fn parse_name(text: &str) -> Option<QName> {
    let (namespace, local) = match text.strip_prefix('{') {
        Some(rest) => rest.rsplit_once('}')?,
        None => ("", text),
    };
    let is_good = lexical::is_ncname(local) && namespace.chars().all(lexical::is_xml_char);
    is_good.then(|| QName::owned(namespace, local))
}
