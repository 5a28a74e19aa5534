//! Any bytes as a request to a gateway in front of a mock: it answers with one of its statuses, and
//! never because its own message was unusable; what it reads as a request of an operation, it writes
//! as JSON that reads the same.
//!
//! The first byte selects method and media types, the rest of the first line is path and query.

#![no_main]

use bytes::Bytes;
use deltasoap_dynamic::{Contract, Mock, Operation};
use deltasoap_gateway::{Backend, Config, Gateway};
use http::Request;
use http_body_util::{BodyExt, Full};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

const WSDL: &str = include_str!("../../crates/deltasoap-dynamic/tests/data/shop.wsdl");

const CONFIG: &str = r#"
[[service]]
wsdl = "shop.wsdl"
[[service.route]]
path = "/orders/{customer}?code&urgent"
method = "PUT"
operation = "Order"
parameters = { code = "item/0/code", urgent = "@urgent" }
fixed = { "item/0/count" = 1 }
[[service.route]]
path = "/catalogue"
operation = "Catalogue"
"#;

const METHODS: [&str; 4] = ["POST", "GET", "PUT", "HEAD"];
const MEDIA: [&str; 4] = ["application/json", "multipart/form-data; boundary=b", "text/plain", ""];
const ACCEPTED: [&str; 3] = ["application/json", "application/jsonl", "multipart/mixed"];

/// The statuses of an answer. A fault of the mock is 400 or 500, a message that it cannot read would
/// be a fault, too: requests that have been read can be sent.
const STATUSES: [u16; 11] = [200, 202, 400, 403, 404, 405, 406, 408, 413, 415, 422];

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (line, body) = (&rest[..end], rest.get(end + 1..).unwrap_or_default());
    if let Ok(text) = std::str::from_utf8(body) {
        operations().iter().for_each(|operation| round(operation, text));
    }
    let Ok(path) = std::str::from_utf8(line) else { return };
    let choice = usize::from(*first);
    let (method, media, accepted) = (METHODS[choice % 4], MEDIA[choice / 4 % 4], ACCEPTED[choice / 16 % 3]);
    let request = Request::builder().method(method).uri(format!("/{path}")).header("accept", accepted);
    let request = if media.is_empty() { request } else { request.header("content-type", media) };
    let Ok(request) = request.body(Full::new(Bytes::copy_from_slice(body))) else { return };
    let (runtime, gateway) = gateway();
    let (status, answer) = runtime.block_on(async {
        let response = gateway.clone().oneshot(request).await.expect("infallible");
        (response.status().as_u16(), response.into_body().collect().await)
    });
    assert!(STATUSES.contains(&status), "{status}: {answer:?}");
});

/// Reads a request, and what was written of it.
fn round(operation: &Operation, text: &str) {
    let Ok(value) = operation.request_from_text(text) else { return };
    let json = operation.request_to_json(&value).expect("a request that was read");
    let again = operation.request_from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(operation.request_to_json(&again).expect("a request"), json);
}

fn contract() -> Contract {
    static CONTRACT: OnceLock<Contract> = OnceLock::new();
    CONTRACT.get_or_init(|| Contract::from_text(WSDL).expect("a description")).clone()
}

fn operations() -> &'static [Operation] {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    OPERATIONS.get_or_init(|| ["Order", "Catalogue"].map(|name| contract().operation(name).expect("it is there")).into())
}

fn gateway() -> &'static (Runtime, Gateway) {
    static GATEWAY: OnceLock<(Runtime, Gateway)> = OnceLock::new();
    GATEWAY.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let config = Config::parse(CONFIG).expect("a configuration");
        let mock = Mock::new(contract()).service().expect("a service");
        let backend = Backend::new(contract()).transport(mock);
        (runtime, Gateway::new(&config, vec![backend]).expect("a gateway"))
    })
}
