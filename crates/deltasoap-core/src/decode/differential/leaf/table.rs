//! The table of a message: the positions of its elements and items, and the field of each in its
//! parent.
//!
//! Elements that the general routines read are *nodes* in document order: a node knows its parent,
//! its field and its occurrence, so that the path to any place is found by following parents. Items
//! that were read as flat ones are identified by their position alone, four bytes each, in a *run*
//! that is one node of the tree.

use super::super::super::flat::Known;
use std::sync::Arc;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// An element read by the general routines, or a run of flat items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// Position in the message: of the element's start tag, or of the run's first item.
    pub(crate) pos: u32,
    /// The node of the surrounding element; `NONE` directly inside the operation's own element.
    pub(crate) parent: u32,
    /// The node after the last one within this one.
    pub(crate) end: u32,
    /// Its field in the parent; 0 for an item of a SOAP array.
    pub(crate) field: u32,
    /// Number of occurrences of the field up to and including this one; before a run's first item.
    pub(crate) count: u32,
    /// The run; `NONE` for an element.
    pub(crate) run: u32,
}

/// Consecutive flat items without a gap.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Their markup.
    pub(crate) known: Arc<Known>,
    /// The base of positions.
    pub(crate) base: u32,
    /// The start of each item.
    pub(crate) positions: Vec<u32>,
    /// The end of the last item.
    pub(crate) end: u32,
    /// Progress of the update to the new message, while it is read.
    pub(crate) touched: Option<Touched>,
}

/// The state of a run that is being updated to a new message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touched {
    /// The new base of positions.
    pub(crate) base: u32,
    /// Number of items whose positions are already updated.
    pub(crate) items: usize,
    /// The amount to be added to the positions of the others.
    pub(crate) shift: u32,
}

/// The nodes and runs of a message, in document order.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) nodes: Vec<Node>,
    pub(crate) runs: Vec<Run>,
}

impl Table {
    /// Stores the fields and occurrences that lead from the operation to a node in `path`.
    pub(crate) fn path(&self, node: u32, path: &mut Vec<(u32, u32)>) {
        path.clear();
        let mut at = node;
        while let Some(Node { field, count, parent, .. }) = self.nodes.get(at as usize) {
            path.push((*field, *count));
            at = *parent;
        }
        path.reverse();
    }
}

/// A place between elements: before a node, or of an item of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodePosition {
    pub(crate) node: u32,
    pub(crate) item: u32,
}

impl NodePosition {
    pub(crate) fn before(node: u32) -> Self {
        NodePosition { node, item: 0 }
    }
}

impl Run {
    /// Returns the position in the old message of an item that was not touched, or of the run's
    /// end.
    pub(crate) fn position(&self, item: usize) -> u64 {
        let relative = self.positions.get(item).copied().unwrap_or(self.end);
        u64::from(self.base.wrapping_add(relative))
    }

    /// Returns the item that contains a position in the old message, among those from `from` on.
    pub(crate) fn find(&self, from: usize, position: u64) -> usize {
        let relative = (position as u32).wrapping_sub(self.base);
        from + self.positions[from..].partition_point(|&start| start <= relative).saturating_sub(1)
    }

    /// Returns the end of the run of a node at `first`, if each of its items begins with a `<` and
    /// they are in order.
    pub(super) fn is_sound(&self, first: u32, byte_at: impl Fn(u64) -> Option<u8>) -> Option<u64> {
        let len = self.positions.len();
        let is_tag = |item: usize| byte_at(self.position(item)) == Some(b'<');
        let is_in_order = (0..len).all(|item| is_tag(item) && self.position(item) < self.position(item + 1));
        let is_first = self.position(0) == u64::from(first) && len > 0 && self.touched.is_none();
        (is_in_order && is_first).then(|| self.position(len))
    }

    fn bytes(&self) -> usize {
        size_of::<Run>() + self.positions.capacity() * size_of::<u32>()
    }

