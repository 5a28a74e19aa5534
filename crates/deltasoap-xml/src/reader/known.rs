//! Known tags: the same bytes in the same scope are the same tag.
//!
//! The result of reading a start tag depends on its bytes, the declarations in scope and the
//! limits. A [`KnownTag`] holds the bytes and the result. When the same bytes come again, the
//! reader compares them instead of tokenizing them.
//!
//! Attribute values may differ, except those that the caller wants fixed:
//!
//! ```text
//! <prop versionId="8.0" xsi:type="xsd:string">      the tag as it was read; xsi:type is fixed
//! <prop versionId="                                 compared
//!                  ...                              a value: plain characters up to the quote
//!                     " xsi:type="xsd:string">      compared
//! ```

use super::attribute::Attribute;
use super::spelling::SpellingId;
use super::tag::Open;
use super::{DocumentPart, OpenToken, Reader, Window};
use crate::chars::{PLAIN_VALUE, has};
use crate::segment::Segment;
use crate::{NameId, Names, ScopeId};

/// A start tag without namespace declarations, and its end tag. Valid only for the reader that made
/// it, in the same [`epoch`](Reader::epoch) and [`scope`](Reader::scope).
#[derive(Debug)]
pub struct KnownTag {
    /// The start tag, up to the first value that may differ.
    start: Segment,
    /// The values that may differ, in order.
    varying: Box<[Varying]>,
    end: Segment,
    spelling: SpellingId,
    name: NameId,
    scope: ScopeId,
    attributes: Box<[Attribute]>,
    /// The fixed values.
    values: Box<str>,
    /// The limits on a value and on the tag, in bytes.
    limits: (usize, usize),
}

/// An attribute value that may differ.
#[derive(Debug)]
struct Varying {
    /// The index of the attribute in the tag.
    attribute: usize,
    /// The bytes from its closing quote to the next such value or the end of the tag.
    after: Box<[u8]>,
}

/// Maximum number of values of a tag that may differ, and maximum bytes of one: a value that is cut
/// by the window's end is compared again with each chunk.
const MAX_VARYING: usize = 16;
const MAX_VALUE: usize = 512;
/// Maximum bytes of a tag.
const MAX_BYTES: usize = 4096;

impl KnownTag {
    /// Returns the declarations in scope where it is valid.
    #[inline]
    pub(crate) fn scope(&self) -> ScopeId {
        self.scope
    }

    #[inline]
    pub(crate) fn spelling(&self) -> SpellingId {
        self.spelling
    }

    /// Returns an estimate of the memory it takes, in bytes.
    pub fn size(&self) -> usize {
        let varying: usize = self.varying.iter().map(|it| size_of_val(it) + it.after.len()).sum();
        let bytes = self.start.len() + self.end.len() + self.values.len();
        size_of::<Self>() + bytes + varying + size_of_val(&self.attributes[..])
    }

    /// Returns true if `bytes` are the start tag, with any values where values may differ.
    pub fn is(&self, bytes: &[u8]) -> bool {
        self.start(bytes, 0) == Some(bytes.len())
    }

    /// Returns the end of the start tag if `bytes` has it at `at`.
    #[inline(always)]
    pub fn start(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let end = self.start.matches(bytes.get(at..)?).then_some(at + self.start.len())?;
        if self.varying.is_empty() { Some(end) } else { self.values_end(bytes, at, end) }
    }

    /// Returns the end of the tag, comparing from the first value that may differ.
    fn values_end(&self, bytes: &[u8], start: usize, mut at: usize) -> Option<usize> {
        let (value_limit, markup_limit) = self.limits;
        for Varying { after, .. } in &self.varying {
            let len = plain_value(&bytes[at..]).len();
            at += len;
            if len > value_limit || !bytes.get(at..)?.starts_with(after) {
                return None;
            }
            at += after.len();
        }
        (at - start <= markup_limit).then_some(at)
    }

    /// Returns the end of the end tag if `bytes` has it at `at`, written without white space.
    #[inline(always)]
    pub fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.end.matches(bytes.get(at..)?).then_some(at + self.end.len())
    }
}

