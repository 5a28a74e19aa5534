//! Measures the cost of every workload for a toolkit on this machine.
//!
//! All points are visited in rounds, in a new order each time. A visit times a few batches of
//! messages, and keeps one time per batch: the mean, or the median where each message is timed
//! separately. Disturbances, such as another process or an interrupt, make a measurement longer,
//! and hit another point in the next round. So the smallest credible time ([`Times::least`]) is the
//! cost of the work itself, on a busy machine too; times too small to be credible come from clocks
//! that step. Occasional work such as garbage collection is in few batches, and so not in the cost.
//!
//! The benchmark suite has a loop of its own, for another figure: the median of single runs, which
//! contains occasional work.

mod clock;
mod engine;
mod interval;
mod peer;
mod sink;

pub use clock::{BackgroundLoad, Clock, LoadMonitor, Times, process_time};
pub use engine::{Deltasoap, Engine, Job};
pub(crate) use engine::{check_sample, is_compared};
pub use interval::Interval;
pub use peer::Peer;
pub use sink::Sink;

use crate::CostError;
use crate::calibration::{Activity, Calibration, Mode, Point};
use crate::workload::{Extent, Workload, series, shuffle};
use deltasoap_streams::prng::SplitMix64;
use std::time::{Duration, Instant};

/// Minimum duration of a batch, which makes the cost of reading the clocks negligible.
const BATCH: Duration = Duration::from_micros(300);
/// Minimum duration of a batch of sent messages, since the system's share of their time varies.
const SENT_BATCH: Duration = Duration::from_millis(1);
/// Messages that take longer run once per visit: the time is long enough, and the state of the
/// caches does not matter.
const SLOW: Duration = Duration::from_millis(5);
/// Batches per visit.
const BATCHES: usize = 3;
/// Maximum number of messages per batch.
const MAX_BATCH: f64 = 20_000.0;
/// Rounds after which JIT-compiled toolkits restart.
const RESTART_ROUNDS: u32 = 4;

/// A measurement plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasurementPlan {
    /// How similar messages are handled.
    pub mode: Mode,
    /// The measured subset of the workloads.
    pub extent: Extent,
    /// Maximum number of visits to each point.
    pub rounds: u32,
    /// Time limit: no round begins that would probably exceed it, except the first.
    pub time_limit: Option<Duration>,
}

impl Default for MeasurementPlan {
    /// Regular mode, the sample, and twelve rounds, limited to 160 seconds.
    fn default() -> Self {
        MeasurementPlan {
            mode: Mode::Regular,
            extent: Extent::Sample,
            rounds: 12,
            time_limit: Some(Duration::from_secs(160)),
        }
    }
}

/// Observes the progress of measuring.
pub trait Progress {
    /// Reports that `done` of `all` points are measured.
    fn at(&mut self, done: usize, all: usize);

    /// Called after each round, or if there is nothing to measure. The calibration can be saved,
    /// and measuring continued later.
    ///
    /// # Errors
    /// When the calibration cannot be saved. Measuring then stops.
    fn round(&mut self, calibration: &Calibration) -> Result<(), CostError>;
}

/// Measures all points of a plan, continuing after the rounds that `calibration` contains.
///
/// # Errors
/// When the toolkit or the progress observer fails.
pub fn measure(
    engine: &mut dyn Engine,
    plan: MeasurementPlan,
    mut calibration: Calibration,
    progress: &mut dyn Progress,
) -> Result<Calibration, CostError> {
    let workloads: Vec<_> =
        series(plan.mode, plan.extent).into_iter().filter(|it| engine.refuses(it).is_none()).collect();
    let all = workloads.len() * plan.rounds as usize;
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    let first = calibration.rounds;
    calibration.planned = plan.rounds;
    if first >= plan.rounds {
        // There is nothing to measure, but the planned number of rounds may have changed.
        progress.round(&calibration)?;
    }
    for round in first..plan.rounds {
        let (mut points, round_begin) = (Vec::new(), Instant::now());
        if plan.time_limit.is_some_and(|limit| !longest.is_zero() && begin.elapsed() + longest > limit) {
            break;
        }
        let others = LoadMonitor::start(engine.spent());
        if restarts(round - first) {
            engine.warm_up(&workloads)?;
        }
        for (at, index) in order(workloads.len(), round).into_iter().enumerate() {
            visit(engine, &workloads[index], plan.mode, &mut points)?;
            progress.at(round as usize * workloads.len() + at + 1, all);
        }
        calibration.merge(points);
        calibration.note_others(others.processors(engine.spent()));
        calibration.end_round(round + 1);
        progress.round(&calibration)?;
        longest = longest.max(round_begin.elapsed());
    }
    Ok(calibration)
}

/// Returns true for rounds that begin with a warm-up.
pub(crate) fn restarts(round: u32) -> bool {
    round.is_multiple_of(RESTART_ROUNDS)
}

