//! Distributed traces, by OpenTelemetry. Runs alone: interest in spans is cached for all threads of
//! a process.

use crate::ALONE;
use crate::common::*;
use deltasoap::{Client, Server};
use opentelemetry::trace::{SpanId, SpanKind, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::Instrument;
use tracing_subscriber::layer::SubscriberExt;

/// Calls an operation over a socket, within a span; returns all spans.
async fn spans(request: Echo) -> Vec<SpanData> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let (url, handle) = (format!("http://{}/", server.local_addr().expect("an address")), server.handle());
    let serving = tokio::spawn(server.serve(service().0));
    let client = Client::new(url).expect("a client");
    let calling = async { client.call_as::<EchoResponse>(&request).await };
    calling.instrument(tracing::info_span!("order")).await.expect("a response");
    drop(client);
    handle.shutdown();
    serving.await.expect("no panic").expect("served");
    provider.force_flush().expect("flushed");
    exporter.get_finished_spans().expect("spans")
}

#[tokio::test]
async fn the_span_of_a_server_is_a_child_of_that_of_its_client() {
    let _alone = ALONE.lock().await;
    let spans = spans(echo("traced")).await;
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:?}"));
    let (order, call, served) = (named("order"), named("soap call"), named("soap"));
    assert_eq!(order.parent_span_id, SpanId::INVALID);
    assert_eq!(call.parent_span_id, order.span_context.span_id());
    assert_eq!(served.parent_span_id, call.span_context.span_id());
    assert_eq!((&call.span_kind, &served.span_kind), (&SpanKind::Client, &SpanKind::Server));
    for span in [call, served] {
        assert_eq!(span.span_context.trace_id(), order.span_context.trace_id());
        let method = span.attributes.iter().find(|attribute| attribute.key.as_str() == "rpc.method");
        assert_eq!(method.map(|attribute| attribute.value.as_str()), Some("Echo".into()));
    }
    let status = served.attributes.iter().find(|attribute| attribute.key.as_str() == "http.response.status_code");
    assert_eq!(status.map(|attribute| attribute.value.as_str()), Some("200".into()));
}
