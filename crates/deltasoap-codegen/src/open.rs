//! Open enumerations: those with a value for texts that the WSDL does not list.
//!
//! A value of a union has the first type that accepts its text, so a member that accepts every text
//! would hide those after it. Enumerations that unions use stay closed.

use crate::model::{ItemId, ItemKind, Model, TypeUse};
use std::collections::HashSet;

/// Opens the enumerations that no union uses.
pub(crate) fn enumerations(model: &mut Model) {
    let closed = in_unions(model);
    for (index, item) in model.items.iter_mut().enumerate() {
        if let ItemKind::Enumeration(of) = &mut item.kind {
            of.is_open = !closed.contains(&ItemId(index as u32));
        }
    }
}

/// Returns the items that are members of unions, or part of these.
fn in_unions(model: &Model) -> HashSet<ItemId> {
    let mut ahead: Vec<&TypeUse> = Vec::new();
    for item in &model.items {
        if let ItemKind::Union(of) = &item.kind {
            ahead.extend(of.members.iter().map(|(_, member)| member));
        }
    }
    let mut found = HashSet::new();
    while let Some(next) = ahead.pop() {
        match next {
            TypeUse::List(item) => ahead.push(item),
            TypeUse::Item(id) if found.insert(model.resolve(*id)) => match &model.item(model.resolve(*id)).kind {
                ItemKind::Alias(of) | ItemKind::Restriction(_, of) | ItemKind::Renamed(_, of) => ahead.push(of),
                _ => {}
            },
            _ => {}
        }
    }
    found
}
