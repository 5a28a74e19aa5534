//! Replies that are not the HTTP response: they are posted to the endpoints that requests name, if
//! the service allows those.
//!
//! An address in a request is an attempt to make the service send something. So none is contacted
//! unless a prefix of it is allowed, redirects are not followed, and the number of replies on their
//! way is limited.

use super::builder::BuildError;
use crate::body::Body;
use crate::client::HttpTransport;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, Uri};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;
use tracing::Instrument;

/// Maximum time for a reply to be sent and acknowledged.
const TIME: Duration = Duration::from_secs(30);
/// Maximum number of replies that wait for their operation or are being sent.
const MAX_REPLIES: usize = 64;

/// Posts replies to the endpoints that are allowed.
#[derive(Debug)]
pub(crate) struct Outbox {
    allowed: Vec<Uri>,
    transport: HttpTransport,
    places: Arc<Semaphore>,
}

impl Outbox {
    /// Creates an outbox for the endpoints below these URLs; `None` without any.
    ///
    /// # Errors
    /// Returns the first URL that is malformed.
    pub(crate) fn new(allowed: &[String]) -> Result<Option<Self>, BuildError> {
        let parsed = allowed.iter().map(|url| parse(url).ok_or_else(|| BuildError::ReplyTarget(url.clone())));
        let allowed = parsed.collect::<Result<Vec<_>, _>>()?;
        let places = Arc::new(Semaphore::new(MAX_REPLIES));
        Ok((!allowed.is_empty()).then(|| Outbox { allowed, transport: HttpTransport::new(), places }))
    }

    /// Returns the address as a URL, if it is allowed.
    pub(crate) fn allowed(&self, address: &str) -> Option<Uri> {
        let url = parse(address)?;
        self.allowed.iter().any(|prefix| is_below(&url, prefix)).then_some(url)
    }

    /// Reserves a place for a reply; returns `None` if there are too many.
    pub(crate) fn reserve(&self, url: Uri) -> Option<Posting> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(Posting { url, transport: self.transport.clone(), place })
    }
}

/// A reply that will be posted.
pub(crate) struct Posting {
    url: Uri,
    transport: HttpTransport,
    place: OwnedSemaphorePermit,
}

impl Posting {
    /// Posts a reply in the background. Failures are logged.
    pub(crate) fn post(self, reply: Response<Body>) {
        let Posting { url, transport, place } = self;
        let (parts, body) = reply.into_parts();
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, url.clone());
        let media_type = parts.headers.get(CONTENT_TYPE);
        let is_soap12 = media_type.is_some_and(|it| it.to_str().is_ok_and(|it| it.contains("application/soap+xml")));
        if !is_soap12 {
            // SOAP 1.1 requires it, but the action is in the message (SOAP Binding 4.2).
            request.headers_mut().insert("soapaction", HeaderValue::from_static("\"\""));
        }
        request.headers_mut().extend(media_type.map(|media_type| (CONTENT_TYPE, media_type.clone())));
        let posting = async move {
            match tokio::time::timeout(TIME, transport.oneshot(request)).await {
                Ok(Ok(answer)) if answer.status().is_success() => tracing::debug!(%url, "a reply was posted"),
                Ok(Ok(answer)) => tracing::warn!(%url, status = answer.status().as_u16(), "a reply was refused"),
                Ok(Err(error)) => tracing::warn!(%url, %error, "a reply could not be posted"),
                Err(_) => tracing::warn!(%url, limit = ?TIME, "a reply was not taken in time"),
            }
            drop(place);
        };
        tokio::spawn(posting.in_current_span());
    }
}

impl fmt::Debug for Posting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posting").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Returns a URL of http or https without user name and without segments that could lead out of
/// their folder.
fn parse(url: &str) -> Option<Uri> {
    let url: Uri = url.parse().ok()?;
    let is_web = matches!(url.scheme_str(), Some("http" | "https"));
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    let has_user = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let path = url.path().to_ascii_lowercase().replace("%2e", ".");
    let is_unclear = ["\\", "%2f", "%5c", "%25"].iter().any(|unclear| path.contains(unclear));
    // Some servers take what follows a semicolon for a parameter of the segment.
    let leads_up = path.split('/').any(|segment| matches!(segment.split(';').next(), Some("." | "..")));
    (is_web && has_host && !has_user && !is_unclear && !leads_up).then_some(url)
}

fn is_below(url: &Uri, prefix: &Uri) -> bool {
    let port = |url: &Uri| url.port_u16().unwrap_or(if url.scheme_str() == Some("https") { 443 } else { 80 });
    let is_same_host = url.host().zip(prefix.host()).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other));
    let rest = url.path().strip_prefix(prefix.path());
    let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || prefix.path().ends_with('/'));
    url.scheme() == prefix.scheme() && is_same_host && port(url) == port(prefix) && is_inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_an_allowed_url_is_contacted() {
        let allowed = ["https://client.example/replies", "http://other.example:8080/"].map(str::to_owned);
        let outbox = Outbox::new(&allowed).expect("URLs").expect("an outbox");
        for address in [
            "https://client.example/replies",
            "https://CLIENT.example:443/replies/1?x=2",
            "https://client.example/replies?id=1",
            "http://other.example:8080/anything",
        ] {
            assert!(outbox.allowed(address).is_some(), "{address}");
        }
        for address in [
            "http://client.example/replies",
            "https://client.example:8443/replies",
            "https://client.example/replies2",
            "https://client.example/",
            "https://client.example/replies/../admin",
            "https://client.example/replies/%2E%2e/admin",
            "https://client.example/replies/..%2Fadmin",
            "https://client.example/replies/..%5cadmin",
            "https://client.example/replies/..;/admin",
            "https://client.example/replies/%252e%252e/admin",
            "https://client.example@evil.example/replies",
            "https://evil@client.example/replies",
            "https://client.example.evil.example/replies",
            "http://other.example/anything",
            "ftp://client.example/replies",
            "urn:client.example",
            "/replies",
        ] {
            assert!(outbox.allowed(address).is_none(), "{address}");
        }
    }

    #[test]
    fn prefixes_are_urls() {
        assert!(Outbox::new(&[]).is_ok_and(|outbox| outbox.is_none()));
        for url in ["client.example", "*", "https:///x", "https://a.example/../"] {
            assert_eq!(Outbox::new(&[url.to_owned()]).err(), Some(BuildError::ReplyTarget(url.to_owned())));
        }
    }

    #[test]
    fn the_number_of_replies_is_limited() {
        let outbox = Outbox::new(&["http://a.example/".to_owned()]).expect("a URL").expect("an outbox");
        let url = outbox.allowed("http://a.example/x").expect("allowed");
        let kept: Vec<_> = (0..MAX_REPLIES).map_while(|_| outbox.reserve(url.clone())).collect();
        assert_eq!(kept.len(), MAX_REPLIES);
        assert!(outbox.reserve(url.clone()).is_none());
        drop(kept);
        assert!(outbox.reserve(url).is_some());
    }
}
