//! Rebuilding of chunks: unchanged parts are copied, removed parts are left out, and new parts are
//! inserted.

use super::MatchKind;
use super::against::{Against, Role};
use super::tape::{Entry, Kind, Mark};
use crate::encode::Encoder;

impl Encoder {
    /// Returns the next old entry; that of the next chunk if the current one is used up.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<Entry> {
        match self.template().current.as_ref()?.next() {
            Some(entry) => Some(entry),
            None => self.peek_after(),
        }
    }

    #[cold]
    #[inline(never)]
    fn peek_after(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.template().current.as_ref()?.next() {
                return Some(entry);
            }
            self.finish_current();
            self.template().load();
        }
    }

    /// Ends the current chunk: unchanged, or rebuilt.
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

    /// Finishes the chunk being built; names of open elements in it are kept.
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

    /// Starts or continues to rebuild the current chunk, up to a place.
    pub(super) fn break_at(&mut self, mark: Mark) {
        self.current().is_rebuilt = true;
        self.copy_to(mark);
    }

    /// Copies the rest before a place.
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

    /// Leaves out everything before a place.
    pub(super) fn skip_to(&mut self, mark: Mark) {
        self.current().copied = mark;
    }

    /// Leaves out the next sibling: an element, a text or a run.
    pub(super) fn drop_next(&mut self) {
        let mut depth = 0usize;
        while let Some(entry) = self.peek() {
            let mark = self.current().mark();
            self.break_at(mark);
            self.current().step();
            let after = self.current().mark();
            self.skip_to(after);
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

    /// Leaves out the remaining children of the innermost element.
    pub(super) fn drop_rest(&mut self) {
        while self.peek().is_some_and(|entry| entry.kind != Kind::End) {
            self.drop_next();
        }
    }

    /// Steps over everything before the end of the innermost element.
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

    /// Counts inserted or removed elements.
    pub(super) fn note_elements(&mut self, count: u64) {
        let against = self.template();
        against.stats.elements += count;
        against.note(MatchKind::PartialStructural);
    }
}
