//! Index expressions for tracked lists.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::slice::SliceIndex;

/// A position in a list, or a range of positions: the index types of
/// [`TrackedVec`](super::TrackedVec), as for slices.
pub trait Span<T>: SliceIndex<[T]> {
    /// Returns the positions in a list of `len` items. They may be out of bounds; the list itself
    /// checks.
    fn positions(&self, len: usize) -> Range<usize>;
}

impl<T> Span<T> for usize {
    #[inline]
    fn positions(&self, _: usize) -> Range<usize> {
        *self..self.saturating_add(1)
    }
}

impl<T> Span<T> for Range<usize> {
    fn positions(&self, _: usize) -> Range<usize> {
        self.clone()
    }
}

impl<T> Span<T> for RangeInclusive<usize> {
    fn positions(&self, _: usize) -> Range<usize> {
        *self.start()..self.end().saturating_add(1)
    }
}

impl<T> Span<T> for RangeFrom<usize> {
    fn positions(&self, len: usize) -> Range<usize> {
        self.start..len
    }
}

impl<T> Span<T> for RangeTo<usize> {
    fn positions(&self, _: usize) -> Range<usize> {
        0..self.end
    }
}

impl<T> Span<T> for RangeToInclusive<usize> {
    fn positions(&self, _: usize) -> Range<usize> {
        0..self.end.saturating_add(1)
    }
}

impl<T> Span<T> for RangeFull {
    fn positions(&self, len: usize) -> Range<usize> {
        0..len
    }
}
