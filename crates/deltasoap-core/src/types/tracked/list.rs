//! A list that knows which of its items may have changed.

use super::epoch::Epoch;
use super::marks::Marks;
use super::span::Span;
use crate::encode::differential::Changes;
use std::ops::{Deref, Range};

/// A list that notes which items may have changed, one bit each: a [`Template`](crate::Template)
/// that holds it looks at these alone. As the field of a struct it is a child element that repeats,
/// as a `Vec` is.
///
/// It is used like a `Vec`. What is written through an index or a range is noted as just that;
/// growing and shrinking at the end cost nothing more; what moves items (inserting, removing,
/// sorting) notes all whose place changes, or all. A mutable borrow of the whole as a slice,
/// explicit or by a method of slices, notes all.
///
/// Its clone is another list, which no template holds. Items that can change without being borrowed
/// mutably (a `Cell`, an atomic) must not be tracked: their changes would not be seen.
///
/// ```
/// use deltasoap::TrackedVec;
///
/// let mut levels: TrackedVec<f64> = (0..1000).map(f64::from).collect();
/// levels[3] = 0.5;
/// levels[10..20].fill(1.0);
/// levels.range_mut(20..30).reverse();
/// if let Some(level) = levels.get_mut(999) {
///     *level += 1.0;
/// }
/// levels.push(7.0);
/// assert_eq!(levels[..5], [0.0, 1.0, 2.0, 0.5, 4.0]);
/// assert_eq!(levels.iter().count(), 1001);
/// ```
#[derive(Debug)]
pub struct TrackedVec<T> {
    pub(super) items: Vec<T>,
    /// Items that may have changed in this epoch; nothing while [`Epoch::is_new`].
    marks: Marks,
    epoch: Epoch,
}

impl<T> TrackedVec<T> {
    /// Creates an empty list.
    pub fn new() -> Self {
        Vec::new().into()
    }

    /// Creates an empty list with room for so many items.
    pub fn with_capacity(items: usize) -> Self {
        Vec::with_capacity(items).into()
    }

    /// Returns the items.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Returns the items, no longer tracked.
    pub fn into_inner(self) -> Vec<T> {
        self.items
    }

    /// Makes room for more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Puts another item in the place of one.
    ///
    /// # Panics
    /// Panics if there is no such place.
    pub fn set(&mut self, place: usize, item: T) {
        self[place] = item;
    }

    /// Returns an item, or a range of them, to be changed; `None` beyond the end.
    pub fn get_mut<S: Span<T>>(&mut self, span: S) -> Option<&mut S::Output> {
        let positions = span.positions(self.items.len());
        // What is beyond the end is nothing to note.
        self.items.get(positions.clone())?;
        self.note(positions);
        self.items.get_mut(span)
    }

    /// Items to be changed: the same as `&mut list[range]`.
    ///
    /// # Panics
    /// Panics if the range reaches beyond the end.
    pub fn range_mut<S: Span<T, Output = [T]>>(&mut self, range: S) -> &mut [T] {
        &mut self[range]
    }

    /// Returns the first item, to be changed.
    pub fn first_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// Returns the last item, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.items.len().wrapping_sub(1))
    }

    /// All items, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.note(0..self.items.len());
        &mut self.items
    }

    /// All items, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.as_mut_slice().iter_mut()
    }

    /// Swaps two items.
    ///
    /// # Panics
    /// Panics if there is no such item.
    pub fn swap(&mut self, a: usize, b: usize) {
        self.items.swap(a, b);
        self.note(a..a + 1);
        self.note(b..b + 1);
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        self.items.push(item);
        self.note_from(self.items.len() - 1);
    }

    /// Takes the last item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop()?;
        self.note_from(self.items.len());
        Some(item)
    }

    /// Drops the items after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.items.len() {
            self.note(len..len);
            self.items.truncate(len);
            self.marks.cut(len);
        }
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Makes the list so long, with clones of an item where it grows.
    pub fn resize(&mut self, len: usize, item: T)
    where
        T: Clone,
    {
        let old = self.items.len();
        if len != old {
            self.note(old.min(len)..len);
            self.items.resize(len, item);
            self.marks.cut(len);
        }
    }

    /// Puts an item before the one at a place; those after it move.
    ///
    /// # Panics
    /// Panics if the place is beyond the end.
    pub fn insert(&mut self, place: usize, item: T) {
        self.items.insert(place, item);
        self.note_from(place);
    }

    /// Takes an item out; those after it move.
    ///
    /// # Panics
    /// Panics if there is no such item.
    pub fn remove(&mut self, place: usize) -> T {
        let item = self.items.remove(place);
        self.note_from(place);
        item
    }

    /// Takes an item out and puts the last one in its place.
    ///
    /// # Panics
    /// Panics if there is no such item.
    pub fn swap_remove(&mut self, place: usize) -> T {
        let item = self.items.swap_remove(place);
        self.note_from(self.items.len());
        if place < self.items.len() {
            self.note(place..place + 1);
        }
        item
    }

    /// Keeps the items that a closure wants; those after the first that it does not want move.
    pub fn retain(&mut self, mut wants: impl FnMut(&T) -> bool) {
        let Some(first) = self.items.iter().position(|item| !wants(item)) else { return };
        self.note(first..self.items.len());
        let mut place = 0;
        self.items.retain(|item| {
            place += 1;
            place <= first || (place > first + 1 && wants(item))
        });
        self.marks.cut(self.items.len());
    }

    /// Does with the list what a `Vec` can do, and notes all items.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        change(self.anew())
    }

    /// Returns the list as another one that no template holds, in a time that does not depend on
    /// its length: for changes that cannot be foreseen. Whoever holds what it was has to compare
    /// all of it.
    pub(super) fn anew(&mut self) -> &mut Vec<T> {
        self.epoch.renew();
        self.marks.clear();
        &mut self.items
    }

    /// What changed, for the template.
    pub(super) fn changes(&self) -> Changes<'_> {
        Changes { stamp: self.epoch.stamp(), dirty: self.marks.words() }
    }

    /// Notes that the list is written; what has changed by now is what changed in its epoch.
    pub(super) fn seal(&self) {
        self.epoch.seal();
    }

    /// Notes that items may have changed: before foreign code runs that could panic, so that the
    /// note is there however it ends.
    #[inline]
    pub(super) fn note(&mut self, positions: Range<usize>) {
        if self.epoch.change() {
            self.marks.clear();
        }
        if self.epoch.is_new() {
            return;
        }
        if positions.len() == 1 {
            self.marks.mark(positions.start);
        } else {
            self.marks.mark_range(positions);
        }
    }

    /// Notes that from a place on all is other than it was, the end of the list included.
    fn note_from(&mut self, place: usize) {
        self.note(place..self.items.len());
        self.marks.cut(self.items.len());
    }
}

impl<T> From<Vec<T>> for TrackedVec<T> {
    fn from(items: Vec<T>) -> Self {
        TrackedVec { items, marks: Marks::default(), epoch: Epoch::new() }
    }
}

impl<T> Deref for TrackedVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items
    }
}
