//! The reverse direction: SOAP for a JSON service.
//!
//! A SOAP request becomes the HTTP request that a gateway with the same configuration would have
//! made the SOAP request from: a route of its operation if the request has nothing that the route
//! has no place for, else `POST /operations/NAME`. A problem (RFC 9457) becomes a fault.

use crate::backend::{Backend, TRACES, Transport};
use crate::body;
use crate::config::CredentialsConfig;
use crate::config::{ConfigError, Limits, ServiceConfig, header_names};
use crate::targets::{self, Route};
use bytes::Bytes;
use deltasoap_core::Lease;
use deltasoap_core::Value;
use deltasoap_core::soap::{Fault, FaultCode};
use deltasoap_core::{Node, QName};
use deltasoap_dynamic::{Operation, Parts, json};
use deltasoap_http::{Context, Reply, SoapServiceBuilder};
use form_urlencoded::Serializer;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use http::{Method, Request, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use tower::ServiceExt;

/// What is escaped in a segment of a path: all but the unreserved characters (RFC 3986, 2.3).
const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// SOAP for a JSON service that has the paths of a [gateway](crate::Gateway).
///
/// ```
/// # use deltasoap_dynamic::{Contract, DynamicClient, Mock};
/// use deltasoap_gateway::{Backend, Gateway, Limits, Reverse, ServiceConfig};
/// use deltasoap_http::SoapService;
///
/// # const WSDL: &str = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let contract = Contract::from_text(WSDL)?;
/// # let soap = Mock::new(contract.clone()).service()?;
/// # let config = deltasoap_gateway::Config::new(vec![ServiceConfig::new("shop.wsdl")]);
/// # let json_service = Gateway::new(&config, vec![Backend::new(contract.clone()).transport(soap)])?;
/// let backend = Backend::new(contract.clone()).transport(json_service);
/// let config = ServiceConfig::new("shop.wsdl");
/// let reverse = Reverse::new("http://127.0.0.1:3000", backend, &config, &Limits::default())?;
/// let service = reverse.mount(SoapService::builder()).build()?;
/// # let client = DynamicClient::with_transport(contract, service);
/// # client.call("Catalogue", &serde_json::json!({})).await?;
/// # Ok(())
/// # }
/// ```
pub struct Reverse {
    shared: Arc<Shared>,
}

/// What all operations have in common.
struct Shared {
    base: String,
    way: crate::backend::Way,
    forwarded: Vec<HeaderName>,
    limit: usize,
    seconds: u64,
}

impl std::fmt::Debug for Reverse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reverse").field("base", &self.shared.base).finish_non_exhaustive()
    }
}

impl Reverse {
    /// Creates the SOAP side of a JSON service at a URL. Of the configuration, the routes, the
    /// form of decimals, the timeout and the headers that are passed through apply.
    ///
    /// # Errors
    /// If the configuration does not match the contract.
    pub fn new(
        url: impl Into<String>,
        backend: Backend,
        config: &ServiceConfig,
        limits: &Limits,
    ) -> Result<Self, ConfigError> {
        let base = url.into().trim_end_matches('/').to_owned();
        if base.parse::<http::Uri>().map_or(true, |url| url.scheme().is_none() || url.query().is_some()) {
            return Err(ConfigError::invalid("reverse", "expected a URL without a query"));
        }
        let forwarded = match &config.credentials {
            Some(CredentialsConfig::Pass { headers }) => header_names("service.credentials.headers", headers)?,
            None => Vec::new(),
            Some(_) => {
                let reason = "a JSON service takes only the kind `pass`";
                return Err(ConfigError::invalid("service.credentials.kind", reason));
            }
        };
        let way = backend.way(config, "service")?;
        let limit = usize::try_from(limits.answer_bytes).unwrap_or(usize::MAX);
        let shared = Shared { base, way, forwarded, limit, seconds: config.timeout_seconds };
        Ok(Reverse { shared: Arc::new(shared) })
    }

