//! Start tags in canonical form: which declarations they have, and the order of everything.

use super::{C14nError, Canonicalizer};
use crate::reader::{PrefixId, UNBOUND};
use crate::{Escape, NsId, Reader};

/// Memory for one start tag, and what is known of the elements around the one that is written.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Declarations to be written.
    namespaces: Vec<(PrefixId, NsId)>,
    /// Indices of the attributes, in canonical order.
    attributes: Vec<usize>,
    /// Attributes of the XML namespace around the element, innermost last.
    around: Vec<Inherited>,
}

/// An attribute of the XML namespace that an element inherits.
#[derive(Debug)]
struct Inherited {
    /// Number of elements that are open where the attribute is; 0 if that is unknown.
    depth: usize,
    local: String,
    value: String,
}

impl Scratch {
    pub(super) fn clear(&mut self) {
        self.around.clear();
    }

    /// Notes the attributes of the XML namespace of a start tag.
    pub(super) fn note_around(&mut self, reader: &Reader) {
        let depth = reader.depth();
        self.forget_closed(depth);
        for (name, value) in (0..reader.attribute_count()).map(|index| reader.attribute(index)) {
            if reader.names().namespace(name) == XML {
                self.inherit(depth, reader.names().local(name), value);
            }
        }
    }

    pub(super) fn inherit(&mut self, depth: usize, local: &str, value: &str) {
        self.around.push(Inherited { depth, local: local.to_owned(), value: value.to_owned() });
    }

    /// Forgets the attributes of elements that ended before a start tag.
    fn forget_closed(&mut self, depth: usize) {
        self.around.retain(|inherited| inherited.depth < depth);
    }
}

const XML: &str = "http://www.w3.org/XML/1998/namespace";

impl Canonicalizer {
    /// Writes the start tag that was just read.
    pub(super) fn start(&mut self, reader: &Reader) -> Result<(), C14nError> {
        let is_apex = self.open.is_empty();
        if is_apex {
            self.scratch.forget_closed(reader.depth());
        }
        let name = reader.tag_spelling();
        self.open.push((name, self.rendered.len()));
        self.scratch.namespaces.clear();
        if self.method.is_exclusive() {
            self.note_used(reader);
            self.note_listed(reader, is_apex);
        } else {
            self.note_all(reader, is_apex);
        }
        self.out.push(b"<");
        self.out.push(reader.spelling(name).as_bytes());
        self.push_namespaces(reader)?;
        self.push_attributes(reader, is_apex)?;
        self.out.push(b">");
        Ok(())
    }

    /// Returns true if the output declares a prefix as the document does here.
    pub(super) fn is_rendered(&self, prefix: PrefixId, namespace: NsId) -> bool {
        let rendered = self.rendered.iter().rfind(|(other, _)| *other == prefix).map(|(_, namespace)| *namespace);
        rendered.unwrap_or(NsId::NONE) == namespace
    }

    /// Notes a declaration for the tag, unless the output has it.
    fn note(&mut self, prefix: PrefixId, reader: &Reader) {
        let namespace = reader.binding(prefix);
        let is_needed = !prefix.is_reserved() && namespace != UNBOUND && !self.is_rendered(prefix, namespace);
        if is_needed {
            self.rendered.push((prefix, namespace));
            self.scratch.namespaces.push((prefix, namespace));
        }
    }

    /// Notes the declarations that the names of the tag use (Exclusive XML Canonicalization, 1.1).
    fn note_used(&mut self, reader: &Reader) {
        self.note(reader.prefix_of(reader.tag_spelling()), reader);
        for index in 0..reader.attribute_count() {
            let prefix = reader.prefix_of(reader.attribute_spelling(index));
            if prefix != PrefixId::EMPTY {
                self.note(prefix, reader);
            }
        }
    }

