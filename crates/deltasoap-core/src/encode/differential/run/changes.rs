//! Which items of a chunk have to be written, 64 at a time.
//!
//! Numbers are compared by their bits, without a branch on what comes out: whether one differs
//! nobody could predict. Where nearly all of the last block differed, and a sample of the next one
//! does, the rest of it is not looked at: writing a number over the same one does no harm, and
//! where everything changes the comparison would be lost time. A list that tracks its changes tells
//! which blocks to look at.

use super::Form;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use std::ops::Range;

/// Items looked at together.
pub(super) const BLOCK: usize = 64;

/// Where nearly all of the last block differed, every so many of the next one's items are looked at
/// first.
const SAMPLED: usize = 8;

/// More marks than this in a block are not worth going through one by one.
const FEW: u32 = 16;

/// The items that a chunk shall hold.
pub(super) struct Ours<'a, T> {
    pub(super) items: &'a [T],
    /// Which item of the list is the first.
    pub(super) first: usize,
    /// Which items of the list may differ, a bit an item; all without.
    pub(super) dirty: Option<&'a [u64]>,
    pub(super) view: View<'a>,
}

/// What has to be written of some items.
#[derive(Debug)]
pub(super) struct Block {
    /// The items.
    pub(super) range: Range<usize>,
    /// Those of them that have to be written.
    places: [u32; BLOCK],
    count: usize,
}

impl Block {
    /// No items, before one.
    pub(super) fn before(item: usize) -> Self {
        Block { range: item..item, places: [0; BLOCK], count: 0 }
    }

    /// Returns the items that have to be written.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.places[..self.count].iter().map(|&item| item as usize)
    }

    /// Returns true if all but a few items have to be written, and there are more than a few.
    fn is_dense(&self) -> bool {
        self.count > BLOCK - BLOCK / 8
    }

    /// Returns true if so many items have to be written that it is no use to look for what stands
    /// between.
    pub(super) fn is_many(&self) -> bool {
        self.count > BLOCK / 8
    }

    #[inline(always)]
    fn push_if(&mut self, item: usize, differs: bool) {
        self.places[self.count] = item as u32;
        self.count += usize::from(differs);
    }
}

impl<T: Item> Ours<'_, T> {
    /// Goes on to the next items, from the first that may differ. False if there is none. `images`
    /// are those of all the chunk's items.
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

    /// Of the marked items those that differ, as far as their bits tell.
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

    /// Returns true if those that are looked at all differ.
    fn sample_differs(&self, start: usize, form: &Form, images: &[u8]) -> bool {
        let sample = (start..start + BLOCK).step_by(SAMPLED);
        sample.fold(true, |all, item| all & self.differs(item, form, images))
    }

    /// Returns the number of items from one on are not marked.
    pub(super) fn clean(&self, item: usize) -> usize {
        let Some(dirty) = self.dirty else { return 0 };
        let from = self.first + item;
        let end = self.first + self.items.len();
        next_dirty(dirty, from).unwrap_or(end).min(end) - from
    }

    /// Returns the marks of the items from one on; all are, where nothing is tracked.
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

/// Returns true if an item of numbers has other bits than these.
#[inline(always)]
pub(crate) fn differs<T: Item>(item: &T, image: &[u8], view: View<'_>) -> bool {
    let mut differs = Differs { image, differs: false };
    item.write_flat(&mut differs, view);
    differs.differs
}

/// Compares leaves with their images, where all have some.
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

/// Returns the next marked item at or after one.
fn next_dirty(dirty: &[u64], from: usize) -> Option<usize> {
    let mut at = from / 64;
    let mut word = dirty.get(at)? & (u64::MAX << (from % 64));
    while word == 0 {
        at += 1;
        word = *dirty.get(at)?;
    }
    Some(at * 64 + word.trailing_zeros() as usize)
}
