//! Whole messages of typed values.

use super::{BodyParts, EnvelopeReader, Fault, Head, HeaderBlock, Receiver, Version};
use crate::content::{Encode, Message};
use crate::decode::{Cursor, Step, decode_once};
use crate::encode::Encoder;
use crate::encode::parts::{BinaryParts, TakenPart};
use crate::schema::{QName, Use, View};
use crate::{Buffer, Content, Error, ErrorKind, Memory, Node, Typed, ns};

/// Writes a message with one typed body element.
///
/// # Errors
/// Returns an error if the value holds text that XML cannot carry.
pub fn encode_message<T: Message>(
    version: Version,
    encoding: Use,
    headers: &[HeaderBlock],
    body: &T,
    buffer: Buffer,
) -> Result<Buffer, Error> {
    encode_element(version, encoding, headers, &T::ELEMENT, (body, T::view()), buffer)
}

/// Writes a message with one body element of any name, from a value and its view. Used for dynamic
/// values. With an empty name the value is a record whose fields are direct children of the body.
///
/// # Errors
/// Returns an error if the value holds text that XML cannot carry, or does not match its schema.
pub fn encode_element<T: Encode>(
    version: Version,
    encoding: Use,
    headers: &[HeaderBlock],
    name: &QName,
    body: (&T, View<'_>),
    buffer: Buffer,
) -> Result<Buffer, Error> {
    let (value, view) = body;
    Draft { version, encoding, headers, name, value, view, references: true }.encode(buffer)
}

/// Like [`encode_element`], for readers that do not support references: values that are
/// [`Shared`](crate::Shared) are copied to each place.
///
/// # Errors
/// Same as [`encode_element`], and for cycles and values with too many copies.
pub fn encode_without_references<T: Encode>(
    version: Version,
    encoding: Use,
    headers: &[HeaderBlock],
    name: &QName,
    body: (&T, View<'_>),
    buffer: Buffer,
) -> Result<Buffer, Error> {
    let (value, view) = body;
    Draft { version, encoding, headers, name, value, view, references: false }.encode(buffer)
}

/// The namespaces of a message, for readers that require specific ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Namespaces<'a> {
    /// The namespace to write in place of the namespace of the body's type, for protocol families
    /// whose versions have the same types in different namespaces. Header blocks are written
    /// unchanged. `None` keeps the namespace.
    pub renamed: Option<&'a str>,
    /// Prefixes and namespaces that the envelope declares.
    pub declared: &'a [(&'a str, &'a str)],
}

/// Like [`encode_message`], with other namespaces.
///
/// ```
/// use deltasoap::schema::Use;
/// use deltasoap::soap::{Namespaces, Version, encode_with_namespaces};
/// use deltasoap::{Buffer, Soap};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:meter:1", message)]
/// struct Reading {
///     #[soap(unqualified)]
///     value: i32,
/// }
///
/// let namespaces = Namespaces { renamed: Some("urn:meter:2"), declared: &[("m", "urn:meter:2")] };
/// let reading = Reading { value: 7 };
/// let message = encode_with_namespaces(Version::Soap11, Use::Literal, &[], &reading, namespaces, Buffer::new())?;
/// let text = String::from_utf8_lossy(message.as_slice());
/// assert!(text.contains(r#" xmlns:m="urn:meter:2"><soap:Body><m:Reading>"#), "{text}");
/// # Ok::<(), deltasoap::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the value holds text that XML cannot carry.
pub fn encode_with_namespaces<T: Message>(
    version: Version,
    encoding: Use,
    headers: &[HeaderBlock],
    body: &T,
    namespaces: Namespaces<'_>,
    buffer: Buffer,
) -> Result<Buffer, Error> {
    let mut encoder = Encoder::with_buffer(buffer);
    if let Some(namespace) = namespaces.renamed {
        encoder.rename_namespace(&T::ELEMENT.namespace, namespace);
    }
    let draft = Draft { version, encoding, headers, name: &T::ELEMENT, value: body, view: T::view(), references: true };
    draft.write_with(&mut encoder, namespaces.declared);
    encoder.finish()
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

/// Options for writing a message with parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optimization {
    /// Minimum size in bytes of a binary value that becomes a part.
    pub threshold: usize,
    /// True if [`Shared`](crate::Shared) values are written once; otherwise they are copied, as in
    /// [`encode_without_references`].
    pub references: bool,
}

/// Writes a message with one body element for a package of parts (MTOM). Binary values
/// ([`Binary`](crate::Binary), and dynamic values of `xsd:base64Binary`) that are long enough are
/// not written but returned, with their `xmime:contentType`. The message refers to them, and to
/// parts that are stored elsewhere, by `xop:Include`.
///
/// # Errors
/// Returns an error if the value holds text that XML cannot carry, or does not match its schema.
pub fn encode_optimized<T: Encode>(
    version: Version,
    encoding: Use,
    headers: &[HeaderBlock],
    name: &QName,
    body: (&T, View<'_>),
    optimization: Optimization,
    buffer: Buffer,
) -> Result<Optimized, Error> {
    let Optimization { threshold, references } = optimization;
    let mut encoder = Encoder::with_buffer(buffer);
    encoder.parts = Some(BinaryParts::new(threshold));
    let (value, view) = body;
    Draft { version, encoding, headers, name, value, view, references }.write(&mut encoder);
    let parts = encoder.parts.take().map(BinaryParts::into_taken).unwrap_or_default();
    Ok(Optimized { message: encoder.finish()?, parts })
}

/// A message to be written: one body element with its value, and the envelope around it.
pub(crate) struct Draft<'a> {
    pub(crate) version: Version,
    pub(crate) encoding: Use,
    pub(crate) headers: &'a [HeaderBlock],
    pub(crate) name: &'a QName,
    pub(crate) value: &'a dyn Encode,
    pub(crate) view: View<'a>,
    /// True if values shared by several places are written once.
    pub(crate) references: bool,
}

impl Draft<'_> {
    /// Encodes the whole message.
    pub(crate) fn encode(&self, buffer: Buffer) -> Result<Buffer, Error> {
        let mut encoder = Encoder::with_buffer(buffer);
        self.write(&mut encoder);
        encoder.finish()
    }

    /// Writes the message, in full or against a template.
    pub(crate) fn write(&self, encoder: &mut Encoder) {
        self.write_with(encoder, &[]);
    }

    /// Like [`write`](Self::write), with prefixes that the envelope declares.
    fn write_with(&self, encoder: &mut Encoder, declared: &[(&str, &str)]) {
        self.write_once(encoder, declared);
        if encoder.starts_over() {
            self.write_once(encoder, declared);
        }
    }

    fn write_once(&self, encoder: &mut Encoder, declared: &[(&str, &str)]) {
        let &Draft { version, encoding, headers, name, value, view, references } = self;
        encoder.set_encoding(encoding);
        encoder.set_references(references);
        let needs_xsi = encoding == Use::Encoded || view.has_nillable();
        open_envelope(encoder, version, needs_xsi);
        declared.iter().for_each(|(prefix, namespace)| encoder.declare(namespace, prefix));
        write_headers(encoder, version, headers);
        encoder.start(&envelope_name(version, "Body"));
        encoder.begin_body();
        if name.local.is_empty() {
            value.encode_inline(encoder, view);
        } else {
            self.write_entry(encoder);
        }
        encoder.end_body();
        close_envelope(encoder);
    }

    /// Writes the body's element.
    fn write_entry(&self, encoder: &mut Encoder) {
        encoder.start_root(self.name, self.view);
        if self.encoding == Use::Encoded {
            encoder.style_attribute();
        }
        encoder.set_type_written(false);
        self.value.encode(encoder, self.view);
        encoder.end();
    }
}

