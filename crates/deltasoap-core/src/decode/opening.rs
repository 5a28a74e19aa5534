//! The start of an envelope, up to its header or body: a sender begins every message with the same
//! bytes.
//!
//! ```text
//! <?xml ..?> <Envelope xmlns:..> <Body>     <op> ..
//! └──────── bytes as in the last message ─┘ └── reading continues here
//! ```
//!
//! Tokenizing is a function of the reader's state and the bytes, and all documents begin in the
//! same state. So equal bytes lead to an equal state: the open elements and their declarations,
//! which are kept with the bytes. Header blocks are read each time. The kept bytes reveal the
//! prefixes that a sender declares, as the reader's own tables do.

use super::Cursor;
use super::differential::Checkpoints;
use crate::version::Version;
use deltasoap_xml::{Bound, Detected, OpenElement};

/// Maximum bytes, and maximum declarations, that are kept.
const MAX_BYTES: usize = 2048;
const MAX_BOUND: usize = 32;
/// After more than `PATIENCE` messages in a row that began differently, only one in `SELDOM` is
/// kept.
const PATIENCE: u32 = 4;
const SELDOM: u32 = 32;

/// How the last message began.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    known: Option<Box<Known>>,
    /// Messages in a row that began differently.
    misses: u32,
    is_off: bool,
}

/// What the start of an envelope declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) version: Version,
    /// True if the last start tag read was that of the header, false if that of the body.
    pub(crate) is_header: bool,
    /// True if SOAP encoding is in force.
    pub(crate) is_encoded: bool,
}

impl Opening {
    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }
}

#[derive(Debug)]
struct Known {
    bytes: Vec<u8>,
    opened: Opened,
    /// The reader's epoch in which the other fields are valid.
    epoch: (u64, u64),
    open: Vec<OpenElement>,
    bound: Vec<Bound>,
}

impl Cursor<'_> {
    /// At the start of a document: continues in the header or the body if the document begins like
    /// the last one.
    pub(crate) fn skip_opening(&mut self) -> Option<Opened> {
        if !self.is_whole_so_far() || self.window.pos > 0 {
            return None;
        }
        let state = &mut *self.state;
        let known = state.expected.opening.known.as_ref()?;
        if known.epoch != state.reader.epoch() || !self.window.bytes.starts_with(&known.bytes) {
            state.expected.opening.misses = state.expected.opening.misses.saturating_add(1);
            return None;
        }
        state.reader.restore(0, &known.open, &known.bound);
        self.window.pos = known.bytes.len();
        state.expected.opening.misses = 0;
        Some(known.opened)
    }

    /// After the start tag of the header or the body: keeps the bytes up to here for the next
    /// message.
    pub(crate) fn keep_opening(&mut self, opened: Opened) {
        let bytes = self.window.bytes.get(..self.window.pos).filter(|bytes| bytes.len() <= MAX_BYTES);
        let Some(bytes) = bytes.filter(|_| self.is_whole_so_far() && !self.reader().tag_is_empty()) else { return };
        let state = &mut *self.state;
        // A single message costs nothing extra.
        if state.stats.messages == 0 {
            return;
        }
        if state.expected.opening.misses > PATIENCE && !state.expected.opening.misses.is_multiple_of(SELDOM) {
            return;
        }
        let Some(bound) = state.reader.bound_from(0, MAX_BOUND) else { return };
        let (epoch, open) = (state.reader.epoch(), state.reader.open_elements().to_vec());
        state.expected.opening.known = Some(Box::new(Known { bytes: bytes.to_vec(), opened, epoch, open, bound }));
    }

    /// Returns true if the window begins where the document does. Policies of other crates see
    /// every byte.
    fn is_whole_so_far(&self) -> bool {
        let is_on = !matches!(self.state.differential.checkpoints, Checkpoints::Custom(_));
        is_on
            && !self.state.expected.opening.is_off
            && self.window.base == 0
            && self.window.encoding == Detected::default()
    }
}
