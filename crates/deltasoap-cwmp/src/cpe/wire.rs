//! The CPE's HTTP: cookies, credentials, envelopes (section 3.4).

use super::SessionError;
use bytes::Bytes;
use deltasoap::client::Credentials;
use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::{Buffer, Content, DecodeOptions, Differential, ErrorKind, Typed};
use deltasoap::soap::{EnvelopeReader, Head, Receiver};
use deltasoap::transport::{Body, BoxError};
use deltasoap::types::Node;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};
use tower::{Service, ServiceExt};

/// Maximum size of a message from an ACS, in bytes.
const MAX_MESSAGE: usize = 16 << 20;
/// Maximum number of cookies, and maximum size of each (section 3.4.2: at least 512 bytes in
/// total).
const MAX_COOKIES: usize = 16;
const MAX_COOKIE: usize = 4096;

/// A client for the ACS.
pub(super) struct Wire<S> {
    transport: S,
    url: Uri,
    pub(super) credentials: Option<Credentials>,
    pub(super) timeout: Duration,
    cookies: BTreeMap<String, String>,
    /// Number of HTTP requests in the session.
    pub(super) posts: u32,
}

/// A received envelope.
pub(super) struct Envelope {
    pub(super) head: Head,
    /// The body's element.
    pub(super) body: Node,
}

impl<S> Wire<S> {
    pub(super) fn new(transport: S, url: Uri) -> Self {
        let timeout = Duration::from_secs(30);
        Wire { transport, url, credentials: None, timeout, cookies: BTreeMap::new(), posts: 0 }
    }

    /// Begins a session: cookies do not outlive a session.
    pub(super) fn begin(&mut self) {
        self.cookies.clear();
        self.posts = 0;
    }
}

impl<S, B> Wire<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    /// Posts a message, or an empty request. Returns the envelope of the answer; `None` for an
    /// answer without one (204, or 200 with an empty body).
    ///
    /// # Errors
    /// Returns an error if the answer is neither.
    pub(super) async fn post(&mut self, message: Option<Buffer>) -> Result<Option<Envelope>, SessionError> {
        let timeout = self.timeout;
        let posting = self.post_authorized(message);
        let (status, bytes) = tokio::time::timeout(timeout, posting).await.map_err(|_| SessionError::Timeout)??;
        match status {
            StatusCode::NO_CONTENT => Ok(None),
            StatusCode::OK if bytes.is_empty() => Ok(None),
            // A fault comes with 500 (SOAP 1.1, section 6.2).
            StatusCode::OK | StatusCode::INTERNAL_SERVER_ERROR => read(bytes).map(Some),
            other => Err(SessionError::Status(other)),
        }
    }

    async fn post_authorized(&mut self, message: Option<Buffer>) -> Result<(StatusCode, Bytes), SessionError> {
        let message = message.map(|message| Bytes::from(message.into_vec()));
        loop {
            self.posts += 1;
            let request = self.request(message.as_ref());
            let is_authorized = request.headers().contains_key(AUTHORIZATION);
            let sent = self.transport.clone().oneshot(request).await;
            let response = sent.map_err(|error| SessionError::Transport(error.into()))?;
            let (parts, body) = response.into_parts();
            self.keep_cookies(&parts.headers);
            let body = Limited::new(body, MAX_MESSAGE).collect().await.map_err(SessionError::Transport)?;
            let is_asked_again = parts.status == StatusCode::UNAUTHORIZED
                && self.credentials.as_ref().is_some_and(|own| own.note_challenge(is_authorized, &parts.headers));
            if !is_asked_again {
                return Ok((parts.status, body.to_bytes()));
            }
        }
    }

    /// Creates a request. An empty one has neither media type nor action; a message has an action
    /// without a value (section 3.4.1).
    fn request(&self, message: Option<&Bytes>) -> Request<Body> {
        let mut request = Request::new(message.cloned().map(Body::from).unwrap_or_default());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        let headers = request.headers_mut();
        if message.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/xml; charset=utf-8"));
            headers.insert(HeaderName::from_static("soapaction"), HeaderValue::from_static(""));
        }
        if let Some(cookies) = self.cookies() {
            headers.insert(COOKIE, cookies);
        }
        let authorization = self.credentials.as_ref().and_then(|own| own.authorization(&Method::POST, &self.url));
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        request
    }

    fn cookies(&self) -> Option<HeaderValue> {
        let pairs: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { None } else { HeaderValue::try_from(pairs.join("; ")).ok() }
    }

    /// Stores cookies, and deletes those that have expired. All requests go to one URL, so domains
    /// and paths do not matter.
    fn keep_cookies(&mut self, headers: &HeaderMap) {
        for text in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
            let Some((name, value)) = pair.split_once('=') else { continue };
            if has_expired(attributes) {
                self.cookies.remove(name.trim());
                continue;
            }
            let has_room = self.cookies.len() < MAX_COOKIES || self.cookies.contains_key(name.trim());
            if has_room && pair.len() <= MAX_COOKIE {
                self.cookies.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
    }
}

/// Returns true if a cookie with these attributes is to be deleted. `Max-Age` takes precedence over
/// `Expires` (RFC 6265, section 5.3).
fn has_expired(attributes: &str) -> bool {
    let value = |wanted: &str| {
        let mut pairs = attributes.rsplit(';').filter_map(|attribute| attribute.split_once('='));
        pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    match value("max-age").and_then(|seconds| seconds.parse::<i64>().ok()) {
        Some(seconds) => seconds <= 0,
        None => value("expires")
            .and_then(|date| httpdate::parse_http_date(date).ok())
            .is_some_and(|date| date <= SystemTime::now()),
    }
}

impl<S> fmt::Debug for Wire<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Accepts any body.
#[derive(Default)]
struct AnyBody(Node);

impl Receiver for AnyBody {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.0.decode(cursor, Node::view())
    }
}

fn read(bytes: Bytes) -> Result<Envelope, SessionError> {
    let options = DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() };
    let (mut decoder, mut reader) = (Decoder::new(options), EnvelopeReader::new(AnyBody::default()));
    let decoded = decoder.push_bytes(&mut reader, bytes).and_then(|()| decoder.finish(&mut reader));
    decoded.map_err(|error| SessionError::Invalid(error.to_string()))?;
    let (head, AnyBody(body)) = reader.into_parts();
    Ok(Envelope { head, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_expire_by_age_or_date() {
        for attributes in
            ["Max-Age=0", " Path=/; max-age=-1 ", "Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Max-Age=5; Max-Age=0"]
        {
            assert!(has_expired(attributes), "{attributes}");
        }
        let later = "Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60";
        for attributes in ["", "Path=/; HttpOnly", "Max-Age=60", later, "Expires=never", "Max-Age=soon"] {
            assert!(!has_expired(attributes), "{attributes}");
        }
    }
}
