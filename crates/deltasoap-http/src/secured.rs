//! Security of messages: what is added before they are sent, and what is checked while they arrive.
//!
//! Clients and servers know these traits alone. The feature `security` implements them with
//! WS-Security; without it, nothing does.
//!
//! ```text
//! sent:      value ── template: body in canonical form ── Protect::secure ── message
//! received:  bytes ── Verifying::push ──┬── sender, once the body begins; verdict at the end
//!                                       └── decoder ── value, which nobody gets before the verdict
//! ```

use crate::body::Body;
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::soap::{Envelope, Fault, HeaderBlock, Version};
use deltasoap_core::{Buffer, Error, Limits, Outgoing};
use deltasoap_xml::Encoding;
use http::Extensions;
use std::fmt;

/// Adds security to messages before they are sent.
pub(crate) trait Protect: fmt::Debug + Send + Sync {
    /// Returns the id that the body needs, if it is signed.
    fn body_id(&self) -> Option<&str>;

    /// Adds header blocks and security to a message that was written without a header.
    ///
    /// # Errors
    /// Returns an error if the message cannot be secured.
    fn secure(&self, version: Version, blocks: &[HeaderBlock], message: Outgoing) -> Result<Outgoing, BoxError>;
}

/// Checks received messages.
pub(crate) trait Verify: fmt::Debug + Send + Sync {
    /// Begins to check a message.
    fn begin(&self, limits: Limits) -> Box<dyn Verifying>;
}

/// Checks one message as it arrives.
pub(crate) trait Verifying: fmt::Debug + Send {
    /// Sets the encoding that the media type of the message names.
    fn set_encoding(&mut self, encoding: Encoding);

    /// Takes the next bytes. Returns the next ones to be decoded: the same unless something is
    /// encrypted.
    ///
    /// # Errors
    /// Returns an error if the message is not accepted.
    fn push(&mut self, bytes: Bytes) -> Result<Bytes, Insecure>;

    /// Returns true if the bytes to be decoded may be plaintext of what only this side can decrypt. Errors
    /// in it must not quote it before the message is known to be valid.
    fn decrypts(&self) -> bool;

    /// Returns what identifies the sender, once the body begins and if the message proves it.
    fn sender(&self) -> Option<String>;

    /// Ends the message, and attaches what is known about it.
    ///
    /// # Errors
    /// Returns an error if the message is not accepted.
    fn finish(self: Box<Self>, extensions: &mut Extensions) -> Result<(), Insecure>;
}

/// The reason why a received message is not accepted.
pub(crate) struct Insecure {
    /// For whoever operates this side.
    pub(crate) error: BoxError,
    /// For the peer, who learns less.
    pub(crate) fault: Box<dyn Fn(Version) -> Fault + Send>,
}

impl fmt::Debug for Insecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Insecure").field("error", &self.error).finish_non_exhaustive()
    }
}

/// The reason why a message was not written.
#[derive(Debug)]
pub(crate) enum WriteError {
    Encode(Error),
    /// It cannot be secured.
    Protect(BoxError),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        WriteError::Encode(error)
    }
}

/// A message to be written, and what secures it. The header blocks are in one of the two.
pub(crate) struct Securing<'a> {
    pub(crate) envelope: Envelope<'a>,
    protection: Option<(&'a dyn Protect, Version, &'a [HeaderBlock])>,
}

impl<'a> Securing<'a> {
    /// Adds header blocks and security to an envelope without them.
    pub(crate) fn new(
        envelope: Envelope<'a>,
        version: Version,
        blocks: &'a [HeaderBlock],
        protection: Option<&'a dyn Protect>,
    ) -> Self {
        let Some(protection) = protection else {
            return Securing { envelope: envelope.headers(blocks), protection: None };
        };
        let envelope = match protection.body_id() {
            Some(id) => envelope.canonical(id),
            None => envelope,
        };
        Securing { envelope, protection: Some((protection, version, blocks)) }
    }

    /// Returns true if the message is secured, so that it is sealed after it was written.
    pub(crate) fn is_secured(&self) -> bool {
        self.protection.is_some()
    }

    /// Writes the message without a template. Returns its length too.
    pub(crate) fn write_in_full(&self, buffer: Buffer) -> Result<(Body, usize), WriteError> {
        if self.is_secured() {
            let message = self.seal(self.envelope.write_outgoing(buffer)?)?;
            let len = message.len();
            return Ok((message.into(), len));
        }
        let message = self.envelope.write(buffer)?;
        let len = message.len();
        Ok((message.into(), len))
    }

    /// Secures a message that was written from the envelope.
    pub(crate) fn seal(&self, message: Outgoing) -> Result<Outgoing, WriteError> {
        let Some((protection, version, blocks)) = self.protection else { return Ok(message) };
        protection.secure(version, blocks, message).map_err(WriteError::Protect)
    }
}

/// Returns the error for messages that are written while they are sent, or whose larger values are
/// separate parts: their body is not known when their signature is written.
pub(crate) fn cannot_be_secured() -> BoxError {
    "a message that is written while it is sent, or by MTOM, cannot be secured: its signature comes first".into()
}

#[cfg(feature = "security")]
mod wss {
    use super::{BoxError, Insecure, Protect, Verify, Verifying};
    use bytes::Bytes;
    use deltasoap_core::soap::{HeaderBlock, Version};
    use deltasoap_core::{Limits, Outgoing};
    use deltasoap_security::{Protection, Requirements, SecurityError, Verification};
    use deltasoap_xml::Encoding;
    use http::Extensions;
    use std::sync::Arc;

    impl Protect for Protection {
        fn body_id(&self) -> Option<&str> {
            Protection::body_id(self)
        }

        fn secure(&self, version: Version, blocks: &[HeaderBlock], message: Outgoing) -> Result<Outgoing, BoxError> {
            Ok(Protection::secure(self, version, blocks, message, &[])?)
        }
    }

    impl Verify for Arc<Requirements> {
        fn begin(&self, limits: Limits) -> Box<dyn Verifying> {
            Box::new(Requirements::begin(self, limits))
        }
    }

    impl Verifying for Verification {
        fn set_encoding(&mut self, encoding: Encoding) {
            Verification::set_encoding(self, encoding);
        }

        fn push(&mut self, bytes: Bytes) -> Result<Bytes, Insecure> {
            Verification::push(self, bytes).map_err(insecure)
        }

        fn decrypts(&self) -> bool {
            Verification::decrypts(self)
        }

        fn sender(&self) -> Option<String> {
            Verification::sender(self)?.key()
        }

        fn finish(self: Box<Self>, extensions: &mut Extensions) -> Result<(), Insecure> {
            let verified = Verification::finish(*self).map_err(insecure)?;
            extensions.insert(verified);
            Ok(())
        }
    }

    fn insecure(error: SecurityError) -> Insecure {
        Insecure { error: error.clone().into(), fault: Box::new(move |version| error.to_fault(version)) }
    }
}
