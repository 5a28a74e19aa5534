//! Prints the results of a load: a table with warnings, or JSON.

use crate::output::{one_line, print_json, print_line, report};
use anyhow::Result;
use deltasoap_load::{Failure, Failures, Outcome, Tally};
use deltasoap_report::{Grid, number};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// A load and its results.
#[derive(Debug)]
pub struct Report {
    /// The URL without credentials.
    pub url: String,
    /// What was sent, in words.
    pub plan: String,
    /// The rate that was asked for in an open loop.
    pub rate: Option<f64>,
    /// The name and the statistics of each kind of request.
    pub kinds: Vec<(String, Tally)>,
    /// The statistics of all kinds together.
    pub total: Tally,
    pub outcome: Outcome,
    /// The processor time of the generator as a share of its threads' time. In an open loop this
    /// includes waiting for the time of a request.
    pub cpu_share: Option<f64>,
    /// The conditions of --fail-if that hold.
    pub held: Vec<String>,
}

/// Quantiles in the order of the columns.
pub const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
const HEADER: [&str; 12] = [
    "operation",
    "requests",
    "per s",
    "errors",
    "sent",
    "received",
    "mean ms",
    "p50 ms",
    "p90 ms",
    "p99 ms",
    "p99.9 ms",
    "max ms",
];
/// Share of the generator's time in a closed loop from which it is a bottleneck.
const BUSY: f64 = 0.9;
/// Shares of requests sent late, and of the generator's time, from which both together make it a
/// bottleneck of an open loop.
const LATE: f64 = 0.05;
const LATE_BUSY: f64 = 0.8;
/// Mean delay by the generator, as a share of the median latency, from which latencies are doubtful.
const DELAY: f64 = 0.1;
/// Share of requests that waited for a connection from which this is said.
const MANY: f64 = 0.01;

/// Explains the table.
pub const LEGEND: &str = "Latencies are those of good answers, in milliseconds, from the start of a request until its \
answer is read. In an open loop they count from the scheduled time.";

impl Report {
    /// Prints the report.
    pub fn print(&self, as_json: bool) -> Result<()> {
        if as_json {
            return print_json(&self.json());
        }
        print_line(format_args!("{}\n{}", self.url, self.plan))?;
        print_line(self.table().terminal())?;
        for (name, failure, failures) in self.failures() {
            print_line(one_line(&described(name, failure, failures)))?;
        }
        self.warnings().iter().for_each(|warning| report(format_args!("warning: {warning}")));
        self.held.iter().for_each(|held| report(format_args!("failed: {held}")));
        Ok(())
    }

    /// Returns a row for each operation, and one for all.
    pub fn table(&self) -> Grid {
        let all = Some(("all".to_owned(), &self.total)).filter(|_| self.kinds.len() > 1);
        let rows = self.kinds.iter().map(|(name, tally)| (name.clone(), tally)).chain(all);
        Grid::new("", &HEADER, 1).with(rows.map(|(name, tally)| self.row(name, tally)))
    }

    fn row(&self, name: String, tally: &Tally) -> Vec<String> {
        let quantiles = QUANTILES.map(|(_, share)| tally.quantile_us(share));
        let latencies = [tally.mean_us()].into_iter().chain(quantiles).chain([tally.max_us()]);
        let shown = |us: f64| if tally.answered() > 0 { milliseconds(us) } else { String::new() };
        let requests = tally.answered() + tally.failed();
        let mut row = vec![one_line(&name), requests.to_string(), format!("{:.1}", self.per_second(requests))];
        row.extend([tally.failed().to_string(), bytes(tally.sent), bytes(tally.received)]);
        row.extend(latencies.map(shown));
        row
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.outcome.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns all failures with the operation.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Failure, &Failures)> {
        self.kinds
            .iter()
            .flat_map(|(name, tally)| tally.failures.iter().map(|(failure, all)| (name.as_str(), failure, all)))
    }

    /// Returns what makes the results doubtful.
    pub fn warnings(&self) -> Vec<String> {
        let requests = self.total.answered() + self.total.failed();
        let (lateness, mut all) = (self.outcome.lateness, Vec::new());
        let share = |count: u64| count as f64 / requests.max(1) as f64;
        all.extend(self.own_lateness(share(lateness.own)));
        if self.outcome.unsent > 0 {
            all.push(format!(
                "{} requests were not sent: they were due, and no connection was free until the end; the service is \
                 slower than the rate, or there are too few connections (-c)",
                self.outcome.unsent
            ));
        }
        if share(lateness.waited) > MANY {
            all.push(format!(
                "{:.1} % of the requests waited for a free connection, which is part of their latency: the service is \
                 slower than the rate, or there are too few connections (-c)",
                share(lateness.waited) * 100.0
            ));
        }
        if let Some(cpu) = self.cpu_share.filter(|share| *share > BUSY && self.rate.is_none()) {
            all.push(format!(
                "the generator was a bottleneck: it was busy for {:.0} % of the time; --threads or another machine helps",
                cpu * 100.0
            ));
        }
        all
    }

