//! The end of a start tag: compares the tag written outside the template with the one in it.

use crate::encode::Encoder;
use crate::encode::differential::against::{Pending, Role};
use crate::encode::differential::tape::{EMPTY, Entry, Kind, Mark, PLAIN, TRACKED, TapeChunk};
use crate::encode::differential::{MatchKind, Stamp};
use crate::encode::encoder::Open;
use deltasoap_xml::Buffer;
use memchr::memmem;

/// The outcome for a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// It is in the template, including its end.
    Followed,
    /// It was written, except for its end.
    Written,
    /// It is in the template. The element is now empty, and its old content was left out.
    Emptied,
}

impl Encoder {
    /// Ends the open start tag, except for `>` or `/>` if the result says so.
    pub(super) fn finish_tag(&mut self, has_content: bool) -> Tag {
        self.in_tag = false;
        let Some(pending) = self.template().pending.take() else { return self.finish_new_tag(has_content) };
        let Pending { entry, value, stamp, outer } = pending;
        if stamp.is_none() {
            self.forget_stamp(entry, value);
        }
        let written = self.undivert(outer);
        let (old, end) = tag_at(self.current().tape(), entry);
        let bytes = &self.current().tape().bytes[old.pos()..end];
        let (is_same, len) = (written.as_ref().is_none_or(|tag| tag.as_slice() == bytes), bytes.len());
        let declares = !is_same && (written.as_ref().is_some_and(|tag| declares(tag.as_slice())) || declares(bytes));
        let keeps_content = has_content != old.has(EMPTY);
        let tag = match written {
            None if keeps_content => return Tag::Followed,
            Some(tag) if is_same && keeps_content => {
                self.template().tag = tag;
                return Tag::Followed;
            }
            Some(tag) => tag,
            None => self.copied(old.pos(), end),
        };
        let outcome = if declares {
            self.renew(entry, value, stamp, &tag, has_content)
        } else if keeps_content && tag.len() == len && !self.current().is_rebuilt {
            self.patch(old.pos(), tag.as_slice());
            self.note_leaf(MatchKind::PerfectStructural);
            Tag::Followed
        } else {
            self.rewrite(Mark { byte: end, entry, value }, old, &tag, has_content)
        };
        self.template().tag = tag;
        outcome
    }

    /// Notes the properties of a new start tag.
    fn finish_new_tag(&mut self, has_content: bool) -> Tag {
        let end = self.out.len();
        if let Some(Open { role: Role::New { entry, .. }, name, .. }) = self.open.last().copied()
            && let Some(start) = self.template().entries.get_mut(entry)
        {
            start.set(if name.1 == end { PLAIN } else { 0 } | if has_content { 0 } else { EMPTY });
        }
        Tag::Written
    }

    /// Rewrites an element whose tag makes other declarations than before.
    fn renew(&mut self, entry: usize, value: usize, stamp: Option<Stamp>, tag: &Buffer, has_content: bool) -> Tag {
        let current = self.current();
        (current.entry, current.value) = (entry, value);
        let number = current.tape().entries[entry].name;
        self.drop_next();
        let (base, index) = (self.out.len(), self.template().entries.len());
        self.out.push(tag.as_slice());
        let flags = if stamp.is_some() { TRACKED } else { 0 } | if has_content { 0 } else { EMPTY };
        let against = self.template();
        against.entries.push(Entry::new(Kind::Start, base, number, flags));
        against.values.extend(stamp.iter().flat_map(|stamp| stamp.values()));
        if let Some(open) = self.open.last_mut() {
            open.name = (open.name.0 + base, open.name.1 + base);
            open.role = Role::New { entry: index, is_saved: false };
        }
        Tag::Written
    }

    /// Writes a start tag in place of the old one, which makes the same declarations. `at` and
    /// `old` are the old tag's end and entry.
    fn rewrite(&mut self, at: Mark, old: Entry, tag: &Buffer, has_content: bool) -> Tag {
        let is_plain = memchr::memchr(b' ', tag.as_slice()).is_none();
        self.break_at(Mark { byte: old.pos(), ..at });
        self.note_leaf(MatchKind::PartialStructural);
        let (start, index) = (self.out.len(), self.template().entries.len());
        self.out.push(tag.as_slice());
        let flags = old.flags() & TRACKED | if is_plain { PLAIN } else { 0 } | if has_content { 0 } else { EMPTY };
        let values = at.value..at.value + old.values();
        let against = self.template();
        against.entries.push(Entry::new(Kind::Start, start, old.name, flags));
        if let Some(current) = &against.current {
            against.values.extend_from_slice(&current.tape().values[values.clone()]);
        }
        let after = Mark { byte: at.byte, entry: at.entry + 1, value: values.end };
        self.skip_to(after);
        match (has_content, old.has(EMPTY)) {
            (true, true) => self.reopen(after, index, tag),
            (false, false) => self.empty(after),
            _ => Tag::Followed,
        }
    }

    /// Adds content to an element that was empty.
    fn reopen(&mut self, after: Mark, index: usize, tag: &Buffer) -> Tag {
        self.skip_to(Mark { byte: after.byte + 2, entry: after.entry + 1, ..after });
        self.current().step();
        let name = tag.as_slice().split(|&byte| byte == b' ').next().unwrap_or_default();
        let against = self.template();
        let start = against.open_names.len();
        against.open_names.extend_from_slice(name.strip_prefix(b"<").unwrap_or_default());
        let end = against.open_names.len();
        if let Some(open) = self.open.last_mut() {
            open.name = (start, end);
            open.role = Role::New { entry: index, is_saved: true };
        }
        Tag::Written
    }

    /// Empties an element that had content.
    fn empty(&mut self, after: Mark) -> Tag {
        self.skip_to(Mark { byte: after.byte + 1, ..after });
        // Noted at once, so that both ends of the tag are in one chunk.
        self.note_end(b"/>");
        self.drop_rest();
        let mark = self.current().mark();
        self.break_at(mark);
        self.current().step();
        let after = self.current().mark();
        self.skip_to(after);
        Tag::Emptied
    }

    /// Copies old bytes, to be written again.
    fn copied(&mut self, start: usize, end: usize) -> Buffer {
        let mut tag = std::mem::take(&mut self.template().tag);
        tag.clear();
        tag.push(&self.current().tape().bytes[start..end]);
        tag
    }
}

/// Returns a start tag's entry, and the end of the tag without its `>` or `/>`.
fn tag_at(tape: &TapeChunk, entry: usize) -> (Entry, usize) {
    let start = tape.entries[entry];
    let next = start.pos() + tape.bytes_of(entry).len();
    (start, if start.has(EMPTY) { next } else { next - 1 })
}

/// Returns true if a tag may declare a namespace.
fn declares(tag: &[u8]) -> bool {
    memmem::find(tag, b"xmlns").is_some()
}
