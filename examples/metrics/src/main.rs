//! Counters for Prometheus: messages, faults, bytes, time spent decoding, and what was saved by comparing.
//!
//! ```text
//! cargo run -p example-metrics
//! curl http://127.0.0.1:9090/metrics
//! ```
//!
//! A service reports to the recorder that is installed when it is built. Here Prometheus has an address of its own, so
//! that the service's clients do not get to see it.

use axum::Router;
use axum::routing::get;
use deltasoap::http::{BuildError, Server, SoapService};
use deltasoap::{Lease, Soap, soap::Fault};
use metrics_exporter_prometheus::{BuildError as ExporterError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::error::Error;
use tokio::net::TcpListener;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:readings", message)]
struct Mean {
    value: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:readings", message)]
struct MeanResponse {
    mean: f64,
}

async fn mean(mean: Lease<Mean>) -> Result<MeanResponse, Fault> {
    if mean.value.is_empty() {
        return Err(Fault::sender("the mean of what?"));
    }
    Ok(MeanResponse { mean: mean.value.iter().sum::<f64>() / mean.value.len() as f64 })
}

fn service() -> Result<SoapService, BuildError> {
    SoapService::builder().name("Readings").operation(mean).build()
}

/// Bounds of the buckets for seconds spent decoding a message: from small requests to large arrays.
const SECONDS: [f64; 8] = [5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 5e-2];

/// Installs the recorder, which services that are built afterwards report to.
fn recorder() -> Result<PrometheusHandle, ExporterError> {
    let seconds = Matcher::Suffix("_seconds".to_owned());
    PrometheusBuilder::new().set_buckets_for_metric(seconds, &SECONDS)?.install_recorder()
}

/// What Prometheus asks.
fn metrics(recorder: PrometheusHandle) -> Router {
    let render = async move || {
        recorder.run_upkeep(); // histograms are added up here, since nothing else runs for them
        recorder.render()
    };
    Router::new().route("/metrics", get(render))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let metrics = metrics(recorder()?);
    let listener = TcpListener::bind("127.0.0.1:9090").await?;
    println!("metrics at http://{}/metrics", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, metrics).into_future());

    let server = Server::bind("127.0.0.1:8080").await?;
    println!("the service at http://{}/", server.local_addr()?);
    let handle = server.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shutdown();
        }
    });
    Ok(server.serve(service()?).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::http::Client;

    #[tokio::test]
    async fn what_the_service_does_is_counted() -> Result<(), Box<dyn Error>> {
        let recorder = recorder()?;
        let client = Client::with_service("http://localhost/", service()?)?;
        for value in [1.0, 2.0, 3.0] {
            let response: MeanResponse = client.call(&Mean { value: vec![value; 100] }).await?;
            assert_eq!(response.mean, value);
        }
        assert!(client.call::<_, MeanResponse>(&Mean { value: vec![] }).await.is_err());
        let text = recorder.render();
        for line in
            [r#"deltasoap_messages_total{service="Readings"} 4"#, r#"deltasoap_faults_total{service="Readings"} 1"#]
        {
            assert!(text.contains(line), "{line} in {text}");
        }
        Ok(())
    }
}
