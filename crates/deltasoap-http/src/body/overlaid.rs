//! The chunks of an overlaid message as frames, written when the transport asks for them.

use bytes::Bytes;
use deltasoap_core::{Buffer, Error, ErrorKind, Overlay, Typed};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// A message whose items come from an iterator. One chunk is written when it is requested, in the memory of one that the
/// transport has released.
///
/// Before another chunk's memory is allocated while one is being sent, the transport gets an opportunity to send that one, so usually there
/// is only one. A receiver that keeps the chunks (one in the same process can) is not waited for. The transport then determines the maximum
/// number of chunks in use, by not requesting more.
pub(super) struct Overlaid {
    chunks: State,
    returned: Arc<Returned>,
    /// True if the transport had its opportunity since the last chunk.
    has_yielded: bool,
}

enum State {
    /// There may be more. The lock is never taken: it allows sharing a body although iterators may not be shared.
    Open(Mutex<Box<dyn Chunks>>),
    Done,
    /// The items are elsewhere: this is a clone.
    Without,
}

/// Writes chunks.
trait Chunks: Send {
    /// Writes the next chunk over a buffer; false if there are no more.
    fn write(&mut self, chunk: &mut Buffer) -> Result<bool, Error>;
}

impl<T: Typed, I: Iterator<Item = T> + Send> Chunks for Overlay<I>
where
    T: Send,
{
    fn write(&mut self, chunk: &mut Buffer) -> Result<bool, Error> {
        self.write_chunk(chunk)
    }
}

impl Overlaid {
    pub(super) fn new<T, I>(overlay: Overlay<I>) -> Self
    where
        T: Typed + Send + 'static,
        I: Iterator<Item = T> + Send + 'static,
    {
        let returned = Arc::new(Returned { buffer: Mutex::new(Some(Buffer::new())) });
        Overlaid { chunks: State::Open(Mutex::new(Box::new(overlay))), returned, has_yielded: true }
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.chunks, State::Done)
    }

    /// The next chunk.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let returned = self.returned.buffer().take();
        if returned.is_none() && !std::mem::replace(&mut self.has_yielded, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.has_yielded = false;
        Poll::Ready(self.write(returned.unwrap_or_default()).transpose())
    }

    fn write(&mut self, mut buffer: Buffer) -> Result<Option<Bytes>, Error> {
        let chunks = match &mut self.chunks {
            State::Open(chunks) => chunks.get_mut().unwrap_or_else(PoisonError::into_inner),
            State::Done => return Ok(None),
            State::Without => return Err(sent_twice()),
        };
        if chunks.write(&mut buffer)? {
            return Ok(Some(Bytes::from_owner(Chunk { buffer, home: Arc::clone(&self.returned) })));
        }
        self.chunks = State::Done;
        Ok(None)
    }
}

#[cold]
fn sent_twice() -> Error {
    Error::at(ErrorKind::Other("a message whose items come from an iterator can be sent once only".to_owned()), 0)
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

/// Where a chunk's memory is returned to.
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
