//! The powers of ten from 10^-342 to 10^308, each to 128 bits, computed when the crate is compiled.
//!
//! A power of ten is a power of five and a shift, so the table holds the 128 leading bits of powers
//! of five. It is computed with exact arithmetic:
//!
//! ```text
//! 5^n       multiply a big number by five, n times; cut its leading bits out
//! 5^-n      start from 2^960 and divide by five, n times: flooring at each step is flooring at the end
//! ```
//!
//! The remaining bits are dropped, except that 5^-1 to 5^-27 are rounded up: the algorithm that
//! uses the table requires this, so that a number divisible by the power comes out exact.

/// The least power of ten.
pub(super) const MIN_EXPONENT: i32 = -342;
/// The greatest power of ten.
const MAX_EXPONENT: i32 = 308;

const LEN: usize = (MAX_EXPONENT - MIN_EXPONENT + 1) as usize;

/// The 128 leading bits of each power from [`MIN_EXPONENT`] on; the first bit is set.
pub(super) static POWERS: [u128; LEN] = powers();

/// Number of 64-bit limbs, the least significant first; 5^308 takes 716 bits, 2^960 takes 961.
const LIMBS: usize = 16;

const fn powers() -> [u128; LEN] {
    let mut powers = [0; LEN];
    let zero = -MIN_EXPONENT as usize;
    let mut up = [0; LIMBS];
    up[0] = 1;
    let mut n = 0;
    while n <= MAX_EXPONENT as usize {
        powers[zero + n] = leading_bits(&up);
        times_five(&mut up);
        n += 1;
    }
    let mut down = [0; LIMBS];
    down[LIMBS - 1] = 1;
    n = 1;
    while n <= zero {
        by_five(&mut down);
        powers[zero - n] = leading_bits(&down) + (n <= 27) as u128;
        n += 1;
    }
    powers
}

const fn times_five(number: &mut [u64; LIMBS]) {
    let mut carry = 0;
    let mut i = 0;
    while i < LIMBS {
        let product = number[i] as u128 * 5 + carry;
        number[i] = product as u64;
        carry = product >> 64;
        i += 1;
    }
}

const fn by_five(number: &mut [u64; LIMBS]) {
    let mut remainder = 0;
    let mut i = LIMBS;
    while i > 0 {
        i -= 1;
        let dividend = remainder << 64 | number[i] as u128;
        number[i] = (dividend / 5) as u64;
        remainder = dividend % 5;
    }
}

const fn leading_bits(number: &[u64; LIMBS]) -> u128 {
    let mut top = LIMBS - 1;
    while number[top] == 0 {
        top -= 1;
    }
    let first = number[top];
    let second = if top >= 1 { number[top - 1] } else { 0 };
    let third = if top >= 2 { number[top - 2] } else { 0 };
    let shift = first.leading_zeros();
    let two = (first as u128) << 64 | second as u128;
    if shift == 0 { two } else { two << shift | (third >> (64 - shift)) as u128 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// Compares with the definition, one power at a time.
    #[test]
    fn as_by_definition() {
        for (index, &power) in POWERS.iter().enumerate() {
            let exponent = MIN_EXPONENT + index as i32;
            let five = BigUint::from(5u8).pow(exponent.unsigned_abs());
            let number: BigUint = if exponent >= 0 { five << 200 } else { (BigUint::from(1u8) << 2000) / five };
            let leading = &number >> (number.bits() - 128);
            let rounded_up = u8::from((-27..0).contains(&exponent));
            assert_eq!(BigUint::from(power), leading + rounded_up, "5^{exponent}");
        }
    }
}
