//! Predicted tags of trees: the start tag that followed last time after the tag that was just read.
//!
//! ```text
//! <row><id>1</id><name>x</name></row><row>...      <row> ──> <id>   </id> ──> <name>   </name> ──> </row>   </row> ──> <row>
//! ```
//!
//! A predicted tag is opened with the name and the attributes that it had then; only attribute
//! values may differ (see [`KnownTag`]). An element without attributes that holds only plain text
//! is read at once, without a token. Anything else is left to the reader, which alone reports
//! errors.
//!
//! Tags stay with their decoder, like the reader's names. They hold no attribute values, except
//! those of `xsi:type` and `xsi:nil`.

use super::read::push_text;
use super::{Child, Node};
use crate::decode::{Cursor, Expected, State, decides_type};
use crate::schema::QName;
use deltasoap_xml::scan::text::plain_text;
use deltasoap_xml::{KnownTag, NameId, ScopeId};
use foldhash::quality::RandomState;
use std::collections::HashMap;

/// Limits on the number of tags and their size in bytes (an estimate). A decoder that reaches one
/// stops learning, and drops all tags after [`MAX_FULL`] more messages.
const MAX_TAGS: usize = 1024;
const MAX_BYTES: usize = 512 << 10;
const MAX_FULL: u32 = 8;
/// Maximum number of tags with one name, each with other attributes.
const MAX_OF_NAME: usize = 8;

/// Size in bytes of a tag's two places, and of a name's list of tags.
const PLACES: usize = 2 * size_of::<[u32; 2]>();
const LIST: usize = size_of::<((ScopeId, NameId), Vec<u32>)>();

/// No known tag.
const NONE: u32 = u32::MAX;

/// The tags of the trees that a decoder has read.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    tags: Vec<Tag>,
    /// Tags by name. A name that was seen once has none: it is not worth a tag yet.
    index: HashMap<(ScopeId, NameId), Vec<u32>, RandomState>,
    /// The tag that came last at each place: after anything unknown, then after the start and after
    /// the end of each tag.
    next: Vec<[u32; 2]>,
    /// The current place.
    place: usize,
    /// The tags of open elements.
    open: Vec<u32>,
    bytes: usize,
    /// Number of messages since a limit was reached.
    full: u32,
    epoch: (u64, u64),
    is_off: bool,
}

#[derive(Debug)]
struct Tag {
    known: KnownTag,
    scope: ScopeId,
    name: QName,
    has_attributes: bool,
}

/// The outcome of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The predicted start tag was read.
    Child,
    /// The end tag was read.
    End,
    /// Nothing was read: the reader must look.
    Unknown,
}

impl Tags {
    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    /// Prepares for the next message.
    pub(crate) fn reset(&mut self, epoch: (u64, u64)) {
        self.open.clear();
        self.place = 0;
        self.full += u32::from(self.is_full());
        if self.epoch != epoch || self.full >= MAX_FULL {
            *self = Tags { epoch, is_off: self.is_off, ..Tags::default() };
        }
    }

    fn is_full(&self) -> bool {
        self.tags.len() >= MAX_TAGS || self.bytes >= MAX_BYTES
    }

    /// Returns the predicted tag at a position of `bytes`, and where the tag ends.
    #[inline]
    fn find(&self, scope: ScopeId, bytes: &[u8], at: usize) -> Option<(u32, &Tag, usize)> {
        self.next.get(self.place)?.iter().find_map(|&number| {
            let tag = self.tags.get(number as usize).filter(|tag| tag.scope == scope)?;
            Some((number, tag, tag.known.start(bytes, at)?))
        })
    }

    /// Notes that an element was opened.
    fn enter(&mut self, number: u32) {
        self.open.push(number);
        self.place = if number == NONE { 0 } else { 2 * number as usize + 1 };
    }

    /// Notes that the innermost element was closed.
    pub(super) fn leave(&mut self) {
        // After a pause not all open elements are on the stack.
        let number = self.open.pop().unwrap_or(NONE);
        self.pass(number);
    }

    fn pass(&mut self, number: u32) {
        self.place = if number == NONE { 0 } else { 2 * number as usize + 2 };
    }

    /// Returns the number of the start tag just read; `None` if the tag is not kept.
    fn number(&mut self, scope: ScopeId, id: NameId, found: &[u8]) -> Option<Number> {
        let is_full = self.is_full();
        let Some(numbers) = self.index.get(&(scope, id)) else {
            if !is_full {
                self.index.insert((scope, id), Vec::new());
                self.bytes += LIST;
            }
            return None;
        };
        match numbers.iter().find(|&&number| self.tags[number as usize].known.is(found)) {
            Some(&number) => Some(Number::Known(number)),
            None => (!is_full && numbers.len() < MAX_OF_NAME).then_some(Number::New),
        }
    }

