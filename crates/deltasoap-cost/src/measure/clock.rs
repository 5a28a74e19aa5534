//! Two clocks: of this thread on a processor, and of the wall.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Times of one message in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// On the processor, in user and system mode; `None` if not known.
    pub cpu: Option<f64>,
    /// From beginning to end.
    pub elapsed: f64,
}

impl Times {
    /// The cost: processor time where it is known. What remains of elapsed time is waiting.
    pub fn cost(self) -> f64 {
        self.cpu.unwrap_or(self.elapsed)
    }

    /// The least of each.
    #[must_use]
    pub fn least(self, other: Times) -> Times {
        let cpu = self.cpu.zip(other.cpu).map(|(a, b)| a.min(b)).or(self.cpu).or(other.cpu);
        Times { cpu, elapsed: self.elapsed.min(other.elapsed) }
    }
}

/// Both clocks, started together.
#[derive(Debug)]
pub struct Clock {
    cpu: Duration,
    wall: Instant,
}

impl Clock {
    /// Starts.
    pub fn start() -> Self {
        Clock { cpu: thread_time(), wall: Instant::now() }
    }

    /// What has passed, for each of `count` messages.
    pub fn stop(self, count: usize) -> Times {
        let (elapsed, cpu) = (self.wall.elapsed(), thread_time().saturating_sub(self.cpu));
        let each = |time: Duration| time.as_nanos() as f64 / count.max(1) as f64;
        Times { cpu: Some(each(cpu)), elapsed: each(elapsed) }
    }
}

/// Time that this thread has spent on a processor.
fn thread_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

/// Time that all threads of this process have spent on processors.
pub fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_processor_time() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(30));
        let times = clock.stop(10);
        assert!(times.elapsed >= 3e6 && times.cpu.expect("known") < 2e6, "{times:?}");
    }

    #[test]
    fn the_least_is_kept_of_each_clock() {
        let times = |cpu, elapsed| Times { cpu, elapsed };
        assert_eq!(times(Some(1.0), 5.0).least(times(Some(2.0), 4.0)), times(Some(1.0), 4.0));
        assert_eq!(times(None, 5.0).least(times(Some(2.0), 6.0)), times(Some(2.0), 5.0));
    }
}
