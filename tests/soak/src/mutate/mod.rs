//! Streams of similar messages: each is the previous one with a few changes.
//!
//! | module | changes |
//! |---|---|
//! | [`crate::markup`] | elements: texts, more, fewer, exchanged; attributes, comments |
//! | [`leaves`] | of texts: digits, lengths, entities, CDATA |
//! | [`names`] | prefixes, namespaces, `xsi:type`, `xsi:nil`, duplicate attributes |
//! | [`arrays`] | SOAP arrays: sizes, offsets, positions; growing and shrinking |
//! | [`references`] | SOAP encoding's references |
//! | [`envelope`] | headers, what precedes and follows the envelope |
//! | [`white`] | pretty-printing |
//! | [`damage`] | truncation, garbage, other encodings: of a single message |

mod arrays;
mod damage;
mod envelope;
mod leaves;
mod names;
mod references;
mod white;

use crate::markup::{Document, Element};
use deltasoap_test_support::Chance;
use deltasoap_test_support::Entropy;

/// Maximum numbers of messages, of most streams and of a few.
const MESSAGES: usize = 9;
const MANY_MESSAGES: usize = 80;
/// A message that grows beyond this size is replaced by a new one.
const MAX_MESSAGE_LEN: usize = 60_000;

/// Creates a stream that begins with one of some messages. Empty if there are none. Many of the
/// invalid messages are left out, and most others are followed by one like the last valid message.
pub fn stream(base: &[String], chance: &mut Chance, is_good: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let Some(first) = chance.choose(base) else { return Vec::new() };
    let white = white::Style::any(chance);
    let begin = |text: &str, chance: &mut Chance| white.apply(&envelope::with_prefixes(text), chance);
    let mut current = Document(begin(first, chance));
    let habit = Habit::any(chance);
    match habit {
        Habit::List => arrays::grow(&mut current, chance),
        Habit::OneLeaf(_) if chance.one_in(2) => arrays::grow(&mut current, chance),
        Habit::Encoding => references::refer_in_tree(&mut current, &is_good, chance),
        Habit::Attributes => names::mark_all(&mut current, chance),
        Habit::Order => arrays::shuffle(&mut current, &is_good, chance),
        _ if chance.one_in(6) => arrays::grow(&mut current, chance),
        _ => {}
    }
    let count = match current.0.len() < 3000 && chance.one_in(24) {
        true => MANY_MESSAGES,
        false => chance.between(2, MESSAGES),
    };
    let is_calm = habit != Habit::Any;
    let mut earlier: Vec<String> = Vec::new();
    let mut messages = Vec::with_capacity(count);
    for _ in 0..count {
        let was_good = is_good(&current.0);
        if was_good || chance.one_in(2) {
            messages.push(damage::sent(&current.0, chance));
        }
        match was_good {
            true => earlier.push(current.0.clone()),
            false if !chance.one_in(6) => current.0 = earlier.last().cloned().unwrap_or_else(|| begin(first, chance)),
            false => {}
        }
        match chance.below(12) {
            0 => {}
            1 if !earlier.is_empty() => current.0.clone_from(chance.pick(&earlier)),
            2 if !is_calm => current.0 = begin(&pick(base, chance), chance),
            _ => change(&mut current, habit, chance),
        }
        if current.0.len() > MAX_MESSAGE_LEN {
            current.0 = begin(&pick(base, chance), chance);
        }
    }
    send_again(&mut messages, chance);
    messages
}

/// Some senders repeat a message, whatever the answer was. What a decoder learned from an invalid
/// message must not make the repetition valid.
fn send_again(messages: &mut Vec<Vec<u8>>, chance: &mut Chance) {
    if messages.is_empty() || !chance.one_in(3) {
        return;
    }
    for _ in 0..chance.between(1, 4) {
        let again = chance.pick(messages).clone();
        messages.push(again);
    }
}

fn pick(base: &[String], chance: &mut Chance) -> String {
    chance.pick(base).clone()
}

/// What differs in most messages of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    Any,
    /// Only leaves.
    Leaves,
    /// The leaf with this number; see [`leaves::change_same`].
    OneLeaf(usize),
    /// Items of a long list, which are added and removed.
    List,
    /// Whether SOAP encoding is in force.
    Encoding,
    /// The values of attributes that many elements have.
    Attributes,
    /// The order of the elements within items.
    Order,
}

