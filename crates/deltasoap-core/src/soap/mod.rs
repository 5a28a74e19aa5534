//! SOAP envelopes, headers and faults, in both versions.

pub mod addressing;
mod envelope;
mod fault;
mod header;
mod message;
mod parts;
mod policy;
mod reader;

pub use crate::encode::parts::TakenPart;
pub use crate::version::Version;
pub(crate) use envelope::{Body, Form, InFull};
pub use envelope::{Envelope, MessageKind, Optimized};
pub use fault::{Fault, FaultCode, FaultFields, Wording};
pub use header::HeaderBlock;
pub use message::{Reply, ReplyReceiver, RequestReceiver, decode_reply, decode_request};
pub use parts::{BodyParts, Parts};
pub use policy::PolicyDocuments;
pub use reader::{EnvelopeReader, Head, Receiver};
