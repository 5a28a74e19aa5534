//! The client side of HTTP/1.1, as small as possible, so that the generator costs less than any
//! server.
//!
//! A request is one buffer, created beforehand. An answer is read into the connection's buffer, and
//! its body is checked in place; only chunked bodies are moved together. No connection has more
//! than one request in flight.

use crate::generate::LoadError;
use crate::record::{Failed, Failure};
use rustls::CertificateError;
use rustls::pki_types::ServerName;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Maximum number of bytes of a request passed to the system at a time: other connections run in
/// between.
const PIECE: usize = 32 << 10;
/// Minimum free space in the buffer for each read.
const MIN_FREE: usize = 16 << 10;
/// Maximum number of headers in an answer.
const HEADERS: usize = 64;
/// Maximum number of bytes of an answer's head, and of the line before a chunk.
const MAX_HEAD: usize = 256 << 10;
/// Maximum number of bytes of an answer, by default.
pub const MAX_ANSWER: usize = 64 << 20;
/// The system's number of "too many open files".
#[cfg(unix)]
const TOO_MANY_FILES: i32 = 24;

/// A server: its address, and the name in its certificate if it is reached by TLS.
#[derive(Debug, Clone)]
pub struct Target {
    address: SocketAddr,
    tls: Option<(Arc<rustls::ClientConfig>, ServerName<'static>)>,
    /// The address that connections come from; `None` if the system chooses.
    source: Option<IpAddr>,
    max_answer: usize,
}

impl Target {
    /// Returns a server without TLS.
    pub fn plain(address: SocketAddr) -> Self {
        Target { address, tls: None, source: None, max_answer: MAX_ANSWER }
    }

    /// Returns a server with TLS, whose certificate has the name or address `host`.
    ///
    /// # Errors
    /// When that is neither a name nor an address.
    pub fn tls(address: SocketAddr, config: rustls::ClientConfig, host: &str) -> Result<Self, LoadError> {
        // Brackets belong to the URL, not to the address.
        let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(name).map_err(|_| LoadError::Host(host.to_owned()))?;
        Ok(Target { address, tls: Some((Arc::new(config), name)), source: None, max_answer: MAX_ANSWER })
    }

    /// Sets the maximum number of bytes of an answer, with its head; a longer one is
    /// [too large](Failure::TooLarge). Each connection may need that much memory.
    pub fn max_answer(self, bytes: usize) -> Self {
        Target { max_answer: bytes, ..self }
    }

    /// Sets the address of this machine that connections come from. To load balancers that go by the
    /// client's address, clients of 127.0.0.2 and 127.0.0.3 are two.
    pub fn source(self, address: IpAddr) -> Self {
        Target { source: Some(address), ..self }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let Some(source) = self.source else { return TcpStream::connect(self.address).await };
        let socket = if source.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.bind(SocketAddr::new(source, 0))?;
        socket.connect(self.address).await
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Wire {
    stream: Stream,
    buffer: Vec<u8>,
    /// Maximum number of bytes of an answer.
    max: usize,
    /// True after the server announced that it will close the connection.
    is_last: bool,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    async fn connect(target: &Target) -> io::Result<Self> {
        let stream = target.connect().await?;
        stream.set_nodelay(true)?;
        Ok(match &target.tls {
            None => Stream::Plain(stream),
            Some((config, name)) => {
                let connector = TlsConnector::from(Arc::clone(config));
                Stream::Tls(Box::new(connector.connect(name.clone(), stream).await?))
            }
        })
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.write_all(bytes).await,
            Stream::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Returns true if the server has closed the connection, as servers do with idle ones. This reads
    /// nothing, and costs no system call while nothing has arrived.
    fn has_ended(&self) -> bool {
        let stream = match self {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref().0,
        };
        let (mut byte, mut task) = ([0], Context::from_waker(Waker::noop()));
        matches!(stream.poll_peek(&mut task, &mut ReadBuf::new(&mut byte)), Poll::Ready(Ok(0) | Err(_)))
    }

    async fn read_buf(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read_buf(buffer).await,
            // Many servers close without announcing it to TLS.
            Stream::Tls(stream) => match stream.read_buf(buffer).await {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                read => read,
            },
        }
    }
}

/// An answer, in the memory of its connection.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The status.
    pub status: u16,
    /// The body, without chunks.
    pub body: &'a [u8],
    head: &'a [u8],
    len: usize,
}

impl<'a> Answer<'a> {
    /// Creates an answer that was received some other way.
    pub fn new(status: u16, head: &'a [u8], body: &'a [u8]) -> Self {
        Answer { status, body, head, len: head.len() + body.len() }
    }

