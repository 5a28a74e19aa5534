//! The choice of the proxy for a request.

use crate::error::BoxError;
use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

/// A proxy, and the hosts that bypass it; see
/// [`HttpTransportBuilder::proxy`](crate::HttpTransportBuilder::proxy).
///
/// Requests to `http` URLs are sent to an HTTP proxy unchanged; the proxy reads and may change
/// them. For `https` URLs it is asked for a tunnel (`CONNECT`), which carries TLS with the server
/// itself. SOCKS5 proxies (`socks5`, `socks5h`) make tunnels for both, and resolve the host's name
/// themselves.
///
/// User and password are given in the proxy's URL, percent-encoded where necessary. They are sent
/// only to the proxy (Basic, or SOCKS's own). The connection to it does not use TLS: anyone who can
/// read the network between client and proxy can read them.
#[derive(Clone)]
pub struct Proxy {
    rules: Arc<ProxyRules>,
    named_by: Option<Arc<str>>,
}

struct ProxyRules {
    matcher: Matcher,
    exceptions: Vec<Exception>,
    http: ProxyUrl,
    https: ProxyUrl,
}

/// The URL of a proxy, empty for none, and its source.
#[derive(Clone, Default)]
struct ProxyUrl {
    url: String,
    source: Option<String>,
}

impl Proxy {
    /// Creates a proxy for all hosts except those of a list.
    ///
    /// The list is separated by commas or blanks. It contains names, which include all names below
    /// them, addresses, networks (`10.0.0.0/8`), or `*` for all. Each may have a port (`host:8080`,
    /// `[::1]:8080`), and then applies to that port only.
    ///
    /// # Errors
    /// Returns an error if the URL is not that of a proxy.
    pub fn new(url: &str, except: &str) -> Result<Self, InvalidProxy> {
        let named = ProxyUrl { url: url.to_owned(), source: None };
        let proxy = Self::from_urls(named.clone(), named, except);
        let anywhere = proxy.rules.matcher.intercept(&Uri::from_static("http://host.invalid/"));
        if anywhere.is_some_and(|proxy| protocol(&proxy).is_some() && has_valid_port(&proxy)) {
            Ok(proxy)
        } else {
            Err(InvalidProxy)
        }
    }

    /// Reads the current proxy settings of the environment, like curl.
    ///
    /// `http_proxy`, `https_proxy` and `all_proxy` are URLs of proxies, the last for schemes
    /// without their own. `no_proxy` is the list of hosts that bypass them. Upper case is accepted
    /// too, but lower case takes precedence; `HTTP_PROXY` is ignored, because a client can set it
    /// in a CGI program. A proxy of another kind is an error when it is used.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| {
            let set = names.iter().filter_map(|name| Some((name, variable(name).filter(|value| !value.is_empty())?)));
            let named = |(name, url)| ProxyUrl { url, source: Some(format!("the environment variable {name}")) };
            set.map(named).next().unwrap_or_default()
        };
        let http = first(&["http_proxy", "all_proxy", "ALL_PROXY"]);
        let https = first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]);
        Self::from_urls(http, https, &Self::exceptions(variable))
    }

    /// Returns the list of hosts in the environment that bypass proxies.
    pub fn no_proxy() -> String {
        Self::exceptions(|name| std::env::var(name).ok())
    }

    fn exceptions(variable: impl Fn(&str) -> Option<String>) -> String {
        ["no_proxy", "NO_PROXY"].into_iter().filter_map(variable).find(|value| !value.is_empty()).unwrap_or_default()
    }

    fn from_urls(http: ProxyUrl, https: ProxyUrl, except: &str) -> Self {
        let matcher = Matcher::builder().http(&http.url).https(&https.url).build();
        let rules = ProxyRules { matcher, exceptions: Exception::all(except), http, https };
        Proxy { rules: Arc::new(rules), named_by: None }
    }

    /// Sets the source of the proxy, such as a command-line option. Errors that concern the proxy
    /// mention it.
    #[must_use]
    pub fn named_by(mut self, source: &str) -> Self {
        self.named_by = Some(source.into());
        self
    }

    /// Returns the URL of the proxy for requests to a URL, with its user and password; `None` for a
    /// direct connection.
    pub fn url_for(&self, url: &Uri) -> Option<&str> {
        self.to(url)?;
        Some(&self.named(url).url)
    }

    fn named(&self, url: &Uri) -> &ProxyUrl {
        if url.scheme() == Some(&Scheme::HTTPS) { &self.rules.https } else { &self.rules.http }
    }

    /// Returns the proxy for a URL; `None` for a direct connection.
    pub(super) fn to(&self, url: &Uri) -> Option<Intercept> {
        if self.is_direct(url) { None } else { self.rules.matcher.intercept(url) }
    }

    /// Fails if the environment names an invalid proxy for a URL, since a direct connection was not
    /// requested.
    pub(super) fn check(&self, url: &Uri) -> Result<(), ProxyError> {
        let is_named = !self.named(url).url.is_empty() && !self.is_direct(url);
        if !is_named || self.rules.matcher.intercept(url).is_some_and(|proxy| has_valid_port(&proxy)) {
            return Ok(());
        }
        Err(self.error(url, false, InvalidProxy.into()))
    }

    fn is_direct(&self, url: &Uri) -> bool {
        self.rules.exceptions.iter().any(|exception| exception.holds_for(url))
    }

    /// Returns the authorization for a proxy in requests to a URL, whose heads the proxy reads.
    pub(super) fn authorization(&self, url: &Uri) -> Option<HeaderValue> {
        let proxy = self.to(url).filter(|proxy| protocol(proxy) == Some(ProxyProtocol::Http))?;
        proxy.basic_auth().cloned()
    }

    /// Creates the error of the proxy on the way to a URL.
    pub(super) fn error(&self, url: &Uri, is_reached: bool, error: BoxError) -> ProxyError {
        // An invalid port may be a password that contains a slash.
        let proxy = self.to(url).filter(has_valid_port).map(|proxy| proxy.uri().to_string());
        let proxy = proxy.unwrap_or_else(|| "that is named".to_owned());
        let proxy = proxy.trim_end_matches('/').to_owned();
        let named_by = self.named_by.as_deref().or(self.named(url).source.as_deref()).map(ToOwned::to_owned);
        ProxyError { proxy, named_by, is_reached, error }
    }
}

