//! Requirements of a binding's policies (WS-Policy and WS-PolicyAttachment in any version: elements
//! are recognized by local name).
//!
//! What policies say about security is kept as they say it, references replaced by what they refer
//! to. `deltasoap-security` reads it.

use super::read::Reader;
use super::{AddressingPolicy, Operation, POLICY, Policy, SecurityAssertions};
use crate::document::{Node, Vocabulary, ns};
use crate::load::Sources;
use crate::{NoteKind, Place};
use deltasoap_core::soap::PolicyDocuments;
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_xml::{Buffer, Escape, Names};
use std::collections::{HashMap, HashSet};

/// Maximum number of assertions that are listed.
const MAX_ASSERTIONS: usize = 100;

/// Extension elements that attach policies. The policies themselves say what is required.
const POLICIES: [&str; 4] = ["Policy", "PolicyReference", "UsingAddressing", "UsingPolicy"];

/// Stands after each policy of a text. It occurs in none of them, since nothing but elements is
/// written there.
const SEPARATOR: &str = "\n";

/// What a reference to a policy that says nothing about security is replaced by.
fn empty_policy() -> String {
    format!("<Policy xmlns=\"{POLICY}\"></Policy>")
}

/// The namespace of `xml:id`.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Maximum length of a chain of policy references.
const MAX_DEPTH: usize = 64;

/// The requirement of WS-Addressing, which this library meets.
const ADDRESSING: &str = "Addressing";

/// Maximum length in bytes of the policies of an operation or a binding about security.
const MAX_SECURITY: usize = 1 << 16;

/// The beginning of the names of assertions about security, among those of others.
const SECURITY: &str = "security: ";

/// Replaces the document's number for policies whose name applies to all documents.
const ANYWHERE: u32 = u32::MAX;

/// Policies that others refer to, by document and id, or by name. Each is read once, however many
/// bindings use it.
pub(super) struct NamedPolicies<'s> {
    names: &'s Names,
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
    let mut named = NamedPolicies {
        names: &sources.names,
        nodes: HashMap::new(),
        read: HashMap::new(),
        open: Vec::new(),
        faults: Vec::new(),
        extensions: HashSet::new(),
    };
    for &document in &sources.descriptions {
        for node in sources.root(document).children().filter(|child| child.local() == "Policy") {
            let id = node.attributes().find(|&(name, _)| {
                let (namespace, local) = (sources.names.namespace(name), sources.names.local(name));
                local == "Id" || local == "id" && namespace == XML
            });
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
            policy.add_of(message.local(), &of_message);
        }
        policy
    }

    /// Adds the requirements of the policies in the definitions of an operation's messages
    /// (WS-PolicyAttachment 1.5, 4.1.4).
    pub(super) fn add_messages(&self, operation: &Operation, policy: &mut Policy) {
        let request = operation.request.iter().map(|parameter| ("input", parameter));
        let response = operation.response.iter().map(|parameter| ("output", parameter));
        let faults = operation.faults.iter().map(|parameter| ("fault", parameter));
        for (kind, parameter) in request.chain(response).chain(faults) {
            // An undefined message has no policies.
            self.message_policies.get(parameter.message).into_iter().for_each(|own| policy.add_of(kind, own));
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
        policy.security.exchange = match self.security(node) {
            Some(document) => document.into(),
            None => {
                policy.require(&format!("{SECURITY}policies about security longer than {MAX_SECURITY} bytes"));
                Box::default()
            }
        };
        policy
    }

    /// Returns a policy if it or one that it refers to says something about security, otherwise an
    /// empty text; `None` if it is too long.
    fn security(&mut self, node: Node<'s>) -> Option<String> {
        let mut out = Buffer::new();
        let is_about_security = self.write(node, "", &mut out)?;
        let document = is_about_security.then(|| String::from_utf8(out.into_vec()).unwrap_or_default());
        Some(document.unwrap_or_default())
    }

    /// Writes an element of a policy where the default namespace is `outer`. Returns true if
    /// something is about security, `None` if the text becomes too long. Recursion is safe: the
    /// nesting depth of documents is limited.
    fn write(&mut self, node: Node<'s>, outer: &str, out: &mut Buffer) -> Option<bool> {
        if node.local() == "PolicyReference" {
            let referred = self.reference(node).security.exchange;
            let is_about_security = !referred.is_empty();
            out.push(if is_about_security { referred } else { empty_policy().into() }.as_bytes());
            return (out.len() <= MAX_SECURITY).then_some(is_about_security);
        }
        let mut is_about_security = is_of_security(node);
        out.push(b"<");
        out.push(node.local().as_bytes());
        if node.namespace() != outer {
            write_attribute("xmlns", node.namespace(), out);
        }
        for (number, (name, value)) in node.attributes().enumerate() {
            let (namespace, local) = (self.names.namespace(name), self.names.local(name));
            if namespace.is_empty() {
                write_attribute(local, value, out);
            } else if matches!(local, "Optional" | "Ignorable" | "IncludeToken") {
                write_attribute(&format!("xmlns:a{number}"), namespace, out);
                write_attribute(&format!("a{number}:{local}"), value, out);
            }
        }
        out.push(b">");
        for child in node.children() {
            is_about_security |= self.write(child, node.namespace(), out)?;
        }
        out.push(b"</");
        out.push(node.local().as_bytes());
        out.push(b">");
        (out.len() <= MAX_SECURITY).then_some(is_about_security)
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
            let mut policy = Policy::default();
            policy.require(&format!("{SECURITY}policy {uri}"));
            return policy;
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
            let mut policy = Policy::default();
            if !leads_back {
                policy.require(&format!("{SECURITY}policy {uri}"));
            }
            return policy;
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
            _ if is_true("Optional") || is_true("Ignorable") && !is_of_security(node) => Vec::new(),
            "Addressing" | "UsingAddressing" => {
                // An assertion about where responses go may be inside; the HTTP response is the
                // default.
                let inner = node.children().flat_map(|child| self.required(child));
                let unmet = inner.filter(|name| name != "AnonymousResponses");
                [ADDRESSING.to_owned()].into_iter().chain(unmet).collect()
            }
            Policy::TRANSPORT if node.descendants().any(|inner| inner.local() == "IncludeTimestamp") => {
                vec![format!("{SECURITY}{} with IncludeTimestamp", Policy::TRANSPORT)]
            }
            assertion if is_of_security(node) => vec![format!("{SECURITY}{assertion}")],
            assertion => vec![assertion.to_owned()],
        }
    }
}

