//! Functions that are no handlers, and calls whose response is of another type.

use deltasoap::server::{Operation, State};
use deltasoap::{Client, Lease, Soap, SoapService};

#[derive(Soap)]
#[soap(message, response = Told)]
struct Ask {}

#[derive(Soap)]
#[soap(message)]
struct Told {}

struct Other {}

#[derive(Clone)]
struct Pool;

async fn takes_no_message(_: Other) -> Told {
    Told {}
}

async fn returns_no_message(_: Lease<Ask>) -> Other {
    Other {}
}

async fn takes_no_context(_: Other, _: Lease<Ask>) -> Told {
    Told {}
}

async fn takes_state(_: State<Pool>, _: Lease<Ask>) -> Told {
    Told {}
}

async fn returns_no_fault_later(_: Ask) -> Result<Told, Other> {
    Ok(Told {})
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
    let _ = SoapService::builder().operation(takes_no_context); // `Other` cannot be taken from the context of a request
    let _ = SoapService::builder().operation(takes_state); // the service has no state `Pool`: its state is `()`
    let _ = SoapService::builder().state(1).operation(takes_state); // the service has no state `Pool`: its state is
    let _ = Operation::new(takes_state); // the service has no state `Pool`: its state is `()`
    let _ = Operation::new(async |_: Option<Other>, _: Ask| Told {}); // `Option<Other>` cannot be taken
    let _ = Operation::new(|_: State<Pool>, _: Other, _: Ask| Told {}); // `Other` cannot be taken
    let _ = SoapService::builder().operation(returns_no_fault); // returns_no_fault}` is not a handler
    let _ = SoapService::builder().operation(returns_no_fault_later); // `Result<Told, Other>` is not a result of a handler
    let _ = calls;
}