    /// Adds the operations to a service.
    #[must_use]
    pub fn mount(self, builder: SoapServiceBuilder) -> SoapServiceBuilder {
        let contract = &self.shared.way.contract;
        let schema = Arc::clone(&contract.lowered().schema);
        let mut builder = builder;
        for (operation, _) in contract.served() {
            let (Ok(method), Some(target)) =
                (operation.method(), targets::index_of(&self.shared.way.targets, contract, &operation))
            else {
                continue;
            };
            let method = method.element.clone();
            let (shared, called) = (Arc::clone(&self.shared), operation.clone());
            let handler = move |mut context: Context, request: Lease<Value>| {
                let (shared, called) = (Arc::clone(&shared), called.clone());
                async move {
                    let parts = Parts::of(&request, context.attachments()).await.map_err(Fault::from)?;
                    let json = called.request_with_parts(&request, &parts).map_err(unwritten)?;
                    shared.call(&called, target, json, &context).await
                }
            };
            let mut served = deltasoap_http::Operation::dynamic(method, Arc::clone(&schema), handler);
            if let Some(text) = operation.documentation() {
                served = served.documentation(text.to_owned());
            }
            builder = builder.add_operation(served);
        }
        builder
    }
}

fn unwritten(error: json::JsonError) -> Fault {
    tracing::error!(%error, "a message cannot be converted");
    Fault::receiver("the message cannot be converted")
}

impl Shared {
    async fn call(
        &self,
        operation: &Operation,
        target: usize,
        json: Json,
        context: &Context,
    ) -> Result<Reply<Value>, Fault> {
        let routes = self.way.routes.iter().filter(|route| route.target == target);
        let made = routes.filter_map(|route| by_route(route, json.clone())).next();
        let made = made.unwrap_or_else(|| Made {
            method: Method::POST,
            path: format!("/operations/{}", utf8_percent_encode(&self.way.targets[target].name, &SEGMENT)),
            body: Some(json),
        });
        let (status, media, bytes) = self.exchange(made, context).await?;
        if !status.is_success() {
            return Err(fault(operation, status, &media, &bytes));
        }
        if operation.is_one_way() {
            return Ok(Reply::new(Value::Absent));
        }
        // No content (204) is a response without parts.
        let bytes = if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes };
        let answer = std::str::from_utf8(&bytes).ok().and_then(|text| json::parse(text).ok());
        let value = answer
            .ok_or_else(|| "it is not JSON".to_owned())
            .and_then(|answer| operation.response_from_json(&answer).map_err(|error| error.to_string()));
        value.map(Reply::new).map_err(|reason| {
            tracing::warn!(operation = operation.name(), reason, "an answer does not match the WSDL");
            Fault::receiver("the service's answer does not match the WSDL")
        })
    }

    /// Sends a request, and reads the answer to its end.
    async fn exchange(&self, made: Made, context: &Context) -> Result<(StatusCode, String, Bytes), Fault> {
        let mut request = Request::builder().method(made.method).uri(format!("{}{}", self.base, made.path));
        request = request.header(ACCEPT, "application/json");
        for name in self.forwarded.iter().chain(&TRACES) {
            if let Some(value) = context.parts().headers.get(name) {
                request = request.header(name, value);
            }
        }
        let body = match made.body {
            Some(json) => {
                request = request.header(CONTENT_TYPE, "application/json");
                json.to_string()
            }
            None => String::new(),
        };
        let request = request.body(deltasoap_http::Body::from(body)).map_err(|error| {
            tracing::error!(%error, "a request cannot be made");
            Fault::receiver("the request cannot be made")
        })?;
        let transport: Transport = self.way.transport.clone();
        let waiting = tokio::time::timeout(std::time::Duration::from_secs(self.seconds), transport.oneshot(request));
        let response = waiting.await.map_err(|_| Fault::receiver("the service did not answer in time"))?;
        let response = response.map_err(|error| {
            tracing::warn!(error = %error, "the service did not answer");
            Fault::receiver("the service did not answer")
        })?;
        let (head, body) = response.into_parts();
        let media = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
        let bytes = body::read(body, self.limit, self.seconds).await;
        let bytes = bytes.map_err(|_| Fault::receiver("the service's answer did not arrive"))?;
        Ok((head.status, media, bytes))
    }
}

/// A request of HTTP.
struct Made {
    method: Method,
    path: String,
    body: Option<Json>,
}

