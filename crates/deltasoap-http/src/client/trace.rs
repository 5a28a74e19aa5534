//! Records the exchanges of calls, for debugging.
//!
//! Bytes are recorded as bodies return them: [`Body`](crate::Body) passes a [`Recorder`] the
//! bytes that it gives to the transport, and the body of the response is wrapped. So they are those
//! of the exchange, whatever its outcome; later bytes are recorded when they arrive.

use crate::body;
use crate::secret::is_secret_header;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Default number of bytes recorded of a body.
const BYTES: usize = 1 << 20;
/// Default number of exchanges kept.
const EXCHANGES: usize = 16;

/// Records the exchanges of calls: of one, by [`CallOptions::trace`](crate::CallOptions::trace), or
/// of all calls of a client, by [`ClientBuilder::trace`](crate::ClientBuilder::trace). Clones
/// record into the same place.
///
/// Exchanges are recorded whether or not the call succeeds. A call has more than one exchange if it
/// was challenged, redirected, or retried.
///
/// ```
/// # use deltasoap::{Client, Fault, Lease, Soap, SoapService};
/// # use deltasoap::client::CallOptions;
/// # #[derive(Soap)]
/// # #[soap(namespace = "urn:hello", message, response = Greet)]
/// # struct Greet {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let greet = async |_: Lease<Greet>| Err::<Greet, _>(Fault::receiver("not today"));
/// # let service = SoapService::builder().operation(greet).build()?;
/// use deltasoap::client::Trace;
///
/// let client = Client::with_service("http://localhost/", service)?;
/// let trace = Trace::new();
/// let failed = client.call_with(&Greet {}, CallOptions::new().trace(&trace)).await;
/// assert!(failed.is_err());
/// let exchange = &trace.exchanges()[0];
/// assert_eq!(exchange.status().map(|status| status.as_u16()), Some(500));
/// assert!(exchange.to_string().contains("not today"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Trace(Arc<Notes>);

struct Notes {
    settings: Settings,
    kept: Mutex<VecDeque<Shared>>,
    observer: Option<Box<Observer>>,
}

#[derive(Clone, Copy)]
struct Settings {
    /// Maximum number of bytes of each body.
    bytes: usize,
    shows_secrets: bool,
    /// Maximum number of exchanges.
    exchanges: usize,
}

type Observer = dyn Fn(&Exchange) + Send + Sync;
type Shared = Arc<Mutex<Exchange>>;

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// Creates a trace that keeps the last 16 exchanges, with at most 1 MiB of each body, and
    /// without credentials.
    pub fn new() -> Self {
        Self::with(Settings { bytes: BYTES, shows_secrets: false, exchanges: EXCHANGES }, None)
    }

    /// Creates a trace that keeps no exchanges, but passes each to a function when it is over: once
    /// its response was read or abandoned. The function must not block.
    pub fn observed(observer: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        let settings = Settings { bytes: BYTES, shows_secrets: false, exchanges: 0 };
        Self::with(settings, Some(Box::new(observer)))
    }

    fn with(settings: Settings, observer: Option<Box<Observer>>) -> Self {
        Trace(Arc::new(Notes { settings, kept: Mutex::default(), observer }))
    }

    /// Sets the maximum number of bytes recorded of each body; the rest is counted. Must be called
    /// before the first clone.
    #[must_use]
    pub fn max_bytes(self, bytes: usize) -> Self {
        self.set(|settings| settings.bytes = bytes)
    }

    /// Sets the maximum number of exchanges kept: the last ones. Must be called before the first
    /// clone.
    #[must_use]
    pub fn max_exchanges(self, exchanges: usize) -> Self {
        self.set(|settings| settings.exchanges = exchanges)
    }

    /// Also shows credentials: the headers that [`is_secret_header`] identifies, and those marked
    /// as sensitive. Must be called before the first clone.
    #[must_use]
    pub fn with_secrets(self) -> Self {
        self.set(|settings| settings.shows_secrets = true)
    }

    /// Changes the settings of a trace that is not shared yet.
    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        if let Some(notes) = Arc::get_mut(&mut self.0) {
            change(&mut notes.settings);
        }
        self
    }

    /// Returns the exchanges so far, the oldest first. Unfinished ones are included in their
    /// current state.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.0.kept).iter().map(|exchange| lock(exchange).clone()).collect()
    }

    /// Forgets all exchanges so far.
    pub fn clear(&self) {
        lock(&self.0.kept).clear();
    }

    /// Begins to record an exchange.
    pub(super) fn begin<B>(&self, request: &Request<B>) -> Recorder {
        let exchange = Exchange {
            method: request.method().clone(),
            url: shown(request.uri()),
            request: TracedRequest { headers: self.shown(request.headers()), body: TracedBody::default() },
            response: None,
            error: None,
            elapsed: Duration::ZERO,
        };
        let exchange = Arc::new(Mutex::new(exchange));
        let mut kept = lock(&self.0.kept);
        kept.push_back(Arc::clone(&exchange));
        while kept.len() > self.0.settings.exchanges {
            kept.pop_front();
        }
        Recorder(Arc::new(Recording { exchange, trace: self.clone(), begin: Instant::now() }))
    }

    /// Returns the headers, without those that must not be shown.
    fn shown(&self, headers: &HeaderMap) -> HeaderMap {
        let mut headers = headers.clone();
        if !self.0.settings.shows_secrets {
            let hidden = |(name, value): &mut (&HeaderName, &mut HeaderValue)| is_secret(name, value);
            headers.iter_mut().filter_map(|mut header| hidden(&mut header).then_some(header.1)).for_each(hide);
        }
        headers
    }
}

