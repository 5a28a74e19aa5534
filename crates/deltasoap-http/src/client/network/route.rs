//! Opens connections: to the host of a URL, or to a proxy that leads there.

use super::proxy::{Kind, Proxy, kind};
use crate::BoxError;
use crate::transport::{Io, Unsent};
use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::{Authority, Scheme};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt};

/// The port of SOCKS (RFC 1928, 3).
const SOCKS: u16 = 1080;

/// Connects over TCP, through a proxy if there is one.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// To hosts.
    tcp: Tcp,
    /// To the proxy.
    to_proxy: Tcp,
    proxy: Option<Proxy>,
    timeout: Duration,
}

impl Route {
    /// `check` is for the addresses of hosts that are connected to without a proxy.
    pub(super) fn new(proxy: Option<Proxy>, check: Option<AddressCheck>, timeout: Duration) -> Self {
        Route { tcp: Tcp::new(check), to_proxy: Tcp::new(None), proxy, timeout }
    }

    async fn connect(self, url: Uri) -> Result<Io<TcpStream>, BoxError> {
        match self.proxy.as_ref().and_then(|proxy| proxy.to(&url)) {
            Some(proxy) => self.through(&proxy, url).await,
            None => Ok(self.tcp.oneshot(url).await?.into()),
        }
    }

    async fn through(self, proxy: &Intercept, url: Uri) -> Result<Io<TcpStream>, BoxError> {
        let is_secure = url.scheme() == Some(&Scheme::HTTPS);
        match kind(proxy).ok_or("proxies of this kind are not supported")? {
            Kind::Http if is_secure => Ok(self.tunnel(proxy).oneshot(url).await?.into()),
            Kind::Http => Ok(Io::from(self.to_proxy.oneshot(proxy.uri().clone()).await?).proxied()),
            Kind::Socks5 => {
                let port = if is_secure { 443 } else { 80 };
                Ok(self.socks(proxy)?.oneshot(with_port(&url, port)?).await?.into())
            }
        }
    }

    fn tunnel(self, proxy: &Intercept) -> Tunnel<Tcp> {
        let tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxy);
        match proxy.basic_auth() {
            Some(authorization) => tunnel.with_auth(authorization.clone()),
            None => tunnel,
        }
    }

    fn socks(self, proxy: &Intercept) -> Result<SocksV5<Tcp>, http::Error> {
        let socks = SocksV5::new(with_port(proxy.uri(), SOCKS)?, self.to_proxy);
        Ok(match proxy.raw_auth() {
            Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
            None => socks,
        })
    }
}

/// The URL with the port that it names, or another.
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
        let connecting = tokio::time::timeout(self.timeout, self.clone().connect(url));
        Box::pin(async move { connecting.await.map_err(|elapsed| Unsent(elapsed.into()))? })
    }
}

/// hyper's connector, whose errors say that nothing was sent.
#[derive(Debug, Clone)]
struct Tcp(HttpConnector<Lookup>);

impl Tcp {
    fn new(check: Option<AddressCheck>) -> Self {
        let mut connector = HttpConnector::new_with_resolver(Lookup { resolver: GaiResolver::new(), check });
        connector.set_nodelay(true);
        // TLS and tunnels are for others to make.
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

/// Looks names up, and leaves the addresses that may be connected to.
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
    fn ports_are_added_where_there_are_none() {
        let of = |url: &'static str| with_port(&Uri::from_static(url), 80).expect("a URL").to_string();
        assert_eq!(of("http://a.example/x?y"), "http://a.example:80/x?y");
        assert_eq!(of("http://[::1]/"), "http://[::1]:80/");
        assert_eq!(of("http://a.example:8080/"), "http://a.example:8080/");
    }
}
