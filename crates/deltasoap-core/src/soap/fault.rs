//! Faults of both versions as one type.

use super::addressing::{Addressing, AddressingFault};
use super::{HeaderBlock, Version};
use crate::content::Message;
use crate::encode::Encoder;
use crate::{Blame, Error, ErrorKind, Node, QName, ns};
use std::ops::{Deref, DerefMut};

/// A SOAP fault (SOAP 1.1, section 4.4; SOAP 1.2 part 1, section 5.4). Its [fields](FaultFields)
/// are behind a pointer, so that a `Result` with a fault is small.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault(Box<FaultFields>);

/// The fields of a [`Fault`], which dereferences to them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultFields {
    /// The fault code.
    pub code: FaultCode,
    /// Finer codes: `Subcode` in 1.2, outermost first. In 1.1 the part after a dot is kept in
    /// [`FaultCode::Other`].
    pub subcodes: Vec<QName>,
    /// Human-readable text. If a 1.2 fault has several, this is the English one, or else the first;
    /// see [`reason_in`](Fault::reason_in).
    pub reason: String,
    /// The node that failed: `faultactor` in 1.1, `Role` in 1.2.
    pub role: Option<String>,
    /// `Node` of 1.2.
    pub node: Option<String>,
    /// Detail entries.
    pub detail: Vec<Node>,
    /// Headers that were not understood, written as `NotUnderstood` blocks in 1.2 (part 1, section
    /// 5.4.8).
    pub not_understood: Vec<QName>,
    /// The original wording of a received fault. It is ignored when faults are compared, and is not
    /// written again.
    pub wording: Wording,
}

/// The parts of a received fault that [`Fault`] normalizes, as they were received; empty for faults
/// created locally.
#[derive(Debug, Clone, Default)]
pub struct Wording(Option<Box<Received>>);

#[derive(Debug, Clone)]
struct Received {
    code: QName,
    reasons: Vec<(String, String)>,
}

impl Wording {
    fn new(code: QName, reasons: Vec<(String, String)>) -> Self {
        Wording(Some(Box::new(Received { code, reasons })))
    }

    /// Returns the code as received. A code with an undeclared prefix is in no namespace and keeps
    /// its prefix.
    pub fn code(&self) -> Option<&QName> {
        self.0.as_ref().map(|received| &received.code)
    }

    /// Returns the texts of a 1.2 reason in document order: language (`xml:lang`, may be empty) and
    /// text.
    pub fn reasons(&self) -> &[(String, String)] {
        self.0.as_ref().map_or(&[], |received| &received.reasons)
    }
}

/// Always equal: faults are compared by their content, not by their wording.
impl PartialEq for Wording {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Wording {}

/// A fault code. Variants have the names of 1.2; their docs give those of 1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultCode {
    /// The envelope has an unknown version.
    VersionMismatch,
    /// A mandatory header was not understood.
    MustUnderstand,
    /// `DataEncodingUnknown` (1.2 only; written as `Client` in 1.1).
    DataEncodingUnknown,
    /// The message is invalid: `Client` in 1.1.
    Sender,
    /// The receiver failed to process the message: `Server` in 1.1.
    Receiver,
    /// Any other code of 1.1, such as `Client.Authentication` or one in another namespace. Written
    /// as the first subcode in 1.2.
    Other(QName),
}

impl FaultCode {
    /// Returns the name of the code in a version.
    pub fn name(&self, version: Version) -> QName {
        let local = match (self, version) {
            (FaultCode::Other(name), Version::Soap11) => return name.clone(),
            (FaultCode::VersionMismatch, _) => "VersionMismatch",
            (FaultCode::MustUnderstand, _) => "MustUnderstand",
            (FaultCode::Sender | FaultCode::DataEncodingUnknown, Version::Soap11) => "Client",
            (FaultCode::Receiver, Version::Soap11) => "Server",
            (FaultCode::DataEncodingUnknown, Version::Soap12) => "DataEncodingUnknown",
            (FaultCode::Sender, Version::Soap12) => "Sender",
            (FaultCode::Other(name), Version::Soap12) if is_senders(name) => "Sender",
            (FaultCode::Receiver | FaultCode::Other(_), Version::Soap12) => "Receiver",
        };
        QName::new(version.namespace(), local)
    }

