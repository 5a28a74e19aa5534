//! Comparison of items with the content of a chunk.

use super::RunChunk;
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::Buffer;
use deltasoap_xml::lexical::Lexical;

/// Compares items, leaf by leaf.
pub(super) struct Compare<'a> {
    chunk: &'a RunChunk,
    scratch: Buffer,
    leaf: usize,
    column: usize,
    image: usize,
    differs: bool,
}

impl<'a> Compare<'a> {
    pub(super) fn new(chunk: &'a RunChunk) -> Self {
        Compare { chunk, scratch: Buffer::new(), leaf: 0, column: 0, image: 0, differs: false }
    }

    /// Returns true if the item equals the one at the current position.
    #[inline(always)]
    pub(super) fn item<T: Item>(&mut self, index: usize, item: &T, view: View<'_>) -> bool {
        let form = &self.chunk.form;
        (self.leaf, self.column, self.image) = (index * form.columns.len(), 0, index * form.image);
        if self.leaf >= self.chunk.positions.len() {
            return false;
        }
        item.write_flat(self, view);
        !self.differs
    }
}

impl FlatSink for Compare<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        let image = T::IMAGE.bytes();
        let is_same = if image > 0 {
            self.chunk.images[self.image..self.image + image] == value.image()[..image]
        } else {
            value.is_text(self.chunk.text(self.leaf, self.column), &mut self.scratch)
        };
        self.differs |= !is_same;
        self.leaf += 1;
        self.column += 1;
        self.image += image;
    }
}
