//! A call across two services, in one distributed trace.
//!
//! ```text
//! cargo run -p example-tracing
//! OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 cargo run -p example-tracing
//! ```
//!
//! The shop asks the warehouse before it answers. Each client and each server has a span, and the
//! header `traceparent` connects them. Spans go to a collector by OTLP if its address is set, else
//! to standard output; the log, on standard error, has the same trace identities.

use deltasoap::server::BuildError;
use deltasoap::{Client, Fault, Lease, Server, Soap, SoapService};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use std::error::Error;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

#[derive(Debug, Soap)]
#[soap(namespace = "urn:shop", message, response = Ordered)]
struct Order {
    item: String,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:shop", message)]
struct Ordered {
    days: u32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:warehouse", message, response = Stock)]
struct GetStock {
    item: String,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:warehouse", message)]
struct Stock {
    pieces: u32,
}

fn warehouse() -> Result<SoapService, BuildError> {
    let stock = |request: GetStock| Stock { pieces: if request.item == "lamp" { 3 } else { 0 } };
    SoapService::builder().name("Warehouse").operation(stock).build()
}

fn shop(warehouse: Client) -> Result<SoapService, BuildError> {
    let order = move |request: Lease<Order>| {
        let warehouse = warehouse.clone();
        async move {
            let stock = warehouse.call(&GetStock { item: request.item.clone() }).await;
            let stock = stock.map_err(|_| Fault::receiver("the warehouse does not answer"))?;
            Ok::<_, Fault>(Ordered { days: if stock.pieces > 0 { 1 } else { 14 } })
        }
    };
    SoapService::builder().name("Shop").operation(order).build()
}

/// Serves on a free port; returns the URL.
async fn serve(service: SoapService) -> std::io::Result<String> {
    let server = Server::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", server.local_addr()?);
    tokio::spawn(server.serve(service));
    Ok(url)
}

/// Orders a lamp.
async fn order() -> Result<Ordered, Box<dyn Error>> {
    let warehouse = Client::new(serve(warehouse()?).await?)?;
    let shop = Client::new(serve(shop(warehouse)?).await?)?;
    Ok(shop.call(&Order { item: "lamp".to_owned() }).await?)
}

/// Returns the exporter of spans: to a collector if the environment names one, else to standard
/// output.
fn provider() -> Result<SdkTracerProvider, Box<dyn Error>> {
    let builder = SdkTracerProvider::builder();
    if std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_none() {
        return Ok(builder.with_simple_exporter(opentelemetry_stdout::SpanExporter::default()).build());
    }
    let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build()?;
    Ok(builder.with_batch_exporter(exporter).build())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Built outside of the runtime's threads, since its HTTP client blocks.
    let provider = tokio::task::spawn_blocking(|| provider().map_err(|error| error.to_string())).await??;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
    let spans = spans.with_filter(EnvFilter::new("deltasoap_http=info"));
    tracing_subscriber::registry().with(log).with(spans).init();
    println!("{:?}", order().await?);
    tokio::task::spawn_blocking(move || provider.shutdown()).await??;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_sdk::trace::InMemorySpanExporter;

    #[tokio::test]
    async fn all_spans_belong_to_one_trace() -> Result<(), Box<dyn Error>> {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        assert_eq!(order().await?.days, 1);
        provider.force_flush()?;
        let spans = exporter.get_finished_spans()?;
        let ours: Vec<_> = spans.iter().filter(|span| span.name.starts_with("soap")).collect();
        assert_eq!(ours.len(), 4, "{spans:?}");
        assert!(ours.iter().all(|span| span.span_context.trace_id() == ours[0].span_context.trace_id()));
        Ok(())
    }
}
