//! Progress, remaining time and pauses of a long measurement.
//!
//! A measurement consists of steps, and a step of pieces. Each step has an expected duration; the
//! bar's length is the sum of them, so that the remaining time is correct for unequal steps.
//! Between pieces a measurement may pause, to be resumed later.

use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::environment::load_now;

/// A step to take.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Number of pieces left.
    pub pieces: usize,
    /// Expected seconds for these.
    pub seconds: f64,
    /// The correction factor of the expected seconds, from steps of the same kind.
    factor: f64,
}

impl Step {
    /// Creates a step from its number of pieces and expected seconds.
    pub fn new(name: impl Into<String>, pieces: usize, seconds: f64) -> Self {
        Step { name: name.into(), pieces, seconds, factor: 1.0 }
    }
}

/// A step of a measurement. An interrupted step has a note for each session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepNote {
    /// The step's name.
    pub step: String,
    /// The date, such as `2026-01-31`.
    pub date: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Load average over a minute before it.
    pub load_before: f64,
    /// Load average over a minute after it; the step itself counts as one.
    pub load_after: f64,
    /// True for the first step of a session: nothing of ours ran before it.
    #[serde(default)]
    pub is_first: bool,
    /// Expected seconds, from the duration of such steps elsewhere, if it was completed.
    #[serde(default)]
    pub expected: Option<f64>,
}

/// The time is up; the rest can be done later.
#[derive(Debug)]
pub struct Paused;

impl Error for Paused {}

impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is up; run the same command to resume")
    }
}

/// A measurement in progress.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    until: Option<Instant>,
    step: Option<(Step, Start)>,
    /// Number of finished pieces of the current step.
    pieces: Cell<usize>,
    /// Milliseconds of the finished steps.
    done: u64,
    /// True until the first step ends.
    is_first: bool,
}

/// The start of a step.
#[derive(Debug)]
struct Start {
    at: Instant,
    load: f64,
}

impl Progress {
    /// Creates a measurement with its expected seconds, and the time after which it pauses.
    pub fn new(seconds: f64, most: Option<Duration>) -> Self {
        let bar = ProgressBar::new(millis(seconds));
        // The template is a constant that the tests cover.
        bar.set_style(ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let until = most.map(|most| Instant::now() + most);
        Progress { bar, until, step: None, pieces: Cell::new(0), done: 0, is_first: true }
    }

    /// Begins a step.
    pub fn begin(&mut self, step: &Step) {
        self.bar.set_message(step.name.clone());
        if self.bar.is_hidden() {
            eprintln!("{}: {} pieces, about {}", step.name, step.pieces, duration(step.seconds));
        }
        self.pieces.set(0);
        self.step = Some((step.clone(), Start { at: Instant::now(), load: load_now() }));
    }

    /// Checks the time before the next piece of the step.
    ///
    /// # Errors
    /// [`Paused`] when the time is up.
    pub fn check_time(&self) -> Result<()> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(Paused.into()),
            _ => Ok(()),
        }
    }

    /// Marks a piece as done.
    pub fn done(&self) {
        let Some((step, _)) = &self.step else { return };
        self.pieces.set(self.pieces.get() + 1);
        self.bar.inc(millis(step.seconds) / step.pieces.max(1) as u64);
    }

    /// Ends a step; returns its note for the record.
    pub fn end(&mut self) -> Option<StepNote> {
        let (step, start) = self.step.take()?;
        self.done += millis(step.seconds);
        self.bar.set_position(self.done);
        Some(StepNote {
            is_first: std::mem::take(&mut self.is_first),
            expected: (self.pieces.get() >= step.pieces).then_some(step.seconds / step.factor),
            step: step.name,
            date: jiff::Zoned::now().date().to_string(),
            seconds: (start.at.elapsed().as_secs_f64() * 10.0).round() / 10.0,
            load_before: start.load,
            load_after: load_now(),
        })
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const TEMPLATE: &str = "{msg:40!} {bar:30} {percent} %, {eta} left";

fn millis(seconds: f64) -> u64 {
    (seconds * 1e3) as u64
}

/// Corrects the expected duration of a step by notes on completed steps of its kind: the time they
/// took divided by the time they were expected to take. Names of steps of a kind are equal up to
/// their first digit.
pub fn corrected(step: Step, notes: &[StepNote]) -> Step {
    let kind = |name: &str| name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default().to_owned();
    let known = notes.iter().filter(|note| kind(&note.step) == kind(&step.name));
    let (took, expected) = known
        .filter_map(|note| Some((note.seconds, note.expected?)))
        .fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    let factor = if took > 0.0 && expected > 0.0 { took / expected } else { 1.0 };
    Step { seconds: step.seconds * factor, factor: step.factor * factor, ..step }
}

/// Formats a duration in hours, minutes or seconds.
pub fn duration(seconds: f64) -> String {
    match seconds {
        it if it >= 5400.0 => format!("{:.1} h", seconds / 3600.0),
        it if it >= 90.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} s", seconds.ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_pauses_when_its_time_is_up() {
        let step = Step::new("a step", 2, 4.0);
        let mut progress = Progress::new(4.0, Some(Duration::from_secs(3600)));
        progress.begin(&step);
        progress.check_time().unwrap();
        progress.done();
        let note = progress.end().unwrap();
        assert!(note.step == "a step" && note.seconds < 60.0 && progress.end().is_none());
        assert_eq!((note.is_first, note.expected), (true, None));
        progress.begin(&step);
        progress.done();
        progress.done();
        let note = progress.end().unwrap();
        assert_eq!((note.is_first, note.expected), (false, Some(4.0)));
        let late = Progress::new(4.0, Some(Duration::ZERO));
        assert!(late.check_time().unwrap_err().is::<Paused>());
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn durations_of_steps_predict_those_of_later_steps() {
        let step = |name: &str| Step::new(name, 2, 4.0);
        let note = |step: &str, seconds, expected| StepNote {
            step: step.to_owned(),
            date: String::new(),
            seconds,
            load_before: 0.0,
            load_after: 0.0,
            is_first: false,
            expected,
        };
        let notes =
            [note("calls 1 of 3", 9.0, Some(3.0)), note("calls 2 of 3", 100.0, None), note("load", 1.0, Some(2.0))];
        let seconds = ["calls 3 of 3", "load", "loads", "TLS"].map(|name| corrected(step(name), &notes).seconds);
        assert_eq!(seconds, [12.0, 2.0, 4.0, 4.0]);
        // A correction does not change the recorded expectation.
        let mut progress = Progress::new(12.0, None);
        progress.begin(&corrected(step("calls 3 of 3"), &notes));
        progress.done();
        progress.done();
        assert_eq!(progress.end().unwrap().expected, Some(4.0));
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!([0.2, 89.0, 600.0, 9000.0].map(duration), ["1 s", "89 s", "10 min", "2.5 h"]);
    }
}