/// Measures one workload, in all activities. In differential mode, messages without a predecessor
/// are read and written in full, as messages that cannot be compared are.
///
/// # Errors
/// When the toolkit fails.
pub fn visit(
    engine: &mut dyn Engine,
    workload: &Workload,
    mode: Mode,
    points: &mut Vec<Point>,
) -> Result<(), CostError> {
    let is_in_full = mode == Mode::Differential && !workload.is_compared();
    let is_selected = |activity: &Activity| match activity {
        Activity::Serialize => true,
        Activity::Send => !is_in_full,
        Activity::Deserialize => mode == Mode::Regular || is_in_full || !workload.is_encoded(),
    };
    for activity in Activity::ALL.into_iter().filter(is_selected) {
        let Some(mut job) = engine.prepare(workload, activity, mode)? else { continue };
        let (times, bytes) = (timed(job.as_mut(), activity)?, job.bytes());
        points.push(Point { workload: workload.clone(), activity, batches: times, bytes });
    }
    Ok(())
}

/// Returns the times of a message in the batches of a visit.
///
/// # Errors
/// When the toolkit fails.
pub fn timed(job: &mut dyn Job, activity: Activity) -> Result<Vec<Times>, CostError> {
    timed_by(job, if activity == Activity::Send { SENT_BATCH } else { BATCH })
}

fn timed_by(job: &mut dyn Job, batch: Duration) -> Result<Vec<Times>, CostError> {
    let first = job.run(1)?;
    if first.elapsed > SLOW.as_nanos() as f64 {
        return Ok(vec![first]);
    }
    job.run(1)?;
    let one = job.run(1)?.elapsed.max(1.0);
    let count = (batch.as_nanos() as f64 / one).clamp(1.0, MAX_BATCH) as usize;
    (0..BATCHES).map(|_| job.run(count)).collect()
}

