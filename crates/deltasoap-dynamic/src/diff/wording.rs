//! What a change is called.

use super::attributes::{Attribute, used};
use super::content::{Body, occurrence};
use super::declared::{declaration, text_type};
use super::language::{Range, add_wildcards, shown};
use super::pairs::{Pair, Subject};
use super::simple::Simple;
use crate::contract::Types;
use crate::describe::Describer;
use deltasoap_core::QName;
use deltasoap_core::schema::shortened;
use deltasoap_wsdl::xsd::{ElementId, TypeId, Variety};

/// Maximum number of characters of a content model that are shown.
const MAX_MODEL: usize = 160;
/// Maximum number of enumerated values that are shown.
const MAX_VALUES: usize = 8;

/// Describes a change. The types of the pair are those of the old and the new contract.
pub(super) fn what(types: [&Types; 2], pair: Pair, subject: &Subject) -> String {
    match (subject, pair) {
        (Subject::Nil, _) => "nil".to_owned() + " " + &arrow(each(types, pair, nil)),
        (Subject::Fixed, _) => changed("fixed value", each(types, pair, |types, pair| value(types, pair, true))),
        (Subject::Default, _) => changed("default", each(types, pair, |types, pair| value(types, pair, false))),
        (Subject::Abstract, _) => "the declared type is abstract in one of the two".to_owned(),
        (Subject::Derived(name), _) => derived(types, pair, name),
        (Subject::Constraints, _) => "identity constraints".to_owned(),
        (Subject::Kind, Pair::Content(ids)) => arrow([0, 1].map(|side| kind(types[side], ids[side]))),
        (Subject::Text, Pair::Content(ids)) => texts(types, ids),
        (Subject::Child(name), Pair::Content(ids)) => {
            match [0, 1].map(|side| occurrence(types[side], ids[side], name)) {
                [None, None] => declared(types.map(|types| types.import.schemas().element_named(name).is_some())),
                [old, new] => presence(old, new),
            }
        }
        (Subject::Wildcard, Pair::Content(ids)) => {
            "other elements ".to_owned() + &arrow([0, 1].map(|side| wildcards(types[side], ids[side])))
        }
        (Subject::Order, Pair::Content(ids)) => {
            "content ".to_owned() + &arrow([0, 1].map(|side| model(types[side], ids[side])))
        }
        (Subject::Mixed, Pair::Content(ids)) => {
            "text between elements ".to_owned() + &arrow([0, 1].map(|side| mixed(types[side], ids[side])))
        }
        (Subject::Attribute(name), Pair::Content(ids)) => {
            let of = |side: usize| {
                let it = Attribute::of(types[side], used(types[side], ids[side], name)?);
                Some((u64::from(it.is_required), Some(1)))
            };
            match [of(0), of(1)] {
                [None, None] => declared(types.map(|types| types.import.schemas().attribute_named(name).is_some())),
                [old, new] => presence(old, new),
            }
        }
        (Subject::AttributeText(name), Pair::Content(ids)) => attribute_texts(types, ids, name),
        (Subject::AttributeDefault(name), Pair::Content(ids)) => {
            let of = |side: usize| Attribute::of(types[side], used(types[side], ids[side], name)?).default;
            changed("default", [of(0), of(1)].map(|it| it.map(ToOwned::to_owned)))
        }
        (Subject::AttributeWildcard, _) => "other attributes".to_owned(),
        // These subjects are of content.
        (_, Pair::Declared(_)) => String::new(),
    }
}

/// Returns the end of the path to what a change is about, after the path to the element.
pub(super) fn step(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Child(name) => Some(name.local.to_string()),
        Subject::Attribute(name) | Subject::AttributeText(name) | Subject::AttributeDefault(name) => {
            Some(format!("@{}", name.local))
        }
        _ => None,
    }
}

/// Describes the change of a name.
pub(super) fn renamed(old: &QName, new: &QName) -> String {
    match old.local == new.local {
        true => format!("{old} → {new}"),
        false => format!("<{}> → <{}>", old.local, new.local),
    }
}

