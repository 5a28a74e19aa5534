//! What a test found.

use super::answer::Outcome;
use super::checks::{Check, Severity};
use super::form::Form;
use super::kinds::Kind;
use std::collections::BTreeMap;

/// The result of a test.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The seed of the requests.
    pub seed: u64,
    /// The operations, in the order in which they were tested.
    pub operations: Vec<Tested>,
    /// What was found, in the same order.
    pub findings: Vec<Finding>,
    /// Number of requests that were sent.
    pub requests: u64,
    /// Why the test ended early, if it did.
    pub stop: Option<Stop>,
}

impl Report {
    /// Returns true if there is a finding that is more than a warning.
    pub fn has_failures(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Failure)
    }
}

/// Why a test ended before all cases were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The service did not answer at all: the reason.
    Unreachable(String),
    /// The service answers, but its answers cannot be read: the reason.
    Unreadable(String),
    /// The service requires other credentials: the HTTP status.
    Denied(u16),
    /// The service no longer answers.
    Dead,
    /// The time was over.
    Time,
}

/// An operation that was tested.
#[derive(Debug, Clone, Default)]
pub struct Tested {
    /// `Service.Port.Operation`.
    pub operation: String,
    /// Number of cases.
    pub cases: u32,
    /// Number of cases with valid requests.
    pub valid: u32,
    /// The results of each check.
    pub tallies: BTreeMap<Check, Tally>,
    /// The reason why it was not tested, if it was not.
    pub skipped: Option<String>,
}

/// The results of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of answers that passed.
    pub passed: u32,
    /// Number of answers that did not.
    pub failed: u32,
}

/// A failed check, with the smallest request for which it fails.
#[derive(Debug, Clone)]
pub struct Finding {
    /// `Service.Port.Operation`.
    pub operation: String,
    /// The check.
    pub check: Check,
    /// How serious it is.
    pub severity: Severity,
    /// What the request shows.
    pub kind: Kind,
    /// The same in words.
    pub what: String,
    /// The number of the case.
    pub case: u32,
    /// What is wrong.
    pub reason: String,
    /// What is the same in findings that have one cause.
    pub(super) way: String,
    /// The request as it was sent, without the header blocks that the caller adds.
    pub request: Vec<u8>,
    /// The form of the request.
    pub form: Form,
    /// What came back.
    pub outcome: Outcome,
    /// Number of cases that failed in the same way.
    pub count: u32,
    /// Other operations whose cases failed in the same way, because of the envelope.
    pub others: Vec<String>,
    /// False if the request did not fail when it was sent again.
    pub is_repeatable: bool,
}