    /// Returns the code with this name. Servers of 1.1 often omit the prefix, so a name in no
    /// namespace is accepted.
    pub fn from_name(name: &QName) -> Self {
        if !name.namespace.is_empty() && Version::from_namespace(&name.namespace).is_none() {
            return FaultCode::Other(name.clone());
        }
        match &*name.local {
            "VersionMismatch" => FaultCode::VersionMismatch,
            "MustUnderstand" => FaultCode::MustUnderstand,
            "DataEncodingUnknown" => FaultCode::DataEncodingUnknown,
            "Client" | "Sender" => FaultCode::Sender,
            "Server" | "Receiver" => FaultCode::Receiver,
            _ => FaultCode::Other(name.clone()),
        }
    }
}

/// Returns true for a code of SOAP 1.1 that blames the sender.
fn is_senders(code: &QName) -> bool {
    match Addressing::from_namespace(&code.namespace) {
        Some(_) => code.local != "EndpointUnavailable",
        None => code.local.starts_with("Client"),
    }
}

impl Fault {
    /// Creates a fault with a code and a reason.
    pub fn new(code: FaultCode, reason: impl Into<String>) -> Self {
        Fault(Box::new(FaultFields {
            code,
            subcodes: Vec::new(),
            reason: reason.into(),
            role: None,
            node: None,
            detail: Vec::new(),
            not_understood: Vec::new(),
            wording: Wording::default(),
        }))
    }

    /// Returns the fields.
    pub fn into_fields(self) -> FaultFields {
        *self.0
    }

