//! Detects clients that disconnect while their request is being processed.
//!
//! A client that closes its sending half and waits for its answer, as `nc` does, and a client that
//! closes the connection look the same from here: no more bytes arrive, until something is sent and
//! the system reports that nobody is there (RFC 9112, 9.6, leaves the handling to servers). So a
//! client that has closed at least its half is given some time for its answer, and then counts as
//! gone. A client whose connection broke is gone immediately. Only the service's work counts: once
//! there is a response, writing it shows whether the client is there.
//!
//! The end of a stream is only detected by reading. Protocols read at their own pace, so this
//! module reads only if a request has been processed for a moment without any read, and keeps the
//! bytes for the protocol. A stream wakes only its last reader, so this module wakes the task that
//! waited for the protocol, which may be a different task.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long nothing must have been read before this module reads. Most requests are answered by
/// then, and cost nothing.
const QUIET: Duration = Duration::from_millis(250);

/// Maximum number of bytes read at one time. hyper keeps the buffer for the next message, and
/// differential decoding keeps the buffers of a received message. hyper doubles a buffer that was
/// filled, so one byte is always left.
const WINDOW: u64 = (32 << 10) - 1;

/// Maximum number of bytes read ahead.
const AHEAD: usize = 512;

/// A stream that is watched while its requests are being processed.
#[derive(Debug)]
pub(super) struct Watched<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    stream: T,
    /// Bytes that were read ahead of the protocol.
    ahead: Vec<u8>,
    /// True once the end was seen.
    is_over: bool,
    /// Number of reads by the protocol that returned something.
    reads: u64,
    /// The waker of the task that waits for data.
    reader: Option<Waker>,
    /// The number of the last request.
    request: u64,
    /// Number of requests that are being processed: more than one in HTTP/2.
    at_work: usize,
}

/// The processing of a request, until it is dropped.
#[derive(Debug)]
pub(super) struct Work<T>(Watched<T>);

impl<T> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Watched(Arc::clone(&self.0))
    }
}

impl<T> Watched<T> {
    pub(super) fn new(stream: T) -> Self {
        let state = State { stream, ahead: Vec::new(), is_over: false, reads: 0, reader: None, request: 0, at_work: 0 };
        Watched(Arc::new(Mutex::new(state)))
    }

    /// Begins the processing of a request.
    pub(super) fn work(&self) -> Work<T> {
        let mut state = self.state();
        state.request += 1;
        state.at_work += 1;
        drop(state);
        Work(self.clone())
    }

    /// Locks the state. The lock is never held across a wait.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        self.0.state().at_work -= 1;
    }
}

impl<T: AsyncRead + Unpin> Watched<T> {
    /// Completes when the client is gone: when the connection is broken, or the other end has
    /// closed its half, or all of it, for `patience`, while one request is being processed. Must be
    /// polled after the protocol, in the same task.
    pub(super) async fn disconnected(self, patience: Duration) {
        let mut watcher = Watcher { patience, request: 0, reads: 0, phase: Phase::Resting(Box::pin(sleep(QUIET))) };
        std::future::poll_fn(|task| watcher.poll(&self, task)).await;
    }
}

struct Watcher {
    patience: Duration,
    /// The request and the number of reads that the phase belongs to.
    request: u64,
    reads: u64,
    phase: Phase,
}

enum Phase {
    /// Waits for a moment.
    Resting(Pin<Box<Sleep>>),
    /// Reads to detect the end.
    Watching,
    /// The end was detected.
    Leaving(Pin<Box<Sleep>>),
}

impl Watcher {
    fn poll<T: AsyncRead + Unpin>(&mut self, stream: &Watched<T>, task: &mut Context<'_>) -> Poll<()> {
        let mut state = stream.state();
        let is_another = std::mem::replace(&mut self.request, state.request) != state.request;
        // A running timer is kept, since it ends soon; otherwise each request would need a timer.
        if (is_another || state.at_work == 0) && !matches!(self.phase, Phase::Resting(_)) {
            self.rest();
            state.wake_reader();
        }
        if state.at_work == 0 {
            return Poll::Pending;
        }
        loop {
            match &mut self.phase {
                Phase::Resting(moment) => {
                    ready!(moment.as_mut().poll(task));
                    let is_quiet = std::mem::replace(&mut self.reads, state.reads) == state.reads;
                    if is_quiet && state.ahead.is_empty() {
                        self.phase = Phase::Watching;
                    } else {
                        self.rest();
                    }
                }
                Phase::Watching if state.is_over => self.phase = Phase::Leaving(Box::pin(sleep(self.patience))),
                Phase::Watching => {
                    let looked = ready!(state.look(task));
                    state.wake_reader();
                    match looked {
                        Ok(()) if state.is_over => {}
                        Ok(()) => self.rest(),
                        Err(_) => return Poll::Ready(()),
                    }
                }
                Phase::Leaving(time) => return time.as_mut().poll(task),
            }
        }
    }

