//! Fetches documents from the network, with the client that also calls services.
//!
//! A host name can resolve to any address, and to another one a moment later. So the check is part
//! of name resolution: the client connects to exactly the addresses that were checked. Redirects
//! are followed here, one by one, each under the rules for documents from the network.
//!
//! A proxy resolves names itself and connects to what it finds. The address rules apply to what the
//! name resolves to on this machine; if it does not resolve here, the proxy decides.

use super::store::{bounded, too_large};
use super::{
    Access, Fetch, FetchError, Fetched, Reach, Request, Shown, is_public, names_private_host, without_credentials,
};
use crate::document::in_charset;
use deltasoap_http::{ClientTls, Credentials, HttpTransport, Proxy, Roots};
use flate2::read::MultiGzDecoder;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use http_body_util::BodyExt;
use percent_encoding::percent_decode_str;
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::time::Instant;
use tower::{Service, ServiceExt};
use url::Url;

/// Maximum number of redirects for one document.
const MAX_REDIRECTS: usize = 5;
/// Time limit for resolving a name that a proxy resolves as well. After that the name counts as
/// unknown.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);
const AGENT: HeaderValue = HeaderValue::from_static(concat!("deltasoap/", env!("CARGO_PKG_VERSION")));

/// The certificates that the system trusts, or the public authorities if it trusts none. Read once,
/// since reading takes milliseconds.
static TRUSTED: LazyLock<Roots> = LazyLock::new(|| {
    let platform = Roots::platform();
    if platform.is_empty() { Roots::public() } else { platform }
});

/// Fetches documents over HTTP and HTTPS.
#[derive(Debug, Clone, Default)]
pub struct WebClient {
    access: Option<Access>,
    proxy: Option<Proxy>,
    roots: Option<Roots>,
    total_timeout: Option<TotalTimeout>,
}

/// A time limit for all documents together.
#[derive(Debug, Clone, Copy)]
struct TotalTimeout {
    time: Duration,
    /// `None` if the end is later than `Instant` can represent.
    end: Option<Instant>,
}

impl WebClient {
    /// Creates a client that sends credentials, headers and a certificate to an origin.
    pub fn with_access(access: Access) -> Self {
        WebClient { access: Some(access), ..WebClient::default() }
    }

    /// Sends credentials, headers and a certificate to an origin.
    #[must_use]
    pub fn access(self, access: Access) -> Self {
        WebClient { access: Some(access), ..self }
    }

    /// Sets the proxy. Default: none, whatever the environment says; see [`Proxy::from_env`].
    #[must_use]
    pub fn proxy(self, proxy: Proxy) -> Self {
        WebClient { proxy: Some(proxy), ..self }
    }

    /// Trusts these certificates in addition to those that the system trusts.
    #[must_use]
    pub fn roots(self, roots: Roots) -> Self {
        WebClient { roots: Some(roots), ..self }
    }

    /// Limits the time for all documents together, starting now. Each document also has its own
    /// [time](Request::timeout) limit.
    #[must_use]
    pub fn total_timeout(self, time: Duration) -> Self {
        WebClient { total_timeout: Some(TotalTimeout { time, end: Instant::now().checked_add(time) }), ..self }
    }

    /// Returns the deadline of a document, and the message if it is missed.
    fn deadline(&self, timeout: Duration) -> (Option<Instant>, String) {
        let own = Instant::now().checked_add(timeout);
        match self.total_timeout.and_then(|total_timeout| Some((total_timeout.time, total_timeout.end?))) {
            Some((time, end)) if own.is_none_or(|own| end < own) => (
                Some(end),
                format!("not loaded within {} s, the time limit for the WSDL and its documents", time.as_secs_f64()),
            ),
            _ => (own, format!("no answer within {} s (the limit `timeout`)", timeout.as_secs_f64())),
        }
    }

    /// Fetches a document, following redirects.
    async fn follow(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let (deadline, late) = self.deadline(request.timeout);
        let (mut url, mut reach) = (request.url.clone(), request.reach);
        for _ in 0..=MAX_REDIRECTS {
            let exchange = Exchange { client: self, url: &url, reach, timeout: request.timeout };
            match in_time(deadline, exchange.run(request.max_bytes)).await {
                None => return Err(exchange.failed(late)),
                Some(Err(error)) => return Err(error),
                Some(Ok(Received::Document(fetched))) => {
                    return Ok(Fetched { moved_to: (url != *request.url).then_some(url), ..fetched });
                }
                Some(Ok(Received::Moved { to, was_private })) => {
                    if reach == Reach::Origin && !(was_private && to.origin() == url.origin()) {
                        reach = Reach::Public;
                    }
                    url = to;
                }
            }
        }
        let shown = Shown(request.url);
        Err(FetchError::Unavailable(format!(
            "{shown}: more than {MAX_REDIRECTS} redirects, the last one to {}",
            Shown(&url)
        )))
    }
}

