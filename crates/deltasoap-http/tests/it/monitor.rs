//! Health, readiness and metrics: mounted in a router, around a service, and over a socket while
//! the server stops.

use crate::common::*;
use axum::Router;
use deltasoap::Server;
use deltasoap::server::Monitor;
use deltasoap::soap::Version;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tower::ServiceExt;

async fn ask(router: &Router, method: Method, path: &str, body: String) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(path).header("content-type", "text/xml");
    let request = request.body(axum::body::Body::from(body)).expect("a request");
    let (parts, body) = router.clone().oneshot(request).await.expect("infallible").into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (parts.status, String::from_utf8(body.into()).expect("UTF-8"))
}

#[tokio::test]
async fn it_is_mounted_in_routers() {
    let monitor = Monitor::new().metrics(|| "up 1\n".to_owned());
    let nested = Router::new().nest_service("/ops", monitor.clone()).route_service("/soap", service().0);
    let routed = Router::new().route_service("/health", monitor.clone()).route_service("/ready", monitor.clone());
    let fallback = Router::new().route_service("/soap", service().0).fallback_service(monitor.clone());
    for (router, prefix) in [(&nested, "/ops"), (&routed, ""), (&fallback, "")] {
        for path in ["/health", "/ready"] {
            let (status, _) = ask(router, Method::GET, &format!("{prefix}{path}"), String::new()).await;
            assert_eq!(status, StatusCode::OK, "{prefix}{path}");
        }
    }
    assert_eq!(ask(&nested, Method::GET, "/ops/metrics", String::new()).await.1, "up 1\n");
    assert_eq!(ask(&nested, Method::GET, "/ops/other", String::new()).await.0, StatusCode::NOT_FOUND);
    monitor.drain();
    assert_eq!(ask(&nested, Method::GET, "/ops/ready", String::new()).await.0, StatusCode::SERVICE_UNAVAILABLE);
    let body = message(Version::Soap11, &[], &echo("still served"));
    assert_eq!(ask(&nested, Method::POST, "/soap", body).await.0, StatusCode::OK);
}

/// Sends a request over a new socket; returns the whole response.
async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("a response");
    text
}

#[tokio::test]
async fn a_server_without_a_router_is_watched_too() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port").shutdown_timeout(Duration::from_secs(5));
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    let monitor = Monitor::for_server(&handle);
    let running = tokio::spawn(server.serve(monitor.clone().wrap(service().0)));
    assert!(get(address, "/health").await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/ready").await.starts_with("HTTP/1.1 200"));
    assert!(get(address, "/?wsdl").await.contains("definitions"), "other paths are the service's");
    // If the monitor has no metrics, the service also handles this path.
    assert!(get(address, "/metrics").await.contains("text/html"));
    monitor.drain();
    assert!(get(address, "/ready").await.starts_with("HTTP/1.1 503"));
    assert!(get(address, "/?wsdl").await.contains("definitions"), "what comes all the same is served");
    handle.shutdown();
    running.await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn who_is_connected_sees_that_the_server_was_asked_to_stop() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let handle = server.handle();
    let monitor = Monitor::for_server(&handle);
    assert!(monitor.is_ready() && !handle.is_stopping());
    handle.shutdown();
    assert!(!monitor.is_ready() && handle.is_stopping());
}

