//! Tables for people, in Markdown, so that they can be pasted into documents.

use std::num::NonZeroUsize;

use deltasoap_report::Grid;

use super::Row;
use crate::definitions::Definitions;
use crate::measure::Figures;

const HEADER: [&str; 12] = [
    "workload",
    "n",
    "engine",
    "bytes",
    "runs",
    "median µs",
    "min µs",
    "spread",
    "MB/s",
    "ns/n",
    "peak KiB",
    "× gsoap",
];

/// The engine that others are compared with if it ran.
pub const REFERENCE: &str = "gsoap";

/// Formats rows. `chunk` is the chunk size for deltasoap's decoder.
pub fn table(rows: &[Row<'_>], chunk: Option<NonZeroUsize>) -> String {
    let mut table = Grid::new("", &HEADER, 3);
    for row in rows {
        let figures = match &row.outcome {
            Ok(figures) => figure_cells(row.n, figures, ratio(row, rows)),
            Err(_) => vec![String::new(); HEADER.len() - 3],
        };
        let names = [row.workload.name.clone(), row.n.to_string(), row.engine.clone()];
        table.push(names.into_iter().chain(figures));
    }
    format!("{}{}{}", table.markdown(), chunk_note(chunk), reasons(rows))
}

/// Formats the list of workloads and engines.
pub fn list(definitions: &Definitions) -> String {
    let mut workloads = Grid::new("", &["workload", "message", "goal", "what"], 4);
    for workload in &definitions.workloads {
        let goal = workload.goal.map_or_else(String::new, |goal| format!("{goal} × {REFERENCE}"));
        workloads.push([&workload.name, &workload.operation, &goal, &workload.description]);
    }
    for stream in &definitions.streams {
        workloads.push([&*stream.name, "", "", &stream.description]);
    }
    for send in &definitions.sends {
        workloads.push([&*send.name, "", "", &send.description]);
    }
    let mut engines = Grid::new("", &["engine", "what"], 2);
    engines.push(["deltasoap", "this repository"]);
    for peer in &definitions.peers {
        engines.push([&peer.name, &peer.description]);
    }
    format!("{}\n\n{}", workloads.markdown(), engines.markdown())
}

fn figure_cells(n: usize, figures: &Figures, ratio: Option<f64>) -> Vec<String> {
    let median = figures.ns_median as f64;
    vec![
        figures.bytes.to_string(),
        figures.runs.to_string(),
        format!("{:.1}", median / 1e3),
        format!("{:.1}", figures.ns_min as f64 / 1e3),
        format!("{:.1} %", figures.spread * 100.0),
        format!("{:.0}", megabytes_per_second(figures)),
        if n == 0 { String::new() } else { format!("{:.2}", median / n as f64) },
        figures.peak_bytes.div_ceil(1024).to_string(),
        ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
    ]
}

/// Returns 10^6 bytes of the message per second.
pub(super) fn megabytes_per_second(figures: &Figures) -> f64 {
    figures.bytes as f64 * 1e3 / figures.ns_median.max(1) as f64
}

/// Returns the speedup over the reference, by time per message, since messages with the same values
/// can differ in size.
fn ratio(row: &Row<'_>, rows: &[Row<'_>]) -> Option<f64> {
    let reference = rows.iter().find(|other| other.engine == REFERENCE && other.is_same_work(row))?;
    let (reference, figures) = (reference.outcome.as_ref().ok()?, row.outcome.as_ref().ok()?);
    (row.engine != REFERENCE).then(|| reference.ns_median as f64 / figures.ns_median.max(1) as f64)
}

fn chunk_note(chunk: Option<NonZeroUsize>) -> String {
    chunk.map_or_else(String::new, |size| format!("\ndeltasoap's decoder was fed in chunks of {size} bytes."))
}

/// Formats the reasons for empty rows, each once.
fn reasons(rows: &[Row<'_>]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for row in rows {
        if let Err(reason) = &row.outcome {
            let line = format!("\n{}: {reason}", row.engine);
            if !reasons.contains(&line) {
                reasons.push(line);
            }
        }
    }
    reasons.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use crate::workload::Workload;

    fn row<'w>(workload: &'w Workload, engine: &str, ns_median: u64) -> Row<'w> {
        let figures = Figures {
            bytes: 1000,
            runs: 15,
            ns_min: 900,
            ns_median,
            spread: 0.015,
            interval: Interval::default(),
            peak_bytes: 1025,
            differential: None,
            templates: None,
        };
        Row { workload, engine: engine.to_owned(), n: 10, outcome: Ok(figures) }
    }

    fn lines(rows: &[Row<'_>]) -> Vec<String> {
        table(rows, None).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn shows_throughput_time_per_element_and_ratio() {
        let definitions = Definitions::load().unwrap();
        let workload = &definitions.workloads[0];
        let lines = lines(&[row(workload, "deltasoap", 2000), row(workload, "gsoap", 15_000)]);
        assert_eq!(
            lines[2],
            "| decode-ints | 10 | deltasoap | 1000 | 15 | 2.0 | 0.9 | 1.5 % | 500 | 200.00 | 2 | 7.50 |"
        );
        assert!(lines[3].ends_with("| 67 | 1500.00 | 2 | |"), "{}", lines[3]);
    }

    #[test]
    fn an_empty_row_has_its_reason_below() {
        let definitions = Definitions::load().unwrap();
        let workload = &definitions.workloads[0];
        let empty = || Row { outcome: Err("not built".to_owned()), ..row(workload, "gsoap", 0) };
        let lines = lines(&[row(workload, "deltasoap", 2000), empty(), empty()]);
        assert!(lines[2].ends_with("| |"), "{}", lines[2]);
        assert_eq!(lines[5..], ["gsoap: not built"]);
    }
}
