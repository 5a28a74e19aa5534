//! Decimal digits, eight at a time in a `u64`.
//!
//! Eight characters are loaded little-endian, so that the first is in the lowest byte:
//!
//! ```text
//! xor '0':     a digit becomes 0..=9, anything else more than 9 (or has its top bit set)
//! count:       add 0x76 to every byte: what is above 9 gets its top bit; the lowest one ends the digits
//! shift up:    the digits move to the top, zeros move in below, which are leading zeros
//! combine:     8 digits -> 4 pairs -> 2 quads -> 1 number, three multiplications
//! ```
//!
//! Writing reverses these steps.

/// The powers of ten that fit a `u64`.
pub(crate) const POW10: [u64; 20] = {
    let mut powers = [1; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Returns each of eight characters xor `'0'`.
#[inline(always)]
pub(crate) fn load(bytes: &[u8; 8]) -> u64 {
    from_word(u64::from_le_bytes(*bytes))
}

/// Like [`load`], for characters in a word.
#[inline(always)]
pub(crate) fn from_word(word: u64) -> u64 {
    word ^ 0x3030_3030_3030_3030
}

/// Counts the digits among eight [`load`]ed characters, up to the first that is not a digit.
///
/// An addition can carry only out of a byte that is not a digit, into later bytes, which no longer
/// matter.
#[inline(always)]
pub(crate) fn count(word: u64) -> usize {
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    others.trailing_zeros() as usize / 8
}

/// Returns the number that the first `count` of eight [`load`]ed characters form.
#[inline(always)]
pub(crate) fn value_of(word: u64, count: usize) -> u64 {
    // In two halves: a shift by all 64 bits would not shift at all.
    let half = 32 - 4 * count;
    value_of_eight(word << half << half)
}

/// Returns the number that eight digits form, the most significant in the lowest byte.
#[inline(always)]
pub(crate) fn value_of_eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00FF_00FF_00FF_00FF;
    let quads = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_FFFF_0000_FFFF;
    quads.wrapping_mul(1 + (10_000 << 32)) >> 32
}

/// Returns the number that the first `count` (one to three) of four [`load`]ed characters form.
#[inline(always)]
pub(crate) fn value_of_three(word: u32, count: usize) -> u32 {
    let digits = word << (32 - 8 * count);
    let pairs = digits.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00FF_00FF;
    pairs.wrapping_mul(1 + (100 << 16)) >> 16
}

/// Returns the eight digits of a number below 10^8, one per byte, the most significant in the
/// lowest byte.
#[inline(always)]
pub(crate) fn digits_of(number: u32) -> u64 {
    debug_assert!(number < 100_000_000);
    let number = u64::from(number);
    let high = number / 10_000;
    let quads = high | (number - 10_000 * high) << 32;
    let highs = ((quads * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let pairs = highs | (quads - 100 * highs) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (pairs - 10 * tens) << 8
}

/// Returns a number's characters without leading zeros, at the start of the block, and their count.
#[inline(always)]
pub(crate) fn short(number: u32) -> ([u8; 8], usize) {
    let digits = digits_of(number);
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    (((digits | 0x3030_3030_3030_3030) >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize)
}

/// Returns all eight characters of a number below 10^8.
#[inline(always)]
pub(crate) fn full(number: u32) -> [u8; 8] {
    (digits_of(number) | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_count(bytes: &[u8; 8]) -> usize {
        bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn agrees(bytes: &[u8; 8]) {
        let word = load(bytes);
        assert_eq!(count(word), naive_count(bytes), "{bytes:x?}");
        let digits = std::str::from_utf8(&bytes[..count(word)]).expect("digits");
        assert_eq!(value_of(word, count(word)), digits.parse().unwrap_or(0), "{bytes:x?}");
    }

    #[test]
    fn every_byte_ends_or_continues_the_digits() {
        for at in 0..8 {
            for byte in 0..=255 {
                let mut bytes = *b"91827364";
                bytes[at] = byte;
                agrees(&bytes);
            }
        }
    }

    #[test]
    fn up_to_three_digits() {
        for number in 0..1000 {
            for text in [format!("{number}<......"), format!("{number:03}<......")] {
                let word = load(text.as_bytes().first_chunk().expect("eight"));
                let count = count(word);
                assert_eq!(value_of_three(word as u32, count), text[..count].parse::<u32>().expect("digits"));
            }
        }
    }

    #[test]
    fn numbers_around_the_powers_of_ten() {
        for power in &POW10[..9] {
            for number in power.saturating_sub(200)..=power + 200 {
                let Ok(number) = u32::try_from(number) else { continue };
                if number < 100_000_000 {
                    written(number);
                }
            }
        }
    }

    fn written(number: u32) {
        let (block, len) = short(number);
        assert_eq!(&block[..len], number.to_string().as_bytes());
        assert_eq!(&full(number), format!("{number:08}").as_bytes());
    }

    proptest! {
        #[test]
        fn any_characters(bytes: [u8; 8], digits in "[0-9]{8}[^0-9]?") {
            agrees(&bytes);
            agrees(digits.as_bytes().first_chunk().expect("eight"));
        }

        #[test]
        fn any_number(number in 0u32..100_000_000) {
            written(number);
        }

        #[test]
        fn every_quad(step in 0u32..10_000) {
            written(step * 10_000 + 9_999 - step);
        }
    }
}
