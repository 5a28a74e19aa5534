//! WS-Security for deltasoap: tokens, XML signatures, and what is required of received messages.
//!
//! This crate knows messages and keys, and no network. Clients and servers of deltasoap use it
//! through their feature `security`:
//!
//! - [`Protection`] is what is added to sent messages: a [`UsernameToken`], a timestamp, a SAML
//!   assertion, a signature by an [`Identity`].
//! - [`Requirements`] are what received messages must have, and whom they may come from ([`Trust`],
//!   [`Users`]). A [`Verification`] checks one message while it arrives.
//!
//! # Without losing differential speed
//!
//! A signature covers the canonical form of the body. A template of a message that is signed is that
//! form ([`Envelope::canonical`](deltasoap_core::soap::Envelope::canonical)): only what changed is
//! written again, and nothing is canonicalized. A received body is canonicalized and hashed while the
//! decoder reads it; content that is in canonical form already, as most is, is found by comparing
//! bytes.
//!
//! # What is safe
//!
//! - Signed elements count by their place in the message, not by their ids. Ids that occur twice are
//!   refused.
//! - Nothing outside the message is fetched. XPath and XSLT are not supported.
//! - Public keys never verify HMAC. Truncated digests are refused.
//! - Times, nonces and signatures are checked against replay ([`ReplayCache`]).
//! - A peer learns from a [fault](SecurityError::to_fault) only what kind of check failed.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod algorithms;
mod error;
mod incoming;
mod keys;
mod ns;
mod outgoing;
mod received;
mod replay;
mod signature;
mod token;
mod trust;
mod xml;

pub use algorithms::{DigestAlgorithm, SignatureAlgorithm};
pub use error::SecurityError;
pub use incoming::{Requirements, Sender, Verification, Verified};
pub use keys::{Certificate, Identity, Signer, SigningKey};
pub use outgoing::{BODY_ID, KeyReference, Protection};
pub use replay::ReplayCache;
pub use token::saml::{Assertion, AssertionRules, Confirmation};
pub use token::username::{UsernameToken, Users};
pub use trust::Trust;

/// Reads a time as messages have it, an `xsd:dateTime`; without a time zone it counts as UTC.
///
/// # Errors
/// Returns an error if the text is no time.
pub fn parse_time(text: &str) -> Result<std::time::SystemTime, SecurityError> {
    token::timestamp::parse_date_time(text)
}

/// Returns the name of the security header.
pub fn header_name() -> deltasoap_core::QName {
    deltasoap_core::QName::new(ns::WSSE, "Security")
}
