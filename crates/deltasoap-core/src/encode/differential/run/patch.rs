//! Values written into their fields.
//!
//! A value that needs as much room as the one before replaces it. In stuffed forms one that needs less, or more but no more than
//! the field has, moves its end tag; one that needs more takes what is missing from the slack of a field nearby (*stealing*),
//! by moving what stands between. The first value for which there is no room ends the patch.

use super::{Fields, RunChunk};
use crate::content::Content;
use crate::encode::differential::EncodeStats;
use crate::encode::flat::FlatSink;
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// How many fields away slack is looked for.
const REACH: usize = 8;

/// What a patch needs beside the chunk.
#[derive(Debug)]
pub(crate) struct Tools<'a> {
    pub(crate) text: &'a mut Buffer,
    pub(crate) stats: &'a mut EncodeStats,
}

/// Writes an item's values into their fields. Gives `None` if one does not fit; those in front of it are written.
#[derive(Debug)]
pub(super) struct Patch<'a> {
    bytes: &'a mut [u8],
    fields: Fields<'a>,
    tools: Tools<'a>,
    leaf: usize,
    column: usize,
    image: usize,
    /// How many leaves were written.
    pub(super) written: usize,
    is_full: bool,
}

impl<'a> Patch<'a> {
    pub(super) fn new(chunk: &'a mut RunChunk, tools: Tools<'a>) -> Self {
        let (bytes, fields) = chunk.parts();
        Patch { bytes, fields, tools, leaf: 0, column: 0, image: 0, written: 0, is_full: false }
    }

    /// Writes an item; false if not all of it fits.
    #[inline(always)]
    pub(super) fn item<T: Content>(&mut self, index: usize, item: &T, view: View<'_>) -> bool {
        let form = self.fields.form;
        (self.leaf, self.column, self.image) = (index * form.columns.len(), 0, index * form.image);
        item.write_flat(self, view);
        !self.is_full
    }

    /// The images from an item on.
    #[inline(always)]
    pub(super) fn images(&self, item: usize) -> &[u8] {
        &self.fields.images[item * self.fields.form.image..]
    }

    /// Writes the value in `tools.text`; false if there is no room.
    #[inline(always)]
    fn write(&mut self) -> bool {
        let width = self.fields.width(self.leaf, self.column);
        let text = self.tools.text.as_slice();
        if !self.fields.form.is_stuffed {
            return text.len() == width && replace(self.bytes, self.fields.position(self.leaf), text);
        }
        self.write_stuffed(width)
    }

    #[inline(never)]
    fn write_stuffed(&mut self, width: usize) -> bool {
        let (len, old) = (self.tools.text.len(), self.fields.len(self.leaf, width, self.bytes));
        if len > width && !self.steal(len - width) {
            return false;
        }
        let (start, text) = (self.fields.position(self.leaf), self.tools.text.as_slice());
        self.bytes[start..start + len].copy_from_slice(text);
        if len != old {
            self.move_tag(start, len, old);
        }
        true
    }

    fn move_tag(&mut self, start: usize, len: usize, old: usize) {
        let tag = self.fields.form.columns[self.column].tag.as_slice();
        let (behind, was_behind) = (start + len + tag.len(), start + old + tag.len());
        self.bytes[start + len..behind].copy_from_slice(tag);
        if behind < was_behind {
            self.bytes[behind..was_behind].fill(b' ');
        }
        self.fields.set_len(self.leaf, len);
        self.tools.stats.tag_moves += 1;
    }

    /// Makes the field wider by `more`, at the cost of one nearby.
    fn steal(&mut self, more: usize) -> bool {
        let stolen = self.steal_behind(more) || self.steal_in_front(more);
        self.tools.stats.steals += u64::from(stolen);
        stolen
    }

    fn steal_behind(&mut self, more: usize) -> bool {
        let Some(giver) = (self.leaf + 1..self.reach()).find(|&leaf| self.slack(leaf) >= more) else { return false };
        let width = self.fields.width(self.leaf, self.column);
        let from = self.fields.position(self.leaf) + width + self.tag_of(self.leaf);
        let to = self.used_end(giver);
        self.bytes.copy_within(from..to, from + more);
        for position in &mut self.fields.positions[self.leaf + 1..=giver] {
            *position += more as u32;
        }
        self.tools.stats.moved += (to - from) as u64;
        true
    }

    fn steal_in_front(&mut self, more: usize) -> bool {
        let first = self.leaf.saturating_sub(REACH);
        let Some(giver) = (first..self.leaf).rfind(|&leaf| self.slack(leaf) >= more) else { return false };
        let from = self.used_end(giver) + self.slack(giver);
        let to = self.fields.position(self.leaf);
        self.bytes.copy_within(from..to, from - more);
        for position in &mut self.fields.positions[giver + 1..=self.leaf] {
            *position -= more as u32;
        }
        self.tools.stats.moved += (to - from) as u64;
        true
    }

    /// One behind the last leaf that may be asked.
    fn reach(&self) -> usize {
        (self.leaf + 1 + REACH).min(self.fields.positions.len())
    }

    fn tag_of(&self, leaf: usize) -> usize {
        self.fields.form.columns[leaf % self.fields.form.columns.len()].tag.len()
    }

    fn slack(&self, leaf: usize) -> usize {
        let width = self.fields.width(leaf, leaf % self.fields.form.columns.len());
        width - self.fields.len(leaf, width, self.bytes)
    }

    /// Where a field's slack begins.
    fn used_end(&self, leaf: usize) -> usize {
        let width = self.fields.width(leaf, leaf % self.fields.form.columns.len());
        self.fields.position(leaf) + self.fields.len(leaf, width, self.bytes) + self.tag_of(leaf)
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
            let len = self.fields.len(self.leaf, width, self.bytes);
            let start = self.fields.position(self.leaf);
            value.is_text(&self.bytes[start..start + len], self.tools.text)
        };
        if !is_same {
            self.tools.text.clear();
            value.format(self.tools.text, Escape::Text);
            if !self.write() {
                self.is_full = true;
                return;
            }
            self.written += 1;
            self.fields.images[at..at + image].copy_from_slice(&value.image()[..image]);
        }
        self.leaf += 1;
        self.column += 1;
        self.image += image;
    }
}

/// Replaces bytes, a few dozen at most times, in blocks.
#[inline(always)]
fn replace(bytes: &mut [u8], start: usize, text: &[u8]) -> bool {
    let place = &mut bytes[start..start + text.len()];
    if let (Some(first), Some(last), 16..=32) = (text.first_chunk::<16>(), text.last_chunk::<16>(), text.len()) {
        let tail = text.len() - 16;
        place[..16].copy_from_slice(first);
        place[tail..].copy_from_slice(last);
    } else if let (Some(first), Some(last), 8..16) = (text.first_chunk::<8>(), text.last_chunk::<8>(), text.len()) {
        let tail = text.len() - 8;
        place[..8].copy_from_slice(first);
        place[tail..].copy_from_slice(last);
    } else {
        place.copy_from_slice(text);
    }
    true
}
