//! `byte`, `short`, `int`, `long` and their unsigned counterparts, as Rust's integers.
//!
//! Reading takes eight digits at a time and checks the sign and the `<` that follows; writing makes
//! eight digits at a time and shifts leading zeros out, so that both have few branches. Unsigned
//! types accept a `+`, and a `-` before zero, as XSD 1.0 allows for `nonNegativeInteger`, from
//! which they are derived.

use super::digits::{self, POW10};
use super::{Image, Lexical, LexicalError, WhiteSpace, overwrite, space};
use crate::buffer::Block;
use crate::{Buffer, Escape};

macro_rules! int {
    ($type:ident, $name:literal, $width:literal, $format:ident, $image:ident, $below:literal, $above:literal) => {
        impl Lexical for $type {
            const XSD_NAME: &'static str = $name;
            const WHITE_SPACE: WhiteSpace = WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = Some($width);

            fn vacant() -> Self {
                0
            }

            fn parse(text: &str) -> Result<Self, LexicalError> {
                let value = parse_any(space::trim(text)).map_err(LexicalError::new::<Self>)?;
                let outside = if value < 0 { $below } else { $above };
                Self::try_from(value).map_err(|_| LexicalError::new::<Self>(outside))
            }

            #[inline]
            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                // A branch on the sign, not a calculation: predicting it costs less than waiting
                // for it.
                if let [b'-', digits @ ..] = bytes {
                    #[inline(never)]
                    fn negative(digits: &[u8]) -> Option<($type, usize)> {
                        let (magnitude, len) = scan_magnitude::<{ $width }>(digits)?;
                        Some((in_range!($type, true, magnitude)?, len + 1))
                    }
                    return negative(digits);
                }
                let (magnitude, len) = scan_magnitude::<{ $width }>(bytes)?;
                Some((in_range!($type, false, magnitude)?, len))
            }

            #[inline]
            fn format(&self, out: &mut Buffer, _: Escape) {
                $format((*self).into(), out);
            }

            #[inline(always)]
            fn write_over(&self, place: &mut [u8], scratch: &mut Buffer) -> bool {
                if let Some(text) = i64::try_from(*self).ok().and_then(short_text) {
                    return overwrite::put_word(text, place);
                }
                overwrite::put_formatted(self, place, scratch)
            }

            const IMAGE: Image = Image::$image(size_of::<$type>() as u8);

            #[inline(always)]
            fn image(&self) -> [u8; 8] {
                let mut image = [0; 8];
                image[..size_of::<$type>()].copy_from_slice(&self.to_le_bytes());
                image
            }

            #[inline(always)]
            fn from_image(image: [u8; 8]) -> Option<Self> {
                image.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
            }
        }
    };
}

/// Converts a sign and a magnitude to a value of the type, if it is in range.
macro_rules! in_range {
    (i64, $negative:expr, $magnitude:expr) => {{
        let limit = i64::MAX.cast_unsigned() + u64::from($negative);
        let value = $magnitude.cast_signed();
        ($magnitude <= limit).then_some(if $negative { value.wrapping_neg() } else { value })
    }};
    (u64, $negative:expr, $magnitude:expr) => {
        (!$negative || $magnitude == 0).then_some($magnitude)
    };
    ($type:ty, $negative:expr, $magnitude:expr) => {{
        let value = $magnitude.cast_signed();
        <$type>::try_from(if $negative { value.wrapping_neg() } else { value }).ok()
    }};
}

int!(i8, "byte", 4, format_i32, signed, "below -128", "above 127");
int!(i16, "short", 6, format_i32, signed, "below -32768", "above 32767");
int!(i32, "int", 11, format_i32, signed, "below -2147483648", "above 2147483647");
int!(i64, "long", 20, format_i64, signed, "below -9223372036854775808", "above 9223372036854775807");
int!(u8, "unsignedByte", 3, format_u32, unsigned, "below 0", "above 255");
int!(u16, "unsignedShort", 5, format_u32, unsigned, "below 0", "above 65535");
int!(u32, "unsignedInt", 10, format_u32, unsigned, "below 0", "above 4294967295");
int!(u64, "unsignedLong", 20, format_u64, unsigned, "below 0", "above 18446744073709551615");

