//! What the policies of a binding ask for (WS-Policy, WS-PolicyAttachment; any version, told by local names).

use super::Policy;
use super::read::Reader;
use crate::NoteKind;
use crate::document::{Node, ns};
use deltasoap_xml::NameId;

/// Most assertions that are named.
const MOST_NAMED: usize = 100;

impl<'s> Reader<'s> {
    pub(super) fn policy(&mut self, binding: Node<'s>) -> Policy {
        let mut policy = Policy::default();
        for child in binding.children() {
            match child.local() {
                "Policy" => self.read_policy(child, &mut policy),
                "PolicyReference" => match self.referred(child) {
                    Some(referred) => self.read_policy(referred, &mut policy),
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
        policy
    }

    /// The policy of the same document that a reference such as `#id` means.
    fn referred(&self, reference: Node<'s>) -> Option<Node<'s>> {
        let id = reference.attribute("URI")?.strip_prefix('#')?;
        let has_id = |(name, value): (NameId, &str)| self.sources.names.local(name) == "Id" && value == id;
        let root = self.sources.root(reference.number());
        root.children().find(|child| child.local() == "Policy" && child.attributes().any(has_id))
    }

    fn read_policy(&self, policy: Node<'s>, into: &mut Policy) {
        for assertion in assertions(policy) {
            match assertion.local() {
                "OptimizedMimeSerialization" | "MTOM" => into.mtom = true,
                "Addressing" | "UsingAddressing" => into.addressing = true,
                other if into.others.len() < MOST_NAMED && !into.others.iter().any(|known| **known == *other) => {
                    into.others.push(other.into());
                }
                _ => {}
            }
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
