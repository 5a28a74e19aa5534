//! Calls the service of `examples/server`, and distinguishes its refusals from other errors.
//!
//! ```text
//! cargo run -p example-client -- Ada
//! ```

use deltasoap::client::CallError;
use deltasoap::{Client, Soap};
use std::time::Duration;

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::builder("http://127.0.0.1:8080/").timeout(Duration::from_secs(5)).build()?;
    let name = std::env::args().nth(1).unwrap_or_default();
    println!("{}", greet(&client, name).await?);
    Ok(())
}

/// Returns the service's answer: a greeting, or the reason of a refusal.
async fn greet(client: &Client, name: String) -> Result<String, CallError> {
    match client.call(&Greet { name }).await {
        Ok(greeting) => Ok(greeting.text),
        Err(CallError::Fault(fault)) => Ok(format!("refused: {}", fault.reason)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::{Fault, Server, SoapService};

    #[tokio::test]
    async fn greetings_and_refusals_are_shown() -> Result<(), Box<dyn std::error::Error>> {
        let answer = async |greet: deltasoap::Lease<Greet>| match greet.name.as_str() {
            "" => Err(Fault::sender("whom?")),
            name => Ok(Greeting { text: format!("Hello {name}") }),
        };
        let server = Server::bind("127.0.0.1:0").await?;
        let client = Client::new(format!("http://{}/", server.local_addr()?))?;
        tokio::spawn(server.serve(SoapService::builder().operation(answer).build()?));
        assert_eq!(greet(&client, "Ada".to_owned()).await?, "Hello Ada");
        assert_eq!(greet(&client, String::new()).await?, "refused: whom?");
        Ok(())
    }
}
