//! The layers below client and server: streams of bytes, and protocols that carry exchanges over
//! them.
//!
//! An exchange is a request and its response, each a head and a body that arrives in pieces. In
//! SOAP 1.2 (part 1, section 4) it is the *message exchange* that a binding to an underlying
//! protocol supports. Its types here are [`http::Request`] and [`http::Response`], whatever carries
//! them: a target, named fields (`Content-Type`, `SOAPAction`, `Authorization`), extensions with
//! data about the connection, and a [`Body`]. These types contain nothing of HTTP's wire format,
//! and all of tower works on them. So the client is generic over any [`tower::Service`] from
//! requests to responses, and [`SoapService`](crate::SoapService) is such a service. Three small
//! traits connect the two:
//!
//! - a [`Listener`] accepts streams: TCP, [`Unix sockets`](UnixListener), or [memory](memory());
//! - a [`Connector`] opens them;
//! - a [`Protocol`] determines the format on a stream: [`Http`] is one, [`Frames`] another, which
//!   shares nothing with it.
//!
//! A [`Server`](crate::Server) accepts any listener and any protocol, and [`Protocol::pool`] turns
//! any connector into a client's transport. Programs that need no bytes between the two call a
//! service [in memory](crate::InMemory).
//!
//! A server counts connections, performs TLS handshakes, shuts down gracefully, and attaches the
//! connection under which earlier messages are remembered, whatever the transport. Types of our own
//! in place of those of `http` would be the same, with a copy at each border.
//!
//! ```
//! use deltasoap::{Client, Lease, Server, Soap, SoapService};
//! use deltasoap::transport::{memory, Frames, Protocol};
//!
//! #[derive(Soap)]
//! #[soap(namespace = "urn:hello", message, response = Text)]
//! struct Text {
//!     text: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = async |request: Lease<Text>| Text { text: request.text.clone() };
//! let service = SoapService::builder().operation(echo).build()?;
//!
//! // The same with a `UnixListener` and a `UnixConnector`, or with `Http` in place of `Frames`.
//! let (listener, connector) = memory();
//! tokio::spawn(Server::over(listener, Frames::default()).serve(service));
//! let client = Client::builder("frames://localhost/hello").build_with(Frames::default().pool(connector))?;
//! let response = client.call(&Text { text: "hello".to_owned() }).await?;
//! assert_eq!(response.text, "hello");
//! # Ok(())
//! # }
//! ```

mod duplex;
mod framed;
mod http1;
#[cfg(feature = "http2")]
mod http2;
mod io;
#[cfg(feature = "_tls")]
mod secure;
mod tcp;
#[cfg(unix)]
mod unix;

pub use duplex::{MemoryConnector, MemoryListener, memory};
pub use framed::{Frames, FramesBody, FramesError, FramesPool};
#[cfg(all(feature = "client", feature = "http2"))]
pub(crate) use http1::Versions;
#[cfg(feature = "client")]
pub(crate) use http1::failed;
pub use http1::{HangUp, Http, HttpPool, HttpRequestBody};
pub(crate) use io::Io;
#[cfg(feature = "_tls")]
pub use secure::SecureConnector;
pub use tcp::{Peer, TcpConnector};
#[cfg(unix)]
pub use unix::{UnixConnector, UnixListener, UnixPeer};

use crate::body::Body;
use crate::error::BoxError;
use bytes::Bytes;
use http::{Extensions, Request, Response, Uri};
use std::any::TypeId;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::watch;
use tower::{Service, ServiceExt};

/// A stream of bytes in both directions, such as a socket.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for T {}

/// Returns true unless a stream is [in memory](memory()), where compressing a message only takes
/// time.
pub(crate) fn is_network<T: Stream>() -> bool {
    TypeId::of::<T>() != TypeId::of::<DuplexStream>()
}

/// The source of a [`Server`](crate::Server)'s connections.
pub trait Listener: Send + 'static {
    /// A connection.
    type Stream: Stream;

    /// Accepts the next connection. Also returns the extensions of all its requests, such as a
    /// [`Peer`]. The server attaches a [`Connection`](crate::Connection) itself. A dropped future
    /// must not lose a connection.
    ///
    /// # Errors
    /// Returns an error if no connection can be accepted; the server tries again after a moment.
    fn accept(&mut self) -> impl Future<Output = std::io::Result<(Self::Stream, Extensions)>> + Send;

    /// Moves a stream to the current runtime, which differs from the one that accepted it: tasks
    /// that wait for the stream are woken there. Called if a server has [its own
    /// threads](crate::Server::worker_threads). Default: returns the stream unchanged.
    ///
    /// # Errors
    /// Returns an error if the runtime cannot take it; the connection is then closed.
    fn adopt(stream: Self::Stream) -> std::io::Result<Self::Stream> {
        Ok(stream)
    }
}

/// Opens connections for a client.
pub trait Connector: Clone + Send + Sync + 'static {
    /// A connection.
    type Stream: Stream;

    /// Connects to the host of a URL, or to the connector's own target.
    ///
    /// # Errors
    /// Returns an error if no connection can be opened. Nothing was sent then, and the client may
    /// try again.
    fn connect(&self, url: &Uri) -> impl Future<Output = std::io::Result<Self::Stream>> + Send;
}

