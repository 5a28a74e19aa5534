//! Timing: sessions alternate in rounds, and the median of all their runs counts.
//!
//! No machine stays equally fast for long. So compared engines run one after the other in short
//! batches, round after round, and a disturbance of one affects the others too. The first run of a
//! batch finds the caches full of another engine's data, and is not counted.

use std::time::{Duration, Instant};

use anyhow::Result;
use deltasoap::engine::DifferentialStats;
use deltasoap::engine::encode::differential::EncodeStats;
use deltasoap_streams::statistics::median;

use crate::engine::Session;
use crate::statistics::{Interval, median_interval};

/// The extent of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct SampleSize {
    /// Minimum number of runs of each session.
    pub runs: usize,
    /// Minimum total time of each session's runs (unless [`MAX_RUNS`] are reached).
    pub time: Duration,
}

/// Number of batches of each session.
pub const ROUNDS: usize = 5;

/// Maximum number of runs of a session; enough for the median of the smallest messages.
const MAX_RUNS: usize = 100_000;

/// The result of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Size of the message in bytes.
    pub bytes: usize,
    /// Number of runs that count.
    pub runs: usize,
    /// The fastest run, in nanoseconds per message.
    pub ns_min: u64,
    /// The median of the runs, in nanoseconds per message.
    pub ns_median: u64,
    /// The distance of the quartiles of the runs, as a fraction of the median.
    pub spread: f64,
    /// The median in nanoseconds, with its 95 percent confidence interval.
    pub interval: Interval,
    /// See [`Session::peak_bytes`].
    pub peak_bytes: u64,
    /// See [`Session::differential`].
    pub differential: Option<DifferentialStats>,
    /// See [`Session::templates`].
    pub templates: Option<EncodeStats>,
}

/// Checks and times sessions; `tick` is called [`ROUNDS`] times.
///
/// # Errors
/// When a session fails or is wrong, before or after the runs.
pub fn measure(
    sessions: &mut [Box<dyn Session + '_>],
    sample_size: SampleSize,
    tick: impl FnMut(),
) -> Result<Vec<Figures>> {
    rounds(sessions, sample_size, Bounds::NONE, tick).into_iter().collect()
}

/// Time limits of a session, in addition to [`SampleSize`].
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Limit of its [warm-up](warm_up).
    pub warm_up: Duration,
    /// Limit of the runs that count: a session that exceeds it skips the remaining rounds.
    pub runs: Duration,
}

impl Bounds {
    /// No warm-up, and no limit.
    pub const NONE: Bounds = Bounds { warm_up: Duration::ZERO, runs: Duration::MAX };

    /// Returns the maximum number of runs of a batch if one takes `ns` nanoseconds, so that rounds
    /// do not take much longer than allowed.
    fn batch(&self, ns: u64) -> usize {
        let fitting = self.runs.as_nanos() / ROUNDS as u128 / u128::from(ns.max(1));
        usize::try_from(fitting).unwrap_or(MAX_RUNS).max(1)
    }
}

