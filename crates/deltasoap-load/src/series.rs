//! The course of a load: statistics of stretches of time.
//!
//! Nobody knows beforehand how long a load lasts. When there are too many stretches, each two
//! become one, so that memory stays within bounds.

use crate::record::nanos;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Maximum number of stretches.
const MAX_STRETCHES: usize = 240;
/// Longer latencies count as this.
const MAX_LATENCY: Duration = Duration::from_secs(600);
/// Shorter latencies count as this.
const MIN_LATENCY: Duration = Duration::from_micros(1);
/// Significant decimal digits of latencies: a plot shows no more.
const DIGITS: u8 = 2;

/// Statistics of stretches of equal length.
#[derive(Debug, Clone)]
pub struct Series {
    /// All of it.
    pub whole: Stretch,
    /// The length of each stretch.
    pub length: Duration,
    /// The stretches from the beginning of the measurement on.
    pub stretches: Vec<Stretch>,
}

/// What happened in a stretch of time.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// Latencies of correct answers in nanoseconds.
    pub latencies: Histogram<u32>,
    /// Number of requests without a correct answer.
    pub failed: u64,
}

impl Default for Stretch {
    fn default() -> Self {
        let latencies = Histogram::new_with_bounds(nanos(MIN_LATENCY), nanos(MAX_LATENCY), DIGITS);
        let latencies = latencies.expect("the bounds are valid");
        Stretch { latencies, failed: 0 }
    }
}

impl Stretch {
    fn note(&mut self, latency: Option<Duration>) {
        match latency {
            Some(latency) => self.latencies.saturating_record(nanos(latency)),
            None => self.failed += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Stretch) {
        // All have the same bounds, so that nothing is out of range.
        let _ = self.latencies.add(&other.latencies);
        self.failed += other.failed;
    }
}

impl Series {
    pub(crate) fn new(length: Duration) -> Self {
        Series { whole: Stretch::default(), length: length.max(Duration::from_millis(1)), stretches: Vec::new() }
    }

    /// Records the end of a request, so long after the beginning; its latency if it was answered.
    pub(crate) fn note(&mut self, after: Duration, latency: Option<Duration>) {
        let index = self.index(after);
        while self.stretches.len() <= index {
            self.stretches.push(Stretch::default());
        }
        self.stretches[index].note(latency);
        self.whole.note(latency);
    }

    fn index(&mut self, after: Duration) -> usize {
        loop {
            let index = after.as_nanos() / self.length.as_nanos();
            match usize::try_from(index).ok().filter(|index| *index < MAX_STRETCHES) {
                Some(index) => return index,
                None => self.halve(),
            }
        }
    }

    /// Makes one of each two stretches.
    fn halve(&mut self) {
        let mut rest = std::mem::take(&mut self.stretches).into_iter();
        while let Some(mut one) = rest.next() {
            rest.next().iter().for_each(|other| one.add(other));
            self.stretches.push(one);
        }
        self.length *= 2;
    }

    /// Adds the stretches of another thread.
    pub(crate) fn add(&mut self, mut other: Series) {
        self.whole.add(&other.whole);
        while self.length < other.length {
            self.halve();
        }
        while other.length < self.length {
            other.halve();
        }
        for (index, stretch) in other.stretches.into_iter().enumerate() {
            match self.stretches.get_mut(index) {
                Some(own) => own.add(&stretch),
                None => self.stretches.push(stretch),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let mut series = Series::new(MS);
        (0..1000).for_each(|at| series.note(MS * at, (at % 10 != 0).then_some(MS)));
        assert_eq!((series.length, series.stretches.len()), (8 * MS, 125));
        let answered: u64 = series.stretches.iter().map(|it| it.latencies.len()).sum();
        assert_eq!((answered, series.stretches.iter().map(|it| it.failed).sum::<u64>()), (900, 100));
        assert_eq!((series.whole.latencies.len(), series.whole.failed), (900, 100));
        // A single late one does not need all the time before.
        series.note(Duration::from_secs(86_400 * 365), Some(MS));
        assert!(series.stretches.len() <= MAX_STRETCHES);
    }

    #[test]
    fn threads_of_different_lengths_are_added() {
        let (mut one, mut other) = (Series::new(MS), Series::new(MS));
        (0..4).for_each(|at| one.note(MS * at, Some(MS)));
        (0..300).for_each(|at| other.note(MS * at, None));
        one.add(other);
        assert_eq!((one.length, one.stretches.len()), (2 * MS, 150));
        assert_eq!((one.stretches[0].latencies.len(), one.stretches[0].failed), (2, 2));
    }
}
