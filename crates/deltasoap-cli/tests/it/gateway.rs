//! The gateway as a program: for a mock, reversed, and with a configuration.

use super::*;
use std::io::Read as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Sends a request over HTTP; returns the answer.
fn exchanged(server: &Serving, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn body(answer: &str) -> Json {
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn a_service_is_called_in_json() {
    let mock = serving(&["mock", &shop()]);
    let gateway = serving(&["gateway", &shop(), "--endpoint", &mock.url]);
    let placed = exchanged(&gateway, "POST /operations/Order", ORDER);
    assert!(placed.starts_with("HTTP/1.1 200 OK\r\n"), "{placed}");
    let called = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &mock.url]);
    assert_eq!(body(&placed), json(&called), "the JSON is that of `call`");
    assert!(exchanged(&gateway, "GET /", "").contains("<script src=\"swagger-ui-bundle.js\""));
    assert_eq!(body(&exchanged(&gateway, "GET /openapi.json", ""))["openapi"], "3.1.0");
    assert!(exchanged(&gateway, "GET /health", "").starts_with("HTTP/1.1 200"));
    let metrics = exchanged(&gateway, "GET /metrics", "");
    assert!(
        metrics.contains("deltasoap_gateway_requests_total{service=\"\",operation=\"Order\",status=\"200\"} 1"),
        "{metrics}"
    );
}

#[test]
fn a_json_service_is_called_in_soap() {
    let mock = serving(&["mock", &shop()]);
    let gateway = serving(&["gateway", &shop(), "--endpoint", &mock.url]);
    let soap = serving(&["gateway", &shop(), "--reverse", &gateway.url]);
    let expected = json(&run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &mock.url]));
    let called = run(&["call", &shop(), "Order", "-d", ORDER, "--endpoint", &soap.url]);
    assert_eq!(json(&called), expected);
    let listed = run(&["list", &format!("{}?wsdl", soap.url), "--allow-private"]);
    assert!(listed.status.success() && stdout(&listed).contains("Order"), "{listed:?}");
}

#[test]
fn configurations_are_checked() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("gateway.toml");
    let check = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        run(&["gateway", "--config", path.to_str().expect("UTF-8"), "--check"])
    };
    let service = format!("[[service]]\nwsdl = {:?}\n", shop());
    let good = check(&service);
    assert!(good.status.success() && stdout(&good).contains("the configuration is good"), "{good:?}");
    for (text, expected) in [
        ("[[service]]\n".to_owned(), "service[0].wsdl is missing"),
        (format!("{service}endpint = \"x\"\n"), "line 3, column 1"),
        (
            format!("{service}[[service.route]]\npath = \"/a\"\noperation = \"Odrer\"\n"),
            "service[0].route[0].operation",
        ),
    ] {
        let output = check(&text);
        assert!(output.status.code() == Some(1) && stderr(&output).contains(expected), "{text}: {output:?}");
    }
    let schema = json(&run(&["gateway", "--schema"]));
    assert!(schema["properties"]["service"].is_object(), "{schema}");
    let document = json(&run(&["gateway", &shop(), "--openapi"]));
    assert!(document["paths"]["/operations/Order"]["post"].is_object(), "{document}");
}

#[cfg(unix)]
#[test]
fn a_configuration_is_read_again() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("gateway.toml");
    let service = |path: &str| format!("[[service]]\nwsdl = {:?}\npath = {path:?}\n", shop());
    std::fs::write(&path, service("/old")).expect("a file");
    let mut started = command();
    started.args(["gateway", "--config", path.to_str().expect("UTF-8"), "--listen", "127.0.0.1:0"]);
    let gateway = Serving::start(&mut started);
    let has = |path: &str| exchanged(&gateway, &format!("GET {path}/openapi.json"), "").starts_with("HTTP/1.1 200");
    assert!(has("/old") && !has("/new"));
    // What is wrong changes nothing.
    std::fs::write(&path, "[[service]]\n").expect("a file");
    gateway.signal("HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert!(has("/old"));
    std::fs::write(&path, service("/new")).expect("a file");
    gateway.signal("HUP");
    let start = Instant::now();
    while !has("/new") {
        assert!(start.elapsed() < Duration::from_secs(30), "the configuration was not read again");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!has("/old"));
}