    /// Records that fast mode has entered the run at an item, `by` bytes further on than in the old
    /// message.
    pub(crate) fn touch(&mut self, item: usize, by: i64) {
        let by = by as u32;
        let touched = match self.touched {
            None => Touched { base: self.base.wrapping_add(by), items: item, shift: 0 },
            Some(Touched { base, items, shift }) => {
                if shift != 0 && items < item {
                    self.positions[items..item]
                        .iter_mut()
                        .for_each(|position| *position = position.wrapping_add(shift));
                }
                Touched { base, items: item, shift: self.base.wrapping_add(by).wrapping_sub(base) }
            }
        };
        self.touched = Some(touched);
    }
}

impl Table {
    /// Returns the last node that begins at or before a position.
    pub(crate) fn find(&self, position: u64) -> Option<u32> {
        let before = self.nodes.partition_point(|node| u64::from(node.pos) <= position);
        Some(before.checked_sub(1)? as u32)
    }

    pub(crate) fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// Returns the run of a node, if it is one.
    pub(crate) fn run_of(&self, index: u32) -> Option<&Run> {
        self.runs.get(self.node(index).run as usize)
    }

    /// Returns the node after the last one within the element of `parent`.
    pub(crate) fn end_of(&self, parent: u32) -> u32 {
        if parent == NONE { self.nodes.len() as u32 } else { self.node(parent).end }
    }

    /// Returns the first node that can be a child of `parent`.
    pub(crate) fn first_child(&self, parent: u32) -> u32 {
        if parent == NONE { 0 } else { parent + 1 }
    }

    /// Returns the children of `parent` from a node on.
    pub(crate) fn children(&self, parent: u32, from: u32) -> impl Iterator<Item = u32> {
        let end = self.end_of(parent);
        let within = move |at: u32| Some(at).filter(|&at| at < end);
        std::iter::successors(within(from), move |&at| within(self.node(at).end))
    }

    /// Returns field and count of the routine for `parent` before a place among its children.
    pub(crate) fn state_before(&self, parent: u32, place: NodePosition) -> (u32, u32) {
        if place.item > 0 {
            let node = self.node(place.node);
            return (node.field, node.count + place.item);
        }
        self.sibling_before(parent, place.node).map_or((0, 0), |index| {
            let node = self.node(index);
            let items = self.run_of(index).map_or(0, |run| run.positions.len() as u32);
            (node.field, node.count + items)
        })
    }

    /// Returns the child of `parent` before the node `index`.
    fn sibling_before(&self, parent: u32, index: u32) -> Option<u32> {
        let mut before = index.checked_sub(1).filter(|&before| before >= self.first_child(parent))?;
        while self.node(before).parent != parent {
            before = self.node(before).parent;
        }
        Some(before)
    }

    /// Moves the occurrences of a field, from a node on, by `by` places. Returns the number of
    /// occurrences and nodes visited, and the place of the last one.
    pub(crate) fn slide(&mut self, parent: u32, field: u32, from: u32, by: i64) -> (usize, usize) {
        let end = self.end_of(parent);
        let (mut at, mut count, mut last) = (from, 0, 0);
        while at < end && self.node(at).field == field {
            let node = &mut self.nodes[at as usize];
            node.count = node.count.wrapping_add(by as u32);
            let items = self.runs.get(node.run as usize).map_or(0, |run| run.positions.len());
            (at, count, last) = (node.end, count + 1 + items, node.count as usize + items);
        }
        (count, last)
    }

    /// Returns the occurrence of the same field after a node, if there is one.
    pub(crate) fn next_in_list(&self, index: u32) -> Option<u32> {
        let node = self.node(index);
        let next = Some(node.end).filter(|&next| next < self.end_of(node.parent))?;
        (self.node(next).field == node.field).then_some(next)
    }

    /// Returns the occurrence of the same field before a node, if there is one.
    pub(crate) fn previous_in_list(&self, index: u32) -> Option<u32> {
        let node = self.node(index);
        let previous = self.sibling_before(node.parent, index)?;
        (self.node(previous).field == node.field).then_some(previous)
    }

    /// Returns the number of leaves and items whose positions are known.
    pub(crate) fn positions(&self) -> usize {
        self.nodes.len() + self.runs.iter().map(|run| run.positions.len()).sum::<usize>()
    }

    /// Returns the number of bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.runs.iter().map(Run::bytes).sum::<usize>()
    }
}
