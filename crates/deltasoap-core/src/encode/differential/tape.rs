//! Chunks of a template, and the tape: the positions of the content in a chunk.
//!
//! A message is a list of chunks. Chunks of general content carry a *tape*: an entry for every
//! start tag, leaf and end tag, in document order, with its position in the chunk. Nothing else is
//! stored for an element: a start tag ends where the next entry begins, a text ends at its end tag.
//! The bits of leaves with an image are stored beside the tape. Flat arrays have [chunks of their
//! own](super::run).
//!
//! A chunk is shared with transports that send it and with other templates that hold the same
//! content. Code that changes a chunk must [make it exclusive](unshare) first.

use super::EncodeStats;
use super::outgoing::Frames;
use super::run::RunChunk;
use crate::QName;
use std::collections::HashMap;
use std::sync::Arc;

/// A piece of a message with the table of its content.
#[derive(Debug, Clone)]
pub(crate) enum Chunk {
    /// General content.
    Tape(TapeChunk),
    /// Items of a flat array.
    Run(RunChunk),
}

/// General content and its tape.
#[derive(Debug, Clone, Default)]
pub(crate) struct TapeChunk {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    /// Values of the entries besides their position, in order; see [`Entry::values`].
    pub(super) values: Vec<u64>,
}

/// A start tag, a text, an end tag, or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Start position in the chunk.
    pub(super) pos: u32,
    pub(super) kind: Kind,
    flags: u8,
    /// The name's number; for a leaf, the code of its values' image.
    pub(super) name: u16,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A start tag, or the whole tag of an empty element up to its `/>`.
    Start,
    /// Text, which may be empty.
    Leaf,
    /// An end tag, or the `/>` of an empty element.
    End,
    /// The run chunks that follow. Always the last entry of its chunk.
    Run,
}

/// A start tag without attributes and declarations.
pub(super) const PLAIN: u8 = 1;
/// An element with a single tag.
pub(super) const EMPTY: u8 = 2;
/// An element whose content is a tracked value: its stamp is among the values.
pub(super) const TRACKED: u8 = 4;
/// A leaf whose bits are among the values.
pub(super) const BITS: u8 = 8;

impl Entry {
    pub(super) fn new(kind: Kind, pos: usize, name: u16, flags: u8) -> Self {
        Entry { pos: pos as u32, kind, flags, name }
    }

    #[inline]
    pub(super) fn pos(self) -> usize {
        self.pos as usize
    }

    /// Returns the entry after its content moved from one position to another.
    #[inline]
    pub(super) fn moved(self, from: usize, to: usize) -> Self {
        Entry { pos: (self.pos() - from + to) as u32, ..self }
    }

    #[inline]
    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns true if the entries differ at most in their positions.
    #[inline]
    pub(super) fn is_alike(self, other: Entry) -> bool {
        (self.kind, self.flags, self.name) == (other.kind, other.flags, other.name)
    }

    pub(super) fn set(&mut self, flag: u8) {
        self.flags |= flag;
    }

    pub(super) fn flags(self) -> u8 {
        self.flags
    }

    /// Returns the number of values of the entry: a leaf's bits; the identity and epoch of a
    /// tracked value or list, zeros if not tracked.
    #[inline]
    pub(super) fn values(self) -> usize {
        match self.kind {
            Kind::Run => 2,
            _ if self.has(TRACKED) => 2,
            _ => usize::from(self.has(BITS)),
        }
    }
}

/// A place in a chunk with a tape: a byte position, and the numbers of entries and values before
/// it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) byte: usize,
    pub(super) entry: usize,
    pub(super) value: usize,
}

impl Chunk {
    /// Returns the message's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Chunk::Tape(tape) => &tape.bytes,
            Chunk::Run(run) => run.bytes.as_slice(),
        }
    }

    pub(crate) fn run(&self) -> Option<&RunChunk> {
        if let Chunk::Run(run) = self { Some(run) } else { None }
    }

    pub(crate) fn run_mut(&mut self) -> Option<&mut RunChunk> {
        if let Chunk::Run(run) = self { Some(run) } else { None }
    }

    /// Returns the number of items of a run in the chunk.
    pub(crate) fn items(&self) -> usize {
        self.run().map_or(0, RunChunk::items)
    }

    /// Returns the memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Chunk::Tape(tape) => tape.memory(),
            Chunk::Run(run) => run.memory(),
        }
    }
}

impl TapeChunk {
    fn memory(&self) -> usize {
        let tables = self.entries.capacity() * size_of::<Entry>() + self.values.capacity() * 8;
        size_of::<Self>() + self.bytes.capacity() + tables
    }

    /// Returns the place before an entry; the end for the entry after the last.
    pub(super) fn mark(&self, entry: usize, value: usize) -> Mark {
        Mark { byte: self.start_of(entry), entry, value }
    }

    /// Returns the position of an entry; the chunk's end for the entry after the last.
    #[inline]
    fn start_of(&self, entry: usize) -> usize {
        self.entries.get(entry).map_or(self.bytes.len(), |entry| entry.pos())
    }

