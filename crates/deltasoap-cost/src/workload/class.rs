//! Classes of simple types: types of one class cost about the same.

use deltasoap_core::Simple;
use deltasoap_core::schema::{Builtin, SimpleElement};
use deltasoap_streams::prng::SplitMix64;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A class of simple types. It contains some built-in types of XSD, and one of them represents it
/// in measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Machine integers: `byte` to `unsignedLong`.
    Int,
    /// `float`, `double`.
    Double,
    /// Unprocessed text: `string`, `anyURI`.
    Text,
    /// Text with white space or character rules: `token`, `NCName` and similar types.
    Token,
    /// `boolean`.
    Boolean,
    /// Numbers of any length: `decimal`, `integer` and similar types.
    Decimal,
    /// Dates and times.
    Date,
    /// `duration`.
    Duration,
    /// `QName`, `NOTATION`.
    QName,
    /// `base64Binary`, `hexBinary`.
    Binary,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 10] = [
        Class::Int,
        Class::Double,
        Class::Text,
        Class::Token,
        Class::Boolean,
        Class::Decimal,
        Class::Date,
        Class::Duration,
        Class::QName,
        Class::Binary,
    ];

    /// Returns the class of a type.
    pub fn from_builtin(builtin: Builtin) -> Class {
        use Builtin as B;
        match builtin {
            B::Byte | B::Short | B::Int | B::Long => Class::Int,
            B::UnsignedByte | B::UnsignedShort | B::UnsignedInt | B::UnsignedLong => Class::Int,
            B::Float | B::Double => Class::Double,
            B::Boolean => Class::Boolean,
            B::Decimal | B::Integer | B::NonNegativeInteger | B::PositiveInteger => Class::Decimal,
            B::NonPositiveInteger | B::NegativeInteger => Class::Decimal,
            B::Date | B::Time | B::DateTime => Class::Date,
            B::GYear | B::GYearMonth | B::GMonth | B::GMonthDay | B::GDay => Class::Date,
            B::Duration => Class::Duration,
            B::QName | B::Notation => Class::QName,
            B::Base64Binary | B::HexBinary => Class::Binary,
            B::String | B::AnyUri => Class::Text,
            // Names and tokens. Types added in future are text in any case.
            _ => Class::Token,
        }
    }

    /// Returns the type that represents the class in measurements.
    pub fn representative(self) -> Builtin {
        match self {
            Class::Int => Builtin::Int,
            Class::Double => Builtin::Double,
            Class::Text => Builtin::String,
            Class::Token => Builtin::Token,
            Class::Boolean => Builtin::Boolean,
            Class::Decimal => Builtin::Decimal,
            Class::Date => Builtin::DateTime,
            Class::Duration => Builtin::Duration,
            Class::QName => Builtin::QName,
            Class::Binary => Builtin::Base64Binary,
        }
    }

    /// Returns true if values have a variable length that affects cost.
    pub fn has_length(self) -> bool {
        matches!(self, Class::Text | Class::Token | Class::Binary)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Text => "string",
            class => class.representative().local(),
        })
    }
}

/// Returns a typical value of a type: numbers with many digits, text of `length` characters; for an
/// enumeration, one of its values.
pub fn typical(element: &SimpleElement, length: usize, random: &mut SplitMix64) -> Option<Simple> {
    if !element.enumeration.is_empty() {
        let at = random.below(u32::try_from(element.enumeration.len()).unwrap_or(u32::MAX)) as usize;
        return element.enumeration.get(at).and_then(|text| Simple::parse_as(element, text).ok());
    }
    Simple::parse(element.base, &text(element.base, length, random)).ok()
}

