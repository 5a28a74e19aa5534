//! Moments and dates as numbers.

use deltasoap_core::lexical::{Date, DateTime};

/// Returns the microseconds since 1970 of a moment; of one with a zone in UTC. Digits after them are
/// left out. Returns `None` outside the years -9999 to 9999.
pub fn microseconds(moment: &DateTime) -> Option<i64> {
    // An instant of jiff would end a day before the last year does.
    let clock = jiff::civil::DateTime::try_from((*moment).with_zone(None)).ok()?;
    let since = clock.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0));
    let zone = moment.zone().map_or(0, |zone| i64::from(zone.minutes()));
    i64::try_from(since.as_nanos().div_euclid(1000)).ok().map(|micros| micros - zone * 60_000_000)
}

/// Returns the days since 1970 of a date, without its zone; `None` as for [`microseconds`].
pub(crate) fn days(date: &Date) -> Option<i32> {
    let date = jiff::civil::Date::try_from((*date).with_zone(None)).ok()?;
    i32::try_from(date.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() / 24).ok()
}
