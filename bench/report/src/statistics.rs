//! Statistics: intervals and rank correlations.

use serde::{Deserialize, Serialize};

/// A median with an interval: of 95 percent confidence, or from the minimum to the maximum of a few
/// repetitions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns minimum, median and maximum; `None` if there are no numbers.
    pub fn from_numbers(numbers: &[f64]) -> Option<Interval> {
        let low = numbers.iter().copied().reduce(f64::min)?;
        let high = numbers.iter().copied().reduce(f64::max)?;
        Some(Interval { low, median: median(numbers.iter().copied()), high })
    }

    /// Returns a conservative interval of the ratio to another median.
    #[must_use]
    pub fn by(self, other: Interval) -> Interval {
        let ratio = |one: f64, other: f64| one / other.max(f64::MIN_POSITIVE);
        Interval {
            low: ratio(self.low, other.high),
            median: ratio(self.median, other.median),
            high: ratio(self.high, other.low),
        }
    }

    /// Multiplies the interval by a positive number.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        Interval { low: self.low * factor, median: self.median * factor, high: self.high * factor }
    }
}

/// Returns the median, the mean of the two middle numbers for an even count; NaN if there are no
/// numbers.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    deltasoap_streams::statistics::median(numbers).unwrap_or(f64::NAN)
}

/// Returns the mean; NaN if there are no numbers.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns Spearman's rank correlation of two lists of the same length: 1 for the same order, -1
/// for opposite orders, NaN if all items of a list are equal.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    correlation(&ranks(one), &ranks(other))
}

/// A cell of a table: our number, theirs, and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Our number.
    pub ours: f64,
    /// Their number.
    pub theirs: f64,
    /// The levels of the table's factors: of the row, and of the two that make up a column.
    pub place: [usize; 3],
}

/// A group of cells that are compared with each other.
pub type Group = Vec<Compared>;

/// Returns our numbers and theirs.
pub fn sides(group: &[Compared]) -> (Vec<f64>, Vec<f64>) {
    group.iter().map(|cell| (cell.ours, cell.theirs)).unzip()
}

/// Returns the mean of the rank correlations within groups. A group in which all numbers of a side
/// are equal counts as 0.
pub fn rank_correlation_within(groups: &[Group]) -> f64 {
    let within = |group: &Group| {
        let (ours, theirs) = sides(group);
        correlation_or_none(&ranks(&ours), &ranks(&theirs))
    };
    mean(&groups.iter().map(within).collect::<Vec<_>>())
}

/// Returns Pearson's correlation; 0 if one side does not vary.
pub fn correlation_or_none(one: &[f64], other: &[f64]) -> f64 {
    Some(correlation(one, other)).filter(|correlation| correlation.is_finite()).unwrap_or(0.0)
}

/// Returns Pearson's correlation.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one_mean, other_mean) = (mean(one), mean(other));
    let covariance = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean)).sum()
    };
    let own = covariance(one, one_mean, one, one_mean) * covariance(other, other_mean, other, other_mean);
    covariance(one, one_mean, other, other_mean) / own.sqrt()
}

/// Returns ranks from 1; equal items share their mean rank.
pub fn ranks(list: &[f64]) -> Vec<f64> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = |item: &f64| {
        let below = sorted.partition_point(|other| other < item);
        let up_to = sorted.partition_point(|other| other <= item);
        (below + up_to + 1) as f64 / 2.0
    };
    list.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_ratio_holds_the_extremes() {
        let (one, other) =
            (Interval { low: 2.0, median: 3.0, high: 4.0 }, Interval { low: 1.0, median: 1.5, high: 2.0 });
        assert_eq!(one.by(other), Interval { low: 1.0, median: 2.0, high: 4.0 });
        assert_eq!(other.times(2.0), Interval { low: 2.0, median: 3.0, high: 4.0 });
    }

    #[test]
    fn the_interval_of_repetitions_is_all_of_them() {
        assert_eq!(Interval::from_numbers(&[3.0, 1.0, 2.0, 8.0]), Some(Interval { low: 1.0, median: 2.5, high: 8.0 }));
        assert_eq!(Interval::from_numbers(&[]), None);
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
    fn groups_are_compared_within_themselves() {
        let group = |pairs: &[(f64, f64)]| -> Group {
            pairs.iter().map(|&(ours, theirs)| Compared { ours, theirs, place: [0; 3] }).collect()
        };
        // In each group the orders are opposite; that the second group is greater on both sides has
        // no effect.
        let groups = [group(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), group(&[(11.0, 13.0), (12.0, 12.0), (13.0, 11.0)])];
        assert!((rank_correlation_within(&groups) + 1.0).abs() < 1e-12);
        let silent = [group(&[(1.0, 3.0), (1.0, 2.0)]), group(&[(1.0, 1.0), (2.0, 2.0)])];
        assert!((rank_correlation_within(&silent) - 0.5).abs() < 1e-12);
    }
}
