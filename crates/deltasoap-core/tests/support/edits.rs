//! Edits: the differences between messages of one stream.
//!
//! A value is edited as data (a leaf, one item more or less, another order), and a document as text
//! (entities and CDATA instead of characters, white space, prefixes, declarations, damage). Both
//! draw from entropy, so that they shrink.

use crate::generate;
use deltasoap_core::schema::{ChoiceFault, ComplexElement, Element, Field, OpenElement, View};
use deltasoap_core::{Record, Simple, Value};
use deltasoap_test_support::Entropy;

/// Changes one place of a value.
pub fn edit(value: &mut Value, view: View<'_>, entropy: &mut Entropy<'_>) {
    match (&mut *value, view.element) {
        (Value::Record(record), Element::Complex(complex)) => edit_record(record, complex, view, entropy),
        (Value::List(items), Element::Array(array)) if array.dimensions == 1 => {
            edit_list(items, view.follow(array.item), entropy);
        }
        (Value::Typed(typed), Element::Open(open)) if entropy.below(4) != 3 => {
            if let Some(content) = open.named(&typed.name) {
                edit(&mut typed.value, view.follow(content), entropy);
            }
        }
        (Value::Record(_) | Value::Simple(_), Element::Open(OpenElement { base: Some(base), .. }))
            if entropy.below(4) != 3 =>
        {
            edit(value, view.follow(*base), entropy);
        }
        _ => *value = generate::value(entropy, view),
    }
}

fn edit_record(record: &mut Record, complex: &ComplexElement, view: View<'_>, entropy: &mut Entropy<'_>) {
    let attributes = complex.attributes.len() + usize::from(complex.any_attribute);
    if record.fields.len() + attributes == 0 {
        return;
    }
    let chosen = entropy.below(record.fields.len() + attributes);
    if let Some(index) = chosen.checked_sub(record.fields.len()) {
        return edit_attribute(record, complex, view, index, entropy);
    }
    match complex.text {
        Some(text) => record.fields[0] = generate::value(entropy, view.follow(text)),
        None if complex.compositor == deltasoap_core::schema::Compositor::Choice => {
            edit_chosen(record, complex, view, entropy);
        }
        None => {
            edit_field(&mut record.fields[chosen], &complex.fields[chosen], view, entropy);
            // A field of another branch: usually all of that branch, or none.
            if let Some(ChoiceFault::Several(_)) = record.choice_fault(complex)
                && let Value::Record(other) = generate::value(entropy, view)
            {
                *record = *other;
            }
        }
    }
}

/// Changes a choice to another member, or to another value of the same.
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
    value.spread();
    match value {
        Value::List(items) if field.is_repeated() => edit_list(items, content, entropy),
        Value::Absent => *value = generate::value(entropy, content),
        _ if field.min == 0 && entropy.below(4) == 3 => *value = Value::Absent,
        _ if field.nillable && entropy.below(4) == 3 => *value = generate::nil(entropy, content),
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
    let Some(attribute) = complex.attributes.get(index) else {
        record.others = generate::others(entropy);
        return;
    };
    let Element::Simple(simple) = view.follow(attribute.element).element else { return };
    let is_there = attribute.required || entropy.below(2) == 0;
    record.attributes[index] = is_there.then(|| simple_value(entropy, simple.base));
}

fn simple_value(entropy: &mut Entropy<'_>, base: deltasoap_core::schema::Builtin) -> Simple {
    generate::simple_value(entropy, base)
}

/// Changes, inserts, removes, duplicates or moves an item; or cuts off the end.
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

/// Rewrites a document here and there; usually it stays the same document, sometimes it becomes
/// invalid.
pub fn rewritten(document: &str, entropy: &mut Entropy<'_>) -> String {
    let mut text = document.to_owned();
    for _ in 0..entropy.below(3) {
        let at = entropy.below(256) * 256 + entropy.below(256);
        text = match entropy.below(14) {
            0 => between_tags(&text, at, "\n "),
            1 => between_tags(&text, at, "<!-- note -->"),
            6 => between_tags(&text, at, "<other/>"),
            7 => between_tags(&text, at, "<other>1<f0>2</f0></other>"),
            8 => between_tags(&text, at, "<f0/>"),
            2 => in_text(&text, at, |c| format!("&#{};", u32::from(c))),
            3 => in_text(&text, at, |c| format!("<![CDATA[{c}]]>")),
            4 => text.replace("ns1:", "other:").replace("xmlns:ns1=", "xmlns:other="),
            9 | 10 => placed(&text, at, entropy),
            11 => on_start_tag(&text, at, &format!(" id='i{}'", entropy.below(3))),
            12 => referring(&text, at, entropy.below(3)),
            13 => between_tags(&text, at, "\n                    "),
            _ => declared(&text, at),
        };
    }
    text
}

/// Inserts something between two tags.
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

/// Declares an unused prefix on one of the start tags.
fn declared(text: &str, at: usize) -> String {
    on_start_tag(text, at, " xmlns:extra='urn:extra'")
}

