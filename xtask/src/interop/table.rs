//! The final tables, one for each kind of service: a row for each feature and version of SOAP, a
//! column for each peer and side.

use std::collections::HashSet;
use std::process::ExitCode;

use super::results::{
    ADDRESSING, ASGI, CODED, Column, JSON, MESSAGES, Rows, SECURITY, SESSIONS, Side, TestResult, VALUES, VERSIONS,
};
use crate::summary;

/// Prints the failures, the tables, and their notes; returns whether everything passed.
pub fn print(columns: &[Column]) -> ExitCode {
    print_failures(columns);
    let mut notes = Notes::default();
    for rows in [MESSAGES, VALUES, CODED, ASGI, JSON, ADDRESSING, SECURITY, SESSIONS] {
        let columns: Vec<_> = columns.iter().filter(|column| column.rows == rows).collect();
        if !columns.is_empty() {
            print_rows(&table(rows, &columns, &mut notes));
        }
    }
    notes.print();
    summary::close(&outcomes(columns))
}

fn table(rows: Rows, columns: &[&Column], notes: &mut Notes) -> Vec<Vec<String>> {
    let mut table = vec![titles(columns)];
    for (feature, title) in rows {
        for soap in VERSIONS {
            let cells = columns.iter().map(|column| notes.cell(column, soap, feature)).collect::<Vec<_>>();
            table.push([(*title).to_owned(), soap.to_owned()].into_iter().chain(cells).collect());
        }
    }
    table
}

fn titles(columns: &[&Column]) -> Vec<String> {
    let title = |column: &&Column| match column.side {
        Side::Client => format!("{} client", column.peer),
        Side::Server => format!("{} server", column.peer),
    };
    ["".to_owned(), "SOAP".to_owned()].into_iter().chain(columns.iter().map(title)).collect()
}

fn print_failures(columns: &[Column]) {
    for column in columns {
        for TestResult { soap, feature, test, detail, .. } in column.results.iter().filter(|result| !result.ok) {
            println!("FAILED: {} {:?}, SOAP {soap}, {feature}, {test}: {detail}", column.peer, column.side);
        }
    }
}

/// Returns whether each test has passed, and a failure for each row without results in a column.
fn outcomes(columns: &[Column]) -> Vec<bool> {
    let run = columns.iter().flat_map(|column| &column.results).filter(|result| result.skipped.is_none());
    let missing: usize = columns.iter().map(|column| column.missing().len()).sum();
    run.map(|result| result.ok).chain(std::iter::repeat_n(false, missing)).collect()
}

fn print_rows(rows: &[Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    println!();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

/// What the peers do not offer, and why: each note once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn print(&self) {
        println!();
        for (number, note) in self.0.iter().enumerate() {
            println!("[{}] not offered by {note}", number + 1);
        }
    }

    /// Returns the cell for the results of one row.
    fn cell(&mut self, column: &Column, soap: &str, feature: &str) -> String {
        let (skipped, run): (Vec<_>, Vec<_>) = column.of(soap, feature).partition(|result| result.skipped.is_some());
        let failed = run.iter().filter(|result| !result.ok).count();
        let outcome = match (run.len(), skipped.len()) {
            (0, 0) => "MISSING".to_owned(),
            (0, _) => "not offered".to_owned(),
            (count, _) if failed > 0 => format!("FAILED {failed} of {count}"),
            (count, _) => format!("ok {count}"),
        };
        let mut marks: Vec<_> = skipped.iter().map(|result| self.mark(column, result)).collect();
        let mut seen = HashSet::new();
        marks.retain(|mark| seen.insert(mark.clone()));
        [outcome].into_iter().chain(marks).collect::<Vec<_>>().join(" ")
    }

    fn mark(&mut self, column: &Column, result: &TestResult) -> String {
        let side = if column.side == Side::Client { "clients" } else { "servers" };
        let reason = result.skipped.as_deref().unwrap_or_default();
        let note = format!("{} {side}: {}: {reason}", column.peer, result.feature);
        let known = self.0.iter().position(|other| *other == note);
        let number = known.unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!("[{}]", number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ok: bool, skipped: Option<&str>) -> TestResult {
        TestResult {
            soap: "1.1".into(),
            feature: "mtom".into(),
            test: "t".into(),
            ok,
            detail: String::new(),
            skipped: skipped.map(str::to_owned),
        }
    }

    fn cell(results: Vec<TestResult>) -> (String, Vec<String>) {
        let mut notes = Notes::default();
        let column = Column { peer: "x", side: Side::Client, rows: MESSAGES, results };
        (notes.cell(&column, "1.1", "mtom"), notes.0)
    }

    #[test]
    fn a_cell_tells_what_became_of_its_tests() {
        assert_eq!(cell(vec![line(true, None), line(true, None)]).0, "ok 2");
        assert_eq!(cell(vec![line(true, None), line(false, None)]).0, "FAILED 1 of 2");
        assert_eq!(cell(vec![]).0, "MISSING");
        assert_eq!(cell(vec![line(true, Some("no"))]), ("not offered [1]".into(), vec!["x clients: mtom: no".into()]));
        assert_eq!(cell(vec![line(true, None), line(true, Some("no")), line(true, Some("no"))]).0, "ok 1 [1]");
    }

    #[test]
    fn rows_without_results_fail() {
        let column = Column {
            peer: "x",
            side: Side::Client,
            rows: MESSAGES,
            results: vec![line(true, None), line(true, Some("no"))],
        };
        let outcomes = outcomes(&[column]);
        assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 1);
        assert_eq!(outcomes.len(), MESSAGES.len() * VERSIONS.len());
    }
}
