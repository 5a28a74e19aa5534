//! Facets: whether a text is one that a simple type allows (XSD 1.0 part 2, 4.3).
//!
//! The engine looks at built-in types and enumerations. What else a schema says is looked at here: by the validation of messages,
//! and for samples, which are to be valid.

mod order;
mod pattern;

pub(crate) use pattern::sample as pattern_sample;

use deltasoap_core::Simple;
use deltasoap_core::schema::Builtin;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Facets, TypeDefinition, TypeId, Variety};
use order::compare;
use std::cmp::Ordering;

/// Most types in unions and restrictions that are followed.
const DEPTH: usize = 64;

/// What a text violates of a simple type, for people; `None` for a text that the type allows.
pub(crate) fn violation(schemas: &Schemas, id: TypeId, text: &str) -> Option<String> {
    of_type(schemas, id, text, DEPTH)
}

fn of_type(schemas: &Schemas, id: TypeId, text: &str, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = &*normalized(schemas, id, text);
    let of_base = match schemas.variety(id)? {
        Variety::Builtin(builtin) => of_builtin(*builtin, text),
        Variety::List(item) => text.split_ascii_whitespace().find_map(|it| of_type(schemas, *item, it, depth)),
        Variety::Union(members) if members.iter().all(|&it| of_type(schemas, it, text, depth).is_some()) => {
            Some(format!("{text:?} is of none of the types that the union has"))
        }
        _ => None,
    };
    of_base.or_else(|| steps(schemas, id).iter().find_map(|facets| of_step(schemas, id, facets, text)))
}

fn of_builtin(builtin: Builtin, text: &str) -> Option<String> {
    let reason = |error: deltasoap_core::lexical::LexicalError| {
        format!("{text:?} is not of xsd:{}: {}", builtin.local(), error.reason)
    };
    Simple::parse(builtin, text).err().map(reason)
}

/// The facets of a type and of all types that it restricts.
pub(crate) fn steps(schemas: &Schemas, id: TypeId) -> Vec<&Facets> {
    let (mut id, mut steps) = (id, Vec::new());
    while let TypeDefinition::Simple(simple) = &schemas[id].definition {
        steps.extend(simple.facets.as_deref());
        match simple.variety {
            Variety::Restriction(base) if steps.len() < DEPTH => id = base,
            _ => break,
        }
    }
    steps
}

/// The text without the white space that the type does not keep.
fn normalized(schemas: &Schemas, id: TypeId, text: &str) -> String {
    let keeps = matches!(schemas.variety(id), Some(Variety::Builtin(Builtin::String)) | Some(Variety::Any) | None);
    let collapses =
        steps(schemas, id).iter().any(|it| it.white_space == Some(deltasoap_wsdl::xsd::WhiteSpace::Collapse));
    let is_kept = keeps && !collapses || schemas.variety(id) == Some(&Variety::Builtin(Builtin::NormalizedString));
    if is_kept { text.to_owned() } else { text.split_ascii_whitespace().collect::<Vec<_>>().join(" ") }
}

fn of_step(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
    of_length(schemas, id, facets, text)
        .or_else(|| of_bounds(schemas, id, facets, text))
        .or_else(|| of_digits(facets, text))
        .or_else(|| of_enumeration(schemas, id, facets, text))
        .or_else(|| of_patterns(facets, text))
}

fn of_length(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
    facets.length.or(facets.min_length).or(facets.max_length)?;
    let (length, unit) = length(schemas, id, text)?;
    let wrong = |what: &str, bound: u64| Some(format!("{length} {unit}, and {what} {bound} {unit} are allowed"));
    match facets {
        Facets { length: Some(exact), .. } if length != *exact => wrong("exactly", *exact),
        Facets { min_length: Some(min), .. } if length < *min => wrong("at least", *min),
        Facets { max_length: Some(max), .. } if length > *max => wrong("at most", *max),
        _ => None,
    }
}

fn length(schemas: &Schemas, id: TypeId, text: &str) -> Option<(u64, &'static str)> {
    Some(match schemas.variety(id)? {
        Variety::List(_) => (text.split_ascii_whitespace().count() as u64, "items"),
        Variety::Builtin(Builtin::NmTokens | Builtin::IdRefs | Builtin::Entities) => {
            (text.split_ascii_whitespace().count() as u64, "items")
        }
        Variety::Builtin(Builtin::HexBinary) => (text.len() as u64 / 2, "bytes"),
        Variety::Builtin(Builtin::Base64Binary) => {
            let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
            (digits as u64 * 3 / 4, "bytes")
        }
        Variety::Builtin(Builtin::QName | Builtin::Notation) => return None,
        _ => (text.chars().count() as u64, "characters"),
    })
}

fn of_bounds(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
    let Some(Variety::Builtin(builtin)) = schemas.variety(id) else { return None };
    let breaks = |bound: &Option<Box<str>>, wrong: &[Ordering], what: &str| {
        let bound = bound.as_deref()?;
        let order = compare(*builtin, text, bound)?;
        wrong.contains(&order).then(|| format!("{text} is not {what} {bound}"))
    };
    use Ordering::{Equal, Greater, Less};
    breaks(&facets.min_inclusive, &[Less], "at least")
        .or_else(|| breaks(&facets.max_inclusive, &[Greater], "at most"))
        .or_else(|| breaks(&facets.min_exclusive, &[Less, Equal], "greater than"))
        .or_else(|| breaks(&facets.max_exclusive, &[Greater, Equal], "less than"))
}

fn of_digits(facets: &Facets, text: &str) -> Option<String> {
    let (whole, fraction) =
        text.trim_start_matches(['+', '-']).split_once('.').unwrap_or((text.trim_start_matches(['+', '-']), ""));
    let (whole, fraction) = (whole.trim_start_matches('0').len() as u64, fraction.trim_end_matches('0').len() as u64);
    match facets {
        Facets { total_digits: Some(most), .. } if whole + fraction > *most => {
            Some(format!("{text} has more than {most} digits"))
        }
        Facets { fraction_digits: Some(most), .. } if fraction > *most => {
            Some(format!("{text} has more than {most} digits behind the point"))
        }
        _ => None,
    }
}

fn of_enumeration(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
    const MOST: usize = 10;
    let builtin = match schemas.variety(id) {
        Some(Variety::Builtin(Builtin::QName | Builtin::Notation)) => return None,
        Some(Variety::Builtin(builtin)) => *builtin,
        _ => Builtin::String,
    };
    let value = Simple::parse(builtin, text).ok();
    let is_this = |allowed: &str| allowed == text || value.is_some() && Simple::parse(builtin, allowed).ok() == value;
    if facets.enumeration.is_empty() || facets.enumeration.iter().any(|it| is_this(&it.value)) {
        return None;
    }
    let values: Vec<_> = facets.enumeration.iter().take(MOST).map(|it| &*it.value).collect();
    let more = if facets.enumeration.len() > MOST { ", …" } else { "" };
    Some(format!("{text:?} is none of {}{more}", values.join(", ")))
}

/// Patterns that cannot be compiled, such as those that name blocks of Unicode, are not looked at.
fn of_patterns(facets: &Facets, text: &str) -> Option<String> {
    let compiled: Option<Vec<_>> = facets.patterns.iter().map(|it| pattern::compiled(it)).collect();
    let is_match = compiled?.iter().any(|pattern| pattern.is_match(text));
    if facets.patterns.is_empty() || is_match {
        return None;
    }
    Some(format!("{text:?} does not match the pattern {}", facets.patterns.join(" or ")))
}
