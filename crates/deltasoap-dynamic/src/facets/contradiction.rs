//! Facets that contradict each other or their type, so that the type has fewer values than it
//! seems, or none (XSD 1.0 part 2, 4.3).

use super::value::{compare, is_lexical};
use super::{own, steps};
use deltasoap_core::schema::Builtin;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Facets, TypeId, Variety};
use std::cmp::Ordering;

/// Returns errors in a type's own facets, compared with each other and with those of the types that
/// it restricts.
pub(crate) fn contradictions(schemas: &Schemas, id: TypeId) -> Vec<String> {
    let Some(own) = own(schemas, id) else { return Vec::new() };
    let all = steps(schemas, id);
    let mut found: Vec<String> = schemas.variety(id).into_iter().flat_map(|it| foreign(own, it)).collect();
    found.extend(numbers(own, &all));
    if let Some(Variety::Builtin(builtin)) = schemas.variety(id) {
        for (name, text) in bounds(own).filter_map(|(name, text)| Some((name, text.as_deref()?))) {
            if let Err(reason) = is_lexical(*builtin, text) {
                found.push(format!("the {name} {text:?} is not of xsd:{}: {reason}", builtin.local()));
            }
        }
        let wrong = |least: &str, most: &str, is_open: bool| match compare(*builtin, least, most) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => is_open,
            _ => false,
        };
        for (least, most) in pairs(own, &all) {
            let [(lower, least), (upper, most)] = [least, most];
            // Equal bounds contradict each other if exactly one of them is exclusive.
            let is_open = lower.ends_with("Exclusive") != upper.ends_with("Exclusive");
            if wrong(least, most, is_open) {
                found.push(format!("{lower} is {least}, and {upper} {most}: no value is possible"));
            }
        }
    }
    found
}

/// Returns facets that do not apply to types of a variety (XSD 1.0 part 2, 4.1.5). All varieties
/// can have patterns; enumerations are always meaningful.
fn foreign(own: &Facets, variety: &Variety) -> Vec<String> {
    let ([has_lengths, has_bounds, has_digits], what) = match variety {
        Variety::Any | Variety::Restriction(_) => return Vec::new(),
        Variety::List(_) => ([true, false, false], "lists".to_owned()),
        Variety::Union(_) => ([false; 3], "unions".to_owned()),
        Variety::Builtin(builtin) => (kinds(*builtin), format!("xsd:{}", builtin.local())),
    };
    let lengths = [("length", own.length), ("minLength", own.min_length), ("maxLength", own.max_length)];
    let digits = [("totalDigits", own.total_digits), ("fractionDigits", own.fraction_digits)];
    let lengths = lengths.into_iter().filter(|_| !has_lengths);
    let numbers = lengths.chain(digits.into_iter().filter(|_| !has_digits));
    let numbers = numbers.filter_map(|(name, number)| number.map(|_| name));
    let bounds = bounds(own).filter(|_| !has_bounds).filter_map(|(name, text)| text.as_ref().map(|_| name));
    numbers.chain(bounds).map(|name| format!("{name} does not apply to {what}")).collect()
}

/// Returns whether a built-in type has lengths, bounds and digits.
fn kinds(builtin: Builtin) -> [bool; 3] {
    use Builtin as B;
    match std::iter::successors(Some(builtin), |it| it.base()).last().unwrap_or(builtin) {
        B::Boolean => [false; 3],
        B::Decimal => [false, true, true],
        B::Float | B::Double | B::Duration | B::Date | B::Time | B::DateTime => [false, true, false],
        B::GYear | B::GYearMonth | B::GMonth | B::GMonthDay | B::GDay => [false, true, false],
        _ => [true, false, false],
    }
}

/// Checks lengths and digits. Each pair is the lesser and the greater facet.
fn numbers(own: &Facets, all: &[&Facets]) -> Vec<String> {
    type Of = fn(&Facets) -> Option<u64>;
    let pairs: [(&str, Of, &str, Of); 5] = [
        ("minLength", |it| it.min_length, "maxLength", |it| it.max_length),
        ("minLength", |it| it.min_length, "length", |it| it.length),
        ("length", |it| it.length, "maxLength", |it| it.max_length),
        ("length", |it| it.length, "length", |it| it.length),
        ("fractionDigits", |it| it.fraction_digits, "totalDigits", |it| it.total_digits),
    ];
    let mut found = Vec::new();
    for (lower, less, upper, more) in pairs {
        let least = all.iter().filter_map(|it| less(it)).max();
        let most = all.iter().filter_map(|it| more(it)).min();
        let (Some(least), Some(most)) = (least, most) else { continue };
        if least > most && (less(own).is_some() || more(own).is_some()) {
            found.push(format!("{lower} is {least}, and {upper} {most}"));
        }
    }
    found
}

fn bounds(facets: &Facets) -> impl Iterator<Item = (&'static str, &Option<Box<str>>)> {
    lower(facets).into_iter().chain(upper(facets))
}

fn lower(facets: &Facets) -> [(&'static str, &Option<Box<str>>); 2] {
    [("minInclusive", &facets.min_inclusive), ("minExclusive", &facets.min_exclusive)]
}

fn upper(facets: &Facets) -> [(&'static str, &Option<Box<str>>); 2] {
    [("maxInclusive", &facets.max_inclusive), ("maxExclusive", &facets.max_exclusive)]
}

type Bound<'f> = (&'static str, &'f str);

/// Returns pairs of lower and upper bounds, at least one of which is the type's own.
fn pairs<'f>(own: &'f Facets, all: &[&'f Facets]) -> Vec<(Bound<'f>, Bound<'f>)> {
    let given = |(name, text): (&'static str, &'f Option<Box<str>>)| Some((name, text.as_deref()?));
    let mut pairs = Vec::new();
    for other in all {
        let is_own = std::ptr::eq(own, *other);
        for least in lower(own).into_iter().filter_map(given) {
            pairs.extend(upper(other).into_iter().filter_map(given).map(|most| (least, most)));
        }
        for most in upper(own).into_iter().filter(|_| !is_own).filter_map(given) {
            pairs.extend(lower(other).into_iter().filter_map(given).map(|least| (least, most)));
        }
    }
    pairs
}
