//! `float` and `double`: IEEE 754, with XSD's own names for infinity and not-a-number.

use super::{Lexical, LexicalError, WhiteSpace, int, space};
use crate::{Buffer, Escape};

macro_rules! float {
    ($type:ty, $name:literal, $width:literal) => {
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
                if !starts_as_number(bytes) {
                    return None;
                }
                let (value, used) = fast_float2::parse_partial(bytes).ok()?;
                (bytes.get(used) == Some(&b'<')).then_some((value, used))
            }

            #[inline]
            fn format(&self, out: &mut Buffer, _: Escape) {
                let integral = *self as i64;
                if integral.unsigned_abs() < INTEGRAL_LIMIT && (integral as Self).to_bits() == self.to_bits() {
                    return int::format_i64(integral, out);
                }
                if self.is_finite() {
                    return out.push(zmij::Buffer::new().format_finite(*self).as_bytes());
                }
                out.push(if self.is_nan() {
                    b"NaN"
                } else if *self > 0.0 {
                    b"INF"
                } else {
                    b"-INF"
                });
            }
        }
    };
}

float!(f32, "float", 16);
float!(f64, "double", 24);

/// Integral values below this are written as integers.
const INTEGRAL_LIMIT: u64 = 1_000_000_000_000_000;

/// Keeps out the names that Rust takes for infinity and not-a-number.
#[inline(always)]
fn starts_as_number(bytes: &[u8]) -> bool {
    let digits = match bytes {
        [b'-' | b'+', digits @ ..] => digits,
        _ => bytes,
    };
    matches!(digits, [b'0'..=b'9' | b'.', ..])
}
