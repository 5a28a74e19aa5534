//! Errors as problems (RFC 9457): what a client gets instead of an answer.
//!
//! A problem says what the client can know and change. What happened between gateway and service,
//! such as the service's address, is only logged.

use crate::body::{ResponseBody, full};
use deltasoap_core::ListPathError;
use deltasoap_dynamic::{DynamicError, DynamicFault, JsonError, LookupError};
use deltasoap_http::{CallError, StatusError};
use http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::error::Error as StdError;

/// The media type of problems.
pub(crate) const PROBLEM: &str = "application/problem+json";

/// What the types of problems begin with.
const TYPES: &str = "urn:deltasoap:problem:";

/// An error for a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// On the heap, since results hold it.
    rest: Box<Rest>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rest {
    kind: &'static str,
    title: &'static str,
    detail: String,
    more: Map<String, Json>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        let rest = Rest { kind, title, detail: detail.into(), more: Map::new(), header: None };
        Problem { status, rest: Box::new(rest) }
    }

    /// Adds a member.
    fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.rest.more.insert(key.to_owned(), value.into());
        self
    }

    fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.rest.header = HeaderValue::from_str(value).ok().map(|value| (name, value));
        self
    }

    pub(crate) fn not_found(path: &str) -> Self {
        let detail = format!("there is nothing at {path}");
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Nothing has this path", detail)
    }

    pub(crate) fn unknown_operation(name: &str) -> Self {
        let detail = format!("there is no operation {name:?}; the OpenAPI document lists all");
        Problem::new(StatusCode::NOT_FOUND, "unknown-operation", "There is no such operation", detail)
    }

    pub(crate) fn method(allowed: &str) -> Self {
        let detail = format!("allowed: {allowed}");
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "The path has no such method", detail)
            .header(ALLOW, allowed)
    }

    pub(crate) fn media_type(found: &str) -> Self {
        let detail = format!("expected application/json, multipart/form-data or application/jsonl, found {found:?}");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Problem::new(status, "media-type", "The body has an unsupported media type", detail)
    }

    /// A coding of the body that is not read (RFC 9110, 15.5.16).
    pub(crate) fn coding(found: &str, known: &'static str) -> Self {
        let detail = format!("expected {known}, found {found:?}");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let problem = Problem::new(status, "coding", "The body has an unsupported coding", detail);
        problem.header(ACCEPT_ENCODING, known)
    }

    /// An answer in JSON lines of a service that needs its answers as a whole.
    pub(crate) fn whole_answers() -> Self {
        let detail = "answers are validated, which needs the whole answer: accept application/json";
        Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", "The service answers in no JSON lines", detail)
    }

    pub(crate) fn not_acceptable() -> Self {
        let detail =
            "the operation answers in application/json, multipart/mixed, and application/jsonl if it has a list";
        let status = StatusCode::NOT_ACCEPTABLE;
        Problem::new(status, "not-acceptable", "The answer has none of the accepted media types", detail)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let detail = format!("the body has more than {limit} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }

    /// A request in JSON lines to a service whose requests must be whole.
    pub(crate) fn whole_requests(reason: &str) -> Self {
        let detail = format!("{reason}, which needs the whole request: send it as application/json");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Problem::new(status, "media-type", "The service takes no JSON lines", detail)
    }

    /// A request in JSON lines without a list for them.
    pub(crate) fn no_request_list(error: &ListPathError) -> Self {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Problem::new(status, "no-list", "The request has no such list", error.to_string())
    }

    /// Names the line of a body that the problem is in.
    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.rest.detail = format!("line {line}: {}", self.rest.detail);
        self.with("line", line)
    }

    pub(crate) fn detail(&self) -> &str {
        &self.rest.detail
    }

    /// Lines that are read together and are too long; usually one.
    pub(crate) fn too_long_lines(limit: usize) -> Self {
        let detail = format!("it has more than {limit} bytes, or the first items together have");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "A line is too long", detail)
    }

    pub(crate) fn slow_line(seconds: u64, rate: u32) -> Self {
        let pace = if rate > 0 { format!(", or the lines come at less than {rate} bytes/s") } else { String::new() };
        let detail = format!("it did not arrive within {seconds} s{pace}");
        Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "A line took too long", detail)
    }

    pub(crate) fn incomplete(reason: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "incomplete", "The body did not arrive", reason)
    }

    pub(crate) fn slow(seconds: u64) -> Self {
        let detail = format!("the body did not arrive within {seconds} s");
        Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "The body took too long", detail)
    }

    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "malformed", "The request is malformed", reason)
    }

    /// A parameter of the path or the query, or a header, that cannot be used.
    pub(crate) fn parameter(name: &str, reason: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "parameter", "A parameter cannot be used", reason).with("parameter", name)
    }

    pub(crate) fn busy() -> Self {
        let detail = "the gateway has as many calls as it can take";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Too many calls", detail).header(RETRY_AFTER, "1")
    }

    pub(crate) fn unauthorized() -> Self {
        let detail = "the service needs a name and a password in HTTP Basic";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "Credentials are missing", detail)
            .header(WWW_AUTHENTICATE, "Basic realm=\"service\", charset=\"UTF-8\"")
    }

    /// A request of another site's page.
    pub(crate) fn foreign() -> Self {
        let detail = "pages of other origins may not call; cors.origins of the configuration allows some";
        Problem::new(StatusCode::FORBIDDEN, "foreign", "The request is from another site", detail)
    }

    /// JSON that does not match the schema of the request.
    pub(crate) fn invalid_json(error: &JsonError) -> Self {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "invalid",
            "The request does not match its schema",
            error.to_string(),
        )
        .with("pointer", error.pointer())
        .with("expected", error.expected())
        .with("found", error.found())
    }

    fn bad_answer(detail: &str) -> Self {
        Problem::new(StatusCode::BAD_GATEWAY, "bad-answer", "The service's answer cannot be used", detail)
    }

    fn internal(detail: &str) -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The gateway failed", detail)
    }

    /// A call without an answer. `statuses` are those of faults.
    pub(crate) fn of_call(error: &DynamicError, statuses: &BTreeMap<String, StatusCode>) -> Self {
        match error {
            DynamicError::Json(error) => Self::invalid_json(error),
            DynamicError::Fault(fault) => Self::fault(fault, statuses),
            DynamicError::Call(error) => Self::of_exchange(error),
            DynamicError::Part(_) => Self::bad_answer("a part of the answer is missing or malformed"),
            DynamicError::List(error) => {
                Problem::new(StatusCode::NOT_ACCEPTABLE, "no-list", "There is no such list", error.to_string())
            }
            DynamicError::RequestList(error) => Self::no_request_list(error),
            DynamicError::Lookup(LookupError::Unsupported { reason, .. }) => Problem::new(
                StatusCode::NOT_IMPLEMENTED,
                "unsupported",
                "The operation cannot be called",
                reason.clone(),
            ),
            DynamicError::Lookup(_)
            | DynamicError::Import(_)
            | DynamicError::NoEndpoint(_)
            | DynamicError::Endpoint(_) => Self::internal("the service is not configured for this operation"),
            _ => Self::internal("the call failed"),
        }
    }

    fn fault(fault: &DynamicFault, statuses: &BTreeMap<String, StatusCode>) -> Self {
        let code = fault.code();
        let by_detail = fault.detail.iter().find_map(|(name, _)| statuses.get(&*name.local));
        let status = by_detail.or_else(|| statuses.get(&code)).copied();
        let is_sender = code == "Client" || code == "Sender" || code.starts_with("Client.");
        let otherwise = if is_sender { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
        Problem::new(
            status.unwrap_or(otherwise),
            "fault",
            "The service answered with a fault",
            fault.fault.reason.clone(),
        )
        .with("fault", fault.to_json())
    }

    fn of_exchange(error: &CallError) -> Self {
        match error {
            CallError::Timeout(_) => Problem::new(
                StatusCode::GATEWAY_TIMEOUT,
                "timeout",
                "The service did not answer in time",
                "the time of the call is over; the service may have acted on it",
            ),
            CallError::Http(_) => Problem::new(
                StatusCode::BAD_GATEWAY,
                "no-answer",
                "The service did not answer",
                "there is no connection to the service, or it broke",
            ),
            CallError::Status(error) => Self::of_status(error),
            CallError::InvalidRequest(error) => {
                let findings: Vec<_> = error.findings.iter().map(ToString::to_string).collect();
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                Problem::new(status, "invalid", "The request violates the WSDL", findings.join("; "))
                    .with("findings", findings)
            }
            CallError::Encode(error) => Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                "The request cannot be written as XML",
                error.to_string(),
            ),
            CallError::RefusedRequest(_) | CallError::Unsecured(_) | CallError::Action(_) => {
                Self::internal("the request could not be made as the WSDL requires")
            }
            CallError::InvalidResponse(_) => Self::bad_answer("it violates the WSDL"),
            CallError::Insecure(_) => Self::bad_answer("it is not secured as required"),
            _ => Self::bad_answer("it is malformed, or not the expected message"),
        }
    }

    /// An answer without a message. Its status is passed on where the client can act on it.
    fn of_status(error: &StatusError) -> Self {
        match error.status {
            StatusCode::UNAUTHORIZED => {
                let problem = Problem::new(
                    StatusCode::UNAUTHORIZED,
                    "unauthorized",
                    "The service refuses the credentials",
                    "the service answered with status 401",
                );
                problem.header(WWW_AUTHENTICATE, &challenges(&error.schemes))
            }
            StatusCode::FORBIDDEN => Problem::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "The service refuses the call",
                "the service answered with status 403",
            ),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "The service takes no calls now",
                format!("the service answered with status {}", error.status.as_u16()),
            ),
            status => Self::bad_answer(&format!("it is no SOAP message, and has status {}", status.as_u16())),
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        let mut json = json!({
            "type": format!("{TYPES}{}", self.rest.kind),
            "title": self.rest.title,
            "status": self.status.as_u16(),
            "detail": self.rest.detail,
        });
        if let Json::Object(object) = &mut json {
            object.extend(self.rest.more.clone());
        }
        json
    }

    pub(crate) fn response(&self) -> Response<ResponseBody> {
        let mut response = Response::new(full(self.to_json().to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        if let Some((name, value)) = &self.rest.header {
            response.headers_mut().insert(name, value.clone());
        }
        response
    }
}

/// Returns the challenges of a service, without their parameters, which belong to its own URL.
fn challenges(schemes: &[String]) -> String {
    let known =
        schemes.iter().filter(|scheme| scheme.eq_ignore_ascii_case("basic") || scheme.eq_ignore_ascii_case("bearer"));
    let all: Vec<_> = known.map(|scheme| format!("{scheme} realm=\"service\"")).collect();
    if all.is_empty() { "Basic realm=\"service\"".to_owned() } else { all.join(", ") }
}

/// Returns an error with those that caused it, for logs.
pub(crate) fn with_causes(error: &(dyn StdError + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the JSON schema of problems.
pub(crate) fn schema() -> Json {
    json!({
        "description": "An error (RFC 9457).",
        "type": "object",
        "properties": {
            "type": { "type": "string", "format": "uri-reference", "description": "What kind of problem it is." },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "pointer": { "type": "string", "description": "The place in the request (RFC 6901)." },
            "expected": { "type": "string" },
            "found": { "type": "string" },
            "line": { "type": "integer", "description": "The line of the request, for JSON lines." },
            "parameter": { "type": "string" },
            "findings": { "type": "array", "items": { "type": "string" } },
            "fault": {
                "type": "object",
                "description": "The service's fault.",
                "properties": {
                    "code": { "type": "string" },
                    "reason": { "type": "string" },
                    "subcodes": { "type": "array", "items": { "type": "string" } },
                    "detail": { "type": "object", "description": "Entries of the detail, by name." }
                }
            }
        },
        "required": ["type", "title", "status"]
    })
}
