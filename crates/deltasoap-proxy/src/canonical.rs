//! When two requests count as equal: for recordings and for the cache.
//!
//! Equal are those with the same content, whatever their prefixes, the order of attributes, and the
//! white space between elements. A text that may hold a qualified name counts with its namespace and
//! its prefix. The id of a message counts for nothing, and in recordings no header block but action
//! and receiver of WS-Addressing do. What is compared is a digest
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

    /// Adds the body of a message, with the parts that came with it: included ones where they belong,
    /// others with their names, by which other elements may refer to them.
    pub(crate) fn add_body(&mut self, tree: &Tree, message: &Message) -> &mut Self {
        let mut parts = Parts::new(message);
        self.add(tree.version.namespace());
        if let Some(body) = tree.body() {
            let mut path = vec![&tree.envelope, body];
            body.elements().for_each(|entry| self.add_element(&mut path, entry, &mut parts));
        }
        self.add((message.parts.len() as u64).to_le_bytes());
        let mut others = parts.others();
        others.sort_unstable();
        others.iter().for_each(|(name, digest)| _ = self.add(name).add(digest));
        self
    }

    /// Adds the header blocks, with or without that of WS-Security; not the message's id.
    pub(crate) fn add_blocks(&mut self, tree: &Tree, message: &Message, with_security: bool) -> &mut Self {
        let security = deltasoap_security::header_name();
        let is_id = |block: &Node| block.name.local == *"MessageID" && is_addressing(&block.name.namespace);
        let counts = |block: &&Node| !is_id(block) && (with_security || block.name != security);
        let (header, mut parts) = (tree.header(), Parts::new(message));
        for block in tree.blocks().filter(counts) {
            let mut path: Vec<_> = std::iter::once(&tree.envelope).chain(header).collect();
            self.add_element(&mut path, block, &mut parts);
        }
        self
    }

    /// Returns the key.
    pub(crate) fn key(self) -> Key {
        self.0.finalize().into()
    }

    fn add_element<'n>(&mut self, path: &mut Vec<&'n Node>, node: &'n Node, parts: &mut Parts<'_>) {
        path.push(node);
        self.add("<").add(&*node.name.namespace).add(&*node.name.local);
        if node.name.is(ns::XOP, "Include") {
            // The name of a part is different in each message.
            self.add(node.attribute("", "href").and_then(|uri| parts.included(uri)).unwrap_or_default());
        } else {
            let mut attributes: Vec<_> = attributes(path, node).collect();
            attributes.sort_unstable();
            attributes.iter().for_each(|(name, value)| _ = self.add(name).add(value));
        }
        let has_elements = node.elements().next().is_some();
        for child in &node.children {
            match child {
                Child::Element(child) => self.add_element(path, child, parts),
                Child::Text(text) if has_elements && text.trim().is_empty() => {}
                Child::Text(text) => _ = self.add("=").add(text.as_bytes()).add(namespaces(path, text)),
            }
        }
        self.add(">");
        path.pop();
    }
}

/// The parts of a message, whose digests are computed once.
struct Parts<'m> {
    message: &'m Message,
    digests: Vec<Option<Key>>,
    /// The numbers of included parts by their URIs.
    found: HashMap<String, Option<usize>>,
}

impl<'m> Parts<'m> {
    fn new(message: &'m Message) -> Self {
        Parts { message, digests: vec![None; message.parts.len()], found: HashMap::new() }
    }

    /// Returns the digest of a part that is included by its URI.
    fn included(&mut self, uri: &str) -> Option<Key> {
        let index = match self.found.get(uri) {
            Some(index) => *index,
            None => {
                let target = PartUri::new(uri);
                let index = self.message.parts.iter().position(|(headers, _)| headers.is_at(&target));
                self.found.insert(uri.to_owned(), index);
                index
            }
        };
        let (_, bytes) = self.message.parts.get(index?)?;
        let digest = self.digests.get_mut(index?)?;
        Some(*digest.get_or_insert_with(|| Sha256::digest(bytes).into()))
    }

    /// Returns the names and digests of the parts that are not included.
    fn others(&self) -> Vec<(&str, Key)> {
        let all = self.message.parts.iter().zip(&self.digests).filter(|(_, digest)| digest.is_none());
        all.map(|((headers, bytes), _)| {
            let name = headers.content_id().or(headers.location()).unwrap_or_default();
            (name, Sha256::digest(bytes).into())
        })
        .collect()
    }
}