    /// Returns the reason in the first of these languages (`de-AT`, `de`) that was received;
    /// [`reason`](FaultFields::reason) if none was. A language matches its variants, but not the
    /// language that it is a variant of (RFC 4647, 3.4).
    pub fn reason_in<'f>(&'f self, languages: &[impl AsRef<str>]) -> &'f str {
        let texts = self.wording.reasons();
        let wanted = languages.iter().find_map(|language| text_in(texts, language.as_ref()));
        wanted.unwrap_or(&self.reason)
    }

    /// Creates a fault of the sender.
    pub fn sender(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Sender, reason)
    }

    /// Creates a fault of the receiver.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Receiver, reason)
    }

    /// Adds a typed detail entry.
    ///
    /// # Errors
    /// Returns an error if the value holds text that XML cannot carry.
    pub fn with_detail<T: Message>(mut self, detail: &T) -> Result<Self, Error> {
        self.detail.push(Node::from_message(detail)?);
        Ok(self)
    }

    /// Returns the first detail entry with the type's element name, as a typed value.
    pub fn detail<T: Message>(&self) -> Option<Result<T, Error>> {
        self.detail.iter().find(|node| node.name == T::ELEMENT).map(Node::to_typed)
    }

    /// Creates the fault that answers a message with an error.
    pub fn from_error(error: &Error) -> Self {
        let code = match (error.kind(), error.blame()) {
            (ErrorKind::VersionMismatch(_), _) => FaultCode::VersionMismatch,
            (ErrorKind::MustUnderstand(_), _) => FaultCode::MustUnderstand,
            (_, Blame::Sender) => FaultCode::Sender,
            (_, Blame::Receiver) => FaultCode::Receiver,
        };
        Fault::new(code, error.to_string())
    }

    /// Returns the HTTP status of the fault: always 500 in 1.1 (section 6.2); 400 for sender faults
    /// in 1.2 (part 2, table 20). The code as written decides, so `Client.Auth` of 1.1 is a sender
    /// fault too.
    pub fn http_status(&self, version: Version) -> u16 {
        let written = self.code.name(version);
        let is_senders = ["Sender", "DataEncodingUnknown"].contains(&&*written.local);
        if version == Version::Soap12 && is_senders { 400 } else { 500 }
    }

    /// Writes the `Fault` element.
    pub fn write(&self, encoder: &mut Encoder, version: Version) {
        encoder.start(&QName::new(version.namespace(), "Fault"));
        match version {
            Version::Soap11 => self.write_11(encoder),
            Version::Soap12 => self.write_12(encoder),
        }
        encoder.end();
    }

    /// Returns a code that 1.2 can represent only as a subcode.
    fn other_code(&self) -> Option<QName> {
        match &self.code {
            FaultCode::Other(name) => Some(name.clone()),
            _ => None,
        }
    }

    fn write_11(&self, encoder: &mut Encoder) {
        write_code(encoder, &QName::new("", "faultcode"), &self.code.name(Version::Soap11));
        write_text(encoder, &QName::new("", "faultstring"), &self.reason);
        if let Some(role) = &self.role {
            write_text(encoder, &QName::new("", "faultactor"), role);
        }
        self.write_detail(encoder, &QName::new("", "detail"));
    }

    fn write_12(&self, encoder: &mut Encoder) {
        let name = |local| QName::new(ns::SOAP12, local);
        encoder.start(&name("Code"));
        write_code(encoder, &name("Value"), &self.code.name(Version::Soap12));
        for subcode in self.other_code().iter().chain(&self.subcodes) {
            encoder.start(&name("Subcode"));
            write_code(encoder, &name("Value"), subcode);
        }
        self.other_code().iter().chain(&self.subcodes).for_each(|_| encoder.end());
        encoder.end();
        encoder.start(&name("Reason"));
        encoder.start(&name("Text"));
        encoder.attribute(&QName::new(ns::XML, "lang"), "en");
        encoder.text(&self.reason);
        encoder.end();
        encoder.end();
        if let Some(node) = &self.node {
            write_text(encoder, &name("Node"), node);
        }
        if let Some(role) = &self.role {
            write_text(encoder, &name("Role"), role);
        }
        self.write_detail(encoder, &name("Detail"));
    }

    fn write_detail(&self, encoder: &mut Encoder, name: &QName) {
        if self.detail.is_empty() {
            return;
        }
        encoder.start(name);
        self.detail.iter().for_each(|entry| entry.write(encoder));
        encoder.end();
    }

    /// Reads a `Fault` element of either version. Some servers put the children of 1.2 in a 1.1
    /// fault, so the children determine the version.
    ///
    /// # Errors
    /// Returns an error if the element has no code; in 1.1, only if it has no reason either.
    pub fn from_node(node: &Node) -> Result<Self, Error> {
        let has_code = node.element(&node.name.namespace, "Code").is_some();
        if has_code || node.name.namespace == ns::SOAP12 { Self::from_node_12(node) } else { Self::from_node_11(node) }
    }

    /// Returns the blocks that the header of a fault message reports as not understood (SOAP 1.2
    /// part 1, 5.4.8). A name with an undeclared prefix is in no namespace and keeps its prefix.
    pub fn not_understood_in(headers: &[HeaderBlock]) -> Vec<QName> {
        let blocks = headers.iter().map(|block| &block.node).filter(|node| node.name.is(ns::SOAP12, "NotUnderstood"));
        let name = |node: &Node| {
            let text = node.attribute("", "qname")?.trim();
            Some(node.resolve(text).unwrap_or_else(|| QName::owned("", text)))
        };
        blocks.filter_map(name).collect()
    }

    /// Reads a 1.1 fault. Children are matched by local name, since some servers qualify them. A
    /// missing code is accepted if there is a reason.
    fn from_node_11(node: &Node) -> Result<Self, Error> {
        let child = |local: &str| node.elements().find(|child| child.name.local == local);
        let text = |local: &str| child(local).map(|child| child.text().trim().to_owned());
        let reason = text("faultstring");
        let (code, wording) = match child("faultcode") {
            Some(code) => (code_of(&[node, code]), Wording::new(written_code(&[node, code]), Vec::new())),
            None if reason.is_some() => (FaultCode::Receiver, Wording::default()),
            None => return Err(node.fault("neither faultcode nor faultstring")),
        };
        let mut fault = Fault::new(code, reason.unwrap_or_default());
        fault.role = text("faultactor");
        fault.detail = child("detail").map(|detail| entries(node, detail)).unwrap_or_default();
        fault.wording = wording;
        Ok(fault)
    }

    fn from_node_12(node: &Node) -> Result<Self, Error> {
        let namespace = &*node.name.namespace;
        let code = node.element(namespace, "Code").ok_or_else(|| node.fault("no Code"))?;
        let value = code.element(namespace, "Value").ok_or_else(|| node.fault("no Value in Code"))?;
        let text_of = |child: &Node| child.text().trim().to_owned();
        let text = |local: &str| node.element(namespace, local).map(text_of);
        let reasons = node.element(namespace, "Reason").map(reasons).unwrap_or_default();
        let reason = text_in(&reasons, "en").or(reasons.first().map(|(_, text)| text.as_str()));
        let detail = node.element(namespace, "Detail");
        let mut fault = Fault::new(code_of(&[node, code, value]), reason.unwrap_or_default());
        fault.subcodes = subcodes(node, code);
        fault.node = text("Node");
        fault.role = text("Role");
        fault.detail = detail.map(|detail| entries(node, detail)).unwrap_or_default();
        fault.wording = Wording::new(written_code(&[node, code, value]), reasons);
        Ok(fault)
    }
}

