//! Opens connections: to the host of a URL, or through a proxy.

use super::proxy::{Proxy, ProxyProtocol, protocol};
use crate::error::BoxError;
use crate::transport::{Io, Unsent};
use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::{Authority, Scheme};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt};

/// The port of SOCKS (RFC 1928, 3).
const SOCKS: u16 = 1080;

/// Connects over TCP, through a proxy if one is set.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// Connects to hosts.
    tcp: Tcp,
    /// Connects to the proxy.
    to_proxy: Tcp,
    proxy: Option<Proxy>,
    timeout: Duration,
}

impl Route {
    /// Creates a route. `check` is for the addresses of hosts that are connected to without a
    /// proxy.
    pub(super) fn new(proxy: Option<Proxy>, check: Option<AddressCheck>, timeout: Duration) -> Self {
        Route { tcp: Tcp::new(check), to_proxy: Tcp::new(None), proxy, timeout }
    }

    async fn connect(self, url: Uri) -> Result<Io<TcpStream>, BoxError> {
        if let Some(proxy) = &self.proxy {
            proxy.check(&url).map_err(|error| Unsent(error.into()))?;
        }
        let proxy = self.proxy.as_ref().and_then(|proxy| Some((proxy.clone(), proxy.to(&url)?)));
        let (time, is_reached) = (self.timeout, AtomicBool::new(false));
        let connecting = async {
            match &proxy {
                Some((proxy, intercept)) => self.through(proxy, intercept, url.clone(), &is_reached).await,
                None => {
                    let stream = self.tcp.oneshot(url.clone()).await;
                    let stream = stream.map_err(|Unsent(error)| Unsent(Unreachable::new(&url, error).into()))?;
                    Ok(Io::from(stream).expecting(&url))
                }
            }
        };
        match tokio::time::timeout(time, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(Unsent(match proxy {
                Some((proxy, _)) => proxy.error(&url, is_reached.load(Ordering::Relaxed), too_slow(&url, time)).into(),
                None => too_slow(&url, time),
            })
            .into()),
        }
    }

    /// Connects to the host through a proxy. Records when the proxy itself is reached.
    async fn through(
        self,
        proxy: &Proxy,
        intercept: &Intercept,
        url: Uri,
        is_reached: &AtomicBool,
    ) -> Result<Io<TcpStream>, BoxError> {
        let failed = |error: BoxError| proxy.error(&url, true, error);
        let is_secure = url.scheme() == Some(&Scheme::HTTPS);
        let protocol = protocol(intercept).ok_or_else(|| failed("proxies of this kind are not supported".into()))?;
        let address = match protocol {
            ProxyProtocol::Http => intercept.uri().clone(),
            ProxyProtocol::Socks5 => with_port(intercept.uri(), SOCKS)?,
        };
        let stream = self.to_proxy.oneshot(address).await;
        let stream = stream.map_err(|Unsent(error)| Unsent(proxy.error(&url, false, error).into()))?;
        is_reached.store(true, Ordering::Relaxed);
        match protocol {
            ProxyProtocol::Http if is_secure => {
                let tunnel = tunnel(intercept, Connected(Some(stream))).oneshot(url.clone()).await;
                Ok(tunnel.map_err(|error| failed(refused(error.into())))?.into())
            }
            ProxyProtocol::Http => Ok(Io::from(stream).proxied()),
            ProxyProtocol::Socks5 => {
                let host = with_port(&url, if is_secure { 443 } else { 80 })?;
                let stream = socks(intercept, Connected(Some(stream))).oneshot(host).await;
                Ok(Io::from(stream.map_err(|error| failed(error.into()))?).expecting(&url))
            }
        }
    }
}

fn tunnel(proxy: &Intercept, connected: Connected) -> Tunnel<Connected> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connected);
    match proxy.basic_auth() {
        Some(authorization) => tunnel.with_auth(authorization.clone()),
        None => tunnel,
    }
}

/// Converts an error: hyper reports of an HTTP proxy's answer only that it was neither 200 nor 407.
fn refused(error: BoxError) -> BoxError {
    if error.to_string().ends_with("unsuccessful") { "it refuses to open a tunnel".into() } else { error }
}

fn socks(proxy: &Intercept, connected: Connected) -> SocksV5<Connected> {
    let socks = SocksV5::new(proxy.uri().clone(), connected);
    match proxy.raw_auth() {
        Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
        None => socks,
    }
}

/// Returns the error of a connection that takes too long.
pub(super) fn too_slow(url: &Uri, time: Duration) -> BoxError {
    let (host, time) = (host_of(url), time.as_secs_f64());
    format!("no connection within {time} s to {host}, the limit set by HttpTransportBuilder::connect_timeout").into()
}