    /// Notes the declarations of listed prefixes, which are needed wherever they change.
    fn note_listed(&mut self, reader: &Reader, is_apex: bool) {
        if !is_apex && !reader.tag_has_declarations() {
            return;
        }
        for index in 0..self.method.inclusive.len() {
            if let Some(prefix) = reader.find_prefix(&self.method.inclusive[index]) {
                self.note(prefix, reader);
            }
        }
    }

    /// Notes all declarations in scope that the output does not have (Canonical XML, section 2.3).
    fn note_all(&mut self, reader: &Reader, is_apex: bool) {
        if is_apex {
            reader.prefixes().for_each(|prefix| self.note(prefix, reader));
        } else {
            reader.declared_prefixes().for_each(|prefix| self.note(prefix, reader));
        }
    }

    fn push_namespaces(&mut self, reader: &Reader) -> Result<(), C14nError> {
        let Self { scratch, out, .. } = self;
        scratch.namespaces.sort_unstable_by_key(|(prefix, _)| reader.prefix_text(*prefix));
        for &(prefix, namespace) in &scratch.namespaces {
            let (prefix, uri) = (reader.prefix_text(prefix), reader.names().uri(namespace));
            if is_relative(uri) {
                return Err(C14nError::RelativeNamespace(uri.to_owned()));
            }
            out.push(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
            out.push(prefix.as_bytes());
            out.push(b"=\"");
            out.push_text(uri, Escape::Attribute);
            out.push(b"\"");
        }
        Ok(())
    }

    fn push_attributes(&mut self, reader: &Reader, is_apex: bool) -> Result<(), C14nError> {
        let Self { scratch, out, method, .. } = self;
        if is_apex && !scratch.around.is_empty() {
            return self.push_with_inherited(reader);
        }
        if reader.attribute_count() == 0 {
            return Ok(());
        }
        let key = |index: usize| {
            let (name, _) = reader.attribute(index);
            (reader.names().namespace(name), reader.names().local(name))
        };
        scratch.attributes.clear();
        scratch.attributes.extend(0..reader.attribute_count());
        scratch.attributes.sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
        debug_assert!(!is_apex || method.is_exclusive() || scratch.around.is_empty());
        for &index in &scratch.attributes {
            out.push(b" ");
            out.push(reader.spelling(reader.attribute_spelling(index)).as_bytes());
            out.push(b"=\"");
            out.push_text(reader.attribute(index).1, Escape::Attribute);
            out.push(b"\"");
        }
        Ok(())
    }

    /// Writes the attributes of the outermost element, with those of the XML namespace that it
    /// inherits.
    fn push_with_inherited(&mut self, reader: &Reader) -> Result<(), C14nError> {
        let names = reader.names();
        let own = (0..reader.attribute_count()).map(|index| {
            let (name, value) = reader.attribute(index);
            let spelling = reader.spelling(reader.attribute_spelling(index));
            (names.namespace(name), names.local(name), spelling.to_owned(), value.to_owned())
        });
        let mut all: Vec<_> = own.collect();
        // The innermost attribute hides those further outside.
        for Inherited { local, value, .. } in self.scratch.around.iter().rev() {
            let is_hidden = all.iter().any(|(namespace, own, ..)| *namespace == XML && own == local);
            if local == "base" && self.method.joins_bases() {
                return Err(C14nError::InheritedBase);
            }
            if !is_hidden && self.method.inherits(local) {
                all.push((XML, local, format!("xml:{local}"), value.clone()));
            }
        }
        all.sort_unstable();
        for (_, _, spelling, value) in &all {
            self.out.push(b" ");
            self.out.push(spelling.as_bytes());
            self.out.push(b"=\"");
            self.out.push_text(value, Escape::Attribute);
            self.out.push(b"\"");
        }
        Ok(())
    }
}

/// Returns true for a URI without a scheme (RFC 3986, section 4.2), except the empty one. A
/// document with such a namespace has no canonical form (Canonical XML 1.0, section 1.3).
pub fn is_relative(uri: &str) -> bool {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    !uri.is_empty() && !scheme.is_some_and(is_scheme)
}
