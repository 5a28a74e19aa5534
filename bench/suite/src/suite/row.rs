//! The rows of the suite: one schema for all parts, as a line of JSON.

use serde::{Deserialize, Serialize};

use crate::measure::Figures;
pub use crate::workload::Layer;

/// The result of a toolkit in a job. Keys are in output order; fields that do not apply are null.
/// `bench/README.md` describes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The job: compared results have the same.
    pub row: String,
    /// The part of the suite.
    pub part: Part,
    /// The work: `decode`, `encode`, or an operation.
    pub operation: String,
    /// The values, as in the workloads.
    pub values: String,
    /// Number of items, or of octets.
    pub n: usize,
    /// The difference of a message from its predecessor; null if all are the same, or it is not
    /// used.
    pub similarity: Option<String>,
    /// The toolkit.
    pub engine: String,
    /// The kind of toolkit.
    pub layer: Layer,
    /// The mode: `regular`, or the difference from it.
    pub mode: String,
    /// Size of the message in bytes.
    pub bytes: Option<u64>,
    /// Number of runs, or answers, that count.
    pub runs: Option<u64>,
    /// Nanoseconds of the fastest run.
    pub ns_min: Option<u64>,
    /// Nanoseconds of the median run; for a load, the median latency.
    pub ns_median: Option<u64>,
    /// Distance of the quartiles divided by the median.
    pub spread: Option<f64>,
    /// 99th percentile of the latency in nanoseconds.
    pub ns_p99: Option<u64>,
    /// 99.9th percentile of the latency in nanoseconds.
    pub ns_p999: Option<u64>,
    /// Correct answers per second.
    pub per_second: Option<f64>,
    /// The server's processor time per request in microseconds.
    pub cpu_us: Option<f64>,
    /// Memory in bytes: see [`crate::engine::Session::peak_bytes`]; for a load, the peak resident
    /// memory of the server.
    pub peak_bytes: Option<u64>,
    /// The reason why there are no numbers.
    pub reason: Option<String>,
}

/// A part of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// From memory to memory
    Process,
    /// Each toolkit's client and its own server
    Calls,
    /// Many clients of ours
    Load,
    /// gzip and TLS
    Transport,
    /// Differential mode, by direction
    Ablation,
}

impl Part {
    /// Returns the name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Part::Process => "process",
            Part::Calls => "calls",
            Part::Load => "load",
            Part::Transport => "transport",
            Part::Ablation => "ablation",
        }
    }
}

/// A row's job, without toolkit and numbers.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// See [`Row::row`].
    pub row: &'a str,
    /// See [`Row::part`].
    pub part: Part,
    /// See [`Row::operation`].
    pub operation: &'a str,
    /// See [`Row::values`].
    pub values: &'a str,
    /// See [`Row::n`].
    pub n: usize,
    /// See [`Row::similarity`].
    pub similarity: Option<&'a str>,
}

impl Subject<'_> {
    /// Returns an empty row of a toolkit.
    pub fn row(&self, engine: &str, layer: Layer, mode: &str) -> Row {
        Row {
            row: self.row.to_owned(),
            part: self.part,
            operation: self.operation.to_owned(),
            values: self.values.to_owned(),
            n: self.n,
            similarity: self.similarity.map(str::to_owned),
            engine: engine.to_owned(),
            layer,
            mode: mode.to_owned(),
            bytes: None,
            runs: None,
            ns_min: None,
            ns_median: None,
            spread: None,
            ns_p99: None,
            ns_p999: None,
            per_second: None,
            cpu_us: None,
            peak_bytes: None,
            reason: None,
        }
    }
}

impl Row {
    /// Returns the row with the measurement, or with the reason why there is none.
    pub fn with(self, outcome: Result<Figures, String>) -> Self {
        match outcome {
            Err(reason) => Row { reason: Some(one_line(&reason)), ..self },
            Ok(figures) => Row {
                bytes: Some(figures.bytes as u64),
                runs: Some(figures.runs as u64),
                ns_min: Some(figures.ns_min),
                ns_median: Some(figures.ns_median),
                spread: Some((figures.spread * 1e4).round() / 1e4),
                peak_bytes: Some(figures.peak_bytes),
                ..self
            },
        }
    }

    /// Returns the milliseconds of the median run.
    pub fn ms(&self) -> Option<f64> {
        self.ns_median.map(|ns| ns.max(1) as f64 / 1e6)
    }
}

/// Returns the first line: error messages of toolkits may have many, of which the first says most.
fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given");
    line.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

    fn subject() -> Subject<'static> {
        let row = "process/decode-ints/10";
        Subject { row, part: Part::Process, operation: "decode", values: "ints", n: 10, similarity: None }
    }

    fn figures() -> Figures {
        Figures {
            bytes: 300,
            runs: 15,
            ns_min: 90,
            ns_median: 100,
            spread: 0.123_456,
            interval: Interval::default(),
            peak_bytes: 7,
            differential: None,
            templates: None,
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let row = subject().row("gsoap", Layer::Soap, "regular").with(Ok(figures()));
        let text = serde_json::to_string(&row).unwrap();
        assert!(
            text.starts_with("{\"row\":\"process/decode-ints/10\",\"part\":\"process\",\"operation\":\"decode\""),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
        assert_eq!((row.spread, row.reason), (Some(0.1235), None));
    }
}
