//! Dates, times and durations: lexical forms and order (XSD 1.0 part 2, 3.2.6 to 3.2.14).

use bigdecimal::{BigDecimal, RoundingMode};
use deltasoap_core::schema::Builtin;
use std::cmp::Ordering;
use std::str::FromStr;

/// A point in time, or a set of recurring ones, represented by the first: seconds on the time line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moment {
    seconds: i128,
    /// Digits of the second's fraction, without trailing zeros.
    fraction: Box<str>,
    has_zone: bool,
}

/// A duration: months and seconds, which have no common measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    months: i128,
    /// Whole seconds, rounded down: -1 for half a second less than nothing.
    seconds: i128,
    /// Digits of the fraction that is added to `seconds`, without trailing zeros.
    fraction: Box<str>,
}

const DAY: i128 = 86_400;
/// Fourteen hours, the largest offset of a time zone.
const MAX_ZONE_OFFSET: i128 = 14 * 3_600;
/// Maximum number of units that a value is moved by.
const MAX_UNITS: i128 = 1_000_000_000;
/// Maximum number of digits of a number.
const DIGITS: usize = 18;

impl Moment {
    /// Reads a value of one of the date and time types; `None` for a text that is not of the type.
    pub(super) fn parse(builtin: Builtin, text: &str) -> Option<Self> {
        let mut text = Text(text);
        let moment = match builtin {
            Builtin::DateTime => {
                let (year, month, day) = text.date()?;
                text.skip('T')?;
                text.time_of(year, month, day)
            }
            Builtin::Date => text.date().and_then(|(year, month, day)| text.at(year, month, day)),
            Builtin::Time => text.time_of(1972, 12, 31),
            Builtin::GYear => text.year().and_then(|year| text.at(year, 1, 1)),
            Builtin::GYearMonth => {
                let year = text.year()?;
                text.skip('-')?;
                text.month().and_then(|month| text.at(year, month, 1))
            }
            Builtin::GMonth => {
                text.skip('-')?;
                text.skip('-')?;
                text.month().and_then(|month| text.at(1972, month, 1))
            }
            Builtin::GMonthDay => {
                text.skip('-')?;
                text.skip('-')?;
                let month = text.month()?;
                text.skip('-')?;
                text.day(1972, month).and_then(|day| text.at(1972, month, day))
            }
            Builtin::GDay => {
                (0..3).try_for_each(|_| text.skip('-'))?;
                text.day(1972, 12).and_then(|day| text.at(1972, 12, day))
            }
            _ => None,
        };
        moment.filter(|_| text.0.is_empty())
    }

