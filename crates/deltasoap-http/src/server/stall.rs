//! The layer between hyper and a socket: writing fails after a long stall, other tasks get their
//! turn while a long response is written, and closing is delayed briefly.
//!
//! Writing a large response to the system takes milliseconds if the other end reads as fast; hyper
//! would continue until the system accepts no more.
//!
//! A client that is refused before it has sent everything is still sending. If the connection is
//! then closed, the system answers with a reset, and the client's system discards what it has not
//! read yet: the refusal (RFC 9112, 9.6). So the server signals that it is done, and reads incoming
//! data for a while.

use super::yielding::wake_after_others;
use crate::coding::Throughput;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep, timeout};

/// How long data is read after the last response, and how much.
const LINGER: Duration = Duration::from_secs(1);
const LINGERING: u64 = 1 << 20;

/// Bytes written to the system before other tasks get their turn.
const TURN: usize = 256 << 10;

/// A stream that must accept bytes within a time limit.
#[derive(Debug)]
pub(crate) struct Stalling<T> {
    /// Present until it is dropped.
    stream: Option<T>,
    timeout: Duration,
    /// Runs while the other end accepts nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the last yield.
    written: usize,
    /// Throughput of the other end, where it is measured.
    throughput: Option<Arc<Throughput>>,
    /// Receives the stream at the end.
    back: Option<oneshot::Sender<T>>,
}

impl<T> Stalling<T> {
    /// Wraps a stream; the receiver gets the stream back when the wrapper is dropped.
    pub(crate) fn new(
        stream: T,
        timeout: Duration,
        throughput: Option<Arc<Throughput>>,
    ) -> (Self, oneshot::Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (
            Stalling { stream: Some(stream), timeout, stalled: None, written: 0, throughput, back: Some(sender) },
            receiver,
        )
    }

    /// Yields to other tasks after [`TURN`] bytes.
    fn poll_turn(&mut self, task: &mut Context<'_>) -> Poll<()> {
        if self.written < TURN {
            return Poll::Ready(());
        }
        self.written = 0;
        wake_after_others(task);
        Poll::Pending
    }

    /// Records the result of a write.
    fn written(&mut self, task: &mut Context<'_>, poll: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Some(throughput) = &self.throughput {
            throughput.note_write(&poll);
        }
        match poll {
            Poll::Ready(Ok(written)) => self.written += written,
            _ => self.written = 0,
        }
        self.bounded(task, poll)
    }

    /// Returns the result of an attempt to write, or an error if no attempt has succeeded for too
    /// long.
    fn bounded<R>(&mut self, task: &mut Context<'_>, poll: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            self.stalled = None;
            return poll;
        }
        let timeout = self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
        stalled.as_mut().poll(task).map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<T: Unpin> Stalling<T> {
    fn stream(&mut self) -> Pin<&mut T> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream),
            None => unreachable!("a stream is there until it is dropped"),
        }
    }
}

impl<T> Drop for Stalling<T> {
    fn drop(&mut self) {
        if let (Some(stream), Some(back)) = (self.stream.take(), self.back.take()) {
            // If nobody receives it, it is closed.
            let _ = back.send(stream);
        }
    }
}

/// Closes a stream whose other end may still be sending.
pub(crate) async fn linger<T: AsyncRead + AsyncWrite + Unpin>(mut stream: T) {
    let reading = async {
        stream.shutdown().await?;
        tokio::io::copy(&mut stream.take(LINGERING), &mut tokio::io::sink()).await
    };
    // The result does not matter: the connection is over.
    let _ = timeout(LINGER, reading).await;
}

impl<T: AsyncRead + Unpin> AsyncRead for Stalling<T> {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_read(task, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stalling<T> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_turn(task));
        let poll = self.stream().poll_write(task, &bytes[..bytes.len().min(TURN)]);
        self.written(task, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // The slices that fit together into the limit; if none fit, a part of the first.
        let fitting = slices.iter().scan(0, |bytes, slice| {
            *bytes += slice.len();
            (*bytes <= TURN).then_some(())
        });
        let count = fitting.count();
        if let (0, Some(first)) = (count, slices.first()) {
            return self.poll_write(task, first);
        }
        ready!(self.poll_turn(task));
        let poll = self.stream().poll_write_vectored(task, &slices[..count]);
        self.written(task, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = self.stream().poll_flush(task);
        self.bounded(task, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = self.stream().poll_shutdown(task);
        self.bounded(task, poll)
    }
}
