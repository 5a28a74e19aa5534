//! HTTP responses: messages, faults, and what is neither.

use crate::media::content_type;
use bytes::Bytes;
use deltasoap_core::Buffer;
use deltasoap_core::soap::{Fault, Version, encode_fault};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::Full;

/// The body of every response: one piece, so that its length is known.
pub(crate) type Body = Full<Bytes>;

/// A message, whose bytes are not copied.
pub(crate) fn message(version: Version, status: StatusCode, message: Buffer) -> Response<Body> {
    with_type(status, content_type(version), message.into_vec().into())
}

/// A fault. One that cannot be written becomes one that can.
pub(crate) fn fault(version: Version, fault: &Fault, status: Option<StatusCode>) -> Response<Body> {
    let status = status.unwrap_or_else(|| status_of(fault, version));
    match encode_fault(version, fault, Buffer::new()) {
        Ok(buffer) => message(version, status, buffer),
        Err(error) => {
            tracing::error!(%error, "a fault could not be written");
            with_type(status, content_type(version), plain_fault(version))
        }
    }
}

fn status_of(fault: &Fault, version: Version) -> StatusCode {
    StatusCode::from_u16(fault.http_status(version)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A fault without anything of the original in it.
fn plain_fault(version: Version) -> Bytes {
    let fault = Fault::receiver("the fault could not be written");
    encode_fault(version, &fault, Buffer::new()).map(|buffer| buffer.into_vec().into()).unwrap_or_default()
}

/// HTTP 202 for a one-way message (SOAP 1.1, as in Basic Profile 1.1, R2750; SOAP 1.2 part 2, table 17).
pub(crate) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// HTTP 405: only messages are posted here, and pages fetched.
pub(crate) fn method_not_allowed() -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "POST a SOAP message here.\n".into());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
    response
}

/// HTTP 415: what came cannot be a message.
pub(crate) fn unsupported_media_type() -> Response<Body> {
    let accepted = "text/xml, application/soap+xml";
    let reason = format!("Expected one of {accepted}, in UTF-8 or UTF-16.\n");
    let mut response = text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "text/plain", reason);
    response.headers_mut().insert("accept-post", HeaderValue::from_static(accepted));
    response
}

/// HTTP 404 for a description that there is none of.
pub(crate) fn no_description() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "text/plain", "This service has no description.\n".into())
}

/// A page in HTML.
pub(crate) fn html(page: String) -> Response<Body> {
    text(StatusCode::OK, "text/html", page)
}

/// A description.
pub(crate) fn xml(document: String) -> Response<Body> {
    text(StatusCode::OK, "text/xml", document)
}

fn text(status: StatusCode, media: &str, text: String) -> Response<Body> {
    let media = HeaderValue::try_from(format!("{media}; charset=utf-8"));
    with_type(status, media.unwrap_or(HeaderValue::from_static("text/plain")), text.into())
}

fn with_type(status: StatusCode, media: HeaderValue, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, media);
    response
}
