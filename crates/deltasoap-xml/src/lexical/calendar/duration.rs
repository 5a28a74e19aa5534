//! `duration`: months and seconds, which have no fixed ratio.

use super::day::Day;
use super::{Cursor, Form, Fraction, lexical};
use crate::Buffer;
use crate::lexical::LexicalError;
use crate::lexical::int::{format_u32, format_u64};
use jiff::{SignedDuration, Span};
use std::cmp::Ordering;

/// An XSD `duration`: months (including the years) and seconds (including days, hours and minutes),
/// with one sign.
///
/// Durations that XSD considers equal are equal here: `P1Y` and `P12M`, `PT36H` and `P1DT12H`; the
/// form with the larger units is written. Seconds have at most 27 digits after the point; text with
/// more is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Duration {
    /// Never set for a duration of zero.
    negative: bool,
    months: u32,
    seconds: u64,
    fraction: Fraction,
}

lexical!(Duration, "duration", 69);

impl Duration {
    /// Creates a duration of months, seconds and nanoseconds; `None` if the nanoseconds make a full
    /// second.
    pub fn new(negative: bool, months: u32, seconds: u64, nanoseconds: u32) -> Option<Duration> {
        Some(Duration::from_fraction(negative, months, seconds, Fraction::new(nanoseconds)?))
    }

    fn from_fraction(negative: bool, months: u32, seconds: u64, fraction: Fraction) -> Duration {
        let negative = negative && (months > 0 || seconds > 0 || !fraction.is_zero());
        Duration { negative, months, seconds, fraction }
    }

    /// Returns true for a duration that goes back in time.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns the months, including those of the years.
    pub fn months(&self) -> u32 {
        self.months
    }

    /// Returns the whole seconds, including those of the days, hours and minutes.
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// Returns the fraction of the second in nanoseconds, 0 to 999,999,999.
    pub fn nanoseconds(&self) -> u32 {
        self.fraction.nanosecond
    }

    /// Returns the part of the second below a nanosecond, in 10⁻²⁷ seconds, 0 to 10¹⁸ - 1.
    /// Conversions to the types of jiff and the standard library drop it.
    pub fn subnanosecond(&self) -> u64 {
        self.fraction.finer
    }

    /// Compares in the order of XSD's value space (XSD 1.0 part 2, 3.2.6.2); `None` if it depends
    /// on which months they are, as between `P1M` and `P30D`.
    pub fn compare(&self, other: &Duration) -> Option<Ordering> {
        let mut orders = REFERENCES.iter().map(|&start| self.end_from(start).cmp(&other.end_from(start)));
        let first = orders.next()?;
        orders.all(|order| order == first).then_some(first)
    }

    /// Returns the nanoseconds from a fixed instant to the end of the duration when it starts in
    /// this month, and the part below a nanosecond.
    fn end_from(&self, (year, month): (i32, u8)) -> (i128, i128) {
        let sign = if self.negative { -1 } else { 1 };
        let month = i64::from(year) * 12 + i64::from(month) - 1 + sign * i64::from(self.months);
        let seconds = i128::from(month_start(month)) * 86_400 + i128::from(sign) * i128::from(self.seconds);
        let nanoseconds = seconds * i128::from(NANOSECONDS) + i128::from(sign) * i128::from(self.nanoseconds());
        (nanoseconds, i128::from(sign) * i128::from(self.fraction.finer))
    }

    /// Returns everything but the months, in nanoseconds.
    fn signed_nanoseconds(&self) -> i128 {
        let magnitude = i128::from(self.seconds) * i128::from(NANOSECONDS) + i128::from(self.nanoseconds());
        if self.negative { -magnitude } else { magnitude }
    }

    fn from_parts(months: i64, nanoseconds: i128) -> Result<Duration, LexicalError> {
        if months.signum() * i64::from(nanoseconds.signum() as i8) < 0 {
            return Err(LexicalError::new::<Duration>("months and seconds in opposite directions"));
        }
        let too_long = || LexicalError::new::<Duration>("too long");
        let magnitude = nanoseconds.unsigned_abs();
        let seconds = u64::try_from(magnitude / u128::from(NANOSECONDS)).map_err(|_| too_long())?;
        let months_magnitude = u32::try_from(months.unsigned_abs()).map_err(|_| too_long())?;
        let rest = (magnitude % u128::from(NANOSECONDS)) as u32;
        Duration::new(months < 0 || nanoseconds < 0, months_magnitude, seconds, rest).ok_or_else(too_long)
    }
}

const NANOSECONDS: u32 = 1_000_000_000;

/// The start months that decide the order of durations: they cover every relevant sequence of month
/// lengths.
const REFERENCES: [(i32, u8); 4] = [(1696, 9), (1697, 2), (1903, 3), (1903, 7)];

