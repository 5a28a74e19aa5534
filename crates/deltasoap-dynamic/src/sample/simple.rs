//! Simple values that match their facets.

use super::Sampler;
use super::names::with_names;
use crate::facets;
use deltasoap_core::lexical::Base64;
use deltasoap_core::schema::{Attribute, Builtin as B, Element, ElementRef, SimpleElement};
use deltasoap_core::{Column, QName, Simple, Value};
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Facets, TypeId, Variety};
use std::rc::Rc;

impl Sampler<'_> {
    /// Returns a value of a simple type; the default if there is one, which may be the only allowed
    /// value.
    pub(super) fn simple(&mut self, content: ElementRef, default: Option<&str>) -> Simple {
        let view = self.types.lowered.schema.view(content);
        let id = self.types.lowered.origin(content).map(|origin| origin.type_id);
        let text = match (default, id) {
            (Some(default), _) => default.to_owned(),
            (None, Some(id)) => {
                let text = self.text(id);
                with_names(self.types.import.schemas(), id, &text, QName::to_string)
            }
            (None, None) => String::new(),
        };
        let parsed = match view.element {
            Element::Simple(simple) if view.element.is_name() => Simple::named(simple.base, &text).ok(),
            Element::Simple(simple) => Simple::parse_as(simple, &text).ok(),
            Element::Union(union) => Simple::parse_union(union, view, &text),
            _ => None,
        };
        parsed.unwrap_or_else(|| match view.element {
            Element::Simple(simple) => Simple::vacant(simple.base),
            _ => Simple::String(text),
        })
    }

    /// Returns the content of an element of a simple type.
    pub(super) fn leaf(&mut self, content: ElementRef) -> Value {
        let element = self.types.lowered.schema.view(content).element;
        let simple = self.simple(content, element.default_text());
        match (element, simple) {
            (Element::Simple(SimpleElement { packed: Some(packing), .. }), Simple::Base64Binary(bytes)) => {
                let numbers = Column::from_packed(&bytes.0, *packing).map(Value::Packed);
                numbers.unwrap_or(Value::Simple(Simple::Base64Binary(bytes)))
            }
            (_, simple) => Value::Simple(simple),
        }
    }

    /// Returns a value of an attribute.
    pub(super) fn attribute(&mut self, attribute: &Attribute) -> Simple {
        self.simple(attribute.element, attribute.default.as_deref())
    }

    /// Returns a text of a type: the first candidate that its facets allow. Texts of `xsd:ID`
    /// differ.
    pub(super) fn text(&mut self, id: TypeId) -> String {
        let schemas = self.types.import.schemas();
        let text = self.candidate(id);
        let variety = schemas.variety(id);
        self.has_ids |= matches!(variety, Some(Variety::List(_) | Variety::Builtin(B::Id | B::IdRef | B::IdRefs)));
        if variety != Some(&Variety::Builtin(B::Id)) {
            return text;
        }
        self.made_ids += 1;
        let other = format!("{text}{}", self.made_ids);
        if self.made_ids > 1 && facets::violation(schemas, id, &other).is_none() { other } else { text }
    }

    fn candidate(&mut self, id: TypeId) -> String {
        let schemas = self.types.import.schemas();
        let good = Rc::clone(self.good.entry(id).or_insert_with(|| good(schemas, id).into()));
        let turn = if self.chance.is_some() && good.len() > 1 { self.below(good.len()) } else { 0 };
        good.get(turn).cloned().unwrap_or_default()
    }
}

/// Eight bytes in base64: a whole number of packed items of any type.
const ONE_NUMBER: &str = "AAAAAAAAAAA=";

/// Maximum number of enumerated values, patterns and members that candidates are made from.
pub(super) const MAX_CANDIDATES: usize = 100;

/// Returns the candidates that the facets allow; the first one if they allow none.
fn good(schemas: &Schemas, id: TypeId) -> Vec<String> {
    let mut candidates = candidates(schemas, id, 4);
    let first = candidates.first().cloned();
    candidates.retain(|text| facets::violation(schemas, id, text).is_none());
    candidates.extend(first.filter(|_| candidates.is_empty()));
    candidates
}

