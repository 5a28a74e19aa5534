//! The faults that WS-Addressing defines (SOAP Binding 6.4; 2004, section 4).

use super::{Addressing, AddressingHeaders, reply_to};
use crate::node::Child;
use crate::soap::{Fault, FaultCode, HeaderBlock, Version};
use crate::{Node, QName};
use std::fmt;
use std::time::Duration;

/// A violation of WS-Addressing in a message, which a fault answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddressingFault {
    /// The version of the message.
    pub version: Addressing,
    /// The violation.
    pub kind: AddressingFaultKind,
    /// The id of the message, if it has one.
    pub message_id: Option<String>,
}

/// A violation of WS-Addressing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressingFaultKind {
    /// `InvalidAddressingHeader`: a header block is invalid.
    InvalidHeader {
        /// Its name.
        header: QName,
        /// The reason, if there is a code for it.
        problem: Option<HeaderProblem>,
    },
    /// `MessageAddressingHeaderRequired`: a header block is missing.
    HeaderRequired {
        /// Its name.
        header: QName,
    },
    /// `InvalidAddressingHeader` with `ActionMismatch`: the action is not that of the HTTP request,
    /// or of the body.
    ActionMismatch {
        /// The action of the message.
        action: String,
        /// The action of the HTTP request.
        soap_action: Option<String>,
    },
    /// `DestinationUnreachable`: there is nothing at the address.
    DestinationUnreachable {
        /// The address.
        address: String,
    },
    /// `ActionNotSupported`: the service has no operation with this action.
    ActionNotSupported {
        /// The action.
        action: String,
    },
    /// `EndpointUnavailable`: the service cannot process the message now.
    EndpointUnavailable {
        /// The time to wait before the message is sent again.
        retry_after: Option<Duration>,
    },
}

/// The reason why a header block is invalid: a subcode of `InvalidAddressingHeader`. 2004 has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// `InvalidAddress`: the address is not an absolute URI.
    InvalidAddress,
    /// `InvalidEPR`: the endpoint reference is malformed.
    InvalidEpr,
    /// `InvalidCardinality`: the block is there more than once.
    InvalidCardinality,
    /// `MissingAddressInEPR`: the endpoint reference has no address.
    MissingAddressInEpr,
    /// `DuplicateMessageID`: the id was used by another message.
    DuplicateMessageId,
    /// `OnlyAnonymousAddressSupported`: replies are only sent as the HTTP response.
    OnlyAnonymousAddressSupported,
    /// `OnlyNonAnonymousAddressSupported`: replies are never sent as the HTTP response.
    OnlyNonAnonymousAddressSupported,
}

impl HeaderProblem {
    const fn code(self) -> &'static str {
        match self {
            HeaderProblem::InvalidAddress => "InvalidAddress",
            HeaderProblem::InvalidEpr => "InvalidEPR",
            HeaderProblem::InvalidCardinality => "InvalidCardinality",
            HeaderProblem::MissingAddressInEpr => "MissingAddressInEPR",
            HeaderProblem::DuplicateMessageId => "DuplicateMessageID",
            HeaderProblem::OnlyAnonymousAddressSupported => "OnlyAnonymousAddressSupported",
            HeaderProblem::OnlyNonAnonymousAddressSupported => "OnlyNonAnonymousAddressSupported",
        }
    }
}

impl fmt::Display for HeaderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderProblem::InvalidAddress => "the address is not an absolute URI",
            HeaderProblem::InvalidEpr => "it is malformed",
            HeaderProblem::InvalidCardinality => "it is there more than once",
            HeaderProblem::MissingAddressInEpr => "it has no address",
            HeaderProblem::DuplicateMessageId => "another message had this id",
            HeaderProblem::OnlyAnonymousAddressSupported => "only the anonymous address is supported",
            HeaderProblem::OnlyNonAnonymousAddressSupported => "the anonymous address is not supported",
        })
    }
}

impl AddressingFault {
    /// Creates the fault for a message with these header blocks.
    pub fn new(headers: &AddressingHeaders, kind: AddressingFaultKind) -> Self {
        AddressingFault { version: headers.version, kind, message_id: headers.message_id.clone() }
    }

    /// Creates the fault for a message of unknown version or id.
    pub fn unrelated(version: Addressing, kind: AddressingFaultKind) -> Self {
        AddressingFault { version, kind, message_id: None }
    }

    /// Returns the fault for an envelope of a version. In SOAP 1.1 the code is that of
    /// WS-Addressing, and the detail belongs in a [header block](Self::take_detail).
    pub fn to_fault(&self, soap: Version) -> Fault {
        let code = self.version.name(self.code());
        let is_receivers = matches!(self.kind, AddressingFaultKind::EndpointUnavailable { .. });
        let (outer, subcodes) = match soap {
            Version::Soap11 => (FaultCode::Other(code), Vec::new()),
            Version::Soap12 if is_receivers => (FaultCode::Receiver, vec![code]),
            Version::Soap12 => (FaultCode::Sender, [code].into_iter().chain(self.subcode()).collect()),
        };
        let mut fault = Fault::new(outer, self.to_string());
        fault.subcodes = subcodes;
        fault.detail = self.detail().into_iter().collect();
        fault
    }

