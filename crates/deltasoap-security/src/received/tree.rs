//! The head of a message as a tree.

use crate::error::SecurityError;
use crate::ns;
use deltasoap_xml::{NameId, Reader};

/// Maximum number of elements before the body.
const MAX_ELEMENTS: usize = 10_000;
/// Maximum bytes of names, attributes and texts before the body.
const MAX_BYTES: usize = 4 << 20;

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// The elements of a head, in document order.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    elements: Vec<Element>,
    bytes: usize,
}

/// An element of the head.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) namespace: String,
    pub(crate) local: String,
    /// Namespace, local name and value.
    attributes: Vec<(String, String, String)>,
    /// The text directly in the element.
    text: String,
    children: Vec<usize>,
    parent: Option<usize>,
    /// Place of the start tag in the head's bytes.
    pub(crate) start: usize,
    /// Place after the end tag; 0 while the element is open.
    pub(crate) end: usize,
}

impl Tree {
    /// Adds the element whose start tag was just read, and returns its index.
    pub(crate) fn add(&mut self, reader: &Reader, parent: Option<usize>, start: usize) -> Result<usize, SecurityError> {
        let index = self.elements.len();
        let names = reader.names();
        let owned = |name: NameId| (names.namespace(name).to_owned(), names.local(name).to_owned());
        let (namespace, local) = owned(reader.name());
        let attributes: Vec<_> = (0..reader.attribute_count())
            .map(|index| {
                let (name, value) = reader.attribute(index);
                let (namespace, local) = owned(name);
                (namespace, local, value.to_owned())
            })
            .collect();
        self.bytes += attributes.iter().map(|(_, _, value)| value.len() + 64).sum::<usize>() + 64;
        if index >= MAX_ELEMENTS || self.bytes > MAX_BYTES {
            return Err(SecurityError::Malformed(format!(
                "the message has more than {MAX_ELEMENTS} elements or {MAX_BYTES} bytes of attributes before its body"
            )));
        }
        if let Some(parent) = parent {
            self.elements[parent].children.push(index);
        }
        let element = Element { namespace, local, attributes, parent, start, ..Element::default() };
        self.elements.push(element);
        Ok(index)
    }

    pub(crate) fn end(&mut self, element: usize, end: usize) {
        self.elements[element].end = end;
    }

    pub(crate) fn push_text(&mut self, element: usize, text: &str) {
        self.elements[element].text.push_str(text);
    }

    pub(crate) fn root(&self) -> Option<&Element> {
        self.elements.first()
    }

    /// Returns an element that was found.
    pub(crate) fn get(&self, index: usize) -> &Element {
        &self.elements[index]
    }

    /// Returns the indices of an element's children.
    pub(crate) fn children(&self, index: usize) -> impl Iterator<Item = usize> {
        self.elements[index].children.iter().copied()
    }

    /// Returns the children of an element with a name.
    pub(crate) fn all(&self, index: usize, namespace: &str, local: &str) -> impl Iterator<Item = usize> {
        self.children(index).filter(move |&child| self.elements[child].is(namespace, local))
    }

    /// Returns the first child with a name.
    pub(crate) fn find(&self, index: usize, namespace: &str, local: &str) -> Option<usize> {
        self.all(index, namespace, local).next()
    }

    /// Returns the text of the first child with a name.
    pub(crate) fn text_of(&self, index: usize, namespace: &str, local: &str) -> Option<&str> {
        self.find(index, namespace, local).map(|child| self.get(child).text())
    }

    /// Returns the header blocks.
    pub(crate) fn header_blocks(&self) -> impl Iterator<Item = usize> {
        let namespace = self.root().map_or("", |root| root.namespace.as_str());
        let header = self.root().and_then(|_| self.find(0, namespace, "Header"));
        header.into_iter().flat_map(|header| self.children(header))
    }

    /// Returns the element that has an id.
    ///
    /// # Errors
    /// Returns an error if several have it.
    pub(crate) fn with_id(&self, id: &str) -> Result<Option<usize>, SecurityError> {
        let mut found = (0..self.elements.len()).filter(|&index| self.elements[index].ids().any(|other| other == id));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            _ => Err(SecurityError::Malformed(format!("the signed id {id:?} occurs twice"))),
        }
    }

    /// Returns the element whose start tag is at a place.
    pub(crate) fn starting_at(&self, start: usize) -> Option<usize> {
        self.elements.binary_search_by_key(&start, |element| element.start).ok()
    }

    /// Returns the innermost element that contains the bytes from one place to another.
    pub(crate) fn around(&self, start: usize, end: usize) -> Option<usize> {
        self.elements.iter().rposition(|element| element.start <= start && (element.end >= end || element.end == 0))
    }

    /// Returns true if `outer` contains `inner`, or is it.
    pub(crate) fn contains(&self, outer: usize, inner: usize) -> bool {
        std::iter::successors(Some(inner), |&index| self.elements[index].parent).any(|index| index == outer)
    }

    /// Returns the path of an element, for errors.
    pub(crate) fn path(&self, index: usize) -> String {
        let mut names: Vec<_> = std::iter::successors(Some(index), |&index| self.elements[index].parent)
            .map(|index| self.elements[index].local.as_str())
            .collect();
        names.reverse();
        format!("/{}", names.join("/"))
    }
}

impl Element {
    pub(crate) fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && self.namespace == namespace
    }

    /// Returns the value of an attribute.
    pub(crate) fn attribute(&self, namespace: &str, local: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(other, name, _)| other == namespace && name == local);
        found.map(|(_, _, value)| value.as_str())
    }

    /// Returns the text directly in the element, without white space around it.
    pub(crate) fn text(&self) -> &str {
        self.text.trim_matches([' ', '\t', '\r', '\n'])
    }

    /// Returns the text directly in the element, as it is.
    pub(crate) fn whole_text(&self) -> &str {
        &self.text
    }

    /// Returns the element's ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let ids = self.attributes.iter().filter(|(namespace, local, _)| is_id(namespace, local));
        ids.map(|(_, _, value)| value.as_str())
    }

    /// Returns the attributes of the XML namespace.
    pub(crate) fn xml_attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.attributes.iter().filter(|(namespace, ..)| namespace == XML);
        own.map(|(_, local, value)| (local.as_str(), value.as_str()))
    }
}

/// Returns the ids of the start tag that was just read.
pub(crate) fn ids_of(reader: &Reader) -> impl Iterator<Item = &str> {
    let names = reader.names();
    let attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    attributes.filter(|(name, _)| is_id(names.namespace(*name), names.local(*name))).map(|(_, value)| value)
}

/// Returns true for the attributes that give an element an id that signatures refer to: those of
/// WS-Security, XML Signature, XML Encryption, both versions of SAML, and XML.
fn is_id(namespace: &str, local: &str) -> bool {
    match namespace {
        "" => matches!(local, "Id" | "ID" | "AssertionID"),
        ns::WSU => local == "Id",
        XML => local == "id",
        _ => false,
    }
}
