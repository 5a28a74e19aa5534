//! What happened, as a table for people and JSON for programs, and what of it is wrong.

use crate::certificates::Rotated;
use crate::memory::{Level, Memory};
use crate::spills::Spilled;
use crate::trouble::Troubled;
use anyhow::Result;
use deltasoap_load::{Failure, Outcome, Tally};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Duration;

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Requests a second that the servers answered to good clients alone, and that they were sent.
    capacity: f64,
    rate: f64,
    /// Time of the load.
    seconds: f64,
    /// Requests of good clients with the right answers, and failures.
    answered: u64,
    failed: u64,
    failures: String,
    /// Latencies in microseconds: median, 99th percentile, maximum.
    latencies: [f64; 3],
    /// Client processes that were killed.
    killed: u64,
    /// What was wrong with them.
    victims: Option<String>,
    troubled: Troubled,
    /// Certificates that were replaced, and what was wrong with that.
    rotated: Option<Rotated>,
    rotation: Option<String>,
    /// Uploads to a disk that is too small.
    spilled: Option<Spilled>,
    memory: Vec<Level>,
    /// The end.
    stopping: Option<Stopping>,
}

/// The servers' end under load.
#[derive(Debug, Serialize)]
struct Stopping {
    /// From the signal to the end of all processes.
    seconds: f64,
    answered: u64,
    /// Answers with other faults than a connection that ended.
    wrong: u64,
    failures: String,
}

/// What other clients than the good ones did and found.
#[derive(Debug)]
pub struct Others {
    pub troubled: Troubled,
    /// Processes that were killed, or what was wrong.
    pub killed: Result<u64>,
    pub rotated: Result<Option<Rotated>>,
    pub spilled: Option<Spilled>,
}

impl Report {
    /// Creates the report of a load.
    pub fn new(outcome: &Outcome, (capacity, rate): (f64, f64), others: Others, memory: Memory) -> Self {
        let total = outcome.total();
        let (killed, victims) = match others.killed {
            Ok(killed) => (killed, None),
            Err(error) => (0, Some(format!("{error:#}"))),
        };
        let (rotated, rotation) = match others.rotated {
            Ok(rotated) => (rotated, None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        Report {
            capacity,
            rate,
            seconds: outcome.time.as_secs_f64(),
            answered: total.answered(),
            failed: total.failed(),
            failures: failures(&total),
            latencies: [total.quantile_us(0.5), total.quantile_us(0.99), total.max_us()],
            killed,
            victims,
            troubled: others.troubled,
            rotated,
            rotation,
            spilled: others.spilled,
            memory: memory.levels(),
            stopping: None,
        }
    }

    /// Adds how the servers ended.
    pub fn with_farewell(self, (outcome, took): (Outcome, Duration)) -> Self {
        let total = outcome.total();
        let is_end = |failure: &Failure| matches!(failure, Failure::Connect | Failure::Closed | Failure::Status(503));
        let wrong = total.failures.iter().filter(|(failure, _)| !is_end(failure)).map(|(_, it)| it.count).sum();
        let stopping =
            Stopping { seconds: took.as_secs_f64(), answered: total.answered(), wrong, failures: failures(&total) };
        Report { stopping: Some(stopping), ..self }
    }

    /// Returns what is wrong.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = self.troubled.complaints();
        complaints.extend(self.victims.clone());
        complaints.extend(self.rotation.clone());
        complaints.extend(self.spilled.iter().flat_map(Spilled::complaints));
        if self.failed > 0 {
            complaints.push(format!("{} requests of good clients failed: {}", self.failed, self.failures));
        }
        if self.answered == 0 {
            complaints.push("no request of a good client was answered".to_owned());
        }
        for level in self.memory.iter().filter(|level| !level.is_level()) {
            complaints.push(format!("the memory of the {} is not level: {}", level.name, megabytes(level.thirds)));
        }
        if let Some(stopping) = self.stopping.as_ref().filter(|stopping| stopping.wrong > 0) {
            complaints.push(format!("wrong answers while the servers stopped: {}", stopping.failures));
        }
        complaints
    }

    /// Returns a table.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, text: String| _ = writeln!(out, "{name:<28} {text}");
        line("time", format!("{:.0} s", self.seconds));
        line("capacity, sent", format!("{:.0}, {:.0} requests a second", self.capacity, self.rate));
        line("right answers, failures", format!("{}, {}", self.answered, self.failed));
        let [median, p99, most] = self.latencies.map(|us| us / 1e3);
        line("latency", format!("{median:.2} ms median, {p99:.2} ms at 99 %, {most:.0} ms at most"));
        line("processes killed", self.killed.to_string());
        for (fault, (made, answered)) in &self.troubled.requests {
            line(&format!("bad clients: {fault:?}"), format!("{made}, of them answered {answered}"));
        }
        if let Some(Rotated { replaced, visits, delay }) = &self.rotated {
            line(
                "certificates replaced",
                format!("{replaced}, in use after {delay:.2} s at most; {visits} handshakes"),
            );
        }
        if let Some(Spilled { stored, refused, broken_off, .. }) = &self.spilled {
            line("uploads", format!("{stored} stored, {refused} refused for lack of room, {broken_off} broken off"));
        }
        for level in &self.memory {
            line(&format!("memory of the {}", level.name), megabytes(level.thirds));
        }
        if let Some(stopping) = &self.stopping {
            line("stopped under load", format!("in {:.2} s, {} wrong answers", stopping.seconds, stopping.wrong));
        }
        out
    }
}

/// Returns the most of each third.
fn megabytes(thirds: [u64; 3]) -> String {
    let [first, second, third] = thirds.map(|bytes| bytes >> 20);
    format!("{first}, {second}, {third} MB at most in each third of the time")
}

/// Returns the failures of a load as text.
pub fn failures(tally: &Tally) -> String {
    let text = |(failure, it): (&Failure, &deltasoap_load::Failures)| {
        let sample = if it.sample.is_empty() { String::new() } else { format!(" ({})", it.sample) };
        format!("{} {}{sample}", it.count, failure.name())
    };
    tally.failures.iter().map(text).collect::<Vec<_>>().join(", ")
}
