//! When two requests count as equal: for recordings and for the cache.
//!
//! Equal are those with the same content, whatever their prefixes, the order of attributes, and the
//! white space between elements. Header blocks that are different for each message count for
//! nothing: those of WS-Addressing, and in recordings all others too. What is compared is a digest
//! of the content; [`lines`] is the same content in words, for saying where two requests differ.

use crate::message::{Message, Tree, is_addressing};
use deltasoap_core::{Child, Node, PartUri, ns};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// What identifies a request.
pub(crate) type Key = [u8; 32];

/// Collects what identifies a request.
pub(crate) struct Identity(Sha256);

impl Identity {
    pub(crate) fn new() -> Self {
        Identity(Sha256::new())
    }

    /// Adds a text. Its length comes first, so that no two sequences of texts are the same bytes.
    pub(crate) fn add(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        let text = text.as_ref();
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    /// Adds the body of a message, with the parts that came with it.
    pub(crate) fn add_body(&mut self, tree: &Tree, message: &Message) -> &mut Self {
        self.add(tree.version.namespace());
        if let Some(body) = tree.body() {
            let mut path = vec![&tree.envelope, body];
            body.elements().for_each(|entry| self.add_element(&mut path, entry, message));
        }
        self.add((message.parts.len() as u64).to_le_bytes());
        let mut parts: Vec<_> = message.parts.iter().map(|(_, bytes)| Sha256::digest(bytes)).collect();
        parts.sort_unstable();
        parts.iter().for_each(|part| _ = self.add(part));
        self
    }

    /// Adds the header blocks that mean something to the service, with or without that of
    /// WS-Security.
    pub(crate) fn add_blocks(&mut self, tree: &Tree, message: &Message, with_security: bool) -> &mut Self {
        let security = deltasoap_security::header_name();
        let counts = |block: &&Node| !is_addressing(&block.name.namespace) && (with_security || block.name != security);
        for block in tree.blocks().filter(counts) {
            let mut path = vec![&tree.envelope];
            self.add_element(&mut path, block, message);
        }
        self
    }

    /// Returns the key.
    pub(crate) fn key(self) -> Key {
        self.0.finalize().into()
    }

    fn add_element<'n>(&mut self, path: &mut Vec<&'n Node>, node: &'n Node, message: &Message) {
        path.push(node);
        self.add("<").add(&*node.name.namespace).add(&*node.name.local);
        if node.name.is(ns::XOP, "Include") {
            // The name of a part is different in each message.
            let part = node.attribute("", "href").and_then(|uri| message.part(&PartUri::new(uri)));
            self.add(part.map(Sha256::digest).unwrap_or_default());
        } else {
            let mut attributes: Vec<_> = attributes(path, node).collect();
            attributes.sort_unstable();
            attributes.iter().for_each(|(name, value)| _ = self.add(name).add(value));
        }
        let has_elements = node.elements().next().is_some();
        for child in &node.children {
            match child {
                Child::Element(child) => self.add_element(path, child, message),
                Child::Text(text) if has_elements && text.trim().is_empty() => {}
                Child::Text(text) => _ = self.add("=").add(text.as_bytes()),
            }
        }
        self.add(">");
        path.pop();
    }
}

/// Returns the names and values of attributes; names in values as what they stand for.
fn attributes<'n>(path: &[&'n Node], node: &'n Node) -> impl Iterator<Item = (String, String)> {
    let counts = |name: &deltasoap_core::QName| !(&*name.namespace == ns::XSI && name.local.ends_with("chemaLocation"));
    node.attributes.iter().filter(move |(name, _)| counts(name)).map(|(name, value)| {
        let is_type = name.is(ns::XSI, "type");
        let named = if is_type { Node::resolve_in(path, value) } else { None };
        (name.to_expanded(), named.map_or_else(|| value.to_string(), |named| named.to_expanded()))
    })
}

/// Maximum number of lines of a message that are compared.
const LINES: usize = 10_000;

/// Returns the content of a body as places and values, at most 10,000.
pub(crate) fn lines(tree: &Tree) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if let Some(body) = tree.body() {
        let mut path = vec![&tree.envelope, body];
        add_lines(&mut all, "", &mut path, body.elements());
    }
    all
}

fn add_lines<'n>(
    all: &mut Vec<(String, String)>,
    place: &str,
    path: &mut Vec<&'n Node>,
    nodes: impl Iterator<Item = &'n Node>,
) {
    let nodes: Vec<_> = nodes.take(LINES).collect();
    // Of each name, how many there are, and how many there were so far.
    let mut counts = HashMap::<_, (usize, usize)>::new();
    nodes.iter().for_each(|node| counts.entry(&node.name).or_default().0 += 1);
    for node in nodes {
        if all.len() >= LINES {
            return;
        }
        let (count, number) = counts.entry(&node.name).or_default();
        *number += 1;
        let place = match *count > 1 {
            true => format!("{place}/{}[{number}]", node.name.local),
            false => format!("{place}/{}", node.name.local),
        };
        path.push(node);
        let own = attributes(path, node)
            .map(|(name, value)| (format!("{place}/@{}", name.strip_prefix("{}").unwrap_or(&name)), value));
        let mut own: Vec<_> = own.collect();
        own.sort_unstable();
        all.append(&mut own);
        if node.elements().next().is_none() {
            all.push((place, node.text()));
        } else {
            add_lines(all, &place, path, node.elements());
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn tree(body: &str) -> (Tree, Message) {
        let text = format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/' xmlns:p='urn:a'><e:Body>{body}</e:Body></e:Envelope>"
        );
        let message = Message { root: Bytes::from(text), parts: Vec::new(), is_package: false };
        (Tree::parse(&message.root).expect("a message"), message)
    }

    fn key(body: &str) -> Key {
        let (tree, message) = tree(body);
        let mut identity = Identity::new();
        identity.add_body(&tree, &message);
        identity.key()
    }

    #[test]
    fn what_means_the_same_has_the_same_key() {
        let xsi = "xmlns:x='http://www.w3.org/2001/XMLSchema-instance'";
        let one = key(&format!("<p:a {xsi} b='1' c='2' x:type='p:T'><p:b>x</p:b></p:a>"));
        let other = format!("\n <a xmlns='urn:a' xmlns:q='urn:a' {xsi} c='2' x:type=' q:T' b='1'>\n <b>x</b>\n</a>\n");
        assert_eq!(one, key(&other));
        for different in ["<p:a/>", "<p:a><p:b> x</p:b></p:a>", "<p:a><p:b>x</p:b><p:b/></p:a>", ""] {
            assert_ne!(one, key(different), "{different}");
        }
        assert_ne!(key("<p:a>xy</p:a>"), key("<p:a>x</p:a>"));
        assert_ne!(key("<a/>"), key("<p:a/>"));
    }

    #[test]
    fn lines_name_places() {
        let (tree, _) = tree("<p:a k='v'><b>1</b><c/><b>2</b></p:a>");
        let lines = lines(&tree);
        let text: Vec<_> = lines.iter().map(|(place, value)| format!("{place}={value}")).collect();
        assert_eq!(text, ["/a/@k=v", "/a/b[1]=1", "/a/c=", "/a/b[2]=2"]);
    }
}
