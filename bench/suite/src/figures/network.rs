//! A network with a limited rate between a client and a server in this process: a forwarder that
//! limits the bytes per second.
//!
//! It adds no delay except that of the rate. With a rate, its sockets and those of the server have
//! small buffers, so that a server soon has to wait, as it does where the system's buffers are
//! small compared with the network's traffic: at most about 128 KiB are in transit. Segments are as
//! long as those of Ethernet, since a loopback segment would fill such a buffer. The forwarder
//! shares the processors with client and server, and mostly sleeps.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use deltasoap::server::ServerHandle;
use deltasoap::{Server, SoapService};
use rustix::net::{RecvFlags, recv};
use socket2::{Domain, Socket, Type};

/// Socket buffer size in bytes; the system doubles it.
const BUFFER: usize = 32 << 10;
/// Size of a segment in bytes.
const SEGMENT: u32 = 1460;
/// Bytes forwarded at one time: one millisecond's worth within these limits, at least a segment.
const PIECES: [f64; 2] = [SEGMENT as f64, (16 << 10) as f64];
/// Maximum delay to catch up on, since threads wake late.
pub const LATE: Duration = Duration::from_millis(1);

/// A server reached through a network, stopped when dropped.
pub struct RemoteServer {
    /// The URL for clients.
    pub url: String,
    handle: ServerHandle,
    carried: Arc<AtomicU64>,
}

impl RemoteServer {
    /// Serves a service on the current runtime, at a rate in Mbit/s in each direction, or at
    /// loopback speed without a rate.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub fn serve(service: SoapService, rate: Option<f64>) -> Result<Self> {
        let listener = if rate.is_some() { listener()? } else { TcpListener::bind("127.0.0.1:0")? };
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let server = Server::from_listener(tokio::net::TcpListener::from_std(listener)?);
        let handle = server.handle();
        tokio::spawn(server.serve(service));
        let carried = Arc::default();
        let address = match rate {
            Some(rate) => forward(address, bytes_a_second(rate), Arc::clone(&carried))?,
            None => address,
        };
        Ok(RemoteServer { url: format!("http://{address}/"), handle, carried })
    }

    /// Returns the number of bytes carried to clients so far.
    pub fn carried(&self) -> u64 {
        self.carried.load(Relaxed)
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.handle.shutdown();
    }
}

/// Converts Mbit/s to bytes per second.
pub fn bytes_a_second(rate: f64) -> f64 {
    rate * 1e6 / 8.0
}

fn listener() -> io::Result<TcpListener> {
    let socket = small()?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    socket.listen(16)?;
    Ok(socket.into())
}

/// A socket with small buffers and segments, which accepted sockets inherit.
fn small() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_tcp_mss(SEGMENT)?;
    Ok(socket)
}

/// Forwards connections to an address at a rate in bytes per second, until the process ends.
/// Returns the address to connect to.
fn forward(to: SocketAddr, rate: f64, carried: Arc<AtomicU64>) -> io::Result<SocketAddr> {
    let listener = listener()?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // The client notices if its connection cannot be forwarded.
            let _ = client.and_then(|client| connect(client, to, rate, &carried));
        }
    });
    Ok(address)
}

fn connect(client: TcpStream, to: SocketAddr, rate: f64, carried: &Arc<AtomicU64>) -> io::Result<()> {
    let socket = small()?;
    socket.connect(&to.into())?;
    let server: TcpStream = socket.into();
    let (requests, responses) = (Arc::default(), Arc::clone(carried));
    for (from, to, carried) in [(client.try_clone()?, server.try_clone()?, requests), (server, client, responses)] {
        to.set_nodelay(true)?;
        thread::spawn(move || carry(from, to, rate, &carried));
    }
    Ok(())
}