    /// Returns the order of two values; `None` if only one of them has a time zone and they are too
    /// close (3.2.7.4).
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self.has_zone, other.has_zone) {
            (true, false) => {
                let is_before = self.line(0) < other.line(-MAX_ZONE_OFFSET);
                let is_after = self.line(0) > other.line(MAX_ZONE_OFFSET);
                if is_before { Some(Ordering::Less) } else { is_after.then_some(Ordering::Greater) }
            }
            (false, true) => other.compare(self).map(Ordering::reverse),
            _ => Some(self.line(0).cmp(&other.line(0))),
        }
    }

    /// Returns the value of a text moved by a number of units: seconds, days, months or years, by
    /// its type. The time zone is unchanged.
    pub(super) fn shifted(builtin: Builtin, text: &str, by: i128) -> Option<String> {
        let moment = Moment::parse(builtin, text)?;
        let zone = Zone::of(text);
        let (seconds, by) = (moment.seconds + zone.seconds, by.clamp(-MAX_UNITS, MAX_UNITS));
        let (year, month, _) = date_of(seconds.div_euclid(DAY));
        let first = |months: i128| days_before(months.div_euclid(12), months.rem_euclid(12) + 1) * DAY;
        let seconds = match builtin {
            Builtin::DateTime | Builtin::Time => seconds + by,
            Builtin::Date | Builtin::GMonthDay | Builtin::GDay => seconds + by * DAY,
            Builtin::GYear => first((year + by) * 12 + month - 1),
            _ => first(year * 12 + month - 1 + by),
        };
        written(builtin, seconds, &moment.fraction, zone.text)
    }

    /// Returns a value that is less than a second later.
    pub(super) fn finer(builtin: Builtin, text: &str) -> Option<String> {
        let moment = Moment::parse(builtin, text).filter(|_| matches!(builtin, Builtin::DateTime | Builtin::Time))?;
        let zone = Zone::of(text);
        written(builtin, moment.seconds + zone.seconds, &format!("{}5", moment.fraction), zone.text)
    }

    /// Returns the value in the middle of two values, if both or neither have a time zone.
    pub(super) fn middle(builtin: Builtin, one: &str, other: &str) -> Option<String> {
        let is_exact = matches!(builtin, Builtin::DateTime | Builtin::Time);
        let moments = [one, other].map(|text| Moment::parse(builtin, text));
        let [Some(first), Some(second)] = moments else { return None };
        if !is_exact || first.has_zone != second.has_zone {
            return None;
        }
        let exact = |it: &Moment| format!("{}.{}", it.seconds, if it.fraction.is_empty() { "0" } else { &it.fraction });
        let sum = BigDecimal::from_str(&exact(&first)).ok()? + BigDecimal::from_str(&exact(&second)).ok()?;
        let middle = sum.half();
        let whole = middle.with_scale_round(0, RoundingMode::Floor);
        let fraction = (&middle - &whole).normalized().to_plain_string();
        let fraction = fraction.split_once('.').map_or("", |(_, fraction)| fraction);
        let zone = Zone::of(one);
        written(builtin, whole.to_plain_string().parse::<i128>().ok()? + zone.seconds, fraction, zone.text)
    }

    fn line(&self, shift: i128) -> (i128, &str) {
        (self.seconds + shift, &self.fraction)
    }

    /// Returns a text that is the same for equal values.
    pub(super) fn canonical(&self) -> String {
        format!("{}.{}{}", self.seconds, self.fraction, if self.has_zone { "Z" } else { "" })
    }
}

