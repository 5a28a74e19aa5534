//! Updates the items of a run with new values.
//!
//! If items are inserted or removed at one place of a list, the place is found by comparing from
//! the front and from the back. Chunks outside of it stay, and small neighbours are joined.

use super::changes::{Block, NewItems};
use super::merge::Merge;
use super::patch::{Patch, Tools};
use super::{Form, RunChunk, build, changes, numbers};
use crate::encode::differential::outgoing::Frames;
use crate::encode::differential::tape::{Chunk, is_too_long, unshare};
use crate::encode::differential::{EncodeStats, MatchKind, Templating};
use crate::encode::flat::Item;
use crate::schema::View;
use deltasoap_xml::Buffer;
use std::sync::Arc;

/// The new items.
#[derive(Debug)]
pub(crate) struct Items<'a, T> {
    pub(crate) items: &'a [T],
    /// Items that may differ, one bit each; `None` if all may.
    pub(crate) dirty: Option<&'a [u64]>,
    pub(crate) view: View<'a>,
}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

/// The inputs and results of an update.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) options: &'a Templating,
    pub(crate) stats: &'a mut EncodeStats,
    pub(crate) frames: &'a mut Option<Frames>,
    pub(crate) text: &'a mut Buffer,
    pub(crate) spare: &'a mut Buffer,
    /// How the message matches so far.
    pub(crate) kind: &'a mut MatchKind,
    /// Set if a text could not be written exactly.
    pub(crate) replaced: &'a mut bool,
}

/// Updates a run's chunks to its items. There must be at least one item.
pub(crate) fn update<T: Item>(
    old: Vec<Arc<Chunk>>,
    form: &Arc<Form>,
    items: Items<'_, T>,
    work: &mut Work<'_>,
) -> Vec<Arc<Chunk>> {
    let had: usize = old.iter().map(|chunk| chunk.items()).sum();
    if had != items.items.len() {
        *work.kind = MatchKind::PartialStructural;
        work.stats.elements += had.abs_diff(items.items.len()) as u64;
        if let Some(place) = edit_position(&old, items, had) {
            return splice(old, form, items, place, work);
        }
    }
    let mut chunks = Vec::with_capacity(old.len());
    let mut first = 0;
    for chunk in old {
        let left = items.items.len() - first;
        if left == 0 {
            break;
        }
        let count = chunk.items().min(left);
        update_chunk(chunk, first, count, items, work, &mut chunks);
        first += count;
    }
    append(&mut chunks, form, &items.items[first..], items.view, work);
    chunks
}

/// The position at which a list got longer or shorter: numbers of equal items before and after it.
#[derive(Debug, Clone, Copy)]
struct EditPosition {
    front: usize,
    back: usize,
}

/// Looks for a single position at which items were inserted or removed; `None` if the list changed
/// in other ways too.
fn edit_position<T: Item>(old: &[Arc<Chunk>], items: Items<'_, T>, had: usize) -> Option<EditPosition> {
    let shorter = had.min(items.items.len());
    let front = common_prefix(old, items);
    let back = if front == shorter { 0 } else { common_suffix(old, items, shorter - front) };
    // Otherwise it is better to compare the items in place.
    (front < shorter && front + back >= shorter - shorter / 4).then_some(EditPosition { front, back })
}

fn common_prefix<T: Item>(old: &[Arc<Chunk>], items: Items<'_, T>) -> usize {
    let mut first = 0;
    for chunk in old.iter().filter_map(|chunk| chunk.run()) {
        let rest = &items.items[first..];
        let count = chunk.items().min(rest.len());
        let same = chunk.same_items(&rest[..count], 0, items.view);
        first += same;
        if same < chunk.items() {
            break;
        }
    }
    first
}

fn common_suffix<T: Item>(old: &[Arc<Chunk>], items: Items<'_, T>, most: usize) -> usize {
    let mut same = 0;
    for chunk in old.iter().rev().filter_map(|chunk| chunk.run()) {
        let rest = &items.items[..items.items.len() - same];
        let count = chunk.items().min(rest.len()).min(most - same);
        let new_items = &rest[rest.len() - count..];
        let equal = (0..count).rev().take_while(|&at| {
            let theirs = chunk.items() - count + at;
            chunk.same_items(&new_items[at..=at], theirs, items.view) == 1
        });
        let equal = equal.count();
        same += equal;
        if equal < chunk.items() {
            break;
        }
    }
    same
}

