//! The order of values, by their texts.

use deltasoap_core::schema::Builtin;
use std::cmp::Ordering;

/// Compares two values of a type; `None` where they have no order that is known here.
pub(crate) fn compare(builtin: Builtin, one: &str, other: &str) -> Option<Ordering> {
    use Builtin::{Date, DateTime, Double, Float, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time};
    match builtin {
        Double | Float => number(one)?.partial_cmp(&number(other)?),
        Date | DateTime | Time | GYear | GYearMonth | GMonth | GMonthDay | GDay => calendar(one, other),
        _ => decimal(one, other),
    }
}

fn number(text: &str) -> Option<f64> {
    match text {
        "INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}

/// Values of one form and one zone are in the order of their texts.
fn calendar(one: &str, other: &str) -> Option<Ordering> {
    let is_plain = |text: &str| !text.starts_with('-') || text.starts_with("--");
    let zone = |text: &str| text.find(['Z', '+']).map(|start| text[start..].to_owned());
    (one.len() == other.len() && is_plain(one) && is_plain(other) && zone(one) == zone(other)).then(|| one.cmp(other))
}

/// Numbers of any length.
fn decimal(one: &str, other: &str) -> Option<Ordering> {
    let (one, other) = (Parts::of(one)?, Parts::of(other)?);
    Some(match (one.is_negative, other.is_negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => one.magnitude(&other),
        (true, true) => other.magnitude(&one),
    })
}

struct Parts<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let digits = text.trim_start_matches(['+', '-']);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !digits.is_empty();
        let is_negative = text.starts_with('-') && !(whole.is_empty() && fraction.is_empty());
        is_number.then_some(Parts { is_negative, whole, fraction })
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
        assert_eq!(compare(Builtin::Date, "2026-01-02", "2026-01-10"), Some(Ordering::Less));
        assert_eq!(compare(Builtin::Date, "2026-01-02Z", "2026-01-10"), None);
    }
}
