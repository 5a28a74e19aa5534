//! `decimal`: exact numbers with digits after a point, without an exponent.

use super::{Lexical, LexicalError, MAX_DIGITS, WhiteSpace, digits, space};
use crate::{Buffer, Escape};
use bigdecimal::BigDecimal;
use num_bigint::BigInt;
use std::str::FromStr;

/// An XSD `decimal`: exact, equal by value (`1.0` equals `1`), with at most [`MAX_DIGITS`] digits
/// before the point and as many after it, so that its text form is bounded whatever exponent a
/// [`BigDecimal`] has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(BigDecimal);

impl Decimal {
    /// Returns the number.
    pub fn as_big_decimal(&self) -> &BigDecimal {
        &self.0
    }
}

impl TryFrom<BigDecimal> for Decimal {
    type Error = LexicalError;

    fn try_from(value: BigDecimal) -> Result<Self, LexicalError> {
        let (limit, scale) = (MAX_DIGITS as i64, value.fractional_digit_count());
        let whole = i64::try_from(value.digits()).unwrap_or(i64::MAX).saturating_sub(scale);
        let bounded = scale <= limit && scale >= -limit && whole <= limit;
        if bounded { Ok(Decimal(value)) } else { Err(LexicalError::new::<Self>("more than 4096 digits")) }
    }
}

impl From<Decimal> for BigDecimal {
    fn from(value: Decimal) -> BigDecimal {
        value.0
    }
}

impl Lexical for Decimal {
    const XSD_NAME: &'static str = "decimal";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        Self::default()
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        decimal(space::trim(text)).map_err(LexicalError::new::<Self>)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        let text = space::plain(bytes)?;
        Some((Self::parse(text).ok()?, text.len()))
    }

    fn format(&self, out: &mut Buffer, _: Escape) {
        out.push(self.0.to_plain_string().as_bytes());
    }
}

fn decimal(text: &str) -> Result<Decimal, &'static str> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return Err("not a decimal number");
    }
    if whole.len() + fraction.len() == 0 {
        return Err("no digits");
    }
    if whole.len().max(fraction.len()) > MAX_DIGITS {
        return Err("more than 4096 digits");
    }
    let magnitude = unscaled(whole, fraction)?;
    let signed = if text.starts_with('-') { -magnitude } else { magnitude };
    Ok(Decimal(BigDecimal::new(signed, fraction.len() as i64)))
}

/// Returns all digits as one number, without an intermediate string if they fit a machine word.
fn unscaled(whole: &str, fraction: &str) -> Result<BigInt, &'static str> {
    let no_digits = |_| "no digits";
    if whole.len() + fraction.len() > 19 {
        return BigInt::from_str(&[whole, fraction].concat()).map_err(no_digits);
    }
    let part = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>() };
    let (whole, small) = (part(whole), part(fraction));
    let scale = digits::POW10[fraction.len()];
    Ok(BigInt::from(whole.map_err(|_| "no digits")? * scale + small.map_err(|_| "no digits")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    fn value(text: &str) -> Decimal {
        Decimal(text.parse().expect("a number"))
    }

    #[test]
    fn forms() {
        assert_valid(&[
            ("-1.23", value("-1.23")),
            ("12678967.543233", value("12678967.543233")),
            ("+100000.00", value("100000")),
            ("210", value("210")),
            (".5", value("0.5")),
            ("5.", value("5")),
            ("-0", value("0")),
            ("00.10", value("0.1")),
            (
                " 123456789012345678901234567890.123456789012345678901234567890 ",
                value("123456789012345678901234567890.123456789012345678901234567890"),
            ),
        ]);
        assert_invalid::<Decimal>(&[
            "", ".", "+", "-.", "1e5", "1E5", "1.2.3", "1,2", "INF", "NaN", "--1", "1 .0", "+-1",
        ]);
    }

    #[test]
    fn text_has_no_exponent() {
        for text in ["0.000000000000000000000000001", "1000000000000000000000000000000", "-0.5", "0", "1.50"] {
            assert_eq!(text_of(&value(text)), text);
        }
    }

    #[test]
    fn exponents_cannot_make_the_text_long() {
        assert!(Decimal::try_from(BigDecimal::new(1.into(), -1_000_000_000)).is_err());
        assert!(Decimal::try_from(BigDecimal::new(1.into(), 1_000_000_000)).is_err());
        assert!(Decimal::try_from(BigDecimal::new(1.into(), i64::MIN)).is_err());
        assert_eq!(Decimal::try_from(BigDecimal::new(12.into(), -2)).map(|d| text_of(&d)).as_deref(), Ok("1200"));
        assert!(Decimal::parse(&"9".repeat(MAX_DIGITS + 1)).is_err());
        assert!(Decimal::parse(&format!(".{}", "9".repeat(MAX_DIGITS + 1))).is_err());
        assert!(Decimal::parse(&format!("{0}.{0}", "9".repeat(MAX_DIGITS))).is_ok());
    }

    proptest! {
        #[test]
        fn laws_hold(text in "-?[0-9]{1,30}(\\.[0-9]{1,30})?") {
            laws(&value(&text));
            scan_agrees::<Decimal>(&text);
        }

        #[test]
        fn small_numbers_as_large_ones(text in "[0-9]{0,12}\\.[0-9]{1,7}") {
            prop_assert_eq!(Decimal::parse(&text), Ok(value(&text)));
        }
    }
}
