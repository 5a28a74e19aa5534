//! Adapts streams for hyper's client.

use super::{Stream, is_network};
use crate::coding::Link;
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A stream, and whether it leads to a proxy that requires the full URL in requests.
#[derive(Debug)]
pub(crate) struct Io<T> {
    stream: TokioIo<T>,
    is_proxied: bool,
    /// The measured throughput of requests; `None` without a network.
    link: Option<Link>,
    /// Inspects the first bytes that arrive, without consuming them.
    peek: Option<Peek<T>>,
    /// Runs while the server accepts nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

/// A server that accepts no byte of a request for this long has stopped reading. Calls have their own
/// limits; this one ends the connection of a call that is over.
const MAX_STALL: Duration = Duration::from_secs(300);

type Peek<T> = fn(&T, &mut Context<'_>) -> Poll<io::Result<()>>;

impl<T: Stream> Io<T> {
    pub(crate) fn new(stream: T) -> Self {
        TokioIo::new(stream).into()
    }
}

impl<T> Io<T> {
    pub(crate) fn proxied(self) -> Self {
        Io { is_proxied: true, ..self }
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        if let Some(Link(throughput)) = &self.link {
            throughput.note_write(written);
        }
    }

    /// Returns the result of a write, or an error if the server has accepted nothing for too long.
    fn bounded(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(MAX_STALL)));
        stalled
            .as_mut()
            .poll(context)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the server does not read")))
    }
}

impl Io<TcpStream> {
    /// Returns the stream to the host of a URL. For an `http` URL, an answer in TLS is reported as
    /// such.
    pub(crate) fn expecting(self, url: &Uri) -> Self {
        let is_plain = url.scheme() == Some(&Scheme::HTTP);
        Io { peek: is_plain.then_some(refuse_tls as Peek<TcpStream>), ..self }
    }
}

/// Waits for the first bytes. A TLS server treats a request in HTTP as a malformed record, and
/// answers with an alert (RFC 8446, 5.1 and 6).
fn refuse_tls(stream: &TcpStream, context: &mut Context<'_>) -> Poll<io::Result<()>> {
    const ALERT: u8 = 21;
    const VERSION: u8 = 3;
    let mut first = [0; 2];
    let mut first = ReadBuf::new(&mut first);
    // Other errors of the stream are found when it is read.
    if let Ok(2) = ready!(stream.poll_peek(context, &mut first))
        && first.filled() == [ALERT, VERSION]
    {
        return Poll::Ready(Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the server answers in TLS: is the URL https://?",
        )));
    }
    Poll::Ready(Ok(()))
}

impl<T: Stream> From<TokioIo<T>> for Io<T> {
    fn from(stream: TokioIo<T>) -> Self {
        Io { stream, is_proxied: false, link: is_network::<T>().then(Link::default), peek: None, stalled: None }
    }
}

impl<T> Connection for Io<T> {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        match &self.link {
            Some(link) => connected.extra(link.clone()),
            None => connected,
        }
    }
}

impl<T: Stream> hyper::rt::Read for Io<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(peek) = self.peek {
            ready!(peek(self.stream.inner(), context))?;
            self.peek = None;
        }
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, cursor));
        if let Some(Link(throughput)) = &self.link {
            // Most servers read a request before they answer it.
            throughput.note_turn();
        }
        Poll::Ready(read)
    }
}

impl<T: Stream> hyper::rt::Write for Io<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&written);
        self.bounded(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(&written);
        self.bounded(context, written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::rt::Write as _;
    use std::future::poll_fn;
    use tokio::io::AsyncReadExt;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_reads_nothing_is_given_up() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream: Io<_> = TokioIo::new(ours).into();
        let mut write = async || poll_fn(|context| Pin::new(&mut stream).poll_write(context, b"12345678")).await;
        assert_eq!(write().await.expect("room"), 8);
        let reading = async {
            tokio::time::sleep(MAX_STALL - Duration::from_secs(1)).await;
            theirs.read_exact(&mut [0; 8]).await.expect("bytes");
        };
        let (written, ()) = tokio::join!(write(), reading);
        assert_eq!(written.expect("room"), 8);
        assert_eq!(write().await.expect_err("a stall").kind(), io::ErrorKind::TimedOut);
    }
}
