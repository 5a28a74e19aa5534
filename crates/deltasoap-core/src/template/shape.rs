//! The markup of a flat item.

use super::Segment;

/// The markup in front of, between and behind the leaves of an item.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// In front of the first leaf.
    pub(crate) open: Segment,
    /// Between leaves; one fewer than leaves.
    pub(crate) between: Vec<Segment>,
    /// Behind the last leaf.
    pub(crate) close: Segment,
    /// `close`, then `open`: from the last leaf of an item to the first of the next.
    pub(crate) turn: Segment,
}

impl Shape {
    /// The shape of an item that fills `bytes[start..end]`, whose leaves stand at `leaves` in
    /// `bytes`. `None` without leaves.
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

    /// True if items of the two shapes have the same markup.
    pub(crate) fn is_same(&self, other: &Shape) -> bool {
        let texts = |shape: &Shape| {
            let pieces = [&shape.open].into_iter().chain(&shape.between).chain([&shape.close]);
            pieces.map(|piece| piece.as_slice().to_vec()).collect::<Vec<_>>()
        };
        self.between.len() == other.between.len() && texts(self) == texts(other)
    }
}
