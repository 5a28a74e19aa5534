//! What can stand between the brackets after a list.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::slice::SliceIndex;

/// A position in a list, or a range of such: what [`TrackedVec`](super::TrackedVec) can be indexed
/// by, as slices can.
pub trait Span<T>: SliceIndex<[T]> {
    /// Returns the positions meant, in a list of `len` items. What lies beyond is for the list
    /// itself to refuse.
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
