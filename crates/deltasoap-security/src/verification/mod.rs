//! One message, as it arrives and is verified.

mod head;

pub use head::Sender;

use crate::encryption::{Opening, undecipherable};
use crate::error::SecurityError;
use crate::exchange::{Exchange, Request};
use crate::received::Walk;
use crate::requirements::Requirements;
use crate::signature::SignedAttachment;
use bytes::Bytes;
use deltasoap_xml::{Encoding, Limits};
use head::Found;
use std::sync::Arc;

/// Verifies one message as it arrives, and decrypts it.
///
/// [`push`](Self::push) takes the bytes before they are decoded, and returns those to be decoded.
/// Once the body begins, the head is verified and the [sender](Self::sender) known. Nothing in the
/// body counts before [`finish`](Self::finish) succeeds.
#[derive(Debug)]
pub struct Verification {
    requirements: Arc<Requirements>,
    limits: Limits,
    /// Reads the message as it arrives.
    walk: Walk,
    stage: Stage,
    /// What is known of the request, for a response.
    exchange: Option<Exchange>,
    /// What the head contains.
    found: Option<Found>,
}

#[derive(Debug)]
enum Stage {
    /// What arrives is what is read.
    Plain,
    /// The head, which is not complete, may say that something is encrypted.
    Undecided(Vec<Bytes>),
    Encrypted(Box<Encrypted>),
}

/// A message of which a part is encrypted.
#[derive(Debug)]
struct Encrypted {
    opening: Opening,
    /// Reads the message with plaintext in place of encrypted data.
    walk: Walk,
}

impl Requirements {
    /// Begins to verify a message.
    pub fn begin(self: &Arc<Self>, limits: Limits) -> Verification {
        let stage = if self.decrypts() { Stage::Undecided(Vec::new()) } else { Stage::Plain };
        let (requirements, walk) = (Arc::clone(self), Walk::new(limits));
        Verification { requirements, limits, walk, stage, exchange: None, found: None }
    }

    /// Begins to verify the response to a request.
    pub fn begin_response(self: &Arc<Self>, limits: Limits, request: Exchange) -> Verification {
        Verification { exchange: Some(request), ..self.begin(limits) }
    }
}

impl Verification {
    /// Sets the encoding that the media type of the message names.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        self.walk.set_encoding(encoding);
    }

    /// Takes the next bytes of the message. Returns the next bytes to be decoded: the same ones if
    /// nothing is encrypted. If this side [decrypts](Requirements::decrypt_with), they may be none
    /// for a while.
    ///
    /// # Errors
    /// Returns an error if the head of the message is not accepted, or something cannot be
    /// decrypted. Malformed documents are left to the decoder.
    pub fn push(&mut self, bytes: impl Into<Bytes>) -> Result<Bytes, SecurityError> {
        self.take(bytes.into())
    }

    fn take(&mut self, bytes: Bytes) -> Result<Bytes, SecurityError> {
        let Verification { requirements, walk, stage, found, exchange, .. } = self;
        let exchange = exchange.as_ref();
        match stage {
            Stage::Plain => {
                walk.push(&bytes, &mut |head| requirements.check_head(head, None, exchange, found))?;
                Ok(bytes)
            }
            Stage::Undecided(held) => {
                held.push(bytes.clone());
                self.read_head(&bytes)
            }
            Stage::Encrypted(encrypted) => {
                encrypted.opening.add(&bytes);
                walk.push(&bytes, &mut |_| Ok(Default::default()))?;
                encrypted.advance(walk, requirements, exchange, found)
            }
        }
    }

    /// Reads on in the head. Returns what was held back once it is complete.
    fn read_head(&mut self, bytes: &[u8]) -> Result<Bytes, SecurityError> {
        let Verification { requirements, limits, walk, stage, exchange, found } = self;
        let exchange = exchange.as_ref();
        let mut opened = None;
        walk.push(bytes, &mut |head| match requirements.open(head, *limits)? {
            Some((plan, opening)) => {
                opened = Some(opening);
                Ok(plan)
            }
            None => requirements.check_head(head, None, exchange, found),
        })?;
        let Stage::Undecided(held) = stage else { return Ok(Bytes::new()) };
        if let Some(mut opening) = opened {
            if walk.encoding() != Some(Encoding::Utf8) {
                return Err(SecurityError::Unsupported("encrypted messages must be in UTF-8".to_owned()));
            }
            held.iter().for_each(|bytes| opening.add(bytes));
            let mut encrypted = Box::new(Encrypted { opening, walk: Walk::new(*limits) });
            let read = encrypted.advance(walk, requirements, exchange, found);
            *stage = Stage::Encrypted(encrypted);
            return read;
        }
        if walk.body_start().is_none() && !walk.is_broken() {
            return Ok(Bytes::new());
        }
        let released = match &mut held[..] {
            [all] => std::mem::take(all),
            pieces => pieces.concat().into(),
        };
        *stage = Stage::Plain;
        Ok(released)
    }

    /// Returns true if what is to be decoded may be plaintext of something encrypted.
    pub fn decrypts(&self) -> bool {
        self.requirements.decrypts()
    }

    /// Returns the sender of the message; `None` before the head was verified.
    pub fn sender(&self) -> Option<&Sender> {
        self.found.as_ref().map(|found| &found.sender)
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Returns an error if the body is not what was signed, or the message is incomplete, or was
    /// accepted before.
    pub fn finish(mut self) -> Result<Verified, SecurityError> {
        let Verification { requirements, walk, stage, exchange, found, .. } = &mut self;
        let is_body_encrypted = match stage {
            Stage::Plain | Stage::Undecided(_) => {
                walk.finish(&mut |head| requirements.check_head(head, None, exchange.as_ref(), found))?;
                false
            }
            Stage::Encrypted(encrypted) => {
                walk.finish(&mut |_| Ok(Default::default()))?;
                encrypted.finish(walk, requirements)?
            }
        };
        let missing = || SecurityError::Malformed("the message has no body".to_owned());
        let Found { sender, references, attachments, signatures, once, .. } = self.found.ok_or_else(missing)?;
        if let Some(replays) = &self.requirements.replays {
            replays.insert(&once, self.requirements.now())?;
        }
        let request = Request { signatures, signer: sender.certificate.clone() };
        let needs_signed_attachments = self.requirements.needs.signed_attachments;
        let is_body_signed = references.has_body;
        Ok(Verified { sender, is_body_signed, is_body_encrypted, needs_signed_attachments, attachments, request })
    }
}

