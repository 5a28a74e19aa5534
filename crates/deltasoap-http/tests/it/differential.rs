//! Differential decoding over HTTP: whose earlier messages a message is compared with, when
//! memories return, and the statistics.

use crate::common::*;
use deltasoap::engine::{Checkpoints, Differential, DifferentialStats};
use deltasoap::server::{MemoryBounds, Principal, ServerHandle, Sharing, SoapServiceBuilder};
use deltasoap::soap::Version;
use deltasoap::{Client, Fault, Lease, Server, SoapService};
use deltasoap_checkpoints::{Portions, State};
use http::Request;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt;

/// Not adaptive, so that the result does not depend on the time that decoding takes.
const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };

fn builder() -> SoapServiceBuilder {
    let handler = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().name("Remembering").differential(LEAF).operation(handler).operation(describe_nothing)
}

async fn describe_nothing(_: Lease<Describe>) -> Result<DescribeResponse, Fault> {
    Ok(DescribeResponse { action: None, peer: None, user_agent: None })
}

fn build(builder: SoapServiceBuilder) -> SoapService {
    builder.build().expect("a service")
}

fn differential(service: &SoapService) -> DifferentialStats {
    service.stats().snapshot().differential
}

/// Returns a message that is long enough that skipping is visible.
fn long(last: i32) -> Echo {
    Echo { text: "a text".to_owned(), numbers: (0..500).chain([last]).collect() }
}

/// Returns a client with its own connection.
fn client(address: SocketAddr) -> Client {
    Client::new(format!("http://{address}/")).expect("a client")
}

/// Makes one call and checks the answer.
async fn call(client: &Client, request: &Echo) {
    let response: EchoResponse = client.call_as(request).await.expect("a response");
    assert_eq!(response, echoed(request));
}

/// Waits until a condition holds: a server notices the end of a connection a while later.
async fn eventually(holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("it never held");
}

/// Posts as a principal, without a connection.
async fn post_as(service: &SoapService, principal: &str, body: String) -> String {
    let mut request = Request::post("/").header("content-type", "text/xml").body(Full::from(body)).expect("a request");
    request.extensions_mut().insert(Principal::new(principal));
    let response = service.clone().oneshot(request).await.expect("infallible");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.into()).expect("UTF-8")
}

#[tokio::test]
async fn requests_of_a_connection_are_compared() {
    let service = build(builder());
    let (address, _handle) = serve(service.clone()).await;
    let client = client(address);
    for last in 0..5 {
        call(&client, &long(last)).await;
    }
    let stats = differential(&service);
    assert_eq!((stats.messages, stats.compared), (5, 4), "{stats:?}");
    assert!(stats.fast_bytes > 3 * stats.regular_bytes, "{stats:?}");
    assert!(stats.memory > 0);
}

#[tokio::test]
async fn pipelined_requests_are_compared() {
    let service = build(builder());
    let (address, _handle) = serve(service.clone()).await;
    let request = |last: i32| {
        let body = message(Version::Soap11, &[], &long(last));
        let end = if last == 3 { "Connection: close\r\n" } else { "" };
        let head =
            format!("POST / HTTP/1.1\r\nHost: h\r\n{end}Content-Type: text/xml\r\nContent-Length: {}", body.len());
        format!("{head}\r\n\r\n{body}")
    };
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all((0..4).map(request).collect::<String>().as_bytes()).await.expect("sent");
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.expect("answers");
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 4);
    assert_eq!((differential(&service).messages, differential(&service).compared), (4, 3));
}

#[tokio::test]
async fn connections_do_not_share() {
    let service = build(builder());
    let (address, _handle) = serve(service.clone()).await;
    for number in 0..3 {
        let (one, other) = (client(address), client(address));
        call(&one, &long(number)).await;
        call(&other, &long(number)).await;
        drop((one, other));
        eventually(|| differential(&service).memory == 0).await;
    }
    let stats = differential(&service);
    assert_eq!((stats.messages, stats.compared), (6, 0), "{stats:?}");
}

