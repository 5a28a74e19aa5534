//! Texts at the edges of simple types: those that a type still allows, and those that it just does
//! not.
//!
//! Candidates are made from facets and built-in types. The facets decide which of them are allowed,
//! so a candidate may be wrong, but its classification never is.

use super::kinds::{Aspect, Breach, Kind};
use crate::facets;
use deltasoap_core::Simple;
use deltasoap_core::lexical::Base64;
use deltasoap_core::schema::Builtin as B;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{Facets, TypeId, Variety};
use std::collections::HashSet;

/// Maximum length of a text that shows the maximum length of a type.
const MAX_LENGTH: u64 = 20_000;
/// Length of a long text where the type sets no maximum.
const LONG: usize = 5_000;
/// Maximum number of enumerated values, and of patterns, that are tried.
const MAX_ENUMERATED: usize = 200;
/// Number of items in a long list.
const MANY_ITEMS: usize = 100;
/// Maximum depth of nested lists and unions.
const MAX_DEPTH: usize = 4;

/// A text, and what it shows.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Words for the text.
    pub(super) what: String,
}

/// Returns texts of a type, allowed ones and others.
pub(super) fn texts(schemas: &Schemas, id: TypeId) -> Vec<Text> {
    let mut edges = Edges { schemas, found: Vec::new(), seen: HashSet::new() };
    edges.of_type(id, MAX_DEPTH);
    let mut all = edges.found;
    // The facets of the type itself decide. Those of the members of a union do not.
    all.retain_mut(|it| {
        let is_allowed = facets::violation(schemas, id, &it.text).is_none();
        it.kind = match (it.kind, is_allowed) {
            (Kind::Valid(aspect), true) => Kind::Valid(aspect),
            (Kind::Invalid(breach), false) => Kind::Invalid(breach),
            (Kind::Valid(_), false) => Kind::Invalid(breach_of(schemas, id, &it.text)),
            (Kind::Invalid(_), true) => Kind::Valid(Aspect::Lexical),
        };
        true
    });
    all
}

/// Returns what a text of the wrong value violates: enumeration, another facet, or the type itself.
fn breach_of(schemas: &Schemas, id: TypeId, text: &str) -> Breach {
    let is_lexical = match schemas.variety(id) {
        Some(Variety::Builtin(builtin)) => {
            let is_of = |builtin| facets::violation(schemas, TypeId::from_builtin(builtin), text).is_none();
            // A whole number that is too large for its type is a number nevertheless.
            is_of(*builtin) || primitive(*builtin) == B::Decimal && is_of(B::Decimal)
        }
        _ => true,
    };
    match is_lexical {
        false => Breach::Type,
        true if facets::steps(schemas, id).iter().any(|facets| !facets.enumeration.is_empty()) => Breach::Enumeration,
        true => Breach::Facet,
    }
}

fn primitive(builtin: B) -> B {
    std::iter::successors(Some(builtin), |it| it.base()).last().unwrap_or(builtin)
}

struct Edges<'s> {
    schemas: &'s Schemas,
    found: Vec<Text>,
    seen: HashSet<String>,
}

