//! Coverage: counters of the engine, by policy.

use crate::decoder_options::{DecoderOptions, POLICIES};
use crate::subject::SOURCES;
use crate::templates;
use deltasoap::engine::{DifferentialStats, EncodeStats};
use serde::Serialize;
use std::fmt::Debug;

/// Counters of a policy.
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
    encoded: EncodeStats,
    templates: [u64; templates::KINDS.len()],
}

/// A kind of coverage, and its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub what: String,
    pub count: u64,
}

impl Coverage {
    /// Counts the oracle's result for a message.
    pub fn count_oracle<T: Debug, E>(&mut self, outcome: &Result<T, E>) {
        match outcome {
            Ok(_) => self.valid += 1,
            Err(_) => self.invalid += 1,
        }
    }

    /// Counts a stream that was decoded in one way.
    pub fn count(&mut self, way: &DecoderOptions, stats: DifferentialStats, messages: usize) {
        self.decodes += messages as u64;
        let reached = &mut self.policies[way.policy()];
        reached.stats += stats;
        if way.adaptive {
            reached.adaptive += stats;
        }
    }

    /// Counts a stream by the source of its schema.
    pub fn count_sequence(&mut self, source: usize) {
        self.sequences[source] += 1;
    }

    /// Counts a stream that was sent through templates.
    pub fn count_templates(&mut self, kind: usize, stats: EncodeStats) {
        self.templates[kind] += 1;
        self.encoded += stats;
    }

    /// Returns the number of messages sent through templates and compared with the full encoding.
    pub fn encodes(&self) -> u64 {
        self.encoded.messages
    }

    /// Returns the number of messages decoded and compared with the oracles, without those that the
    /// oracles decoded.
    pub fn decodes(&self) -> u64 {
        self.decodes
    }

    /// Returns the number of streams.
    pub fn sequences(&self) -> u64 {
        self.sequences.iter().chain(&self.templates).sum()
    }

    /// Returns everything that a long run must reach, in the order of reports.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![line("valid messages", self.valid), line("invalid messages", self.invalid)];
        lines.extend(SOURCES.iter().zip(self.sequences).map(|(name, count)| line(name, count)));
        for ((name, _), reached) in POLICIES.iter().zip(&self.policies).filter(|((name, _), _)| *name != "off") {
            lines.extend(kinds(&reached.stats).map(|(what, count)| line(&format!("{name}: {what}"), count)));
        }
        let leaf = &self.policies[3];
        lines.extend(kinds(&leaf.adaptive).map(|(what, count)| line(&format!("default: {what}"), count)));
        lines.retain(|line| is_meant(&line.what));
        lines.extend(templates::KINDS.iter().zip(self.templates).map(|(name, count)| line(name, count)));
        lines.extend(encoded(&self.encoded).map(|(what, count)| line(&format!("templates: {what}"), count)));
        lines
            .push(line("templates: messages compared by roxmltree and quick-xml", templates::foreign::compared().here));
        lines
    }

    /// Returns what a long run should have reached, but did not.
    pub fn missing(&self) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.count == 0).map(|line| line.what).collect()
    }
}

fn line(what: &str, count: u64) -> Line {
    Line { what: what.to_owned(), count }
}

fn kinds(stats: &DifferentialStats) -> [(&'static str, u64); 12] {
    [
        ("messages compared", stats.compared),
        ("bytes skipped", stats.fast_bytes),
        ("switches to regular mode", stats.to_regular),
        ("switches to fast mode", stats.to_fast),
        (FUTILE, stats.futile),
        ("checkpoints", stats.checkpoints),
        ("leaves read in place", stats.leaves),
        ("items shifted", stats.shifted),
        (REALIGNED, stats.realigned),
        (MENDED, stats.mended),
        (RESTORED, stats.restored),
        (RESTARTED, stats.restarted),
    ]
}

fn encoded(stats: &EncodeStats) -> [(&'static str, u64); 12] {
    [
        ("content matches", stats.content),
        ("perfect structural matches", stats.perfect),
        ("partial structural matches", stats.partial),
        ("first-time sends", stats.first),
        ("leaves written anew", stats.leaves),
        ("values that shifted others", stats.shifts),
        ("values that took a neighbour's room", stats.steals),
        ("end tags moved", stats.tag_moves),
        ("elements that came or went", stats.elements),
        ("chunks split", stats.splits),
        ("chunks copied, for they were still being sent", stats.copies),
        ("chunks taken over from other templates", stats.shared),
    ]
}

const REALIGNED: &str = "flat lists realigned";
const MENDED: &str = "small messages mended";
const FUTILE: &str = "attempts at fast mode that skipped nothing";
const RESTORED: &str = "checkpoints restored";
const RESTARTED: &str = "messages read again from their start";

/// Returns true if a policy is expected to do this. The papers' policies restore states and attempt
/// fast mode without success; leaf checkpoints decode leaves in place; the adaptive default mends
/// small messages.
fn is_meant(what: &str) -> bool {
    let is_of_leaves = what.starts_with("leaf") || what.starts_with("default");
    let is_only_of_leaves =
        ["leaves read in place", "items shifted", REALIGNED, RESTARTED].iter().any(|it| what.ends_with(it));
    match () {
        () if what.ends_with(MENDED) => what.starts_with("default"),
        () if what.ends_with(RESTORED) || what.ends_with(FUTILE) => !is_of_leaves,
        () => is_of_leaves || !is_only_of_leaves,
    }
}
