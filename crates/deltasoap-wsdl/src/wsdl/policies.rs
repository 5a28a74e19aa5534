//! Requirements of a binding's policies (WS-Policy and WS-PolicyAttachment in any version: elements
//! are recognized by local name).

use super::read::Reader;
use super::{AddressingPolicy, Operation, Policy};
use crate::document::{Node, Vocabulary, ns};
use crate::load::Sources;
use crate::{NoteKind, Place};
use deltasoap_core::soap::addressing::Addressing;
use std::collections::{HashMap, HashSet};

/// Maximum number of assertions that are listed.
const MAX_ASSERTIONS: usize = 100;

/// Extension elements that attach policies. The policies themselves say what is required.
const POLICIES: [&str; 4] = ["Policy", "PolicyReference", "UsingAddressing", "UsingPolicy"];

/// Maximum length of a chain of policy references.
const MAX_DEPTH: usize = 64;

/// The requirement of WS-Addressing, which this library meets.
const ADDRESSING: &str = "Addressing";

/// Replaces the document's number for policies whose name applies to all documents.
const ANYWHERE: u32 = u32::MAX;

/// Policies that others refer to, by document and id, or by name. Each is read once, however many
/// bindings use it.
#[derive(Default)]
pub(super) struct NamedPolicies<'s> {
    nodes: HashMap<(u32, &'s str), Node<'s>>,
    read: HashMap<(u32, &'s str), Policy>,
    /// The policies that are being read: a policy that refers to itself gains no further
    /// requirements.
    open: Vec<(u32, &'s str)>,
    /// Notes about policies, with their places.
    faults: Vec<(Place, &'static str)>,
    /// Required extensions that were noted.
    extensions: HashSet<Place>,
}

/// Returns the policies directly below the root of each WSDL.
pub(super) fn named(sources: &Sources) -> NamedPolicies<'_> {
    let mut named = NamedPolicies::default();
    for &document in &sources.descriptions {
        for node in sources.root(document).children().filter(|child| child.local() == "Policy") {
            let id = node.attributes().find(|&(name, _)| sources.names.local(name) == "Id");
            if let Some((_, id)) = id {
                named.nodes.entry((document, id)).or_insert(node);
            }
            if let Some(name) = node.attribute("Name") {
                named.nodes.entry((ANYWHERE, name)).or_insert(node);
            }
        }
    }
    named
}

impl<'s> Reader<'s> {
    /// Returns the requirements of a binding's policies, and notes those that are not applied.
    pub(super) fn binding_policy(&mut self, binding: Node<'s>, port_type: usize) -> Policy {
        let mut policy = self.policy(binding);
        policy.add(&self.port_type_policies[port_type]);
        // What a WSDL requires applies to each of its bindings.
        self.require_extensions(self.sources.root(binding.number()), &mut policy);
        self.note_unapplied(&policy, binding);
        policy
    }

    /// Returns the requirements of the policies of a port or a service, with the same notes.
    pub(super) fn endpoint_policy(&mut self, node: Node<'s>) -> Policy {
        let policy = self.policy(node);
        self.note_unapplied(&policy, node);
        policy
    }

    fn note_unapplied(&mut self, policy: &Policy, node: Node<'s>) {
        if !policy.others.is_empty() {
            let text = format!("policy assertions that are not applied: {}", policy.others.join(", "));
            self.note(NoteKind::Skipped, text, node.place());
        }
    }

    /// Returns the requirements of the policies of an operation, its input, its output and its
    /// faults.
    pub(super) fn operation_policy(&mut self, operation: Node<'s>) -> Policy {
        let mut policy = self.policy(operation);
        for message in operation.children_of(Vocabulary::Wsdl) {
            let of_message = self.policy(message);
            policy.add(&of_message);
        }
        policy
    }

    /// Adds the requirements of the policies in the definitions of an operation's messages
    /// (WS-PolicyAttachment 1.5, 4.1.4).
    pub(super) fn add_messages(&self, operation: &Operation, policy: &mut Policy) {
        for parameter in operation.request.iter().chain(&operation.response).chain(&operation.faults) {
            // An undefined message has no policies.
            self.message_policies.get(parameter.message).into_iter().for_each(|own| policy.add(own));
        }
    }

    /// Returns the requirements of the policies of a bound operation and of the port type's
    /// operation.
    pub(super) fn bound_policy(&mut self, operation: Node<'s>, declared: (usize, usize)) -> Policy {
        let mut policy = self.operation_policy(operation);
        if let Some(declared) = self.operation_policies.get(&declared) {
            policy.add(declared);
        }
        policy
    }

    /// Returns the requirements of an element's policies: the policies in it, those that it refers
    /// to, and those that an attribute names.
    pub(super) fn policy(&mut self, node: Node<'s>) -> Policy {
        let mut policy = Policy::default();
        for child in node.children() {
            match child.local() {
                "Policy" => policy.add(&self.policies.of(child)),
                "PolicyReference" => policy.add(&self.policies.reference(child)),
                "UsingAddressing" => {
                    let is_required = matches!(child.attribute_in(ns::WSDL, "required"), Some("true" | "1"));
                    policy.use_addressing(AddressingPolicy { version: version_of(child), is_required });
                }
                _ => {}
            }
        }
        self.require_extensions(node, &mut policy);
        let named = node.attributes().filter(|&(name, _)| self.sources.names.local(name) == "PolicyURIs");
        let named = named.flat_map(|(_, uris)| uris.split_ascii_whitespace()).take(MAX_ASSERTIONS);
        named.collect::<Vec<_>>().into_iter().for_each(|uri| policy.add(&self.policies.referred(node, uri)));
        for (place, fault) in std::mem::take(&mut self.policies.faults) {
            self.note(NoteKind::Skipped, fault, place);
        }
        policy
    }

    /// Adds the unknown extension elements of an element that must be understood (WSDL 1.1, 2.1.3),
    /// with a note for each.
    fn require_extensions(&mut self, node: Node<'s>, policy: &mut Policy) {
        let required = |child: &Node<'_>| matches!(child.attribute_in(ns::WSDL, "required"), Some("true" | "1"));
        let is_known = |local: &str| POLICIES.contains(&local);
        let children = node.children_of(Vocabulary::Other).filter(|child| !is_known(child.local()));
        for child in children.filter(required).take(MAX_ASSERTIONS) {
            policy.require(&format!("extension {}", child.name()));
            if self.policies.extensions.insert(child.place()) {
                let text = format!("the extension {} is required but unknown", child.name());
                self.note(NoteKind::Skipped, text, child.place());
            }
        }
    }
}

impl<'s> NamedPolicies<'s> {
    /// Returns the requirements of a policy, including the policies that it refers to.
    fn of(&mut self, node: Node<'s>) -> Policy {
        let mut policy = Policy::default();
        for assertion in assertions(node) {
            match assertion.local() {
                "OptimizedMimeSerialization" | "MTOM" => policy.mtom = true,
                "Addressing" | "UsingAddressing" => {
                    policy.use_addressing(AddressingPolicy { version: version_of(assertion), is_required: false });
                }
                "PolicyReference" => policy.offer(&self.reference(assertion)),
                other => add_name(&mut policy.others, other),
            }
        }
        self.required(node).iter().for_each(|name| policy.require(name));
        policy
    }

    fn reference(&mut self, node: Node<'s>) -> Policy {
        self.referred(node, node.attribute("URI").unwrap_or_default())
    }

    fn fault(&mut self, node: Node<'s>, fault: &'static str) {
        if !self.faults.contains(&(node.place(), fault)) {
            self.faults.push((node.place(), fault));
        }
    }

    /// Returns the policy that a reference names: `#id` is in the same document, anything else is a
    /// policy's name.
    fn referred(&mut self, node: Node<'s>, uri: &'s str) -> Policy {
        let key = uri.strip_prefix('#').map_or((ANYWHERE, uri), |id| (node.number(), id));
        let Some(&named) = self.nodes.get(&key) else {
            self.fault(node, "a policy that is not in this document");
            return Policy::default();
        };
        if let Some(known) = self.read.get(&key) {
            return known.clone();
        }
        let leads_back = self.open.contains(&key);
        if leads_back || self.open.len() >= MAX_DEPTH {
            self.fault(
                node,
                if leads_back { "a policy that refers to itself" } else { "policies that refer to too many others" },
            );
            return Policy::default();
        }
        self.open.push(key);
        let policy = self.of(named);
        self.open.pop();
        self.read.insert(key, policy.clone());
        policy
    }

    /// Returns the requirements of a policy that this library does not meet, and [`ADDRESSING`]; of
    /// several alternatives, those of the one that requires the least. Recursion is safe: the
    /// nesting depth of documents is limited.
    fn required(&mut self, node: Node<'s>) -> Vec<String> {
        let is_true = |name: &str| {
            let value = node.attributes_named(name).next();
            matches!(value, Some("true" | "1"))
        };
        match node.local() {
            "OptimizedMimeSerialization" | "MTOM" => Vec::new(),
            "ExactlyOne" => {
                if node.children().next().is_none() {
                    self.fault(node, "a policy without alternatives: nothing satisfies it");
                }
                let alternatives = node.children().map(|child| self.required(child));
                let unmet = |names: &Vec<String>| names.iter().filter(|name| *name != ADDRESSING).count();
                alternatives.min_by_key(|names| (unmet(names), names.len())).unwrap_or_default()
            }
            "Policy" | "All" if node.namespace() != ns::WSDL => {
                node.children().flat_map(|child| self.required(child)).take(MAX_ASSERTIONS).collect()
            }
            "PolicyReference" => self.reference(node).requirements(),
            _ if is_true("Optional") || is_true("Ignorable") => Vec::new(),
            "Addressing" | "UsingAddressing" => {
                // An assertion about where responses go may be inside; the HTTP response is the default.
                let inner = node.children().flat_map(|child| self.required(child));
                let unmet = inner.filter(|name| name != "AnonymousResponses");
                [ADDRESSING.to_owned()].into_iter().chain(unmet).collect()
            }
            Policy::TRANSPORT if node.descendants().any(|inner| inner.local() == "IncludeTimestamp") => {
                vec![format!("{} with IncludeTimestamp", Policy::TRANSPORT)]
            }
            assertion => vec![assertion.to_owned()],
        }
    }
}

impl Policy {
    /// Adds the requirements of another policy.
    pub(super) fn add(&mut self, other: &Policy) {
        self.offer(other);
        other.requirements().iter().for_each(|name| self.require(name));
    }

    /// Returns all requirements, met or not.
    fn requirements(&self) -> Vec<String> {
        let is_addressed = self.addressing.is_some_and(|addressing| addressing.is_required);
        let addressing = is_addressed.then(|| ADDRESSING.to_owned());
        addressing.into_iter().chain(self.required.iter().map(ToString::to_string)).collect()
    }

    fn use_addressing(&mut self, other: AddressingPolicy) {
        let own = self.addressing.get_or_insert(other);
        own.is_required |= other.is_required;
    }

    /// Adds the assertions that another policy names, required or not.
    fn offer(&mut self, other: &Policy) {
        self.mtom |= other.mtom;
        if let Some(addressing) = other.addressing {
            self.use_addressing(AddressingPolicy { is_required: false, ..addressing });
        }
        other.others.iter().for_each(|name| add_name(&mut self.others, name));
    }

    fn require(&mut self, assertion: &str) {
        match &mut self.addressing {
            Some(addressing) if assertion == ADDRESSING => addressing.is_required = true,
            _ => add_name(&mut self.required, assertion),
        }
    }
}

/// Returns the version of WS-Addressing that an assertion is about.
fn version_of(assertion: Node<'_>) -> Addressing {
    let is_2004 = assertion.namespace().starts_with(Addressing::V2004.namespace());
    if is_2004 { Addressing::V2004 } else { Addressing::V10 }
}

fn add_name(names: &mut Vec<Box<str>>, name: &str) {
    if names.len() < MAX_ASSERTIONS && !names.iter().any(|known| **known == *name) {
        names.push(name.into());
    }
}

/// Returns the assertions of a policy: the elements inside its operators.
fn assertions(policy: Node<'_>) -> Vec<Node<'_>> {
    let is_operator =
        |node: Node<'_>| matches!(node.local(), "Policy" | "All" | "ExactlyOne") && node.namespace() != ns::WSDL;
    let (mut found, mut ahead) = (Vec::new(), vec![policy]);
    while let Some(next) = ahead.pop() {
        for child in next.children() {
            if is_operator(child) { ahead.push(child) } else { found.push(child) }
        }
    }
    found
}