/// Returns the days from 2000-01-01 to the first of a month, counted from month 0 of the
/// astronomical year 0.
fn month_start(month: i64) -> i64 {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12));
    let (cycle, year) = ((year - 2000).div_euclid(400), 2000 + year.rem_euclid(400));
    let first = Day::new(year as i32, month as u8 + 1, 1).map_or(0, Day::number);
    cycle * 146_097 + first
}

impl Form for Duration {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, &'static str> {
        let negative = cursor.eat(b'-');
        cursor.literal(b"P").ok_or("no P")?;
        let mut fields = Fields::default();
        let date = fields.read(cursor, DATE_UNITS)?;
        if cursor.eat(b'T') {
            fields.read(cursor, TIME_UNITS)?.then_some(()).ok_or("nothing after T")?;
        } else if !date {
            return Err("no fields");
        }
        Ok(Duration::from_fraction(negative, fields.months, fields.seconds, fields.fraction))
    }

    fn write(&self, out: &mut Buffer) {
        out.push_block(b"-", usize::from(self.negative));
        out.push_block(b"P", 1);
        let (seconds, days) = (self.seconds % 86_400, self.seconds / 86_400);
        write_field(u64::from(self.months / 12), *b"Y", out);
        write_field(u64::from(self.months % 12), *b"M", out);
        write_field(days, *b"D", out);
        if seconds > 0 || !self.fraction.is_zero() || *self == Duration::default() {
            write_time(seconds as u32, self.fraction, out);
        }
    }

    fn first() -> Self {
        Duration::default()
    }
}

const TOO_LONG: &str = "beyond 4294967295 months or 18446744073709551615 seconds";

/// A letter, what it counts (months or seconds), and the number of those in one unit.
type Unit = (u8, Counted, u64);

#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Months,
    Seconds,
}

const DATE_UNITS: &[Unit] =
    &[(b'Y', Counted::Months, 12), (b'M', Counted::Months, 1), (b'D', Counted::Seconds, 86_400)];
const TIME_UNITS: &[Unit] =
    &[(b'H', Counted::Seconds, 3600), (b'M', Counted::Seconds, 60), (b'S', Counted::Seconds, 1)];

/// The fields read so far.
#[derive(Default)]
struct Fields {
    months: u32,
    seconds: u64,
    fraction: Fraction,
}

impl Fields {
    /// Reads numbers with their units, each unit at most once and in order; returns true if there
    /// were any.
    fn read(&mut self, cursor: &mut Cursor<'_>, mut units: &[Unit]) -> Result<bool, &'static str> {
        let any = cursor.rest().first().is_some_and(u8::is_ascii_digit);
        while cursor.rest().first().is_some_and(u8::is_ascii_digit) {
            let number = cursor.number().ok_or(TOO_LONG)?;
            let point = cursor.at(b'.');
            let fraction = Fraction::read(cursor)?;
            let index = units.iter().position(|unit| cursor.at(unit.0)).ok_or("a unit that is not allowed here")?;
            let (letter, counted, size) = units[index];
            if point && letter != b'S' {
                return Err("a fraction of something other than seconds");
            }
            cursor.eat(letter);
            self.fraction = fraction;
            self.add(counted, number.checked_mul(size)).ok_or(TOO_LONG)?;
            units = &units[index + 1..];
        }
        Ok(any)
    }

    fn add(&mut self, counted: Counted, amount: Option<u64>) -> Option<()> {
        match counted {
            Counted::Months => self.months = self.months.checked_add(u32::try_from(amount?).ok()?)?,
            Counted::Seconds => self.seconds = self.seconds.checked_add(amount?)?,
        }
        Some(())
    }
}

fn write_field(value: u64, unit: [u8; 1], out: &mut Buffer) {
    if value > 0 {
        format_u64(value, out);
        out.push_block(&unit, 1);
    }
}

/// Writes hours, minutes and seconds; `T0S` if all are zero.
fn write_time(seconds: u32, fraction: Fraction, out: &mut Buffer) {
    out.push_block(b"T", 1);
    write_field(u64::from(seconds / 3600), *b"H", out);
    write_field(u64::from(seconds / 60 % 60), *b"M", out);
    if !seconds.is_multiple_of(60) || !fraction.is_zero() || seconds == 0 {
        format_u32(seconds % 60, out);
        fraction.write(out);
        out.push_block(b"S", 1);
    }
}

impl From<std::time::Duration> for Duration {
    fn from(value: std::time::Duration) -> Duration {
        let fraction = Fraction { nanosecond: value.subsec_nanos(), finer: 0 };
        Duration { negative: false, months: 0, seconds: value.as_secs(), fraction }
    }
}

impl TryFrom<Duration> for std::time::Duration {
    type Error = LexicalError;

