//! One exchange from its beginning to its end: what is known of it, and what is done with that:
//! metrics, a line in the log, validation that only reports, and the recording.

use crate::config::ValidationMode;
use crate::message::{self, Glance, Message};
use crate::proxy::Core;
use crate::record::{Half, Taken};
use crate::secrets;
use crate::stream::{End, Passed, ResponseBody, Troubled, Watch, Watched};
use crate::trouble::Plan;
use bytes::Bytes;
use deltasoap_core::soap::Version;
use deltasoap_dynamic::Finding;
use deltasoap_http::transport::HangUp;
use deltasoap_security::Verified;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of a body that are looked at for its operation, if nothing else needs them.
const GLANCE: usize = 8 << 10;
/// Where an answer of unknown length is cut off.
const CUT: u64 = 512;
/// Longer messages are validated on another thread.
const LONG: usize = 64 << 10;

/// An exchange.
pub(crate) struct Exchange {
    core: Arc<Core>,
    begun: Instant,
    time: SystemTime,
    pub(crate) method: Method,
    path: String,
    origin: String,
    headers: HeaderMap,
    /// The request as it arrives.
    pub(crate) request: Watch,
    /// The request, if it was read as a whole; as it is recorded.
    pub(crate) whole_request: Option<Half>,
    pub(crate) version: Version,
    pub(crate) operation: Option<Arc<str>>,
    /// What proves who sent the request.
    pub(crate) verified: Option<Verified>,
    /// The time until the target answered.
    pub(crate) wait: Option<Duration>,
    /// The answer as it is recorded, if it is not sent like that.
    pub(crate) plain_response: Option<Half>,
    /// True if the answer is the proxy's own.
    pub(crate) is_own: bool,
    pub(crate) plan: Plan,
    /// What the cache did.
    pub(crate) cache: Option<&'static str>,
    pub(crate) slot: Option<OwnedSemaphorePermit>,
    pub(crate) room: Option<OwnedSemaphorePermit>,
    status: StatusCode,
    response: Watch,
    response_headers: HeaderMap,
    is_finished: bool,
}

/// A client that is gone before its answer.
impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_finished {
            let path = secrets::target(&self.path, false);
            tracing::info!(method = %self.method, path, operation = self.operation.as_deref(), "the client is gone");
            let labels = [metrics::Label::new("operation", self.label()), metrics::Label::new("outcome", "gone")];
            metrics::counter!("deltasoap_proxy_requests_total", labels.iter()).increment(1);
        }
    }
}

impl Exchange {
    pub(crate) fn new(core: Arc<Core>, head: &Parts) -> Self {
        // Without these, nobody looks at the headers again.
        let has_use = core.keeps_bodies() || head.headers.contains_key(CONTENT_ENCODING);
        let is_12 = message::essence(&head.headers) == Version::Soap12.media_type();
        Exchange {
            begun: Instant::now(),
            time: SystemTime::now(),
            method: head.method.clone(),
            path: head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            origin: if core.recorder.is_some() { core.origin(head) } else { String::new() },
            headers: if has_use { head.headers.clone() } else { HeaderMap::new() },
            request: Watch::default(),
            whole_request: None,
            version: if is_12 { Version::Soap12 } else { Version::Soap11 },
            operation: None,
            verified: None,
            wait: None,
            plain_response: None,
            is_own: false,
            plan: Plan::default(),
            cache: None,
            slot: None,
            room: None,
            status: StatusCode::OK,
            response: Watch::default(),
            response_headers: HeaderMap::new(),
            is_finished: false,
            core,
        }
    }

    /// Returns the number of bytes of bodies that are kept.
    pub(crate) fn keep(&self) -> usize {
        if self.core.keeps_bodies() { self.core.limit } else { GLANCE }
    }

    /// Notes a request that was read as a whole.
    pub(crate) fn read(&mut self, headers: &HeaderMap, body: Bytes, glance: Option<&Glance>) {
        self.request.see().len = body.len() as u64;
        self.request.see().end = Some(End::Complete);
        self.saw(headers, body, glance);
    }

    /// Notes a request as it is without its security.
    pub(crate) fn saw(&mut self, headers: &HeaderMap, body: Bytes, glance: Option<&Glance>) {
        if let Some(glance) = glance {
            self.version = glance.version;
            self.operation = self.core.names.of(glance);
        }
        self.whole_request = Some(Half { headers: headers.clone(), body });
    }

    /// Returns the name of the operation, for metrics.
    fn label(&self) -> Arc<str> {
        self.operation.clone().unwrap_or_else(|| Arc::from(""))
    }

