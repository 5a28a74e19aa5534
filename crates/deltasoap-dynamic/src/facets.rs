//! Facets: checks whether a simple type allows a text (XSD 1.0 part 2, 4.3).
//!
//! The engine checks built-in types and enumerations. This module checks the other facets of a
//! schema: for the validation of messages, and for samples, which must be valid.

mod calendar;
mod contradiction;
mod neighbors;
mod pattern;
mod value;

pub(crate) use contradiction::contradictions;
pub(crate) use neighbors::{neighbors, shifted};
pub(crate) use pattern::{Unusable, sample as pattern_sample};
pub(crate) use value::{canonical, compare};

use deltasoap_core::QName;
use deltasoap_core::schema::{Builtin, shortened, shown_values};
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Enumerated, Facets, TypeDefinition, TypeId, Variety, WhiteSpace};
use std::borrow::Cow;
use std::cmp::Ordering;
use value::is_lexical;

/// Maximum depth of unions and restrictions.
const MAX_DEPTH: usize = 64;

/// Resolves a qualified name in a text; `None` for a prefix that is not declared.
pub(crate) type Resolve<'r> = &'r dyn Fn(&str) -> Option<QName>;

/// Describes how a text violates a simple type; `None` for a text that the type allows. Prefixes
/// are not checked.
pub(crate) fn violation(schemas: &Schemas, id: TypeId, text: &str) -> Option<String> {
    violation_in(schemas, id, text, &|name| Some(QName::owned("", name)))
}

/// Like [`violation`], but names are resolved.
pub(crate) fn violation_in(schemas: &Schemas, id: TypeId, text: &str, names: Resolve<'_>) -> Option<String> {
    check_type(schemas, id, text, names, MAX_DEPTH).err()
}

/// A text after white space normalization, and its type: for a union, the member that accepts the
/// text.
struct Plain<'t> {
    id: TypeId,
    text: Cow<'t, str>,
}

fn check_type<'t>(
    schemas: &Schemas,
    id: TypeId,
    text: &'t str,
    names: Resolve<'_>,
    depth: usize,
) -> Result<Plain<'t>, String> {
    let own = Plain { id, text: normalized(schemas, id, text) };
    let (Some(depth), Some(variety)) = (depth.checked_sub(1), schemas.variety(id)) else { return Ok(own) };
    let (plain, fault) = match variety {
        Variety::Builtin(builtin) => {
            let fault = check_builtin(*builtin, &own.text, names);
            let fault = fault.or_else(|| check_packing(schemas, id, &own.text));
            (own, fault)
        }
        Variety::List(item) => {
            let mut items = own.text.split_ascii_whitespace();
            let fault = items.find_map(|it| check_type(schemas, *item, it, names, depth).err());
            (own, fault)
        }
        Variety::Union(members) => match accepting_member(schemas, members, text, names, depth) {
            Some(plain) => (plain, None),
            None => (own, Some(format!("{:?} matches none of the union's types", shortened(text)))),
        },
        _ => (own, None),
    };
    let mut facets = steps(schemas, id).into_iter();
    let fault = fault.or_else(|| facets.find_map(|facets| check_step(schemas, id, facets, &plain.text, names)));
    fault.map_or(Ok(plain), Err)
}

/// Returns the first member of a union that accepts the text (XSD 1.0 part 2, 2.5.1.3). The text's
/// white space is kept for it (4.3.6).
fn accepting_member<'t>(
    schemas: &Schemas,
    members: &[TypeId],
    text: &'t str,
    names: Resolve<'_>,
    depth: usize,
) -> Option<Plain<'t>> {
    members.iter().find_map(|&member| check_type(schemas, member, text, names, depth).ok())
}

fn check_builtin(builtin: Builtin, text: &str, names: Resolve<'_>) -> Option<String> {
    let wrong = |reason: &str| format!("{:?} is not of xsd:{}: {reason}", shortened(text), builtin.local());
    if let Err(reason) = is_lexical(builtin, text) {
        return Some(wrong(reason));
    }
    let is_name = matches!(builtin, Builtin::QName | Builtin::Notation);
    (is_name && names(text).is_none()).then(|| wrong("its prefix is not declared"))
}

/// Checks that packed numbers are whole.
fn check_packing(schemas: &Schemas, id: TypeId, text: &str) -> Option<String> {
    let packing = schemas.packing(id)?;
    let ((bytes, unit), size) = (length(schemas, id, text)?, packing.size());
    let wrong =
        || format!("{bytes} {unit}, which are not a whole number of xsd:{}, of {size} each", packing.items.local());
    (!bytes.is_multiple_of(size as u64)).then(wrong)
}

/// Returns the reason why a pattern cannot be used.
pub(crate) fn unusable(pattern: &str) -> Option<Unusable> {
    pattern::compiled(pattern).err()
}

/// Returns the type's own facets.
pub(crate) fn own(schemas: &Schemas, id: TypeId) -> Option<&Facets> {
    match &schemas[id].definition {
        TypeDefinition::Simple(simple) => simple.facets.as_deref(),
        TypeDefinition::Complex(_) => None,
    }
}

