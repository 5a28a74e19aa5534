//! Recursive types: decides which fields are boxed and which are optional.
//!
//! Fields that hold a single value are the edges of a graph. Within a strongly connected component,
//! a field is boxed, so that the type has a finite size, and optional, so that a value without it
//! can be made: the engine decodes into such a value.

use crate::graph;
use crate::model::{Item, ItemId, ItemKind, Member, Model, Occurs, Role, TypeUse};

/// Boxes the fields that need it.
pub(crate) fn break_cycles(model: &mut Model) {
    let parts = strongly_connected_components(model);
    for index in 0..model.items.len() {
        let part = parts[index];
        let is_within = |member: &Member, parts: &[u32]| inner(member).is_some_and(|to| parts[to.index()] == part);
        match &mut model.items[index].kind {
            ItemKind::Struct(of) => {
                of.members.iter_mut().filter(|member| is_within(member, &parts)).for_each(make_optional);
            }
            ItemKind::Choice(variants, _) => {
                let within = variants.iter_mut().filter(|it| is_within(it, &parts));
                within.for_each(|it| it.is_boxed = it.role != Role::Group);
            }
            _ => {}
        }
    }
}

fn make_optional(member: &mut Member) {
    // The variants of a choice are boxed already, as are the members of groups.
    member.is_boxed = !matches!(member.role, Role::Inline | Role::Group);
    if member.occurs == Occurs::Once && !member.is_nillable() {
        member.occurs = Occurs::AtMostOnce;
    }
}

/// Returns the item that a member stores exactly one value of.
fn inner(member: &Member) -> Option<ItemId> {
    match (&member.content, member.occurs) {
        (TypeUse::Item(id), Occurs::Once | Occurs::AtMostOnce) => Some(*id),
        _ => None,
    }
}

fn edges(item: &Item) -> impl Iterator<Item = ItemId> {
    let members: &[Member] = match &item.kind {
        ItemKind::Struct(of) => &of.members,
        ItemKind::Choice(variants, _) => variants,
        _ => &[],
    };
    members.iter().filter_map(inner)
}

/// Returns the strongly connected component of each item.
fn strongly_connected_components(model: &Model) -> Vec<u32> {
    let leads = |item: &Item| edges(item).map(|to| model.resolve(to).index()).collect();
    graph::strongly_connected_components(&model.items.iter().map(leads).collect::<Vec<_>>())
}
