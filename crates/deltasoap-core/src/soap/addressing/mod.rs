//! WS-Addressing: which endpoint and which action a message is for, which message it answers, and
//! where its own reply goes.
//!
//! Both versions in use are read and written: 1.0 ([Core], [SOAP Binding], [Metadata]) and the
//! submission of [August 2004]. This module is plain data. Clients and servers decide what to do
//! with it.
//!
//! ```
//! use deltasoap::soap::addressing::{Addressing, AddressingHeaders};
//! use deltasoap::soap::{Head, Version};
//!
//! let mut request = AddressingHeaders::new(Addressing::V10, "urn:shop/Orders/buyRequest");
//! request.message_id = Some("urn:uuid:5c0b1f3e-1f42-4c0c-9c1f-0d6f8c6f2a11".to_owned());
//!
//! let head = Head { version: Some(Version::Soap12), headers: request.to_blocks(Version::Soap12) };
//! let read = AddressingHeaders::read(&head)?.expect("the message has an action");
//! let reply = read.reply(None, "urn:shop/Orders/buyResponse");
//! assert_eq!(reply.relates_to[0].message_id, "urn:uuid:5c0b1f3e-1f42-4c0c-9c1f-0d6f8c6f2a11");
//! # Ok::<(), deltasoap::soap::addressing::AddressingFault>(())
//! ```
//!
//! [Core]: https://www.w3.org/TR/ws-addr-core/
//! [SOAP Binding]: https://www.w3.org/TR/ws-addr-soap/
//! [Metadata]: https://www.w3.org/TR/ws-addr-metadata/
//! [August 2004]: https://www.w3.org/Submission/ws-addressing/

mod action;
mod endpoint;
mod fault;
mod read;

pub use action::{default_action, default_fault_action};
pub use endpoint::{EndpointReference, InvalidEndpoint};
pub use fault::{AddressingFault, AddressingFaultKind, HeaderProblem};

use super::{HeaderBlock, Version};
use crate::{Node, QName};

/// A version of WS-Addressing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Addressing {
    /// 1.0, the recommendation of 2006. Its namespace is of August 2005.
    #[default]
    V10,
    /// The submission of August 2004.
    V2004,
}

impl Addressing {
    /// All versions.
    pub const ALL: [Addressing; 2] = [Addressing::V10, Addressing::V2004];

    /// Returns the namespace of the version.
    pub const fn namespace(self) -> &'static str {
        match self {
            Addressing::V10 => "http://www.w3.org/2005/08/addressing",
            Addressing::V2004 => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        }
    }

    /// Returns the version with this namespace.
    pub fn from_namespace(namespace: &str) -> Option<Self> {
        Addressing::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// Returns the address that stands for the back channel: the HTTP response.
    pub const fn anonymous(self) -> &'static str {
        match self {
            Addressing::V10 => "http://www.w3.org/2005/08/addressing/anonymous",
            Addressing::V2004 => "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
        }
    }

    /// Returns the address at which messages are discarded; 2004 has none.
    pub const fn none(self) -> Option<&'static str> {
        match self {
            Addressing::V10 => Some("http://www.w3.org/2005/08/addressing/none"),
            Addressing::V2004 => None,
        }
    }

    /// Returns the id that replies relate to if the request has none.
    pub const fn unspecified(self) -> &'static str {
        match self {
            Addressing::V10 => "http://www.w3.org/2005/08/addressing/unspecified",
            Addressing::V2004 => "http://schemas.xmlsoap.org/ws/2004/08/addressing/id/unspecified",
        }
    }

    /// Returns the action of the faults that WS-Addressing defines.
    pub const fn fault_action(self) -> &'static str {
        match self {
            Addressing::V10 => "http://www.w3.org/2005/08/addressing/fault",
            Addressing::V2004 => "http://schemas.xmlsoap.org/ws/2004/08/addressing/fault",
        }
    }

    /// Returns the action of other faults, if the service declares none for them.
    pub const fn soap_fault_action(self) -> &'static str {
        match self {
            Addressing::V10 => "http://www.w3.org/2005/08/addressing/soap/fault",
            Addressing::V2004 => self.fault_action(),
        }
    }

    /// Returns a name in the namespace of the version.
    pub const fn name(self, local: &'static str) -> QName {
        QName::new(self.namespace(), local)
    }

    /// Returns true for the name of a header block of WS-Addressing, in any version.
    pub fn defines(name: &QName) -> bool {
        Addressing::from_namespace(&name.namespace).is_some() && HEADERS.contains(&&*name.local)
    }
}

/// Local names of the header blocks.
const HEADERS: [&str; 8] = ["To", "From", "ReplyTo", "FaultTo", "Action", "MessageID", "RelatesTo", "FaultDetail"];