/// Writes a fault message.
///
/// # Errors
/// Returns an error if the fault holds text that XML cannot carry.
pub fn encode_fault(version: Version, fault: &Fault, buffer: Buffer) -> Result<Buffer, Error> {
    encode_fault_with_headers(version, &[], fault, buffer)
}

/// Writes a fault message with header blocks.
///
/// # Errors
/// Returns an error if the fault or a block holds text that XML cannot carry.
pub fn encode_fault_with_headers(
    version: Version,
    headers: &[HeaderBlock],
    fault: &Fault,
    buffer: Buffer,
) -> Result<Buffer, Error> {
    let mut encoder = Encoder::with_buffer(buffer);
    open_envelope(&mut encoder, version, false);
    let own = fault_headers(version, fault);
    write_headers(&mut encoder, version, &[headers, &own].concat());
    encoder.start(&envelope_name(version, "Body"));
    fault.write(&mut encoder, version);
    close_envelope(&mut encoder);
    encoder.finish()
}

fn envelope_name(version: Version, local: &'static str) -> QName {
    QName::new(version.namespace(), local)
}

fn open_envelope(encoder: &mut Encoder, version: Version, needs_xsi: bool) {
    encoder.set_version(version);
    encoder.declaration();
    encoder.start_with_prefix(&envelope_name(version, "Envelope"), "soap");
    if needs_xsi {
        encoder.declare(ns::XSI, "xsi");
    }
    if encoder.encoding() == Use::Encoded {
        encoder.declare(ns::XSD, "xsd");
        encoder.declare(version.encoding_namespace(), "soapenc");
    }
}

