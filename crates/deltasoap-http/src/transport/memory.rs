//! No network at all: streams within the process, and services called without a stream.

use super::{Connector, Listener};
use crate::{Body, Connection};
use http::{Extensions, Request, Uri};
use std::io;
use std::task::{Context, Poll};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tower::Service;

/// Bytes that a stream holds before its writer has to wait for the reader.
const BUFFER: usize = 64 << 10;
/// Connections that wait to be accepted before a client has to wait.
const BACKLOG: usize = 128;

/// A listener and what connects to it, within this process: all that happens on sockets without any, for tests.
pub fn memory() -> (MemoryListener, MemoryConnector) {
    let (connector, listener) = mpsc::channel(BACKLOG);
    (MemoryListener(listener), MemoryConnector(connector))
}

/// Accepts the connections of [`MemoryConnector`]s; see [`memory`].
#[derive(Debug)]
pub struct MemoryListener(mpsc::Receiver<DuplexStream>);

impl Listener for MemoryListener {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<(DuplexStream, Extensions)> {
        match self.0.recv().await {
            Some(stream) => Ok((stream, Extensions::new())),
            // Nobody is left who could connect.
            None => std::future::pending().await,
        }
    }
}

/// Connects to a [`MemoryListener`], whatever host the URL names; see [`memory`].
#[derive(Debug, Clone)]
pub struct MemoryConnector(mpsc::Sender<DuplexStream>);

impl Connector for MemoryConnector {
    type Stream = DuplexStream;

    async fn connect(&self, _: &Uri) -> io::Result<DuplexStream> {
        let (near, far) = tokio::io::duplex(BUFFER);
        self.0.send(far).await.map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }
}

/// Calls a service as over one connection, without any bytes of a protocol in between: what is left is the toolkit's own time.
///
/// To a service that is called as it is each request is nobody's; this one attaches a [`Connection`], which earlier messages are
/// remembered by. Clones share it. A call runs on the task of its caller.
///
/// ```
/// use deltasoap_http::transport::InMemory;
/// use deltasoap_http::{Client, SoapService};
///
/// # fn client(service: SoapService) -> Result<(), deltasoap_http::InvalidUrl> {
/// let client = Client::with_service("http://localhost/", InMemory::new(service))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct InMemory<S> {
    service: S,
    connection: Connection,
}

impl<S> InMemory<S> {
    /// A new connection to a service.
    pub fn new(service: S) -> Self {
        InMemory { service, connection: Connection::new() }
    }
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for InMemory<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> S::Future {
        request.extensions_mut().insert(self.connection.clone());
        self.service.call(request)
    }
}
