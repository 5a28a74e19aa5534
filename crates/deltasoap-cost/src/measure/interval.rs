//! The median of a few measurements with a confidence interval: two of the measurements, without
//! assumptions about the distribution.
//!
//! Half of all measurements lie below the true median, so the number that do so among n of them is
//! binomial. So the k-th smallest and the k-th largest enclose it with a probability that depends
//! only on n and k (the interval of the sign test).

use crate::fit::regression::LEVEL;
use deltasoap_streams::statistics::median;
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

/// A median with an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The median; the mean of the two middle numbers for an even count.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability that the interval contains the true median: at least 0.95.
    pub confidence: f64,
}

impl Interval {
    /// Minimum number of measurements: for this many the interval spans all of them.
    pub const MIN_COUNT: usize = 6;

    /// Returns the narrowest interval with enough confidence; `None` for fewer than
    /// [`Self::MIN_COUNT`] numbers.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = numbers.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (rank, confidence) = ranks(n)?;
        let median = median(sorted.iter().copied())?;
        Some(Interval { median, low: sorted[rank], high: sorted[n - 1 - rank], confidence })
    }

    /// Returns true if the interval contains the number.
    pub fn contains(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

/// Returns how many numbers to drop at each end, and the confidence of the rest.
fn ranks(n: usize) -> Option<(usize, f64)> {
    let below = Binomial::new(0.5, n as u64).ok()?;
    let confidence = |rank: usize| 1.0 - 2.0 * below.cdf(rank as u64);
    // Binary search, since there may be very many measurements.
    let (mut certain, mut open) = (0, n / 2);
    while certain < open {
        let middle = certain.midpoint(open);
        match confidence(middle) >= LEVEL {
            true => certain = middle + 1,
            false => open = middle,
        }
    }
    let rank = certain.checked_sub(1)?;
    Some((rank, confidence(rank)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_streams::prng::SplitMix64;

    /// Values from tables of the sign test.
    #[test]
    fn ranks_are_those_of_the_tables() {
        assert_eq!([0, 1, 5].map(ranks), [None; 3]);
        for (n, rank, confidence) in [(6, 1, 0.96875), (9, 2, 0.9609), (12, 3, 0.9614), (20, 6, 0.9586)] {
            let found = ranks(n).expect("an interval");
            assert!(found.0 + 1 == rank && (found.1 - confidence).abs() < 1e-4, "{n}: {found:?}");
        }
        assert_eq!(ranks(Interval::MIN_COUNT).map(|it| it.0), Some(0));
        assert_eq!(ranks(Interval::MIN_COUNT - 1), None);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let six = Interval::of([6.0, 1.0, 2.0, 5.0, 3.0, 4.5]).expect("six");
        assert_eq!((six.median, six.low, six.high), (3.75, 1.0, 6.0));
        let nine = Interval::of((0..9).map(f64::from)).expect("nine");
        assert_eq!((nine.median, nine.low, nine.high), (4.0, 1.0, 7.0));
        assert!(nine.contains(1.0) && !nine.contains(0.5) && Interval::of([1.0; 5]).is_none());
    }

    /// The interval contains the true median as often as stated, for any distribution.
    #[test]
    fn intervals_are_as_certain_as_they_say() {
        let mut random = SplitMix64::new(7);
        let mut draw = || (f64::from(random.below(1 << 24)) / f64::from(1 << 24)).powi(3);
        let rounds = 4000;
        let held = (0..rounds).filter(|_| Interval::of((0..9).map(|_| draw())).is_some_and(|it| it.contains(0.125)));
        let share = held.count() as f64 / f64::from(rounds);
        assert!((share - 0.961).abs() < 0.015, "{share}");
    }
}