impl Fetch for WebClient {
    /// Waits in its own thread: the calling thread may belong to an async runtime and must not
    /// block.
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let failed = |error: std::io::Error| FetchError::Unavailable(format!("{}: {error}", Shown(request.url)));
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            let fetched = runtime.block_on(self.follow(request));
            // Does not wait for a name that is still being resolved.
            runtime.shutdown_background();
            fetched
        };
        std::thread::scope(|scope| {
            let fetching = std::thread::Builder::new().spawn_scoped(scope, run).map_err(failed)?;
            fetching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Returns `None` if the deadline passes first.
async fn in_time<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

enum Received {
    Document(Fetched),
    Moved { to: Url, was_private: bool },
}

/// A request for a document at one URL.
struct Exchange<'a> {
    client: &'a WebClient,
    url: &'a Url,
    reach: Reach,
    timeout: Duration,
}

impl Exchange<'_> {
    async fn run(&self, most: usize) -> Result<Received, FetchError> {
        let guard = Guard { public_only: self.reach == Reach::Public, met_private: Arc::default() };
        if names_private_host(self.url) {
            if guard.public_only {
                return Err(FetchError::Forbidden(format!("{} is a private address", Shown(self.url))));
            }
            guard.met_private.store(true, Ordering::Relaxed);
        }
        let response = self.response(&guard).await?;
        let is_private = guard.met_private.load(Ordering::Relaxed);
        let status = response.status();
        if status.is_redirection() {
            return Ok(Received::Moved { to: self.target(response.headers())?, was_private: is_private });
        }
        if !status.is_success() {
            let schemes = Credentials::offered(status, response.headers());
            return Err(self.failed(match schemes.is_empty() {
                true => format!("status {status}"),
                false => format!("status {status} (authentication is offered by {})", schemes.join(", ")),
            }));
        }
        let charset = charset(response.headers());
        let bytes = self.read(response, most).await?;
        let bytes = match charset {
            Some(charset) => in_charset(bytes, &charset),
            None => bytes,
        };
        Ok(Received::Document(Fetched { bytes, is_private, moved_to: None }))
    }

    fn failed(&self, why: impl fmt::Display) -> FetchError {
        FetchError::Unavailable(format!("{}: {why}", Shown(self.url)))
    }

    /// Converts the error of an exchange, with its causes.
    fn broken(&self, error: &(dyn Error + 'static)) -> FetchError {
        let causes: Vec<_> = std::iter::successors(Some(error), |&error| error.source()).collect();
        let texts: Vec<_> = causes.iter().map(ToString::to_string).collect();
        match causes.iter().find_map(|error| error.downcast_ref::<PrivateAddress>()) {
            Some(private) => FetchError::Forbidden(format!("{}: {private}", Shown(self.url))),
            None => self.failed(texts.join(": ")),
        }
    }

    /// Returns the target of a redirect.
    fn target(&self, received: &HeaderMap) -> Result<Url, FetchError> {
        let Some(location) = received.get(LOCATION) else {
            return Err(self.failed("a redirect without a `Location` header"));
        };
        let to = location.to_str().ok().and_then(|to| self.url.join(to).ok());
        let to = to
            .filter(|to| matches!(to.scheme(), "http" | "https"))
            .ok_or_else(|| self.failed(format!("a redirect to {location:?}, which is not an http or https URL")))?;
        match (self.url.scheme(), to.scheme()) {
            ("https", "http") => {
                Err(FetchError::Forbidden(format!("{}: a redirect out of TLS, to {}", Shown(self.url), Shown(&to))))
            }
            _ => Ok(to),
        }
    }

    /// Sends the request; repeats it if the response is a challenge, or says that the answer to a
    /// challenge came too late.
    async fn response(&self, guard: &Guard) -> Result<HttpResponse, FetchError> {
        let uri = uri(self.url).ok_or_else(|| self.failed("the URL cannot be requested"))?;
        let access = self.client.access.as_ref().filter(|access| access.origin == self.url.origin());
        let transport = self.transport(access, guard.clone()).map_err(|error| self.broken(&error))?;
        self.check_proxied(&uri, guard).await?;
        let own = credentials_in(self.url);
        let credentials = access.and_then(|access| access.credentials.as_ref()).or(own.as_ref());
        let ask = async |proof: Option<HeaderValue>| {
            let mut request = http::Request::get(uri.clone()).header(USER_AGENT, AGENT).header(ACCEPT_ENCODING, "gzip");
            if let Some(headers) = request.headers_mut() {
                headers.extend(access.into_iter().flat_map(|access| access.headers.iter().cloned()));
                headers.extend(proof.map(|proof| (AUTHORIZATION, proof)));
            }
            let request = request.body(deltasoap_http::Body::default()).map_err(|error| self.broken(&error))?;
            transport.clone().oneshot(request).await.map_err(|error| self.broken(&*error))
        };
        let proof = || credentials.and_then(|it| it.authorization(&Method::GET, &uri));
        let mut repeats = 0;
        loop {
            let known = proof();
            let was_authorized = known.is_some();
            let response = ask(known).await?;
            let is_challenge = response.status() == StatusCode::UNAUTHORIZED
                && credentials.is_some_and(|it| it.note_challenge(was_authorized, response.headers()));
            if !is_challenge || repeats == MAX_REPEATS {
                return Ok(response);
            }
            repeats += 1;
        }
    }

    fn transport(&self, access: Option<&Access>, guard: Guard) -> Result<HttpTransport, deltasoap_http::TlsError> {
        let mut builder = HttpTransport::builder()
            .connect_timeout(self.timeout)
            .max_idle_per_host(0)
            .check_addresses(move |found| Ok(guard.checked(found)?));
        if let Some(proxy) = &self.client.proxy {
            builder = builder.proxy(proxy.clone());
        }
        if self.url.scheme() == "https" {
            builder = builder.tls(self.tls(access))?;
        }
        Ok(builder.build())
    }

    fn tls(&self, access: Option<&Access>) -> ClientTls {
        let trusted = match &self.client.roots {
            Some(roots) => TRUSTED.clone().and(roots.clone()),
            None => TRUSTED.clone(),
        };
        let mut tls = ClientTls::new(trusted);
        if let Some(identity) = access.and_then(|access| access.identity.clone()) {
            tls = tls.identity(identity);
        }
        if access.is_some_and(|access| access.is_unverified) { tls.unverified() } else { tls }
    }

    /// Checks the addresses of a name that a proxy will resolve; the proxy may connect to any of
    /// them.
    async fn check_proxied(&self, uri: &Uri, guard: &Guard) -> Result<(), FetchError> {
        let is_proxied = self.client.proxy.as_ref().is_some_and(|proxy| proxy.url_for(uri).is_some());
        let Some(url::Host::Domain(name)) = self.url.host().filter(|_| is_proxied) else { return Ok(()) };
        let finding = tokio::time::timeout(LOOKUP_TIMEOUT, tokio::net::lookup_host((name, 0))).await;
        let found: Vec<_> = finding.into_iter().flatten().flatten().collect();
        if !guard.public_only && found.iter().any(|address| is_public(address.ip())) {
            return Ok(());
        }
        guard.checked(found).map(drop).map_err(|error| self.broken(&error))
    }

    /// Reads the document, without its content coding.
    async fn read(&self, response: HttpResponse, most: usize) -> Result<Vec<u8>, FetchError> {
        let coding = response.headers().get(CONTENT_ENCODING).cloned();
        let (mut bytes, mut body) = (Vec::new(), std::pin::pin!(response.into_body()));
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.broken(&error))?;
            let data = frame.into_data().unwrap_or_default();
            if data.len() > most.saturating_sub(bytes.len()) {
                return Err(too_large(most));
            }
            bytes.extend_from_slice(&data);
        }
        match coding.as_ref().map(HeaderValue::as_bytes) {
            None | Some(b"identity") => Ok(bytes),
            Some(b"gzip" | b"x-gzip") => bounded(MultiGzDecoder::new(&*bytes), most).map_err(|error| match error {
                FetchError::Unavailable(why) => self.failed(why),
                error => error,
            }),
            Some(_) => Err(self.failed("a content coding that was not requested")),
        }
    }
}