/// Parses a sign and digits; a number too large for every type is returned as 2^64 or -2^64.
fn parse_any(text: &str) -> Result<i128, &'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    if digits.is_empty() {
        return Err("no digits");
    }
    let magnitude = digits.iter().try_fold(0, append_digit).ok_or("not a digit")?;
    Ok(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn append_digit(number: i128, digit: &u8) -> Option<i128> {
    let beyond_all = 1 << 64;
    digit.is_ascii_digit().then(|| (number * 10 + i128::from(digit - b'0')).min(beyond_all))
}

/// Scans digits up to a `<`; returns the number and the count of digits. `None` for anything else,
/// and for more digits than a type of `WIDTH` characters can have (the slow path handles leading
/// zeros).
#[inline(always)]
fn scan_magnitude<const WIDTH: usize>(bytes: &[u8]) -> Option<(u64, usize)> {
    let (magnitude, len) = match bytes.first_chunk::<24>() {
        Some(bytes) => scan_block::<WIDTH>(bytes)?,
        None => scan_block::<WIDTH>(&padded(bytes))?,
    };
    (bytes.get(len) == Some(&b'<')).then_some((magnitude, len))
}

/// Copies the bytes near the end of the input and appends zero bytes, which end the digits.
#[cold]
fn padded(bytes: &[u8]) -> [u8; 24] {
    let mut block = [0; 24];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

#[inline(always)]
fn scan_block<const WIDTH: usize>(bytes: &[u8; 24]) -> Option<(u64, usize)> {
    let ([first, second, third], _) = bytes.as_chunks::<8>() else { return None };
    let (word, n) = counted(first);
    if n < 8 || WIDTH < 8 {
        return (0 < n && n < 8).then(|| (digits::value_of(word, n), n));
    }
    let (head, (word, n)) = (digits::value_of_eight(word), counted(second));
    if n < 8 || WIDTH < 16 {
        return (n < 8).then(|| (head * POW10[n] + digits::value_of(word, n), 8 + n));
    }
    let head = head * POW10[8] + digits::value_of_eight(word);
    let (word, n) = counted(third);
    let scale = POW10[..5].get(n)?;
    Some((head.checked_mul(*scale)?.checked_add(digits::value_of(word, n))?, 16 + n))
}

#[inline(always)]
fn counted(bytes: &[u8; 8]) -> (u64, usize) {
    let word = digits::load(bytes);
    (word, digits::count(word))
}

#[inline(always)]
fn format_i32(value: i32, out: &mut Buffer) {
    format_signed_short(value < 0, value.unsigned_abs(), out);
}

#[inline(always)]
pub(super) fn format_i64(value: i64, out: &mut Buffer) {
    match u32::try_from(value.unsigned_abs()) {
        Ok(magnitude) => format_signed_short(value < 0, magnitude, out),
        Err(_) => format_signed_long(value < 0, value.unsigned_abs(), out),
    }
}

#[inline(always)]
pub(super) fn format_u32(value: u32, out: &mut Buffer) {
    format_signed_short(false, value, out);
}

#[inline(always)]
pub(super) fn format_u64(value: u64, out: &mut Buffer) {
    match u32::try_from(value) {
        Ok(value) => format_signed_short(false, value, out),
        Err(_) => format_signed_long(false, value, out),
    }
}

/// Writes up to ten digits. Everything goes into a block of fixed size, each part over the scratch
/// after the previous one.
#[inline(always)]
fn format_signed_short(negative: bool, magnitude: u32, out: &mut Buffer) {
    let mut block = out.block::<24>();
    block.put(*b"-       ", usize::from(negative));
    put_short(magnitude, &mut block);
    let len = block.len();
    out.commit(len);
}

/// Writes a number that exceeds `u32`.
fn format_signed_long(negative: bool, magnitude: u64, out: &mut Buffer) {
    let mut block = out.block::<28>();
    block.put(*b"-       ", usize::from(negative));
    let (high, low) = (magnitude / 100_000_000, (magnitude % 100_000_000) as u32);
    match u32::try_from(high) {
        Ok(high) => put_short(high, &mut block),
        Err(_) => {
            put_short((high / 100_000_000) as u32, &mut block);
            block.put(digits::full((high % 100_000_000) as u32), 8);
        }
    }
    block.put(digits::full(low), 8);
    let len = block.len();
    out.commit(len);
}

/// Returns the characters of a number of up to ten digits, the first in the lowest byte, and their
/// count.
#[inline(always)]
pub(super) fn short_text(value: i64) -> Option<(u128, usize)> {
    let magnitude = u32::try_from(value.unsigned_abs()).ok()?;
    let (text, len) = if magnitude < 100_000_000 {
        let (text, len) = digits::short(magnitude);
        (u128::from(u64::from_le_bytes(text)), len)
    } else {
        let (head, len) = digits::short(magnitude / 100_000_000);
        let tail = u64::from_le_bytes(digits::full(magnitude % 100_000_000));
        (u128::from(u64::from_le_bytes(head)) | u128::from(tail) << (8 * len), len + 8)
    };
    Some(if value < 0 { (text << 8 | u128::from(b'-'), len + 1) } else { (text, len) })
}

#[inline(always)]
fn put_short<const N: usize>(number: u32, block: &mut Block<'_, N>) {
    if number < 100_000_000 {
        let (text, len) = digits::short(number);
        return block.put(text, len);
    }
    let (text, len) = digits::short(number / 100_000_000);
    block.put(text, len);
    block.put(digits::full(number % 100_000_000), 8);
}

#[cfg(test)]
mod tests {
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, text_of};
    use crate::lexical::{Lexical, LexicalError};
    use proptest::prelude::*;

    #[test]
    fn forms_of_int() {
        assert_valid::<i32>(&[
            ("0", 0),
            ("-0", 0),
            ("+0", 0),
            ("126789675", 126_789_675),
            ("-1", -1),
            ("+100000", 100_000),
            (" \t12\r\n", 12),
            ("2147483647", i32::MAX),
            ("-2147483648", i32::MIN),
            ("000000000000000000000000000000000000007", 7),
        ]);
        assert_invalid::<i32>(&[
            "", " ", "+", "-", "+-1", "--1", "1.0", "1e3", "0x1", "1 2", "1,000", "\u{661}", "INF",
        ]);
        assert_invalid::<i32>(&["2147483648", "-2147483649", "99999999999999999999999999999999999999999999999"]);
    }

    #[test]
    fn errors_say_why() {
        let reason = |text| i32::parse(text).expect_err("invalid").to_string();
        assert_eq!(reason("2147483648"), "not a valid int: above 2147483647");
        assert_eq!(reason("-2147483649"), "not a valid int: below -2147483648");
        assert_eq!(reason("x"), "not a valid int: not a digit");
        assert_eq!(u8::parse("-1"), Err(LexicalError { expected: "unsignedByte", reason: "below 0" }));
    }

    #[test]
    fn the_unsigned_take_a_sign_where_it_means_nothing() {
        assert_valid::<u32>(&[("+5", 5), ("-0", 0), ("4294967295", u32::MAX)]);
        assert_invalid::<u32>(&["-1", "4294967296"]);
    }

    macro_rules! extremes {
        ($($type:ty),*) => {
            $(for value in [<$type>::MIN, <$type>::MAX, 0] {
                laws(&value);
                let outside = format!("{}0", value);
                assert!(value == 0 || <$type>::parse(&outside).is_err());
                assert!(value == 0 || <$type>::scan(format!("{outside}<").as_bytes()).is_none());
            }
            let widest = [<$type>::MIN, <$type>::MAX].map(|value| text_of(&value).len()).into_iter().max();
            assert_eq!(widest, <$type>::MAX_WIDTH);
            for value in [i128::from(<$type>::MIN) - 1, i128::from(<$type>::MAX) + 1] {
                assert!(<$type>::parse(&value.to_string()).is_err());
                assert!(<$type>::scan(format!("{value}<").as_bytes()).is_none());
            })*
        };
    }

    #[test]
    fn extremes() {
        extremes!(i8, i16, i32, i64, u8, u16, u32, u64);
    }

    #[test]
    fn scan_takes_every_plain_form() {
        for value in [0, 1, -1, 12_345_678, -123_456_789, i64::MAX, i64::MIN] {
            for following in ["<", "</x>", "</x><x>0123456789012345678901234567890"] {
                let text = format!("{value}{following}");
                assert_eq!(i64::scan(text.as_bytes()), Some((value, text.find('<').expect("there"))));
            }
        }
    }

    proptest! {
        #[test]
        fn laws_hold(a: i8, b: i16, c: i32, d: i64, bits in 0u32..64) {
            laws(&a);
            laws(&b);
            laws(&c);
            laws(&(d >> bits));
            laws(&(a as u8));
            laws(&(b as u16));
            laws(&(c as u32 >> (bits / 2)));
            laws(&((d as u64) >> bits));
        }

        #[test]
        fn scan_and_parse_agree(text in "[-+ ]?[0-9]{0,24}[ .a]?") {
            crate::lexical::testing::scan_agrees::<i8>(&text);
            crate::lexical::testing::scan_agrees::<u16>(&text);
            crate::lexical::testing::scan_agrees::<i32>(&text);
            crate::lexical::testing::scan_agrees::<u32>(&text);
            crate::lexical::testing::scan_agrees::<i64>(&text);
            crate::lexical::testing::scan_agrees::<u64>(&text);
        }
    }
}