    /// Says that the generator itself sent requests late, with the share of those that were more than
    /// a millisecond late, if that matters.
    fn own_lateness(&self, late: f64) -> Option<String> {
        let lateness = self.outcome.lateness;
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let (mean, median) = (us(lateness.mean()), self.total.quantile_us(0.5));
        let is_slow = late > LATE && self.cpu_share.is_some_and(|cpu| cpu > LATE_BUSY);
        let is_seen = self.total.answered() > 0 && mean > DELAY * median;
        let cpu = self.cpu_share.map(|cpu| format!(", and was busy for {:.0} % of the time", cpu * 100.0));
        (is_slow || is_seen).then(|| {
            format!(
                "the generator was a bottleneck: though a connection was free, it sent requests {} ms late on average \
                 (the median latency is {} ms), {:.1} % of them more than 1 ms, up to {} ms{}; --threads or another \
                 machine helps",
                milliseconds(mean),
                milliseconds(median),
                late * 100.0,
                milliseconds(us(lateness.longest)),
                cpu.unwrap_or_default()
            )
        })
    }

    fn json(&self) -> Json {
        let Outcome { time, lateness, end, .. } = &self.outcome;
        let operations: Vec<Json> =
            self.kinds.iter().map(|(name, tally)| self.figures(Some(name.as_str()), tally)).collect();
        json!({
            "url": self.url,
            "end": format!("{end:?}").to_lowercase(),
            "seconds": time.as_secs_f64(),
            "asked_rate": self.rate,
            "not_sent": self.outcome.unsent,
            "total": self.figures(None, &self.total),
            "operations": operations,
            "course": self.course(),
            "generator": {
                "cpu_share": self.cpu_share,
                "late": lateness.own,
                "mean_delay_ms": lateness.mean().as_secs_f64() * 1e3,
                "longest_delay_ms": lateness.longest.as_secs_f64() * 1e3,
                "waited_for_connection": lateness.waited,
            },
            "warnings": self.warnings(),
            "failed": self.held,
        })
    }

    fn figures(&self, name: Option<&str>, tally: &Tally) -> Json {
        let failure = |(failure, Failures { count, sample }): (&Failure, &Failures)| json!({ "what": failure.name(), "count": count, "sample": sample });
        let failures: Vec<Json> = tally.failures.iter().map(failure).collect();
        let requests = tally.answered() + tally.failed();
        let figures = json!({
            "requests": requests,
            "per_second": self.per_second(requests),
            "answered": tally.answered(),
            "errors": tally.failed(),
            "failures": failures,
            "sent_bytes": tally.sent,
            "received_bytes": tally.received,
            "latency_ms": latencies(tally),
        });
        let name = name.map(|name| ("operation".to_owned(), Json::from(name)));
        let Json::Object(figures) = figures else { return figures };
        name.into_iter().chain(figures).collect()
    }

    /// Returns the stretches of time.
    fn course(&self) -> Json {
        let Some(series) = &self.outcome.series else { return Json::Null };
        let stretch = |(index, stretch): (usize, &deltasoap_load::Stretch)| {
            json!({
                "second": series.length.as_secs_f64() * index as f64,
                "answered": stretch.latencies.len(),
                "errors": stretch.failed,
                "p50_ms": stretch.latencies.value_at_quantile(0.5) as f64 / 1e6,
                "p99_ms": stretch.latencies.value_at_quantile(0.99) as f64 / 1e6,
            })
        };
        series.stretches.iter().enumerate().map(stretch).collect()
    }
}

/// Returns latencies in milliseconds; null if there is none.
fn latencies(tally: &Tally) -> Json {
    if tally.answered() == 0 {
        return Json::Null;
    }
    let quantiles = QUANTILES.map(|(name, share)| (name.to_owned(), tally.quantile_us(share) / 1e3));
    let others = [("mean".to_owned(), tally.mean_us() / 1e3), ("max".to_owned(), tally.max_us() / 1e3)];
    quantiles.into_iter().chain(others).map(|(name, ms)| (name, Json::from(ms))).collect()
}

