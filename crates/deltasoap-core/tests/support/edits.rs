//! Edits: what messages of one stream differ in.
//!
//! A value is edited as data (a leaf, an item more or less, another order), and a document as text (entities and CDATA
//! instead of characters, white space, prefixes, declarations, damage). Both draw from entropy, so that they shrink.

use crate::generate::{self, Entropy};
use deltasoap_core::schema::{ComplexElement, Element, Field, View};
use deltasoap_core::{Record, Simple, Value};

/// Changes one place of a value.
pub fn edit(value: &mut Value, view: View<'_>, entropy: &mut Entropy<'_>) {
    match (&mut *value, view.element) {
        (Value::Record(record), Element::Complex(complex)) => edit_record(record, complex, view, entropy),
        (Value::List(items), Element::Array(array)) => edit_list(items, view.follow(array.item), entropy),
        _ => *value = generate::value(entropy, view),
    }
}

fn edit_record(record: &mut Record, complex: &ComplexElement, view: View<'_>, entropy: &mut Entropy<'_>) {
    let attributes = complex.attributes.len();
    let chosen = entropy.below(record.fields.len() + attributes);
    if let Some(index) = chosen.checked_sub(record.fields.len()) {
        return edit_attribute(record, complex, view, index, entropy);
    }
    match complex.text {
        Some(text) => record.fields[0] = generate::value(entropy, view.follow(text)),
        None if complex.compositor == deltasoap_core::schema::Compositor::Choice => {
            edit_chosen(record, complex, view, entropy);
        }
        None => edit_field(&mut record.fields[chosen], &complex.fields[chosen], view, entropy),
    }
}

/// Another member of a choice, or another value of the same.
fn edit_chosen(record: &mut Record, complex: &ComplexElement, view: View<'_>, entropy: &mut Entropy<'_>) {
    let chosen = record.fields.iter().position(|field| *field != Value::Absent);
    match chosen {
        Some(index) if entropy.below(3) != 0 => {
            edit_field(&mut record.fields[index], &complex.fields[index], view, entropy);
        }
        _ => {
            if let Value::Record(other) = generate::value(entropy, view) {
                *record = *other;
            }
        }
    }
}

fn edit_field(value: &mut Value, field: &Field, view: View<'_>, entropy: &mut Entropy<'_>) {
    let content = view.follow(field.element);
    match value {
        Value::List(items) if field.is_repeated() => edit_list(items, content, entropy),
        Value::Absent => *value = generate::value(entropy, content),
        _ if field.min == 0 && entropy.below(4) == 3 => *value = Value::Absent,
        _ if field.nillable && entropy.below(4) == 3 => *value = Value::Nil,
        _ => edit(value, content, entropy),
    }
}

fn edit_attribute(
    record: &mut Record,
    complex: &ComplexElement,
    view: View<'_>,
    index: usize,
    entropy: &mut Entropy<'_>,
) {
    let Element::Simple(simple) = view.follow(complex.attributes[index].element).element else { return };
    let is_there = complex.attributes[index].required || entropy.below(2) == 0;
    record.attributes[index] = is_there.then(|| simple_value(entropy, simple.base));
}

fn simple_value(entropy: &mut Entropy<'_>, base: deltasoap_core::schema::Builtin) -> Simple {
    generate::simple_value(entropy, base)
}

/// An item changed, inserted, removed, doubled, moved; or the end cut off.
fn edit_list(items: &mut Vec<Value>, view: View<'_>, entropy: &mut Entropy<'_>) {
    let (kind, at) = (entropy.below(7), entropy.below(items.len().max(1)));
    match kind {
        _ if items.is_empty() => items.push(generate::value(entropy, view)),
        0..=2 => edit(&mut items[at], view, entropy),
        3 => items.insert(at, generate::value(entropy, view)),
        4 => drop(items.remove(at)),
        5 => items.truncate(at),
        _ => items.rotate_left(at),
    }
}

/// Rewrites a document here and there; mostly it stays the same document, sometimes it becomes a bad one.
pub fn rewritten(document: &str, entropy: &mut Entropy<'_>) -> String {
    let mut text = document.to_owned();
    for _ in 0..entropy.below(3) {
        let at = entropy.below(256) * 256 + entropy.below(256);
        text = match entropy.below(9) {
            0 => between_tags(&text, at, "\n "),
            1 => between_tags(&text, at, "<!-- note -->"),
            6 => between_tags(&text, at, "<other/>"),
            7 => between_tags(&text, at, "<other>1<f0>2</f0></other>"),
            8 => between_tags(&text, at, "<f0/>"),
            2 => in_text(&text, at, |c| format!("&#{};", u32::from(c))),
            3 => in_text(&text, at, |c| format!("<![CDATA[{c}]]>")),
            4 => text.replace("ns1:", "other:").replace("xmlns:ns1=", "xmlns:other="),
            _ => declared(&text, at),
        };
    }
    text
}

/// Puts something between two tags.
fn between_tags(text: &str, at: usize, what: &str) -> String {
    let gaps: Vec<usize> = text.match_indices("><").map(|(gap, _)| gap + 1).collect();
    match gaps.get(at % gaps.len().max(1)) {
        Some(&gap) => format!("{}{what}{}", &text[..gap], &text[gap..]),
        None => text.to_owned(),
    }
}

/// Writes one character of a leaf in another way.
fn in_text(text: &str, at: usize, other: impl Fn(char) -> String) -> String {
    let is_plain = |c: char| c.is_alphanumeric();
    let places: Vec<usize> = text.match_indices('>').map(|(tag, _)| tag + 1).collect();
    let leaves: Vec<usize> = places.into_iter().filter(|&place| text[place..].starts_with(is_plain)).collect();
    match leaves.get(at % leaves.len().max(1)) {
        Some(&place) => {
            let c = text[place..].chars().next().unwrap_or('0');
            format!("{}{}{}", &text[..place], other(c), &text[place + c.len_utf8()..])
        }
        None => text.to_owned(),
    }
}

/// Declares a prefix that nobody uses, on one of the start tags.
fn declared(text: &str, at: usize) -> String {
    let is_start = |place: &usize| text[place + 1..].starts_with(char::is_alphabetic);
    let starts: Vec<usize> = text.match_indices('<').map(|(tag, _)| tag).filter(is_start).collect();
    let Some(&start) = starts.get(at % starts.len().max(1)) else { return text.to_owned() };
    let name_end = text[start + 1..].find([' ', '>', '/', '\n']).map_or(text.len(), |end| start + 1 + end);
    format!("{} xmlns:extra='urn:extra'{}", &text[..name_end], &text[name_end..])
}