/// Returns the facets of a type and of all types that it restricts.
pub(crate) fn steps(schemas: &Schemas, id: TypeId) -> Vec<&Facets> {
    let (mut id, mut steps) = (id, Vec::new());
    while let TypeDefinition::Simple(simple) = &schemas[id].definition {
        steps.extend(simple.facets.as_deref());
        match simple.variety {
            Variety::Restriction(base) if steps.len() < MAX_DEPTH => id = base,
            _ => break,
        }
    }
    steps
}

/// Returns the text after the type's white space normalization (XSD 1.0 part 2, 4.3.6). Unions do
/// not normalize.
fn normalized<'t>(schemas: &Schemas, id: TypeId, text: &'t str) -> Cow<'t, str> {
    let white_space = steps(schemas, id).iter().find_map(|it| it.white_space);
    let usual = match schemas.variety(id) {
        Some(Variety::Union(_)) => return Cow::Borrowed(text),
        Some(Variety::Builtin(Builtin::String) | Variety::Any) | None => WhiteSpace::Preserve,
        Some(Variety::Builtin(Builtin::NormalizedString)) => WhiteSpace::Replace,
        _ => WhiteSpace::Collapse,
    };
    match white_space.unwrap_or(usual) {
        WhiteSpace::Preserve => Cow::Borrowed(text),
        WhiteSpace::Replace => Cow::Owned(text.replace(['\t', '\n', '\r'], " ")),
        WhiteSpace::Collapse => Cow::Owned(text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

fn check_step(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str, names: Resolve<'_>) -> Option<String> {
    check_length(schemas, id, facets, text)
        .or_else(|| check_bounds(schemas, id, facets, text))
        .or_else(|| check_digits(facets, text))
        .or_else(|| check_enumeration(schemas, id, facets, text, names))
        .or_else(|| check_patterns(facets, text))
}

fn check_length(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
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

fn check_bounds(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str) -> Option<String> {
    let Some(Variety::Builtin(builtin)) = schemas.variety(id) else { return None };
    use Ordering::{Equal, Greater, Less};
    let breaks = |bound: &Option<Box<str>>, wrong: &[Ordering], what: &str| {
        let bound = bound.as_deref()?;
        // A value without an order violates the bound.
        let is_wrong = compare(*builtin, text, bound).is_none_or(|order| wrong.contains(&order));
        let is_same_nan = text == "NaN" && bound == "NaN" && !wrong.contains(&Equal);
        (is_wrong && !is_same_nan).then(|| format!("{} is not {what} {}", shortened(text), shortened(bound)))
    };
    breaks(&facets.min_inclusive, &[Less], "at least")
        .or_else(|| breaks(&facets.max_inclusive, &[Greater], "at most"))
        .or_else(|| breaks(&facets.min_exclusive, &[Less, Equal], "greater than"))
        .or_else(|| breaks(&facets.max_exclusive, &[Greater, Equal], "less than"))
}

fn check_digits(facets: &Facets, text: &str) -> Option<String> {
    let (whole, fraction) =
        text.trim_start_matches(['+', '-']).split_once('.').unwrap_or((text.trim_start_matches(['+', '-']), ""));
    let (whole, fraction) = (whole.trim_start_matches('0').len() as u64, fraction.trim_end_matches('0').len() as u64);
    match facets {
        Facets { total_digits: Some(most), .. } if whole + fraction > *most => {
            Some(format!("{} has more than {most} digits", shortened(text)))
        }
        Facets { fraction_digits: Some(most), .. } if fraction > *most => {
            Some(format!("{} has more than {most} digits after the point", shortened(text)))
        }
        _ => None,
    }
}

fn check_enumeration(schemas: &Schemas, id: TypeId, facets: &Facets, text: &str, names: Resolve<'_>) -> Option<String> {
    let is_name = matches!(schemas.variety(id), Some(Variety::Builtin(Builtin::QName | Builtin::Notation)));
    // Most values equal an enumerated text.
    if facets.enumeration.is_empty() || !is_name && facets.enumeration.iter().any(|allowed| *allowed.value == *text) {
        return None;
    }
    let value = canonical(schemas, id, text, names);
    let is_this = |allowed: &Enumerated| match &allowed.name {
        Some(name) if is_name => names(text).as_ref() == Some(name),
        _ if is_name => allowed.value.trim_ascii() == text.rsplit(':').next().unwrap_or_default(),
        // Its prefix is declared in the schema.
        name => {
            let own =
                |text: &str| name.clone().filter(|_| *text == *allowed.value.trim_ascii()).or_else(|| names(text));
            canonical(schemas, id, &allowed.value, &own) == value
        }
    };
    if facets.enumeration.iter().any(is_this) {
        return None;
    }
    let allowed = shown_values(facets.enumeration.iter().map(|it| &*it.value));
    Some(format!("{:?} is none of {allowed}", shortened(text)))
}

fn check_patterns(facets: &Facets, text: &str) -> Option<String> {
    let mut is_match = facets.patterns.is_empty();
    for it in &facets.patterns {
        match pattern::compiled(it) {
            Ok(pattern) => is_match |= pattern.is_match(text),
            Err(Unusable::Invalid) => return Some(format!("the pattern {it} is not valid in XML Schema")),
            // Nothing is known about the text then.
            Err(Unusable::TooLarge) => return None,
        }
    }
    if is_match {
        return None;
    }
    Some(format!("{:?} does not match the pattern {}", shortened(text), facets.patterns.join(" or ")))
}