/// Describes failures of an operation.
pub fn described(name: &str, failure: &Failure, failures: &Failures) -> String {
    let sample = if failures.sample.is_empty() { String::new() } else { format!(", such as: {}", failures.sample) };
    format!("{name}: {} × {}{sample}", failures.count, failure.name())
}

/// Formats microseconds as milliseconds.
pub fn milliseconds(us: f64) -> String {
    number(us / 1e3)
}

fn bytes(count: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let count = count as f64;
    let unit = units.into_iter().find(|(_, size)| count >= *size);
    unit.map_or_else(|| format!("{count} B"), |(name, size)| format!("{:.1} {name}", count / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_load::{End, Failed, Lateness, Series};

    pub fn example() -> Report {
        let mut tally = Tally::default();
        (1..=100).for_each(|ms| tally.note(Ok(Duration::from_millis(ms))));
        tally.note(Err(Failed::new(Failure::Fault("Server".into()), "not\nnow")));
        (tally.sent, tally.received) = (1_500, 2_000_000);
        let kinds = vec![("Order".to_owned(), tally.clone()), ("Ping\u{1b}".to_owned(), Tally::default())];
        let outcome = Outcome {
            tallies: vec![tally.clone(), Tally::default()],
            time: Duration::from_secs(2),
            served: 100,
            series: None::<Series>,
            lateness: lateness(50, 6, 50),
            unsent: 9,
            end: End::Complete,
        };
        Report {
            url: "http://host/".to_owned(),
            plan: "a plan".to_owned(),
            rate: Some(50.0),
            kinds,
            total: tally,
            outcome,
            cpu_share: Some(0.95),
            held: vec!["p99>1ms".to_owned()],
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_operation_and_all() {
        let rows = example().table().rows;
        assert_eq!(rows[0][..7], ["Order", "101", "50.5", "1", "1.5 kB", "2.0 MB", "50.5"].map(str::to_owned));
        assert_eq!((rows.len(), rows[1][6].as_str(), rows[2][0].as_str()), (3, "", "all"));
        assert!(rows[0][10].starts_with("100"), "{rows:?}");
    }

    /// Requests of which some waited, some were sent 20 ms late, and all others in time.
    fn lateness(waited: u64, own: u64, free: u64) -> Lateness {
        let longest = Duration::from_millis(20);
        Lateness { waited, own, longest, free, delays: longest.saturating_mul(u32::try_from(own).expect("few")) }
    }

    #[test]
    fn what_makes_the_results_doubtful_is_said() {
        let warnings = example().warnings();
        for part in ["5.9 % of them", "20.0 ms", "2.40 ms late on average", "95 %"] {
            assert!(warnings[0].contains(part), "{part}: {warnings:?}");
        }
        assert!(warnings[1].contains("9 requests were not sent") && warnings[2].contains("49.5 %"), "{warnings:?}");
        assert_eq!(warnings.len(), 3);
    }

    /// The median latency of the example is 50 ms.
    #[test]
    fn the_generator_is_a_bottleneck_only_if_that_matters() {
        let warned = |lateness, rate, cpu| {
            let outcome = Outcome { lateness, unsent: 0, ..example().outcome };
            !Report { cpu_share: Some(cpu), rate, outcome, ..example() }.warnings().is_empty()
        };
        let open = Some(50.0);
        for (own, free, cpu, expected) in [
            (6, 100, 0.81, true),
            (6, 100, 0.79, false),
            (5, 100, 0.95, false),
            (30, 100, 0.1, true),
            (20, 100, 0.1, false),
        ] {
            assert_eq!(warned(lateness(0, own, free), open, cpu), expected, "{own} of {free}, {cpu}");
        }
        assert!(warned(Lateness::default(), None, 0.91) && !warned(Lateness::default(), None, 0.89));
        assert!(!warned(Lateness::default(), open, 1.0), "an open loop waits busily");
    }

    #[test]
    fn json_has_all_figures() {
        let json = example().json();
        assert_eq!(json["total"]["errors"], 1);
        assert_eq!(json["operations"][0]["failures"][0]["what"], "fault Server");
        assert_eq!(json["operations"][1]["latency_ms"], Json::Null);
        assert!(json["total"]["latency_ms"]["p99"].as_f64() > Some(98.0));
        assert_eq!((&json["generator"]["late"], &json["failed"][0]), (&json!(6), &json!("p99>1ms")));
        assert_eq!(json["not_sent"], 9);
    }
}