    /// Converts a duration; an error if it has months, whose length is not fixed, or if it is
    /// negative.
    fn try_from(value: Duration) -> Result<std::time::Duration, LexicalError> {
        if value.months > 0 || value.negative {
            return Err(LexicalError::new::<Duration>("not a fixed time forward"));
        }
        Ok(std::time::Duration::new(value.seconds, value.nanoseconds()))
    }
}

impl From<SignedDuration> for Duration {
    fn from(value: SignedDuration) -> Duration {
        Duration {
            negative: value.is_negative(),
            months: 0,
            seconds: value.as_secs().unsigned_abs(),
            fraction: Fraction { nanosecond: value.subsec_nanos().unsigned_abs(), finer: 0 },
        }
    }
}

impl TryFrom<Duration> for SignedDuration {
    type Error = LexicalError;

    /// Converts a duration; an error if it has months, whose length is not fixed, or exceeds the
    /// range.
    fn try_from(value: Duration) -> Result<SignedDuration, LexicalError> {
        let nanoseconds = value.signed_nanoseconds();
        let seconds = i64::try_from(nanoseconds / i128::from(NANOSECONDS)).ok().filter(|_| value.months == 0);
        let seconds = seconds.ok_or(LexicalError::new::<Duration>("not a fixed time of at most 2^63 seconds"))?;
        Ok(SignedDuration::new(seconds, (nanoseconds % i128::from(NANOSECONDS)) as i32))
    }
}

impl TryFrom<Span> for Duration {
    type Error = LexicalError;

    /// Converts a span: years are 12 months, weeks and days 24 hours each.
    fn try_from(span: Span) -> Result<Duration, LexicalError> {
        let months = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
        let days = i128::from(span.get_weeks()) * 7 + i128::from(span.get_days());
        let minutes = (days * 24 + i128::from(span.get_hours())) * 60 + i128::from(span.get_minutes());
        let milliseconds = (minutes * 60 + i128::from(span.get_seconds())) * 1000 + i128::from(span.get_milliseconds());
        let microseconds = milliseconds * 1000 + i128::from(span.get_microseconds());
        Duration::from_parts(months, microseconds * 1000 + i128::from(span.get_nanoseconds()))
    }
}

impl TryFrom<Duration> for Span {
    type Error = LexicalError;

