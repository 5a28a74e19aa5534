//! Unix sockets, named by paths.

use super::{Connector, Listener};
use http::{Extensions, Uri};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::net::unix::UCred;

/// Listens on a Unix socket. Requests carry a [`UnixPeer`], but no [`Peer`](crate::Peer), since the
/// peer has no address.
///
/// The permissions of the socket's file and of its folder determine who may connect: create the
/// folder first, with suitable permissions.
#[derive(Debug)]
pub struct UnixListener {
    listener: tokio::net::UnixListener,
    path: PathBuf,
}

impl UnixListener {
    /// Listens on a path that must not exist yet. The file is removed when the listener is dropped.
    ///
    /// # Errors
    /// Returns an error if the path exists, is too long (about 100 bytes), or is not writable.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        Ok(UnixListener { listener: tokio::net::UnixListener::bind(&path)?, path })
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        // The file may have been removed already.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<(UnixStream, Extensions)> {
        let (stream, _) = self.listener.accept().await?;
        let mut extensions = Extensions::new();
        match stream.peer_cred() {
            Ok(credentials) => _ = extensions.insert(UnixPeer::new(credentials)),
            Err(error) => tracing::debug!(%error, "the system does not report the peer's credentials"),
        }
        Ok((stream, extensions))
    }

    fn adopt(stream: UnixStream) -> io::Result<UnixStream> {
        UnixStream::from_std(stream.into_std()?)
    }
}

/// The process at the other end of a Unix socket, as reported by the system when it connected.
/// Found in a request's extensions, also by [`Authenticate`](crate::Authenticate).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnixPeer {
    /// The user ID.
    pub uid: u32,
    /// The group ID.
    pub gid: u32,
    /// The process ID, if the system reports it. The process may have ended, and the ID
    /// may have been reused.
    pub pid: Option<i32>,
}

impl UnixPeer {
    fn new(credentials: UCred) -> Self {
        UnixPeer { uid: credentials.uid(), gid: credentials.gid(), pid: credentials.pid() }
    }
}

/// Connects to a Unix socket, whatever host the URL names.
#[derive(Debug, Clone)]
pub struct UnixConnector(Arc<Path>);

impl UnixConnector {
    /// Creates a connector to the socket at a path.
    pub fn new(path: impl AsRef<Path>) -> Self {
        UnixConnector(path.as_ref().into())
    }
}

impl Connector for UnixConnector {
    type Stream = UnixStream;

    async fn connect(&self, _: &Uri) -> io::Result<UnixStream> {
        UnixStream::connect(&self.0).await
    }
}
