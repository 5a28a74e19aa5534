//! Receivers for messages that get no response: loopback servers that accept everything.

use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A listener with a thread per connection that reads it to its end. These threads end with the
/// connections, the listener's thread with the process.
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
}

impl Sink {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When no port is available.
    pub fn start() -> io::Result<Self> {
        let listener = listen()?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(|| drain(stream, |_| ()));
            }
        });
        Ok(Sink { address })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A connection whose other end is read in this process too, so that the sender can wait until
/// everything was received.
///
/// A small message that finds the receiver's buffer full is merged with those waiting before it
/// into one packet. That costs less than half as much as sending it alone, and never happens to
/// messages that get a response.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    reader: JoinHandle<()>,
    sent: u64,
    taken: Arc<AtomicU64>,
}

impl Link {
    /// Connects to itself.
    ///
    /// # Errors
    /// When no port is available.
    pub(super) fn new() -> io::Result<Self> {
        let listener = listen()?;
        let stream = TcpStream::connect(listener.local_addr()?)?;
        stream.set_nodelay(true)?;
        let other = accept(&listener, stream.local_addr()?)?;
        // If woken with nothing to read, it must not block for bytes: the next message would have
        // to wake it.
        other.set_nonblocking(true)?;
        let taken = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&taken);
        let took = move |read| {
            count.fetch_add(read, Ordering::Release);
        };
        let reader = thread::spawn(|| drain(other, took));
        Ok(Link { stream, reader, sent: 0, taken })
    }

    /// Sends the bytes.
    ///
    /// # Errors
    /// When the connection is closed.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.sent += bytes.len() as u64;
        Ok(())
    }

    /// Waits until the other end has received everything.
    ///
    /// # Errors
    /// When it never will.
    pub(super) fn settle(&self) -> io::Result<()> {
        while self.taken.load(Ordering::Acquire) < self.sent {
            if self.reader.is_finished() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            self.reader.thread().unpark();
            thread::yield_now();
        }
        Ok(())
    }
}

fn listen() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

/// Accepts the connection from an address; others may connect to the port too.
fn accept(listener: &TcpListener, from: SocketAddr) -> io::Result<TcpStream> {
    loop {
        let (stream, address) = listener.accept()?;
        if address == from {
            return Ok(stream);
        }
    }
}

/// Pause between two reads, unless the thread is woken. Meanwhile the sender never has to wake a
/// waiting reader: whether one waits would be chance, and waking it costs more than sending a small
/// message.
const PAUSE: Duration = Duration::from_micros(100);

/// Reads to the end, and reports the size of each read.
fn drain(mut stream: TcpStream, took: impl Fn(u64)) {
    let mut buffer = vec![0; 1 << 20];
    loop {
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => took(read as u64),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
        }
        thread::park_timeout(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_was_sent_is_taken() {
        let mut link = Link::new().expect("a link");
        // The last is larger than the buffers of both ends.
        for length in [1, 1000, 100_000, 20 << 20] {
            link.send(&vec![b'x'; length]).expect("sent");
            link.settle().expect("taken");
            assert_eq!(link.taken.load(Ordering::Acquire), link.sent);
        }
        assert_eq!(link.sent, 1 + 1000 + 100_000 + (20 << 20));
    }

    #[test]
    fn nobody_waits_for_what_is_never_taken() {
        let mut link = Link::new().expect("a link");
        link.stream.shutdown(std::net::Shutdown::Both).expect("shut down");
        link.sent = 1;
        assert_eq!(link.settle().expect_err("gone").kind(), io::ErrorKind::ConnectionAborted);
    }

    #[test]
    fn anybody_can_send_to_a_sink() {
        let sink = Sink::start().expect("a port");
        let mut stream = TcpStream::connect(sink.address()).expect("connected");
        stream.write_all(&vec![b'x'; 20 << 20]).expect("taken");
    }
}
