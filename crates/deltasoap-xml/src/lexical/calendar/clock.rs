//! A time of day.

use super::{Cursor, write_two};
use crate::Buffer;
use crate::lexical::digits;
use jiff::civil;

/// Hour, minute, second and nanosecond, in their ranges; no leap seconds, which XSD does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Clock {
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) nanosecond: u32,
}

impl Clock {
    pub(super) const MIDNIGHT: Clock = Clock { hour: 0, minute: 0, second: 0, nanosecond: 0 };

    pub(super) fn new(hour: u8, minute: u8, second: u8, nanosecond: u32) -> Option<Clock> {
        let exists = hour < 24 && minute < 60 && second < 60 && nanosecond < 1_000_000_000;
        exists.then_some(Clock { hour, minute, second, nanosecond })
    }

    /// `hh:mm:ss` with a fraction perhaps; true with midnight for `24:00:00`, which is in the next day.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<(Clock, bool), &'static str> {
        let fields = read_fields(cursor);
        let text = cursor.rest();
        let fraction = cursor.fraction();
        let ((hour, minute, second), nanosecond) = fields.zip(fraction).ok_or("not of the form hh:mm:ss")?;
        if (hour, minute, second) == (24, 0, 0) {
            let behind = text[..text.len() - cursor.rest().len()].iter().all(|byte| matches!(byte, b'.' | b'0'));
            return if behind { Ok((Clock::MIDNIGHT, true)) } else { Err("a time behind 24:00:00") };
        }
        Clock::new(hour, minute, second, nanosecond).map(|clock| (clock, false)).ok_or("no such time")
    }

    pub(super) fn write(self, out: &mut Buffer) {
        write_two(self.hour, out);
        out.push_block(b":", 1);
        write_two(self.minute, out);
        out.push_block(b":", 1);
        write_two(self.second, out);
        write_fraction(self.nanosecond, out);
    }

    /// Seconds since midnight.
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
            nanosecond: time.subsec_nanosecond().cast_unsigned(),
        }
    }
}

impl From<Clock> for civil::Time {
    fn from(clock: Clock) -> civil::Time {
        let nanosecond = clock.nanosecond.cast_signed();
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

/// A point and as many digits as needed; nothing for zero.
pub(super) fn write_fraction(nanosecond: u32, out: &mut Buffer) {
    if nanosecond == 0 {
        return;
    }
    let [a, b, c, d, e, f, g, h] = digits::full(nanosecond % 100_000_000);
    let text = [b'.', b'0' + (nanosecond / 100_000_000) as u8, a, b, c, d, e, f, g, h];
    let len = text.iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
    out.push_block(&text, len);
}
