//! Retries, over sockets: where they are safe, and where the caller requests them.

use crate::common::scripted::{Act, Scripted, answer, right};
use crate::common::*;
use deltasoap::client::{CallError, CallOptions, Retries};
use deltasoap::stream::Streamed;
use deltasoap::transport::{Frames, Protocol, TcpConnector};
use deltasoap::{Client, Soap};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = EchoResponse)]
struct Sum {
    item: Streamed<f64>,
}

fn quick() -> Retries {
    Retries::up_to(3).pauses(Duration::from_millis(20), Duration::from_millis(1500))
}

fn client(url: String) -> Client {
    Client::builder(url).retries(quick()).build().expect("a client")
}

fn idempotent() -> CallOptions {
    CallOptions::new().idempotent(true)
}

/// Returns an address where a server only listens after this time.
async fn later(after: Duration) -> std::net::SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    tokio::spawn(async move {
        tokio::time::sleep(after).await;
        let server = deltasoap::Server::bind(address).await.expect("the port again");
        server.serve(service().0).await
    });
    address
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_tried_again() {
    let address = later(Duration::from_millis(50)).await;
    let client = Client::builder(format!("http://{address}/"))
        .retries(Retries::up_to(10).pauses(Duration::from_millis(30), Duration::from_millis(100)))
        .build()
        .expect("a client");
    assert_eq!(client.call_as::<EchoResponse>(&echo("x")).await.expect("a response").text, "x");
}

#[tokio::test]
async fn streams_are_tried_again_as_long_as_nothing_was_read() {
    let address = later(Duration::from_millis(50)).await;
    let retries = Retries::up_to(10).pauses(Duration::from_millis(30), Duration::from_millis(100));
    let client = Client::builder(format!("http://{address}/")).retries(retries).build().expect("a client");
    let items = (0..100).map(f64::from);
    let unserved = client.call_overlaid(&Sum { item: Streamed::default() }, items).await;
    assert!(matches!(&unserved, Err(CallError::Fault(_))), "it arrived: {unserved:?}");
}

#[tokio::test]
async fn frames_are_tried_again_too() {
    let address = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let refused = Client::builder(format!("frames://{address}/"))
        .retries(Retries::OFF)
        .build_with(Frames::default().pool(TcpConnector::new()))
        .expect("a client")
        .call_as::<EchoResponse>(&echo("x"))
        .await;
    assert!(matches!(refused, Err(CallError::Http(_))));
    let begin = Instant::now();
    let failed = Client::builder(format!("frames://{address}/"))
        .retries(Retries::up_to(2).pauses(Duration::from_millis(40), Duration::from_millis(40)))
        .build_with(Frames::default().pool(TcpConnector::new()))
        .expect("a client")
        .call_as::<EchoResponse>(&echo("x"))
        .await;
    assert!(failed.is_err() && begin.elapsed() >= Duration::from_millis(40), "{failed:?}");
}

#[tokio::test]
async fn what_was_sent_is_not_sent_again_by_itself() {
    for act in [Act::Close, answer(503, "retry-after: 0", "")] {
        let server = Scripted::new(move |_, _| act.clone()).await;
        client(server.url()).call_as::<EchoResponse>(&echo("x")).await.expect_err("no answer");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn idempotent_calls_are_repeated() {
    for act in [Act::Close, answer(503, "", ""), answer(503, "retry-after: 0", "")] {
        let first = act.clone();
        let server = Scripted::new(move |number, _| if number < 2 { first.clone() } else { right(&echo("x")) }).await;
        let response = client(server.url()).call_as_with::<EchoResponse>(&echo("x"), idempotent()).await;
        assert_eq!(response.expect("a response").body.text, "x", "{act:?}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests.iter().all(|request| *request == requests[0]));
    }
}

#[tokio::test]
async fn attempts_that_hang_are_given_up() {
    let server = Scripted::new(|number, _| if number == 0 { Act::Hang } else { right(&echo("x")) }).await;
    let retries = quick().attempt_timeout(Duration::from_millis(300));
    let client = Client::builder(server.url()).retries(retries).build().expect("a client");
    let response = client.call_as_with::<EchoResponse>(&echo("x"), idempotent()).await;
    assert_eq!(response.expect("a response").body.text, "x");
    // For other calls the client keeps waiting.
    let server = Scripted::new(|_, _| Act::Hang).await;
    let client = Client::builder(server.url()).retries(retries).timeout(Duration::from_millis(700)).build();
    let late = client.expect("a client").call_as::<EchoResponse>(&echo("x")).await;
    assert!(matches!(late, Err(CallError::Timeout(_))));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn attempts_and_time_are_bounded() {
    let server = Scripted::new(|_, _| Act::Close).await;
    client(server.url()).call_as_with::<EchoResponse>(&echo("x"), idempotent()).await.expect_err("no answer");
    assert_eq!(server.requests().len(), 4);
    let server = Scripted::new(|_, _| answer(503, "retry-after: 1", "")).await;
    let options = idempotent().timeout(Duration::from_millis(300));
    let late = client(server.url()).call_as_with::<EchoResponse>(&echo("x"), options).await;
    assert!(matches!(late, Err(CallError::Timeout(_))), "the call's time holds for all attempts");
    let server = Scripted::new(|_, _| answer(503, "retry-after: 3600", "")).await;
    let busy = client(server.url()).call_as_with::<EchoResponse>(&echo("x"), idempotent()).await;
    assert!(matches!(busy, Err(CallError::Status(error)) if error.status == 503));
    assert_eq!(server.requests().len(), 1);
}

/// The pool notices that a connection was closed before anything was sent over it.
#[tokio::test]
async fn connections_that_were_closed_meanwhile_are_replaced() {
    let server = deltasoap::Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.header_read_timeout(Duration::from_millis(50)).serve(service().0));
    let client = Client::builder(format!("http://{address}/")).retries(Retries::OFF).build().expect("a client");
    for _ in 0..3 {
        client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}