fn write_headers(encoder: &mut Encoder, version: Version, headers: &[HeaderBlock]) {
    if headers.is_empty() {
        return;
    }
    encoder.start(&envelope_name(version, "Header"));
    headers.iter().for_each(|block| block.node.write(encoder));
    encoder.end();
}

/// Ends `Body` and `Envelope`.
fn close_envelope(encoder: &mut Encoder) {
    encoder.end();
    encoder.end();
}

/// Returns the header blocks that SOAP 1.2 defines for faults: headers not understood (part 1,
/// 5.4.8), versions supported (5.4.7).
fn fault_headers(version: Version, fault: &Fault) -> Vec<HeaderBlock> {
    let mut headers = Vec::new();
    if version == Version::Soap12 {
        headers.extend(fault.not_understood.iter().map(not_understood));
    }
    if fault.code == super::FaultCode::VersionMismatch {
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
        node.children.push(crate::node::Child::Element(supported));
    }
    HeaderBlock { node }
}

/// Receives requests of one type.
#[derive(Debug)]
pub struct RequestReceiver<T> {
    memory: Box<Memory<T>>,
    /// The parts of a body without a wrapper element.
    parts: Option<BodyParts<T>>,
}

impl<T: Message> Default for RequestReceiver<T> {
    fn default() -> Self {
        Self::new(Box::default())
    }
}

impl<T> RequestReceiver<T> {
    /// Creates a receiver for the next request of a stream.
    pub fn new(memory: Box<Memory<T>>) -> Self {
        RequestReceiver { memory, parts: None }
    }

    /// Returns the request; vacant until it is read.
    pub fn value(&self) -> &T {
        self.memory.value()
    }

    /// Returns the request, with the state that the next request of the stream is compared with.
    pub fn into_memory(self) -> Box<Memory<T>> {
        self.memory
    }
}

impl<T: Message> Receiver for RequestReceiver<T> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        open_entry(&mut self.parts, namespace, local)
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        expect_nothing::<T>()
    }

    fn takes_several(&self) -> bool {
        T::HAS_PARTS
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        decode_entry(&mut self.memory, &mut self.parts, cursor)
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        close_parts(&mut self.memory, self.parts.take())
    }
}

/// Handles the start tag of an element of the body.
fn open_entry<T: Message>(parts: &mut Option<BodyParts<T>>, namespace: &str, local: &str) -> Result<(), ErrorKind> {
    if T::HAS_PARTS {
        return parts.get_or_insert_with(|| BodyParts::new(T::view())).open(T::view(), namespace, local);
    }
    if T::ELEMENT.is(namespace, local) {
        return Ok(());
    }
    let found = QName::owned(namespace, local).to_string();
    let expected = if T::ELEMENT.local.is_empty() { "an empty Body".to_owned() } else { format!("<{}>", T::ELEMENT) };
    Err(ErrorKind::UnexpectedElement { found, expected })
}

fn decode_entry<T: Message>(memory: &mut Memory<T>, parts: &mut Option<BodyParts<T>>, cursor: &mut Cursor<'_>) -> Step {
    match parts {
        Some(parts) => parts.decode(cursor, T::view()),
        None => memory.decode(cursor, T::view()),
    }
}

