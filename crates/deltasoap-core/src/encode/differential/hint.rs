//! Hints: sent messages that help to decode the answers.
//!
//! *Differential Serialization* closes with the idea that stored messages could suggest the
//! structure of arriving ones (section 6). A service that returns what it received, sorted, partly
//! scaled, or merely acknowledged, answers with texts that were written a moment ago from values
//! that are still known. Such a text need not be parsed: it is compared with the sent one, and the
//! value's bits are taken over. Markup does not matter; the answer may have other prefixes and
//! other elements.
//!
//! This is correct: a number's text parses to the number, so parsing an equal text would give the
//! same bits.
//!
//! Only numbers are looked up. Items are looked for at their place, a few further on or back, and
//! at their place in other lists. Not-a-number is never taken over: its text does not give back its
//! bits. A hint holds the chunks until the answer is read: a request that is written meanwhile
//! copies those that it changes.

use super::run::Texts;
use super::tape::Chunk;
use std::sync::Arc;

/// Maximum number of lists in a hint.
const LISTS: usize = 16;
/// Minimum number of items of a list: shorter ones are read before anything is found.
const ITEMS: usize = 32;

/// The lists of numbers in a sent message. A decoder that is [given
/// it](crate::decode::Decoder::set_hint) takes the values of equal texts from here. Shares the
/// message's memory: while a hint exists, its template copies chunks before changing them.
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
    /// Collects the suitable lists in a message's chunks; `None` if there are none.
    pub(super) fn from_chunks(chunks: &[Arc<Chunk>]) -> Option<Hint> {
        let runs = chunks.split(|chunk| chunk.run().is_none());
        let lists: Arc<[_]> = runs.map(HintedList::new).filter(HintedList::can_serve).take(LISTS).collect();
        (!lists.is_empty()).then_some(Hint { lists })
    }

    /// Returns the lists in order.
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

    /// Returns the texts starting at an item, up to the end of its chunk.
    pub(crate) fn texts(&self, item: usize) -> Option<Texts<'_>> {
        let chunk = self.chunks.partition_point(|&(first, _)| first <= item).checked_sub(1)?;
        let (first, chunk) = &self.chunks[chunk];
        (item < self.items).then(|| chunk.run().map(|run| run.texts(item - first)))?
    }
}
