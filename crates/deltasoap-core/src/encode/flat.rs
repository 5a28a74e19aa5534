//! Arrays of flat items: writes one, then copies its markup for the rest.

use super::Encoder;
use super::differential::{Changes, differs};
use crate::content::{Content, Shortcuts};
use crate::schema::{Field, View};
use crate::template::{Segment, Shape};
use deltasoap_xml::lexical::{Image, Lexical};
use deltasoap_xml::{Buffer, Escape};

/// A consumer of the leaves of flat items: it writes, compares or rewrites them.
pub trait FlatSink {
    /// Takes the next leaf.
    fn leaf<T: Lexical>(&mut self, value: &T);
}

/// An item of a list for writing: content, or a row of a table.
pub(crate) trait Item: Sized {
    /// See [`Shortcuts::COMPACT`](crate::content::Shortcuts::COMPACT).
    const COMPACT: bool = false;

    /// See [`Shortcuts::flat_leaves`](crate::content::Shortcuts::flat_leaves).
    fn flat_leaves(view: View<'_>) -> Option<usize>;

    /// See [`Shortcuts::is_flat`](crate::content::Shortcuts::is_flat).
    fn is_flat(&self, view: View<'_>) -> bool;

    /// See [`Shortcuts::count_same`](crate::content::Shortcuts::count_same).
    fn count_same(items: &[Self], images: &[u8]) -> usize;

    /// Compares items of numbers with their images, of `size` bytes each. Calls `note` for each
    /// item with true if it has other bits.
    #[inline(always)]
    fn compare(items: &[Self], images: &[u8], size: usize, view: View<'_>, mut note: impl FnMut(bool)) {
        items.iter().zip(images.chunks_exact(size)).for_each(|(item, image)| note(differs(item, image, view)));
    }

    /// See [`Shortcuts::write_flat`](crate::content::Shortcuts::write_flat).
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>);

    /// See [`Content::encode`].
    fn encode(&self, encoder: &mut Encoder, view: View<'_>);
}

impl<T: Content> Item for T {
    const COMPACT: bool = <T as Shortcuts>::COMPACT;

    #[inline(always)]
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        <T as Shortcuts>::flat_leaves(view)
    }

    #[inline(always)]
    fn is_flat(&self, view: View<'_>) -> bool {
        Shortcuts::is_flat(self, view)
    }

    #[inline(always)]
    fn count_same(items: &[Self], images: &[u8]) -> usize {
        <T as Shortcuts>::count_same(items, images)
    }

    #[inline(always)]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        Shortcuts::write_flat(self, sink, view);
    }

    #[inline(always)]
    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        Content::encode(self, encoder, view);
    }
}

/// A leaf of an item whose markup is being learned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotedLeaf {
    /// Start of its text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The image of its type.
    pub(crate) image: Image,
    pub(crate) max_width: Option<usize>,
}

impl NotedLeaf {
    pub(crate) fn new<T: Lexical>(start: usize, end: usize) -> Self {
        NotedLeaf { start, end, image: T::IMAGE, max_width: T::MAX_WIDTH }
    }
}

/// Writes leaves, and the markup before each but the first.
struct FlatWrite<'a> {
    out: &'a mut Buffer,
    between: std::slice::Iter<'a, Segment>,
    is_first: bool,
}

impl FlatSink for FlatWrite<'_> {
    #[inline(always)]
    fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.is_first {
            self.is_first = false;
        } else if let Some(segment) = self.between.next() {
            segment.push_to(self.out);
        }
        value.format(self.out, Escape::Text);
    }
}

/// Writes items as elements with the field's name.
pub fn encode_items<T: Content>(items: &[T], encoder: &mut Encoder, field: &Field, view: View<'_>) {
    encode_list(items, None, encoder, field, view);
}

/// Like [`encode_items`], for a list that tracks which of its items changed since it was last
/// written.
pub fn encode_changed_items<T: Content>(
    items: &[T],
    changes: Changes<'_>,
    encoder: &mut Encoder,
    field: &Field,
    view: View<'_>,
) {
    encode_list(items, Some(changes), encoder, field, view);
}

