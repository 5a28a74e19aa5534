//! Lists and SOAP arrays: longer and shorter, with positions, offsets and gaps, nested.

use super::{add_attributes, in_body};
use crate::markup::{Document, Element};
use deltasoap_test_support::Chance;

/// Maximum size of inserted items, in bytes.
const GROWTH: usize = 20_000;

/// Changes attributes of SOAP arrays and of their items.
pub fn change(document: &mut Document, chance: &mut Chance) {
    let lists = lists(document);
    let Some(list) = chance.choose(&lists) else { return };
    let (parent, items) = (list.0, &list.1);
    let item = *chance.pick(items);
    match chance.below(8) {
        0 => add_attributes(document, parent, &format!(" e:arrayType='xsd:int[{}]'", size(items.len(), chance))),
        1 => add_attributes(document, parent, &format!(" e:offset='[{}]'", chance.below(5))),
        2..=4 => add_attributes(document, item, &format!(" e:position='[{}]'", chance.below(items.len() + 6))),
        5 => number_all(document, items, chance),
        6 => remove_positions(document, chance),
        _ => two_dimensions(document, parent, items, chance),
    }
}

fn size(items: usize, chance: &mut Chance) -> String {
    match chance.below(6) {
        0 => String::new(),
        1 => "2,3".to_owned(),
        2 => "4000000000".to_owned(),
        3 => "-1".to_owned(),
        _ => (items + chance.below(3)).to_string(),
    }
}

/// Gives all items positions, with gaps: a sparse array.
fn number_all(document: &mut Document, items: &[Element], chance: &mut Chance) {
    let mut positions = Vec::new();
    let mut at = chance.below(3);
    for _ in items {
        positions.push(at);
        at += 1 + if chance.one_in(3) { chance.below(4) } else { 0 };
    }
    if chance.one_in(6) {
        positions.reverse();
    }
    // Backwards, so that earlier positions stay valid.
    for (item, at) in items.iter().zip(positions).rev() {
        if !document.text(*item).contains("position=") && !chance.one_in(8) {
            add_attributes(document, *item, &format!(" e:position='[{at}]'"));
        }
    }
}

fn remove_positions(document: &mut Document, chance: &mut Chance) {
    let places: Vec<_> = document.0.match_indices(" e:position='[").map(|(at, _)| at).collect();
    let Some(&at) = chance.choose(&places) else { return };
    if let Some(len) = document.0[at + 13..].find('\'') {
        document.0.replace_range(at..at + 14 + len, "");
    }
}

/// Gives the items positions in rows and columns.
fn two_dimensions(document: &mut Document, parent: Element, items: &[Element], chance: &mut Chance) {
    let columns = chance.between(1, 3);
    for (index, item) in items.iter().enumerate().rev() {
        let (row, column) = (index / columns, index % columns);
        add_attributes(document, *item, &format!(" e:position='[{row},{column}]'"));
    }
    add_attributes(document, parent, &format!(" e:arrayType='xsd:int[{},{columns}]'", items.len().div_ceil(columns)));
}

/// Inserts, removes or moves some or many items.
pub fn resize(document: &mut Document, chance: &mut Chance) {
    let lists = lists(document);
    let Some((_, items)) = chance.choose(&lists) else { return };
    let first = chance.below(items.len());
    match chance.below(6) {
        0 | 1 => remove(document, &items[first..], chance),
        2 => repeat(document, items[first], chance.between(1, 3), chance),
        3 => repeat(document, items[first], chance.between(4, 60), chance),
        4 => rotate(document, items),
        _ => append_like_last(document, items, chance),
    }
}

/// Makes a list long.
pub fn grow(document: &mut Document, chance: &mut Chance) {
    let lists = lists(document);
    let Some((_, items)) = chance.choose(&lists) else { return };
    repeat(document, *chance.pick(items), chance.between(10, 400), chance);
}

/// Adds or removes a few items somewhere in the longest list.
pub fn slide(document: &mut Document, chance: &mut Chance) {
    let lists = lists(document);
    let Some((_, items)) = lists.iter().max_by_key(|(_, items)| items.len()) else { return };
    let first = chance.below(items.len());
    match chance.one_in(2) && items.len() > 1 {
        true => {
            let last = items.len().min(first + chance.between(1, 12));
            document.0.replace_range(items[first].start..items[last - 1].end, "");
        }
        false => repeat(document, items[first], chance.between(1, 12), chance),
    }
}

/// Makes a list long and reorders the elements of its items, if they can still be decoded.
pub fn shuffle(document: &mut Document, is_good: &impl Fn(&str) -> bool, chance: &mut Chance) {
    grow(document, chance);
    let mut other = Document(document.0.clone());
    reorder(&mut other, chance);
    if is_good(&other.0) {
        *document = other;
    }
}

/// Swaps two elements within an item: in one item, in all from one on, or in every other.
pub fn reorder(document: &mut Document, chance: &mut Chance) {
    let mut lists = lists(document);
    lists.retain(|(_, items)| children(document, items[0]).len() > 1);
    let Some((_, items)) = chance.choose(&lists) else { return };
    let count = children(document, items[0]).len();
    let (one, other) = (chance.below(count), chance.below(count));
    let first = if chance.one_in(3) { 0 } else { chance.below(items.len()) };
    let (last, step) = *chance.pick(&[(first + 1, 1), (items.len(), 1), (items.len(), 1), (items.len(), 2)]);
    // Backwards, so that earlier positions stay valid.
    for item in items[first..last].iter().step_by(step).rev() {
        exchange(document, &children(document, *item), one.min(other), one.max(other));
    }
}