impl Habit {
    fn any(chance: &mut Chance) -> Self {
        match chance.below(14) {
            0..=3 => Habit::Leaves,
            4..=6 => Habit::OneLeaf(chance.below(12)),
            7 => Habit::List,
            8 if chance.one_in(2) => Habit::Encoding,
            9 => Habit::Attributes,
            10 => Habit::Order,
            _ => Habit::Any,
        }
    }
}

/// Makes one or more changes.
fn change(document: &mut Document, habit: Habit, chance: &mut Chance) {
    for _ in 0..chance.between(1, 3) {
        match (habit, chance.one_in(8)) {
            (Habit::Leaves, false) => {
                leaves::change_values(document, chance);
                continue;
            }
            (Habit::Encoding, false) => return envelope::set_encoding(document, chance),
            (Habit::List, false) => return arrays::slide(document, chance),
            (Habit::Attributes, false) => {
                names::vary(document, chance);
                continue;
            }
            (Habit::Order, false) => {
                arrays::reorder(document, chance);
                continue;
            }
            (Habit::OneLeaf(number), false) => return leaves::change_same(document, number, chance),
            _ => {}
        }
        match chance.below(25) {
            0..=5 => leaves::change_values(document, chance),
            6 | 7 => leaves::reword(document, chance),
            8..=13 => {
                let bytes = chance.bytes(12);
                document.edit(&mut Entropy(&bytes));
            }
            14 | 15 => names::change(document, chance),
            16 | 17 => arrays::change(document, chance),
            18 | 19 => arrays::resize(document, chance),
            20 => references::change(document, chance),
            21 => envelope::change(document, chance),
            22 => white::change(document, chance),
            23 => leaves::change_last(document, chance),
            _ => arrays::reorder(document, chance),
        }
    }
}

/// Returns the elements without child elements, in document order.
fn leaves_of(document: &Document) -> Vec<Element> {
    // In the order of end tags, an element with children follows the last of them.
    let elements = document.elements();
    let begins_before = |index: usize, it: &Element| index == 0 || elements[index - 1].start < it.start;
    let leaves = elements.iter().enumerate().filter(|&(index, it)| begins_before(index, it));
    leaves.map(|(_, leaf)| *leaf).collect()
}

/// Returns the first element of the body and all elements within it.
fn in_body(document: &Document) -> Vec<Element> {
    let elements = document.elements();
    let body = elements.iter().rfind(|it| document.name(**it).rsplit(':').next() == Some("Body")).copied();
    let within = |it: &Element| body.is_none_or(|body| it.start >= body.content && it.end <= body.tag);
    elements.into_iter().filter(within).collect()
}

/// Adds attributes to an element's start tag.
fn add_attributes(document: &mut Document, element: Element, attributes: &str) {
    document.0.insert_str(element.name_end, attributes);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><op><list><i>1</i><i>2</i><i>3</i>\
                        </list><text>word</text></op></s:Body></s:Envelope>";

    #[test]
    fn a_stream_comes_of_its_seed_alone() {
        let base = [BASE.to_owned()];
        let draw = |index| stream(&base, &mut Chance::new(5, index), |text| text.len() % 8 != 0);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn most_messages_are_well_formed_and_all_kinds_of_change_come_up() {
        let base = [BASE.to_owned()];
        let all: Vec<_> =
            (0..400).flat_map(|index| stream(&base, &mut Chance::new(5, index), |text| text.len() % 8 != 0)).collect();
        let texts: Vec<_> = all.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
        let good = texts.iter().filter(|text| roxmltree::Document::parse(text).is_ok()).count();
        assert!(good * 10 > texts.len() * 7 && good < texts.len(), "{good} of {}", texts.len());
        for piece in [
            "CDATA",
            "&#",
            "position=",
            "offset=",
            "arrayType=",
            "href=",
            "xsi:nil",
            "xsi:type",
            "Header",
            "\n  <",
            "<!--",
            "encodingStyle",
            " note='",
        ] {
            assert!(texts.iter().any(|text| text.contains(piece)), "{piece}");
        }
    }
}
