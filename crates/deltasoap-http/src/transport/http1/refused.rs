//! Requests that hyper accepts although their head is too large, or RFC 9110 or 9112 requires to
//! reject them.

use super::BUFFER;
use crate::telemetry::bounded;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::Full;
use std::net::Ipv6Addr;

/// Returns the response to a request that must be rejected; `None` for others. It ends the
/// connection, since the start of the next request may be ambiguous.
pub(in crate::transport) fn refusal<B>(request: &Request<B>) -> Option<Response<Full<Bytes>>> {
    let headers = request.headers();
    let is_older = request.version() < Version::HTTP_11;
    let found = size(request).or(match is_older {
        true if headers.contains_key(HOST) => host(headers),
        true => None,
        false => host(headers).or(framing(headers)).or(expectation(headers)),
    });
    found.map(|(status, reason)| rejected(request, status, reason))
}

/// Returns the response to a request that must be rejected for a reason, and logs it.
pub(in crate::transport) fn rejected<B>(
    request: &Request<B>,
    status: StatusCode,
    reason: &'static str,
) -> Response<Full<Bytes>> {
    tracing::info!(
        target: "deltasoap_http::server::request",
        {
            http.request.method = &*bounded(request.method().as_str()),
            url.path = &*bounded(request.uri().path()),
            http.response.status_code = status.as_u16(),
            reason,
        },
        "refused"
    );
    let mut response = Response::new(format!("{reason}\n").into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

type Rejection = Option<(StatusCode, &'static str)>;

/// Checks that the head fits in the buffer. hyper only rejects a head that has not ended when the
/// buffer is full.
fn size<B>(request: &Request<B>) -> Rejection {
    let line =
        request.method().as_str().len() + request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let fields: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let is_over = line + fields > BUFFER;
    is_over.then_some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is larger than 64 KiB."))
}

/// Checks that there is one `Host`, with a valid host (RFC 9112, 3.2).
fn host(headers: &HeaderMap) -> Rejection {
    let bad = |reason| Some((StatusCode::BAD_REQUEST, reason));
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => bad("The request has no Host header."),
        (Some(_), Some(_)) => bad("The request has more than one Host header."),
        (Some(host), None) if is_host(host) => None,
        (Some(_), None) => bad("The Host header is invalid."),
    }
}

/// Returns true for a host with or without a port, and for an empty value if the URL has no host.
fn is_host(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let is_valid = |host: &Authority| has_valid_port(host) && is_address_if_bracketed(host.host());
    text.is_empty() || (!text.contains('@') && text.parse().is_ok_and(|host| is_valid(&host)))
}

/// Checks that brackets contain an IPv6 address (RFC 3986, 3.2.2; addresses of later versions do
/// not exist).
fn is_address_if_bracketed(host: &str) -> bool {
    let Some(inner) = host.strip_prefix('[') else { return true };
    inner.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Checks that a port consists of digits, or is missing.
fn has_valid_port(authority: &Authority) -> bool {
    let port = authority.as_str().strip_prefix(authority.host()).unwrap_or_default();
    port.strip_prefix(':').unwrap_or(port).bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks that the body is plain, in chunks or with a length: no other transfer coding is supported
/// (RFC 9112, 6.1).
fn framing(headers: &HeaderMap) -> Rejection {
    let mut codings = tokens(headers, &TRANSFER_ENCODING).peekable();
    codings.peek()?;
    if codings.map(|coding| coding.eq_ignore_ascii_case("chunked")).eq([true]) {
        return None;
    }
    Some((StatusCode::NOT_IMPLEMENTED, "The only supported transfer coding is chunked, applied once."))
}

/// Checks that the only expectation is `100-continue` (RFC 9110, 10.1.1), alone: hyper does not
/// answer it in a list.
fn expectation(headers: &HeaderMap) -> Rejection {
    let is_met = |value: &HeaderValue| value.is_empty() || value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    let is_known = headers.get_all(EXPECT).iter().all(is_met);
    (!is_known).then_some((StatusCode::EXPECTATION_FAILED, "The only supported expectation is 100-continue."))
}

/// Returns the members of a list, which may be in several fields. A value that is not text counts
/// as an unknown member.
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let texts = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    texts.flat_map(|text| text.split(',')).map(str::trim).filter(|token| !token.is_empty())
}
