//! Runs that are new in a template but held by another: equal chunks are taken over, the rest is
//! written.

use super::build::build;
use super::update::Items;
use super::{Form, RunChunk};
use crate::encode::differential::pool::Piece;
use crate::encode::differential::tape::Chunk;
use crate::encode::differential::{EncodeStats, RunPool, Templating};
use crate::encode::flat::Item;
use std::sync::Arc;

/// Maximum number of known runs with the same first item to compare with a new run.
const COMPARED: usize = 4;
/// Number of consecutive different chunks that ends the search.
const MISSED: usize = 2;

/// The inputs and results of writing a run.
#[derive(Debug)]
pub(crate) struct Writing<'a> {
    pub(crate) options: &'a Templating,
    pub(crate) stats: &'a mut EncodeStats,
    /// Set if a text could not be written exactly.
    pub(crate) replaced: &'a mut bool,
}

impl Writing<'_> {
    /// Writes items that no template holds.
    pub(crate) fn write<T: Item>(&mut self, items: Items<'_, T>, form: &Arc<Form>) -> Vec<Arc<Chunk>> {
        let chunks = build(items.items, form, self.options, self.replaced, items.view);
        self.stats.written += chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum::<u64>();
        chunks.into_iter().map(|chunk| Arc::new(Chunk::Run(chunk))).collect()
    }

    /// Writes items, except those that another template of the pool holds. That template's run must
    /// have an equal first chunk.
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

    /// Takes over equal chunks until too many differ in a row.
    fn take_over<T: Item>(&mut self, pieces: &[Piece], items: Items<'_, T>, form: &Arc<Form>) -> Vec<Arc<Chunk>> {
        let (mut chunks, mut done, mut missed) = (Vec::with_capacity(pieces.len()), 0, 0);
        for piece in pieces {
            let left = items.after(done);
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
        chunks.extend(self.write(items.after(done), form));
        chunks
    }
}

/// Returns true if a known run begins with this item.
fn begins_with<T: Item>(pieces: &[Piece], item: &Items<'_, T>, form: &Form) -> bool {
    let chunk = pieces.first().and_then(Piece::chunk);
    let run = chunk.as_ref().and_then(|chunk| chunk.run());
    run.is_some_and(|run| run.form.is_alike(form) && run.has(*item) == 1)
}

/// Returns the piece's chunk, if all its items equal the first of `items`.
fn is_same<T: Item>(piece: &Piece, items: Items<'_, T>, form: &Form) -> Option<Arc<Chunk>> {
    let chunk = piece.chunk().filter(|_| (1..=items.items.len()).contains(&piece.items))?;
    let run = chunk.run().filter(|run| run.form.is_alike(form))?;
    (run.has(items.first(piece.items)) == piece.items).then_some(chunk)
}

impl RunChunk {
    /// Returns the number of `items` that the chunk begins with.
    fn has<T: Item>(&self, items: Items<'_, T>) -> usize {
        self.same_items(items.items, 0, items.view)
    }
}

impl<T> Items<'_, T> {
    /// Returns at most the first `count` items.
    fn first(self, count: usize) -> Self {
        Items { items: &self.items[..self.items.len().min(count)], ..self }
    }

    /// Returns the items after the first `count`.
    fn after(self, count: usize) -> Self {
        Items { items: &self.items[self.items.len().min(count)..], ..self }
    }
}
