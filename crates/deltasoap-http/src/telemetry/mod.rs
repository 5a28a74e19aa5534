//! What clients and servers tell about each message: to logs, and to distributed traces.
//!
//! Spans become part of a distributed trace with the feature `opentelemetry` alone. Without it, a
//! server still logs the identity of the trace that a request [belongs to](TraceParent).

mod bounded;
mod matched;
mod trace_parent;

pub(crate) use bounded::{bounded, bounded_to};
pub(crate) use matched::{read_match, written_match};
pub(crate) use trace_parent::{TraceId, TraceParent};

use deltasoap_core::soap::{FaultCode, Version};
use http::HeaderMap;
use std::borrow::Cow;
use tracing::Span;

/// Returns the local name of a fault's code; for the codes that both versions of SOAP have, the
/// name in 1.2.
pub(crate) fn fault_code(code: &FaultCode) -> Cow<'_, str> {
    match code {
        FaultCode::Other(name) => bounded(&name.local),
        code => Cow::Owned(code.name(Version::Soap12).local.to_string()),
    }
}

/// Returns the span of a call or request, of a kind known to OpenTelemetry.
macro_rules! span {
    ($kind:literal, $name:literal) => {{
        #[cfg(feature = "opentelemetry")]
        let span = tracing::info_span!($name, rpc.method = tracing::field::Empty, otel.kind = $kind);
        #[cfg(not(feature = "opentelemetry"))]
        let span = tracing::info_span!($name, rpc.method = tracing::field::Empty);
        span
    }};
}
pub(crate) use span;

/// Makes a server's span a child of the client's span that the headers name.
#[cfg(feature = "opentelemetry")]
pub(crate) fn join(span: &Span, parent: Option<TraceParent>, headers: &HeaderMap) {
    use opentelemetry::Context;
    use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState};
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    let Some(parent) = parent.filter(|_| !span.is_disabled()) else { return };
    let members: Vec<_> = headers.get_all("tracestate").iter().map(|value| value.to_str()).collect();
    let state = members.into_iter().collect::<Result<Vec<_>, _>>().ok();
    let state: Option<TraceState> = state.and_then(|members| members.join(",").parse().ok());
    let trace = TraceId::from_bytes(parent.trace_id.number().to_be_bytes());
    let id = SpanId::from_bytes(parent.span_id.to_be_bytes());
    let flags = TraceFlags::new(parent.flags) & TraceFlags::SAMPLED;
    let remote = SpanContext::new(trace, id, flags, true, state.unwrap_or_default());
    // Without OpenTelemetry's layer, there is no trace to join.
    let _ = span.set_parent(Context::new().with_remote_span_context(remote));
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn join(_: &Span, _: Option<TraceParent>, _: &HeaderMap) {}

/// Makes the span of a request's processing a child of the span that the request's headers name (W3C
/// Trace Context). Returns true if the span is part of a trace, so that calls within it continue that.
///
/// Without the feature `opentelemetry` and a layer of `tracing-opentelemetry` it is not. Then a service
/// that calls others may pass the headers `traceparent` and `tracestate` on. For services that are no
/// [`SoapService`](crate::SoapService), such as gateways.
pub fn join_trace(span: &Span, headers: &HeaderMap) -> bool {
    join(span, TraceParent::from_headers(headers), headers);
    trace_of(span).is_some()
}

/// Adds the identity of a client's span to its request, unless the caller did.
#[cfg(feature = "opentelemetry")]
pub(crate) fn announce(span: &Span, headers: &mut HeaderMap) {
    use http::HeaderValue;
    use opentelemetry::trace::TraceContextExt as _;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    if span.is_disabled() || headers.contains_key(TraceParent::HEADER) {
        return;
    }
    let context = span.context();
    let active = context.span();
    let own = active.span_context();
    if !own.is_valid() {
        return;
    }
    let parent = TraceParent {
        trace_id: TraceId::new(u128::from_be_bytes(own.trace_id().to_bytes())),
        span_id: u64::from_be_bytes(own.span_id().to_bytes()),
        flags: own.trace_flags().to_u8(),
    };
    headers.extend(HeaderValue::try_from(parent.to_string()).ok().map(|value| (TraceParent::NAME, value)));
    let state = own.trace_state().header();
    if let (false, Ok(state)) = (state.is_empty(), HeaderValue::try_from(state)) {
        headers.insert("tracestate", state);
    }
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn announce(_: &Span, _: &mut HeaderMap) {}

/// Returns the identity of the trace that a span belongs to.
#[cfg(feature = "opentelemetry")]
pub(crate) fn trace_of(span: &Span) -> Option<TraceId> {
    use opentelemetry::trace::TraceContextExt as _;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    let context = span.context();
    let active = context.span();
    let own = active.span_context();
    own.is_valid().then(|| TraceId::new(u128::from_be_bytes(own.trace_id().to_bytes())))
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn trace_of(_: &Span) -> Option<TraceId> {
    None
}

/// Records the outcome in OpenTelemetry's span: the HTTP status, the SOAP fault's code or the kind
/// of error, and whether it failed.
#[cfg(feature = "opentelemetry")]
pub(crate) fn conclude(span: &Span, status: Option<u16>, failure: Option<&str>) {
    use opentelemetry::trace::Status;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    if span.is_disabled() {
        return;
    }
    if let Some(status) = status {
        span.set_attribute("http.response.status_code", i64::from(status));
    }
    if let Some(failure) = failure {
        span.set_attribute("error.type", failure.to_owned());
        span.set_status(Status::error(""));
    }
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn conclude(_: &Span, _: Option<u16>, _: Option<&str>) {}
