//! A standalone service with one operation.
//!
//! ```text
//! cargo run -p example-server
//! ```
//!
//! Then run the client of `examples/client`, or open <http://127.0.0.1:8080/> in a browser. The
//! test below calls the service in memory: no port, no socket.

use deltasoap::server::{BuildError, shutdown_signal};
use deltasoap::{Fault, Lease, Server, Soap, SoapService};

#[derive(Debug, Soap)]
#[soap(namespace = "urn:hello", message, response = Greeting)]
struct Greet {
    name: String,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:hello", message)]
struct Greeting {
    text: String,
}

async fn greet(request: Lease<Greet>) -> Result<Greeting, Fault> {
    if request.name.is_empty() {
        return Err(Fault::sender("whom?"));
    }
    Ok(Greeting { text: format!("Hello {}", request.name) })
}

fn service() -> Result<SoapService, BuildError> {
    SoapService::builder().name("Hello").operation(greet).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}/", server.local_addr()?);
    Ok(server.serve_with_shutdown(service()?, shutdown_signal()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::Client;
    use deltasoap::client::CallError;

    #[tokio::test]
    async fn those_with_a_name_are_greeted() -> Result<(), Box<dyn std::error::Error>> {
        let client = Client::with_service("http://localhost/", service()?)?;
        let greeting: Greeting = client.call(&Greet { name: "Ada".to_owned() }).await?;
        assert_eq!(greeting.text, "Hello Ada");
        let nobody = client.call(&Greet { name: String::new() }).await;
        assert!(matches!(nobody, Err(CallError::Fault(fault)) if fault.reason == "whom?"));
        Ok(())
    }
}