/// Returns the host of a URL with its port, if it names one.
fn host_of(url: &Uri) -> &str {
    let authority = url.authority().map_or("", Authority::as_str);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// The error of a host that cannot be reached, with the remedy.
#[derive(Debug)]
pub(in crate::client) struct Unreachable {
    host: String,
    source: BoxError,
}

impl Unreachable {
    fn new(url: &Uri, source: BoxError) -> Self {
        Unreachable { host: host_of(url).to_owned(), source }
    }

    /// Returns the system's kind of the error, if it comes from the system.
    fn kind(&self) -> Option<io::ErrorKind> {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*self.source);
        while let Some(current) = cause {
            if let Some(error) = current.downcast_ref::<io::Error>() {
                return Some(error.kind());
            }
            cause = current.source();
        }
        None
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
        let host = &self.host;
        match self.kind() {
            Some(ConnectionRefused) => write!(f, "nothing listens at {host}: start the service, or correct the URL"),
            Some(HostUnreachable | NetworkUnreachable) => {
                write!(f, "there is no route to {host}: check the network, or set HttpTransportBuilder::proxy")
            }
            _ => write!(f, "cannot connect to {host}: check the URL, or set HttpTransportBuilder::proxy"),
        }
    }
}

impl StdError for Unreachable {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// Returns the URL with its own port, or the given one.
fn with_port(url: &Uri, port: u16) -> Result<Uri, http::Error> {
    let (host, port) = (url.host().unwrap_or_default(), url.port_u16().unwrap_or(port));
    let mut parts = url.clone().into_parts();
    parts.authority = Some(Authority::try_from(format!("{host}:{port}"))?);
    Ok(Uri::from_parts(parts)?)
}

impl Service<Uri> for Route {
    type Response = Io<TcpStream>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Io<TcpStream>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        Box::pin(self.clone().connect(url))
    }
}

/// An existing connection, for code that expects a connector.
#[derive(Debug)]
struct Connected(Option<TokioIo<TcpStream>>);

impl Service<Uri> for Connected {
    type Response = TokioIo<TcpStream>;
    type Error = Unsent;
    type Future = std::future::Ready<Result<TokioIo<TcpStream>, Unsent>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unsent>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        std::future::ready(self.0.take().ok_or_else(|| Unsent("the connection was taken".into())))
    }
}

/// hyper's connector, whose errors indicate that nothing was sent.
#[derive(Debug, Clone)]
struct Tcp(HttpConnector<Lookup>);

impl Tcp {
    fn new(check: Option<AddressCheck>) -> Self {
        let mut connector = HttpConnector::new_with_resolver(Lookup { resolver: GaiResolver::new(), check });
        connector.set_nodelay(true);
        // TLS and tunnels are added by other connectors.
        connector.enforce_http(false);
        Tcp(connector)
    }
}

impl Service<Uri> for Tcp {
    type Response = TokioIo<TcpStream>;
    type Error = Unsent;
    type Future = BoxFuture<'static, Result<TokioIo<TcpStream>, Unsent>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Unsent>> {
        self.0.poll_ready(context).map_err(|error| Unsent(error.into()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connecting = self.0.call(url);
        Box::pin(async move { connecting.await.map_err(|error| Unsent(error.into())) })
    }
}

/// See [`HttpTransportBuilder::check_addresses`](super::HttpTransportBuilder::check_addresses).
pub(super) type AddressCheck = Arc<dyn Fn(Vec<SocketAddr>) -> Result<Vec<SocketAddr>, BoxError> + Send + Sync>;

/// Resolves names, and keeps the addresses that may be connected to.
#[derive(Clone)]
struct Lookup {
    resolver: GaiResolver,
    check: Option<AddressCheck>,
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("is_checked", &self.check.is_some()).finish()
    }
}

impl Service<Name> for Lookup {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.resolver.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (finding, check) = (self.resolver.call(name), self.check.clone());
        Box::pin(async move {
            let found = finding.await?.collect();
            let left = match check {
                Some(check) => check(found)?,
                None => found,
            };
            Ok(left.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_host_and_a_remedy() {
        let url = Uri::from_static("http://ada:secret@a.example:81/x?key=1");
        let said = |kind| Unreachable::new(&url, io::Error::from(kind).into()).to_string();
        assert_eq!(
            said(io::ErrorKind::ConnectionRefused),
            "nothing listens at a.example:81: start the service, or correct the URL"
        );
        assert!(said(io::ErrorKind::NetworkUnreachable).starts_with("there is no route to a.example:81: "));
        assert!(said(io::ErrorKind::Other).starts_with("cannot connect to a.example:81: "));
        let late = too_slow(&url, Duration::from_secs(10)).to_string();
        assert_eq!(
            late,
            "no connection within 10 s to a.example:81, the limit set by HttpTransportBuilder::connect_timeout"
        );
    }

    #[test]
    fn ports_are_added_where_there_are_none() {
        let of = |url: &'static str| with_port(&Uri::from_static(url), 80).expect("a URL").to_string();
        assert_eq!(of("http://a.example/x?y"), "http://a.example:80/x?y");
        assert_eq!(of("http://[::1]/"), "http://[::1]:80/");
        assert_eq!(of("http://a.example:8080/"), "http://a.example:8080/");
    }
}
