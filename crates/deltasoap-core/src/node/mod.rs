//! XML kept as a tree: unknown header blocks, fault details, `xsd:any` content.
//!
//! A tree knows the prefixes in scope at its root, and those declared within it, so that `xsi:type`
//! and other names in content keep their meaning when the tree is written elsewhere.

mod read;
mod tags;

pub(crate) use read::SharedNames;
pub(crate) use tags::Tags;

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::{Cursor, DecodeOptions, Decoder, ElementRoot, Step, Tolerance, decode_once};
use crate::encode::Encoder;
use crate::schema::{Bindings, Element, QName, View, owned};
use crate::{Error, ErrorKind, Message, ns};
use compact_str::CompactString;
use deltasoap_xml::lexical::is_name_char;
use std::collections::{BTreeMap, BTreeSet};

/// An element with its content. Comments are not kept; CDATA is merged with text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// The element's name.
    pub name: QName,
    /// Attributes in document order, without namespace declarations.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "crate::types::attributes")
    )]
    pub attributes: Vec<(QName, CompactString)>,
    /// Prefixes and their namespaces, `""` for the default namespace. Holds those that the element
    /// declares; on the tree's root, all that are in scope, ordered by prefix. Names in content and
    /// attribute values are resolved with them. Inner bindings hide outer ones.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "<[_]>::is_empty"))]
    pub bindings: Bindings,
    /// Children in document order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub children: Vec<Child>,
}

/// A child of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Child {
    /// An element.
    Element(Node),
    /// Character data, never empty, never adjacent to other character data.
    Text(CompactString),
}

impl Node {
    /// Creates an element without content.
    pub fn new(name: QName) -> Self {
        Node { name, ..Node::default() }
    }

    /// Creates an element with text.
    pub fn with_text(name: QName, text: impl Into<CompactString>) -> Self {
        Node { children: vec![Child::Text(text.into())], ..Node::new(name) }
    }

    /// Converts a typed value to a tree.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry.
    pub fn from_message<T: Message>(value: &T) -> Result<Self, Error> {
        let mut encoder = Encoder::new();
        encoder.start_root(&T::ELEMENT, T::view());
        value.encode(&mut encoder, T::view());
        encoder.end();
        Node::parse(encoder.finish()?.as_slice())
    }

    /// Reads a whole document as a tree.
    ///
    /// # Errors
    /// Returns an error if the document is not well-formed.
    pub fn parse(document: &[u8]) -> Result<Self, Error> {
        let mut root = ElementRoot::new(Node::view());
        decode_once(&mut root, document)?;
        Ok(root.value)
    }

    /// Reads the tree as a typed value.
    ///
    /// # Errors
    /// Returns an error if the tree does not match the type's schema. Positions are those in the
    /// tree when it is written alone.
    pub fn to_typed<T: Typed>(&self) -> Result<T, Error> {
        self.to_typed_with(Tolerance::Strict)
    }

    /// Like [`to_typed`](Self::to_typed), with a tolerance, which is usually that of the client or
    /// service that received the message.
    ///
    /// # Errors
    /// Same as [`to_typed`](Self::to_typed).
    pub fn to_typed_with<T: Typed>(&self, tolerance: Tolerance) -> Result<T, Error> {
        let mut encoder = Encoder::new();
        self.write(&mut encoder);
        let document = encoder.finish()?;
        let mut root = ElementRoot::new(T::view());
        match tolerance {
            Tolerance::Strict => decode_once(&mut root, document.as_slice())?,
            tolerance => {
                let options = DecodeOptions { tolerance, ..DecodeOptions::default() };
                Decoder::new(options).decode(&mut root, document.as_slice())?;
            }
        }
        Ok(root.value)
    }

    /// Reads the tree as a typed value if its `xsi:type` names the type; returns `None` if it names
    /// another type, or if there is none.
    ///
    /// An enum of derived types counts as its base type alone here. Values of `xsd:anyType` are
    /// read this way:
    ///
    /// ```
    /// use deltasoap::Soap;
    /// use deltasoap::types::Node;
    ///
    /// #[derive(Debug, PartialEq, Soap)]
    /// #[soap(namespace = "urn:vim25", qualified)]
    /// struct Quota {
    ///     limit: i64,
    /// }
    ///
    /// # let text = "<val xmlns='urn:vim25' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='Quota'><limit>5</limit></val>";
    /// # let val = Node::parse(text.as_bytes())?;
    /// if let Some(quota) = val.downcast::<Quota>()? {
    ///     assert_eq!(quota.limit, 5);
    /// }
    /// assert_eq!(val.downcast::<String>()?, None);
    /// # Ok::<(), deltasoap::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the tree does not match the type's schema. Positions are those in the
    /// tree when it is written alone.
    pub fn downcast<T: Typed>(&self) -> Result<Option<T>, Error> {
        self.downcast_with(Tolerance::Strict)
    }