    /// Returns the head, up to its empty line.
    pub fn head(&self) -> &'a [u8] {
        self.head
    }

    /// Returns the number of bytes received, with head and chunks.
    pub fn received(&self) -> usize {
        self.len
    }
}

impl Wire {
    /// Connects to a server.
    ///
    /// # Errors
    /// When this fails.
    pub async fn connect(target: &Target) -> Result<Self, Failed> {
        match Stream::connect(target).await {
            Ok(stream) => Ok(Wire { stream, buffer: Vec::new(), max: target.max_answer, is_last: false }),
            Err(error) => Err(Failed::new(Failure::Connect, explained(&error))),
        }
    }

    /// Returns true if another request may be sent.
    pub fn is_open(&self) -> bool {
        !self.is_last && !self.stream.has_ended()
    }

    /// Sends a request; returns its answer.
    ///
    /// # Errors
    /// When there is no answer. The connection must not be used afterwards.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, Failed> {
        self.is_last = true;
        self.send(request).await?;
        self.buffer.clear();
        let (head, interim) = self.final_head().await?;
        let end = match head.length {
            Length::Bytes(length) => self.counted(head.len, length).await?,
            Length::Chunks => self.chunked(head.len).await?,
            Length::Rest => self.rest().await?,
        };
        self.is_last = head.is_last || head.length == Length::Rest;
        let (start, body) = self.buffer[..end].split_at(head.len);
        Ok(Answer { status: head.status, body, head: start, len: interim + self.buffer.len() })
    }

    async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        let (first, rest) = request.split_at(request.len().min(PIECE));
        self.stream.write_all(first).await?;
        for piece in rest.chunks(PIECE) {
            tokio::task::yield_now().await;
            self.stream.write_all(piece).await?;
        }
        Ok(())
    }

    /// Reads the head of the final answer; returns it with the number of bytes of interim answers
    /// before it, which are dropped (RFC 9110, 15.2).
    async fn final_head(&mut self) -> Result<(Head, usize), Failed> {
        let mut interim = 0;
        loop {
            let head = self.head().await?;
            match head.status {
                101 => return Err(malformed("it changes the protocol, which nobody has asked for")),
                100..200 => drop(self.buffer.drain(..head.len)),
                _ => return Ok((head, interim)),
            }
            interim += head.len;
        }
    }

    async fn head(&mut self) -> Result<Head, Failed> {
        loop {
            if let Some(head) = Head::parse(&self.buffer)? {
                return Ok(head);
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(malformed(&format!("its head has more than {MAX_HEAD} bytes")));
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), Failed> {
        match self.read().await? {
            0 => Err(Failed::new(Failure::Closed, "the server closed the connection before the end of its answer")),
            _ => Ok(()),
        }
    }

    async fn read(&mut self) -> Result<usize, Failed> {
        self.check_size(self.buffer.len())?;
        self.buffer.reserve(MIN_FREE);
        Ok(self.stream.read_buf(&mut self.buffer).await?)
    }

    fn check_size(&self, size: usize) -> Result<(), Failed> {
        if size > self.max {
            return Err(Failed::new(Failure::TooLarge, format!("the answer has more than {} bytes", self.max)));
        }
        Ok(())
    }

    /// Reads a body of known length; returns its end.
    async fn counted(&mut self, start: usize, length: usize) -> Result<usize, Failed> {
        let end = start.checked_add(length).ok_or_else(|| malformed("its length"))?;
        self.check_size(end)?;
        while self.buffer.len() < end {
            self.more().await?;
        }
        if self.buffer.len() == end { Ok(end) } else { Err(malformed("more bytes than it announced")) }
    }

    /// Reads all chunks, and moves them together; returns their end.
    async fn chunked(&mut self, start: usize) -> Result<usize, Failed> {
        let (mut end, mut at) = (start, start);
        loop {
            let Some((skip, size)) = chunk_size(&self.buffer[at..])? else {
                if self.buffer.len() - at > MAX_HEAD {
                    return Err(malformed("the line before a chunk is too long"));
                }
                self.more().await?;
                continue;
            };
            let data = at + skip;
            let next = data.checked_add(size).and_then(|next| next.checked_add(2));
            let next = next.ok_or_else(|| malformed("the size of a chunk"))?;
            self.check_size(next)?;
            while self.buffer.len() < next {
                self.more().await?;
            }
            self.buffer.copy_within(data..data + size, end);
            (end, at) = (end + size, next);
            if size == 0 {
                return Ok(end);
            }
        }
    }

    /// Reads a body that ends with the connection; returns its end.
    async fn rest(&mut self) -> Result<usize, Failed> {
        while self.read().await? > 0 {}
        Ok(self.buffer.len())
    }
}

/// Returns in words why a connection failed.
fn explained(error: &io::Error) -> String {
    #[cfg(unix)]
    if error.raw_os_error() == Some(TOO_MANY_FILES) {
        return "too many open files: each connection needs one, and `ulimit -n` sets how many there may be".to_owned();
    }
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(why)) => untrusted(why),
        Some(rustls::Error::InvalidMessage(_)) => "the server does not speak TLS at this port".to_owned(),
        Some(rustls::Error::AlertReceived(alert)) => format!("the server refused the TLS connection: {alert:?}"),
        _ => error.to_string(),
    }
}

