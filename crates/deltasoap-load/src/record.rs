//! Statistics of the generator: latencies of correct answers, and failures.

use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// Longer latencies count as this.
const MAX_LATENCY: Duration = Duration::from_secs(600);
/// Significant decimal digits of recorded latencies.
const DIGITS: u8 = 3;
/// Maximum number of different failures that are told apart; further ones are [`Failure::Other`].
const MAX_FAILURES: usize = 64;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The connection failed to open.
    Connect,
    /// The connection ended, or failed, before the end of the answer.
    Closed,
    /// The answer took too long.
    Timeout,
    /// The answer is not HTTP/1.1.
    Malformed,
    /// The answer has more bytes than the target allows.
    TooLarge,
    /// The answer has a status that is an error.
    Status(u16),
    /// The answer is a fault with this code.
    Fault(Box<str>),
    /// The answer does not have the right values.
    Wrong,
    /// The answer does not conform to its description.
    Invalid,
    /// One of too many different failures.
    Other,
}

impl Failure {
    /// Returns the name in reports.
    pub fn name(&self) -> String {
        match self {
            Failure::Connect => "connect".to_owned(),
            Failure::Closed => "closed".to_owned(),
            Failure::Timeout => "timeout".to_owned(),
            Failure::Malformed => "malformed".to_owned(),
            Failure::TooLarge => "too-large".to_owned(),
            Failure::Status(status) => format!("status {status}"),
            Failure::Fault(code) => format!("fault {code}"),
            Failure::Wrong => "wrong values".to_owned(),
            Failure::Invalid => "invalid answer".to_owned(),
            Failure::Other => "other".to_owned(),
        }
    }
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The reason.
    pub failure: Failure,
    /// What exactly happened; may be empty.
    pub detail: String,
}

impl Failed {
    /// Creates the failure of a request, with what exactly happened.
    pub fn new(failure: Failure, detail: impl Into<String>) -> Self {
        Failed { failure, detail: detail.into() }
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Failed { failure, detail: String::new() }
    }
}

/// An error of a connection that was open.
impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::new(Failure::Closed, error.to_string())
    }
}

/// Requests that failed for the same reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// Their number.
    pub count: u64,
    /// What exactly happened to the first of them; may be empty.
    pub sample: String,
}

/// The statistics of one kind of request.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Latencies of correct answers in nanoseconds.
    pub latencies: Histogram<u64>,
    /// Requests without a correct answer.
    pub failures: BTreeMap<Failure, Failures>,
    /// Bytes of requests, with their heads.
    pub sent: u64,
    /// Bytes of answers, with their heads.
    pub received: u64,
}

impl Default for Tally {
    fn default() -> Self {
        let latencies = Histogram::new_with_bounds(1, nanos(MAX_LATENCY), DIGITS);
        let latencies = latencies.expect("the bounds are valid");
        Tally { latencies, failures: BTreeMap::new(), sent: 0, received: 0 }
    }
}

impl Tally {
    /// Records the outcome of a request.
    pub fn note(&mut self, outcome: Result<Duration, Failed>) {
        match outcome {
            Ok(latency) => self.latencies.saturating_record(nanos(latency).max(1)),
            Err(Failed { failure, detail }) => self.fail(failure, 1, detail),
        }
    }

    fn fail(&mut self, failure: Failure, count: u64, sample: String) {
        let is_known = self.failures.len() < MAX_FAILURES || self.failures.contains_key(&failure);
        let failures = self.failures.entry(if is_known { failure } else { Failure::Other }).or_default();
        failures.count += count;
        if failures.sample.is_empty() {
            failures.sample = sample;
        }
    }

    /// Adds other statistics.
    pub fn add(&mut self, other: &Tally) {
        // All have the same bounds, so that nothing is out of range.
        let _ = self.latencies.add(&other.latencies);
        for (failure, Failures { count, sample }) in &other.failures {
            self.fail(failure.clone(), *count, sample.clone());
        }
        self.sent += other.sent;
        self.received += other.received;
    }

    /// Returns the number of requests with a correct answer.
    pub fn answered(&self) -> u64 {
        self.latencies.len()
    }

