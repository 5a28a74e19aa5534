//! The fraction of a second.

use super::Cursor;
use crate::Buffer;
use crate::lexical::digits;

/// Maximum number of significant digits after the point.
const DIGITS: usize = 27;
/// Number of digits of [`Fraction::nanosecond`].
const COARSE: usize = 9;

/// A fraction of a second, exact to 27 digits. Text with more digits is refused, unless they are
/// zeros.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Fraction {
    /// Billionths, below 1,000,000,000.
    pub(super) nanosecond: u32,
    /// The part below a nanosecond, in 10⁻²⁷ seconds: less than 10¹⁸.
    pub(super) finer: u64,
}

impl Fraction {
    /// Creates a fraction; `None` for a full second.
    pub(super) fn new(nanosecond: u32) -> Option<Fraction> {
        (nanosecond < 1_000_000_000).then_some(Fraction { nanosecond, finer: 0 })
    }

    pub(super) fn is_zero(self) -> bool {
        self == Fraction::default()
    }

    /// Takes a point and the digits after it, if a point is next.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Fraction, &'static str> {
        if !cursor.eat(b'.') {
            return Ok(Fraction::default());
        }
        let digits = cursor.digits();
        if digits.is_empty() {
            return Err("no digits after the point");
        }
        let (coarse, finer) = digits.split_at(digits.len().min(COARSE));
        let (finer, rest) = finer.split_at(finer.len().min(DIGITS - COARSE));
        if rest.iter().any(|&digit| digit != b'0') {
            return Err("more than 27 digits of a second");
        }
        let nanosecond = scaled(coarse, COARSE) as u32;
        Ok(Fraction { nanosecond, finer: scaled(finer, DIGITS - COARSE) })
    }

    /// Writes a point and as many digits as needed; nothing for zero.
    pub(super) fn write(self, out: &mut Buffer) {
        if self.is_zero() {
            return;
        }
        let mut text = [b'.'; 1 + DIGITS];
        text[1] = b'0' + (self.nanosecond / 100_000_000) as u8;
        text[2..=COARSE].copy_from_slice(&digits::full(self.nanosecond % 100_000_000));
        let len = if self.finer == 0 { 1 + COARSE } else { text.len() };
        write_digits(self.finer, &mut text[1 + COARSE..len]);
        let len = text[..len].iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
        out.push(&text[..len]);
    }
}

/// Returns the number that the digits form when padded with zeros to `width`, at most 18.
fn scaled(digits: &[u8], width: usize) -> u64 {
    let number = digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    number * digits::POW10[width - digits.len()]
}

fn write_digits(mut number: u64, place: &mut [u8]) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}
