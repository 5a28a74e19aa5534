//! A frame of the matching stack.

use super::predicted::ShapeId;

/// The complete progress of one routine: small and `Copy`. The stack of frames is a path from the
/// root of the message to the current position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frame {
    /// The routine's own state; 0 when it was just entered, and between two children.
    pub state: u8,
    /// The field being read, or the next to be read.
    pub field: u32,
    /// Number of occurrences of that field, or of items, so far.
    pub count: u32,
    /// Index in its list of the occurrence that was opened last; 0 if it is not in a list.
    pub place: u32,
    /// True if what `count` counts can occur more than once.
    pub is_repeated: bool,
    /// True while the routine keeps progress outside this frame, so that it cannot continue from a
    /// copy of the frame.
    pub is_opaque: bool,
    /// True if the routine reads children one by one, each of which can begin a portion of its own.
    pub has_children: bool,
    /// True if the routine notes the fields that it has seen: the first of its entries in the log
    /// is a word with one bit per field.
    pub notes_fields: bool,
    /// The expected markup of the element.
    pub shape: ShapeId,
    /// Number of open elements when the routine was entered, including its own.
    pub depth: u32,
    /// Where the routine's entries in the log of seen fields begin.
    pub log: u32,
    /// A position in the message (UTF-8) that an error may have to report; 0 for none.
    pub mark: u64,
}