impl Edges<'_> {
    fn add(&mut self, kind: Kind, text: impl Into<String>, what: impl Into<String>) {
        let text = text.into();
        if self.seen.insert(text.clone()) {
            self.found.push(Text { kind, text, what: what.into() });
        }
    }

    fn valid(&mut self, aspect: Aspect, text: impl Into<String>, what: impl Into<String>) {
        self.add(Kind::Valid(aspect), text, what);
    }

    fn of_type(&mut self, id: TypeId, depth: usize) {
        let (steps, schemas) = (facets::steps(self.schemas, id), self.schemas);
        self.enumerated(&steps);
        self.patterns(id, &steps);
        match schemas.variety(id) {
            Some(Variety::Builtin(builtin)) => {
                self.lengths(*builtin, &steps);
                self.bounds(*builtin, &steps);
                self.digits(&steps);
                self.lexical(*builtin);
                self.wrong(*builtin);
            }
            Some(Variety::List(item)) if depth > 0 => self.lists(*item, &steps),
            Some(Variety::Union(members)) if depth > 0 => {
                members.iter().take(MAX_ENUMERATED).for_each(|&member| self.of_type(member, depth - 1));
            }
            _ => {}
        }
        self.spaced(id);
    }

    fn enumerated(&mut self, steps: &[&Facets]) {
        let all = steps.iter().flat_map(|facets| &facets.enumeration).take(MAX_ENUMERATED);
        // Names need a prefix of the message, which samples declare.
        let plain = all.filter(|it| it.name.is_none());
        let values: Vec<String> = plain.map(|it| it.value.to_string()).collect();
        for value in &values {
            self.valid(Aspect::Enumeration, value.clone(), format!("the value {}", shown(value)));
        }
        if let Some(first) = values.first() {
            let breach = Kind::Invalid(Breach::Enumeration);
            for other in [format!("{first}x"), first.to_lowercase(), first.to_uppercase(), String::new()] {
                if !values.contains(&other) {
                    let what = format!("{}, which is not enumerated", shown(&other));
                    self.add(breach, other, what);
                }
            }
        }
    }

    fn patterns(&mut self, id: TypeId, steps: &[&Facets]) {
        let patterns = steps.iter().flat_map(|facets| &facets.patterns).take(MAX_ENUMERATED);
        for pattern in patterns {
            for (extra, number) in [(0, 0), (1, 1), (0, 17), (3, 5), (12, 29), (60, 3)] {
                if let Some(text) = facets::pattern_sample(pattern, extra, number) {
                    let what = format!("{}, by the pattern {pattern}", shown(&text));
                    self.valid(Aspect::Pattern, text, what);
                }
            }
            if let Some(text) = facets::pattern_sample(pattern, 0, 0) {
                let cut: String = text.chars().skip(1).collect();
                for other in [format!("{text}§"), format!("§{text}"), cut, format!("{text}\n{text}")] {
                    if facets::violation(self.schemas, id, &other).is_some() {
                        let what = format!("{}, which the pattern {pattern} does not match", shown(&other));
                        self.add(Kind::Invalid(Breach::Facet), other, what);
                    }
                }
            }
        }
    }

    /// Adds texts at the bounds of the length, and one beyond.
    fn lengths(&mut self, builtin: B, steps: &[&Facets]) {
        let exact = steps.iter().find_map(|facets| facets.length);
        let min = exact.or(steps.iter().filter_map(|facets| facets.min_length).max());
        let max = exact.or(steps.iter().filter_map(|facets| facets.max_length).min());
        let Some(unit) = Unit::of(builtin) else { return };
        match (min, max) {
            (None, None) if unit == Unit::Characters => {
                self.valid(Aspect::Bound, "", "an empty text");
                self.valid(Aspect::Bound, "x", "a text of one character");
                self.valid(Aspect::Bound, "x".repeat(LONG), format!("a text of {LONG} characters"));
            }
            (None, None) => {
                self.valid(Aspect::Bound, "", "no bytes");
                self.valid(Aspect::Bound, unit.of_length(1), "one byte");
                self.valid(Aspect::Bound, unit.of_length(LONG as u64), format!("{LONG} bytes"));
            }
            (min, max) => {
                let min = min.unwrap_or(0);
                for length in [Some(min), Some(min + 1), max, max.map(|max| max.saturating_sub(1))] {
                    let Some(length) = length.filter(|&it| it <= MAX_LENGTH && max.is_none_or(|max| it <= max)) else {
                        continue;
                    };
                    self.valid(Aspect::Bound, unit.of_length(length), format!("the length {length}"));
                }
                let beyond = [min.checked_sub(1), max.map(|max| max + 1)].into_iter().flatten();
                for length in beyond.filter(|&it| it <= MAX_LENGTH) {
                    let what = format!("the length {length}");
                    self.add(Kind::Invalid(Breach::Facet), unit.of_length(length), what);
                }
                let max = max.filter(|&max| unit == Unit::Characters && max <= MAX_LENGTH);
                if let Some(max) = max {
                    // A length counts characters, not bytes or UTF-16 units.
                    let what = format!("the length {max}, of characters outside the BMP");
                    self.valid(Aspect::Bound, "😀".repeat(max as usize), what);
                }
            }
        }
    }

    fn bounds(&mut self, builtin: B, steps: &[&Facets]) {
        let lower = steps.iter().flat_map(|it| [&it.min_inclusive, &it.min_exclusive]).flatten();
        let upper = steps.iter().flat_map(|it| [&it.max_inclusive, &it.max_exclusive]).flatten();
        let bounds: Vec<&str> = lower.chain(upper).map(|it| &**it).collect();
        for bound in bounds {
            self.valid(Aspect::Bound, bound, format!("the bound {bound}"));
            for is_above in [true, false] {
                for text in facets::neighbors(builtin, bound, None, is_above).into_iter().take(3) {
                    let what = format!("{text}, next to the bound {bound}");
                    self.valid(Aspect::Bound, text, what);
                }
            }
        }
    }

    fn digits(&mut self, steps: &[&Facets]) {
        let total = steps.iter().filter_map(|facets| facets.total_digits).min().filter(|&it| it <= 400);
        let fraction = steps.iter().filter_map(|facets| facets.fraction_digits).min().filter(|&it| it <= 400);
        if let Some(total) = total {
            for digits in [total, total + 1] {
                self.valid(Aspect::Bound, "9".repeat(digits as usize), format!("{digits} digits"));
            }
            self.valid(Aspect::Bound, format!("-{}", "9".repeat(total as usize)), format!("{total} digits below zero"));
        }
        if let Some(fraction) = fraction {
            for digits in [fraction, fraction + 1].into_iter().filter(|&digits| digits > 0) {
                let what = format!("{digits} digits after the point");
                self.valid(Aspect::Bound, format!("0.{}", "1".repeat(digits as usize)), what);
            }
        }
    }

    /// Adds the special texts of a built-in type.
    fn lexical(&mut self, builtin: B) {
        let (bounds, texts) = (range(builtin), special(builtin));
        for text in bounds {
            self.valid(Aspect::Bound, *text, format!("{text}, at the bounds of xsd:{}", builtin.local()));
        }
        for text in texts {
            self.valid(Aspect::Lexical, *text, format!("the text {}", shown(text)));
        }
        if matches!(builtin, B::String | B::NormalizedString | B::Token) {
            for (text, what) in UNICODE {
                self.valid(Aspect::Unicode, *text, *what);
            }
        }
    }

    /// Adds texts that are not of the type at all.
    fn wrong(&mut self, builtin: B) {
        let is_text = matches!(primitive(builtin), B::String | B::AnyUri | B::QName | B::Notation);
        if !is_text {
            for text in ["maybe", "1,5 €", ""] {
                self.add(Kind::Invalid(Breach::Type), text, format!("{} as xsd:{}", shown(text), builtin.local()));
            }
        }
    }

    fn lists(&mut self, item: TypeId, steps: &[&Facets]) {
        let mut items = crate::sample::candidates(self.schemas, item, MAX_DEPTH);
        items.retain(|text| facets::violation(self.schemas, item, text).is_none() && !text.is_empty());
        let Some(first) = items.first().cloned() else { return };
        let exact = steps.iter().find_map(|facets| facets.length);
        let min = exact.or(steps.iter().filter_map(|facets| facets.min_length).max()).unwrap_or(0);
        let max = exact.or(steps.iter().filter_map(|facets| facets.max_length).min());
        let counts = [Some(min), Some(min + 1), max, max.is_none().then_some(MANY_ITEMS as u64), Some(0)];
        let beyond = [min.checked_sub(1), max.map(|max| max + 1)];
        for count in counts.into_iter().chain(beyond).flatten().filter(|&count| count <= MAX_LENGTH) {
            self.valid(
                Aspect::Bound,
                vec![first.as_str(); count as usize].join(" "),
                format!("a list of {count} items"),
            );
        }
        self.valid(Aspect::Lexical, items.join("\t\n"), "tabs and line ends between items");
    }

    /// Adds a value within white space, which most types collapse.
    fn spaced(&mut self, id: TypeId) {
        let mut texts = crate::sample::candidates(self.schemas, id, MAX_DEPTH);
        texts.retain(|text| !text.is_empty() && facets::violation(self.schemas, id, text).is_none());
        let is_named = crate::facets::steps(self.schemas, id)
            .iter()
            .any(|facets| facets.enumeration.iter().any(|it| it.name.is_some()));
        if let Some(text) = texts.first().filter(|_| !is_named) {
            let what = format!("{} within white space", shown(text));
            self.valid(Aspect::Lexical, format!(" \n\t{text}\n "), what);
        }
    }
}

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Characters,
    HexBytes,
    Base64Bytes,
}

