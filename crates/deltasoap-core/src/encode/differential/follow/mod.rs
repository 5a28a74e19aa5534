//! Following a template: the effect of the encoder's calls. See [`against`](super::against).
//!
//! `starts` finds the element that a start tag corresponds to, `tag` compares the tag at its end,
//! `ends` steps over end tags and keeps the slack after them, `leaves` writes the values that
//! differ, `tracked` skips content known to be unchanged, and `lists` hands arrays of flat items
//! over to [runs](super::run).

mod ends;
mod leaves;
mod lists;
mod starts;
mod tag;
mod tracked;

use super::MatchKind;
use super::against::Role;
use super::tape::{Chunk, Entry, Kind, TapeChunk, unshare};
use crate::encode::Encoder;

impl Encoder {
    /// Returns true outside of template content: in new elements, and before there is a template.
    fn is_in_new(&self) -> bool {
        match self.open.last() {
            Some(open) => open.role != Role::Followed,
            None => !self.follows(),
        }
    }

    /// Prepares to write something new.
    fn begin_new(&mut self) {
        if !self.is_in_new() {
            self.peek();
            let mark = self.current().mark();
            self.break_at(mark);
            self.note_elements(1);
        }
        if self.out.len() >= self.template().options.chunk {
            self.close();
        }
    }

    /// Overwrites old bytes in place.
    fn patch(&mut self, start: usize, bytes: &[u8]) {
        self.template().stats.written += bytes.len() as u64;
        if let Some(tape) = self.own_tape() {
            tape.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Returns the current chunk, mutably.
    fn own_tape(&mut self) -> Option<&mut TapeChunk> {
        let against = self.template();
        match unshare(&mut against.current.as_mut()?.chunk, &mut against.frames, &mut against.stats) {
            Chunk::Tape(tape) => Some(tape),
            Chunk::Run(_) => None,
        }
    }

    fn note_leaf(&mut self, kind: MatchKind) {
        let against = self.template();
        against.stats.leaves += 1;
        against.note(kind);
    }

    fn note_end(&mut self, bytes: &[u8]) {
        let pos = self.out.len();
        self.template().entries.push(Entry::new(Kind::End, pos, 0, 0));
        self.out.push(bytes);
    }
}
