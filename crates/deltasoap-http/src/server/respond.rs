//! HTTP responses: messages, faults, and others.

use super::auth::Denial;
use super::noted::SentFault;
#[cfg(feature = "page")]
use super::page::policy;
use super::reply::MessageReply;
use super::writing::Written;
use crate::body::Body;
use crate::coding::{AdaptiveState, CodingError, Codings, Compression, LearnedEffects, READ};
use crate::media::content_type;
use crate::secured::{Protect, Securing};
use crate::telemetry::bounded;
use deltasoap_core::Buffer;
use deltasoap_core::soap::{Envelope, Fault, HeaderBlock, Version};
use deltasoap_xml::lexical::is_xml_char;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
    REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// Returns a response, which may be a package of parts.
pub(crate) fn written(version: Version, written: Written) -> Response<Body> {
    let media_type = written.media_type.unwrap_or_else(|| content_type(version));
    with_type(StatusCode::OK, media_type, written.body)
}

/// Returns a message.
pub(crate) fn message(version: Version, status: StatusCode, message: Body) -> Response<Body> {
    with_type(status, content_type(version), message)
}

/// Returns a reply that a handler has written itself.
pub(crate) fn reply(version: Version, reply: MessageReply) -> Response<Body> {
    let MessageReply { status, message: body, .. } = reply;
    if let Some(body) = body {
        return message(version, status, body);
    }
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    response
}

/// Returns a fault with header blocks. A fault that cannot be written is replaced by a writable
/// one, with the same code if possible.
pub(crate) fn fault(
    version: Version,
    fault: &Fault,
    status: Option<StatusCode>,
    blocks: &[HeaderBlock],
    protection: Option<&dyn Protect>,
) -> Response<Body> {
    let status = status.unwrap_or_else(|| status_of(fault, version));
    let mut response = fault_message(version, fault, status, blocks, protection);
    response.extensions_mut().insert(SentFault { version, code: fault.code.clone() });
    response
}

fn fault_message(
    version: Version,
    fault: &Fault,
    status: StatusCode,
    blocks: &[HeaderBlock],
    protection: Option<&dyn Protect>,
) -> Response<Body> {
    let write = |fault: &Fault| {
        let envelope = Envelope::fault(fault).version(version);
        Securing::new(envelope, version, blocks, protection).write_in_full(Buffer::new())
    };
    let written = write(fault).or_else(|error| {
        tracing::error!(?error, "a fault could not be written unchanged");
        write(&writable(fault))
    });
    match written {
        Ok((body, _)) => message(version, status, body),
        Err(_) => message(version, status, plain_fault(version)),
    }
}

/// Returns the fault without characters that XML cannot carry, and without its detail, which may
/// also contain such characters.
fn writable(fault: &Fault) -> Fault {
    let mut plain = fault.clone();
    plain.reason = replaced(&fault.reason);
    plain.role = fault.role.as_deref().map(replaced);
    plain.node = fault.node.as_deref().map(replaced);
    plain.detail = Vec::new();
    plain
}

/// Returns the text with U+FFFD in place of characters that are not allowed in XML (XML 1.0,
/// production 2).
fn replaced(text: &str) -> String {
    text.replace(|c| !is_xml_char(c), "\u{FFFD}")
}

fn status_of(fault: &Fault, version: Version) -> StatusCode {
    StatusCode::from_u16(fault.http_status(version)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns a fault with nothing of the original.
fn plain_fault(version: Version) -> Body {
    let fault = Fault::receiver("the fault could not be written");
    Envelope::fault(&fault).version(version).write(Buffer::new()).map(Body::from).unwrap_or_default()
}

/// Returns HTTP 202 for a one-way message (SOAP 1.1, as in Basic Profile 1.1, R2750; SOAP 1.2 part
/// 2, table 17).
pub(crate) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Returns HTTP 405: only `POST` for messages and `GET` for pages are supported.
pub(crate) fn method_not_allowed() -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "POST a SOAP message here.\n".into());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
    response
}

/// Returns HTTP 405 where there are only pages.
pub(crate) fn only_get() -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "Only GET is supported here.\n".into());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

