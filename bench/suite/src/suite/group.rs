//! Rows that are measured together.

use std::time::Duration;

use anyhow::{Context, Result};

use super::definition::Scope;
use super::not_measured::NotMeasured;
use super::row::Row;
use super::toolkits::Opened;
use crate::engine::Session;
use crate::measure::{Bounds, Figures, SampleSize, measure_each};

/// The duration of measurements.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Runs and time of a session.
    pub sample_size: SampleSize,
    /// Time limits of a session.
    pub bounds: Bounds,
    /// The longest run to begin, if its duration can be predicted.
    pub longest: Duration,
    /// Time of a load.
    pub load: Duration,
    /// Maximum warm-up of a server.
    pub settle: Duration,
}

impl Effort {
    /// Returns the effort of a scope.
    pub fn for_scope(scope: Scope) -> Self {
        let millis = Duration::from_millis;
        let effort = |runs, time, (warm_up, most, longest), load, settle| Effort {
            sample_size: SampleSize { runs, time: millis(time) },
            bounds: Bounds { warm_up: millis(warm_up), runs: millis(most) },
            longest: millis(longest),
            load: millis(load),
            settle: millis(settle),
        };
        match scope {
            Scope::Full => effort(15, 100, (2000, 800, 10_000), 2000, 8000),
            Scope::Quick => effort(5, 30, (100, 200, 600), 300, 700),
            Scope::Smoke => effort(1, 0, (0, 1000, 60_000), 100, 0),
        }
    }
}

impl Effort {
    /// Returns an error if a run is expected to take too long.
    pub fn ensure_in_time(&self, expected: Option<Duration>) -> Result<(), NotMeasured> {
        match expected.filter(|&expected| expected > self.longest) {
            Some(expected) => Err(NotMeasured::too_long(expected, self.longest)),
            None => Ok(()),
        }
    }
}

/// Rows whose sessions alternate.
#[derive(Default)]
pub struct Group<'a> {
    rows: Vec<(Row, Option<NotMeasured>)>,
    sessions: Vec<Box<dyn Session + 'a>>,
}

/// The result of a group.
#[derive(Debug, Default)]
pub struct Measured {
    /// The rows, in the order in which they were added.
    pub rows: Vec<Row>,
    /// Failed toolkits, with the reasons.
    pub failed: Vec<(String, String)>,
}

impl<'a> Group<'a> {
    /// Adds a row, with a session or the reason why there is none.
    pub fn add(&mut self, row: Row, opened: Opened<'a>) {
        let not_measured = opened.map(|session| self.sessions.push(session)).err();
        self.rows.push((row, not_measured));
    }

    /// Measures all sessions alternately.
    pub fn measure(mut self, effort: Effort) -> Measured {
        let mut figures = measure_each(&mut self.sessions, effort.sample_size, effort.bounds).into_iter();
        let mut measured = Measured::default();
        for (row, not_measured) in self.rows {
            let outcome = not_measured.map_or_else(|| next(&mut figures), Err);
            if let Err(NotMeasured::Failed(reason)) = &outcome {
                measured.failed.push((row.engine.clone(), reason.clone()));
            }
            measured.rows.push(row.with(outcome.map_err(NotMeasured::reason)));
        }
        measured
    }
}

fn next(figures: &mut impl Iterator<Item = Result<Figures>>) -> Result<Figures, NotMeasured> {
    let figures = figures.next().context("not measured");
    figures.flatten().map_err(|error| NotMeasured::failed(&error))
}

#[cfg(test)]
mod tests {
    use super::super::definition::Scope;
    use super::super::row::{Layer, Part, Subject};
    use super::*;

    #[test]
    fn failures_are_distinguished_from_missing_support() {
        let subject = Subject { row: "a", part: Part::Calls, operation: "", values: "", n: 1, similarity: None };
        let mut group = Group::default();
        group.add(subject.row("mute", Layer::Soap, "regular"), Err(NotMeasured::Absent("it has no client".to_owned())));
        group.add(subject.row("lame", Layer::Soap, "regular"), Err(NotMeasured::Failed("it ended".to_owned())));
        let Measured { rows, failed } = group.measure(Effort::for_scope(Scope::Smoke));
        assert_eq!(failed, [("lame".to_owned(), "it ended".to_owned())]);
        let reasons: Vec<_> = rows.iter().map(|row| row.reason.as_deref().unwrap()).collect();
        assert_eq!(reasons, ["it has no client", "it ended"]);
    }
}
