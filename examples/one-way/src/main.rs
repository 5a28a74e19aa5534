//! One-way operations: the server acknowledges a message (status 202), and handles it afterwards.
//!
//! ```text
//! cargo run -p example-one-way
//! ```
//!
//! A sensor sends readings to a service that files them. The client's call ends when the server has
//! the complete message, not when it is filed; a message that cannot be decoded is still refused
//! with a fault.

use deltasoap::server::BuildError;
use deltasoap::{Client, Fault, Lease, Server, Soap, SoapService};
use std::error::Error;
use std::time::Duration;
use tokio::sync::mpsc;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:sensors", message)]
struct Reading {
    sensor: String,
    value: Vec<f64>,
}

/// Creates the service, and the receiver of the readings that it files.
fn service() -> Result<(SoapService, mpsc::UnboundedReceiver<f64>), BuildError> {
    let (filed, filing) = mpsc::unbounded_channel();
    let file = move |reading: Lease<Reading>| {
        let filed = filed.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await; // slow work
            filed.send(reading.value.iter().sum()).map_err(|_| Fault::receiver("the archive is closed"))
        }
    };
    Ok((SoapService::builder().name("Sensors").operation(file).build()?, filing))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (service, mut filing) = service()?;
    let server = Server::bind("127.0.0.1:0").await?;
    let client = Client::new(format!("http://{}/", server.local_addr()?))?;
    let handle = server.handle();
    let serving = tokio::spawn(server.serve(service));

    for number in 1..=5 {
        let reading = Reading { sensor: "roof".to_owned(), value: vec![f64::from(number); 3] };
        client.send(&reading).await?;
        println!("accepted {}: {:?}", reading.sensor, reading.value);
    }
    for _ in 1..=5 {
        println!("filed {}", filing.recv().await.ok_or("the service is gone")?);
    }
    handle.shutdown();
    Ok(serving.await??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_accepted_is_filed() -> Result<(), Box<dyn Error>> {
        let (service, mut filing) = service()?;
        let client = Client::with_service("http://localhost/", service)?;
        client.send(&Reading { sensor: "cellar".to_owned(), value: vec![1.5, 2.5] }).await?;
        assert_eq!(filing.recv().await, Some(4.0));
        Ok(())
    }
}
