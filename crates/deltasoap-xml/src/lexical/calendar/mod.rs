//! The calendar types: dates, times, durations, and recurring parts of dates.
//!
//! Each type reads itself from the front of a [`Cursor`] and writes itself. No form contains a `<`,
//! so scanning a message means parsing and then checking that a `<` follows. jiff decides which
//! days exist: years outside its range are moved into it by whole cycles of 400 years, after which
//! the Gregorian calendar repeats.
//!
//! Years follow XSD 1.0: there is no year 0000, and -0001 is the leap year before 0001. A value
//! with a zone and one without are comparable only if they are more than 14 hours apart.
//!
//! The value types are our own, on `jiff`'s civil types: XSD distinguishes "no zone" from UTC and
//! has years beyond 9999.

mod clock;
mod cursor;
mod date_time;
mod day;
mod duration;
mod fraction;
mod gregorian;
mod zone;

pub use date_time::{Date, DateTime, Time};
pub use duration::Duration;
pub use gregorian::{GDay, GMonth, GMonthDay, GYear, GYearMonth};
pub use zone::Zone;

use crate::Buffer;
use cursor::Cursor;
use fraction::Fraction;
use std::cmp::Ordering;

/// A value that reads itself from the front of a text.
trait Form: Sized {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, &'static str>;
    fn write(&self, out: &mut Buffer);
    /// Returns the value of [`crate::lexical::Lexical::vacant`].
    fn first() -> Self;
}

/// Implements [`crate::lexical::Lexical`] for a [`Form`].
macro_rules! lexical {
    ($type:ty, $name:literal, $width:literal) => {
        impl $crate::lexical::Lexical for $type {
            const XSD_NAME: &'static str = $name;
            const WHITE_SPACE: $crate::lexical::WhiteSpace = $crate::lexical::WhiteSpace::Collapse;
            const MAX_WIDTH: Option<usize> = Some($width);

            fn vacant() -> Self {
                Self::first()
            }

            fn parse(text: &str) -> Result<Self, $crate::lexical::LexicalError> {
                let mut cursor = Cursor::new($crate::lexical::space::trim(text).as_bytes());
                let value = Self::read(&mut cursor).map_err($crate::lexical::LexicalError::new::<Self>)?;
                cursor.end().map_err($crate::lexical::LexicalError::new::<Self>)?;
                Ok(value)
            }

            fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
                let mut cursor = Cursor::new(bytes);
                let value = Self::read(&mut cursor).ok()?;
                cursor.at(b'<').then(|| (value, bytes.len() - cursor.rest().len()))
            }

            fn format(&self, out: &mut Buffer, _: $crate::Escape) {
                self.write(out);
            }
        }
    };
}
use lexical;

/// A point on the time line as written: seconds since some midnight, and the zone, if any, not yet
/// applied.
#[derive(Clone, Copy)]
struct Instant {
    seconds: i64,
    fraction: Fraction,
    zone: Option<Zone>,
}

impl Instant {
    /// Returns the position on the time line, with `default` as the zone if there is none.
    fn in_zone(self, default: Zone) -> (i64, Fraction) {
        (self.seconds - 60 * i64::from(self.zone.unwrap_or(default).minutes()), self.fraction)
    }

    /// Compares in the order of XSD 1.0 part 2, 3.2.7.4: a value without a zone may lie anywhere
    /// within 14 hours.
    fn compare(self, other: Instant) -> Option<Ordering> {
        if self.zone.is_some() == other.zone.is_some() {
            return Some(self.in_zone(Zone::UTC).cmp(&other.in_zone(Zone::UTC)));
        }
        let earliest = self.in_zone(Zone::EAST).cmp(&other.in_zone(Zone::EAST));
        let latest = self.in_zone(Zone::WEST).cmp(&other.in_zone(Zone::WEST));
        (earliest == latest).then_some(earliest)
    }
}

/// Writes two digits.
fn write_two(value: u8, out: &mut Buffer) {
    out.push_block(&[b'0' + value / 10, b'0' + value % 10], 2);
}
