//! `date`, `time` and `dateTime`.
//!
//! Two values are equal (`==`) if all their fields are: `12:00:00Z` is not `13:00:00+01:00`,
//! although both name the same instant; `compare` gives the order of XSD's value space. Seconds
//! have at most 27 digits after the point; text with more is refused. `24:00:00` is read as
//! midnight of the next day.

use super::clock::Clock;
use super::day::Day;
use super::{Cursor, Form, Fraction, Instant, Zone, lexical};
use crate::Buffer;
use crate::lexical::LexicalError;
use jiff::civil;
use std::cmp::Ordering;

/// An XSD `date`: a day, with an optional time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Date {
    day: Day,
    zone: Option<Zone>,
}

/// An XSD `time`: a time of any day, with an optional time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    clock: Clock,
    zone: Option<Zone>,
}

/// An XSD `dateTime`: a day and a time of day, with an optional time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DateTime {
    day: Day,
    clock: Clock,
    zone: Option<Zone>,
}

lexical!(Date, "date", 23);
lexical!(Time, "time", 42);
lexical!(DateTime, "dateTime", 60);

/// Defines the accessors of a day.
macro_rules! day_fields {
    () => {
        /// Returns the year, never 0; -1 is the year before 1.
        pub fn year(&self) -> i32 {
            self.day.year
        }

        /// Returns the month, 1 to 12.
        pub fn month(&self) -> u8 {
            self.day.month
        }

        /// Returns the day of the month, 1 to 31.
        pub fn day(&self) -> u8 {
            self.day.day
        }
    };
}

/// Defines the accessors of a time of day.
macro_rules! clock_fields {
    () => {
        /// Returns the hour, 0 to 23.
        pub fn hour(&self) -> u8 {
            self.clock.hour
        }

        /// Returns the minute, 0 to 59.
        pub fn minute(&self) -> u8 {
            self.clock.minute
        }

        /// Returns the second, 0 to 59.
        pub fn second(&self) -> u8 {
            self.clock.second
        }

        /// Returns the fraction of the second in nanoseconds, 0 to 999,999,999.
        pub fn nanosecond(&self) -> u32 {
            self.clock.fraction.nanosecond
        }

        /// Returns the part of the second below a nanosecond, in 10⁻²⁷ seconds, 0 to 10¹⁸ - 1.
        /// Conversions to jiff's types drop it.
        pub fn subnanosecond(&self) -> u64 {
            self.clock.fraction.finer
        }
    };
}

/// Defines the zone accessors and the comparison.
macro_rules! zoned {
    () => {
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

        /// Compares in the order of XSD's value space (XSD 1.0 part 2, 3.2.7.4); `None` if only one
        /// value has a zone and the two are too close to decide.
        pub fn compare(&self, other: &Self) -> Option<Ordering> {
            self.instant().compare(other.instant())
        }
    };
}

impl Date {
    /// Creates a day without zone; `None` if there is no such day (for example in year 0).
    pub fn new(year: i32, month: u8, day: u8) -> Option<Date> {
        Some(Date { day: Day::new(year, month, day)?, zone: None })
    }

    day_fields!();
    zoned!();

    fn instant(&self) -> Instant {
        Instant { seconds: self.day.number() * 86_400, fraction: Fraction::default(), zone: self.zone }
    }
}

impl Time {
    /// Creates a time without zone; `None` if there is no such time (for example 24:00:00 and leap
    /// seconds).
    pub fn new(hour: u8, minute: u8, second: u8, nanosecond: u32) -> Option<Time> {
        Some(Time { clock: Clock::new(hour, minute, second, Fraction::new(nanosecond)?)?, zone: None })
    }

    clock_fields!();
    zoned!();

    fn instant(&self) -> Instant {
        Instant { seconds: self.clock.seconds(), fraction: self.clock.fraction, zone: self.zone }
    }
}

