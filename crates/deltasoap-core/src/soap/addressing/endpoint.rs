//! Endpoint references.

use super::{Addressing, HeaderProblem};
use crate::node::Child;
use crate::{Node, QName};
use std::collections::BTreeMap;
use std::fmt;

/// An endpoint reference: an address, and what a message to the endpoint carries (Core 2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointReference {
    /// The address, an absolute URI.
    pub address: String,
    /// Header blocks that each message to the endpoint carries.
    pub reference_parameters: Vec<Node>,
    /// Like `reference_parameters`; only in 2004.
    pub reference_properties: Vec<Node>,
    /// Descriptions of the endpoint; only in 1.0.
    pub metadata: Vec<Node>,
    /// All other elements. In 2004 these include `PortType` and `ServiceName`.
    pub extensions: Vec<Node>,
}

impl EndpointReference {
    /// Creates a reference that consists of an address.
    pub fn new(address: impl Into<String>) -> Self {
        EndpointReference { address: address.into(), ..Self::default() }
    }

    /// Returns true for the address of the back channel, in any version.
    pub fn is_anonymous(&self) -> bool {
        Addressing::ALL.iter().any(|version| version.anonymous() == self.address)
    }

    /// Returns true for the address at which messages are discarded.
    pub fn is_none(&self) -> bool {
        Addressing::ALL.iter().any(|version| version.none() == Some(&self.address))
    }

    /// Returns what each message to the endpoint carries as header blocks.
    pub(super) fn echoed(&self) -> impl Iterator<Item = &Node> {
        self.reference_properties.iter().chain(&self.reference_parameters)
    }

    /// Reads a reference, in the version of its `Address`.
    ///
    /// The element may have any name: references are found in message bodies too.
    ///
    /// # Errors
    /// Returns an error if the reference has no address, several, or one that is not an absolute
    /// URI.
    pub fn from_node(node: &Node) -> Result<Self, InvalidEndpoint> {
        let of_address = |child: &&Node| {
            child.name.local == "Address" && Addressing::from_namespace(&child.name.namespace).is_some()
        };
        let mut addresses = node.elements().filter(of_address);
        let address = addresses.next().ok_or(InvalidEndpoint(HeaderProblem::MissingAddressInEpr))?;
        if addresses.next().is_some() {
            return Err(InvalidEndpoint(HeaderProblem::InvalidEpr));
        }
        let mut endpoint = EndpointReference::new(address.text().trim());
        if !is_absolute(&endpoint.address) {
            return Err(InvalidEndpoint(HeaderProblem::InvalidAddress));
        }
        for child in node.elements() {
            let is_own = child.name.namespace == address.name.namespace;
            match &*child.name.local {
                "Address" if is_own => {}
                "ReferenceParameters" if is_own => endpoint.reference_parameters.extend(elements(&[node, child])),
                "ReferenceProperties" if is_own => endpoint.reference_properties.extend(elements(&[node, child])),
                "Metadata" if is_own => endpoint.metadata.extend(elements(&[node, child])),
                _ => endpoint.extensions.push(child.detached(&bindings(&[node]))),
            }
        }
        Ok(endpoint)
    }

    /// Returns the reference as an element with this name.
    pub fn to_node(&self, name: QName, version: Addressing) -> Node {
        let mut node = Node::new(name);
        let address = Node::with_text(version.name("Address"), self.address.as_str());
        node.children.push(Child::Element(address));
        let lists = [
            ("ReferenceProperties", &self.reference_properties),
            ("ReferenceParameters", &self.reference_parameters),
            ("Metadata", &self.metadata),
        ];
        for (local, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let mut holder = Node::new(version.name(local));
            holder.children = list.iter().cloned().map(Child::Element).collect();
            node.children.push(Child::Element(holder));
        }
        node.children.extend(self.extensions.iter().cloned().map(Child::Element));
        node
    }
}

/// The reason why an element is not an endpoint reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidEndpoint(
    /// The problem.
    pub HeaderProblem,
);

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the endpoint reference is invalid: {}", self.0)
    }
}

impl std::error::Error for InvalidEndpoint {}

/// Returns the elements in the last element of a path, so that they stand alone.
fn elements(path: &[&Node]) -> Vec<Node> {
    let outer = bindings(path);
    path.last().into_iter().flat_map(|holder| holder.elements()).map(|child| child.detached(&outer)).collect()
}

fn bindings<'n>(path: &[&'n Node]) -> BTreeMap<&'n str, &'n str> {
    let bindings = path.iter().flat_map(|node| node.bindings.iter());
    bindings.map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str())).collect()
}

/// Returns true for an absolute URI or IRI, as far as its form shows: a scheme (RFC 3986, 3.1), and
/// no character that is never allowed.
pub(super) fn is_absolute(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let is_forbidden = |c: char| c.is_whitespace() || c.is_control() || r#"<>"{}|\^`"#.contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !rest.is_empty()
        && !rest.contains(is_forbidden)
}
