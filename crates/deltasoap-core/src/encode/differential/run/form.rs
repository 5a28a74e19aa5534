//! Properties shared by all items of a run.

use crate::encode::differential::{Templating, Width};
use crate::encode::flat::NotedLeaf;
use crate::template::{Segment, Shape};
use deltasoap_xml::lexical::Image;

/// The markup of an item and the types of its leaves.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    pub(crate) columns: Vec<Column>,
    /// Bytes of an item's images.
    pub(crate) image: usize,
    /// True if fields may be wider than their values.
    pub(crate) is_stuffed: bool,
    /// True if all leaves are numbers or similar types with short texts.
    pub(crate) is_narrow: bool,
}

/// Maximum bytes of a short text.
pub(super) const NARROW: usize = 24;

/// A leaf of every item.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) image: Image,
    pub(crate) max_width: Option<usize>,
    /// The end tag of the leaf's element.
    pub(crate) tag: Segment,
    /// The markup after the end tag and its slack, up to the next leaf.
    pub(crate) rest: Segment,
    /// Bytes of both.
    pub(crate) gap: usize,
    /// The minimum width of a field.
    pub(crate) room: usize,
}

impl Form {
    /// Creates the form of items with this shape, whose first one has these leaves. There must be
    /// at least one leaf.
    pub(crate) fn new(shape: Shape, leaves: &[NotedLeaf], options: &Templating) -> Self {
        let after = shape.between.iter().chain([&shape.turn]);
        let columns: Vec<_> = leaves.iter().zip(after).map(|(leaf, after)| Column::new(leaf, after, options)).collect();
        let image = leaves.iter().map(|leaf| leaf.image.bytes()).sum();
        let is_narrow = |leaf: &NotedLeaf| leaf.image.is_some() && leaf.max_width.is_some_and(|max| max <= NARROW);
        let (is_stuffed, is_narrow) = (options.width != Width::Exact, leaves.iter().all(is_narrow));
        Form { shape, columns, image, is_stuffed, is_narrow }
    }

    /// Returns true if items with this shape and leaves of these types have this form.
    pub(crate) fn is_of(&self, shape: &Shape, leaves: &[NotedLeaf]) -> bool {
        let is_of =
            |(column, leaf): (&Column, &NotedLeaf)| column.image == leaf.image && column.max_width == leaf.max_width;
        self.shape.is_same(shape) && self.columns.len() == leaves.len() && self.columns.iter().zip(leaves).all(is_of)
    }

    /// Returns true if items are written in the same way in both forms, including slack.
    pub(super) fn is_alike(&self, other: &Form) -> bool {
        let is_alike = |(one, other): (&Column, &Column)| {
            one.image == other.image && one.max_width == other.max_width && one.room == other.room
        };
        self.is_stuffed == other.is_stuffed
            && self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(is_alike)
            && self.shape.is_same(&other.shape)
    }

    /// Returns the markup between a leaf and the next one's text, without slack. After the last
    /// leaf of a chunk there is less.
    #[inline(always)]
    fn after(&self, column: usize) -> &Segment {
        self.shape.between.get(column).unwrap_or(&self.shape.turn)
    }

    /// Returns that markup, if it is exactly the `len` bytes between a written value and the next
    /// one.
    #[inline(always)]
    pub(super) fn after_exactly(&self, column: usize, len: usize) -> Option<&Segment> {
        let after = self.after(column);
        (!self.is_stuffed && after.len() == len).then_some(after)
    }

    /// Returns an estimate of the bytes of `items` items; at least 1.
    pub(crate) fn expected(&self, items: usize) -> usize {
        const TEXT: usize = 16;
        let texts = self.columns.iter().map(|column| column.room.max(column.max_width.unwrap_or(TEXT).min(TEXT)));
        let markup = self.columns.iter().map(|column| column.gap);
        (texts.sum::<usize>() + markup.sum::<usize>()).saturating_mul(items).max(1)
    }
}

impl Column {
    fn new(leaf: &NotedLeaf, after: &Segment, options: &Templating) -> Self {
        let bytes = after.as_slice();
        let end = bytes.iter().position(|&byte| byte == b'>').map_or(bytes.len(), |end| end + 1);
        Column {
            image: leaf.image,
            max_width: leaf.max_width,
            tag: Segment::new(&bytes[..end]),
            rest: Segment::new(&bytes[end..]),
            gap: bytes.len(),
            room: room(options.width, leaf.max_width),
        }
    }
}

/// Returns the minimum width of a field whose type has this widest value. Widths learned from
/// values are added separately.
pub(crate) fn room(width: Width, max_width: Option<usize>) -> usize {
    match (width, max_width) {
        (Width::Exact | Width::Learned(_), _) | (_, None) => 0,
        (Width::Fixed(given), Some(max)) => max.min(usize::from(given)),
        (Width::Maximal, Some(max)) => max,
    }
}