/// Returns the request of a route; `None` if the request has something that the route has no place
/// for, or lacks something.
fn by_route(route: &Route, mut json: Json) -> Option<Made> {
    for (place, value) in &route.fixed {
        if !is_same(&take(&mut json, place)?, value) {
            return None;
        }
    }
    let mut path = route.template.clone();
    let mut query = Serializer::new(String::new());
    for parameter in &route.parameters {
        match (take(&mut json, parameter.target()), parameter.is_in_path) {
            (Some(value), true) => {
                let text = utf8_percent_encode(&text(&value)?, &SEGMENT).to_string();
                path = path.replace(&format!("{{{}}}", parameter.name), &text);
            }
            (None, true) => return None,
            (Some(Json::Array(items)), false) => {
                for item in &items {
                    query.append_pair(&parameter.name, &text(item)?);
                }
            }
            (Some(value), false) => _ = query.append_pair(&parameter.name, &text(&value)?),
            (None, false) => {}
        }
    }
    let body = match (&route.body, route.has_body) {
        (Some(place), _) => Some(take(&mut json, place)?),
        (None, true) => Some(std::mem::take(&mut json)),
        (None, false) => None,
    };
    if !is_empty(&json) {
        return None;
    }
    let query = query.finish();
    let path = if query.is_empty() { path } else { format!("{path}?{query}") };
    Some(Made { method: route.method.clone(), path, body })
}

/// Takes the value at a path of properties out of a request.
fn take(json: &mut Json, place: &str) -> Option<Json> {
    match (place.split_once('/'), json) {
        (Some((step, rest)), Json::Object(object)) => take(object.get_mut(step)?, rest),
        (Some((step, rest)), Json::Array(items)) => take(items.get_mut(step.parse::<usize>().ok()?)?, rest),
        (None, Json::Object(object)) => object.shift_remove(place),
        _ => None,
    }
}

/// Returns true if nothing is left of a request.
fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Object(object) => object.values().all(is_empty),
        Json::Array(items) => items.iter().all(is_empty),
        _ => false,
    }
}

/// Returns a simple value as text.
fn text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        _ => None,
    }
}

/// Returns true for equal values, whether they are strings or numbers.
fn is_same(one: &Json, other: &Json) -> bool {
    one == other || text(one).is_some_and(|one| text(other) == Some(one))
}

/// Makes a fault from a problem, or from another answer with an error status.
fn fault(operation: &Operation, status: StatusCode, media: &str, bytes: &[u8]) -> Fault {
    let is_json = media.contains("json");
    let problem: Json =
        Some(bytes).filter(|_| is_json).and_then(|it| serde_json::from_slice(it).ok()).unwrap_or_default();
    let given = &problem["fault"];
    let member = |json: &Json, key: &str| json[key].as_str().filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let reason = member(given, "reason").or_else(|| member(&problem, "detail")).or_else(|| member(&problem, "title"));
    let reason = reason.unwrap_or_else(|| format!("the service answered with status {}", status.as_u16()));
    let code = match member(given, "code").as_deref() {
        Some("Client" | "Sender") => FaultCode::Sender,
        Some("Server" | "Receiver") => FaultCode::Receiver,
        _ if status.is_client_error() => FaultCode::Sender,
        _ => FaultCode::Receiver,
    };
    let mut fault = Fault::new(code, reason);
    if let Some(entries) = given["detail"].as_object() {
        fault.detail = details(operation, entries);
    }
    fault
}

/// Returns the entries of a detail that the WSDL declares for the operation.
fn details(operation: &Operation, entries: &Map<String, Json>) -> Vec<Node> {
    let declared = operation.method().map_or(&[][..], |method| &method.element.faults);
    let entry = |(name, json): (&String, &Json)| {
        let name: &QName = declared.iter().map(|fault| &fault.name).find(|known| *known.local == **name)?;
        operation.contract().element_from_json(name, json).ok()
    };
    entries.iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_taken_out() {
        let mut json = json!({ "a": { "b": [{ "c": 1 }, 2] }, "d": "x" });
        assert_eq!(take(&mut json, "a/b/0/c"), Some(json!(1)));
        assert_eq!(take(&mut json, "a/b/7"), None);
        assert_eq!(take(&mut json, "d"), Some(json!("x")));
        assert!(!is_empty(&json));
        assert_eq!(take(&mut json, "a"), Some(json!({ "b": [{}, 2] })));
        assert!(is_empty(&json));
    }
}
