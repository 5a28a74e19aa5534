//! Changes of text content.

use super::leaves_of;
use crate::markup::{Document, Element};
use deltasoap_test_support::Chance;

const TEXTS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "127",
    "255",
    "2147483647",
    "99999999999999999999",
    "1.5",
    "-0",
    "NaN",
    "INF",
    "1e5",
    "true",
    "false",
    "",
    " ",
    " 7 ",
    "word",
    "\u{e9}\u{4e2d}\u{1f600}",
    "2026-11-23T10:00:00Z",
    "Zm9v",
    "00FF",
    "&lt;&amp;&gt;",
    "s:name",
];

/// Changes digits and letters in some leaves, or the whole text of one.
pub fn change_values(document: &mut Document, chance: &mut Chance) {
    let leaves = leaves_of(document);
    let Some(&leaf) = chance.choose(&leaves) else { return };
    match chance.below(8) {
        0..=3 => turn(document, leaf, chance),
        4 => every_so_many(document, &leaves, chance),
        5 => set(document, leaf, chance.word(&TEXTS)),
        6 => lengthen(document, leaf, chance),
        _ => shorten(document, leaf),
    }
}

/// Changes the last leaf of a parent: none of its siblings follow.
pub fn change_last(document: &mut Document, chance: &mut Chance) {
    let last = last_leaves(document);
    if let Some(&leaf) = chance.choose(&last) {
        resize(document, leaf, chance);
    }
}

/// Changes the leaf with a number, counted from the end: the same one in most messages of a stream.
/// Even numbers stand for leaves that are the last of their parent.
pub fn change_same(document: &mut Document, number: usize, chance: &mut Chance) {
    let leaves = if number.is_multiple_of(2) { last_leaves(document) } else { leaves_of(document) };
    if let Some(&leaf) = leaves.iter().rev().cycle().nth(number / 2).filter(|_| !leaves.is_empty()) {
        match chance.one_in(8) {
            true => reword_leaf(document, leaf, chance),
            false => resize(document, leaf, chance),
        }
    }
}

fn last_leaves(document: &Document) -> Vec<Element> {
    let is_last = |it: &Element| document.0[it.end..].trim_ascii_start().starts_with("</");
    leaves_of(document).into_iter().filter(is_last).collect()
}

/// Replaces the text, usually with one of the same length.
fn resize(document: &mut Document, leaf: Element, chance: &mut Chance) {
    match chance.below(4) {
        0 | 1 => turn(document, leaf, chance),
        2 => lengthen(document, leaf, chance),
        _ => shorten(document, leaf),
    }
}

/// Changes the spelling of one character of a text: a reference, a CDATA section, or with a comment
/// next to it.
pub fn reword(document: &mut Document, chance: &mut Chance) {
    let leaves = leaves_of(document);
    if let Some(&leaf) = chance.choose(&leaves) {
        reword_leaf(document, leaf, chance);
    }
}

fn reword_leaf(document: &mut Document, leaf: Element, chance: &mut Chance) {
    let text = &document.0[leaf.content..leaf.tag];
    let plain: Vec<_> = text.char_indices().filter(|(_, c)| c.is_alphanumeric() || ".-+:".contains(*c)).collect();
    let Some(&(at, c)) = chance.choose(&plain).filter(|_| !text.contains(['&', '<'])) else { return };
    let at = leaf.content + at;
    let other = match chance.below(6) {
        0 => format!("&#{};", u32::from(c)),
        1 => format!("&#x{:x};", u32::from(c)),
        2 => format!("<![CDATA[{c}]]>"),
        3 => format!("<!-- {c} -->{c}"),
        4 => format!("{c}<?pi x?>"),
        _ => format!("<![CDATA[]]>{c}<!---->"),
    };
    document.0.replace_range(at..at + c.len_utf8(), &other);
}

/// Changes digits and letters without changing the length.
fn turn(document: &mut Document, leaf: Element, chance: &mut Chance) {
    let text = &document.0[leaf.content..leaf.tag];
    let plain = plain(text);
    if text.contains('&') || plain.is_empty() {
        return;
    }
    let mut text = text.to_owned();
    for _ in 0..chance.between(1, 3) {
        let at = *chance.pick(&plain);
        let alphabet = if text.as_bytes()[at].is_ascii_digit() { "0123456789" } else { "abcdefXYZ" };
        let with = chance.below(alphabet.len());
        text.replace_range(at..=at, &alphabet[with..=with]);
    }
    document.0.replace_range(leaf.content..leaf.tag, &text);
}

/// Returns the positions of letters and digits, outside of comments and the like.
fn plain(text: &str) -> Vec<usize> {
    let mut is_markup = false;
    let mut is_plain = |c: char| {
        is_markup = c == '<' || (is_markup && c != '>');
        !is_markup && c.is_ascii_alphanumeric()
    };
    text.char_indices().filter(|&(_, c)| is_plain(c)).map(|(at, _)| at).collect()
}

/// Changes every n-th leaf, from a random one on.
fn every_so_many(document: &mut Document, leaves: &[Element], chance: &mut Chance) {
    let (start, step) = (chance.below(leaves.len()), chance.between(1, 7));
    let count = chance.between(1, 40);
    let chosen: Vec<_> = leaves.iter().skip(start).step_by(step).take(count).copied().collect();
    // Backwards, so that earlier positions stay valid.
    chosen.into_iter().rev().for_each(|leaf| turn(document, leaf, chance));
}

fn set(document: &mut Document, leaf: Element, text: &str) {
    if leaf.tag < leaf.end {
        document.0.replace_range(leaf.content..leaf.tag, text);
    }
}

fn lengthen(document: &mut Document, leaf: Element, chance: &mut Chance) {
    if leaf.tag == leaf.end {
        return;
    }
    let count = *chance.pick(&[1, 1, 2, 3, 8, 40, 300]);
    let with = chance.word(&["1", "0", "a", " "]).repeat(count);
    let at = if chance.one_in(2) { leaf.content } else { leaf.tag };
    document.0.insert_str(at, &with);
}

fn shorten(document: &mut Document, leaf: Element) {
    let last = document.0[leaf.content..leaf.tag].char_indices().next_back();
    if let Some((at, _)) = last {
        document.0.replace_range(leaf.content + at..leaf.tag, "");
    }
}
