//! SOAP for a JSON service.

use crate::{SHOP, shop};
use deltasoap_dynamic::{DynamicClient, DynamicError};
use deltasoap_gateway::{Backend, Config, Reverse};
use deltasoap_http::{SoapService, Validation};
use http_body_util::{BodyExt, Full};
use serde_json::{Value as Json, json};
use std::sync::{Arc, Mutex};

const ROUTES: &str = r#"
    [[service]]
    wsdl = "shop.wsdl"
    [[service.route]]
    path = "/orders/{customer}?code"
    operation = "Order"
    parameters = { code = "item/0/code" }
    fixed = { "item/0/count" = 1 }
"#;

/// A JSON service that answers all requests in the same way, and the last request.
type Last = Arc<Mutex<(String, Json)>>;

fn client(config: &str, status: u16, answer: &str) -> (DynamicClient<SoapService>, Last) {
    let (last, answer) = (Last::default(), answer.to_owned());
    let seen = Arc::clone(&last);
    let transport = tower::service_fn(move |request: http::Request<deltasoap_http::Body>| {
        let (seen, answer) = (Arc::clone(&seen), answer.clone());
        async move {
            let (head, body) = request.into_parts();
            let bytes = body.collect().await.expect("a body").to_bytes();
            let json = serde_json::from_slice(&bytes).unwrap_or_default();
            *seen.lock().expect("a lock") = (format!("{} {}", head.method, head.uri), json);
            let response = http::Response::builder().status(status).header("content-type", "application/json");
            Ok::<_, std::convert::Infallible>(response.body(Full::<bytes::Bytes>::from(answer)).expect("a response"))
        }
    });
    let config = Config::parse(config).expect("a configuration");
    let backend = Backend::new(shop()).transport(transport);
    let reverse = Reverse::new("http://json.example/v1/", backend, &config.services[0], &config.limits).expect("SOAP");
    let builder = SoapService::builder().wsdl(SHOP).validate(shop(), Validation::Refuse);
    (DynamicClient::with_transport(shop(), reverse.mount(builder).build().expect("a service")), last)
}

const PLACED: &str = r#"{"number": 7, "total": {"@currency": "EUR", "$": "20.00"}, "placed": "2026-11-22T10:00:00Z"}"#;

#[tokio::test]
async fn soap_requests_are_json_requests() {
    let (client, last) = client("[[service]]\nwsdl = \"s\"\n", 200, PLACED);
    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    let placed = client.call("Order", &order).await.expect("an answer");
    assert_eq!(
        placed,
        serde_json::from_str::<Json>(
            r#"{"number":7,"total":{"@currency":"EUR","$":20.00},"placed":"2026-11-22T10:00:00Z"}"#
        )
        .expect("JSON")
    );
    assert_eq!(*last.lock().expect("a lock"), ("POST http://json.example/v1/operations/Order".to_owned(), order));
}

#[tokio::test]
async fn requests_that_fit_a_route_take_it() {
    let (client, last) = client(ROUTES, 200, PLACED);
    let call = async |order: &Json| client.call("Order", order).await.expect("an answer");
    call(&json!({ "customer": "Ada & B", "item": [{ "code": "A-1", "count": 1 }] })).await;
    let (line, body) = last.lock().expect("a lock").clone();
    assert_eq!((&*line, body), ("GET http://json.example/v1/orders/Ada%20%26%20B?code=A-1", Json::Null));
    let other = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    call(&other).await;
    assert_eq!(*last.lock().expect("a lock"), ("POST http://json.example/v1/operations/Order".to_owned(), other));
}

#[tokio::test]
async fn problems_are_faults() {
    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    let problem = r#"{"title": "t", "status": 409, "fault": {"code": "Server", "reason": "sold out", "detail": {"SoldOut": {"code": "A-1"}}}}"#;
    for (status, answer, code, reason) in [
        (409, problem, "Server", "sold out"),
        (422, r#"{"title": "bad", "detail": "wrong"}"#, "Client", "wrong"),
        (500, "{}", "Server", "the service answered with status 500"),
        (200, "[", "Server", "the service's answer does not match the WSDL"),
        (200, r#"{"number": "x"}"#, "Server", "the service's answer does not match the WSDL"),
    ] {
        let (client, _) = client("[[service]]\nwsdl = \"s\"\n", status, answer);
        let Err(DynamicError::Fault(fault)) = client.call("Order", &order).await else { panic!("no fault: {answer}") };
        assert_eq!((&*fault.code(), &*fault.fault.reason), (code, reason));
        if status == 409 {
            assert_eq!(fault.to_json()["detail"], json!({ "SoldOut": { "code": "A-1" } }));
        }
    }
}
