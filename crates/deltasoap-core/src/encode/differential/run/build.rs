//! Writes items into chunks of their own, and notes the positions of their leaves.

use super::linear::Linear;
use super::{Form, LONG, RunChunk};
use crate::encode::differential::tape::is_too_long;
use crate::encode::differential::{Templating, Width};
use crate::encode::flat::{FlatSink, Item};
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};
use std::sync::Arc;

/// Maximum number of items sampled to learn widths.
const SAMPLE: usize = 512;

/// Maximum number of items written between checks of the chunk's length.
const BLOCK: usize = 32;

/// Room for the item that exceeds the end of a chunk.
const MARGIN: usize = 256;

/// Writes items into chunks with at least one item each. `replaced` becomes true if a text could
/// not be written exactly.
pub(crate) fn build<T: Item>(
    items: &[T],
    form: &Arc<Form>,
    options: &Templating,
    replaced: &mut bool,
    view: View<'_>,
) -> Vec<RunChunk> {
    let mut chunks = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let mut chunk = RunChunk::new(form);
        let taken = fill(&mut chunk, rest, options, replaced, view);
        rest = &rest[taken..];
        chunks.push(chunk);
    }
    chunks
}

/// Learns field widths from values: a quantile of the widths they need.
pub(crate) fn learn<T: Item>(items: &[T], form: &mut Form, options: &Templating, view: View<'_>) {
    let Width::Learned(part) = options.width else { return };
    let mut widths = Widths { text: Buffer::new(), lens: vec![Vec::new(); form.columns.len()], column: 0 };
    for item in items.iter().step_by(items.len().div_ceil(SAMPLE).max(1)) {
        widths.column = 0;
        item.write_flat(&mut widths, view);
    }
    for (column, lens) in form.columns.iter_mut().zip(&mut widths.lens) {
        lens.sort_unstable();
        let rank = (part.clamp(0.0, 1.0) * lens.len().saturating_sub(1) as f32).ceil() as usize;
        column.room = if column.max_width.is_some() { lens.get(rank).copied().unwrap_or(0) } else { 0 };
    }
}

/// Appends items until the chunk is full. Returns their number.
pub(super) fn fill<T: Item>(
    chunk: &mut RunChunk,
    items: &[T],
    options: &Templating,
    replaced: &mut bool,
    view: View<'_>,
) -> usize {
    let form = Arc::clone(&chunk.form);
    if chunk.bytes.is_empty() {
        let expected = form.expected(items.len()).min(options.chunk);
        chunk.bytes = chunk_buffer(expected, options);
    }
    let expected = items.len().min(options.chunk / form.expected(1) + BLOCK);
    chunk.positions.reserve(expected * form.columns.len());
    chunk.images.reserve(expected * form.image);
    let mut taken = 0;
    while taken == 0 || (taken < items.len() && chunk.bytes.len() < options.chunk) {
        let block = block_of(&items[taken..], &form, options.chunk.saturating_sub(chunk.bytes.len()));
        append(chunk, block, &form, view);
        taken += block.len();
    }
    *replaced |= chunk.bytes.has_replaced() || is_too_long(chunk.bytes.len());
    taken
}

/// Allocates a buffer for a chunk of about `expected` bytes.
pub(super) fn chunk_buffer(expected: usize, options: &Templating) -> Buffer {
    Buffer::with_capacity(expected + options.reserve + MARGIN)
}

/// Returns the items to write before the next check of the chunk's length.
fn block_of<'i, T>(items: &'i [T], form: &Form, left: usize) -> &'i [T] {
    let most = if form.is_narrow { (left / form.expected(1)).clamp(1, BLOCK) } else { 1 };
    &items[..items.len().min(most)]
}

fn append<T: Item>(chunk: &mut RunChunk, items: &[T], form: &Form, view: View<'_>) {
    let RunChunk { bytes, positions, lens, images, .. } = chunk;
    form.shape.open.push_to(bytes);
    if form.is_stuffed {
        let mut stuffing = Stuffing { out: bytes, form, column: 0, positions, lens, images };
        for item in items {
            stuffing.column = 0;
            item.write_flat(&mut stuffing, view);
        }
        // The last leaf's markup includes the start of an item that does not follow here.
        bytes.truncate(bytes.len() - form.shape.open.len());
        return;
    }
    let (leaf, image) = (positions.len(), images.len());
    positions.resize(leaf + items.len() * form.columns.len(), 0);
    images.resize(image + items.len() * form.image, 0);
    Linear::new(bytes, form, &mut positions[leaf..], &mut images[image..]).write(items, view);
    form.shape.close.push_to(bytes);
}

/// Writes leaves into fields that may be wider than their values.
struct Stuffing<'a> {
    out: &'a mut Buffer,
    form: &'a Form,
    column: usize,
    positions: &'a mut Vec<u32>,
    lens: &'a mut Vec<u16>,
    images: &'a mut Vec<u8>,
}

impl FlatSink for Stuffing<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        let Stuffing { out, form, column, positions, lens, images } = self;
        positions.push(out.len() as u32);
        images.extend_from_slice(&value.image()[..T::IMAGE.bytes()]);
        let kind = &form.columns[*column];
        *column += 1;
        let start = out.len();
        value.format(out, Escape::Text);
        let len = out.len() - start;
        lens.push(u16::try_from(len).unwrap_or(LONG));
        kind.tag.push_to(out);
        push_spaces(out, kind.room.saturating_sub(len));
        kind.rest.push_to(out);
    }
}

/// Writes white space, up to 32 characters as one block.
#[inline]
pub(crate) fn push_spaces(out: &mut Buffer, count: usize) {
    let mut left = count;
    while left > 0 {
        let now = left.min(32);
        out.push_block(&[b' '; 32], now);
        left -= now;
    }
}

/// Measures the widths that values need.
struct Widths {
    text: Buffer,
    lens: Vec<Vec<usize>>,
    column: usize,
}

impl FlatSink for Widths {
    fn leaf<T: Lexical>(&mut self, value: &T) {
        self.text.clear();
        value.format(&mut self.text, Escape::Text);
        self.lens[self.column].push(self.text.len());
        self.column += 1;
    }
}
