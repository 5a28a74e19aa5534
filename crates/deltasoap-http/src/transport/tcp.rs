//! TCP, on both sides.

use super::{Connector, Listener};
use http::{Extensions, Uri};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Default maximum time for connecting.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The address that a request came from, attached to requests over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, Extensions)> {
        let (stream, peer) = TcpListener::accept(self).await?;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let mut extensions = Extensions::new();
        extensions.insert(Peer(peer));
        Ok((stream, extensions))
    }

    fn adopt(stream: TcpStream) -> io::Result<TcpStream> {
        TcpStream::from_std(stream.into_std()?)
    }
}

/// Connects over TCP to host and port of the URL; the port may be missing with the schemes `http`
/// and `https`.
#[derive(Debug, Clone)]
pub struct TcpConnector {
    timeout: Duration,
}

impl Default for TcpConnector {
    fn default() -> Self {
        TcpConnector { timeout: CONNECT_TIME }
    }
}

impl TcpConnector {
    /// Creates a connector with a limit of 10 s.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum time for connecting, including name resolution.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl Connector for TcpConnector {
    type Stream = TcpStream;

    async fn connect(&self, url: &Uri) -> io::Result<TcpStream> {
        let stream = tokio::time::timeout(self.timeout, TcpStream::connect(address(url)?)).await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Returns the host and port of a URL. The brackets of an IPv6 address are removed.
fn address(url: &Uri) -> io::Result<(&str, u16)> {
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_u16().or(match url.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    });
    let port = port.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the URL has no port"))?;
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_from_urls() {
        let of = |url: &str| address(&url.parse().expect("a URL")).map(|(host, port)| (host.to_owned(), port)).ok();
        assert_eq!(of("http://a.example/x"), Some(("a.example".to_owned(), 80)));
        assert_eq!(of("https://a.example"), Some(("a.example".to_owned(), 443)));
        assert_eq!(of("frames://[::1]:7000/x"), Some(("::1".to_owned(), 7000)));
        assert_eq!(of("frames://a.example/x"), None);
    }
}
