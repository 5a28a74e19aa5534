//! Calls the service of `examples/server` from a program without async.
//!
//! ```text
//! cargo run -p example-blocking -- Ada
//! ```

use deltasoap::Soap;
use deltasoap::client::CallError;
use deltasoap::client::blocking::Client;

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new("http://127.0.0.1:8080/")?;
    let name = std::env::args().nth(1).unwrap_or_default();
    println!("{}", greet(&client, name)?);
    Ok(())
}

/// Returns the service's answer: a greeting, or the reason of a refusal.
fn greet(client: &Client, name: String) -> Result<String, CallError> {
    match client.call(&Greet { name }) {
        Ok(greeting) => Ok(greeting.text),
        Err(CallError::Fault(fault)) => Ok(format!("refused: {}", fault.reason)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::{Fault, Lease, Server, SoapService};

    /// Serves in a runtime on other threads, as another program would; returns the service's URL.
    fn served(runtime: &tokio::runtime::Runtime) -> Result<String, Box<dyn std::error::Error>> {
        let answer = async |greet: Lease<Greet>| match greet.name.as_str() {
            "" => Err(Fault::sender("whom?")),
            name => Ok(Greeting { text: format!("Hello {name}") }),
        };
        let service = SoapService::builder().operation(answer).build()?;
        let server = runtime.block_on(Server::bind("127.0.0.1:0"))?;
        let url = format!("http://{}/", server.local_addr()?);
        runtime.spawn(server.serve(service));
        Ok(url)
    }

    #[test]
    fn greetings_and_refusals_are_shown() -> Result<(), Box<dyn std::error::Error>> {
        let runtime = tokio::runtime::Runtime::new()?;
        let client = Client::new(served(&runtime)?)?;
        assert_eq!(greet(&client, "Ada".to_owned())?, "Hello Ada");
        assert_eq!(greet(&client, String::new())?, "refused: whom?");
        Ok(())
    }
}
