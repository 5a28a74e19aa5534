//! Runs: the items of a flat array in chunks of their own.
//!
//! All items have the same markup, so only the positions of each leaf's text and its value need to
//! be known: a position and the value's bits. This is the papers' DUT table for an array, with four
//! bytes per leaf and the bits. The type and the widest value belong to the column. The serialized
//! length follows from the next position, and is stored (two bytes) only if fields may be wider
//! than their values. The layout of a leaf's *field* is:
//!
//! ```text
//! text </end-tag> slack  rest-of-the-markup  next leaf's text
//! ^position                                  ^next position
//! ```
//!
//! The width of a field is that of text and slack together. `build` writes items, `changes` finds
//! those that differ, `patch` and `numbers` write values into their fields, `merge` rewrites a
//! chunk in one pass if values do not fit, with `weave` where many do not, and `update` controls
//! all of them. `share` takes over items that another template holds, `texts` finds values by their
//! texts.

mod build;
mod changes;
mod compare;
mod form;
mod linear;
mod merge;
mod numbers;
mod patch;
mod share;
mod texts;
mod update;
mod weave;

pub(crate) use build::{learn, push_spaces};
pub(crate) use changes::differs;
pub(crate) use form::{Form, room};
pub(crate) use share::Writing;
pub(crate) use texts::{TextMatch, Texts};
pub(crate) use update::{Items, Work, update};

use deltasoap_xml::Buffer;
use merge::Cut;
use std::sync::Arc;

/// The items of a run, and the table of their leaves.
#[derive(Debug, Clone)]
pub(crate) struct RunChunk {
    pub(crate) form: Arc<Form>,
    /// From the first item's start tag to the last item's end tag, and the slack of its last leaf.
    pub(crate) bytes: Buffer,
    /// Positions of the leaves' texts.
    positions: Vec<u32>,
    /// Lengths of the leaves' texts, if fields may be wider; [`LONG`] for those that must be
    /// searched.
    lens: Vec<u16>,
    /// Bits of the leaves that have an image.
    images: Vec<u8>,
}

/// Marks a length that does not fit a `u16`.
const LONG: u16 = u16::MAX;

impl RunChunk {
    fn new(form: &Arc<Form>) -> Self {
        let (bytes, positions, lens, images) = Default::default();
        RunChunk { form: Arc::clone(form), bytes, positions, lens, images }
    }

    /// Returns the number of items.
    pub(crate) fn items(&self) -> usize {
        self.positions.len() / self.form.columns.len()
    }

    /// Returns the memory in bytes, without the form.
    pub(crate) fn memory(&self) -> usize {
        let tables = self.positions.capacity() * 4 + self.lens.capacity() * 2 + self.images.capacity();
        size_of::<Self>() + self.bytes.capacity() + tables
    }

    /// Splits off the items from `item` on into a chunk of their own.
    pub(crate) fn split_off(&mut self, item: usize) -> RunChunk {
        let leaf = item * self.form.columns.len();
        let at = self.start_of(item);
        let mut bytes = Buffer::with_capacity(self.bytes.len() - at);
        bytes.push(&self.bytes.as_slice()[at..]);
        self.bytes.truncate(at);
        let mut positions = self.positions.split_off(leaf);
        positions.iter_mut().for_each(|position| *position -= at as u32);
        let lens = if self.lens.is_empty() { Vec::new() } else { self.lens.split_off(leaf) };
        let images = self.images.split_off(item * self.form.image);
        RunChunk { form: Arc::clone(&self.form), bytes, positions, lens, images }
    }

    /// Distributes the table to the chunks that its items were written into. So far `self` has the
    /// bytes of the last one. Returns the chunks after the first.
    fn cut(&mut self, cuts: Vec<Cut>) -> Vec<RunChunk> {
        let mut parts = Vec::with_capacity(cuts.len());
        for Cut { item, bytes } in cuts.into_iter().rev() {
            let positions = self.positions.split_off(item * self.form.columns.len());
            let images = self.images.split_off(item * self.form.image);
            let bytes = std::mem::replace(&mut self.bytes, bytes);
            parts.push(RunChunk { form: Arc::clone(&self.form), bytes, positions, lens: Vec::new(), images });
        }
        parts.reverse();
        parts
    }

