//! Redirects, and the policy for following them.

use super::error::{shown, shown_location};
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, LOCATION, PROXY_AUTHORIZATION};
use http::{Request, Response, StatusCode, Uri};
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};
use std::fmt;

/// Selects the redirects that a client follows; see
/// [`ClientBuilder::redirects`](crate::ClientBuilder::redirects).
///
/// A redirect with status 307 or 308 asks for the same request elsewhere. With 301 and 302 most
/// clients turn it into a GET, which is no longer a call. They are followed, with the same request,
/// only [on request](Redirects::lenient); 303 never is. Nothing is redirected from `https` to
/// `http`. Another origin (scheme, host or port) gets no credentials: neither those of the client,
/// nor its cookies, nor headers of the call that are marked as sensitive or [secret by their
/// names](crate::is_secret_header). The message itself is sent unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redirects {
    limit: u32,
    leaves_origin: bool,
    is_lenient: bool,
}

impl Redirects {
    /// Follows no redirects: a redirect is an answer without a message. The default.
    pub const OFF: Redirects = Redirects { limit: 0, leaves_origin: false, is_lenient: false };

    /// Follows at most this many in a row, within the origin of the client's URL.
    pub const fn same_origin(limit: u32) -> Self {
        Redirects { limit, leaves_origin: false, is_lenient: false }
    }

    /// Follows at most this many in a row, to any origin.
    pub const fn any_origin(limit: u32) -> Self {
        Redirects { limit, leaves_origin: true, is_lenient: false }
    }

    /// Follows 301 and 302 too.
    #[must_use]
    pub const fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Returns true if no redirect is followed.
    pub(super) fn is_off(&self) -> bool {
        self.limit == 0
    }

    /// Returns the target to which an answer redirects the request from a URL, after a number of
    /// hops; `None` if it does not redirect.
    ///
    /// # Errors
    /// Returns an error if it redirects, and the client does not follow it.
    pub(super) fn target<B>(&self, from: &Uri, answer: &Response<B>, hops: u32) -> Result<Option<Uri>, RedirectError> {
        let status = answer.status();
        if !is_redirect(status) {
            return Ok(None);
        }
        let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let refuse = |reason| RedirectError { status, location: location.map(str::to_owned), url: shown(from), reason };
        let target = location.and_then(|location| resolve(from, location)).ok_or_else(|| refuse(Reason::Location))?;
        match self.objection(from, &target, status, hops) {
            Some(reason) => Err(refuse(reason)),
            None => Ok(Some(target)),
        }
    }

    fn objection(&self, from: &Uri, to: &Uri, status: StatusCode, hops: u32) -> Option<Reason> {
        let keeps_method = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let is_followed = keeps_method || self.is_lenient && status != StatusCode::SEE_OTHER;
        let objections = [
            (!is_followed, Reason::Method),
            (from.scheme_str() == Some("https") && to.scheme_str() != Some("https"), Reason::Insecure),
            (!self.leaves_origin && !is_same_origin(from, to), Reason::Origin),
            (hops >= self.limit, Reason::TooMany),
        ];
        objections.into_iter().find_map(|(objects, reason)| objects.then_some(reason))
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Resolves a location relative to a URL; `None` if its scheme is unsupported, or it contains a
/// user.
fn resolve(from: &Uri, location: &str) -> Option<Uri> {
    let base = from.to_string();
    let target = UriReferenceStr::new(location).ok()?.resolve_against(UriAbsoluteStr::new(&base).ok()?);
    let url: Uri = target.to_string().parse().ok()?;
    let has_user = url.authority()?.as_str().contains('@');
    (matches!(url.scheme_str(), Some("http" | "https")) && !has_user).then_some(url)
}

/// Returns true if scheme, host and port are the same.
pub(super) fn is_same_origin(one: &Uri, other: &Uri) -> bool {
    origin(one).is_some_and(|origin_of_one| origin(other) == Some(origin_of_one))
}

fn origin(url: &Uri) -> Option<(&str, String, u16)> {
    let port = match url.scheme_str()? {
        "http" => 80,
        "https" => 443,
        _ => 0,
    };
    Some((url.scheme_str()?, url.host()?.to_ascii_lowercase(), url.port_u16().unwrap_or(port)))
}

/// Redirects a request, without the data that another origin must not see.
pub(super) fn redirect<B>(request: &mut Request<B>, target: Uri) {
    if !is_same_origin(request.uri(), &target) {
        forget_secrets(request.headers_mut());
    }
    *request.uri_mut() = target;
}

fn forget_secrets(headers: &mut HeaderMap) {
    let marked: Vec<_> =
        headers.iter().filter(|(_, value)| value.is_sensitive()).map(|(name, _)| name.clone()).collect();
    for name in marked.iter().chain(&[AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION]) {
        headers.remove(name);
    }
}

/// A redirect that the client does not follow, although it follows others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectError {
    /// The status.
    pub status: StatusCode,
    /// The target, as received.
    pub location: Option<String>,
    /// The URL that redirects, without what may be secret.
    url: String,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Location,
    Method,
    Insecure,
    Origin,
    TooMany,
    Body,
}

impl RedirectError {
    /// Creates the error for a request that cannot be sent a second time.
    pub(super) fn unrepeatable(status: StatusCode, from: &Uri, target: &Uri) -> Self {
        RedirectError { status, location: Some(target.to_string()), url: shown(from), reason: Reason::Body }
    }
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Location => "that is no URL that can be followed",
            Reason::Method if self.status == StatusCode::SEE_OTHER => {
                "the status asks for another request; use that URL"
            }
            Reason::Method => {
                "the status does not preserve the request; use that URL, or allow it with Redirects::lenient"
            }
            Reason::Insecure => "it leads from https to http; use a URL with https",
            Reason::Origin => "it leads to another origin; use that URL, or allow it with Redirects::any_origin",
            Reason::TooMany => "it is one redirect too many; use that URL, or raise the limit of Redirects",
            Reason::Body => "the message cannot be sent twice; use that URL",
        };
        let location = self.location.as_deref().map_or_else(|| "nowhere".to_owned(), shown_location);
        let status = self.status.as_u16();
        write!(f, "{} redirects to {location} with status {status}, which is not followed: {reason}", self.url)
    }
}

