//! A list that tracks which of its items may have changed.

use super::epoch::Epoch;
use super::marks::Marks;
use super::span::Span;
use crate::encode::differential::Changes;
use std::ops::{Deref, Range};

/// A list that notes which items may have changed, one bit each. A [`Template`](crate::Template)
/// that holds the list looks only at these. As the field of a struct it is a repeated child
/// element, like a `Vec`.
///
/// It is used like a `Vec`. Writes through an index or a range note exactly those items. Growing
/// and shrinking at the end costs nothing more. Operations that move items (inserting, removing,
/// sorting) note all items whose position changes, or all items. A mutable borrow of the whole list
/// as a slice, explicit or by a method of slices, notes all items.
///
/// A clone is a new list, which no template holds. Items that can change without being borrowed
/// mutably (a `Cell`, an atomic) must not be tracked: their changes would be missed.
///
/// ```
/// use deltasoap::types::TrackedVec;
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
    /// Items that may have changed in this epoch; unused while [`Epoch::is_new`].
    marks: Marks,
    epoch: Epoch,
}

impl<T> TrackedVec<T> {
    /// Creates an empty list.
    pub fn new() -> Self {
        Vec::new().into()
    }

    /// Creates an empty list with capacity for `items` items.
    pub fn with_capacity(items: usize) -> Self {
        Vec::with_capacity(items).into()
    }

    /// Returns the items.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Converts the list into its items, which are no longer tracked.
    pub fn into_inner(self) -> Vec<T> {
        self.items
    }

    /// Reserves capacity for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Replaces an item.
    ///
    /// # Panics
    /// Panics if `place` is out of bounds.
    pub fn set(&mut self, place: usize, item: T) {
        self[place] = item;
    }

    /// Returns an item or a range of items, mutably; `None` if out of bounds.
    pub fn get_mut<S: Span<T>>(&mut self, span: S) -> Option<&mut S::Output> {
        let positions = span.positions(self.items.len());
        // Positions out of bounds must not be noted.
        self.items.get(positions.clone())?;
        self.note(positions);
        self.items.get_mut(span)
    }

    /// Returns a range of items, mutably: the same as `&mut list[range]`.
    ///
    /// # Panics
    /// Panics if the range is out of bounds.
    pub fn range_mut<S: Span<T, Output = [T]>>(&mut self, range: S) -> &mut [T] {
        &mut self[range]
    }

    /// Returns the first item, mutably.
    pub fn first_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// Returns the last item, mutably.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.items.len().wrapping_sub(1))
    }

    /// Returns all items, mutably.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.note(0..self.items.len());
        &mut self.items
    }

    /// Returns an iterator over all items that allows changing them.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.as_mut_slice().iter_mut()
    }

    /// Swaps two items.
    ///
    /// # Panics
    /// Panics if a position is out of bounds.
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

    /// Removes the last item and returns it.
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

    /// Resizes the list to `len` items, with clones of `item` if it grows.
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

    /// Inserts an item before the one at `place`; later items move.
    ///
    /// # Panics
    /// Panics if `place` is greater than the length.
    pub fn insert(&mut self, place: usize, item: T) {
        self.items.insert(place, item);
        self.note_from(place);
    }

    /// Removes an item and returns it; later items move.
    ///
    /// # Panics
    /// Panics if `place` is out of bounds.
    pub fn remove(&mut self, place: usize) -> T {
        let item = self.items.remove(place);
        self.note_from(place);
        item
    }

    /// Removes an item and returns it; the last item takes its place.
    ///
    /// # Panics
    /// Panics if `place` is out of bounds.
    pub fn swap_remove(&mut self, place: usize) -> T {
        let item = self.items.swap_remove(place);
        self.note_from(self.items.len());
        if place < self.items.len() {
            self.note(place..place + 1);
        }
        item
    }

    /// Keeps the items for which a closure returns true; those after the first removed item move.
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

    /// Gives a closure mutable access to the `Vec`, and notes all items.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        change(self.anew())
    }

    /// Gives the list a new identity, which no template holds, in constant time, and returns its
    /// items. For changes that cannot be predicted: a template that held the old list must compare
    /// all of it.
    pub(super) fn anew(&mut self) -> &mut Vec<T> {
        self.epoch.renew();
        self.marks.clear();
        &mut self.items
    }

    /// Returns the changes, for the template.
    pub(super) fn changes(&self) -> Changes<'_> {
        Changes { stamp: self.epoch.stamp(), dirty: self.marks.words() }
    }

    /// Notes that the list was written; the current marks are the changes of its epoch.
    pub(super) fn seal(&self) {
        self.epoch.seal();
    }

    /// Notes that items may have changed. Called before foreign code that could panic, so that the
    /// note exists in any case.
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

    /// Notes that everything from a position on has changed, including the end of the list.
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
