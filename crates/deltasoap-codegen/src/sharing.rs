//! Types of SOAP encoding that contain themselves: their values can be shared and cyclic.
//!
//! Any value can be shared in SOAP encoding, but for most types this does not matter: a value that
//! is referenced twice is read twice. A value that contains itself, however, can only be expressed
//! by a reference. The rule is that of `deltasoap_wsdl::lower`.

use crate::graph;
use crate::model::{Item, ItemId, ItemKind, Model, TypeUse};
use std::collections::HashSet;

/// Makes values that may contain themselves shared.
pub(crate) fn share(model: &mut Model) {
    let shared = holding_themselves(model);
    if shared.is_empty() {
        return;
    }
    for item in &mut model.items {
        if let ItemKind::Struct(of) = &mut item.kind {
            of.members.iter_mut().for_each(|member| redirect(&mut member.content, &shared));
        }
        if let ItemKind::Choice(variants, _) = &mut item.kind {
            variants.iter_mut().for_each(|variant| redirect(&mut variant.content, &shared));
        }
    }
}

fn redirect(content: &mut TypeUse, shared: &HashSet<ItemId>) {
    match content {
        TypeUse::Item(id) if shared.contains(id) => *content = TypeUse::Shared(*id),
        TypeUse::Array(items) => redirect(&mut items.item, shared),
        _ => {}
    }
}

/// Returns the types in SOAP encoding that lead back to themselves.
fn holding_themselves(model: &Model) -> HashSet<ItemId> {
    if model.encoded.is_empty() {
        return HashSet::new();
    }
    let leads = |item: &Item| held(item).map(|id| model.resolve(id).index()).collect();
    let cyclic = graph::cyclic(&model.items.iter().map(leads).collect::<Vec<_>>());
    model.encoded.iter().copied().filter(|id| cyclic[id.index()]).collect()
}

/// Returns the items in an item, whatever their number of occurrences.
fn held(item: &Item) -> Box<dyn Iterator<Item = ItemId> + '_> {
    match &item.kind {
        ItemKind::Struct(of) => Box::new(of.members.iter().filter_map(|member| innermost(&member.content))),
        ItemKind::Choice(variants, _) => Box::new(variants.iter().filter_map(|variant| innermost(&variant.content))),
        ItemKind::Derived(of) => Box::new(of.types.iter().copied()),
        _ => Box::new(std::iter::empty()),
    }
}

fn innermost(content: &TypeUse) -> Option<ItemId> {
    match content {
        TypeUse::Item(id) | TypeUse::Shared(id) => Some(*id),
        TypeUse::Array(items) => innermost(&items.item),
        TypeUse::Plain(_) | TypeUse::List(_) => None,
    }
}
