//! The places where memories of differential decoding wait between a service's messages, and the
//! templates of its responses, in two caches of the same kind.
//!
//! ```text
//!   request ──> MemorySource: which connection, which principal
//!                 │ take                           ┌────────────────────────────┐
//!                 ├──> the connection's shelf ─────┤ Cache, one a service:      │
//!                 │         │ none there           │ shards of shelves, a count │
//!                 └──> the owner's shelf ──────────┤ of bytes, eviction         │
//!                           │ none there           └────────────────────────────┘
//!                           └──> a new memory
//! ```
//!
//! A memory is taken out, used by one message only, leased to its handler, and returned when the
//! lease is dropped. Meanwhile it is not available to others: the next message of the stream gets a
//! different memory. No lock is held. When a connection ends, its memories move to the shelf of
//! their owner, a principal or an operation, if that owner can return.
//!
//! A value on lease is never written to, because its memory belongs to one message. Two habits
//! are detected, because noting a message that no other is compared with is wasted time: handlers
//! that keep their requests ([`Lease::into_owned`](deltasoap_core::Lease::into_owned)), and clients
//! that connect for one request each.
//!
//! Templates of responses wait in the second cache, under the same owners. They are out only while
//! a response is written, and go back before it is sent, so that the next response can be written
//! while a slow reader still receives the last one.

mod cache;
mod checkout;
mod connection;
mod options;
mod saved;

pub use connection::Connection;
pub use options::{MemoryBounds, Principal, Sharing};

pub(crate) use cache::Cache;
pub(crate) use checkout::{Checkout, MemorySource, TemplateSource};
pub(crate) use connection::ConnectionStore;
pub use saved::{LoadMemoriesError, LoadedMemories};
pub(crate) use saved::{SavedMemory, memories, read};

/// Identifies a stream. Memories of different streams are never exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The operation's number within the service.
    pub(crate) operation: usize,
    /// A hash of the beginning of a message, as the sender or we write it; see
    /// [`MemorySource::stream`]. It only selects a memory: the bytes of the messages are still
    /// compared.
    pub(crate) prologue: u64,
    /// The sender of the messages, if that is known and relevant.
    pub(crate) principal: Option<Principal>,
}
