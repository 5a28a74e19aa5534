//! Simple types: whether every text of one type is a text of another one.
//!
//! Built-in types, bounds, lengths and digits are compared as sets, enumerated values one by one,
//! patterns as texts. What this does not prove is tried: texts at and next to the facets of both
//! types. If none of them shows a difference either, the answer is not known.

use crate::facets::{self, steps};
use crate::sample::candidates;
use deltasoap_core::schema::Builtin as B;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Facets, TypeId, Variety, WhiteSpace};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::BTreeSet;

/// Maximum depth of nested lists and unions.
const MAX_DEPTH: usize = 8;
/// Maximum number of enumerated values and of members of a union that are compared one by one.
const MAX_VALUES: usize = 20_000;
/// Maximum length of the texts that are tried, in characters.
const MAX_LENGTH: u64 = 5_000;

/// Whether the texts of one type are texts of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Texts {
    /// All are.
    Included,
    /// This one is not.
    Excluded(String),
    /// Not known.
    Unknown,
}

/// A simple type of some schemas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simple<'s> {
    pub(super) schemas: &'s Schemas,
    pub(super) id: TypeId,
}

impl<'s> Simple<'s> {
    fn with(self, id: TypeId) -> Self {
        Simple { id, ..self }
    }

    fn steps(self) -> Vec<&'s Facets> {
        steps(self.schemas, self.id)
    }

    pub(super) fn variety(self) -> &'s Variety {
        self.schemas.variety(self.id).unwrap_or(&Variety::Any)
    }

    pub(super) fn allows(self, text: &str) -> bool {
        facets::violation(self.schemas, self.id, text).is_none()
    }

    /// Returns the values that the type allows, each as written, if it lists them.
    pub(super) fn values(self) -> Option<Vec<&'s str>> {
        let step = self.steps().into_iter().find(|step| !step.enumeration.is_empty())?;
        Some(step.enumeration.iter().map(|it| &*it.value).collect())
    }

    fn white_space(self) -> WhiteSpace {
        let declared = self.steps().iter().find_map(|it| it.white_space);
        declared.unwrap_or(match self.variety() {
            Variety::Builtin(B::String) | Variety::Any | Variety::Union(_) => WhiteSpace::Preserve,
            Variety::Builtin(B::NormalizedString) => WhiteSpace::Replace,
            _ => WhiteSpace::Collapse,
        })
    }
}

/// Compares the texts of `sub` with those of `sup`.
pub(super) fn compare(sub: Simple<'_>, sup: Simple<'_>) -> Texts {
    if is_included(sub, sup, MAX_DEPTH) {
        return Texts::Included;
    }
    // A type that lists its values is known completely.
    let all = sub.values().filter(|all| all.len() <= MAX_VALUES);
    let tried: Vec<String> = all.iter().flatten().map(ToString::to_string).chain(texts(sub, sup)).collect();
    let shows = |text: &&String| sub.allows(text) && !sup.allows(text);
    tried.iter().find(shows).cloned().map_or(Texts::Unknown, Texts::Excluded)
}

/// Returns a text of a type that is not this one, or `None` if the checker finds none.
pub(super) fn other_than(simple: Simple<'_>, is_same: impl Fn(&str) -> bool) -> Option<String> {
    let all = simple.values().into_iter().flatten().map(ToOwned::to_owned).chain(texts(simple, simple));
    all.filter(|text| simple.allows(text)).find(|text| !is_same(text))
}