fn each<T>(types: [&Types; 2], pair: Pair, of: impl Fn(&Types, (Option<ElementId>, TypeId)) -> T) -> [T; 2] {
    [0, 1].map(|side| match pair {
        Pair::Declared(both) => of(types[side], (both[side].element, both[side].type_id)),
        Pair::Content(both) => of(types[side], (None, both[side])),
    })
}

fn arrow([old, new]: [String; 2]) -> String {
    format!("{old} → {new}")
}

/// Describes a value that was added, removed or changed.
fn changed(what: &str, values: [Option<String>; 2]) -> String {
    match values {
        [None, Some(new)] => format!("{what} {:?} added", shortened(&new)),
        [Some(old), None] => format!("{what} {:?} removed", shortened(&old)),
        [old, new] => {
            let [old, new] = [old, new].map(|it| format!("{:?}", shortened(&it.unwrap_or_default())));
            format!("{what} {old} → {new}")
        }
    }
}

fn nil(types: &Types, (element, type_id): (Option<ElementId>, TypeId)) -> String {
    let declared = super::pairs::Declared { element, type_id };
    let is_nillable = declaration(types, declared).is_none_or(|it| it.is_nillable);
    if is_nillable { "allowed" } else { "not allowed" }.to_owned()
}

fn value(types: &Types, (element, type_id): (Option<ElementId>, TypeId), is_fixed: bool) -> Option<String> {
    let it = declaration(types, super::pairs::Declared { element, type_id })?;
    let text = if is_fixed { &it.fixed } else { &it.default };
    text.as_deref().map(ToOwned::to_owned)
}

fn derived(types: [&Types; 2], pair: Pair, name: &QName) -> String {
    let label = types.iter().find(|types| types.named(name).is_some()).unwrap_or(&types[0]).label_of(name);
    let bases = each(types, pair, |types, (_, id)| {
        types.named(name).is_some_and(|found| types.can_be(found, id) && !super::declared::is_abstract(types, found))
    });
    match bases {
        [true, false] => format!("type {label} no longer allowed"),
        [false, true] => format!("type {label} added"),
        _ => format!("type {label} allowed in one of the two"),
    }
}

fn kind(types: &Types, id: TypeId) -> String {
    match Body::of(types, id) {
        Body::Text(text) => format!("text ({})", Describer::new(types).type_name(text)),
        Body::Elements(..) => "elements".to_owned(),
        Body::Array(array) => format!("array of {}", Describer::new(types).type_name(array.item)),
    }
}

