//! A server on loopback that takes everything and answers nothing.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A listener whose connections are read to their end by a thread each. The threads end with the connections, the listener's with
/// the process.
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
}

impl Sink {
    /// Starts to listen on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(thread::spawn(|| drain(stream)))));
        Ok(Sink { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection to it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// How long a thread sleeps between two readings. Nobody waits for bytes meanwhile whom the sender would have to wake: whether it finds one
/// waiting would be chance, and costs more than to send a small message.
const PAUSE: Duration = Duration::from_micros(100);

fn drain(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 20];
    while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
        thread::sleep(PAUSE);
    }
}