/// Returns true if it is proved that every text of `sub` is one of `sup`.
fn is_included(sub: Simple<'_>, sup: Simple<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if are_alike(sub, sup, depth) {
        return true;
    }
    if let Some(values) = sub.values() {
        return values.len() <= MAX_VALUES && has_one_form(sub, sup) && values.iter().all(|it| sup.allows(it));
    }
    if let Variety::Union(members) = sub.variety() {
        let steps = sub.steps();
        let has_facets = steps.iter().any(|step| **step != Facets::default());
        return !has_facets && members.iter().all(|&member| is_included(sub.with(member), sup, depth));
    }
    let allows_all = |facets: &&Facets| is_implied(sub, sup, facets);
    let of_variety = match (sub.variety(), sup.variety()) {
        (_, Variety::Any) => true,
        (Variety::Builtin(one), Variety::Builtin(other)) => is_within(*one, *other),
        (_, Variety::Builtin(B::String | B::NormalizedString | B::Token)) => true,
        (Variety::List(item), Variety::List(other)) => is_included(sub.with(*item), sup.with(*other), depth),
        (_, Variety::List(item)) => is_one_word(sub) && is_included(sub, sup.with(*item), depth),
        (_, Variety::Union(members)) => members.iter().any(|&member| is_included(sub, sup.with(member), depth)),
        _ => false,
    };
    of_variety && sup.steps().iter().all(allows_all)
}

/// Returns true if the two types have the same variety and the same facets.
fn are_alike(one: Simple<'_>, other: Simple<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_variety_alike = match (one.variety(), other.variety()) {
        (Variety::List(item), Variety::List(another)) => are_alike(one.with(*item), other.with(*another), depth),
        (Variety::Union(members), Variety::Union(others)) => {
            let mut pairs = members.iter().zip(others);
            members.len() == others.len()
                && pairs.all(|(&member, &another)| are_alike(one.with(member), other.with(another), depth))
        }
        (variety, another) => variety == another,
    };
    let steps = |it: Simple<'_>| -> Vec<Facets> {
        it.steps().into_iter().map(plain).filter(|step| *step != Facets::default()).collect()
    };
    is_variety_alike && one.schemas.packing(one.id) == other.schemas.packing(other.id) && steps(one) == steps(other)
}

/// Returns facets without documentation, and without the order of patterns and values.
fn plain(facets: &Facets) -> Facets {
    let mut facets = facets.clone();
    facets.enumeration.iter_mut().for_each(|it| it.documentation = None);
    facets.enumeration.sort_by(|one, other| one.value.cmp(&other.value));
    facets.patterns.sort();
    facets
}

/// Returns true if it does not matter how a value of an enumeration is written: it has one form, or
/// `sup` has no facet that depends on the form.
fn has_one_form(sub: Simple<'_>, sup: Simple<'_>) -> bool {
    let is_text =
        |it: Simple<'_>| matches!(it.variety(), Variety::Builtin(builtin) if primitive(*builtin) == B::String);
    is_text(sub) || !is_text(sup) && sup.steps().iter().all(|step| step.patterns.is_empty())
}

/// Returns true if the texts of a type have no white space inside them.
fn is_one_word(simple: Simple<'_>) -> bool {
    matches!(simple.variety(), Variety::Builtin(builtin) if !matches!(primitive(*builtin), B::String | B::AnyUri)
        && !matches!(builtin, B::NmTokens | B::IdRefs | B::Entities | B::Base64Binary))
        || matches!(
            simple.variety(),
            Variety::Builtin(B::Name | B::NcName | B::NmToken | B::Language | B::Id | B::IdRef | B::Entity)
        )
}

/// Returns true if every text of a built-in type is one of another.
fn is_within(one: B, other: B) -> bool {
    let is_base = std::iter::successors(Some(one), |it| it.base()).any(|base| base == other);
    let is_number = matches!(primitive(one), B::Decimal | B::Float | B::Double);
    let bounds = |it: B| (primitive(it) == B::Decimal).then(|| integers(it));
    let is_integer_range = match (bounds(one), bounds(other)) {
        (Some(Some((least, most))), Some(Some((low, high)))) => {
            low.is_none_or(|low| least.is_some_and(|least| least >= low))
                && high.is_none_or(|high| most.is_some_and(|most| most <= high))
        }
        _ => false,
    };
    is_base
        || is_integer_range
        // White space is normalized before a text is checked.
        || matches!(other, B::String | B::NormalizedString | B::Token)
        || is_number && matches!(other, B::Float | B::Double)
        || matches!((one, other), (B::NmToken, B::NmTokens) | (B::IdRef, B::IdRefs) | (B::Entity, B::Entities))
}

