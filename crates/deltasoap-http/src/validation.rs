//! Validation: whether whole messages conform to their schema, beyond what decoding checks.
//!
//! Decoding checks what a program needs in order to use a message. Facets, fixed values, identity
//! constraints and header blocks that nobody reads remain. A [`Validator`] checks them; a
//! [`Validation`] determines what happens then. This module knows no schema: in
//! `deltasoap-dynamic`, a `Contract` is the validator of its WSDL.

use crate::attachments::Part;
use crate::body::Body;
use bytes::Bytes;
use deltasoap_core::PartUri;
use std::fmt;
use std::sync::Arc;

/// How clients and services handle messages that violate the contract but can be read or written.
///
/// These are violations of facets, fixed values, keys and header blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// Messages are not validated, which costs nothing.
    #[default]
    Off,
    /// Invalid messages are accepted, counted and logged. The log has one warning for a message,
    /// with the number of findings and the path of the first, but no values; each finding is logged
    /// in full at the level `debug`.
    Report,
    /// Invalid messages are refused and counted. A fault is accepted, however invalid: its receiver
    /// needs to know why there is no response.
    Refuse,
}

/// A violation of the contract in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The path of elements to it, as in `/Envelope/Body/Order/item[2]/code`.
    pub path: String,
    /// The violation. It may quote the beginning of a value of the message.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        // Errors of the document as a whole are in no element.
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// A message that violates the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The findings, at least one.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = &self.findings[..] else { return f.write_str("the message is invalid") };
        write!(f, "the message is invalid: {first}")?;
        match rest.len() {
            0 => Ok(()),
            1 => f.write_str("; 1 more finding"),
            more => write!(f, "; {more} more findings"),
        }
    }
}

impl std::error::Error for Invalid {}

/// Returns the bytes of a part by its URI; `None` if the message came without that part.
pub type PartLookup<'p> = dyn Fn(&PartUri) -> Option<Bytes> + 'p;

/// Finds what is invalid in messages, for
/// [`SoapServiceBuilder::validate`](crate::SoapServiceBuilder::validate) and
/// [`ClientBuilder::validate`](crate::ClientBuilder::validate).
///
/// In `deltasoap-dynamic`, a `Contract` validates by its WSDL.
pub trait Validator: Send + Sync {
    /// Returns the findings in a message, an envelope; none if it is valid. The number of findings
    /// should be bounded.
    ///
    /// `part` returns the parts that came with the message; without it, they are unknown and not
    /// checked. A message with more than `tree_nodes` elements, attributes and declarations may be
    /// reported as such instead; see [`Limits::tree_nodes`](deltasoap_core::Limits::tree_nodes).
    fn findings(&self, message: &[u8], part: Option<&PartLookup<'_>>, tree_nodes: usize) -> Vec<Finding>;
}

/// A validator, and what happens to invalid messages.
#[derive(Clone)]
pub(crate) struct Validating {
    validator: Arc<dyn Validator>,
    is_refusing: bool,
}

impl fmt::Debug for Validating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validating").field("is_refusing", &self.is_refusing).finish_non_exhaustive()
    }
}

/// A kind of message, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Request,
    Response,
    /// A fault, which is never refused.
    Fault,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Subject::Request => "request",
            Subject::Response => "response",
            Subject::Fault => "fault",
        }
    }
}

/// The findings of an accepted message, or the reason that it is refused.
pub(crate) type Verdict = Result<Vec<Finding>, Invalid>;

/// Returns true if the message is invalid, accepted or not.
pub(crate) fn is_invalid(verdict: &Verdict) -> bool {
    verdict.as_ref().is_ok_and(|findings| !findings.is_empty()) || verdict.is_err()
}

impl Validating {
    /// Returns `None` if messages are not validated.
    pub(crate) fn new(validator: impl Validator + 'static, validation: Validation) -> Option<Self> {
        let is_refusing = match validation {
            Validation::Off => return None,
            Validation::Report => false,
            Validation::Refuse => true,
        };
        Some(Validating { validator: Arc::new(validator), is_refusing })
    }

    /// Validates a message that has arrived. Its parts may still be arriving, and are not checked.
    pub(crate) fn received(&self, subject: Subject, message: &[u8], tree_nodes: usize) -> Verdict {
        self.judge(subject, self.validator.findings(message, None, tree_nodes))
    }

    /// Validates a message before it is sent, with those of its parts that are in memory. A message
    /// that is written while it is sent is not validated.
    pub(crate) fn sent(&self, subject: Subject, message: &Body, parts: &[Part]) -> Verdict {
        let Some(message) = message.whole() else { return Ok(Vec::new()) };
        let lookup = |uri: &PartUri| parts.iter().find(|part| part.is_at(uri))?.bytes().cloned();
        let are_known = !parts.is_empty() && parts.iter().all(|part| part.bytes().is_some());
        let part = are_known.then_some(&lookup as &PartLookup<'_>);
        self.judge(subject, self.validator.findings(&message, part, usize::MAX))
    }

    fn judge(&self, subject: Subject, findings: Vec<Finding>) -> Verdict {
        let Some(first) = findings.first() else { return Ok(findings) };
        for finding in &findings {
            tracing::debug!(%finding, "the {} is invalid", subject.name());
        }
        if self.is_refusing && subject != Subject::Fault {
            return Err(Invalid { findings });
        }
        // A path consists of names, which the sender may choose.
        let path = format_args!("{:.200}", first.path);
        tracing::warn!(findings = findings.len(), %path, "the {} is invalid", subject.name());
        Ok(findings)
    }
}
