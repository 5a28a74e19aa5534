//! `float` and `double`: IEEE 754, with XSD's names for infinity and not-a-number.
//!
//! When reading, forms of up to 19 digits are split eight digits at a time ([`decimal_form`]) and
//! converted to the nearest float by one multiplication ([`nearest`]); the crate `fast-float2`
//! parses everything else. Writing produces the shortest form that reads back to the same bits:
//! integral values without a point (zero as `0` and `-0`), exponents always with a sign, `1e+16`
//! and `1e-7`. Doubles between 10^-5 and 1 have their own algorithm ([`fixed`](mod@fixed)); the
//! crate `zmij` writes the others.

mod decimal_form;
mod fixed;
mod nearest;
mod powers;

use super::{Image, Lexical, LexicalError, WhiteSpace, digits, int, overwrite, space};
use crate::{Buffer, Escape};
use decimal_form::DecimalForm;
use fast_float2::FastFloat;
use fixed::{Text, fixed};
use nearest::{Ieee, nearest};

/// Floats that have a faster algorithm than the general one.
trait Special {
    /// Returns the integer, if it is written without a point and an exponent.
    fn integral(self) -> Option<i64>;

    /// Returns the text of most values between 10^-5 and 1.
    fn fixed(self) -> Option<Text>;
}

macro_rules! float {
    ($type:ty, $name:literal, $width:literal, integral below $limit:literal, fixed: $fixed:expr) => {
        impl Special for $type {
            #[inline(always)]
            fn integral(self) -> Option<i64> {
                let integral = self as i64;
                let is_integral = integral.unsigned_abs() < $limit && (integral as Self).to_bits() == self.to_bits();
                is_integral.then_some(integral)
            }

            #[inline(always)]
            fn fixed(self) -> Option<Text> {
                $fixed(self)
            }
        }

        impl Lexical for $type {
            const XSD_NAME: &'static str = $name;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = Some($width);

            fn vacant() -> Self {
                0.0
            }

            fn parse(text: &str) -> Result<Self, LexicalError> {
                match space::trim(text) {
                    "INF" => Ok(Self::INFINITY),
                    "-INF" => Ok(Self::NEG_INFINITY),
                    "NaN" => Ok(Self::NAN),
                    number if starts_as_number(number.as_bytes()) => {
                        fast_float2::parse(number).map_err(|_| LexicalError::new::<Self>("not a decimal number"))
                    }
                    _ => Err(LexicalError::new::<Self>("neither a number, INF, -INF nor NaN")),
                }
            }

            #[inline]
            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                scan_short(bytes).or_else(|| scan_long(bytes))
            }

            // Two calls, not one body: the integral path is short, and slower next to the code that
            // the other one needs.
            #[inline(never)]
            fn format(&self, out: &mut Buffer, _: Escape) {
                if let Some(integral) = self.integral() {
                    return int::format_i64(integral, out);
                }
                #[inline(never)]
                fn fractional(value: $type, out: &mut Buffer) {
                    if let Some(text) = value.fixed() {
                        return text.push_to(out);
                    }
                    if value.is_finite() && value != 0.0 {
                        return out.push_short(zmij::Buffer::new().format_finite(value).as_bytes());
                    }
                    out.push(match value {
                        0.0 => b"-0",
                        <$type>::INFINITY => b"INF",
                        <$type>::NEG_INFINITY => b"-INF",
                        _ => b"NaN",
                    });
                }
                fractional(*self, out);
            }

            #[inline(always)]
            fn write_over(&self, place: &mut [u8], scratch: &mut Buffer) -> bool {
                let integral = self.integral();
                if let Some(text) = integral.and_then(int::short_text) {
                    return overwrite::put_word(text, place);
                }
                if integral.is_some() || !self.is_finite() || *self == 0.0 {
                    return overwrite::put_formatted(self, place, scratch);
                }
                match self.fixed() {
                    Some(text) => text.put(place),
                    None => overwrite::put(zmij::Buffer::new().format_finite(*self).as_bytes(), place),
                }
            }

            const IMAGE: Image = Image::float(size_of::<$type>() as u8);

            #[inline(always)]
            fn image(&self) -> [u8; 8] {
                u64::from(self.to_bits()).to_le_bytes()
            }

            #[inline(always)]
            fn from_image(image: [u8; 8]) -> Option<Self> {
                let value = Self::from_le_bytes(*image.first_chunk()?);
                (!value.is_nan()).then_some(value)
            }
        }
    };
}

float!(f32, "float", 16, integral below 1_000_000_000_000_000, fixed: |_| None);
float!(f64, "double", 24, integral below 10_000_000_000_000_000, fixed: fixed);

