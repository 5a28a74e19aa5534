//! The only addition that stuffing may make to a message: white space between elements.

use roxmltree::{Document, Node};

/// Asserts that two messages are equivalent, except for white space before and after elements whose
/// parent has no text.
#[track_caller]
pub fn assert_same_but_for_gaps(stuffed: &str, full: &str) {
    let (found, expected) = (parsed(stuffed), parsed(full));
    if let Err(difference) = same_element(found.root_element(), expected.root_element()) {
        panic!("{difference}\n expected: {full}\n    found: {stuffed}");
    }
}

fn parsed(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn same_element(found: Node<'_, '_>, expected: Node<'_, '_>) -> Result<(), String> {
    let is_like = found.is_element()
        && found.tag_name() == expected.tag_name()
        && found
            .attributes()
            .map(|each| (each.namespace(), each.name(), each.value()))
            .eq(expected.attributes().map(|each| (each.namespace(), each.name(), each.value())))
        && found
            .namespaces()
            .map(|each| (each.name(), each.uri()))
            .eq(expected.namespaces().map(|each| (each.name(), each.uri())));
    if !is_like {
        return Err(format!("{found:?} instead of {expected:?}"));
    }
    same_content(found, expected)
}

fn same_content(found: Node<'_, '_>, expected: Node<'_, '_>) -> Result<(), String> {
    let has_gaps = expected.has_children() && expected.children().all(|child| child.is_element());
    let is_gap = |child: &Node<'_, '_>| has_gaps && is_white_space(*child);
    let found: Vec<_> = found.children().filter(|child| !is_gap(child)).collect();
    let expected: Vec<_> = expected.children().collect();
    if found.len() != expected.len() {
        return Err(format!("{found:?} instead of {expected:?}"));
    }
    found.into_iter().zip(expected).try_for_each(|(found, expected)| same_child(found, expected))
}

fn same_child(found: Node<'_, '_>, expected: Node<'_, '_>) -> Result<(), String> {
    if expected.is_element() {
        return same_element(found, expected);
    }
    match found.is_text() && found.text() == expected.text() {
        true => Ok(()),
        false => Err(format!("{found:?} instead of {expected:?}")),
    }
}

fn is_white_space(node: Node<'_, '_>) -> bool {
    let is_space = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
    node.is_text() && node.text().is_some_and(is_space)
}