fn untrusted(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer => {
            "the server's certificate was issued by an authority that is not trusted".to_owned()
        }
        // What webpki says of a certificate that is its own authority.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the server's certificate is that of an authority, and is not trusted itself".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate expired".to_owned()
        }
        why => format!("the server's certificate is not valid: {why}"),
    }
}

fn malformed(what: &str) -> Failed {
    Failed::new(Failure::Malformed, format!("the answer is not HTTP/1.1: {what}"))
}

/// The relevant parts of an answer's head.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    /// Size in bytes.
    len: usize,
    status: u16,
    length: Length,
    is_last: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Length {
    Bytes(usize),
    Chunks,
    /// All bytes until the connection ends.
    Rest,
}

impl Head {
    /// Parses the head at the beginning of `bytes`; returns `None` if it is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Failed> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(bytes).map_err(|error| malformed(&error.to_string()))?;
        let httparse::Status::Complete(len) = parsed else { return Ok(None) };
        let status = response.code.ok_or_else(|| malformed("no status"))?;
        // Without a length, the body lasts until the end, unless the status has none (RFC 9112, 6.3).
        let length = if matches!(status, 204 | 304) { Length::Bytes(0) } else { Length::Rest };
        let mut head = Head { len, status, length, is_last: response.version == Some(0) };
        response.headers.iter().try_for_each(|header| head.take(header))?;
        Ok(Some(head))
    }

    fn take(&mut self, header: &httparse::Header<'_>) -> Result<(), Failed> {
        let value = str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            self.length = Length::Bytes(value.parse().map_err(|_| malformed("its Content-Length"))?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked") {
            self.length = Length::Chunks;
        } else if header.name.eq_ignore_ascii_case("connection") {
            // Without a `Connection` header, the HTTP version decides.
            self.is_last =
                value.eq_ignore_ascii_case("close") || self.is_last && !value.eq_ignore_ascii_case("keep-alive");
        }
        Ok(())
    }
}

