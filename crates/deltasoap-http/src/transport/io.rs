//! Adapts streams for hyper's client.

use super::Stream;
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

/// A stream, and whether it leads to a proxy that requires the full URL in requests.
#[derive(Debug)]
pub(crate) struct Io<T> {
    stream: TokioIo<T>,
    is_proxied: bool,
    /// Inspects the first bytes that arrive, without consuming them.
    look: Option<Look<T>>,
}

type Look<T> = fn(&T, &mut Context<'_>) -> Poll<io::Result<()>>;

impl<T> Io<T> {
    pub(crate) fn new(stream: T) -> Self {
        TokioIo::new(stream).into()
    }

    pub(crate) fn proxied(self) -> Self {
        Io { is_proxied: true, ..self }
    }
}

impl Io<TcpStream> {
    /// The stream to the host of a URL. For an `http` URL, an answer in TLS is reported as such.
    pub(crate) fn expecting(self, url: &Uri) -> Self {
        let is_plain = url.scheme() == Some(&Scheme::HTTP);
        Io { look: is_plain.then_some(refuse_tls as Look<TcpStream>), ..self }
    }
}

/// Waits for the first bytes. A TLS server treats a request in HTTP as a malformed record, and answers with an alert (RFC 8446, 5.1 and 6).
fn refuse_tls(stream: &TcpStream, context: &mut Context<'_>) -> Poll<io::Result<()>> {
    const ALERT: u8 = 21;
    const VERSION: u8 = 3;
    let mut first = [0; 2];
    let mut first = ReadBuf::new(&mut first);
    // What else is wrong with the stream is seen when it is read.
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

impl<T> From<TokioIo<T>> for Io<T> {
    fn from(stream: TokioIo<T>) -> Self {
        Io { stream, is_proxied: false, look: None }
    }
}

impl<T> Connection for Io<T> {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxied)
    }
}

impl<T: Stream> hyper::rt::Read for Io<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(look) = self.look {
            ready!(look(self.stream.inner(), context))?;
            self.look = None;
        }
        Pin::new(&mut self.stream).poll_read(context, cursor)
    }
}

impl<T: Stream> hyper::rt::Write for Io<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
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
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}