/// Adds attributes to one of the start tags.
fn on_start_tag(text: &str, at: usize, attributes: &str) -> String {
    let is_start = |place: &usize| text[place + 1..].starts_with(char::is_alphabetic);
    put_on(text, at, attributes, is_start)
}

fn put_on(text: &str, at: usize, attributes: &str, is_meant: impl Fn(&usize) -> bool) -> String {
    let starts: Vec<usize> = text.match_indices('<').map(|(tag, _)| tag).filter(is_meant).collect();
    let Some(&start) = starts.get(at % starts.len().max(1)) else { return text.to_owned() };
    let name_end = text[start + 1..].find([' ', '>', '/', '\n']).map_or(text.len(), |end| start + 1 + end);
    format!("{}{attributes}{}", &text[..name_end], &text[name_end..])
}

/// Adds a position to an item, or any other element, or an offset to an array.
fn placed(text: &str, at: usize, entropy: &mut Entropy<'_>) -> String {
    let (name, place) = (["position", "position", "position", "offset"][entropy.below(4)], entropy.below(6));
    let attributes = format!(" xmlns:se='http://schemas.xmlsoap.org/soap/encoding/' se:{name}='[{place}]'");
    if name == "position" {
        put_on(text, at, &attributes, |&place| text[place..].starts_with("<item"))
    } else {
        on_start_tag(text, at, &attributes)
    }
}

/// Makes an element without child elements refer to another one; usually it then has no text.
fn referring(text: &str, at: usize, id: usize) -> String {
    let is_leaf = |&tag: &usize| {
        let rest = &text[tag + 1..];
        let next = rest.find('<').map(|next| &rest[next..]);
        rest.starts_with(char::is_alphabetic) && next.is_some_and(|next| next.starts_with("</"))
    };
    let starts: Vec<usize> = text.match_indices('<').map(|(tag, _)| tag).filter(is_leaf).collect();
    let Some(&start) = starts.get(at % starts.len().max(1)) else { return text.to_owned() };
    let Some(end) = text[start..].find('>').map(|end| start + end) else { return text.to_owned() };
    let Some(next) = text[end..].find('<').map(|next| end + next) else { return text.to_owned() };
    let from = if at.is_multiple_of(7) { end + 1 } else { next };
    format!("{} href='#i{id}'>{}", &text[..end].trim_end_matches('/'), &text[from..])
}

/// Returns the document with each non-text element on its own line.
pub fn indented(document: &str, line: &str, level: &str) -> String {
    let (mut text, mut depth, mut is_after_start) = (String::new(), 0_usize, false);
    for (index, piece) in document.split_inclusive('>').enumerate() {
        let is_end = piece.starts_with("</");
        if is_end {
            depth = depth.saturating_sub(1);
        }
        if piece.starts_with('<') && index > 0 && !(is_end && is_after_start) {
            text.push_str(line);
            text.push_str(&level.repeat(depth));
        }
        text.push_str(piece);
        let tag = &piece[piece.find('<').unwrap_or(0)..];
        let is_inner_end = tag.starts_with("</") && !is_end;
        is_after_start = tag.starts_with('<') && !tag.starts_with("</") && !tag.ends_with("/>");
        depth = if is_inner_end { depth.saturating_sub(1) } else { depth + usize::from(is_after_start) };
    }
    text
}

/// Returns the header of the next message: usually that of the previous one.
pub fn header(before: &'static str, entropy: &mut Entropy<'_>) -> &'static str {
    const HEADERS: [&str; 5] = [
        "",
        "<e:Header/>",
        "<e:Header><h:a xmlns:h='urn:h'>1</h:a></e:Header>",
        "<e:Header><h:a xmlns:h='urn:h'>22</h:a><b id='i1'>x</b></e:Header>",
        "<e:Header><a xmlns='urn:h' e:mustUnderstand='0'><b>1</b></a></e:Header>",
    ];
    if entropy.below(4) == 3 { HEADERS[entropy.below(HEADERS.len())] } else { before }
}

/// Returns the document as the body of a message.
pub fn enveloped(document: &str, header: &str) -> String {
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    format!("<e:Envelope xmlns:e='{soap}'>{header}<e:Body>{document}</e:Body></e:Envelope>")
}

/// Returns lengths of chunks that end within white space, or at an end of it.
pub fn cuts_in_gaps(document: &[u8], entropy: &mut Entropy<'_>) -> Vec<usize> {
    let is_white = |index: usize| document.get(index).is_some_and(u8::is_ascii_whitespace);
    let places: Vec<usize> = (1..document.len()).filter(|&at| is_white(at - 1) || is_white(at)).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let mut cuts: Vec<usize> = (0..=entropy.below(3))
        .map(|_| places[(entropy.below(256) * 256 + entropy.below(256)) % places.len()])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let lengths = std::iter::once(0).chain(cuts.iter().copied()).zip(&cuts).map(|(from, to)| to - from);
    lengths.collect()
}
