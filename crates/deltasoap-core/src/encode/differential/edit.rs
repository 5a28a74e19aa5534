//! Rebuilding chunks: what stays is copied, what went is left out, what is new stands between.

use super::MatchKind;
use super::against::{Against, Role};
use super::tape::{Entry, Kind, Mark};
use crate::encode::Encoder;

impl Encoder {
    /// Returns the next old entry; the next chunk's if the one at hand is used up.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<Entry> {
        match self.template().current.as_ref()?.next() {
            Some(entry) => Some(entry),
            None => self.peek_behind(),
        }
    }

    #[cold]
    #[inline(never)]
    fn peek_behind(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.template().current.as_ref()?.next() {
                return Some(entry);
            }
            self.finish_current();
            self.template().load();
        }
    }

    /// Ends the chunk at hand: as it is, or rebuilt.
    pub(super) fn finish_current(&mut self) {
        if self.template().current.as_ref().is_some_and(|current| current.is_rebuilt) {
            let tape = self.current().tape();
            let end = Mark { byte: tape.bytes.len(), entry: tape.entries.len(), value: tape.values.len() };
            self.copy_to(end);
            self.close();
        }
        let against = self.template();
        if let Some(current) = against.current.take()
            && !current.is_rebuilt
        {
            against.done.push(current.chunk);
        }
    }

    /// Makes a chunk of what was built; names of open elements that stand in it are kept.
    pub(super) fn close(&mut self) {
        let Encoder { out, open, against: Some(against), .. } = self else { return };
        for open in open.iter_mut() {
            if let Role::New { is_saved: saved @ false, .. } = &mut open.role {
                let start = against.open_names.len();
                against.open_names.extend_from_slice(&out.as_slice()[open.name.0..open.name.1]);
                open.name = (start, against.open_names.len());
                *saved = true;
            }
        }
        against.close(out);
    }

    /// Rebuilds the chunk at hand from its start up to a place, or goes on with that.
    pub(super) fn break_at(&mut self, mark: Mark) {
        self.current().is_rebuilt = true;
        self.copy_to(mark);
    }

    /// Copies what is left before a place.
    fn copy_to(&mut self, to: Mark) {
        let Encoder { out, against: Some(against), .. } = self else { return };
        let Against { current: Some(current), entries, values, copied, stats, .. } = &mut **against else { return };
        let (from, base) = (current.copied, out.len());
        let tape = current.tape();
        out.push(&tape.bytes[from.byte..to.byte]);
        let moved = |entry: &Entry| entry.moved(from.byte, base);
        entries.extend(tape.entries[from.entry..to.entry].iter().map(moved));
        values.extend_from_slice(&tape.values[from.value..to.value]);
        *copied += to.byte - from.byte;
        stats.moved += (to.byte - from.byte) as u64;
        current.copied = to;
    }

    /// Leaves out what stands before a place.
    pub(super) fn skip_to(&mut self, mark: Mark) {
        self.current().copied = mark;
    }

    /// Leaves out the next sibling, be it an element, a text or a run.
    pub(super) fn drop_next(&mut self) {
        let mut depth = 0usize;
        while let Some(entry) = self.peek() {
            let mark = self.current().mark();
            self.break_at(mark);
            self.current().step();
            let behind = self.current().mark();
            self.skip_to(behind);
            match entry.kind {
                Kind::Start => depth += 1,
                Kind::End => depth = depth.saturating_sub(1),
                Kind::Leaf => {}
                Kind::Run => self.drop_run(),
            }
            if depth == 0 {
                break;
            }
        }
        self.note_elements(1);
    }

    fn drop_run(&mut self) {
        self.finish_current();
        self.template().take_run();
        self.template().load();
    }

    /// Leaves out what is left of the innermost element's children.
    pub(super) fn drop_rest(&mut self) {
        while self.peek().is_some_and(|entry| entry.kind != Kind::End) {
            self.drop_next();
        }
    }

    /// Steps over all that is left before the innermost element's end.
    pub(super) fn pass_rest(&mut self) {
        let mut depth = 0usize;
        while let Some(entry) = self.peek() {
            match entry.kind {
                Kind::End if depth == 0 => return,
                Kind::End => depth -= 1,
                Kind::Start => depth += 1,
                Kind::Leaf => {}
                Kind::Run => {
                    self.pass_run();
                    continue;
                }
            }
            self.current().step();
        }
    }

    fn pass_run(&mut self) {
        self.current().step();
        self.finish_current();
        let against = self.template();
        let run = against.take_run();
        against.done.extend(run);
        against.load();
    }

    /// Counts elements that came or went.
    pub(super) fn note_elements(&mut self, count: u64) {
        let against = self.template();
        against.stats.elements += count;
        against.note(MatchKind::PartialStructural);
    }
}
