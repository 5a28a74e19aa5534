//! Changes of names and of the attributes about them.

use super::{add_attributes, in_body};
use crate::markup::{Document, Element};
use deltasoap_test_support::Chance;

const TYPES: [&str; 10] =
    ["xsd:int", "xsd:string", "xsd:double", "xsd:anyType", "e:Array", "q:T", "unbound:T", "Flat", "Point", ""];

/// Changes prefixes, declarations, types, nils or attributes.
pub fn change(document: &mut Document, chance: &mut Chance) {
    let elements = in_body(document);
    let Some(&element) = chance.choose(&elements) else { return };
    match chance.below(12) {
        0 | 1 => rename_prefix(document, chance),
        2 => redeclare(document, element, chance),
        3 => declare_default(document, element, chance),
        4 => add_attributes(document, element, &format!(" xsi:type='{}'", chance.word(&TYPES))),
        5 => retype(document, chance),
        6 => nil(document, element, chance),
        7 => double_attribute(document, element),
        8 => mark_all(document, chance),
        9 | 10 => vary(document, chance),
        _ => rename(document, element, chance),
    }
}

/// Renames a prefix everywhere, with the same length or another.
fn rename_prefix(document: &mut Document, chance: &mut Chance) {
    let prefixes: Vec<_> =
        document.0.match_indices("xmlns:").filter_map(|(at, _)| prefix_at(&document.0, at + 6)).collect();
    let Some(old) = chance.choose(&prefixes).cloned() else { return };
    let new = match chance.below(3) {
        0 => format!("{old}x"),
        1 => old.bytes().map(|byte| if byte == b'k' { 'm' } else { 'k' }).collect(),
        _ => "p".to_owned(),
    };
    if prefixes.contains(&new) {
        return;
    }
    for (before, after) in [("<", ":"), ("</", ":"), (" ", ":"), ("xmlns:", "="), ("'", ":"), ("\"", ":")] {
        document.0 = document.0.replace(&format!("{before}{old}{after}"), &format!("{before}{new}{after}"));
    }
}

fn prefix_at(text: &str, at: usize) -> Option<String> {
    let rest = &text[at..];
    rest.find('=').map(|end| rest[..end].to_owned()).filter(|prefix| prefix.len() < 20)
}

/// Declares a prefix again: for the same namespace or another.
fn redeclare(document: &mut Document, element: Element, chance: &mut Chance) {
    let Some((at, _)) = document.0.match_indices("xmlns:").nth(chance.below(4)) else { return };
    let rest = &document.0[at..];
    let Some(quote) = rest.find(['\'', '"']) else { return };
    let Some(len) = rest[quote + 1..].find(['\'', '"']) else { return };
    let declaration = rest[..quote + len + 2].to_owned();
    let name = declaration[..quote].to_owned();
    let text = if chance.one_in(3) { format!(" {name}'urn:other'") } else { format!(" {declaration}") };
    add_attributes(document, element, &text);
}

fn declare_default(document: &mut Document, element: Element, chance: &mut Chance) {
    let namespace = chance.word(&["", "urn:other", "urn:t", "urn:f"]);
    add_attributes(document, element, &format!(" xmlns='{namespace}'"));
}

/// Replaces or removes a given type.
fn retype(document: &mut Document, chance: &mut Chance) {
    let places: Vec<_> = document.0.match_indices(":type=").map(|(at, _)| at).collect();
    let Some(&at) = chance.choose(&places) else { return };
    let Some(open) = document.0[at..].find(['\'', '"']).map(|open| at + open + 1) else { return };
    let Some(close) = document.0[open..].find(['\'', '"']).map(|close| open + close) else { return };
    document.0.replace_range(open..close, chance.word(&TYPES));
}

/// Makes an element nil: empty, or with its content, which is an error.
fn nil(document: &mut Document, element: Element, chance: &mut Chance) {
    if element.tag < element.end && !chance.one_in(5) {
        document.0.replace_range(element.content..element.tag, "");
    }
    let value = chance.word(&["true", "1", "false", "0", " true ", "yes"]);
    add_attributes(document, element, &format!(" xsi:nil='{value}'"));
}

/// Adds the same attribute to all elements of a name: decoders learn it.
pub fn mark_all(document: &mut Document, chance: &mut Chance) {
    let elements = in_body(document);
    let Some(name) = chance.choose(&elements).map(|like| document.name(*like).to_owned()) else { return };
    let attribute = chance.word(&[" note='1'", " xsi:nil='false'", " id='n'", " xsi:type='xsd:string' note='a b'"]);
    let mut alike: Vec<_> = elements.iter().filter(|it| document.name(**it) == name).copied().collect();
    // Backwards, so that earlier positions stay valid.
    alike.sort_by_key(|it| it.name_end);
    alike.iter().rev().for_each(|&element| add_attributes(document, element, attribute));
}

/// Changes the value of an existing attribute.
pub fn vary(document: &mut Document, chance: &mut Chance) {
    const VALUES: [&str; 10] = ["", "1", "true", "false", "0", "a &gt; b", "\u{e4}", "a\tb", "a > b", "x:y"];
    let elements = in_body(document);
    let values: Vec<_> = elements.iter().flat_map(|element| values_of(document, *element)).collect();
    if let Some(value) = chance.choose(&values).cloned() {
        document.0.replace_range(value, chance.word(&VALUES));
    }
}

/// Returns the positions of the values of an element's attributes.
fn values_of(document: &Document, element: Element) -> Vec<std::ops::Range<usize>> {
    let tag = &document.0[element.name_end..element.content];
    let quotes: Vec<usize> = tag.match_indices(['\'', '"']).map(|(at, _)| element.name_end + at).collect();
    quotes.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect()
}

/// Duplicates the first attribute.
fn double_attribute(document: &mut Document, element: Element) {
    let tag = &document.0[element.name_end..element.content];
    let mut quotes = tag.match_indices(['\'', '"']);
    if let (Some(_), Some((end, _))) = (quotes.next(), quotes.next()) {
        let attribute = tag[..=end].to_owned();
        add_attributes(document, element, &attribute);
    }
}

/// Renames an element, on both of its tags.
fn rename(document: &mut Document, element: Element, chance: &mut Chance) {
    let name = document.name(element).to_owned();
    let other = match chance.below(3) {
        0 => format!("{name}X"),
        1 => format!("q:{name}"),
        _ => name.rsplit(':').next().unwrap_or_default().to_owned(),
    };
    if element.tag < element.end {
        let len = element.tag + 2..element.tag + 2 + name.len();
        if document.0.is_char_boundary(len.end) && document.0.len() >= len.end {
            document.0.replace_range(len, &other);
        }
    }
    document.0.replace_range(element.start + 1..element.name_end, &other);
}
