//! Metrics for Prometheus: messages, faults, bytes, times, and the savings of comparing.
//!
//! ```text
//! cargo run -p example-metrics
//! curl http://127.0.0.1:9090/metrics
//! ```
//!
//! A service reports to the recorder that is installed when it is built. The [`Monitor`] has an
//! address of its own here, which the service's clients cannot reach; it also reports the server's
//! state to load balancers (`/health`, `/ready`).

use deltasoap::server::{BuildError, Monitor, shutdown_signal};
use deltasoap::{Fault, Lease, Server, Soap, SoapService};
use std::error::Error;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:readings", message, response = MeanResponse)]
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::bind("127.0.0.1:8080").await?;
    let monitor = Monitor::for_server(&server.handle()).prometheus()?;
    let monitoring = Server::bind("127.0.0.1:9090").await?;
    println!("the service at http://{}/", server.local_addr()?);
    println!("metrics at http://{}/metrics", monitoring.local_addr()?);
    tokio::spawn(monitoring.serve(monitor));
    Ok(server.serve_with_shutdown(service()?, shutdown_signal()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Client;
    use deltasoap::client::CallError;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    /// Returns what Prometheus would read.
    async fn scraped(monitor: Monitor) -> std::io::Result<String> {
        let monitoring = Server::bind("127.0.0.1:0").await?;
        let mut stream = TcpStream::connect(monitoring.local_addr()?).await?;
        tokio::spawn(monitoring.serve(monitor));
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: monitor\r\nconnection: close\r\n\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        Ok(text)
    }

    #[tokio::test]
    async fn what_the_service_does_is_counted() -> Result<(), Box<dyn Error>> {
        let monitor = Monitor::new().prometheus()?;
        let client = Client::with_service("http://localhost/", service()?)?;
        for value in [1.0, 2.0, 3.0] {
            let response: MeanResponse = client.call(&Mean { value: vec![value; 100] }).await?;
            assert_eq!(response.mean, value);
        }
        let refused = client.call(&Mean { value: vec![] }).await;
        assert!(matches!(refused, Err(CallError::Fault(_))));
        let text = scraped(monitor).await?;
        for line in [
            r#"deltasoap_messages_total{service="Readings"} 4"#,
            r#"deltasoap_faults_total{service="Readings"} 1"#,
            r#"deltasoap_request_duration_seconds_count{service="Readings",operation="{urn:readings}Mean"} 4"#,
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        Ok(())
    }
}
