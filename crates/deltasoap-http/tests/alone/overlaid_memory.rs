//! The memory needed for sending does not grow with the number of items.

use crate::{ALLOCATOR, ALONE};
use deltasoap::stream::Streamed;
use deltasoap::{Client, Soap};
use peakmem_alloc::PeakMemAllocTrait;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

#[derive(Soap)]
#[soap(namespace = "urn:o", message)]
struct Doubles {
    item: Streamed<f64>,
}

/// Reads a request and discards it, slowly at first. Returns its length.
fn discard(listener: TcpListener) -> usize {
    let (mut socket, _) = listener.accept().expect("a connection");
    let (mut buffer, mut length) = ([0; 16 << 10], 0);
    loop {
        let read = socket.read(&mut buffer).expect("no error");
        length += read;
        if buffer[..read].ends_with(b"0\r\n\r\n") || read == 0 {
            break;
        }
        if length < 1 << 20 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    socket.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").expect("no error");
    length
}

#[tokio::test]
async fn memory_is_that_of_a_few_chunks() {
    let _alone = ALONE.lock().await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let client = Client::new(format!("http://{}/", listener.local_addr().expect("an address"))).expect("a client");
    let receiver = std::thread::spawn(move || discard(listener));
    ALLOCATOR.reset_peak_memory();
    let items = (0..500_000).map(|n| f64::from(n) / 7.0);
    client.send_overlaid(&Doubles { item: Streamed::default() }, items).await.expect("accepted");
    let peak = ALLOCATOR.get_peak_memory();
    let length = receiver.join().expect("no panic");
    assert!(length > 12 << 20 && peak < 1 << 20, "{peak} bytes for a message of {length}");
}
