//! Content that is its own canonical form, found by comparing bytes.

use super::{Canonicalizer, PIECE, Sink};
use crate::reader::KnownTag;
use crate::scan::text::canonical_run;
use crate::{Reader, ScopeId, Window};

/// Maximum number of start tags that are known.
const TAGS: usize = 32;

/// Start tags whose canonical form is the tag itself: they have neither attributes nor
/// declarations.
#[derive(Debug, Default)]
pub(super) struct Known {
    tags: Vec<(KnownTag, usize)>,
    /// The [epoch](Reader::epoch) of the reader that the tags belong to.
    epoch: (u64, u64),
    /// Index of the tag that probably comes next.
    next: usize,
    /// Index of the last tag, which learns what comes after it.
    last: usize,
    /// Index of the tag to be replaced next.
    oldest: usize,
}

impl Known {
    /// Returns the known tag that is at a place of the window, and where it ends.
    #[inline]
    fn find(&mut self, bytes: &[u8], at: usize, scope: ScopeId) -> Option<(usize, usize)> {
        if let Some((tag, after)) = self.tags.get(self.next)
            && tag.scope() == scope
            && let Some(end) = tag.start(bytes, at)
        {
            (self.last, self.next) = (self.next, *after);
            return Some((self.last, end));
        }
        self.search(bytes, at, scope)
    }

    #[inline(never)]
    fn search(&mut self, bytes: &[u8], at: usize, scope: ScopeId) -> Option<(usize, usize)> {
        let in_scope = self.tags.iter().enumerate().filter(|(_, (tag, _))| tag.scope() == scope);
        let (index, end) = in_scope.into_iter().find_map(|(index, (tag, _))| Some((index, tag.start(bytes, at)?)))?;
        if let Some((_, after)) = self.tags.get_mut(self.last) {
            *after = index;
        }
        (self.last, self.next) = (index, self.tags[index].1);
        Some((index, end))
    }

    fn add(&mut self, tag: KnownTag) {
        if self.tags.len() < TAGS {
            self.tags.push((tag, 0));
            return;
        }
        self.tags[self.oldest] = (tag, 0);
        self.oldest = (self.oldest + 1) % TAGS;
    }
}

impl Canonicalizer {
    /// Takes content from the window that is its own canonical form, as far as that goes without
    /// the reader. Afterwards the reader continues; nothing else changes if this is not called.
    pub fn pass(&mut self, reader: &mut Reader, window: &mut Window<'_>, sink: &mut Sink<'_>) {
        let is_after_start_tag = std::mem::take(&mut self.is_after_start_tag);
        if self.open.is_empty() || !reader.is_between_tokens() || reader.has_asides_alone() {
            return;
        }
        if is_after_start_tag {
            self.learn(reader, window);
        }
        let from = window.pos;
        self.advance(reader, window);
        let passed = &window.bytes[from..window.pos];
        if passed.len() < PIECE {
            self.out.push(passed);
        } else {
            self.flush(sink);
            sink(passed);
        }
    }

    /// Notes the start tag that was just read, if it is its own canonical form.
    fn learn(&mut self, reader: &Reader, window: &Window<'_>) {
        if reader.attribute_count() > 0 || reader.tag_has_declarations() {
            return;
        }
        if self.known.epoch != reader.epoch() {
            self.known = Known { epoch: reader.epoch(), ..Known::default() };
        }
        let start = reader.tag_offset().checked_sub(window.base).and_then(|start| usize::try_from(start).ok());
        let Some(bytes) = start.and_then(|start| window.bytes.get(start..window.pos)) else { return };
        // A tag may contain white space before its `>`.
        let is_canonical = !bytes.iter().any(u8::is_ascii_whitespace);
        let is_known = self.known.tags.iter().any(|(tag, _)| tag.is(bytes) && tag.scope() == reader.scope());
        if is_canonical
            && !is_known
            && let Some(tag) = reader.known_tag(bytes, |_, _| true)
        {
            self.known.add(tag);
        }
    }

    fn advance(&mut self, reader: &mut Reader, window: &mut Window<'_>) {
        let bytes = window.bytes;
        let mut at = window.pos;
        loop {
            at = text_end(bytes, at);
            window.pos = at;
            match bytes.get(at..at + 2) {
                Some([b'<', b'/']) if self.open.len() > 1 => {
                    if !reader.end_known(window, at) {
                        return;
                    }
                    if let Some((_, around)) = self.open.pop() {
                        self.rendered.truncate(around);
                    }
                    at = window.pos;
                }
                Some([b'<', _]) => match self.element(reader, window, at) {
                    Some(end) => at = end,
                    None => return,
                },
                _ => return,
            }
        }
    }

    /// Passes a known start tag, and the rest of its element if that is a text.
    #[inline]
    fn element(&mut self, reader: &mut Reader, window: &mut Window<'_>, at: usize) -> Option<usize> {
        let (index, end) = self.known.find(window.bytes, at, reader.scope())?;
        let (tag, _) = &self.known.tags[index];
        let prefix = reader.prefix_of(tag.spelling());
        if !self.is_rendered(prefix, reader.binding(prefix)) || !reader.may_open() {
            return None;
        }
        let text = text_end(window.bytes, end);
        if let Some(end) = tag.end(window.bytes, text) {
            window.pos = end;
            return Some(end);
        }
        let name = tag.spelling();
        reader.open_known(tag, window, at);
        self.open.push((name, self.rendered.len()));
        Some(window.pos)
    }
}

/// Returns the end of the text at a place that is its own canonical form.
#[inline]
fn text_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += canonical_run(&bytes[at..]);
        match bytes.get(at) {
            Some(b'\n' | b'\t') => at += 1,
            _ => return at,
        }
    }
}
