//! Two clocks: of this thread on a processor, and of the wall. And what all programs together have spent on processors.

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt;
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

    /// The median of each clock; no time at all of none.
    #[must_use]
    pub(super) fn median(all: &[Times]) -> Times {
        Times::of_each(all, |times| median(times.into_iter()))
    }

    /// The lower quartile of each clock, rounded up; no time at all of none.
    ///
    /// What disturbs a measurement makes it longer, so the low ones are those of the work itself. The very lowest may be a glitch of a clock:
    /// one of two to five times, up to three of ten or more, may be too short by any amount, and are not believed.
    #[must_use]
    pub fn low(all: &[Times]) -> Times {
        Times::of_each(all, |times| ranked(times, |last| last.div_ceil(4)))
    }

    fn of_each(all: &[Times], figure: impl Fn(Vec<f64>) -> Option<f64>) -> Times {
        let cpu = figure(all.iter().filter_map(|times| times.cpu).collect());
        Times { cpu, elapsed: figure(all.iter().map(|times| times.elapsed).collect()).unwrap_or_default() }
    }
}

/// The median, of two in the middle the lower one; `None` of none.
pub fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    ranked(numbers.collect(), |last| last / 2)
}

/// The number at a place of their order, which is chosen by the last place; `None` of none.
fn ranked(mut numbers: Vec<f64>, place: impl Fn(usize) -> usize) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(place(numbers.len().saturating_sub(1))).copied()
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

/// Watches how busy other programs keep the machine while something is measured.
#[derive(Debug)]
pub struct Others {
    begin: Instant,
    machine: Option<Duration>,
    own: Duration,
}

impl Others {
    /// Begins to watch. `own` is the processor time, so far, of everything that belongs to the measurement; [`process_time`] is that of
    /// this process.
    pub fn watch(own: Duration) -> Self {
        Others { begin: Instant::now(), machine: machine_time(), own }
    }

    /// Processors that others kept busy since, on average, where `own` is now what [`Self::watch`] was given then. `None` where the
    /// system does not say, and for times that its clock is too coarse for.
    pub fn processors(&self, own: Duration) -> Option<f64> {
        let elapsed = self.begin.elapsed();
        let all = machine_time()?.saturating_sub(self.machine?);
        let others = all.saturating_sub(own.saturating_sub(self.own));
        (elapsed >= SHORTEST).then(|| others.as_secs_f64() / elapsed.as_secs_f64())
    }
}

/// Ticks of the system are of ten milliseconds, for each processor.
const SHORTEST: Duration = Duration::from_millis(500);
/// The part of all processors that others may keep busy.
const QUIET: f64 = 0.1;

/// What other programs did, where it makes measured times doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Busy {
    /// Processors that others kept busy, on average.
    pub others: f64,
    /// Processors that there are.
    pub cores: usize,
}

impl Busy {
    /// `None` where others kept less than a tenth of all processors busy, or it is not known.
    pub fn new(others: Option<f64>, cores: usize) -> Option<Self> {
        others.filter(|&others| others > QUIET * cores as f64).map(|others| Busy { others, cores })
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "other programs kept {:.2} of {} processors busy", self.others, self.cores)
    }
}

