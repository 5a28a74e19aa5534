//! Types that are worth their own code: records of numbers in lists.
//!
//! A list of flat items, whose values all have the same markup, is read and written in a loop that
//! is compiled for its type. Long lists consist of records of numbers, and these gain most from the
//! loop. The loop takes about a second to compile for each type. So all other types compile small
//! (`#[soap(compact)]`): a WSDL has hundreds or thousands of them.

use crate::model::{Item, ItemId, ItemKind, Member, Model, Nil, Occurs, Role, TypeUse};
use std::collections::HashSet;

/// Finds the records of numbers in lists, and the records in these.
pub(crate) fn find(model: &mut Model) {
    let mut ahead: Vec<ItemId> = model.items.iter().flat_map(in_lists).collect();
    let mut found = HashSet::new();
    while let Some(id) = ahead.pop() {
        let id = model.resolve(id);
        if is_flat(model, id, &mut HashSet::new()) && found.insert(id) {
            ahead.extend(members(model.item(id)).iter().filter_map(|member| item(&member.content)));
            if let ItemKind::Alias(of) = &model.item(id).kind {
                ahead.extend(item(of));
            }
        }
    }
    model.number_records = found;
}

/// Returns the items of lists and arrays in an item.
fn in_lists(of: &Item) -> impl Iterator<Item = ItemId> {
    members(of).iter().filter_map(|member| match (&member.content, member.occurs) {
        (TypeUse::Array(items), _) => item(&items.item),
        (content, Occurs::Many(..)) => item(content),
        _ => None,
    })
}

fn members(of: &Item) -> &[Member] {
    match &of.kind {
        ItemKind::Struct(of) => &of.members,
        ItemKind::Choice(variants, _) => variants,
        _ => &[],
    }
}

fn item(content: &TypeUse) -> Option<ItemId> {
    match content {
        TypeUse::Item(id) => Some(*id),
        _ => None,
    }
}

/// Returns true if all values have the same elements, each once, and all leaves are numbers.
/// `around` are the types that contain the item.
fn is_flat(model: &Model, id: ItemId, around: &mut HashSet<ItemId>) -> bool {
    let id = model.resolve(id);
    let is_new = around.insert(id);
    let is_flat = is_new
        && match &model.item(id).kind {
            ItemKind::Struct(of) => {
                !of.is_all && !of.is_group && of.members.iter().all(|member| is_required_leaf(model, member, around))
            }
            ItemKind::Alias(of) => is_flat_type(model, of, around),
            _ => false,
        };
    if is_new {
        around.remove(&id);
    }
    is_flat
}

fn is_required_leaf(model: &Model, member: &Member, around: &mut HashSet<ItemId>) -> bool {
    let is_plain = member.role == Role::Element && member.occurs == Occurs::Once && member.default_text.is_none();
    is_plain && member.nil == Nil::Never && !member.is_boxed && is_flat_type(model, &member.content, around)
}

fn is_flat_type(model: &Model, of: &TypeUse, around: &mut HashSet<ItemId>) -> bool {
    match of {
        TypeUse::Plain(path) => NUMBERS.contains(path),
        TypeUse::Item(id) => is_flat(model, *id, around),
        TypeUse::Array(_) | TypeUse::Shared(_) | TypeUse::List(_) => false,
    }
}

/// Numeric types.
const NUMBERS: [&str; 10] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];