fn primitive(builtin: B) -> B {
    std::iter::successors(Some(builtin), |it| it.base()).last().unwrap_or(builtin)
}

/// Returns the least and the greatest value of a type of whole numbers; `None` for other types.
pub(super) fn integers(builtin: B) -> Option<(Option<i128>, Option<i128>)> {
    Some(match builtin {
        B::Integer => (None, None),
        B::NonPositiveInteger => (None, Some(0)),
        B::NegativeInteger => (None, Some(-1)),
        B::NonNegativeInteger => (Some(0), None),
        B::PositiveInteger => (Some(1), None),
        B::Long => (Some(i64::MIN.into()), Some(i64::MAX.into())),
        B::Int => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        B::Short => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        B::Byte => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        B::UnsignedLong => (Some(0), Some(u64::MAX.into())),
        B::UnsignedInt => (Some(0), Some(u32::MAX.into())),
        B::UnsignedShort => (Some(0), Some(u16::MAX.into())),
        B::UnsignedByte => (Some(0), Some(u8::MAX.into())),
        _ => return None,
    })
}

/// Returns true if it is proved that every text of `sub` has these facets, which are of `sup`.
fn is_implied(sub: Simple<'_>, sup: Simple<'_>, facets: &Facets) -> bool {
    let same_space = sub.white_space() == sup.white_space();
    are_lengths_implied(sub, sup, facets, same_space)
        && are_bounds_implied(sub, sup, facets)
        && are_digits_implied(sub, facets)
        && facets.enumeration.is_empty()
        && (facets.patterns.is_empty() || same_space && are_patterns_implied(sub, facets))
}

fn are_lengths_implied(sub: Simple<'_>, sup: Simple<'_>, facets: &Facets, same_space: bool) -> bool {
    if facets.length.or(facets.min_length).or(facets.max_length).is_none() {
        return true;
    }
    // Lengths are characters, bytes or items.
    let is_same_unit = match (sub.variety(), sup.variety()) {
        (Variety::Builtin(one), Variety::Builtin(other)) => {
            let unit = |it: B| match (it, primitive(it)) {
                (B::NmTokens | B::IdRefs | B::Entities, _) => 0,
                (_, B::HexBinary | B::Base64Binary) => 1,
                (_, B::String | B::AnyUri) => 2,
                _ => 3,
            };
            unit(*one) == unit(*other) && unit(*one) < 3
        }
        (Variety::List(_), Variety::List(_)) => true,
        _ => false,
    };
    let (least, most) = lengths(&sub.steps());
    let max = facets.length.or(facets.max_length);
    let min = facets.length.or(facets.min_length).unwrap_or(0);
    // Collapsing white space makes texts shorter, never longer.
    is_same_unit
        && max.is_none_or(|max| most.is_some_and(|most| most <= max))
        && (min == 0 || same_space && least >= min)
}

/// Returns the least and the greatest length that facets allow.
fn lengths(steps: &[&Facets]) -> (u64, Option<u64>) {
    let least = steps.iter().flat_map(|it| [it.length, it.min_length]).flatten().max().unwrap_or(0);
    (least, steps.iter().flat_map(|it| [it.length, it.max_length]).flatten().min())
}

fn are_bounds_implied(sub: Simple<'_>, sup: Simple<'_>, facets: &Facets) -> bool {
    let (Variety::Builtin(builtin), Variety::Builtin(of_sup)) = (sub.variety(), sup.variety()) else {
        let Facets { min_inclusive, min_exclusive, max_inclusive, max_exclusive, .. } = facets;
        return [min_inclusive, min_exclusive, max_inclusive, max_exclusive].iter().all(|it| it.is_none());
    };
    // The order is that of the type whose facets they are.
    let holds = |bound: &Option<Box<str>>, is_upper: bool, is_open: bool| {
        let Some(bound) = bound.as_deref() else { return true };
        let own = bounds(*builtin, &sub.steps(), is_upper);
        own.iter().any(|(own, is_own_open)| {
            let beyond = if is_upper { Less } else { Greater };
            match facets::compare(*of_sup, own, bound) {
                Some(Equal) => *is_own_open || !is_open,
                Some(order) => order == beyond,
                None => false,
            }
        })
    };
    holds(&facets.min_inclusive, false, false)
        && holds(&facets.min_exclusive, false, true)
        && holds(&facets.max_inclusive, true, false)
        && holds(&facets.max_exclusive, true, true)
}

