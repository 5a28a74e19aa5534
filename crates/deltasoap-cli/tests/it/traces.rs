//! Spans that the command sends to a collector.

use super::*;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// Accepts spans; returns its URL, and the bodies of requests.
fn collector() -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (to, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let to = to.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.expect("a connection"));
                while let Some(body) = request(&mut reader) {
                    let _ = to.send(body);
                    let _ = reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                }
            });
        }
    });
    (url, bodies)
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

/// The service's span is a descendant of the gateway's, which is a child of the client's.
#[test]
fn a_trace_goes_through_the_gateway_to_the_service() {
    let (url, bodies) = collector();
    let start = |name: &str, arguments: &[&str]| {
        let mut command = command();
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url).env("OTEL_SERVICE_NAME", name);
        Serving::start(command.args(arguments).args(["--listen", "127.0.0.1:0"]))
    };
    let mock = start("the-service", &["mock", &shop()]);
    let gateway = start("the-gateway", &["gateway", &shop(), "--endpoint", &mock.url]);
    let mut stream = TcpStream::connect(gateway.address()).expect("a connection");
    let length = ORDER.len();
    write!(
        stream,
        "POST /operations/Order HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Traceparent: 00-0123456789abcdef0123456789abcdef-0123456789abcdef-01\r\nContent-Length: {length}\r\n\r\n{ORDER}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let trace = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef_u128.to_be_bytes();
    let has = |body: &[u8], part: &[u8]| body.windows(part.len()).any(|window| window == part);
    let mut missing = vec!["the-service", "the-gateway"];
    while !missing.is_empty() {
        let body = bodies.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| panic!("no spans of {missing:?}"));
        missing.retain(|name| !(has(&body, name.as_bytes()) && has(&body, &trace)));
    }
}

#[test]
fn the_address_of_a_collector_is_checked() {
    let output = command().env("OTEL_EXPORTER_OTLP_ENDPOINT", "::").args(["list", &shop()]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("OTEL_EXPORTER_OTLP_ENDPOINT must be the http URL"), "{output:?}");
}