/// Carries bytes until one end closes.
fn carry(mut from: TcpStream, mut to: TcpStream, rate: f64, carried: &AtomicU64) -> io::Result<()> {
    let mut piece = vec![0; (rate / 1e3).clamp(PIECES[0], PIECES[1]) as usize];
    let mut line = Line { rate, free: Instant::now() };
    loop {
        let (bytes, has_waited) = match recv(&from, &mut piece[..], RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => (bytes, true),
            Err(rustix::io::Errno::AGAIN) => (from.read(&mut piece)?, false),
            Err(error) => return Err(error.into()),
        };
        if bytes == 0 {
            return to.shutdown(Shutdown::Write);
        }
        let now = Instant::now();
        let arrives = line.pass(bytes, now, has_waited);
        thread::sleep(arrives.saturating_duration_since(now));
        carried.fetch_add(bytes as u64, Relaxed);
        to.write_all(&piece[..bytes])?;
    }
}

/// A line that carries bytes in order.
struct Line {
    /// Bytes per second.
    rate: f64,
    /// Time at which the last byte so far has passed.
    free: Instant,
}

impl Line {
    /// Returns the time at which bytes taken now have passed. If they waited for the line, they
    /// follow the previous bytes even if the thread woke late, up to [`LATE`]; an idle line does
    /// not catch up.
    fn pass(&mut self, bytes: usize, now: Instant, has_waited: bool) -> Instant {
        let earliest = if has_waited { now.checked_sub(LATE).unwrap_or(now) } else { now };
        self.free = self.free.max(earliest) + Duration::from_secs_f64(bytes as f64 / self.rate);
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn bytes_pass_at_the_rate_of_the_line() {
        let start = Instant::now();
        let mut line = Line { rate: 1e6, free: start };
        assert_eq!(line.pass(4000, start, false), start + 4 * MS);
        // The thread woke half a millisecond late.
        assert_eq!(line.pass(4000, start + 9 * MS / 2, true), start + 8 * MS);
        // It woke far too late.
        assert_eq!(line.pass(4000, start + 20 * MS, true), start + 23 * MS);
        // There was nothing to send for a while.
        assert_eq!(line.pass(4000, start + 100 * MS, false), start + 104 * MS);
    }

    const BYTES: usize = 1 << 20;

    /// Returns the time to send a mebibyte at a rate, and to receive it.
    fn exchanged(rate: f64) -> [Duration; 2] {
        let listener = listener().unwrap();
        let url = forward(listener.local_addr().unwrap(), rate, Arc::default()).unwrap();
        let mut receiver = TcpStream::connect(url).unwrap();
        let (mut sender, _) = listener.accept().unwrap();
        let start = Instant::now();
        let sending = thread::spawn(move || {
            let bytes: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
            sender.write_all(&bytes).unwrap();
            start.elapsed()
        });
        let mut received = Vec::new();
        receiver.read_to_end(&mut received).unwrap();
        let (elapsed, sent) = (start.elapsed(), sending.join().unwrap());
        assert!(received.len() == BYTES && received.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8));
        [sent, elapsed]
    }

    /// A sender notices a slow network: it finishes only slightly before the receiver, which gets
    /// everything no sooner than the rate allows.
    #[test]
    fn a_sender_waits_for_the_network() {
        let rate = 8e6;
        let [sent, received] = exchanged(rate);
        let seconds = |bytes: usize| Duration::from_secs_f64(bytes as f64 / rate);
        assert!(received >= seconds(BYTES) - LATE, "{received:?}");
        assert!(sent >= seconds(BYTES - 8 * BUFFER), "{sent:?}");
    }

    /// At 1000 Mbit/s a mebibyte takes 8 ms. The forwarder comes close if nothing disturbs it.
    #[test]
    fn a_fast_network_is_not_kept_waiting() {
        let least = (0..20).map(|_| exchanged(bytes_a_second(1000.0))[1]).min();
        assert!(least.is_some_and(|least| least < 30 * MS), "{least:?}");
    }
}