fn model(types: &Types, id: TypeId) -> String {
    let Body::Elements(model, _) = Body::of(types, id) else { return String::new() };
    let text = shown(types, model);
    match text.char_indices().nth(MAX_MODEL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn mixed(types: &Types, id: TypeId) -> String {
    let is_allowed = matches!(Body::of(types, id), Body::Elements(_, true));
    if is_allowed { "allowed" } else { "not allowed" }.to_owned()
}

fn wildcards(types: &Types, id: TypeId) -> String {
    let mut all = Vec::new();
    if let Body::Elements(model, _) = Body::of(types, id) {
        add_wildcards(model, &mut all);
    }
    let shown = |it: &&deltasoap_wsdl::xsd::Wildcard| {
        let label = it.namespaces.label();
        let namespaces = if label.is_empty() { "##any" } else { &label };
        format!("{namespaces} ({:?})", it.process).to_lowercase()
    };
    let all: Vec<_> = all.iter().map(shown).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Describes a change of what a wildcard allows, by whether it is declared globally.
fn declared(is_declared: [bool; 2]) -> String {
    match is_declared {
        [true, false] => "no longer declared".to_owned(),
        [false, true] => "declared".to_owned(),
        _ => "allowed in one of the two".to_owned(),
    }
}

/// Describes a change of how often something occurs.
fn presence(old: Option<Range>, new: Option<Range>) -> String {
    match (old, new) {
        (None, None) => String::new(),
        (None, Some((0, most))) => format!("added, optional{}", many(most)),
        (None, Some((_, most))) => format!("added, required{}", many(most)),
        (Some(_), None) => "removed".to_owned(),
        (Some((0, most)), Some((1.., new_most))) if most == new_most => "optional → required".to_owned(),
        (Some((1.., most)), Some((0, new_most))) if most == new_most => "required → optional".to_owned(),
        (Some(old), Some(new)) => format!("occurs {}", arrow([old, new].map(occurs))),
    }
}

fn many(most: Option<u64>) -> &'static str {
    if most == Some(1) { "" } else { ", repeatable" }
}

fn occurs((least, most): Range) -> String {
    match most {
        None => format!("{least}..*"),
        Some(most) if most == least => format!("{most}"),
        Some(most) => format!("{least}..{most}"),
    }
}

fn attribute_texts(types: [&Types; 2], ids: [TypeId; 2], name: &QName) -> String {
    let of = |side: usize| Attribute::named(types[side], ids[side], name);
    let (Some(old), Some(new)) = (of(0), of(1)) else { return "value".to_owned() };
    if old.fixed != new.fixed {
        return changed("fixed value", [old.fixed, new.fixed].map(|it| it.map(ToOwned::to_owned)));
    }
    texts(types, [old.type_id, new.type_id])
}

/// Describes a change of a simple type: what only one of the two has.
pub(super) fn texts(types: [&Types; 2], ids: [TypeId; 2]) -> String {
    let of = |side: usize| {
        let id = text_type(types[side], ids[side]).unwrap_or(ids[side]);
        Simple { schemas: types[side].import.schemas(), id }
    };
    let simple = [of(0), of(1)];
    let facts = [0, 1].map(|side| facts(types[side], simple[side]));
    let own = |side: usize| -> Vec<String> {
        facts[side].iter().filter(|fact| !facts[1 - side].contains(fact)).cloned().collect()
    };
    let (old, new) = (own(0), own(1));
    let mut parts = match (&old[..], &new[..]) {
        ([], []) => Vec::new(),
        ([], new) => vec![format!("{} added", new.join(", "))],
        (old, []) => vec![format!("{} removed", old.join(", "))],
        (old, new) => vec![format!("{} → {}", old.join(", "), new.join(", "))],
    };
    parts.extend(values(simple));
    match parts.is_empty() {
        true => arrow([0, 1].map(|side| Describer::new(types[side]).type_name(ids[side]))),
        false => parts.join("; "),
    }
}

/// Describes a simple type without its enumeration.
fn facts(types: &Types, simple: Simple<'_>) -> Vec<String> {
    let describer = Describer::new(types);
    let variety = match simple.variety() {
        Variety::Restriction(base) => describer.type_name(*base),
        variety => describer.type_name_of(variety),
    };
    let mut facts = vec![variety];
    facts.extend(describer.facets(simple.id, false));
    facts
}

/// Describes a change of enumerated values.
fn values(simple: [Simple<'_>; 2]) -> Vec<String> {
    let listed = |all: &[&str]| {
        let more = all.len().saturating_sub(MAX_VALUES);
        let shown: Vec<_> = all.iter().take(MAX_VALUES).map(|text| format!("{:?}", shortened(text))).collect();
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    };
    let (old, new) = match simple.map(Simple::values) {
        [None, None] => return Vec::new(),
        [None, Some(new)] => return vec![format!("only the values {}", listed(&new))],
        [Some(old), None] => return vec![format!("no longer only the values {}", listed(&old))],
        [Some(old), Some(new)] => (old, new),
    };
    let only = |these: &[&str], others: &[&str], what: &str| {
        let known: std::collections::HashSet<&str> = others.iter().copied().collect();
        let only: Vec<_> = these.iter().copied().filter(|it| !known.contains(it)).collect();
        (!only.is_empty()).then(|| format!("values {what}: {}", listed(&only)))
    };
    [only(&old, &new, "removed"), only(&new, &old, "added")].into_iter().flatten().collect()
}