#[tokio::test]
async fn a_server_drains_when_its_signal_completes() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let monitor = Monitor::for_server(&server.handle());
    let (told, signal) = tokio::sync::oneshot::channel::<()>();
    let signal = async { signal.await.expect("a signal") };
    let drained = monitor.clone().drained(signal, Duration::from_millis(300));
    let running = tokio::spawn(server.serve_with_shutdown(monitor.wrap(service().0), drained));
    assert!(get(address, "/ready").await.starts_with("HTTP/1.1 200"));
    told.send(()).expect("a receiver");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(get(address, "/ready").await.starts_with("HTTP/1.1 503"), "it still answers");
    running.await.expect("no panic").expect("no error");
    assert!(TcpStream::connect(address).await.is_err(), "it listens no more");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_a_remedy() {
    let first = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = first.local_addr().expect("an address");
    let error = Server::bind(address).await.expect_err("taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    let text = error.to_string();
    assert!(text.starts_with(&format!("cannot listen on {address}: ")) && text.contains("use another port"), "{text}");
    let elsewhere = Server::bind("192.0.2.1:0").await.expect_err("an address for documentation").to_string();
    assert!(elsewhere.contains("cannot listen on 192.0.2.1:0: ") && elsewhere.contains("0.0.0.0"), "{elsewhere}");
}

#[cfg(feature = "prometheus")]
#[tokio::test]
async fn prometheus_sees_the_services() {
    let monitor = Monitor::new().prometheus().expect("no other recorder");
    assert!(Monitor::new().prometheus().is_err(), "there is one recorder");
    let router = Router::new().route_service("/soap", service().0).fallback_service(monitor);
    let body = message(Version::Soap11, &[], &echo("counted"));
    assert_eq!(ask(&router, Method::POST, "/soap", body).await.0, StatusCode::OK);
    let (status, text) = ask(&router, Method::GET, "/metrics", String::new()).await;
    assert_eq!(status, StatusCode::OK);
    for line in [
        r#"deltasoap_messages_total{service="Test & more"} 1"#,
        r#"deltasoap_decode_seconds_count{service="Test & more",operation="{urn:test}Echo"} 1"#,
        r#"deltasoap_request_duration_seconds_count{service="Test & more",operation="{urn:test}Echo"} 1"#,
        r#"deltasoap_request_duration_seconds_bucket{service="Test & more",operation="{urn:test}Echo",le="10"} 1"#,
        r#"deltasoap_handler_duration_seconds_count{service="Test & more",operation="{urn:test}Echo"} 1"#,
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let unknown = message(Version::Soap11, &[], &Unserved {});
    ask(&router, Method::POST, "/soap", unknown.clone()).await;
    ask(&router, Method::POST, "/soap", unknown.replace("Unserved", "Invented")).await;
    let (_, text) = ask(&router, Method::GET, "/metrics", String::new()).await;
    let other = r#"deltasoap_request_duration_seconds_count{service="Test & more",operation="_OTHER"} 2"#;
    assert!(text.contains(other) && !text.contains("Invented"), "{other} in {text}");
    assert_is_exposition(&text);
}

/// Checks Prometheus's text format: each sample belongs to the family above it, which has one HELP
/// and one TYPE, and the buckets of histograms are cumulative.
#[cfg(feature = "prometheus")]
fn assert_is_exposition(text: &str) {
    use std::collections::HashSet;
    let (mut families, mut helped) = (HashSet::new(), HashSet::new());
    let (mut family, mut kind) = ("", "");
    // The count and the bound of the last bucket, with its labels.
    let mut last: Option<(f64, f64, &str)> = None;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').expect("a text");
            assert!(helped.insert(name) && !text.is_empty(), "{line}");
            continue;
        }
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            (family, kind) = declared.split_once(' ').expect("a type");
            assert!(families.insert(family) && helped.contains(family), "{line}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(last.is_none(), "a histogram without its count before {line}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let value: f64 = value.parse().expect("a number");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        assert!(labels.ends_with('}') && labels.matches('"').count().is_multiple_of(2), "{line}");
        match (kind, name.strip_prefix(family)) {
            ("histogram", Some("_bucket")) => {
                let (labels, bound) = labels.rsplit_once("le=\"").expect("a bound");
                let bound = bound.trim_end_matches("\"}").replace("+Inf", "inf").parse().expect("a number");
                if let Some((count, lower, of)) = last {
                    assert!(labels == of && count <= value && lower < bound, "{line}");
                }
                last = Some((value, bound, labels));
            }
            ("histogram", Some("_sum")) => assert!(value >= 0.0, "{line}"),
            ("histogram", Some("_count")) => {
                let (count, bound, _) = last.take().expect("buckets");
                assert!(count == value && bound == f64::INFINITY, "{line}");
            }
            ("counter" | "gauge", Some("")) => assert!(value >= 0.0, "{line}"),
            _ => panic!("{line} is not of {family}, a {kind}"),
        }
    }
    assert!(families.len() > 20, "{families:?}");
}
