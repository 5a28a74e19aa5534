//! WS-Security for deltasoap: tokens, XML signatures and encryption, and what is required of
//! received messages.
//!
//! This crate knows messages and keys, and no network. Clients and servers of deltasoap use it
//! through their feature `security`:
//!
//! - [`Protection`] is what is added to sent messages: a [`UsernameToken`], a timestamp, a SAML
//!   assertion, a signature by an [`Identity`], encryption for the owner of a [`Certificate`].
//! - [`Requirements`] are what received messages must have, and whom they may come from ([`Trust`],
//!   [`Users`]). A [`Verification`] checks one message while it arrives.
//!
//! # Without losing differential speed
//!
//! A signature covers the canonical form of the body. A template of a message that is signed is
//! that form ([`Envelope::canonical`](deltasoap_core::soap::Envelope::canonical)): only what
//! changed is written again, and nothing is canonicalized. A received body is canonicalized and
//! hashed while the decoder reads it; content that is in canonical form already, as most is, is
//! found by comparing bytes.
//!
//! Encrypted content is different in each message, and its plaintext is what is compared with
//! earlier messages. So encryption costs its own time, and the rest stays as it is.
//!
//! # What is safe
//!
//! - Signed elements count by their place in the message, not by their ids. Ids that occur twice
//!   are refused.
//! - Nothing outside the message is fetched. XPath and XSLT are not supported.
//! - Encrypted content leaves only after AES-GCM verified it. AES-CBC is refused unless a receiver
//!   [accepts it](Requirements::accept_cbc); RSA PKCS #1 v1.5 always is. All failures to decrypt
//!   look alike.
//! - Public keys never verify HMAC. Truncated digests are refused.
//! - Times, nonces and signatures are checked against replay ([`ReplayCache`]).
//! - A peer learns from a [fault](SecurityError::to_fault) only what kind of check failed.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod algorithms;
mod attachment;
mod encryption;
mod error;
mod exchange;
mod keys;
mod ns;
mod outgoing;
mod policy;
mod received;
mod replay;
mod requirements;
mod signature;
mod token;
mod trust;
mod verification;
mod xml;

pub use algorithms::{DigestAlgorithm, SignatureAlgorithm};
pub use attachment::{AttachmentCheck, AttachmentContent};
pub use encryption::{ContentCipher, KeyTransport};
pub use error::SecurityError;
pub use exchange::Exchange;
pub use keys::{Certificate, Decrypter, DecryptionKey, Identity, Signer, SigningKey};
pub use outgoing::{BODY_ID, KeyReference, Protection};
pub use policy::{PolicyCredentials, PolicyError, Secured, SecurityPolicy, Tls};
pub use replay::ReplayCache;
pub use requirements::Requirements;
pub use token::binary::{TokenSource, TokenVerifier};
pub use token::saml::{Assertion, AssertionRules, Confirmation};
pub use token::username::{UsernameToken, Users};
pub use trust::Trust;
pub use verification::{Sender, Verification, Verified};

/// Reads a time as messages have it, an `xsd:dateTime`; without a time zone it counts as UTC.
///
/// # Errors
/// Returns an error if the text is no time.
pub fn parse_time(text: &str) -> Result<std::time::SystemTime, SecurityError> {
    token::timestamp::parse_date_time(text)
}

/// The type of a Kerberos ticket in the form of GSS-API (Kerberos Token Profile 1.1, section 3.2),
/// for
/// [`Protection::binary_token`] and [`Requirements::binary_tokens`].
pub const GSS_KERBEROS_V5_AP_REQ: &str = ns::GSS_KERBEROS;

/// Returns the name of the security header.
pub fn header_name() -> deltasoap_core::QName {
    deltasoap_core::QName::new(ns::WSSE, "Security")
}
