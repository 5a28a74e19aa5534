//! Runs: the items of a flat array in chunks of their own.
//!
//! All items have the same markup, so what must be known of each is where its leaves' texts begin,
//! and what values they have: a position and the value's bits. That is the papers' DUT table for an
//! array, four bytes a leaf and the bits; type and widest value are the column's, the serialized
//! length follows from the next position, and is stored (two bytes) only where fields may be wider
//! than their values. A leaf's *field* is laid out so:
//!
//! ```text
//! text </end-tag> slack  rest-of-the-markup  next leaf's text
//! ^position                                  ^next position
//! ```
//!
//! Its width is that of text and slack together. `build` writes items, `changes` finds those that
//! differ, `patch` and `numbers` write values into their fields, `merge` makes a chunk anew in one
//! pass when values do not fit, with `weave` where many do, `update` is the way through them.
//! `share` takes over what another template holds, `texts` finds values by their texts.

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
pub(crate) use texts::{Found, Texts};
pub(crate) use update::{Items, Work, update};

use deltasoap_xml::Buffer;
use merge::Cut;
use std::sync::Arc;

/// Items of a run, and the table of their leaves.
#[derive(Debug, Clone)]
pub(crate) struct RunChunk {
    pub(crate) form: Arc<Form>,
    /// From the first item's start tag to the last item's end tag, and the slack of its last leaf.
    pub(crate) bytes: Buffer,
    /// Where each leaf's text begins.
    positions: Vec<u32>,
    /// How long each leaf's text is, if fields may be wider; [`LONG`] for those that are looked up.
    lens: Vec<u16>,
    /// The leaves' bits, those that have some.
    images: Vec<u8>,
}

/// Stands for a length that is no `u16`.
const LONG: u16 = u16::MAX;

impl RunChunk {
    fn new(form: &Arc<Form>) -> Self {
        let (bytes, positions, lens, images) = Default::default();
        RunChunk { form: Arc::clone(form), bytes, positions, lens, images }
    }

    /// Returns the number of items it holds.
    pub(crate) fn items(&self) -> usize {
        self.positions.len() / self.form.columns.len()
    }

    /// Returns the bytes of memory, without the form.
    pub(crate) fn memory(&self) -> usize {
        let tables = self.positions.capacity() * 4 + self.lens.capacity() * 2 + self.images.capacity();
        size_of::<Self>() + self.bytes.capacity() + tables
    }

    /// Takes the items from `item` on out, into a chunk of their own.
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

    /// Distributes the table to the chunks that its items were written into; the last one's bytes
    /// are its own so far. Returns the chunks after the first.
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

    /// Where an item's start tag begins; the end for the one after the last.
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

    /// Where a leaf after the last would begin.
    fn end(&self) -> usize {
        self.bytes.len() + self.form.shape.open.len()
    }

    /// Cuts a chunk that grew too long.
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

/// The table while it is being read and changed: fields by number.
#[derive(Debug)]
struct Fields<'a> {
    form: &'a Form,
    positions: &'a mut [u32],
    lens: &'a mut [u16],
    images: &'a mut [u8],
    /// Where a leaf after the last would begin.
    end: usize,
}

impl RunChunk {
    /// Returns the bytes, and the table of what stands in them.
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

    /// Bytes of text and slack, as the table says now.
    #[inline(always)]
    fn width(&self, leaf: usize, column: usize) -> usize {
        width(self.positions, self.end, leaf, self.form.columns[column].gap)
    }

    /// Bytes of text, given the field's width.
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

/// Bytes of a leaf's text and slack. `end` is where a leaf after the last would begin, `gap` are
/// the bytes of markup after it.
#[inline(always)]
fn width(positions: &[u32], end: usize, leaf: usize, gap: usize) -> usize {
    let next = positions.get(leaf + 1).map_or(end, |&next| next as usize);
    next - positions[leaf] as usize - gap
}

/// Bytes of a leaf's text, given its field's width and the bytes from the text on.
#[inline(always)]
fn text_len(lens: &[u16], leaf: usize, width: usize, bytes: &[u8]) -> usize {
    match lens.get(leaf) {
        None => width,
        Some(&LONG) => memchr::memchr(b'<', bytes).unwrap_or(width),
        Some(&len) => usize::from(len),
    }
}
