//! Validation of exchanged messages: how clients and services handle the findings of
//! [`Contract::validate`].

use super::Finding;
use crate::Contract;
use deltasoap_core::Limits;
use deltasoap_http::BoxError;
use std::fmt;

/// How messages are handled that violate the contract but can be read.
///
/// These are violations of facets, fixed values, keys and header blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// They are not checked.
    #[default]
    Off,
    /// Each finding is logged as a warning.
    Report,
    /// The message is refused; the findings of a fault are logged.
    Refuse,
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

/// The path of a fault. Its receiver needs to know why there is no response, however invalid the
/// fault is.
const FAULT: &str = "/Envelope/Body/Fault";

impl Validation {
    /// Handles the findings of a message.
    ///
    /// # Errors
    /// With [`Validation::Refuse`], if there are any.
    pub(crate) fn apply(self, findings: Vec<Finding>) -> Result<(), Invalid> {
        if self == Validation::Refuse && !findings.is_empty() {
            return Err(Invalid { findings });
        }
        findings.iter().for_each(|finding| tracing::warn!(%finding, "the message is invalid"));
        Ok(())
    }
}

impl Contract {
    /// Returns a function that validates messages as they arrive.
    ///
    /// For [`SoapServiceBuilder::inspect`](deltasoap_http::SoapServiceBuilder::inspect) and
    /// [`ClientBuilder::inspect`](deltasoap_http::ClientBuilder::inspect): typed clients and
    /// services use it to check what their types do not express. Parts that come with a message are
    /// not checked. Validation builds a tree of each message, so a message with more elements,
    /// attributes and declarations than the default of [`Limits::tree_nodes`] is invalid. Whole
    /// messages are kept for it, even with [`Validation::Off`], where it does nothing.
    pub fn inspector(&self, validation: Validation) -> impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static {
        let contract = self.clone();
        move |message| match validation {
            Validation::Off => Ok(()),
            validation => {
                let findings = contract.findings(message, None, Limits::default().tree_nodes);
                let is_fault = !findings.is_empty() && findings.iter().all(|it| it.path.starts_with(FAULT));
                let validation = if is_fault { Validation::Report } else { validation };
                validation.apply(findings).map_err(Into::into)
            }
        }
    }
}