    /// Returns the bytes of an entry: a text, or a tag with its `>` or `/>`, which may belong to
    /// the next entry.
    #[inline]
    pub(super) fn bytes_of(&self, entry: usize) -> &[u8] {
        &self.bytes[self.entries[entry].pos()..self.start_of(entry + 1)]
    }

    /// Splits a chunk that grew too long, before start tags.
    pub(super) fn split(self, chunk: usize) -> Vec<TapeChunk> {
        let mut parts = Vec::new();
        let mut from = Mark::default();
        let mut at = Mark::default();
        for (index, entry) in self.entries.iter().enumerate() {
            at = Mark { byte: entry.pos(), entry: index, ..at };
            if entry.kind == Kind::Start && at.byte >= from.byte + chunk {
                parts.push(self.part(from, at));
                from = at;
            }
            at.value += entry.values();
        }
        if from == Mark::default() {
            return vec![self];
        }
        let end = Mark { byte: self.bytes.len(), entry: self.entries.len(), value: self.values.len() };
        parts.push(self.part(from, end));
        parts
    }

    fn part(&self, from: Mark, to: Mark) -> TapeChunk {
        let moved = |entry: &Entry| entry.moved(from.byte, 0);
        TapeChunk {
            bytes: self.bytes[from.byte..to.byte].to_vec(),
            entries: self.entries[from.entry..to.entry].iter().map(moved).collect(),
            values: self.values[from.value..to.value].to_vec(),
        }
    }
}

/// Returns true for a chunk whose positions do not fit their tables; only a text of that length can
/// cause this.
pub(super) fn is_too_long(len: usize) -> bool {
    u32::try_from(len).is_err()
}

/// Returns a chunk for changing: copied first if it is held elsewhere, in flight or in another
/// template. The template's own hold on its frames does not count; it is released. A pool's weak
/// references do not count either.
pub(crate) fn unshare<'c>(
    chunk: &'c mut Arc<Chunk>,
    frames: &mut Option<Frames>,
    stats: &mut EncodeStats,
) -> &'c mut Chunk {
    *frames = None;
    if Arc::strong_count(chunk) > 1 {
        stats.copies += 1;
    }
    Arc::make_mut(chunk)
}

/// The names in a template, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    names: Vec<QName>,
    numbers: HashMap<QName, u16>,
    /// Numbers by a hash of the address of a name's text, for names from static schemas. Hits are
    /// verified by comparison.
    recent: Vec<u16>,
    /// Bytes of memory of the names.
    memory: usize,
}

/// Maximum number of names in a template.
const MAX_NAMES: u16 = 8192;
/// Number of slots in `recent`.
const RECENT: usize = 64;

impl Names {
    /// Returns true if the number belongs to the name.
    #[inline]
    pub(super) fn is(&self, number: u16, name: &QName) -> bool {
        self.names.get(usize::from(number)).is_some_and(|known| is_same(known, name))
    }

    pub(super) fn get(&self, number: u16) -> Option<&QName> {
        self.names.get(usize::from(number))
    }

    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the name's number, assigning a new one if necessary; `None` if there are too many
    /// names.
    pub(super) fn number(&mut self, name: &QName) -> Option<u16> {
        self.recent.resize(RECENT, 0);
        let slot = (name.local.as_ptr().addr() / 8) % RECENT;
        let recent = self.recent[slot];
        if self.is(recent, name) {
            return Some(recent);
        }
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => self.add(name)?,
        };
        self.recent[slot] = number;
        Some(number)
    }

    fn add(&mut self, name: &QName) -> Option<u16> {
        let number = u16::try_from(self.names.len()).ok().filter(|&number| number < MAX_NAMES)?;
        self.memory += 2 * (size_of::<QName>() + name.namespace.len() + name.local.len());
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        Some(number)
    }
}

/// Compares names. Names with the same static text are equal without comparing the characters.
#[inline]
fn is_same(one: &QName, other: &QName) -> bool {
    let is_same = |one: &str, other: &str| std::ptr::eq(one, other) || one == other;
    is_same(&one.local, &other.local) && is_same(&one.namespace, &other.namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_once_and_their_memory_is_counted() {
        let mut names = Names::default();
        let name = |n: usize| QName::owned("urn:n", format!("name{n}"));
        assert_eq!(names.memory(), 0);
        let numbers: Vec<_> = (0..usize::from(MAX_NAMES)).map(|n| names.number(&name(n))).collect();
        let memory = names.memory();
        assert!(memory > usize::from(MAX_NAMES) * "urn:nname".len() * 2);
        assert!(
            (0..usize::from(MAX_NAMES)).all(|n| names.number(&name(n)) == numbers[n] && names.is(n as u16, &name(n)))
        );
        assert_eq!(names.number(&name(usize::from(MAX_NAMES))), None, "too many");
        assert_eq!(names.memory(), memory);
    }
}
