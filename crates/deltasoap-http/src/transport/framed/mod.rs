//! Frames: exchanges over a stream of bytes without HTTP.
//!
//! A client opens a stream with the eight bytes `DSOAP/1` and a line feed, which distinguish it
//! immediately from HTTP, TLS and later versions. Frames follow in both directions: a kind (1
//! byte), a length (4 bytes, big-endian), and that many bytes.
//!
//! | kind | content |
//! |---|---|
//! | `H` | the head of a request or a response, at most 64 KiB |
//! | `D` | some of the body, any number of bytes |
//! | `E` | nothing: the body is complete |
//! | `X` | nothing: the body cannot be sent to its end |
//!
//! A request is `H D* E`, and so is its response. Exchanges follow one another on a connection; a
//! response may begin before its request has ended. A response whose request was not read to its
//! end is the last one on its connection.
//!
//! The head of a request is its target (2 bytes for the length, then the text: path and query of
//! the URL), that of a response is a status (2 bytes, with the numbers of HTTP). Fields follow, at
//! most 100: name (1 byte for the length, in lower case) and value (2 bytes for the length). They
//! are the fields of HTTP, without those about HTTP's own connection. `content-length` is present
//! if the length is known in advance, and the body then has exactly that length.
//!
//! [`reader`] reads, [`writer`] writes, [`head`] handles heads; [`body`] is an incoming body,
//! [`server`] and [`client`] are the two sides.
//!
//! Everything that the layers above rely on is kept: streamed bodies in both directions at the same
//! time, lengths known in advance, a mark that a body is complete. All fields are passed on, so
//! gzip, packages, authentication and actions need nothing further. `tests/it/transports.rs` makes
//! the same calls over HTTP and frames, on TCP, Unix sockets and memory, and without bytes.

mod body;
mod client;
mod error;
mod head;
mod reader;
mod server;
#[cfg(test)]
mod tests;
mod writer;

pub use body::FramesBody;
pub use client::FramesPool;
pub use error::FramesError;

use super::{Connector, Protocol, Served, Stream, Terms};
use crate::error::BoxError;
use std::time::Duration;

/// The first bytes of a client.
const PREFACE: [u8; 8] = *b"DSOAP/1\n";
/// Maximum size of a head in bytes.
const HEAD: u32 = 64 << 10;
/// Maximum number of fields of a head.
const FIELDS: usize = 100;

/// Kinds of frames.
mod kind {
    pub(super) const HEAD: u8 = b'H';
    pub(super) const DATA: u8 = b'D';
    pub(super) const END: u8 = b'E';
    pub(super) const ABORT: u8 = b'X';
}

/// Requests and responses as frames, without HTTP.
///
/// For programs of the same owner on one machine or network: frames do not pass through
/// proxies, and other implementations do not support them. They save the text of HTTP's heads.
///
/// Frames on the stream have a kind (1 byte), a length (4 bytes, big-endian) and that many bytes:
/// `H` a head, `D` some of a body, `E` the body's end, `X` an aborted body. A client begins with
/// the bytes `DSOAP/1` and a line feed. A request is `H D* E`, and so is its response.
///
/// The head of a request is its target, preceded by 2 bytes for the length, that of a response its
/// status in 2 bytes. Fields follow: a name, preceded by 1 byte for the length, and a value,
/// preceded by 2. Heads have at most 64 KiB and 100 fields.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    idle: usize,
    idle_timeout: Duration,
}

impl Default for Frames {
    /// Clients keep 32 idle connections for 20 s.
    fn default() -> Self {
        Frames { idle: 32, idle_timeout: Duration::from_secs(20) }
    }
}

impl Frames {
    /// Sets the maximum number of idle connections in a client's pool; default 32.
    #[must_use]
    pub fn max_idle(mut self, connections: usize) -> Self {
        self.idle = connections;
        self
    }

    /// Sets how long a client's pool keeps an idle connection, which should be less than the server
    /// waits for a request. Default 20 s.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }
}

impl Protocol for Frames {
    type RequestBody = FramesBody;
    type ResponseBody = FramesBody;
    type Pool<C: Connector> = FramesPool<C>;

    fn pool<C: Connector>(&self, connector: C) -> FramesPool<C> {
        FramesPool::new(connector, *self)
    }

    async fn serve<T: Stream, S: Served<FramesBody>>(
        &self,
        stream: T,
        service: S,
        terms: Terms,
    ) -> Result<(), BoxError> {
        Ok(server::serve(stream, service, terms).await?)
    }
}