/// Time that all processors of this machine together were busy, with whatever program; `None` where the system does not say.
fn machine_time() -> Option<Duration> {
    let ticks = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Time that another process has spent on processors; `None` where the system does not say.
pub(super) fn time_of_process(id: u32) -> Option<Duration> {
    let ticks = process_ticks(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Ticks in user and system mode in the text of `/proc/PID/stat`. The program's name, in parentheses, may hold anything.
fn process_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).map(|number| number.parse::<u64>().ok());
    Some(fields.next()?? + fields.next()??)
}

/// Ticks of all processors in the text of `/proc/stat`: user, nice, system, interrupts, and what other virtual machines have taken.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    // The fourth and fifth are idle time; behind the eighth is what the first two have already.
    let is_busy = |at: usize| !matches!(at, 3 | 4) && at < 8;
    Some(ticks.into_iter().enumerate().filter(|(at, _)| is_busy(*at)).map(|(_, ticks)| ticks).sum())
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
    fn the_machine_is_as_busy_as_its_processors() {
        assert_eq!(busy_ticks("cpu  1 2 4 100 200 8 16 32 64 128\ncpu0 9 9 9 9\n"), Some(1 + 2 + 4 + 8 + 16 + 32));
        assert_eq!(busy_ticks("cpu0 1 2"), None);
        assert_eq!(busy_ticks("cpu 1 x"), None);
        let (before, own) = (machine_time().expect("known"), process_time());
        while process_time() - own < Duration::from_millis(100) {}
        assert!(machine_time().expect("known") - before >= Duration::from_millis(50));
    }

    #[test]
    fn what_others_do_is_all_but_our_own() {
        let own =
            Others { begin: Instant::now() - Duration::from_secs(1), machine: machine_time(), own: process_time() };
        let all = Others { machine: own.machine.map(|it| it.saturating_sub(Duration::from_secs(2))), ..own };
        let processors = all.processors(process_time()).expect("known");
        assert!((1.9..2.5).contains(&processors), "{processors}");
        assert!(Others::watch(process_time()).processors(process_time()).is_none(), "too short");
        assert_eq!(Busy::new(Some(0.7), 8), None);
        assert!(Busy::new(Some(0.9), 8).is_some() && Busy::new(None, 8).is_none());
    }

    #[test]
    fn ticks_of_a_process_are_found_behind_its_name() {
        assert_eq!(process_ticks("7 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 13 14"), Some(42));
        assert_eq!(process_ticks("7 (a) S 1"), None);
        assert!(time_of_process(std::process::id()).is_some() && time_of_process(u32::MAX).is_none());
    }

    #[test]
    fn the_median_is_of_each_clock() {
        let times = |cpu, elapsed| Times { cpu, elapsed };
        let all =
            [times(Some(1.0), 9.0), times(None, 7.0), times(Some(5.0), 8.0), times(Some(3.0), 7.5), times(None, 9.5)];
        assert_eq!(Times::median(&all), times(Some(3.0), 8.0));
        assert_eq!(Times::median(&[]), times(None, 0.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0].into_iter()), Some(2.0));
    }

    /// However short a glitch is, and however long a disturbance.
    #[test]
    fn a_low_time_is_no_glitch() {
        let of = |cpus: &[f64]| {
            let times: Vec<_> = cpus.iter().map(|&cpu| Times { cpu: Some(cpu), elapsed: 2.0 * cpu }).collect();
            Times::low(&times)
        };
        for glitch in [0.0, 9.4, 26.0] {
            let all = [33.0, 27.2, glitch, 27.1, 90.0];
            for count in 3..=all.len() {
                let low = of(&all[..count]).cpu.expect("known");
                assert!((27.1..=27.2).contains(&low), "{low} of {count} with {glitch}");
            }
        }
        let twelve = [9.4, 0.1, 9.5, 27.0, 27.2, 27.3, 27.1, 28.0, 31.0, 35.0, 50.0, 80.0];
        assert_eq!(of(&twelve), Times { cpu: Some(27.0), elapsed: 54.0 });
        assert_eq!((of(&[5.0]).cpu, of(&[5.0, 6.0]).cpu), (Some(5.0), Some(6.0)));
    }

    #[test]
    fn clocks_are_low_each_for_itself() {
        let times = |cpu, elapsed| Times { cpu, elapsed };
        let all = [times(Some(1.0), 5.0), times(None, 6.0), times(Some(2.0), 4.0)];
        assert_eq!(Times::low(&all), times(Some(2.0), 5.0));
        assert_eq!(Times::low(&[]), times(None, 0.0));
    }
}
