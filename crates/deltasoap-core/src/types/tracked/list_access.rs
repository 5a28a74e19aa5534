//! The `Vec`-like interface of a tracked list, in Rust and in XML.

use super::{Span, TrackedVec};
use crate::content::ListShortcuts;
use crate::content::{Occurs, Typed};
use crate::decode::flat::{Patch, Run};
use crate::decode::{Cursor, Step};
use crate::encode::Encoder;
use crate::encode::flat::encode_changed_items;
use crate::schema::{ElementRef, Field, View};
use std::hash::{Hash, Hasher};
use std::ops::{DerefMut, Index, IndexMut};

/// Notes all items.
impl<T> DerefMut for TrackedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

impl<T, S: Span<T>> Index<S> for TrackedVec<T> {
    type Output = S::Output;

    #[inline]
    fn index(&self, span: S) -> &S::Output {
        &self.items[span]
    }
}

/// Notes the item, or the range of items.
impl<T, S: Span<T>> IndexMut<S> for TrackedVec<T> {
    #[inline]
    fn index_mut(&mut self, span: S) -> &mut S::Output {
        let positions = span.positions(self.items.len());
        // Positions out of bounds must not be noted; the index below panics for them.
        if positions.end <= self.items.len() {
            self.note(positions);
        }
        &mut self.items[span]
    }
}

impl<T> Default for TrackedVec<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A clone is a new list, which no template holds.
impl<T: Clone> Clone for TrackedVec<T> {
    fn clone(&self) -> Self {
        self.items.clone().into()
    }
}

/// Compares the items; tracking state is ignored.
impl<T: PartialEq> PartialEq for TrackedVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<T: Eq> Eq for TrackedVec<T> {}

impl<T: PartialEq> PartialEq<Vec<T>> for TrackedVec<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.items == *other
    }
}

impl<T: PartialEq> PartialEq<[T]> for TrackedVec<T> {
    fn eq(&self, other: &[T]) -> bool {
        self.items == other
    }
}

impl<T: Hash> Hash for TrackedVec<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.items.hash(state);
    }
}

impl<T> From<TrackedVec<T>> for Vec<T> {
    fn from(list: TrackedVec<T>) -> Self {
        list.into_inner()
    }
}

impl<T> FromIterator<T> for TrackedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<T> Extend<T> for TrackedVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        self.reserve(items.size_hint().0);
        items.for_each(|item| self.push(item));
    }
}

impl<T> IntoIterator for TrackedVec<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a TrackedVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// Notes all items.
impl<'a, T> IntoIterator for &'a mut TrackedVec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Any number of times. A list that is decoded into becomes a new one for every template.
impl<T: Typed> Occurs for TrackedVec<T> {
    const MIN: u32 = <Vec<T> as Occurs>::MIN;
    const MAX: Option<u32> = <Vec<T> as Occurs>::MAX;
    const NILLABLE: bool = <Vec<T> as Occurs>::NILLABLE;
    const REFERENCE: ElementRef = <Vec<T> as Occurs>::REFERENCE;
    const CHOICE: bool = <Vec<T> as Occurs>::CHOICE;

    fn vacant(_: View<'_>) -> Self {
        Self::new()
    }

    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        Occurs::open(self.anew(), place, view)
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        Occurs::splice(self.anew(), place, removed, inserted, view)
    }

    /// Keeping all items is not a change.
    fn keep(&mut self, count: usize, _: View<'_>) {
        self.truncate(count);
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        Occurs::decode(self.anew(), cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        self.seal();
        if field.inline {
            self.items.encode(encoder, field, view);
        } else {
            encode_changed_items(&self.items, self.changes(), encoder, field, view);
        }
    }
}

impl<T: Typed> ListShortcuts for TrackedVec<T> {
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        ListShortcuts::run(self.anew(), cursor, field, view)
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        ListShortcuts::patch(self.anew(), cursor, view)
    }

    fn item_leaves(view: View<'_>) -> Option<usize> {
        <Vec<T> as ListShortcuts>::item_leaves(view)
    }
}