/// Scans a form of few digits.
#[inline(always)]
fn scan_short<F: Ieee>(bytes: &[u8]) -> Option<(F, usize)> {
    scan_integral(bytes).or_else(|| scan_decimal(bytes))
}

/// Scans up to seven digits and nothing else, which is common for counts and measures.
#[inline(always)]
fn scan_integral<F: Ieee>(bytes: &[u8]) -> Option<(F, usize)> {
    let word = digits::load(bytes.first_chunk()?);
    let count = digits::count(word);
    if !(1..8).contains(&count) || bytes[count] != b'<' {
        return None;
    }
    Some((F::scaled(digits::value_of(word, count), 0), count))
}

#[inline(always)]
fn scan_decimal<F: Ieee>(bytes: &[u8]) -> Option<(F, usize)> {
    let form = DecimalForm::scan(bytes)?;
    let magnitude = nearest::<F>(form.mantissa, form.exponent)?;
    Some((magnitude.signed(form.negative), form.len))
}

/// Scans any form that ends before a `<`.
#[cold]
#[inline(never)]
fn scan_long<F: FastFloat>(bytes: &[u8]) -> Option<(F, usize)> {
    let (value, used) = starts_as_number(bytes).then(|| fast_float2::parse_partial(bytes).ok())??;
    (bytes.get(used) == Some(&b'<')).then_some((value, used))
}

