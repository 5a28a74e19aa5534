//! Writes one JSON object per line to standard output, and nothing else.

use std::io::{self, Write};

use serde::Serialize;

use super::Row;
use crate::measure::Figures;

/// Keys in output order.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    workload: &'a str,
    engine: &'a str,
    mode: &'a str,
    n: usize,
    bytes: usize,
    runs: usize,
    ns_min: u64,
    ns_median: u64,
    peak_bytes: u64,
}

/// Prints the rows with figures.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print(rows: &[Row<'_>]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in rows {
        if let Ok(figures) = &row.outcome {
            writeln!(out, "{}", line(row, figures)?)?;
        }
    }
    out.flush()
}

fn line(row: &Row<'_>, figures: &Figures) -> serde_json::Result<String> {
    serde_json::to_string(&Line::new(&row.workload.name, &row.engine, "regular", row.n, figures))
}

impl<'a> Line<'a> {
    pub(super) fn new(workload: &'a str, engine: &'a str, mode: &'a str, n: usize, figures: &Figures) -> Self {
        Line {
            workload,
            engine,
            mode,
            n,
            bytes: figures.bytes,
            runs: figures.runs,
            ns_min: figures.ns_min,
            ns_median: figures.ns_median,
            peak_bytes: figures.peak_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::Definitions;
    use crate::statistics::Interval;

    #[test]
    fn a_line_has_these_keys_in_this_order() {
        let definitions = Definitions::load().unwrap();
        let workload = definitions.select(&["decode-ints".to_owned()]).unwrap().workloads[0];
        let figures = Figures {
            bytes: 2,
            runs: 3,
            ns_min: 4,
            ns_median: 5,
            spread: 0.5,
            interval: Interval::default(),
            peak_bytes: 6,
            differential: None,
            templates: None,
        };
        let row = Row { workload, engine: "deltasoap".to_owned(), n: 1, outcome: Ok(figures.clone()) };
        assert_eq!(
            line(&row, &figures).unwrap(),
            "{\"workload\":\"decode-ints\",\"engine\":\"deltasoap\",\"mode\":\"regular\",\"n\":1,\"bytes\":2,\"runs\":3,\
             \"ns_min\":4,\"ns_median\":5,\"peak_bytes\":6}"
        );
    }
}