impl Span {
    /// Reads a value of `xsd:duration`; `None` for an invalid text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let text = text.strip_prefix('P')?;
        let (days, time) = text.split_once('T').map_or((text, None), |(days, time)| (days, Some(time)));
        if text.is_empty() || time == Some("") {
            return None;
        }
        let [years, months, days] = units(days, ['Y', 'M', 'D'])?;
        let (mut hours, mut minutes, mut seconds, mut fraction) = (0, 0, 0, "");
        if let Some(time) = time {
            let mut whole = time.to_owned();
            if let Some((head, digits)) = time.strip_suffix('S').and_then(|head| head.split_once('.')) {
                let is_good = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                fraction = if is_good { digits.trim_end_matches('0') } else { return None };
                whole = format!("{head}S");
            }
            [hours, minutes, seconds] = units(&whole, ['H', 'M', 'S'])?;
        }
        let months = years.checked_mul(12)?.checked_add(months)?;
        let seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
        let (months, (seconds, fraction)) = match is_negative {
            true => (-months, negated(seconds, fraction)),
            false => (months, (seconds, fraction.into())),
        };
        Some(Span { months, seconds, fraction })
    }

    /// Returns the order of two durations: that of the four dates of the specification plus each
    /// duration, if it is always the same (3.2.6.2).
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        const DATES: [(i128, i128); 4] = [(1696, 9), (1697, 2), (1903, 3), (1903, 7)];
        let mut orders = DATES.map(|(year, month)| {
            let (one, two) = (self.added_to(year, month), other.added_to(year, month));
            one.cmp(&two).then_with(|| self.fraction.cmp(&other.fraction))
        });
        orders.sort_unstable();
        (orders[0] == orders[3]).then_some(orders[0])
    }

    /// Returns durations that are slightly longer, or shorter.
    pub(super) fn neighbors(&self, is_longer: bool) -> Vec<String> {
        // No month is shorter.
        let shorter = || Span { months: 0, seconds: (self.months * 28 - 1) * DAY, fraction: "".into() };
        let step = if is_longer { 1 } else { -1 };
        let finer = Some(self.finer()).filter(|_| is_longer != self.is_negative());
        let shorter = (!is_longer && self.months > 0).then(shorter);
        let all = [shorter, finer].into_iter().flatten().filter_map(|it| it.written());
        self.shifted(step).into_iter().chain(all).collect()
    }

    /// Returns the duration plus a number of seconds.
    pub(super) fn shifted(&self, by: i128) -> Option<String> {
        Span { seconds: self.seconds + by.clamp(-MAX_UNITS, MAX_UNITS), ..self.clone() }.written()
    }

    /// Returns the duration with one more digit, farther from zero.
    fn finer(&self) -> Span {
        let (seconds, fraction) = self.time();
        let fraction = format!("{fraction}5");
        let (seconds, fraction) =
            if self.is_negative() { negated(seconds, &fraction) } else { (seconds, fraction.into()) };
        Span { months: self.months, seconds, fraction }
    }

    /// Returns the duration as text; `None` for one whose months and seconds have different signs.
    fn written(&self) -> Option<String> {
        let (seconds, fraction) = self.time();
        let has_time = seconds != 0 || !fraction.is_empty();
        let is_mixed = has_time && self.months != 0 && (self.months < 0) != (self.seconds < 0);
        let sign = if self.is_negative() { "-" } else { "" };
        let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
        let months = if self.months == 0 { String::new() } else { format!("{}M", self.months.abs()) };
        let time = if has_time || self.months == 0 { format!("T{seconds}{fraction}S") } else { String::new() };
        (!is_mixed).then(|| format!("{sign}P{months}{time}"))
    }

    /// Returns the seconds and their fraction without the sign.
    fn time(&self) -> (i128, Box<str>) {
        if self.seconds < 0 { negated(self.seconds, &self.fraction) } else { (self.seconds, self.fraction.clone()) }
    }

    fn added_to(&self, year: i128, month: i128) -> i128 {
        let months = year * 12 + (month - 1) + self.months;
        days_before(months.div_euclid(12), months.rem_euclid(12) + 1) * DAY + self.seconds
    }

    fn is_negative(&self) -> bool {
        self.months < 0 || self.seconds < 0
    }

    /// Returns a text that is the same for equal values.
    pub(super) fn canonical(&self) -> String {
        format!("{} {}.{}", self.months, self.seconds, self.fraction)
    }
}

/// Returns minus a number of seconds, as a whole number rounded down and a fraction. The fraction
/// has no trailing zeros.
fn negated(seconds: i128, fraction: &str) -> (i128, Box<str>) {
    let Some(last) = fraction.len().checked_sub(1) else { return (-seconds, "".into()) };
    let digits = fraction.bytes().enumerate().map(|(place, digit)| {
        let ten_or_nine = if place == last { 10 } else { 9 };
        char::from(b'0' + ten_or_nine - (digit - b'0'))
    });
    (-seconds - 1, digits.collect::<String>().into())
}

/// Parses numbers with their designators, each at most once, in order, and at least one unless the
/// text is empty.
fn units(text: &str, designators: [char; 3]) -> Option<[i128; 3]> {
    let (mut rest, mut values) = (text, [0; 3]);
    for (value, designator) in values.iter_mut().zip(designators) {
        let Some((digits, tail)) = rest.split_once(designator) else { continue };
        *value = number(digits)?;
        rest = tail;
    }
    rest.is_empty().then_some(values)
}

