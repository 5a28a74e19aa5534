//! Updates: differences between messages of one stream of dynamic values, beyond [`edits`].

use crate::edits;
use crate::generate;
use deltasoap_core::schema::{Builtin, View};
use deltasoap_core::soap::HeaderBlock;
use deltasoap_core::{Child, Content, Node, QName, Simple, Value};
use deltasoap_test_support::Entropy;

/// Maximum size of a list, in leaves; long texts count as several.
const LEAVES: usize = 6000;
/// Number of bytes of text that count as another leaf.
const LEAF: usize = 64;
/// Maximum number of bytes to which a text grows.
const TEXT: usize = 100_000;

/// Changes a value somehow, sometimes everywhere. Afterwards its lists consist of separate values,
/// or are columns and tables again.
pub fn update(value: &mut Value, view: View<'_>, entropy: &mut Entropy<'_>) {
    change(value, view, entropy);
    if entropy.below(2) == 0 {
        generate::gather(value, view);
    }
}

fn change(value: &mut Value, view: View<'_>, entropy: &mut Entropy<'_>) {
    match entropy.below(20) {
        0..=8 => edits::edit(value, view, entropy),
        9..=13 => some_leaves(value, entropy, same_length),
        14 => some_leaves(value, entropy, |leaf, entropy| *leaf = generate::simple_value(entropy, leaf.builtin())),
        15 => longer_list(value, entropy),
        16 => longer_text(value, entropy),
        17 => shorter_list(value, entropy),
        18 => *value = generate::value(entropy, view),
        _ => *value = Value::vacant(view),
    }
}

/// Inserts a character that XML cannot represent into a text. Returns false if there is no text.
pub fn spoil(value: &mut Value, entropy: &mut Entropy<'_>) -> bool {
    let mut texts = leaves(value);
    texts.retain(|leaf| matches!(leaf, Simple::String(_)));
    let Some(text) = chosen(texts, entropy) else { return false };
    *text = Simple::String("good\u{1}bad".to_owned());
    true
}

/// Changes leaves from one place on, at small distances.
pub fn some_leaves(value: &mut Value, entropy: &mut Entropy<'_>, change: fn(&mut Simple, &mut Entropy<'_>)) {
    let leaves = leaves(value);
    let (start, step) = (entropy.below(256) % leaves.len().max(1), entropy.below(5) * entropy.below(5) + 1);
    let count = entropy.below(3) * entropy.below(256) + 1;
    leaves.into_iter().skip(start).step_by(step).take(count).for_each(|leaf| change(leaf, entropy));
}

/// Replaces digits and letters with others, if that gives a text of the same length.
pub fn same_length(leaf: &mut Simple, entropy: &mut Entropy<'_>) {
    let (old, by) = (leaf.to_string(), entropy.below(8) as u8 + 1);
    let turned = |c: char| match c {
        '1'..='9' => char::from(b'1' + (c as u8 - b'1' + by) % 9),
        'a'..='z' => char::from(b'a' + (c as u8 - b'a' + by) % 26),
        c => c,
    };
    let new: String = old.chars().map(turned).collect();
    let parsed = match leaf {
        Simple::String(_) => Ok(Simple::String(new)),
        _ => Simple::parse(leaf.builtin(), &new),
    };
    if let Ok(parsed) = parsed
        && parsed.to_string().len() == old.len()
    {
        *leaf = parsed;
    }
}

/// Repeats the items of a list until it is long.
pub fn longer_list(value: &mut Value, entropy: &mut Entropy<'_>) {
    let room = LEAVES.saturating_sub(size(value));
    let Some(items) = chosen(lists(value), entropy) else { return };
    let size = items.iter_mut().map(|item| size(item).max(1)).sum::<usize>();
    let wanted = entropy.below(256) * (entropy.below(24) + 1);
    let copies = (wanted.min(room) / size.max(1)).min(LEAVES / items.len());
    let pattern = items.clone();
    items.extend(pattern.iter().cycle().take(pattern.len() * copies).cloned());
}

/// Returns the number of leaves of a value, with long texts counted as several.
fn size(value: &mut Value) -> usize {
    let weight = |leaf: &mut Simple| match leaf {
        Simple::String(text) => 1 + text.len() / LEAF,
        _ => 1,
    };
    leaves(value).into_iter().map(weight).sum()
}

/// Removes items from a list, many if it is long.
fn shorter_list(value: &mut Value, entropy: &mut Entropy<'_>) {
    let Some(items) = chosen(lists(value), entropy) else { return };
    let len = items.len();
    let start = len * entropy.below(8) / 8;
    let end = start + (len - start) * entropy.below(9) / 8;
    items.drain(start..end.min(len));
}

fn longer_text(value: &mut Value, entropy: &mut Entropy<'_>) {
    let len = [10, 100, 300, 1000, 5000, TEXT][entropy.below(6)];
    let mut texts = leaves(value);
    texts.retain(|leaf| matches!(leaf, Simple::String(_)));
    if let Some(text) = chosen(texts, entropy) {
        *text = Simple::String("a word & <\u{e9}> ".chars().cycle().take(len).collect());
    }
}

fn chosen<T>(mut all: Vec<T>, entropy: &mut Entropy<'_>) -> Option<T> {
    let index = (entropy.below(256) * 256 + entropy.below(256)) % all.len().max(1);
    (index < all.len()).then(|| all.swap_remove(index))
}

/// Returns the texts of elements in document order.
fn leaves(value: &mut Value) -> Vec<&mut Simple> {
    let mut found = Vec::new();
    let mut ahead = vec![value];
    while let Some(value) = ahead.pop() {
        value.spread();
        match value {
            Value::Simple(simple) => found.push(simple),
            Value::Record(record) => ahead.extend(record.fields.iter_mut().rev()),
            Value::List(items) => ahead.extend(items.iter_mut().rev()),
            _ => {}
        }
    }
    found
}

/// Returns the outermost lists of each path.
fn lists(value: &mut Value) -> Vec<&mut Vec<Value>> {
    value.spread();
    match value {
        Value::List(items) if !items.is_empty() => vec![items],
        Value::Record(record) => record.fields.iter_mut().flat_map(lists).collect(),
        _ => Vec::new(),
    }
}

/// A few header blocks.
pub fn headers(entropy: &mut Entropy<'_>) -> Vec<HeaderBlock> {
    (0..entropy.below(3)).map(|index| HeaderBlock { node: block(entropy, index) }).collect()
}

fn block(entropy: &mut Entropy<'_>, index: usize) -> Node {
    let mut node = Node::new(QName::owned("urn:h", format!("h{index}")));
    if entropy.below(2) == 1 {
        node.attributes.push((QName::new("urn:a", "a"), text(entropy).into()));
    }
    if entropy.below(3) == 2 {
        node.bindings = [("ns".to_owned(), "urn:bound".to_owned())].into();
    }
    let words = text(entropy);
    if !words.is_empty() {
        node.children.push(Child::Text(words.into()));
    }
    if entropy.below(2) == 1 {
        node.children.push(Child::Element(Node::with_text(QName::new("", "inner"), "5")));
    }
    node
}

fn text(entropy: &mut Entropy<'_>) -> String {
    generate::simple_value(entropy, Builtin::String).to_string()
}
