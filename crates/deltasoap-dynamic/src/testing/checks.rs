//! The checks that answers are put to, and which of them a service can fail without being wrong.

use super::kinds::Breach;
use std::fmt;

/// A property of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// There is an answer: no connection is lost, and no time runs out.
    Answered,
    /// The service still answers after a failure.
    Alive,
    /// The answer comes within the maximum time.
    Time,
    /// The HTTP status fits: 2xx for responses, 500 for faults (400 or 500 in SOAP 1.2).
    Status,
    /// The content type is that of the version of SOAP.
    ContentType,
    /// The answer is an envelope of the request's version.
    Envelope,
    /// The answer is valid by the contract, and is a response of the operation.
    Response,
    /// A valid request is not answered with a fault that blames the server, except a declared one.
    ServerFault,
    /// A valid request is not refused.
    Accepted,
    /// Another form of the same XML makes no difference.
    Form,
    /// A text that the service returns is the text that it got.
    Text,
    /// The fault for an invalid request blames the client.
    FaultCode,
    /// The answer has no stack trace.
    StackTrace,
    /// The same request has the same answer.
    Idempotent,
    /// An invalid request is refused.
    Refused(Breach),
}

impl Check {
    /// Returns all checks.
    pub fn all() -> impl Iterator<Item = Check> {
        const ALL: [Check; 14] = [
            Check::Answered,
            Check::Alive,
            Check::Time,
            Check::Status,
            Check::ContentType,
            Check::Envelope,
            Check::Response,
            Check::ServerFault,
            Check::Accepted,
            Check::Form,
            Check::Text,
            Check::FaultCode,
            Check::StackTrace,
            Check::Idempotent,
        ];
        ALL.into_iter().chain(Breach::ALL.iter().map(|&breach| Check::Refused(breach)))
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Check::Answered => "answered",
            Check::Alive => "alive",
            Check::Time => "response-time",
            Check::Status => "http-status",
            Check::ContentType => "content-type",
            Check::Envelope => "envelope",
            Check::Response => "response-schema",
            Check::ServerFault => "server-fault",
            Check::Accepted => "valid-accepted",
            Check::Form => "form",
            Check::Text => "text",
            Check::FaultCode => "fault-code",
            Check::StackTrace => "stack-trace",
            Check::Idempotent => "idempotent",
            Check::Refused(breach) => breach.name(),
        }
    }

    /// Returns the check with a name.
    pub fn named(name: &str) -> Option<Check> {
        Check::all().find(|check| check.name() == name)
    }

    /// Returns true if what the check finds is a warning by default. SOAP does not require that a
    /// service validates by its schema, and a service may refuse a valid request for reasons that no
    /// schema shows.
    pub fn is_lenient(self) -> bool {
        use Breach::{
            Enumeration, Extra, Facet, Missing, MissingAttribute, Namespace, Nil, Order, OtherVersion, Unknown,
            UnknownAttribute, XsiType,
        };
        match self {
            Check::Accepted => true,
            Check::Refused(breach) => matches!(
                breach,
                Missing
                    | Extra
                    | Order
                    | Unknown
                    | Namespace
                    | MissingAttribute
                    | UnknownAttribute
                    | Enumeration
                    | Facet
                    | Nil
                    | XsiType
                    | OtherVersion
            ),
            _ => false,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The checks that are made, and what their findings are.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// These alone; empty for all.
    pub only: Vec<Check>,
    /// Not these.
    pub except: Vec<Check>,
    /// True if [lenient](Check::is_lenient) checks fail, too.
    pub strict: bool,
}

impl Checks {
    /// Returns true if a check is made.
    pub fn has(&self, check: Check) -> bool {
        (self.only.is_empty() || self.only.contains(&check)) && !self.except.contains(&check)
    }

    /// Returns how serious the findings of a check are.
    pub fn severity(&self, check: Check) -> Severity {
        if check.is_lenient() && !self.strict { Severity::Warning } else { Severity::Failure }
    }
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The service may be right.
    Warning,
    /// The service violates its contract, or a specification.
    Failure,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for check in Check::all() {
            assert_eq!(Check::named(check.name()), Some(check));
        }
    }
}
