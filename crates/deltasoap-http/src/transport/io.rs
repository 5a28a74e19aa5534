//! Streams as hyper's client wants them.

use super::Stream;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A stream, and whether a proxy is at its other end that wants to be told the whole URL.
#[derive(Debug)]
pub(crate) struct Io<T> {
    stream: TokioIo<T>,
    is_proxied: bool,
}

impl<T> Io<T> {
    pub(crate) fn new(stream: T) -> Self {
        Io { stream: TokioIo::new(stream), is_proxied: false }
    }

    pub(crate) fn proxied(self) -> Self {
        Io { is_proxied: true, ..self }
    }
}

impl<T> From<TokioIo<T>> for Io<T> {
    fn from(stream: TokioIo<T>) -> Self {
        Io { stream, is_proxied: false }
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
