//! The SOAP engine of deltasoap, without I/O: it converts bytes to values and back.
//!
//! Modules, from the values down to the data that both directions share:
//!
//! ```text
//! value, node, types      values: they implement `Content`
//!       │
//!      soap               envelope, header blocks, faults
//!       │
//!     content   <──┐      the traits of values
//!       │          │
//! decode, encode ──┘      the routines
//!       │
//! schema, template        descriptions of content; markup that both directions learn
//! ```
//!
//! `content` and the routines know each other, as a trait and its driver must: `Content` is given a
//! `Cursor` or an `Encoder`, and the routines call `Content`. A few more references run up: the
//! templates and overlays of sent messages take a whole message (`soap::Envelope`), a decoder keeps
//! the predicted tags of trees (`node::Tags`), both directions know the references to parts and the
//! shared values of `types`, and a streamed list implements `Content` within `encode/overlay`. One
//! runs across: a decoder looks up what was sent (`encode/differential/hint.rs`).

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod content;
pub mod decode;
pub mod encode;
mod error;
mod lease;
mod node;
pub mod ns;
pub mod schema;
pub mod soap;
mod stats;
mod template;
mod types;
#[cfg(feature = "values")]
mod value;
mod version;

pub use compact_str::CompactString;
pub use content::{Content, Group, Message, Occurs, RequestMessage, SimpleType, Typed};
pub use decode::differential::{Checkpoints, Differential, DifferentialStats, Memory};
pub use decode::{DecodeOptions, Deviation, DeviationKind, Tolerance};
pub use deltasoap_xml::lexical::{self, Lexical};
pub use deltasoap_xml::{Buffer, Escape, Limits};
pub use encode::differential::{
    EncodeStats, Hint, MatchKind, Outgoing, RunPool, Template, Templates, Templating, Width,
};
pub use encode::overlay::{Feed, Overlay, Streamed, StreamedArray};
pub use error::{Blame, Error, ErrorKind};
pub use lease::{Lease, LeaseOwner};
pub use node::{Child, Node};
pub use schema::{Bindings, QName};
pub use stats::Stats;
pub use types::{
    AnySimple, AttributeValue, Binary, Empty, Held, MultiArray, Nillable, NonCanonical, Packed, PartUri, Shared,
    Simple, SoapArray, Span, Tracked, TrackedArray, TrackedVec, derived, enumeration, union,
};
#[cfg(feature = "serde")]
pub use types::{present, present_number};
#[cfg(feature = "values")]
pub use value::{
    Batch, Column, FromList, ListPath, ListPathError, ListPlace, Record, Table, TypedValue, UnevenColumns, Value,
};
