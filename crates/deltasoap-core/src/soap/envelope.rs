//! Messages to be written: the body, and the envelope around it.

use super::{Fault, FaultCode, HeaderBlock, Version};
use crate::content::{Encode, Message};
use crate::encode::Encoder;
use crate::encode::parts::{BinaryParts, TakenPart};
use crate::node::Child;
use crate::schema::{QName, Use, View};
use crate::{Buffer, EncodeStats, Error, Node, Outgoing, ns};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// A message to be written: what is in its body, and how the envelope around it looks.
///
/// The same description is written at once ([`write`](Self::write)), against earlier messages
/// ([`Template`](crate::Template), [`Templates`](crate::Templates)), or in chunks with a list of
/// any length ([`Overlay`](crate::Overlay)).
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::soap::{Envelope, Version};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:meter", message, qualified)]
/// struct Reading {
///     value: i32,
/// }
///
/// let message = Envelope::new(&Reading { value: 7 }).version(Version::Soap12).to_vec()?;
/// let text = String::from_utf8_lossy(&message);
/// assert!(text.contains(r#"<Reading xmlns="urn:meter"><value>7</value></Reading>"#), "{text}");
/// # Ok::<(), deltasoap::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "an envelope does nothing until it is written"]
pub struct Envelope<'a> {
    pub(crate) version: Version,
    pub(crate) encoding: Use,
    pub(crate) references: bool,
    pub(crate) headers: Cow<'a, [HeaderBlock]>,
    pub(crate) body: Body<'a>,
    /// The namespace to write in place of that of the body's element.
    pub(crate) namespace: Option<&'a str>,
    /// Prefixes and namespaces that the envelope declares.
    pub(crate) prefixes: &'a [(&'a str, &'a str)],
    /// The id of the body, if it is written in canonical form.
    pub(crate) canonical: Option<&'a str>,
}

