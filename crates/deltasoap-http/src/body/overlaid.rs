//! The chunks of an overlaid message as frames, written when the transport polls them.

use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::{Buffer, Content, Error, ErrorKind, Feed, Overlay};
use futures_util::stream::Stream;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

/// A message whose items come from an iterator. Each chunk is written when it is requested, in the
/// memory of a chunk that the transport has released.
///
/// Before another chunk's memory is allocated while one is being sent, the transport gets an
/// opportunity to send that one, so usually there is only one. A receiver that keeps the chunks
/// (one in the same process can) is not waited for. The transport then determines the maximum
/// number of chunks in use, by not requesting more.
pub(super) struct Overlaid {
    chunks: State,
    returned: Arc<Returned>,
    /// True if the transport had its opportunity since the last chunk.
    has_yielded: bool,
}

enum State {
    /// There may be more items. The mutex is never locked: it allows sharing a body although
    /// iterators may not be shared.
    Open(Mutex<Box<dyn Chunks>>),
    Done,
    /// This is a clone; the original has the items.
    Without,
}

/// Writes chunks.
trait Chunks: Send {
    /// Writes the next chunk over a buffer. Returns false if there are no more.
    fn poll_write(&mut self, context: &mut Context<'_>, chunk: &mut Buffer) -> Poll<Result<bool, Error>>;
}

impl<T: Content + Send, I: Iterator<Item = T> + Send> Chunks for Overlay<I> {
    fn poll_write(&mut self, _: &mut Context<'_>, chunk: &mut Buffer) -> Poll<Result<bool, Error>> {
        Poll::Ready(self.write_chunk(chunk))
    }
}

/// A message whose items come from a stream, in batches. Each batch is written before the next one
/// is taken, so that the stream determines how many items wait.
struct Fed<T, S> {
    overlay: Overlay<Feed<T>>,
    batches: Pin<Box<S>>,
    has_ended: bool,
}

impl<T, S, E> Fed<T, S>
where
    T: Content,
    S: Stream<Item = Result<Vec<T>, E>>,
    E: Into<BoxError>,
{
    /// Takes the next batch once the last one is written. Returns pending if it is not there yet.
    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.has_ended || self.overlay.waiting() > 0 {
            return Poll::Ready(Ok(()));
        }
        match ready!(self.batches.as_mut().poll_next(context)) {
            Some(Ok(items)) => items.into_iter().for_each(|item| self.overlay.feed(item)),
            Some(Err(error)) => return Poll::Ready(Err(super::failed(&error.into().to_string()))),
            None => {
                self.overlay.end();
                self.has_ended = true;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<T, S, E> Chunks for Fed<T, S>
where
    T: Content + Send,
    S: Stream<Item = Result<Vec<T>, E>> + Send,
    E: Into<BoxError>,
{
    fn poll_write(&mut self, context: &mut Context<'_>, chunk: &mut Buffer) -> Poll<Result<bool, Error>> {
        loop {
            let polled = self.poll_batch(context)?;
            // Ready items are sent without waiting for more.
            if self.overlay.write_chunk(chunk)? {
                return Poll::Ready(Ok(true));
            }
            if self.has_ended {
                return Poll::Ready(Ok(false));
            }
            ready!(polled);
        }
    }
}

impl Overlaid {
    pub(super) fn new<T, I>(overlay: Overlay<I>) -> Self
    where
        T: Content + Send + 'static,
        I: Iterator<Item = T> + Send + 'static,
    {
        Self::from_chunks(Box::new(overlay))
    }

    /// Creates a message whose items come from a stream, in batches.
    pub(super) fn fed<T, S, E>(overlay: Overlay<Feed<T>>, batches: S) -> Self
    where
        T: Content + Send + 'static,
        S: Stream<Item = Result<Vec<T>, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        Self::from_chunks(Box::new(Fed { overlay, batches: Box::pin(batches), has_ended: false }))
    }

    fn from_chunks(chunks: Box<dyn Chunks>) -> Self {
        let returned = Arc::new(Returned { buffer: Mutex::new(Some(Buffer::new())) });
        Overlaid { chunks: State::Open(Mutex::new(chunks)), returned, has_yielded: true }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.chunks, State::Done)
    }

    /// Returns the next chunk.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let returned = self.returned.buffer().take();
        if returned.is_none() && !std::mem::replace(&mut self.has_yielded, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.has_yielded = false;
        let mut buffer = returned.unwrap_or_default();
        let written = self.poll_write(context, &mut buffer);
        match written {
            Poll::Ready(Ok(true)) => {
                let chunk = Chunk { buffer, home: Arc::clone(&self.returned) };
                Poll::Ready(Some(Ok(Bytes::from_owner(chunk))))
            }
            Poll::Ready(Ok(false)) => {
                self.chunks = State::Done;
                Poll::Ready(None)
            }
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error))),
            Poll::Pending => {
                *self.returned.buffer() = Some(buffer);
                Poll::Pending
            }
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>, buffer: &mut Buffer) -> Poll<Result<bool, Error>> {
        match &mut self.chunks {
            State::Open(chunks) => chunks.get_mut().unwrap_or_else(PoisonError::into_inner).poll_write(context, buffer),
            State::Done => Poll::Ready(Ok(false)),
            State::Without => Poll::Ready(Err(sent_twice())),
        }
    }
}

#[cold]
fn sent_twice() -> Error {
    Error::at(ErrorKind::Other("a message whose items come from an iterator can be sent only once".to_owned()), 0)
}

/// The items exist only once: a clone fails when it is sent.
impl Clone for Overlaid {
    fn clone(&self) -> Self {
        Overlaid { chunks: State::Without, returned: Arc::default(), has_yielded: true }
    }
}

impl fmt::Debug for Overlaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlaid").finish_non_exhaustive()
    }
}

/// The place to which a chunk's memory is returned.
#[derive(Debug, Default)]
struct Returned {
    buffer: Mutex<Option<Buffer>>,
}

impl Returned {
    fn buffer(&self) -> MutexGuard<'_, Option<Buffer>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A chunk that is being sent.
struct Chunk {
    buffer: Buffer,
    home: Arc<Returned>,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        self.buffer.as_slice()
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        *self.home.buffer() = Some(std::mem::take(&mut self.buffer));
    }
}
