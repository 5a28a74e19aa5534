//! Known tags: the same bytes in the same scope are the same tag.
//!
//! The result of reading a start tag depends on its bytes, the declarations in scope and the limits. A [`KnownTag`] holds the bytes and
//! the result. When the same bytes come again, the reader compares them instead of tokenizing them.

use super::attribute::Attribute;
use super::spelling::SpellingId;
use super::tag::Open;
use super::{Inside, Place, Reader, Window};
use crate::segment::Segment;
use crate::{NameId, ScopeId};

/// A start tag without namespace declarations, and its end tag. Valid only for the reader that made it, in the same
/// [`epoch`](Reader::epoch) and [`scope`](Reader::scope).
#[derive(Debug)]
pub struct KnownTag {
    start: Segment,
    end: Segment,
    spelling: SpellingId,
    name: NameId,
    scope: ScopeId,
    attributes: Box<[Attribute]>,
    values: Box<str>,
}

impl KnownTag {
    /// The memory it takes in bytes, an estimate.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.start.len() + self.end.len() + self.values.len() + size_of_val(&self.attributes[..])
    }

    /// True if `bytes` are those of the start tag.
    pub fn is(&self, bytes: &[u8]) -> bool {
        self.start.as_slice() == bytes
    }

    /// The end of the start tag if `bytes` has it at `at`.
    #[inline(always)]
    pub fn start(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.start.matches(bytes.get(at..)?).then_some(at + self.start.len())
    }

    /// The end of the end tag if `bytes` has it at `at`, written without white space.
    #[inline(always)]
    pub fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.end.matches(bytes.get(at..)?).then_some(at + self.end.len())
    }
}

impl Reader {
    /// The start tag that was just read, whose bytes are `bytes`. `None` if it declares namespaces, if it is an empty-element tag, or if its
    /// end tag would exceed the limit on markup.
    pub fn known_tag(&self, bytes: &[u8]) -> Option<KnownTag> {
        let open = self.open.last()?;
        if self.empty || self.tag_has_declarations() {
            return None;
        }
        let end = ["</", self.spellings.text(open.spelling), ">"].concat();
        if end.len() > self.limits.markup {
            return None;
        }
        Some(KnownTag {
            start: Segment::new(bytes),
            end: Segment::new(end.as_bytes()),
            spelling: open.spelling,
            name: open.name,
            scope: open.scope,
            attributes: self.tag.attributes.as_slice().into(),
            values: self.tag.values.as_str().into(),
        })
    }

    /// Opens an element whose known start tag is at `at`, and continues after that tag, as [`next`](Self::next) does. The reader must be
    /// [between tokens](Self::is_between_tokens), in the tag's scope, and below the limit on depth.
    #[inline]
    pub fn open_known(&mut self, tag: &KnownTag, window: &mut Window<'_>, at: usize) {
        debug_assert!(tag.start(window.bytes, at).is_some() && tag.scope == self.scope());
        debug_assert!(self.is_between_tokens() && self.open.len() < self.limits.depth);
        self.tag.clear();
        if !tag.attributes.is_empty() {
            self.tag.attributes.extend_from_slice(&tag.attributes);
            self.tag.values.push_str(&tag.values);
        }
        let bindings = self.scopes.mark();
        self.open.push(Open { spelling: tag.spelling, name: tag.name, scope: tag.scope, bindings, text: 0 });
        self.tag_offset = window.base + at as u64;
        window.pos = at + tag.start.len();
    }

    /// Skips an element without children that starts at `at` and ends at `end`.
    #[inline]
    pub fn pass_known(&mut self, tag: &KnownTag, window: &mut Window<'_>, at: usize, end: usize) {
        debug_assert!(self.place == Place::Content && self.inside == Inside::Nothing);
        self.last = tag.name;
        self.tag_offset = window.base + at as u64;
        window.pos = end;
    }

    /// Closes the innermost open element if its end tag is at `at`, written without white space. Returns false if it is not. Only between
    /// tokens, as [`open_known`](Self::open_known).
    #[inline]
    pub fn end_known(&mut self, window: &mut Window<'_>, at: usize) -> bool {
        let Some(open) = self.open.last() else { return false };
        let name = self.spellings.text(open.spelling).as_bytes();
        let rest = window.bytes.get(at..).unwrap_or_default();
        let Some([b'<', b'/', rest @ ..]) = Some(rest) else { return false };
        let is_within = name.len() + 3 <= self.limits.markup;
        let is_end = is_within && rest.get(name.len()) == Some(&b'>') && rest.starts_with(name);
        if is_end {
            self.tag_offset = window.base + at as u64;
            window.pos = at + name.len() + 3;
            let _ = self.end();
        }
        is_end
    }
}