/// Rejects the names that Rust accepts for infinity and not-a-number.
#[inline]
fn starts_as_number(bytes: &[u8]) -> bool {
    let digits = match bytes {
        [b'-' | b'+', digits @ ..] => digits,
        _ => bytes,
    };
    matches!(digits, [b'0'..=b'9' | b'.', ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::testing::{LONG, assert_invalid, assert_valid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    #[test]
    fn forms() {
        assert_valid(&[
            ("-1E4", -1e4),
            ("1267.43233E12", 1267.43233e12),
            ("12.78e-2", 0.1278),
            ("12", 12.0),
            ("+1.5", 1.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e5", 1e5),
            ("1E+5", 1e5),
            ("-0", -0.0),
            ("0", 0.0),
            ("INF", f64::INFINITY),
            (" -INF\n", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
            ("-1e-400", -0.0),
            ("1e99999999999999999999", f64::INFINITY),
            ("0e99999999999999999999", 0.0),
            ("00000000000000000000000000000000001.5", 1.5),
            ("0.00000000000000000000000000000000015", 1.5e-34),
        ]);
        assert!(f64::parse("NaN").is_ok_and(f64::is_nan) && f32::parse(" NaN ").is_ok_and(f32::is_nan));
        assert_eq!(text_of(&f64::NAN), "NaN");
        for text in ["", " ", "inf", "-inf", "+INF", "Inf", "infinity", "nan", "NAN", "-NaN", "+NaN", "nan1"] {
            assert_invalid::<f64>(&[text]);
            assert_invalid::<f32>(&[text]);
        }
        for text in [".", "-", "+", "e5", "1e", "1e+", ".e5", "1.2.3", "1,5", "0x1p3", "1 2", "--1", "+-1", "1f", "1_0"]
        {
            assert_invalid::<f64>(&[text]);
            assert_invalid::<f32>(&[text]);
        }
    }

    #[test]
    fn integral_values_have_no_point() {
        for (value, text) in [
            (12345.0, "12345"),
            (-1.0, "-1"),
            (0.0, "0"),
            (-0.0, "-0"),
            (999_999_999_999_999.0, "999999999999999"),
            (9_999_999_999_999_998.0, "9999999999999998"),
            (1e16, "1e+16"),
            (0.5, "0.5"),
            (f64::INFINITY, "INF"),
            (f64::NEG_INFINITY, "-INF"),
        ] {
            assert_eq!(text_of(&value), text);
        }
        assert_eq!(text_of(&16_777_216f32), "16777216");
        assert_eq!(text_of(&-0f32), "-0");
        for value in [1e15, -1e15, 9_007_199_254_740_991.0, -9_007_199_254_740_992.0, 9_007_199_254_740_994.0] {
            laws(&value);
        }
    }

    #[test]
    fn widths_are_reached() {
        assert_eq!(Some(text_of(&-1.234_567_890_123_456_7e-123).len()), f64::MAX_WIDTH);
    }

    /// Tests around the boundaries between forms with and without an exponent, with the maximum
    /// number of digits.
    #[test]
    fn widths_hold_where_the_form_changes() {
        for exponent in -8..=18 {
            for step in 0..200 {
                let mantissa = 1.0 + f64::from(step) / 22.3;
                round_trips(-mantissa * 10f64.powi(exponent));
                round_trips_short(-(mantissa as f32) * 10f32.powi(exponent));
            }
        }
    }

    /// Asserts the same bits as the standard library's parser, and as the slow path.
    fn as_std(text: &str) {
        let bytes = format!("{text}</value>{LONG}");
        if let Some((value, used)) = f64::scan(bytes.as_bytes()) {
            assert_eq!((value.to_bits(), used), (text.parse::<f64>().expect("valid").to_bits(), text.len()), "{text}");
        }
        if let Some((value, _)) = f32::scan(bytes.as_bytes()) {
            assert_eq!(value.to_bits(), text.parse::<f32>().expect("valid").to_bits(), "{text}");
        }
    }

    /// Each line: the bits of a half, a single and a double, and a decimal form of them.
    #[test]
    fn collected_hard_cases() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/numbers/");
        for file in ["freetype-2-7", "google-wuffs", "lemire-fast-float", "more-test-cases", "tencent-rapidjson"] {
            let cases = std::fs::read_to_string(format!("{folder}{file}.txt")).expect("test data");
            cases.lines().for_each(hard_case);
        }
    }

    fn hard_case(line: &str) {
        let [_, single, double, text] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("four fields: {line}") };
        let (single, double) = (u32::from_str_radix(single, 16), u64::from_str_radix(double, 16));
        assert_eq!(f32::parse(text).map(f32::to_bits).ok(), single.ok(), "{text}");
        assert_eq!(f64::parse(text).map(f64::to_bits).ok(), double.ok(), "{text}");
        scan_agrees::<f32>(text);
        scan_agrees::<f64>(text);
    }

    /// Decimal forms near the boundaries between floats, for every power of ten.
    #[test]
    fn every_power_of_ten() {
        for exponent in -360..=330 {
            for mantissa in
                ["1", "9", "17976931348623157", "4503599627370497", "9007199254740993", "18446744073709551615"]
            {
                as_std(&format!("{mantissa}e{exponent}"));
                as_std(&format!("-0.{mantissa}E{exponent}"));
            }
        }
    }

    /// Halfway between two floats, written out exactly where 19 digits suffice.
    #[test]
    fn ties() {
        for bits in 0..64 {
            for offset in 0..40u64 {
                let odd = (1u64 << bits).wrapping_mul(2).wrapping_add(offset) | 1;
                for exponent in -27..=27 {
                    as_std(&format!("{odd}e{exponent}"));
                }
                as_std(&(odd as f64 * 0.5).to_string());
            }
        }
    }

    fn round_trips(value: f64) {
        let text = text_of(&value);
        assert!(
            Some(text.len()) <= f64::MAX_WIDTH && f64::scan(format!("{text}</value>{LONG}").as_bytes()).is_some(),
            "{text}"
        );
        assert_eq!(f64::parse(&text).expect("valid").to_bits(), value.to_bits(), "{text}");
        as_std(&text);
    }

    fn round_trips_short(value: f32) {
        let text = text_of(&value);
        assert!(
            Some(text.len()) <= f32::MAX_WIDTH && f32::scan(format!("{text}</value>{LONG}").as_bytes()).is_some(),
            "{text}"
        );
        assert_eq!(f32::parse(&text).expect("valid").to_bits(), value.to_bits(), "{text}");
        as_std(&text);
    }

    /// Bit patterns spread over all exponents.
    #[test]
    fn many_bit_patterns() {
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..if cfg!(debug_assertions) { 50_000 } else { 3_000_000 } {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (value, short) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
            if value.is_finite() {
                round_trips(value);
            }
            if short.is_finite() {
                round_trips_short(short);
            }
        }
    }

    proptest! {
        #[test]
        fn laws_hold(value: f64, short: f32) {
            laws(&value);
            laws(&short);
            round_trips(value);
            round_trips_short(short);
        }

        #[test]
        fn any_characters(text in "[-+.eE0-9x]{0,12}", digits in "-?[0-9]{0,9}[.]?[0-9]{0,18}e?[-+]?[0-9]{0,4}[x.-]?") {
            scan_agrees::<f64>(&text);
            scan_agrees::<f32>(&text);
            scan_agrees::<f64>(&digits);
            scan_agrees::<f32>(&digits);
        }

        #[test]
        fn decimal_forms(text in "[-+]?[0-9]{1,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?") {
            as_std(&text);
            scan_agrees::<f64>(&text);
            scan_agrees::<f32>(&text);
        }

        #[test]
        fn wrong_forms(text in "[-+.eE0-9INFNaninf]{0,9}") {
            scan_agrees::<f32>(&text.replace("NaN", ""));
            scan_agrees::<f64>(&text.replace("NaN", ""));
        }
    }
}
