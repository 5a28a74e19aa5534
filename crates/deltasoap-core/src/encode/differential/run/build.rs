//! Writing items into chunks of their own, and noting where their leaves stand.

use super::{Form, LONG, RunChunk};
use crate::content::Content;
use crate::encode::differential::{Templating, Width};
use crate::encode::flat::FlatSink;
use crate::schema::View;
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};
use std::sync::Arc;

/// How many items are looked at to learn widths from.
const SAMPLE: usize = 512;

/// Room for the item that passes the end of a chunk.
const MARGIN: usize = 256;

/// Writes items; gives chunks that hold one item at least. `replaced` becomes true if a text could not be written as it is.
pub(crate) fn build<T: Content>(
    items: &[T],
    form: &Arc<Form>,
    options: &Templating,
    replaced: &mut bool,
    view: View<'_>,
) -> Vec<RunChunk> {
    let mut chunks = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let mut chunk = RunChunk::new(form, options.chunk);
        let taken = fill(&mut chunk, rest, options, replaced, view);
        rest = &rest[taken..];
        chunks.push(chunk);
    }
    chunks
}

/// Learns from values how wide fields should be: a quantile of what they need.
pub(crate) fn learn<T: Content>(items: &[T], form: &mut Form, options: &Templating, view: View<'_>) {
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

/// Appends items until the chunk is full; gives how many.
pub(super) fn fill<T: Content>(
    chunk: &mut RunChunk,
    items: &[T],
    options: &Templating,
    replaced: &mut bool,
    view: View<'_>,
) -> usize {
    let form = Arc::clone(&chunk.form);
    let mut out = match chunk.bytes.is_empty() {
        true => Buffer::with_capacity(form.expected(items.len()).min(options.chunk) + options.reserve + MARGIN),
        false => Buffer::from(std::mem::take(&mut chunk.bytes)),
    };
    let expected = items.len().min(options.chunk / form.expected(1) + 1);
    chunk.positions.reserve(expected * form.columns.len());
    chunk.images.reserve(expected * form.image);
    let RunChunk { positions, lens, images, .. } = chunk;
    let mut noting = Noting { out: &mut out, form: &form, column: 0, positions, lens, images };
    let taken = if form.is_stuffed {
        append(&mut Stuffing(noting), items, options, view)
    } else {
        append(&mut noting, items, options, view)
    };
    *replaced |= out.has_replaced();
    chunk.bytes = out.into_vec();
    taken
}

/// What notes items one behind the other.
trait ItemSink: FlatSink {
    /// Begins the first item.
    fn begin(&mut self);
    /// Ends an item and begins another; gives how long the chunk is without that.
    fn turn(&mut self) -> usize;
    /// Ends the last item.
    fn end(&mut self);
}

fn append<T: Content, S: ItemSink>(sink: &mut S, items: &[T], options: &Templating, view: View<'_>) -> usize {
    let Some((first, rest)) = items.split_first() else { return 0 };
    sink.begin();
    first.write_flat(sink, view);
    let mut taken = 1;
    for item in rest {
        if sink.turn() >= options.chunk {
            sink.end();
            return taken;
        }
        item.write_flat(sink, view);
        taken += 1;
    }
    sink.turn();
    sink.end();
    taken
}

/// Writes leaves, their markup and their places in the table.
struct Noting<'a> {
    out: &'a mut Buffer,
    form: &'a Form,
    column: usize,
    positions: &'a mut Vec<u32>,
    lens: &'a mut Vec<u16>,
    images: &'a mut Vec<u8>,
}

impl ItemSink for Noting<'_> {
    fn begin(&mut self) {
        self.form.shape.open.push_to(self.out);
        self.column = 0;
    }

    #[inline(always)]
    fn turn(&mut self) -> usize {
        let len = self.out.len() + self.form.shape.close.len();
        self.form.shape.turn.push_to(self.out);
        self.column = 0;
        len
    }

    fn end(&mut self) {
        self.out.truncate(self.out.len() - self.form.shape.open.len());
    }
}

impl Noting<'_> {
    #[inline(always)]
    fn note<T: Lexical>(&mut self, value: &T) {
        self.positions.push(self.out.len() as u32);
        match T::IMAGE.bytes() {
            0 => {}
            bytes => self.images.extend_from_slice(&value.image()[..bytes]),
        }
    }
}

impl FlatSink for Noting<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.column > 0 {
            self.form.shape.between[self.column - 1].push_to(self.out);
        }
        self.column += 1;
        self.note(value);
        value.format(self.out, Escape::Text);
    }
}

/// As [`Noting`], in fields that may be wider than their values.
struct Stuffing<'a>(Noting<'a>);

impl ItemSink for Stuffing<'_> {
    fn begin(&mut self) {
        self.0.begin();
    }

    /// The last leaf's markup goes on to the next item.
    #[inline(always)]
    fn turn(&mut self) -> usize {
        self.0.column = 0;
        self.0.out.len() - self.0.form.shape.open.len()
    }

    fn end(&mut self) {
        self.0.end();
    }
}

impl FlatSink for Stuffing<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        self.0.note(value);
        let Noting { out, form, column, lens, .. } = &mut self.0;
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

/// White space, up to 32 characters as one block.
#[inline]
pub(crate) fn push_spaces(out: &mut Buffer, count: usize) {
    let mut left = count;
    while left > 0 {
        let now = left.min(32);
        out.push_block(&[b' '; 32], now);
        left -= now;
    }
}

/// Finds out what values need.
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