/// Returns the namespaces of what may be qualified names in a text: of all prefixes in it that are
/// declared.
fn namespaces(path: &[&Node], text: &str) -> String {
    let mut all = String::new();
    if !text.contains(':') {
        return all;
    }
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    for word in text.split(|c| !is_of_name(c)) {
        if let Some((prefix, local)) = word.split_once(':')
            && !prefix.is_empty()
            && let Some(name) = Node::resolve_in(path, &format!("{prefix}:{}", local_name(local)))
        {
            all.push_str(&name.namespace);
            all.push(' ');
        }
    }
    all
}

/// Returns a local name as it can be resolved: what comes after a further colon, or is no name, does
/// not matter for the namespace.
fn local_name(local: &str) -> &str {
    let local = local.split(':').next().unwrap_or_default();
    if local.starts_with(|c: char| c.is_alphabetic() || c == '_') { local } else { "x" }
}

/// Returns the names and values of attributes; names in values as what they stand for.
fn attributes<'n>(path: &[&'n Node], node: &'n Node) -> impl Iterator<Item = (String, String)> {
    let counts = |name: &deltasoap_core::QName| !(&*name.namespace == ns::XSI && name.local.ends_with("chemaLocation"));
    node.attributes.iter().filter(move |(name, _)| counts(name)).map(|(name, value)| {
        let is_type = name.is(ns::XSI, "type");
        let named = if is_type { Node::resolve_in(path, value) } else { None };
        (
            name.to_expanded(),
            named.map_or_else(|| format!("{value}{}", namespaces(path, value)), |named| named.to_expanded()),
        )
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
    fn names_in_texts_have_namespaces() {
        let of = |uri: &str, text: &str| key(&format!("<a xmlns:q='{uri}' b='{text}'><c>{text}</c></a>"));
        for text in ["q:v", " q:v x:y", "/q:a/b", "q:1"] {
            assert_ne!(of("urn:one", text), of("urn:two", text), "{text}");
        }
        for text in ["v", "q", "10:30:00", "urn:q"] {
            assert_eq!(of("urn:one", text), of("urn:two", text), "{text}");
        }
    }

    #[tokio::test]
    async fn parts_count_by_their_names_unless_they_are_included() {
        let key = |body: &str, parts: [(&str, &str); 2]| {
            let (tree, mut message) = tree(body);
            let package = parts.map(|(id, text)| format!("--B\r\nContent-ID: <{id}>\r\n\r\n{text}\r\n"));
            let package = format!("--B\r\n\r\n<a/>\r\n{}{}--B--\r\n", package[0], package[1]);
            let media = http::HeaderValue::from_static("multipart/related; boundary=B");
            let headers = http::HeaderMap::from_iter([(http::header::CONTENT_TYPE, media)]);
            async move {
                message.parts = Message::read(&headers, package.into()).await.expect("a package").parts;
                let mut identity = Identity::new();
                identity.add_body(&tree, &message);
                identity.key()
            }
        };
        let (one, other) = ([("a", "1"), ("b", "2")], [("a", "2"), ("b", "1")]);
        let named = "<p:a href='cid:a'/>";
        assert_ne!(key(named, one).await, key(named, other).await);
        let include = |id: &str| format!("<i:Include xmlns:i='{}' href='cid:{id}'/>", ns::XOP);
        let both = |first: &str, second: &str| format!("<p:a>{}{}</p:a>", include(first), include(second));
        assert_eq!(key(&both("a", "b"), one).await, key(&both("x", "y"), [("y", "2"), ("x", "1")]).await);
        assert_ne!(key(&both("a", "b"), one).await, key(&both("b", "a"), one).await);
    }

    #[test]
    fn lines_name_places() {
        let (tree, _) = tree("<p:a k='v'><b>1</b><c/><b>2</b></p:a>");
        let lines = lines(&tree);
        let text: Vec<_> = lines.iter().map(|(place, value)| format!("{place}={value}")).collect();
        assert_eq!(text, ["/a/@k=v", "/a/b[1]=1", "/a/c=", "/a/b[2]=2"]);
    }
}
