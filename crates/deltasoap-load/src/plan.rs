//! What a load consists of: how requests are paced, and which requests there are.

use crate::pace::Arrivals;
use crate::record::Failed;
use crate::wire::Answer;
use deltasoap_streams::prng::{SEED, SplitMix64};
use std::time::Duration;

/// An answer that takes longer than this is a failure, by default.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How many requests are sent, and when.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Number of connections; each has one request in flight.
    pub connections: usize,
    /// Number of threads of the generator, among which the connections are divided.
    pub threads: usize,
    /// Requests per second of an open loop, and their distribution; `None` for a closed loop.
    pub open: Option<(f64, Arrivals)>,
    /// Time at the beginning in which the rate of an open loop, or the number of connections of a
    /// closed one, grows to its full size.
    pub ramp: Duration,
    /// Time before the measurement, which includes the ramp's.
    pub warm_up: Duration,
    /// Time of the measurement; `None` for as long as there are requests.
    pub time: Option<Duration>,
    /// Number of measured requests; `None` for as many as the time allows.
    pub requests: Option<u64>,
    /// Time between an answer and the next request of a closed loop.
    pub think: Duration,
    /// True if each request has a connection of its own.
    pub reconnect: bool,
    /// An answer that takes longer than this is a failure.
    pub timeout: Duration,
    /// Number of failed requests after which the load ends.
    pub max_failed: Option<u64>,
    /// The seed of arrivals.
    pub seed: u64,
    /// The shortest stretch of time with statistics of its own; `None` if only the whole counts.
    pub stretch: Option<Duration>,
}

/// One connection in a closed loop for a second.
impl Default for Plan {
    fn default() -> Self {
        Plan {
            connections: 1,
            threads: 1,
            open: None,
            ramp: Duration::ZERO,
            warm_up: Duration::ZERO,
            time: Some(Duration::from_secs(1)),
            requests: None,
            think: Duration::ZERO,
            reconnect: false,
            timeout: TIMEOUT,
            max_failed: None,
            seed: SEED,
            stretch: None,
        }
    }
}

impl Plan {
    /// Returns the numbers of the connections of a thread.
    pub(crate) fn connections_of(&self, thread: usize) -> std::ops::Range<usize> {
        let (each, more) = (self.connections / self.threads, self.connections % self.threads);
        let first = thread * each + thread.min(more);
        first..first + each + usize::from(thread < more)
    }
}

/// Which request is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Its kind.
    pub kind: usize,
    /// Its number in the load, from 0; no two requests have the same.
    pub number: u64,
    /// The number of earlier requests of this kind on the same connection, plus the number of the
    /// connection: connections that take requests in this order are not all at the same one.
    pub position: usize,
}

/// The requests of a load, and the check of their answers.
pub trait Traffic: Send + Sync + 'static {
    /// Returns the number of kinds of requests; each has statistics of its own.
    fn kinds(&self) -> usize;

    /// Returns the kind of the request with a number.
    fn kind(&self, number: u64) -> usize;

    /// Returns a request: HTTP with its head. It may be written to `buffer`, which is empty and keeps
    /// its memory from request to request of a connection.
    fn request<'a>(&'a self, turn: Turn, buffer: &'a mut Vec<u8>) -> &'a [u8];

    /// Checks an answer.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, turn: Turn, answer: &Answer<'_>) -> Result<(), Failed>;
}

/// Draws kinds at random by their weights. The same number draws the same kind, whichever
/// connection asks.
#[derive(Debug, Clone)]
pub struct Shares {
    /// Sums of the weights up to each kind.
    sums: Vec<f64>,
    seed: u64,
}

impl Shares {
    /// Creates the shares of kinds with these weights, which are positive.
    pub fn new(weights: impl IntoIterator<Item = f64>, seed: u64) -> Self {
        let add = |sum: &mut f64, weight: f64| {
            *sum += weight;
            Some(*sum)
        };
        Shares { sums: weights.into_iter().scan(0.0, add).collect(), seed }
    }

    /// Returns the kind of the request with a number.
    pub fn draw(&self, number: u64) -> usize {
        let [.., whole] = self.sums[..] else { return 0 };
        if self.sums.len() == 1 {
            return 0;
        }
        let drawn = SplitMix64::stream(self.seed, number).uniform() * whole;
        self.sums.partition_point(|sum| *sum <= drawn).min(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_belongs_to_one_thread() {
        let plan = Plan { connections: 11, threads: 3, ..Plan::default() };
        let all: Vec<usize> = (0..3).flat_map(|thread| plan.connections_of(thread)).collect();
        assert_eq!(all, (0..11).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_are_drawn_by_weight() {
        let shares = Shares::new([3.0, 1.0], SEED);
        let first = (0..10_000).filter(|number| shares.draw(*number) == 0).count();
        assert!((7_300..7_700).contains(&first), "{first}");
        assert!((0..100).all(|number| shares.draw(number) == Shares::new([6.0, 2.0], SEED).draw(number)));
        assert_eq!(Shares::new([2.0], 1).draw(7), 0);
    }
}
