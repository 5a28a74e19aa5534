//! The winner of each row, and its lead.

use super::{Data, OURS};
use crate::suite::row::{Layer, Part, Row};

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Time of a message or call.
    Time,
    /// Answers per second at full load.
    Throughput,
    /// 99th percentile of the latency.
    Tail,
    /// The server's processor time per request.
    Processor,
    /// Peak memory.
    Memory,
}

/// The standing of deltasoap in regular mode in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The row with the metric.
    pub row: String,
    /// The part.
    pub part: Part,
    /// The metric.
    pub metric: Metric,
    /// Our number.
    pub ours: f64,
    /// The best of the others.
    pub best: Best,
}

/// The best of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The toolkit.
    pub engine: String,
    /// The toolkit's kind.
    pub layer: Layer,
    /// Its number.
    pub number: f64,
}

/// Memory is counted in pages: smaller differences are noise, and nobody wins.
const NOISE: f64 = 512.0 * 1024.0;

impl Metric {
    /// Returns the metrics of a part.
    fn all_of(part: Part) -> &'static [Metric] {
        match part {
            Part::Process => &[Metric::Time, Metric::Memory],
            Part::Calls => &[Metric::Time],
            Part::Load => &[Metric::Throughput, Metric::Tail, Metric::Processor, Metric::Memory],
            Part::Transport | Part::Ablation => &[],
        }
    }

    /// Returns the number of a row.
    fn of(self, row: &Row) -> Option<f64> {
        let is_open = row.row.contains("/open, ");
        match self {
            Metric::Time => row.ms(),
            Metric::Throughput => row.per_second.filter(|_| !is_open),
            Metric::Tail => row.ns_p99.filter(|_| is_open).map(|ns| ns as f64 / 1e3),
            Metric::Processor => row.cpu_us,
            Metric::Memory => row.peak_bytes.map(|bytes| bytes as f64),
        }
    }

    /// Returns how many times as good one number is as another.
    fn times(self, one: f64, other: f64) -> f64 {
        match self {
            Metric::Throughput => one / other,
            _ => other / one.max(f64::MIN_POSITIVE),
        }
    }

    /// Returns the name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Time => "time",
            Metric::Throughput => "throughput",
            Metric::Tail => "99th percentile",
            Metric::Processor => "processor time",
            Metric::Memory => "memory",
        }
    }
}

impl Standing {
    /// Returns how many times as good ours is as the best of the others.
    pub fn factor(&self) -> f64 {
        self.metric.times(self.ours, self.best.number)
    }

    /// Returns true if another is better.
    pub fn is_lost(&self) -> bool {
        self.factor() < 1.0
    }
}

/// Returns all rows in which ours and another have a number.
pub fn standings(data: &Data<'_>) -> Vec<Standing> {
    let mut standings = Vec::new();
    for part in [Part::Process, Part::Calls, Part::Load] {
        let ours = data.part(part).filter(|row| row.engine == OURS && row.mode == "regular");
        for own in ours {
            let metrics = Metric::all_of(part).iter();
            standings.extend(metrics.filter_map(|&metric| standing(data, own, metric)));
        }
    }
    standings
}

fn standing(data: &Data<'_>, own: &Row, metric: Metric) -> Option<Standing> {
    let ours = metric.of(own)?;
    let others =
        data.part(own.part).filter(|row| row.row == own.row && row.engine != OURS && row.layer != Layer::Floor);
    let is_hidden =
        |row: &Row| row.part == Part::Process && (row.peak_bytes == Some(0) || data.hides_memory(&row.engine));
    let seen = others.filter(|row| metric != Metric::Memory || !is_hidden(row));
    let numbers = seen.filter_map(|row| Some((row, metric.of(row)?)));
    let best = numbers.reduce(|best, next| if metric.times(next.1, best.1) > 1.0 { next } else { best });
    let (row, number) = best?;
    if metric == Metric::Memory && (number - ours).abs() < NOISE {
        return None;
    }
    let best = Best { engine: row.engine.clone(), layer: row.layer, number };
    Some(Standing { row: format!("{}: {}", own.row, metric.name()), part: own.part, metric, ours, best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::definition::Definition;
    use crate::suite::record::{self, EngineNote, Environment};
    use crate::suite::row::Subject;

    #[test]
    fn more_is_better_for_throughput_alone() {
        assert_eq!(Metric::Time.times(2.0, 6.0), 3.0);
        assert_eq!(Metric::Throughput.times(2.0, 6.0), 2.0 / 6.0);
        assert_eq!(Metric::Memory.times(1e6, 4e6), 4.0);
    }

    #[test]
    fn memory_that_is_not_seen_counts_for_nobody() {
        let (mut environment, _) = record::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record").as_ref()).unwrap();
        let subject = Subject {
            row: "process/a/1",
            part: Part::Process,
            operation: "decode",
            values: "ints",
            n: 1,
            similarity: None,
        };
        let row = |engine, mebibytes: u64| Row {
            peak_bytes: Some(mebibytes << 20),
            ..subject.row(engine, Layer::Soap, "regular")
        };
        let rows = [row(OURS, 8), row("gsoap", 9), row("zero", 0), row("java", 1)];
        let definition = Definition::load().unwrap();
        let best =
            |environment: &Environment| standings(&Data::new(environment, &definition, &rows))[0].best.engine.clone();
        assert_eq!(best(&environment), "java");
        let note = EngineNote { name: "java".to_owned(), hides_memory: true, ..environment.engines[0].clone() };
        environment.engines.push(note);
        assert_eq!(best(&environment), "gsoap");
    }

    #[test]
    fn a_row_is_lost_if_another_is_better() {
        let best = Best { engine: "gsoap".to_owned(), layer: Layer::Soap, number: 5.0 };
        let standing = Standing { row: String::new(), part: Part::Calls, metric: Metric::Time, ours: 10.0, best };
        assert!(standing.is_lost() && standing.factor() == 0.5);
        assert!(!Standing { ours: 5.0, ..standing }.is_lost());
    }
}
