//! What the policies of a binding ask for (WS-Policy, WS-PolicyAttachment; any version, told by local names).

use super::Policy;
use super::read::Reader;
use crate::NoteKind;
use crate::document::{Node, Vocabulary, ns};
use crate::load::Sources;
use std::collections::HashMap;

/// Most assertions that are named.
const MOST_NAMED: usize = 100;

/// Policies that others refer to, by document and id: each is read once, however many bindings have it.
pub(super) type NamedPolicies<'s> = HashMap<(u32, &'s str), Policy>;

/// The policies right below the root of each description.
pub(super) fn named(sources: &Sources) -> NamedPolicies<'_> {
    let mut named = HashMap::new();
    for &document in &sources.descriptions {
        for node in sources.root(document).children().filter(|child| child.local() == "Policy") {
            let id = node.attributes().find(|&(name, _)| sources.names.local(name) == "Id");
            if let Some((_, id)) = id {
                named.entry((document, id)).or_insert_with(|| Policy::read(node));
            }
        }
    }
    named
}

impl<'s> Reader<'s> {
    /// What the policies of a binding ask for, with a note where that is not done.
    pub(super) fn binding_policy(&mut self, binding: Node<'s>) -> Policy {
        let policy = self.policy(binding);
        if !policy.others.is_empty() {
            let text = format!("policy assertions that are not applied: {}", policy.others.join(", "));
            self.note(NoteKind::Skipped, text, binding.place());
        }
        if policy.addressing {
            let text = "header blocks of WS-Addressing are not written by themselves";
            self.note(NoteKind::Skipped, text, binding.place());
        }
        policy
    }

    /// What the policies of an operation and of its messages ask for.
    pub(super) fn operation_policy(&mut self, operation: Node<'s>) -> Policy {
        let mut policy = self.policy(operation);
        for message in operation.children_of(Vocabulary::Wsdl) {
            let of_message = self.policy(message);
            policy.add(&of_message);
        }
        policy
    }

    /// What the policies of an element ask for: those in it, those that it refers to, and those that an attribute names.
    pub(super) fn policy(&mut self, node: Node<'s>) -> Policy {
        let mut policy = Policy::default();
        for child in node.children() {
            match child.local() {
                "Policy" => policy.add(&Policy::read(child)),
                "PolicyReference" => self.refer(child, child.attribute("URI").unwrap_or_default(), &mut policy),
                "UsingAddressing" => {
                    policy.addressing = true;
                    if matches!(child.attribute_in(ns::WSDL, "required"), Some("true" | "1")) {
                        policy.require("UsingAddressing");
                    }
                }
                _ => {}
            }
        }
        let named = node.attributes().filter(|&(name, _)| self.sources.names.local(name) == "PolicyURIs");
        let named = named.flat_map(|(_, uris)| uris.split_ascii_whitespace()).take(MOST_NAMED);
        named.collect::<Vec<_>>().into_iter().for_each(|uri| self.refer(node, uri, &mut policy));
        policy
    }

    /// Adds the policy of the same document that a reference such as `#id` means.
    fn refer(&mut self, node: Node<'s>, uri: &str, policy: &mut Policy) {
        match uri.strip_prefix('#').and_then(|id| self.policies.get(&(node.number(), id))) {
            Some(referred) => policy.add(referred),
            None => self.note(NoteKind::Skipped, "a policy that is not in this document", node.place()),
        }
    }
}

impl Policy {
    fn read(node: Node<'_>) -> Policy {
        let mut policy = Policy::default();
        for assertion in assertions(node) {
            match assertion.local() {
                "OptimizedMimeSerialization" | "MTOM" => policy.mtom = true,
                "Addressing" | "UsingAddressing" => policy.addressing = true,
                other => add_name(&mut policy.others, other),
            }
        }
        required(node).iter().for_each(|name| policy.require(name));
        policy
    }

    /// Takes in what another policy asks for.
    pub(super) fn add(&mut self, other: &Policy) {
        self.mtom |= other.mtom;
        self.addressing |= other.addressing;
        other.others.iter().for_each(|name| add_name(&mut self.others, name));
        other.required.iter().for_each(|name| self.require(name));
    }

    fn require(&mut self, assertion: &str) {
        add_name(&mut self.required, assertion);
    }
}

fn add_name(names: &mut Vec<Box<str>>, name: &str) {
    if names.len() < MOST_NAMED && !names.iter().any(|known| **known == *name) {
        names.push(name.into());
    }
}

/// What a policy requires that is not done here: of alternatives the one that requires the least. By recursion: documents are as deep as
/// their limit allows at most.
fn required(node: Node<'_>) -> Vec<String> {
    let is_true = |name: &str| {
        let value = node.attributes_named(name).next();
        matches!(value, Some("true" | "1"))
    };
    match node.local() {
        "OptimizedMimeSerialization" | "MTOM" => Vec::new(),
        "ExactlyOne" => node.children().map(required).min_by_key(Vec::len).unwrap_or_default(),
        "Policy" | "All" if node.namespace() != ns::WSDL => {
            node.children().flat_map(required).take(MOST_NAMED).collect()
        }
        "PolicyReference" => Vec::new(),
        _ if is_true("Optional") || is_true("Ignorable") => Vec::new(),
        Policy::TRANSPORT if node.descendants().any(|inner| inner.local() == "IncludeTimestamp") => {
            vec![format!("{} with IncludeTimestamp", Policy::TRANSPORT)]
        }
        assertion => vec![assertion.to_owned()],
    }
}

/// The assertions of a policy: what is within its operators.
fn assertions(policy: Node<'_>) -> Vec<Node<'_>> {
    let is_operator = |node: Node<'_>| {
        matches!(node.local(), "Policy" | "All" | "ExactlyOne" | "PolicyReference") && node.namespace() != ns::WSDL
    };
    let (mut found, mut ahead) = (Vec::new(), vec![policy]);
    while let Some(next) = ahead.pop() {
        for child in next.children() {
            if is_operator(child) { ahead.push(child) } else { found.push(child) }
        }
    }
    found
}
