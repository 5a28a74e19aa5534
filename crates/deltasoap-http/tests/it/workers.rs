//! Servers with their own threads: connections are distributed over them and stay there, and limits
//! for all connections apply across threads.

use crate::common::*;
use deltasoap::server::ServerHandle;
use deltasoap::soap::Version;
use deltasoap::{Lease, Server, SoapService};
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

/// Returns the thread that it runs on; if the text is "stay" it never ends.
async fn whereabouts(request: Lease<Echo>) -> Result<EchoResponse, Infallible> {
    if request.text == "stay" {
        std::future::pending::<()>().await;
    }
    let text = std::thread::current().name().unwrap_or_default().to_owned();
    Ok(EchoResponse { text, numbers: vec![] })
}

type Running = JoinHandle<std::io::Result<()>>;

async fn start(adjust: impl FnOnce(Server) -> Server) -> (SocketAddr, ServerHandle, Running) {
    let service = SoapService::builder().operation(whereabouts).build().expect("a service");
    let server = adjust(Server::bind("127.0.0.1:0").await.expect("a port").worker_threads(2));
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    (address, handle, tokio::spawn(server.serve(service)))
}

async fn send(stream: &mut TcpStream, text: &str) {
    let body = message(Version::Soap11, &[], &echo(text));
    let length = body.len();
    let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all((head + &body).as_bytes()).await.expect("sent");
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// Returns the thread that answers a connection.
async fn thread_of(stream: &mut TcpStream) -> String {
    send(stream, "where").await;
    let mut answer = String::new();
    while !answer.ends_with("Envelope>") {
        let mut bytes = [0; 4096];
        let length = timeout(SOON, stream.read(&mut bytes)).await.expect("in time").expect("an answer");
        assert!(length > 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    let rest = &answer[answer.find("deltasoap-worker-").unwrap_or_else(|| panic!("{answer}"))..];
    rest.split('<').next().expect("a name").to_owned()
}

#[tokio::test]
async fn connections_are_spread_evenly_and_stay() {
    let (address, handle, _running) = start(|server| server).await;
    let mut streams = Vec::new();
    for _ in 0..6 {
        streams.push((connect(address).await, String::new()));
    }
    let mut counts = HashMap::new();
    for (stream, thread) in &mut streams {
        *thread = thread_of(stream).await;
        *counts.entry(thread.clone()).or_insert(0) += 1;
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [3, 3]);
    for (stream, thread) in &mut streams {
        assert_eq!(thread_of(stream).await, *thread);
    }
    // Connections that have ended leave room for others.
    let left = streams[0].1.clone();
    streams.retain(|(_, thread)| *thread != left);
    while handle.connections() > 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(thread_of(&mut connect(address).await).await, left);
}

#[tokio::test]
async fn the_bound_on_connections_is_that_of_all_threads() {
    let (address, handle, _running) = start(|server| server.max_connections(2)).await;
    let mut streams = [connect(address).await, connect(address).await];
    for stream in &mut streams {
        thread_of(stream).await;
    }
    assert_eq!(handle.connections(), 2);
    let mut third = connect(address).await;
    assert!(timeout(Duration::from_millis(200), thread_of(&mut third)).await.is_err(), "it has to wait");
    drop(streams);
    let mut answer = [0; 1];
    timeout(SOON, third.read_exact(&mut answer)).await.expect("in time").expect("an answer");
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let (address, handle, running) = start(|server| server.shutdown_timeout(Duration::from_millis(100))).await;
    let mut idle = connect(address).await;
    let mut busy = connect(address).await;
    thread_of(&mut idle).await;
    send(&mut busy, "stay").await;
    handle.shutdown();
    timeout(SOON, running).await.expect("in time").expect("no panic").expect("no error");
    for stream in [&mut idle, &mut busy] {
        let ended = timeout(SOON, stream.read(&mut [0; 1])).await.expect("in time");
        assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_dropped_drops_its_connections() {
    let (address, handle, running) = start(|server| server).await;
    let mut busy = connect(address).await;
    send(&mut busy, "stay").await;
    while handle.connections() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    running.abort();
    let ended = timeout(SOON, busy.read(&mut [0; 1])).await.expect("in time");
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    while handle.connections() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
