//! What the session, the driver and the routines tell each other.

/// What is being done with the operation's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// No operation, or one that is not compared and not noted.
    #[default]
    Idle,
    /// Read in regular mode from the start, and noted.
    Record,
    /// Compared: up to here, the message equals the old one from there on.
    Fast {
        /// Position in the old message.
        old: u64,
        /// Position in the message.
        new: u64,
    },
    /// On the way to a place where regular mode goes on.
    Seek,
    /// Read in regular mode, over the old value.
    Over,
    /// To be read again from the start, in regular mode.
    Again,
}

/// What fast mode came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The end of what was received.
    Wait,
    /// A difference: regular mode goes on at this position of the message.
    Seek(u64),
}

/// A routine's next step on the way to the place where regular mode goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descent {
    /// Into an element: its position in the old message, its field, its occurrence.
    Into {
        /// Position of its start tag in the old message.
        old: u64,
        /// Its field.
        field: u32,
        /// Its occurrence, from 1.
        count: u32,
    },
    /// Here, with so much read.
    Here {
        /// The field being read, or next to be read.
        field: u32,
        /// Its occurrences so far.
        count: u32,
        /// Whether a flat item differs and can be read again in place.
        patch: bool,
    },
}

/// Flat items that are read again in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patched {
    /// Their run.
    pub(crate) run: usize,
    /// Occurrences of the field before it.
    pub(crate) first: usize,
    /// The first item that differs.
    pub(crate) item: usize,
}

/// A start tag that was just read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartTag<'w> {
    /// The bytes at hand.
    pub(crate) window: &'w [u8],
    /// Where the tag begins in them.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Its position in the message.
    pub(crate) position: u64,
    /// Whether it is a SOAP array's.
    pub(crate) is_array: bool,
}

/// The fields of an element that come in any order, a bit each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyOrder {
    /// Those that came, with the one whose start tag was just read.
    pub(crate) seen: u64,
    /// Those that must come.
    pub(crate) required: u64,
}
