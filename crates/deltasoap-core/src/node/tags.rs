//! Predicted tags of trees: which start tag came last time after the tag that was just read.
//!
//! ```text
//! <row><id>1</id><name>x</name></row><row>...      <row> ──> <id>   </id> ──> <name>   </name> ──> </row>   </row> ──> <row>
//! ```
//!
//! A tag whose bytes are the predicted ones is opened with the name and the attributes that it had then; see [`KnownTag`]. An element
//! without attributes that holds plain text alone is read at once, without a token. What differs, or is not plain, is left to the reader,
//! which alone reports errors.
//!
//! Tags stay with their decoder, as the reader's names do, but for those with attributes: these hold values of one client, and are
//! forgotten before the next message.

use super::read::push_text;
use super::{Child, Node};
use crate::decode::{Cursor, Expected, State};
use crate::schema::QName;
use deltasoap_xml::scan::text::plain_text;
use deltasoap_xml::{KnownTag, NameId, ScopeId};
use foldhash::quality::RandomState;
use std::collections::HashMap;

/// Limits on what is kept: tags, and their size in bytes (an estimate). All are dropped once a decoder has reached one.
const MAX_TAGS: usize = 1024;
const MAX_BYTES: usize = 128 << 10;
/// Tags of one name, each with other attributes.
const MAX_CHANGES: u8 = 8;

/// Bytes of a tag's two places.
const PLACES: usize = 2 * size_of::<[u32; 2]>();

/// No tag that is known.
const NONE: u32 = u32::MAX;

/// The tags of the trees that a decoder has read.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    tags: Vec<Tag>,
    index: HashMap<(ScopeId, Box<[u8]>), u32, RandomState>,
    /// The tags that came last at each place: after anything unknown, then after the start and after the end of each tag.
    next: Vec<[u32; 2]>,
    /// The place that was reached.
    place: usize,
    /// The tags of open elements.
    open: Vec<u32>,
    /// By the numbers of names.
    seen: Vec<Seen>,
    message: u32,
    bytes: usize,
    epoch: (u64, u64),
    is_off: bool,
    /// Tags that were forgotten, whose numbers can be used again.
    free: Vec<u32>,
    has_values: bool,
}

/// What is known of a name.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The message in which it came last.
    message: u32,
    /// Tags with attributes that were kept in that message.
    changes: u8,
}

#[derive(Debug)]
struct Tag {
    /// `None` once it was forgotten.
    known: Option<KnownTag>,
    scope: ScopeId,
    name: QName,
    has_attributes: bool,
}

/// What came as predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A start tag, which has been read.
    Child,
    /// The end tag, which has been read.
    End,
    /// Nothing: the reader must look.
    Unknown,
}

impl Tags {
    pub(crate) fn switch_off(&mut self) {
        self.is_off = true;
    }

    /// Prepares for the next message, which may come from another client.
    pub(crate) fn reset(&mut self, epoch: (u64, u64)) {
        self.message = self.message.wrapping_add(1).max(1);
        self.open.clear();
        self.place = 0;
        if self.epoch != epoch || self.tags.len() >= MAX_TAGS || self.bytes >= MAX_BYTES {
            let (message, is_off) = (self.message, self.is_off);
            *self = Tags { message, epoch, is_off, ..Tags::default() };
        } else if std::mem::take(&mut self.has_values) {
            self.forget_values();
        }
    }

    fn forget_values(&mut self) {
        let Tags { tags, index, free, bytes, .. } = self;
        index.retain(|(_, found), number| {
            let tag = &mut tags[*number as usize];
            if tag.has_attributes {
                free.push(*number);
                *bytes -= tag.known.take().map_or(0, |known| known.size()) + found.len() + PLACES;
            }
            !tag.has_attributes
        });
    }

    /// The predicted tag that stands at a place of `bytes`, and where it ends.
    #[inline]
    fn find(&self, scope: ScopeId, bytes: &[u8], at: usize) -> Option<(u32, &Tag, &KnownTag, usize)> {
        self.next.get(self.place)?.iter().find_map(|&number| {
            let tag = self.tags.get(number as usize).filter(|tag| tag.scope == scope)?;
            let known = tag.known.as_ref()?;
            Some((number, tag, known, known.start(bytes, at)?))
        })
    }