/// Replaces the items between the equal ones before and after.
fn splice<T: Item>(
    old: Vec<Arc<Chunk>>,
    form: &Arc<Form>,
    items: Items<'_, T>,
    place: EditPosition,
    work: &mut Work<'_>,
) -> Vec<Arc<Chunk>> {
    let had: usize = old.iter().map(|chunk| chunk.items()).sum();
    let (mut front, mut back) = (Vec::new(), Vec::new());
    let mut first = 0;
    for chunk in old {
        let count = chunk.items();
        let keep = place.front.saturating_sub(first).min(count);
        let drop = (had - place.back).saturating_sub(first).min(count);
        first += count;
        if keep == count {
            front.push(chunk);
        } else if drop == 0 {
            back.push(chunk);
        } else if let Some(mut run) = work.own(chunk) {
            if drop < count {
                back.push(Arc::new(Chunk::Run(run.split_off(drop))));
            }
            run.truncate(keep);
            front.extend((keep > 0).then(|| Arc::new(Chunk::Run(run))));
        }
    }
    let between = &items.items[place.front..items.items.len() - place.back];
    append(&mut front, form, between, items.view, work);
    for chunk in back {
        push_joined(&mut front, chunk, work);
    }
    front
}

/// Appends a chunk, merging it with the previous one if both are small.
fn push_joined(chunks: &mut Vec<Arc<Chunk>>, chunk: Arc<Chunk>, work: &mut Work<'_>) {
    let is_small = |chunk: &Chunk| chunk.bytes().len() < work.options.chunk / 2;
    let Some(last) = chunks.last_mut().filter(|last| is_small(last) && is_small(&chunk)) else {
        return chunks.push(chunk);
    };
    let (Some(last), Some(run)) = (unshare(last, work.frames, work.stats).run_mut(), chunk.run()) else { return };
    last.append(run);
    work.stats.moved += run.bytes.len() as u64;
}

/// Appends items to a run.
fn append<T: Item>(chunks: &mut Vec<Arc<Chunk>>, form: &Arc<Form>, items: &[T], view: View<'_>, work: &mut Work<'_>) {
    let mut rest = items;
    if let Some(last) = chunks.last_mut().filter(|last| !rest.is_empty() && last.bytes().len() < work.options.chunk)
        && let Some(run) = unshare(last, work.frames, work.stats).run_mut()
    {
        let before = run.bytes.len();
        let taken = build::fill(run, rest, work.options, work.replaced, view);
        work.stats.written += (run.bytes.len() - before) as u64;
        rest = &rest[taken..];
    }
    for chunk in build::build(rest, form, work.options, work.replaced, view) {
        work.stats.written += chunk.bytes.len() as u64;
        chunks.push(Arc::new(Chunk::Run(chunk)));
    }
}

/// Updates the first `count` items of a chunk to those from `first` on; the chunk's other items are
/// dropped.
fn update_chunk<T: Item>(
    mut chunk: Arc<Chunk>,
    first: usize,
    count: usize,
    items: Items<'_, T>,
    work: &mut Work<'_>,
    chunks: &mut Vec<Arc<Chunk>>,
) {
    let new_items = NewItems { items: &items.items[first..first + count], first, dirty: items.dirty, view: items.view };
    let Some(run) = chunk.run() else { return };
    let same = new_items.unchanged(run, 0);
    if same == count && count == run.items() {
        return chunks.push(chunk);
    }
    let Some(run) = unshare(&mut chunk, work.frames, work.stats).run_mut() else { return };
    run.truncate(count);
    let Some(from) = patch(run, &new_items, same, work) else { return chunks.push(chunk) };
    let parts = merge(run, &new_items, from, work);
    let last = parts.last().map_or(run.bytes.len(), |part| part.bytes.len());
    *work.replaced |= is_too_long(last);
    work.stats.splits += parts.len() as u64;
    chunks.push(chunk);
    chunks.extend(parts.into_iter().map(|part| Arc::new(Chunk::Run(part))));
    if last > work.options.split && !is_too_long(last) {
        split_last(chunks, work);
    }
}

fn split_last(chunks: &mut Vec<Arc<Chunk>>, work: &mut Work<'_>) {
    let Some(run) = chunks.pop().and_then(|chunk| work.own(chunk)) else { return };
    let parts = run.split(work.options.chunk);
    work.stats.splits += parts.len() as u64 - 1;
    chunks.extend(parts.into_iter().map(|part| Arc::new(Chunk::Run(part))));
}

