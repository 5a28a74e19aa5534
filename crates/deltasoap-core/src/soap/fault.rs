//! Faults of both versions as one type.

use super::{HeaderBlock, Version};
use crate::content::Message;
use crate::encode::Encoder;
use crate::{Blame, Error, ErrorKind, Node, QName, ns};

/// A SOAP fault (SOAP 1.1, section 4.4; SOAP 1.2 part 1, section 5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Who or what is at fault.
    pub code: FaultCode,
    /// Finer codes: `Subcode` in 1.2, outermost first; in 1.1 the part behind a dot is kept in
    /// [`FaultCode::Other`].
    pub subcodes: Vec<QName>,
    /// A text for people. If a 1.2 fault has several, this is the English one, else the first; see
    /// [`reason_in`](Fault::reason_in).
    pub reason: String,
    /// The node that failed: `faultactor` in 1.1, `Role` in 1.2.
    pub role: Option<String>,
    /// `Node` of 1.2.
    pub node: Option<String>,
    /// Detail entries.
    pub detail: Vec<Node>,
    /// Headers that were not understood: written as `NotUnderstood` blocks in 1.2 (part 1, section
    /// 5.4.8).
    pub not_understood: Vec<QName>,
    /// How a fault that was received was written. It does not count when faults are compared, and
    /// is not written again.
    pub wording: Wording,
}

/// What a fault that was received said, and [`Fault`] says in words of its own; nothing for faults
/// that are made here.
#[derive(Debug, Clone, Default)]
pub struct Wording(Option<Box<Received>>);

#[derive(Debug, Clone)]
struct Received {
    code: QName,
    reasons: Vec<(String, String)>,
}

impl Wording {
    fn of(code: QName, reasons: Vec<(String, String)>) -> Self {
        Wording(Some(Box::new(Received { code, reasons })))
    }

    /// The code as it was written; in no namespace and with its prefix where that was not declared.
    pub fn code(&self) -> Option<&QName> {
        self.0.as_ref().map(|received| &received.code)
    }

    /// The texts of a reason of 1.2, in the order of the message: language (`xml:lang`, which may
    /// be empty) and text.
    pub fn reasons(&self) -> &[(String, String)] {
        self.0.as_ref().map_or(&[], |received| &received.reasons)
    }
}

/// Faults that say the same are equal, however they were written.
impl PartialEq for Wording {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Wording {}

/// A fault's code, in the words of 1.2 with those of 1.1 beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultCode {
    /// The envelope is of an unknown version.
    VersionMismatch,
    /// A mandatory header was not understood.
    MustUnderstand,
    /// `DataEncodingUnknown` (1.2 only; written as `Client` in 1.1).
    DataEncodingUnknown,
    /// The message is at fault: `Client` in 1.1.
    Sender,
    /// The receiver is at fault: `Server` in 1.1.
    Receiver,
    /// Any other code of 1.1, as in `Client.Authentication` or of another namespace. Written as the
    /// first subcode in 1.2.
    Other(QName),
}

impl FaultCode {
    /// The name in a version.
    pub fn name(&self, version: Version) -> QName {
        let local = match (self, version) {
            (FaultCode::Other(name), Version::Soap11) => return name.clone(),
            (FaultCode::VersionMismatch, _) => "VersionMismatch",
            (FaultCode::MustUnderstand, _) => "MustUnderstand",
            (FaultCode::Sender | FaultCode::DataEncodingUnknown, Version::Soap11) => "Client",
            (FaultCode::Receiver, Version::Soap11) => "Server",
            (FaultCode::DataEncodingUnknown, Version::Soap12) => "DataEncodingUnknown",
            (FaultCode::Sender, Version::Soap12) => "Sender",
            (FaultCode::Other(name), Version::Soap12) if name.local.starts_with("Client") => "Sender",
            (FaultCode::Receiver | FaultCode::Other(_), Version::Soap12) => "Receiver",
        };
        QName::new(version.namespace(), local)
    }

    /// The code that a name stands for. Servers of 1.1 often leave out the prefix, so a name in no
    /// namespace counts.
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

impl Fault {
    /// A fault with a code and a reason.
    pub fn new(code: FaultCode, reason: impl Into<String>) -> Self {
        Fault {
            code,
            subcodes: Vec::new(),
            reason: reason.into(),
            role: None,
            node: None,
            detail: Vec::new(),
            not_understood: Vec::new(),
            wording: Wording::default(),
        }
    }

