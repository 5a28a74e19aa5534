//! Rewrites chunks in one pass: regardless of how many values do not fit, the content after them is
//! moved once.
//!
//! Old bytes between values that differ, new values, and positions corrected by the shift so far go
//! into a second buffer; then the two swap roles. If more than an eighth of the items of a stretch
//! changed, all of its items are processed (`weave`). A chunk that will get too long is cut while
//! it is built: the rest goes into a buffer of its own, and nothing is copied twice.

use super::build::push_spaces;
use super::weave::{Weave, Woven};
use super::{Fields, RunChunk};
use crate::encode::differential::EncodeStats;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// Writes a chunk's bytes into `out`: the old content between values that differ, and these values.
#[derive(Debug)]
pub(super) struct Merge<'a> {
    old: &'a [u8],
    /// Number of bytes of `old` that were taken over or replaced.
    done: usize,
    /// Number of bytes of `old` that were taken over.
    copied: usize,
    out: &'a mut Buffer,
    /// Bytes of the chunks before the current one.
    cut_bytes: usize,
    fields: Fields<'a>,
    scratch: &'a mut Buffer,
    stats: &'a mut EncodeStats,
    leaf: usize,
    column: usize,
    image: usize,
    pub(super) written: usize,
    /// True once a value needed more or less space than the old one.
    pub(super) resized: bool,
}

/// A chunk that was ended before an item.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) item: usize,
    pub(super) bytes: Buffer,
}

impl<'a> Merge<'a> {
    /// Creates a merge that begins with the leaves of an item.
    pub(super) fn new(
        chunk: &'a mut RunChunk,
        item: usize,
        out: &'a mut Buffer,
        scratch: &'a mut Buffer,
        stats: &'a mut EncodeStats,
    ) -> Self {
        let (old, fields) = chunk.parts();
        let old = old.as_slice();
        let (leaf, image) = (item * fields.form.columns.len(), item * fields.form.image);
        out.clear();
        Merge {
            old,
            done: 0,
            copied: 0,
            out,
            cut_bytes: 0,
            fields,
            scratch,
            stats,
            leaf,
            column: 0,
            image,
            written: 0,
            resized: false,
        }
    }

    /// Merges the next item.
    #[inline(always)]
    pub(super) fn item<T: Item>(&mut self, item: &T, view: View<'_>) {
        self.column = 0;
        item.write_flat(self, view);
    }

    /// Returns the bits of all items' numbers.
    pub(super) fn images(&self) -> &[u8] {
        self.fields.images
    }

    /// Takes over the items before `item` unchanged.
    pub(super) fn skip_to(&mut self, item: usize) {
        let items = item - self.leaf / self.fields.form.columns.len();
        let (leaves, by) = (items * self.fields.form.columns.len(), self.shift());
        for position in &mut self.fields.positions[self.leaf..self.leaf + leaves] {
            *position = position.wrapping_add(by);
        }
        self.leaf += leaves;
        self.image += items * self.fields.form.image;
    }

    /// Rewrites items, including all markup.
    pub(super) fn rewrite<T: Item>(&mut self, items: &[T], view: View<'_>) {
        let (columns, open) = (self.fields.form.columns.len(), self.fields.form.shape.open.len());
        let start = self.fields.position(self.leaf);
        self.copied += start - self.done;
        match self.fields.form.after_exactly(columns - 1, start - self.done) {
            Some(markup) if self.done > 0 => markup.push_to(self.out),
            _ => self.out.push(&self.old[self.done..start]),
        }
        let end = self.leaf + items.len() * columns;
        let next = self.fields.positions.get(end).map_or(self.fields.end, |&next| next as usize);
        let at = self.out.len();
        let Merge { old, out, fields, leaf, image, .. } = self;
        let woven = Woven::default();
        let weave = Weave { old, out, fields, leaf: *leaf, image: *image, column: 0, woven };
        let woven = weave.write(items, view);
        self.leaf = end;
        self.image += items.len() * self.fields.form.image;
        self.written += woven.leaves;
        // The markup around a written text counts as written too.
        let leaves = items.len() * columns;
        self.copied += (self.out.len() - at) * (leaves - woven.leaves) / leaves.max(1);
        self.stats.shifts += woven.resized as u64;
        self.resized |= woven.resized > 0;
        // The markup up to the next item's first leaf is unchanged, except for the end of the last
        // leaf.
        self.done = next - open - self.fields.form.shape.close.len();
    }

