//! Items of a list that are used while their message arrives: those of a request by its handler,
//! those of a response by its caller.
//!
//! The message's type does not change: the list is any vector in it, or any list of a message whose
//! types are known only at run time. The finished items are taken out of the message between two
//! windows of it, so that the memory needed is that of one window's items, whatever the length of
//! the list. Nothing is read ahead: more of the message is read when the available items are used
//! up, and the sender waits meanwhile (*Toward Characterizing the Performance of SOAP Toolkits*,
//! sections 2.2 and 2.3).
//!
//! Typed and dynamic messages differ only in how they are read and where their list is
//! ([`Listed`]).

#[cfg(feature = "values")]
mod described;

#[cfg(feature = "values")]
pub use described::DescribedList;

use deltasoap_core::Message;
use deltasoap_core::decode::{Cursor, Step, take_finished};
use futures_util::future::BoxFuture;
use futures_util::stream::{Stream, try_unfold};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

/// The items of one list of a message that is still arriving, in order.
///
/// In [the message](Self::with_message) the list holds at most the last item read, which may be
/// unfinished. Each call that returns items reads as much of the message as needed to have some. If
/// no items are requested, the sender has to wait.
///
/// The message is known to be valid only after [`None`](Self::next), or after
/// [`finish`](Self::finish): an error can follow any item. All items come before it except the last
/// one in the list, whether that was finished or not. So the items before an error in a message do
/// not depend on how its bytes were split.
pub struct Items<M, T, E> {
    flow: Arc<Flow<M, T>>,
    arriving: Box<dyn ItemSource<E>>,
    /// Items that were taken and not yet returned.
    taken: vec::IntoIter<T>,
    has_ended: bool,
}

/// Reads more of a message.
pub(crate) trait ItemSource<E>: Send {
    /// Reads until there are items, or the message has ended; returns false at its end.
    fn more(&mut self) -> BoxFuture<'_, Result<bool, E>>;
}

/// Maximum number of message bytes that are read before the items are taken: an item may be ten
/// times as large in memory as in XML.
pub(crate) const WINDOW: usize = 32 << 10;

/// A message that has arrived as a whole.
pub(crate) struct WholeMessage;

impl<E> ItemSource<E> for WholeMessage {
    fn more(&mut self) -> BoxFuture<'_, Result<bool, E>> {
        Box::pin(async { Ok(false) })
    }
}

impl<M, T, E> Items<M, T, E> {
    pub(crate) fn new(flow: Arc<Flow<M, T>>, arriving: Box<dyn ItemSource<E>>) -> Self {
        Items { flow, arriving, taken: Vec::new().into_iter(), has_ended: false }
    }

