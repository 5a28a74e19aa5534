//! XML signatures: reading, verifying and writing `ds:Signature` (XML Signature 1.1).

mod key_info;
mod read;
mod verify;
pub(crate) mod write;

pub(crate) use key_info::{KeyInfo, KeySource, certificates, read_token_reference};
pub(crate) use read::{Reference, Signature, Transform, decode_base64};
pub(crate) use verify::{References, SignedAttachment, SignedBy, with_default_namespace};
pub(crate) use write::{PartReference, SignedPart};

#[cfg(test)]
mod vectors;
