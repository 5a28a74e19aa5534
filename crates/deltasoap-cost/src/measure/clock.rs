//! Clocks: this thread's processor time, wall time, and the processor time of all programs.

use deltasoap_streams::statistics::median;
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, Instant};

/// Times of one message in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Processor time in user and system mode; `None` if unknown.
    pub cpu: Option<f64>,
    /// Wall time.
    pub elapsed: f64,
}

impl Times {
    /// Returns the cost: processor time if known. The rest of the elapsed time is waiting.
    pub fn cost(self) -> f64 {
        self.cpu.unwrap_or(self.elapsed)
    }

    /// Returns the median of each clock; zero for an empty list.
    #[must_use]
    pub(super) fn median(all: &[Times]) -> Times {
        let cpu = median(all.iter().filter_map(|times| times.cpu));
        Times { cpu, elapsed: median(all.iter().map(|times| times.elapsed)).unwrap_or_default() }
    }

    /// Returns the smallest credible time of each clock; zero for an empty list.
    ///
    /// Disturbances make a measurement longer, so the smallest time is that of the work itself. But
    /// now and then a clock steps, so two filters apply. If there are times for which both clocks
    /// agree that the thread had a processor nearly all of the time, only these count. Times are
    /// dropped as glitches if they are at most a third of all and lie below a wide gap. A gap is
    /// wide if it exceeds both three times the distance from the smallest to the median of the
    /// times above it, and a tenth of this median. So similar times prove that those below them are
    /// glitches. On a busy machine times are scattered, prove nothing, and the smallest counts. Of
    /// two times neither is a glitch.
    #[must_use]
    pub fn least(all: &[Times]) -> Times {
        let agreeing: Vec<Times> = all.iter().copied().filter(Times::agree).collect();
        let mut believed = if agreeing.is_empty() { all.to_vec() } else { agreeing };
        believed.sort_by(|one, other| one.cost().total_cmp(&other.cost()));
        let costs: Vec<f64> = believed.iter().map(|times| times.cost()).collect();
        believed.drain(..glitches(&costs));
        let least = |times: &mut dyn Iterator<Item = f64>| times.reduce(f64::min);
        let cpu = least(&mut believed.iter().filter_map(|times| times.cpu));
        Times { cpu, elapsed: least(&mut believed.iter().map(|times| times.elapsed)).unwrap_or_default() }
    }

    /// Returns these times minus those of an included part.
    #[must_use]
    pub(super) fn without(self, part: Times) -> Times {
        let less = |all: f64, part: f64| (all - part).max(0.0);
        let cpu = self.cpu.map(|cpu| less(cpu, part.cpu.unwrap_or_default()));
        Times { cpu, elapsed: less(self.elapsed, part.elapsed) }
    }

    /// Returns true if the thread had a processor nearly all of the time, or if processor time is
    /// unknown.
    fn agree(&self) -> bool {
        self.cpu.is_none_or(|cpu| cpu >= BUSY * self.elapsed)
    }
}

/// Minimum fraction of elapsed time that a thread that did not wait has a processor.
const BUSY: f64 = 0.75;
/// At most one in this many times is a glitch.
const SOUND: usize = 3;
/// Glitches lie below a gap of at least this many times the width of the lower half of the times
/// above it.
const WIDE: f64 = 3.0;
/// Minimum relative error of a glitch: times of the same work differ by less.
const GLITCH: f64 = 0.1;

/// Returns the number of costs, in ascending order, that are too low to be credible. See
/// [`Times::least`].
fn glitches(costs: &[f64]) -> usize {
    let is_gap = |&at: &usize| {
        let gap = costs[at] - costs[at - 1];
        let is_wide = |median: f64| gap > (WIDE * (median - costs[at])).max(GLITCH * median);
        median(costs[at..].iter().copied()).is_some_and(is_wide)
    };
    (1..=costs.len() / SOUND).rev().find(is_gap).unwrap_or_default()
}

/// Both clocks, started together.
#[derive(Debug)]
pub struct Clock {
    cpu: Duration,
    wall: Instant,
}

impl Clock {
    /// Starts both clocks.
    pub fn start() -> Self {
        Clock { cpu: thread_time(), wall: Instant::now() }
    }

    /// Returns the elapsed times for each of `count` messages.
    pub fn stop(self, count: usize) -> Times {
        let (elapsed, cpu) = (self.wall.elapsed(), thread_time().saturating_sub(self.cpu));
        let each = |time: Duration| time.as_nanos() as f64 / count.max(1) as f64;
        Times { cpu: Some(each(cpu)), elapsed: each(elapsed) }
    }

    /// Returns the overhead of the clocks, which all times include: the smallest of some empty
    /// measurements. Reading processor time is a system call that takes a fifth of the time to send
    /// a short message.
    pub(super) fn overhead() -> Times {
        Times::least(&(0..EMPTY).map(|_| Clock::start().stop(1)).collect::<Vec<_>>())
    }
}