fn exchange(document: &mut Document, elements: &[Element], first: usize, last: usize) {
    if let (Some(first), Some(last)) = (elements.get(first), elements.get(last)) {
        let texts = [first, last].map(|it| document.text(*it).to_owned());
        document.0.replace_range(last.start..last.end, &texts[0]);
        document.0.replace_range(first.start..first.end, &texts[1]);
    }
}

/// Returns the children of an element.
fn children(document: &Document, parent: Element) -> Vec<Element> {
    let mut within = Document(format!("<>{}</>", &document.0[parent.content..parent.tag])).elements();
    within.sort_by_key(|it| it.start);
    let mut end = 0;
    within.retain(|it| {
        it.start >= end && {
            end = it.end;
            true
        }
    });
    let moved = |at: usize| at + parent.content - "<>".len();
    let place = |it: Element| Element {
        start: moved(it.start),
        content: moved(it.content),
        tag: moved(it.tag),
        end: moved(it.end),
        name_end: moved(it.name_end),
    };
    within.into_iter().map(place).collect()
}

/// Removes several consecutive items.
fn remove(document: &mut Document, items: &[Element], chance: &mut Chance) {
    let count = chance.between(1, items.len());
    let (from, to) = (items[0].start, items[count - 1].end);
    document.0.replace_range(from..to, "");
}

/// Adds copies of an item, each with its own number. Does nothing if the item has identifiers.
fn repeat(document: &mut Document, item: Element, count: usize, chance: &mut Chance) {
    let from = chance.below(90_000);
    let text = document.text(item);
    let (count, lead) = (count.min(GROWTH / text.len().max(1)), white_before(document, item));
    if text.contains(" id=") || text.contains("position=") {
        return;
    }
    let items: String = (1..=count).map(|n| format!("{}{lead}", numbered(text, from + n))).collect();
    document.0.insert_str(item.start, &items);
}

/// Returns an item with another number in its first leaf that begins with one, so that items can be
/// distinguished.
fn numbered(text: &str, n: usize) -> String {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let Some(at) = text.match_indices('>').map(|(at, _)| at + 1).find(|&at| is_digit(at)) else {
        return text.to_owned();
    };
    let end = (at..).find(|&end| !is_digit(end)).unwrap_or(at);
    format!("{}{n}{}", &text[..at], &text[end..])
}

fn append_like_last(document: &mut Document, items: &[Element], chance: &mut Chance) {
    let Some(&last) = items.last() else { return };
    let text = format!("{}{}", white_before(document, last), document.text(last));
    document.0.insert_str(last.end, &text.repeat(chance.between(1, 3)));
}

/// Returns the white space between an item and the previous tag.
fn white_before(document: &Document, item: Element) -> String {
    let before = &document.0[..item.start];
    before[before.trim_ascii_end().len()..].to_owned()
}

fn rotate(document: &mut Document, items: &[Element]) {
    if let [first, .., last] = items {
        let text = document.text(*last).to_owned();
        document.0.replace_range(last.start..last.end, "");
        document.0.insert_str(first.start, &text);
    }
}

/// Returns consecutive elements with the same name and parent: the parent, and two or more
/// elements.
fn lists(document: &Document) -> Vec<(Element, Vec<Element>)> {
    let mut elements = in_body(document);
    elements.sort_by_key(|it| it.start);
    let mut lists: Vec<(Element, Vec<Element>)> = Vec::new();
    let mut open: Vec<(Element, Vec<Element>)> = Vec::new();
    for element in elements {
        while open.last().is_some_and(|(parent, _)| parent.end <= element.start) {
            lists.extend(open.pop().into_iter().flat_map(|it| runs(document, it)));
        }
        if let Some((_, children)) = open.last_mut() {
            children.push(element);
        }
        open.push((element, Vec::new()));
    }
    lists.extend(open.into_iter().flat_map(|it| runs(document, it)));
    lists
}

/// Returns runs of children with one name; sometimes single ones too, for there may be no others.
fn runs(document: &Document, (parent, children): (Element, Vec<Element>)) -> Vec<(Element, Vec<Element>)> {
    let runs = children.chunk_by(|one, other| document.name(*one) == document.name(*other));
    runs.map(|run| (parent, run.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbered() {
        assert_eq!(numbered("<i k='2'><a>x</a><b>25.5</b></i>", 7), "<i k='2'><a>x</a><b>7.5</b></i>");
        assert_eq!(numbered("<i>x</i>", 7), "<i>x</i>");
    }

    #[test]
    fn elements_of_items_change_places() {
        let items = "<l><i><a>1</a><b><c/></b></i><i><a>2</a><b/></i></l>";
        let reordered = |index| {
            let mut document = Document(format!("<e><Body>{items}</Body></e>"));
            reorder(&mut document, &mut Chance::new(3, index));
            document.0
        };
        let all: Vec<String> = (0..60).map(reordered).collect();
        for expected in
            ["<i><b><c/></b><a>1</a></i><i><a>2</a><b/></i>", "<i><b><c/></b><a>1</a></i><i><b/><a>2</a></i>"]
        {
            assert!(all.iter().any(|it| it.contains(expected)), "{expected}");
        }
    }

    #[test]
    fn lists_are_found_at_every_depth() {
        let document = Document("<e><Body><op><a/><a/><l><i>1</i><i>2</i></l></op></Body></e>".to_owned());
        let mut found: Vec<_> = lists(&document).into_iter().map(|(_, items)| items.len()).collect();
        found.sort_unstable();
        assert_eq!(found, [1, 2, 2]);
    }
}
