//! The default transport: HTTP over a pool of connections, with TLS for `https` URLs, and proxies if
//! configured.
//!
//! [`route`] opens connections, to the host itself or through a [`proxy`].

mod proxy;
mod route;

pub use proxy::{InvalidProxy, Proxy};

use super::error::shown;
use crate::body::Body;
use crate::error::BoxError;
use crate::settle::Connections;
#[cfg(feature = "_tls")]
use crate::tls::{ClientTls, Roots, TlsError};
#[cfg(feature = "http2")]
use crate::transport::Versions;
use crate::transport::failed;
use futures_util::future::BoxFuture;
use http::header::PROXY_AUTHORIZATION;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::TokioTimer;
pub(super) use route::Unreachable;
use route::{AddressCheck, Route};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
#[cfg(feature = "_tls")]
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Default maximum time for connecting.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Default time for which idle connections are kept.
const IDLE_TIME: Duration = Duration::from_secs(90);

/// How long a connection of HTTP/2 with calls may be silent, and how long it may take to answer then,
/// before it is given up: all calls to a server share it.
#[cfg(feature = "http2")]
const PING: Duration = Duration::from_secs(15);

/// HTTP/1.1 with keep-alive: connections are pooled, and shared by all clones. Each exchange is
/// logged (`tracing`, at the level `DEBUG`).
///
/// With the feature `http2`, servers may choose HTTP/2 during the TLS handshake. Then all calls of a
/// host share a connection.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    plain: Client<Route, Body>,
    /// Connections for `https`; created on first use, since that requires reading the system's
    /// roots.
    #[cfg(feature = "_tls")]
    secure: Arc<OnceLock<Secure>>,
    settings: Arc<HttpTransportBuilder>,
}

#[cfg(feature = "_tls")]
type Secure = Client<
    tower::util::BoxCloneSyncService<
        http::Uri,
        hyper_rustls::MaybeHttpsStream<crate::transport::Io<tokio::net::TcpStream>>,
        BoxError,
    >,
    Body,
>;

impl HttpTransport {
    /// Creates a transport with its own pool. It trusts servers with certificates signed by the
    /// system's roots.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Starts to build a transport.
    ///
    /// ```no_run
    /// # fn client() -> Result<deltasoap_http::Client, Box<dyn std::error::Error>> {
    /// use deltasoap_http::{Client, HttpTransport, Proxy};
    /// use std::time::Duration;
    ///
    /// let transport = HttpTransport::builder()
    ///     .proxy(Proxy::new("http://user:password@proxy.example:3128", "localhost, .internal.example")?)
    ///     .connect_timeout(Duration::from_secs(3))
    ///     .idle_timeout(Duration::from_secs(15))
    ///     .max_idle_per_host(8)
    ///     .build();
    /// let client = Client::builder("https://soap.example.org/").build_with(transport)?;
    /// # Ok(client)
    /// # }
    /// ```
    pub fn builder() -> HttpTransportBuilder {
        HttpTransportBuilder {
            proxy: None,
            check: None,
            connect_timeout: CONNECT_TIME,
            idle_timeout: Some(IDLE_TIME),
            max_idle_per_host: usize::MAX,
            #[cfg(feature = "http2")]
            versions: Versions::Any,
            #[cfg(feature = "_tls")]
            tls: None,
        }
    }

    /// Creates a transport with its own pool, and with these roots and this certificate for `https`
    /// URLs.
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
    /// Returns an error if the identity cannot be used.
    #[cfg(feature = "_tls")]
    pub fn with_tls(tls: ClientTls) -> Result<Self, TlsError> {
        Ok(Self::builder().tls(tls)?.build())
    }

    #[cfg(feature = "_tls")]
    fn secure(&self) -> Result<&Secure, TlsError> {
        if let Some(secure) = self.secure.get() {
            return Ok(secure);
        }
        let config = match &self.settings.tls {
            Some(config) => config.clone(),
            None => ClientTls::new(Roots::platform()).config()?,
        };
        Ok(self.secure.get_or_init(|| self.settings.secure(config)))
    }

    fn exchange(&self, mut request: Request<Body>) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        if let Some(reason) = refusal(request.uri().scheme_str(), cfg!(feature = "_tls")) {
            let error = format!("{}: {reason}", shown(request.uri()));
            return Box::pin(async move { Err(error.into()) });
        }
        #[cfg(feature = "_tls")]
        if request.uri().scheme() == Some(&http::uri::Scheme::HTTPS) {
            let exchange = self.secure().map(|secure| secure.request(request));
            return Box::pin(async move { exchange?.await.map_err(|error| crate::tls::explained(failed(error))) });
        }
        let for_proxy = self.settings.proxy.as_ref().and_then(|proxy| proxy.authorization(request.uri()));
        request.headers_mut().extend(for_proxy.map(|value| (PROXY_AUTHORIZATION, value)));
        let exchange = self.plain.request(request);
        Box::pin(async move { exchange.await.map_err(failed) })
    }
}

/// Returns the reason not to send a request to a URL with this scheme. In particular, nothing for
/// `https` is sent in clear text.
fn refusal(scheme: Option<&str>, has_tls: bool) -> Option<&'static str> {
    match scheme {
        Some("http") => None,
        Some("https") if has_tls => None,
        Some("https") => Some("HTTPS requires the feature `tls` or `tls-aws-lc` of deltasoap"),
        _ => Some("only http and https are supported"),
    }
}

