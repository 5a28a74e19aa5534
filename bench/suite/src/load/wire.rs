//! The client side of HTTP/1.1, as small as possible, so that the generator costs less than any
//! server.
//!
//! A request is one buffer, created beforehand. An answer is read into the connection's buffer, and
//! its body is checked in place; only chunked bodies are moved together. No connection has more
//! than one request in flight.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Maximum number of bytes of a request passed to the system at a time: other connections run in
/// between.
const PIECE: usize = 32 << 10;
/// Minimum free space in the buffer for each read.
const MIN_FREE: usize = 16 << 10;
/// Maximum number of headers in an answer.
const HEADERS: usize = 64;

/// A failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The connection failed to open.
    Connect,
    /// The connection ended, or failed, before the end of the answer.
    Closed,
    /// The answer took too long.
    Timeout,
    /// The answer is not HTTP/1.1.
    Malformed,
    /// The answer has a status other than 200.
    Status(u16),
    /// The answer does not have the right values.
    Wrong,
}

impl Failure {
    /// Returns the name in reports.
    pub fn name(self) -> String {
        match self {
            Failure::Connect => "connect".to_owned(),
            Failure::Closed => "closed".to_owned(),
            Failure::Timeout => "timeout".to_owned(),
            Failure::Malformed => "malformed".to_owned(),
            Failure::Status(status) => format!("status {status}"),
            Failure::Wrong => "wrong values".to_owned(),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Failure::Closed
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// True after the server announced that it will close the connection.
    is_last: bool,
}

impl Wire {
    /// Connects to the server.
    pub async fn connect(server: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(server).await.map_err(|_| Failure::Connect)?;
        stream.set_nodelay(true)?;
        Ok(Wire { stream, buffer: Vec::new(), is_last: false })
    }

    /// Returns true if another request may be sent.
    pub fn is_open(&self) -> bool {
        !self.is_last
    }

    /// Sends a request; returns the body of its answer.
    ///
    /// # Errors
    /// When there is no answer, or its status is not 200. The connection must not be used
    /// afterwards.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<&[u8], Failure> {
        self.is_last = true;
        self.send(request).await?;
        self.buffer.clear();
        let head = self.head().await?;
        let end = match head.length {
            Length::Bytes(length) => self.counted(head.len, length).await?,
            Length::Chunks => self.chunked(head.len).await?,
        };
        self.is_last = head.is_last;
        if head.status == 200 { Ok(&self.buffer[head.len..end]) } else { Err(Failure::Status(head.status)) }
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

    async fn head(&mut self) -> Result<Head, Failure> {
        loop {
            self.more().await?;
            if let Some(head) = Head::parse(&self.buffer)? {
                return Ok(head);
            }
        }
    }

    async fn more(&mut self) -> Result<(), Failure> {
        self.buffer.reserve(MIN_FREE);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(Failure::Closed),
            _ => Ok(()),
        }
    }

    /// Reads a body of known length; returns its end.
    async fn counted(&mut self, start: usize, length: usize) -> Result<usize, Failure> {
        let end = start.checked_add(length).ok_or(Failure::Malformed)?;
        while self.buffer.len() < end {
            self.more().await?;
        }
        if self.buffer.len() == end { Ok(end) } else { Err(Failure::Malformed) }
    }

    /// Reads all chunks, and moves them together; returns their end.
    async fn chunked(&mut self, start: usize) -> Result<usize, Failure> {
        let (mut end, mut at) = (start, start);
        loop {
            let Some((skip, size)) = chunk_size(&self.buffer[at..])? else {
                self.more().await?;
                continue;
            };
            let data = at + skip;
            let next = data.checked_add(size).and_then(|next| next.checked_add(2)).ok_or(Failure::Malformed)?;
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
}

impl Head {
    /// Parses the head at the beginning of `bytes`; returns `None` if it is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Failure> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(len) = response.parse(bytes).map_err(|_| Failure::Malformed)? else {
            return Ok(None);
        };
        let status = response.code.ok_or(Failure::Malformed)?;
        let mut head = Head { len, status, length: Length::Bytes(0), is_last: response.version == Some(0) };
        response.headers.iter().try_for_each(|header| head.take(header))?;
        Ok(Some(head))
    }

    fn take(&mut self, header: &httparse::Header<'_>) -> Result<(), Failure> {
        let value = str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            self.length = Length::Bytes(value.parse().map_err(|_| Failure::Malformed)?);
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
fn chunk_size(bytes: &[u8]) -> Result<Option<(usize, usize)>, Failure> {
    match httparse::parse_chunk_size(bytes).map_err(|_| Failure::Malformed)? {
        httparse::Status::Complete((skip, size)) => {
            Ok(Some((skip, usize::try_from(size).map_err(|_| Failure::Malformed)?)))
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

    /// Returns what a client gets from a server with this answer, sent in pieces of `piece` bytes.
    fn exchange(answer: &'static str, piece: usize) -> Result<(String, bool), Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.set_nodelay(true).unwrap();
            stream.read_exact(&mut [0; 7]).unwrap();
            for piece in answer.as_bytes().chunks(piece) {
                stream.write_all(piece).unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let got = runtime.block_on(async {
            let mut wire = Wire::connect(server).await?;
            let body = wire.exchange(b"request").await?.to_vec();
            Ok((String::from_utf8(body).unwrap(), wire.is_open()))
        });
        serving.join().unwrap();
        got
    }

    #[test]
    fn bodies_are_counted_or_in_chunks() {
        for piece in [1, 3, 1000] {
            let counted = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
            assert_eq!(exchange(counted, piece), Ok(("hello".to_owned(), true)));
            let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n";
            assert_eq!(exchange(chunked, piece), Ok(("hello".to_owned(), true)));
            let last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            assert_eq!(exchange(last, piece), Ok((String::new(), false)));
            let old = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
            assert_eq!(exchange(old, piece), Ok((String::new(), false)));
            let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
            assert_eq!(exchange(kept, piece), Ok((String::new(), true)));
        }
    }

    #[test]
    fn what_is_no_answer_is_a_failure() {
        for (answer, failure) in [
            ("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", Failure::Status(500)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", Failure::Closed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Failure::Malformed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhe", Failure::Closed),
            ("well, er\r\n\r\n", Failure::Malformed),
            ("HTTP/1.1 200", Failure::Closed),
        ] {
            assert_eq!(exchange(answer, 1000), Err(failure), "{answer}");
        }
    }
}