    /// Sends the answer, and does what is to be done when it has ended.
    pub(crate) fn sent(mut self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        let (parts, body) = response.into_parts();
        self.status = parts.status;
        if self.core.keeps_bodies() || parts.headers.contains_key(CONTENT_ENCODING) {
            self.response_headers = parts.headers.clone();
        }
        let (keep, watch, idle, plan) = (self.keep(), self.response.clone(), self.core.idle, self.plan);
        if parts.extensions.get::<HangUp>().is_some() {
            self.response.see().end = Some(End::Unread);
            self.finish();
            return Response::from_parts(parts, body);
        }
        let mut body = body;
        if !self.is_own && (plan.cut || plan.speed.is_some()) {
            let left = plan.cut.then(|| body.size_hint().exact().map_or(CUT, |len| len / 2));
            self.count_trouble(if plan.cut { "cut" } else { "slow" });
            body = Troubled::new(body, left, plan.speed).boxed_unsync();
        }
        let body = Watched::new(body, watch, keep, idle).at_end(move || self.finish());
        Response::from_parts(parts, body.boxed_unsync())
    }

    pub(crate) fn count_trouble(&self, kind: &'static str) {
        metrics::counter!("deltasoap_proxy_trouble_total", "operation" => self.label(), "kind" => kind).increment(1);
    }

    /// Does what is to be done at the end.
    fn finish(mut self) {
        self.is_finished = true;
        let time = self.begun.elapsed();
        let (request, response) = (std::mem::take(&mut *self.request.see()), std::mem::take(&mut *self.response.see()));
        if self.operation.is_none() {
            let start = message::decoded_start(&self.headers, &request.kept, GLANCE);
            self.operation = Glance::at(&start).and_then(|glance| self.core.names.of(&glance));
        }
        let fault = self.has_fault(&response.kept);
        let is_whole = response.end == Some(End::Complete);
        self.count(fault, is_whole, (request.len, response.len), time);
        tracing::info!(
            method = %self.method,
            path = secrets::target(&self.path, false),
            operation = self.operation.as_deref(),
            status = self.status.as_u16(),
            fault,
            ms = time.as_secs_f64() * 1000.0,
            target_ms = self.wait.map(|wait| wait.as_secs_f64() * 1000.0),
            request_bytes = request.len,
            response_bytes = response.len,
            cache = self.cache,
            is_whole,
            "answered"
        );
        if !self.core.keeps_bodies() {
            return;
        }
        let is_request_kept = self.is_complete(&request) && request.len == request.kept.len() as u64;
        let request = self.whole_request.take().or_else(|| {
            is_request_kept.then(|| Half { headers: std::mem::take(&mut self.headers), body: request.kept.into() })
        });
        let is_response_kept = is_whole && response.len == response.kept.len() as u64;
        let response = self.plain_response.take().filter(|_| is_whole).or_else(|| {
            let headers = std::mem::take(&mut self.response_headers);
            is_response_kept.then(|| Half { headers, body: response.kept.into() })
        });
        let (Some(request), Some(response)) = (request, response) else {
            let path = secrets::target(&self.path, false);
            tracing::warn!(path, "an exchange is neither recorded nor validated: it is too large, or was broken off");
            return;
        };
        self.report(&request, &response);
        self.record(request, response, time);
    }

    /// Returns true if all of a request has arrived. Its receiver need not have seen the end.
    fn is_complete(&self, request: &Passed) -> bool {
        let length = self.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let is_without_body = length.is_none() && request.len == 0 && !is_with_message(&self.method);
        request.end == Some(End::Complete) || length == Some(request.len) || is_without_body
    }

    fn has_fault(&self, kept: &[u8]) -> bool {
        const WORD: &[u8] = b"Fault";
        let start = match &self.plain_response {
            Some(half) => message::decoded_start(&half.headers, &half.body[..half.body.len().min(GLANCE)], GLANCE),
            None => message::decoded_start(&self.response_headers, &kept[..kept.len().min(GLANCE)], GLANCE),
        };
        memchr::memmem::find(&start, WORD).is_some() && Glance::at(&start).is_some_and(|glance| glance.is_fault())
    }

