//! The interner of namespaces, prefixes, names, spellings of names, and scopes.
//!
//! A key is a byte string and a number that identifies its owner (its namespace, its parent scope).
//! Keys get consecutive ids, their bytes lie in one arena, and the most recent keys can be
//! forgotten again. The hash is seeded at random for each table, so that no document can provoke
//! collisions.

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Add;

/// Arena bytes above which memory is released when keys are forgotten.
const KEPT: usize = 1 << 16;

/// The number of keys and bytes that tables hold.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Held {
    pub(crate) keys: usize,
    /// Bytes of all strings.
    pub(crate) bytes: usize,
}

impl Held {
    /// Returns the growth since `before`.
    pub(crate) fn beyond(self, before: Held) -> Held {
        Held { keys: self.keys.saturating_sub(before.keys), bytes: self.bytes.saturating_sub(before.bytes) }
    }
}

impl Add for Held {
    type Output = Held;

    fn add(self, other: Held) -> Held {
        Held { keys: self.keys + other.keys, bytes: self.bytes + other.bytes }
    }
}

/// A table of keys with ids `0..len`.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    /// The strings of all entries, one after the other.
    text: String,
    /// Ordered by id; `entries[i].end == entries[i + 1].start`.
    entries: Vec<Entry>,
    /// Ids by hash.
    index: HashTable<u32>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Entry {
    owner: u64,
    hash: u64,
    start: usize,
    end: usize,
}

impl Interner {
    /// Returns the id of a key, if it has one.
    #[inline]
    pub(crate) fn find(&self, owner: u64, text: &[u8]) -> Option<u32> {
        self.find_hashed(self.hash(owner, text), owner, text)
    }

    /// Returns the id of a key; assigns a new one if it has none.
    #[inline]
    pub(crate) fn intern(&mut self, owner: u64, text: &str) -> u32 {
        let hash = self.hash(owner, text.as_bytes());
        match self.find_hashed(hash, owner, text.as_bytes()) {
            Some(id) => id,
            None => self.insert(hash, owner, text),
        }
    }

    /// Returns the string of a key.
    #[inline]
    pub(crate) fn text(&self, id: u32) -> &str {
        let entry = &self.entries[id as usize];
        &self.text[entry.start..entry.end]
    }

    /// Returns the owner of a key.
    #[inline]
    pub(crate) fn owner(&self, id: u32) -> u64 {
        self.entries[id as usize].owner
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the total bytes of all strings.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn held(&self) -> Held {
        Held { keys: self.len(), bytes: self.bytes() }
    }

    /// Forgets all keys but the first `len`; linear in the number of keys forgotten.
    pub(crate) fn truncate(&mut self, len: usize) {
        while self.entries.len() > len {
            self.pop();
        }
        if self.text.capacity() > KEPT {
            self.shrink();
        }
    }

    #[inline]
    fn hash(&self, owner: u64, text: &[u8]) -> u64 {
        self.hasher.hash_one((owner, text))
    }

    #[inline]
    fn find_hashed(&self, hash: u64, owner: u64, text: &[u8]) -> Option<u32> {
        let same = |&id: &u32| {
            let entry = &self.entries[id as usize];
            entry.owner == owner && self.text.as_bytes()[entry.start..entry.end] == *text
        };
        self.index.find(hash, same).copied()
    }

    fn insert(&mut self, hash: u64, owner: u64, text: &str) -> u32 {
        let id = self.entries.len() as u32;
        let start = self.text.len();
        self.text.push_str(text);
        self.entries.push(Entry { owner, hash, start, end: self.text.len() });
        let entries = &self.entries;
        self.index.insert_unique(hash, id, |&id| entries[id as usize].hash);
        id
    }

    fn pop(&mut self) {
        let Some(entry) = self.entries.pop() else { return };
        let id = self.entries.len() as u32;
        if let Ok(found) = self.index.find_entry(entry.hash, |&other| other == id) {
            found.remove();
        }
        self.text.truncate(entry.start);
    }

    fn shrink(&mut self) {
        self.text.shrink_to(KEPT);
        self.entries.shrink_to(KEPT / 64);
        let entries = &self.entries;
        self.index.shrink_to(KEPT / 64, |&id| entries[id as usize].hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_consecutive_ids_and_are_found_again() {
        let mut table = Interner::default();
        let ids: Vec<u32> = ["", "a", "ab", "a"].iter().map(|text| table.intern(0, text)).collect();
        assert_eq!(ids, [0, 1, 2, 1]);
        assert_eq!(table.intern(1, "a"), 3);
        assert_eq!((table.text(2), table.owner(3), table.find(0, b"b")), ("ab", 1, None));
    }

    #[test]
    fn forgotten_keys_are_gone_and_the_others_stay() {
        let mut table = Interner::default();
        for n in 0..10_000 {
            table.intern(0, &format!("a long enough name to fill the arena {n}"));
        }
        table.truncate(2);
        assert_eq!(table.find(0, b"a long enough name to fill the arena 1"), Some(1));
        assert_eq!(table.find(0, b"a long enough name to fill the arena 2"), None);
        assert_eq!(table.intern(0, "x"), 2);
    }
}