impl Reader {
    /// Returns the start tag that was just read, whose bytes are `bytes`; `is_fixed` selects the
    /// attributes whose values are fixed. `None` if it declares namespaces, if it is an
    /// empty-element tag, if it is long, or if its end tag would exceed the limit on markup.
    pub fn known_tag(&self, bytes: &[u8], is_fixed: impl Fn(&Names, NameId) -> bool) -> Option<KnownTag> {
        let open = self.open.last()?;
        if self.empty || self.tag_has_declarations() || bytes.len() > MAX_BYTES {
            return None;
        }
        if self.tag.attributes.iter().filter(|it| !is_fixed(&self.names, it.name)).count() > MAX_VARYING {
            return None;
        }
        let end = ["</", self.spellings.text(open.spelling), ">"].concat();
        if end.len() > self.limits.markup {
            return None;
        }
        let mut attributes: Box<[Attribute]> = self.tag.attributes.as_slice().into();
        let (mut values, mut start, mut from) = (String::new(), &[][..], 0);
        let mut varying: Vec<Varying> = Vec::new();
        let mut quoted = Quoted { tag: bytes, at: 0 };
        for (index, attribute) in attributes.iter_mut().enumerate() {
            let place = quoted.next()?;
            if is_fixed(&self.names, attribute.name) {
                let at = values.len();
                values.push_str(&self.tag.values[attribute.value.clone()]);
                attribute.value = at..values.len();
                continue;
            }
            if place.len() > MAX_VALUE {
                return None;
            }
            let piece = bytes.get(from..place.start)?;
            match varying.last_mut() {
                Some(last) => last.after = piece.into(),
                None => start = piece,
            }
            varying.push(Varying { attribute: index, after: Box::default() });
            (attribute.value, from) = (0..0, place.end);
        }
        let rest = bytes.get(from..)?;
        match varying.last_mut() {
            Some(last) => last.after = rest.into(),
            None => start = rest,
        }
        Some(KnownTag {
            start: Segment::new(start),
            varying: varying.into(),
            end: Segment::new(end.as_bytes()),
            spelling: open.spelling,
            name: open.name,
            scope: open.scope,
            attributes,
            values: values.into(),
            limits: (self.limits.attribute_value, self.limits.markup),
        })
    }

    /// Opens an element whose known start tag is at `at`, and continues after that tag, as
    /// [`next`](Self::next) does. The reader must be [between tokens](Self::is_between_tokens), in
    /// the tag's scope, and below the limit on depth.
    #[inline]
    pub fn open_known(&mut self, tag: &KnownTag, window: &mut Window<'_>, at: usize) {
        debug_assert!(tag.start(window.bytes, at).is_some() && tag.scope == self.scope());
        debug_assert!(self.is_between_tokens() && self.open.len() < self.limits.depth);
        self.tag.clear();
        window.pos = at + tag.start.len();
        if tag.varying.is_empty() {
            self.tag.attributes.extend_from_slice(&tag.attributes);
            self.tag.values.push_str(&tag.values);
        } else {
            self.take_values(tag, window);
        }
        let bindings = self.scopes.mark();
        self.open.push(Open { spelling: tag.spelling, name: tag.name, scope: tag.scope, bindings, text: 0 });
        self.tag_offset = window.base + at as u64;
    }

    /// Takes the attributes of a known tag, from its first value that may differ to its end.
    fn take_values(&mut self, tag: &KnownTag, window: &mut Window<'_>) {
        let mut varying = tag.varying.iter().peekable();
        for (index, attribute) in tag.attributes.iter().enumerate() {
            let start = self.tag.values.len();
            match varying.next_if(|it| it.attribute == index) {
                Some(it) => {
                    let value = plain_value(&window.bytes[window.pos..]);
                    self.tag.values.push_str(value);
                    window.pos += value.len() + it.after.len();
                }
                None => self.tag.values.push_str(&tag.values[attribute.value.clone()]),
            }
            self.tag.attributes.push(Attribute { value: start..self.tag.values.len(), ..attribute.clone() });
        }
    }

    /// Skips an element without children that starts at `at` and ends at `end`.
    #[inline]
    pub fn pass_known(&mut self, tag: &KnownTag, window: &mut Window<'_>, at: usize, end: usize) {
        debug_assert!(self.place == DocumentPart::Content && self.inside == OpenToken::Nothing);
        self.last = tag.name;
        self.tag_offset = window.base + at as u64;
        window.pos = end;
    }

    /// Closes the innermost open element if its end tag is at `at`, written without white space.
    /// Returns false otherwise. The reader must be between tokens, as for
    /// [`open_known`](Self::open_known).
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

/// Returns the characters at the start of `bytes` that stand for themselves in an attribute value,
/// up to the first one that is not ASCII and up to a maximum length.
#[inline]
fn plain_value(bytes: &[u8]) -> &str {
    let is_plain = |byte: &u8| byte.is_ascii() && has(*byte, PLAIN_VALUE);
    let bytes = &bytes[..bytes.len().min(MAX_VALUE)];
    let end = bytes.iter().position(|byte| !is_plain(byte)).unwrap_or(bytes.len());
    str::from_utf8(&bytes[..end]).unwrap_or_default()
}

/// An iterator over the ranges of the attribute values, without their quotes, in a well-formed
/// start tag.
struct Quoted<'t> {
    tag: &'t [u8],
    at: usize,
}

