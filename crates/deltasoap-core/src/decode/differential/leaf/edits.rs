//! The parts of the old table that are replaced by elements that were reread.

use super::merge::{Edit, Move};
use super::table::NodePosition;
use super::template::Template;

/// The edits of a message, and the distances by which its parts have moved.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The current edit: regular mode is active over the old value.
    pub(super) open: Option<OpenEdit>,
    /// Completed edits in document order.
    pub(super) done: Vec<Edit>,
    /// Moves in the order of the old message.
    pub(super) moves: Vec<Move>,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.open = None;
        self.done.clear();
        self.moves.clear();
    }
}

/// An edit in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenEdit {
    pub(super) parent: u32,
    pub(super) from: NodePosition,
    /// The first old place that the next element can match.
    pub(super) scan: NodePosition,
    pub(super) fresh: u32,
    /// The place that must be read because it differs.
    pub(super) differing: Option<NodePosition>,
    /// The position of the difference in the old message.
    pub(super) difference: u64,
}

/// Returns field and count of the routine for `parent` before a place among its children, in the
/// message being read: an edit that ends at this place counts.
pub(super) fn state_before(template: &Template, edits: &[Edit], parent: u32, place: NodePosition) -> (u32, u32) {
    match edits.last() {
        Some(edit) if edit.to == place && edit.parent == parent => edit.state,
        _ => template.table.state_before(parent, place),
    }
}
