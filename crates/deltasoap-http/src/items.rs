//! Items of a list that are used while their message arrives: of a request by its handler, of a
//! response by its caller.
//!
//! The message's type stays what it is: the list is any vector in it, or any list of a message that
//! is described at run time. Between two windows of the message the finished items are taken out of
//! it, so that the memory needed is that of one window's items, whatever the length of the list.
//! Nothing is read ahead: more of the message is read when the items at hand are used up, and the
//! sender waits meanwhile (*Toward Characterizing the Performance of SOAP Toolkits*, sections 2.2
//! and 2.3).
//!
//! What differs between typed and dynamic messages is how they are read and where their list is
//! ([`Listed`]); all else is the same.

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

/// The items of one list of a message that is still arriving, in their order.
///
/// In [the message](Self::with_message) the list holds no items but the last one that was read,
/// which may not be finished. Each call that gives items reads as much of the message as it takes
/// to have some. If items are not asked for, the sender has to wait.
///
/// Only after [`None`](Self::next), or by [`finish`](Self::finish), it is known that the message is
/// valid: an error can come after any item. All items come before it but the last one in the list,
/// whether that was finished or not. So the items before an error in a message are the same however
/// its bytes came.
pub struct Items<M, T, E> {
    flow: Arc<Flow<M, T>>,
    arriving: Box<dyn Arriving<E>>,
    /// Items that were taken and not yet given.
    taken: vec::IntoIter<T>,
    has_ended: bool,
}

/// Reads more of a message.
pub(crate) trait Arriving<E>: Send {
    /// Reads on until there are items, or the message has ended; false if it has.
    fn more(&mut self) -> BoxFuture<'_, Result<bool, E>>;
}

/// Bytes of a message that are read at most before its items are taken: an item may be ten times as
/// large in memory as in XML.
pub(crate) const WINDOW: usize = 32 << 10;

/// A message that has arrived whole.
pub(crate) struct Arrived;

impl<E> Arriving<E> for Arrived {
    fn more(&mut self) -> BoxFuture<'_, Result<bool, E>> {
        Box::pin(async { Ok(false) })
    }
}

impl<M, T, E> Items<M, T, E> {
    pub(crate) fn new(flow: Arc<Flow<M, T>>, arriving: Box<dyn Arriving<E>>) -> Self {
        Items { flow, arriving, taken: Vec::new().into_iter(), has_ended: false }
    }

    /// The next item; `None` after the last one, when the whole message has been read and is valid.
    ///
    /// # Errors
    /// When the message is invalid, or does not arrive. After an error there are no more items.
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

    /// The next items, as many as are at hand: at least one. `None` after the last ones. For lists
    /// of numbers this is the faster way, and the items are in one piece of memory.
    ///
    /// # Errors
    /// As [`next`](Self::next).
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

    /// Looks at what was read of the message besides the items: what comes before the list is there
    /// from the first item on.
    pub fn with_message<R>(&mut self, look: impl FnOnce(&M) -> R) -> R {
        look(&self.flow.passing().message)
    }

    /// Reads the rest of the message, drops its items, and gives the message without them.
    ///
    /// # Errors
    /// As [`next`](Self::next); an error that was given before is not given again, the message is
    /// as far as it was read then.
    pub async fn finish(mut self) -> Result<M, E> {
        while let Some(batch) = self.next_batch().await {
            drop(batch?);
        }
        Ok(self.flow.take_message())
    }

    /// The items as a [`Stream`].
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
    /// A message of which nothing was read.
    fn vacant(&self) -> M;

    /// Reads the body's element; see [`Content::decode`](deltasoap_core::Content::decode).
    fn decode(&self, message: &mut M, cursor: &mut Cursor<'_>) -> Step;

    /// Takes the items out of the list that are finished.
    fn take_finished(&self, message: &mut M) -> Vec<T>;

    /// Takes all items, after the message was read.
    fn take_all(&self, message: &mut M) -> Vec<T>;
}

/// Typed messages: a function finds the list.
pub(crate) struct ListIn<F>(pub(crate) F);

impl<M, T, F> Listed<M, T> for ListIn<F>
where
    M: Message,
    F: Fn(&mut M) -> &mut Vec<T> + Send + Sync,
{
    fn vacant(&self) -> M {
        const { assert!(!M::HAS_PARTS, "a message whose body has several elements is read whole") };
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

/// A message that is being read, and its items on their way to those who take them.
pub(crate) struct Flow<M, T> {
    list: Arc<dyn Listed<M, T>>,
    /// The lock is never waited for: the message is read when its items are asked for.
    passing: Mutex<Passing<M, T>>,
}

struct Passing<M, T> {
    message: M,
    /// Items that were taken out of the message.
    ready: Vec<T>,
    /// Nobody will ask for items any more: they are dropped.
    is_left: bool,
}

impl<M, T> Flow<M, T> {
    pub(crate) fn new(list: Arc<dyn Listed<M, T>>) -> Self {
        let passing = Passing { message: list.vacant(), ready: Vec::new(), is_left: false };
        Flow { list, passing: Mutex::new(passing) }
    }

    /// Reads the body's element; see [`Content::decode`](deltasoap_core::Content::decode).
    pub(crate) fn decode(&self, cursor: &mut Cursor<'_>) -> Step {
        cursor.let_items_go();
        self.list.decode(&mut self.passing().message, cursor)
    }

    /// Takes the finished items out of the message. True if there are some at hand. Where nobody
    /// wants them they are dropped, and limits go on counting.
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
