//! What the suite records: one schema for all parts, as a line of JSON.

use serde::{Deserialize, Serialize};

use crate::measure::Figures;
pub use crate::workload::Layer;

/// A toolkit at a piece of work. Keys in the order in which they are written; what does not apply
/// is null. `bench/README.md` describes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The piece of work: what is compared with each other has the same.
    pub row: String,
    /// Which part of the suite.
    pub part: Part,
    /// What is done: `decode`, `encode`, or an operation.
    pub operation: String,
    /// The values, as in the workloads.
    pub values: String,
    /// Items, or octets.
    pub n: usize,
    /// How a message differs from the one before it; null where each is the same, or nothing is
    /// made of it.
    pub similarity: Option<String>,
    /// The toolkit.
    pub engine: String,
    /// What kind of toolkit.
    pub layer: Layer,
    /// How it works: `regular`, or what is different.
    pub mode: String,
    /// Bytes of the message.
    pub bytes: Option<u64>,
    /// Runs, or answers, that count.
    pub runs: Option<u64>,
    /// Nanoseconds of the fastest run.
    pub ns_min: Option<u64>,
    /// Nanoseconds of the median run; of a load, the median latency.
    pub ns_median: Option<u64>,
    /// Distance of the quartiles by the median.
    pub spread: Option<f64>,
    /// Nanoseconds that 99 of 100 answers did not exceed.
    pub ns_p99: Option<u64>,
    /// Nanoseconds that 999 of 1000 answers did not exceed.
    pub ns_p999: Option<u64>,
    /// Right answers a second.
    pub per_second: Option<f64>,
    /// Microseconds of the server's processor time a request.
    pub cpu_us: Option<f64>,
    /// Bytes of memory: see [`crate::engine::Session::peak_bytes`]; of a load, resident in the
    /// server at most.
    pub peak_bytes: Option<u64>,
    /// Why there are no numbers.
    pub reason: Option<String>,
}

/// A part of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// From memory to memory.
    Process,
    /// Each toolkit's client and its own server.
    Calls,
    /// Many clients of ours.
    Load,
    /// gzip and TLS.
    Transport,
    /// Differential work, direction by direction.
    Ablation,
}

impl Part {
    /// The name in rows.
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

/// Who does what, without numbers.
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
    /// The row of a toolkit, still empty.
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
    /// The row with what was measured, or with the reason why nothing was.
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

    /// Milliseconds of the median run.
    pub fn ms(&self) -> Option<f64> {
        self.ns_median.map(|ns| ns.max(1) as f64 / 1e6)
    }
}

/// Messages of toolkits may have many lines, of which the first says most.
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