impl DateTime {
    /// Combines a day and a time of day; the zone is that of the time, or else that of the date.
    pub fn new(date: Date, time: Time) -> DateTime {
        DateTime { day: date.day, clock: time.clock, zone: time.zone.or(date.zone) }
    }

    /// Returns the day.
    pub fn date(&self) -> Date {
        Date { day: self.day, zone: self.zone }
    }

    /// Returns the time of day.
    pub fn time(&self) -> Time {
        Time { clock: self.clock, zone: self.zone }
    }

    day_fields!();
    clock_fields!();
    zoned!();

    fn instant(&self) -> Instant {
        let seconds = self.day.number() * 86_400 + self.clock.seconds();
        Instant { seconds, fraction: self.clock.fraction, zone: self.zone }
    }
}

impl Form for Date {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
        Ok(Date { day: Day::read(cursor)?, zone: Zone::read(cursor)? })
    }

    fn write(&self, out: &mut Buffer) {
        self.day.write(out);
        Zone::write(self.zone, out);
    }

    fn first() -> Self {
        Date { day: Day::FIRST, zone: None }
    }
}

impl Form for Time {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let (clock, _) = Clock::read(cursor)?;
        Ok(Time { clock, zone: Zone::read(cursor)? })
    }

    fn write(&self, out: &mut Buffer) {
        self.clock.write(out);
        Zone::write(self.zone, out);
    }

    fn first() -> Self {
        Time { clock: Clock::MIDNIGHT, zone: None }
    }
}

impl Form for DateTime {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let day = Day::read(cursor)?;
        cursor.literal(b"T").ok_or("no T after the date")?;
        let (clock, next) = Clock::read(cursor)?;
        let day = if next { day.next().ok_or("a year beyond 2147483647")? } else { day };
        Ok(DateTime { day, clock, zone: Zone::read(cursor)? })
    }

    fn write(&self, out: &mut Buffer) {
        self.day.write(out);
        out.push_block(b"T", 1);
        self.clock.write(out);
        Zone::write(self.zone, out);
    }

    fn first() -> Self {
        DateTime { day: Day::FIRST, clock: Clock::MIDNIGHT, zone: None }
    }
}

impl From<civil::Date> for Date {
    fn from(date: civil::Date) -> Date {
        Date { day: date.into(), zone: None }
    }
}

impl TryFrom<Date> for civil::Date {
    type Error = LexicalError;

    /// Converts the fields, without the zone; an error outside jiff's years.
    fn try_from(date: Date) -> Result<civil::Date, LexicalError> {
        date.day.try_into().map_err(LexicalError::new::<Date>)
    }
}

impl From<civil::Time> for Time {
    fn from(time: civil::Time) -> Time {
        Time { clock: time.into(), zone: None }
    }
}

impl From<Time> for civil::Time {
    /// Converts the fields, without the zone.
    fn from(time: Time) -> civil::Time {
        time.clock.into()
    }
}

impl From<civil::DateTime> for DateTime {
    fn from(value: civil::DateTime) -> DateTime {
        DateTime { day: value.date().into(), clock: value.time().into(), zone: None }
    }
}

impl TryFrom<DateTime> for civil::DateTime {
    type Error = LexicalError;

    /// Converts the fields, without the zone; an error outside jiff's years.
    fn try_from(value: DateTime) -> Result<civil::DateTime, LexicalError> {
        let date = civil::Date::try_from(value.day).map_err(LexicalError::new::<DateTime>)?;
        Ok(civil::DateTime::from_parts(date, value.clock.into()))
    }
}

impl From<jiff::Timestamp> for DateTime {
    /// Converts to UTC.
    fn from(timestamp: jiff::Timestamp) -> DateTime {
        let utc = jiff::tz::Offset::UTC.to_datetime(timestamp);
        DateTime::from(utc).with_zone(Some(Zone::UTC))
    }
}

impl TryFrom<DateTime> for jiff::Timestamp {
    type Error = LexicalError;