    fn rest(&mut self) {
        self.phase = Phase::Resting(Box::pin(sleep(QUIET)));
    }
}

impl<T: AsyncRead + Unpin> State<T> {
    /// Reads ahead: data, the end, or an error.
    fn look(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; AHEAD];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = ready!(Pin::new(&mut self.stream).poll_read(task, &mut buffer));
        self.ahead.extend_from_slice(buffer.filled());
        self.is_over = buffer.filled().is_empty();
        Poll::Ready(read)
    }

    fn wake_reader(&mut self) {
        self.reader.take().into_iter().for_each(Waker::wake);
    }

    fn read(&mut self, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if !self.ahead.is_empty() {
            let count = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead[..count]);
            self.ahead.drain(..count);
        } else if !self.is_over {
            let mut stream = (&mut self.stream).take(WINDOW);
            let poll = Pin::new(&mut stream).poll_read(task, buffer);
            if poll.is_pending() && !self.reader.as_ref().is_some_and(|it| it.will_wake(task.waker())) {
                self.reader = Some(task.waker().clone());
            }
            ready!(poll)?;
        }
        self.reads += u64::from(buffer.filled().len() > before);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.state().read(task, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.state().stream).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.state().stream).poll_write_vectored(task, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.state().stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.state().stream).poll_flush(task)
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.state().stream).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn watched() -> (DuplexStream, Watched<DuplexStream>) {
        let (client, server) = duplex(1 << 16);
        (client, Watched::new(server))
    }

    /// Returns true if the client counts as gone within a time.
    async fn has_left(stream: &Watched<DuplexStream>, within: Duration) -> bool {
        timeout(within, stream.clone().disconnected(PATIENCE)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_is_gone_when_its_time_is_over() {
        let (mut client, stream) = watched();
        client.shutdown().await.expect("closed");
        assert!(!has_left(&stream, 10 * PATIENCE).await, "nothing is worked on");
        let work = stream.work();
        assert!(!has_left(&stream, PATIENCE).await, "it has its time");
        assert!(has_left(&stream, PATIENCE + 4 * QUIET).await);
        drop(work);
        assert!(!has_left(&stream, 10 * PATIENCE).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stays_is_not_gone() {
        let (_client, stream) = watched();
        let _work = stream.work();
        assert!(!has_left(&stream, 100 * PATIENCE).await);
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_has_its_time() {
        let (mut client, stream) = watched();
        client.shutdown().await.expect("closed");
        let left = tokio::spawn(stream.clone().disconnected(PATIENCE));
        for _ in 0..5 {
            let work = stream.work();
            sleep(PATIENCE - 4 * QUIET).await;
            drop(work);
        }
        assert!(!left.is_finished());
    }

    /// The stream wakes its last reader, which is not the protocol.
    #[tokio::test(start_paused = true)]
    async fn a_reader_elsewhere_is_woken() {
        for ends_before in [false, true] {
            let (mut client, mut stream) = watched();
            let work = stream.work();
            let left = tokio::spawn(stream.clone().disconnected(PATIENCE));
            let again = stream.clone();
            let reader = tokio::spawn(async move { stream.read_u8().await });
            sleep(4 * QUIET).await;
            if ends_before {
                drop(work);
                let next = again.work();
                // The protocol, when a request ends, also polls the future that watches it.
                left.abort();
                let mut watcher = Watcher { patience: PATIENCE, request: 1, reads: 0, phase: Phase::Watching };
                std::future::poll_fn(|task| {
                    let _ = Pin::new(&mut again.state().stream).poll_read(task, &mut ReadBuf::new(&mut [0; 1]));
                    assert!(watcher.poll(&again, task).is_pending());
                    Poll::Ready(())
                })
                .await;
                drop(next);
            }
            client.write_all(b"x").await.expect("sent");
            let read = timeout(PATIENCE, reader).await.expect("in time").expect("no panic");
            assert_eq!(read.expect("a byte"), b'x');
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_read_ahead_is_not_lost() {
        let (mut client, mut stream) = watched();
        let _work = stream.work();
        let text: Vec<u8> = (0..2000_u32).map(|n| n as u8).collect();
        client.write_all(&text).await.expect("sent");
        client.shutdown().await.expect("closed");
        assert!(!has_left(&stream, 10 * PATIENCE).await, "the end comes after what is not read");
        assert_eq!(stream.state().ahead.len(), AHEAD);
        let mut read = vec![0; 100];
        stream.read_exact(&mut read).await.expect("bytes");
        stream.read_to_end(&mut read).await.expect("an end");
        assert_eq!(read, text);
    }
}
