//! What was sent, as a hint for what comes back.
//!
//! *Differential Serialization* closes with the thought that stored messages could suggest the
//! structure of those that arrive (section 6). A service that gives back what it was given, sorted,
//! scaled in part, or merely acknowledged, answers with texts that were written a moment ago from
//! values that are still known. Such a text need not be parsed: it is compared with the one that
//! was sent, and the value's bits are taken over. Markup does not matter, the answer may have other
//! prefixes and other elements.
//!
//! Sound, because a number's text reads back to the number: whoever finds that text would parse it
//! to those bits.

use super::run::Texts;
use super::tape::Chunk;
use std::sync::Arc;

/// Lists looked at.
const LISTS: usize = 16;
/// Items that a list has at least: fewer are read before anything is found.
const ITEMS: usize = 32;

/// The lists of numbers in a message that was sent. A decoder that is [given
/// it](crate::decode::Decoder::set_hint) takes the values of equal texts from here. Shares the
/// message's memory: as long as there is a hint, its template copies chunks before it changes them.
#[derive(Debug, Clone)]
pub struct Hint {
    lists: Arc<[HintedList]>,
}

/// A list of flat items in a message.
#[derive(Debug, Default)]
pub(crate) struct HintedList {
    /// Chunks, each with the number of items before it.
    chunks: Vec<(usize, Arc<Chunk>)>,
    items: usize,
}

impl Hint {
    /// Returns the lists in a message's chunks, if there are some that can serve.
    pub(super) fn of(chunks: &[Arc<Chunk>]) -> Option<Hint> {
        let runs = chunks.split(|chunk| chunk.run().is_none());
        let lists: Arc<[_]> = runs.map(HintedList::new).filter(HintedList::can_serve).take(LISTS).collect();
        (!lists.is_empty()).then_some(Hint { lists })
    }

    /// Returns the lists, in their order.
    pub(crate) fn lists(&self) -> &[HintedList] {
        &self.lists
    }
}

impl HintedList {
    fn new(run: &[Arc<Chunk>]) -> Self {
        let mut list = HintedList::default();
        for chunk in run {
            list.chunks.push((list.items, Arc::clone(chunk)));
            list.items += chunk.items();
        }
        list
    }

    fn can_serve(&self) -> bool {
        let first = self.chunks.first().and_then(|(_, chunk)| chunk.run());
        let has_floats = first.is_some_and(|run| run.form.columns.iter().any(|column| column.image.is_float()));
        self.items >= ITEMS && has_floats
    }

    /// Returns the texts from an item on, as far as its chunk goes.
    pub(crate) fn texts(&self, item: usize) -> Option<Texts<'_>> {
        let chunk = self.chunks.partition_point(|&(first, _)| first <= item).checked_sub(1)?;
        let (first, chunk) = &self.chunks[chunk];
        (item < self.items).then(|| chunk.run().map(|run| run.texts(item - first)))?
    }
}
