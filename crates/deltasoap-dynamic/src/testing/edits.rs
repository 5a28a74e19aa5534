//! Edits: the one thing in which a request differs from a typical one.

use super::draft::{Damage, Draft, at, at_mut};
use super::form::Form;
use super::spots::{Spot, exists, model};
use super::words::{self, Part};
use crate::contract::Types;
use crate::sample::Sampler;
use deltasoap_core::soap::{HeaderBlock, Version};
use deltasoap_core::{Child, Node, QName, ns};
use deltasoap_wsdl::xsd::{ElementId, TypeId};

/// The namespace of names that no contract declares.
pub(super) const UNKNOWN: &str = "urn:example:unknown";

/// A change of a request.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// Nothing is changed.
    Nothing,
    /// The text of an element.
    Text(String),
    /// An attribute, set or removed.
    Attribute(QName, Option<String>),
    /// The children of an element.
    Children(Vec<Part>),
    /// A nil element; `is_whole` leaves its content as it is.
    Nil { is_whole: bool },
    /// An element of a derived type.
    As(TypeId),
    /// The name of a type, whatever the content is.
    TypeName(QName),
    /// Another element among the children, first or last.
    Insert(Node, bool),
    /// Another name.
    Rename(QName),
    /// Text where only elements are allowed.
    StrayText,
    /// A type within itself, this many levels deep.
    Nested(ElementId, usize),
    /// Another form of the message.
    Form(Form),
    /// Damage to the written message.
    Damage(Damage),
    /// Another namespace of the envelope.
    Envelope(&'static str),
    /// A header block that must be understood.
    MustUnderstand,
    /// Another element in the body.
    Body(Option<Node>),
}

impl Edit {
    /// Changes a request; returns `None` if that is not possible there.
    pub(super) fn apply(&self, types: &Types, draft: &Draft, spot: Option<&Spot>) -> Option<Draft> {
        let mut draft = draft.clone();
        match self {
            Edit::Nothing => {}
            Edit::Form(form) => draft.form = *form,
            Edit::Damage(damage) => draft.damage = Some(*damage),
            Edit::Envelope(namespace) => draft.rename(namespace),
            Edit::MustUnderstand => {
                let node = Node::with_text(QName::new(UNKNOWN, "Unknown"), "text");
                let version = draft.version().unwrap_or(Version::Soap11);
                draft.add_block(HeaderBlock { node }.must_understand(version).node);
            }
            Edit::Body(node) => draft.body_mut()?.children = node.clone().map(Child::Element).into_iter().collect(),
            edit => {
                let spot = spot.filter(|spot| exists(&draft, spot))?;
                let node = edit.applied(types, at(&draft.envelope, &spot.path)?, spot)?;
                *at_mut(&mut draft.envelope, &spot.path)? = node;
            }
        }
        Some(draft)
    }

    fn applied(&self, types: &Types, old: &Node, spot: &Spot) -> Option<Node> {
        let mut node = old.clone();
        match self {
            Edit::Text(text) => {
                node.children = if text.is_empty() { Vec::new() } else { vec![Child::Text(text.as_str().into())] };
            }
            Edit::Attribute(name, text) => {
                let old = node.attributes.iter().position(|(other, _)| other == name);
                match (old, text) {
                    (Some(old), Some(text)) => node.attributes[old].1 = text.as_str().into(),
                    (None, Some(text)) => node.attributes.push((name.clone(), text.as_str().into())),
                    (Some(old), None) => drop(node.attributes.remove(old)),
                    (None, None) => return None,
                }
            }
            Edit::Children(parts) => node.children = children(types, parts, old),
            Edit::Nil { is_whole } => {
                node.attributes.retain(|(name, _)| !name.is(ns::XSI, "nil"));
                node.attributes.push((QName::new(ns::XSI, "nil"), "true".into()));
                if !is_whole {
                    node.children.clear();
                }
            }
            Edit::As(id) => {
                let name = types.import.schemas()[*id].name.as_ref()?;
                node = Sampler::least(types).part(&spot.name, *id, None);
                named(&mut node, name);
            }
            Edit::TypeName(name) => named(&mut node, name),
            Edit::Insert(child, is_first) => {
                let index = if *is_first { 0 } else { node.children.len() };
                node.children.insert(index, Child::Element(child.clone()));
            }
            Edit::Rename(name) => node.name = name.clone(),
            Edit::StrayText => node.children.push(Child::Text("stray".into())),
            Edit::Nested(element, depth) => node = nested(types, &node, spot, *element, *depth)?,
            _ => return None,
        }
        Some(node)
    }
}

/// Names the type of an element.
fn named(node: &mut Node, name: &QName) {
    const PREFIX: &str = "t";
    node.attributes.retain(|(other, _)| !other.is(ns::XSI, "type"));
    let text = match name.namespace.is_empty() {
        true => name.local.to_string(),
        false => {
            let binding = (PREFIX.to_owned(), name.namespace.to_string());
            let others = node.bindings.iter().filter(|(prefix, _)| prefix != PREFIX).cloned();
            node.bindings = others.chain([binding]).collect();
            format!("{PREFIX}:{}", name.local)
        }
    };
    node.attributes.insert(0, (QName::new(ns::XSI, "type"), text.into()));
}

/// Builds children; those that the element has already are used again.
fn children(types: &Types, parts: &[Part], old: &Node) -> Vec<Child> {
    let schemas = types.import.schemas();
    let mut sampler = Sampler::least(types);
    let mut taken: Vec<usize> = Vec::new();
    let mut build = |part: &Part| match part {
        Part::Any(wildcard) => sampler.wildcard_part(wildcard),
        Part::Element(id) => {
            let declared = &schemas[*id];
            let known = |(_, child): &(usize, &Child)| matches!(child, Child::Element(it) if it.name == declared.name);
            let mut all = old.children.iter().enumerate().filter(known);
            let next = all.clone().find(|(index, _)| !taken.contains(index)).or_else(|| all.next());
            match next {
                Some((index, Child::Element(child))) => {
                    taken.push(index);
                    child.clone()
                }
                _ => sampler.part(&declared.name, declared.type_id, Some(*id)),
            }
        }
    };
    // Text between elements stays before them.
    let texts = old.children.iter().filter(|child| matches!(child, Child::Text(_))).take(1).cloned();
    texts.chain(parts.iter().map(|part| Child::Element(build(part)))).collect()
}

/// Puts an element of a type into itself again and again.
fn nested(types: &Types, node: &Node, spot: &Spot, element: ElementId, depth: usize) -> Option<Node> {
    let schemas = types.import.schemas();
    let (name, type_id) = (&schemas[element].name, schemas[element].type_id);
    let inner_parts = words::with(types, model(types, type_id)?, element)?;
    let outer_parts = words::with(types, model(types, spot.actual)?, element)?;
    let mut innermost = Sampler::least(types).part(name, type_id, Some(element));
    for _ in 1..depth {
        let mut next = Sampler::least(types).part(name, type_id, Some(element));
        next.children = children(types, &inner_parts, &next);
        replace(&mut next, name, innermost);
        innermost = next;
    }
    let mut outer = node.clone();
    outer.children = children(types, &outer_parts, node);
    replace(&mut outer, name, innermost);
    Some(outer)
}

fn replace(node: &mut Node, name: &QName, by: Node) {
    let found = node.children.iter_mut().find_map(|child| match child {
        Child::Element(child) if child.name == *name => Some(child),
        _ => None,
    });
    if let Some(found) = found {
        *found = by;
    }
}