/// Returns the lower or upper bounds of a type, each with whether it is exclusive.
fn bounds(builtin: B, steps: &[&Facets], is_upper: bool) -> Vec<(String, bool)> {
    let of_step = |step: &&Facets| match is_upper {
        true => [(step.max_inclusive.clone(), false), (step.max_exclusive.clone(), true)],
        false => [(step.min_inclusive.clone(), false), (step.min_exclusive.clone(), true)],
    };
    let declared = steps.iter().flat_map(of_step).filter_map(|(text, is_open)| Some((text?.into_string(), is_open)));
    let own = integers(builtin).and_then(|(least, most)| if is_upper { most } else { least });
    declared.chain(own.map(|own| (own.to_string(), false))).collect()
}

fn are_digits_implied(sub: Simple<'_>, facets: &Facets) -> bool {
    let Variety::Builtin(builtin) = sub.variety() else {
        return facets.total_digits.or(facets.fraction_digits).is_none();
    };
    let steps = sub.steps();
    let is_whole = integers(*builtin).is_some();
    let fraction = steps.iter().filter_map(|it| it.fraction_digits).min().or(is_whole.then_some(0));
    let total = steps.iter().filter_map(|it| it.total_digits).min();
    // The bounds of whole numbers limit their digits.
    let of_bound = |is_upper| {
        let digits =
            |text: String| text.trim_start_matches(['-', '+', '0']).split('.').next().map_or(0, str::len) as u64;
        bounds(*builtin, &steps, is_upper).into_iter().map(|(text, _)| digits(text)).min()
    };
    let by_bounds = of_bound(true).zip(of_bound(false)).map(|(one, other)| one.max(other)).filter(|_| is_whole);
    let total = total.into_iter().chain(by_bounds).min();
    facets.fraction_digits.is_none_or(|most| fraction.is_some_and(|it| it <= most))
        && facets.total_digits.is_none_or(|most| total.is_some_and(|it| it <= most))
}

/// Returns true if the patterns of one of the type's steps are all among these.
fn are_patterns_implied(sub: Simple<'_>, facets: &Facets) -> bool {
    let steps = sub.steps();
    let mut own = steps.iter().map(|step| &step.patterns).filter(|patterns| !patterns.is_empty());
    own.any(|patterns| patterns.iter().all(|pattern| facets.patterns.contains(pattern)))
}

/// Returns texts that may show the difference of two types, the simplest first.
fn texts(sub: Simple<'_>, sup: Simple<'_>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for simple in [sub, sup] {
        texts.extend(candidates(simple.schemas, simple.id, MAX_DEPTH));
    }
    for simple in [sup, sub] {
        texts.extend(around_bounds(simple));
        texts.extend(around_lengths(sub, simple));
        texts.extend(around_digits(simple));
    }
    texts.extend(of_patterns(sub));
    texts.extend(TYPICAL.iter().map(ToString::to_string));
    // Lists of what shows a difference of items, and members of unions.
    if let (Variety::List(item), Variety::List(other)) = (sub.variety(), sup.variety())
        && let Texts::Excluded(text) = compare(sub.with(*item), sup.with(*other))
    {
        let (least, _) = lengths(&sub.steps());
        texts.push(vec![text; least.clamp(1, MAX_LENGTH) as usize].join(" "));
    }
    if let Variety::Union(members) = sub.variety() {
        let found = members.iter().take(100).filter_map(|&member| match compare(sub.with(member), sup) {
            Texts::Excluded(text) => Some(text),
            _ => None,
        });
        texts.extend(found);
    }
    let mut seen = BTreeSet::new();
    texts.retain(|text| text.chars().all(deltasoap_core::lexical::is_xml_char) && seen.insert(text.clone()));
    texts
}