/// A transport under construction; see [`HttpTransport::builder`].
#[derive(Clone)]
pub struct HttpTransportBuilder {
    proxy: Option<Proxy>,
    check: Option<AddressCheck>,
    connect_timeout: Duration,
    idle_timeout: Option<Duration>,
    max_idle_per_host: usize,
    #[cfg(feature = "http2")]
    versions: Versions,
    #[cfg(feature = "_tls")]
    tls: Option<rustls::ClientConfig>,
}

impl HttpTransportBuilder {
    /// Sets a proxy for requests. Default: none, regardless of the environment; see
    /// [`Proxy::from_env`].
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Sets a check that decides which of the addresses of a host's name may be connected to.
    ///
    /// `check` takes the resolved addresses, and returns those that may be tried, or the error to
    /// fail with. Their ports have no meaning. It is not called if the URL itself contains an
    /// address, nor for a proxy's name, nor for names that a proxy resolves.
    #[must_use]
    pub fn check_addresses(
        mut self,
        check: impl Fn(Vec<SocketAddr>) -> Result<Vec<SocketAddr>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Sets the maximum time for connecting, from resolving the name to the end of a proxy's
    /// handshake; a TLS handshake may take as long again. Default 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long an idle connection is kept; `None` for as long as the server keeps it. Default
    /// 90 s.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.idle_timeout = timeout.into();
        self
    }

    /// Sets the maximum number of idle connections to a host; with 0 each call has its own.
    /// Default: no limit; as many as there were concurrent calls.
    #[must_use]
    pub fn max_idle_per_host(mut self, connections: usize) -> Self {
        self.max_idle_per_host = connections;
        self
    }

    /// Sends HTTP/1.1 only, also to servers that prefer HTTP/2.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.versions = Versions::Http1;
        self
    }

    /// Sends HTTP/2 only, without asking the server for it (RFC 9113, 3.3). For servers that are known
    /// to have it; without TLS, there is no other way to HTTP/2.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn http2_prior_knowledge(mut self) -> Self {
        self.versions = Versions::Http2;
        self
    }

    /// Sets roots and certificate for `https` URLs. Default: the system's roots, and no
    /// certificate.
    ///
    /// # Errors
    /// Returns an error if the identity cannot be used.
    #[cfg(feature = "_tls")]
    pub fn tls(mut self, tls: ClientTls) -> Result<Self, TlsError> {
        self.tls = Some(tls.config()?);
        Ok(self)
    }

    /// Builds the transport.
    pub fn build(self) -> HttpTransport {
        HttpTransport {
            plain: self.pool().build(self.route()),
            #[cfg(feature = "_tls")]
            secure: Arc::default(),
            settings: Arc::new(self),
        }
    }

    fn pool(&self) -> Builder {
        let mut builder = Client::builder(Connections);
        builder.pool_timer(TokioTimer::new());
        // Accepts header fields folded over several lines, which old servers send (RFC 9112, 5.2).
        builder.http1_allow_obsolete_multiline_headers_in_responses(true);
        builder.pool_idle_timeout(self.idle_timeout).pool_max_idle_per_host(self.max_idle_per_host);
        #[cfg(feature = "http2")]
        builder
            .http2_only(self.versions == Versions::Http2)
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PING);
        builder
    }

    fn route(&self) -> Route {
        Route::new(self.proxy.clone(), self.check.clone(), self.connect_timeout)
    }

    /// Creates the client for `https` URLs.
    #[cfg(feature = "_tls")]
    fn secure(&self, config: rustls::ClientConfig) -> Secure {
        use tower::ServiceExt;
        let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config);
        let builder = builder.https_only();
        #[cfg(not(feature = "http2"))]
        let connector = builder.enable_http1().wrap_connector(self.route());
        #[cfg(feature = "http2")]
        let connector = match self.versions {
            Versions::Any => builder.enable_all_versions().wrap_connector(self.route()),
            Versions::Http1 => builder.enable_http1().wrap_connector(self.route()),
            Versions::Http2 => builder.enable_http2().wrap_connector(self.route()),
        };
        let time = self.connect_timeout.saturating_mul(2);
        let timed = tower::service_fn(move |url: Uri| {
            let connecting = connector.clone().oneshot(url.clone());
            async move { tokio::time::timeout(time, connecting).await.map_err(|_| route::too_slow(&url, time))? }
        });
        self.pool().build(tower::util::BoxCloneSyncService::new(timed))
    }
}

impl fmt::Debug for HttpTransportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransportBuilder")
            .field("proxy", &self.proxy)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_idle_per_host", &self.max_idle_per_host)
            .finish_non_exhaustive()
    }
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
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return self.exchange(request);
        }
        let (method, url) = (request.method().clone(), shown(request.uri()));
        let (exchange, start) = (self.exchange(request), Instant::now());
        Box::pin(async move {
            let result = exchange.await;
            let time = start.elapsed();
            match &result {
                Ok(response) => tracing::debug!(%method, url, status = response.status().as_u16(), ?time, "answered"),
                Err(error) => tracing::debug!(%method, url, %error, ?time, "not answered"),
            }
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn nothing_for_https_is_sent_in_clear_text() {
        assert_eq!(refusal(Some("http"), false), None);
        assert_eq!(refusal(Some("https"), true), None);
        assert!(refusal(Some("https"), false).is_some_and(|reason| reason.contains("the feature `tls`")));
        for scheme in [Some("ftp"), Some("frames"), None] {
            assert!(refusal(scheme, true).is_some_and(|reason| reason.contains("only http and https")));
        }
    }
}
