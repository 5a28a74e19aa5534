//! The policies of `secured/bank.wsdl`, in terms of our own settings.

use super::Keys;
use crate::Failure;
use deltasoap::engine::QName;
use deltasoap::security::{KeyReference, KeyTransport, Protection, Requirements, Trust, UsernameToken};
use deltasoap::soap::addressing::Addressing;
use std::time::Duration;

/// What the peers' `UsernameToken` has.
pub const USER: &str = "ada";
pub const PASSWORD: &str = "pass & word";
const VALID: Duration = Duration::from_secs(300);
/// The header blocks of WS-Addressing, which the policies require to be signed.
const BLOCKS: [&str; 7] = ["Action", "FaultTo", "From", "MessageID", "RelatesTo", "ReplyTo", "To"];

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
}

/// Who sends and receives, each by the name of its keys.
#[derive(Debug, Clone, Copy)]
pub struct Parties<'p> {
    pub own: &'p str,
    /// Whose signatures are accepted: an authority, or whoever has issued its own certificate.
    pub trusted: &'p str,
    pub peer: &'p str,
    /// True for the side that sends requests.
    pub is_initiator: bool,
}

/// What a side adds to messages and requires of them.
#[derive(Debug)]
pub struct Settings {
    pub protection: Option<Protection>,
    pub requirements: Option<Requirements>,
}

impl Policy {
    /// Returns the settings that satisfy the policy.
    pub fn settings(self, keys: &Keys, parties: &Parties<'_>) -> Result<Settings, Failure> {
        match self {
            Policy::Signed => signed(keys, parties),
            Policy::Encrypted => encrypted(keys, parties),
            Policy::User if parties.is_initiator => Ok(Settings {
                protection: Some(Protection::new().user(UsernameToken::digest(USER, PASSWORD))),
                requirements: None,
            }),
            Policy::User => Ok(Settings {
                protection: None,
                requirements: Some(Requirements::new().users(|user: &str| (user == USER).then_some(PASSWORD))),
            }),
        }
    }
}

fn signed(keys: &Keys, parties: &Parties<'_>) -> Result<Settings, Failure> {
    let trust =
        Trust::nobody().authorities(keys.certificates(parties.trusted)?)?.known(keys.certificates(parties.peer)?)?;
    let requirements = Requirements::new().trust(trust).signed_body().signed_timestamp();
    let block = |local: &&'static str| QName::new(Addressing::V10.namespace(), *local);
    Ok(Settings {
        protection: Some(Protection::new().timestamp(VALID).sign(keys.identity(parties.own)?)),
        requirements: Some(BLOCKS.iter().map(block).fold(requirements, Requirements::signed_header)),
    })
}

/// Like [`signed`], and the body is encrypted for the other side. The certificate of the recipient is
/// in no message: both sides refer to it by its thumbprint.
fn encrypted(keys: &Keys, parties: &Parties<'_>) -> Result<Settings, Failure> {
    let Settings { protection, requirements } = signed(keys, parties)?;
    let recipient = keys.certificate(parties.peer)?;
    let reference = if parties.is_initiator { KeyReference::Token } else { KeyReference::Thumbprint };
    let protect = |protection: Protection| {
        protection.key_reference(reference).encrypt(recipient).key_transport(KeyTransport::RsaOaepSha1)
    };
    let own = keys.identity(parties.own)?;
    let require = |requirements: Requirements| requirements.encrypted_body().decrypt_with(own);
    Ok(Settings { protection: protection.map(protect), requirements: requirements.map(require).transpose()? })
}