/// Returns the numbers below `count` in a different order for each round.
pub(crate) fn order(count: usize, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, &mut SplitMix64::stream(deltasoap_streams::prng::SEED, u64::from(round)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Machine, Toolkit};
    use crate::predict::Sample;

    /// A toolkit that takes a microsecond per item, twice that in every fifth visit. Its thread
    /// clock steps, and shows a third of the time in every 23rd visit.
    #[derive(Default)]
    struct Known {
        visits: usize,
        warmed_with: Vec<Workload>,
        /// The number of visits before each warm-up.
        warm_ups: Vec<usize>,
    }

    struct Constant {
        cpu: f64,
        elapsed: f64,
    }

    impl Job for Constant {
        fn run(&mut self, _: usize) -> Result<Times, CostError> {
            Ok(Times { cpu: Some(self.cpu), elapsed: self.elapsed })
        }

        fn bytes(&self) -> usize {
            10
        }
    }

    impl Engine for Known {
        fn toolkit(&self) -> Toolkit {
            Toolkit { name: "known".into(), version: "1".into() }
        }

        fn refuses(&self, workload: &Workload) -> Option<String> {
            (!matches!(workload, Workload::Text { .. })).then(|| "it is no text".to_owned())
        }

        fn warm_up(&mut self, workloads: &[Workload]) -> Result<(), CostError> {
            self.warm_ups.push(self.visits);
            self.warmed_with = workloads.to_vec();
            Ok(())
        }

        fn prepare(
            &mut self,
            workload: &Workload,
            activity: Activity,
            _: Mode,
        ) -> Result<Option<Box<dyn Job + '_>>, CostError> {
            let Workload::Text { length } = workload else { return Ok(None) };
            self.visits += 1;
            let (is_slow, is_glitch) = (self.visits.is_multiple_of(5), self.visits.is_multiple_of(23));
            let time = f64::from(*length) * if is_slow { 2000.0 } else { 1000.0 };
            let cpu = if is_glitch { f64::from(*length) * 350.0 } else { time };
            let job = Constant { cpu, elapsed: time * 2.0 };
            Ok((activity == Activity::Serialize).then(|| Box::new(job) as Box<dyn Job>))
        }

        fn prepare_sample<'s>(
            &'s mut self,
            _: &'s Sample,
            _: Activity,
            _: Mode,
        ) -> Result<Option<Box<dyn Job + 's>>, CostError> {
            Ok(None)
        }
    }

    #[derive(Default)]
    struct Count {
        last: (usize, usize),
        rounds: Vec<u32>,
        planned: u32,
        stop_after: Option<u32>,
    }

    impl Progress for Count {
        fn at(&mut self, done: usize, all: usize) {
            self.last = (done, all);
        }

        fn round(&mut self, calibration: &Calibration) -> Result<(), CostError> {
            self.rounds.push(calibration.rounds);
            self.planned = calibration.planned;
            match self.stop_after == Some(calibration.rounds) {
                true => Err(CostError::Operation("stopped".into())),
                false => Ok(()),
            }
        }
    }

    fn empty() -> Calibration {
        Calibration::new(Machine::current(), Known::default().toolkit(), Mode::Regular, Extent::Few)
    }

    #[test]
    fn the_least_of_all_rounds_counts_but_no_glitch() {
        let (mut progress, plan) =
            (Count::default(), MeasurementPlan { extent: Extent::Few, ..MeasurementPlan::default() });
        let mut engine = Known::default();
        let measured = measure(&mut engine, plan, empty(), &mut progress).expect("measured");
        assert_eq!(engine.warmed_with.len(), measured.points.len(), "with everything that is measured");
        let third = engine.visits / 3;
        assert_eq!(engine.warm_ups, [0, third, 2 * third], "first of all, and two times in between");
        assert_eq!(progress.last.0, progress.last.1);
        assert_eq!(progress.rounds, (1..=12).collect::<Vec<_>>());
        assert_eq!((measured.planned, measured.unfinished()), (12, None));
        let mut glitches = 0;
        for point in &measured.points {
            let Workload::Text { length } = point.workload else { panic!("{point:?}") };
            let cost = f64::from(length) * 1000.0;
            assert_eq!(point.times().cpu, Some(cost), "{point:?}");
            // Elapsed time is twice the cost; every fifth visit takes twice as long.
            let is_slow = cost * 4.0 > SLOW.as_nanos() as f64;
            assert!(is_slow || point.batches.len() == 12 * BATCHES, "all of them are kept: {point:?}");
            glitches += point.batches.iter().filter(|times| times.cost() < cost).count();
        }
        assert!(glitches > measured.points.len() / 4, "{glitches}");
    }

    #[test]
    fn measuring_goes_on_where_it_ended() {
        let plan = MeasurementPlan { extent: Extent::Few, rounds: 4, ..MeasurementPlan::default() };
        let mut kept = empty();
        kept.rounds = 3;
        let mut progress = Count::default();
        let measured = measure(&mut Known::default(), plan, kept, &mut progress).expect("measured");
        assert_eq!((measured.rounds, progress.rounds), (4, vec![4]));
        let hurried = MeasurementPlan { time_limit: Some(Duration::ZERO), ..plan };
        let measured = measure(&mut Known::default(), hurried, empty(), &mut Count::default()).expect("measured");
        assert_eq!(measured.rounds, 1, "the first round is measured in any case");
        let text = measured.unfinished().expect("it ended early").to_string();
        assert!(text.starts_with("only 1 of 4 rounds were measured"), "{text}");
        let mut stopped = Count { stop_after: Some(2), ..Count::default() };
        assert!(measure(&mut Known::default(), plan, empty(), &mut stopped).is_err());
        assert_eq!(stopped.rounds, [1, 2]);
    }

    /// The saved calibration equals the returned one.
    #[test]
    fn fewer_rounds_than_there_are_make_an_end() {
        let plan = MeasurementPlan { extent: Extent::Few, rounds: 3, ..MeasurementPlan::default() };
        let kept = Calibration { rounds: 5, planned: 12, ..empty() };
        let mut progress = Count::default();
        let measured = measure(&mut Known::default(), plan, kept, &mut progress).expect("measured");
        assert_eq!((measured.rounds, measured.planned, measured.unfinished()), (5, 3, None));
        assert_eq!((progress.rounds, progress.planned), (vec![5], 3));
    }

    /// A message that takes a fixed time, and counts its runs.
    struct Timed {
        time: Duration,
        count: usize,
    }

    impl Job for Timed {
        fn run(&mut self, count: usize) -> Result<Times, CostError> {
            self.count += count;
            Ok(Times { cpu: None, elapsed: self.time.as_nanos() as f64 })
        }

        fn bytes(&self) -> usize {
            1
        }
    }

    #[test]
    fn batches_are_long_enough_and_slow_messages_are_done_once() {
        let count = |time, batch| {
            let mut job = Timed { time, count: 0 };
            let batches = timed_by(&mut job, batch).expect("measured").len();
            assert_eq!(batches, if job.count == 1 { 1 } else { BATCHES }, "all of them are kept");
            job.count
        };
        assert_eq!(count(Duration::from_micros(100), BATCH), 3 + BATCHES * 3);
        assert_eq!(count(Duration::from_micros(100), SENT_BATCH), 3 + BATCHES * 10);
        assert_eq!(count(Duration::from_millis(1), BATCH), 3 + BATCHES);
        assert_eq!(count(Duration::from_millis(20), BATCH), 1);
    }

    #[test]
    fn every_round_has_its_order() {
        assert_ne!(order(50, 0), order(50, 1));
        let mut sorted = order(50, 7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn our_own_toolkit_is_measured_with_everything() {
        let mut engine = Deltasoap;
        for mode in [Mode::Regular, Mode::Differential] {
            let mut points = Vec::new();
            for workload in series(mode, Extent::Few).iter().step_by(7) {
                for activity in Activity::ALL {
                    let mut job = engine.prepare(workload, activity, mode).expect("prepared").expect("offered");
                    let times = job.run(2).unwrap_or_else(|error| panic!("{mode} {activity} {workload}: {error}"));
                    points.push((times.elapsed > 0.0 && times.cpu.is_some(), job.bytes() > 100));
                }
            }
            assert!(points.len() > 30 && points.iter().all(|it| *it == (true, true)));
        }
    }
}
