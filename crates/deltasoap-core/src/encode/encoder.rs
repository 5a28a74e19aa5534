//! The encoder: writes tags, prefixes, attributes and leaves into a buffer.
//!
//! A namespace gets a prefix where it is first used.
//!
//! # Default namespaces
//!
//! Each self-contained root declares a default namespace (`Encoder::start_root`): the body's
//! element, a header block, an entry of a fault's detail. Most elements then need no prefix, which
//! makes messages up to a fifth shorter: a vSphere response of 182,635 bytes is written in 182,421,
//! and took 223,000 with prefixes. The description decides, not the value. It is checked once
//! (`View::takes_default_namespace`) and costs an element nothing. If a default namespace could
//! change the meaning of something below it, the whole message keeps its prefixes. This is so if
//! the root contains
//!
//! - an element without a namespace: each one would need `xmlns=""`
//! - a tree (`xs:any`), or content whose type the message chooses: it may contain such elements,
//!   and names without a prefix that are in no namespace
//! - a text or attribute that is a name (`xs:QName`, `xs:NOTATION`), or may be one
//!   (`xs:anySimpleType`): an unprefixed name in a text is in the default namespace
//! - an attribute with a namespace, except `xml:lang` and the like: a default namespace does not
//!   apply to attributes
//! - a SOAP array: its `arrayType` is a name
//!
//! Messages in SOAP encoding keep prefixes, and so do bodies without an element of their own and
//! trees built from JSON. Elements of other namespaces and all names in values have prefixes. A
//! value may contain more than its description specifies: an element without a namespace then gets
//! `xmlns=""`. Attributes that `xs:anyAttribute` accepts, and lists of names, are texts to the
//! engine and are written as they are.

use super::canonical::Canonical;
use super::differential::Role;
use super::differential::{Against, Stamp};
use super::flat::NotedLeaf;
use super::overlay::Splits;
use super::parts::{BinaryParts, is_media_type};
use super::references::Identities;
use crate::schema::{QName, Use, View};
use crate::version::Version;
use crate::{Error, ErrorKind, ns};
use deltasoap_xml::c14n::is_relative;
use deltasoap_xml::lexical::{Image, Lexical};
use deltasoap_xml::{Buffer, Escape};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Writes one document.
#[derive(Debug)]
pub struct Encoder {
    pub(crate) out: Buffer,
    /// Declarations in scope, innermost last.
    pub(super) declared: Vec<Declaration>,
    pub(super) open: Vec<Open>,
    /// True while the last start tag can still take attributes.
    pub(super) in_tag: bool,
    encoding: Use,
    version: Version,
    /// False if the next element's type is known from its name, as for the body's own element.
    pub(super) type_written: bool,
    /// True while the current start tag declares an encoding style.
    style_written: bool,
    /// Positions of leaves, while an item's shape is being noted.
    pub(crate) leaves: Option<Vec<NotedLeaf>>,
    /// The template that the document is written against, if any.
    pub(super) against: Option<Box<Against>>,
    /// Positions of streamed lists, if requested.
    pub(crate) splits: Option<Splits>,
    /// Binary values taken out into separate parts; if `None`, bytes are written inline.
    pub(crate) parts: Option<BinaryParts>,
    /// The shared values.
    pub(super) identities: Identities,
    /// The depth of the element whose id was assigned by the encoder, since its value is shared.
    pub(super) given_at: Option<usize>,
    /// Position of the body's start tag in the output.
    pub(super) body_start: usize,
    /// The first value that could not be written.
    pub(super) error: Option<Error>,
    /// Maximum length; nothing is written after it.
    pub(super) max_bytes: usize,
    /// A namespace, and the one to write in its place.
    pub(super) renamed: Option<Box<(String, String)>>,
    /// Set for documents in canonical form.
    pub(super) canonical: Option<Box<Canonical>>,
}

#[derive(Debug, Clone)]
pub(super) struct Declaration {
    pub(super) namespace: String,
    pub(super) prefix: String,
}