#[tokio::test]
async fn connections_share_by_operation_one_after_the_other() {
    let service = build(builder().sharing(Sharing::Operation));
    let (address, _handle) = serve(service.clone()).await;
    for number in 0..500 {
        // A connection's memory is shared once the server has noticed its end.
        call(&client(address), &long(number)).await;
        if differential(&service).compared >= 10 {
            return;
        }
    }
    panic!("{:?}", differential(&service));
}

#[tokio::test]
async fn principals_are_kept_apart() {
    let service = build(builder());
    let body = || message(Version::Soap11, &[], &long(1));
    for (principal, compared) in [("ada", 0), ("bob", 0), ("ada", 1), ("bob", 2), ("eve", 2)] {
        assert!(post_as(&service, principal, body()).await.contains("EchoResponse"));
        assert_eq!(differential(&service).compared, compared, "{principal}");
    }
    post(&service, "text/xml", body()).await;
    let stats = differential(&service);
    assert_eq!((stats.messages, stats.compared), (6, 2), "nobody's are compared with nothing");
}

#[tokio::test]
async fn a_request_on_lease_is_never_overwritten() {
    let (started, mut running) = mpsc::unbounded_channel::<(Lease<Echo>, oneshot::Sender<()>)>();
    let handler = move |request: Lease<Echo>| {
        let started = started.clone();
        async move {
            let response = echoed(&request);
            let (done, wait) = oneshot::channel();
            started.send((request, done)).expect("a receiver");
            wait.await.map_err(|_| Fault::receiver("nobody waits"))?;
            Ok::<_, Fault>(response)
        }
    };
    let service = build(SoapService::builder().differential(LEAF).operation(handler));
    let ask = |last| {
        let service = service.clone();
        tokio::spawn(async move { post_as(&service, "ada", message(Version::Soap11, &[], &long(last))).await })
    };
    let mut out = Vec::new();
    let mut calls = Vec::new();
    for last in 0..4 {
        calls.push(ask(last));
        out.push(running.recv().await.expect("a call"));
    }
    for (last, (lease, _)) in (0..4).zip(&out) {
        assert_eq!(**lease, long(last));
    }
    for (lease, done) in out {
        drop(lease);
        done.send(()).expect("a handler");
    }
    for call in calls {
        assert!(call.await.expect("no panic").contains("EchoResponse"));
    }
    assert_eq!(differential(&service).compared, 0, "all were out at one time");
    let next = ask(9);
    let (lease, done) = running.recv().await.expect("a call");
    assert_eq!(*lease, long(9));
    done.send(()).expect("a handler");
    next.await.expect("no panic");
    assert_eq!(differential(&service).compared, 1);
}

#[tokio::test]
async fn after_a_faulty_message_the_next_is_right() {
    let service = build(builder());
    let good = |last| message(Version::Soap11, &[], &long(last));
    for last in 0..4 {
        assert!(post_as(&service, "ada", good(last)).await.contains("EchoResponse"));
        let broken = good(last);
        let faults = [
            broken.replace(">250<", ">x<"),
            broken[..broken.len() / 2].to_owned(),
            format!("{broken}<"),
            broken.replace("</soap:Body>", "<more/></soap:Body>"),
        ];
        for fault in faults {
            assert!(post_as(&service, "ada", fault).await.contains("faultcode"));
        }
        let text = post_as(&service, "ada", good(last + 1)).await;
        let expected = message(Version::Soap11, &[], &echoed(&long(last + 1)));
        assert_eq!(text, expected);
    }
}

#[tokio::test]
async fn what_is_kept_stays_within_its_bound() {
    let bounds = MemoryBounds { total_bytes: 100_000, ..MemoryBounds::default() };
    let service = build(builder().memory_bounds(bounds));
    for number in 0..40 {
        post_as(&service, &number.to_string(), message(Version::Soap11, &[], &long(number))).await;
        assert!(differential(&service).memory <= 100_000);
    }
    let stats = service.stats().snapshot();
    assert!(stats.evictions > 0 && stats.differential.memory > 0, "{stats:?}");
}

