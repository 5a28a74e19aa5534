//! Another parser, roxmltree, and the points in which it is known to differ.

use super::{Outcome, Piece};
use deltasoap_xml::XmlErrorKind;
use roxmltree::{Attribute, Document, Node};

/// What documents must not contain to be compared.
const INCOMPARABLE: [&str; 9] = [
    // The declaration and instructions: roxmltree checks less of them than XML asks for.
    "<?",
    // SOAP allows none.
    "<!DOCTYPE",
    // Declarations of the reserved prefixes; it takes an attribute `p:xmlns` for one of the default
    // namespace.
    "xmlns:xml",
    ":xmlns",
    // It passes over a byte order mark that is data to us, or the other way round.
    "\u{FEFF}",
    // It lets a name begin with a colon.
    "<:",
    "</:",
    // It does not normalise line ends next to references.
    ";\r",
    "\r&",
];

/// Starts of documents in UTF-16 without a mark, whose bytes may happen to be UTF-8 too; roxmltree
/// reads UTF-8 alone.
const UTF_16: [&str; 2] = ["\0<\0?", "<\0?\0"];

/// True if both parsers should say the same about a document, known differences in what they refuse
/// aside.
pub fn is_comparable(text: &str) -> bool {
    !UTF_16.iter().any(|start| text.starts_with(start)) && !INCOMPARABLE.iter().any(|part| text.contains(part))
}

/// Compares what the reader says about a document, without limits, with what roxmltree says.
///
/// # Panics
/// If they differ in an unknown point.
pub fn compare(text: &str, (pieces, error): &Outcome) {
    match (Document::parse(text), error) {
        (Ok(document), None) => assert_eq!(*pieces, tree(document.root_element()), "{text:?}"),
        (Err(_), Some(_)) => {}
        (Ok(_), Some(error)) => assert!(is_more_generous(&error.kind), "only we refuse {text:?}: {error}"),
        (Err(error), None) => panic!("only we accept {text:?}: {error}"),
    }
}

/// True for faults that roxmltree does not mind and XML or Namespaces does.
fn is_more_generous(fault: &XmlErrorKind) -> bool {
    match fault {
        // It lets a name begin or end with a colon.
        XmlErrorKind::QualifiedName { .. } => true,
        // It takes a reference to no character for one to U+FFFD.
        XmlErrorKind::CharacterReference { .. } => true,
        // It lets a prefix be bound to nothing.
        XmlErrorKind::EmptyNamespace { .. } => true,
        // It lets the default namespace be declared twice.
        XmlErrorKind::DuplicateAttribute { name } => name == "xmlns",
        _ => false,
    }
}

/// What the reader must say about a document with this root. Not recursive, for documents may be
/// deep.
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

/// Closes a node and those around it that end with it; gives what follows.
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
