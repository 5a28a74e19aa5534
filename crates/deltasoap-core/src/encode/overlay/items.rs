//! The items of an outgoing message.

use super::has_room;
use super::split::Split;
use crate::content::Content;
use crate::encode::Encoder;
use crate::encode::flat::{encode_item, learn_item, write_leaves};
use crate::schema::{Field, Schema, View};
use crate::template::Shape;
use crate::{Buffer, Error, ErrorKind};
use std::sync::Arc;

/// An iterator that can peek at its next item.
pub(super) struct Lookahead<I: Iterator> {
    items: I,
    next: Option<I::Item>,
    /// True if the iterator is not asked again after it returned `None`. False for one that can be
    /// [fed](super::Feed) later.
    ends: bool,
    has_ended: bool,
}

impl<I: Iterator> Lookahead<I> {
    pub(super) fn new(items: I, ends: bool) -> Self {
        Lookahead { items, next: None, ends, has_ended: false }
    }

    /// Returns the iterator, without the item that was peeked at.
    pub(super) fn source(&mut self) -> &mut I {
        &mut self.items
    }

    pub(super) fn peek(&mut self) -> Option<&I::Item> {
        if self.next.is_none() {
            self.next = self.next();
        }
        self.next.as_ref()
    }

    fn next(&mut self) -> Option<I::Item> {
        let next = self.next.take().or_else(|| if self.has_ended { None } else { self.items.next() });
        self.has_ended = self.ends && next.is_none();
        next
    }

    fn next_if(&mut self, is_wanted: impl FnOnce(&I::Item) -> bool) -> Option<I::Item> {
        let item = self.next()?;
        if is_wanted(&item) {
            return Some(item);
        }
        self.next = Some(item);
        None
    }

    /// Returns the number of remaining items, if the iterator reports it exactly.
    pub(super) fn exact_size(&self) -> Option<usize> {
        match self.items.size_hint() {
            (low, Some(high)) if low == high => low.checked_add(usize::from(self.next.is_some())),
            _ => None,
        }
    }
}

/// Items, with the state for writing them at their place.
pub(super) struct Items<I: Iterator> {
    items: Lookahead<I>,
    field: Field,
    /// The schema of dynamic items; empty for static types.
    schema: Arc<Schema>,
    encoder: Encoder,
    /// The markup of flat items, after one was written.
    shape: Option<Shape>,
    /// The required number of items, if it was reported.
    due: Option<usize>,
    written: usize,
    /// Bytes of the longest item so far.
    longest: usize,
}

impl<I: Iterator> Items<I> {
    pub(super) fn new(items: Lookahead<I>, Split { field, encoder, .. }: Split, schema: Arc<Schema>) -> Self {
        let due = items.exact_size();
        Items { items, field, schema, encoder, shape: None, due, written: 0, longest: 0 }
    }

    /// Returns the source of the items.
    pub(super) fn source(&mut self) -> &mut I {
        self.items.source()
    }
}

impl<T: Content, I: Iterator<Item = T>> Items<I> {
    /// Writes items as long as there is room. Returns true if there are no more.
    ///
    /// # Errors
    /// Returns an error if an item cannot be written, or if the number of items differs from the
    /// reported one.
    pub(super) fn write(&mut self, chunk: &mut Buffer, size: usize) -> Result<bool, Error> {
        std::mem::swap(&mut self.encoder.out, chunk);
        self.write_all(size);
        let checked = self.encoder.check();
        std::mem::swap(&mut self.encoder.out, chunk);
        checked?;
        let is_done = self.items.peek().is_none();
        match self.due {
            Some(due) if self.written > due || (is_done && self.written < due) => Err(miscounted(chunk)),
            _ => Ok(is_done),
        }
    }

    fn write_all(&mut self, size: usize) {
        let schema = Arc::clone(&self.schema);
        let view = schema.view(self.field.element);
        let is_flat_type = !self.field.inline && T::flat_leaves(view).is_some();
        while has_room(&self.encoder.out, self.longest, size)
            && let Some(item) = self.items.peek()
        {
            let is_flat = is_flat_type && item.is_flat(view);
            if is_flat && self.shape.is_some() {
                self.write_run(size, view);
            } else {
                self.write_one(is_flat, view);
            }
        }
    }

    /// Writes an item by the general routines; learns its markup if it is the first flat one.
    fn write_one(&mut self, is_flat: bool, view: View<'_>) {
        let Some(item) = self.items.next() else { return };
        let start = self.encoder.len();
        match is_flat {
            true => self.shape = learn_item(&item, &mut self.encoder, &self.field, view),
            false if self.field.inline => item.encode_inline(&mut self.encoder, view),
            false => encode_item(&item, &mut self.encoder, &self.field, view),
        }
        self.encoder.forget_copies();
        self.longest = self.longest.max(self.encoder.len() - start);
        self.written += 1;
    }

    /// Writes items of the known shape.
    fn write_run(&mut self, size: usize, view: View<'_>) {
        let Items { items, encoder, shape: Some(shape), written, longest, .. } = self else { return };
        let out = &mut encoder.out;
        // The end tags of an item are written before the next item's leaves, so they are missing
        // after the last one.
        let close = shape.close.len();
        let (mut markup, mut start, mut lacking) = (&shape.open, out.len(), 0);
        while has_room(out, longest.saturating_add(lacking), size)
            && let Some(item) = items.next_if(|item| item.is_flat(view))
        {
            markup.push_to(out);
            write_leaves(&item, out, shape, view);
            *longest = (*longest).max(out.len() - start + close - lacking);
            (markup, start, lacking) = (&shape.turn, out.len(), close);
            *written += 1;
        }
        if lacking > 0 {
            shape.close.push_to(out);
        }
    }
}

fn miscounted(chunk: &Buffer) -> Error {
    Error::at(ErrorKind::Unwritable("the iterator returned another number of items than reported"), chunk.len() as u64)
}