/// Maximum number of repeated requests: one for the challenge, and one if its answer came too late.
const MAX_REPEATS: u32 = 2;

/// Returns the charset parameter of the media type.
fn charset(headers: &HeaderMap) -> Option<String> {
    let media = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let parameters = media.split(';').skip(1).filter_map(|it| it.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.next().map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

/// Returns the URL as sent in the request.
fn uri(url: &Url) -> Option<Uri> {
    let mut url = without_credentials(url);
    url.set_fragment(None);
    url.as_str().parse().ok()
}

/// Returns the user name and password in a URL, for Basic authentication.
pub fn credentials_in(url: &Url) -> Option<Credentials> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let name = Some(url.username()).filter(|name| !name.is_empty())?;
    Credentials::basic(&decoded(name), &decoded(url.password().unwrap_or_default())).ok()
}

/// A response of the transport.
type HttpResponse = <HttpTransport as Service<http::Request<deltasoap_http::Body>>>::Response;

/// Removes addresses that may not be connected to.
#[derive(Debug, Clone)]
struct Guard {
    public_only: bool,
    met_private: Arc<AtomicBool>,
}

impl Guard {
    /// Returns the addresses that may be connected to. If a host has both kinds, only the private
    /// ones remain: otherwise a public server could pass for a private one and name documents on
    /// it.
    fn checked(&self, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, PrivateAddress> {
        let (private, public): (Vec<_>, Vec<_>) = found.into_iter().partition(|address| !is_public(address.ip()));
        match () {
            () if private.is_empty() => Ok(public),
            () if self.public_only => Err(PrivateAddress),
            () => {
                self.met_private.store(true, Ordering::Relaxed);
                Ok(private)
            }
        }
    }
}

/// Error for a host that may not be connected to.
#[derive(Debug)]
struct PrivateAddress;

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host has a private address")
    }
}

