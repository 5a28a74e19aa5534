//! Calls the service of `hello_server` without `async`: `cargo run --example hello_blocking --features blocking -- Ada`.

use deltasoap::Soap;
use deltasoap::http::CallError;
use deltasoap::http::blocking::Client;

#[derive(Soap)]
#[soap(namespace = "urn:hello", message)]
struct Greet {
    name: String,
}

#[derive(Soap)]
#[soap(namespace = "urn:hello", message)]
struct Greeting {
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new("http://127.0.0.1:8080/")?;
    let name = std::env::args().nth(1).unwrap_or_default();
    match client.call::<_, Greeting>(&Greet { name }) {
        Ok(greeting) => println!("{}", greeting.text),
        Err(CallError::Fault(fault)) => println!("refused: {}", fault.reason),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
