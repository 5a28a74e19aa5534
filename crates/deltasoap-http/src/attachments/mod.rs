//! Messages in packages: MIME multiparts (SOAP Messages with Attachments, MTOM) and DIME, read and written as streams.
//!
//! A package is a row of parts, and one of them, the *root*, is the message. Reading has three layers. A parser without I/O
//! ([`split`] for MIME, [`dime`]) turns received bytes into events: a part begins, some of its bytes, it ends. [`incoming`]
//! drives it from a body and hands the parts out, one at a time, as streams; those that come before they are asked for are
//! [`kept`], in memory and then in a temporary file. The message's decoder gets the root's bytes like those of any body.
//!
//! Writing is a row of segments ([`part`], [`package`]) that a [`Body`](crate::Body) sends one after the other. No part is ever
//! held whole, in either direction, unless it is asked for so.

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
