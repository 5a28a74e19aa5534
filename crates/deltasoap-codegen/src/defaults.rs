//! Types that implement `Default`: structs whose fields all do.
//!
//! A default is zero, false, empty or absent. Types for which none of these is a value have no
//! default: dates, names, enumerations, choices. A struct with a required field of such a type has
//! none either.

use crate::model::{Item, ItemId, ItemKind, Member, Model, Occurs, TypeUse};

/// Finds the items with a default.
pub(crate) fn find(model: &mut Model) {
    let mut missing: Vec<usize> = Vec::with_capacity(model.items.len());
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); model.items.len()];
    for (index, item) in model.items.iter().enumerate() {
        let needed = needed(item);
        needed.iter().flatten().for_each(|id| users[model.resolve(*id).index()].push(index));
        missing.push(needed.map_or(NEVER, |needed| needed.len()));
    }
    let mut ahead: Vec<usize> = (0..missing.len()).filter(|&index| missing[index] == 0).collect();
    while let Some(index) = ahead.pop() {
        model.defaults.insert(ItemId(index as u32));
        for &user in &users[index] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ahead.push(user);
            }
        }
    }
}

/// The number of missing defaults of an item that never has one.
const NEVER: usize = usize::MAX;

/// Returns the items that must have a default so that this one has; `None` if it never has one.
fn needed(item: &Item) -> Option<Vec<ItemId>> {
    match &item.kind {
        ItemKind::Struct(of) => {
            let values = of.members.iter().filter(|member| is_value(member)).map(|member| needed_for(&member.content));
            Some(values.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        }
        ItemKind::Derived(of) => of.base.map(|base| vec![base]),
        ItemKind::Alias(of) | ItemKind::Restriction(_, of) | ItemKind::Renamed(_, of) | ItemKind::Element(_, of, _) => {
            Some(needed_for(of)?.into_iter().collect())
        }
        ItemKind::Pending | ItemKind::Choice(..) | ItemKind::Enumeration(_) | ItemKind::Union(_) => None,
    }
}

/// Returns true for a field that always has a value.
fn is_value(member: &Member) -> bool {
    member.occurs == Occurs::Once && !member.is_nillable()
}

/// Returns the item whose default is that of the use, if any; `None` if the use has no default.
#[allow(clippy::option_option, reason = "without a default, or with one that needs no item")]
fn needed_for(of: &TypeUse) -> Option<Option<ItemId>> {
    match of {
        TypeUse::Item(id) => Some(Some(*id)),
        TypeUse::Plain(path) => (!WITHOUT.contains(path)).then_some(None),
        TypeUse::Array(_) | TypeUse::List(_) => Some(None),
        TypeUse::Shared(_) => None,
    }
}

/// Types of the runtime without a natural default: neither nothing nor zero is a value.
const WITHOUT: [&str; 20] = [
    "deltasoap::schema::QName",
    "deltasoap::lexical::Date",
    "deltasoap::lexical::DateTime",
    "deltasoap::lexical::Entity",
    "deltasoap::lexical::GDay",
    "deltasoap::lexical::GMonth",
    "deltasoap::lexical::GMonthDay",
    "deltasoap::lexical::GYear",
    "deltasoap::lexical::GYearMonth",
    "deltasoap::lexical::Id",
    "deltasoap::lexical::IdRef",
    "deltasoap::lexical::Language",
    "deltasoap::lexical::Name",
    "deltasoap::lexical::NcName",
    "deltasoap::lexical::NegativeInteger",
    "deltasoap::lexical::NmToken",
    "deltasoap::lexical::Notation",
    "deltasoap::lexical::PositiveInteger",
    "deltasoap::lexical::QName",
    "deltasoap::lexical::Time",
];
