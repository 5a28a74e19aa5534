//! Types exchanged between the session, the driver and the routines.

/// The current treatment of the operation's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// No operation, or one that is neither compared nor noted.
    #[default]
    Idle,
    /// Read in regular mode from the start, and noted.
    Record,
    /// Compared: up to `new`, the message equals the old one up to `old`.
    Fast {
        /// Position in the old message.
        old: u64,
        /// Position in the message.
        new: u64,
    },
    /// On the way to a place where regular mode continues.
    Seek,
    /// Read in regular mode, over the old value.
    Over,
    /// To be reread from the start, in regular mode.
    Again,
}

/// The result of fast mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The end of the received bytes.
    Wait,
    /// A difference: regular mode continues at this position of the message.
    Seek(u64),
}

/// A routine's next step on the way to the place where regular mode continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descent {
    /// Into an element.
    Into {
        /// Position of its start tag in the old message.
        old: u64,
        /// Its field.
        field: u32,
        /// Its occurrence, from 1.
        count: u32,
    },
    /// Here, with this progress.
    Here {
        /// The field being read, or next to be read.
        field: u32,
        /// Its occurrences so far.
        count: u32,
        /// True if a flat item differs and can be reread in place.
        patch: bool,
    },
}

/// Flat items that are reread in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patched {
    /// Their run.
    pub(crate) run: usize,
    /// Number of occurrences of the field before it.
    pub(crate) first: usize,
    /// The first item that differs.
    pub(crate) item: usize,
}

/// A start tag that was just read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartTag<'w> {
    /// The available bytes.
    pub(crate) window: &'w [u8],
    /// Start of the tag in `window`.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Its position in the message.
    pub(crate) position: u64,
    /// True if it belongs to a SOAP array.
    pub(crate) is_array: bool,
}

/// The fields of an element that come in any order, one bit each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyOrder {
    /// The fields that occurred, including the one whose start tag was just read.
    pub(crate) seen: u64,
    /// The required fields.
    pub(crate) required: u64,
}
