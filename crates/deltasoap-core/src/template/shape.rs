//! The markup of a flat item.

use super::Segment;

/// The markup before, between and after the leaves of an item.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Markup before the first leaf.
    pub(crate) open: Segment,
    /// Markup between leaves; one entry fewer than there are leaves.
    pub(crate) between: Vec<Segment>,
    /// Markup after the last leaf.
    pub(crate) close: Segment,
    /// `close`, then `open`: from the last leaf of an item to the first leaf of the next.
    pub(crate) turn: Segment,
}

impl Shape {
    /// Returns the shape of the item `bytes[start..end]`, whose leaves are at `leaves` in `bytes`;
    /// `None` without leaves.
    pub(crate) fn new(bytes: &[u8], start: usize, end: usize, leaves: &[(usize, usize)]) -> Option<Self> {
        let (first, last) = (leaves.first()?, leaves.last()?);
        let (open, close) = (&bytes[start..first.0], &bytes[last.1..end]);
        Some(Shape {
            open: Segment::new(open),
            between: leaves.windows(2).map(|pair| Segment::new(&bytes[pair[0].1..pair[1].0])).collect(),
            close: Segment::new(close),
            turn: Segment::new(&[close, open].concat()),
        })
    }

    /// Returns true if items of the two shapes have the same markup.
    pub(crate) fn is_same(&self, other: &Shape) -> bool {
        let texts = |shape: &Shape| {
            let pieces = [&shape.open].into_iter().chain(&shape.between).chain([&shape.close]);
            pieces.map(|piece| piece.as_slice().to_vec()).collect::<Vec<_>>()
        };
        self.between.len() == other.between.len() && texts(self) == texts(other)
    }
}