impl Encrypted {
    /// Reads what arrived, as far as it is complete. Returns what is to be decoded.
    fn advance(
        &mut self,
        arriving: &mut Walk,
        requirements: &Requirements,
        exchange: Option<&Exchange>,
        found: &mut Option<Found>,
    ) -> Result<Bytes, SecurityError> {
        if arriving.is_broken() {
            return Err(SecurityError::Malformed("the message is not well-formed".to_owned()));
        }
        let mut out = Vec::new();
        let head = self.opening.take_head(arriving.body_start().unwrap_or_default());
        self.read(&head, requirements, exchange, found, &mut out)?;
        for data in arriving.take_encrypted() {
            // The head is checked before anything in the body is decrypted.
            let before = self.opening.take_to(data.start);
            self.read(&before, requirements, exchange, found, &mut out)?;
            let is_signed = found.as_ref().is_some_and(|found| found.references.has_body);
            let plaintext = self.opening.open(data, is_signed)?;
            self.read(&plaintext, requirements, exchange, found, &mut out)?;
        }
        let rest = self.opening.take_to(arriving.position());
        self.read(&rest, requirements, exchange, found, &mut out)?;
        if self.opening.is_holding() && self.walk.is_after_body() {
            let checked = self.walk.check_digests().and_then(|()| arriving.check_digests());
            checked.and_then(|()| self.opening.release(&mut out)).map_err(|_| undecipherable())?;
        }
        Ok(out.into())
    }

    /// Reads plaintext, and passes it on to the decoder.
    fn read(
        &mut self,
        bytes: &[u8],
        requirements: &Requirements,
        exchange: Option<&Exchange>,
        found: &mut Option<Found>,
        out: &mut Vec<u8>,
    ) -> Result<(), SecurityError> {
        let Encrypted { opening, walk } = self;
        let outer = &opening.outer;
        let read = walk.push(bytes, &mut |head| requirements.check_head(head, Some(outer), exchange, found));
        if opening.is_holding() && (read.is_err() || walk.is_broken()) {
            return Err(undecipherable());
        }
        read?;
        opening.pass(bytes, out);
        Ok(())
    }

    /// Ends the message. Returns true if all content of its body was encrypted.
    fn finish(&mut self, arrived: &Walk, requirements: &Requirements) -> Result<bool, SecurityError> {
        if !arrived.has_all_encrypted() {
            return Err(SecurityError::Malformed(
                "an encrypted part that the security header lists is not in the message".to_owned(),
            ));
        }
        // The head was checked before.
        self.walk.finish(&mut |_| Ok(Default::default()))?;
        if requirements.needs_encrypted_body() && !arrived.is_body_encrypted() {
            return Err(SecurityError::Missing("the message has no encrypted body".to_owned()));
        }
        Ok(arrived.is_body_encrypted())
    }
}

/// A message that was verified to its end: its sender, and how it is protected.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verified {
    /// Its sender.
    pub sender: Sender,
    /// True if its body is signed.
    pub is_body_signed: bool,
    /// True if all content of its body was encrypted.
    pub is_body_encrypted: bool,
    /// True if all its attachments must be signed.
    pub needs_signed_attachments: bool,
    pub(crate) attachments: Vec<SignedAttachment>,
    /// The parts that a response refers to, if this is a request.
    pub(crate) request: Request,
}
