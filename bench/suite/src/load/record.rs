//! Statistics of the generator: latencies of correct answers, and failures.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::wire::Failure;

/// Longer latencies count as this.
const MAX_LATENCY: Duration = Duration::from_secs(600);
/// Significant decimal digits of recorded latencies.
const DIGITS: u8 = 3;

/// The statistics of one kind of message.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Latencies of correct answers in nanoseconds.
    pub latencies: Histogram<u64>,
    /// Requests without a correct answer.
    pub failures: BTreeMap<Failure, u64>,
}

impl Default for Tally {
    fn default() -> Self {
        let latencies = Histogram::new_with_bounds(1, nanos(MAX_LATENCY), DIGITS);
        Tally { latencies: latencies.expect("the bounds are valid"), failures: BTreeMap::new() }
    }
}

impl Tally {
    /// Records the outcome of a request.
    pub fn note(&mut self, outcome: Result<Duration, Failure>) {
        match outcome {
            Ok(latency) => self.latencies.saturating_record(nanos(latency).max(1)),
            Err(failure) => *self.failures.entry(failure).or_default() += 1,
        }
    }

    /// Adds other statistics.
    pub fn add(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies).expect("both have the same bounds");
        for (failure, count) in &other.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
    }

    /// Returns the number of requests without a correct answer.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Returns the quantile of the latencies in microseconds.
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.latencies.value_at_quantile(share) as f64 / 1e3
    }

    /// Returns the longest latency in microseconds.
    pub fn max_us(&self) -> f64 {
        self.latencies.max() as f64 / 1e3
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_right_answers() {
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for us in 1..=1000 {
            let tally = if us % 2 == 0 { &mut one } else { &mut other };
            tally.note(Ok(Duration::from_micros(us)));
        }
        one.note(Err(Failure::Wrong));
        other.note(Err(Failure::Wrong));
        other.note(Err(Failure::Status(500)));
        one.add(&other);
        assert_eq!((one.latencies.len(), one.failed()), (1000, 3));
        assert_eq!(one.failures[&Failure::Wrong], 2);
        for (share, us) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0)] {
            assert!((one.quantile_us(share) / us - 1.0).abs() < 0.002, "{share}: {}", one.quantile_us(share));
        }
        assert!((one.max_us() / 1000.0 - 1.0).abs() < 0.002);
    }

    #[test]
    fn a_latency_beyond_all_bounds_is_kept_as_the_longest() {
        let mut tally = Tally::default();
        tally.note(Ok(Duration::from_secs(100_000)));
        assert!(tally.max_us() >= 5.9e8);
    }
}