    fn add(&mut self, id: NameId, tag: Tag) -> u32 {
        self.bytes += tag.known.size() + PLACES;
        let number = self.tags.len() as u32;
        self.index.entry((tag.scope, id)).or_default().push(number);
        self.tags.push(tag);
        self.next.resize(2 * self.tags.len() + 1, [NONE; 2]);
        number
    }

    /// Notes which tag came at the current place.
    fn note(&mut self, number: u32) {
        if let Some(next) = self.next.get_mut(self.place)
            && next[0] != number
        {
            *next = [number, next[0]];
        }
    }
}

enum Number {
    Known(u32),
    New,
}

impl Cursor<'_> {
    /// Reads predicted content of an element: leaves, then a start tag or the element's own end
    /// tag.
    #[inline]
    pub(super) fn next_in_tree(&mut self, node: &mut Node) -> Next {
        let room = self.tree_nodes_left();
        let (window, State { reader, expected: Expected { tags, .. }, limits, hooks, trees, .. }) = self.parts();
        if tags.is_off || hooks.is_busy() {
            return Next::Unknown;
        }
        loop {
            if !reader.is_between_tokens() {
                return Next::Unknown;
            }
            let at = window.pos;
            let is_end = match window.bytes.get(at..) {
                Some([b'<', b'/', ..]) => reader.end_known(window, at),
                Some([b'<', ..]) => false,
                // Text before anything else: usually it is the only content.
                Some([first, ..]) if *first > b' ' && node.children.is_empty() => {
                    let text = plain_text(&window.bytes[at..]);
                    let is_end = text.len() <= limits.text && reader.end_known(window, at + text.len());
                    if is_end && !text.is_empty() {
                        push_text(node, text);
                    }
                    is_end
                }
                _ => return Next::Unknown,
            };
            if is_end {
                tags.leave();
                return Next::End;
            }
            if reader.depth() >= limits.depth || trees.taken.nodes >= room {
                return Next::Unknown;
            }
            let Some((number, tag, start)) = tags.find(reader.scope(), window.bytes, at) else {
                return Next::Unknown;
            };
            let text = if tag.has_attributes { "" } else { plain_text(&window.bytes[start..]) };
            let end = tag.known.end(window.bytes, start + text.len()).filter(|_| !text.is_empty());
            let Some(end) = end.filter(|_| text.len() <= limits.text) else {
                reader.open_known(&tag.known, window, at);
                tags.enter(number);
                return Next::Child;
            };
            let children = vec![Child::Text(text.into())];
            let leaf = Node { name: tag.name.clone(), children, ..Node::default() };
            node.children.push(Child::Element(leaf));
            trees.taken.nodes += 1;
            reader.pass_known(&tag.known, window, at, end);
            tags.pass(number);
        }
    }

    /// Notes the start tag just read, and opens its element.
    pub(super) fn learn_in_tree(&mut self) {
        let (window, State { reader, expected: Expected { tags, names, .. }, .. }) = self.parts();
        if tags.is_off {
            return;
        }
        let start = reader.tag_offset().checked_sub(window.base).map(|start| start as usize);
        let found = start.and_then(|start| window.bytes.get(start..window.pos)).unwrap_or_default();
        let (id, has_attributes) = (reader.name(), reader.attribute_count() > 0);
        if reader.tag_is_empty() {
            return tags.enter(NONE);
        }
        let number = match tags.number(reader.scope(), id, found) {
            Some(Number::Known(number)) => number,
            Some(Number::New) => match reader.known_tag(found, decides_type) {
                Some(known) => {
                    let name = names.get(reader.names(), id);
                    tags.add(id, Tag { known, scope: reader.scope(), name, has_attributes })
                }
                None => NONE,
            },
            None => NONE,
        };
        if number != NONE {
            tags.note(number);
        }
        tags.enter(number);
    }

    /// Notes that the innermost element of a tree was closed.
    pub(super) fn leave_in_tree(&mut self) {
        self.state().expected.tags.leave();
    }

    /// Notes that a tree begins, or continues after another one within it.
    pub(super) fn enter_tree(&mut self) {
        let tags = &mut self.state().expected.tags;
        tags.open.clear();
        tags.place = 0;
    }
}
