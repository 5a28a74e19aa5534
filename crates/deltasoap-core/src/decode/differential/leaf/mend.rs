//! Small messages that differ in a few texts: the old value is mended, without calling any routine.
//!
//! ```text
//! old   <returnval xsi:type="Status">green</returnval><version>7</version>
//! new   <returnval xsi:type="Status">yellow</returnval><version>7</version>
//!       ────────── equal ─────────── text  ─────────── equal ────────────
//! ```
//!
//! Comparing and returning to regular mode costs a few hundred nanoseconds, in which a small
//! message can be read. Here the old bytes are walked up to each difference, which determines the
//! element that contains it: the table knows those outside of trees, and within a tree children are
//! counted. Of the new bytes only the text is examined.
//!
//! A message that cannot be mended is read in regular mode, and noted for the next one.
//!
//! This is sound, because both messages have the same tokens except for the differences, and these
//! may only be literal text: the text of an element, or the value of an attribute in a tree (whose
//! name no routine checks). Everything else is left to the other modes.

use super::merge::Move;
use super::table::{NONE, Node, Table};
use super::template::Template;
use crate::{Lexical, Limits};
use compact_str::CompactString;
use deltasoap_xml::scan::first_mismatch;
use memchr::memchr;

/// Maximum number of bytes of an operation that is mended.
pub(crate) const SMALL: usize = 4096;
/// Maximum number of differences: with more, reading is as fast.
const MAX_DIFFERENCES: usize = 16;

/// The differences of a message.
#[derive(Debug, Default)]
pub(crate) struct Mending {
    differences: Vec<Difference>,
    /// Paths within trees: numbers of children.
    tree_paths: Vec<u32>,
    /// Number of bytes of the operation's content.
    len: usize,
}

#[derive(Debug, Clone, Copy)]
struct Difference {
    /// The element, or the tree that contains it.
    node: u32,
    /// The path from there, in `tree_paths`.
    tree_path: (usize, usize),
    /// The attribute; `None` for text.
    attribute: Option<u32>,
    /// Start and end in the old content.
    old: (usize, usize),
    /// Start and end in the new content.
    new: (usize, usize),
}

/// A text that replaces another one.
#[cfg_attr(not(feature = "values"), expect(dead_code, reason = "only dynamic values are mended"))]
#[derive(Debug)]
pub struct Mend<'m> {
    /// Fields and occurrences, from the operation to the value.
    pub(crate) path: &'m [(u32, u32)],
    /// The path from there to a child of a tree.
    pub(crate) tree_path: &'m [u32],
    /// The attribute; `None` for text.
    pub(crate) attribute: Option<u32>,
    /// True if there was no text before.
    pub(crate) is_new: bool,
    /// The text and the bytes after it.
    bytes: &'m [u8],
    len: usize,
}

#[cfg_attr(not(feature = "values"), expect(dead_code, reason = "only dynamic values are mended"))]
impl Mend<'_> {
    /// Returns true if there is no text any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.len == 0
    }

    /// Reads the text as a value. Returns `None`, and leaves any value, if it is not a valid value
    /// or not literal.
    pub(crate) fn read<T: Lexical>(&self, value: &mut T) -> Option<()> {
        (value.scan_into(self.bytes)? == self.len).then_some(())
    }

    /// Returns the text as it is, if it is literal.
    pub(crate) fn text(&self) -> Option<CompactString> {
        let mut text = String::new();
        self.read(&mut text)?;
        Some(text.into())
    }

    /// Returns the text as the value of an attribute, which must be printable ASCII to be literal.
    pub(crate) fn attribute_value(&self) -> Option<CompactString> {
        let text = &self.bytes[..self.len];
        let is_plain = text.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<'));
        std::str::from_utf8(text).ok().filter(|_| is_plain).map(CompactString::from)
    }
}

impl Mending {
    /// Creates a mending without differences, for an operation's content of `len` bytes.
    pub(super) fn nothing(len: usize) -> Self {
        Mending { len, ..Mending::default() }
    }

    /// Finds the differences between an operation's old content and the new one, which is at the
    /// start of `new`; `None` if they are more than can be mended.
    pub(crate) fn find(old: &Template, new: &[u8], limits: &Limits) -> Option<Self> {
        let len = usize::try_from(old.end - old.start).ok().filter(|len| *len <= SMALL)?;
        let bytes = old.image()?.at(old.start).get(..len)?;
        let is_tight = limits.text.min(limits.attribute_value).min(limits.markup) <= SMALL;
        if is_tight || !old.table.runs.is_empty() {
            return None;
        }
        let mut mending = Mending::default();
        let mut walk = Walk::new(bytes, old);
        let (mut at, mut here) = (0, 0);
        loop {
            let (rest, ahead) = (&bytes[at..], new.get(here..)?);
            let both = rest.len().min(ahead.len());
            let equal = first_mismatch(&rest[..both], &ahead[..both]);
            (at, here) = (at + equal, here + equal);
            if at == bytes.len() {
                mending.len = here;
                return new[here..].starts_with(b"</").then_some(mending);
            }
            let token = walk.token_at(at, &mut mending.tree_paths).filter(|_| equal < both)?;
            (at, here) = mending.add(token, here - (at - token.start), new)?;
        }
    }

