//! What the policies of a binding ask for (WS-Policy, WS-PolicyAttachment; any version, told by local names).

use super::Policy;
use super::read::Reader;
use crate::NoteKind;
use crate::document::{Node, ns};
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
    pub(super) fn policy(&mut self, binding: Node<'s>) -> Policy {
        let mut policy = Policy::default();
        for child in binding.children() {
            match child.local() {
                "Policy" => policy.add(&Policy::read(child)),
                "PolicyReference" => match self.referred(child) {
                    Some(referred) => policy.add(referred),
                    None => self.note(NoteKind::Skipped, "a policy that is not in this document", child.place()),
                },
                "UsingAddressing" => policy.addressing = true,
                _ => {}
            }
        }
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

    /// The policy of the same document that a reference such as `#id` means.
    fn referred(&self, reference: Node<'s>) -> Option<&Policy> {
        let id = reference.attribute("URI")?.strip_prefix('#')?;
        self.policies.get(&(reference.number(), id))
    }
}

impl Policy {
    fn read(node: Node<'_>) -> Policy {
        let mut policy = Policy::default();
        for assertion in assertions(node) {
            match assertion.local() {
                "OptimizedMimeSerialization" | "MTOM" => policy.mtom = true,
                "Addressing" | "UsingAddressing" => policy.addressing = true,
                other => policy.name(other),
            }
        }
        policy
    }

    /// Takes in what another policy asks for.
    fn add(&mut self, other: &Policy) {
        self.mtom |= other.mtom;
        self.addressing |= other.addressing;
        other.others.iter().for_each(|name| self.name(name));
    }

    fn name(&mut self, assertion: &str) {
        if self.others.len() < MOST_NAMED && !self.others.iter().any(|known| **known == *assertion) {
            self.others.push(assertion.into());
        }
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