/// Returns the text of such a value.
fn text(builtin: Builtin, length: usize, random: &mut SplitMix64) -> String {
    /// The bits of 1; with any fraction bits, a number from 1 to 2.
    const ONE: u32 = 0x3F80_0000;
    use Builtin as B;
    match builtin {
        B::Byte | B::UnsignedByte => random.below(128).to_string(),
        B::Short | B::UnsignedShort => random.below(32_768).to_string(),
        B::NonPositiveInteger | B::NegativeInteger => format!("-{}", 1 + random.below(1_000_000_000)),
        B::Float => f32::from_bits(ONE | random.next_u64() as u32 & 0x007F_FFFF).to_string(),
        B::Double => hard_double(random),
        B::Boolean => (random.below(2) == 0).to_string(),
        B::Decimal => format!("{}.{:02}", random.below(1_000_000), random.below(100)),
        B::Date => date(random),
        B::Time => time(random),
        B::DateTime => format!("{}T{}", date(random), time(random)),
        B::GYear => "2026".to_owned(),
        B::GYearMonth => "2026-11".to_owned(),
        B::GMonth => "--11".to_owned(),
        B::GMonthDay => "--11-22".to_owned(),
        B::GDay => "---22".to_owned(),
        B::Duration => format!("P{}DT{}H{}M", random.below(300), random.below(24), random.below(60)),
        B::HexBinary => "A7".repeat(length),
        B::Base64Binary => base64(length),
        B::QName | B::Notation => letters(8, random),
        B::Language => "en".to_owned(),
        builtin if matches!(Class::from_builtin(builtin), Class::Int | Class::Decimal) => {
            (1 + random.below(1_000_000_000)).to_string()
        }
        _ => letters(length, random),
    }
}

/// Returns a finite double of random bits, as the benchmarks use: 22 characters on average.
fn hard_double(random: &mut SplitMix64) -> String {
    loop {
        let value = f64::from_bits(random.next_u64());
        if value.is_finite() {
            return format!("{value:e}");
        }
    }
}

fn date(random: &mut SplitMix64) -> String {
    format!("{}-{:02}-{:02}", 1990 + random.below(40), 1 + random.below(12), 1 + random.below(28))
}

fn time(random: &mut SplitMix64) -> String {
    format!("{:02}:{:02}:{:02}Z", random.below(24), random.below(60), random.below(60))
}

/// Returns Base64 text for this many octets.
fn base64(octets: usize) -> String {
    let mut text = "q83v".repeat(octets / 3);
    text.push_str(["", "qw==", "q80="][octets % 3]);
    text
}

pub(super) fn letters(length: usize, random: &mut SplitMix64) -> String {
    let letter = |code: u32| char::from(b'a' + (code % 26) as u8);
    (0..length).map(|_| letter(random.below(26))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(base: Builtin) -> SimpleElement {
        SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None }
    }

    #[test]
    fn every_type_has_typical_values() {
        let mut random = SplitMix64::new(1);
        for &builtin in Builtin::ALL {
            for length in [1, 7, 100] {
                assert!(typical(&element(builtin), length, &mut random).is_some(), "{builtin:?} {length}");
            }
        }
    }

    #[test]
    fn texts_are_as_long_as_they_should_be() {
        let mut random = SplitMix64::new(1);
        for builtin in [Builtin::String, Builtin::Token, Builtin::NcName, Builtin::AnyUri] {
            let value = typical(&element(builtin), 37, &mut random).expect("a value").to_string();
            assert_eq!(value.len(), 37, "{builtin:?}");
        }
        assert_eq!([3, 4, 5].map(|octets| base64(octets).len()), [4, 8, 8]);
    }

    #[test]
    fn numbers_have_their_digits() {
        let mut random = SplitMix64::new(1);
        for (builtin, least) in [(Builtin::Float, 8.0), (Builtin::Double, 20.0), (Builtin::Int, 8.5)] {
            let mut length = || typical(&element(builtin), 0, &mut random).expect("a value").to_string().len();
            let mean = (0..1000).map(|_| length()).sum::<usize>() as f64 / 1000.0;
            assert!(mean > least, "{builtin:?}: {mean}");
        }
    }

    #[test]
    fn every_class_is_measured_by_one_of_its_own() {
        for class in Class::ALL {
            assert_eq!(Class::from_builtin(class.representative()), class);
        }
    }

    #[test]
    fn of_an_enumeration_comes_one_of_its_values() {
        let colour =
            SimpleElement { enumeration: vec!["red".into(), "blue".into()].into(), ..element(Builtin::String) };
        let value = typical(&colour, 50, &mut SplitMix64::new(3)).expect("a value").to_string();
        assert!(value == "red" || value == "blue");
    }
}
