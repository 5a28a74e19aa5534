//! What is known of a request when it is answered: for its line in the log, its span, and the
//! service's histograms.
//!
//! The modules that a request passes through add what they find to its [`Notes`], which travel with
//! it. [`Line`] has what is only logged, and exists only if the log is on.

use super::memory::Principal;
use super::record::Record;
use super::service::Inner;
use crate::body::Body;
use crate::telemetry::{self, TraceId, TraceParent, bounded, fault_code, read_match, written_match};
use crate::transport::Peer;
use deltasoap_core::soap::{FaultCode, Version};
use deltasoap_core::{DifferentialStats, EncodeStats};
use http::request::Parts;
use http::{Method, Response};
use http_body::Body as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::{Level, Span};

/// The target of the lines about requests, by which logs can select them.
macro_rules! target {
    () => {
        "deltasoap_http::server::request"
    };
}

/// What is known of a request with a message.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Facts>);

#[derive(Debug, Default)]
struct Facts {
    operation: Option<Arc<Record>>,
    version: Option<Version>,
    /// Bytes of the message that were read.
    received: Option<u64>,
    request_match: Option<&'static str>,
    response_match: Option<&'static str>,
    /// Time from the call of the handler to its result.
    handler_time: Option<Duration>,
}

impl Notes {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the operation, once it is known.
    pub(crate) fn operation(&self, record: &Arc<Record>, version: Version) {
        let name = &*record.name().local;
        Span::current().record("rpc.method", name);
        let mut facts = self.facts();
        (facts.operation, facts.version) = (Some(Arc::clone(record)), Some(version));
    }

    pub(crate) fn received(&self, bytes: u64) {
        self.facts().received = Some(bytes);
    }

    /// Notes how the request matched an earlier one; `None` if it was not compared.
    pub(crate) fn compared(&self, stats: Option<DifferentialStats>) {
        self.facts().request_match = Some(read_match(&stats.unwrap_or_default()));
    }

    /// Notes how the response matches earlier ones.
    pub(crate) fn written(&self, stats: &EncodeStats) {
        self.facts().response_match = written_match(stats);
    }

    pub(crate) fn handled(&self, time: Duration) {
        self.facts().handler_time = Some(time);
    }
}

/// The fault in a response, among its extensions until it leaves the service.
#[derive(Debug, Clone)]
pub(crate) struct SentFault {
    pub(crate) version: Version,
    pub(crate) code: FaultCode,
}

/// A request that is being answered.
pub(crate) struct Noted {
    start: Instant,
    notes: Arc<Notes>,
    line: Option<Line>,
}

impl Noted {
    /// Begins with a request that has just arrived.
    pub(crate) fn new(parts: &Parts) -> Self {
        let line = tracing::enabled!(target: target!(), Level::INFO).then(|| Line::new(parts));
        Noted { start: Instant::now(), notes: Arc::default(), line }
    }

    pub(crate) fn notes(&self) -> &Arc<Notes> {
        &self.notes
    }

    /// Notes the sender of the request.
    pub(crate) fn admitted(&mut self, parts: &Parts) {
        if let Some(line) = &mut self.line {
            line.principal = parts.extensions.get::<Principal>().cloned();
        }
    }

    /// Ends with the response to a message: counts it, and writes its line.
    pub(crate) fn answered(mut self, service: &Inner, span: &Span, response: &mut Response<Body>) {
        let (time, facts) = (self.start.elapsed(), self.notes.facts());
        let record = facts.operation.as_deref();
        service.stats.count_time(record, time, facts.handler_time);
        let fault = response.extensions_mut().remove::<SentFault>();
        let code = fault.as_ref().map(|fault| fault_code(&fault.code));
        let status = response.status();
        let failure = code.as_deref().or((!status.is_success()).then_some(status.as_str()));
        telemetry::conclude(span, Some(status.as_u16()), failure);
        if let Some(line) = &mut self.line {
            line.trace_id = telemetry::trace_of(span).or(line.trace_id);
            let version = fault.as_ref().map(|fault| fault.version);
            line.answered(service, &facts, (&*response, time), (version, code.as_deref()));
        }
    }

    /// Ends with the response to a request without a message.
    pub(crate) fn plain(self, response: &Response<Body>) {
        if let Some(line) = &self.line {
            line.plain(response.status().as_u16(), self.start.elapsed());
        }
    }

    /// Ends with the response to a request whose sender may not send it.
    pub(crate) fn denied(self, response: &Response<Body>) {
        if let Some(line) = &self.line {
            line.denied(response.status().as_u16(), self.start.elapsed());
        }
    }
}

/// What the line about a request contains beside [`Facts`].
struct Line {
    method: Method,
    path: String,
    peer: Option<SocketAddr>,
    principal: Option<Principal>,
    trace_id: Option<TraceId>,
}

impl Line {
    fn new(parts: &Parts) -> Self {
        Line {
            method: parts.method.clone(),
            path: bounded(parts.uri.path()).into_owned(),
            peer: parts.extensions.get::<Peer>().map(|peer| peer.0),
            principal: None,
            trace_id: TraceParent::from_headers(&parts.headers).map(|parent| parent.trace_id),
        }
    }

    fn answered(
        &self,
        service: &Inner,
        facts: &Facts,
        (response, time): (&Response<Body>, Duration),
        (version, code): (Option<Version>, Option<&str>),
    ) {
        let version = facts.version.or(version).map(|version| match version {
            Version::Soap11 => "1.1",
            Version::Soap12 => "1.2",
        });
        tracing::info!(
            target: target!(),
            {
                http.request.method = &*bounded(self.method.as_str()),
                url.path = self.path,
                rpc.service = (!service.name.is_empty()).then_some(&*service.name),
                rpc.method = facts.operation.as_ref().map(|record| &*record.name().local),
                http.response.status_code = response.status().as_u16(),
                duration = time.as_secs_f64(),
                soap.version = version,
                soap.fault.code = code,
                soap.request.size = facts.received,
                "soap.request.match" = facts.request_match,
                soap.response.size = response.body().size_hint().exact(),
                "soap.response.match" = facts.response_match,
                client.address = self.peer.map(|peer| tracing::field::display(peer.ip())),
                client.port = self.peer.map(|peer| peer.port()),
                enduser.id = self.principal.as_ref().map(|principal| bounded(&principal.0)).as_deref(),
                trace_id = self.trace_id.map(tracing::field::display),
            },
            "answered"
        );
    }
}

/// Writes the line about a request without a message.
macro_rules! plain_line {
    ($line:ident, $status:ident, $time:ident, $message:literal) => {
        tracing::info!(
            target: target!(),
            {
                http.request.method = &*bounded($line.method.as_str()),
                url.path = $line.path,
                http.response.status_code = $status,
                duration = $time.as_secs_f64(),
                client.address = $line.peer.map(|peer| tracing::field::display(peer.ip())),
                client.port = $line.peer.map(|peer| peer.port()),
                enduser.id = $line.principal.as_ref().map(|principal| bounded(&principal.0)).as_deref(),
                trace_id = $line.trace_id.map(tracing::field::display),
            },
            $message
        )
    };
}

impl Line {
    fn plain(&self, status: u16, time: Duration) {
        plain_line!(self, status, time, "answered");
    }

    fn denied(&self, status: u16, time: Duration) {
        plain_line!(self, status, time, "denied");
    }
}
