//! A frame of the matching stack.

use super::predicted::ShapeId;

/// The progress of one routine: small, `Copy`, and all that there is. The stack of frames is a path
/// from the root of the message to the place that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame {
    /// The routine's own state; 0 when it was just entered, and between two children.
    pub state: u8,
    /// Field being read, or next to be read.
    pub field: u32,
    /// Occurrences of that field, or items, so far.
    pub count: u32,
    /// Where in its list the occurrence stands that was opened last; 0 for what is no list.
    pub place: u32,
    /// True if what `count` counts can occur more than once.
    pub is_repeated: bool,
    /// True while the routine keeps progress elsewhere than here, so that it cannot go on from a
    /// copy of the frame.
    pub is_opaque: bool,
    /// True if the routine reads children one by one, each of which can begin a portion of its own.
    pub has_children: bool,
    /// True if the routine notes the fields that it has seen: the first of its entries in their log
    /// is a word with a bit for each.
    pub notes_fields: bool,
    /// What the element is expected to consist of.
    pub shape: ShapeId,
    /// Open elements when the routine was entered, its own included.
    pub depth: u32,
    /// Where the routine's entries in the log of seen fields begin.
    pub log: u32,
    /// A position in the message (UTF-8) that an error may have to name; 0 for none.
    pub mark: u64,
}
