//! Statistics of many measurements: intervals of medians.

use anyhow::{Result, ensure};
use statrs::distribution::{Binomial, DiscreteCDF};

pub use deltasoap_report::Interval;

/// Returns the median with its confidence interval between two measurements. The number of
/// measurements below the true median is binomial for any distribution, so a few disturbed
/// measurements do no harm. With fewer than six measurements, the interval covers all of them, with
/// less confidence.
///
/// # Errors
/// When there is no measurement, or one is not a number.
pub fn median_interval(measurements: &[f64]) -> Result<Interval> {
    ensure!(!measurements.is_empty(), "an interval of no measurements");
    ensure!(measurements.iter().all(|measurement| measurement.is_finite()), "a measurement that is not a number");
    let mut sorted = measurements.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (n, outside) = (sorted.len(), outside(sorted.len())?);
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Ok(Interval { low: sorted[outside], median, high: sorted[n - 1 - outside] })
}

/// Returns how many of the smallest, and of the largest, of `n` measurements lie outside the
/// interval. The true median lies below the one after `count` others if at most `count` lie below
/// it: at most 2.5 percent for either end.
fn outside(n: usize) -> Result<usize> {
    let below = Binomial::new(0.5, n as u64)?;
    // Binary search, since there may be very many measurements.
    let (mut certain, mut open) = (0, n / 2);
    while certain < open {
        let middle = certain.midpoint(open);
        match below.cdf(middle as u64) <= 0.025 {
            true => certain = middle + 1,
            false => open = middle,
        }
    }
    Ok(certain.saturating_sub(1))
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
