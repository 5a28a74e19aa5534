//! Streams within the process, without a network.

use super::{Connector, Listener};
use http::{Extensions, Uri};
use std::io;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// Number of bytes that a stream holds before its writer has to wait for the reader.
const BUFFER: usize = 64 << 10;
/// Maximum number of unaccepted connections before a client has to wait.
const BACKLOG: usize = 128;

/// Creates a listener and a connector to it, within this process: they behave like sockets, for
/// tests.
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
            // No connector is left.
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
