//! Validation of messages as they are exchanged: what clients and services do with what [`Contract::validate`] finds.

use super::Finding;
use crate::Contract;
use deltasoap_http::BoxError;
use std::fmt;

/// What happens to messages that are not as the contract says, though they can be read: values outside of their facets, fixed values,
/// keys, header blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// They are not looked for.
    #[default]
    Off,
    /// Each finding is logged as a warning.
    Report,
    /// They are refused.
    Refuse,
}

/// A message that is not as the contract says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What was found, at least one thing.
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

impl Validation {
    /// Deals with what was found in a message.
    ///
    /// # Errors
    /// With [`Validation::Refuse`], when there is any.
    pub(crate) fn apply(self, findings: Vec<Finding>) -> Result<(), Invalid> {
        if self == Validation::Refuse && !findings.is_empty() {
            return Err(Invalid { findings });
        }
        findings.iter().for_each(|finding| tracing::warn!(%finding, "the message is invalid"));
        Ok(())
    }
}

impl Contract {
    /// Validates messages as they arrive, for [`ServiceBuilder::inspect`](deltasoap_http::ServiceBuilder::inspect) and
    /// [`ClientBuilder::inspect`](deltasoap_http::ClientBuilder::inspect): typed clients and services check by it what their types do not
    /// say. Parts that come with a message are not looked at. Whole messages are kept for it, also with [`Validation::Off`], where it does
    /// nothing.
    pub fn inspector(&self, validation: Validation) -> impl Fn(&[u8]) -> Result<(), BoxError> + Send + Sync + 'static {
        let contract = self.clone();
        move |message| match validation {
            Validation::Off => Ok(()),
            validation => validation.apply(contract.findings(message, None)).map_err(Into::into),
        }
    }
}