/// The header blocks of WS-Addressing in a message: its message addressing properties (Core 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressingHeaders {
    /// The version that the blocks are in.
    pub version: Addressing,
    /// The address that the message is for; absent for the anonymous one.
    pub to: Option<String>,
    /// The purpose of the message. An absolute URI by the specification; any text is accepted.
    pub action: String,
    /// The id of the message. An absolute URI by the specification; any text is accepted.
    pub message_id: Option<String>,
    /// The messages that this one relates to.
    pub relates_to: Vec<RelatesTo>,
    /// Where replies go; absent for the back channel.
    pub reply_to: Option<EndpointReference>,
    /// Where faults go; absent for where replies go.
    pub fault_to: Option<EndpointReference>,
    /// Where the message comes from.
    pub from: Option<EndpointReference>,
    /// The reference parameters of the endpoint that the message is for. Each is a header block.
    /// Those of 2004 cannot be told from other blocks, so they are written but not read.
    pub reference_parameters: Vec<Node>,
}

/// A message that another message relates to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatesTo {
    /// The id of that message.
    pub message_id: String,
    /// The type of the relationship as written; absent for that of a reply to its request.
    pub relationship: Option<String>,
}

impl RelatesTo {
    /// Creates the relationship of a reply to a request.
    pub fn reply(message_id: impl Into<String>) -> Self {
        RelatesTo { message_id: message_id.into(), relationship: None }
    }
}

impl AddressingHeaders {
    /// Creates the header blocks of a message that has an action and nothing else.
    pub fn new(version: Addressing, action: impl Into<String>) -> Self {
        AddressingHeaders {
            version,
            to: None,
            action: action.into(),
            message_id: None,
            relates_to: Vec::new(),
            reply_to: None,
            fault_to: None,
            from: None,
            reference_parameters: Vec::new(),
        }
    }

    /// Sets the endpoint that the message is for: its address, and its reference parameters.
    #[must_use]
    pub fn to_endpoint(mut self, endpoint: &EndpointReference) -> Self {
        self.to = Some(endpoint.address.clone());
        self.reference_parameters = endpoint.echoed().cloned().collect();
        self
    }

    /// Returns the endpoint of faults, which is that of replies unless the message names another
    /// (Core 3.4); `None` for the back channel.
    pub fn fault_endpoint(&self) -> Option<&EndpointReference> {
        self.fault_to.as_ref().or(self.reply_to.as_ref())
    }

    /// Returns the header blocks of a reply to an endpoint, `None` for the back channel (Core 3.4).
    /// The reply has no id yet.
    #[must_use]
    pub fn reply(&self, endpoint: Option<&EndpointReference>, action: impl Into<String>) -> Self {
        let mut reply = reply_to(self.version, self.message_id.as_deref(), action.into());
        if let Some(endpoint) = endpoint {
            reply = reply.to_endpoint(endpoint);
        }
        reply
    }

    /// Returns the header blocks for an envelope of a version.
    ///
    /// A receiver that ignores the endpoints of replies would send them elsewhere, so these are
    /// marked as mandatory unless they are anonymous.
    pub fn to_blocks(&self, soap: Version) -> Vec<HeaderBlock> {
        let text = |local, text: &str| Node::with_text(self.version.name(local), text);
        let mut nodes = Vec::new();
        nodes.extend(self.to.as_deref().map(|to| text("To", to)));
        nodes.push(text("Action", &self.action));
        nodes.extend(self.message_id.as_deref().map(|id| text("MessageID", id)));
        nodes.extend(self.relates_to.iter().map(|other| self.related(other)));
        let mut blocks: Vec<_> = nodes.into_iter().map(|node| HeaderBlock { node }).collect();
        let endpoints = [("From", &self.from), ("ReplyTo", &self.reply_to), ("FaultTo", &self.fault_to)];
        for (local, endpoint) in endpoints {
            let Some(endpoint) = endpoint else { continue };
            let block = HeaderBlock { node: endpoint.to_node(self.version.name(local), self.version) };
            let is_mandatory = local != "From" && !endpoint.is_anonymous();
            blocks.push(if is_mandatory { block.must_understand(soap) } else { block });
        }
        blocks.extend(self.reference_parameters.iter().map(|node| self.echoed(node)));
        blocks
    }

    fn related(&self, other: &RelatesTo) -> Node {
        let mut node = Node::with_text(self.version.name("RelatesTo"), &*other.message_id);
        if let Some(relationship) = &other.relationship {
            node.attributes.push((QName::new("", "RelationshipType"), relationship.as_str().into()));
        }
        node
    }

    /// Returns a reference parameter as a header block (SOAP Binding 4.2).
    fn echoed(&self, node: &Node) -> HeaderBlock {
        let mut node = node.clone();
        if self.version == Addressing::V10 {
            let mark = self.version.name(IS_REFERENCE_PARAMETER);
            node.attributes.retain(|(name, _)| *name != mark);
            node.attributes.push((mark, "true".into()));
        }
        HeaderBlock { node }
    }
}

/// The relationship of a reply to its request in 1.0, which is the default.
const REPLY: &str = "http://www.w3.org/2005/08/addressing/reply";

/// The attribute that marks reference parameters among the header blocks.
const IS_REFERENCE_PARAMETER: &str = "IsReferenceParameter";

/// Returns the header blocks of a reply on the back channel.
fn reply_to(version: Addressing, message_id: Option<&str>, action: String) -> AddressingHeaders {
    let related = message_id.unwrap_or(version.unspecified());
    AddressingHeaders {
        to: Some(version.anonymous().to_owned()),
        relates_to: vec![RelatesTo::reply(related)],
        ..AddressingHeaders::new(version, action)
    }
}
