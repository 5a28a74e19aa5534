//! Parses a document into its list of elements.

use super::vocabulary::{holds_names, standard_namespace};
use super::{AttributeData, Document, ElementData, Vocabulary, doctype, encoding, ns};
use crate::Limits;
use crate::fetch::Location;
use deltasoap_core::schema::Builtin;
use deltasoap_xml::lexical::is_ncname;
use deltasoap_xml::{Event, Instructions, NameId, Names, Reader, Stop, Window, XmlErrorKind};

/// An error in a document.
#[derive(Debug)]
pub(crate) enum DocumentError {
    Xml { kind: XmlErrorKind, offset: u32 },
    Limit(&'static str, u64),
}

/// Parses a document. On an error, returns what was parsed so far, to compute lines.
pub(crate) fn read(
    bytes: &[u8],
    location: Location,
    names: &mut Names,
    limits: &Limits,
) -> Result<Document, Box<(Document, DocumentError)>> {
    let mut document = Document {
        location,
        is_private: false,
        elements: Vec::new(),
        attributes: Vec::new(),
        values: Vec::new(),
        text: String::new(),
        lines: Vec::new(),
        tolerated: Vec::new(),
    };
    let Some(mut bytes) = encoding::to_utf8(bytes) else {
        return Err(Box::new((document, DocumentError::Xml { kind: XmlErrorKind::Encoding, offset: 0 })));
    };
    if u32::try_from(bytes.len()).is_err() {
        return Err(Box::new((document, DocumentError::Limit("document_bytes", u64::from(u32::MAX)))));
    }
    document.lines = memchr::memchr_iter(b'\n', &bytes).map(|at| at as u32 + 1).collect();
    if let Some(range) = doctype::find(&bytes) {
        let note = "the document type declaration is ignored: no entities, no default attributes, no external subset";
        document.tolerated.push((note.to_owned(), range.start as u32));
        doctype::blank(&mut bytes.to_mut()[range]);
    }
    let mut builder =
        Builder { reader: reader(limits), names, document, open: Vec::new(), documentation_depth: 0, limits };
    match builder.run(&bytes) {
        Ok(()) => Ok(builder.document),
        Err(error) => Err(Box::new((builder.document, error))),
    }
}

/// Creates the reader. Only the depth is limited here; the size of the document bounds the rest.
fn reader(limits: &Limits) -> Reader {
    let limits = deltasoap_xml::Limits { depth: limits.depth, ..deltasoap_xml::Limits::default() };
    Reader::new(limits, Instructions::Skip)
}

struct Builder<'r> {
    reader: Reader,
    names: &'r mut Names,
    document: Document,
    /// Indices of the open elements that are kept.
    open: Vec<u32>,
    /// Number of open elements inside documentation, including the documentation element. They are
    /// not kept.
    documentation_depth: usize,
    limits: &'r Limits,
}