/// Returns candidate texts of a type, the simplest first.
pub(crate) fn candidates(schemas: &Schemas, id: TypeId, depth: usize) -> Vec<String> {
    let steps = facets::steps(schemas, id);
    let mut texts: Vec<String> = Vec::new();
    for facets in &steps {
        texts.extend(facets.enumeration.iter().take(MAX_CANDIDATES).map(|it| it.value.to_string()));
    }
    if !texts.is_empty() {
        return texts;
    }
    let repetitions = repetitions(&steps);
    for pattern in steps.iter().flat_map(|facets| &facets.patterns).take(MAX_CANDIDATES) {
        texts.extend(repetitions.iter().filter_map(|&extra| facets::pattern_sample(pattern, extra, 0)));
    }
    match schemas.variety(id) {
        Some(Variety::Builtin(B::NmTokens | B::IdRefs | B::Entities)) => {
            texts.push("one two".to_owned());
            texts.extend(lists("one", &steps));
        }
        Some(Variety::Builtin(_)) if schemas.packing(id).is_some() => texts.push(ONE_NUMBER.to_owned()),
        Some(Variety::Builtin(builtin)) => texts.extend(of_builtin(*builtin).iter().map(ToString::to_string)),
        Some(Variety::List(item)) if depth > 0 => {
            let mut items = candidates(schemas, *item, depth - 1);
            let good = items.iter().position(|text| facets::violation(schemas, *item, text).is_none());
            let item = if items.is_empty() { String::new() } else { items.swap_remove(good.unwrap_or_default()) };
            texts.extend(lists(&item, &steps));
        }
        Some(Variety::Union(members)) if depth > 0 => {
            texts.extend(members.iter().take(MAX_CANDIDATES).flat_map(|&it| candidates(schemas, it, depth - 1)));
        }
        _ => texts.push("text".to_owned()),
    }
    for facets in &steps {
        let bounds = [&facets.min_inclusive, &facets.max_inclusive];
        texts.extend(bounds.into_iter().flatten().map(ToString::to_string));
        let lengths = [facets.length, facets.min_length, facets.max_length].into_iter().flatten();
        texts.extend(lengths.filter(|&length| length <= MAX_LENGTH).map(|length| "x".repeat(length as usize)));
        let bytes =
            facets.length.or(facets.min_length).or(facets.max_length).unwrap_or_default().min(MAX_LENGTH) as usize;
        texts.extend(["00".repeat(bytes), Simple::Base64Binary(Base64(vec![0; bytes])).to_string(), language(bytes)]);
    }
    if let Some(Variety::Builtin(builtin)) = schemas.variety(id) {
        texts.extend(within(&steps, *builtin));
    }
    texts
}

/// Returns repetition counts for a pattern, the smallest first: given the types' lengths, one of
/// them produces a text of the right length.
fn repetitions(steps: &[&Facets]) -> Vec<u32> {
    let lengths = steps.iter().flat_map(|it| [it.length, it.min_length, it.max_length]).flatten();
    // A byte in hexadecimal takes two characters.
    let around = lengths.flat_map(|it| [it, it.saturating_mul(2)]).flat_map(|it| it.saturating_sub(3)..=it);
    let mut all: Vec<u32> = vec![0, 1, 2, 4, 8];
    for repetition in (3..12).chain(around).filter(|&it| it <= 128) {
        if !all.contains(&(repetition as u32)) {
            all.push(repetition as u32);
        }
    }
    all
}

/// Returns a language of a given length: subtags of at most eight characters (XSD 1.0 part 2,
/// 3.3.3).
fn language(length: usize) -> String {
    (1..=length).map(|at| if at % 8 == 0 && at < length { '-' } else { 'x' }).collect()
}

/// Returns lists of one item.
fn lists(item: &str, steps: &[&Facets]) -> Vec<String> {
    let lengths = steps.iter().flat_map(|it| [it.length, it.min_length]).flatten().filter(|it| *it <= MAX_LENGTH);
    (1..=4).chain(lengths).map(|count| vec![item; count as usize].join(" ")).collect()
}

/// Maximum length of generated texts and lists.
const MAX_LENGTH: u64 = 4096;

/// Returns values next to the bounds of a type, and between them.
fn within(steps: &[&Facets], builtin: B) -> Vec<String> {
    let low = steps.iter().find_map(|it| it.min_exclusive.as_deref().or(it.min_inclusive.as_deref()));
    let high = steps.iter().find_map(|it| it.max_exclusive.as_deref().or(it.max_inclusive.as_deref()));
    let above = low.map(|low| facets::neighbors(builtin, low, high, true));
    let below = high.map(|high| facets::neighbors(builtin, high, low, false));
    above.into_iter().chain(below).flatten().collect()
}

/// Returns texts of a built-in type.
fn of_builtin(builtin: B) -> &'static [&'static str] {
    match builtin {
        B::Boolean => &["true", "false"],
        B::NegativeInteger => &["-1", "-10"],
        B::NonPositiveInteger => &["0", "-1"],
        B::Decimal => &["1", "0", "12.5", "-1"],
        B::Float | B::Double => &["1", "0.5", "0", "-1.25", "1E10"],
        B::Byte | B::Short | B::Int | B::Long | B::Integer => &["1", "0", "10", "100", "-1"],
        B::UnsignedByte | B::UnsignedShort | B::UnsignedInt | B::UnsignedLong => &["1", "0", "10", "100"],
        B::NonNegativeInteger | B::PositiveInteger => &["1", "10", "100"],
        B::Date => &["2026-01-02", "2026-01-02Z", "2026-01-02+01:00"],
        B::Time => &["03:04:05", "03:04:05Z", "03:04:05.000", "03:04:05.000Z", "03:04:05+01:00"],
        B::DateTime => &[
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.000Z",
            "2026-01-02T03:04:05.000",
            "2026-01-02T03:04:05+01:00",
            "2026-01-02T03:04:05.000+01:00",
        ],
        B::Duration => &["P1D", "PT1H"],
        B::GYear => &["2026"],
        B::GYearMonth => &["2026-01"],
        B::GMonth => &["--01"],
        B::GMonthDay => &["--01-02"],
        B::GDay => &["---02"],
        B::Base64Binary => &["AQID"],
        B::HexBinary => &["010203"],
        B::AnyUri => &["http://example.org/"],
        B::Language => &["en", "de", "fr", "en-GB"],
        B::QName | B::Notation | B::NcName | B::Name | B::Id | B::IdRef | B::Entity => &["name"],
        B::NmToken => &["token"],
        _ => &["text", "a", "some text", ""],
    }
}
