//! A shelf: memories of differential decoding, and templates, that wait for the next message of their stream.
//!
//! What lies here is of many types and short of number, so it is a list that is searched, with the type erased. The last
//! to come is the first to go out again, and the one that lay longest makes room.

use deltasoap_core::{Memory, Templates};
use std::any::Any;

/// What is remembered of earlier messages: a [`Memory`] of those received, or [`Templates`] of those sent.
pub(crate) trait Kept: Send + 'static {
    /// Bytes that it holds, by capacity.
    fn held(&self) -> usize;
}

impl<T> Kept for Memory<T>
where
    Memory<T>: Send + 'static,
{
    fn held(&self) -> usize {
        self.bytes()
    }
}

impl Kept for Templates {
    fn held(&self) -> usize {
        self.memory()
    }
}

/// A memory that waits, and what it is for.
#[derive(Debug)]
pub(crate) struct Idle<K> {
    pub(crate) key: K,
    /// Bytes that it is counted with; see [`charge`].
    pub(crate) bytes: usize,
    memory: Box<dyn Any + Send>,
}

/// Bytes that a memory costs beside its buffers: boxes, entries of lists.
const ENTRY: usize = 128;

/// Bytes that a memory is counted with: what it holds, its own size, and a little for being kept at all, so that a bound on
/// bytes is a bound on number too.
pub(crate) fn charge<M: Kept>(memory: &M) -> usize {
    memory.held() + size_of::<M>() + ENTRY
}

impl<K> Idle<K> {
    pub(crate) fn new<M: Kept>(key: K, memory: Box<M>) -> Self {
        Idle { key, bytes: charge(&*memory), memory }
    }

    /// The memory and its key; `None` if it is of another type, which keys that are equal rule out.
    pub(crate) fn into_parts<M: Kept>(self) -> Option<(K, Box<M>)> {
        Some((self.key, self.memory.downcast().ok()?))
    }

    /// The memory as it lies there; `None` if it is of another type.
    pub(crate) fn memory<M: Kept>(&self) -> Option<&M> {
        self.memory.downcast_ref()
    }
}

/// Memories in the order in which they came.
#[derive(Debug)]
pub(crate) struct Shelf<K> {
    /// At most `limit`.
    idle: Vec<Idle<K>>,
    limit: usize,
}

impl<K> Shelf<K> {
    pub(crate) fn new(limit: usize) -> Self {
        Shelf { idle: Vec::new(), limit }
    }

    /// The memory that came last of those with such a key.
    pub(crate) fn take(&mut self, is_wanted: impl Fn(&K) -> bool) -> Option<Idle<K>> {
        let index = self.idle.iter().rposition(|idle| is_wanted(&idle.key))?;
        Some(self.idle.remove(index))
    }

    /// The memory that came last of those with such a key, left there.
    pub(crate) fn find(&self, is_wanted: impl Fn(&K) -> bool) -> Option<&Idle<K>> {
        self.idle.iter().rfind(|idle| is_wanted(&idle.key))
    }

    /// Puts a memory down; what there is no room for comes back.
    pub(crate) fn put(&mut self, idle: Idle<K>) -> Option<Idle<K>> {
        if self.limit == 0 {
            return Some(idle);
        }
        let oldest = if self.idle.len() >= self.limit { self.oldest() } else { None };
        self.idle.push(idle);
        oldest
    }

    /// Takes the memory that lay longest.
    pub(crate) fn oldest(&mut self) -> Option<Idle<K>> {
        (!self.idle.is_empty()).then(|| self.idle.remove(0))
    }

    /// Takes all.
    pub(crate) fn clear(&mut self) -> Vec<Idle<K>> {
        std::mem::take(&mut self.idle)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.idle.is_empty()
    }

    /// Bytes that all are counted with.
    pub(crate) fn bytes(&self) -> usize {
        self.idle.iter().map(|idle| idle.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(key: u8, value: i32) -> Idle<u8> {
        Idle::new(key, Box::new(Memory::new(value)))
    }

    fn value(idle: Option<Idle<u8>>) -> Option<i32> {
        Some(idle?.into_parts::<Memory<i32>>()?.1.into_value())
    }

    #[test]
    fn the_last_of_a_key_comes_first_and_the_oldest_makes_room() {
        let mut shelf = Shelf::new(3);
        for (key, number) in [(1, 10), (2, 20), (1, 11)] {
            assert!(shelf.put(idle(key, number)).is_none());
        }
        assert_eq!(value(shelf.put(idle(2, 21))), Some(10));
        let found = shelf.find(|key| *key == 2).and_then(Idle::memory::<Memory<i32>>);
        assert_eq!(found.map(|memory| *memory.value()), Some(21));
        assert!(shelf.find(|key| *key == 3).is_none());
        assert_eq!(value(shelf.take(|key| *key == 2)), Some(21));
        assert_eq!(value(shelf.take(|key| *key == 2)), Some(20));
        assert_eq!(value(shelf.take(|key| *key == 2)), None);
        assert_eq!(shelf.bytes(), idle(0, 0).bytes);
        assert_eq!((shelf.clear().len(), shelf.is_empty()), (1, true));
    }

    #[test]
    fn a_shelf_without_room_keeps_nothing() {
        let mut shelf = Shelf::new(0);
        assert_eq!(value(shelf.put(idle(1, 10))), Some(10));
        assert!(shelf.is_empty() && shelf.oldest().is_none());
    }

    #[test]
    fn another_type_is_not_given_out() {
        assert!(idle(1, 10).into_parts::<Memory<String>>().is_none());
    }
}
