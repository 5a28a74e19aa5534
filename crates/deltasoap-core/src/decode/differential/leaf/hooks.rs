//! What the routines do for leaf checkpoints, and nothing else of the engine does:
//!
//! | when | call |
//! |---|---|
//! | an element begins, or ends | `note_open`, `note_close`; `note_leaf` for both |
//! | on the way to where regular mode goes on | `is_seeking`, `descend` |
//! | an element begins over an old value | `take_shift`, then `resync`: fast mode may go on |
//! | an element ends over an old value | `leave_old_element` |
//! | what comes cannot be told by its field | `note_nothing`, `note_again` |

use super::session::Session;
use super::shift::Shift;
use super::words::{AnyOrder, Descent, StartTag};
use crate::decode::state::SEEK;
use crate::decode::{Cursor, State, Step};
use deltasoap_xml::{Stop as XmlStop, Window};

/// Bytes joined at first for a start tag that lies in two parts of a message.
const SEAM: usize = 512;

impl<'c> Cursor<'c> {
    /// True while routines are on the way to a place in the middle of a message, in a value that is whole already: they
    /// enter fresh, and must leave the value as it is.
    #[inline]
    pub fn is_seeking(&self) -> bool {
        self.state.session.is_seeking()
    }

    /// True once where an operation that was compared is read from its start after all: its start tag was just read again.
    ///
    /// # Errors
    /// None, as the tag has been read before.
    pub(crate) fn begins_again(&mut self) -> Step<bool> {
        let begins_again = self.state.session.take_vacated();
        if begins_again {
            self.state.reopen_operation(&self.window)?;
        }
        Ok(begins_again)
    }

    /// The next step on that way, for the routine whose frame this is.
    pub(crate) fn descend(&mut self, index: usize) -> Step<Descent> {
        let step = self.state.session.descend(index);
        match step {
            Descent::Into { old, .. } => self.state.open_old(&self.window, old)?,
            Descent::Here { .. } => self.state.stack.over = index + 1,
        }
        Ok(step)
    }

    /// Whether the element whose start tag was just read stood here in the message before; only over an old value.
    pub(crate) fn resync(&mut self, index: usize, field: u32, count: u32, is_array: bool) -> bool {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync(field, count, before, tag)
    }

    /// As [`resync`](Self::resync), where fields come in any order. Gives the fields that do not come any more.
    pub(crate) fn resync_in_any_order(
        &mut self,
        index: usize,
        field: u32,
        fields: AnyOrder,
        is_array: bool,
    ) -> Option<u64> {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync_in_any_order(field, fields, before, tag)
    }

    /// The state before the start tag that was just read, and that tag.
    fn what_was_read(&mut self, index: usize, is_array: bool) -> ((u32, u32), StartTag<'c>) {
        let before = (self.frame(index).field, self.frame(index).count);
        let position = self.reader().tag_offset();
        let start = (position - self.window.base) as usize;
        let len = self.window.pos - start;
        (before, StartTag { window: self.window.bytes, start, len, position, is_array })
    }

    /// True if a routine over an old value may still meet elements of the message before.
    pub(crate) fn can_resync(&self, index: usize) -> bool {
        self.is_over(index) && self.state.session.can_resync()
    }

    /// Notes an element whose start tag was just read.
    #[inline]
    pub(crate) fn note_open(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.recorder.open(position, field, count);
    }

    /// Notes the end of the element that was noted last.
    #[inline]
    pub(crate) fn note_close(&mut self) {
        self.state.session.recorder.close();
    }

    /// Notes nothing until the matching [`note_again`](Self::note_again): the children of an element are not told by their fields.
    pub(crate) fn note_nothing(&mut self) {
        self.state().session.recorder.mute();
    }

    /// See [`note_nothing`](Self::note_nothing).
    pub(crate) fn note_again(&mut self) {
        self.state().session.recorder.unmute();
    }

    /// A routine over the old value has come to the end of its element.
    pub(crate) fn leave_old_element(&mut self) {
        self.state().session.leave();
    }

    /// What the list at hand lacks to be in line with the message, if anything: the field, and the items.
    pub(crate) fn take_shift(&mut self) -> Option<(u32, Shift)> {
        self.state().session.take_shift()
    }

    /// Bytes of a list's items were moved to bring it in line.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.state().session.bounds.charge_moved(bytes);
    }

    /// Regular mode goes on among flat items.
    pub(crate) fn charge_flat(&mut self) {
        self.state().session.bounds.charge_flat();
    }
}

impl Session {
    /// Notes a leaf that was read as a whole.
    #[inline]
    pub(crate) fn note_leaf(&mut self, position: u64, field: u32, count: u32) {
        self.recorder.open(position, field, count);
        self.recorder.close();
    }
}

impl State {
    /// Goes back to the innermost routine that stays on the way to where regular mode goes on.
    pub(in crate::decode) fn go_back(&mut self) {
        let level = self.session.staying();
        self.stack.cut(level.map_or(self.session.origin.level, |level| level + 1));
        self.handover.forget();
        match level {
            Some(level) => {
                let frame = &mut self.stack.frames[level];
                frame.state = SEEK;
                self.stack.over = level + 1;
                self.reader.cut(frame.depth as usize);
            }
            None => {
                self.stack.over = 0;
                if self.session.begins_again() {
                    // While messages are compared ids are not noted. An item with one must not be taken for a known one now.
                    self.expected.flat.clear();
                }
                self.trees.inherited = self.session.inherited.before;
                self.trees.bindings.clone_from(&self.session.inherited.last);
                self.reader.cut(self.session.origin.depth);
            }
        }
    }

    /// Reads a start tag of the message before, which stands in this one as well.
    fn open_old(&mut self, window: &Window<'_>, old: u64) -> Step {
        let State { reader, session, limits, .. } = self;
        let Some(image) = session.old.as_ref().and_then(|template| template.image()) else { return Ok(()) };
        let tag = Window { bytes: image.at(old), pos: 0, base: old, last: false, ..*window };
        if reader.next(&mut Window { ..tag }) != Err(XmlStop::Pending) {
            return Ok(());
        }
        let mut len = SEAM;
        loop {
            let joined = image.read(old, len);
            match reader.next(&mut Window { bytes: &joined, ..tag }) {
                Err(XmlStop::Pending) if joined.len() == len && len < limits.markup => len = len.saturating_mul(8),
                result => return Ok(result.map(|_| ())?),
            }
        }
    }

    /// Reads the operation's start tag once more: the reader has gone on to other elements, and their attributes.
    fn reopen_operation(&mut self, window: &Window<'_>) -> Step {
        let State { reader, session, .. } = self;
        let Some((position, tag)) = session.start_tag() else { return Ok(()) };
        reader.cut(reader.depth() - 1);
        reader.next(&mut Window { bytes: tag, pos: 0, base: position, last: false, ..*window })?;
        Ok(())
    }
}