impl std::error::Error for RedirectError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(redirects: Redirects, from: &'static str, status: u16, location: &str) -> Result<Option<String>, Reason> {
        let answer = Response::builder().status(status).header(LOCATION, location).body(()).expect("an answer");
        let target = redirects.target(&Uri::from_static(from), &answer, 0);
        target.map(|target| target.map(|url| url.to_string())).map_err(|error| error.reason)
    }

    #[test]
    fn locations_are_resolved() {
        let cases = [
            ("/b?c", "http://a.example/b?c"),
            ("b", "http://a.example/x/b"),
            ("../b#part", "http://a.example/b"),
            ("//b.example/c", "http://b.example/c"),
            ("https://b.example", "https://b.example/"),
        ];
        for (location, expected) in cases {
            let target = target(Redirects::any_origin(1), "http://a.example/x/y", 307, location);
            assert_eq!(target, Ok(Some(expected.to_owned())));
        }
        for location in ["ftp://a.example/", "http://user:word@a.example/", "file:///etc/passwd", "http://"] {
            let target = target(Redirects::any_origin(1), "http://a.example/x/y", 307, location);
            assert_eq!(target, Err(Reason::Location), "{location}");
        }
    }

    #[test]
    fn what_is_not_asked_for_is_not_followed() {
        let here = "https://a.example/x";
        let (same, any) = (Redirects::same_origin(1), Redirects::any_origin(1));
        assert_eq!(target(same, here, 200, "/y"), Ok(None));
        assert!(target(same, here, 308, "https://A.example:443/y").is_ok(), "the same origin");
        assert_eq!(target(same, here, 307, "https://a.example:444/y"), Err(Reason::Origin));
        assert_eq!(target(any, here, 307, "http://a.example/y"), Err(Reason::Insecure));
        for status in [301, 302, 303] {
            assert_eq!(target(same, here, status, "/y"), Err(Reason::Method));
            assert_eq!(target(same.lenient(), here, status, "/y").is_ok(), status != 303);
        }
        assert_eq!(target(Redirects::OFF, here, 307, "/y"), Err(Reason::TooMany));
    }

    #[test]
    fn secrets_stay_at_home() {
        let mut request = Request::new(());
        *request.uri_mut() = Uri::from_static("https://a.example/");
        let mut marked = http::HeaderValue::from_static("key");
        marked.set_sensitive(true);
        request.headers_mut().insert("x-key", marked);
        request.headers_mut().insert(AUTHORIZATION, http::HeaderValue::from_static("Basic eA=="));
        request.headers_mut().insert("soapaction", http::HeaderValue::from_static("\"\""));
        redirect(&mut request, Uri::from_static("https://a.example/other"));
        assert_eq!(request.headers().len(), 3);
        redirect(&mut request, Uri::from_static("https://b.example/"));
        assert_eq!(request.headers().keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["soapaction"]);
    }
}