/// Hosts that bypass a proxy.
#[derive(Debug)]
struct Exception {
    /// `None` means all hosts.
    hosts: Option<Matcher>,
    /// `None` means all ports.
    port: Option<u16>,
}

impl Exception {
    /// Parses the entries of a list. Entries without a port are matched together.
    fn all(list: &str) -> Vec<Self> {
        let entries = list.split(|c: char| c == ',' || c.is_whitespace()).map(host_and_port);
        let entries = entries.filter(|(host, _)| !host.is_empty());
        let (of_a_port, others): (Vec<_>, Vec<_>) = entries.partition(|(host, port)| port.is_some() || *host == "*");
        let others: Vec<_> = others.into_iter().map(|(host, _)| host).collect();
        let others = (!others.is_empty()).then(|| Exception::new(&others.join(","), None));
        of_a_port.into_iter().map(|(host, port)| Exception::new(host, port)).chain(others).collect()
    }

    fn new(hosts: &str, port: Option<u16>) -> Self {
        let for_others = || Matcher::builder().all("http://proxy.invalid").no(hosts).build();
        Exception { hosts: (hosts != "*").then(for_others), port }
    }

    fn holds_for(&self, url: &Uri) -> bool {
        let default = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let is_port = self.port.is_none_or(|port| port == url.port_u16().unwrap_or(default));
        is_port && self.hosts.as_ref().is_none_or(|hosts| hosts.intercept(url).is_none())
    }
}

/// Splits an entry into host and port. Brackets around an IPv6 address are removed.
fn host_and_port(entry: &str) -> (&str, Option<u16>) {
    let of_a_port = entry.rsplit_once(':').filter(|_| entry.parse::<Ipv6Addr>().is_err());
    let of_a_port = of_a_port.and_then(|(host, port)| Some((host, Some(port.parse().ok()?))));
    let (host, port) = of_a_port.unwrap_or((entry, None));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    // A name may end with a dot, for the DNS root.
    (bare.unwrap_or_else(|| host.strip_suffix('.').unwrap_or(host)), port)
}

/// A proxy that is unreachable, or that does not connect to the host. The request was not sent.
#[derive(Debug)]
pub(super) struct ProxyError {
    /// The proxy's URL, without user and password.
    proxy: String,
    named_by: Option<String>,
    is_reached: bool,
    error: BoxError,
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProxyError { proxy, named_by, is_reached, .. } = self;
        let named_by = named_by.as_ref().map(|by| format!(" (from {by})")).unwrap_or_default();
        match is_reached {
            false => write!(f, "cannot connect to the proxy {proxy}{named_by}"),
            true => write!(f, "the proxy {proxy}{named_by} does not connect to the host"),
        }
    }
}

impl std::error::Error for ProxyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}

/// Hides the password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.rules.matcher).finish()
    }
}

/// The protocol of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProxyProtocol {
    Http,
    Socks5,
}

