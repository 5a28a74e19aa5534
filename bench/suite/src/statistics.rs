//! Intervals of medians.

use anyhow::{Context, Result, ensure};
use deltasoap_cost::measure;

pub use deltasoap_report::Interval;

/// Returns the median with its confidence interval between two measurements, see
/// [`measure::Interval`]: a few disturbed measurements do no harm. With fewer than six
/// measurements, the interval covers all of them, with less confidence.
///
/// # Errors
/// When there is no measurement, or one is not a number.
pub fn median_interval(measurements: &[f64]) -> Result<Interval> {
    ensure!(measurements.iter().all(|measurement| measurement.is_finite()), "a measurement that is not a number");
    match measure::Interval::of(measurements.iter().copied()) {
        Some(measure::Interval { low, median, high, .. }) => Ok(Interval { low, median, high }),
        None => Interval::from_numbers(measurements).context("an interval of no measurements"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widely tabulated ranks of the interval: 2 and 9 of 10 measurements, 40 and 61 of 100.
    #[test]
    fn intervals_end_at_the_tabulated_ranks() {
        let interval = |n: u32| median_interval(&(1..=n).rev().map(f64::from).collect::<Vec<_>>()).unwrap();
        assert_eq!(interval(10), Interval { low: 2.0, median: 5.5, high: 9.0 });
        assert_eq!(interval(100), Interval { low: 40.0, median: 50.5, high: 61.0 });
        assert_eq!(interval(6), Interval { low: 1.0, median: 3.5, high: 6.0 });
        assert_eq!(interval(3), Interval { low: 1.0, median: 2.0, high: 3.0 });
        assert_eq!(interval(1), Interval { low: 1.0, median: 1.0, high: 1.0 });
    }

    #[test]
    fn disturbed_measurements_do_no_harm() {
        let mut ratios = vec![1.0; 90];
        ratios.extend([50.0; 10]);
        assert_eq!(median_interval(&ratios).unwrap(), Interval { low: 1.0, median: 1.0, high: 1.0 });
    }

    #[test]
    fn what_has_no_interval_is_refused() {
        assert!(median_interval(&[]).is_err());
        assert!(median_interval(&[1.0, f64::NAN]).is_err());
    }
}
