//! Civil time: converts between the text of an xsd:dateTime and a count of seconds.
//!
//! Days are counted in 400-year eras of years that begin in March, so that the leap day comes last
//! and the lengths of the months follow one linear formula. The offset from UTC is not applied: a
//! device's clock is computed in its own time.

const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;

/// A local time, and the text of the offset from UTC that follows it.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Seconds since 1970-01-01T00:00:00, both local.
    seconds: i64,
    offset: &'static str,
}

impl Clock {
    /// Parses `2015-01-19T23:08:24+01:00`. A missing field counts as 0; repeated colons count as
    /// one.
    pub(super) fn parse(text: &'static str) -> Self {
        let digits = |c: char| c.is_ascii_digit();
        let time_end = text.rfind(['+', 'Z']).or_else(|| text.rfind('-').filter(|&at| at > 10)).unwrap_or(text.len());
        let (local, offset) = text.split_at(time_end);
        let mut fields = local.split(|c| !digits(c)).filter_map(|field| field.parse::<i64>().ok());
        let mut field = || fields.next().unwrap_or(0);
        let days = days_from_civil(field(), field(), field());
        let seconds = days * SECONDS_PER_DAY + field() * 3600 + field() * 60 + field();
        Self { seconds, offset }
    }

    /// Returns the time `seconds` later, as an xsd:dateTime with the same offset.
    pub(super) fn after(&self, seconds: u64) -> String {
        let time = self.seconds.saturating_add_unsigned(seconds);
        let (year, month, day) = civil_from_days(time.div_euclid(SECONDS_PER_DAY));
        let second = time.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{}", self.offset)
    }
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - EPOCH
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for text in
            ["2015-01-19T23:08:24", "2016-02-29T00:00:00Z", "2015-09-22T05:04:58-07:00", "1970-01-01T00:00:00+01:00"]
        {
            assert_eq!(Clock::parse(text).after(0), text);
        }
    }

    #[test]
    fn a_colon_too_many_is_dropped() {
        assert_eq!(Clock::parse("2019-03-05T11:54::14").after(0), "2019-03-05T11:54:14");
    }

    #[test]
    fn time_carries_into_the_next_year() {
        assert_eq!(Clock::parse("2015-12-31T23:59:58+01:00").after(2), "2016-01-01T00:00:00+01:00");
    }

    #[test]
    fn every_day_of_an_era_comes_back() {
        for days in -1000..DAYS_PER_ERA {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }
    }
}