    /// Adds a difference. Returns where the comparison continues.
    fn add(&mut self, token: Token, start: usize, new: &[u8]) -> Option<(usize, usize)> {
        let Token { node, tree_path, attribute, delimiter, .. } = token;
        let len = memchr(delimiter, new.get(start..)?)?;
        if len > SMALL || self.differences.len() == MAX_DIFFERENCES {
            return None;
        }
        let (old, new) = ((token.start, token.end), (start, start + len));
        self.differences.push(Difference { node, tree_path: (tree_path, self.tree_paths.len()), attribute, old, new });
        Some((old.1, new.1))
    }

    /// Passes each difference to `take`, the last one first, so that inserted or removed children
    /// do not affect the others. `bytes` begin with the new content. Returns false as soon as one
    /// could not be taken.
    pub(crate) fn all(&self, table: &Table, bytes: &[u8], mut take: impl FnMut(&Mend<'_>) -> Option<()>) -> bool {
        let mut path = Vec::new();
        self.differences.iter().rev().all(|&Difference { node, tree_path, attribute, old, new }| {
            table.path(node, &mut path);
            let (bytes, len) = (&bytes[new.0..], new.1 - new.0);
            let (tree_path, is_new) = (&self.tree_paths[tree_path.0..tree_path.1], old.0 == old.1);
            take(&Mend { path: &path, tree_path, attribute, is_new, bytes, len }).is_some()
        })
    }

    /// Returns the number of bytes of the operation's content.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of differences.
    pub(super) fn count(&self) -> usize {
        self.differences.len()
    }

    /// Returns the number of unchanged bytes.
    pub(super) fn equal(&self) -> usize {
        self.len - self.differences.iter().map(|it| it.new.1 - it.new.0).sum::<usize>()
    }

    /// Returns the distance by which the content after each difference has moved, for an operation
    /// whose content began at `old` and begins at `new`.
    pub(super) fn moves(&self, old: u64, new: u64) -> impl Iterator<Item = Move> {
        let moved = move |from: usize, to: usize| {
            let from = old + from as u64;
            Move { from, by: (new + to as u64).wrapping_sub(from) as i64 }
        };
        std::iter::once(moved(0, 0)).chain(self.differences.iter().map(move |it| moved(it.old.1, it.new.1)))
    }
}

/// Walks the old content from its start, token by token.
struct Walk<'w> {
    bytes: &'w [u8],
    /// Position of the first byte in the message.
    start: u64,
    nodes: &'w [Node],
    /// The next node, and the next token.
    next: usize,
    at: usize,
    /// The elements around it; the operation first.
    open: Vec<Level>,
}

#[derive(Clone, Copy)]
struct Level {
    /// The element's node; `NONE` within trees.
    node: u32,
    /// Number of children passed, including texts.
    children: u32,
}

/// Text, or an attribute's value.
#[derive(Debug, Clone, Copy)]
struct Token {
    node: u32,
    /// Start of its path in `tree_paths`.
    tree_path: usize,
    attribute: Option<u32>,
    /// Start and end in the old content.
    start: usize,
    end: usize,
    /// The byte that ends it.
    delimiter: u8,
}

impl<'w> Walk<'w> {
    fn new(bytes: &'w [u8], template: &'w Template) -> Self {
        let open = vec![Level { node: NONE, children: 0 }];
        Walk { bytes, start: template.start, nodes: &template.table.nodes, next: 0, at: 0, open }
    }

    /// Returns the text or attribute value that contains a place, or ends there.
    fn token_at(&mut self, place: usize, tree_paths: &mut Vec<u32>) -> Option<Token> {
        loop {
            let start = self.at;
            let rest = self.bytes.get(start..)?;
            if *rest.first()? != b'<' {
                let end = start + memchr(b'<', rest)?;
                if place <= end {
                    return self.text((start, end), tree_paths);
                }
                self.top()?.children += 1;
                self.at = end;
            } else {
                let end = start + tag_len(rest)?;
                match place {
                    // There may now be text between two adjacent tags.
                    _ if place == start => return self.text((start, start), tree_paths),
                    _ if place < end => return self.attribute_at(place, end, tree_paths),
                    _ => self.pass_tag(end)?,
                }
            }
        }
    }

