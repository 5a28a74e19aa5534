//! A decimal form split into sign, digits as one number, exponent, and length.
//!
//! The end of a value determines the start of the next one, so the time for a message of many short
//! values is the time until each end is known. A predicted branch takes no time; a mispredicted one
//! takes as long as half a value. Therefore the code branches where the values of a message are
//! alike (the point, full words of digits, the `e`), and calculates what differs from one value to
//! the next: both signs, the last digits, the digits of the exponent.

use crate::lexical::digits::{self, POW10};

/// `mantissa * 10^exponent`, as written.
pub(super) struct DecimalForm {
    pub(super) negative: bool,
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
    /// Length of the form in bytes.
    pub(super) len: usize,
}

impl DecimalForm {
    /// Reads a form that ends before a `<`, without a leading `+`, of at most 19 digits and an
    /// exponent of at most three; `None` for anything else, and within [`WINDOW`] bytes of the end
    /// of the input.
    #[inline(always)]
    pub(super) fn scan(bytes: &[u8]) -> Option<DecimalForm> {
        let text = Text(bytes.first_chunk()?);
        let word = digits::from_word(text.word(0)?);
        let count = digits::count(word);
        if (2..8).contains(&count) && text.0[count] == b'.' {
            let whole = Digits { value: digits::value_of(word, count), count, end: count };
            return whole.with_fraction(text, false);
        }
        Self::signed(text)
    }

    /// Reads a form with an optional sign. The sign is not a branch, because it is the hardest to
    /// predict.
    #[inline(always)]
    fn signed(text: Text<'_>) -> Option<DecimalForm> {
        let negative = text.0[0] == b'-';
        let start = usize::from(negative);
        if text.0[start + 1] == b'.' {
            return Digits::one(text, start)?.with_fraction(text, negative);
        }
        let whole = Digits { value: 0, count: 0, end: start }.append(text)?;
        if *text.0.get(whole.end)? == b'.' {
            return whole.with_fraction(text, negative);
        }
        whole.with_exponent(text, negative, 0)
    }
}

/// Maximum number of bytes examined.
const WINDOW: usize = 64;

#[derive(Clone, Copy)]
struct Text<'a>(&'a [u8; WINDOW]);

impl Text<'_> {
    #[inline(always)]
    fn word(self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.0.get(at..)?.first_chunk()?))
    }
}

/// The digits read so far. With more than 19, the value wraps and is meaningless.
struct Digits {
    value: u64,
    count: usize,
    /// Index of their end.
    end: usize,
}

impl Digits {
    #[inline(always)]
    fn one(text: Text<'_>, at: usize) -> Option<Digits> {
        let value = u64::from(text.0[at] ^ b'0');
        (value < 10).then_some(Digits { value, count: 1, end: at + 1 })
    }

    /// Reads a point, more digits, and an optional exponent.
    #[inline(always)]
    fn with_fraction(self, text: Text<'_>, negative: bool) -> Option<DecimalForm> {
        let whole = self.count;
        let all = Digits { end: self.end + 1, ..self }.append(text)?;
        let exponent = whole as i32 - all.count as i32;
        all.with_exponent(text, negative, exponent)
    }

    /// Appends the digits that come next. Their first word is usually full, the second usually is
    /// not.
    #[inline(always)]
    fn append(self, text: Text<'_>) -> Option<Digits> {
        let word = digits::from_word(text.word(self.end)?);
        let count = digits::count(word);
        if count < 8 {
            return Some(self.append_word(word, count));
        }
        let head = self.append_word(word, 8);
        let word = digits::from_word(text.word(head.end)?);
        let all = head.append_word(word, digits::count(word));
        if text.0.get(all.end)?.is_ascii_digit() { all.append_rest(text) } else { Some(all) }
    }

    #[cold]
    fn append_rest(self, text: Text<'_>) -> Option<Digits> {
        let word = digits::from_word(text.word(self.end)?);
        Some(self.append_word(word, digits::count(word)))
    }

    #[inline(always)]
    fn append_word(self, word: u64, count: usize) -> Digits {
        let value = self.value.wrapping_mul(POW10[count]).wrapping_add(digits::value_of(word, count));
        Digits { value, count: self.count + count, end: self.end + count }
    }

    /// Reads what follows the digits.
    #[inline(always)]
    fn with_exponent(self, text: Text<'_>, negative: bool, exponent: i32) -> Option<DecimalForm> {
        if !(1..=19).contains(&self.count) {
            return None;
        }
        let form = DecimalForm { negative, mantissa: self.value, exponent, len: self.end };
        let word = text.word(self.end)?;
        match word as u8 {
            b'<' => Some(form),
            b'e' | b'E' => form.scaled(word >> 8),
            _ => None,
        }
    }
}

impl DecimalForm {
    /// Adds the exponent that the characters of a word form.
    #[inline(always)]
    fn scaled(self, word: u64) -> Option<DecimalForm> {
        let negative = word as u8 == b'-';
        let sign = usize::from(negative) | usize::from(word as u8 == b'+');
        let word = word >> (8 * sign);
        let scale = digits::from_word(word);
        let count = digits::count(scale);
        if !(1..=3).contains(&count) || (word >> (8 * count)) as u8 != b'<' {
            return None;
        }
        let scale = digits::value_of_three(scale as u32, count) as i32;
        let exponent = self.exponent + if negative { -scale } else { scale };
        Some(DecimalForm { exponent, len: self.len + 1 + sign + count, ..self })
    }
}
