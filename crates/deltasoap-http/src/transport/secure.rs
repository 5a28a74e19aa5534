//! TLS over any connection.

use super::{Connector, Stream};
use crate::tls::{ClientTls, TlsError, explained};
use http::Uri;
use rustls::pki_types::ServerName;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::client::TlsStream;

/// Maximum time of a handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Adds TLS to the connections of another connector, to servers with
/// [`Server::tls`](crate::Server::tls).
///
/// It is for protocols that have no `https` of their own.
///
/// ```no_run
/// # fn client() -> Result<(), Box<dyn std::error::Error>> {
/// use deltasoap_http::transport::{Frames, Protocol, SecureConnector, TcpConnector};
/// use deltasoap_http::{Client, ClientTls, Roots};
///
/// let connector = SecureConnector::new(TcpConnector::new(), ClientTls::new(Roots::platform()))?;
/// let client = Client::with_service("frames://soap.example.org:7000/", Frames::default().pool(connector))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SecureConnector<C> {
    connector: C,
    tls: tokio_rustls::TlsConnector,
}

impl<C: Connector> SecureConnector<C> {
    /// Adds TLS with these roots and this certificate. The server's certificate must match the host
    /// of the URL; a handshake may take 10 s.
    ///
    /// # Errors
    /// Returns an error if the identity cannot be used.
    pub fn new(connector: C, tls: ClientTls) -> Result<Self, TlsError> {
        Ok(SecureConnector { connector, tls: Arc::new(tls.config()?).into() })
    }
}

impl<C> fmt::Debug for SecureConnector<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecureConnector").finish_non_exhaustive()
    }
}

impl<C: Connector> Connector for SecureConnector<C>
where
    TlsStream<C::Stream>: Stream,
{
    type Stream = TlsStream<C::Stream>;

    async fn connect(&self, url: &Uri) -> io::Result<Self::Stream> {
        let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let stream = self.connector.connect(url).await?;
        let connected = tokio::time::timeout(HANDSHAKE_TIME, self.tls.connect(name, stream)).await?;
        connected.map_err(|error| io::Error::new(error.kind(), explained(error.into())))
    }
}
