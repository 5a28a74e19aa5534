//! Figures that several tables show.

use deltasoap::DifferentialStats;
use std::time::Duration;

/// Rate in 10^6 bytes a second; see [`per_second`].
pub fn megabytes_per_second(bytes: u64, time: Duration) -> f64 {
    per_second(bytes as f64 / 1e6, time)
}

/// Zero for no time: nothing was done then.
pub fn per_second(amount: f64, time: Duration) -> f64 {
    ratio(amount, time.as_secs_f64())
}

/// Zero where there is nothing to divide by.
pub fn ratio(dividend: f64, divisor: f64) -> f64 {
    if divisor == 0.0 { 0.0 } else { dividend / divisor }
}

/// Share of the bytes that fast mode skipped, from 0 to 1.
pub fn fast_share(stats: &DifferentialStats) -> f64 {
    ratio(stats.fast_bytes as f64, (stats.fast_bytes + stats.regular_bytes) as f64)
}

/// The middle one, of an even number the one above the middle; zero for none.
pub fn median<T: Ord + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort();
    let middle = values.len() / 2;
    values.into_iter().nth(middle).unwrap_or_default()
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
    fn the_median_is_the_middle_one() {
        assert_eq!(median([3, 1, 2].into_iter()), 2);
        assert_eq!(median([1, 2].into_iter()), 2);
        assert_eq!(median(std::iter::empty::<u64>()), 0);
    }

    #[test]
    fn the_fast_share_is_of_all_bytes_read_or_skipped() {
        let stats = DifferentialStats { fast_bytes: 30, regular_bytes: 10, ..DifferentialStats::default() };
        assert_eq!((fast_share(&stats), fast_share(&DifferentialStats::default())), (0.75, 0.0));
    }
}