/// Returns the protocol of a supported proxy.
pub(super) fn protocol(proxy: &Intercept) -> Option<ProxyProtocol> {
    match proxy.uri().scheme_str()? {
        "http" => Some(ProxyProtocol::Http),
        "socks5" | "socks5h" => Some(ProxyProtocol::Socks5),
        _ => None,
    }
}

/// Returns false if the port is invalid.
fn has_valid_port(proxy: &Intercept) -> bool {
    let uri = proxy.uri();
    uri.port_u16().is_some() || uri.authority().is_some_and(|authority| authority.as_str() == authority.host())
}

/// The error for a URL that is not that of an HTTP or SOCKS5 proxy. The URL is not shown, since it
/// may contain a password.
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
    fn what_is_no_proxy_in_the_environment_is_an_error_and_not_the_direct_way() {
        let url = Uri::from_static("http://a.example/");
        for value in ["http://u:secret@:::1", "http://u:secret/x@p:1", "ftp://u:secret@p"] {
            let of = |no: &str| {
                let (value, no) = (value.to_owned(), no.to_owned());
                Proxy::from_variables(move |name| match name {
                    "http_proxy" => Some(value.clone()),
                    "no_proxy" => Some(no.clone()),
                    _ => None,
                })
            };
            let error = of("").check(&url).expect_err(value).to_string();
            assert!(error.contains("environment variable http_proxy") && !error.contains("secret"), "{error}");
            assert!(of("a.example").check(&url).is_ok() && of("").check(&Uri::from_static("https://a/")).is_ok());
        }
        for value in ["http://p", "p:3128", "http://u:p@p:1/", "socks5://[::1]:1080"] {
            let proxy = Proxy::from_variables(|name| (name == "http_proxy").then(|| value.to_owned()));
            assert!(proxy.check(&url).is_ok(), "{value}");
        }
    }

    /// Lists of `no_proxy`, and URLs to which they apply and do not apply.
    #[test]
    fn exceptions_are_hosts_networks_and_ports() {
        let cases: [(&str, &[&str], &[&str]); 12] = [
            ("x a.example\tb.example", &["http://a.example/", "http://b.example/"], &["http://c.example/"]),
            ("a.example.,b.example.:81", &["http://a.example/", "http://b.example:81/"], &["http://c.example/"]),
            ("*", &["http://a.example/", "https://10.1.2.3/", "http://[::1]:8080/"], &[]),
            ("b.example, *", &["http://127.0.0.1/"], &[]),
            ("*:81", &["http://127.0.0.1:81/", "https://a.example:81/"], &["http://127.0.0.1/"]),
            (
                "a.example:8080",
                &["http://a.example:8080/", "http://x.A.example:8080/"],
                &["http://a.example/", "http://b.example:8080/"],
            ),
            ("a.example:80", &["http://a.example/"], &["https://a.example/"]),
            ("a.example:443", &["https://a.example/"], &["http://a.example/"]),
            ("127.0.0.1:8080,b.example", &["http://127.0.0.1:8080/", "http://b.example:1/"], &["http://127.0.0.1/"]),
            ("::1", &["http://[::1]/", "http://[::1]:8080/"], &["http://[::2]/", "http://127.0.0.1/"]),
            ("[::1],2001:db8::/32", &["https://[::1]/", "http://[2001:db8::7]/"], &["http://[2001:db9::7]/"]),
            ("[::1]:8080", &["http://[::1]:8080/"], &["http://[::1]/", "http://[::2]:8080/"]),
        ];
        for (list, direct, proxied) in cases {
            let proxy = Proxy::new("http://proxy:3128", list).expect("a proxy");
            let goes = |url: &&str| proxy.to(&url.parse().expect("a URL")).is_some();
            assert_eq!(direct.iter().find(|url| goes(url)), None, "{list}");
            assert_eq!(proxied.iter().find(|url| !goes(url)), None, "{list}");
        }
        for list in ["", ",", ":80", " , "] {
            assert!(Proxy::new("http://proxy", list).expect("a proxy").to(&Uri::from_static("http://h/")).is_some());
        }
    }

    #[test]
    fn not_every_url_is_a_proxy() {
        for url in ["", "https://proxy/", "ftp://proxy/", "/proxy", "socks4://proxy", "http://u:secret/x@proxy:1"] {
            assert_eq!(Proxy::new(url, "").err(), Some(InvalidProxy), "{url}");
        }
        let socks = Proxy::new("socks5://u:p@proxy", "").expect("a proxy");
        assert!(socks.authorization(&Uri::from_static("http://a.example/")).is_none());
    }
}
