//! The shortest text of a `double` between 10^-5 and 1, made in registers: a shift puts `0.` and
//! zeros before its digits, where a general routine writes the digits to memory and moves them.
//! Numbers with digits around the point gain nothing by this.
//!
//! The algorithm is Schubfach (Giulietti, 2021), in the form of the crate `zmij`. It scales the
//! value by a power of ten, so that sixteen digits come before the point, and checks whether the
//! digits after it can be omitted. For these values 64 bits hold that power exactly, so that one
//! multiplication is enough. Powers of two, whose neighbours lie at different distances, and all
//! other values are left to the caller.

use super::super::{digits, overwrite};
use super::powers::{MIN_EXPONENT, POWERS};
use crate::Buffer;

/// Number of stored bits of a mantissa.
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent field of 1.0, plus the stored bits of a mantissa that is taken as a whole number.
const BIAS: i32 = 1023 + MANTISSA as i32;
/// The greatest power of ten that 64 bits hold, apart from its factors of two.
const EXACT: i32 = 27;
/// Number of bits of the scaled value after the point, in addition to 64 of its fraction.
const SPARE: i32 = 6;

/// A text of up to 24 characters, the first in the lowest byte. Bytes after its end are ignored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    low: u128,
    high: u64,
    len: usize,
}

/// Returns the text of a value, if it is between 10^-5 and 1 and not a power of two.
#[inline(always)]
pub(super) fn fixed(value: f64) -> Option<Text> {
    if value.abs() >= 1.0 {
        return None;
    }
    let decimal = shortest(value.to_bits())?;
    let zeros = (-5..0).contains(&decimal.point).then_some((1 - decimal.point) as usize)?;
    Some(Text::digits(&decimal).after_point(zeros).signed(value.is_sign_negative()))
}

/// A decimal of up to seventeen digits.
struct Decimal {
    /// The first sixteen or fifteen digits.
    whole: u64,
    is_sixteen: bool,
    /// The next digit, if it counts.
    last: u64,
    has_last: bool,
    /// The power of ten of the first digit.
    point: i32,
}

#[inline(always)]
fn shortest(bits: u64) -> Option<Decimal> {
    let exponent = (bits >> MANTISSA & 0x7FF) as i32 - BIAS;
    let mantissa = bits & ((1 << MANTISSA) - 1);
    // The logarithm to base ten, rounded down.
    let scale = (exponent * 315_653) >> 20;
    let by = -scale - 1;
    if mantissa == 0 || !(0..=EXACT).contains(&by) {
        return None;
    }
    let power = (POWERS[(by - MIN_EXPONENT) as usize] >> 64) as u64;
    // The power's own exponent compensates most of the value's.
    let shift = exponent + ((by * 217_707) >> 16) + 1 + SPARE;
    let product = u128::from(power) * u128::from((mantissa | 1 << MANTISSA) << shift);
    let (whole, fraction) = ((product >> (64 + SPARE)) as u64, (product >> SPARE) as u64);
    // Half the distance to the next float; exactly half counts if the mantissa is even.
    let half = (power >> (SPARE + 1 - shift)) + (1 - (mantissa & 1));
    let (is_up, is_down) = (fraction.checked_add(half).is_none(), half > fraction);
    let rounded = (u128::from(fraction) * 10 + (1 << 63)) >> 64;
    let whole = whole + u64::from(is_up);
    let is_sixteen = whole >= digits::POW10[15];
    Some(Decimal {
        whole,
        is_sixteen,
        // Two and a half rounds to the even digit; seven and a half does so by itself.
        last: if fraction == 1 << 62 { 2 } else { rounded as u64 },
        has_last: !(is_up | is_down),
        point: scale + 15 + i32::from(is_sixteen),
    })
}

impl Text {
    #[inline(always)]
    fn digits(decimal: &Decimal) -> Self {
        let (high, low) = (decimal.whole / 100_000_000, decimal.whole % 100_000_000);
        let digits = u128::from(digits::digits_of(low as u32)) << 64 | u128::from(digits::digits_of(high as u32));
        let zeros = digits.leading_zeros() as usize / 8;
        let missing = 1 - usize::from(decimal.is_sixteen);
        let len = if decimal.has_last { 17 } else { 16 - zeros } - missing;
        let last = decimal.last | u64::from(b'0');
        let digits = (digits | u128::from_le_bytes([b'0'; 16])) >> (8 * missing);
        match decimal.is_sixteen {
            true => Text { low: digits, high: last, len },
            false => Text { low: digits | u128::from(last) << 120, high: 0, len },
        }
    }

