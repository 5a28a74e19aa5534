//! A time of day.

use super::{Cursor, Fraction, write_two};
use crate::Buffer;
use jiff::civil;

/// Hour, minute, second and fraction of a second, in their ranges; without leap seconds, which XSD
/// does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Clock {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) fraction: Fraction,
}

impl Clock {
    pub(super) const MIDNIGHT: Clock =
        Clock { hour: 0, minute: 0, second: 0, fraction: Fraction { nanosecond: 0, finer: 0 } };

    pub(super) fn new(hour: u8, minute: u8, second: u8, fraction: Fraction) -> Option<Clock> {
        let exists = hour < 24 && minute < 60 && second < 60;
        exists.then_some(Clock { hour, minute, second, fraction })
    }

    /// Reads `hh:mm:ss` with an optional fraction. `24:00:00` gives midnight and true: it is in the
    /// next day.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<(Clock, bool), &'static str> {
        let (hour, minute, second) = read_fields(cursor).ok_or("not of the form hh:mm:ss")?;
        let fraction = Fraction::read(cursor)?;
        if (hour, minute, second) == (24, 0, 0) {
            return if fraction.is_zero() { Ok((Clock::MIDNIGHT, true)) } else { Err("a time after 24:00:00") };
        }
        Clock::new(hour, minute, second, fraction).map(|clock| (clock, false)).ok_or("no such time")
    }

    pub(super) fn write(self, out: &mut Buffer) {
        write_two(self.hour, out);
        out.push_block(b":", 1);
        write_two(self.minute, out);
        out.push_block(b":", 1);
        write_two(self.second, out);
        self.fraction.write(out);
    }

    /// Returns the seconds since midnight.
    pub(super) fn seconds(self) -> i64 {
        i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second)
    }
}

impl From<civil::Time> for Clock {
    fn from(time: civil::Time) -> Clock {
        Clock {
            hour: time.hour().cast_unsigned(),
            minute: time.minute().cast_unsigned(),
            second: time.second().cast_unsigned(),
            fraction: Fraction { nanosecond: time.subsec_nanosecond().cast_unsigned(), finer: 0 },
        }
    }
}

impl From<Clock> for civil::Time {
    fn from(clock: Clock) -> civil::Time {
        let nanosecond = clock.fraction.nanosecond.cast_signed();
        civil::time(clock.hour.cast_signed(), clock.minute.cast_signed(), clock.second.cast_signed(), nanosecond)
    }
}

fn read_fields(cursor: &mut Cursor<'_>) -> Option<(u8, u8, u8)> {
    let hour = cursor.two()?;
    cursor.literal(b":")?;
    let minute = cursor.two()?;
    cursor.literal(b":")?;
    Some((hour, minute, cursor.two()?))
}