    /// Returns the header blocks of the fault's message, which goes to the back channel. It has no
    /// id yet.
    pub fn headers(&self) -> AddressingHeaders {
        reply_to(self.version, self.message_id.as_deref(), self.version.fault_action().to_owned())
    }

    /// Moves the detail of a fault of WS-Addressing to a header block, which is its place in SOAP
    /// 1.1: the detail of the body is for errors in the body. Returns `None` for other faults.
    pub fn take_detail(fault: &mut Fault) -> Option<HeaderBlock> {
        Self::code_in(fault)?;
        let detail = std::mem::take(&mut fault.detail);
        let mut node = Node::new(Addressing::V10.name("FaultDetail"));
        node.children = detail.into_iter().map(Child::Element).collect();
        (!node.children.is_empty()).then_some(HeaderBlock { node })
    }

    /// Returns the local name of the innermost code of WS-Addressing in a received fault; `None` if
    /// the fault is about something else.
    pub fn code_in(fault: &Fault) -> Option<&str> {
        let of_11 = match &fault.code {
            FaultCode::Other(name) => Some(name),
            _ => None,
        };
        let codes = fault.subcodes.iter().rev().chain(of_11);
        let mut codes = codes.filter(|name| Addressing::from_namespace(&name.namespace).is_some());
        codes.next().map(|name| &*name.local)
    }

    fn code(&self) -> &'static str {
        use AddressingFaultKind as Kind;
        match (&self.kind, self.version) {
            (Kind::InvalidHeader { .. } | Kind::ActionMismatch { .. }, Addressing::V10) => "InvalidAddressingHeader",
            (Kind::InvalidHeader { .. } | Kind::ActionMismatch { .. }, Addressing::V2004) => {
                "InvalidMessageInformationHeader"
            }
            (Kind::HeaderRequired { .. }, Addressing::V10) => "MessageAddressingHeaderRequired",
            (Kind::HeaderRequired { .. }, Addressing::V2004) => "MessageInformationHeaderRequired",
            (Kind::DestinationUnreachable { .. }, _) => "DestinationUnreachable",
            (Kind::ActionNotSupported { .. }, _) => "ActionNotSupported",
            (Kind::EndpointUnavailable { .. }, _) => "EndpointUnavailable",
        }
    }

    fn subcode(&self) -> Option<QName> {
        let local = match &self.kind {
            AddressingFaultKind::InvalidHeader { problem, .. } => (*problem)?.code(),
            AddressingFaultKind::ActionMismatch { .. } => "ActionMismatch",
            _ => return None,
        };
        (self.version == Addressing::V10).then(|| self.version.name(local))
    }

    /// Returns the detail (SOAP Binding 6.4). 2004 describes details in words only.
    fn detail(&self) -> Option<Node> {
        use AddressingFaultKind as Kind;
        let name = |local| self.version.name(local);
        if self.version == Addressing::V2004 {
            return None;
        }
        match &self.kind {
            Kind::InvalidHeader { header, .. } | Kind::HeaderRequired { header } => {
                Some(named(name("ProblemHeaderQName"), header))
            }
            Kind::ActionMismatch { action, soap_action } => {
                Some(problem_action(self.version, action, soap_action.as_deref()))
            }
            Kind::ActionNotSupported { action } => Some(problem_action(self.version, action, None)),
            Kind::DestinationUnreachable { address } => Some(Node::with_text(name("ProblemIRI"), address.as_str())),
            Kind::EndpointUnavailable { retry_after } => {
                Some(Node::with_text(name("RetryAfter"), (*retry_after)?.as_millis().to_string()))
            }
        }
    }
}

impl fmt::Display for AddressingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AddressingFaultKind as Kind;
        match &self.kind {
            Kind::InvalidHeader { header, problem } => {
                write!(f, "the header block wsa:{} is not valid", header.local)?;
                problem.map_or(Ok(()), |problem| write!(f, ": {problem}"))
            }
            Kind::HeaderRequired { header } => write!(f, "the header block wsa:{} is required", header.local),
            Kind::ActionMismatch { action, soap_action: Some(http) } => {
                write!(f, "the action \"{action}\" of wsa:Action and \"{http}\" of the HTTP request do not match")
            }
            Kind::ActionMismatch { action, .. } => {
                write!(f, "the action \"{action}\" of wsa:Action is not that of the body")
            }
            Kind::DestinationUnreachable { address } => write!(f, "there is no route to {address}"),
            Kind::ActionNotSupported { action } => write!(f, "the action \"{action}\" is not supported"),
            Kind::EndpointUnavailable { .. } => f.write_str("the endpoint cannot process the message at this time"),
        }
    }
}

impl std::error::Error for AddressingFault {}

/// Returns an element whose text is a qualified name.
fn named(element: QName, name: &QName) -> Node {
    let prefix = if Addressing::from_namespace(&name.namespace).is_some() { "wsa" } else { "header" };
    let mut node = Node::with_text(element, format!("{prefix}:{}", name.local));
    node.bindings = [(prefix.to_owned(), name.namespace.to_string())].into();
    node
}

fn problem_action(version: Addressing, action: &str, soap_action: Option<&str>) -> Node {
    let child = |local, text: &str| Child::Element(Node::with_text(version.name(local), text));
    let mut node = Node::new(version.name("ProblemAction"));
    node.children.push(child("Action", action));
    node.children.extend(soap_action.map(|soap_action| child("SoapAction", soap_action)));
    node
}
