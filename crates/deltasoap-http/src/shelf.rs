//! A shelf: memories of differential decoding, and templates, that wait for the next message of
//! their stream.
//!
//! The entries are of many types and few in number, so the shelf is a type-erased list that
//! is searched linearly. The last entry in is the first out, and the oldest one is evicted.

use deltasoap_core::{Memory, Templates};
use std::any::Any;
use std::fmt;

/// The memory of earlier messages: a [`Memory`] of those received, or [`Templates`] of those sent.
pub(crate) trait MessageMemory: Any + Send {
    /// Returns the bytes held, by capacity.
    fn held(&self) -> usize;

    /// Returns the message received last, to be kept across a restart.
    fn saved(&self) -> Option<Vec<u8>> {
        None
    }
}

impl<T> MessageMemory for Memory<T>
where
    Memory<T>: Send + 'static,
{
    fn held(&self) -> usize {
        self.bytes()
    }

    fn saved(&self) -> Option<Vec<u8>> {
        self.save()
    }
}

impl MessageMemory for Templates {
    fn held(&self) -> usize {
        self.memory()
    }
}

/// A waiting memory with its key.
pub(crate) struct Idle<K> {
    pub(crate) key: K,
    /// Bytes accounted for it; see [`charge`].
    pub(crate) bytes: usize,
    memory: Box<dyn MessageMemory>,
}

impl<K: fmt::Debug> fmt::Debug for Idle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idle").field("key", &self.key).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Overhead of a memory in bytes, besides its buffers: boxes and list entries.
const ENTRY: usize = 128;

/// Returns the bytes accounted for a memory: its content, its own size, and some overhead, so that
/// a limit on bytes also limits the number.
pub(crate) fn charge<M: MessageMemory>(memory: &M) -> usize {
    memory.held() + size_of::<M>() + ENTRY
}

impl<K> Idle<K> {
    pub(crate) fn new<M: MessageMemory>(key: K, memory: Box<M>) -> Self {
        Idle { key, bytes: charge(&*memory), memory }
    }

    /// Returns the memory and its key; `None` if it is of another type, which equal keys rule out.
    pub(crate) fn into_parts<M: MessageMemory>(self) -> Option<(K, Box<M>)> {
        let memory: Box<dyn Any> = self.memory;
        Some((self.key, memory.downcast().ok()?))
    }

    /// Returns the memory, left in place; `None` if it is of another type.
    pub(crate) fn memory<M: MessageMemory>(&self) -> Option<&M> {
        let memory: &dyn Any = &*self.memory;
        memory.downcast_ref()
    }

    /// See [`MessageMemory::saved`].
    pub(crate) fn saved(&self) -> Option<Vec<u8>> {
        self.memory.saved()
    }
}

/// Memories in the order of arrival.
#[derive(Debug)]
pub(crate) struct Shelf<K> {
    /// At most `limit` memories.
    idle: Vec<Idle<K>>,
    limit: usize,
}

impl<K> Shelf<K> {
    pub(crate) fn new(limit: usize) -> Self {
        Shelf { idle: Vec::new(), limit }
    }

    /// Takes the last memory whose key matches.
    pub(crate) fn take(&mut self, matches: impl Fn(&K) -> bool) -> Option<Idle<K>> {
        let index = self.idle.iter().rposition(|idle| matches(&idle.key))?;
        Some(self.idle.remove(index))
    }

    /// Finds the last memory whose key matches, and leaves it in place.
    pub(crate) fn find(&self, matches: impl Fn(&K) -> bool) -> Option<&Idle<K>> {
        self.idle.iter().rfind(|idle| matches(&idle.key))
    }

    /// Puts a memory on the shelf. Returns a memory if there is no room: the oldest, or this one if
    /// the limit is 0.
    pub(crate) fn put(&mut self, idle: Idle<K>) -> Option<Idle<K>> {
        if self.limit == 0 {
            return Some(idle);
        }
        let oldest = if self.idle.len() >= self.limit { self.oldest() } else { None };
        self.idle.push(idle);
        oldest
    }

    /// Takes the oldest memory.
    pub(crate) fn oldest(&mut self) -> Option<Idle<K>> {
        (!self.idle.is_empty()).then(|| self.idle.remove(0))
    }

    /// Takes all memories.
    pub(crate) fn clear(&mut self) -> Vec<Idle<K>> {
        std::mem::take(&mut self.idle)
    }

    /// Returns the memories, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Idle<K>> {
        self.idle.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.idle.is_empty()
    }

    /// Returns the bytes accounted for all memories.
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