    /// Like [`downcast`](Self::downcast), with a tolerance, since a server may send more than
    /// the local schema declares.
    ///
    /// ```
    /// use deltasoap::Soap;
    /// use deltasoap::engine::Tolerance;
    /// use deltasoap::types::Node;
    ///
    /// #[derive(Debug, PartialEq, Soap)]
    /// #[soap(namespace = "urn:vim25", qualified)]
    /// struct Quota {
    ///     limit: i64,
    /// }
    ///
    /// # let text = "<val xmlns='urn:vim25' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='Quota'><limit>5</limit><unit>MB</unit></val>";
    /// # let val = Node::parse(text.as_bytes())?;
    /// assert!(val.downcast::<Quota>().is_err());
    /// assert_eq!(val.downcast_with(Tolerance::Unknown)?, Some(Quota { limit: 5 }));
    /// # Ok::<(), deltasoap::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`downcast`](Self::downcast).
    pub fn downcast_with<T: Typed>(&self, tolerance: Tolerance) -> Result<Option<T>, Error> {
        let named = self.attribute(ns::XSI, "type").and_then(|text| self.resolve(text.trim_ascii()));
        if named == Some(T::TYPE_NAME) { self.to_typed_with(tolerance).map(Some) } else { Ok(None) }
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, namespace: &str, local: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name.is(namespace, local)).map(|(_, value)| value.as_str())
    }

    /// Returns the child elements.
    pub fn elements(&self) -> impl Iterator<Item = &Node> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(node) => Some(node),
            Child::Text(_) => None,
        })
    }

    /// Returns the first child element with this name.
    pub fn element(&self, namespace: &str, local: &str) -> Option<&Node> {
        self.elements().find(|node| node.name.is(namespace, local))
    }

    /// Returns the text directly in the element.
    pub fn text(&self) -> String {
        self.children.iter().fold(String::new(), |mut all, child| {
            if let Child::Text(text) = child {
                all.push_str(text);
            }
            all
        })
    }

    /// Writes the element. The encoder chooses prefixes; those in `bindings` are declared
    /// unchanged.
    pub fn write(&self, encoder: &mut Encoder) {
        encoder.start_bound(&self.name, &self.bindings);
        self.write_content(encoder);
        encoder.end_in_tree();
    }

    fn write_content(&self, encoder: &mut Encoder) {
        // The body's element may already have the attribute, and no attribute may appear twice.
        let style = encoder.take_style_written().then(|| encoder.version().namespace());
        let is_written = |name: &QName| style.is_some_and(|namespace| name.is(namespace, "encodingStyle"));
        for (name, value) in self.attributes.iter().filter(|(name, _)| !is_written(name)) {
            encoder.attribute(name, value);
        }
        for child in &self.children {
            match child {
                Child::Element(node) => node.write(encoder),
                Child::Text(text) => encoder.text(text),
            }
        }
    }
}

impl Content for Node {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Node::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, _: View<'_>) -> Step {
        read::decode(self, cursor)
    }

    fn encode(&self, encoder: &mut Encoder, _: View<'_>) {
        for (prefix, namespace) in self.bindings.iter() {
            encoder.bind(prefix, namespace);
        }
        self.write_content(encoder);
    }

    /// Writes a tree in place of `xsd:any`, under its own name.
    fn encode_inline(&self, encoder: &mut Encoder, _: View<'_>) {
        self.write(encoder);
    }
}

impl Shortcuts for Node {}

impl Typed for Node {
    const TYPE_NAME: QName = QName::new(ns::XSD, "anyType");
    /// An inline tree can be any element.
    const CHOICE: bool = true;

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Any;
        &ELEMENT
    }
}

/// Returns the longest suffix of `text` that could be a prefix.
fn last_name(text: &str) -> &str {
    let start = text.char_indices().rev().take_while(|(_, c)| *c != ':' && is_name_char(*c)).last();
    start.map_or("", |(start, _)| &text[start..])
}

