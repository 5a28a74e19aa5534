//! Figures that several tables share.

use deltasoap::engine::DifferentialStats;
use deltasoap_cost::measure::Interval;
use deltasoap_streams::statistics::median;
use serde::Serialize;
use std::time::Duration;

/// Returns the rate in 10^6 bytes per second; see [`per_second`].
pub fn megabytes_per_second(bytes: u64, time: Duration) -> f64 {
    per_second(bytes as f64 / 1e6, time)
}

/// Returns the rate per second; zero for no time, since nothing was done then.
pub fn per_second(amount: f64, time: Duration) -> f64 {
    ratio(amount, time.as_secs_f64())
}

/// Returns the quotient; zero if the divisor is zero.
pub fn ratio(dividend: f64, divisor: f64) -> f64 {
    if divisor == 0.0 { 0.0 } else { dividend / divisor }
}

/// Returns the share of the bytes that fast mode skipped, from 0 to 1.
pub fn fast_share(stats: &DifferentialStats) -> f64 {
    ratio(stats.fast_bytes as f64, (stats.fast_bytes + stats.regular_bytes) as f64)
}

/// Default number of plays. The interval of a saving then leaves out the minimum and the maximum.
pub const PLAYS: u32 = 9;
/// Minimum number of plays of a comparison of two ways.
pub const MIN_PLAYS: u32 = Interval::MIN_COUNT as u32;
/// Text in tables for a saving that may be chance.
pub const NO_DIFFERENCE: &str = "no difference";

/// The share of time that one way of doing something saves over another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Saving {
    /// The saved share of the time, the median of all plays; negative if time was lost. `None` if
    /// it may be chance: if the interval contains zero, if there were too few plays for one, or if
    /// time seems to be saved where no work was.
    #[serde(rename = "saved_share")]
    pub share: Option<f64>,
    /// Confidence interval of the saved share.
    #[serde(rename = "saved_interval")]
    pub interval: Option<[f64; 2]>,
    /// Confidence level of the interval, from 0.95 to 1.
    #[serde(rename = "saved_confidence")]
    pub confidence: Option<f64>,
}

impl Saving {
    /// Computes the saving from the times of both ways in each play. `is_work_saved`: the faster
    /// way did less work, so that it can be faster at all.
    pub fn new(plays: impl Iterator<Item = (Duration, Duration)>, is_work_saved: bool) -> Self {
        let share = |(whole, less): (Duration, Duration)| {
            let (whole, less) = (whole.as_secs_f64(), less.as_secs_f64());
            ratio(whole - less, whole)
        };
        let Some(it) = Interval::of(plays.map(share)) else { return Saving::default() };
        let is_certain = (it.low > 0.0 && is_work_saved) || it.high < 0.0;
        Saving {
            share: is_certain.then_some(it.median),
            interval: Some([it.low, it.high]),
            confidence: Some(it.confidence),
        }
    }

    /// Formats a figure of the saving and of the ends of its interval, for a table.
    pub fn cell(&self, figure: impl Fn(f64) -> String) -> String {
        match (self.share, self.interval) {
            (Some(share), Some([low, high])) => format!("{} ({} to {})", figure(share), figure(low), figure(high)),
            _ => NO_DIFFERENCE.to_owned(),
        }
    }
}

/// Returns the median of times; zero for none.
pub fn median_time(times: impl IntoIterator<Item = Duration>) -> Duration {
    let seconds = median(times.into_iter().map(|time| time.as_secs_f64()));
    Duration::from_secs_f64(seconds.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_amount_by_time() {
        assert_eq!(megabytes_per_second(2_000_000, Duration::from_millis(500)), 4.0);
        assert_eq!(megabytes_per_second(1, Duration::ZERO), 0.0);
    }

    #[test]
    fn a_saving_is_told_from_chance() {
        let of = |others: &[u64], is_work_saved| {
            let time = |&other: &u64| (Duration::from_millis(100), Duration::from_millis(other));
            Saving::new(others.iter().map(time), is_work_saved)
        };
        let percent = |it: Saving| it.cell(|share| format!("{:.0}", share * 100.0));
        let faster = of(&[50, 51, 52, 48, 49, 60], true);
        assert_eq!(percent(faster), "50 (40 to 52)");
        assert!(faster.confidence.expect("known") > 0.96);
        // Equally fast, except once much faster: an interval, and no saving.
        let chance = of(&[50, 101, 102, 99, 100, 100], true);
        assert_eq!((chance.share, percent(chance).as_str()), (None, NO_DIFFERENCE));
        assert!(chance.interval.is_some_and(|[low, high]| low < 0.0 && high > 0.0));
        assert_eq!(of(&[50; 6], false).share, None, "nothing that takes time was skipped");
        assert_eq!(percent(of(&[120; 6], false)), "-20 (-20 to -20)", "failed comparisons cost time");
        assert_eq!(of(&[50; 5], true), Saving::default(), "too few plays");
    }

    #[test]
    fn the_fast_share_is_of_all_bytes_read_or_skipped() {
        let stats = DifferentialStats { fast_bytes: 30, regular_bytes: 10, ..DifferentialStats::default() };
        assert_eq!((fast_share(&stats), fast_share(&DifferentialStats::default())), (0.75, 0.0));
    }
}
