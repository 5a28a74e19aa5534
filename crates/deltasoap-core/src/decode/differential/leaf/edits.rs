//! What of the old table is replaced by what was read anew.

use super::merge::{Edit, Move};
use super::table::Place;
use super::template::Template;

/// The edits of a message, and how far its parts have moved.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The edit being made: regular mode is at work over the old value.
    pub(super) open: Option<OpenEdit>,
    /// In the order of the document.
    pub(super) done: Vec<Edit>,
    /// In the order of the old message.
    pub(super) moves: Vec<Move>,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.open = None;
        self.done.clear();
        self.moves.clear();
    }
}

/// An edit that is being made.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenEdit {
    pub(super) parent: u32,
    pub(super) from: Place,
    /// The first old place that what is read next can be.
    pub(super) scan: Place,
    pub(super) fresh: u32,
    /// The place that must be read, for it differs.
    pub(super) differing: Option<Place>,
    /// Where it differs: a position in the old message.
    pub(super) difference: u64,
}

/// Field and count of the routine for `parent` before a place among its children: in the message
/// being read, so that what was read right before it counts.
pub(super) fn state_before(template: &Template, edits: &[Edit], parent: u32, place: Place) -> (u32, u32) {
    match edits.last() {
        Some(edit) if edit.to == place && edit.parent == parent => edit.state,
        _ => template.table.state_before(parent, place),
    }
}
