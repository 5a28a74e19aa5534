//! The float nearest to `mantissa * 10^exponent`.
//!
//! There are two ways; each is exact if it returns a result:
//!
//! ```text
//! both factors are floats:     one multiplication or division, rounded by the processor (Clinger)
//! otherwise:                   mantissa times the 128 leading bits of the power of ten; the bits of the product
//!                              decide, except in rare cases that are left to the caller (Eisel and Lemire,
//!                              "Number parsing at a gigabyte per second", 2021)
//! ```

use super::powers::{MIN_EXPONENT, POWERS};

/// The properties of a float type that the conversion needs.
pub(super) trait Ieee: Copy {
    /// Number of stored bits of the mantissa.
    const MANTISSA_BITS: u32;
    /// The exponent field of 1.0.
    const BIAS: i32;
    /// The greatest power of ten that is a float, as are all smaller ones.
    const EXACT_POWER: i32;
    /// The exponents for which `mantissa * 10^exponent` can lie exactly between two floats.
    const TIES: std::ops::RangeInclusive<i32>;

    /// Returns the float with these bits.
    fn with_bits(bits: u64) -> Self;
    /// Returns `mantissa * 10^exponent`; both must be floats.
    fn scaled(mantissa: u64, exponent: i32) -> Self;
    /// Returns the same magnitude, with a minus sign if `negative`.
    fn signed(self, negative: bool) -> Self;
}

macro_rules! ieee {
    ($type:ty, $bits:ty, bias: $bias:literal, ties: $ties:expr, powers: [$($power:literal),*]) => {
        impl Ieee for $type {
            const MANTISSA_BITS: u32 = <$type>::MANTISSA_DIGITS - 1;
            const BIAS: i32 = $bias;
            const EXACT_POWER: i32 = [$($power),*].len() as i32 - 1;
            const TIES: std::ops::RangeInclusive<i32> = $ties;

            #[inline(always)]
            fn with_bits(bits: u64) -> Self {
                <$type>::from_bits(bits as $bits)
            }

            #[inline(always)]
            fn scaled(mantissa: u64, exponent: i32) -> Self {
                const POWERS: &[$type] = &[$($power),*];
                let power = POWERS[exponent.unsigned_abs() as usize];
                if exponent < 0 { mantissa as $type / power } else { mantissa as $type * power }
            }

            #[inline(always)]
            fn signed(self, negative: bool) -> Self {
                <$type>::from_bits(self.to_bits() | <$bits>::from(negative) << (<$bits>::BITS - 1))
            }
        }
    };
}

ieee!(f64, u64, bias: 1023, ties: -4..=23, powers: [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22
]);
ieee!(f32, u32, bias: 127, ties: -17..=10, powers: [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]);

/// Returns the float nearest to `mantissa * 10^exponent`; `None` if the digits have to be examined.
#[inline(always)]
pub(super) fn nearest<F: Ieee>(mantissa: u64, exponent: i32) -> Option<F> {
    if is_exact::<F>(mantissa, exponent) {
        return Some(F::scaled(mantissa, exponent));
    }
    by_product::<F>(mantissa, exponent).map(F::with_bits)
}

/// Returns true if both factors are floats.
///
/// The exponent is compared only once, and first: in numbers from a wide range it is seldom within
/// these bounds, while its sign and the size of a mantissa of 16 digits are unpredictable.
#[inline(always)]
fn is_exact<F: Ieee>(mantissa: u64, exponent: i32) -> bool {
    (exponent + F::EXACT_POWER).cast_unsigned() <= 2 * F::EXACT_POWER.cast_unsigned()
        && mantissa >> (F::MANTISSA_BITS + 1) == 0
}

/// Returns the bits of the nearest float.
#[inline(always)]
fn by_product<F: Ieee>(mantissa: u64, exponent: i32) -> Option<u64> {
    let Some(&power) = POWERS.get((exponent - MIN_EXPONENT).cast_unsigned() as usize) else {
        return Some(if exponent < MIN_EXPONENT || mantissa == 0 { 0 } else { infinity::<F>() });
    };
    if mantissa == 0 {
        return Some(0);
    }
    let zeros = mantissa.leading_zeros();
    let (high, low) = product::<F>(mantissa << zeros, power, exponent)?;
    let carry = (high >> 63) as u32;
    // Two bits more than the mantissa has: the hidden bit, and one for rounding.
    let shift = 61 + carry - F::MANTISSA_BITS;
    let mut bits = high >> shift;
    let field = binary_exponent(exponent) + carry as i32 - zeros as i32 + F::BIAS;
    if field <= 0 {
        return Some(subnormal(bits, 1 - field));
    }
    if low <= 1 && is_tie::<F>(high, shift, exponent) {
        bits &= !1;
    }
    let rounded = (bits + (bits & 1)) >> 1;
    // The hidden bit adds one to the field; a mantissa that was rounded up to a power of two adds
    // another.
    let float = rounded + ((field as u64 - 1) << F::MANTISSA_BITS);
    Some(float.min(infinity::<F>()))
}

/// Returns the bits of infinity.
const fn infinity<F: Ieee>() -> u64 {
    ((2 * F::BIAS + 1) as u64) << F::MANTISSA_BITS
}

/// Returns true exactly between two floats of which the lower one is even.
#[cold]
fn is_tie<F: Ieee>(high: u64, shift: u32, exponent: i32) -> bool {
    let bits = high >> shift;
    bits & 3 == 1 && bits << shift == high && F::TIES.contains(&exponent)
}

/// Returns the leading 128 bits of a mantissa, whose first bit is set, times a power of ten; `None`
/// if they do not decide.
#[inline(always)]
fn product<F: Ieee>(mantissa: u64, power: u128, exponent: i32) -> Option<(u64, u64)> {
    let mut product = u128::from(mantissa) * (power >> 64);
    let undecided = u64::MAX >> (F::MANTISSA_BITS + 3);
    if (product >> 64) as u64 & undecided == undecided {
        product += (u128::from(mantissa) * u128::from(power as u64)) >> 64;
    }
    let (high, low) = ((product >> 64) as u64, product as u64);
    (low != u64::MAX || (-27..=55).contains(&exponent)).then_some((high, low))
}

/// Returns the exponent of the product's first bit: 63 plus the binary logarithm of the power of
/// ten, rounded down.
#[inline(always)]
fn binary_exponent(exponent: i32) -> i32 {
    ((exponent * 217_706) >> 16) + 63
}

/// Returns the bits of a float below the normal range: shifted into place and rounded; it may
/// become the least normal one.
#[cold]
fn subnormal(bits: u64, shift: i32) -> u64 {
    if shift >= 64 {
        return 0;
    }
    let bits = bits >> shift;
    (bits + (bits & 1)) >> 1
}
