//! The start times of requests.
//!
//! In a *closed loop* each connection sends its next request after the previous answer: the server
//! sets the pace. In an *open loop* requests have fixed times, like those of many independent
//! clients. A free connection takes the next request, and waits for its time. If none is free the
//! request is late, and its latency counts from its scheduled time.

use crate::plan::Plan;
use deltasoap_streams::prng::SplitMix64;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Distribution of the requests of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Arrivals {
    /// at equal intervals
    Constant,
    /// at random, like those of many independent clients
    Poisson,
}

/// Time before a request at which the runtime's timer, with a resolution of milliseconds, is no
/// longer trusted; the rest is a busy wait.
const TIMER: Duration = Duration::from_millis(2);

/// A part of a request that is none: numbers of requests are computed with times.
const ROUNDING: f64 = 1e-3;

/// The pace of the connections of a thread.
#[derive(Debug)]
pub enum Pace {
    /// Each request follows an answer.
    Closed,
    /// Each request has its own time.
    Open(Mutex<Times>),
}

impl Pace {
    /// Creates the pace of one of the plan's threads, from `begin` on.
    pub fn new(plan: &Plan, begin: Instant, thread: usize) -> Self {
        let Some((rate, arrivals)) = plan.open else { return Pace::Closed };
        // Equal intervals of several threads must not coincide.
        let due = if arrivals == Arrivals::Constant { thread as f64 / plan.threads as f64 } else { 0.0 };
        let random = SplitMix64::stream(plan.seed, thread as u64);
        let (rate, ramp) = (rate / plan.threads as f64, plan.ramp.as_secs_f64());
        Pace::Open(Mutex::new(Times { arrivals, rate, ramp, random, begin, due }))
    }

    /// Returns the time from which the latency of the next request counts.
    pub fn draw(&self) -> Instant {
        match self {
            Pace::Closed => Instant::now(),
            Pace::Open(times) => times.lock().unwrap_or_else(PoisonError::into_inner).draw(),
        }
    }

    /// Returns the number of requests from `start` until `end` whose times nobody has drawn. That of
    /// random arrivals is what is expected.
    pub fn undrawn(&self, start: Instant, end: Instant) -> u64 {
        match self {
            Pace::Closed => 0,
            Pace::Open(times) => times.lock().unwrap_or_else(PoisonError::into_inner).undrawn(start, end),
        }
    }

    /// Waits for the start of a request, at most until `end`. Returns true if there was time left, so
    /// that only the generator itself can be late.
    pub async fn wait(&self, begin: Instant, end: Instant) -> bool {
        match self {
            Pace::Closed => true,
            Pace::Open(_) => wait(begin.min(end)).await,
        }
    }
}

/// The times of an open loop.
#[derive(Debug)]
pub struct Times {
    arrivals: Arrivals,
    /// Requests per second after the ramp.
    rate: f64,
    /// Seconds in which the rate grows from nothing.
    ramp: f64,
    random: SplitMix64,
    begin: Instant,
    /// Number of requests that are expected before the next one.
    due: f64,
}

impl Times {
    fn draw(&mut self) -> Instant {
        let seconds = self.seconds();
        self.due += match self.arrivals {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => self.random.exponential(),
        };
        self.begin + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4)
    }

    fn undrawn(&self, start: Instant, end: Instant) -> u64 {
        let first = self.due.max(self.expected(start));
        // A negative number becomes 0.
        (self.expected(end) - first - ROUNDING).ceil() as u64
    }

    /// Returns the number of requests that are expected before a time.
    fn expected(&self, time: Instant) -> f64 {
        let seconds = time.saturating_duration_since(self.begin).as_secs_f64();
        if seconds < self.ramp {
            self.rate * seconds * seconds / (2.0 * self.ramp)
        } else {
            self.rate * (seconds - self.ramp / 2.0)
        }
    }

    /// Returns the time after which as many requests are expected as are due: in the ramp, their
    /// number grows with the square of the time.
    fn seconds(&self) -> f64 {
        let in_ramp = self.rate * self.ramp / 2.0;
        if self.due < in_ramp {
            (2.0 * self.due * self.ramp / self.rate).sqrt()
        } else {
            self.ramp + (self.due - in_ramp) / self.rate
        }
    }
}