    /// Returns the next item; `None` after the last one, when the whole message has been read and
    /// is valid.
    ///
    /// # Errors
    /// Returns an error if the message is invalid, or does not arrive. After an error there are no
    /// more items.
    pub async fn next(&mut self) -> Option<Result<T, E>> {
        loop {
            if let Some(item) = self.taken.next() {
                return Some(Ok(item));
            }
            match self.next_batch().await? {
                Ok(batch) => self.taken = batch.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Returns the next available items: at least one, or `None` after the last ones. For lists of
    /// numbers this is faster, and the items are in one piece of memory.
    ///
    /// # Errors
    /// Returns the same errors as [`next`](Self::next).
    pub async fn next_batch(&mut self) -> Option<Result<Vec<T>, E>> {
        let rest = std::mem::take(&mut self.taken);
        if rest.len() > 0 {
            return Some(Ok(rest.collect()));
        }
        loop {
            let batch = self.flow.batch();
            if !batch.is_empty() {
                return Some(Ok(batch));
            }
            if self.has_ended {
                return None;
            }
            match self.arriving.more().await {
                Ok(more) => self.has_ended = !more,
                Err(error) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Calls `look` with what was read of the message besides the items. What comes before the list
    /// is available from the first item on.
    pub fn with_message<R>(&mut self, look: impl FnOnce(&M) -> R) -> R {
        look(&self.flow.passing().message)
    }

    /// Reads the rest of the message, drops its items, and returns the message without them.
    ///
    /// # Errors
    /// Returns the same errors as [`next`](Self::next). An error that was returned before is not
    /// returned again; the message contains what was read before it.
    pub async fn finish(mut self) -> Result<M, E> {
        while let Some(batch) = self.next_batch().await {
            drop(batch?);
        }
        Ok(self.flow.take_message())
    }

    /// Returns the items as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Result<T, E>> {
        try_unfold(self, async |mut items| Ok(items.next().await.transpose()?.map(|item| (item, items))))
    }
}

impl<M, T, E> Drop for Items<M, T, E> {
    fn drop(&mut self) {
        let mut passing = self.flow.passing();
        (passing.ready, passing.is_left) = (Vec::new(), true);
    }
}

impl<M, T, E> fmt::Debug for Items<M, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("has_ended", &self.has_ended).finish_non_exhaustive()
    }
}

/// Messages with a list whose items are taken.
pub(crate) trait Listed<M, T>: Send + Sync {
    /// Returns an empty message.
    fn vacant(&self) -> M;

    /// Reads the body's element; see [`Content::decode`](deltasoap_core::Content::decode).
    fn decode(&self, message: &mut M, cursor: &mut Cursor<'_>) -> Step;

    /// Takes the finished items out of the list.
    fn take_finished(&self, message: &mut M) -> Vec<T>;

    /// Takes all items, after the message was read.
    fn take_all(&self, message: &mut M) -> Vec<T>;
}

/// The list of a typed message, which a function finds.
pub(crate) struct ListIn<F>(pub(crate) F);

impl<M, T, F> Listed<M, T> for ListIn<F>
where
    M: Message,
    F: Fn(&mut M) -> &mut Vec<T> + Send + Sync,
{
    fn vacant(&self) -> M {
        const { assert!(!M::HAS_PARTS, "a message with several body elements cannot be read item by item") };
        M::vacant(M::view())
    }

    fn decode(&self, message: &mut M, cursor: &mut Cursor<'_>) -> Step {
        message.decode(cursor, M::view())
    }

    fn take_finished(&self, message: &mut M) -> Vec<T> {
        take_finished((self.0)(message))
    }

    fn take_all(&self, message: &mut M) -> Vec<T> {
        std::mem::take((self.0)(message))
    }
}

/// A message that is being read, and its items on their way to the consumer.
pub(crate) struct Flow<M, T> {
    list: Arc<dyn Listed<M, T>>,
    /// The lock is never contended: the message is read when its items are requested.
    passing: Mutex<Passing<M, T>>,
}

struct Passing<M, T> {
    message: M,
    /// Items that were taken out of the message.
    ready: Vec<T>,
    /// True if no more items will be requested: they are dropped.
    is_left: bool,
}

impl<M, T> Flow<M, T> {
    pub(crate) fn new(list: Arc<dyn Listed<M, T>>) -> Self {
        let passing = Passing { message: list.vacant(), ready: Vec::new(), is_left: false };
        Flow { list, passing: Mutex::new(passing) }
    }

    /// Reads the body's element; see [`Content::decode`](deltasoap_core::Content::decode).
    pub(crate) fn decode(&self, cursor: &mut Cursor<'_>) -> Step {
        cursor.stream_items();
        self.list.decode(&mut self.passing().message, cursor)
    }

    /// Takes the finished items out of the message. Returns true if some are available. If nobody
    /// requests them they are dropped, and limits continue to count.
    pub(crate) fn take_finished(&self) -> bool {
        self.take(|list, message| list.take_finished(message))
    }

    /// Takes the last items, after the message was read.
    pub(crate) fn take_rest(&self) {
        self.take(|list, message| list.take_all(message));
    }

    fn take(&self, take: impl FnOnce(&dyn Listed<M, T>, &mut M) -> Vec<T>) -> bool {
        let Passing { message, ready, is_left } = &mut *self.passing();
        let mut taken = take(&*self.list, message);
        if *is_left {
            return false;
        }
        if ready.is_empty() {
            *ready = taken;
        } else {
            ready.append(&mut taken);
        }
        !ready.is_empty()
    }

    fn batch(&self) -> Vec<T> {
        std::mem::take(&mut self.passing().ready)
    }

    fn take_message(&self) -> M {
        std::mem::replace(&mut self.passing().message, self.list.vacant())
    }

    fn passing(&self) -> MutexGuard<'_, Passing<M, T>> {
        self.passing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
