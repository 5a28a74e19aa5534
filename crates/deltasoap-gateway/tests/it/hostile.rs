//! Requests of any content: each gets an answer, and nothing panics.

use crate::{Got, gateway, plain, send};
use http::{Method, Request};
use http_body_util::Full;
use proptest::prelude::*;
use std::sync::LazyLock;
use tokio::runtime::Runtime;

const CONFIG: &str = "
    limits.request_bytes = 4096
    [[service]]
    wsdl = 's'
    credentials = { kind = 'basic-to-username-token' }
    [[service.route]]
    path = '/o/{customer}?code&urgent'
    method = 'PUT'
    operation = 'Order'
    body = 'item'
    parameters = { code = 'payment/number', urgent = '@urgent' }
    [[service.route]]
    path = '/o/{customer}'
    operation = 'Order'
    fixed = { 'item/0/count' = 1 }
";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

fn answered(request: Request<Full<bytes::Bytes>>) -> Got {
    static GATEWAY: LazyLock<deltasoap_gateway::Gateway> = LazyLock::new(|| gateway(CONFIG));
    RUNTIME.block_on(send(&GATEWAY, request))
}

/// Answers with a gateway that takes JSON lines.
fn in_lines(request: Request<Full<bytes::Bytes>>) -> Got {
    static GATEWAY: LazyLock<deltasoap_gateway::Gateway> = LazyLock::new(plain);
    RUNTIME.block_on(send(&GATEWAY, request))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_request_gets_an_answer(
        method in prop::sample::select(&[Method::GET, Method::POST, Method::PUT, Method::HEAD, Method::OPTIONS][..]),
        path in prop::sample::select(&["/operations/Order", "/operations/%FF", "/o/a", "/o/%2F%00", "/operations/", "/"][..]),
        query in "[a-z=&%0-9+]{0,20}",
        headers in prop::collection::vec((
            prop::sample::select(&["accept", "content-type", "authorization", "soap-header-session", "content-encoding", "origin"][..]),
            prop::sample::select(&[
                "application/json", "multipart/form-data; boundary=b", "multipart/mixed", "application/jsonl", "gzip", "null",
                "Basic QTpi", "Basic !", "{\"token\": \"t\"}", "{", "*/*;q=x", "\u{7f}",
            ][..]),
        ), 0..4),
        body in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[\\[\\]{}\":,a-z0-9. -]{0,60}".prop_map(String::into_bytes),
            Just(br#"{"customer": "A", "item": [{"code": "A-1", "count": 2}]}"#.to_vec()),
            Just(b"--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n--b--".to_vec()),
            Just(vec![b'['; 5000]),
        ],
    ) {
        let mut request = Request::builder().method(method).uri(format!("{path}?{query}"));
        for (name, value) in headers {
            if let Ok(value) = http::HeaderValue::from_str(value) {
                request = request.header(name, value);
            }
        }
        let got = answered(request.body(Full::from(body)).expect("a request"));
        let is_problem = got.headers.get("content-type").is_some_and(|it| it == "application/problem+json");
        // Only the reader of compressed bodies answers without a problem.
        prop_assert!(got.status.is_success() || is_problem || got.status.as_u16() == 415, "{:?}", got);
        if is_problem {
            prop_assert_eq!(&got.json()["status"], &serde_json::Value::from(got.status.as_u16()));
        }
    }
    #[test]
    fn every_request_in_lines_gets_an_answer(
        query in prop::sample::select(&["items=item", "items=%24choice", "items=item&list=x", "items=", ""][..]),
        accept in prop::sample::select(&["application/json", "application/jsonl"][..]),
        head in prop::sample::select(&[
            r#"{"customer": "A"}"#, r#"{"customer": "A", "item": [{"code": "A-1", "count": 2}]}"#, "{}", "[]", "", r#"{"item": {"a": 1}}"#,
        ][..]),
        lines in prop::collection::vec(prop_oneof![
            "[\\[\\]{}\":,a-z0-9. \r-]{0,30}".prop_map(String::from),
            prop::sample::select(&[
                r#"{"code": "A-1", "count": 2}"#, r#"{"gift": "g"}"#, r#"{"coupon": 7}"#, "", "\r", "null", "{\"code\": \"\u{0}\", \"count\": 1}",
            ][..]).prop_map(String::from),
        ], 0..6),
        is_cut in any::<bool>(),
    ) {
        let request = Request::post(format!("/operations/Order?{query}"));
        let request = request.header("content-type", "application/jsonl").header("accept", accept);
        let body = format!("{head}\n{}{}", lines.join("\n"), if is_cut { "" } else { "\n" });
        let got = in_lines(request.body(Full::from(body)).expect("a request"));
        let is_problem = got.headers.get("content-type").is_some_and(|it| it == "application/problem+json");
        prop_assert!(got.status.is_success() != is_problem, "{:?}", got);
        if is_problem {
            prop_assert_eq!(&got.json()["status"], &serde_json::Value::from(got.status.as_u16()));
        }
    }
}