fn hide(value: &mut HeaderValue) {
    *value = HeaderValue::from_static("[not shown]");
}

fn is_secret(name: &HeaderName, value: &HeaderValue) -> bool {
    value.is_sensitive() || is_secret_header(name)
}

/// Returns the URL without the user information before its host, which can contain a password.
fn shown(url: &Uri) -> Uri {
    let Some(authority) = url.authority().filter(|authority| authority.as_str().contains('@')) else {
        return url.clone();
    };
    let host = authority.as_str().rsplit('@').next().and_then(|host| host.parse().ok());
    let mut parts = url.clone().into_parts();
    parts.authority = host;
    Uri::from_parts(parts).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("exchanges", &lock(&self.0.kept).len()).finish_non_exhaustive()
    }
}

/// A request and its response. The text form is that of HTTP/1.1, with bodies as text and without
/// their compression.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// The method.
    pub method: Method,
    /// The URL.
    pub url: Uri,
    /// The sent request. The transport may add headers of its own, such as `Host` and
    /// `Content-Length`.
    pub request: TracedRequest,
    /// The head of the response, and the part of its body that has arrived; `None` if nothing has
    /// arrived.
    pub response: Option<TracedResponse>,
    /// The reason why there is no response.
    pub error: Option<String>,
    /// The time until the response was read or abandoned; zero before that.
    pub elapsed: Duration,
}

impl Exchange {
    /// Returns the status of the response.
    pub fn status(&self) -> Option<StatusCode> {
        self.response.as_ref().map(|response| response.status)
    }
}

/// A request, as it was given to the transport.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TracedRequest {
    /// Headers, without credentials unless they were requested.
    pub headers: HeaderMap,
    /// The body as sent, possibly compressed.
    pub body: TracedBody,
}

impl TracedRequest {
    /// Returns the body before compression, as far as it was recorded.
    pub fn message(&self) -> Cow<'_, [u8]> {
        self.body.plain(&self.headers)
    }
}

/// A response, as it came from the transport.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TracedResponse {
    /// The status.
    pub status: StatusCode,
    /// Headers, without credentials unless they were requested.
    pub headers: HeaderMap,
    /// The body as received, possibly compressed.
    pub body: TracedBody,
}

impl TracedResponse {
    /// Returns the body without its compression, as far as it was recorded.
    pub fn message(&self) -> Cow<'_, [u8]> {
        self.body.plain(&self.headers)
    }
}

/// The bytes of a body.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TracedBody {
    /// The first bytes, up to the trace's limit.
    pub bytes: Vec<u8>,
    /// The total number of bytes.
    pub total: u64,
}

impl TracedBody {
    fn note(&mut self, bytes: &[u8], bound: usize) {
        self.total += bytes.len() as u64;
        let room = bound.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns the bytes without compression; at most 1 MiB or 16 times as many bytes, since the
    /// input is untrusted.
    fn plain(&self, headers: &HeaderMap) -> Cow<'_, [u8]> {
        if headers.get(CONTENT_ENCODING).is_none_or(|coding| coding != "gzip") {
            return Cow::Borrowed(&self.bytes);
        }
        plain(&self.bytes)
    }
}

#[cfg(feature = "gzip")]
fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    use std::io::Read as _;
    let (mut plain, bound) = (Vec::new(), (16 * bytes.len()).max(BYTES) as u64);
    // Truncated or corrupt input is shown as far as it can be decoded.
    let _ = flate2::read::MultiGzDecoder::new(bytes).take(bound).read_to_end(&mut plain);
    Cow::Owned(plain)
}

#[cfg(not(feature = "gzip"))]
fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(bytes)
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.method, self.url)?;
        show(f, &self.request.headers, &self.request.message())?;
        if let Some(response) = &self.response {
            writeln!(f, "{}", response.status)?;
            show(f, &response.headers, &response.message())?;
        }
        self.error.as_ref().map_or(Ok(()), |error| writeln!(f, "{error}"))
    }
}

fn show(f: &mut fmt::Formatter<'_>, headers: &HeaderMap, body: &[u8]) -> fmt::Result {
    for (name, value) in headers {
        writeln!(f, "{name}: {}", value.as_bytes().escape_ascii())?;
    }
    writeln!(f, "\n{}", String::from_utf8_lossy(body))
}

/// Records one exchange, which is over when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Recorder(Arc<Recording>);

struct Recording {
    exchange: Shared,
    trace: Trace,
    begin: Instant,
}

impl body::Recorder for Recorder {
    fn sent(&self, bytes: &[u8]) {
        lock(&self.0.exchange).request.body.note(bytes, self.bound());
    }
}

impl Recorder {
    /// Records the head of the response.
    pub(super) fn answered<B>(&self, response: &Response<B>) {
        let headers = self.0.trace.shown(response.headers());
        lock(&self.0.exchange).response =
            Some(TracedResponse { status: response.status(), headers, body: TracedBody::default() });
    }

    /// Records some of the response's body.
    pub(super) fn received(&self, bytes: &Bytes) {
        if let Some(response) = &mut lock(&self.0.exchange).response {
            response.body.note(bytes, self.bound());
        }
    }

    /// Records why there is no response.
    pub(super) fn failed(&self, error: &dyn fmt::Display) {
        lock(&self.0.exchange).error = Some(error.to_string());
    }

    fn bound(&self) -> usize {
        self.0.trace.0.settings.bytes
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut exchange = lock(&self.exchange);
        exchange.elapsed = self.begin.elapsed();
        if let Some(observer) = &self.trace.0.observer {
            let seen = exchange.clone();
            drop(exchange);
            observer(&seen);
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
