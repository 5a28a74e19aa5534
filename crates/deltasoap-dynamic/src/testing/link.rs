//! The way to the service: requests as HTTP, at a bounded rate, and answers within a bounded time.

use super::answer::{Answer, Outcome};
use super::form::Form;
use crate::Operation;
use bytes::Bytes;
use deltasoap_core::soap::Version;
use deltasoap_http::{AttachmentLimits, Attachments, Body, BoxError, Credentials};
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, TRANSFER_ENCODING,
};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tower::{Service, ServiceExt};

/// Maximum number of bytes of an answer.
const MAX_ANSWER: usize = 32 << 20;

/// What every request has besides its message.
#[derive(Debug, Clone)]
pub struct Access {
    /// The URL of the service.
    pub url: Uri,
    /// HTTP headers.
    pub headers: HeaderMap,
    /// Credentials of HTTP.
    pub credentials: Option<Credentials>,
    /// The time after which a request has failed.
    pub timeout: Duration,
    /// Maximum number of requests a second; `None` for as many as possible.
    pub rate: Option<f64>,
}

impl Access {
    /// Creates access to a service without credentials, with a timeout of ten seconds.
    pub fn to(url: Uri) -> Self {
        let timeout = Duration::from_secs(10);
        Access { url, headers: HeaderMap::new(), credentials: None, timeout, rate: None }
    }
}

/// Sends requests.
pub(super) struct Link<S> {
    transport: S,
    access: Access,
    /// The time at which the next request may be sent.
    next: Mutex<Instant>,
}

impl<S, B> Link<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(transport: S, access: Access) -> Self {
        Link { transport, access, next: Mutex::new(Instant::now()) }
    }

    /// Sends a message, and returns what came back.
    pub(super) async fn send(&self, operation: &Operation, message: &[u8], form: Form) -> Outcome {
        self.wait().await;
        let start = Instant::now();
        let exchanged = tokio::time::timeout(self.access.timeout, self.exchange(operation, message, form)).await;
        match exchanged {
            Err(_) => Outcome::TimedOut(self.access.timeout),
            Ok(Err(Failure::Unsent(error))) => Outcome::Lost(with_causes(&*error)),
            Ok(Err(Failure::Unread(error))) => Outcome::Broken(explained(&*error)),
            Ok(Ok(mut answer)) => {
                answer.time = start.elapsed();
                Outcome::Answer(answer)
            }
        }
    }

    /// Waits until the rate allows another request.
    async fn wait(&self) {
        let Some(rate) = self.access.rate else { return };
        let until = {
            let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let until = (*next).max(Instant::now());
            *next = until + Duration::from_secs_f64(1.0 / rate);
            until
        };
        tokio::time::sleep_until(until.into()).await;
    }

    async fn exchange(&self, operation: &Operation, message: &[u8], form: Form) -> Result<Answer, Failure> {
        let response = self.call(operation, message, form).await.map_err(Failure::of_call)?;
        let noted = self.access.credentials.as_ref().is_some_and(|credentials| {
            response.status() == 401 && credentials.note_challenge(false, response.headers())
        });
        let response = match noted {
            true => self.call(operation, message, form).await.map_err(Failure::of_call)?,
            false => response,
        };
        read(response).await.map_err(Failure::Unread)
    }

    async fn call(&self, operation: &Operation, message: &[u8], form: Form) -> Result<http::Response<B>, BoxError> {
        let mut request = Request::post(self.access.url.clone()).body(Body::from(message.to_vec()))?;
        let headers = request.headers_mut();
        for (name, value) in http_headers(operation, form) {
            headers.insert(http::HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
        }
        if form == Form::Chunked {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        for (name, value) in &self.access.headers {
            headers.insert(name, value.clone());
        }
        let credentials = self.access.credentials.as_ref();
        if let Some(value) = credentials.and_then(|it| it.authorization(&Method::POST, &self.access.url)) {
            headers.insert(AUTHORIZATION, value);
        }
        self.transport.clone().ready().await.map_err(Into::into)?.call(request).await.map_err(Into::into)
    }
}

/// Reads a whole answer.
async fn read<B>(response: http::Response<B>) -> Result<Answer, BoxError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    let body = Limited::new(body.map_err(Into::into), MAX_ANSWER).collect().await?.to_bytes();
    let header = |name| {
        let value = parts.headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
        String::from_utf8_lossy(value).into_owned()
    };
    let content_type = header(CONTENT_TYPE);
    let (body, others) = match content_type.to_ascii_lowercase().starts_with("multipart/related") {
        true => unpacked(&content_type, body).await?,
        false => (body, Vec::new()),
    };
    Ok(Answer {
        status: parts.status.as_u16(),
        content_type,
        content_encoding: header(CONTENT_ENCODING),
        location: header(LOCATION),
        body,
        parts: others,
        time: Duration::ZERO,
    })
}

/// Why there is no answer.
enum Failure {
    /// There was no connection, or it ended before an answer.
    Unsent(BoxError),
    /// What came is no answer that can be read.
    Unread(BoxError),
}

impl Failure {
    /// Returns the failure of a call, which is an answer if it was not HTTP. hyper tells that in
    /// words only, to those who do not depend on it.
    fn of_call(error: BoxError) -> Self {
        let is_answer = causes(&*error).any(|cause| cause.to_string().starts_with("invalid HTTP"));
        if is_answer { Failure::Unread(error) } else { Failure::Unsent(error) }
    }
}

/// Returns the HTTP headers of a request: content type, and the action.
pub fn http_headers(operation: &Operation, form: Form) -> Vec<(&'static str, String)> {
    let (action, charset) = (&operation.bound().action, form.charset());
    match operation.version() {
        Version::Soap11 => {
            let content_type = format!("text/xml; charset={charset}");
            vec![("content-type", content_type), ("soapaction", format!("\"{action}\""))]
        }
        Version::Soap12 if action.is_empty() => {
            vec![("content-type", format!("application/soap+xml; charset={charset}"))]
        }
        Version::Soap12 => {
            vec![("content-type", format!("application/soap+xml; charset={charset}; action=\"{action}\""))]
        }
    }
}

type Parts = Vec<(deltasoap_http::PartHeaders, Bytes)>;

/// Returns the root and the other parts of a package.
async fn unpacked(content_type: &str, body: Bytes) -> Result<(Bytes, Parts), BoxError> {
    let mut package = Attachments::open(content_type, Full::new(body), AttachmentLimits::default())?;
    let root = package.root().await?.bytes().await?;
    let mut parts = Vec::new();
    while let Some(part) = package.next().await? {
        let headers = part.headers().clone();
        parts.push((headers, part.bytes().await?));
    }
    Ok((root, parts))
}

/// Explains why an answer cannot be read.
fn explained(error: &(dyn std::error::Error + 'static)) -> String {
    if causes(error).any(<dyn std::error::Error>::is::<LengthLimitError>) {
        return format!("it is longer than {} MiB", MAX_ANSWER >> 20);
    }
    with_causes(error)
}

fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
