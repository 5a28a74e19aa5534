//! Calls of operations, and their errors.

use crate::{gateway, get, plain, post, send, shop, with, with_method};
use deltasoap_core::soap::Fault;
use deltasoap_dynamic::{DynamicClient, Mock};
use deltasoap_gateway::{Backend, Config, Gateway, ServiceConfig};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value as Json, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ORDER: &str = r#"{"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}"#;

#[tokio::test]
async fn an_operation_is_a_post_of_its_json() {
    let gateway = plain();
    let placed = post(&gateway, "/operations/Order", ORDER).await;
    assert_eq!((placed.status.as_u16(), placed.headers["content-type"].as_bytes()), (200, &b"application/json"[..]));
    let client = DynamicClient::with_transport(shop(), Mock::new(shop()).service().expect("a service"));
    let expected = client.call("Order", &serde_json::from_str(ORDER).expect("JSON")).await.expect("an answer");
    assert_eq!(placed.json(), expected);
    for name in ["Soap11.Order", "Shop.Soap11.Order", "Soap11%2EOrder"] {
        let same = post(&gateway, &format!("/operations/{name}"), ORDER).await;
        assert_eq!(same.json(), expected, "{name}");
    }
}

#[tokio::test]
async fn an_operation_without_a_response_is_accepted() {
    let got = post(&plain(), "/operations/Ping", r#"{"text": "x"}"#).await;
    assert_eq!((got.status.as_u16(), &*got.text), (202, ""));
}

#[tokio::test]
async fn an_empty_body_is_an_empty_request() {
    let got = send(&plain(), Request::post("/operations/Catalogue").body(Full::default()).expect("a request")).await;
    assert_eq!(got.status.as_u16(), 200, "{got:?}");
}

#[tokio::test]
async fn errors_of_requests_are_problems() {
    let gateway = gateway("limits.request_bytes = 200\n[[service]]\nwsdl = \"shop.wsdl\"\n");
    let wrong =
        post(&gateway, "/operations/Order", r#"{"customer": "A", "item": [{"code": "A-1", "count": "x"}]}"#).await;
    let problem = wrong.problem(422, "invalid");
    assert_eq!(problem["pointer"], "/item/0/count", "{problem}");
    post(&gateway, "/operations/Order", "{").await.problem(400, "malformed");
    let twice =
        post(&gateway, "/operations/Order", r#"{"customer": "A", "customer": "B"}"#).await.problem(400, "malformed");
    assert!(twice["detail"].as_str().is_some_and(|it| it.contains("appears twice")), "{twice}");
    post(&gateway, "/operations/Ordner", "{}").await.problem(404, "unknown-operation");
    get(&gateway, "/nothing").await.problem(404, "not-found");
    let method = get(&gateway, "/operations/Order").await;
    method.problem(405, "method");
    assert_eq!(method.headers["allow"], "POST");
    let text = Request::post("/operations/Order").header("content-type", "text/xml").body(Full::from("<a/>"));
    send(&gateway, text.expect("a request")).await.problem(415, "media-type");
    post(&gateway, "/operations/Order", &format!("[{}0]", "0,".repeat(100))).await.problem(413, "too-large");
    let accept = Request::post("/operations/Catalogue").header("accept", "text/html").body(Full::default());
    send(&gateway, accept.expect("a request")).await.problem(406, "not-acceptable");
    post(&gateway, "/operations/Order?lst=item", "{}").await.problem(400, "parameter");
    let bytes = Request::post("/operations/Order").body(Full::from(&b"\"\xFF\""[..])).expect("a request");
    send(&gateway, bytes).await.problem(400, "malformed");
}

fn sold_out(contract: deltasoap_dynamic::Contract) -> Mock {
    let detail = contract
        .element_from_json(&deltasoap_core::QName::new("urn:shop", "SoldOut"), &json!({ "code": "A-1" }))
        .expect("a detail");
    let fault = move |_| {
        let mut fault = Fault::receiver("sold out");
        fault.detail.push(detail.clone());
        Err(Box::new(fault))
    };
    Mock::new(contract).handle("Order", fault).expect("an operation")
}

#[tokio::test]
async fn faults_are_problems_with_their_detail() {
    let fault = post(&with("[[service]]\nwsdl = \"s\"\n", sold_out), "/operations/Order", ORDER).await;
    let problem = fault.problem(500, "fault");
    assert_eq!((&problem["detail"], &problem["fault"]["code"]), (&json!("sold out"), &json!("Server")));
    assert_eq!(problem["fault"]["detail"], json!({ "SoldOut": { "code": "A-1" } }));
    for faults in ["SoldOut = 409", "Server = 409"] {
        let gateway = with(&format!("[[service]]\nwsdl = \"s\"\nfaults.{faults}\n"), sold_out);
        post(&gateway, "/operations/Order", ORDER).await.problem(409, "fault");
    }
    let sender = with("[[service]]\nwsdl = \"s\"\n", |contract| {
        Mock::new(contract).handle("Order", |_| Err(Box::new(Fault::sender("no")))).expect("an operation")
    });
    post(&sender, "/operations/Order", ORDER).await.problem(400, "fault");
}

/// Returns a gateway to a service that answers HTTP in this way.
fn answering(config: &str, status: u16, body: &'static str) -> Gateway {
    let transport = tower::service_fn(move |_| async move {
        let response = http::Response::builder().status(status).header("content-type", "text/xml");
        Ok::<_, std::convert::Infallible>(response.body(Full::<bytes::Bytes>::from(body)).expect("a response"))
    });
    let config = Config::parse(config).expect("a configuration");
    Gateway::new(&config, vec![Backend::new(shop()).transport(transport)]).expect("a gateway")
}

#[tokio::test]
async fn services_that_do_not_answer_are_problems() {
    let service = "[[service]]\nwsdl = \"s\"\nretries = 0\n";
    for (status, body, expected, kind) in [
        (401, "", 401, "unauthorized"),
        (403, "", 403, "forbidden"),
        (503, "", 503, "busy"),
        (404, "gone", 502, "bad-answer"),
        (200, "<a/>", 502, "bad-answer"),
        (200, "{", 502, "bad-answer"),
    ] {
        let got = post(&answering(service, status, body), "/operations/Order", ORDER).await;
        let problem = got.problem(expected, kind);
        assert!(!problem.to_string().contains("localhost"), "{problem}");
    }
    let broken =
        tower::service_fn(|_| async { Err::<http::Response<Full<bytes::Bytes>>, _>("no connection to 10.0.0.1") });
    let config = Config::new(vec![ServiceConfig::new("s")]);
    let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(broken)]).expect("a gateway");
    let problem = post(&gateway, "/operations/Order", ORDER).await.problem(502, "no-answer");
    assert!(!problem.to_string().contains("10.0.0.1"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn services_that_are_slow_are_problems() {
    let never =
        tower::service_fn(|_| std::future::pending::<Result<http::Response<Full<bytes::Bytes>>, std::io::Error>>());
    let config = Config::parse("[[service]]\nwsdl = \"s\"\ntimeout_seconds = 3\n").expect("a configuration");
    let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(never)]).expect("a gateway");
    let start = tokio::time::Instant::now();
    post(&gateway, "/operations/Order", ORDER).await.problem(504, "timeout");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_are_refused() {
    let never =
        tower::service_fn(|_| std::future::pending::<Result<http::Response<Full<bytes::Bytes>>, std::io::Error>>());
    let config = Config::parse("limits.concurrent_calls = 1\n[[service]]\nwsdl = \"s\"\n").expect("a configuration");
    let gateway = Gateway::new(&config, vec![Backend::new(shop()).transport(never)]).expect("a gateway");
    let (one, other) =
        tokio::join!(post(&gateway, "/operations/Order", ORDER), post(&gateway, "/operations/Order", ORDER));
    one.problem(504, "timeout");
    other.problem(503, "busy");
    assert_eq!(other.headers["retry-after"], "1");
}

#[tokio::test(start_paused = true)]
async fn bodies_that_do_not_arrive_are_refused() {
    let config = "limits.body_seconds = 2\n[[service]]\nwsdl = \"s\"\n";
    let body = http_body_util::StreamBody::new(futures_util::stream::pending::<
        Result<http_body::Frame<bytes::Bytes>, std::convert::Infallible>,
    >());
    let request = Request::post("/operations/Order").body(body).expect("a request");
    let Ok(response) = tower::ServiceExt::oneshot(gateway(config), request).await;
    crate::got(response).await.problem(408, "slow");
}

/// The head of the last request that a service got, and its body.
type Last = Arc<Mutex<Option<(http::request::Parts, String)>>>;

/// Returns a gateway to a mock, and the requests that the mock gets.
fn recorded(config: &str) -> (Gateway, Last) {
    let last = Last::default();
    let service = Mock::new(shop()).service().expect("a service");
    let seen = Arc::clone(&last);
    let transport = tower::service_fn(move |request: Request<deltasoap_http::Body>| {
        let (seen, service) = (Arc::clone(&seen), service.clone());
        async move {
            let (head, body) = request.into_parts();
            let bytes = http_body_util::BodyExt::collect(body).await.expect("a body").to_bytes();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            *seen.lock().expect("a lock") = Some((head.clone(), text));
            tower::ServiceExt::oneshot(service, Request::from_parts(head, Full::new(bytes))).await
        }
    });
    let config = Config::parse(config).unwrap_or_else(|error| panic!("{error}"));
    (Gateway::new(&config, vec![Backend::new(shop()).transport(transport)]).expect("a gateway"), last)
}

async fn order_with(gateway: &Gateway, header: (&'static str, &'static str)) -> crate::Got {
    let request =
        Request::post("/operations/Order").header(header.0, header.1).header("content-type", "application/json");
    send(gateway, request.body(Full::from(ORDER)).expect("a request")).await
}

#[tokio::test]
async fn header_blocks_are_http_headers() {
    let (gateway, last) = recorded("[[service]]\nwsdl = \"s\"\n");
    let got = order_with(&gateway, ("Soap-Header-Session", r#"{"token": "t-1"}"#)).await;
    assert_eq!(got.status.as_u16(), 200, "{got:?}");
    let (_, body) = last.lock().expect("a lock").take().expect("a request");
    assert!(body.contains("<ns1:token>t-1</ns1:token>") || body.contains(">t-1</"), "{body}");
    let wrong = order_with(&gateway, ("Soap-Header-Session", r#"{"tokn": "t-1"}"#)).await.problem(400, "parameter");
    assert_eq!(wrong["parameter"], "soap-header-session");
    order_with(&gateway, ("Soap-Header-Session", "{")).await.problem(400, "parameter");
}

#[tokio::test]
async fn credentials_are_passed_or_mapped() {
    let (gateway, last) = recorded("[[service]]\nwsdl = \"s\"\ncredentials = { kind = \"pass\" }\n");
    order_with(&gateway, ("authorization", "Bearer abc")).await;
    let (head, _) = last.lock().expect("a lock").take().expect("a request");
    assert_eq!(head.headers["authorization"], "Bearer abc");

    let (gateway, last) = recorded("[[service]]\nwsdl = \"s\"\n");
    order_with(&gateway, ("authorization", "Bearer abc")).await;
    let (head, _) = last.lock().expect("a lock").take().expect("a request");
    assert!(!head.headers.contains_key("authorization"), "nothing is passed unless that is asked for");

    let (gateway, last) = recorded("[[service]]\nwsdl = \"s\"\ncredentials = { kind = \"basic-to-username-token\" }\n");
    order_with(&gateway, ("authorization", "Basic QWRhOnNlY3JldA==")).await;
    let (head, body) = last.lock().expect("a lock").take().expect("a request");
    assert!(!head.headers.contains_key("authorization"));
    assert!(body.contains("UsernameToken") && body.contains(">Ada<") && body.contains(">secret<"), "{body}");
    let missing = post(&gateway, "/operations/Order", ORDER).await;
    missing.problem(401, "unauthorized");
    assert!(missing.headers.contains_key("www-authenticate"));
}

const ROUTES: &str = r#"
    [[service]]
    wsdl = "shop.wsdl"
    [[service.route]]
    path = "/orders/{customer}?code&urgent&pickup"
    operation = "Order"
    parameters = { code = "item/0/code", urgent = "@urgent" }
    fixed = { "item/0/count" = 3 }
    [[service.route]]
    path = "/orders/{customer}"
    method = "PUT"
    operation = "Order"
    body = "item"
    [[service.route]]
    path = "/catalogue"
    operation = "Catalogue"
"#;

/// Returns a gateway to a shop, and the last order that it got.
fn ordered(config: &str) -> (Gateway, Arc<Mutex<Json>>) {
    let last = Arc::new(Mutex::new(Json::Null));
    let gateway = with(config, |contract| {
        let (last, answer) = (Arc::clone(&last), contract.operation("Order").expect("an operation"));
        let sample = answer.response_sample().expect("a sample");
        let sample = answer.response_to_json(&sample).expect("JSON");
        let handle = move |order| {
            *last.lock().expect("a lock") = order;
            Ok(sample.clone())
        };
        Mock::new(contract).handle("Order", handle).expect("an operation")
    });
    (gateway, last)
}

#[tokio::test]
async fn paths_and_queries_are_requests() {
    let (gateway, last) = ordered(ROUTES);
    let got = get(&gateway, "/orders/Ada%20L.?code=A-1&urgent=true&pickup=2026-01-02").await;
    assert_eq!(got.status.as_u16(), 200, "{got:?}");
    let order = json!({
        "@urgent": true, "customer": "Ada L.", "item": [{ "code": "A-1", "count": 3 }], "pickup": "2026-01-02"
    });
    assert_eq!(*last.lock().expect("a lock"), order);

    let put = with_method(&gateway, Method::PUT, "/orders/Ada", r#"[{"code": "B-2", "count": 1}]"#).await;
    assert_eq!(put.status.as_u16(), 200, "{put:?}");
    assert_eq!(*last.lock().expect("a lock"), json!({ "customer": "Ada", "item": [{ "code": "B-2", "count": 1 }] }));

    assert_eq!(get(&gateway, "/catalogue").await.status.as_u16(), 200);
    get(&gateway, "/catalogue?a=1").await.problem(400, "parameter");
    let wrong = get(&gateway, "/orders/Ada?code=A-1&pickup=today").await.problem(422, "invalid");
    assert_eq!(wrong["pointer"], "/pickup");
    let method = with_method(&gateway, Method::DELETE, "/orders/Ada", "").await;
    method.problem(405, "method");
    assert_eq!(method.headers["allow"], "GET, PUT");
}

#[tokio::test]
async fn decimals_are_numbers_or_strings() {
    let total = json!({ "number": 12345678901234567_u64, "total": { "@currency": "EUR", "$": 20.50 }, "placed": "2026-11-22T10:00:00Z" });
    for (form, expected) in [
        ("auto", r#"{"number":"12345678901234567","total":{"@currency":"EUR","$":20.5},"#),
        ("strings", r#"{"number":"12345678901234567","total":{"@currency":"EUR","$":"20.5"},"#),
        ("numbers", r#"{"number":12345678901234567,"total":{"@currency":"EUR","$":20.5},"#),
    ] {
        let config = format!("[[service]]\nwsdl = \"s\"\ndecimals = \"{form}\"\n");
        let gateway = with(&config, |contract| Mock::new(contract).answer("Order", &total).expect("an answer"));
        let got = post(&gateway, "/operations/Order", ORDER).await;
        assert!(got.text.starts_with(expected), "{form}: {}", got.text);
    }
}
