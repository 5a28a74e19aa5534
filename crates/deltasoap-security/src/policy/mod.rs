//! WS-SecurityPolicy 1.1 to 1.3: what policies of a service require, and how a side meets it.
//!
//! ```text
//! PolicyDocuments ── normal ── assertions ── meet
//!                    │         │             └── Protection and Requirements of a side, given its
//!                    │         │                 credentials; or the reasons why there are none
//!                    │         └── what an alternative requires, in this crate's terms
//!                    └── alternatives, each a list of assertions
//! ```
//!
//! A side takes the first alternative that it can meet, for requests and responses alike. Nothing
//! that a policy requires is skipped: an assertion that is unknown or not supported makes its
//! alternative unusable.

mod assertions;
mod credentials;
mod meet;
mod normal;
mod suite;

pub use credentials::{PolicyCredentials, Tls};

use crate::outgoing::Protection;
use crate::requirements::Requirements;
use assertions::Alternative;
use deltasoap_core::soap::PolicyDocuments;
use meet::Side;
use std::fmt;

/// The requirements of an operation's policies on its messages.
///
/// ```
/// use deltasoap_core::soap::PolicyDocuments;
/// use deltasoap_security::{PolicyCredentials, SecurityPolicy, Tls};
///
/// # fn main() -> Result<(), deltasoap_security::PolicyError> {
/// // A `const` in generated code; `Operation::policies` for a WSDL that is read at run time.
/// const POLICIES: PolicyDocuments = PolicyDocuments::new(
///     "TransportBinding, SignedSupportingTokens",
///     r#"<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy"
///                    xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">
///            <sp:TransportBinding><wsp:Policy>
///                <sp:TransportToken><wsp:Policy><sp:HttpsToken/></wsp:Policy></sp:TransportToken>
///                <sp:IncludeTimestamp/>
///            </wsp:Policy></sp:TransportBinding>
///            <sp:SignedSupportingTokens><wsp:Policy><sp:UsernameToken/></wsp:Policy></sp:SignedSupportingTokens>
///        </wsp:Policy>"#,
///     "",
/// );
/// let policy = SecurityPolicy::parse(&POLICIES)?;
/// let lacking = policy.client(&PolicyCredentials::new()).expect_err("nobody's credentials");
/// assert!(lacking.to_string().contains("a user name"));
///
/// let credentials = PolicyCredentials::new().user("ada", "secret").tls(Tls::Server);
/// let secured = policy.client(&credentials)?;
/// assert!(secured.protection.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct SecurityPolicy {
    request: Vec<Alternative>,
    response: Vec<Alternative>,
}

/// The security of messages with which a side meets a policy.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Secured {
    /// The security of the messages that it sends; `None` if they need none.
    pub protection: Option<Protection>,
    /// The security that it requires of the messages that it receives; `None` if they need none.
    pub requirements: Option<Requirements>,
}

impl SecurityPolicy {
    /// Reads the policies of an operation.
    ///
    /// # Errors
    /// Returns an error if they are not well-formed, or have too many alternatives.
    pub fn parse(documents: &PolicyDocuments) -> Result<Self, PolicyError> {
        let read = |document: &str| {
            let alternatives = normal::alternatives(document)?;
            Ok(alternatives.iter().map(|assertions| Alternative::read(assertions)).collect())
        };
        Ok(SecurityPolicy { request: read(&documents.request)?, response: read(&documents.response)? })
    }

    /// Returns true if messages need no security.
    pub fn is_empty(&self) -> bool {
        self.request.iter().chain(&self.response).all(Alternative::is_empty)
    }

    /// Returns true if messages need more than TLS.
    pub fn secures_messages(&self) -> bool {
        self.request.iter().chain(&self.response).any(Alternative::secures_messages)
    }

    /// Describes what requests need, in a few words each. Of several alternatives, the first one
    /// that is supported is described.
    pub fn describe(&self) -> Vec<String> {
        let supported = self.request.iter().find(|alternative| alternative.unsupported().is_empty());
        supported.or(self.request.first()).map(Alternative::describe).unwrap_or_default()
    }

    /// Returns what this library cannot meet, whatever the credentials; empty if there is an
    /// alternative that it can.
    pub fn unsupported(&self) -> Vec<String> {
        let least =
            |all: &[Alternative]| all.iter().map(Alternative::unsupported).min_by_key(Vec::len).unwrap_or_default();
        united(least(&self.request), least(&self.response))
    }

    /// Returns how a client meets the policy.
    ///
    /// # Errors
    /// Returns [`PolicyError::Unmet`] with the reasons if it does not.
    pub fn client(&self, credentials: &PolicyCredentials) -> Result<Secured, PolicyError> {
        self.secured(Side::Client, credentials)
    }

    /// Returns how a server meets the policy.
    ///
    /// # Errors
    /// Returns [`PolicyError::Unmet`] with the reasons if it does not.
    pub fn server(&self, credentials: &PolicyCredentials) -> Result<Secured, PolicyError> {
        self.secured(Side::Server, credentials)
    }

    /// Meets the first alternative for requests that can be met with one for responses that has the
    /// same binding.
    fn secured(&self, side: Side, credentials: &PolicyCredentials) -> Result<Secured, PolicyError> {
        let or_nothing = |all: &[Alternative]| if all.is_empty() { vec![Alternative::default()] } else { all.to_vec() };
        let (requests, responses) = (or_nothing(&self.request), or_nothing(&self.response));
        let mut least: Option<Vec<String>> = None;
        for request in &requests {
            let has_alike = responses.iter().any(|response| response.has_binding_of(request));
            for response in responses.iter().filter(|response| !has_alike || response.has_binding_of(request)) {
                match exchange(request, response, side, credentials) {
                    Ok(secured) => return Ok(secured),
                    Err(reasons) if least.as_ref().is_none_or(|least| reasons.len() < least.len()) => {
                        least = Some(reasons);
                    }
                    Err(_) => {}
                }
            }
        }
        Err(PolicyError::Unmet(least.unwrap_or_default()))
    }
}

/// Meets alternatives for both messages of an exchange.
///
/// # Errors
/// Returns the reasons why they are not met.
fn exchange(
    request: &Alternative,
    response: &Alternative,
    side: Side,
    credentials: &PolicyCredentials,
) -> Result<Secured, Vec<String>> {
    let (sent, received) = match side {
        Side::Client => (request, response),
        Side::Server => (response, request),
    };
    match (meet::protection(sent, side, credentials), meet::requirements(received, side, credentials)) {
        (Ok(protection), Ok(requirements)) => Ok(Secured {
            protection: protection.map(|it| credentials.adjusted_protection(it)),
            requirements: requirements.map(|it| credentials.adjusted_requirements(it)),
        }),
        (protection, requirements) => {
            Err(united(protection.err().unwrap_or_default(), requirements.err().unwrap_or_default()))
        }
    }
}

/// Returns the reasons of both lists, each once.
fn united(mut all: Vec<String>, others: Vec<String>) -> Vec<String> {
    for other in others {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// The reason why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is not well-formed, or too large.
    Malformed(String),
    /// It requires something that is not supported, or that the credentials lack: the reasons.
    Unmet(Vec<String>),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::Malformed(reason) => write!(f, "the security policy cannot be read: {reason}"),
            PolicyError::Unmet(reasons) => {
                write!(f, "the security policy is not met: {}", reasons.join("; "))
            }
        }
    }
}

impl std::error::Error for PolicyError {}