impl Error for PrivateAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &str = "8.8.8.8:80";
    const PRIVATE: &str = "127.0.0.1:80";

    /// Returns the remaining addresses, and true if one was private; `None` if the host is refused.
    fn checked(public_only: bool, found: &[&str]) -> Option<(Vec<String>, bool)> {
        let met_private = Arc::new(AtomicBool::new(false));
        let guard = Guard { public_only, met_private: met_private.clone() };
        let left = guard.checked(found.iter().map(|address| address.parse().unwrap()).collect()).ok()?;
        Some((left.iter().map(ToString::to_string).collect(), met_private.load(Ordering::Relaxed)))
    }

    #[test]
    fn the_charset_is_a_parameter_of_the_media_type() {
        let of = |text: &'static str| charset(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(text))]));
        for text in ["text/xml;charset=latin1", "text/xml; a=b; Charset=\"latin1\" ; c=d"] {
            assert_eq!(of(text).as_deref(), Some("latin1"), "{text}");
        }
        assert_eq!([of("text/xml"), of("text/xml; charset")], [None, None]);
    }

    #[test]
    fn redirects_do_not_lead_out_of_tls() {
        let target = |url: &str, location: &'static str| {
            let client = WebClient::default();
            let url = Url::parse(url).unwrap();
            let exchange = Exchange { client: &client, url: &url, reach: Reach::All, timeout: LOOKUP_TIMEOUT };
            exchange.target(&HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]))
        };
        let refused = target("https://ada:secret@a.example/x?wsdl", "http://eve:secret@a.example/x?wsdl");
        let text = match refused {
            Err(error @ FetchError::Forbidden(_)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(text.contains("out of TLS, to http://a.example/x?wsdl") && !text.contains("secret"), "{text}");
        for (url, location) in [
            ("https://a.example/x", "/y"),
            ("https://a.example/x", "HTTPS://b.example/y"),
            ("http://a.example/x", "https://a.example/x"),
            ("http://a.example/x", "//b.example/x"),
        ] {
            assert!(target(url, location).is_ok(), "{url} {location}");
        }
    }

    #[test]
    fn hosts_with_a_private_address_are_refused_or_private() {
        assert_eq!(checked(true, &[PUBLIC]), Some((vec![PUBLIC.to_owned()], false)));
        assert_eq!(checked(true, &[PRIVATE]), None);
        assert_eq!(checked(true, &[PUBLIC, PRIVATE]), None);
        assert_eq!(checked(false, &[PUBLIC]), Some((vec![PUBLIC.to_owned()], false)));
        assert_eq!(checked(false, &[PUBLIC, PRIVATE]), Some((vec![PRIVATE.to_owned()], true)));
    }
}
