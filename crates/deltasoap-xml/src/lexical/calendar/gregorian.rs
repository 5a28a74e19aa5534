//! `gYear`, `gYearMonth`, `gMonth`, `gMonthDay`, `gDay`: parts of a date, with an optional time
//! zone.

use super::day::{Day, read_year, write_year};
use super::{Cursor, Form, Fraction, Instant, Zone, lexical, write_two};
use crate::Buffer;
use std::cmp::Ordering;

/// Defines a part of a date: its fields, its reader and writer, and the first day that it is part
/// of, in a year in which all days exist.
macro_rules! part {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* }, $xsd:literal, $width:literal,
     read: |$cursor:ident| $read:expr, write: |$out:ident| $write:block, day: $day:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name {
            $($field: $type,)*
            zone: Option<Zone>,
        }

        impl $name {
            /// Creates the part of a date, without zone; `None` if it does not exist.
            pub fn new($($field: $type),*) -> Option<Self> {
                let day: Option<Day> = $day;
                day.map(|_| $name { $($field,)* zone: None })
            }

            $(
                #[doc = concat!("The ", stringify!($field), ".")]
                pub fn $field(&self) -> $type {
                    self.$field
                }
            )*

            /// Returns the zone; `None` if the text had none.
            pub fn zone(&self) -> Option<Zone> {
                self.zone
            }

            /// Returns the same fields in another zone, or in none.
            #[must_use]
            pub fn with_zone(mut self, zone: Option<Zone>) -> Self {
                self.zone = zone;
                self
            }

            /// Compares in the order of XSD's value space; `None` if only one value has a zone and
            /// the two are too close to decide.
            pub fn compare(&self, other: &Self) -> Option<Ordering> {
                self.instant().compare(other.instant())
            }

            fn instant(&self) -> Instant {
                let $name { $($field,)* zone } = *self;
                let day: Option<Day> = $day;
                Instant { seconds: day.map_or(0, |day| day.number() * 86_400), fraction: Fraction::default(), zone }
            }
        }

        impl Form for $name {
            fn read($cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
                let ($($field,)*) = $read?;
                let value = Self::new($($field),*).ok_or("no such part of a date")?;
                Ok(value.with_zone(Zone::read($cursor)?))
            }

            fn write(&self, $out: &mut Buffer) {
                let $name { $($field,)* zone } = *self;
                $write
                Zone::write(zone, $out);
            }

            fn first() -> Self {
                $name { $($field: 1,)* zone: None }
            }
        }

        lexical!($name, $xsd, $width);
    };
}

part!(
    /// An XSD `gYear`: a year, as in `1999`.
    GYear { year: i32 }, "gYear", 17,
    read: |cursor| read_year(cursor).map(|year| (year,)),
    write: |out| { write_year(year, out) },
    day: Day::new(year, 1, 1)
);
part!(
    /// An XSD `gYearMonth`: a month of a year, as in `1999-05`.
    GYearMonth { year: i32, month: u8 }, "gYearMonth", 20,
    read: |cursor| read_year_month(cursor),
    write: |out| {
        write_year(year, out);
        out.push_block(b"-", 1);
        write_two(month, out);
    },
    day: Day::new(year, month, 1)
);
part!(
    /// An XSD `gMonth`: a month of every year, as in `--05`. The form `--05--` of the first edition
    /// is accepted too.
    GMonth { month: u8 }, "gMonth", 10,
    read: |cursor| read_month(cursor).ok_or("not of the form --MM"),
    write: |out| {
        out.push_block(b"--", 2);
        write_two(month, out);
    },
    day: Day::new(LEAP_YEAR, month, 1)
);
part!(
    /// An XSD `gMonthDay`: a day of every year, as in `--05-31`; `--02-29` is valid.
    GMonthDay { month: u8, day: u8 }, "gMonthDay", 13,
    read: |cursor| read_month_day(cursor).ok_or("not of the form --MM-DD"),
    write: |out| {
        out.push_block(b"--", 2);
        write_two(month, out);
        out.push_block(b"-", 1);
        write_two(day, out);
    },
    day: Day::new(LEAP_YEAR, month, day)
);
part!(
    /// An XSD `gDay`: a day of every month, as in `---31`.
    GDay { day: u8 }, "gDay", 11,
    read: |cursor| read_day(cursor).ok_or("not of the form ---DD"),
    write: |out| {
        out.push_block(b"---", 3);
        write_two(day, out);
    },
    day: Day::new(LEAP_YEAR, 1, day)
);

/// A year that has every possible day.
const LEAP_YEAR: i32 = 2000;

