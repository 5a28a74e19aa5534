//! The report of a record: one self-contained page.
//!
//! [`mod@exhibits`] are the paper's tables and figures from our data, [`claims`] the verdicts on
//! its statements, [`standings`] the winners of all rows, [`losses`] the reasons why we lose some,
//! [`tables`] show everything else, and [`page`] puts it all into HTML; [`mod@short`] tables are
//! for documents. Nothing is measured here: a report can be written again at any time.

mod claims;
mod exhibits;
mod losses;
mod page;
mod short;
mod standings;
mod tables;

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use deltasoap_report::Exhibit;

use super::definition::Definition;
use super::record::Environment;
use super::row::{Part, Row};
use losses::Losses;

/// The rows of a record, with their context.
pub struct Data<'a> {
    /// The common environment.
    pub environment: &'a Environment,
    /// The definition of the suite.
    pub definition: &'a Definition,
    rows: &'a [Row],
    /// Indices by job, toolkit and mode.
    places: HashMap<(&'a str, &'a str, &'a str), usize>,
}

impl<'a> Data<'a> {
    fn new(environment: &'a Environment, definition: &'a Definition, rows: &'a [Row]) -> Self {
        let key = |row: &'a Row| (&*row.row, &*row.engine, &*row.mode);
        let places = rows.iter().enumerate().map(|(place, row)| (key(row), place)).collect();
        Data { environment, definition, rows, places }
    }

    /// Returns the row of a toolkit in regular mode.
    pub fn of(&self, row: &str, engine: &str) -> Option<&'a Row> {
        self.in_mode(row, engine, "regular")
    }

    /// Returns the row of a toolkit in a mode.
    pub fn in_mode(&self, row: &str, engine: &str, mode: &str) -> Option<&'a Row> {
        self.places.get(&(row, engine, mode)).map(|&place| &self.rows[place])
    }

    /// Returns the milliseconds of a toolkit in regular mode; NaN if there are none.
    pub fn ms(&self, row: &str, engine: &str) -> f64 {
        self.of(row, engine).and_then(Row::ms).unwrap_or(f64::NAN)
    }

    /// Returns why the time of a row proves nothing; `None` if it is valid.
    pub fn flaw(&self, row: &Row) -> Option<&'a str> {
        self.definition.flaw(&row.engine, &row.row, &self.environment.machine.date)
    }

    /// Returns the rows of a part, in the order of the record.
    pub fn part(&self, part: Part) -> impl Iterator<Item = &'a Row> + use<'a> {
        self.rows.iter().filter(move |row| row.part == part)
    }

    /// Returns the toolkits in the order of the record.
    pub fn engines(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.environment.engines.iter().map(|engine| &*engine.name)
    }

    /// Returns true if a toolkit allocates memory in advance, so that its memory per message is not
    /// visible from outside.
    pub fn hides_memory(&self, engine: &str) -> bool {
        self.environment.engines.iter().any(|note| note.name == engine && note.hides_memory)
    }

    /// Returns the sizes in the rows of a part and an operation, ascending.
    pub fn sizes(&self, part: Part, operation: &str) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.part(part).filter(|row| row.operation == operation).map(|row| row.n).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// Our name in rows.
pub const OURS: &str = "deltasoap";

/// Writes the report of a record.
///
/// # Errors
/// When the definition of the suite is malformed, or the file cannot be written.
pub fn write(path: &Path, environment: &Environment, rows: &[Row]) -> Result<()> {
    std::fs::write(path, html(environment, rows)?).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("the report is {}", path.display());
    Ok(())
}

/// Returns the short tables of a record, in Markdown.
///
/// # Errors
/// When the definition of the suite is malformed.
pub fn short(environment: &Environment, rows: &[Row]) -> Result<String> {
    short::markdown(&Data::new(environment, &Definition::load()?, rows))
}

/// Returns the paper's tables and figures from a record, with verdicts.
///
/// # Errors
/// When the definition of the suite is malformed, or a number of the paper is missing.
pub fn exhibits(environment: &Environment, rows: &[Row]) -> Result<Vec<Exhibit>> {
    exhibits::exhibits(&Data::new(environment, &Definition::load()?, rows))
}

fn html(environment: &Environment, rows: &[Row]) -> Result<String> {
    let (definition, losses) = (Definition::load()?, Losses::load()?);
    page::html(&Data::new(environment, &definition, rows), &losses)
}

/// Returns the beginning of the row names of an operation.
fn place_of(part: Part, operation: &str) -> String {
    let part = if part == Part::Process { "process" } else { "calls" };
    format!("{part}/{operation}/")
}

/// Returns the row name of a job.
pub fn place(part: Part, operation: &str, n: usize) -> String {
    place_of(part, operation) + &n.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;

    /// A record of two toolkits, one of which is missing.
    const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record");

    #[test]
    fn the_report_of_a_record_has_everything() {
        let (environment, rows) = record::read(Path::new(SAMPLE)).unwrap();
        let html = html(&environment, &rows).unwrap();
        for part in [
            "<!doctype html>",
            "Table 1",
            "Table 2",
            "Table 3",
            "Figure 1",
            "Figure 5",
            "<svg",
            "Rows that we lose",
            "Bias",
            "is not built",
            "prefers-color-scheme:dark",
            "</html>",
        ] {
            assert!(html.contains(part), "{part}");
        }
        let outside: Vec<_> = ["src=", "href=\"http", "url(", "@import", "<script"]
            .into_iter()
            .filter(|part| html.contains(part))
            .collect();
        assert!(outside.is_empty(), "{outside:?}");
    }

    #[test]
    fn places_are_rows() {
        assert_eq!(place(Part::Process, "decode-hard", 10), "process/decode-hard/10");
    }

    /// A record may come from an untrusted source.
    #[test]
    fn a_record_puts_no_markup_into_the_report() {
        let evil = "<script>alert(1)</script>\" onload=\"alert(2)";
        let (mut environment, mut rows) = record::read(Path::new(SAMPLE)).unwrap();
        let machine = &mut environment.machine;
        for text in [&mut machine.processor, &mut machine.system, &mut machine.placement, &mut machine.date] {
            *text = evil.to_owned();
        }
        (machine.deltasoap, machine.compiler) = (evil.to_owned(), evil.to_owned());
        (environment.scope, environment.warning) = (evil.to_owned(), Some(evil.to_owned()));
        for engine in &mut environment.engines {
            engine.description += evil;
            engine.version = Some(evil.to_owned());
            engine.reason = engine.reason.take().map(|reason| reason + evil);
        }
        for row in &mut rows {
            row.engine += evil;
            row.row += evil;
            row.values += evil;
        }
        let html = html(&environment, &rows).unwrap();
        assert!(!html.contains("<script") && !html.contains("\" onload=\""));
        assert!(html.matches("&lt;script").count() > 20);
    }
}
