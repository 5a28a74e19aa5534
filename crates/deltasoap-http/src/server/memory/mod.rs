//! Where memories of differential decoding wait between a service's messages, and the templates of its responses, in two
//! caches of one make.
//!
//! ```text
//!   request ──> Place: which connection, which principal
//!                 │ take                           ┌────────────────────────────┐
//!                 ├──> the connection's shelf ─────┤ Cache, one a service:      │
//!                 │         │ none there           │ shards of shelves, a count │
//!                 └──> the owner's shelf ──────────┤ of bytes, eviction         │
//!                           │ none there           └────────────────────────────┘
//!                           └──> a new memory
//! ```
//!
//! A memory is taken out, used by one message alone, leased to its handler, and comes home when the lease is dropped. While
//! it is out nobody else sees it: the next message of the stream gets another. No lock is held meanwhile. When a connection
//! ends, its memories move to the shelf of their owner, a principal or an operation, if that owner can be met again.

mod cache;
mod checkout;
mod connection;
mod options;

pub use connection::Connection;
pub use options::{MemoryBounds, Principal, Sharing};

pub(crate) use cache::Cache;
pub(crate) use checkout::{Checkout, Place, TemplatePlace};
pub(crate) use connection::Store;

/// What a memory is for. Memories of different streams are never exchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The operation's number within the service.
    pub(crate) operation: usize,
    /// A hash of how the sender begins a message, or of how we do; see [`Place::stream`]. It only chooses among memories: what is compared in
    /// the end are the messages' bytes.
    pub(crate) prologue: u64,
    /// Whose messages they are, where that is known and counts.
    pub(crate) principal: Option<Principal>,
}
