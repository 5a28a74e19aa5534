//! A fast path for short lists of flat items.
//!
//! The items of such a list are on the tape like any other elements. They all have the same
//! entries, so the entries that the general routines stepped over for one item form a pattern. An
//! item with the same entries, the same tags and leaves with the same values is stepped over as a
//! whole.

use super::tape::{BITS, Entry, Kind, PLAIN, TapeChunk};
use crate::Lexical;
use crate::encode::Encoder;
use crate::encode::flat::{FlatSink, Item, encode_item};
use crate::schema::{Field, View};
use deltasoap_xml::Buffer;

/// The entries that all items of a list have on the tape.
#[derive(Debug)]
struct Pattern {
    entries: Vec<Entry>,
    /// Indices of the leaves.
    leaves: Vec<usize>,
    /// Start tags with attributes: their index, and their bytes up to the next entry.
    tags: Vec<(usize, Vec<u8>)>,
    values: usize,
}

/// A place on the tape.
#[derive(Debug, Clone, Copy)]
struct TapePosition {
    /// Number of old chunks left. Places in different chunks are unrelated.
    chunks: usize,
    entry: usize,
    value: usize,
    /// Number of leaves and elements rewritten. A stepped-over item is a pattern for the next one
    /// only if nothing was rewritten.
    changes: u64,
}

impl Encoder {
    /// Writes flat items against those in the innermost element.
    pub(super) fn follow_each<T: Item>(&mut self, items: &[T], field: &Field, view: View<'_>) {
        let mut pattern = None;
        for item in items {
            if pattern.as_ref().is_some_and(|pattern| self.pass_same(item, pattern, view)) {
                continue;
            }
            let before = self.place();
            encode_item(item, self, field, view);
            pattern = pattern.or_else(|| self.pattern_since(before?));
        }
    }

    fn place(&mut self) -> Option<TapePosition> {
        let against = self.template();
        let current = against.current.as_ref()?;
        let changes = against.stats.leaves + against.stats.elements;
        Some(TapePosition { chunks: against.old.len(), entry: current.entry, value: current.value, changes })
    }

    /// Returns the entries stepped over since a place, if they are one unchanged item.
    fn pattern_since(&mut self, before: TapePosition) -> Option<Pattern> {
        let now = self.place().filter(|now| (now.chunks, now.changes) == (before.chunks, before.changes))?;
        let tape = self.current().tape();
        let entries = tape.entries.get(before.entry..now.entry)?;
        let of_kind = |index: &usize, kind| entries[*index].kind == kind;
        let leaves = (0..entries.len()).filter(|index| of_kind(index, Kind::Leaf)).collect();
        let tags = (0..entries.len())
            .filter(|index| of_kind(index, Kind::Start) && !entries[*index].has(PLAIN))
            .map(|index| (index, tape.bytes_of(before.entry + index).to_vec()));
        let pattern =
            Pattern { entries: entries.to_vec(), leaves, tags: tags.collect(), values: now.value - before.value };
        is_one_element(entries).then_some(pattern)
    }

    /// Steps over an item that matches the pattern and has the same leaves; otherwise returns
    /// false.
    fn pass_same<T: Item>(&mut self, item: &T, pattern: &Pattern, view: View<'_>) -> bool {
        let against = self.template();
        let Some(current) = against.current.as_mut().filter(|_| against.owed == 0) else { return false };
        let (tape, len) = (current.tape(), pattern.entries.len());
        let Some(entries) = tape.entries.get(current.entry..current.entry + len) else { return false };
        let is_of_pattern = entries.iter().zip(&pattern.entries).all(|(entry, expected)| entry.is_alike(*expected))
            && pattern.tags.iter().all(|(index, bytes)| tape.bytes_of(current.entry + index) == bytes);
        if !is_of_pattern {
            return false;
        }
        let leaves = pattern.leaves.iter();
        let first = current.entry;
        let mut same = Same { tape, first, leaves, value: current.value, scratch: &mut against.text, is_same: true };
        item.write_flat(&mut same, view);
        let is_same = same.is_same && same.leaves.next().is_none();
        if is_same {
            current.entry += len;
            current.value += pattern.values;
        }
        is_same
    }
}

/// Returns true for the entries of one element. There may be more if removed siblings were before
/// it.
fn is_one_element(entries: &[Entry]) -> bool {
    let mut depth = 0usize;
    let closed = entries.iter().position(|entry| {
        match entry.kind {
            Kind::Start => depth += 1,
            Kind::End => depth = depth.saturating_sub(1),
            Kind::Leaf | Kind::Run => {}
        }
        depth == 0
    });
    closed.is_some_and(|closed| closed + 1 == entries.len())
}

/// Compares leaves with those on the tape.
struct Same<'a> {
    tape: &'a TapeChunk,
    /// The item's first entry.
    first: usize,
    leaves: std::slice::Iter<'a, usize>,
    value: usize,
    scratch: &'a mut Buffer,
    is_same: bool,
}

impl FlatSink for Same<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        let Some(&leaf) = self.leaves.next() else {
            self.is_same = false;
            return;
        };
        let entry = self.tape.entries[self.first + leaf];
        self.is_same &= entry.name == T::IMAGE.code();
        if entry.has(BITS) {
            self.is_same &= self.tape.values[self.value] == u64::from_le_bytes(value.image());
            self.value += 1;
        } else if self.is_same {
            self.is_same = value.is_text(self.tape.bytes_of(self.first + leaf), self.scratch);
        }
    }
}