impl Deref for Fault {
    type Target = FaultFields;

    fn deref(&self) -> &FaultFields {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut FaultFields {
        &mut self.0
    }
}

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} fault", self.code.name(Version::Soap12).local)?;
        if let Some(code) = AddressingFault::code_in(self) {
            write!(f, " (wsa:{code})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for Fault {}

/// See [`Fault::from_error`].
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::from_error(&error)
    }
}

/// Forwards a received fault.
impl From<Box<Fault>> for Fault {
    fn from(fault: Box<Fault>) -> Self {
        *fault
    }
}

/// For handlers that cannot fail.
impl From<std::convert::Infallible> for Fault {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

fn write_code(encoder: &mut Encoder, element: &QName, code: &QName) {
    encoder.start(element);
    let text = encoder.qname_text(code);
    encoder.text(&text);
    encoder.end();
}

fn write_text(encoder: &mut Encoder, element: &QName, text: &str) {
    encoder.start(element);
    encoder.text(text);
    encoder.end();
}

/// Returns the detail entries. Entries are elements; a detail with text alone is kept as one entry,
/// so that nothing is lost.
fn entries(fault: &Node, detail: &Node) -> Vec<Node> {
    let bindings = [fault, detail].into_iter().flat_map(|node| node.bindings.iter());
    let outer = bindings.map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str())).collect();
    let entries: Vec<Node> = detail.elements().map(|entry| entry.detached(&outer)).collect();
    if entries.is_empty() && !detail.text().trim().is_empty() { vec![detail.clone()] } else { entries }
}

/// Returns the code in the last element of a path. If its prefix is not declared, as some servers
/// send it, the local name alone decides.
fn code_of(path: &[&Node]) -> FaultCode {
    if let Some(name) = name_in(path) {
        return FaultCode::from_name(&name);
    }
    let text = path.last().map(|code| code.text()).unwrap_or_default();
    let (_, local) = text.trim().split_once(':').unwrap_or_default();
    match FaultCode::from_name(&QName::owned("", local)) {
        FaultCode::Other(_) => FaultCode::Other(QName::owned("", text.trim())),
        code => code,
    }
}

/// Returns the code in the last element of a path as received.
fn written_code(path: &[&Node]) -> QName {
    let text = || path.last().map(|code| code.text()).unwrap_or_default();
    name_in(path).unwrap_or_else(|| QName::owned("", text().trim()))
}

/// Returns the texts of a `Reason` with their languages.
fn reasons(reason: &Node) -> Vec<(String, String)> {
    let texts = reason.elements().filter(|it| it.name.is(&reason.name.namespace, "Text"));
    let language = |text: &Node| text.attribute(ns::XML, "lang").unwrap_or_default().trim().to_owned();
    texts.map(|text| (language(text), text.text().trim().to_owned())).collect()
}

/// Returns the text in a language, or else the first in a variant of it.
fn text_in<'t>(texts: &'t [(String, String)], wanted: &str) -> Option<&'t str> {
    let is_variant = |own: &str| match own.split_at_checked(wanted.len()) {
        Some((front, rest)) => front.eq_ignore_ascii_case(wanted) && rest.starts_with('-'),
        None => false,
    };
    let exact = texts.iter().find(|(own, _)| own.eq_ignore_ascii_case(wanted));
    exact.or_else(|| texts.iter().find(|(own, _)| is_variant(own))).map(|(_, text)| text.as_str())
}

/// Returns the codes nested in a `Code` as received, outermost first.
fn subcodes(fault: &Node, code: &Node) -> Vec<QName> {
    let mut path = vec![fault, code];
    let mut subcodes = Vec::new();
    while let Some(subcode) = path.last().and_then(|code| code.element(&fault.name.namespace, "Subcode")) {
        path.push(subcode);
        if let Some(value) = subcode.element(&fault.name.namespace, "Value") {
            path.push(value);
            subcodes.push(written_code(&path));
            path.pop();
        }
    }
    subcodes
}

/// Returns the name in the last element of a path.
fn name_in(path: &[&Node]) -> Option<QName> {
    Node::resolve_in(path, &path.last()?.text())
}
