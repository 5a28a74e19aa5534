//! The record of each call: one line in the log, and its span.

use super::error::CallError;
use super::pace::{Pace, Patience};
use super::transmit::Outbound;
use crate::telemetry::{self, TraceId, TraceParent, bounded, bounded_to, fault_code, read_match, written_match};
use deltasoap_core::{DifferentialStats, EncodeStats};
use http::{StatusCode, Uri};
use http_body::Body as _;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tracing::{Instrument, Level, Span};

/// The target of the lines about calls, by which logs can select them.
macro_rules! target {
    () => {
        "deltasoap_http::client::call"
    };
}

/// Maximum length of an error in a line, in characters.
const ERROR_LENGTH: usize = 512;

/// What is known of a call when it ends; only collected if it is logged.
#[derive(Debug, Default)]
pub(super) struct CallNotes {
    attempts: AtomicU64,
    status: OnceLock<StatusCode>,
    /// Bytes of the response's message that were read.
    received: AtomicU64,
    request_match: OnceLock<&'static str>,
    response_match: OnceLock<&'static str>,
}

impl CallNotes {
    /// Returns notes if calls are logged.
    pub(super) fn if_logged() -> Option<Arc<Self>> {
        tracing::enabled!(target: target!(), Level::INFO).then(Arc::default)
    }

    pub(super) fn attempt(&self) {
        self.attempts.fetch_add(1, Relaxed);
    }

    pub(super) fn status(&self, status: StatusCode) {
        let _ = self.status.set(status);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Relaxed);
    }

    /// Notes how the request matches earlier ones.
    pub(super) fn written(&self, stats: &EncodeStats) {
        let _ = written_match(stats).map(|kind| self.request_match.set(kind));
    }

    /// Notes how the response matched an earlier one.
    pub(super) fn compared(&self, stats: &DifferentialStats) {
        let _ = self.response_match.set(read_match(stats));
    }
}

/// A call under way.
pub(super) struct Observed {
    span: Span,
    url: Uri,
    line: Option<Line>,
    pace: Option<Pace>,
}

/// What the line about a call contains beside its notes.
struct Line {
    notes: Arc<CallNotes>,
    operation: String,
    sent: Option<u64>,
    trace_id: Option<TraceId>,
    start: Instant,
}

impl Outbound {
    /// Begins the span of a call of an operation, which the request names to the server if there
    /// are distributed traces.
    pub(super) fn observed(&mut self, operation: &str) -> Observed {
        let span = telemetry::span!("client", "soap call");
        span.record("rpc.method", operation);
        telemetry::announce(&span, self.request.headers_mut());
        let line = self.notes.as_ref().map(|notes| Line {
            notes: Arc::clone(notes),
            operation: bounded(operation).into_owned(),
            sent: self.request.body().size_hint().exact(),
            trace_id: TraceParent::from_headers(self.request.headers()).map(|parent| parent.trace_id),
            start: Instant::now(),
        });
        Observed { span, url: self.request.uri().clone(), line, pace: self.pace.clone() }
    }
}

impl Observed {
    /// Runs the call within a time limit, and logs its outcome.
    pub(super) async fn run<T>(
        self,
        limit: Option<Duration>,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let patience = Patience { limit, pace: self.pace };
        let outcome = patience.within(call).instrument(self.span.clone()).await.map_err(|error| match error {
            CallError::Timeout(late) => CallError::Timeout(late.at(&self.url)),
            CallError::Status(error) => CallError::Status(Box::new(error.at(&self.url))),
            error => error,
        });
        let failure = outcome.as_ref().err();
        if let Some(line) = &self.line {
            line.write(&self.url, failure);
        }
        telemetry::conclude(&self.span, None, failure.map(kind).as_deref());
        outcome
    }
}

impl Line {
    fn write(&self, url: &Uri, failure: Option<&CallError>) {
        let notes = &*self.notes;
        let code = match failure {
            Some(CallError::Fault(_)) => failure.map(kind),
            _ => None,
        };
        // Texts of other errors can quote the message.
        let error = match failure {
            Some(CallError::Http(error)) => Some(error.to_string()),
            _ => None,
        };
        let received = notes.received.load(Relaxed);
        tracing::info!(
            target: target!(),
            {
                server.address = url.host().map(bounded).as_deref(),
                server.port = url.port_u16(),
                rpc.method = self.operation,
                http.response.status_code = notes.status.get().map(http::StatusCode::as_u16),
                duration = self.start.elapsed().as_secs_f64(),
                attempts = notes.attempts.load(Relaxed),
                soap.fault.code = code.as_deref(),
                "soap.request.size" = self.sent,
                "soap.request.match" = notes.request_match.get(),
                "soap.response.size" = (received > 0).then_some(received),
                "soap.response.match" = notes.response_match.get(),
                "error.type" = failure.map(kind).as_deref(),
                error = error.as_deref().map(|text| bounded_to(text, ERROR_LENGTH)).as_deref(),
                trace_id = self.trace_id.map(tracing::field::display),
            },
            "{}",
            if failure.is_none() { "answered" } else { "failed" }
        );
    }
}

/// Returns the kind of an error: of a fault, the local name of its code.
fn kind(error: &CallError) -> Cow<'_, str> {
    Cow::Borrowed(match error {
        CallError::Fault(fault) => return fault_code(&fault.code),
        CallError::Http(_) => "http",
        CallError::Status(_) => "status",
        CallError::Decode(_) => "decode",
        CallError::NotUnderstood(_) => "not_understood",
        CallError::Charset(_) => "charset",
        CallError::Refused(_) => "refused",
        CallError::RefusedRequest(_) => "refused_request",
        CallError::Unsecured(_) => "unsecured",
        CallError::Insecure(_) => "insecure",
        CallError::InvalidResponse(_) => "invalid_response",
        CallError::InvalidRequest(_) => "invalid_request",
        CallError::Coding(_) => "coding",
        CallError::Attachment(_) => "attachment",
        CallError::Encode(_) => "encode",
        CallError::Action(_) => "action",
        CallError::Timeout(_) => "timeout",
        CallError::Redirect(_) => "redirect",
    })
}
