//! References of SOAP encoding: content moves to an independent element, elements become shared,
//! and references break.

use super::{add_attributes, in_body};
use crate::markup::{Document, Element};
use deltasoap_test_support::Chance;

/// Makes one change of references.
pub fn change(document: &mut Document, chance: &mut Chance) {
    let elements: Vec<_> = in_body(document).into_iter().filter(|it| it.tag < it.end).collect();
    let Some(&element) = chance.choose(&elements) else { return };
    match chance.below(5) {
        0 | 1 => move_out(document, element, chance),
        2 => share(document, element, &elements, chance),
        3 => break_one(document, chance),
        _ => add_attributes(document, element, &format!(" id='i{}'", chance.below(4))),
    }
}

/// Moves the content to an independent element at the end of the body.
fn move_out(document: &mut Document, element: Element, chance: &mut Chance) {
    let Some(end) = document.0.rfind("Body>").and_then(|at| document.0[..at].rfind("</")) else { return };
    if end < element.end {
        return;
    }
    let id = format!("r{}", chance.below(1000));
    let name = document.name(element).to_owned();
    let (tag, content) = (
        document.0[element.name_end..element.content - 1].to_owned(),
        document.0[element.content..element.tag].to_owned(),
    );
    let root = chance.word(&["", " e:root='0'", " e:encodingStyle=''"]);
    document.0.insert_str(end, &format!("<multiRef id='{id}'{root}{tag}>{content}</multiRef>"));
    document.0.replace_range(element.start..element.end, &format!("<{name}{}/>", reference(&id, chance)));
}

/// Makes an element of a tree, if there is one, refer to another: SOAP encoding decides what that
/// means. A reference to nothing is an error except in trees, which is how they are found.
pub fn refer_in_tree(document: &mut Document, is_good: &impl Fn(&str) -> bool, chance: &mut Chance) {
    const ATTEMPTS: usize = 8;
    let elements: Vec<_> = in_body(document).into_iter().filter(|it| it.tag < it.end).collect();
    for _ in 0..ATTEMPTS {
        let Some(&element) = chance.choose(&elements) else { return };
        let mut other = Document(document.0.clone());
        other.0.replace_range(element.content..element.tag, "");
        add_attributes(&mut other, element, " href='#t1'");
        if is_good(&other.0)
            && let Some(end) = other.0.rfind("Body>").and_then(|at| other.0[..at].rfind("</"))
        {
            other.0.insert_str(end, "<multiRef id='t1'>5</multiRef>");
            *document = other;
            return;
        }
    }
}

fn reference(id: &str, chance: &mut Chance) -> String {
    match chance.below(6) {
        0 => format!(" e12:ref='{id}'"),
        1 => format!(" href=' #{id}'"),
        _ => format!(" href='#{id}'"),
    }
}

/// Turns another element of the same name into a reference to this one.
fn share(document: &mut Document, element: Element, elements: &[Element], chance: &mut Chance) {
    let name = document.name(element).to_owned();
    let is_apart = |it: &&Element| document.name(**it) == name && (it.start >= element.end || it.end <= element.start);
    let others: Vec<_> = elements.iter().filter(is_apart).copied().collect();
    let Some(&other) = chance.choose(&others) else { return };
    let id = format!("s{}", chance.below(1000));
    let (text, target) = (format!("<{name}{}/>", reference(&id, chance)), format!(" id='{id}'"));
    if other.start > element.start {
        document.0.replace_range(other.start..other.end, &text);
        add_attributes(document, element, &target);
    } else {
        add_attributes(document, element, &target);
        document.0.replace_range(other.start..other.end, &text);
    }
}

/// Makes a reference to nothing, or to something else.
fn break_one(document: &mut Document, chance: &mut Chance) {
    let places: Vec<_> = document.0.match_indices("='#").map(|(at, _)| at + 3).collect();
    if let Some(&at) = chance.choose(&places) {
        document.0.insert(at, *chance.pick(&['x', 'r', '#']));
    }
}