impl Builder<'_> {
    fn run(&mut self, bytes: &[u8]) -> Result<(), DocumentError> {
        let mut window = Window::whole(bytes);
        loop {
            match self.reader.next(&mut window) {
                Ok(Event::Start) => self.start()?,
                Ok(Event::End) => self.end(),
                Ok(Event::Text(piece)) => self.text(piece),
                Ok(Event::Char(c)) => self.text(c.encode_utf8(&mut [0; 4])),
                Ok(Event::Done) => return Ok(()),
                Err(Stop::Pending) => return Err(DocumentError::Xml { kind: XmlErrorKind::UnexpectedEnd, offset: 0 }),
                Err(Stop::Error(error)) => {
                    return Err(DocumentError::Xml { kind: error.kind, offset: error.offset as u32 });
                }
            }
        }
    }

    fn start(&mut self) -> Result<(), DocumentError> {
        if self.documentation_depth > 0 {
            self.documentation_depth += 1;
            return if self.is_packing() { self.add(true).map(drop) } else { Ok(()) };
        }
        let (name, vocabulary) = self.add(false)?;
        if matches!(vocabulary, Vocabulary::Xsd | Vocabulary::Wsdl) && is_documentation(self.names.local(name)) {
            self.documentation_depth = 1;
        }
        self.open.push(self.document.elements.len() as u32 - 1);
        Ok(())
    }

    /// Adds the element that was just opened. The content of a leaf is not kept.
    fn add(&mut self, is_leaf: bool) -> Result<(NameId, Vocabulary), DocumentError> {
        if self.document.elements.len() >= self.limits.components {
            return Err(DocumentError::Limit("components", self.limits.components as u64));
        }
        let name = self.name(self.reader.name())?;
        let vocabulary = Vocabulary::of(self.names.namespace(name));
        let attributes = self.attributes(vocabulary)?;
        let (text, offset) = (self.document.text.len() as u32, self.reader.tag_offset() as u32);
        let end = if is_leaf { self.document.elements.len() as u32 + 1 } else { 0 };
        self.document.elements.push(ElementData { name, vocabulary, offset, attributes, text: text..text, end });
        Ok((name, vocabulary))
    }

    /// Returns true for the only element in an `appinfo` that deltasoap uses.
    fn is_packing(&self) -> bool {
        let around = self.open.last().map(|&index| self.document.elements[index as usize].name);
        let is_in_appinfo =
            self.documentation_depth == 2 && around.is_some_and(|name| self.names.local(name) == "appinfo");
        is_in_appinfo && self.reader.names().is(self.reader.name(), ns::PACKED, "packed")
    }

    /// Interns a name of the reader in the import's table.
    fn name(&mut self, name: NameId) -> Result<NameId, DocumentError> {
        let names = self.reader.names();
        check_namespace(names.namespace(name), self.limits)?;
        Ok(self.names.intern(standard_namespace(names.namespace(name)), names.local(name)))
    }

    fn attributes(&mut self, vocabulary: Vocabulary) -> Result<std::ops::Range<u32>, DocumentError> {
        let first = self.document.attributes.len() as u32;
        for index in 0..self.reader.attribute_count() {
            let (id, value) = self.reader.attribute(index);
            let start = self.document.text.len() as u32;
            self.document.text.push_str(value);
            let value = start..self.document.text.len() as u32;
            let values = self.document.values.len() as u32;
            let name = self.name(id)?;
            match self.names.local(name) {
                "name" => self.note_name(index, vocabulary),
                "targetNamespace" => check_namespace(self.reader.attribute(index).1, self.limits)?,
                local if holds_names(local) => self.resolve(index, vocabulary)?,
                "value" => self.resolve_value(index, self.restricts_names())?,
                "fixed" | "default" => self.resolve_value(index, true)?,
                "xpath" => self.resolve_path(index)?,
                _ => {}
            }
            let values = values..self.document.values.len() as u32;
            self.document.attributes.push(AttributeData { name, value, values });
        }
        Ok(first..self.document.attributes.len() as u32)
    }

    /// Resolves the names in an attribute's value. The dimensions of an array type are left out.
    fn resolve(&mut self, index: usize, vocabulary: Vocabulary) -> Result<(), DocumentError> {
        let mut is_declared = true;
        for word in self.reader.attribute(index).1.split_ascii_whitespace() {
            let word = word.split('[').next().unwrap_or_default();
            // Local parts are as sloppy as the names that they refer to: `tns:1part` is not a valid
            // name, but has a meaning.
            let (prefix, local) = word.split_once(':').unwrap_or(("", word));
            let name = match self.reader.namespace_of(prefix).or_else(|| usual(prefix, local)) {
                _ if local.is_empty() => None,
                Some(namespace) => {
                    check_namespace(namespace, self.limits)?;
                    Some(self.names.intern(standard_namespace(namespace), local))
                }
                None => Some(self.names.intern("", word)),
            };
            self.document.values.push(name);
            is_declared &= self.reader.namespace_of(prefix).is_some();
        }
        if !is_declared {
            self.note_prefix(index, vocabulary);
        }
        Ok(())
    }

    /// Notes an undeclared prefix, the first few times.
    fn note_prefix(&mut self, index: usize, vocabulary: Vocabulary) {
        let is_known = !matches!(vocabulary, Vocabulary::Http | Vocabulary::Mime | Vocabulary::Other);
        if is_known && self.document.tolerated.len() < MAX_TOLERATED {
            let (name, value) = self.reader.attribute(index);
            let local = self.reader.names().local(name);
            let text = format!("the prefix in `{local}=\"{value}\"` is not declared");
            self.document.tolerated.push((text, self.reader.tag_offset() as u32));
        }
    }

    /// Notes a name that XML does not allow and that messages would contain, the first few times.
    fn note_name(&mut self, index: usize, vocabulary: Vocabulary) {
        let what = match (vocabulary, self.reader.names().local(self.reader.name())) {
            (Vocabulary::Xsd, "element") => "an element",
            (Vocabulary::Xsd, "attribute") => "an attribute",
            (Vocabulary::Xsd, "complexType" | "simpleType") => "a type",
            (Vocabulary::Wsdl, "part") => "a part",
            (Vocabulary::Wsdl, "operation") => "an operation",
            _ => return,
        };
        let name = self.reader.attribute(index).1.trim_ascii();
        if !(name.is_empty() || is_ncname(name)) && self.document.tolerated.len() < MAX_TOLERATED {
            let text = format!("{name:?} is not an XML name (NCName): it cannot be the name of {what} in a message");
            self.document.tolerated.push((text, self.reader.tag_offset() as u32));
        }
    }

    /// Resolves a value that may be a name. A value without a prefix is a name only where one is
    /// expected: most values are other text.
    fn resolve_value(&mut self, index: usize, is_name: bool) -> Result<(), DocumentError> {
        let value = self.reader.attribute(index).1.trim_ascii().to_owned();
        match value.split_once(':') {
            Some((prefix, local)) if is_ncname(local) => self.hold(prefix, local),
            None if is_name && is_ncname(&value) => self.hold("", &value),
            _ => Ok(()),
        }
    }

    /// Returns true within a restriction of `xsd:QName` or `xsd:NOTATION`.
    fn restricts_names(&self) -> bool {
        let Some(&parent) = self.open.last() else { return false };
        let attributes = self.document.elements[parent as usize].attributes.clone();
        let mut attributes = self.document.attributes[attributes.start as usize..attributes.end as usize].iter();
        let base = attributes.find(|it| self.names.local(it.name) == "base");
        let text = base.map(|it| &self.document.text[it.value.start as usize..it.value.end as usize]);
        let local = text.map(|text| text.trim_ascii().rsplit(':').next().unwrap_or_default());
        matches!(local, Some("QName" | "NOTATION"))
    }

    /// Resolves the prefixed names in a path, in order.
    fn resolve_path(&mut self, index: usize) -> Result<(), DocumentError> {
        let (_, value) = self.reader.attribute(index);
        let value = abbreviated(value);
        let names = value.split('|').flat_map(steps).filter_map(|step| step.trim_start_matches('@').split_once(':'));
        names.into_iter().try_for_each(|(prefix, local)| self.hold(prefix, local))
    }

    fn hold(&mut self, prefix: &str, local: &str) -> Result<(), DocumentError> {
        let namespace = self.reader.namespace_of(prefix);
        check_namespace(namespace.unwrap_or_default(), self.limits)?;
        let name = namespace.map(|namespace| self.names.intern(standard_namespace(namespace), local));
        self.document.values.push(name);
        Ok(())
    }

    fn end(&mut self) {
        self.documentation_depth = self.documentation_depth.saturating_sub(1);
        if self.documentation_depth > 0 {
            return;
        }
        if let Some(index) = self.open.pop() {
            let end = self.document.elements.len() as u32;
            self.document.elements[index as usize].end = end;
        }
    }

    /// Keeps the character data of documentation, including that of its markup.
    fn text(&mut self, piece: &str) {
        if self.documentation_depth == 0 {
            return self.reader.forget_text();
        }
        self.document.text.push_str(piece);
        if let Some(&index) = self.open.last() {
            self.document.elements[index as usize].text.end = self.document.text.len() as u32;
        }
    }
}

