//! Writes values into their fields.
//!
//! A value of the same length replaces the old one. In stuffed forms a value that is shorter, or
//! longer but within the field, moves its end tag. A value that exceeds the field takes the missing
//! bytes from the slack of a field nearby (*stealing*), by moving the content between. The first
//! value for which there is no room ends the patch.

use super::form::NARROW;
use super::{Fields, RunChunk};
use crate::encode::differential::EncodeStats;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// Maximum distance in fields to look for slack.
const REACH: usize = 8;

/// The resources of a patch besides the chunk.
#[derive(Debug)]
pub(crate) struct Tools<'a> {
    pub(crate) text: &'a mut Buffer,
    pub(crate) stats: &'a mut EncodeStats,
}

/// Writes items' values into their fields, as long as they fit.
#[derive(Debug)]
pub(super) struct Patch<'a> {
    bytes: &'a mut Buffer,
    fields: Fields<'a>,
    tools: Tools<'a>,
    leaf: usize,
    column: usize,
    image: usize,
    /// Number of leaves written.
    pub(super) written: usize,
    /// True once a text could not be written exactly.
    pub(super) replaced: bool,
    is_full: bool,
}

impl<'a> Patch<'a> {
    pub(super) fn new(chunk: &'a mut RunChunk, tools: Tools<'a>) -> Self {
        let (bytes, fields) = chunk.parts();
        Patch { bytes, fields, tools, leaf: 0, column: 0, image: 0, written: 0, replaced: false, is_full: false }
    }

    /// Returns the bits of all items' numbers.
    pub(super) fn images(&self) -> &[u8] {
        self.fields.images
    }

    /// Writes an item. Returns false if it does not fit completely.
    #[inline(always)]
    pub(super) fn item<T: Item>(&mut self, index: usize, item: &T, view: View<'_>) -> bool {
        let form = self.fields.form;
        (self.leaf, self.column, self.image) = (index * form.columns.len(), 0, index * form.image);
        item.write_flat(self, view);
        !self.is_full
    }

    /// Writes a value into its field. Returns false if there is no room.
    #[inline(always)]
    fn write<T: Lexical>(&mut self, value: &T) -> bool {
        let width = self.fields.width(self.leaf, self.column);
        if self.fields.form.is_stuffed {
            return self.write_stuffed(value, width);
        }
        self.tools.text.clear();
        let place = &mut self.bytes.tail_mut(self.fields.position(self.leaf))[..width];
        let fits = value.write_over(place, self.tools.text);
        self.replaced |= self.tools.text.has_replaced();
        fits
    }

    #[inline(never)]
    fn write_stuffed<T: Lexical>(&mut self, value: &T, width: usize) -> bool {
        self.tools.text.clear();
        value.format(self.tools.text, Escape::Text);
        self.replaced |= self.tools.text.has_replaced();
        let (len, old) = (self.tools.text.len(), self.fields.len(self.leaf, width, self.bytes.as_slice()));
        if len > width && !self.steal(len - width) {
            return false;
        }
        self.fill(self.fields.position(self.leaf), len, width.max(len));
        self.fields.set_len(self.leaf, len);
        self.tools.stats.tag_moves += u64::from(len != old);
        true
    }

    /// Fills a field with the text, its end tag, and spaces.
    #[inline(always)]
    fn fill(&mut self, start: usize, len: usize, width: usize) {
        let tag = &self.fields.form.columns[self.column].tag;
        let field = &mut self.bytes.tail_mut(start)[..width + tag.len()];
        // As one block, if it ends within the field.
        match (field.first_chunk_mut::<NARROW>(), self.tools.text.tail_mut(0).first_chunk()) {
            (Some(field), Some(block)) if len <= NARROW => *field = *block,
            _ => field[..len].copy_from_slice(self.tools.text.as_slice()),
        }
        field[len..len + tag.len()].copy_from_slice(tag.as_slice());
        field[len + tag.len()..].fill(b' ');
    }

    /// Widens the field by `more` bytes, at the cost of one nearby.
    fn steal(&mut self, more: usize) -> bool {
        let stolen = self.steal_after(more) || self.steal_before(more);
        self.tools.stats.steals += u64::from(stolen);
        stolen
    }

    fn steal_after(&mut self, more: usize) -> bool {
        let Some(giver) = (self.leaf + 1..self.reach()).find(|&leaf| self.slack(leaf) >= more) else { return false };
        let width = self.fields.width(self.leaf, self.column);
        let from = self.fields.position(self.leaf) + width + self.tag_of(self.leaf);
        let to = self.used_end(giver);
        self.bytes.tail_mut(0).copy_within(from..to, from + more);
        for position in &mut self.fields.positions[self.leaf + 1..=giver] {
            *position += more as u32;
        }
        self.tools.stats.moved += (to - from) as u64;
        true
    }

    fn steal_before(&mut self, more: usize) -> bool {
        let first = self.leaf.saturating_sub(REACH);
        let Some(giver) = (first..self.leaf).rfind(|&leaf| self.slack(leaf) >= more) else { return false };
        let from = self.used_end(giver) + self.slack(giver);
        let to = self.fields.position(self.leaf);
        self.bytes.tail_mut(0).copy_within(from..to, from - more);
        for position in &mut self.fields.positions[giver + 1..=self.leaf] {
            *position -= more as u32;
        }
        self.tools.stats.moved += (to - from) as u64;
        true
    }

    /// Returns the index after the last leaf that slack may be taken from.
    fn reach(&self) -> usize {
        (self.leaf + 1 + REACH).min(self.fields.positions.len())
    }

    fn tag_of(&self, leaf: usize) -> usize {
        self.fields.form.columns[leaf % self.fields.form.columns.len()].tag.len()
    }

    fn slack(&self, leaf: usize) -> usize {
        let width = self.fields.width(leaf, leaf % self.fields.form.columns.len());
        width - self.fields.len(leaf, width, self.bytes.as_slice())
    }

    /// Returns the position of a field's slack.
    fn used_end(&self, leaf: usize) -> usize {
        let width = self.fields.width(leaf, leaf % self.fields.form.columns.len());
        self.fields.position(leaf) + self.fields.len(leaf, width, self.bytes.as_slice()) + self.tag_of(leaf)
    }
}

impl FlatSink for Patch<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.is_full {
            return;
        }
        let at = self.image;
        let image = T::IMAGE.bytes();
        let is_same = if image > 0 {
            self.fields.images[at..at + image] == value.image()[..image]
        } else {
            let width = self.fields.width(self.leaf, self.column);
            let len = self.fields.len(self.leaf, width, self.bytes.as_slice());
            let start = self.fields.position(self.leaf);
            value.is_text(&self.bytes.as_slice()[start..start + len], self.tools.text)
        };
        if !is_same {
            if !self.write(value) {
                self.is_full = true;
                return;
            }
            self.written += 1;
            let width = self.fields.width(self.leaf, self.column);
            self.tools.stats.written += self.fields.len(self.leaf, width, self.bytes.as_slice()) as u64;
            self.fields.images[at..at + image].copy_from_slice(&value.image()[..image]);
        }
        self.leaf += 1;
        self.column += 1;
        self.image += image;
    }
}
