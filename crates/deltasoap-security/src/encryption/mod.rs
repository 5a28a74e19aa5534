//! XML encryption: reading and writing `xenc:EncryptedKey` and `xenc:EncryptedData` (XML Encryption
//! 1.1; SOAP Message Security 1.1, section 9).
//!
//! ```text
//! sent:      body, signed ── Sealer ── EncryptedData in its place; EncryptedKey in the header
//! received:  bytes ── Walk ── Opening ── plaintext in place of EncryptedData ── Walk ── decoder
//! ```

mod algorithms;
mod fragment;
mod opening;
mod read;
mod write;

pub(crate) use algorithms::random;
pub use algorithms::{ContentCipher, KeyTransport};
pub(crate) use opening::{Decryption, OpenedHead, Opening, Outer, OuterSignature};
pub(crate) use read::Encryption;
pub(crate) use write::Sealer;

use crate::error::SecurityError;

/// Returns the error for everything that cannot be decrypted. It does not say why: the reasons
/// would help to guess the content.
pub(crate) fn undecipherable() -> SecurityError {
    SecurityError::Check("an encrypted part of the message could not be decrypted".to_owned())
}