/// Number of empty measurements that determine the overhead of the clocks.
const EMPTY: usize = 30;

/// Returns the processor time of this thread.
fn thread_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

/// Returns the processor time of all threads of this process.
pub fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

/// Measures the load of other programs during a measurement.
#[derive(Debug)]
pub struct LoadMonitor {
    begin: Instant,
    machine: Option<Duration>,
    own: Duration,
}

impl LoadMonitor {
    /// Starts watching. `own` is the processor time, so far, of everything that belongs to the
    /// measurement; [`process_time`] is that of this process.
    pub fn start(own: Duration) -> Self {
        LoadMonitor { begin: Instant::now(), machine: machine_time(), own }
    }

    /// Returns the average number of processors that others kept busy since [`Self::start`]. `own`
    /// is the current value of what [`Self::start`] was given. Returns `None` if the system does
    /// not report it, or the time is too short for the system's clock.
    pub fn processors(&self, own: Duration) -> Option<f64> {
        let elapsed = self.begin.elapsed();
        let all = machine_time()?.saturating_sub(self.machine?);
        let others = all.saturating_sub(own.saturating_sub(self.own));
        (elapsed >= MIN_DURATION).then(|| others.as_secs_f64() / elapsed.as_secs_f64())
    }
}

/// Minimum time for a valid result: system ticks are ten milliseconds, for each processor.
const MIN_DURATION: Duration = Duration::from_millis(500);
/// Maximum fraction of all processors that others may keep busy.
const QUIET: f64 = 0.1;

/// The load of other programs, where it makes measured times doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BackgroundLoad {
    /// Average number of processors that others kept busy.
    pub others: f64,
    /// Number of processors.
    pub cores: usize,
}

impl BackgroundLoad {
    /// Returns `None` if others kept less than a tenth of all processors busy, or if unknown.
    pub fn new(others: Option<f64>, cores: usize) -> Option<Self> {
        others.filter(|&others| others > QUIET * cores as f64).map(|others| BackgroundLoad { others, cores })
    }

    /// Returns a warning for a report of the times.
    pub fn warning(&self) -> String {
        format!("{self} during the measurement: times are doubtful, measure again when the machine is idle")
    }
}

impl fmt::Display for BackgroundLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "other programs kept {:.2} of {} processors busy", self.others, self.cores)
    }
}