/// A service that can be served: any cheap [`tower::Service`] that never fails, such as
/// [`SoapService`](crate::SoapService), a router of [`axum`](https://docs.rs/axum), or a stack of
/// layers. `I` is the body of its requests.
pub trait Served<I>: Clone + Send + 'static {
    /// The body of its responses.
    type Body: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;

    /// Answers a request.
    fn answer(&self, request: Request<I>) -> impl Future<Output = Response<Self::Body>> + Send + use<Self, I>;
}

impl<S, I, B> Served<I> for S
where
    S: Service<Request<I>, Response = Response<B>, Error = Infallible, Future: Send> + Clone + Send + 'static,
    I: Send,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;

    fn answer(&self, request: Request<I>) -> impl Future<Output = Response<B>> + Send + use<S, I, B> {
        let answer = self.clone().oneshot(request);
        async move {
            let Ok(response) = answer.await;
            response
        }
    }
}

/// A format of exchanges on streams of bytes, for both sides.
///
/// A protocol must guarantee that bodies are streamed and never held in full, that a body that ends
/// early is an error and never taken for complete, and that fields arrive as they were sent. If the
/// sender knows the length, the body's `size_hint` returns it.
pub trait Protocol: Clone + Send + Sync + 'static {
    /// The body of a request on the server.
    type RequestBody: http_body::Body<Data = Bytes> + Send + 'static;

    /// The client's transport: keeps connections, and shares them among its clones.
    type Pool<C: Connector>: Service<Request<Body>, Response = Response<Self::ResponseBody>, Error = BoxError, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static;

    /// The body of a response on the client.
    type ResponseBody: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static;

    /// Returns the names by which TLS negotiates this protocol (RFC 7301), the preferred one first.
    /// Default: none, so that nothing is negotiated.
    fn alpn(&self) -> &'static [&'static [u8]] {
        &[]
    }

    /// Creates a pool of connections of a connector, for
    /// [`ClientBuilder::build_with`](crate::ClientBuilder::build_with).
    fn pool<C: Connector>(&self, connector: C) -> Self::Pool<C>;

    /// Serves the exchanges of one stream to the end of the stream; or of the current exchanges,
    /// once [`Terms::stopped`] ends.
    ///
    /// # Errors
    /// Returns an error if the stream breaks, or its data do not follow the protocol.
    fn serve<T: Stream, S: Served<Self::RequestBody>>(
        &self,
        stream: T,
        service: S,
        terms: Terms,
    ) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// The terms that a server sets for a connection.
#[derive(Debug, Clone)]
pub struct Terms {
    limits: ConnectionLimits,
    stop: watch::Receiver<bool>,
}

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) head_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) max_headers: usize,
    pub(crate) half_closed_timeout: Duration,
}

impl Terms {
    pub(crate) fn new(limits: ConnectionLimits, stop: watch::Receiver<bool>) -> Self {
        Terms { limits, stop }
    }

    /// Returns the maximum time for a request's head, and maximum idle time of the connection.
    pub fn head_timeout(&self) -> Duration {
        self.limits.head_timeout
    }

    /// Returns the maximum time in which a client accepts none of a response's bytes. The server
    /// enforces it: writing to the stream then fails.
    pub fn write_timeout(&self) -> Duration {
        self.limits.write_timeout
    }

    /// Returns how long a client that has closed its half may wait for its answer. The server
    /// enforces it.
    pub(crate) fn half_closed_timeout(&self) -> Duration {
        self.limits.half_closed_timeout
    }

    /// Returns the maximum number of fields of a request's head.
    pub fn max_headers(&self) -> usize {
        self.limits.max_headers
    }

    /// Ends when the server is asked to stop: connections should then be closed as soon as they
    /// have no exchange.
    pub async fn stopped(&mut self) {
        // The server keeps the sender, so only the signal ends the wait. Without a server, the wait
        // ends immediately.
        let _ = self.stop.wait_for(|stopped| *stopped).await;
    }

    /// Ends a moment after [`stopped`](Self::stopped): a connection that was just opened has this time
    /// for its first exchange, so that a client that connected in time is not turned away.
    pub(crate) async fn last_call(&mut self) {
        self.stopped().await;
        tokio::time::sleep(LAST_CALL).await;
    }
}

/// The time that new connections have when the server is asked to stop.
pub(crate) const LAST_CALL: Duration = Duration::from_millis(500);

/// The error when no connection could be opened, or the server has not processed the request: in
/// HTTP/2 it can say so (RFC 9113, 8.7).
///
/// Retrying is safe, whatever the request; see [`Retries`](crate::Retries). It is searched for
/// among the causes of a transport's error, so that other transports may use it too.
#[derive(Debug)]
pub struct Unsent(pub BoxError);

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An exchange began, and the server has refused it.
        let is_refused = self.0.is::<hyper_util::client::legacy::Error>();
        f.write_str(if is_refused { "the server did not process the request" } else { "cannot connect" })
    }
}

impl std::error::Error for Unsent {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