/// Like [`measure`], but a session that fails or is wrong spoils only its own figures, and each is
/// warmed up before its runs count.
pub fn measure_each(
    sessions: &mut [Box<dyn Session + '_>],
    sample_size: SampleSize,
    bounds: Bounds,
) -> Vec<Result<Figures>> {
    rounds(sessions, sample_size, bounds, || ())
}

fn rounds(
    sessions: &mut [Box<dyn Session + '_>],
    sample_size: SampleSize,
    bounds: Bounds,
    mut tick: impl FnMut(),
) -> Vec<Result<Figures>> {
    let open = |session| Turns::open(session, sample_size, bounds);
    let mut all: Vec<Result<Turns<'_, '_>>> = sessions.iter_mut().map(open).collect();
    for _ in 0..ROUNDS {
        for turns in &mut all {
            let error = turns.as_mut().ok().and_then(|turns| turns.take().err());
            if let Some(error) = error {
                *turns = Err(error);
            }
        }
        tick();
    }
    all.into_iter().map(|turns| turns.and_then(|turns| conclude(&mut **turns.session, turns.times))).collect()
}

/// A session that alternates with others.
struct Turns<'s, 'a> {
    session: &'s mut Box<dyn Session + 'a>,
    batch: usize,
    times: Vec<u64>,
    left: Duration,
}

impl<'s, 'a> Turns<'s, 'a> {
    fn open(session: &'s mut Box<dyn Session + 'a>, sample_size: SampleSize, bounds: Bounds) -> Result<Self> {
        let first = session.run(1)?;
        session.check()?;
        // A run that takes this long is the only one.
        if Duration::from_nanos(first[0]) >= bounds.runs {
            return Ok(Turns { session, batch: 1, times: first, left: Duration::ZERO });
        }
        warm_up(&mut **session, bounds.warm_up)?;
        let ns = session.run(1)?[0];
        Ok(Turns { session, batch: sample_size.batch(ns).min(bounds.batch(ns)), times: Vec::new(), left: bounds.runs })
    }

    fn take(&mut self) -> Result<()> {
        if self.left.is_zero() {
            return Ok(());
        }
        let begin = Instant::now();
        self.times.extend_from_slice(&self.session.run(self.batch + 1)?[1..]);
        self.left = self.left.saturating_sub(begin.elapsed());
        Ok(())
    }
}

/// Number of batches of a warm-up within its limit.
const WARM_UP_BATCHES: u32 = 48;
/// Number of consecutive batches whose medians must be close.
const ALIKE: usize = 3;
/// Maximum distance of these medians, relative to the smallest.
const TOLERANCE: f64 = 0.05;

/// Runs a session until its time is stable: the medians of three consecutive batches are within
/// five percent. JIT-compiled programs need seconds, others get there at once; an engine may set
/// its own time ([`Session::warm`]). `limit` is the maximum duration; zero for no warm-up.
///
/// # Errors
/// When a run fails.
pub fn warm_up(session: &mut dyn Session, limit: Duration) -> Result<()> {
    let (begin, mut medians) = (Instant::now(), Vec::new());
    let sample_size = SampleSize { runs: 1, time: limit / WARM_UP_BATCHES * ROUNDS as u32 };
    while begin.elapsed() < limit && (begin.elapsed() < session.warm() || !has_settled(&medians)) {
        let batch = sample_size.batch(medians.last().map_or(u64::MAX, |ns| *ns as u64));
        medians.extend(median(session.run(batch)?.into_iter().map(|ns| ns as f64)));
    }
    Ok(())
}

fn has_settled(medians: &[f64]) -> bool {
    let Some(last) = medians.len().checked_sub(ALIKE).map(|first| &medians[first..]) else { return false };
    let (low, high) = last.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &ns| (low.min(ns), high.max(ns)));
    high - low <= low * TOLERANCE
}

impl SampleSize {
    /// Returns the runs in each of the [`ROUNDS`] if one takes `ns` nanoseconds.
    fn batch(&self, ns: u64) -> usize {
        let fitting = self.time.as_nanos() / u128::from(ns.max(1));
        let fitting = usize::try_from(fitting).unwrap_or(MAX_RUNS).min(MAX_RUNS);
        self.runs.max(fitting).div_ceil(ROUNDS).max(1)
    }
}

fn conclude(session: &mut dyn Session, mut times: Vec<u64>) -> Result<Figures> {
    let (differential, templates) = (session.differential(), session.templates());
    session.check()?;
    times.sort_unstable();
    let messages = session.messages_per_run() as u64;
    let interval = median_interval(&times.iter().map(|ns| *ns as f64 / messages as f64).collect::<Vec<_>>())?;
    times.iter_mut().for_each(|ns| *ns /= messages);
    Ok(Figures {
        bytes: session.bytes(),
        runs: times.len(),
        ns_min: times[0],
        ns_median: interval.median as u64,
        spread: (times[times.len() * 3 / 4] - times[times.len() / 4]) as f64 / interval.median.max(1.0),
        interval,
        peak_bytes: session.peak_bytes()?,
        differential,
        templates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::ensure;

    #[test]
    fn batches_cover_runs_and_time() {
        let sample_size = SampleSize { runs: 15, time: Duration::from_millis(100) };
        assert_eq!(sample_size.batch(50_000_000), 3);
        assert_eq!(sample_size.batch(1_000_000), 20);
        assert_eq!(sample_size.batch(0), MAX_RUNS / ROUNDS);
        assert_eq!(SampleSize { runs: 1, time: Duration::ZERO }.batch(1), 1);
    }

    /// Runs that take 1000, 1, 2, 3, ... nanoseconds in each batch, and fail the `bad`-th check.
    #[derive(Default)]
    struct Fake {
        checks: usize,
        bad: usize,
        warm: Duration,
    }

    impl Session for Fake {
        fn bytes(&self) -> usize {
            10
        }

        fn run(&mut self, count: usize) -> Result<Vec<u64>> {
            Ok((0..count as u64).map(|run| if run == 0 { 1000 } else { run }).collect())
        }

        fn warm(&self) -> Duration {
            self.warm
        }

        fn check(&mut self) -> Result<()> {
            self.checks += 1;
            ensure!(self.checks != self.bad, "wrong");
            Ok(())
        }

        fn peak_bytes(&mut self) -> Result<u64> {
            Ok(3)
        }
    }

    fn measure_fake(bad: usize) -> Result<(Vec<Figures>, usize)> {
        let (sample_size, mut ticks) = (SampleSize { runs: 15, time: Duration::ZERO }, 0);
        let figures = measure(&mut [Box::new(Fake { bad, ..Fake::default() })], sample_size, || ticks += 1)?;
        Ok((figures, ticks))
    }

    #[test]
    fn the_first_run_of_a_batch_does_not_count() {
        let (figures, ticks) = measure_fake(0).unwrap();
        assert_eq!(ticks, ROUNDS);
        let expected = Figures {
            bytes: 10,
            runs: 15,
            ns_min: 1,
            ns_median: 2,
            spread: 1.0,
            interval: Interval { low: 1.0, median: 2.0, high: 3.0 },
            peak_bytes: 3,
            differential: None,
            templates: None,
        };
        assert_eq!(figures, [expected]);
    }

    #[test]
    fn a_session_that_is_wrong_leaves_the_others_alone() {
        let sample_size = SampleSize { runs: 15, time: Duration::ZERO };
        let fake = |bad| -> Box<dyn Session> { Box::new(Fake { bad, ..Fake::default() }) };
        let bounds = Bounds { warm_up: Duration::ZERO, runs: Duration::from_secs(60) };
        let figures = measure_each(&mut [fake(1), fake(0), fake(2)], sample_size, bounds);
        assert!(figures[0].is_err() && figures[2].is_err());
        assert_eq!(figures[1].as_ref().unwrap(), &measure_fake(0).unwrap().0[0]);
    }

    #[test]
    fn a_slow_session_sits_out_rounds() {
        let sample_size = SampleSize { runs: 15, time: Duration::ZERO };
        let runs = |nanoseconds| {
            let bounds = Bounds { warm_up: Duration::ZERO, runs: Duration::from_nanos(nanoseconds) };
            measure_each(&mut [Box::new(Fake::default())], sample_size, bounds)[0].as_ref().unwrap().runs
        };
        // The first run, alone in its batch, takes 1000 nanoseconds.
        assert_eq!(runs(1000), 1);
        assert_eq!(runs(60_000_000_000), 15);
    }

    #[test]
    fn a_warm_up_ends_when_times_are_alike() {
        assert!(!has_settled(&[100.0, 100.0]) && has_settled(&[900.0, 100.0, 102.0, 105.0]));
        assert!(!has_settled(&[100.0, 100.0, 200.0]) && !has_settled(&[100.0, 100.0, 106.0]));
        let mut session = Fake::default();
        warm_up(&mut session, Duration::from_secs(60)).unwrap();
        warm_up(&mut session, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_requested_warm_up_happens_within_the_limit() {
        let time = |warm, limit| {
            let begin = Instant::now();
            warm_up(&mut Fake { warm: Duration::from_millis(warm), ..Fake::default() }, Duration::from_millis(limit))
                .unwrap();
            begin.elapsed().as_millis() as u64
        };
        assert!(time(60, 60_000) >= 60);
        assert!(time(60_000, 60) < 60_000);
    }

    #[test]
    fn a_wrong_result_is_an_error_before_and_after_the_runs() {
        assert!(measure_fake(1).is_err());
        assert!(measure_fake(2).is_err());
        assert!(measure_fake(3).is_ok());
    }
}
