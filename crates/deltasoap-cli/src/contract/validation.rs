//! Validation of what `call` exchanges.

use super::{MAX_DEVIATIONS, warn_of_all};
use crate::cli::Call;
use deltasoap_dynamic::{Contract, Finding, Validation};
use deltasoap_http::{ClientBuilder, PartLookup, Validator};

/// Lets a client validate requests and answers as the arguments of a call say.
pub fn validated(builder: ClientBuilder, arguments: &Settings, contract: &Contract) -> ClientBuilder {
    let Settings { requests, answers, is_verbose } = *arguments;
    let warnings = |subject| Warnings { contract: contract.clone(), subject, is_verbose };
    let builder = match requests {
        Validation::Report => builder.validate_sent(warnings("request"), requests),
        _ => builder.validate_sent(contract.clone(), requests),
    };
    match answers {
        Validation::Report => builder.validate(warnings("answer"), answers),
        _ => builder.validate(contract.clone(), answers),
    }
}

/// How `call` validates.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    requests: Validation,
    answers: Validation,
    is_verbose: bool,
}

impl Settings {
    /// By default, no invalid request is sent, and answers are not validated. Items that are
    /// printed while they arrive cannot be.
    pub fn of(arguments: &Call) -> Self {
        let chosen = arguments.validation.map(Validation::from);
        let answers = if arguments.stream.is_some() { None } else { chosen };
        Settings {
            requests: chosen.unwrap_or(Validation::Refuse),
            answers: answers.unwrap_or_default(),
            is_verbose: arguments.verbose,
        }
    }
}

/// Warns of what is invalid, and has no findings itself: they would be logged without their text.
struct Warnings {
    contract: Contract,
    subject: &'static str,
    /// True if all findings are shown.
    is_verbose: bool,
}

impl Validator for Warnings {
    fn findings(&self, message: &[u8], part: Option<&PartLookup<'_>>, tree_nodes: usize) -> Vec<Finding> {
        let findings = self.contract.findings(message, part, tree_nodes);
        let all = findings.iter().map(|finding| format!("the {} is invalid: {finding}", self.subject));
        let limit = if self.is_verbose { usize::MAX } else { MAX_DEVIATIONS };
        warn_of_all(all, limit, "violations of the WSDL; --verbose shows all");
        Vec::new()
    }
}
