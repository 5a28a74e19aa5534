//! Rewrites items where many of them changed: unchanged texts are copied, each as one block,
//! changed ones are written, and all markup comes from the form. The cost of an item hardly depends
//! on its neighbours, so no search for changes comes first.

use super::{Fields, form::NARROW};
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// Writes consecutive items in exact widths.
#[derive(Debug)]
pub(super) struct Weave<'a, 'f> {
    pub(super) old: &'a [u8],
    pub(super) out: &'a mut Buffer,
    pub(super) fields: &'a mut Fields<'f>,
    /// The next leaf, and the position of its image.
    pub(super) leaf: usize,
    pub(super) image: usize,
    pub(super) column: usize,
    pub(super) woven: Woven,
}

/// Counts of what was written.
#[derive(Debug, Default)]
pub(super) struct Woven {
    pub(super) leaves: usize,
    /// Number of leaves that became longer or shorter.
    pub(super) resized: usize,
}

impl Weave<'_, '_> {
    /// Writes items, from the first leaf of the first one to the last leaf of the last one.
    #[inline(always)]
    pub(super) fn write<T: Item>(mut self, items: &[T], view: View<'_>) -> Woven {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.fields.form.shape.turn.push_to(self.out);
            }
            self.column = 0;
            item.write_flat(&mut self, view);
        }
        self.woven
    }

    /// Copies an old text.
    #[inline(always)]
    fn copy(&mut self, start: usize, len: usize) {
        match self.old[start..].first_chunk::<NARROW>() {
            Some(block) if len <= NARROW => self.out.push_block(block, len),
            _ => self.out.push(&self.old[start..start + len]),
        }
    }
}

impl FlatSink for Weave<'_, '_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.column > 0 {
            self.fields.form.shape.between[self.column - 1].push_to(self.out);
        }
        let (start, len) = (self.fields.position(self.leaf), self.fields.width(self.leaf, self.column));
        let at = self.out.len();
        self.fields.positions[self.leaf] = at as u32;
        let image = T::IMAGE.bytes();
        let old = &mut self.fields.images[self.image..self.image + image];
        let new = &value.image()[..image];
        if image > 0 && *old == *new {
            self.copy(start, len);
        } else {
            old.copy_from_slice(new);
            value.format(self.out, Escape::Text);
            let new = self.out.len() - at;
            self.woven.leaves += 1;
            self.woven.resized += usize::from(new != len);
        }
        self.leaf += 1;
        self.column += 1;
        self.image += image;
    }
}