    /// Converts to the instant; an error without a zone, or outside jiff's years.
    fn try_from(value: DateTime) -> Result<jiff::Timestamp, LexicalError> {
        let zone = value.zone.ok_or(LexicalError::new::<DateTime>("no time zone"))?;
        let outside = |_| LexicalError::new::<DateTime>("outside jiff's timestamps");
        let offset = jiff::tz::Offset::from_seconds(60 * i32::from(zone.minutes())).map_err(outside)?;
        offset.to_timestamp(civil::DateTime::try_from(value)?).map_err(outside)
    }
}

impl TryFrom<&jiff::Zoned> for DateTime {
    type Error = LexicalError;

    /// Converts the civil time with its offset; an error if the offset is not in whole minutes or
    /// beyond 14 hours.
    fn try_from(zoned: &jiff::Zoned) -> Result<DateTime, LexicalError> {
        let seconds = zoned.offset().seconds();
        let minutes = i16::try_from(seconds / 60).ok().filter(|_| seconds % 60 == 0);
        let zone = minutes.and_then(Zone::from_minutes).ok_or(LexicalError::new::<DateTime>("no such time zone"))?;
        Ok(DateTime::from(zoned.datetime()).with_zone(Some(zone)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Lexical;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    fn date(year: i32, month: u8, day: u8) -> Date {
        Date::new(year, month, day).expect("a day")
    }

    fn time(hour: u8, minute: u8, second: u8, nanosecond: u32) -> Time {
        Time::new(hour, minute, second, nanosecond).expect("a time")
    }

    fn zone(minutes: i16) -> Option<Zone> {
        Some(Zone::from_minutes(minutes).expect("a zone"))
    }

    #[test]
    fn dates() {
        assert_valid(&[
            ("1999-05-31", date(1999, 5, 31)),
            (" 2000-02-29\n", date(2000, 2, 29)),
            ("2002-10-10+13:00", date(2002, 10, 10).with_zone(zone(780))),
            ("2002-10-10-05:30", date(2002, 10, 10).with_zone(zone(-330))),
            ("2002-10-10Z", date(2002, 10, 10).with_zone(zone(0))),
            ("2002-10-10-00:00", date(2002, 10, 10).with_zone(zone(0))),
            ("12345-01-01", date(12345, 1, 1)),
            ("-0001-02-29", date(-1, 2, 29)),
            ("-44444-03-15+14:00", date(-44444, 3, 15).with_zone(zone(840))),
            ("2147483647-12-31", date(i32::MAX, 12, 31)),
            ("-2147483648-01-01-14:00", date(i32::MIN, 1, 1).with_zone(zone(-840))),
        ]);
        assert_invalid::<Date>(&["", "99-05-31", "1999-5-31", "1999-05-1", "1999/05/31", "19990531", "1999-05-31T"]);
        assert_invalid::<Date>(&["0000-01-01", "-0000-01-01", "012345-01-01", "+1999-01-01", "2147483648-01-01"]);
        assert_invalid::<Date>(&["1999-02-29", "1900-02-29", "1999-13-01", "1999-00-01", "1999-01-00", "1999-04-31"]);
        assert_invalid::<Date>(&[
            "1999-05-31+14:01",
            "1999-05-31+1:00",
            "1999-05-31+01:60",
            "1999-05-31z",
            "1999-05-31 Z",
        ]);
        assert_invalid::<Date>(&["99999999999999999999999-01-01", "-0002-02-29"]);
    }

    #[test]
    fn times() {
        assert_valid(&[
            ("13:20:00", time(13, 20, 0, 0)),
            ("13:20:00-05:00", time(13, 20, 0, 0).with_zone(zone(-300))),
            ("00:00:00.000000001Z", time(0, 0, 0, 1).with_zone(zone(0))),
            ("23:59:59.5", time(23, 59, 59, 500_000_000)),
            ("10:20:30.123456789000000000000000000000000", time(10, 20, 30, 123_456_789)),
            ("24:00:00", time(0, 0, 0, 0)),
            ("24:00:00.00000000000", time(0, 0, 0, 0)),
        ]);
        assert_invalid::<Time>(&["", "1:20:00", "13:20", "13:20:0", "13:20:00.", "13:60:00", "13:20:60", "25:00:00"]);
        assert_invalid::<Time>(&[
            "24:00:01",
            "24:00:00.00000000001",
            "24:01:00",
            "13:20:00,5",
            "13:20:00.5.5",
            "13:20:00.0000000000000000000000000001",
            "-13:20:00",
        ]);
    }

    #[test]
    fn date_times() {
        let noon = DateTime::new(date(2002, 10, 10), time(12, 0, 0, 0));
        assert_valid(&[
            ("2002-10-10T12:00:00", noon),
            ("2002-10-10T12:00:00Z", noon.with_zone(zone(0))),
            ("2002-10-10T12:00:00-05:00", noon.with_zone(zone(-300))),
            ("1999-12-31T24:00:00", DateTime::new(date(2000, 1, 1), time(0, 0, 0, 0))),
            ("-0001-12-31T24:00:00", DateTime::new(date(1, 1, 1), time(0, 0, 0, 0))),
            ("2000-02-28T24:00:00Z", DateTime::new(date(2000, 2, 29), time(0, 0, 0, 0)).with_zone(zone(0))),
        ]);
        assert_invalid::<DateTime>(&[
            "",
            "2002-10-10",
            "2002-10-10 12:00:00",
            "2002-10-10T12:00",
            "2002-10-10t12:00:00",
        ]);
        assert_invalid::<DateTime>(&["2002-10-10T12:00:00ZZ", "2002-10-10T12:00:00+5:00", "2147483647-12-31T24:00:00"]);
    }

    #[test]
    fn widths_are_reached() {
        let widest = date(i32::MIN, 12, 31).with_zone(zone(-839));
        let clock = Time::parse("23:59:59.999999999999999999999999999+13:59").expect("a time");
        assert_eq!(Some(text_of(&widest).len()), Date::MAX_WIDTH);
        assert_eq!(Some(text_of(&clock).len()), Time::MAX_WIDTH);
        assert_eq!(Some(text_of(&DateTime::new(widest, clock)).len()), DateTime::MAX_WIDTH);
    }

    #[test]
    fn no_digit_of_a_second_is_lost() {
        for text in ["10:00:00.1234567890123", "10:00:00.000000000000000000000000001", "10:00:00.1234567890000000001Z"]
        {
            assert_eq!(text_of(&Time::parse(text).expect(text)), text);
            let date_time = format!("2026-01-02T{text}");
            assert_eq!(text_of(&DateTime::parse(&date_time).expect(text)), date_time);
        }
        let time = |text| Time::parse(text).expect("a time");
        assert_eq!(time("10:00:00.1234567890123").nanosecond(), 123_456_789);
        assert_eq!(time("10:00:00.1234567890123").subnanosecond(), 12_300_000_000_000_000);
        assert_eq!(time("10:00:00.0000000001").compare(&time("10:00:00.00000000011")), Some(Ordering::Less));
        assert_ne!(time("10:00:00.0000000001"), time("10:00:00"));
    }

    /// The examples of XSD 1.0 part 2, 3.2.7.4.
    #[test]
    fn order() {
        let compare = |a, b| DateTime::parse(a).expect("valid").compare(&DateTime::parse(b).expect("valid"));
        assert_eq!(compare("2000-01-15T00:00:00", "2000-02-15T00:00:00"), Some(Ordering::Less));
        assert_eq!(compare("2000-01-15T12:00:00", "2000-01-16T12:00:00Z"), Some(Ordering::Less));
        assert_eq!(compare("2000-01-01T12:00:00", "1999-12-31T23:00:00Z"), None);
        assert_eq!(compare("2000-01-16T12:00:00", "2000-01-16T12:00:00Z"), None);
        assert_eq!(compare("2000-01-16T00:00:00", "2000-01-16T12:00:00Z"), None);
        assert_eq!(compare("2002-10-10T12:00:00-05:00", "2002-10-10T17:00:00Z"), Some(Ordering::Equal));
        assert_eq!(compare("-0001-12-31T00:00:00Z", "0001-01-01T00:00:00Z"), Some(Ordering::Less));
        assert_eq!(compare("9999-12-31T23:59:59Z", "10000-01-01T00:00:00Z"), Some(Ordering::Less));
        assert_eq!(date(2000, 1, 1).compare(&date(2000, 1, 1)), Some(Ordering::Equal));
        assert_eq!(time(1, 0, 0, 0).compare(&time(0, 59, 59, 9)), Some(Ordering::Greater));
    }

    #[test]
    fn the_years_around_the_first_are_a_day_apart() {
        assert_eq!(date(1, 1, 1).day.number() - date(-1, 12, 31).day.number(), 1);
        assert_eq!(civil::Date::try_from(date(-1, 12, 31)), Ok(civil::date(0, 12, 31)));
        assert_eq!(Date::from(civil::date(0, 12, 31)), date(-1, 12, 31));
        assert!(civil::Date::try_from(date(10_000, 1, 1)).is_err());
    }

    #[test]
    fn to_and_from_jiff() {
        let value = DateTime::parse("2002-10-10T12:00:00.5-05:00").expect("valid");
        let timestamp = jiff::Timestamp::try_from(value).expect("in range");
        assert_eq!(timestamp.to_string(), "2002-10-10T17:00:00.5Z");
        assert_eq!(text_of(&DateTime::from(timestamp)), "2002-10-10T17:00:00.5Z");
        assert!(jiff::Timestamp::try_from(value.with_zone(None)).is_err());
        let zoned = timestamp.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(-5)));
        assert_eq!(DateTime::try_from(&zoned), Ok(value));
        assert_eq!(civil::DateTime::try_from(value).map(DateTime::from), Ok(value.with_zone(None)));
        assert_eq!(Time::from(civil::Time::from(value.time())), value.time().with_zone(None));
    }

    fn any_zone() -> impl Strategy<Value = Option<Zone>> {
        prop::option::of((-840i16..=840).prop_map(|minutes| Zone::from_minutes(minutes).expect("in range")))
    }

    prop_compose! {
        fn any_date()(year: i32, month in 1u8..=12, day in 1u8..=31, zone in any_zone()) -> Option<Date> {
            Some(Date::new(year, month, day)?.with_zone(zone))
        }
    }

    prop_compose! {
        fn any_time()(second in 0u32..86_400, fraction in "[0-9]{0,27}", zone in any_zone()) -> Time {
            let point = if fraction.is_empty() { "" } else { "." };
            let text = format!("{:02}:{:02}:{:02}{point}{fraction}", second / 3600, second / 60 % 60, second % 60);
            Time::parse(&text).expect("a time").with_zone(zone)
        }
    }

    proptest! {
        #[test]
        fn laws_hold(date in any_date(), time in any_time()) {
            laws(&time);
            if let Some(date) = date {
                laws(&date);
                laws(&DateTime::new(date, time));
            }
        }

        #[test]
        fn day_numbers_are_jiffs(days in -4_000_000i32..2_900_000) {
            let day = civil::date(2000, 1, 1) + jiff::Span::new().days(days);
            prop_assert_eq!(Date::from(day).day.number(), i64::from(days));
            prop_assert_eq!(civil::Date::try_from(Date::from(day)), Ok(day));
        }

        #[test]
        fn scan_and_parse_agree(text in "-?[0-9]{4,5}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,29})?(Z|[-+][01][0-9]:[0-6][0-9])?") {
            scan_agrees::<DateTime>(&text);
            scan_agrees::<Date>(&text);
            scan_agrees::<Time>(text.split('T').next_back().expect("one"));
        }
    }
}
