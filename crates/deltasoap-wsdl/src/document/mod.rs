//! A document as a flat list of elements.
//!
//! Elements are in document order, each with the index after its last descendant, so children and
//! subtrees are ranges. All text is in one string. Names are interned, and names in attribute
//! values are resolved while the document is parsed, when the declarations in scope are known.
//! Character data is kept only for documentation: elsewhere it has no meaning.

mod doctype;
mod encoding;
mod read;
mod vocabulary;

#[cfg(feature = "http")]
pub(crate) use encoding::in_charset;
pub use encoding::text;
pub(crate) use read::{DocumentError, abbreviated, read, steps};
pub(crate) use vocabulary::{Vocabulary, ns, standard_namespace};

use crate::Position;
use crate::fetch::Location;
use deltasoap_core::QName;
use deltasoap_xml::{NameId, Names};
use std::ops::Range;

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) location: Location,
    /// True if the document came from an address that is not public.
    pub(crate) is_private: bool,
    elements: Vec<ElementData>,
    attributes: Vec<AttributeData>,
    /// Names in attribute values; `None` for a value that is not a name. A name with an undeclared
    /// prefix is kept, prefix included, as a name in no namespace: nothing has such a name.
    values: Vec<Option<NameId>>,
    /// Attribute values and documentation.
    text: String,
    /// Offsets of the lines, starting with the second.
    lines: Vec<u32>,
    /// What was read more leniently than the standards do: message and offset.
    pub(crate) tolerated: Vec<(String, u32)>,
}

#[derive(Debug)]
struct ElementData {
    name: NameId,
    vocabulary: Vocabulary,
    offset: u32,
    attributes: Range<u32>,
    /// Text of the documentation.
    text: Range<u32>,
    /// Index after the last descendant.
    end: u32,
}

#[derive(Debug)]
struct AttributeData {
    name: NameId,
    value: Range<u32>,
    values: Range<u32>,
}

/// A place in one of the documents of an import; small and `Copy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    pub(crate) document: u32,
    pub(crate) offset: u32,
}

impl Document {
    /// Creates a document of which only the line offsets are known.
    pub(crate) fn with_lines(location: Location, lines: Vec<u32>) -> Self {
        let (elements, attributes, values, text) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        Document { location, is_private: false, elements, attributes, values, text, lines, tolerated: Vec::new() }
    }

    /// Returns the offsets of the lines, starting with the second.
    pub(crate) fn line_starts(&self) -> &[u32] {
        &self.lines
    }

    /// Returns line and column of an offset, both from 1; columns count bytes.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = if line == 0 { 0 } else { self.lines[line - 1] };
        Position { document: self.location.to_string(), line: line as u32 + 1, column: offset - start + 1 }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns all names in attribute values.
    pub(crate) fn held_names(&self) -> impl Iterator<Item = NameId> + '_ {
        self.values.iter().filter_map(|&value| value)
    }
}

/// An element of a document: a `Copy` handle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'d> {
    document: &'d Document,
    names: &'d Names,
    /// Number of the document.
    number: u32,
    index: u32,
}

impl<'d> Node<'d> {
    /// Returns element `index` of document `number`.
    pub(crate) fn new(document: &'d Document, names: &'d Names, number: u32, index: u32) -> Self {
        Node { document, names, number, index }
    }

