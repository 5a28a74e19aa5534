//! The start times of requests.
//!
//! In a *closed loop* each connection sends its next request after the previous answer: the server
//! sets the pace. In an *open loop* requests have fixed times, like those of many independent
//! clients. A free connection takes the next request, and waits for its time. If none is free the
//! request is late, and its latency counts from its scheduled time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use deltasoap_streams::prng::{SEED, SplitMix64};

/// Distribution of the requests of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// at equal intervals
    Constant,
    /// at random, like those of many independent clients
    Poisson,
}

/// Time before a request at which the runtime's timer, with a resolution of milliseconds, is no
/// longer trusted; the rest is a busy wait.
const TIMER: Duration = Duration::from_millis(2);

/// The pace of a number of connections.
#[derive(Debug)]
pub enum Pace {
    /// Each request follows an answer.
    Closed,
    /// Each request has its own time.
    Open(Mutex<Times>),
}

impl Pace {
    /// Creates an open loop from `start` on, with `rate` requests per second.
    pub fn open(arrivals: Arrivals, rate: f64, start: Instant, stream: u64) -> Self {
        let random = SplitMix64::stream(SEED, stream);
        Pace::Open(Mutex::new(Times { arrivals, mean: 1.0 / rate, random, next: start }))
    }

    /// Waits for the start of the next request, at most until `end`; returns the time from which
    /// its latency counts.
    pub async fn next(&self, end: Instant) -> Instant {
        match self {
            Pace::Closed => Instant::now(),
            Pace::Open(times) => {
                let time = times.lock().unwrap_or_else(PoisonError::into_inner).draw();
                wait(time.min(end)).await;
                time
            }
        }
    }
}

/// The times of an open loop.
#[derive(Debug)]
pub struct Times {
    arrivals: Arrivals,
    /// Mean seconds between two requests.
    mean: f64,
    random: SplitMix64,
    next: Instant,
}

impl Times {
    fn draw(&mut self) -> Instant {
        let time = self.next;
        self.next += Duration::from_secs_f64(match self.arrivals {
            Arrivals::Constant => self.mean,
            Arrivals::Poisson => self.mean * self.random.exponential(),
        });
        time
    }
}

async fn wait(time: Instant) {
    let ahead = time.saturating_duration_since(Instant::now());
    if ahead > TIMER {
        tokio::time::sleep(ahead - TIMER).await;
    }
    while Instant::now() < time {
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, rate: f64, count: usize) -> Vec<f64> {
        let start = Instant::now();
        let Pace::Open(times) = Pace::open(arrivals, rate, start, 0) else { unreachable!("it is open") };
        let mut times = times.into_inner().unwrap();
        std::iter::repeat_with(|| (times.draw() - start).as_secs_f64()).take(count).collect()
    }

    #[test]
    fn constant_arrivals_are_equally_far_apart() {
        let times = times(Arrivals::Constant, 100.0, 5);
        assert!(times.iter().enumerate().all(|(index, time)| (time - index as f64 / 100.0).abs() < 1e-6), "{times:?}");
    }

    /// The intervals of a Poisson process are exponentially distributed: mean and standard
    /// deviation are equal.
    #[test]
    fn poisson_arrivals_are_random() {
        let times = times(Arrivals::Poisson, 100.0, 20_001);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.03, "{mean}");
        assert!((variance.sqrt() * 100.0 - 1.0).abs() < 0.05, "{variance}");
    }

    #[tokio::test]
    async fn a_request_that_is_late_keeps_its_time() {
        let start = Instant::now();
        let (pace, end) = (Pace::open(Arrivals::Constant, 1000.0, start, 0), start + Duration::from_secs(60));
        assert_eq!(pace.next(end).await, start);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(pace.next(end).await < start + Duration::from_millis(2));
        let third = pace.next(end).await;
        assert!(Instant::now() >= third);
        // There is no wait for a request that will not be sent.
        assert!(Pace::open(Arrivals::Constant, 1.0, end, 0).next(start).await == end && Instant::now() < end);
    }
}
