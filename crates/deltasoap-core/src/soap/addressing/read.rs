//! Reads the header blocks of a message.

use super::endpoint::is_absolute;
use super::{
    Addressing, AddressingFault, AddressingFaultKind, AddressingHeaders, EndpointReference, HeaderProblem,
    IS_REFERENCE_PARAMETER, REPLY, RelatesTo,
};
use crate::Node;
use crate::soap::{Head, HeaderBlock};

impl AddressingHeaders {
    /// Reads the header blocks of a message that are for its ultimate receiver; `None` if there are
    /// none of WS-Addressing.
    ///
    /// # Errors
    /// Returns the fault that answers the message if a block is there twice, is invalid, or is in
    /// another version than the first, or if there is no action.
    pub fn read(head: &Head) -> Result<Option<Self>, AddressingFault> {
        let is_ours = |block: &&HeaderBlock| block.is_for_ultimate_receiver(head.version());
        let nodes: Vec<&Node> = head.headers.iter().filter(is_ours).map(|block| &block.node).collect();
        let Some(first) = nodes.iter().find(|node| Addressing::defines(&node.name)) else { return Ok(None) };
        let version = Addressing::from_namespace(&first.name.namespace).unwrap_or_default();
        let reading = Reading { version, nodes };
        reading.headers().map(Some).map_err(|kind| AddressingFault { version, kind, message_id: reading.message_id() })
    }
}

/// The blocks of a message that are for its ultimate receiver.
struct Reading<'h> {
    version: Addressing,
    nodes: Vec<&'h Node>,
}

type Fallible<T> = Result<T, AddressingFaultKind>;

impl Reading<'_> {
    fn headers(&self) -> Fallible<AddressingHeaders> {
        let other = self.nodes.iter().find(|node| {
            Addressing::defines(&node.name) && Addressing::from_namespace(&node.name.namespace) != Some(self.version)
        });
        if let Some(other) = other {
            return Err(AddressingFaultKind::InvalidHeader { header: other.name.clone(), problem: None });
        }
        let to = self.text("To")?;
        if to.as_deref().is_some_and(|to| !is_absolute(to)) {
            return Err(self.invalid("To", HeaderProblem::InvalidAddress));
        }
        let action = self.text("Action")?;
        let action =
            action.ok_or_else(|| AddressingFaultKind::HeaderRequired { header: self.version.name("Action") })?;
        Ok(AddressingHeaders {
            version: self.version,
            to,
            action,
            message_id: self.text("MessageID")?,
            relates_to: self.all("RelatesTo").map(|node| self.related(node)).collect(),
            reply_to: self.endpoint("ReplyTo")?,
            fault_to: self.endpoint("FaultTo")?,
            from: self.endpoint("From")?,
            reference_parameters: self.reference_parameters(),
        })
    }

    /// Returns the id of the message, however invalid its other blocks are.
    fn message_id(&self) -> Option<String> {
        self.all("MessageID").map(|node| node.text().trim().to_owned()).find(|id| !id.is_empty())
    }

    fn all(&self, local: &str) -> impl Iterator<Item = &Node> {
        self.nodes.iter().copied().filter(move |node| node.name.is(self.version.namespace(), local))
    }

    fn one(&self, local: &'static str) -> Fallible<Option<&Node>> {
        let mut all = self.all(local);
        match (all.next(), all.next()) {
            (one, None) => Ok(one),
            (_, Some(_)) => Err(self.invalid(local, HeaderProblem::InvalidCardinality)),
        }
    }

    fn text(&self, local: &'static str) -> Fallible<Option<String>> {
        let Some(node) = self.one(local)? else { return Ok(None) };
        let text = node.text().trim().to_owned();
        if text.is_empty() {
            let problem = (local == "To").then_some(HeaderProblem::InvalidAddress);
            return Err(AddressingFaultKind::InvalidHeader { header: self.version.name(local), problem });
        }
        Ok(Some(text))
    }

    fn endpoint(&self, local: &'static str) -> Fallible<Option<EndpointReference>> {
        let endpoint = self.one(local)?.map(EndpointReference::from_node).transpose();
        endpoint.map_err(|error| self.invalid(local, error.0))
    }

    fn related(&self, node: &Node) -> RelatesTo {
        let written = node.attribute("", "RelationshipType").map(str::trim);
        let is_reply = |text: &&str| match self.version {
            Addressing::V10 => *text == REPLY,
            Addressing::V2004 => node.resolve(text).is_some_and(|name| name == self.version.name("Reply")),
        };
        let relationship = written.filter(|text| !is_reply(text)).map(str::to_owned);
        RelatesTo { message_id: node.text().trim().to_owned(), relationship }
    }

    fn reference_parameters(&self) -> Vec<Node> {
        let namespace = Addressing::V10.namespace();
        let is_marked = |node: &&&Node| {
            let mark = node.attribute(namespace, IS_REFERENCE_PARAMETER).map(str::trim);
            matches!(mark, Some("true" | "1"))
        };
        let unmarked = |node: &&Node| {
            let mut node = Node::clone(node);
            node.attributes.retain(|(name, _)| !name.is(namespace, IS_REFERENCE_PARAMETER));
            node
        };
        self.nodes.iter().filter(is_marked).map(unmarked).collect()
    }

    fn invalid(&self, local: &'static str, problem: HeaderProblem) -> AddressingFaultKind {
        AddressingFaultKind::InvalidHeader { header: self.version.name(local), problem: Some(problem) }
    }
}