fn number(digits: &str) -> Option<i128> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    if !is_number || digits.len() > DIGITS {
        return None;
    }
    Some(digits.parse().unwrap_or_default())
}

/// Returns the days from the epoch to the first of a month, in the Gregorian calendar.
fn days_before(year: i128, month: i128) -> i128 {
    // The year begins in March, so that a leap day is its last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (153 * month + 2) / 5
}

/// Returns the year, month and day of a day number; the inverse of [`days_before`].
fn date_of(days: i128) -> (i128, i128, i128) {
    const ERA: i128 = 146_097;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + era * 400, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, day)
}

/// Returns the text of a date or time value, from its local seconds.
fn written(builtin: Builtin, seconds: i128, fraction: &str, zone: &str) -> Option<String> {
    let (year, month, day) = date_of(seconds.div_euclid(DAY));
    // There is no year 0: the year before 1 is -1.
    let year = if year <= 0 { format!("-{:04}", 1 - year) } else { format!("{year:04}") };
    let second = seconds.rem_euclid(DAY);
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    let time = format!("{:02}:{:02}:{:02}{fraction}", second / 3_600, second / 60 % 60, second % 60);
    let text = match builtin {
        Builtin::DateTime => format!("{year}-{month:02}-{day:02}T{time}"),
        Builtin::Date => format!("{year}-{month:02}-{day:02}"),
        Builtin::Time => time,
        Builtin::GYear => year,
        Builtin::GYearMonth => format!("{year}-{month:02}"),
        Builtin::GMonth => format!("--{month:02}"),
        Builtin::GMonthDay => format!("--{month:02}-{day:02}"),
        Builtin::GDay => format!("---{day:02}"),
        _ => return None,
    };
    Some(text + zone)
}

/// The time zone at the end of a text.
struct Zone<'t> {
    text: &'t str,
    /// Seconds from UTC.
    seconds: i128,
}

impl<'t> Zone<'t> {
    fn of(text: &'t str) -> Self {
        let tails = [1, 6].into_iter().filter_map(|length| text.get(text.len().checked_sub(length)?..));
        let mut zones = tails.filter_map(|tail| Some((tail, Text(tail).zone()??)));
        zones.next().map_or(Zone { text: "", seconds: 0 }, |(text, seconds)| Zone { text, seconds })
    }
}

fn days_in(year: i128, month: i128) -> i128 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The rest of a text.
struct Text<'t>(&'t str);

