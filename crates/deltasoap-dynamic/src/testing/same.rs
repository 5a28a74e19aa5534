//! Answers that mean the same, and texts that come back.

use super::answer::{Outcome, Reply};
use deltasoap_core::{Child, Node};

/// Returns what an outcome is, in words that are the same for those that mean the same.
pub(super) fn class(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(answer) => Reply::of(answer).class(),
        Outcome::Lost(_) => "no answer".to_owned(),
        Outcome::Broken(_) => "an answer that cannot be read".to_owned(),
        Outcome::TimedOut(_) => "no answer in time".to_owned(),
    }
}

/// Returns true if two outcomes are the same but for prefixes and header blocks.
pub(super) fn are_alike(one: &Outcome, other: &Outcome) -> bool {
    match (response(one), response(other)) {
        (Some(one), Some(other)) => one.is_equivalent(&other),
        (None, None) => class(one) == class(other),
        _ => false,
    }
}

/// Returns the body of a response.
pub(super) fn response(outcome: &Outcome) -> Option<Node> {
    let Outcome::Answer(answer) = outcome else { return None };
    match Reply::of(answer) {
        Reply::Response(envelope) => envelope.element(&envelope.name.namespace, "Body").cloned(),
        _ => None,
    }
}

/// Returns a text of a request that programs may change: with characters beyond ASCII, or markup.
/// Texts with combining characters may come back composed.
pub(super) fn unusual_text(node: &Node) -> Option<String> {
    let is_unusual = |text: &str| {
        let is_rich = !text.is_ascii() || text.contains(['<', '&', '>']);
        let is_ambiguous = |c: char| matches!(c, '\u{300}'..='\u{36F}' | '\u{FE00}'..='\u{FE0F}' | '\u{200B}'..='\u{200F}' | '\u{FEFF}' | '\u{A0}');
        is_rich && !text.contains(is_ambiguous) && text.trim() == text
    };
    node.children.iter().find_map(|child| match child {
        Child::Text(text) if node.children.len() == 1 && is_unusual(text) => Some(text.to_string()),
        Child::Element(child) => unusual_text(child),
        Child::Text(_) => None,
    })
}

/// Replaces a text.
pub(super) fn replace(node: &mut Node, text: &str, by: &str) {
    for child in &mut node.children {
        match child {
            Child::Text(found) if *found == *text => *found = by.into(),
            Child::Element(child) => replace(child, text, by),
            Child::Text(_) => {}
        }
    }
}

/// Returns the path of the element with a text.
pub(super) fn path_of(node: &Node, text: &str) -> Option<Vec<usize>> {
    if node.elements().next().is_none() && node.text() == text {
        return Some(Vec::new());
    }
    node.children.iter().enumerate().find_map(|(index, child)| match child {
        Child::Element(child) => path_of(child, text).map(|path| [&[index], &path[..]].concat()),
        Child::Text(_) => None,
    })
}