    /// Prepends `count` characters: `0.` and zeros.
    #[inline(always)]
    fn after_point(self, count: usize) -> Self {
        let zeros = u64::from_le_bytes(*b"0.000000") & ((1 << (8 * count)) - 1);
        let text = self.moved(count);
        Text { low: text.low | u128::from(zeros), ..text }
    }

    #[inline(always)]
    fn signed(self, is_negative: bool) -> Self {
        let text = self.moved(usize::from(is_negative));
        Text { low: text.low | if is_negative { u128::from(b'-') } else { 0 }, ..text }
    }

    /// Moves the text by up to seven places.
    #[inline(always)]
    fn moved(self, count: usize) -> Self {
        let bits = 8 * count as u32;
        let over = ((self.low >> 64) as u64 >> 1) >> (63 - bits);
        Text { low: self.low << bits, high: self.high << bits | over, len: self.len + count }
    }

    /// Appends the text.
    #[inline(always)]
    pub(super) fn push_to(self, out: &mut Buffer) {
        if let Some(spare) = out.spare(24).first_chunk_mut::<24>() {
            spare[..16].copy_from_slice(&self.low.to_le_bytes());
            spare[16..].copy_from_slice(&self.high.to_le_bytes());
        }
        out.commit(self.len);
    }

    /// Copies the text to a place of the same length; returns false and writes nothing if the
    /// lengths differ.
    #[inline(always)]
    pub(super) fn put(self, place: &mut [u8]) -> bool {
        if self.len <= 16 {
            return overwrite::put_word((self.low, self.len), place);
        }
        let bits = 8 * (self.len as u32 - 16);
        let last = self.low >> bits | u128::from(self.high) << (128 - bits);
        overwrite::put_long(self.low, last, self.len, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Asserts that both ways give the text of the crate; returns `false` if the value is left to
    /// the caller.
    fn agrees(value: f64) -> bool {
        let Some(text) = fixed(value) else { return false };
        let mut buffer = zmij::Buffer::new();
        let expected = buffer.format_finite(value);
        let mut out = Buffer::new();
        text.push_to(&mut out);
        assert_eq!(std::str::from_utf8(out.as_slice()), Ok(expected));
        let mut place = [b'<'; 30];
        assert!(text.put(&mut place[2..2 + expected.len()]));
        assert!(!text.put(&mut place[2..3 + expected.len()]));
        assert_eq!((&place[..2], &place[2..2 + expected.len()]), (&b"<<"[..], expected.as_bytes()));
        assert!(place[2 + expected.len()..].iter().all(|&byte| byte == b'<'));
        true
    }

    #[test]
    fn every_exponent_and_all_numbers_of_digits() {
        let mut written = 0;
        for field in 0..0x800u64 {
            for step in 0..400u64 {
                let mantissa = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (12 + step % 50);
                written += u32::from(agrees(f64::from_bits(field << 52 | mantissa | step << 63)));
            }
        }
        assert!(written > 16 * 300, "{written}");
        for exponent in -7..17 {
            for number in (1..100_000u64).chain((1..10_000).map(|step| step * 987_654_321_012)) {
                agrees(number as f64 / 10f64.powi(exponent));
            }
        }
    }

    #[test]
    fn what_is_left_to_the_caller() {
        for value in [0.0, 0.5, 1e-6, 9.9e-6, 1.0, 1.5, 1e300, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE / 3.0] {
            assert!(fixed(value).is_none() && fixed(-value).is_none(), "{value}");
        }
        for value in [1.1e-5, 0.1, 0.3, 0.999_999_999_999_999_9] {
            assert!(agrees(value) && agrees(-value), "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_value(value: f64, unit in 0.0..1.0f64, digits in 0..17usize) {
            agrees(value);
            agrees(unit);
            agrees(format!("{unit:.digits$}").parse().expect("a number"));
        }
    }
}
