//! Servers that take over an address from others: no request is lost.

#![cfg(unix)]

use crate::common::*;
use deltasoap::client::{HttpTransport, Retries};
use deltasoap::{Client, Server};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_port_is_shared_only_by_those_who_want_it() {
    let first = Server::bind_reusing_port(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let address = first.local_addr().expect("an address");
    Server::bind_reusing_port(address).expect("the same port");
    let refused = Server::bind(address).await.expect_err("it is taken");
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    assert!(refused.to_string().contains("another program listens there"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_follow_each_other_under_load() {
    let mut server = Server::bind_reusing_port(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let address = server.local_addr().expect("an address");
    let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..4)
        .map(|number| {
            let (is_over, answered) = (Arc::clone(&is_over), Arc::clone(&answered));
            tokio::spawn(async move {
                // A connection for each call: only those tell what becomes of the queue.
                let transport = HttpTransport::builder().max_idle_per_host(0).build();
                let client = Client::builder(format!("http://{address}/")).retries(Retries::OFF);
                let client = client.build_with(transport).expect("a client");
                while !is_over.load(SeqCst) {
                    let request = Echo { text: "on".to_owned(), numbers: vec![number] };
                    let response = client.call_as::<EchoResponse>(&request).await.expect("a response");
                    assert_eq!(response, echoed(&request));
                    answered.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for _ in 0..5 {
        let (handle, running) = (server.handle(), tokio::spawn(server.serve(service().0)));
        tokio::time::sleep(Duration::from_millis(100)).await;
        let next = Server::bind_reusing_port(address).expect("the same port");
        handle.shutdown();
        server = next;
        running.await.expect("no panic").expect("served");
    }
    let (handle, running) = (server.handle(), tokio::spawn(server.serve(service().0)));
    is_over.store(true, SeqCst);
    for client in clients {
        client.await.expect("every call was answered");
    }
    handle.shutdown();
    running.await.expect("no panic").expect("served");
    assert!(answered.load(SeqCst) > 20, "{answered:?}");
}

/// New connections all the time do not keep it from its end.
#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_served_for_a_while_only() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    let running = tokio::spawn(server.shutdown_timeout(Duration::from_secs(1)).serve(service().0));
    let connecting = tokio::spawn(async move {
        while let Ok(stream) = TcpStream::connect(address).await {
            drop(stream);
        }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    handle.shutdown();
    tokio::time::timeout(Duration::from_secs(5), running).await.expect("in time").expect("no panic").expect("served");
    connecting.await.expect("no panic");
}

#[tokio::test]
async fn connections_in_the_queue_are_served() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let mut waiting = TcpStream::connect(address).await.expect("in the queue");
    let (_idle, handle) = (TcpStream::connect(address).await.expect("in the queue"), server.handle());
    handle.shutdown();
    let running = tokio::spawn(server.serve(service().0));
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.expect("sent");
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    tokio::time::timeout(Duration::from_secs(5), running).await.expect("in time").expect("no panic").expect("served");
}