/// Returns HTTP 401 or another status for a request that its sender may not send (RFC 9110,
/// 15.5.2).
pub(crate) fn denied(denial: &Denial) -> Response<Body> {
    let reason = denial.status.canonical_reason().unwrap_or("Denied");
    let mut response = text(denial.status, "text/plain", format!("{reason}.\n"));
    if let Some(challenge) = &denial.challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
    }
    response
}

/// Returns HTTP 415: the body cannot be a message.
pub(crate) fn unsupported_media_type() -> Response<Body> {
    let accepted = "text/xml, application/soap+xml, multipart/related, application/dime";
    let reason = format!("Expected one of {accepted}, with a message in UTF-8, UTF-16, ISO-8859-1 or windows-1252.\n");
    let mut response = text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "text/plain", reason);
    response.headers_mut().insert("accept-post", HeaderValue::from_static(accepted));
    response
}

/// Returns HTTP 400 for a request with two actions: an earlier filter that checks the action may
/// have seen the other one.
pub(crate) fn two_actions() -> Response<Body> {
    text(StatusCode::BAD_REQUEST, "text/plain", "The request has two different SOAPAction headers.\n".into())
}

/// Returns HTTP 415: the body has an unknown content coding (RFC 9110, 15.5.16). The response is a
/// fault, because the media type indicates a message.
pub(crate) fn unsupported_coding(version: Version, error: &CodingError) -> Response<Body> {
    let refused = Fault::sender(error.to_string());
    inviting(fault(version, &refused, Some(StatusCode::UNSUPPORTED_MEDIA_TYPE), &[], None))
}

/// Returns the response, compressed if that is configured and the client accepts it. The response
/// of an operation carries what was learned of its responses.
pub(crate) fn coded(
    response: Response<Body>,
    compression: Compression,
    accepted: Codings,
    mut adaptive: AdaptiveState,
) -> Response<Body> {
    if compression.is_off() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(learned) = parts.extensions.remove::<Arc<LearnedEffects>>() {
        adaptive.learned = Some(learned);
    }
    let body = match body.compressed(compression, accepted, adaptive) {
        Ok((compressed, coding)) => {
            parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            compressed
        }
        Err(body) => body,
    };
    Response::from_parts(parts, body)
}

/// Adds the content codings that requests may use (RFC 7694).
pub(crate) fn inviting(mut response: Response<Body>) -> Response<Body> {
    if cfg!(feature = "gzip") {
        response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(READ));
    }
    response
}

/// Returns HTTP 503 for a message that there is no capacity for, with the time to retry after (RFC
/// 9110, 10.2.3).
pub(crate) fn busy(version: Version, retry_after: Duration) -> Response<Body> {
    let refused = Fault::receiver("the server is busy: try again later");
    let mut response = fault(version, &refused, Some(StatusCode::SERVICE_UNAVAILABLE), &[], None);
    response.headers_mut().insert(RETRY_AFTER, retry_after.as_secs().into());
    response
}

/// Logs the answer to a request for a server's own page, its health or its metrics.
pub(crate) fn noted(method: &Method, path: &str, response: Response<Body>) -> Response<Body> {
    tracing::info!(
        target: "deltasoap_http::server::monitor",
        {
            http.request.method = &*bounded(method.as_str()),
            url.path = &*bounded(path),
            http.response.status_code = response.status().as_u16(),
        },
        "answered"
    );
    response
}

/// Returns HTTP 404 for a missing resource.
pub(crate) fn not_found(reason: String) -> Response<Body> {
    text(StatusCode::NOT_FOUND, "text/plain", reason)
}

/// Returns the landing page, which may load nothing, and may run and send only its own content.
#[cfg(feature = "page")]
pub(crate) fn page(page: String) -> Response<Body> {
    let mut response = text(StatusCode::OK, "text/html", page);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(policy::content_security_policy()) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Returns a WSDL or schema. XHTML in it, for example in its documentation, must not run in a
/// browser that shows it.
pub(crate) fn xml(document: String) -> Response<Body> {
    let mut response = text(StatusCode::OK, "text/xml", document);
    let policy = HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// Returns text of a media type, in UTF-8, that browsers do not interpret as another type.
pub(crate) fn text(status: StatusCode, media: &str, text: String) -> Response<Body> {
    let media = HeaderValue::try_from(format!("{media}; charset=utf-8"));
    let mut response = with_type(status, media.unwrap_or(HeaderValue::from_static("text/plain")), text.into());
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn with_type(status: StatusCode, media: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, media);
    response
}