impl Unit {
    fn of(builtin: B) -> Option<Self> {
        match primitive(builtin) {
            B::String | B::AnyUri => Some(Unit::Characters),
            B::HexBinary => Some(Unit::HexBytes),
            B::Base64Binary => Some(Unit::Base64Bytes),
            _ => None,
        }
    }

    fn of_length(self, length: u64) -> String {
        let length = length.min(MAX_LENGTH) as usize;
        match self {
            Unit::Characters => "x".repeat(length),
            Unit::HexBytes => "0F".repeat(length),
            Unit::Base64Bytes => Simple::Base64Binary(Base64(vec![0xFB; length])).to_string(),
        }
    }
}

/// Texts that programs change or refuse by mistake.
const UNICODE: &[(&str, &str)] = &[
    ("a😀b", "a character outside the BMP"),
    ("𝒳𐍈🏳️‍🌈", "several characters outside the BMP"),
    ("éà", "combining characters"),
    ("שלום עולם", "text from right to left"),
    ("مرحبا 123", "text from right to left, with digits"),
    ("漢字かな한글", "East Asian characters"),
    ("ÄÖÜßñé", "letters beyond ASCII"),
    ("<a>&amp;</a>", "markup as text"),
    ("]]>", "the end of a CDATA section as text"),
    ("\"'`;--", "quotation marks"),
    ("%s%n${x}#{y}{{z}}", "placeholders as text"),
    ("line one\nline two", "two lines"),
    ("\u{feff}x\u{200b}y\u{a0}z", "invisible characters"),
    ("null", "the word null"),
];

