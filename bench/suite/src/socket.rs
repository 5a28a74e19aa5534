//! A server on this machine, and connections to it: HTTP/1.1 messages over a persistent TCP
//! connection.
//!
//! As in section 4 of *Differential Serialization for Optimized SOAP Performance*, a message counts
//! as sent when the last system call that sends part of it returns, and there is no answer: the
//! server discards everything. Socket options are the paper's.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, ensure};
use core_affinity::CoreId;
use socket2::SockRef;

/// Size of the system's buffers on either side in bytes (`SO_SNDBUF`, `SO_RCVBUF`).
const SYSTEM_BUFFER: usize = 32 << 10;

/// A server that discards everything, on a separate core if there are two.
pub struct Sink {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

impl Sink {
    /// Starts the server.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start() -> Result<Self> {
        let (listener, address) = listen()?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let seen = is_closed.clone();
        thread::spawn(move || {
            core_affinity::set_for_current(CoreId { id: 0 });
            let connections = listener.incoming().take_while(|_| !seen.load(Ordering::Acquire));
            connections.flatten().for_each(|connection| drop(thread::spawn(|| discard(connection))));
        });
        Ok(Sink { address, is_closed })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Sink {
    /// Wakes the server so that it stops.
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
    }
}

fn listen() -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
    SockRef::from(&listener).set_recv_buffer_size(SYSTEM_BUFFER)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Reads until the connection ends for any reason.
fn discard(mut connection: TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    while connection.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// A server that accepts one connection and keeps the message.
pub struct Receiver {
    address: SocketAddr,
    received: JoinHandle<io::Result<Vec<u8>>>,
}

impl Receiver {
    /// Starts the server.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start() -> Result<Self> {
        let (listener, address) = listen()?;
        let receive = move || {
            let mut received = Vec::new();
            listener.accept()?.0.read_to_end(&mut received)?;
            Ok(received)
        };
        Ok(Receiver { address, received: thread::spawn(receive) })
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the body of the message after the connection is closed.
    ///
    /// # Errors
    /// When the received bytes are not one HTTP message.
    pub fn message(self) -> Result<Vec<u8>> {
        let received = self.received.join().map_err(|_| anyhow!("the receiver has ended"))??;
        body(&received)
    }
}

/// Returns the body of an HTTP message, of known length or chunked.
fn body(message: &[u8]) -> Result<Vec<u8>> {
    let end = message
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .context("an HTTP message without an end of headers")?;
    let (head, rest) = (String::from_utf8_lossy(&message[..end]).to_ascii_lowercase(), &message[end + 4..]);
    if head.contains("transfer-encoding: chunked") {
        return unchunked(rest);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).context("no length")?;
    ensure!(length.trim().parse::<usize>()? == rest.len(), "{} bytes instead of {length}", rest.len());
    Ok(rest.to_vec())
}

fn unchunked(mut rest: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|bytes| bytes == b"\r\n").context("a chunk without a size")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line])?, 16)?;
        let chunk = rest.get(line + 2..).and_then(|rest| rest.get(..size + 2)).context("an unfinished chunk")?;
        ensure!(chunk.ends_with(b"\r\n"), "a chunk that is longer than its size");
        body.extend_from_slice(&chunk[..size]);
        rest = &rest[line + 2 + size + 2..];
        if size == 0 {
            ensure!(rest.is_empty(), "more than one message");
            return Ok(body);
        }
    }
}

/// A connection to a server.
pub struct Link {
    stream: TcpStream,
}

impl Link {
    /// Connects to a server.
    ///
    /// # Errors
    /// When there is no server at the address.
    pub fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        let socket = SockRef::from(&stream);
        socket.set_keepalive(true)?;
        socket.set_send_buffer_size(SYSTEM_BUFFER)?;
        Ok(Link { stream })
    }

    /// Sends a message in pieces, without copying them.
    ///
    /// # Errors
    /// When the connection is closed.
    pub fn send(&mut self, pieces: &[&[u8]]) -> io::Result<()> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let head = format!("{HEAD}Content-Length: {length}\r\n\r\n");
        let mut slices: Vec<IoSlice<'_>> = vec![IoSlice::new(head.as_bytes())];
        slices.extend(pieces.iter().map(|piece| IoSlice::new(piece)));
        self.send_slices(&mut slices)
    }

    /// Begins a message of unknown length.
    ///
    /// # Errors
    /// When the connection is closed.
    pub fn begin_chunks(&mut self) -> io::Result<()> {
        self.stream.write_all(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes())
    }

    /// Sends a non-empty chunk of the message, without copying it.
    ///
    /// # Errors
    /// When the connection is closed.
    pub fn send_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        let size = format!("{:x}\r\n", chunk.len());
        self.send_slices(&mut [IoSlice::new(size.as_bytes()), IoSlice::new(chunk), IoSlice::new(b"\r\n")])
    }

    /// Ends the message.
    ///
    /// # Errors
    /// When the connection is closed.
    pub fn end_chunks(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    fn send_slices(&mut self, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
        while !slices.is_empty() {
            match self.stream.write_vectored(slices)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                sent => IoSlice::advance_slices(&mut slices, sent),
            }
        }
        Ok(())
    }
}

const HEAD: &str =
    "POST /bench HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let pieces: Vec<Vec<u8>> = (0..3000_u32).map(|index| vec![index as u8; index as usize % 300]).collect();
        let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let receiver = Receiver::start().unwrap();
        let mut link = Link::connect(receiver.address()).unwrap();
        link.send(&slices).unwrap();
        drop(link);
        assert_eq!(receiver.message().unwrap(), pieces.concat());
    }

    #[test]
    fn chunks_that_are_sent_are_received() {
        let receiver = Receiver::start().unwrap();
        let mut link = Link::connect(receiver.address()).unwrap();
        link.begin_chunks().unwrap();
        [&b"one"[..], &[b'x'; 100_000]].into_iter().for_each(|chunk| link.send_chunk(chunk).unwrap());
        link.end_chunks().unwrap();
        drop(link);
        assert_eq!(receiver.message().unwrap().len(), 100_003);
    }

    #[test]
    fn a_sink_takes_any_number_of_messages() {
        let sink = Sink::start().unwrap();
        let mut links = [(); 2].map(|()| Link::connect(sink.address()).unwrap());
        for _ in 0..10 {
            links.iter_mut().for_each(|link| link.send(&[&[7; 100_000]]).unwrap());
        }
    }

    #[test]
    fn chunks_are_joined_and_damage_is_seen() {
        let message = |body: &str| format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes();
        assert_eq!(body(&message("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n")).unwrap(), b"abc0123456789");
        for damaged in ["3\r\nabcd\r\n0\r\n\r\n", "3\r\nabc\r\n", "3\r\nab", "0\r\n\r\nPOST", "x\r\n\r\n"] {
            assert!(body(&message(damaged)).is_err(), "{damaged:?}");
        }
        assert!(body(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab").is_err());
        assert!(body(b"POST / HTTP/1.1\r\n").is_err());
    }
}