impl Iterator for Quoted<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at + self.tag.get(self.at..)?.iter().position(|byte| matches!(byte, b'"' | b'\''))? + 1;
        let quote = self.tag[start - 1];
        let end = start + self.tag[start..].iter().position(|&byte| byte == quote)?;
        self.at = end + 1;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detected, Event, Instructions, Limits};

    fn window(bytes: &[u8]) -> Window<'_> {
        Window { bytes, pos: 0, base: 0, last: true, encoding: Detected::default(), mark: None, halted: false }
    }

    /// Returns the attributes that a reader reports for the start tag within `<x xmlns:i='urn:i'>`:
    /// names and values.
    fn attributes(reader: &Reader) -> Vec<(String, String)> {
        let attribute = |index| {
            let (name, text) = reader.attribute(index);
            (format!("{{{}}}{}", reader.names().namespace(name), reader.names().local(name)), text.to_owned())
        };
        (0..reader.attribute_count()).map(attribute).collect()
    }

    /// Comparing them would cost more than it saves, and so would learning them again each time.
    #[test]
    fn tags_with_many_attributes_and_long_ones_are_not_known() {
        for (count, len, is_known) in
            [(16, 10, true), (17, 10, false), (2, 512, true), (2, 513, false), (10, 410, false)]
        {
            let attributes: String = (0..count).map(|number| format!(" a{number}='{}'", "x".repeat(len))).collect();
            let tag = format!("<a{attributes}>");
            let text = format!("{tag}</a>");
            let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
            assert!(matches!(reader.next(&mut window(text.as_bytes())), Ok(Event::Start)));
            let known = reader.known_tag(tag.as_bytes(), |_, _| false);
            assert_eq!(known.is_some_and(|known| known.is(tag.as_bytes())), is_known, "{count} of {len}");
        }
    }

    #[test]
    fn values_may_differ_but_for_fixed_ones() {
        const AROUND: &str = "<x xmlns:i='urn:i'>";
        let first = "<a b = \"1\"  i:type='t'\n c='2>'>";
        let text = format!("{AROUND}{first}</a>");
        let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
        let mut at = window(text.as_bytes());
        for _ in 0..2 {
            assert!(matches!(reader.next(&mut at), Ok(Event::Start)));
        }
        let known = reader.known_tag(first.as_bytes(), |names, name| names.is(name, "urn:i", "type")).expect("a tag");
        assert!(known.is(first.as_bytes()));
        for (tag, is_known) in [
            ("<a b = \"11\"  i:type='t'\n c=''>", true),
            ("<a b = \"\"  i:type='t'\n c='4 4'>", true),
            ("<a b = \"1\"  i:type='u'\n c='2'>", false),
            ("<a b = '1'  i:type='t'\n c='2'>", false),
            ("<a b = \"&lt;\"  i:type='t'\n c='2'>", false),
            ("<a b = \"<\"  i:type='t'\n c='2'>", false),
            ("<a b = \"\u{e4}\"  i:type='t'\n c='2'>", false),
            ("<a b = \"\t\"  i:type='t'\n c='2'>", false),
            ("<a b = \"1\"  i:type='t'\n c='2'/>", false),
            ("<a b = \"1\"  i:type='t'\n c='2' d='3'>", false),
            ("<a b = \"1\"  i:type='t'\n c='2", false),
        ] {
            assert_eq!(known.is(tag.as_bytes()), is_known, "{tag}");
            if !is_known {
                continue;
            }
            let text = format!("{AROUND}{tag}</a>");
            let mut read = |by_known: bool| {
                let mut fresh = Reader::new(Limits::default(), Instructions::Refuse);
                let reader = if by_known { &mut reader } else { &mut fresh };
                let mut at = window(text.as_bytes());
                reader.reset();
                assert!(matches!(reader.next(&mut at), Ok(Event::Start)));
                let start = at.pos;
                if by_known {
                    reader.open_known(&known, &mut at, start);
                } else {
                    assert!(matches!(reader.next(&mut at), Ok(Event::Start)));
                }
                (at.pos, attributes(reader))
            };
            assert_eq!(read(true), read(false), "{tag}");
        }
    }
}
