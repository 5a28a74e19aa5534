//! `SOAPAction` and the body: two names for an operation, which may contradict each other.
//!
//! Dispatch goes by the body's element, and of several operations that take it by the action. What filters in front of a service let pass may go by the action, so that a request that
//! says one thing and means another is refused. Clients differ much in what they send, so that only what cannot be meant well
//! counts: none at all, an empty one, and one that nobody here knows are fine.

use super::dispatch::Table;
use super::operation::Operation;
use deltasoap_core::soap::Fault;

/// What is done about a request whose action contradicts its body: see
/// [`ServiceBuilder::action_check`](crate::ServiceBuilder::action_check).
///
/// The action is that of the header `SOAPAction` in SOAP 1.1 (6.1.1), with or without its quotes, and that of the media type's
/// parameter `action` in SOAP 1.2 (part 2, 7.1.4). One that is missing or empty contradicts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ActionCheck {
    /// It is refused with a fault of the sender if the action is that of another operation of the service, and not that of its own
    /// too. Actions that no operation declares are let pass: some clients make one up.
    #[default]
    Refuse,
    /// It is refused as well if the action is any other than the one that its operation declares, where that declares one.
    Strict,
    /// It is served, and a warning logged where [`Refuse`](Self::Refuse) would refuse it.
    Log,
    /// It is served.
    Ignore,
}

impl ActionCheck {
    /// Looks at the action of a request for an operation; gives the fault that refuses it.
    pub(crate) fn refusal(self, action: &str, operation: &Operation, operations: &Table) -> Option<Fault> {
        let declared = operation.described_action();
        if self == ActionCheck::Ignore || action.is_empty() || action == declared {
            return None;
        }
        let is_refused = match self {
            ActionCheck::Strict if !declared.is_empty() => true,
            _ => operations.iter().any(|other| other.described_action() == action),
        };
        if is_refused && self == ActionCheck::Log {
            tracing::warn!(action, operation = %operation.name(), "the action contradicts the body");
            return None;
        }
        is_refused.then(|| contradiction(action, operation))
    }
}

fn contradiction(action: &str, operation: &Operation) -> Fault {
    let (name, declared) = (operation.name(), operation.described_action());
    let own =
        if declared.is_empty() { "which has no action".to_owned() } else { format!("whose action is \"{declared}\"") };
    Fault::sender(format!("the action \"{action}\" contradicts the body: <{name}> is for an operation {own}"))
}
