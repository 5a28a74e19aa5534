//! Items compared with what stands in a chunk.

use super::RunChunk;
use crate::content::Content;
use crate::encode::flat::FlatSink;
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

    /// True if the item is what stands at a place.
    #[inline(always)]
    pub(super) fn item<T: Content>(&mut self, index: usize, item: &T, view: View<'_>) -> bool {
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

/// Puts the numbers of those items that differ from their images behind what `changed` has. Without a branch on whether they do,
/// which nobody could predict.
pub(super) fn note_changed<T: Content>(items: &[T], images: &[u8], first: u32, changed: &mut Vec<u32>, view: View<'_>) {
    let stride = images.len() / items.len().max(1);
    let mut count = changed.len();
    changed.resize(count + items.len(), 0);
    for (index, (item, image)) in items.iter().zip(images.chunks_exact(stride.max(1))).enumerate() {
        let mut differs = Differs { image, differs: false };
        item.write_flat(&mut differs, view);
        changed[count] = first + index as u32;
        count += usize::from(differs.differs);
    }
    changed.truncate(count);
}

/// Keeps the numbers of those items that differ from their images.
pub(super) fn keep_changed<T: Content>(items: &[T], images: &[u8], changed: &mut Vec<u32>, view: View<'_>) {
    let stride = images.len() / items.len().max(1);
    let mut count = 0;
    for at in 0..changed.len() {
        let item = changed[at] as usize;
        let mut differs = Differs { image: &images[item * stride..][..stride], differs: false };
        items[item].write_flat(&mut differs, view);
        changed[count] = item as u32;
        count += usize::from(differs.differs);
    }
    changed.truncate(count);
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