    /// The reason in the first of these languages that it was received in (`de-AT`, `de`);
    /// [`reason`](Fault::reason) where it was in none. A language stands for its variants too, not
    /// for what it is a variant of (RFC 4647, 3.4).
    pub fn reason_in<'f>(&'f self, languages: &[impl AsRef<str>]) -> &'f str {
        let texts = self.wording.reasons();
        let wanted = languages.iter().find_map(|language| text_in(texts, language.as_ref()));
        wanted.unwrap_or(&self.reason)
    }

    /// The sender is at fault.
    pub fn sender(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Sender, reason)
    }

    /// The receiver is at fault.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Receiver, reason)
    }

    /// Adds a typed detail entry.
    ///
    /// # Errors
    /// When the value holds text that XML cannot carry.
    pub fn with_detail<T: Message>(mut self, detail: &T) -> Result<Self, Error> {
        self.detail.push(Node::from_message(detail)?);
        Ok(self)
    }

    /// The first detail entry with the type's element name, as a typed value.
    pub fn detail<T: Message>(&self) -> Option<Result<T, Error>> {
        self.detail.iter().find(|node| node.name == T::ELEMENT).map(Node::to_typed)
    }

    /// The fault that a message with an error is answered with.
    pub fn from_error(error: &Error) -> Self {
        let code = match (error.kind(), error.blame()) {
            (ErrorKind::VersionMismatch(_), _) => FaultCode::VersionMismatch,
            (ErrorKind::MustUnderstand(_), _) => FaultCode::MustUnderstand,
            (_, Blame::Sender) => FaultCode::Sender,
            (_, Blame::Receiver) => FaultCode::Receiver,
        };
        Fault::new(code, error.to_string())
    }

    /// The HTTP status that goes with the fault: always 500 in 1.1 (section 6.2); 400 for the
    /// sender's faults in 1.2 (part 2, table 20). The code that is written decides, so that
    /// `Client.Auth` of 1.1 is a sender's fault too.
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

    /// A code that 1.2 has no place for but that of a subcode.
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

    /// Reads a `Fault` element of either version. Some servers put the children of 1.2 in a fault
    /// of 1.1, so these decide.
    ///
    /// # Errors
    /// When the element has no code; in 1.1, when it has no reason either.
    pub fn from_node(node: &Node) -> Result<Self, Error> {
        let has_code = node.element(&node.name.namespace, "Code").is_some();
        if has_code || node.name.namespace == ns::SOAP12 { Self::from_node_12(node) } else { Self::from_node_11(node) }
    }

    /// What a fault message says in its header: the blocks that were not understood (SOAP 1.2 part
    /// 1, 5.4.8). A name whose prefix is not declared is in no namespace, with its prefix.
    pub fn not_understood_in(headers: &[HeaderBlock]) -> Vec<QName> {
        let blocks = headers.iter().map(|block| &block.node).filter(|node| node.name.is(ns::SOAP12, "NotUnderstood"));
        let name = |node: &Node| {
            let text = node.attribute("", "qname")?.trim();
            Some(node.resolve(text).unwrap_or_else(|| QName::owned("", text)))
        };
        blocks.filter_map(name).collect()
    }

    /// Some servers qualify the children, so names count, not namespaces. Some give no code: what
    /// they say matters more.
    fn from_node_11(node: &Node) -> Result<Self, Error> {
        let child = |local: &str| node.elements().find(|child| child.name.local == local);
        let text = |local: &str| child(local).map(|child| child.text().trim().to_owned());
        let reason = text("faultstring");
        let (code, wording) = match child("faultcode") {
            Some(code) => (code_of(&[node, code]), Wording::of(written_code(&[node, code]), Vec::new())),
            None if reason.is_some() => (FaultCode::Receiver, Wording::default()),
            None => return Err(node.fault("neither faultcode nor faultstring")),
        };
        Ok(Fault {
            role: text("faultactor"),
            detail: child("detail").map(|detail| entries(node, detail)).unwrap_or_default(),
            wording,
            ..Fault::new(code, reason.unwrap_or_default())
        })
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
        let mut fault = Fault {
            subcodes: subcodes(node, code),
            node: text("Node"),
            role: text("Role"),
            detail: detail.map(|detail| entries(node, detail)).unwrap_or_default(),
            ..Fault::new(code_of(&[node, code, value]), reason.unwrap_or_default())
        };
        fault.wording = Wording::of(written_code(&[node, code, value]), reasons);
        Ok(fault)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} fault: {}", self.code.name(Version::Soap12).local, self.reason)
    }
}

impl std::error::Error for Fault {}

/// See [`Fault::from_error`].
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::from_error(&error)
    }
}

/// For a fault that was received, to be passed on.
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

/// Detail entries are elements; a detail of text alone is kept as one entry, so that nothing is
/// lost.
fn entries(fault: &Node, detail: &Node) -> Vec<Node> {
    let bindings = [fault, detail].into_iter().flat_map(|node| node.bindings.iter());
    let outer = bindings.map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str())).collect();
    let entries: Vec<Node> = detail.elements().map(|entry| entry.detached(&outer)).collect();
    if entries.is_empty() && !detail.text().trim().is_empty() { vec![detail.clone()] } else { entries }
}

/// The code that stands in the last element of a path. Where its prefix is not declared, as some
/// servers have it, the local name alone tells.
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

/// The code in the last element of a path as it is written.
fn written_code(path: &[&Node]) -> QName {
    let text = || path.last().map(|code| code.text()).unwrap_or_default();
    name_in(path).unwrap_or_else(|| QName::owned("", text().trim()))
}

/// The texts of a `Reason` with their languages.
fn reasons(reason: &Node) -> Vec<(String, String)> {
    let texts = reason.elements().filter(|it| it.name.is(&reason.name.namespace, "Text"));
    let language = |text: &Node| text.attribute(ns::XML, "lang").unwrap_or_default().trim().to_owned();
    texts.map(|text| (language(text), text.text().trim().to_owned())).collect()
}

/// The text in a language, or else the first in a variant of it.
fn text_in<'t>(texts: &'t [(String, String)], wanted: &str) -> Option<&'t str> {
    let is_variant = |own: &str| match own.split_at_checked(wanted.len()) {
        Some((front, rest)) => front.eq_ignore_ascii_case(wanted) && rest.starts_with('-'),
        None => false,
    };
    let exact = texts.iter().find(|(own, _)| own.eq_ignore_ascii_case(wanted));
    exact.or_else(|| texts.iter().find(|(own, _)| is_variant(own))).map(|(_, text)| text.as_str())
}

/// The codes nested in a `Code`, outermost first, as they are written.
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

/// The name that stands in the last element of a path.
fn name_in(path: &[&Node]) -> Option<QName> {
    Node::resolve_in(path, &path.last()?.text())
}
