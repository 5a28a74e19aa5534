//! Overwrites the numbers of a plain array in their fields.
//!
//! A number's text is made, its length is compared with the field's, and it is copied in two
//! overlapping pieces. No byte next to it is touched, and a value that does not fit has changed
//! nothing.

use super::changes::{Block, NewItems};
use super::{Fields, RunChunk};
use crate::encode::flat::{FlatSink, Item};
use deltasoap_xml::Buffer;
use deltasoap_xml::lexical::Lexical;
use std::sync::Arc;

/// The result of writing a chunk.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) leaves: usize,
    pub(super) bytes: usize,
    /// The first item that needs more or less space than before. It and later items are unchanged.
    pub(super) misfit: Option<usize>,
}

/// Writes the changed items from `from` on, each of one leaf, until one needs more or less space
/// than the old one.
pub(super) fn write<T: Item>(
    run: &mut RunChunk,
    new_items: &NewItems<'_, T>,
    from: usize,
    scratch: &mut Buffer,
) -> Written {
    let form = Arc::clone(&run.form);
    let (bytes, fields) = run.parts();
    let mut over =
        Overwriter { bytes: bytes.tail_mut(0), fields, scratch, item: 0, fits: true, written: Written::default() };
    let mut block = Block::before(from);
    while over.fits && new_items.advance(&mut block, &form, over.fields.images) {
        over.written.misfit = block.places().find(|&item| {
            over.item = item;
            new_items.items[item].write_flat(&mut over, new_items.view);
            !over.fits
        });
    }
    over.written
}

/// Overwrites old leaves.
struct Overwriter<'a> {
    bytes: &'a mut [u8],
    fields: Fields<'a>,
    scratch: &'a mut Buffer,
    item: usize,
    fits: bool,
    written: Written,
}

impl FlatSink for Overwriter<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        let (start, width) = (self.fields.position(self.item), self.fields.width(self.item, 0));
        let place = &mut self.bytes[start..start + width];
        self.fits = value.write_over(place, self.scratch);
        if self.fits {
            let image = T::IMAGE.bytes();
            self.fields.images[self.item * image..][..image].copy_from_slice(&value.image()[..image]);
            self.written.leaves += 1;
            self.written.bytes += width;
        }
    }
}
