//! What was reached: counters of the engine, by policy.

use crate::subject::SOURCES;
use crate::way::{POLICIES, Way};
use deltasoap::DifferentialStats;
use serde::Serialize;
use std::fmt::Debug;

/// What a policy did.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    stats: DifferentialStats,
    adaptive: DifferentialStats,
}

/// Counters of a run.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    decodes: u64,
    valid: u64,
    invalid: u64,
    sequences: [u64; SOURCES.len()],
    policies: [Reached; POLICIES.len()],
}

/// A kind of coverage, and how often it was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub what: String,
    pub count: u64,
}

impl Coverage {
    /// Counts what the oracle says of a message.
    pub fn count_oracle<T: Debug, E>(&mut self, outcome: &Result<T, E>) {
        match outcome {
            Ok(_) => self.valid += 1,
            Err(_) => self.invalid += 1,
        }
    }

    /// Counts a stream that was read in one way.
    pub fn count(&mut self, way: &Way, stats: DifferentialStats, messages: usize) {
        self.decodes += messages as u64;
        let reached = &mut self.policies[way.policy()];
        reached.stats += stats;
        if way.adaptive {
            reached.adaptive += stats;
        }
    }

    /// Counts a stream by where its schema is from.
    pub fn count_sequence(&mut self, source: usize) {
        self.sequences[source] += 1;
    }

    /// Messages read and compared with the oracles; what the oracles read is not counted.
    pub fn decodes(&self) -> u64 {
        self.decodes
    }

    /// Streams.
    pub fn sequences(&self) -> u64 {
        self.sequences.iter().sum()
    }

    /// Everything that a long run must reach, in the order of reports.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![line("valid messages", self.valid), line("invalid messages", self.invalid)];
        lines.extend(SOURCES.iter().zip(self.sequences).map(|(name, count)| line(name, count)));
        for ((name, _), reached) in POLICIES.iter().zip(&self.policies).filter(|((name, _), _)| *name != "off") {
            lines.extend(kinds(&reached.stats).map(|(what, count)| line(&format!("{name}: {what}"), count)));
        }
        let leaf = &self.policies[3];
        lines.extend(kinds(&leaf.adaptive).map(|(what, count)| line(&format!("default: {what}"), count)));
        lines.retain(|line| is_meant(&line.what));
        lines
    }

    /// What a long run should have reached, and did not.
    pub fn missing(&self) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.count == 0).map(|line| line.what).collect()
    }
}

fn line(what: &str, count: u64) -> Line {
    Line { what: what.to_owned(), count }
}

fn kinds(stats: &DifferentialStats) -> [(&'static str, u64); 7] {
    [
        ("messages compared", stats.compared),
        ("bytes skipped", stats.fast_bytes),
        ("switches to regular mode", stats.to_regular),
        ("switches to fast mode", stats.to_fast),
        ("checkpoints", stats.checkpoints),
        ("leaves read in place", stats.leaves),
        ("items shifted", stats.shifted),
    ]
}

/// Leaves and items are read in place with leaf checkpoints alone.
fn is_meant(what: &str) -> bool {
    let is_of_leaves = what.ends_with("leaves read in place") || what.ends_with("items shifted");
    !is_of_leaves || what.starts_with("leaf") || what.starts_with("default")
}
