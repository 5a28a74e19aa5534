//! Functions that are no handlers, and calls whose response is of another type.

use deltasoap::{Client, Lease, Soap, SoapService};

#[derive(Soap)]
#[soap(message, response = Told)]
struct Ask {}

#[derive(Soap)]
#[soap(message)]
struct Told {}

struct Other {}

async fn takes_no_message(_: Other) -> Told {
    Told {}
}

async fn returns_no_message(_: Lease<Ask>) -> Other {
    Other {}
}

async fn takes_no_context(_: Other, _: Lease<Ask>) -> Told {
    Told {}
}

fn returns_no_fault(_: Ask) -> Result<Told, Other> {
    Ok(Told {})
}

async fn calls(client: Client) {
    let _: Ask = client.call(&Ask {}).await.unwrap(); // expected `Ask`, found `Told`
    let _ = client.call(&Told {}).await; // the response to `Told` is not known
}

fn main() {
    let _ = SoapService::builder().operation(takes_no_message); // `Other` is not a request
    let _ = SoapService::builder().operation(returns_no_message); // `Other` is not a result of a handler
    let _ = SoapService::builder().operation(takes_no_context); // takes_no_context}` is not a handler
    let _ = SoapService::builder().operation(returns_no_fault); // returns_no_fault}` is not a handler
    let _ = calls;
}