    /// Returns the number of bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns the expected length of the chunk, if the rest grows like the part already written.
    pub(super) fn projected(&self) -> usize {
        match self.done {
            0 => self.old.len(),
            done => (self.out.len() as u64 * self.old.len() as u64 / done as u64) as usize,
        }
    }

    /// Ends the chunk before the next item, and continues in another buffer.
    pub(super) fn cut(&mut self, next: Buffer) -> Cut {
        let boundary = self.fields.position(self.leaf) - self.fields.form.shape.open.len();
        self.out.push(&self.old[self.done..boundary]);
        self.copied += boundary - self.done;
        self.done = boundary;
        self.cut_bytes += self.out.len();
        let item = self.leaf / self.fields.form.columns.len();
        Cut { item, bytes: std::mem::replace(self.out, next) }
    }

    /// Takes over the rest.
    pub(super) fn finish(mut self) {
        let items = self.fields.positions.len() / self.fields.form.columns.len();
        self.skip_to(items);
        self.out.push(&self.old[self.done..]);
        self.copied += self.old.len() - self.done;
        self.stats.written += (self.cut_bytes + self.out.len() - self.copied) as u64;
        self.stats.moved += if self.resized { self.copied as u64 } else { 0 };
    }

    /// Returns the distance by which later content moves; wraps if it moves to the front.
    #[inline(always)]
    fn shift(&self) -> u32 {
        (self.out.len() as u32).wrapping_sub(self.done as u32)
    }

    /// Writes a value in place of the old one of a field.
    #[inline(always)]
    fn replace<T: Lexical>(&mut self, value: &T, start: usize, width: usize, len: usize) {
        let column = self.column.checked_sub(1).unwrap_or(self.fields.form.columns.len() - 1);
        self.copied += start - self.done;
        // Reading old bytes that nothing else has accessed is slow, so known markup is copied from
        // the form.
        match self.fields.form.after_exactly(column, start - self.done) {
            Some(markup) if self.done > 0 => markup.push_to(self.out),
            _ => self.out.push_short(&self.old[self.done..start]),
        }
        let at = self.out.len();
        self.fields.positions[self.leaf] = at as u32;
        value.format(self.out, Escape::Text);
        let new = self.out.len() - at;
        if self.fields.form.is_stuffed {
            self.stuff(new, width);
            self.done = start + width + self.fields.form.columns[self.column].tag.len();
        } else {
            self.done = start + len;
        }
        let is_shift = if self.fields.form.is_stuffed { new > width } else { new != len };
        self.resized |= is_shift;
        self.stats.shifts += u64::from(is_shift);
    }

    fn stuff(&mut self, len: usize, width: usize) {
        let column = &self.fields.form.columns[self.column];
        column.tag.push_to(self.out);
        let room = if len <= width { width } else { column.room.max(len) };
        push_spaces(self.out, room - len);
        self.fields.set_len(self.leaf, len);
    }
}

impl FlatSink for Merge<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        let start = self.fields.position(self.leaf);
        let image = T::IMAGE.bytes();
        let images = self.image..self.image + image;
        let is_same = if image > 0 {
            self.fields.images[images.clone()] == value.image()[..image]
        } else {
            let len = self.fields.len(self.leaf, self.fields.width(self.leaf, self.column), self.old);
            value.is_text(&self.old[start..start + len], self.scratch)
        };
        if is_same {
            self.fields.positions[self.leaf] = (start as u32).wrapping_add(self.shift());
        } else {
            let width = self.fields.width(self.leaf, self.column);
            let len = self.fields.len(self.leaf, width, self.old);
            self.replace(value, start, width, len);
            self.fields.images[images].copy_from_slice(&value.image()[..image]);
            self.written += 1;
        }
        self.leaf += 1;
        self.column += 1;
        self.image += image;
    }
}
