//! Values of simple types: their equality and order.

use super::calendar::{Moment, Span};
use super::{MAX_DEPTH, Resolve, accepting_member, normalized};
use deltasoap_core::Simple;
use deltasoap_core::schema::Builtin;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{TypeId, Variety};
use std::cmp::Ordering;

/// Returns a text that is the same for all texts of a type with the same value (XSD 1.0 part 2,
/// 2.2). Values of types that are derived from different primitive types differ.
pub(crate) fn canonical(schemas: &Schemas, id: TypeId, text: &str, names: Resolve<'_>) -> String {
    of_depth(schemas, id, text, names, MAX_DEPTH)
}

fn of_depth(schemas: &Schemas, id: TypeId, text: &str, names: Resolve<'_>, depth: usize) -> String {
    let text = &*normalized(schemas, id, text);
    let Some(depth) = depth.checked_sub(1) else { return text.to_owned() };
    match schemas.variety(id) {
        Some(Variety::Builtin(builtin)) => of_builtin(*builtin, text, names),
        Some(Variety::List(item)) => {
            // Lists can be as long as messages: only the result is kept of an item.
            let mut value = String::with_capacity(text.len());
            for it in text.split_ascii_whitespace() {
                value.push_str(if value.is_empty() { "" } else { " " });
                value.push_str(&of_depth(schemas, *item, it, names, depth));
            }
            value
        }
        Some(Variety::Union(members)) => match accepting_member(schemas, members, text, names, depth) {
            Some(plain) => of_depth(schemas, plain.id, &plain.text, names, depth),
            None => text.to_owned(),
        },
        Some(Variety::Any | Variety::Restriction(_)) | None => format!("string:{text}"),
    }
}

fn of_builtin(builtin: Builtin, text: &str, names: Resolve<'_>) -> String {
    use Builtin as B;
    let primitive = std::iter::successors(Some(builtin), |it| it.base()).last().unwrap_or(builtin);
    let value = match primitive {
        B::Boolean => Some(matches!(text, "true" | "1").to_string()),
        B::Decimal => Decimal::of(text).map(|parts| parts.canonical()),
        B::Float => number(text).map(|it| format!("{:?}", it as f32 + 0.0)),
        B::Double => number(text).map(|it| format!("{:?}", it + 0.0)),
        B::HexBinary => Some(text.to_ascii_uppercase()),
        B::Base64Binary => Some(text.split_ascii_whitespace().collect()),
        B::Duration => Span::parse(text).map(|it| it.canonical()),
        B::QName | B::Notation => names(text).map(|name| name.to_string()),
        primitive => Moment::parse(primitive, text).map(|it| it.canonical()),
    };
    format!("{}:{}", primitive.local(), value.as_deref().unwrap_or(text))
}

/// Checks that a text is valid for a built-in type.
pub(super) fn is_lexical(builtin: Builtin, text: &str) -> Result<(), &'static str> {
    use Builtin as B;
    let is_good = match builtin {
        B::Duration => Span::parse(text).is_some(),
        B::Date | B::Time | B::DateTime | B::GYear | B::GYearMonth | B::GMonth | B::GMonthDay | B::GDay => {
            Moment::parse(builtin, text).is_some()
        }
        _ => return Simple::parse(builtin, text).map(drop).map_err(|error| error.reason),
    };
    if is_good { Ok(()) } else { Err("malformed") }
}

/// Compares two values of a type; `None` if they have no order.
pub(crate) fn compare(builtin: Builtin, one: &str, other: &str) -> Option<Ordering> {
    use Builtin as B;
    match builtin {
        B::Float => (number(one)? as f32).partial_cmp(&(number(other)? as f32)),
        B::Double => number(one)?.partial_cmp(&number(other)?),
        B::Duration => Span::parse(one)?.compare(&Span::parse(other)?),
        B::Date | B::Time | B::DateTime | B::GYear | B::GYearMonth | B::GMonth | B::GMonthDay | B::GDay => {
            Moment::parse(builtin, one)?.compare(&Moment::parse(builtin, other)?)
        }
        _ => Decimal::of(one)?.compare(&Decimal::of(other)?),
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}

/// A decimal number of any length.
struct Decimal<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
}

impl<'t> Decimal<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let digits = text.trim_start_matches(['+', '-']);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !digits.is_empty();
        let is_negative = text.starts_with('-') && !(whole.is_empty() && fraction.is_empty());
        is_number.then_some(Decimal { is_negative, whole, fraction })
    }

    fn canonical(&self) -> String {
        format!("{}{}.{}", if self.is_negative { "-" } else { "" }, self.whole, self.fraction)
    }

    fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
        })
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let by_length = self.whole.len().cmp(&other.whole.len());
        by_length.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        for (one, other, order) in [
            ("1", "2", Ordering::Less),
            ("10", "9", Ordering::Greater),
            ("-10", "-9", Ordering::Less),
            ("-0", "0", Ordering::Equal),
            ("1.50", "1.5", Ordering::Equal),
            ("0.09", "0.1", Ordering::Less),
            ("18446744073709551616", "18446744073709551615", Ordering::Greater),
        ] {
            assert_eq!(compare(Builtin::Decimal, one, other), Some(order), "{one} {other}");
        }
        assert_eq!(compare(Builtin::Double, "1E3", "INF"), Some(Ordering::Less));
        assert_eq!(compare(Builtin::Double, "NaN", "1"), None);
    }

    #[test]
    fn texts_of_one_value_have_one_canonical_text() {
        let canonical = |builtin, text| of_builtin(builtin, text, &|_| None);
        for (builtin, one, other) in [
            (Builtin::Boolean, "true", "1"),
            (Builtin::Int, "+007", "7"),
            (Builtin::Decimal, "1.0", "1"),
            (Builtin::Double, "1E2", "100"),
            (Builtin::HexBinary, "ab", "AB"),
            (Builtin::DateTime, "2026-01-01T00:00:00Z", "2026-01-01T01:00:00.0+01:00"),
            (Builtin::Duration, "P1Y", "P12M"),
        ] {
            assert_eq!(canonical(builtin, one), canonical(builtin, other));
        }
        assert_eq!(canonical(Builtin::Int, "1"), canonical(Builtin::Decimal, "1.0"));
        assert_ne!(canonical(Builtin::Int, "1"), canonical(Builtin::Double, "1"));
        assert_ne!(canonical(Builtin::String, "1.0"), canonical(Builtin::String, "1"));
    }
}
