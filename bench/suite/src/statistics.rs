//! What is computed from many measurements: intervals, and how alike two tables are.

use anyhow::{Result, ensure};
use statrs::distribution::{Binomial, DiscreteCDF};

/// A median and where it lies with a probability of at least 95 percent.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Of the ratio to another median: not narrower than it is.
    #[must_use]
    pub fn by(self, other: Interval) -> Interval {
        let ratio = |one: f64, other: f64| one / other.max(f64::MIN_POSITIVE);
        Interval {
            low: ratio(self.low, other.high),
            median: ratio(self.median, other.median),
            high: ratio(self.high, other.low),
        }
    }

    /// Of the median times a number above zero.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        Interval { low: self.low * factor, median: self.median * factor, high: self.high * factor }
    }
}

/// The median of measurements with its interval, from one measurement to another: the number of measurements below
/// the true median is binomially distributed, whatever the distribution of the measurements. So a few that something
/// else on the machine has disturbed do no harm. Of fewer than six measurements, the interval is all of them, and less certain.
///
/// # Errors
/// When there is no measurement, or one is not a number.
pub fn median_interval(measurements: &[f64]) -> Result<Interval> {
    ensure!(!measurements.is_empty(), "an interval of nothing");
    ensure!(measurements.iter().all(|measurement| measurement.is_finite()), "a measurement that is not a number");
    let mut sorted = measurements.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (n, outside) = (sorted.len(), outside(sorted.len())?);
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Ok(Interval { low: sorted[outside], median, high: sorted[n - 1 - outside] })
}

/// How many of the smallest, and of the largest, of `n` measurements lie outside the interval. The true median lies below the
/// one that follows `count` others if at most `count` lie below it: at most 2.5 percent for either end.
fn outside(n: usize) -> Result<usize> {
    let below = Binomial::new(0.5, n as u64)?;
    // Searched for by halves, for there may be very many measurements.
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

/// Spearman's rank correlation of two lists of the same length: 1 where both put their items into the same order, -1 where
/// into opposite ones. Not a number where one of them knows no order.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    correlation(&ranks(one), &ranks(other))
}

/// The share of our numbers that have the sign of theirs, among those of theirs that are farther than `slack` from zero.
pub fn sign_agreement(ours: &[f64], theirs: &[f64], slack: f64) -> f64 {
    let clear: Vec<_> = ours.iter().zip(theirs).filter(|(_, theirs)| theirs.abs() > slack).collect();
    let agreeing = clear.iter().filter(|(ours, theirs)| ours.is_sign_positive() == theirs.is_sign_positive()).count();
    agreeing as f64 / clear.len() as f64
}

/// Pearson's.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (one_mean, other_mean) = (mean(one), mean(other));
    let covariance = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean)).sum()
    };
    let own = covariance(one, one_mean, one, one_mean) * covariance(other, other_mean, other, other_mean);
    covariance(one, one_mean, other, other_mean) / own.sqrt()
}

/// Ranks from 1; equal items share the mean of theirs.
fn ranks(list: &[f64]) -> Vec<f64> {
    let rank = |item: &f64| {
        let below = list.iter().filter(|other| *other < item).count();
        let equal = list.iter().filter(|other| *other == item).count();
        below as f64 + (equal + 1) as f64 / 2.0
    };
    list.iter().map(rank).collect()
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
    fn the_interval_of_a_ratio_holds_the_extremes() {
        let (one, other) =
            (Interval { low: 2.0, median: 3.0, high: 4.0 }, Interval { low: 1.0, median: 1.5, high: 2.0 });
        assert_eq!(one.by(other), Interval { low: 1.0, median: 2.0, high: 4.0 });
        assert_eq!(other.times(2.0), Interval { low: 2.0, median: 3.0, high: 4.0 });
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

    #[test]
    fn order_is_all_that_counts() {
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 100.0, 1000.0]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 3.0, -1.0]) + 1.0).abs() < 1e-12);
        assert!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]).is_nan());
        // Ties: ranks 1.5, 1.5, 3 against 1, 2, 3.
        assert!((rank_correlation(&[5.0, 5.0, 6.0], &[1.0, 2.0, 3.0]) - 0.75_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn signs_count_where_theirs_is_clear() {
        let (ours, theirs) = ([1.0, -1.0, 0.5, -0.5, -0.01], [2.0, 2.0, -0.01, -2.0, 1.0]);
        assert!((sign_agreement(&ours, &theirs, 0.02) - 0.5).abs() < 1e-12);
    }
}
