//! A day of the Gregorian calendar, in any year that fits an `i32`.

use super::{Cursor, write_two};
use crate::Buffer;
use crate::lexical::digits;
use jiff::civil;

/// Year (never 0), month and day, which form an existing date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Day {
    pub(super) year: i32,
    pub(super) month: u8,
    pub(super) day: u8,
}

/// Days in 400 years.
const CYCLE_DAYS: i64 = 146_097;

impl Day {
    pub(super) const FIRST: Day = Day { year: 1, month: 1, day: 1 };

    pub(super) fn new(year: i32, month: u8, day: u8) -> Option<Day> {
        let day = Day { year, month, day };
        (year != 0 && day.in_cycle().is_some()).then_some(day)
    }

    /// Reads `YYYY-MM-DD`.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Day, &'static str> {
        let year = read_year(cursor)?;
        let (month, day) = read_month_day(cursor).ok_or("not of the form YYYY-MM-DD")?;
        Day::new(year, month, day).ok_or("no such day")
    }

    pub(super) fn write(self, out: &mut Buffer) {
        write_year(self.year, out);
        out.push_block(b"-", 1);
        write_two(self.month, out);
        out.push_block(b"-", 1);
        write_two(self.day, out);
    }

    /// Returns the next day; `None` after the last year.
    pub(super) fn next(self) -> Option<Day> {
        let today = self.in_cycle()?;
        let next = today.tomorrow().ok()?;
        let year = astronomical(self.year) + i64::from(next.year() - today.year());
        Some(Day {
            year: from_astronomical(year)?,
            month: next.month().cast_unsigned(),
            day: next.day().cast_unsigned(),
        })
    }

    /// Returns the days since 2000-01-01.
    pub(super) fn number(self) -> i64 {
        let cycle = (astronomical(self.year) - 2000).div_euclid(400);
        let in_cycle = self.in_cycle().map_or(0, |day| (day - civil::date(2000, 1, 1)).get_days());
        cycle * CYCLE_DAYS + i64::from(in_cycle)
    }

    /// Returns the same day moved by a multiple of 400 years into 2000 to 2399.
    fn in_cycle(self) -> Option<civil::Date> {
        let year = 2000 + astronomical(self.year).rem_euclid(400);
        civil::Date::new(year as i16, self.month.cast_signed(), self.day.cast_signed()).ok()
    }
}

impl From<civil::Date> for Day {
    fn from(date: civil::Date) -> Day {
        let year = from_astronomical(date.year().into()).unwrap_or(1);
        Day { year, month: date.month().cast_unsigned(), day: date.day().cast_unsigned() }
    }
}

impl TryFrom<Day> for civil::Date {
    type Error = &'static str;

    fn try_from(day: Day) -> Result<civil::Date, &'static str> {
        let year = i16::try_from(astronomical(day.year)).map_err(|_| OUTSIDE_JIFF)?;
        civil::Date::new(year, day.month.cast_signed(), day.day.cast_signed()).map_err(|_| OUTSIDE_JIFF)
    }
}

const OUTSIDE_JIFF: &str = "outside jiff's years -9999 to 9999";

/// Converts to an astronomical year: the year before 1 is 0 for astronomers, -1 for XSD 1.0.
fn astronomical(year: i32) -> i64 {
    i64::from(year) + i64::from(year < 0)
}

fn from_astronomical(year: i64) -> Option<i32> {
    i32::try_from(if year <= 0 { year - 1 } else { year }).ok()
}

/// Reads a year: at least four digits, no more than needed; `0000` is not a year.
pub(super) fn read_year(cursor: &mut Cursor<'_>) -> Result<i32, &'static str> {
    let negative = cursor.eat(b'-');
    let digits = cursor.digits();
    if digits.len() < 4 || (digits.len() > 4 && digits[0] == b'0') {
        return Err("not a year of four digits or more");
    }
    let magnitude = Cursor::new(digits).number().and_then(|year| i64::try_from(year).ok());
    let year = magnitude.map(|year| if negative { -year } else { year }).and_then(|year| i32::try_from(year).ok());
    year.ok_or("a year beyond 2147483647").and_then(|year| if year == 0 { Err("no such year") } else { Ok(year) })
}

pub(super) fn write_year(year: i32, out: &mut Buffer) {
    out.push_block(b"-", usize::from(year < 0));
    let year = year.unsigned_abs();
    if year >= 10_000 {
        return crate::lexical::int::format_u32(year, out);
    }
    let [.., a, b, c, d] = digits::full(year);
    out.push_block(&[a, b, c, d], 4);
}

fn read_month_day(cursor: &mut Cursor<'_>) -> Option<(u8, u8)> {
    cursor.literal(b"-")?;
    let month = cursor.two()?;
    cursor.literal(b"-")?;
    Some((month, cursor.two()?))
}
