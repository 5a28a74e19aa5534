//! Arrays of flat items: write one, then copy its markup for the rest.

use super::Encoder;
use super::differential::Changes;
use crate::content::Content;
use crate::schema::{Field, View};
use crate::template::{Segment, Shape};
use deltasoap_xml::lexical::Lexical;
use deltasoap_xml::{Buffer, Escape};

/// The leaves of one item, being written.
#[derive(Debug)]
pub struct FlatWrite<'a> {
    out: &'a mut Buffer,
    /// What stands in front of each leaf but the first.
    between: std::slice::Iter<'a, Segment>,
    is_first: bool,
}

impl FlatWrite<'_> {
    /// Writes a leaf and the markup in front of it.
    #[inline(always)]
    pub fn leaf<T: Lexical>(&mut self, value: &T) {
        if self.is_first {
            self.is_first = false;
        } else if let Some(segment) = self.between.next() {
            segment.push_to(self.out);
        }
        value.format(self.out, Escape::Text);
    }
}

/// Writes items as elements named as the field says.
pub fn encode_items<T: Content>(items: &[T], encoder: &mut Encoder, field: &Field, view: View<'_>) {
    let Some((first, rest)) = items.split_first() else { return };
    let is_regular = T::flat_leaves(view).is_some() && !rest.is_empty() && items.iter().all(|item| item.is_flat(view));
    if !is_regular {
        return items.iter().for_each(|item| encode_item(item, encoder, field, view));
    }
    match learn_item(first, encoder, field, view) {
        Some(shape) => encode_flat(rest, &mut encoder.out, &shape, view),
        None => rest.iter().for_each(|item| encode_item(item, encoder, field, view)),
    }
}

/// Writes a flat item by the general routines, and gives its markup, if it has as many leaves as its type should have.
pub(crate) fn learn_item<T: Content>(item: &T, encoder: &mut Encoder, field: &Field, view: View<'_>) -> Option<Shape> {
    encoder.open_end();
    let start = encoder.len();
    let outer = encoder.leaves.replace(Vec::new());
    encode_item(item, encoder, field, view);
    let spans = std::mem::replace(&mut encoder.leaves, outer).unwrap_or_default();
    let shape = Shape::new(encoder.out.as_slice(), start, encoder.len(), &spans);
    shape.filter(|_| Some(spans.len()) == T::flat_leaves(view))
}

/// As [`encode_items`], for a list that knows which of its items changed since it was last written.
pub fn encode_changed_items<T: Content>(
    items: &[T],
    changes: Changes<'_>,
    encoder: &mut Encoder,
    field: &Field,
    view: View<'_>,
) {
    let _ = changes;
    encode_items(items, encoder, field, view);
}

pub(crate) fn encode_item<T: Content>(item: &T, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    encoder.start(&field.name);
    item.encode(encoder, view);
    encoder.end();
}

/// Writes items behind one of the same shape.
fn encode_flat<T: Content>(items: &[T], out: &mut Buffer, shape: &Shape, view: View<'_>) {
    out.truncate(out.len() - shape.close.len());
    for item in items {
        shape.turn.push_to(out);
        write_leaves(item, out, shape, view);
    }
    shape.close.push_to(out);
}

/// Writes the leaves of a flat item, and the markup between them.
#[inline(always)]
pub(crate) fn write_leaves<T: Content>(item: &T, out: &mut Buffer, shape: &Shape, view: View<'_>) {
    let mut write = FlatWrite { out, between: shape.between.iter(), is_first: true };
    item.write_flat(&mut write, view);
}
