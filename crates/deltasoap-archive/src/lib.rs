//! Captured SOAP messages, and tables of them.
//!
//! A capture is a file with a message, over HTTP or plain ([`message_in`]), and a directory of such
//! files is a stream of one sender ([`streams`]). With the feature `decode`, messages are decoded by
//! their sender ([`Decoding`]). With the feature `tables`, captures are also read from archives, HAR
//! files, captured packets, flows of mitmproxy, recordings of the proxy and JSON lines ([`Sources`]), and
//! an [`Archive`] decodes them into Parquet files. With the feature `query`, `QueryTables` runs SQL over these.

#![forbid(unsafe_code)]

mod directory;
mod message;

#[cfg(feature = "tables")]
mod archive;
#[cfg(feature = "tables")]
mod capture;
#[cfg(feature = "decode")]
mod decode;
#[cfg(feature = "decode")]
mod direction;
#[cfg(feature = "tables")]
mod error;
#[cfg(feature = "tables")]
mod manifest;
#[cfg(feature = "query")]
mod query;
#[cfg(feature = "tables")]
mod repeats;
#[cfg(feature = "tables")]
mod sources;
#[cfg(feature = "tables")]
mod store;
#[cfg(feature = "tables")]
mod tables;

pub use directory::{Skipped, Stream, all_streams, streams};
pub use message::{Message, Reason, dechunked, message as message_in, message_within};

#[cfg(feature = "tables")]
pub use archive::{Archive, Options, Summary};
#[cfg(feature = "tables")]
pub use capture::{Capture, Item};
#[cfg(feature = "decode")]
pub use decode::{Decoded, Decoding, Hint, KeptSenders, MessageType, Undecoded};
#[cfg(feature = "decode")]
pub use direction::Direction;
#[cfg(feature = "tables")]
pub use error::ArchiveError;
#[cfg(feature = "tables")]
pub use manifest::Counts;
#[cfg(feature = "query")]
pub use query::{QueryError, QueryTables, Rows};
#[cfg(feature = "object-store")]
pub use sources::ObjectsError;
#[cfg(feature = "tables")]
pub use sources::{JsonColumns, Limits, Source, Sources, shown_location};
#[cfg(feature = "tables")]
pub use store::Compression;