    /// Returns the number of requests without a correct answer.
    pub fn failed(&self) -> u64 {
        self.failures.values().map(|failures| failures.count).sum()
    }

    /// Returns the quantile of the latencies in microseconds.
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.latencies.value_at_quantile(share) as f64 / 1e3
    }

    /// Returns the longest latency in microseconds.
    pub fn max_us(&self) -> f64 {
        self.latencies.max() as f64 / 1e3
    }

    /// Returns the mean latency in microseconds.
    pub fn mean_us(&self) -> f64 {
        self.latencies.mean() / 1e3
    }
}

/// Requests of an open loop that were sent late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Number of requests for which no connection was free at their time: the server was too slow,
    /// or there are too few connections.
    pub waited: u64,
    /// Number of requests that the generator sent more than a millisecond late, though a connection
    /// was free.
    pub own: u64,
    /// The longest of these delays.
    pub longest: Duration,
    /// Number of requests for which a connection was free at their time.
    pub free: u64,
    /// The sum of all their delays, however short.
    pub delays: Duration,
}

impl Lateness {
    /// A delay up to this is none.
    const TOLERATED: Duration = Duration::from_millis(1);

    /// Records by how much a request was late.
    pub(crate) fn note(&mut self, late: Duration, was_free: bool) {
        if !was_free {
            self.waited += 1;
            return;
        }
        self.free += 1;
        self.delays = self.delays.saturating_add(late);
        if late > Self::TOLERATED {
            self.own += 1;
            self.longest = self.longest.max(late);
        }
    }

    pub(crate) fn add(&mut self, other: Lateness) {
        self.waited += other.waited;
        self.own += other.own;
        self.longest = self.longest.max(other.longest);
        self.free += other.free;
        self.delays = self.delays.saturating_add(other.delays);
    }

    /// Returns the mean delay of requests for which a connection was free: the generator's own.
    pub fn mean(&self) -> Duration {
        self.delays.checked_div(u32::try_from(self.free).unwrap_or(u32::MAX)).unwrap_or_default()
    }
}

pub(crate) fn nanos(time: Duration) -> u64 {
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
        one.note(Err(Failure::Wrong.into()));
        other.note(Err(Failed::new(Failure::Wrong, "7, not 8")));
        other.note(Err(Failure::Status(500).into()));
        one.add(&other);
        assert_eq!((one.answered(), one.failed()), (1000, 3));
        assert_eq!(one.failures[&Failure::Wrong], Failures { count: 2, sample: "7, not 8".to_owned() });
        for (share, us) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0)] {
            assert!((one.quantile_us(share) / us - 1.0).abs() < 0.002, "{share}: {}", one.quantile_us(share));
        }
        assert!((one.max_us() / 1000.0 - 1.0).abs() < 0.002 && (one.mean_us() / 500.5 - 1.0).abs() < 0.002);
    }

    #[test]
    fn a_latency_beyond_all_bounds_is_kept_as_the_longest() {
        let mut tally = Tally::default();
        tally.note(Ok(Duration::from_secs(100_000)));
        assert!(tally.max_us() >= 5.9e8);
    }

    #[test]
    fn only_the_generators_own_delays_are_its_lateness() {
        let mut one = Lateness::default();
        one.note(Duration::from_secs(9), false);
        assert_eq!(one.mean(), Duration::ZERO);
        one.note(Duration::from_micros(200), true);
        let mut other = Lateness::default();
        other.note(Duration::from_millis(4), true);
        one.add(other);
        assert_eq!((one.waited, one.own, one.free, one.longest), (1, 1, 2, Duration::from_millis(4)));
        assert_eq!(one.mean(), Duration::from_micros(2_100));
    }

    #[test]
    fn failures_of_any_number_of_kinds_take_little_memory() {
        let mut tally = Tally::default();
        (0..1000).for_each(|code| tally.note(Err(Failure::Fault(format!("C{code}").into()).into())));
        assert_eq!((tally.failures.len(), tally.failed()), (MAX_FAILURES + 1, 1000));
        assert_eq!(tally.failures[&Failure::Other].count, 1000 - MAX_FAILURES as u64);
    }
}