/// Returns the size of a chunk and the length of its line; `None` if the line is incomplete.
fn chunk_size(bytes: &[u8]) -> Result<Option<(usize, usize)>, Failed> {
    match httparse::parse_chunk_size(bytes).map_err(|_| malformed("the size of a chunk"))? {
        httparse::Status::Complete((skip, size)) => {
            let size = usize::try_from(size).map_err(|_| malformed("the size of a chunk"))?;
            Ok(Some((skip, size)))
        }
        httparse::Status::Partial => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    /// An answer of more than 100 bytes whose length is not announced.
    const ENDLESS: &str = "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567890123456789012345678901234567890123456789\
                           0123456789012345678901234567890123456789012345678901234567890123456789";

    /// Returns what a client gets from a server with this answer, sent in pieces of `piece` bytes:
    /// status, body, and whether the connection stays open.
    fn exchange(answer: &'static str, piece: usize) -> Result<(u16, String, bool), Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.set_nodelay(true).unwrap();
            stream.read_exact(&mut [0; 7]).unwrap();
            // A client that has had enough closes.
            let _ = answer.as_bytes().chunks(piece).try_for_each(|piece| stream.write_all(piece));
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let got = runtime.block_on(async {
            let mut wire = Wire::connect(&Target::plain(server).max_answer(100)).await?;
            let Answer { status, body, .. } = wire.exchange(b"request").await?;
            let body = String::from_utf8(body.to_vec()).unwrap();
            Ok((status, body, !wire.is_last))
        });
        serving.join().unwrap();
        got.map_err(|failed: Failed| failed.failure)
    }

    #[test]
    fn bodies_are_counted_or_in_chunks_or_end_with_the_connection() {
        for piece in [1, 3, 1000] {
            let counted = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
            assert_eq!(exchange(counted, piece), Ok((200, "hello".to_owned(), true)));
            let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n";
            assert_eq!(exchange(chunked, piece), Ok((200, "hello".to_owned(), true)));
            let last = "HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno";
            assert_eq!(exchange(last, piece), Ok((500, "no".to_owned(), false)));
            let old = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
            assert_eq!(exchange(old, piece), Ok((200, String::new(), false)));
            let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
            assert_eq!(exchange(kept, piece), Ok((200, String::new(), true)));
            let rest = "HTTP/1.1 200 OK\r\n\r\nhello";
            assert_eq!(exchange(rest, piece), Ok((200, "hello".to_owned(), false)));
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
                           HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
            assert_eq!(exchange(interim, piece), Ok((200, "hello".to_owned(), true)));
            let none = "HTTP/1.1 204 No Content\r\n\r\n";
            assert_eq!(exchange(none, piece), Ok((204, String::new(), true)));
        }
    }

    #[tokio::test]
    async fn a_connection_that_the_server_has_closed_is_not_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut wire = Wire::connect(&Target::plain(listener.local_addr().unwrap())).await.unwrap();
        let mut stream = listener.accept().unwrap().0;
        assert!(wire.is_open());
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").unwrap();
        assert_eq!(wire.exchange(b"request").await.unwrap().body, b"x");
        assert!(wire.is_open());
        stream.read_exact(&mut [0; 7]).unwrap();
        drop(stream);
        while wire.is_open() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    /// All of 127.0.0.0/8 is this machine only on Linux.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_come_from_the_address_that_is_set() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::plain(listener.local_addr().unwrap());
        let source = IpAddr::from([127, 7, 8, 9]);
        for (target, expected) in [(target.clone().source(source), source), (target, IpAddr::from([127, 0, 0, 1]))] {
            let _wire = Wire::connect(&target).await.unwrap();
            assert_eq!(listener.accept().unwrap().1.ip(), expected);
        }
    }

    #[test]
    fn failures_to_connect_are_in_words() {
        let tls = |error| explained(&io::Error::new(io::ErrorKind::InvalidData, error));
        assert!(tls(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)).contains("not trusted"));
        assert!(tls(rustls::Error::InvalidCertificate(CertificateError::Expired)).contains("expired"));
        let plain = rustls::InvalidMessage::InvalidContentType;
        assert!(tls(rustls::Error::InvalidMessage(plain)).contains("does not speak TLS"));
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::HandshakeFailure);
        assert!(tls(alert).contains("HandshakeFailure"));
        #[cfg(unix)]
        assert!(explained(&io::Error::from_raw_os_error(TOO_MANY_FILES)).contains("ulimit -n"));
    }

    #[test]
    fn what_is_no_answer_is_a_failure() {
        for (answer, failure) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Failure::Closed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhe", Failure::Closed),
            ("well, er\r\n\r\n", Failure::Malformed),
            ("HTTP/1.1 200", Failure::Closed),
            ("HTTP/1.1 100 Continue\r\n\r\n", Failure::Closed),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", Failure::TooLarge),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3B9ACA00\r\n", Failure::TooLarge),
            (ENDLESS, Failure::TooLarge),
        ] {
            assert_eq!(exchange(answer, 1000), Err(failure), "{answer}");
        }
    }
}