    fn count(&self, fault: bool, is_whole: bool, (request, response): (u64, u64), time: Duration) {
        let operation = self.label();
        let outcome = match (is_whole, fault, self.status) {
            (false, ..) => "broken",
            (_, true, _) => "fault",
            (_, _, status) if status.is_client_error() || status.is_server_error() => "error",
            _ => "ok",
        };
        let labels = [
            metrics::Label::new("operation", Arc::clone(&operation)),
            metrics::Label::new("status", self.status.as_str().to_owned()),
            metrics::Label::new("outcome", outcome),
        ];
        metrics::counter!("deltasoap_proxy_requests_total", labels.iter()).increment(1);
        let operation = || [metrics::Label::new("operation", Arc::clone(&operation))];
        metrics::histogram!("deltasoap_proxy_duration_seconds", operation().iter()).record(time.as_secs_f64());
        if let Some(wait) = self.wait {
            metrics::histogram!("deltasoap_proxy_target_duration_seconds", operation().iter())
                .record(wait.as_secs_f64());
        }
        metrics::histogram!("deltasoap_proxy_request_bytes", operation().iter()).record(request as f64);
        metrics::histogram!("deltasoap_proxy_response_bytes", operation().iter()).record(response as f64);
    }

    /// Validates both messages, if that is only reported.
    fn report(&self, request: &Half, response: &Half) {
        if self.core.validation != ValidationMode::Report || self.is_own || !is_with_message(&self.method) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.core.reports).try_acquire_owned() else {
            metrics::counter!("deltasoap_proxy_unvalidated_total").increment(1);
            tracing::warn!(operation = self.operation.as_deref(), "an exchange is not validated: too many are");
            return;
        };
        let (core, operation) = (Arc::clone(&self.core), self.label());
        let halves = [("request", request), ("response", response)];
        let halves = halves.map(|(subject, half)| (subject, half.headers.clone(), half.body.clone()));
        let work = async move {
            let _turn = turn;
            for (subject, headers, body) in halves {
                match core.findings(subject, &headers, body).await {
                    Ok(findings) => core.invalid(&operation, subject, &findings),
                    Err(reason) => tracing::warn!(%operation, reason, "the {subject} cannot be validated"),
                }
            }
        };
        // Without a runtime the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(work);
        }
    }

    fn record(mut self, request: Half, response: Half, time: Duration) {
        let (Some(recorder), Some(room)) = (self.core.recorder.clone(), self.room.take()) else { return };
        let taken = Taken {
            begun: self.time,
            wait: self.wait.unwrap_or(time),
            time,
            operation: self.operation.as_deref().map(str::to_owned),
            target: self.core.target.as_ref().map(ToString::to_string),
            origin: std::mem::take(&mut self.origin),
            method: self.method.clone(),
            path: std::mem::take(&mut self.path),
            status: self.status,
            request,
            response,
            is_own: self.is_own || self.cache == Some("hit"),
        };
        recorder.take(taken, room);
    }
}

/// Returns true for methods whose requests may carry a message.
pub(crate) fn is_with_message(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE)
}

impl Core {
    /// Returns what is invalid in a message; nothing for what is no message.
    ///
    /// # Errors
    /// Returns the reason why it cannot be validated.
    pub(crate) async fn findings(
        &self,
        subject: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Vec<Finding>, String> {
        let Some(contract) = self.contract.clone().filter(|_| !body.is_empty()) else { return Ok(Vec::new()) };
        let body = message::decoded(headers, &body, self.limit)?.into_owned();
        let (len, essence) = (body.len(), message::essence(headers));
        if subject == "response" && !message::is_xml(&essence) && !message::is_package(&essence) {
            return Ok(Vec::new());
        }
        let message = Message::read(headers, body.into()).await?;
        if subject == "request"
            && let Some(glance) = Glance::at(&message.root).filter(|glance| !self.names.is_declared(glance))
            && let Some(entry) = glance.entry
        {
            let message = format!("no operation of the WSDL takes <{entry}>");
            return Ok(vec![Finding { line: 1, column: 1, path: "/Envelope/Body".to_owned(), message }]);
        }
        let validate = move || contract.validate_with_parts(&message.root, &|uri| message.part(uri).cloned());
        if len > LONG {
            return tokio::task::spawn_blocking(validate).await.map_err(|error| error.to_string());
        }
        Ok(validate())
    }

    /// Counts and reports an invalid message. At most some findings of each operation are warnings;
    /// all are in the log at the level `debug`. Only there are values of messages.
    pub(crate) fn invalid(&self, operation: &Arc<str>, subject: &'static str, findings: &[Finding]) {
        if findings.is_empty() {
            return;
        }
        let labels = [metrics::Label::new("operation", Arc::clone(operation)), metrics::Label::new("subject", subject)];
        metrics::counter!("deltasoap_proxy_invalid_total", labels.iter()).increment(1);
        for finding in findings {
            tracing::debug!(%operation, %finding, "the {subject} is invalid");
            if self.may_warn(operation) {
                let Finding { line, column, path, .. } = finding;
                let path = format_args!("{path:.200}");
                tracing::warn!(%operation, line, column, %path, "the {subject} violates the WSDL here");
            }
        }
    }
}
