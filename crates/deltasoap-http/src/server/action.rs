//! `SOAPAction` and the body: two names for an operation, which may contradict each other.
//!
//! Dispatch uses the body's element. If several operations take that element, the action selects
//! one. A filter before the service may decide by the action, so a request whose action contradicts
//! its body is refused. Clients differ widely in what they send, so only clear contradictions
//! count: a missing, empty or unknown action is accepted.

use super::dispatch::Table;
use super::operation::Operation;
use deltasoap_core::soap::Fault;
use deltasoap_core::soap::addressing::{AddressingFault, AddressingFaultKind, AddressingHeaders};

/// How a request whose action contradicts its body is handled: see
/// [`SoapServiceBuilder::action_check`](crate::SoapServiceBuilder::action_check).
///
/// The actions are those of the header `SOAPAction` (SOAP 1.1, 6.1.1), with or without its quotes,
/// of the media type's parameter `action` (SOAP 1.2 part 2, 7.1.4), of the media type in its
/// `start-info` (MTOM), and of the media type of the message's own part in a package. Each is
/// checked, whatever the version, since a filter may look at any of them, and so is the action of
/// WS-Addressing. A missing or empty action contradicts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ActionCheck {
    /// Refuses the request with a sender fault if the action is that of another operation of the
    /// service, and not also that of its own. Actions that no operation declares are accepted: some
    /// clients make one up.
    #[default]
    Refuse,
    /// Also refuses the request if its operation declares an action and the request has a different
    /// one, or if the actions of HTTP and of WS-Addressing differ.
    Strict,
    /// Serves the request, and logs a warning where [`Refuse`](Self::Refuse) would refuse it.
    Log,
    /// Serves the request.
    Ignore,
}

impl ActionCheck {
    /// Checks the action of an HTTP request for an operation; returns the fault that refuses it.
    pub(crate) fn refusal(self, action: &str, operation: &Operation, operations: &Table) -> Option<Fault> {
        self.is_contradiction(action, operation, operations).then(|| contradiction(action, operation))
    }

    /// Checks the action of WS-Addressing for an operation, and whether it is that of HTTP.
    pub(crate) fn violation(
        self,
        headers: &AddressingHeaders,
        mut of_http: impl Iterator<Item = String>,
        operation: &Operation,
        operations: &Table,
    ) -> Option<AddressingFault> {
        let action = headers.action.clone();
        let fault = |kind| Some(AddressingFault::new(headers, kind));
        if self.is_contradiction(&action, operation, operations) {
            return fault(match operations.iter().any(|other| other.has_action(&action)) {
                true => AddressingFaultKind::ActionMismatch { action, soap_action: None },
                false => AddressingFaultKind::ActionNotSupported { action },
            });
        }
        if self != ActionCheck::Strict {
            return None;
        }
        // An operation may have one action in HTTP and another in WS-Addressing.
        let is_other = |of_http: &String| {
            let are_both_own = operation.has_action(of_http) && operation.has_action(&action);
            !of_http.is_empty() && *of_http != action && !are_both_own
        };
        let soap_action = of_http.find(is_other)?;
        fault(AddressingFaultKind::ActionMismatch { action, soap_action: Some(soap_action) })
    }

    fn is_contradiction(self, action: &str, operation: &Operation, operations: &Table) -> bool {
        if self == ActionCheck::Ignore || action.is_empty() || operation.has_action(action) {
            return false;
        }
        let is_refused = match self {
            ActionCheck::Strict if !operation.described_action().is_empty() => true,
            _ => operations.iter().any(|other| other.has_action(action)),
        };
        if is_refused && self == ActionCheck::Log {
            tracing::warn!(action, operation = %operation.name(), "the action contradicts the body");
            return false;
        }
        is_refused
    }
}

fn contradiction(action: &str, operation: &Operation) -> Fault {
    let (name, declared) = (operation.name(), operation.described_action());
    let own =
        if declared.is_empty() { "which has no action".to_owned() } else { format!("whose action is \"{declared}\"") };
    Fault::sender(format!("the action \"{action}\" contradicts the body: <{name}> is for an operation {own}"))
}
