//! Time zones as XSD writes them: `Z`, or hours and minutes from UTC.

use super::{Cursor, write_two};
use crate::Buffer;

/// Minutes east of UTC, at most 14 hours either way. `Z`, `+00:00` and `-00:00` are equal and
/// written `Z`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone(i16);

impl Zone {
    /// `Z`.
    pub const UTC: Zone = Zone(0);
    /// The first zone to see a new day, `+14:00`.
    pub(super) const EAST: Zone = Zone(LIMIT);
    /// The last zone to see a new day, `-14:00`.
    pub(super) const WEST: Zone = Zone(-LIMIT);

    /// Creates a zone from minutes east of UTC; `None` beyond 14 hours either way.
    pub fn from_minutes(minutes: i16) -> Option<Zone> {
        (-LIMIT..=LIMIT).contains(&minutes).then_some(Zone(minutes))
    }

    /// Returns the minutes east of UTC, -840 to 840.
    pub fn minutes(self) -> i16 {
        self.0
    }

    /// Reads a zone, if there is one.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Zone>, &'static str> {
        let sign = match cursor.rest() {
            [b'Z', ..] => 0,
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Ok(None),
        };
        cursor.eat(cursor.rest()[0]);
        let minutes = if sign == 0 { Some(0) } else { read_minutes(cursor) };
        minutes.and_then(|minutes| Zone::from_minutes(sign * minutes)).map(Some).ok_or("no such time zone")
    }

    pub(super) fn write(zone: Option<Zone>, out: &mut Buffer) {
        match zone {
            None => {}
            Some(Zone::UTC) => out.push_block(b"Z", 1),
            Some(Zone(minutes)) => {
                out.push_block(if minutes < 0 { b"-" } else { b"+" }, 1);
                write_two((minutes.unsigned_abs() / 60) as u8, out);
                out.push_block(b":", 1);
                write_two((minutes.unsigned_abs() % 60) as u8, out);
            }
        }
    }
}

const LIMIT: i16 = 14 * 60;

fn read_minutes(cursor: &mut Cursor<'_>) -> Option<i16> {
    let hours = cursor.two()?;
    cursor.literal(b":")?;
    let minutes = cursor.two().filter(|&minutes| minutes < 60)?;
    Some(i16::from(hours) * 60 + i16::from(minutes))
}