fn read_year_month(cursor: &mut Cursor<'_>) -> Result<(i32, u8), &'static str> {
    let year = read_year(cursor)?;
    let month = cursor.literal(b"-").and_then(|()| cursor.two());
    Ok((year, month.ok_or("not of the form YYYY-MM")?))
}

fn read_month(cursor: &mut Cursor<'_>) -> Option<(u8,)> {
    cursor.literal(b"--")?;
    let month = cursor.two()?;
    let _ = cursor.literal(b"--");
    Some((month,))
}

fn read_month_day(cursor: &mut Cursor<'_>) -> Option<(u8, u8)> {
    cursor.literal(b"--")?;
    let month = cursor.two()?;
    cursor.literal(b"-")?;
    Some((month, cursor.two()?))
}

fn read_day(cursor: &mut Cursor<'_>) -> Option<(u8,)> {
    cursor.literal(b"---")?;
    Some((cursor.two()?,))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Lexical;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, text_of};
    use proptest::prelude::*;

    fn zone(minutes: i16) -> Option<Zone> {
        Some(Zone::from_minutes(minutes).expect("a zone"))
    }

    #[test]
    fn years_and_months() {
        assert_valid(&[
            ("1999", GYear::new(1999).expect("a year")),
            ("-0044Z", GYear::new(-44).expect("a year").with_zone(zone(0))),
            ("12000-14:00", GYear::new(12000).expect("a year").with_zone(zone(-840))),
        ]);
        assert_invalid::<GYear>(&["", "99", "0000", "01999", "1999-05", "+1999", "19x9"]);
        assert_valid(&[
            ("1999-05", GYearMonth::new(1999, 5).expect("a month")),
            (" -0001-12+01:00 ", GYearMonth::new(-1, 12).expect("a month").with_zone(zone(60))),
        ]);
        assert_invalid::<GYearMonth>(&["1999", "1999-13", "1999-00", "1999-5", "1999-05-01", "99-05"]);
    }

    #[test]
    fn recurring_parts() {
        let may = GMonth::new(5).expect("a month");
        assert_valid(&[("--05", may), ("--05--", may), ("--05Z", may.with_zone(zone(0)))]);
        assert_invalid::<GMonth>(&["05", "--5", "--13", "--00", "-05", "--05-", "--05-01"]);
        assert_valid(&[("--02-29", GMonthDay::new(2, 29).expect("a day"))]);
        assert_invalid::<GMonthDay>(&["--02-30", "--04-31", "--4-3", "02-29", "--13-01", "---02-29"]);
        assert_valid(&[
            ("---31", GDay::new(31).expect("a day")),
            ("---01-14:00", GDay::new(1).expect("a day").with_zone(zone(-840))),
        ]);
        assert_invalid::<GDay>(&["---32", "---00", "31", "--31", "---1", "----1"]);
    }

    #[test]
    fn widths_are_reached() {
        assert_eq!(Some(text_of(&GYear::new(i32::MIN).expect("a year").with_zone(zone(1))).len()), GYear::MAX_WIDTH);
        let month = GYearMonth::new(i32::MIN, 1).expect("a month").with_zone(zone(1));
        assert_eq!(Some(text_of(&month).len()), GYearMonth::MAX_WIDTH);
        assert_eq!(Some(text_of(&GMonth::new(1).expect("a month").with_zone(zone(1))).len()), GMonth::MAX_WIDTH);
        assert_eq!(Some(text_of(&GMonthDay::new(1, 1).expect("a day").with_zone(zone(1))).len()), GMonthDay::MAX_WIDTH);
        assert_eq!(Some(text_of(&GDay::new(1).expect("a day").with_zone(zone(1))).len()), GDay::MAX_WIDTH);
    }

    #[test]
    fn order() {
        let year = |year| GYear::new(year).expect("a year");
        assert_eq!(year(1999).compare(&year(2000)), Some(Ordering::Less));
        assert_eq!(year(1999).compare(&year(2000).with_zone(zone(0))), Some(Ordering::Less));
        assert_eq!(year(2000).compare(&year(2000).with_zone(zone(0))), None);
        let day = |day| GDay::new(day).expect("a day");
        assert_eq!(day(2).compare(&day(1)), Some(Ordering::Greater));
    }

    proptest! {
        #[test]
        fn laws_hold(year: i32, month in 1u8..=12, day in 1u8..=31, minutes in -840i16..=840) {
            let zone = zone(minutes);
            GYear::new(year).iter().for_each(|value| laws(&value.with_zone(zone)));
            GYearMonth::new(year, month).iter().for_each(|value| laws(&value.with_zone(zone)));
            GMonthDay::new(month, day).iter().for_each(|value| laws(&value.with_zone(zone)));
            GMonth::new(month).iter().for_each(|value| laws(&value.with_zone(zone)));
            GDay::new(day).iter().for_each(|value| laws(&value.with_zone(zone)));
        }
    }
}
