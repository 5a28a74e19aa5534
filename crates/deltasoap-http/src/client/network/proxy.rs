//! Which proxy a request goes through, if any.

use http::uri::Scheme;
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
pub struct Proxy(Arc<Ways>);

struct Ways {
    matcher: Matcher,
    /// URLs of the proxies for `http` and `https`; empty for none.
    http: String,
    https: String,
}

impl Proxy {
    /// A proxy for all hosts but those of a list, with commas: names, which stand for all below them too, addresses, networks
    /// (`10.0.0.0/8`), or `*`.
    ///
    /// # Errors
    /// When the URL is none of a proxy.
    pub fn new(url: &str, except: &str) -> Result<Self, InvalidProxy> {
        let proxy = Self::of(url, url, except);
        let anywhere = Matcher::builder().all(url).build().intercept(&Uri::from_static("http://host.invalid/"));
        if anywhere.is_some_and(|proxy| kind(&proxy).is_some()) { Ok(proxy) } else { Err(InvalidProxy) }
    }

    /// What the environment says now, as curl reads it: `http_proxy`, `https_proxy` and `all_proxy` are URLs of proxies, the last for what
    /// the others do not say, `no_proxy` is the list of hosts that they are not for. They may be in upper case too, where lower case counts first;
    /// but for `HTTP_PROXY`, which a client can set in a CGI program. A proxy of another kind is an error when it is to be used.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| names.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
        let http = first(&["http_proxy", "all_proxy", "ALL_PROXY"]).unwrap_or_default();
        let https = first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]).unwrap_or_default();
        Self::of(&http, &https, &Self::exceptions(variable))
    }

    /// The list of hosts that the environment names as those that no proxy is for.
    pub fn no_proxy() -> String {
        Self::exceptions(|name| std::env::var(name).ok())
    }

    fn exceptions(variable: impl Fn(&str) -> Option<String>) -> String {
        ["no_proxy", "NO_PROXY"].into_iter().filter_map(variable).find(|value| !value.is_empty()).unwrap_or_default()
    }

    fn of(http: &str, https: &str, except: &str) -> Self {
        let matcher = Matcher::builder().http(http).https(https).no(except).build();
        Self(Arc::new(Ways { matcher, http: http.to_owned(), https: https.to_owned() }))
    }

    /// The URL of the proxy that requests to a URL go through, with its user and password; `None` for the direct way.
    pub fn url_for(&self, url: &Uri) -> Option<&str> {
        self.to(url)?;
        Some(if url.scheme() == Some(&Scheme::HTTPS) { &self.0.https } else { &self.0.http })
    }

    /// How to go to a URL; `None` for the direct way.
    pub(super) fn to(&self, url: &Uri) -> Option<Intercept> {
        self.0.matcher.intercept(url)
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
        f.debug_tuple("Proxy").field(&self.0.matcher).finish()
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
    fn the_environment_is_read_as_curl_reads_it() {
        let goes = |variables: &[(&str, &str)], url: &'static str| {
            let proxy = Proxy::from_variables(|name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            });
            proxy.url_for(&Uri::from_static(url)).map(str::to_owned)
        };
        let (http, https) = ("http://a.example/", "https://a.example/");
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(goes(&[("HTTP_PROXY", "http://p")], http), None, "a client can set this in a CGI program");
        assert_eq!(goes(&[("http_proxy", "http://p")], http), some("http://p"));
        assert_eq!(goes(&[("http_proxy", "http://p")], https), None);
        assert_eq!(goes(&[("HTTPS_PROXY", "http://p")], https), some("http://p"));
        assert_eq!(goes(&[("HTTPS_PROXY", "http://p"), ("https_proxy", "http://q")], https), some("http://q"));
        assert_eq!(goes(&[("ALL_PROXY", "socks5://p")], http), some("socks5://p"));
        assert_eq!(goes(&[("all_proxy", "socks5://p"), ("https_proxy", "http://q")], https), some("http://q"));
        assert_eq!(goes(&[("all_proxy", "socks5://p"), ("https_proxy", "")], https), some("socks5://p"));
        for name in ["no_proxy", "NO_PROXY"] {
            let proxied = |list| goes(&[("all_proxy", "http://p"), (name, list)], http);
            assert_eq!(proxied("b.example"), some("http://p"));
            assert_eq!((proxied("x, a.example"), proxied("*"), proxied(".example")), (None, None, None));
        }
        assert_eq!(goes(&[("all_proxy", "p:3128")], http), some("p:3128"));
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
