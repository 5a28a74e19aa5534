//! Messages in packages: MIME multiparts (SOAP Messages with Attachments, MTOM) and DIME, read and
//! written as streams.
//!
//! A package is a sequence of parts, and one of them, the *root*, is the message. Reading has three
//! layers. A parser without I/O ([`split`] for MIME, [`dime`]) turns received bytes into events: a
//! part begins, some of its bytes, it ends. [`incoming`] drives it from a body and returns the
//! parts, one at a time, as streams. Parts that come before they are requested are [`stored`], in
//! memory and then in a temporary file. The message's decoder gets the root's bytes like those of
//! any body.
//!
//! Writing is a sequence of segments ([`part`], [`package`]) that a [`Body`](crate::Body) sends one
//! after the other. No part is ever held in full, in either direction, unless that is requested.
//!
//! *A part is read once*, in the order of the package, while its bytes arrive. The handler borrows
//! the package meanwhile, so there is one reader, and the socket provides back pressure.
//!
//! *References are values* ([`Binary`](deltasoap_core::Binary)): the decoder never looks into other
//! parts, which have not arrived yet anyway. A decoder that put a part's bytes into the value would
//! have to read every `xop:Include` again, since the bytes of the root may be equal and those of
//! the attachment different. Nothing is fetched: a part that is not in the package does not exist.
//!
//! With MTOM, binary values from a threshold on are taken out while the message is written
//! (`Envelope::write_optimized`); they share their memory with the value. Such messages are written
//! in full, not against templates: the rest of them is mostly short. Streamed parts are in a mutex
//! that is never locked, since a body may be shared and a stream may not.
//!
//! The MIME parser is our own, on `memchr`: parsers for forms expect form fields, and hold headers
//! or parts in memory.

mod dime;
mod error;
mod file;
mod headers;
mod incoming;
mod options;
pub(crate) mod package;
mod parser;
mod part;
mod split;
mod stored;
mod transfer;

pub use error::{AttachmentError, AttachmentErrorKind};
pub use headers::PartHeaders;
pub use incoming::{Attachment, Attachments};
pub use options::{AttachmentLimits, AttachmentOptions, Mtom};
pub use part::Part;

pub(crate) use incoming::{MessageForm, Remainder};
