//! Results of a load: a table for people, or a JSON object per server.

use std::collections::BTreeMap;
use std::io::{self, Write};

use deltasoap_load::Tally;
use deltasoap_report::Grid;
use serde::Serialize;

use super::generate::Measured;

/// A server under a load.
#[derive(Debug)]
pub struct Row {
    /// The server.
    pub server: String,
    /// The measurement, or why there is none.
    pub outcome: Result<Measured, String>,
}

const HEADER: [&str; 11] = [
    "server",
    "message",
    "requests/s",
    "failed",
    "p50 µs",
    "p90 µs",
    "p99 µs",
    "p99.9 µs",
    "max µs",
    "CPU µs/request",
    "peak MiB",
];

/// Quantiles in the order of the columns.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Formats the rows: one per server and kind of message, then the failures.
pub fn table(rows: &[Row]) -> String {
    let mut table = Grid::new("", &HEADER, 2);
    for row in rows {
        match &row.outcome {
            Ok(measured) => cells(&row.server, measured).into_iter().for_each(|cells| table.push(cells)),
            Err(_) => table.push(std::iter::once(row.server.clone()).chain(vec![String::new(); HEADER.len() - 1])),
        }
    }
    format!("{}{}", table.markdown(), complaints(rows))
}

fn cells(server: &str, measured: &Measured) -> Vec<Vec<String>> {
    let seconds = measured.time.as_secs_f64();
    let of_server = |number: Option<f64>, digits: usize| number.map_or_else(String::new, |n| format!("{n:.digits$}"));
    let peak = measured.usage.map(|[_, after]| after.peak as f64 / f64::from(1 << 20));
    let row = |(kind, tally): &(super::kind::MessageKind, Tally)| {
        let rate = tally.answered() as f64 / seconds;
        let mut cells = vec![server.to_owned(), kind.to_string(), format!("{rate:.0}"), tally.failed().to_string()];
        cells.extend(QUANTILES.map(|share| format!("{:.1}", tally.quantile_us(share))));
        cells.extend([format!("{:.1}", tally.max_us()), of_server(measured.cpu_us(), 1), of_server(peak, 1)]);
        cells
    };
    measured.tallies.iter().map(row).collect()
}

fn complaints(rows: &[Row]) -> String {
    let mut lines = String::new();
    for Row { server, outcome } in rows {
        match outcome {
            Err(reason) => lines += &format!("\n{server}: {reason}"),
            Ok(measured) => {
                for (kind, tally) in &measured.tallies {
                    tally.failures.iter().for_each(|(failure, all)| {
                        lines += &format!("\n{server}, {kind}: {} × {}", all.count, failure.name());
                    });
                }
            }
        }
    }
    lines
}

/// Keys in output order. Times are in microseconds.
#[derive(Serialize)]
struct Line<'a> {
    server: &'a str,
    connections: usize,
    /// Scheduled requests per second; `None` in a closed loop.
    rate: Option<f64>,
    seconds: f64,
    requests_per_second: f64,
    cpu_us_per_request: Option<f64>,
    resident_bytes: Option<u64>,
    peak_bytes: Option<u64>,
    messages: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    message: String,
    answered: u64,
    failed: BTreeMap<String, u64>,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Part {
    fn new(message: String, tally: &Tally) -> Self {
        let [p50, p90, p99, p999] = QUANTILES.map(|share| tally.quantile_us(share));
        let failed = tally.failures.iter().map(|(failure, all)| (failure.name(), all.count)).collect();
        Part { message, answered: tally.answered(), failed, p50, p90, p99, p999, max: tally.max_us() }
    }
}

/// Prints the rows with figures.
///
/// # Errors
/// When standard output cannot be written to.
pub fn print_json(rows: &[Row], connections: usize, rate: Option<f64>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in rows {
        if let Ok(measured) = &row.outcome {
            writeln!(out, "{}", serde_json::to_string(&line(&row.server, measured, connections, rate))?)?;
        }
    }
    out.flush()
}

fn line<'a>(server: &'a str, measured: &Measured, connections: usize, rate: Option<f64>) -> Line<'a> {
    let after = measured.usage.map(|[_, after]| after);
    Line {
        server,
        connections,
        rate,
        seconds: measured.time.as_secs_f64(),
        requests_per_second: measured.throughput(),
        cpu_us_per_request: measured.cpu_us(),
        resident_bytes: after.map(|usage| usage.resident),
        peak_bytes: after.map(|usage| usage.peak),
        messages: measured.tallies.iter().map(|(kind, tally)| Part::new(kind.to_string(), tally)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::usage::Usage;
    use super::*;
    use deltasoap_load::Failure;
    use std::time::Duration;

    fn measured() -> Measured {
        let mut tally = Tally::default();
        (0..10).for_each(|_| tally.note(Ok(Duration::from_micros(50))));
        tally.note(Err(Failure::Status(500).into()));
        let usage = |millis| Usage { cpu: Duration::from_millis(millis), resident: 1 << 20, peak: 2 << 20 };
        Measured {
            tallies: vec![("echoVoid".parse().unwrap(), tally)],
            time: Duration::from_secs(2),
            served: 20,
            usage: Some([usage(100), usage(102)]),
        }
    }

    #[test]
    fn a_line_has_these_keys_in_this_order() {
        let text = serde_json::to_string(&line("deltasoap", &measured(), 7, None)).unwrap();
        let keys: Vec<_> =
            text.split('"').filter(|word| word.chars().all(|c| c.is_alphanumeric() || c == '_')).collect();
        assert!(
            text.starts_with("{\"server\":\"deltasoap\",\"connections\":7,\"rate\":null,\"seconds\":2.0,"),
            "{text}"
        );
        assert!(text.contains("\"requests_per_second\":5.0,\"cpu_us_per_request\":100.0"), "{text}");
        assert!(text.contains("\"answered\":10,\"failed\":{\"status 500\":1}"), "{keys:?}");
    }

    #[test]
    fn the_table_has_a_row_a_message_and_says_what_went_wrong() {
        let missing = Row { server: "gsoap".to_owned(), outcome: Err("not built".to_owned()) };
        let table = table(&[Row { server: "deltasoap".to_owned(), outcome: Ok(measured()) }, missing]);
        assert!(table.contains("echoVoid") && table.contains("100.0") && table.contains("2.0"), "{table}");
        assert!(table.contains("deltasoap, echoVoid: 1 × status 500") && table.contains("gsoap: not built"), "{table}");
    }
}
