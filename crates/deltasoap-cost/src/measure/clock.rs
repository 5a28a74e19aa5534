//! Two clocks: of this thread on a processor, and of the wall. And what all programs together have
//! spent on processors.

use super::interval::middle;
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
        let cpu = median(all.iter().filter_map(|times| times.cpu));
        Times { cpu, elapsed: median(all.iter().map(|times| times.elapsed)).unwrap_or_default() }
    }

    /// The least of each clock, of those times that can be believed; no time at all of none.
    ///
    /// What disturbs a measurement makes it longer, so the least is the time of the work itself.
    /// But now and then a clock steps. So times count only where both clocks agree that the thread
    /// had a processor nearly all of the time, if there are such times; and not where they are up
    /// to a third of all and lie below a wide gap. A gap is wide if it is more than three times as
    /// wide as the times above it need to get from their least to their median, and more than a
    /// tenth of this median. So times that are alike show that the ones below them are glitches;
    /// where a busy machine has scattered them, they show nothing, and the least counts. Of two
    /// times neither is a glitch.
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

    /// These times without those of something that is in them.
    #[must_use]
    pub(super) fn without(self, part: Times) -> Times {
        let less = |all: f64, part: f64| (all - part).max(0.0);
        let cpu = self.cpu.map(|cpu| less(cpu, part.cpu.unwrap_or_default()));
        Times { cpu, elapsed: less(self.elapsed, part.elapsed) }
    }

    /// True if the thread had a processor nearly all of the time; also where processor time is not
    /// known.
    fn agree(&self) -> bool {
        self.cpu.is_none_or(|cpu| cpu >= BUSY * self.elapsed)
    }
}

/// The part of elapsed time that a thread at least had a processor that did not wait.
const BUSY: f64 = 0.75;
/// At most one of so many times is a glitch.
const SOUND: usize = 3;
/// A gap below which there are glitches is so many times as wide as the lower half of what is above
/// it.
const WIDE: f64 = 3.0;
/// The part of a time that a glitch is too short by, at least: times of the same work differ by
/// less.
const GLITCH: f64 = 0.1;

/// How many of these costs, in their order, are too low to be believed. See [`Times::least`].
fn glitches(costs: &[f64]) -> usize {
    let is_gap = |&at: &usize| {
        let (gap, median) = (costs[at] - costs[at - 1], middle(&costs[at..]));
        gap > (WIDE * (median - costs[at])).max(GLITCH * median)
    };
    (1..=costs.len() / SOUND).rev().find(is_gap).unwrap_or_default()
}

/// The median, of two in the middle the lower one; `None` of none.
pub fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
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

    /// What the clocks themselves take, which is in all times: the least of some times of nothing.
    /// That of processor time is a call of the system, a fifth of what it takes to send a short
    /// message.
    pub(super) fn overhead() -> Times {
        Times::least(&(0..EMPTY).map(|_| Clock::start().stop(1)).collect::<Vec<_>>())
    }
}

/// Times of nothing that tell what clocks take.
const EMPTY: usize = 30;

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
    /// Begins to watch. `own` is the processor time, so far, of everything that belongs to the
    /// measurement; [`process_time`] is that of this process.
    pub fn watch(own: Duration) -> Self {
        Others { begin: Instant::now(), machine: machine_time(), own }
    }

    /// Processors that others kept busy since, on average, where `own` is now what [`Self::watch`]
    /// was given then. `None` where the system does not say, and for times that its clock is too
    /// coarse for.
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

/// Time that all processors of this machine together were busy, with whatever program; `None` where
/// the system does not say.
fn machine_time() -> Option<Duration> {
    let ticks = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Time that another process has spent on processors; `None` where the system does not say.
pub(super) fn time_of_process(id: u32) -> Option<Duration> {
    let ticks = process_ticks(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

/// Ticks in user and system mode in the text of `/proc/PID/stat`. The program's name, in
/// parentheses, may hold anything.
fn process_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11).map(|number| number.parse::<u64>().ok());
    Some(fields.next()?? + fields.next()??)
}

/// Ticks of all processors in the text of `/proc/stat`: user, nice, system, interrupts, and what
/// other virtual machines have taken.
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

    /// The thread's clock steps, that of the wall does not.
    #[test]
    fn a_time_that_one_clock_alone_has_is_not_believed() {
        for glitch in [0.0, 9.4, 18.0] {
            let all = [(33.0, 33.1), (glitch, 27.5), (27.2, 27.1), (90.0, 200.0)];
            let all = all.map(|(cpu, elapsed)| Times { cpu: Some(cpu), elapsed });
            for count in 3..=all.len() {
                assert_eq!(Times::least(&all[..count]), all[2], "{glitch} of {count}");
            }
        }
        // A thread that always waits has no other times.
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

    /// Batches of some visits, three each, whose true cost is 27: most are a little longer, every
    /// sixth is much longer.
    fn visits(count: usize, random: &mut SplitMix64) -> Vec<Times> {
        let mut uniform = || f64::from(random.below(1 << 20)) / f64::from(1 << 20);
        let cost = |at: usize| 27.0 * (1.0 + 0.03 * uniform() + if at % 6 == 5 { 0.2 + uniform() } else { 0.0 });
        (0..3 * count).map(cost).map(|cpu| Times { cpu: Some(cpu), elapsed: cpu * 1.01 }).collect()
    }

    /// However few visits there are, and whether both clocks have the glitch or that of the thread
    /// alone.
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

    /// Where other programs make most times longer, each by as much as it happens, the least are no
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

    /// The clocks are read for each message that is sent, which costs as much as a good part of a
    /// short one.
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