    /// Appends the items of another chunk of the same form.
    pub(crate) fn append(&mut self, other: &RunChunk) {
        let by = self.bytes.len() as u32;
        self.bytes.push(other.bytes.as_slice());
        self.positions.extend(other.positions.iter().map(|position| position + by));
        self.lens.extend_from_slice(&other.lens);
        self.images.extend_from_slice(&other.images);
    }

    /// Drops the items from `item` on.
    pub(crate) fn truncate(&mut self, item: usize) {
        if item < self.items() {
            self.bytes.truncate(self.start_of(item));
            self.positions.truncate(item * self.form.columns.len());
            self.lens.truncate(item * self.form.columns.len());
            self.images.truncate(item * self.form.image);
        }
    }

    /// Returns the position of an item's start tag; the end for the item after the last.
    fn start_of(&self, item: usize) -> usize {
        match self.positions.get(item * self.form.columns.len()) {
            Some(&first) => first as usize - self.form.shape.open.len(),
            None => self.bytes.len(),
        }
    }

    /// Returns the first item that begins at or after a byte.
    fn item_at(&self, byte: usize) -> usize {
        let columns = self.form.columns.len();
        let (mut low, mut high) = (0, self.items());
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.positions[middle * columns] as usize) < byte + self.form.shape.open.len() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns a leaf's text.
    #[inline(always)]
    fn text(&self, leaf: usize, column: usize) -> &[u8] {
        let bytes = &self.bytes.as_slice()[self.positions[leaf] as usize..];
        let width = width(&self.positions, self.end(), leaf, self.form.columns[column].gap);
        &bytes[..text_len(&self.lens, leaf, width, bytes)]
    }

    /// Returns the position that a leaf after the last would have.
    fn end(&self) -> usize {
        self.bytes.len() + self.form.shape.open.len()
    }

    /// Splits a chunk that grew too long.
    pub(crate) fn split(mut self, chunk: usize) -> Vec<RunChunk> {
        let mut parts = Vec::new();
        loop {
            let item = self.item_at(chunk).max(1);
            if item >= self.items() {
                parts.push(self);
                return parts;
            }
            let rest = self.split_off(item);
            parts.push(std::mem::replace(&mut self, rest));
        }
    }
}

/// The table while it is read and changed: fields by number.
#[derive(Debug)]
struct Fields<'a> {
    form: &'a Form,
    positions: &'a mut [u32],
    lens: &'a mut [u16],
    images: &'a mut [u8],
    /// The position that a leaf after the last would have.
    end: usize,
}

impl RunChunk {
    /// Returns the bytes and the table.
    fn parts(&mut self) -> (&mut Buffer, Fields<'_>) {
        let end = self.end();
        let RunChunk { form, bytes, positions, lens, images } = self;
        (bytes, Fields { form, positions, lens, images, end })
    }
}

impl Fields<'_> {
    #[inline(always)]
    fn position(&self, leaf: usize) -> usize {
        self.positions[leaf] as usize
    }

    /// Returns the bytes of text and slack, according to the current table.
    #[inline(always)]
    fn width(&self, leaf: usize, column: usize) -> usize {
        width(self.positions, self.end, leaf, self.form.columns[column].gap)
    }

    /// Returns the bytes of text, given the field's width.
    #[inline(always)]
    fn len(&self, leaf: usize, width: usize, bytes: &[u8]) -> usize {
        text_len(self.lens, leaf, width, &bytes[self.position(leaf)..])
    }

    #[inline(always)]
    fn set_len(&mut self, leaf: usize, len: usize) {
        if let Some(place) = self.lens.get_mut(leaf) {
            *place = u16::try_from(len).unwrap_or(LONG);
        }
    }
}

/// Returns the bytes of a leaf's text and slack. `end` is the position that a leaf after the last
/// would have, `gap` the number of bytes of markup after the leaf.
#[inline(always)]
fn width(positions: &[u32], end: usize, leaf: usize, gap: usize) -> usize {
    let next = positions.get(leaf + 1).map_or(end, |&next| next as usize);
    next - positions[leaf] as usize - gap
}

/// Returns the bytes of a leaf's text, given its field's width and the bytes from the text on.
#[inline(always)]
fn text_len(lens: &[u16], leaf: usize, width: usize, bytes: &[u8]) -> usize {
    match lens.get(leaf) {
        None => width,
        Some(&LONG) => memchr::memchr(b'<', bytes).unwrap_or(width),
        Some(&len) => usize::from(len),
    }
}