/// The content of a body.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// An element with a value. With an empty name, the value's fields are children of the body.
    Element { name: &'a QName, value: &'a dyn Encode, view: View<'a> },
    /// A fault, whose form depends on the version.
    Fault(&'a Fault),
}

impl<'a> Envelope<'a> {
    /// Creates a message with a typed value in its body: of SOAP 1.1, literal, without header
    /// blocks.
    pub fn new<T: Message>(body: &'a T) -> Self {
        Self::element(const { &T::ELEMENT }, body, T::view())
    }

    /// Like [`new`](Self::new), with an element of any name, from a value and its view. Used for
    /// dynamic values. With an empty name, the value is a record whose fields are direct children
    /// of the body.
    pub fn element(name: &'a QName, value: &'a dyn Encode, view: View<'a>) -> Self {
        Self::of(Body::Element { name, value, view })
    }

    /// Creates a fault message of SOAP 1.1. In SOAP 1.2, the header blocks that it defines for
    /// faults are added (part 1, 5.4.7 and 5.4.8).
    pub fn fault(fault: &'a Fault) -> Self {
        Self::of(Body::Fault(fault))
    }

    fn of(body: Body<'a>) -> Self {
        Envelope {
            version: Version::Soap11,
            encoding: Use::Literal,
            references: true,
            headers: Cow::Borrowed(&[]),
            body,
            namespace: None,
            prefixes: &[],
            canonical: None,
        }
    }

    /// Sets the version of SOAP. Default: 1.1.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets whether types are written according to the schema or to SOAP section 5. Default:
    /// literal.
    pub fn encoding(mut self, encoding: Use) -> Self {
        self.encoding = encoding;
        self
    }

    /// Adds a header block, after those added before.
    pub fn header(mut self, block: HeaderBlock) -> Self {
        self.headers.to_mut().push(block);
        self
    }

    /// Adds header blocks, after those added before.
    pub fn headers(mut self, blocks: &'a [HeaderBlock]) -> Self {
        if self.headers.is_empty() {
            self.headers = Cow::Borrowed(blocks);
        } else {
            self.headers.to_mut().extend_from_slice(blocks);
        }
        self
    }

    /// Sets whether values shared by several places ([`Shared`](crate::Shared)) are written once
    /// and referred to in SOAP encoding. Otherwise they are copied, for readers that do not support
    /// references; a cycle is then an error. Default: true.
    pub fn references(mut self, on: bool) -> Self {
        self.references = on;
        self
    }

    /// Sets the namespace to write in place of that of the body's element, for protocol families
    /// whose versions have the same types in different namespaces. Header blocks are written
    /// unchanged. Such a message is always written in full, even with a template.
    pub fn namespace(mut self, namespace: &'a str) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Sets prefixes and namespaces that the envelope declares, for readers that require specific
    /// ones.
    ///
    /// ```
    /// use deltasoap::Soap;
    /// use deltasoap::soap::Envelope;
    ///
    /// #[derive(Soap)]
    /// #[soap(namespace = "urn:meter:1", message)]
    /// struct Reading {
    ///     #[soap(unqualified)]
    ///     value: i32,
    /// }
    ///
    /// let reading = Reading { value: 7 };
    /// let envelope = Envelope::new(&reading).namespace("urn:meter:2");
    /// let message = envelope.prefixes(&[("m", "urn:meter:2")]).to_vec()?;
    /// let text = String::from_utf8_lossy(&message);
    /// assert!(text.contains(r#" xmlns:m="urn:meter:2"><soap:Body><m:Reading>"#), "{text}");
    /// # Ok::<(), deltasoap::Error>(())
    /// ```
    pub fn prefixes(mut self, prefixes: &'a [(&'a str, &'a str)]) -> Self {
        self.prefixes = prefixes;
        self
    }

    /// Writes the `Body` element in the form that [Exclusive XML Canonicalization 1.0] gives it,
    /// and with this `wsu:Id`, so that it can be signed without another pass over it. The canonical
    /// form is that for the `InclusiveNamespaces` that
    /// [`Outgoing::inclusive_prefixes`](crate::Outgoing::inclusive_prefixes) returns.
    ///
    /// Header blocks are written in canonical form too. Neither they nor the body depend on a
    /// declaration of the envelope.
    ///
    /// [Exclusive XML Canonicalization 1.0]: https://www.w3.org/TR/xml-exc-c14n/
    pub fn canonical(mut self, body_id: &'a str) -> Self {
        self.canonical = Some(body_id);
        self
    }

    /// Writes the message.
    ///
    /// # Errors
    /// Returns an error if a value holds text that XML cannot carry, or does not match its schema;
    /// without [references](Self::references), also for cycles and values with too many copies.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        Ok(self.write(Buffer::new())?.into_vec())
    }

    /// Writes the message into a buffer, which is cleared; its memory is reused.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn write(&self, buffer: Buffer) -> Result<Buffer, Error> {
        Ok(self.write_parted(buffer)?.bytes)
    }

    /// Like [`write`](Self::write), and returns a message that a header can be
    /// [inserted](Outgoing::with_header) into.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn write_outgoing(&self, buffer: Buffer) -> Result<Outgoing, Error> {
        Ok(Outgoing::in_full(self.write_parted(buffer)?, &mut EncodeStats::default()))
    }

    /// Like [`write`](Self::write), and returns where the body is.
    pub(crate) fn write_parted(&self, buffer: Buffer) -> Result<InFull, Error> {
        let mut encoder = Encoder::with_buffer(buffer);
        self.encode(&mut encoder);
        let (head, unused_prefixes) = (encoder.body_start(), encoder.unused_prefixes());
        Ok(InFull { bytes: encoder.finish()?, head, unused_prefixes })
    }

    /// Writes the message for a package of parts (MTOM). Binary values ([`Binary`](crate::Binary),
    /// and dynamic values of `xsd:base64Binary`) of at least `threshold` bytes are not written but
    /// returned, with their `xmime:contentType`. The message refers to them, and to parts that are
    /// stored elsewhere, by `xop:Include`.
    ///
    /// # Errors
    /// Same as [`to_vec`](Self::to_vec).
    pub fn write_optimized(&self, threshold: usize, buffer: Buffer) -> Result<Optimized, Error> {
        let mut encoder = Encoder::with_buffer(buffer);
        encoder.parts = Some(BinaryParts::new(threshold));
        self.encode(&mut encoder);
        let parts = encoder.parts.take().map(BinaryParts::into_taken).unwrap_or_default();
        Ok(Optimized { message: encoder.finish()?, parts })
    }

    /// Returns the kind of the message.
    pub fn kind(&self) -> MessageKind {
        let (element, schema) = match self.body {
            Body::Element { name, view, .. } => (name.clone(), std::ptr::from_ref(view.element).addr()),
            Body::Fault(_) => (QName::new(self.version.namespace(), "Fault"), 0),
        };
        MessageKind { element, schema, form: self.form() }
    }

    /// Returns what the markup of a message depends on, besides its content.
    pub(crate) fn form(&self) -> Form {
        Form { version: self.version, encoding: self.encoding, canonical: self.canonical.map(str::to_owned) }
    }

    /// Writes the message.
    pub(crate) fn encode(&self, encoder: &mut Encoder) {
        self.encode_with(encoder, Self::encode_headers);
    }

    /// Writes the message without its `Header` element, in full or against a template.
    pub(crate) fn encode_without_headers(&self, encoder: &mut Encoder) {
        self.encode_with(encoder, |_, _| {});
    }

    /// Returns the `Header` element as it is in the message; `None` without header blocks.
    ///
    /// # Errors
    /// Returns an error if a header block holds text that XML cannot carry.
    pub(crate) fn header_element(&self) -> Result<Option<Vec<u8>>, Error> {
        if !self.has_headers() {
            return Ok(None);
        }
        let mut encoder = Encoder::new();
        self.encode_opening(&mut encoder);
        encoder.open_end();
        let opening = encoder.len();
        self.encode_headers(&mut encoder);
        Ok(Some(encoder.finish()?.as_slice()[opening..].to_vec()))
    }

    fn encode_with(&self, encoder: &mut Encoder, headers: impl Fn(&Self, &mut Encoder)) {
        if let (Some(namespace), Body::Element { name, .. }) = (self.namespace, self.body) {
            encoder.rename_namespace(&name.namespace, namespace);
        }
        self.encode_once(encoder, &headers);
        if encoder.starts_over() {
            self.encode_once(encoder, &headers);
        }
    }

    fn encode_once(&self, encoder: &mut Encoder, headers: impl Fn(&Self, &mut Encoder)) {
        self.encode_opening(encoder);
        headers(self, encoder);
        match self.canonical {
            Some(id) => encoder.apart(|encoder| self.encode_body_element(encoder, Some(id))),
            None => self.encode_body_element(encoder, None),
        }
        encoder.end();
    }

    /// Writes everything up to the envelope's start tag.
    fn encode_opening(&self, encoder: &mut Encoder) {
        encoder.set_version(self.version);
        encoder.set_encoding(self.encoding);
        encoder.set_references(self.references);
        encoder.declaration();
        encoder.set_canonical(self.canonical.is_some());
        encoder.start_with_prefix(&self.name("Envelope"), "soap");
        if self.canonical.is_none() {
            self.declare(encoder);
        }
        self.prefixes.iter().for_each(|(prefix, namespace)| encoder.declare(namespace, prefix));
    }

    fn encode_body_element(&self, encoder: &mut Encoder, id: Option<&str>) {
        encoder.open_end();
        encoder.note_body_start();
        encoder.start_with_prefix(&self.name("Body"), "soap");
        if let Some(id) = id {
            encoder.attribute(&QName::new(ns::WSU, "Id"), id);
            self.declare(encoder);
        }
        encoder.begin_body();
        self.encode_body(encoder);
        encoder.end_body();
        encoder.end();
    }

    fn name(&self, local: &'static str) -> QName {
        QName::new(self.version.namespace(), local)
    }

    /// Declares the namespaces that most bodies of the kind need.
    fn declare(&self, encoder: &mut Encoder) {
        let is_encoded = self.encoding == Use::Encoded;
        if is_encoded || matches!(self.body, Body::Element { view, .. } if view.has_nillable()) {
            encoder.declare(ns::XSI, "xsi");
        }
        if is_encoded {
            encoder.declare(ns::XSD, "xsd");
            encoder.declare(self.version.encoding_namespace(), "soapenc");
        }
    }

    /// Returns true if the message has a `Header`.
    pub(crate) fn has_headers(&self) -> bool {
        let has_own = match self.body {
            Body::Element { .. } => false,
            Body::Fault(fault) => !fault_headers(self.version, fault).is_empty(),
        };
        has_own || !self.headers.is_empty()
    }

    fn encode_headers(&self, encoder: &mut Encoder) {
        let own = match self.body {
            Body::Element { .. } => Vec::new(),
            Body::Fault(fault) => fault_headers(self.version, fault),
        };
        if self.headers.is_empty() && own.is_empty() {
            return;
        }
        encoder.start(&self.name("Header"));
        for block in self.headers.iter().chain(&own) {
            match self.canonical {
                Some(_) => encoder.apart(|encoder| block.node.write(encoder)),
                None => block.node.write(encoder),
            }
        }
        encoder.end();
    }

    fn encode_body(&self, encoder: &mut Encoder) {
        match self.body {
            Body::Element { name, value, view } if name.local.is_empty() => value.encode_inline(encoder, view),
            Body::Element { name, value, view } => {
                encoder.start_root(name, view);
                if self.encoding == Use::Encoded {
                    encoder.style_attribute();
                }
                encoder.set_type_written(false);
                value.encode(encoder, view);
                encoder.end();
            }
            Body::Fault(fault) => fault.write(encoder, self.version),
        }
    }
}