    /// Converts to months, seconds and nanoseconds; an error beyond jiff's range.
    fn try_from(value: Duration) -> Result<Span, LexicalError> {
        let beyond = |_| LexicalError::new::<Duration>("beyond jiff's range");
        let seconds = i64::try_from(value.seconds).map_err(|_| LexicalError::new::<Duration>("beyond jiff's range"))?;
        let span = Span::new().try_months(value.months).and_then(|span| span.try_seconds(seconds));
        let span = span.and_then(|span| span.try_nanoseconds(value.nanoseconds())).map_err(beyond)?;
        Ok(if value.negative { -span } else { span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::Lexical;
    use crate::lexical::testing::{assert_invalid, assert_valid, laws, scan_agrees, text_of};
    use proptest::prelude::*;

    fn duration(negative: bool, months: u32, seconds: u64, nanoseconds: u32) -> Duration {
        Duration::new(negative, months, seconds, nanoseconds).expect("in range")
    }

    #[test]
    fn forms() {
        assert_valid(&[
            ("P1Y2M3DT10H30M", duration(false, 14, 3 * 86_400 + 37_800, 0)),
            ("-P120D", duration(true, 0, 120 * 86_400, 0)),
            ("P1347Y", duration(false, 16_164, 0, 0)),
            ("P0Y1347M0D", duration(false, 1347, 0, 0)),
            ("PT1.5S", duration(false, 0, 1, 500_000_000)),
            ("PT0.0000000010S", duration(false, 0, 0, 1)),
            ("-P0D", duration(false, 0, 0, 0)),
            (" PT36H ", duration(false, 0, 129_600, 0)),
            ("P2MT2M", duration(false, 2, 120, 0)),
        ]);
        assert_invalid::<Duration>(&["", "P", "PT", "P1YT", "1Y", "P-1347M", "P1Y2MT", "+P1Y", "P1S", "PT1Y", "PT1D"]);
        assert_invalid::<Duration>(&[
            "P1M1Y", "P1Y1Y", "PT1S1M", "P1.5Y", "P1.0D", "PT1.5H", "PT.5S", "PT1.S", "p1y", "P1", "PT1",
        ]);
        assert_invalid::<Duration>(&[
            "P4294967296M",
            "P357913942Y",
            "PT18446744073709551616S",
            "P999999999999999999999Y",
        ]);
        assert_invalid::<Duration>(&["P1W", "P1Y 2M", "PT1S1S"]);
    }

    #[test]
    fn written_with_the_larger_units() {
        let written = |text| text_of(&Duration::parse(text).expect(text));
        assert_eq!(written("P13M"), "P1Y1M");
        assert_eq!(written("PT90061.250S"), "P1DT1H1M1.25S");
        assert_eq!(written("PT0S"), "PT0S");
        assert_eq!(written("-PT60S"), "-PT1M");
        assert_eq!(written("PT0.5S"), "PT0.5S");
        assert_eq!(written("-PT0.0000000019S"), "-PT0.0000000019S");
        assert_eq!(written("PT1.000000000000000000000000001S"), "PT1.000000000000000000000000001S");
        assert!(Duration::parse("PT1.0000000000000000000000000001S").is_err());
    }

    #[test]
    fn width_is_reached() {
        let seconds = u64::MAX - u64::MAX % 86_400 - 1;
        let widest = text_of(&Duration {
            fraction: Fraction { nanosecond: 999_999_999, finer: 999_999_999_999_999_999 },
            ..duration(true, 357_913_940 * 12 + 11, seconds, 0)
        });
        assert_eq!(Some(widest.len()), Duration::MAX_WIDTH, "{widest}");
    }

    /// The table of XSD 1.0 part 2, 3.2.6.2, and more.
    #[test]
    fn order() {
        let compare = |a, b| Duration::parse(a).expect("valid").compare(&Duration::parse(b).expect("valid"));
        assert_eq!(compare("P1Y", "P364D"), Some(Ordering::Greater));
        assert_eq!(compare("P1Y", "P365D"), None);
        assert_eq!(compare("P1Y", "P366D"), None);
        assert_eq!(compare("P1Y", "P367D"), Some(Ordering::Less));
        assert_eq!(compare("P1M", "P27D"), Some(Ordering::Greater));
        assert_eq!(compare("P1M", "P28D"), None);
        assert_eq!(compare("P1M", "P31D"), None);
        assert_eq!(compare("P1M", "P32D"), Some(Ordering::Less));
        assert_eq!(compare("P5M", "P149D"), Some(Ordering::Greater));
        assert_eq!(compare("P5M", "P150D"), None);
        assert_eq!(compare("P5M", "P153D"), None);
        assert_eq!(compare("P5M", "P154D"), Some(Ordering::Less));
        assert_eq!(compare("P1Y", "P12M"), Some(Ordering::Equal));
        assert_eq!(compare("-P1D", "PT0S"), Some(Ordering::Less));
        assert_eq!(compare("PT0.00000000001S", "PT0.000000000011S"), Some(Ordering::Less));
        assert_eq!(compare("-PT0.00000000001S", "-PT0.000000000011S"), Some(Ordering::Greater));
    }

    #[test]
    fn to_and_from_jiff_and_std() {
        let value = duration(true, 14, 3_600, 5);
        assert_eq!(Span::try_from(value).map(Duration::try_from), Ok(Ok(value)));
        assert!(SignedDuration::try_from(value).is_err());
        let fixed = duration(true, 0, 61, 250_000_000);
        assert_eq!(SignedDuration::try_from(fixed).map(|value| value.as_millis()), Ok(-61_250));
        assert_eq!(SignedDuration::try_from(fixed).map(Duration::from), Ok(fixed));
        assert!(std::time::Duration::try_from(fixed).is_err());
        let ahead = std::time::Duration::from_millis(1500);
        assert_eq!(std::time::Duration::try_from(Duration::from(ahead)), Ok(ahead));
        assert_eq!(Duration::from(SignedDuration::MIN).seconds(), 1 << 63);
        assert!(Span::try_from(duration(false, u32::MAX, 0, 0)).is_err());
    }

    proptest! {
        #[test]
        fn laws_hold(negative: bool, months: u32, seconds: u64, nanoseconds in 0u32..NANOSECONDS, shift in 0u32..64) {
            laws(&duration(negative, months >> (shift / 2), seconds >> shift, nanoseconds));
            laws(&duration(negative, months % 12, seconds % 86_400, 0));
        }

        #[test]
        fn scan_and_parse_agree(text in "-?P([0-9]{1,3}[YMD]){0,3}(T([0-9]{1,3}(\\.[0-9]{0,29})?[HMS]){0,3})?") {
            scan_agrees::<Duration>(&text);
        }

        #[test]
        fn order_is_antisymmetric(a in (0u32..40, 0u64..4_000_000), b in (0u32..40, 0u64..4_000_000)) {
            let (a, b) = (duration(false, a.0, a.1, 0), duration(true, b.0, b.1, 0));
            prop_assert_eq!(a.compare(&b), b.compare(&a).map(Ordering::reverse));
        }
    }
}
