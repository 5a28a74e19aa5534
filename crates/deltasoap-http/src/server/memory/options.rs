//! Options: whose memories may be used for whom, and how many are kept.

use std::sync::Arc;

/// The authenticated identity of a request's sender.
///
/// A layer around the service, which knows how clients authenticate, attaches it to the request's
/// extensions. Requests of one principal share the service's memory of earlier messages, across all
/// of the principal's connections and after they are closed. Attach nothing that a client can
/// choose freely: see [`Sharing`].
///
/// ```
/// use deltasoap_http::Principal;
///
/// fn authenticated<B>(mut request: http::Request<B>, user: &str) -> http::Request<B> {
///     request.extensions_mut().insert(Principal::new(user));
///     request
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub Arc<str>);

impl Principal {
    /// Creates a principal with this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Principal(name.into())
    }
}

/// Whose earlier messages a message may be compared with, and whose earlier responses a response is
/// written against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Sharing {
    /// Messages of the same [`Principal`]; for a request without one, of the same connection.
    #[default]
    Principal,
    /// Messages of all clients of the operation, as in *Differential Deserialization*: this is
    /// useful for devices that connect anew for each message.
    ///
    /// Values never reach another client, but timing does. A message that resembles the one before
    /// is read or written faster. So a client that can measure how long its own messages take
    /// learns how much they resemble what another client has sent or received, and can find out its
    /// content by trying. Choose this only where clients may know each other's messages.
    Operation,
}

/// Bounds on a service's memory of earlier messages: on memories of requests, and on templates of
/// responses.
///
/// If a bound is exceeded, the least recently used memory is dropped. The next message of that
/// stream is then read or written in full, as all messages are without differential decoding and
/// serialization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBounds {
    /// Memories, or sets of templates, kept for one connection. Default 8.
    pub per_connection: usize,
    /// Memories, or sets of templates, kept for one principal besides its connections. Default 16.
    pub per_principal: usize,
    /// Memories, or sets of templates, kept for one operation and style of sender besides the
    /// connections, with [`Sharing::Operation`]. Default 64.
    pub per_operation: usize,
    /// Bytes kept by the service in total, including connections: received buffers by their
    /// capacity and the notes about them, without the values themselves. Templates have a separate
    /// bound of the same size. Memories that a handler holds on lease are not counted meanwhile,
    /// nor parts that a template has changed while it was still being sent. Default 256 MiB.
    pub total_bytes: usize,
}

impl Default for MemoryBounds {
    fn default() -> Self {
        MemoryBounds { per_connection: 8, per_principal: 16, per_operation: 64, total_bytes: 256 << 20 }
    }
}
