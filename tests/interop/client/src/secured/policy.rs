//! The policies of `secured/bank.wsdl`, and what each party meets them with.

use super::{Keys, WSDL};
use crate::Failure;
use deltasoap::security::PolicyCredentials;
use deltasoap::soap::PolicyDocuments;
use deltasoap_dynamic::Contract;

/// What the `UsernameToken` of all clients has.
pub const USER: &str = "ada";
pub const PASSWORD: &str = "pass & word";

/// A policy of the WSDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Signed,
    Encrypted,
    User,
}

impl Policy {
    pub const ALL: [Self; 3] = [Policy::Signed, Policy::Encrypted, Policy::User];

    /// Returns the name as it begins the names of the ports.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Signed => "Signed",
            Policy::Encrypted => "Encrypted",
            Policy::User => "User",
        }
    }

    /// Returns the name of the feature that is tested with it.
    pub fn feature(self) -> &'static str {
        match self {
            Policy::Signed => "security signed",
            Policy::Encrypted => "security encrypted",
            Policy::User => "security user",
        }
    }

    /// Returns true if messages have the header blocks of WS-Addressing.
    pub fn is_addressed(self) -> bool {
        self != Policy::User
    }

    /// Returns what the WSDL says; the ports for both versions of SOAP have the same policy.
    pub fn documents(self) -> Result<PolicyDocuments, Failure> {
        let operation = format!("{}11.transfer", self.name());
        Ok(Contract::from_text(WSDL)?.operation(&operation)?.policies())
    }
}

/// Returns the credentials of a client that trusts one authority.
pub fn of_client(keys: &Keys, own: &str, authority: &str) -> Result<PolicyCredentials, Failure> {
    let credentials = of_holder(keys, own, authority)?;
    Ok(credentials.peer(keys.certificate("server")?).user(USER, PASSWORD))
}

/// Returns the credentials of the server, which encrypts for whoever has signed.
pub fn of_server(keys: &Keys) -> Result<PolicyCredentials, Failure> {
    let credentials = of_holder(keys, "server", "authority")?;
    Ok(credentials.users(password_of))
}

/// Returns the password of a user, as the server knows it.
pub fn password_of(user: &str) -> Option<&'static str> {
    (user == USER).then_some(PASSWORD)
}

fn of_holder(keys: &Keys, own: &str, authority: &str) -> Result<PolicyCredentials, Failure> {
    Ok(PolicyCredentials::new().identity(keys.identity(own)?).trust(keys.trust(authority)?))
}