/// The position of a name. A default namespace does not apply to attributes, and is not used for
/// names in content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamePosition {
    Element,
    Attribute,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// The name as written in the start tag, in `out`; with a template it may be in another buffer.
    pub(super) name: (usize, usize),
    /// Number of declarations in scope outside the element.
    pub(super) declared: usize,
    /// The element's relation to the template.
    pub(super) role: Role,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// Creates an encoder with an empty buffer.
    pub fn new() -> Self {
        Self::with_buffer(Buffer::new())
    }

    /// Creates an encoder that writes into a buffer, which is cleared; its memory is reused.
    pub fn with_buffer(mut out: Buffer) -> Self {
        out.clear();
        Encoder {
            out,
            declared: Vec::new(),
            open: Vec::new(),
            in_tag: false,
            encoding: Use::Literal,
            version: Version::Soap11,
            type_written: true,
            style_written: false,
            leaves: None,
            splits: None,
            parts: None,
            against: None,
            identities: Identities::default(),
            given_at: None,
            body_start: 0,
            error: None,
            max_bytes: usize::MAX,
            renamed: None,
            canonical: None,
        }
    }

    /// Returns the first bytes of the output, skipping the work for the rest.
    pub(super) fn beginning(len: usize, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut encoder = Encoder { max_bytes: len, ..Encoder::with_buffer(Buffer::with_capacity(len + 64)) };
        write(&mut encoder);
        let mut bytes = encoder.out.into_vec();
        bytes.truncate(len);
        bytes
    }

    /// Returns the number of items that may be useful if only the beginning of a message is needed:
    /// an item has at least some bytes.
    #[inline]
    pub(super) fn items_wanted(&self) -> usize {
        const MIN_ITEM_BYTES: usize = 8;
        if self.max_bytes == usize::MAX {
            usize::MAX
        } else {
            self.max_bytes.saturating_sub(self.out.len()) / MIN_ITEM_BYTES
        }
    }

    /// Returns true if nothing more needs to be written.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.out.len() >= self.max_bytes
    }

    /// Sets whether types are written according to the schema or to SOAP section 5.
    pub fn set_encoding(&mut self, encoding: Use) {
        self.encoding = encoding;
    }

    /// Returns whether types are written according to the schema or to SOAP section 5.
    pub fn encoding(&self) -> Use {
        self.encoding
    }

    /// Sets the document's version of SOAP; section 5 has other names in each. The default is 1.1.
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// Returns the document's version of SOAP.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Writes names of one namespace as names of another, for types whose namespace the peer
    /// chooses. Applies to elements, attributes and names in content. Must not be used with a
    /// template.
    pub(crate) fn rename_namespace(&mut self, from: &str, to: &str) {
        self.renamed = Some(Box::new((from.to_owned(), to.to_owned())));
    }

    /// Returns the namespace to write in place of `namespace`.
    #[inline]
    fn written<'n>(&self, namespace: &'n str) -> Cow<'n, str> {
        match &self.renamed {
            Some(renamed) if renamed.0 == namespace => Cow::Owned(renamed.1.clone()),
            _ => Cow::Borrowed(namespace),
        }
    }

    /// Sets whether the next element gets an `xsi:type`. Later elements do again.
    pub(crate) fn set_type_written(&mut self, written: bool) {
        self.type_written = written;
    }

    /// Writes the `encodingStyle` of the element just started.
    pub(crate) fn style_attribute(&mut self) {
        let style = QName::new(self.version.namespace(), "encodingStyle");
        self.attribute(&style, self.version.encoding_namespace());
        self.style_written = true;
    }

    /// Returns true if the current start tag has an `encodingStyle`, which a tree may also contain,
    /// and resets the flag.
    pub(crate) fn take_style_written(&mut self) -> bool {
        std::mem::take(&mut self.style_written)
    }

    /// Returns the written bytes.
    ///
    /// # Errors
    /// Returns an error if a value cannot be represented in XML.
    pub fn finish(mut self) -> Result<Buffer, Error> {
        self.check()?;
        Ok(self.out)
    }

    /// Creates an encoder without bytes that writes elements as if they were at the current
    /// position.
    pub(crate) fn fork(&self) -> Encoder {
        Encoder {
            declared: self.declared.clone(),
            encoding: self.encoding,
            version: self.version,
            type_written: self.type_written,
            renamed: self.renamed.clone(),
            canonical: self.canonical.is_some().then(Box::default),
            ..Self::new()
        }
    }

    /// Takes the error that [`finish`](Self::finish) would report.
    ///
    /// # Errors
    /// Returns an error if a value cannot be represented in XML.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.check_characters();
        self.error.take().map_or(Ok(()), Err)
    }

    /// Records that something cannot be written. [`finish`](Self::finish) reports the first such
    /// error.
    #[cold]
    pub fn fail(&mut self, what: &'static str) {
        let offset = self.out.len() as u64;
        self.error.get_or_insert_with(|| Error::at(ErrorKind::Unwritable(what), offset));
    }

    /// Writes the XML declaration.
    pub fn declaration(&mut self) {
        if self.follows() {
            return;
        }
        self.out.push(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    }

    /// Opens an element. Attributes may follow, then [`open_end`](Self::open_end), content, and
    /// [`end`](Self::end). A namespace that is not in scope is declared here.
    pub fn start(&mut self, name: &QName) {
        self.start_parts(name, None);
    }

    /// Like [`start`](Self::start), for the root of the content of a body or a header. Its
    /// namespace becomes the default namespace if [the description](View::takes_default_namespace)
    /// allows it, so that most elements within need no prefix. Content encoded according to SOAP
    /// section 5 keeps prefixes, since most of its elements have no namespace.
    pub fn start_root(&mut self, name: &QName, view: View<'_>) {
        let has_default = self.encoding == Use::Literal && view.takes_default_namespace();
        self.start_parts(name, has_default.then_some(""));
    }

    /// Like [`start`](Self::start), with the prefix to use if the namespace is not in scope; `""`
    /// makes it the default namespace.
    pub fn start_with_prefix(&mut self, name: &QName, prefix: &str) {
        self.start_parts(name, Some(prefix));
    }

    /// Like [`start`](Self::start), with prefixes (`""` for the default namespace) that the element
    /// must bind to these namespaces, for names in content. Invalid bindings are omitted: a
    /// repeated prefix, the prefix `xml`, a default namespace on an element in no namespace.
    pub(crate) fn start_bound(&mut self, name: &QName, bindings: &[(String, String)]) {
        self.open_end();
        if self.is_full() || (self.against.is_some() && self.start_against(name, !bindings.is_empty())) {
            return;
        }
        let outside = self.declared.len();
        for (prefix, namespace) in bindings {
            let is_twice = self.declared[outside..].iter().any(|declared| declared.prefix == *prefix);
            let hides_own = prefix.is_empty() && name.namespace.is_empty() && !namespace.is_empty();
            if !(is_twice || hides_own || is_unbindable(prefix, namespace) || self.is_bound(prefix, namespace)) {
                self.note_unused(prefix);
                self.declared.push(Declaration { namespace: namespace.clone(), prefix: prefix.clone() });
            }
        }
        self.write_start(&name.namespace, &name.local, "ns", outside);
        self.started(name);
    }

    #[inline]
    fn start_parts(&mut self, name: &QName, wanted: Option<&str>) {
        self.open_end();
        if self.is_full() || (self.against.is_some() && self.start_against(name, false)) {
            return;
        }
        let outside = self.declared.len();
        self.write_start(&name.namespace, &name.local, wanted.unwrap_or("ns"), outside);
        self.started(name);
    }

    /// Notes a written start tag in the template.
    #[inline]
    fn started(&mut self, name: &QName) {
        if self.against.is_some() {
            self.note_start(name);
        }
    }

    /// Writes a start tag with the declarations made since `outside`, and one more if its name
    /// needs it.
    fn write_start(&mut self, namespace: &str, local: &str, wanted: &str, outside: usize) {
        let mut found = if namespace == ns::XML { None } else { self.find(namespace, NamePosition::Element) };
        if namespace != ns::XML && found.is_none() {
            // Only a default namespace can hide "no namespace"; undoing it needs no prefix.
            let is_default = namespace.is_empty() || wanted.is_empty();
            let prefix = if is_default { String::new() } else { self.free_prefix(wanted) };
            found = Some(self.declared.len());
            let namespace = self.written(namespace).into_owned();
            self.declared.push(Declaration { namespace, prefix });
        }
        self.out.push(b"<");
        let begin = self.out.len();
        self.push_found(namespace, local, found.filter(|_| !namespace.is_empty()));
        self.open.push(Open { name: (begin, self.out.len()), declared: outside, role: Role::Plain });
        self.in_tag = true;
        (outside..self.declared.len()).for_each(|index| self.push_declaration(index));
    }

    /// Ends the start tag if it is still open.
    #[inline]
    pub fn open_end(&mut self) {
        self.style_written = false;
        if self.in_tag {
            if self.canonical.is_some() {
                self.sort_tag();
            }
            if self.against.is_some() {
                return self.open_end_against();
            }
            self.out.push(b">");
            self.in_tag = false;
        }
    }

    /// Closes the innermost open element.
    pub fn end(&mut self) {
        self.end_with(true);
    }

    /// Like [`end`](Self::end), for an element of a tree, where white space after it would be text.
    pub(crate) fn end_in_tree(&mut self) {
        self.end_with(false);
    }

    /// Closes the innermost open element. `has_slack` is true if a template may have slack after
    /// it.
    #[inline]
    fn end_with(&mut self, has_slack: bool) {
        if self.is_full() {
            return;
        }
        if self.canonical.is_some() {
            // Canonical XML has no empty-element tags.
            self.open_end();
        }
        if self.against.is_some() {
            return self.end_against(has_slack);
        }
        let Some(open) = self.open.pop() else { return };
        if self.in_tag {
            self.out.push(b"/>");
            self.in_tag = false;
        } else {
            self.out.push(b"</");
            self.out.push_within(open.name.0, open.name.1);
            self.out.push(b">");
        }
        self.declared.truncate(open.declared);
    }

    /// Declares a namespace on the element just opened, unless it is in scope.
    pub fn declare(&mut self, namespace: &str, prefix: &str) {
        if !self.is_full() && self.declare_used(namespace, prefix) && self.canonical.is_some() {
            let prefix = self.declared.last().map(|declared| declared.prefix.clone());
            self.note_unused(&prefix.unwrap_or_default());
        }
    }

    /// Declares a namespace that a name of the element just opened uses, unless it is in scope.
    /// Returns true if it was not.
    fn declare_used(&mut self, namespace: &str, prefix: &str) -> bool {
        let is_new = self.find(namespace, NamePosition::Attribute).is_none();
        if is_new {
            self.need_tag();
            let prefix = self.free_prefix(prefix);
            self.declared.push(Declaration { namespace: self.written(namespace).into_owned(), prefix });
            self.push_declaration(self.declared.len() - 1);
        }
        is_new
    }

    /// Declares a prefix, or with `""` the default namespace, on the element just opened, for names
    /// in content. Does nothing if the prefix already has this binding, or if this element binds it
    /// to another namespace.
    pub fn bind(&mut self, prefix: &str, namespace: &str) {
        if self.is_full() {
            return;
        }
        self.need_tag();
        let own = self.open.last().map_or(0, |open| open.declared);
        let is_own = self.declared[own..].iter().any(|declared| declared.prefix == prefix);
        // The names of the element and its attributes must keep their meaning.
        let hides_own = self.own_prefix() == prefix.as_bytes() || self.has_attribute_with(prefix);
        if is_own || hides_own || is_unbindable(prefix, namespace) || self.is_bound(prefix, namespace) {
            return;
        }
        self.note_unused(prefix);
        self.declared.push(Declaration { namespace: namespace.to_owned(), prefix: prefix.to_owned() });
        self.push_declaration(self.declared.len() - 1);
    }

    fn is_bound(&self, prefix: &str, namespace: &str) -> bool {
        match self.declared.iter().rfind(|declared| declared.prefix == prefix) {
            Some(declared) => declared.namespace == namespace,
            None => namespace.is_empty(),
        }
    }

    /// Returns the prefix of the last start tag's name; empty without one.
    fn own_prefix(&self) -> &[u8] {
        let name = self.open.last().map_or(&[][..], |open| &self.out.as_slice()[open.name.0..open.name.1]);
        name.iter().position(|&byte| byte == b':').map_or(&[], |colon| &name[..colon])
    }

    /// Returns true if an attribute of the current start tag has this prefix. Values contain no
    /// quotation marks, so only a name can follow one.
    fn has_attribute_with(&self, prefix: &str) -> bool {
        let tag = self.open.last().map_or(&[][..], |open| &self.out.as_slice()[open.name.1..]);
        let (name, next) = (format!(" {prefix}:"), format!("\" {prefix}:"));
        tag.starts_with(name.as_bytes()) || memchr::memmem::find(tag, next.as_bytes()).is_some()
    }

    /// Writes an attribute of the element just opened.
    pub fn attribute(&mut self, name: &QName, value: &str) {
        if self.is_full() || self.was_given(name) {
            return;
        }
        self.keep_id(name, value);
        self.given_attribute(name, value);
        if self.parts.is_some() && is_media_type(name) {
            self.note_media_type(Some(value.to_owned()));
        }
    }

    /// Writes an attribute that the encoder adds to those of the value.
    pub(super) fn given_attribute(&mut self, name: &QName, value: &str) {
        self.attribute_start(name);
        self.out.push_text(value, Escape::Attribute);
        self.out.push(b"\"");
    }

    /// Writes an attribute whose value has a simple type.
    pub fn attribute_value(&mut self, name: &QName, value: &impl Lexical) {
        if self.is_full() || self.was_given(name) {
            return;
        }
        self.attribute_start(name);
        value.format(&mut self.out, Escape::Attribute);
        self.out.push(b"\"");
        let is_media_type = self.parts.is_some() && is_media_type(name);
        if is_media_type || self.is_id(name) {
            let mut text = Buffer::new();
            value.format(&mut text, Escape::Text);
            let text = String::from_utf8(text.into_vec()).ok();
            self.keep_id(name, text.as_deref().unwrap_or_default());
            if is_media_type {
                self.note_media_type(text);
            }
        }
    }

    /// Returns true if `len` bytes go into a separate part.
    pub(crate) fn wants_part(&self, len: usize) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.wants(len))
    }

    /// Notes the media type of the text that follows, for the part that it may become.
    pub(crate) fn note_media_type(&mut self, media_type: Option<String>) {
        if let Some(parts) = &mut self.parts {
            parts.set_media_type(media_type);
        }
    }

    fn attribute_start(&mut self, name: &QName) {
        self.need_tag();
        if !name.namespace.is_empty() && name.namespace != ns::XML {
            self.declare_used(&name.namespace, usual_prefix(&name.namespace));
        }
        self.out.push(b" ");
        self.push_name(&name.namespace, &name.local, NamePosition::Attribute);
        self.out.push(b"=\"");
    }

    /// Writes `xsi:type`, if types are written.
    pub fn type_attribute(&mut self, name: Option<&QName>) {
        if !std::mem::replace(&mut self.type_written, true) {
            return;
        }
        if let (Use::Encoded, Some(name)) = (self.encoding, name)
            && !name.local.is_empty()
        {
            self.qname_attribute(&QName::new(ns::XSI, "type"), name, "");
        }
    }

    /// Writes an attribute whose value is a name, followed by `suffix` (such as an array's size).
    pub(crate) fn qname_attribute(&mut self, attribute: &QName, value: &QName, suffix: &str) {
        let text = format!("{}{suffix}", self.qname_text(value));
        self.attribute(attribute, &text);
    }

    /// Returns a name as text. Its prefix is declared on the element just opened if it is not in
    /// scope.
    pub fn qname_text(&mut self, name: &QName) -> String {
        if name.namespace.is_empty() {
            return name.local.to_string();
        }
        if name.namespace == ns::XML {
            return format!("xml:{}", name.local);
        }
        self.declare(&name.namespace, usual_prefix(&name.namespace));
        let found = self.find(&name.namespace, NamePosition::Attribute);
        let prefix = found.map_or("", |found| &self.declared[found].prefix);
        format!("{prefix}:{}", name.local)
    }

    /// Marks the element just opened as nil.
    pub fn nil(&mut self) {
        self.attribute(&QName::new(ns::XSI, "nil"), "true");
    }

    /// Writes a leaf: the text of a simple value.
    #[inline]
    pub fn leaf<T: Lexical>(&mut self, value: &T) {
        self.open_end();
        if self.is_full() {
            return;
        }
        if self.against.is_some() {
            return self.leaf_against(value);
        }
        let start = self.out.len();
        value.format(&mut self.out, Escape::Text);
        if let Some(leaves) = &mut self.leaves {
            leaves.push(NotedLeaf::new::<T>(start, self.out.len()));
        }
    }

    /// Writes a leaf that is one of several texts, of at most `max_width` bytes.
    pub(crate) fn listed_leaf(&mut self, text: &str, max_width: Option<usize>) {
        self.open_end();
        if self.is_full() {
            return;
        }
        if self.against.is_some() {
            return self.listed_against(text, max_width);
        }
        let start = self.out.len();
        self.out.push_text(text, Escape::Text);
        if let Some(leaves) = &mut self.leaves {
            leaves.push(NotedLeaf { start, end: self.out.len(), image: Image::NONE, max_width });
        }
    }

    /// Writes the content of a tracked value, unless the template holds the value in the same
    /// state.
    pub fn tracked(&mut self, stamp: Stamp, write: impl FnOnce(&mut Self)) {
        if self.against.is_none() || !self.pass_tracked(stamp) {
            write(self);
        }
    }

    /// Writes character data.
    pub fn text(&mut self, text: &str) {
        self.open_end();
        if self.is_full() {
            return;
        }
        if self.against.is_some() {
            return self.text_against(text);
        }
        self.out.push_text(text, Escape::Text);
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns true if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Returns the innermost declaration of a namespace that can be used at a place and is not
    /// hidden by a later one. "No namespace" counts as declared by `""` wherever a default
    /// namespace was undone or none is in scope. There is no declaration to point to then: the
    /// index is present, but has no meaning.
    fn find(&self, namespace: &str, place: NamePosition) -> Option<usize> {
        if namespace.is_empty() {
            let default = self.declared.iter().rfind(|declared| declared.prefix.is_empty());
            return default.is_none_or(|default| default.namespace.is_empty()).then_some(usize::MAX);
        }
        let namespace = &*self.written(namespace);
        let usable = |index: &usize| {
            let declared = &self.declared[*index];
            let is_hidden = || self.declared[index + 1..].iter().any(|later| later.prefix == declared.prefix);
            declared.namespace == namespace
                && (place == NamePosition::Element || !declared.prefix.is_empty())
                && !is_hidden()
        };
        (0..self.declared.len()).rev().find(usable)
    }

    /// Returns the wanted prefix, with a number appended if another namespace has it.
    fn free_prefix(&self, wanted: &str) -> String {
        let is_taken = |prefix: &str| self.declared.iter().any(|declared| declared.prefix == prefix);
        if !is_taken(wanted) {
            return wanted.to_owned();
        }
        let mut prefix = String::new();
        let mut number = 2;
        loop {
            prefix.clear();
            // Writing into a String cannot fail.
            let _ = write!(prefix, "{wanted}{number}");
            if !is_taken(&prefix) {
                return prefix;
            }
            number += 1;
        }
    }

    pub(super) fn push_name(&mut self, namespace: &str, local: &str, place: NamePosition) {
        let found = if namespace.is_empty() { None } else { self.find(namespace, place) };
        self.push_found(namespace, local, found);
    }

    /// Writes a name whose namespace is declared at this index of [`declared`](Self::declared).
    fn push_found(&mut self, namespace: &str, local: &str, found: Option<usize>) {
        let Encoder { out, declared, .. } = self;
        if namespace == ns::XML {
            out.push(b"xml:");
        } else if let Some(found) = found
            && !declared[found].prefix.is_empty()
        {
            out.push(declared[found].prefix.as_bytes());
            out.push(b":");
        }
        out.push(local.as_bytes());
    }

    fn push_declaration(&mut self, index: usize) {
        if self.canonical.is_some() && is_relative(&self.declared[index].namespace) {
            self.fail("a namespace is a relative URI, so the message has no canonical form and cannot be signed");
        }
        let Encoder { out, declared, .. } = self;
        let Declaration { namespace, prefix } = &declared[index];
        out.push(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
        out.push(prefix.as_bytes());
        out.push(b"=\"");
        out.push_text(namespace, Escape::Attribute);
        out.push(b"\"");
    }

    /// Calls [`fail`](Self::fail) if the buffer holds a text that could not be written.
    fn check_characters(&mut self) {
        if self.out.has_replaced() {
            self.fail("a text contains a character that XML 1.0 does not allow, not even as a reference");
        }
    }
}

/// Writes a simple value as an element's content.
pub fn leaf<T: Lexical>(value: &T, encoder: &mut Encoder, view: View<'_>) {
    encoder.type_attribute(view.element.type_name());
    encoder.leaf(value);
}

/// Returns true for bindings that Namespaces in XML 1.0, section 3, does not allow to declare.
fn is_unbindable(prefix: &str, namespace: &str) -> bool {
    let is_reserved = |name: &str| name == ns::XML || name == ns::XMLNS;
    matches!(prefix, "xml" | "xmlns") || is_reserved(namespace) || (namespace.is_empty() && !prefix.is_empty())
}

/// Returns the usual prefix of a namespace.
fn usual_prefix(namespace: &str) -> &'static str {
    match namespace {
        ns::XSI => "xsi",
        ns::XSD => "xsd",
        ns::SOAP11_ENCODING | ns::SOAP12_ENCODING => "soapenc",
        ns::SOAP11 | ns::SOAP12 => "soap",
        ns::XOP => "xop",
        ns::WSU => "wsu",
        _ => "ns",
    }
}