/// Waits for a time; returns false if it has passed already.
async fn wait(time: Instant) -> bool {
    let ahead = time.saturating_duration_since(Instant::now());
    if ahead > TIMER {
        tokio::time::sleep(ahead - TIMER).await;
    }
    while Instant::now() < time {
        tokio::task::yield_now().await;
    }
    !ahead.is_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(arrivals: Arrivals, rate: f64) -> Plan {
        Plan { open: Some((rate, arrivals)), ..Plan::default() }
    }

    fn times(plan: &Plan, thread: usize, count: usize) -> Vec<f64> {
        let start = Instant::now();
        let Pace::Open(times) = Pace::new(plan, start, thread) else { unreachable!("it is open") };
        let mut times = times.into_inner().unwrap();
        std::iter::repeat_with(|| (times.draw() - start).as_secs_f64()).take(count).collect()
    }

    #[test]
    fn constant_arrivals_are_equally_far_apart() {
        let plan = open(Arrivals::Constant, 100.0);
        let all = times(&plan, 0, 5);
        assert!(all.iter().enumerate().all(|(index, time)| (time - index as f64 / 100.0).abs() < 1e-6), "{all:?}");
        // Two threads take turns.
        let second = times(&Plan { threads: 2, ..plan }, 1, 2);
        assert!((second[0] - 0.01).abs() < 1e-6 && (second[1] - 0.03).abs() < 1e-6, "{second:?}");
    }

    /// The intervals of a Poisson process are exponentially distributed: mean and standard
    /// deviation are equal.
    #[test]
    fn poisson_arrivals_are_random() {
        let times = times(&open(Arrivals::Poisson, 100.0), 0, 20_001);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.03, "{mean}");
        assert!((variance.sqrt() * 100.0 - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn a_seed_has_its_arrivals() {
        let seeded = |seed| times(&Plan { seed, ..open(Arrivals::Poisson, 100.0) }, 0, 10);
        let one = seeded(1);
        assert!(seeded(1).iter().zip(&one).all(|(again, time)| (again - time).abs() < 1e-9));
        assert!(seeded(2).iter().zip(&one).skip(1).all(|(other, time)| (other - time).abs() > 1e-9));
    }

    /// While the rate grows to 100 in 2 seconds, there are 100 requests: 25 in the first half.
    #[test]
    fn the_rate_grows() {
        let plan = Plan { ramp: Duration::from_secs(2), ..open(Arrivals::Constant, 100.0) };
        let times = times(&plan, 0, 300);
        let before = |end: f64| times.iter().filter(|time| **time < end - 1e-6).count();
        assert_eq!((before(1.0), before(2.0), before(3.0)), (25, 100, 200));
    }

    #[test]
    fn requests_that_nobody_has_drawn_are_counted() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let pace = Pace::new(&Plan { ramp: Duration::from_secs(2), ..open(Arrivals::Constant, 100.0) }, begin, 0);
        let undrawn = || [(0, 1), (0, 3), (1, 2), (3, 3)].map(|(start, end)| pace.undrawn(at(start), at(end)));
        assert_eq!(undrawn(), [25, 200, 75, 0]);
        let last = std::iter::repeat_with(|| pace.draw()).take(30).last().unwrap();
        assert!(last > begin && last < at(2));
        assert_eq!(undrawn(), [0, 170, 70, 0]);
        assert_eq!(Pace::Closed.undrawn(at(0), at(9)), 0);
    }

    #[tokio::test]
    async fn a_request_that_is_late_keeps_its_time() {
        let start = Instant::now();
        let end = start + Duration::from_secs(60);
        let pace = Pace::new(&open(Arrivals::Constant, 1000.0), start, 0);
        let first = pace.draw();
        assert!(first == start && !pace.wait(first, end).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
        let second = pace.draw();
        assert!(second < start + Duration::from_millis(2) && !pace.wait(second, end).await);
        let later = start + Duration::from_millis(40);
        assert!(pace.wait(later, end).await && Instant::now() >= later);
        // There is no wait for a request that will not be sent.
        assert!(!pace.wait(end, start).await && Instant::now() < end);
    }
}