pub(crate) fn encode_list<T: Item>(
    items: &[T],
    changes: Option<Changes<'_>>,
    encoder: &mut Encoder,
    field: &Field,
    view: View<'_>,
) {
    let Some((first, rest)) = items.split_first() else { return };
    if T::COMPACT {
        return encode_each(items, encoder, field, view);
    }
    let is_flat = || T::flat_leaves(view).is_some() && !rest.is_empty() && items.iter().all(|item| item.is_flat(view));
    if !is_flat() {
        return encode_each(items, encoder, field, view);
    }
    if encoder.has_template() {
        return encoder.run(items, changes, field, view);
    }
    let rest = &rest[..rest.len().min(encoder.items_wanted())];
    match learn_item(first, encoder, field, view) {
        Some(shape) => write_flat(rest, &mut encoder.out, &shape, view),
        None => encode_each(rest, encoder, field, view),
    }
}

/// Writes a flat item by the general routines. Returns its markup, if it has the number of leaves
/// that its type requires.
pub(crate) fn learn_item<T: Item>(item: &T, encoder: &mut Encoder, field: &Field, view: View<'_>) -> Option<Shape> {
    encoder.open_end();
    let start = encoder.len();
    let leaves = note_leaves(encoder, |encoder| encode_item(item, encoder, field, view));
    shape_of(encoder.out.as_slice(), start, &leaves, T::flat_leaves(view))
}

/// Writes items one by one.
pub(crate) fn encode_each<T: Item>(items: &[T], encoder: &mut Encoder, field: &Field, view: View<'_>) {
    for item in items {
        if encoder.is_full() {
            return;
        }
        encode_item(item, encoder, field, view);
    }
}

pub(crate) fn encode_item<T: Item>(item: &T, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    encoder.start(&field.name);
    item.encode(encoder, view);
    encoder.end();
}

/// Returns the leaves written by a closure.
pub(crate) fn note_leaves(encoder: &mut Encoder, write: impl FnOnce(&mut Encoder)) -> Vec<NotedLeaf> {
    let outer = encoder.leaves.replace(Vec::new());
    write(encoder);
    std::mem::replace(&mut encoder.leaves, outer).unwrap_or_default()
}

/// Returns the shape of an item at the end of `bytes`, if it has the expected number of leaves.
pub(crate) fn shape_of(bytes: &[u8], start: usize, leaves: &[NotedLeaf], expected: Option<usize>) -> Option<Shape> {
    let spans: Vec<_> = leaves.iter().map(|leaf| (leaf.start, leaf.end)).collect();
    (Some(leaves.len()) == expected).then(|| Shape::new(bytes, start, bytes.len(), &spans))?
}

/// The first `1 / SAMPLED` of a list is used to estimate the length of the rest.
const SAMPLED: usize = 64;

/// Writes items after an item of the same shape.
fn write_flat<T: Item>(items: &[T], out: &mut Buffer, shape: &Shape, view: View<'_>) {
    out.truncate(out.len() - shape.close.len());
    let start = out.len();
    let (sample, rest) = items.split_at(items.len() / SAMPLED);
    write_turns(sample, out, shape, view);
    out.expect((out.len() - start).saturating_mul(SAMPLED + 1));
    write_turns(rest, out, shape, view);
    shape.close.push_to(out);
}

#[inline(always)]
fn write_turns<T: Item>(items: &[T], out: &mut Buffer, shape: &Shape, view: View<'_>) {
    for item in items {
        shape.turn.push_to(out);
        write_leaves(item, out, shape, view);
    }
}

/// Writes the leaves of a flat item, and the markup between them.
#[inline(always)]
pub(crate) fn write_leaves<T: Item>(item: &T, out: &mut Buffer, shape: &Shape, view: View<'_>) {
    let mut write = FlatWrite { out, between: shape.between.iter(), is_first: true };
    item.write_flat(&mut write, view);
}
