//! JSON through a gateway to SOAP, and through a reverse gateway back to JSON, for every operation of
//! every WSDL of the test data: what arrives is what was sent, in both directions.
//!
//! `DELTASOAP_TEST_WSDLS` names a folder with more WSDLs.

use crate::documents::wsdls;
use crate::{get, post};
use bytes::Bytes;
use deltasoap_dynamic::{Contract, Mock, Operation};
use deltasoap_gateway::{Backend, Config, Gateway, Reverse, ServiceConfig};
use deltasoap_http::SoapService;
use deltasoap_security::SecurityPolicy;
use deltasoap_wsdl::Importer;
use http_body_util::{BodyExt, Full};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Maximum number of operations of one WSDL.
const OPERATIONS: usize = 40;
/// Random messages of each operation, besides the sample.
const RANDOM: u64 = 4;

/// What the JSON service has received, and what it answers.
#[derive(Debug, Default)]
struct Exchange {
    received: Json,
    answer: Option<String>,
}

/// A gateway to a SOAP service, which is a reverse gateway to a JSON service.
struct Chain {
    gateway: Gateway,
    exchange: Arc<Mutex<Exchange>>,
}

impl Chain {
    /// `None` if no operation can be called, or requests of one cannot be told from another's.
    fn new(contract: &Contract) -> Option<Self> {
        let exchange = Arc::<Mutex<Exchange>>::default();
        let shared = Arc::clone(&exchange);
        let json_service = tower::service_fn(move |request: http::Request<deltasoap_http::Body>| {
            let shared = Arc::clone(&shared);
            async move {
                let bytes = request.into_body().collect().await.expect("a body").to_bytes();
                let mut exchange = shared.lock().expect("not poisoned");
                exchange.received = serde_json::from_slice(&bytes).unwrap_or_default();
                let status = if exchange.answer.is_some() { 200 } else { 202 };
                let response = http::Response::builder().status(status).header("content-type", "application/json");
                let body = Full::<Bytes>::from(exchange.answer.clone().unwrap_or_default());
                Ok::<_, std::convert::Infallible>(response.body(body).expect("a response"))
            }
        });
        let mut service = ServiceConfig::new("");
        service.endpoint = Some("https://soap.example/".to_owned());
        let config = Config::new(vec![service]);
        let backend = Backend::new(contract.clone()).transport(json_service);
        let reverse = Reverse::new("http://json.example/", backend, &config.services[0], &config.limits).ok()?;
        let service = reverse.mount(SoapService::builder()).build().ok()?;
        let gateway = Gateway::new(&config, vec![Backend::new(contract.clone()).transport(service)]).ok()?;
        Some(Chain { gateway, exchange })
    }

    /// Sends a request, which has this answer; returns what went wrong.
    async fn check(&self, operation: &Operation, request: &Json, answer: Option<&Json>) -> Result<(), String> {
        *self.exchange.lock().expect("not poisoned") =
            Exchange { received: Json::Null, answer: answer.map(Json::to_string) };
        let got = post(&self.gateway, &format!("/operations/{}", operation.full_name()), &request.to_string()).await;
        let received = self.received(answer.is_none()).await;
        match answer {
            _ if !is_same(&received, request) => Err(format!("sent {request}\nreceived {received}\n{got:?}")),
            Some(answer) if got.status.as_u16() != 200 || !is_same(&got.json(), answer) => {
                Err(format!("answered {answer}\nreceived {got:?}"))
            }
            None if !matches!(got.status.as_u16(), 200 | 202) => Err(format!("{got:?}")),
            _ => Ok(()),
        }
    }

    /// Returns what the JSON service has received. A one-way message may still be on its way.
    async fn received(&self, is_awaited: bool) -> Json {
        for _ in 0..if is_awaited { 1000 } else { 0 } {
            if !self.exchange.lock().expect("not poisoned").received.is_null() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.exchange.lock().expect("not poisoned").received.clone()
    }
}

/// Returns true for equal JSON, except for names of types that are those of the schema: messages in SOAP
/// encoding have the types of all values.
fn is_same(received: &Json, sent: &Json) -> bool {
    match (received, sent) {
        (Json::Object(received), Json::Object(sent)) => {
            let own = received.iter().filter(|(key, _)| *key != "$type" || sent.contains_key("$type"));
            own.clone().count() == sent.len()
                && own.into_iter().all(|(key, value)| sent.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Json::Array(received), Json::Array(sent)) => {
            received.len() == sent.len() && received.iter().zip(sent).all(|(one, other)| is_same(one, other))
        }
        _ => received == sent,
    }
}

async fn check(contract: &Contract, failures: &mut Vec<String>, name: &Path) -> usize {
    let Some(chain) = Chain::new(contract) else { return 0 };
    let mut checked = 0;
    let document = get(&chain.gateway, "/openapi.json").await.json();
    let paths = document["paths"].as_object().expect("paths").keys();
    let names = paths.filter_map(|path| path.strip_prefix("/operations/"));
    let alike: Vec<_> = Mock::new(contract.clone()).indistinguishable().into_iter().map(|(other, _)| other).collect();
    for operation in names.take(OPERATIONS).map(|name| contract.operation(name).expect("it is described")) {
        // A service cannot tell these apart, or requires keys.
        let policies = operation.policies();
        let is_secured = SecurityPolicy::parse(&policies).map_or(true, |policy| policy.secures_messages())
            || policies.request.is_empty() && !policies.required.is_empty();
        if alike.contains(&operation.full_name()) || is_secured {
            continue;
        }
        let answer = operation.response_sample().map(|it| operation.response_to_json(&it).expect("JSON"));
        let random = (1..=RANDOM).filter_map(|seed| operation.random_request(seed));
        for value in operation.request_sample().into_iter().chain(random) {
            let request = operation.request_to_json(&value).expect("JSON");
            checked += 1;
            if let Err(reason) = chain.check(&operation, &request, answer.as_ref()).await {
                failures.push(format!("{}: {}: {reason}", name.display(), operation.full_name()));
            }
        }
    }
    checked
}

#[tokio::test]
async fn json_becomes_soap_and_json_again() {
    let (mut checked, mut failures) = (0, Vec::new());
    let more = std::env::var_os("DELTASOAP_TEST_WSDLS").map(PathBuf::from);
    for path in wsdls(more.as_deref()) {
        let Ok(import) = Importer::new().offline().trust_tree().import(&path.to_string_lossy()) else { continue };
        checked += check(&Contract::from(import), &mut failures, &path).await;
    }
    println!("{checked} requests, {} failures", failures.len());
    assert!(
        failures.is_empty(),
        "{} of {checked} failed:\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n")
    );
    assert!(checked > 500, "{checked} requests");
}
