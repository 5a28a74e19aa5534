//! SOAP envelopes, headers and faults, in both versions.

mod envelope;
mod fault;
mod header;
mod message;
mod parts;

pub use crate::encode::parts::TakenPart;
pub use crate::version::Version;
pub use envelope::{EnvelopeReader, Head, Receiver};
pub use fault::{Fault, FaultCode, FaultFields, Wording};
pub use header::HeaderBlock;
pub(crate) use message::Draft;
pub use message::{
    Namespaces, Optimization, Optimized, Reply, ReplyReceiver, RequestReceiver, decode_reply, decode_request,
    encode_element, encode_fault, encode_fault_with_headers, encode_message, encode_optimized, encode_with_namespaces,
    encode_without_references,
};
pub use parts::{BodyParts, Parts};
