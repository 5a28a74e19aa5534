//! Health, readiness and metrics: mounted in a router, around a service, and over a socket while
//! the server stops.

use crate::common::*;
use axum::Router;
use deltasoap::http::{Monitor, Server};
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
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