    fn data(self) -> &'d ElementData {
        &self.document.elements[self.index as usize]
    }

    /// Returns the element's index in the document.
    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// Returns the document's number.
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    pub(crate) fn place(self) -> Place {
        Place { document: self.number, offset: self.data().offset }
    }

    pub(crate) fn vocabulary(self) -> Vocabulary {
        self.data().vocabulary
    }

    pub(crate) fn local(self) -> &'d str {
        self.names.local(self.data().name)
    }

    pub(crate) fn namespace(self) -> &'d str {
        self.names.namespace(self.data().name)
    }

    pub(crate) fn name(self) -> QName {
        qname(self.names, self.data().name)
    }

    /// Returns true if the element has this vocabulary and local name.
    pub(crate) fn is(self, vocabulary: Vocabulary, local: &str) -> bool {
        self.vocabulary() == vocabulary && self.local() == local
    }

    /// Returns true if it is this element of XML Schema.
    pub(crate) fn is_xsd(self, local: &str) -> bool {
        self.is(Vocabulary::Xsd, local)
    }

    /// Returns the child elements.
    pub(crate) fn children(self) -> impl Iterator<Item = Node<'d>> {
        let end = self.data().end;
        let mut index = self.index + 1;
        std::iter::from_fn(move || {
            let child = Node { index, ..self };
            (index < end).then(|| {
                index = child.data().end;
                child
            })
        })
    }

    /// Returns the child elements of one vocabulary.
    pub(crate) fn children_of(self, vocabulary: Vocabulary) -> impl Iterator<Item = Node<'d>> {
        self.children().filter(move |child| child.vocabulary() == vocabulary)
    }

    /// Returns the first child with this name.
    pub(crate) fn child(self, vocabulary: Vocabulary, local: &str) -> Option<Node<'d>> {
        self.children().find(|child| child.is(vocabulary, local))
    }

    /// Returns the element and all its descendants.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Node<'d>> {
        (self.index..self.data().end).map(move |index| Node { index, ..self })
    }

    fn attribute_data(self) -> &'d [AttributeData] {
        let range = &self.data().attributes;
        &self.document.attributes[range.start as usize..range.end as usize]
    }

    fn find(self, namespace: &str, local: &str) -> Option<&'d AttributeData> {
        self.attribute_data().iter().find(|data| self.names.is(data.name, namespace, local))
    }

    fn value(self, data: &AttributeData) -> &'d str {
        &self.document.text[data.value.start as usize..data.value.end as usize]
    }

    /// Returns the value of an attribute without a namespace, trimmed.
    pub(crate) fn attribute(self, local: &str) -> Option<&'d str> {
        self.attribute_in("", local).map(str::trim_ascii)
    }

    /// Returns the value of an attribute, unchanged.
    pub(crate) fn attribute_in(self, namespace: &str, local: &str) -> Option<&'d str> {
        self.find(namespace, local).map(|data| self.value(data))
    }

    /// Returns the names in an attribute's value; `None` if there is no such attribute.
    pub(crate) fn names(self, namespace: &str, local: &str) -> Option<&'d [Option<NameId>]> {
        let data = self.find(namespace, local)?;
        Some(&self.document.values[data.values.start as usize..data.values.end as usize])
    }

    /// Returns the names and values of all attributes.
    pub(crate) fn attributes(self) -> impl Iterator<Item = (NameId, &'d str)> {
        self.attribute_data().iter().map(move |data| (data.name, self.value(data)))
    }

    /// Returns the values of attributes with a local name, in any namespace.
    pub(crate) fn attributes_named(self, local: &str) -> impl Iterator<Item = &'d str> {
        self.attributes().filter(move |&(name, _)| self.names.local(name) == local).map(|(_, value)| value)
    }

    /// Returns the element's documentation: the `documentation` child in WSDL, the `annotation` in
    /// XML Schema.
    pub(crate) fn documentation(self) -> Option<Box<str>> {
        let first = self.children().next()?;
        let text = match first.local() {
            "documentation" => first.text().to_owned(),
            "annotation" => {
                let parts = first.children().filter(|child| child.local() == "documentation");
                parts.map(|part| part.text().trim()).collect::<Vec<_>>().join("\n")
            }
            _ => return None,
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.into())
    }

    /// Returns the element in the annotation of a declaration or type that describes the packing of
    /// its numbers.
    pub(crate) fn packing(self) -> Option<Node<'d>> {
        let annotations = self.children().filter(|child| child.is_xsd("annotation"));
        let notes = annotations.flat_map(Node::children).filter(|child| child.is_xsd("appinfo"));
        notes.flat_map(Node::children).next()
    }

    fn text(self) -> &'d str {
        let range = &self.data().text;
        &self.document.text[range.start as usize..range.end as usize]
    }

    /// Returns true if two elements have equal names, attributes and content, except documentation.
    pub(crate) fn is_like(self, other: Node<'d>) -> bool {
        let (mut mine, mut theirs) = (self.without_documentation(), other.without_documentation());
        loop {
            match (mine.next(), theirs.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if a.is_same_element(b) => {}
                _ => return false,
            }
        }
    }

    /// Returns the element and its descendants without documentation.
    fn without_documentation(self) -> impl Iterator<Item = Node<'d>> {
        let is_documentation = |node: &Node<'_>| matches!(node.local(), "annotation" | "documentation" | "appinfo");
        self.descendants().filter(move |node| !is_documentation(node))
    }

    fn is_same_element(self, other: Node<'d>) -> bool {
        let content = |node: Node<'d>, data: &'d AttributeData| match &data.values {
            values if values.is_empty() => (data.name, node.value(data), &[][..]),
            values => (data.name, "", &node.document.values[values.start as usize..values.end as usize]),
        };
        let (mine, theirs) = (self.attribute_data(), other.attribute_data());
        let has = |data| theirs.iter().any(|their| content(other, their) == content(self, data));
        let count = |node: Node<'_>| node.children().filter(|child| child.local() != "annotation").count();
        self.data().name == other.data().name
            && mine.len() == theirs.len()
            && mine.iter().all(has)
            && count(self) == count(other)
    }
}

/// Converts an interned name to an owned one.
pub(crate) fn qname(names: &Names, name: NameId) -> QName {
    QName::owned(names.namespace(name), names.local(name))
}