    fn text(&self, (start, end): (usize, usize), tree_paths: &mut Vec<u32>) -> Option<Token> {
        // After a comment or a section, more of the same text would follow.
        let is_whole = !matches!(self.bytes.get(end + 1)?, b'!' | b'?');
        let tree_path = tree_paths.len();
        let node = self.tree_path(tree_paths).filter(|_| is_whole)?;
        Some(Token { node, tree_path, attribute: None, start, end, delimiter: b'<' })
    }

    fn top(&mut self) -> Option<&mut Level> {
        self.open.last_mut()
    }

    /// Appends the path to the next child of the innermost element, from the innermost node on.
    /// Returns that node.
    fn tree_path(&self, tree_paths: &mut Vec<u32>) -> Option<u32> {
        let from = self.open.iter().rposition(|level| level.node != NONE)?;
        let (last, outer) = self.open[from..].split_last()?;
        tree_paths.extend(outer.iter().map(|level| level.children - 1));
        tree_paths.push(last.children);
        Some(self.open[from].node)
    }

    /// Returns the node of the element whose start tag is next, if it has one.
    fn next_node(&self) -> Option<u32> {
        let position = self.start + self.at as u64;
        let is_here = self.nodes.get(self.next).is_some_and(|node| u64::from(node.pos) == position);
        is_here.then_some(self.next as u32)
    }

    fn pass_tag(&mut self, end: usize) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'/' => _ = self.open.pop()?,
            b'!' | b'?' => return None,
            _ => {
                let node = self.next_node();
                self.next += usize::from(node.is_some());
                self.top()?.children += 1;
                if self.bytes[end - 2] != b'/' {
                    self.open.push(Level { node: node.unwrap_or(NONE), children: 0 });
                }
            }
        }
        self.at = end;
        Some(())
    }

    /// Returns the attribute of the next tag whose value contains a place.
    fn attribute_at(&self, place: usize, end: usize, tree_paths: &mut Vec<u32>) -> Option<Token> {
        let tag = &self.bytes[self.at..end];
        if matches!(tag.get(1), Some(b'/' | b'!' | b'?')) {
            return None;
        }
        let (attribute, start, end) = value_at(tag, place - self.at)?;
        let tree_path = tree_paths.len();
        let node = match self.next_node() {
            Some(node) => node,
            None => self.tree_path(tree_paths)?,
        };
        let (start, end) = (self.at + start, self.at + end);
        Some(Token { node, tree_path, attribute: Some(attribute), start, end, delimiter: self.bytes[start - 1] })
    }
}

/// Returns the length of a tag, whose attribute values may contain `>`.
fn tag_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        match bytes[at] {
            b'>' => return Some(at + 1),
            quote => at += 2 + memchr(quote, &bytes[at + 1..])?,
        }
    }
}

/// Attributes that routines check on any element.
const EXAMINED: [&[u8]; 5] = [b"nil", b"id", b"href", b"ref", b"position"];

/// Returns the attribute of a start tag whose value contains a place, or ends there: its number,
/// not counting declarations, and start and end of its value.
fn value_at(tag: &[u8], place: usize) -> Option<(u32, usize, usize)> {
    let (mut number, mut at) = (0, 1);
    loop {
        let equals = at + memchr(b'=', &tag[at..])?;
        let name = tag[at..equals].trim_ascii().rsplit(u8::is_ascii_whitespace).next()?;
        let start = equals + 2 + tag[equals + 1..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let end = start + memchr(*tag.get(start - 1)?, tag.get(start..)?)?;
        let is_declaration = name == b"xmlns" || name.starts_with(b"xmlns:");
        if place < start {
            return None;
        }
        if place <= end {
            let local = name.rsplit(|byte| *byte == b':').next()?;
            return (!is_declaration && !EXAMINED.contains(&local)).then_some((number, start, end));
        }
        number += u32::from(!is_declaration);
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_attributes() {
        let tag = br#"<a x='>"' xmlns:p = "u" p:y="1 2"/>"#;
        assert_eq!(tag_len(tag), Some(tag.len()));
        let at = |text: &[u8]| memchr::memmem::find(tag, text).unwrap_or_default();
        assert_eq!(value_at(tag, at(b">\"")), Some((0, 6, 8)));
        assert_eq!(value_at(tag, at(b"u\"")), None);
        assert_eq!(value_at(tag, at(b" 2")), Some((1, at(b"1 2"), at(b"1 2") + 3)));
        assert_eq!(value_at(tag, at(b"xmlns")), None);
        assert_eq!(value_at(br#"<a xsi:nil="true">"#, 13), None);
    }

    #[test]
    fn tags_without_an_end() {
        assert_eq!((tag_len(b"<a x='>"), tag_len(b"<a")), (None, None));
    }
}
