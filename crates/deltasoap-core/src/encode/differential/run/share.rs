//! Runs that are new in a template and stand in another: chunks that are the same are taken over,
//! the rest is written.

use super::build::build;
use super::update::Items;
use super::{Form, RunChunk};
use crate::encode::differential::pool::Piece;
use crate::encode::differential::tape::Chunk;
use crate::encode::differential::{EncodeStats, RunPool, Templating};
use crate::encode::flat::Item;
use std::sync::Arc;

/// Most runs that begin like a new one which are compared with it.
const COMPARED: usize = 4;
/// So many chunks in a row that are not the same end the search.
const MISSED: usize = 2;

/// What writing a run needs, and what it tells.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    pub(crate) options: &'a Templating,
    pub(crate) stats: &'a mut EncodeStats,
    /// Set if a text could not be written as it is.
    pub(crate) replaced: &'a mut bool,
}

impl Writing<'_> {
    /// Writes items that stand in no template.
    pub(crate) fn write<T: Item>(&mut self, items: Items<'_, T>, form: &Arc<Form>) -> Vec<Arc<Chunk>> {
        let chunks = build(items.items, form, self.options, self.replaced, items.view);
        self.stats.written += chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum::<u64>();
        chunks.into_iter().map(|chunk| Arc::new(Chunk::Run(chunk))).collect()
    }

    /// Writes items, but for those that a template of the pool holds, which begins with as many of
    /// the same as stand in a chunk.
    pub(crate) fn write_beside<T: Item>(
        &mut self,
        pool: &RunPool,
        items: Items<'_, T>,
        form: &Arc<Form>,
    ) -> Vec<Arc<Chunk>> {
        let known = pool.known(self.options);
        let mut alike = known.iter().filter(|pieces| begins_with(pieces, &items.first(1), form)).take(COMPARED);
        match alike.find(|pieces| pieces.first().is_some_and(|piece| is_same(piece, items, form).is_some())) {
            Some(pieces) => self.take_over(pieces, items, form),
            None => self.write(items, form),
        }
    }

    /// Takes over what is the same, as long as there is some.
    fn take_over<T: Item>(&mut self, pieces: &[Piece], items: Items<'_, T>, form: &Arc<Form>) -> Vec<Arc<Chunk>> {
        let (mut chunks, mut done, mut missed) = (Vec::with_capacity(pieces.len()), 0, 0);
        for piece in pieces {
            let left = items.behind(done);
            if left.items.is_empty() || missed == MISSED {
                break;
            }
            let ours = left.first(piece.items);
            if let Some(chunk) = is_same(piece, ours, form) {
                chunks.push(chunk);
                self.stats.shared += 1;
                missed = 0;
            } else {
                chunks.extend(self.write(ours, form));
                missed += 1;
            }
            done += ours.items.len();
        }
        chunks.extend(self.write(items.behind(done), form));
        chunks
    }
}

/// Returns true if a known run's first item is the same as this one.
fn begins_with<T: Item>(pieces: &[Piece], item: &Items<'_, T>, form: &Form) -> bool {
    let chunk = pieces.first().and_then(Piece::chunk);
    let run = chunk.as_ref().and_then(|chunk| chunk.run());
    run.is_some_and(|run| run.form.is_alike(form) && run.has(*item) == 1)
}

/// Returns the piece's chunk, if it holds the first of these items and no others.
fn is_same<T: Item>(piece: &Piece, items: Items<'_, T>, form: &Form) -> Option<Arc<Chunk>> {
    let chunk = piece.chunk().filter(|_| (1..=items.items.len()).contains(&piece.items))?;
    let run = chunk.run().filter(|run| run.form.is_alike(form))?;
    (run.has(items.first(piece.items)) == piece.items).then_some(chunk)
}

impl RunChunk {
    /// Returns the number of of these items it begins with.
    fn has<T: Item>(&self, items: Items<'_, T>) -> usize {
        self.same_items(items.items, 0, items.view)
    }
}

impl<T> Items<'_, T> {
    /// At most so many from the first on.
    fn first(self, count: usize) -> Self {
        Items { items: &self.items[..self.items.len().min(count)], ..self }
    }

    /// Those after so many.
    fn behind(self, count: usize) -> Self {
        Items { items: &self.items[self.items.len().min(count)..], ..self }
    }
}
