//! Numbers of a plain array, written into their fields by the dozen.
//!
//! First the texts of some values are made, one behind the other, then each is put into its place. So making texts does not wait
//! for memory that the template's bytes come from, nor for the decision whether one fits.

use super::RunChunk;
use crate::content::Content;
use crate::encode::flat::FlatSink;
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// Values made before any is put into its place.
const BATCH: usize = 32;

/// Writes the values of changed items, each of one leaf, as long as they need what the old ones did. Gives how many of the
/// changed items were written, and how many bytes: what is behind them has not been touched.
pub(super) fn write<T: Content>(
    run: &mut RunChunk,
    items: &[T],
    changed: &[u32],
    scratch: &mut Buffer,
    view: View<'_>,
) -> (usize, usize) {
    let (mut written, mut bytes) = (0, 0);
    for batch in changed.chunks(BATCH) {
        scratch.clear();
        let mut texts = Texts { out: &mut *scratch, ends: [0; BATCH], images: [[0; 8]; BATCH], count: 0 };
        for &item in batch {
            items[item as usize].write_flat(&mut texts, view);
        }
        let Texts { ends, images, .. } = texts;
        let placed = place(run, batch, scratch.as_slice(), &ends, &images);
        written += placed;
        bytes += placed.checked_sub(1).map_or(0, |last| ends[last] as usize);
        if placed < batch.len() {
            break;
        }
    }
    (written, bytes)
}

/// Puts texts into their places, up to the first that does not fit.
fn place(run: &mut RunChunk, batch: &[u32], texts: &[u8], ends: &[u32; BATCH], images: &[[u8; 8]; BATCH]) -> usize {
    let stride = run.form.image;
    let (bytes, fields) = run.parts();
    let len = bytes.len();
    let mut start = 0;
    let mut placed = 0;
    for ((&item, &end), image) in batch.iter().zip(ends).zip(images) {
        let (item, end) = (item as usize, end as usize);
        let position = fields.position(item);
        if fields.width(item, 0) != end - start {
            break;
        }
        bytes.seek(position);
        bytes.push_short(&texts[start..end]);
        fields.images[item * stride..][..stride].copy_from_slice(&image[..stride]);
        start = end;
        placed += 1;
    }
    bytes.seek(len);
    placed
}

/// Texts of values, and their images.
struct Texts<'a> {
    out: &'a mut Buffer,
    ends: [u32; BATCH],
    images: [[u8; 8]; BATCH],
    count: usize,
}

impl FlatSink for Texts<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        value.format(self.out, Escape::Text);
        if let (Some(end), Some(image)) = (self.ends.get_mut(self.count), self.images.get_mut(self.count)) {
            *end = self.out.len() as u32;
            *image = value.image();
        }
        self.count += 1;
    }
}
