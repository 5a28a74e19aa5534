//! A message as a tree with the positions of its elements.

use crate::identity::Tree;
use deltasoap_core::{Error, Limits, QName, ns};
use deltasoap_xml::{Instructions, Node, nodes};
use std::collections::HashMap;
use std::rc::Rc;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) name: QName,
    pub(super) attributes: Vec<(QName, String)>,
    /// All text directly in the element.
    pub(super) text: String,
    pub(super) children: Vec<Item>,
    /// The declared prefixes and their namespaces; inner ones come last.
    pub(super) scope: Rc<Vec<(String, String)>>,
    /// The start of its tag, in bytes.
    pub(super) offset: u64,
    /// Its number among the siblings of this name, from 1; 0 if it is the only one.
    number: usize,
}

impl Item {
    /// The steps that lead to an element below this one, with this one's name.
    pub(super) fn path_to(&self, target: &Item) -> Vec<String> {
        let (mut path, mut at) = (vec![self.name.local.to_string()], self);
        while at.offset != target.offset {
            // Of the children, which come in the order of their offsets, it is below the last that begins before it.
            let after = at.children.partition_point(|child| child.offset <= target.offset);
            let Some(child) = after.checked_sub(1).and_then(|place| at.children.get(place)) else { break };
            path.push(child.step());
            at = child;
        }
        path
    }

    /// The element as a step of a path.
    pub(super) fn step(&self) -> String {
        match self.number {
            0 => self.name.local.to_string(),
            number => format!("{}[{number}]", self.name.local),
        }
    }

    pub(super) fn attribute(&self, namespace: &str, local: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name.is(namespace, local)).map(|(_, value)| value.as_str())
    }

    /// Resolves a name in the element; `None` for a prefix that is not declared.
    pub(super) fn resolve(&self, text: &str) -> Option<QName> {
        let text = text.trim_ascii();
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        match self.scope.iter().rev().find(|(bound, _)| bound == prefix) {
            Some((_, namespace)) => Some(QName::owned(namespace.clone(), local)),
            None if prefix == "xml" => Some(QName::owned(ns::XML, local)),
            None => prefix.is_empty().then(|| QName::owned("", local)),
        }
    }

    pub(super) fn has_text(&self) -> bool {
        !self.text.trim_ascii().is_empty()
    }
}

impl Tree for Item {
    fn name(&self) -> &QName {
        &self.name
    }

    fn children(&self) -> &[Self] {
        &self.children
    }

    fn id(&self) -> u64 {
        self.offset
    }
}

/// Reads a message.
///
/// # Errors
/// When it is not well-formed.
pub(super) fn parse(message: &[u8]) -> Result<Item, Error> {
    let nodes = nodes(message, Limits::default(), Instructions::Skip)?;
    let mut open = vec![Item::default()];
    for node in nodes {
        match node {
            Node::Start { name, attributes, declarations, offset } => {
                let mut scope = open.last().map(|parent| parent.scope.clone()).unwrap_or_default();
                if !declarations.is_empty() {
                    Rc::make_mut(&mut scope).extend(declarations);
                }
                let attributes: Vec<_> = attributes
                    .into_iter()
                    .map(|it| (QName::owned(it.name.namespace, it.name.local), it.value))
                    .collect();
                let name = QName::owned(name.namespace, name.local);
                open.push(Item { name, attributes, offset, scope, ..Item::default() });
            }
            Node::Text(text) => {
                if let Some(item) = open.last_mut() {
                    item.text.push_str(&text);
                }
            }
            Node::End => {
                let Some(mut item) = open.pop() else { continue };
                number(&mut item.children);
                if let Some(parent) = open.last_mut() {
                    parent.children.push(item);
                }
            }
        }
    }
    let document = open.pop().unwrap_or_default();
    Ok(document.children.into_iter().next().unwrap_or_default())
}

/// Numbers siblings if several have the same name.
fn number(children: &mut [Item]) {
    let mut counts = HashMap::<QName, usize>::new();
    for child in children.iter_mut() {
        let count = counts.entry(child.name.clone()).or_default();
        *count += 1;
        child.number = *count;
    }
    for child in children.iter_mut().filter(|child| counts[&child.name] == 1) {
        child.number = 0;
    }
}
