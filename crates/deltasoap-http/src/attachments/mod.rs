//! Messages in packages: MIME multiparts (SOAP Messages with Attachments, MTOM) and DIME, read and
//! written as streams.
//!
//! A package is a sequence of parts, and one of them, the *root*, is the message. Reading has three
//! layers. A parser without I/O ([`split`] for MIME, [`dime`]) turns received bytes into events: a
//! part begins, some of its bytes, it ends. [`incoming`] drives it from a body and returns the
//! parts, one at a time, as streams. Parts that come before they are requested are [`kept`], in
//! memory and then in a temporary file. The message's decoder gets the root's bytes like those of
//! any body.
//!
//! Writing is a sequence of segments ([`part`], [`package`]) that a [`Body`](crate::Body) sends one
//! after the other. No part is ever held in full, in either direction, unless that is requested.

mod dime;
mod error;
mod file;
mod headers;
mod incoming;
mod kept;
mod options;
pub(crate) mod package;
mod parser;
mod part;
mod split;
mod transfer;

pub use error::{AttachmentError, AttachmentErrorKind};
pub use headers::PartHeaders;
pub use incoming::{Attachment, Attachments};
pub use options::{AttachmentLimits, AttachmentOptions, Mtom};
pub use part::Part;

pub(crate) use incoming::{Form, Remainder};
