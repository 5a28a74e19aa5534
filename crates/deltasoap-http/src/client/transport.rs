//! The default transport: HTTP/1.1 over a pool of connections, with TLS for `https` URLs.

use super::BoxError;
use crate::Body;
#[cfg(feature = "tls")]
use crate::tls::{ClientTls, Roots, TlsError};
use crate::transport::told;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
#[cfg(feature = "tls")]
use hyper_rustls::{HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
#[cfg(feature = "tls")]
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

/// How long connecting may take, without the handshake of TLS, and with it.
const CONNECT_TIME: Duration = Duration::from_secs(10);
#[cfg(feature = "tls")]
const SECURE_TIME: Duration = Duration::from_secs(20);

/// HTTP/1.1 with keep-alive: connections are pooled, and shared by all clones. Redirects are not followed.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    plain: Client<HttpConnector, Body>,
    /// For `https`; made when it is first needed, since the system's roots have to be read for it.
    #[cfg(feature = "tls")]
    secure: Arc<OnceLock<Secure>>,
}

#[cfg(feature = "tls")]
type Secure = Client<
    tower::util::BoxCloneSyncService<
        http::Uri,
        MaybeHttpsStream<hyper_util::rt::TokioIo<tokio::net::TcpStream>>,
        BoxError,
    >,
    Body,
>;

impl HttpTransport {
    /// A transport with a pool of its own. It trusts the servers whose certificates the system's roots vouch for.
    pub fn new() -> Self {
        HttpTransport {
            plain: pool().build(connector()),
            #[cfg(feature = "tls")]
            secure: Arc::default(),
        }
    }

    /// A transport with a pool of its own, and with these roots and this certificate for `https` URLs.
    ///
    /// ```no_run
    /// # fn client() -> Result<deltasoap_http::Client, Box<dyn std::error::Error>> {
    /// use deltasoap_http::{Client, ClientTls, HttpTransport, Identity, Roots};
    ///
    /// let roots = Roots::platform().and(Roots::from_pem(std::fs::read("company-ca.pem")?)?);
    /// let identity = Identity::from_pem(std::fs::read("client.pem")?, std::fs::read("client.key")?)?;
    /// let transport = HttpTransport::with_tls(ClientTls::new(roots).identity(identity))?;
    /// let client = Client::builder("https://soap.example.org/").build_with(transport)?;
    /// # Ok(client)
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the identity cannot be used.
    #[cfg(feature = "tls")]
    pub fn with_tls(tls: ClientTls) -> Result<Self, TlsError> {
        let secure = Arc::new(OnceLock::from(secure(tls)?));
        Ok(HttpTransport { secure, ..Self::new() })
    }

    #[cfg(feature = "tls")]
    fn secure(&self) -> Result<&Secure, TlsError> {
        if let Some(secure) = self.secure.get() {
            return Ok(secure);
        }
        let made = secure(ClientTls::new(Roots::platform()))?;
        Ok(self.secure.get_or_init(|| made))
    }

    fn exchange(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        #[cfg(feature = "tls")]
        if request.uri().scheme() == Some(&http::uri::Scheme::HTTPS) {
            let exchange = self.secure().map(|secure| secure.request(request));
            return Box::pin(async move { exchange?.await.map_err(told) });
        }
        let exchange = self.plain.request(request);
        Box::pin(async move { exchange.await.map_err(told) })
    }
}

fn pool() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new());
    builder
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIME));
    connector
}

/// Connections for `https` URLs and no others.
#[cfg(feature = "tls")]
fn secure(tls: ClientTls) -> Result<Secure, TlsError> {
    use tower::ServiceExt;
    let mut connector = connector();
    connector.enforce_http(false);
    let builder = HttpsConnectorBuilder::new().with_tls_config(tls.config()?);
    let connector = builder.https_only().enable_http1().wrap_connector(connector);
    let timed = tower::service_fn(move |url| {
        let connecting = connector.clone().oneshot(url);
        async move { tokio::time::timeout(SECURE_TIME, connecting).await? }
    });
    Ok(pool().build(tower::util::BoxCloneSyncService::new(timed)))
}

impl Default for HttpTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl tower::Service<Request<Body>> for HttpTransport {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.exchange(request)
    }
}