#[tokio::test]
async fn nothing_is_kept_where_it_is_off() {
    let service = build(builder().differential(Differential::OFF).sharing(Sharing::Operation));
    let (address, _handle) = serve(service.clone()).await;
    let client = client(address);
    for last in 0..3 {
        call(&client, &long(last)).await;
    }
    let stats = differential(&service);
    assert_eq!((stats.messages, stats.compared, stats.fast_bytes, stats.memory), (3, 0, 0, 0));
    assert!(stats.regular_bytes > 3000);
}

#[tokio::test]
async fn every_policy_serves_a_connection() {
    let papers = State::ALL.map(|state| Portions { state, ..Portions::default() }.into());
    for checkpoints in papers.into_iter().chain([Checkpoints::Leaf]) {
        let service = build(builder().differential(Differential { checkpoints, ..LEAF }));
        let (address, _handle) = serve(service.clone()).await;
        let client = client(address);
        for last in 0..4 {
            call(&client, &long(last)).await;
        }
        let stats = differential(&service);
        assert_eq!(stats.messages, 4, "{checkpoints:?}: {stats:?}");
    }
}

#[tokio::test]
async fn the_page_shows_what_was_saved() {
    let service = build(builder());
    for last in 0..3 {
        post_as(&service, "ada", message(Version::Soap11, &[], &long(last))).await;
    }
    let request = Request::get("/").body(Pieces::of(b"", 1)).expect("a request");
    let page = send(&service, request).await.body;
    let (_, stats) = stats_of(&service, "Echo");
    let row = format!(
        "title=\"{{urn:test}}Echo\"><code>Echo</code></th><td>3</td><td>{}</td><td>{}</td><td>{}</td>",
        stats.compared, stats.fast_bytes, stats.regular_bytes
    );
    assert!(page.contains(&row), "{row} in {page}");
    assert!(!page.contains("title=\"{urn:test}Describe\""), "it had no messages: {page}");
}

#[tokio::test]
async fn a_recorder_gets_what_the_statistics_tell() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let service = metrics::with_local_recorder(&recorder, || build(builder()));
    for last in 0..3 {
        post_as(&service, "ada", message(Version::Soap11, &[], &long(last))).await;
    }
    post_as(&service, "ada", "<no-message/>".to_owned()).await;
    let text = recorder.handle().render();
    let value = |name: &str, labels: &str| {
        let start = format!("{name}{{{labels}}} ");
        let found = text.lines().find_map(|line| line.strip_prefix(&start));
        found.unwrap_or_else(|| panic!("{start} in {text}")).parse::<f64>().expect("a number") as u64
    };
    let whole = r#"service="Remembering""#;
    let one = r#"service="Remembering",operation="{urn:test}Echo""#;
    let (now, stats) = (service.stats().snapshot(), stats_of(&service, "Echo").1);
    for (name, expected) in [
        ("messages_total", now.messages),
        ("faults_total", now.faults),
        ("received_bytes_total", now.bytes_in),
        ("sent_bytes_total", now.bytes_out),
        ("differential_memory_bytes", now.differential.memory),
        ("differential_evictions_total", 0),
    ] {
        assert_eq!(value(&format!("deltasoap_{name}"), whole), expected, "{name}");
    }
    for (name, expected) in [
        ("differential_messages_total", stats.messages),
        ("differential_compared_total", stats.compared),
        ("differential_fast_bytes_total", stats.fast_bytes),
        ("differential_regular_bytes_total", stats.regular_bytes),
        ("differential_leaves_total", stats.leaves),
        ("decode_seconds_count", 3),
    ] {
        assert_eq!(value(&format!("deltasoap_{name}"), one), expected, "{name}");
    }
    assert_eq!((now.messages, now.faults, stats.compared), (4, 1, 2));
}

/// Returns an operation's statistics.
fn stats_of(service: &SoapService, local: &str) -> (String, DifferentialStats) {
    let stats = service.stats();
    let found = stats.operations().find(|(name, _)| name.local == local).expect("the operation");
    (found.0.to_string(), found.1)
}

