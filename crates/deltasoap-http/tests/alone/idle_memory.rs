//! Memory kept for an idle connection, and for metrics that nobody requests.

use crate::common::{Echo, echoed};
use crate::{ALLOCATOR, ALONE};
use deltasoap::engine::{Differential, Templating};
use deltasoap::soap::Version;
use deltasoap::{Lease, Server, SoapService};
use peakmem_alloc::PeakMemAllocTrait;
use std::convert::Infallible;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 20;

/// More than everything else here allocates.
const PROBE: usize = 1 << 30;

/// Returns the bytes held beyond those at the last reset, once per reset; negative if fewer are
/// held.
fn held() -> isize {
    drop(Vec::<u8>::with_capacity(PROBE));
    ALLOCATOR.get_peak_memory() as isize - PROBE as isize
}

/// Returns a request of about 99 KB whose answer is short.
fn long_request() -> String {
    let echo = Echo { text: String::new(), numbers: (100_000..103_950).collect() };
    let body = crate::common::message(Version::Soap11, &[], &echo);
    let length = body.len();
    assert!((95_000..110_000).contains(&length), "{length}");
    format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n{body}")
}

async fn exchange(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await.expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..length]);
    assert!(answer.contains(" 200 ") && answer.contains("Envelope>"), "{answer}");
    stream
}

/// Returns the bytes that an idle connection keeps after one long message.
async fn kept(differential: Differential) -> usize {
    let handler = async |_: Lease<Echo>| Ok::<_, Infallible>(echoed(&Echo { text: String::new(), numbers: vec![] }));
    let builder = SoapService::builder().differential(differential).templating(Templating::OFF).operation(handler);
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    let running = tokio::spawn(server.serve(builder.build().expect("a service")));
    let request = long_request();
    // Memory that the service shares between all connections.
    let _first = exchange(address, &request).await;
    ALLOCATOR.reset_peak_memory();
    let mut idle = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        idle.push(exchange(address, &request).await);
    }
    let kept = held();
    running.abort();
    usize::try_from(kept).expect("something is kept") / CONNECTIONS
}

#[tokio::test]
async fn idle_connections_keep_a_buffer_and_the_message() {
    let _alone = ALONE.lock().await;
    let regular = kept(Differential::OFF).await;
    let differential = kept(Differential::default()).await;
    println!("{} KiB without differential decoding, {} KiB with it", regular >> 10, differential >> 10);
    assert!(regular < 90 << 10, "{regular} bytes");
    assert!(differential < 130 << 10, "{differential} bytes");
}

/// Histograms collect single values until they are aggregated, and each value takes memory.
#[cfg(feature = "prometheus")]
#[tokio::test]
async fn metrics_that_nobody_asks_for_do_not_add_up() {
    let _alone = ALONE.lock().await;
    let _monitor = deltasoap::server::Monitor::new().prometheus().expect("no other recorder");
    let histogram = metrics::histogram!("test_seconds");
    ALLOCATOR.reset_peak_memory();
    (0..1_000_000).for_each(|_| histogram.record(1.0));
    assert!(held() > 4 << 20, "they are gathered at first");
    ALLOCATOR.reset_peak_memory();
    for _ in 0..3 {
        // Aggregated values are freed a while later, when new values arrive.
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        (0..10_000).for_each(|_| histogram.record(1.0));
    }
    let held = held();
    assert!(held < -(4 << 20), "{held} bytes");
}