impl<T: Item> NewItems<'_, T> {
    /// Returns the number of items from `item` on that are known to be the same, by the tracking
    /// list or a comparison.
    fn unchanged(&self, run: &RunChunk, item: usize) -> usize {
        match self.dirty {
            Some(_) => self.clean(item),
            None => run.same_items(&self.items[item..], item, self.view),
        }
    }
}

/// Writes changed values into their fields, starting at an item. Returns the first item that does
/// not fit.
fn patch<T: Item>(run: &mut RunChunk, new_items: &NewItems<'_, T>, from: usize, work: &mut Work<'_>) -> Option<usize> {
    let form = Arc::clone(&run.form);
    let Work { text, stats, .. } = work;
    if form.is_narrow && form.columns.len() == 1 && !form.is_stuffed {
        let written = numbers::write(run, new_items, from, text);
        stats.written += written.bytes as u64;
        work.note_leaves(written.leaves as u64, MatchKind::PerfectStructural);
        return written.misfit;
    }
    let mut patch = Patch::new(run, Tools { text, stats });
    let (mut block, mut misfit) = (Block::before(from), None);
    while misfit.is_none() && new_items.advance(&mut block, &form, patch.images()) {
        misfit = block.places().find(|&item| !patch.item(item, &new_items.items[item], new_items.view));
    }
    let written = patch.written as u64;
    *work.replaced |= patch.replaced;
    work.note_leaves(written, MatchKind::PerfectStructural);
    misfit
}

/// Rewrites the chunk, starting at a changed item. A chunk that gets too long is ended; returns the
/// chunks with the items that follow.
fn merge<T: Item>(run: &mut RunChunk, new_items: &NewItems<'_, T>, from: usize, work: &mut Work<'_>) -> Vec<RunChunk> {
    let form = Arc::clone(&run.form);
    let mut merge = Merge::new(run, from, work.spare, work.text, work.stats);
    let (mut block, mut cuts) = (Block::before(from), Vec::new());
    // The next items could exceed the chunk's memory.
    let full = work.options.chunk.saturating_sub(form.expected(changes::BLOCK));
    while new_items.advance(&mut block, &form, merge.images()) {
        if merge.len() > full && merge.projected() > work.options.split && !form.is_stuffed {
            cuts.push(merge.cut(build::chunk_buffer(work.options.chunk, work.options)));
        }
        if block.is_many() && !form.is_stuffed {
            merge.skip_to(block.range.start);
            merge.rewrite(&new_items.items[block.range.clone()], new_items.view);
        } else {
            for item in block.places() {
                merge.skip_to(item);
                merge.item(&new_items.items[item], new_items.view);
            }
        }
    }
    let (written, resized) = (merge.written as u64, merge.resized);
    merge.finish();
    *work.replaced |= work.spare.has_replaced() || cuts.iter().any(|cut| cut.bytes.has_replaced());
    std::mem::swap(work.spare, &mut run.bytes);
    work.note_leaves(written, if resized { MatchKind::PartialStructural } else { MatchKind::PerfectStructural });
    run.cut(cuts)
}

impl Work<'_> {
    fn note_leaves(&mut self, leaves: u64, kind: MatchKind) {
        self.stats.leaves += leaves;
        if leaves > 0 {
            *self.kind = (*self.kind).max(kind);
        }
    }

    /// Returns an exclusive run chunk, copied if it is held elsewhere.
    fn own(&mut self, mut chunk: Arc<Chunk>) -> Option<RunChunk> {
        unshare(&mut chunk, self.frames, self.stats);
        match Arc::into_inner(chunk) {
            Some(Chunk::Run(run)) => Some(run),
            _ => None,
        }
    }
}

impl RunChunk {
    /// Returns the number of leading `items` that equal those from `first` on.
    pub(super) fn same_items<T: Item>(&self, items: &[T], first: usize, view: View<'_>) -> usize {
        let mut same = T::count_same(items, &self.images[first * self.form.image..]);
        let mut compare = super::compare::Compare::new(self);
        while let Some(item) = items.get(same) {
            if !compare.item(first + same, item, view) {
                break;
            }
            same += 1;
        }
        same.min(self.items() - first)
    }
}