#[tokio::test]
async fn what_comes_home_late_is_kept_for_the_principal() {
    let (events, mut received) = mpsc::unbounded_channel();
    let keep = move |request: Lease<Notify>| {
        let events = events.clone();
        async move { events.send(request).map_err(|error| Fault::receiver(error.to_string())) }
    };
    let service = build(SoapService::builder().differential(LEAF).operation(keep));
    for event in ["one", "two"] {
        post_as(&service, "ada", message(Version::Soap11, &[], &Notify { event: event.to_owned() })).await;
        assert_eq!(differential(&service).memory, 0, "it is on lease");
        let lease = received.recv().await.expect("a request");
        assert_eq!(lease.event, event);
        drop(lease);
        assert!(differential(&service).memory > 0);
    }
    assert_eq!(differential(&service).compared, 1);
}

/// Returns a client that compares every response.
fn client_of(service: SoapService) -> Client<SoapService> {
    Client::builder("http://localhost/").differential(LEAF).build_with(service).expect("a client")
}

#[tokio::test]
async fn leased_responses_are_compared_and_owned_ones_are_not() {
    let service = build(builder());
    let client = client_of(service);
    for last in 0..4 {
        let owned: EchoResponse = client.call_as(&long(last)).await.expect("a response");
        assert_eq!(owned, echoed(&long(last)));
    }
    assert_eq!(client.differential_stats(), DifferentialStats::default());

    let mut held = Vec::new();
    for last in 0..4 {
        let lease: Lease<EchoResponse> = client.call_leased_as(&long(last)).await.expect("a response");
        assert_eq!(*lease, echoed(&long(last)));
        held.push(lease);
    }
    let stats = client.differential_stats();
    assert_eq!((stats.messages, stats.compared, stats.memory), (4, 0, 0));
    for (last, lease) in (0..4).zip(&held) {
        assert_eq!(**lease, echoed(&long(last)), "none was overwritten");
    }
    held.clear();
    assert!(client.differential_stats().memory > 0);
    for last in 4..8 {
        let lease: Lease<EchoResponse> = client.clone().call_leased_as(&long(last)).await.expect("a response");
        assert_eq!(*lease, echoed(&long(last)));
    }
    let stats = client.differential_stats();
    assert_eq!((stats.messages, stats.compared), (8, 4), "{stats:?}");
    assert!(stats.fast_bytes > stats.regular_bytes / 2, "{stats:?}");
}

#[tokio::test]
async fn a_client_keeps_no_more_than_it_is_told() {
    for (memories, bytes) in [(0, usize::MAX), (usize::MAX, 0)] {
        let builder = Client::builder("http://localhost/").memories(memories).memory_bytes(bytes);
        let client = builder.build_with(build(self::builder())).expect("a client");
        for _ in 0..2 {
            drop(client.call_leased_as::<EchoResponse>(&long(1)).await.expect("a response"));
        }
        assert_eq!((client.differential_stats().memory, client.differential_stats().compared), (0, 0));
    }
}

#[tokio::test]
async fn a_fault_leaves_the_last_response_for_the_next() {
    let flaky = async |request: Lease<Echo>| match request.text.as_str() {
        "fail" => Err(Fault::receiver("asked for")),
        _ => Ok(echoed(&request)),
    };
    let service = build(SoapService::builder().operation(flaky));
    let client = client_of(service);
    for request in [long(1), Echo { text: "fail".to_owned(), numbers: vec![] }, long(2)] {
        let response = client.call_leased_as::<EchoResponse>(&request).await;
        assert_eq!(response.is_err(), request.text == "fail");
    }
    let stats = client.differential_stats();
    assert_eq!((stats.messages, stats.compared), (2, 1));
}

/// Many clients, each with connections that come and go, all sharing: every answer is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clients_share_and_each_gets_its_own_answer() {
    let service = Arc::new(build(builder().sharing(Sharing::Operation)));
    let (address, _handle): (SocketAddr, ServerHandle) = {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        let (address, handle) = (server.local_addr().expect("an address"), server.handle());
        tokio::spawn(server.serve(SoapService::clone(&service)));
        (address, handle)
    };
    let devices = (0..8).map(|device| {
        tokio::spawn(async move {
            for round in 0..10 {
                let client = client(address);
                call(&client, &long(100 * device + round)).await;
            }
        })
    });
    for device in devices.collect::<Vec<_>>() {
        device.await.expect("no panic");
    }
    assert_eq!(differential(&service).messages, 80);
}
