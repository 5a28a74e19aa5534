//! A service with one operation. Run it, then `hello_client`; or open <http://127.0.0.1:8080/> in a browser.

use deltasoap::http::{Server, SoapService};
use deltasoap::{Lease, Soap, soap::Fault};

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

async fn greet(request: Lease<Greet>) -> Result<Greeting, Fault> {
    if request.name.is_empty() {
        return Err(Fault::sender("whom?"));
    }
    Ok(Greeting { text: format!("Hello {}", request.name) })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = SoapService::builder().name("Hello").operation(greet).build()?;
    let server = Server::bind("127.0.0.1:8080").await?;
    let handle = server.handle();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            handle.shutdown();
        }
    });
    println!("listening on http://{}/", server.local_addr()?);
    Ok(server.serve(service).await?)
}
