//! Functions that are no handlers, and calls whose response is another type.

use deltasoap::http::{Client, SoapService};
use deltasoap::{Lease, Soap};

#[derive(Soap)]
#[soap(message, response = Told)]
struct Ask {}

#[derive(Soap)]
#[soap(message)]
struct Told {}

struct NoMessage {}

async fn takes_no_message(_: NoMessage) -> Told {
    Told {}
}

async fn returns_no_message(_: Lease<Ask>) -> NoMessage {
    NoMessage {}
}

async fn takes_no_context(_: NoMessage, _: Lease<Ask>) -> Told {
    Told {}
}

fn returns_no_fault(_: Ask) -> Result<Told, NoMessage> {
    Ok(Told {})
}

async fn calls(client: Client) {
    let _: Ask = client.call(&Ask {}).await.unwrap();
    let _ = client.call(&Told {}).await;
}

fn main() {
    let _ = SoapService::builder().operation(takes_no_message);
    let _ = SoapService::builder().operation(returns_no_message);
    let _ = SoapService::builder().operation(takes_no_context);
    let _ = SoapService::builder().operation(returns_no_fault);
    let _ = calls;
}
