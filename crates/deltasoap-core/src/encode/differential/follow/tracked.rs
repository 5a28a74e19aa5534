//! Tracked values: content that has not changed since it was written is stepped over without a look
//! at it.
//!
//! An element whose content is no longer the tracked value loses its stamp, so that the value is
//! written when it comes back.

use crate::encode::Encoder;
use crate::encode::differential::Stamp;
use crate::encode::differential::against::Role;
use crate::encode::differential::tape::TRACKED;
use crate::encode::encoder::Open;

/// A state that no tracked value has.
pub(super) const UNTRACKED: [u64; 2] = [0; 2];

impl Encoder {
    /// Steps over the content of a tracked value that has not changed since it was written;
    /// otherwise returns false.
    pub(in crate::encode) fn pass_tracked(&mut self, stamp: Stamp) -> bool {
        if !self.in_tag {
            return false;
        }
        if self.template().pending.is_none() {
            self.note_stamp(stamp);
            return false;
        }
        let (entry, value) = self.template().pending.as_ref().map_or((0, 0), |pending| (pending.entry, pending.value));
        let tape = self.current().tape();
        if !tape.entries[entry].has(TRACKED) {
            return false;
        }
        if tape.values[value..value + 2] == stamp.values() {
            self.pass_content();
            return true;
        }
        if let Some(tape) = self.own_tape() {
            tape.values[value..value + 2].copy_from_slice(&stamp.values());
        }
        if let Some(pending) = &mut self.template().pending {
            pending.stamp = Some(stamp);
        }
        false
    }

    /// Notes a new element's content as tracked.
    fn note_stamp(&mut self, stamp: Stamp) {
        let Some(&Open { role: Role::New { entry, .. }, .. }) = self.open.last() else { return };
        let against = self.template();
        if let Some(start) = against.entries.get_mut(entry).filter(|start| !start.has(TRACKED)) {
            start.set(TRACKED);
            against.values.extend(stamp.values());
        }
    }

    /// Notes that the element no longer holds the tracked value that was there: that value must not
    /// be skipped when it comes back.
    pub(super) fn forget_stamp(&mut self, entry: usize, value: usize) {
        let tape = self.current().tape();
        let is_stamped = tape.entries[entry].has(TRACKED) && tape.values[value..value + 2] != UNTRACKED;
        if let Some(tape) = is_stamped.then(|| self.own_tape()).flatten() {
            tape.values[value..value + 2].copy_from_slice(&UNTRACKED);
        }
    }

    /// Steps over the rest of the element whose start tag is open.
    fn pass_content(&mut self) {
        let pending = self.template().pending.take();
        if let Some(tag) = self.undivert(pending.and_then(|pending| pending.outer)) {
            self.template().tag = tag;
        }
        self.in_tag = false;
        self.type_written = true;
        self.pass_rest();
    }
}