/// Maximum number of prefixes and names that are noted per document.
const MAX_TOLERATED: usize = 100;

/// Returns the usual namespace of an undeclared prefix if it is clear: authors copy types of XML
/// Schema and SOAP encoding from elsewhere and leave out the declaration.
fn usual(prefix: &str, local: &str) -> Option<&'static str> {
    let is_xsd_type = || matches!(local, "anyType" | "anySimpleType") || Builtin::from_local(local).is_some();
    match prefix {
        "xs" | "xsd" if is_xsd_type() => Some(ns::XSD),
        "soapenc" | "SOAP-ENC" if matches!(local, "Array" | "arrayType") || is_xsd_type() => Some(ns::SOAP11_ENCODING),
        _ => None,
    }
}

/// Abbreviates a path: removes white space and `child::`, and writes `@` for `attribute::`.
pub(crate) fn abbreviated(path: &str) -> String {
    let path: String = path.split_ascii_whitespace().collect();
    path.replace("child::", "").replace("attribute::", "@")
}

/// Returns the steps of an abbreviated path; attributes begin with `@`.
pub(crate) fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix(".//").unwrap_or(path).split('/')
}

fn check_namespace(namespace: &str, limits: &Limits) -> Result<(), DocumentError> {
    if namespace.len() <= limits.namespace {
        return Ok(());
    }
    Err(DocumentError::Limit("namespace", limits.namespace as u64))
}

/// Returns true for the elements whose content is documentation.
fn is_documentation(local: &str) -> bool {
    matches!(local, "documentation" | "appinfo")
}