impl fmt::Debug for Envelope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Envelope { version, encoding, references, headers, body, namespace, prefixes, canonical } = self;
        let mut debug = f.debug_struct("Envelope");
        debug.field("version", version).field("encoding", encoding).field("references", references);
        debug.field("headers", headers).field("namespace", namespace).field("prefixes", prefixes);
        debug.field("canonical", canonical);
        match body {
            Body::Element { name, .. } => debug.field("element", name),
            Body::Fault(fault) => debug.field("fault", fault),
        };
        debug.finish_non_exhaustive()
    }
}

/// A kind of messages that may resemble each other: those with the same element, type, version and
/// encoding. A key for stores of [`Templates`](crate::Templates).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageKind {
    element: QName,
    /// The address of the type's schema in memory, which distinguishes types that have the same
    /// element. It only selects among templates, and those check their input.
    schema: usize,
    form: Form,
}

/// What the markup of a message depends on, besides its content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    version: Version,
    encoding: Use,
    /// The id of the body, if it is in canonical form.
    canonical: Option<String>,
}

/// A message that was written in full.
#[derive(Debug)]
pub(crate) struct InFull {
    pub(crate) bytes: Buffer,
    /// Number of bytes before the `Body` element.
    pub(crate) head: usize,
    /// See [`Outgoing::inclusive_prefixes`](crate::Outgoing::inclusive_prefixes).
    pub(crate) unused_prefixes: BTreeSet<String>,
}

