//! Rows that are measured together.

use anyhow::{Context, Result};

use super::bench::Effort;
use super::not_measured::NotMeasured;
use super::row::Row;
use super::toolkits::Opened;
use crate::engine::Session;
use crate::measure::{Figures, measure_each};

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
