//! Finds the items of a chunk that have to be written, 64 at a time.
//!
//! Numbers are compared by their bits, without a branch on the result, since it is unpredictable.
//! If nearly all items of the last block differed, and a sample of the next one does, the rest of
//! that block is not compared: overwriting a number with the same one does no harm, and where
//! everything changes the comparison would be wasted time. A list that tracks its changes tells
//! which blocks to look at.
//!
//! Bits are compared, so `-0.0` and `0.0` differ, and a NaN equals itself.

use super::Form;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use std::ops::Range;

/// Number of items compared together.
pub(super) const BLOCK: usize = 64;

/// If nearly all items of the last block differed, every `SAMPLED`th item of the next one is
/// compared first.
const SAMPLED: usize = 8;

/// Maximum number of marks in a block whose items are compared one by one.
const FEW: u32 = 16;

/// The new items of a chunk.
pub(super) struct NewItems<'a, T> {
    pub(super) items: &'a [T],
    /// Index of the first of them in the list.
    pub(super) first: usize,
    /// Items of the list that may differ, one bit each; `None` if all may.
    pub(super) dirty: Option<&'a [u64]>,
    pub(super) view: View<'a>,
}

/// The items of a block that have to be written.
#[derive(Debug)]
pub(super) struct Block {
    /// The items of the block.
    pub(super) range: Range<usize>,
    /// Those of them that have to be written.
    places: [u32; BLOCK],
    count: usize,
}

impl Block {
    /// Creates an empty block before an item.
    pub(super) fn before(item: usize) -> Self {
        Block { range: item..item, places: [0; BLOCK], count: 0 }
    }

    /// Returns the items that have to be written.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.places[..self.count].iter().map(|&item| item as usize)
    }

    /// Returns true if nearly all items have to be written, and they are not only a few.
    fn is_dense(&self) -> bool {
        self.count > BLOCK - BLOCK / 8
    }

    /// Returns true if so many items have to be written that it is not worthwhile to look for
    /// unchanged content between them.
    pub(super) fn is_many(&self) -> bool {
        self.count > BLOCK / 8
    }

    #[inline(always)]
    fn push_if(&mut self, item: usize, differs: bool) {
        self.places[self.count] = item as u32;
        self.count += usize::from(differs);
    }
}

impl<T: Item> NewItems<'_, T> {
    /// Advances to the next items, starting at the first that may differ. Returns false if there
    /// are none. `images` are those of all the chunk's items.
    #[inline(always)]
    pub(super) fn advance(&self, block: &mut Block, form: &Form, images: &[u8]) -> bool {
        let was_dense = block.is_dense();
        let start = block.range.end + self.clean(block.range.end);
        let end = self.items.len().min(start + BLOCK);
        (block.range, block.count) = (start..end, 0);
        let marks = self.marks(start);
        if !form.is_narrow || marks.count_ones() <= FEW {
            self.push_marked(block, marks, form, images);
        } else if was_dense && end == start + BLOCK && self.sample_differs(start, form, images) {
            (start..end).for_each(|item| block.push_if(item, true));
        } else {
            let (items, images) = (&self.items[start..end], &images[start * form.image..]);
            let mut places = start..end;
            T::compare(items, images, form.image, self.view, |differs| {
                block.push_if(places.next().unwrap_or(start), differs);
            });
        }
        start < end
    }

    /// Adds the marked items that differ. Items whose bits do not decide are added too.
    fn push_marked(&self, block: &mut Block, mut marks: u64, form: &Form, images: &[u8]) {
        let Range { start, end } = block.range;
        if end < start + BLOCK {
            marks &= (1 << (end - start)) - 1;
        }
        while marks != 0 {
            let item = start + marks.trailing_zeros() as usize;
            block.push_if(item, !form.is_narrow || self.differs(item, form, images));
            marks &= marks - 1;
        }
    }

    /// Returns true if all sampled items differ.
    fn sample_differs(&self, start: usize, form: &Form, images: &[u8]) -> bool {
        let sample = (start..start + BLOCK).step_by(SAMPLED);
        sample.fold(true, |all, item| all & self.differs(item, form, images))
    }

    /// Returns the number of unmarked items from `item` on.
    pub(super) fn clean(&self, item: usize) -> usize {
        let Some(dirty) = self.dirty else { return 0 };
        let from = self.first + item;
        let end = self.first + self.items.len();
        next_dirty(dirty, from).unwrap_or(end).min(end) - from
    }

    /// Returns the marks of the items from `item` on; all are marked if nothing is tracked.
    fn marks(&self, item: usize) -> u64 {
        let Some(dirty) = self.dirty else { return u64::MAX };
        let (word, bit) = ((self.first + item) / 64, (self.first + item) % 64);
        let of_word = |word| u128::from(dirty.get(word).copied().unwrap_or(0));
        ((of_word(word) | of_word(word + 1) << 64) >> bit) as u64
    }

    #[inline(always)]
    fn differs(&self, item: usize, form: &Form, images: &[u8]) -> bool {
        differs(&self.items[item], &images[item * form.image..][..form.image], self.view)
    }
}

/// Returns true if the bits of an item of numbers differ from `image`.
#[inline(always)]
pub(crate) fn differs<T: Item>(item: &T, image: &[u8], view: View<'_>) -> bool {
    let mut differs = Differs { image, differs: false };
    item.write_flat(&mut differs, view);
    differs.differs
}

/// Compares leaves with their images; all leaves must have one.
struct Differs<'a> {
    image: &'a [u8],
    differs: bool,
}

impl FlatSink for Differs<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if let Some((image, rest)) = self.image.split_at_checked(T::IMAGE.bytes()) {
            self.differs |= *image != value.image()[..image.len()];
            self.image = rest;
        }
    }
}

/// Returns the first marked item at or after `from`.
fn next_dirty(dirty: &[u64], from: usize) -> Option<usize> {
    let mut at = from / 64;
    let mut word = dirty.get(at)? & (u64::MAX << (from % 64));
    while word == 0 {
        at += 1;
        word = *dirty.get(at)?;
    }
    Some(at * 64 + word.trailing_zeros() as usize)
}
