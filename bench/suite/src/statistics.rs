//! What is computed from many measurements: intervals, and how alike two tables are.

use anyhow::{Result, ensure};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and where it lies with a probability of 95 percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The mean.
    pub mean: f64,
    /// Upper end.
    pub high: f64,
}

/// The geometric mean of ratios with its interval: Student's, of the logarithms. (A ratio and its inverse have equal
/// weight, and one disturbed measurement weighs less than in a mean of ratios.)
///
/// # Errors
/// When there are fewer than two ratios, or one is not positive.
pub fn ratio_interval(ratios: &[f64]) -> Result<Interval> {
    ensure!(ratios.len() >= 2, "an interval of fewer than two ratios");
    ensure!(ratios.iter().all(|ratio| *ratio > 0.0), "a ratio that is not positive");
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let n = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / n;
    let variance = logarithms.iter().map(|logarithm| (logarithm - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let quantile = StudentsT::new(0.0, 1.0, n - 1.0)?.inverse_cdf(0.975);
    let half = quantile * (variance / n).sqrt();
    Ok(Interval { low: (mean - half).exp(), mean: mean.exp(), high: (mean + half).exp() })
}

/// Spearman's rank correlation of two lists of the same length: 1 where both put their items into the same order, -1 where
/// into opposite ones. Not a number where one of them knows no order.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    correlation(&ranks(one), &ranks(other))
}

/// The share of items that have the same sign in both lists. Numbers within `slack` of zero agree with either sign.
pub fn sign_agreement(one: &[f64], other: &[f64], slack: f64) -> f64 {
    let agrees = |(one, other): &(&f64, &f64)| {
        one.abs() <= slack || other.abs() <= slack || one.is_sign_positive() == other.is_sign_positive()
    };
    one.iter().zip(other).filter(agrees).count() as f64 / one.len().max(1) as f64
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

    /// 12.706 and 2.776 are the 97.5 percent quantiles with 1 and 4 degrees of freedom.
    #[test]
    fn intervals_are_students() {
        let two = ratio_interval(&[1.0, 1.21]).unwrap();
        assert!((two.mean - 1.1).abs() < 1e-12);
        let half = 12.706 * (1.21_f64.ln() / 2.0);
        assert!((two.high.ln() - 1.1_f64.ln() - half).abs() < 1e-3, "{two:?}");
        let five = ratio_interval(&[0.98, 0.99, 1.0, 1.01, 1.02]).unwrap();
        let half = 2.776 * (2.5e-4_f64 / 5.0).sqrt();
        assert!((five.high - five.mean - half).abs() < 1e-3 && five.low < 1.0 && five.high > 1.0);
    }

    #[test]
    fn equal_ratios_have_no_width() {
        let interval = ratio_interval(&[0.5; 100]).unwrap();
        assert!((interval.high - interval.low).abs() < 1e-12 && (interval.mean - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_interval_is_refused() {
        assert!(ratio_interval(&[1.0]).is_err());
        assert!(ratio_interval(&[1.0, 0.0]).is_err());
        assert!(ratio_interval(&[1.0, f64::NAN]).is_err());
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
    fn signs_agree_but_for_what_is_near_zero() {
        assert!((sign_agreement(&[1.0, -1.0, 0.5, -0.5], &[2.0, 2.0, -0.01, -2.0], 0.02) - 0.75).abs() < 1e-12);
    }
}
