//! A network of a rate between a client and a server in this process: a forwarder that lets so many bytes pass in a second.
//!
//! Its sockets, and those of the server, have small buffers: a server that writes faster soon has to wait, as it has where the system's buffers
//! are short beside what the network carries.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use deltasoap::http::{Server, ServerHandle, SoapService};
use socket2::{Domain, Socket, Type};

/// Bytes that a socket holds; the system takes it twice.
const BUFFER: usize = 32 << 10;
/// Bytes that pass at one time.
const PIECE: usize = 8 << 10;
/// What may be caught up on, since threads wake late.
const LATE: Duration = Duration::from_millis(1);

/// A server behind a network, stopped when dropped.
pub struct Far {
    /// Where clients connect to.
    pub url: String,
    handle: ServerHandle,
}

impl Far {
    /// Serves a service on the current runtime, at so many Mbit/s in each direction; at the speed of loopback without.
    pub fn serve(service: SoapService, rate: Option<f64>) -> Result<Self> {
        let listener = listener()?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let server = Server::from_listener(tokio::net::TcpListener::from_std(listener)?);
        let handle = server.handle();
        tokio::spawn(server.serve(service));
        let address = match rate {
            Some(rate) => forward(address, rate * 1e6 / 8.0)?,
            None => address,
        };
        Ok(Far { url: format!("http://{address}/"), handle })
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.handle.shutdown();
    }
}

fn listener() -> io::Result<TcpListener> {
    let socket = small()?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    socket.listen(16)?;
    Ok(socket.into())
}

fn small() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)?;
    Ok(socket)
}

/// Forwards connections to an address at a rate in bytes a second, until the process ends; where to.
fn forward(to: SocketAddr, rate: f64) -> io::Result<SocketAddr> {
    let listener = listener()?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // A connection that cannot be forwarded is seen by its client.
            let _ = client.and_then(|client| connect(client, to, rate));
        }
    });
    Ok(address)
}

fn connect(client: TcpStream, to: SocketAddr, rate: f64) -> io::Result<()> {
    let socket = small()?;
    socket.connect(&to.into())?;
    let server: TcpStream = socket.into();
    for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        to.set_nodelay(true)?;
        thread::spawn(move || carry(from, to, rate));
    }
    Ok(())
}

/// Carries bytes until one end closes.
fn carry(mut from: TcpStream, mut to: TcpStream, rate: f64) -> io::Result<()> {
    let (mut piece, mut free) = (vec![0; PIECE], Instant::now());
    loop {
        let bytes = from.read(&mut piece)?;
        if bytes == 0 {
            return to.shutdown(Shutdown::Write);
        }
        let now = Instant::now();
        let start = free.max(now.checked_sub(LATE).unwrap_or(now));
        free = start + Duration::from_secs_f64(bytes as f64 / rate);
        // A byte has arrived when the last one before it has left the line.
        thread::sleep(free.saturating_duration_since(now));
        to.write_all(&piece[..bytes])?;
    }
}