/// Returns the total time that the processors of this machine were busy with any program; `None` if
/// the system does not report it.
fn machine_time() -> Option<Duration> {
    let ticks = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Returns the processor time of another process; `None` if the system does not report it.
pub(super) fn time_of_process(id: u32) -> Option<Duration> {
    let ticks = process_ticks(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Returns the ticks in user and system mode from the text of `/proc/PID/stat`. The program's name,
/// in parentheses, may contain anything.
fn process_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).map(|number| number.parse::<u64>().ok());
    Some(fields.next()?? + fields.next()??)
}

/// Returns the ticks of all processors from the text of `/proc/stat`: user, nice, system,
/// interrupts, and time stolen by other virtual machines.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    // The fourth and fifth are idle time; those after the eighth are already included in the first
    // two.
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
    use deltasoap_streams::prng::SplitMix64;

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
        let own = LoadMonitor {
            begin: Instant::now() - Duration::from_secs(1),
            machine: machine_time(),
            own: process_time(),
        };
        let all = LoadMonitor { machine: own.machine.map(|it| it.saturating_sub(Duration::from_secs(2))), ..own };
        let processors = all.processors(process_time()).expect("known");
        assert!((1.9..2.5).contains(&processors), "{processors}");
        assert!(LoadMonitor::start(process_time()).processors(process_time()).is_none(), "too short");
        assert_eq!(BackgroundLoad::new(Some(0.7), 8), None);
        assert!(BackgroundLoad::new(None, 8).is_none());
        let warning = BackgroundLoad::new(Some(0.9), 8).map(|busy| busy.warning()).expect("busy");
        assert!(
            warning.starts_with("other programs kept 0.90 of 8 processors busy during the measurement: times"),
            "{warning}"
        );
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
    }

    /// The thread clock steps, the wall clock does not.
    #[test]
    fn a_time_that_one_clock_alone_has_is_not_believed() {
        for glitch in [0.0, 9.4, 18.0] {
            let all = [(33.0, 33.1), (glitch, 27.5), (27.2, 27.1), (90.0, 200.0)];
            let all = all.map(|(cpu, elapsed)| Times { cpu: Some(cpu), elapsed });
            for count in 3..=all.len() {
                assert_eq!(Times::least(&all[..count]), all[2], "{glitch} of {count}");
            }
        }
        // All times of a thread that always waits are of this kind.
        let waiting = [Times { cpu: Some(3.0), elapsed: 9.0 }, Times { cpu: Some(2.0), elapsed: 10.0 }];
        assert_eq!(Times::least(&waiting), Times { cpu: Some(2.0), elapsed: 9.0 });
    }

    #[test]
    fn a_time_far_below_all_others_is_not_believed() {
        let least = |cpus: &[f64]| {
            let all: Vec<_> = cpus.iter().map(|&cpu| Times { cpu: Some(cpu), elapsed: cpu }).collect();
            Times::least(&all).cpu.expect("known")
        };
        assert_eq!(least(&[27.0, 27.2, 9.4, 28.0]), 27.0);
        assert_eq!(least(&[27.0, 13.0, 27.2, 9.4, 28.0, 31.0]), 27.0, "two of them");
        assert_eq!(least(&[5298.0, 11968.0, 9033.0, 8122.0, 9263.0]), 5298.0, "the others were disturbed");
        assert_eq!(least(&[9.4, 27.0, 27.2]), 27.0, "one of three");
        assert_eq!(least(&[9.4, 27.0]), 9.4, "of two nobody knows which is right");
        assert_eq!(least(&[27.0, 25.0, 27.2]), 25.0, "times differ by as much");
    }

    /// Batches of some visits, three each, with a true cost of 27: most are a little longer, every
    /// sixth is much longer.
    fn visits(count: usize, random: &mut SplitMix64) -> Vec<Times> {
        let mut uniform = || f64::from(random.below(1 << 20)) / f64::from(1 << 20);
        let cost = |at: usize| 27.0 * (1.0 + 0.03 * uniform() + if at % 6 == 5 { 0.2 + uniform() } else { 0.0 });
        (0..3 * count).map(cost).map(|cpu| Times { cpu: Some(cpu), elapsed: cpu * 1.01 }).collect()
    }

    /// Holds for any number of visits, and whether both clocks have the glitch or only the thread
    /// clock.
    #[test]
    fn glitches_are_not_the_cost() {
        let mut random = SplitMix64::new(3);
        for (count, glitches) in [(1, 1), (2, 2), (3, 3), (12, 1), (12, 3), (12, 9)] {
            for part in [0.0, 0.3, 0.5, 0.6, 0.7, 0.76, 0.85, 1.5, 4.0] {
                for has_both in [true, false] {
                    let mut all = visits(count, &mut random);
                    for glitch in 0..glitches {
                        let at = glitch * all.len() / glitches;
                        let Times { cpu, elapsed } = all[at];
                        let part = part * (1.0 - 0.02 * glitch as f64);
                        let elapsed = if has_both || part > 1.0 { elapsed * part } else { elapsed };
                        all[at] = Times { cpu: cpu.map(|cpu| cpu * part), elapsed };
                    }
                    let cost = Times::least(&all).cost();
                    let case = format!("{glitches} of {part} among {count} visits: {cost}");
                    assert!((26.99..28.5).contains(&cost), "{case} {all:?}");
                }
            }
        }
    }

    /// Where other programs make most times longer, by varying amounts, the smallest are not
    /// glitches.
    #[test]
    fn what_is_left_of_a_disturbed_machine_is_the_cost() {
        let mut random = SplitMix64::new(5);
        for clean in [4, 8, 12, 20] {
            let mut uniform = || f64::from(random.below(1 << 20)) / f64::from(1 << 20);
            let cost = |at: usize| 27.0 * (1.0 + 0.02 * uniform() + if at < clean { 0.0 } else { 0.1 + uniform() });
            let all: Vec<_> = (0..36).map(cost).map(|cpu| Times { cpu: Some(cpu), elapsed: cpu }).collect();
            assert!(Times::least(&all).cost() < 27.6, "{clean}: {all:?}");
        }
    }

    /// The clocks are read for each message sent, which costs a large part of a short message.
    #[test]
    fn reading_the_clocks_is_not_in_the_times() {
        let overhead = Clock::overhead();
        assert!(overhead.cpu.is_some_and(|cpu| cpu > 0.0), "{overhead:?}");
        let times = |cpu, elapsed| Times { cpu, elapsed };
        assert_eq!(times(Some(9.0), 8.0).without(times(Some(2.0), 1.0)), times(Some(7.0), 7.0));
        assert_eq!(times(None, 8.0).without(times(Some(2.0), 9.0)), times(None, 0.0));
    }

    #[test]
    fn the_least_is_of_each_clock() {
        let times = |cpu, elapsed| Times { cpu, elapsed };
        assert_eq!(Times::least(&[times(Some(4.5), 5.0), times(Some(4.8), 4.0)]), times(Some(4.5), 4.0));
        assert_eq!(Times::least(&[times(None, 5.0), times(Some(5.5), 6.0)]), times(Some(5.5), 5.0));
        assert_eq!(Times::least(&[]), times(None, 0.0));
    }
}
