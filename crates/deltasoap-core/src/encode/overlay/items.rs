//! The items of a message on its way out.

use super::has_room;
use crate::encode::Encoder;
use crate::encode::flat::{encode_item, learn_item, write_leaves};
use crate::schema::{Field, View};
use crate::template::Shape;
use crate::{Buffer, Error, ErrorKind, Typed};

/// An iterator with a look at its next item.
pub(super) struct Ahead<I: Iterator> {
    items: I,
    next: Option<I::Item>,
    /// It is not asked again once it has given none. One that is [fed](super::Feed) later is.
    ends: bool,
    has_ended: bool,
}

impl<I: Iterator> Ahead<I> {
    pub(super) fn new(items: I, ends: bool) -> Self {
        Ahead { items, next: None, ends, has_ended: false }
    }

    /// Returns the iterator; an item that was looked at is not there any more.
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

    /// Returns the number of items are to come, if the iterator says so.
    pub(super) fn exact_size(&self) -> Option<usize> {
        match self.items.size_hint() {
            (low, Some(high)) if low == high => low.checked_add(usize::from(self.next.is_some())),
            _ => None,
        }
    }
}

/// Items, and what is needed to write them where they belong.
pub(super) struct Items<I: Iterator> {
    items: Ahead<I>,
    field: Field,
    encoder: Encoder,
    /// The markup of flat items, once one is written.
    shape: Option<Shape>,
    /// Number of there have to be, if that was said.
    due: Option<usize>,
    written: usize,
    /// Bytes of the longest item so far.
    longest: usize,
}

impl<T: Typed, I: Iterator<Item = T>> Items<I> {
    pub(super) fn new(items: Ahead<I>, field: Field, encoder: Encoder) -> Self {
        let due = items.exact_size();
        Items { items, field, encoder, shape: None, due, written: 0, longest: 0 }
    }

    /// Where items come from.
    pub(super) fn source(&mut self) -> &mut I {
        self.items.source()
    }

    /// Writes items for as long as there is room. True if there are no more.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be written, or when their number is not what was
    /// said.
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
        let view = View::of_static(T::REFERENCE);
        let is_flat_type = T::flat_leaves(view).is_some();
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
        if is_flat {
            self.shape = learn_item(&item, &mut self.encoder, &self.field, view);
        } else {
            encode_item(&item, &mut self.encoder, &self.field, view);
        }
        self.longest = self.longest.max(self.encoder.len() - start);
        self.written += 1;
    }

    /// Writes items of the shape that is known.
    fn write_run(&mut self, size: usize, view: View<'_>) {
        let Items { items, encoder, shape: Some(shape), written, longest, .. } = self else { return };
        let out = &mut encoder.out;
        // The end tags of the item before stand after the next one's leaves: what is written lacks
        // them.
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
    Error::at(ErrorKind::Unwritable("the iterator gave another number of items than it said"), chunk.len() as u64)
}