/// Finishes the parts, if any. They replace the memory, since parts are not compared with an
/// earlier message.
fn close_parts<T: Message>(memory: &mut Memory<T>, parts: Option<BodyParts<T>>) -> Result<(), ErrorKind> {
    if let Some(parts) = parts {
        parts.check(T::view())?;
        *memory = Memory::new(parts.into_value());
    }
    Ok(())
}

fn expect_nothing<T: Message>() -> Result<(), ErrorKind> {
    match T::ELEMENT.local.is_empty() {
        true if T::HAS_PARTS => BodyParts::<T>::new(T::view()).check(T::view()),
        true => Ok(()),
        false => Err(ErrorKind::Envelope("the Body is empty")),
    }
}

/// Reads a request of a known type.
///
/// # Errors
/// The first error in document order.
pub fn decode_request<T: Message>(message: &[u8]) -> Result<(Head, T), Error> {
    let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
    decode_once(&mut reader, message)?;
    let (head, receiver) = reader.into_parts();
    Ok((head, receiver.into_memory().into_value()))
}

/// A server's reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// The response.
    Response(T),
    /// A fault.
    Fault(Box<Fault>),
}

/// Receives a response of one type, or a fault.
#[derive(Debug)]
pub struct ReplyReceiver<T> {
    memory: Box<Memory<T>>,
    /// The parts of a body without a wrapper element.
    parts: Option<BodyParts<T>>,
    fault: Option<Node>,
    /// Blocks that the header of a fault message reports as not understood.
    not_understood: Vec<QName>,
}

impl<T: Message> Default for ReplyReceiver<T> {
    fn default() -> Self {
        Self::new(Box::default())
    }
}

impl<T: Message> ReplyReceiver<T> {
    /// Creates a receiver for the next response of a stream.
    pub fn new(memory: Box<Memory<T>>) -> Self {
        ReplyReceiver { memory, parts: None, fault: None, not_understood: Vec::new() }
    }

    /// Returns the received response or fault.
    ///
    /// # Errors
    /// Returns an error if a fault was received that has no code.
    pub fn into_reply(mut self) -> Result<Reply<T>, Error> {
        Ok(match self.take_fault()? {
            Some(fault) => Reply::Fault(Box::new(fault)),
            None => Reply::Response(self.memory.into_value()),
        })
    }

    /// Takes the fault, if one was received.
    ///
    /// # Errors
    /// Returns an error if the fault has no code.
    pub fn take_fault(&mut self) -> Result<Option<Fault>, Error> {
        let Some(node) = self.fault.take() else { return Ok(None) };
        let not_understood = std::mem::take(&mut self.not_understood);
        let mut fault = Fault::from_node(&node)?;
        fault.not_understood = not_understood;
        Ok(Some(fault))
    }

    /// Returns the response, unless it was a fault, with the state that the next response of the
    /// stream is compared with.
    pub fn into_memory(self) -> Box<Memory<T>> {
        self.memory
    }
}

impl<T: Message> Receiver for ReplyReceiver<T> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if namespace == head.version().namespace() && local == "Fault" {
            self.fault = Some(Node::default());
            self.not_understood = Fault::not_understood_in(&head.headers);
            return Ok(());
        }
        open_entry(&mut self.parts, namespace, local)
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        expect_nothing::<T>()
    }

    fn takes_several(&self) -> bool {
        T::HAS_PARTS && self.fault.is_none()
    }

    /// Opens another part. Not called after a fault, which is the only element of its body.
    fn open_another(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        open_entry(&mut self.parts, namespace, local)
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.fault {
            Some(node) => node.decode(cursor, Node::view()),
            None => decode_entry(&mut self.memory, &mut self.parts, cursor),
        }
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        close_parts(&mut self.memory, self.parts.take())
    }
}

/// Reads a reply: a response or a fault.
///
/// # Errors
/// The first error in document order.
pub fn decode_reply<T: Message>(message: &[u8]) -> Result<(Head, Reply<T>), Error> {
    let mut reader = EnvelopeReader::new(ReplyReceiver::<T>::default());
    decode_once(&mut reader, message)?;
    let (head, receiver) = reader.into_parts();
    Ok((head, receiver.into_reply()?))
}