/// The bounds of a built-in type, and the values next to them.
fn range(builtin: B) -> &'static [&'static str] {
    match builtin {
        B::Byte => &["127", "-128", "128", "-129"],
        B::UnsignedByte => &["0", "255", "256", "-1"],
        B::Short => &["32767", "-32768", "32768", "-32769"],
        B::UnsignedShort => &["0", "65535", "65536", "-1"],
        B::Int => &["2147483647", "-2147483648", "2147483648", "-2147483649"],
        B::UnsignedInt => &["0", "4294967295", "4294967296", "-1"],
        B::Long => &["9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809"],
        B::UnsignedLong => &["0", "18446744073709551615", "18446744073709551616", "-1"],
        B::Integer => &["0", "-1", "9223372036854775807", "123456789012345678901234567890"],
        B::NonNegativeInteger => &["0", "-1", "123456789012345678901234567890"],
        B::PositiveInteger => &["1", "0", "123456789012345678901234567890"],
        B::NonPositiveInteger => &["0", "1", "-123456789012345678901234567890"],
        B::NegativeInteger => &["-1", "0", "-123456789012345678901234567890"],
        B::Decimal => &["0", "-1", "123456789012345678901234567890.123456789", "0.000000000000000001"],
        B::Float => &["3.4028235E38", "-3.4028235E38", "1.4E-45"],
        B::Double => &["1.7976931348623157E308", "-1.7976931348623157E308", "4.9E-324"],
        _ => &[],
    }
}

/// Texts of a built-in type that are easily overlooked.
fn special(builtin: B) -> &'static [&'static str] {
    match primitive(builtin) {
        B::Boolean => &["true", "false", "1", "0"],
        B::Decimal => &["0", "-0", "+1", "007", "1.", ".5", "1.50", "-7"],
        B::Float | B::Double => &["INF", "-INF", "NaN", "-0", "+1", "1E5", "1e-5", ".5", "5.", "007.50"],
        B::DateTime => &[
            "2024-02-29T12:00:00Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05+14:00",
            "2026-01-02T03:04:05-14:00",
            "2026-01-02T03:04:05.123456789Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "12026-01-02T03:04:05Z",
            "-0044-03-15T00:00:00Z",
        ],
        B::Date => &[
            "2024-02-29",
            "2026-01-02Z",
            "2026-01-02+14:00",
            "2026-01-02-14:00",
            "0001-01-01",
            "9999-12-31",
            "12026-01-02",
            "-0044-03-15",
        ],
        B::Time => &["00:00:00", "24:00:00", "23:59:59.999999999", "03:04:05Z", "03:04:05+14:00", "03:04:05-14:00"],
        B::Duration => &["P0D", "PT0S", "-P1D", "P1Y2M3DT4H5M6.789S", "PT36H", "P400D"],
        B::GYear => &["0001", "9999", "12026", "-0044", "2026Z"],
        B::GYearMonth => &["2026-12", "0001-01", "2026-01Z"],
        B::GMonthDay => &["--02-29", "--12-31Z"],
        B::GMonth => &["--12", "--01Z"],
        B::GDay => &["---31", "---01Z"],
        B::HexBinary => &["", "ff", "FF", "00"],
        B::Base64Binary => &["", "AA==", "AAA=", "A A A A", "////"],
        B::AnyUri => &["", "urn:x:y", "http://example.org/%20?a=b&c=d#e", "relative/path", "http://example.org/ä"],
        _ => &[],
    }
}

/// Returns a text as it is shown in a description: short, and in quotation marks.
pub(super) fn shown(text: &str) -> String {
    const MAX_SHOWN: usize = 40;
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
