//! Neighbouring values: values within open bounds, and values that differ.

use super::calendar::{Moment, Span};
use bigdecimal::{BigDecimal, RoundingMode};
use deltasoap_core::schema::Builtin;
use std::str::FromStr;

/// Maximum number of digits tried after the point.
const DIGITS: i64 = 40;
/// Maximum length of texts used in computations.
const MAX_LENGTH: usize = 400;

/// Returns values above or below a bound, the simplest first; also values in the middle between it
/// and the bound on the other side.
pub(crate) fn neighbors(builtin: Builtin, bound: &str, other: Option<&str>, is_above: bool) -> Vec<String> {
    let is_short = |text: &str| text.len() <= MAX_LENGTH;
    let other = other.filter(|other| is_short(other));
    if !is_short(bound) {
        return Vec::new();
    }
    match primitive(builtin) {
        Builtin::Decimal => decimals(bound, other, is_above),
        Builtin::Double => doubles(bound, other, is_above).into_iter().map(|it| format!("{it:?}")).collect(),
        Builtin::Float => floats(bound, other, is_above).into_iter().map(|it| format!("{it:?}")).collect(),
        Builtin::Duration => Span::parse(bound).map(|span| span.neighbors(is_above)).unwrap_or_default(),
        primitive => {
            let step = if is_above { 1 } else { -1 };
            let finer = is_above.then(|| Moment::finer(primitive, bound)).flatten();
            let middle = other.and_then(|other| Moment::middle(primitive, bound, other));
            Moment::shifted(primitive, bound, step).into_iter().chain(middle).chain(finer).collect()
        }
    }
}

/// Returns the value at a distance in units: whole numbers, days, seconds. `None` for types without
/// units.
pub(crate) fn shifted(builtin: Builtin, text: &str, by: i64) -> Option<String> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    match primitive(builtin) {
        Builtin::Decimal => Some((decimal(text)? + BigDecimal::from(by)).to_plain_string()),
        Builtin::Double => Some(format!("{:?}", text.parse::<f64>().ok()? + by as f64)),
        Builtin::Float => Some(format!("{:?}", text.parse::<f32>().ok()? + by as f32)),
        Builtin::Duration => Span::parse(text)?.shifted(by.into()),
        primitive => Moment::shifted(primitive, text, by.into()),
    }
}

fn primitive(builtin: Builtin) -> Builtin {
    std::iter::successors(Some(builtin), |it| it.base()).last().unwrap_or(builtin)
}

fn decimal(text: &str) -> Option<BigDecimal> {
    BigDecimal::from_str(text.trim_start_matches('+')).ok().filter(|_| !text.contains(['e', 'E']))
}

/// Returns, for each number of digits after the point, the nearest value with no more digits.
fn decimals(bound: &str, other: Option<&str>, is_above: bool) -> Vec<String> {
    let Some(value) = decimal(bound) else { return Vec::new() };
    let scale = |value: &BigDecimal| value.normalized().fractional_digit_count().clamp(0, DIGITS);
    let finest = other.and_then(decimal).map_or(0, |other| scale(&other)).max(scale(&value)) + 1;
    let nearest = |digits: i64| {
        let unit = BigDecimal::new(1.into(), digits);
        match is_above {
            true => value.with_scale_round(digits, RoundingMode::Floor) + unit,
            false => value.with_scale_round(digits, RoundingMode::Ceiling) - unit,
        }
    };
    (0..=finest).map(|digits| nearest(digits).to_plain_string()).collect()
}

macro_rules! floating {
    ($name:ident, $type:ty) => {
        /// Returns the bound plus or minus one, the middle, and the adjacent value.
        fn $name(bound: &str, other: Option<&str>, is_above: bool) -> Vec<$type> {
            let number = |text: &str| match text {
                "INF" => Some(<$type>::INFINITY),
                "-INF" => Some(<$type>::NEG_INFINITY),
                text => text.parse::<$type>().ok(),
            };
            let Some(value) = number(bound) else { return Vec::new() };
            let (whole, next) = if is_above { (1.0, value.next_up()) } else { (-1.0, value.next_down()) };
            let middle = other.and_then(number).map(|other| value / 2.0 + other / 2.0);
            [value + whole].into_iter().chain(middle).chain([next]).filter(|it| it.is_finite()).collect()
        }
    };
}

floating!(doubles, f64);
floating!(floats, f32);

#[cfg(test)]
mod tests {
    use super::super::value::compare;
    use super::*;
    use std::cmp::Ordering::{Greater, Less};

    #[test]
    fn open_intervals_have_values() {
        use Builtin as B;
        for (builtin, low, high) in [
            (B::Decimal, "0", "0.001"),
            (B::Decimal, "0.5", "1.5"),
            (B::Decimal, "-1.02", "-1.01"),
            (B::Integer, "9223372036854775807", "9223372036854775809"),
            (B::Double, "0", "0.001"),
            (B::Double, "1E300", "1.1E300"),
            (B::Double, "-INF", "-1E308"),
            (B::Float, "0", "1E-40"),
            (B::Float, "16777216", "16777220"),
            (B::Date, "2024-02-28", "2024-03-01"),
            (B::Date, "-0001-12-31+05:00", "0001-01-02+05:00"),
            (B::DateTime, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            (B::DateTime, "2026-01-01T00:00:00.25", "2026-01-01T00:00:00.26"),
            (B::Time, "23:59:58", "23:59:59"),
            (B::GYear, "1999", "2001"),
            (B::GYearMonth, "1999-12", "2000-02"),
            (B::GMonth, "--01", "--03"),
            (B::GMonthDay, "--02-28", "--03-01"),
            (B::GDay, "---01", "---03"),
            (B::Duration, "P1D", "P2D"),
            (B::Duration, "PT0S", "PT1S"),
            (B::Duration, "P1M", "P2M"),
        ] {
            let above = neighbors(builtin, low, Some(high), true);
            let is_within = |text: &&String| {
                compare(builtin, text, low) == Some(Greater) && compare(builtin, text, high) == Some(Less)
            };
            assert!(above.iter().any(|text| is_within(&text)), "{builtin:?} {low} {high}: {above:?}");
        }
    }

    #[test]
    fn a_bound_alone_has_values_on_its_side() {
        use Builtin as B;
        for (builtin, bound) in [
            (B::Decimal, "-0.05"),
            (B::Double, "INF"),
            (B::Float, "0"),
            (B::Date, "0001-01-01"),
            (B::DateTime, "2026-01-01T00:00:00-14:00"),
            (B::Time, "12:00:00"),
            (B::GYear, "-0001Z"),
            (B::GMonth, "--12"),
            (B::Duration, "P1Y"),
            (B::Duration, "PT0S"),
        ] {
            let below = neighbors(builtin, bound, None, false);
            assert!(below.iter().any(|text| compare(builtin, text, bound) == Some(Less)), "{bound}: {below:?}");
        }
        assert_eq!(neighbors(B::String, "a", None, true), [""; 0]);
        assert_eq!(neighbors(B::Decimal, &"9".repeat(10_000), None, true), [""; 0]);
    }
}
