//! Mending of values: one of their texts is replaced by another.

use super::{Column, Table, Value};
use crate::decode::FlatSource;
use crate::decode::differential::Mend;
use crate::schema::{Builtin, Element, View};
use crate::{Child, Lexical, Node};

/// A position in a value.
enum Position<'v, 's> {
    Value(&'v mut Value, View<'s>),
    Row(&'v mut Table, usize),
    Item(&'v mut Column, usize),
}

/// See [`Shortcuts::mend`](crate::content::Shortcuts::mend).
pub(super) fn mend(value: &mut Value, view: View<'_>, mend: &Mend<'_>) -> Option<()> {
    let step = |place, &(field, count): &(u32, u32)| child(place, field as usize, count as usize);
    let (value, view) = match mend.path.iter().try_fold(Position::Value(value, view), step)? {
        Position::Value(value, view) => (value, view),
        Position::Item(column, place) if mend.attribute.is_none() => return column.mend(place, mend),
        Position::Item(..) | Position::Row(..) => return None,
    };
    // The attribute may be the one that names the element's type.
    if matches!(view.element, Element::Open(_)) && mend.attribute.is_some() && mend.tree_path.is_empty() {
        return None;
    }
    let (value, view) = chosen(value, view)?;
    match (value, view.element) {
        (Value::Tree(root), Element::Any | Element::Open(_)) => mend_tree(root, mend),
        (Value::Simple(simple), Element::Simple(element)) => {
            let is_default = mend.is_gone() && element.default.is_some();
            let is_plain = element.enumeration.is_empty() && element.base != Builtin::Base64Binary && !is_default;
            let is_text = mend.attribute.is_none() && is_plain && simple.is_of(element.base);
            if is_text { simple.scan_flat(&mut Leaf(mend)) } else { None }
        }
        _ => None,
    }
}

/// Returns an occurrence of a field, or an item of an array.
fn child<'v, 's>(place: Position<'v, 's>, field: usize, count: usize) -> Option<Position<'v, 's>> {
    let at = count.checked_sub(1)?;
    let (value, view) = match place {
        Position::Value(value, view) => chosen(value, view)?,
        Position::Row(table, row) => return table.column_mut(field).map(|column| Position::Item(column, row)),
        Position::Item(..) => return None,
    };
    match (value, view.element) {
        (Value::Record(record), Element::Complex(complex)) => {
            let decl = complex.fields.get(field)?;
            // The table has no node for the branch of a choice, so inside one the steps do not
            // correspond to the levels of the value.
            if decl.inline && !matches!(view.follow(decl.element).element, Element::Any) {
                return None;
            }
            let content = view.follow(decl.element);
            match (record.fields.get_mut(field)?, decl.is_repeated()) {
                (Value::List(items), true) => Some(Position::Value(items.get_mut(at)?, content)),
                (Value::Column(column), true) => Some(Position::Item(column, at)),
                (Value::Table(table), true) => Some(Position::Row(table, at)),
                (_, true) => None,
                (value, false) => Some(Position::Value(value, content)),
            }
        }
        (Value::List(items), Element::Array(array)) => {
            Some(Position::Value(items.get_mut(at)?, view.follow(array.item)))
        }
        _ => None,
    }
}

/// Resolves content whose type the message has chosen. This is not a step on the path: the start
/// tag is unchanged.
fn chosen<'v, 's>(value: &'v mut Value, view: View<'s>) -> Option<(&'v mut Value, View<'s>)> {
    match (value, view.element) {
        (Value::Typed(typed), Element::Open(open)) => Some((&mut typed.value, view.follow(open.named(&typed.name)?))),
        (value @ Value::Tree(_), Element::Open(_)) => Some((value, view)),
        (value, Element::Open(open)) => Some((value, view.follow(open.base?))),
        (value, _) => Some((value, view)),
    }
}

fn mend_tree(root: &mut Node, mend: &Mend<'_>) -> Option<()> {
    let (text, steps) = match mend.attribute {
        Some(_) => (None, mend.tree_path),
        None => mend.tree_path.split_last().map(|(text, steps)| (Some(text), steps))?,
    };
    let node = steps.iter().try_fold(root, |node, step| match node.children.get_mut(*step as usize)? {
        Child::Element(child) => Some(child),
        Child::Text(_) => None,
    })?;
    match (mend.attribute, text) {
        (Some(number), _) => {
            node.attributes.get_mut(number as usize)?.1 = mend.attribute_value()?;
            Some(())
        }
        (None, text) => mend_text(&mut node.children, *text? as usize, mend),
    }
}

/// Mends text in a tree, which is a child that is never empty.
fn mend_text(children: &mut Vec<Child>, number: usize, mend: &Mend<'_>) -> Option<()> {
    if mend.is_new {
        let text = mend.text()?;
        (number <= children.len()).then(|| children.insert(number, Child::Text(text)))
    } else if mend.is_gone() {
        matches!(children.get(number)?, Child::Text(_)).then(|| drop(children.remove(number)))
    } else {
        match children.get_mut(number)? {
            Child::Text(text) => mend.text().map(|new| *text = new),
            Child::Element(_) => None,
        }
    }
}

/// A source of a single leaf.
struct Leaf<'m>(&'m Mend<'m>);

impl FlatSource for Leaf<'_> {
    fn named_type(&mut self) -> Option<Builtin> {
        None
    }

    fn leaf<T: Lexical>(&mut self, value: &mut T) -> Option<()> {
        self.0.read(value)
    }
}