impl Policy {
    /// Adds the requirements of another policy.
    pub(super) fn add(&mut self, other: &Policy) {
        self.add_requirements(other);
        self.add_security(&other.security);
    }

    /// Adds the requirements of the policy of a message of this kind: `input`, `output` or another.
    fn add_of(&mut self, kind: &str, other: &Policy) {
        self.add_requirements(other);
        let mut security = SecurityAssertions::default();
        // Faults are secured like responses.
        let of_kind = if kind == "input" { &mut security.request } else { &mut security.response };
        of_kind.clone_from(&other.security.exchange);
        self.add_security(&security);
    }

    fn add_requirements(&mut self, other: &Policy) {
        self.offer(other);
        other.requirements().iter().for_each(|name| self.require(name));
    }

    /// Adds what another policy says about security, once.
    fn add_security(&mut self, other: &SecurityAssertions) {
        let SecurityAssertions { exchange, request, response, .. } = &mut self.security;
        for (own, added) in [(exchange, &other.exchange), (request, &other.request), (response, &other.response)] {
            for policy in added.split(SEPARATOR).filter(|policy| !policy.is_empty()) {
                if !own.split(SEPARATOR).any(|known| known == policy) {
                    *own = [&**own, policy, SEPARATOR].concat().into();
                }
            }
        }
        let lengths = [&self.security.exchange, &self.security.request, &self.security.response].map(|it| it.len());
        if lengths.iter().sum::<usize>() > MAX_SECURITY {
            let required = std::mem::take(&mut self.security.required);
            self.security = SecurityAssertions { required, ..SecurityAssertions::default() };
            self.require(&format!("{SECURITY}policies about security longer than {MAX_SECURITY} bytes"));
        }
    }

    /// Returns all requirements, met or not.
    fn requirements(&self) -> Vec<String> {
        let is_addressed = self.addressing.is_some_and(|addressing| addressing.is_required);
        let addressing = is_addressed.then(|| ADDRESSING.to_owned());
        let of_security = self.security.required.iter().map(|name| format!("{SECURITY}{name}"));
        addressing.into_iter().chain(self.required.iter().map(ToString::to_string)).chain(of_security).collect()
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
            _ => match assertion.strip_prefix(SECURITY) {
                Some(name) => add_name(&mut self.security.required, name),
                None => add_name(&mut self.required, assertion),
            },
        }
    }
}

fn is_of_security(node: Node<'_>) -> bool {
    PolicyDocuments::is_assertion_namespace(node.namespace())
}

fn write_attribute(name: &str, value: &str, out: &mut Buffer) {
    out.push(b" ");
    out.push(name.as_bytes());
    out.push(b"=\"");
    out.push_text(value, Escape::Attribute);
    out.push(b"\"");
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
