//! The client for programs without `async`, over sockets.

#![cfg(feature = "blocking")]

use crate::common::*;
use deltasoap::attachments::Mtom;
use deltasoap::client::blocking::{Client, StartError};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::server::ServerHandle;
use deltasoap::transport::InMemory;
use deltasoap::{Lease, Server};
use std::net::SocketAddr;
use std::time::Duration;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// Serves on a separate thread.
fn serve_aside(idle: Duration) -> (SocketAddr, ServerHandle) {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0").await.expect("a port").header_read_timeout(idle);
            sender.send((server.local_addr().expect("an address"), server.handle())).expect("somebody waits");
            let (service, _events) = service();
            server.serve(service).await.expect("no error");
        });
    });
    receiver.recv().expect("a server")
}

fn client(address: SocketAddr) -> Client {
    Client::builder(format!("http://{address}/")).build_blocking().expect("a client")
}

#[test]
fn calls_return_when_they_are_done() {
    let (address, handle) = serve_aside(LONG);
    let client = client(address);
    for text in ["a", "b"] {
        assert_eq!(client.call_as::<EchoResponse>(&echo(text)).expect("a response").text, text);
    }
    let leased: Lease<EchoResponse> = client.call_leased(&echo("leased")).expect("a response");
    assert_eq!(leased.text, "leased");
    let fault = client.call_as::<EchoResponse>(&Fail { how: "typed".to_owned() });
    assert!(matches!(fault, Err(CallError::Fault(_))));
    client.send(&Unserved {}).expect_err("a fault");
    let mut response =
        client.call_as_with::<EchoResponse>(&echo("x"), CallOptions::new().mtom(Mtom::On)).expect("a response");
    assert!(client.wait(response.attachments.next()).expect("a package or none").is_none());
    handle.shutdown();
    assert!(client.inner().encode_stats().messages >= 5);
}

#[test]
fn items_are_waited_for() {
    let (address, _handle) = serve_aside(LONG);
    let client = client(address);
    let request = Echo { text: "t".to_owned(), numbers: (0..3000).collect() };
    let mut items = client.call_items(&request, |echo: &mut EchoResponse| &mut echo.numbers).expect("a response");
    let numbers: Vec<i32> = items.by_ref().collect::<Result<_, _>>().expect("valid");
    assert_eq!(numbers, request.numbers);
    assert_eq!(items.finish().expect("valid"), EchoResponse { text: "t".to_owned(), numbers: Vec::new() });
}

/// The background thread notices what happens to connections between two calls.
#[test]
fn connections_are_looked_after_between_calls() {
    let (address, _handle) = serve_aside(Duration::from_millis(200));
    let client = client(address);
    for _ in 0..3 {
        client.call_as::<EchoResponse>(&echo("x")).expect("a response");
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn threads_share_a_client() {
    let (address, _handle) = serve_aside(LONG);
    let client = client(address);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let client = &client;
            scope.spawn(move || {
                let text = number.to_string();
                assert_eq!(client.call_as::<EchoResponse>(&echo(&text)).expect("a response").text, text);
            });
        }
    });
}

#[test]
fn calls_end_in_time() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = client(server.local_addr().expect("an address"));
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let late = client.call_as_with::<EchoResponse>(&echo(""), options);
    assert!(matches!(late, Err(CallError::Timeout(_))));
}

#[test]
fn any_transport_will_do() {
    let transport = InMemory::new(service().0);
    let client = Client::builder("http://localhost/").build_blocking_with(transport).expect("a client");
    assert_eq!(client.call_as::<EchoResponse>(&echo("x")).expect("a response").text, "x");
    assert!(matches!(Client::new("nowhere"), Err(StartError::Client(_))));
}

#[test]
#[should_panic(expected = "Cannot start a runtime from within a runtime")]
fn calls_within_async_code_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = Client::new("http://127.0.0.1:1/").expect("a client");
        client.call_as::<EchoResponse>(&echo("")).expect_err("it does not get so far");
    });
}

#[tokio::test]
async fn a_client_may_be_dropped_and_used_aside_of_async_code() {
    let (address, _handle) = serve_aside(LONG);
    let client = client(address);
    let used = client.clone();
    let called = tokio::task::spawn_blocking(move || used.call_as::<EchoResponse>(&echo("x")));
    assert_eq!(called.await.expect("no panic").expect("a response").text, "x");
    drop(client);
}