impl Node {
    /// Resolves a `prefix:local` found in this element's text or attributes, using only the
    /// bindings of this element, which is correct for a tree's root. Returns `None` for a prefix
    /// that is not bound there.
    pub fn resolve(&self, text: &str) -> Option<QName> {
        resolve(&[self], text)
    }

    /// Like [`resolve`](Self::resolve), for a descendant: `path` leads from the tree's root to it.
    pub fn resolve_in(path: &[&Node], text: &str) -> Option<QName> {
        resolve(path, text)
    }

    /// Returns a copy that stands alone: it has the bindings of the surrounding elements for those
    /// prefixes that its values use. `outer` has the prefixes in scope around the element with their
    /// namespaces.
    pub fn detached(&self, outer: &BTreeMap<&str, &str>) -> Node {
        let mut used = BTreeSet::from([""]);
        self.collect_prefixes(&mut used);
        self.bindings.iter().for_each(|(own, _)| _ = used.remove(own.as_str()));
        let found = used.into_iter().filter_map(|prefix| outer.get(prefix).map(|namespace| (prefix, *namespace)));
        let bindings = self.bindings.iter().cloned().chain(found.map(owned)).collect();
        Node { bindings, ..self.clone() }
    }

    /// Collects the names before colons in values.
    fn collect_prefixes<'n>(&'n self, used: &mut BTreeSet<&'n str>) {
        let texts = self.children.iter().filter_map(|child| match child {
            Child::Text(text) => Some(text),
            Child::Element(_) => None,
        });
        for text in texts.chain(self.attributes.iter().map(|(_, value)| value)) {
            used.extend(text.match_indices(':').map(|(colon, _)| last_name(&text[..colon])));
        }
        self.elements().for_each(|child| child.collect_prefixes(used));
    }

    /// Returns true if the two trees have the same content: names, attributes in any order, text
    /// and children are equal. Prefixes are ignored; the names in `xsi:type` are compared after
    /// resolution.
    pub fn is_equivalent(&self, other: &Node) -> bool {
        is_equivalent(&mut Vec::new(), self, &mut Vec::new(), other)
    }

    /// Creates an [`ErrorKind::Other`] that names the element, for callers that reject a tree.
    pub fn fault(&self, what: &str) -> Error {
        Error::at(ErrorKind::Other(format!("<{}>: {what}", self.name)), 0)
    }
}

/// Compares two trees, each in the context of its ancestors.
fn is_equivalent<'n>(a_path: &mut Vec<&'n Node>, a: &'n Node, b_path: &mut Vec<&'n Node>, b: &'n Node) -> bool {
    a_path.push(a);
    b_path.push(b);
    let same = a.name == b.name
        && a.attributes.len() == b.attributes.len()
        && a.children.len() == b.children.len()
        && a.attributes.iter().all(|attribute| has_attribute(attribute, a_path, b_path))
        && a.children.iter().zip(&b.children).all(|children| match children {
            (Child::Element(a), Child::Element(b)) => is_equivalent(a_path, a, b_path, b),
            (a, b) => a == b,
        });
    a_path.pop();
    b_path.pop();
    same
}

/// Returns true if the innermost element of `b` has an attribute equivalent to this attribute of
/// `a`.
fn has_attribute((name, value): &(QName, CompactString), a: &[&Node], b: &[&Node]) -> bool {
    let other = b.last().and_then(|b| b.attribute(&name.namespace, &name.local));
    other.is_some_and(|other| {
        let is_type = name.is(ns::XSI, "type");
        if is_type && let Some(named) = resolve(a, value) { Some(named) == resolve(b, other) } else { other == value }
    })
}

/// Resolves a `prefix:local` in the last element of a path; `None` for a prefix that is not bound.
fn resolve(path: &[&Node], text: &str) -> Option<QName> {
    let text = text.trim_ascii();
    let (prefix, local) = text.split_once(':').unwrap_or(("", text));
    let bound = path.iter().rev().flat_map(|node| node.bindings.iter().rev()).find(|(name, _)| name == prefix);
    match bound {
        Some((_, namespace)) => Some(QName::owned(namespace.clone(), local)),
        None if prefix.is_empty() => Some(QName::owned("", local)),
        None if prefix == "xml" => Some(QName::owned(ns::XML, local)),
        None => None,
    }
}
