//! Distributed traces through the gateway. A program of its own: interest in spans is cached for all
//! threads of a process.

use deltasoap_dynamic::{Contract, Mock};
use deltasoap_gateway::{Backend, Config, Gateway};
use http::Request;
use http_body_util::Full;
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use std::sync::{Arc, Mutex};
use tower::{ServiceExt, service_fn};
use tracing_subscriber::layer::SubscriberExt;

const SHOP: &str = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

/// Sends a request of a traced client, and returns the trace's headers that the SOAP service got.
async fn call() -> Vec<(String, String)> {
    let contract = Contract::from_text(SHOP).expect("a description");
    let (service, seen) = (Mock::new(contract.clone()).service().expect("a service"), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&seen);
    let watched = service_fn(move |request: Request<deltasoap_http::Body>| {
        let of_trace = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            name.as_str().starts_with("trace").then(|| (name.to_string(), value.to_str().expect("text").to_owned()))
        };
        noted.lock().expect("no panic").extend(request.headers().iter().filter_map(of_trace));
        service.clone().oneshot(request)
    });
    let config = Config::parse("[[service]]\nwsdl = \"shop.wsdl\"\n").expect("a configuration");
    let gateway = Gateway::new(&config, vec![Backend::new(contract).transport(watched)]).expect("a gateway");
    let request = Request::post("/operations/Catalogue").header("traceparent", PARENT).header("tracestate", "a=1");
    let Ok(response) = gateway.oneshot(request.body(Full::<bytes::Bytes>::default()).expect("a request")).await;
    assert_eq!(response.status(), 200);
    std::mem::take(&mut *seen.lock().expect("no panic"))
}

#[tokio::test]
async fn a_trace_goes_on_through_the_gateway() {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    // Without OpenTelemetry, as it came.
    assert_eq!(call().await, [header("traceparent", PARENT), header("tracestate", "a=1")]);

    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let sent = call().await;
    provider.force_flush().expect("flushed");
    let spans: Vec<SpanData> = exporter.get_finished_spans().expect("spans");
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:?}"));
    let (gateway, call, served) = (named("gateway"), named("soap call"), named("soap"));
    assert_eq!(gateway.span_context.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(gateway.parent_span_id.to_string(), "00f067aa0ba902b7");
    assert_eq!(call.parent_span_id, gateway.span_context.span_id());
    assert_eq!(served.parent_span_id, call.span_context.span_id());
    assert_eq!((&gateway.span_kind, &call.span_kind), (&SpanKind::Server, &SpanKind::Client));
    let told = |key: &str| gateway.attributes.iter().find(|it| it.key.as_str() == key).map(|it| it.value.to_string());
    assert_eq!(told("rpc.method").as_deref(), Some("Catalogue"));
    assert_eq!(told("http.response.status_code").as_deref(), Some("200"));
    let parent = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", call.span_context.span_id());
    assert_eq!(sent, [header("traceparent", &parent), header("tracestate", "a=1")]);
}
