//! `integer` and the types between it and the bounded ones: whole numbers of any size.
//!
//! Converting digits to a big number takes more than linear time, so the number of digits is
//! limited to [`MAX_DIGITS`], far beyond what XSD 1.0 requires of a processor (18).

use super::{Lexical, LexicalError, WhiteSpace, space};
use crate::{Buffer, Escape};
use num_bigint::{BigInt, Sign};

/// Maximum number of digits accepted for a number of any size.
pub const MAX_DIGITS: usize = 4096;

impl Lexical for BigInt {
    const XSD_NAME: &'static str = "integer";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        BigInt::ZERO
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        integer(space::trim(text)).map_err(LexicalError::new::<Self>)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        if let Some((value, used)) = i64::scan(bytes) {
            return Some((value.into(), used));
        }
        let text = space::plain(bytes)?;
        Some((Self::parse(text).ok()?, text.len()))
    }

    fn format(&self, out: &mut Buffer, escape: Escape) {
        match i64::try_from(self) {
            Ok(value) => value.format(out, escape),
            Err(_) => out.push(self.to_string().as_bytes()),
        }
    }
}

fn integer(text: &str) -> Result<BigInt, &'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not a digit");
    }
    if digits.len() > MAX_DIGITS {
        return Err("more than 4096 digits");
    }
    let magnitude = digits.parse::<BigInt>().map_err(|_| "no digits")?;
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Defines a range of `integer` that ends at zero, one or minus one: `$bound` is a value in the
/// range, and the result of [`Lexical::vacant`].
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $xsd:literal, $bound:literal, $holds:expr, $outside:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(BigInt);

        impl $name {
            /// Returns the number.
            pub fn as_integer(&self) -> &BigInt {
                &self.0
            }
        }

        impl TryFrom<BigInt> for $name {
            type Error = LexicalError;

            fn try_from(value: BigInt) -> Result<Self, LexicalError> {
                let holds: fn(Sign) -> bool = $holds;
                if holds(value.sign()) { Ok($name(value)) } else { Err(LexicalError::new::<Self>($outside)) }
            }
        }

        impl From<$name> for BigInt {
            fn from(value: $name) -> BigInt {
                value.0
            }
        }

        impl Lexical for $name {
            const XSD_NAME: &'static str = $xsd;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = None;

            fn vacant() -> Self {
                $name(BigInt::from($bound))
            }

            fn parse(text: &str) -> Result<Self, LexicalError> {
                integer(space::trim(text)).map_err(LexicalError::new::<Self>)?.try_into()
            }

            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                let (value, used) = BigInt::scan(bytes)?;
                Some((value.try_into().ok()?, used))
            }

            fn format(&self, out: &mut Buffer, escape: Escape) {
                self.0.format(out, escape);
            }
        }
    };
}

bounded!(
    /// `nonNegativeInteger`: zero and above.
    NonNegativeInteger, "nonNegativeInteger", 0, |sign| sign != Sign::Minus, "below 0"
);
bounded!(
    /// `positiveInteger`: one and above.
    PositiveInteger, "positiveInteger", 1, |sign| sign == Sign::Plus, "below 1"
);
bounded!(
    /// `nonPositiveInteger`: zero and below.
    NonPositiveInteger, "nonPositiveInteger", 0, |sign| sign != Sign::Plus, "above 0"
);
bounded!(
    /// `negativeInteger`: minus one and below.
    NegativeInteger, "negativeInteger", -1, |sign| sign == Sign::Minus, "above -1"
);

impl Default for NonNegativeInteger {
    fn default() -> Self {
        Self::vacant()
    }
}

impl Default for NonPositiveInteger {
    fn default() -> Self {
        Self::vacant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees};
    use proptest::prelude::*;

    fn big(text: &str) -> BigInt {
        text.parse().expect("a number")
    }

    #[test]
    fn forms() {
        let large = "-123456789012345678901234567890123456789012345678901234567890";
        assert_valid(&[("0", big("0")), ("-0", big("0")), ("+00100000", big("100000")), (large, big(large))]);
        assert_invalid::<BigInt>(&["", "+", "--1", "+-1", "1.0", "1e5", "1_000", "0x1f", "1 0"]);
    }

    #[test]
    fn ranges() {
        assert_valid(&[("0", NonNegativeInteger(big("0"))), ("-0", NonNegativeInteger(big("0")))]);
        assert_valid(&[("12678967543233", PositiveInteger(big("12678967543233")))]);
        assert_valid(&[("-12678967543233", NonPositiveInteger(big("-12678967543233")))]);
        assert_valid(&[("-1", NegativeInteger(big("-1")))]);
        assert_invalid::<NonNegativeInteger>(&["-1", "-99999999999999999999"]);
        assert_invalid::<PositiveInteger>(&["0", "-1", "-0"]);
        assert_invalid::<NonPositiveInteger>(&["1", "99999999999999999999"]);
        assert_invalid::<NegativeInteger>(&["0", "1"]);
    }

    #[test]
    fn vacant_values_are_in_range() {
        laws(&NonNegativeInteger::vacant());
        laws(&PositiveInteger::vacant());
        laws(&NonPositiveInteger::vacant());
        laws(&NegativeInteger::vacant());
    }

    #[test]
    fn digits_are_bounded() {
        assert!(BigInt::parse(&"9".repeat(MAX_DIGITS)).is_ok());
        assert_eq!(BigInt::parse(&"9".repeat(MAX_DIGITS + 1)).map_err(|e| e.reason), Err("more than 4096 digits"));
    }

    proptest! {
        #[test]
        fn laws_hold(text in "-?[0-9]{1,60}") {
            laws(&big(&text));
            scan_agrees::<BigInt>(&text);
            scan_agrees::<PositiveInteger>(&text);
        }
    }
}
