//! The SOAP engine of deltasoap, without I/O: it converts bytes to values and back.

#![forbid(unsafe_code)]

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
pub use content::{Content, Group, Message, Occurs, SimpleType, Typed};
pub use decode::differential::{Checkpoints, Differential, DifferentialStats, Memory};
pub use decode::{DecodeOptions, Deviation, DeviationKind, Tolerance};
pub use deltasoap_xml::lexical::{self, Lexical};
pub use deltasoap_xml::{Buffer, Escape, Limits};
pub use encode::differential::{
    EncodeStats, Hint, MatchKind, Outgoing, RunPool, Template, Templates, Templating, Width,
};
pub use encode::overlay::{Feed, Overlay, Streamed, StreamedArray};
pub use error::{Blame, Error, ErrorKind};
pub use lease::{Home, Lease};
pub use node::{Child, Node};
pub use schema::{Bindings, QName};
pub use stats::Stats;
pub use types::{
    AnySimple, AttributeValue, Binary, Empty, Given, Held, MultiArray, Nillable, Packed, PartUri, Shared, Simple,
    SoapArray, Span, Tracked, TrackedArray, TrackedVec, derived, enumeration, union,
};
#[cfg(feature = "values")]
pub use value::{Batch, Column, FromList, ListPath, ListPathError, Record, Table, TypedValue, UnevenColumns, Value};
