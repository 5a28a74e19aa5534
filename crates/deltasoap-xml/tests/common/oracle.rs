//! Another parser, roxmltree, and its known differences.

use super::{Outcome, Piece};
use deltasoap_xml::XmlErrorKind;
use roxmltree::{Attribute, Document, Node};

/// Strings that documents must not contain to be compared.
const INCOMPARABLE: [&str; 9] = [
    // The declaration and instructions: roxmltree checks less of them than XML requires.
    "<?",
    // SOAP allows none.
    "<!DOCTYPE",
    // Declarations of the reserved prefixes; roxmltree treats an attribute `p:xmlns` as a
    // declaration of the default namespace.
    "xmlns:xml",
    ":xmlns",
    // It skips a byte order mark that is data to us, or the other way round.
    "\u{FEFF}",
    // It allows a name to begin with a colon.
    "<:",
    "</:",
    // It does not normalise line ends next to references.
    ";\r",
    "\r&",
];

/// Starts of documents in UTF-16 without a mark, whose bytes may also be valid UTF-8; roxmltree
/// reads only UTF-8.
const UTF_16: [&str; 2] = ["\0<\0?", "<\0?\0"];

/// Returns true if both parsers should agree on a document, apart from known differences in what
/// they refuse.
pub fn is_comparable(text: &str) -> bool {
    !UTF_16.iter().any(|start| text.starts_with(start)) && !INCOMPARABLE.iter().any(|part| text.contains(part))
}

/// Compares the reader's result for a document, without limits, with that of roxmltree.
///
/// # Panics
/// If they differ in an unknown way.
pub fn compare(text: &str, (pieces, error): &Outcome) {
    match (Document::parse(text), error) {
        (Ok(document), None) => assert_eq!(*pieces, tree(document.root_element()), "{text:?}"),
        (Err(_), Some(_)) => {}
        (Ok(_), Some(error)) => assert!(is_more_generous(&error.kind), "only we refuse {text:?}: {error}"),
        (Err(error), None) => panic!("only we accept {text:?}: {error}"),
    }
}

/// Returns true for errors that XML or Namespaces require and roxmltree does not report.
fn is_more_generous(fault: &XmlErrorKind) -> bool {
    match fault {
        // It allows a name to begin or end with a colon.
        XmlErrorKind::QualifiedName { .. } => true,
        // It replaces a reference to a forbidden character by U+FFFD.
        XmlErrorKind::CharacterReference { .. } => true,
        // It allows a prefix to be bound to the empty string.
        XmlErrorKind::EmptyNamespace { .. } => true,
        // It allows the default namespace to be declared twice.
        XmlErrorKind::DuplicateAttribute { name } => name == "xmlns",
        _ => false,
    }
}

/// Returns the expected events for a document with this root. Not recursive, because documents may
/// be deep.
fn tree(root: Node<'_, '_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut next = Some(root);
    while let Some(node) = next {
        open(node, &mut pieces);
        next = node.first_child().or_else(|| close(node, root, &mut pieces));
    }
    pieces.push(Piece::Done);
    pieces
}

fn open(node: Node<'_, '_>, pieces: &mut Vec<Piece>) {
    if node.is_element() {
        let tag = node.tag_name();
        let attribute = |a: Attribute<'_, '_>| (name(a.namespace(), a.name()), a.value().to_owned());
        let attributes = node.attributes().map(attribute).collect();
        pieces.push(Piece::Start(name(tag.namespace(), tag.name()), attributes));
    } else if let Some(text) = node.text().filter(|text| node.is_text() && !text.is_empty()) {
        super::text(pieces, text);
    }
}

/// Closes a node and those around it that end with it; returns the node that follows.
fn close<'a, 'i>(mut node: Node<'a, 'i>, root: Node<'a, 'i>, pieces: &mut Vec<Piece>) -> Option<Node<'a, 'i>> {
    loop {
        if node.is_element() {
            pieces.push(Piece::End);
        }
        if node == root {
            return None;
        }
        match node.next_sibling() {
            Some(next) => return Some(next),
            None => node = node.parent()?,
        }
    }
}

fn name(namespace: Option<&str>, local: &str) -> String {
    match namespace {
        None | Some("") => local.to_owned(),
        Some(namespace) => format!("{{{namespace}}}{local}"),
    }
}
