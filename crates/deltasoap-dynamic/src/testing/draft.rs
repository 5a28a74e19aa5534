//! A request as a tree, before it is written.

use super::form::Form;
use deltasoap_core::soap::Version;
use deltasoap_core::{Child, Node, QName, ns};

/// A request: the tree of its envelope, the form in which it is written, and what is wrong with the
/// envelope itself, if anything is.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The envelope.
    pub envelope: Node,
    /// The form in which it is written.
    pub form: Form,
    /// What is done to the written message.
    pub damage: Option<Damage>,
}

/// Damage to a written message: it is then not well-formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Damage {
    /// The end is missing.
    Cut,
    /// An end tag has another name.
    WrongEndTag,
    /// An ampersand by itself.
    Ampersand,
    /// A byte that is not UTF-8.
    BadByte,
    /// A prefix without a declaration.
    UndeclaredPrefix,
    /// No bytes at all.
    Empty,
}

impl Damage {
    pub(super) const ALL: [Damage; 6] =
        [Damage::Cut, Damage::WrongEndTag, Damage::Ampersand, Damage::BadByte, Damage::UndeclaredPrefix, Damage::Empty];

    pub(super) fn what(self) -> &'static str {
        match self {
            Damage::Cut => "a message without its end",
            Damage::WrongEndTag => "an end tag with another name",
            Damage::Ampersand => "an ampersand by itself",
            Damage::BadByte => "a byte that is not UTF-8",
            Damage::UndeclaredPrefix => "a prefix that is not declared",
            Damage::Empty => "an empty HTTP body",
        }
    }

    fn apply(self, message: &mut Vec<u8>) {
        let ends: Vec<usize> =
            (0..message.len().saturating_sub(1)).filter(|&at| &message[at..at + 2] == b"</").collect();
        // The last end tags are those of body and envelope. Receivers that stop at the end of the
        // operation's element have to see the damage, too.
        let end = ends.get(ends.len().saturating_sub(3)).copied().unwrap_or(message.len());
        match self {
            Damage::Cut => message.truncate(end),
            Damage::WrongEndTag => drop(message.splice(end..end, *b"</wrong>")),
            Damage::Ampersand => drop(message.splice(end..end, *b" & ")),
            Damage::BadByte => drop(message.splice(end..end, [b'<', b'a', b'>', 0xC3, 0x28, b'<', b'/', b'a', b'>'])),
            Damage::UndeclaredPrefix => drop(message.splice(end..end, *b"<undeclared:a/>")),
            Damage::Empty => message.clear(),
        }
    }
}

impl Draft {
    /// Creates a draft of a written envelope.
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let mut envelope = Node::parse(message).ok()?;
        joined(&mut envelope);
        Some(Draft { envelope, form: Form::Plain, damage: None })
    }

    /// Writes the message.
    pub fn write(&self) -> Vec<u8> {
        let mut message = self.form.write(&self.envelope);
        if let Some(damage) = self.damage {
            damage.apply(&mut message);
        }
        message
    }

    /// Returns the same message in the plain form.
    pub(super) fn plain(&self) -> Draft {
        Draft { form: Form::Plain, ..self.clone() }
    }

    /// Returns the index of the body among the children of the envelope.
    pub(super) fn body_at(&self) -> Option<usize> {
        let is_body =
            |child: &Child| matches!(child, Child::Element(it) if &*it.name.local == "Body" && is_soap(&it.name));
        self.envelope.children.iter().position(is_body)
    }

    pub(super) fn body_mut(&mut self) -> Option<&mut Node> {
        let at = self.body_at()?;
        match &mut self.envelope.children[at] {
            Child::Element(body) => Some(body),
            Child::Text(_) => None,
        }
    }

    /// Adds a header block, and a header if there is none.
    pub(super) fn add_block(&mut self, block: Node) {
        let name = QName { local: "Header".into(), ..self.envelope.name.clone() };
        let is_header = |child: &&mut Child| matches!(child, Child::Element(it) if it.name == name);
        match self.envelope.children.iter_mut().find(is_header) {
            Some(Child::Element(header)) => header.children.push(Child::Element(block)),
            _ => {
                let header = Node { children: vec![Child::Element(block)], ..Node::new(name) };
                self.envelope.children.insert(0, Child::Element(header));
            }
        }
    }

    /// Gives the elements of the envelope another namespace.
    pub(super) fn rename(&mut self, namespace: &str) {
        let rename = |node: &mut Node| node.name = QName::owned(namespace, &*node.name.local);
        rename(&mut self.envelope);
        for child in &mut self.envelope.children {
            if let Child::Element(child) = child {
                rename(child);
            }
        }
    }

    /// Returns the version of SOAP; `None` for another namespace.
    pub(super) fn version(&self) -> Option<Version> {
        Version::from_namespace(&self.envelope.name.namespace)
    }
}

fn is_soap(name: &QName) -> bool {
    [ns::SOAP11, ns::SOAP12].contains(&&*name.namespace)
}

/// Removes white space between elements.
fn joined(node: &mut Node) {
    let has_elements = node.children.iter().any(|child| matches!(child, Child::Element(_)));
    let is_blank = |child: &Child| matches!(child, Child::Text(text) if text.trim().is_empty());
    if has_elements && node.children.iter().all(|child| matches!(child, Child::Element(_)) || is_blank(child)) {
        node.children.retain(|child| matches!(child, Child::Element(_)));
    }
    for child in &mut node.children {
        if let Child::Element(child) = child {
            joined(child);
        }
    }
}

/// Returns the element at a path of child indices.
pub(super) fn at<'n>(node: &'n Node, path: &[usize]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, &index| match node.children.get(index)? {
        Child::Element(child) => Some(child),
        Child::Text(_) => None,
    })
}

/// Returns the element at a path of child indices, to be changed.
pub(super) fn at_mut<'n>(node: &'n mut Node, path: &[usize]) -> Option<&'n mut Node> {
    path.iter().try_fold(node, |node, &index| match node.children.get_mut(index)? {
        Child::Element(child) => Some(child),
        Child::Text(_) => None,
    })
}