    /// An element was opened.
    fn enter(&mut self, number: u32) {
        self.open.push(number);
        self.place = if number == NONE { 0 } else { 2 * number as usize + 1 };
    }

    /// The innermost element was closed.
    pub(super) fn leave(&mut self) {
        // After a pause not all open elements are there.
        let number = self.open.pop().unwrap_or(NONE);
        self.pass(number);
    }

    fn pass(&mut self, number: u32) {
        self.place = if number == NONE { 0 } else { 2 * number as usize + 2 };
    }

    /// The number of a start tag that was just read; `None` if it is not kept.
    fn number(&mut self, scope: ScopeId, id: NameId, found: &[u8], has_attributes: bool) -> Option<Number> {
        if self.seen.len() <= id.index() {
            self.seen.resize(id.index() + 1, Seen::default());
        }
        let seen = &mut self.seen[id.index()];
        let is_again = seen.message == self.message;
        let is_known = seen.message > 0;
        *seen = Seen { message: self.message, changes: if is_again { seen.changes } else { 0 } };
        // What comes once is not worth keeping, nor what is another each time.
        if !is_known || (has_attributes && !is_again) {
            return None;
        }
        if let Some(&number) = self.index.get(&(scope, Box::from(found))) {
            return Some(Number::Known(number));
        }
        let is_full = self.tags.len() >= MAX_TAGS || self.bytes >= MAX_BYTES || seen.changes == MAX_CHANGES;
        seen.changes += u8::from(has_attributes && !is_full);
        (!is_full).then_some(Number::New)
    }

    fn add(&mut self, tag: Tag, found: &[u8]) -> u32 {
        self.bytes += tag.known.as_ref().map_or(0, KnownTag::size) + found.len() + PLACES;
        self.has_values |= tag.has_attributes;
        let key = (tag.scope, Box::from(found));
        let number = match self.free.pop() {
            Some(number) => {
                self.tags[number as usize] = tag;
                number
            }
            None => {
                self.tags.push(tag);
                self.tags.len() as u32 - 1
            }
        };
        self.next.resize(2 * self.tags.len() + 1, [NONE; 2]);
        self.index.insert(key, number);
        number
    }

    /// Notes which tag came at the place that was reached.
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
    /// Reads what comes as predicted into an element: leaves, then a start tag or its own end tag.
    #[inline]
    pub(super) fn next_in_tree(&mut self, node: &mut Node) -> Next {
        let (window, State { reader, expected: Expected { tags, .. }, limits, hooks, .. }) = self.parts();
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
                // Text before anything else: most often there is nothing else.
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
            if reader.depth() >= limits.depth {
                return Next::Unknown;
            }
            let Some((number, tag, known, start)) = tags.find(reader.scope(), window.bytes, at) else {
                return Next::Unknown;
            };
            let text = if tag.has_attributes { "" } else { plain_text(&window.bytes[start..]) };
            let end = known.end(window.bytes, start + text.len()).filter(|_| !text.is_empty());
            let Some(end) = end.filter(|_| text.len() <= limits.text) else {
                reader.open_known(known, window, at);
                tags.enter(number);
                return Next::Child;
            };
            let children = vec![Child::Text(text.into())];
            let leaf = Node { name: tag.name.clone(), children, ..Node::default() };
            node.children.push(Child::Element(leaf));
            reader.pass_known(known, window, at, end);
            tags.pass(number);
        }
    }

    /// Notes the start tag that was just read, and opens its element.
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
        let number = match tags.number(reader.scope(), id, found, has_attributes) {
            Some(Number::Known(number)) => number,
            Some(Number::New) => match reader.known_tag(found, |_, _| true) {
                Some(known) => {
                    let name = names.get(reader.names(), id);
                    let tag = Tag { known: Some(known), scope: reader.scope(), name, has_attributes };
                    tags.add(tag, found)
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

    /// The innermost element of a tree was closed.
    pub(super) fn leave_in_tree(&mut self) {
        self.state().expected.tags.leave();
    }

    /// A tree begins, or goes on after another one within it.
    pub(super) fn enter_tree(&mut self) {
        let tags = &mut self.state().expected.tags;
        tags.open.clear();
        tags.place = 0;
    }
}