/// Texts of many types.
const TYPICAL: &[&str] = &[
    "text",
    "some text",
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "1E10",
    "INF",
    "true",
    "2026-01-02",
    "2026-01-02T03:04:05Z",
    "03:04:05",
    "P1D",
    "2026",
    "AQID",
    "0f",
    "name",
    "-x",
    "a b",
    " a ",
    "a  b",
    "\u{e9}",
    "128",
    "256",
    "32768",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775808",
    "18446744073709551616",
    "-129",
    "-32769",
    "-2147483649",
    "-9223372036854775809",
];

/// Returns values at the bounds of a type and next to them.
fn around_bounds(simple: Simple<'_>) -> Vec<String> {
    let Variety::Builtin(builtin) = simple.variety() else { return Vec::new() };
    let steps = simple.steps();
    let mut texts = Vec::new();
    for is_upper in [false, true] {
        for (bound, _) in bounds(*builtin, &steps, is_upper) {
            texts.extend(facets::neighbors(*builtin, &bound, None, true));
            texts.extend(facets::neighbors(*builtin, &bound, None, false));
            texts.extend([-1, 1].iter().filter_map(|&by| facets::shifted(*builtin, &bound, by)));
            texts.push(bound);
        }
    }
    texts
}

/// Returns texts in the form of `sub` whose lengths are at and next to those of another type.
fn around_lengths(sub: Simple<'_>, simple: Simple<'_>) -> Vec<String> {
    let steps = simple.steps();
    let declared = steps.iter().flat_map(|it| [it.length, it.min_length, it.max_length]).flatten();
    let near: BTreeSet<u64> = declared.flat_map(|it| [it.saturating_sub(1), it, it.saturating_add(1)]).collect();
    let near: Vec<usize> = near.into_iter().filter(|it| *it <= MAX_LENGTH).map(|it| it as usize).collect();
    let of_length = |length: usize| match sub.variety() {
        Variety::List(item) => {
            let texts = candidates(sub.schemas, *item, MAX_DEPTH);
            let item = texts.into_iter().find(|text| sub.with(*item).allows(text)).unwrap_or_default();
            vec![vec![item; length].join(" ")]
        }
        Variety::Builtin(B::HexBinary) => vec!["0f".repeat(length)],
        Variety::Builtin(B::Base64Binary) => {
            let bytes = deltasoap_core::lexical::Base64(vec![0; length]);
            vec![deltasoap_core::Simple::Base64Binary(bytes).to_string()]
        }
        Variety::Builtin(B::NmTokens | B::IdRefs | B::Entities) => vec![vec!["x"; length].join(" ")],
        _ => vec!["x".repeat(length), "1".repeat(length)],
    };
    near.into_iter().flat_map(of_length).collect()
}

/// Returns numbers with as many digits as a type allows, and with one more.
fn around_digits(simple: Simple<'_>) -> Vec<String> {
    let steps = simple.steps();
    let counts = |most: Option<u64>| most.filter(|it| *it < 400).into_iter().flat_map(|it| [it, it + 1]);
    let total = steps.iter().flat_map(|it| counts(it.total_digits)).map(|count| "1".repeat(count as usize));
    let fraction =
        steps.iter().flat_map(|it| counts(it.fraction_digits)).map(|count| format!("0.{}", "1".repeat(count as usize)));
    total.chain(fraction).collect()
}

/// Returns texts of different lengths that match the patterns of a type.
fn of_patterns(simple: Simple<'_>) -> Vec<String> {
    /// Repetitions beyond the least.
    const EXTRA: [u32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32];
    /// Texts for each pattern and number of repetitions.
    const EACH: usize = 40;
    let steps = simple.steps();
    let patterns = steps.iter().flat_map(|step| &step.patterns).take(20);
    let all =
        patterns.flat_map(|pattern| EXTRA.iter().flat_map(move |&extra| (0..EACH).map(move |it| (pattern, extra, it))));
    all.filter_map(|(pattern, extra, number)| facets::pattern_sample(pattern, extra, number)).collect()
}
