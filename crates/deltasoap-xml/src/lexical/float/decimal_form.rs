//! A decimal form taken apart: digits as one number, exponent, length.
//!
//! Where a value ends decides where the next one starts, so the time for a message of many short values is the time
//! until each end is known. Counting digits in a word takes a dozen cycles, a jump that is predicted takes none. So
//! jumps are taken where layouts repeat (a point behind one, two or three digits, a full word of digits, the digits
//! of the exponent), and words are counted where they vary.

use crate::lexical::digits::{self, POW10};

/// `mantissa * 10^exponent`, as it is written.
pub(super) struct DecimalForm {
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
    /// Bytes of the form.
    pub(super) len: usize,
}

impl DecimalForm {
    /// Reads a form without sign that ends before a `<`, of at most 19 digits and an exponent of at most three; `None`
    /// for anything else, and within eight bytes of the end of the input.
    #[inline(always)]
    pub(super) fn scan(bytes: &[u8]) -> Option<DecimalForm> {
        match bytes {
            [_, b'.', fraction @ ..] => Self::with_point::<1>(bytes, fraction),
            [_, _, b'.', fraction @ ..] => Self::with_point::<2>(bytes, fraction),
            [_, _, _, b'.', fraction @ ..] => Self::with_point::<3>(bytes, fraction),
            _ => Self::with_any_point(bytes),
        }
    }

    /// A form with the point behind `N` digits, if they are digits.
    #[inline(always)]
    fn with_point<const N: usize>(bytes: &[u8], fraction: &[u8]) -> Option<DecimalForm> {
        let word = digits::load(bytes.first_chunk()?);
        if digits::count(word) != N {
            return None;
        }
        Self::fraction(Digits { value: digits::value_of(word, N), count: N }, N + 1, fraction)
    }

    #[inline(always)]
    fn with_any_point(bytes: &[u8]) -> Option<DecimalForm> {
        let mut whole = Digits { value: 0, count: 0 };
        let len = whole.append(bytes)?;
        match bytes[len..] {
            [b'.', ref fraction @ ..] => Self::fraction(whole, len + 1, fraction),
            ref rest => Self::end(whole, 0, len, rest),
        }
    }

    /// What follows the point, `len` being the bytes up to there.
    #[inline(always)]
    fn fraction(mut number: Digits, len: usize, bytes: &[u8]) -> Option<DecimalForm> {
        let fraction = number.append(bytes)?;
        Self::end(number, -(fraction as i32), len + fraction, &bytes[fraction..])
    }

    /// What follows the digits.
    #[inline(always)]
    fn end(number: Digits, exponent: i32, len: usize, bytes: &[u8]) -> Option<DecimalForm> {
        if !(1..=19).contains(&number.count) {
            return None;
        }
        let form = DecimalForm { mantissa: number.value, exponent, len };
        match bytes {
            [b'<', ..] => Some(form),
            [b'e' | b'E', b'-', digits @ ..] => form.scaled(-1, 2, digits),
            [b'e' | b'E', b'+', digits @ ..] => form.scaled(1, 2, digits),
            [b'e' | b'E', digits @ ..] => form.scaled(1, 1, digits),
            _ => None,
        }
    }

    /// With the digits of an exponent behind its sign.
    #[inline(always)]
    fn scaled(self, sign: i32, len: usize, bytes: &[u8]) -> Option<DecimalForm> {
        let (scale, digits) = match *bytes {
            [a @ b'0'..=b'9', b'<', ..] => (number([a]), 1),
            [a @ b'0'..=b'9', b @ b'0'..=b'9', b'<', ..] => (number([a, b]), 2),
            [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b'<', ..] => (number([a, b, c]), 3),
            _ => return None,
        };
        Some(DecimalForm { exponent: self.exponent + sign * scale, len: self.len + len + digits, ..self })
    }
}

fn number<const N: usize>(digits: [u8; N]) -> i32 {
    digits.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'))
}

/// Digits read so far. With more than 19 the value wraps and means nothing.
struct Digits {
    value: u64,
    count: usize,
}

impl Digits {
    /// Appends the digits that come next, and gives how many.
    #[inline(always)]
    fn append(&mut self, mut bytes: &[u8]) -> Option<usize> {
        let mut appended = 0;
        loop {
            let (block, rest) = bytes.split_first_chunk::<8>()?;
            let word = digits::load(block);
            let count = digits::count(word);
            appended += count;
            if count < 8 {
                self.value = self.value.wrapping_mul(POW10[count]).wrapping_add(digits::value_of(word, count));
                self.count += appended;
                return Some(appended);
            }
            self.value = self.value.wrapping_mul(POW10[8]).wrapping_add(digits::value_of_eight(word));
            bytes = rest;
        }
    }
}