impl<'t> Text<'t> {
    fn skip(&mut self, expected: char) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn digits(&mut self) -> &'t str {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        digits
    }

    fn two(&mut self, least: i128, most: i128) -> Option<i128> {
        let (digits, rest) = self.0.split_at_checked(2)?;
        self.0 = rest;
        number(digits).filter(|number| (least..=most).contains(number))
    }

    fn year(&mut self) -> Option<i128> {
        let is_negative = self.skip('-').is_some();
        let digits = self.digits();
        let is_good = digits.len() == 4 || digits.len() > 4 && !digits.starts_with('0');
        let year = number(digits).filter(|&year| is_good && year > 0)?;
        Some(if is_negative { -year } else { year })
    }

    fn month(&mut self) -> Option<i128> {
        self.two(1, 12)
    }

    fn day(&mut self, year: i128, month: i128) -> Option<i128> {
        // There is no year 0: the leap years before 1 are -1, -5, ...
        let year = if year < 0 { year + 1 } else { year };
        self.two(1, days_in(year, month))
    }

    fn date(&mut self) -> Option<(i128, i128, i128)> {
        let year = self.year()?;
        self.skip('-')?;
        let month = self.month()?;
        self.skip('-')?;
        Some((year, month, self.day(year, month)?))
    }

    fn time_of(&mut self, year: i128, month: i128, day: i128) -> Option<Moment> {
        let hour = self.two(0, 24)?;
        self.skip(':')?;
        let minute = self.two(0, 59)?;
        self.skip(':')?;
        let second = self.two(0, 59)?;
        let fraction = match self.skip('.') {
            Some(()) => Some(self.digits()).filter(|digits| !digits.is_empty())?.trim_end_matches('0'),
            None => "",
        };
        if hour == 24 && (minute, second, fraction) != (0, 0, "") {
            return None;
        }
        let moment = self.at(year, month, day)?;
        Some(Moment {
            seconds: moment.seconds + hour * 3_600 + minute * 60 + second,
            fraction: fraction.into(),
            ..moment
        })
    }

    /// Returns the start of a day, in the time zone that may follow in the text.
    fn at(&mut self, year: i128, month: i128, day: i128) -> Option<Moment> {
        let zone = self.zone()?;
        // There is no year 0: the year before 1 is -1.
        let year = if year < 0 { year + 1 } else { year };
        let seconds = (days_before(year, month) + day - 1) * DAY - zone.unwrap_or_default();
        Some(Moment { seconds, fraction: "".into(), has_zone: zone.is_some() })
    }

    /// Parses the offset from UTC in seconds, or no zone; `None` for an invalid text.
    fn zone(&mut self) -> Option<Option<i128>> {
        if self.0.is_empty() {
            return Some(None);
        }
        if self.skip('Z').is_some() {
            return Some(Some(0));
        }
        let sign = if self.skip('-').is_some() { -1 } else { self.skip('+').map(|()| 1)? };
        let hours = self.two(0, 14)?;
        self.skip(':')?;
        let minutes = self.two(0, if hours == 14 { 0 } else { 59 })?;
        Some(Some(sign * (hours * 3_600 + minutes * 60)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_compared_on_the_line_of_time() {
        use Ordering::{Equal, Greater, Less};
        for (builtin, one, other, order) in [
            (Builtin::Date, "2026-01-02", "2026-01-10", Some(Less)),
            (Builtin::Date, "2026-01-02Z", "2026-01-10", Some(Less)),
            (Builtin::Date, "2026-01-02Z", "2026-01-02", None),
            (Builtin::Date, "-0001-01-01", "0001-01-01", Some(Less)),
            (Builtin::DateTime, "2026-01-01T00:00:00Z", "2025-12-31T24:00:00Z", Some(Equal)),
            (Builtin::DateTime, "2026-01-01T00:00:00+01:00", "2025-12-31T23:00:00Z", Some(Equal)),
            (Builtin::DateTime, "2026-01-01T00:00:00.5", "2026-01-01T00:00:00.25", Some(Greater)),
            (Builtin::Time, "01:00:00", "12:00:00", Some(Less)),
            (Builtin::GMonthDay, "--02-29", "--03-01", Some(Less)),
            (Builtin::GYear, "12026", "2026", Some(Greater)),
        ] {
            let parse = |text| Moment::parse(builtin, text).expect(text);
            assert_eq!(parse(one).compare(&parse(other)), order, "{one} {other}");
        }
    }

    #[test]
    fn leap_years_before_1_are_counted_without_a_year_0() {
        use deltasoap_core::{Lexical, lexical};
        for (year, is_leap) in [("-0001", true), ("-0004", false), ("-0005", true), ("-0101", false), ("-0401", true)] {
            let text = format!("{year}-02-29");
            assert_eq!(Moment::parse(Builtin::Date, &text).is_some(), is_leap, "{text}");
            assert_eq!(lexical::Date::parse(&text).is_ok(), is_leap, "{text}");
        }
    }

    #[test]
    fn days_have_the_dates_that_they_are_made_from() {
        for days in (-1_000_000..1_000_000).step_by(97) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_before(year, month) + day - 1, days);
            assert!((1..=days_in(year, month)).contains(&day), "{year} {month} {day}");
        }
    }

    #[test]
    fn values_move_by_their_units() {
        for (builtin, text, later) in [
            (Builtin::Date, "2024-02-28Z", "2024-02-29Z"),
            (Builtin::Date, "-0001-12-31", "0001-01-01"),
            (Builtin::DateTime, "2026-12-31T23:59:59.5-05:00", "2027-01-01T00:00:00.5-05:00"),
            (Builtin::Time, "03:04:05+01:00", "03:04:06+01:00"),
            (Builtin::GYear, "1999", "2000"),
            (Builtin::GYearMonth, "1999-12Z", "2000-01Z"),
            (Builtin::GMonth, "--01", "--02"),
            (Builtin::GMonthDay, "--02-28", "--02-29"),
            (Builtin::GDay, "---05", "---06"),
        ] {
            assert_eq!(Moment::shifted(builtin, text, 1).as_deref(), Some(later));
            assert_eq!(Moment::shifted(builtin, later, -1).as_deref(), Some(text));
        }
    }

    #[test]
    fn durations_are_compared_where_months_leave_no_doubt() {
        use Ordering::{Equal, Greater, Less};
        for (one, other, order) in [
            ("P400D", "P1D", Some(Greater)),
            ("P1Y", "P12M", Some(Equal)),
            ("P1M", "P30D", None),
            ("P1M", "P27D", Some(Greater)),
            ("P1M", "P32D", Some(Less)),
            ("-P1D", "PT0S", Some(Less)),
            ("PT1.50S", "PT1.5S", Some(Equal)),
            ("-PT0.5S", "PT0.5S", Some(Less)),
            ("-PT0.25S", "-PT0.5S", Some(Greater)),
            ("-PT1.5S", "-PT1.25S", Some(Less)),
            ("-PT0.5S", "PT0S", Some(Less)),
            ("-P1MT0.5S", "-P1M", Some(Less)),
            ("PT36H", "P1DT12H", Some(Equal)),
        ] {
            let parse = |text| Span::parse(text).expect(text);
            assert_eq!(parse(one).compare(&parse(other)), order, "{one} {other}");
        }
    }

    #[test]
    fn durations_beside_another_are_on_its_side() {
        let parse = |text: &str| Span::parse(text).expect("a duration");
        assert_eq!(parse("-PT0.5S").shifted(1).as_deref(), Some("PT0.5S"));
        assert_eq!(parse("PT0.25S").shifted(-1).as_deref(), Some("-PT0.75S"));
        for text in ["PT0S", "PT0.5S", "-PT0.5S", "-PT2.05S", "-PT3S", "P1M", "-P1MT0.5S", "P2DT1.999S"] {
            for (is_longer, order) in [(true, Ordering::Greater), (false, Ordering::Less)] {
                for other in parse(text).neighbors(is_longer) {
                    assert_eq!(parse(&other).compare(&parse(text)), Some(order), "{other} beside {text}");
                }
            }
        }
    }

    #[test]
    fn texts_that_are_of_no_type_are_refused() {
        for text in ["P", "PT", "P1DT", "1D", "P-1D", "P1S", "P1.5D", "PT1.S", "P1D1Y", "P1Y2", "+P1D", ""] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
        for (builtin, text) in [
            (Builtin::DateTime, "+2001-07-11T12:23:45"),
            (Builtin::DateTime, "2001-07-11T24:00:01"),
            (Builtin::DateTime, "2001-07-11T12:23:60"),
            (Builtin::DateTime, "2001-07-11T12:23"),
            (Builtin::Date, "2001-02-29"),
            (Builtin::Date, "0000-01-01"),
            (Builtin::Date, "01999-01-01"),
            (Builtin::Date, "2001-01-01+14:01"),
            (Builtin::GMonthDay, "--02-31"),
            (Builtin::GDay, "---32"),
            (Builtin::GMonth, "--13"),
            (Builtin::Time, "25:00:00"),
        ] {
            assert_eq!(Moment::parse(builtin, text), None, "{text}");
        }
    }
}
