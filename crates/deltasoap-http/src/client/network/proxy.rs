//! Which proxy a request goes through, if any.

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::fmt;
use std::sync::Arc;

/// A proxy, and the hosts that it is not for; see [`HttpTransportBuilder::proxy`](crate::HttpTransportBuilder::proxy).
///
/// Requests to `http` URLs are sent to an HTTP proxy as they are, which reads and may change them; for `https` URLs it is asked for a tunnel
/// (`CONNECT`), in which there is TLS with the server itself. SOCKS5 proxies (`socks5`, `socks5h`) make tunnels for both, and look up
/// the host's name themselves.
///
/// User and password stand in the proxy's URL, percent-encoded where need be. They go to the proxy alone (Basic, or SOCKS's own),
/// which is connected to without TLS: who can read the network in front of it can read them.
#[derive(Clone)]
pub struct Proxy(Arc<Matcher>);

impl Proxy {
    /// A proxy for all hosts but those of a list, with commas: names, which stand for all below them too, addresses, networks
    /// (`10.0.0.0/8`), or `*`.
    ///
    /// # Errors
    /// When the URL is none of a proxy.
    pub fn new(url: &str, except: &str) -> Result<Self, InvalidProxy> {
        let proxy = Self(Arc::new(Matcher::builder().all(url).no(except).build()));
        let anywhere = Matcher::builder().all(url).build().intercept(&Uri::from_static("http://host.invalid/"));
        if anywhere.is_some_and(|proxy| kind(&proxy).is_some()) { Ok(proxy) } else { Err(InvalidProxy) }
    }

    /// What the environment says now: `http_proxy`, `https_proxy` and `all_proxy` are URLs of proxies, `no_proxy` is the list of hosts that
    /// they are not for; in upper case too, which counts first. Nothing is read of it in a CGI program, where a client can set
    /// `HTTP_PROXY`. A proxy of another kind is an error when it is to be used.
    pub fn from_env() -> Self {
        Self(Arc::new(Matcher::from_env()))
    }

    /// How to go to a URL; `None` for the direct way.
    pub(super) fn to(&self, url: &Uri) -> Option<Intercept> {
        self.0.intercept(url)
    }

    /// What a proxy wants to see in requests to a URL, whose heads it reads.
    pub(super) fn authorization(&self, url: &Uri) -> Option<HeaderValue> {
        let proxy = self.to(url).filter(|proxy| kind(proxy) == Some(Kind::Http))?;
        proxy.basic_auth().cloned()
    }
}

/// Shows no password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.0).finish()
    }
}

/// How a proxy is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Http,
    Socks5,
}

/// The kind of a proxy that we can talk to.
pub(super) fn kind(proxy: &Intercept) -> Option<Kind> {
    match proxy.uri().scheme_str()? {
        "http" => Some(Kind::Http),
        "socks5" | "socks5h" => Some(Kind::Socks5),
        _ => None,
    }
}

/// A URL that is none of an HTTP or SOCKS5 proxy. It is not shown, since there may be a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidProxy;

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the URL of a proxy with the scheme `http`, `socks5` or `socks5h`")
    }
}

impl std::error::Error for InvalidProxy {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_for_some_hosts() {
        let proxy = Proxy::new("http://u:p%40@proxy:3128", "a.example, 10.0.0.0/8").expect("a proxy");
        let goes = |url: &'static str| proxy.to(&Uri::from_static(url)).is_some();
        assert!(goes("http://b.example/") && goes("https://notours.example/"));
        assert!(!goes("http://a.example/") && !goes("https://x.a.example/") && !goes("http://10.1.2.3/"));
        let authorization = |url| proxy.authorization(&Uri::from_static(url));
        assert_eq!(authorization("http://b.example/").expect("one"), "Basic dTpwQA==");
        assert!(authorization("http://a.example/").is_none());
        assert!(!format!("{proxy:?}").contains("p%40"));
    }

    #[test]
    fn not_every_url_is_a_proxy() {
        for url in ["", "https://proxy/", "ftp://proxy/", "/proxy", "socks4://proxy"] {
            assert_eq!(Proxy::new(url, "").err(), Some(InvalidProxy), "{url}");
        }
        let socks = Proxy::new("socks5://u:p@proxy", "").expect("a proxy");
        assert!(socks.authorization(&Uri::from_static("http://a.example/")).is_none());
    }
}