/// A message whose larger [`Binary`](crate::Binary) values are in separate parts (XOP 1.0, section
/// 2).
#[derive(Debug)]
pub struct Optimized {
    /// The envelope, with an `xop:Include` in place of each part.
    pub message: Buffer,
    /// The parts in document order.
    pub parts: Vec<TakenPart>,
}

/// Returns the header blocks that SOAP 1.2 defines for faults: headers not understood (part 1,
/// 5.4.8), versions supported (5.4.7).
fn fault_headers(version: Version, fault: &Fault) -> Vec<HeaderBlock> {
    let mut headers = Vec::new();
    if version == Version::Soap12 {
        headers.extend(fault.not_understood.iter().map(not_understood));
    }
    if fault.code == FaultCode::VersionMismatch {
        headers.push(upgrade());
    }
    headers
}

fn not_understood(name: &QName) -> HeaderBlock {
    let mut node = Node::new(QName::new(ns::SOAP12, "NotUnderstood"));
    // No prefix can be bound to the empty namespace (Namespaces in XML 1.0, 5).
    let qname = if name.namespace.is_empty() {
        name.local.to_string()
    } else {
        node.bindings = [("missing".to_owned(), name.namespace.to_string())].into();
        format!("missing:{}", name.local)
    };
    node.attributes.push((QName::new("", "qname"), qname.into()));
    HeaderBlock { node }
}

fn upgrade() -> HeaderBlock {
    let mut node = Node::new(QName::new(ns::SOAP12, "Upgrade"));
    for (prefix, version) in [("soap12", Version::Soap12), ("soap11", Version::Soap11)] {
        let mut supported = Node::new(QName::new(ns::SOAP12, "SupportedEnvelope"));
        supported.bindings = [(prefix.to_owned(), version.namespace().to_owned())].into();
        supported.attributes.push((QName::new("", "qname"), format!("{prefix}:Envelope").into()));
        node.children.push(Child::Element(supported));
    }
    HeaderBlock { node }
}
