//! Following a template: what the encoder's calls come to. See [`against`](super::against).

use super::against::{Pending, Role};
use super::run::{self, Form, Items, Work};
use super::tape::{BITS, Chunk, EMPTY, Entry, Kind, Mark, PLAIN, TRACKED, TapeChunk, unshare};
use super::{Changes, MatchKind, Stamp, Width};
use crate::content::Content;
use crate::encode::Encoder;
use crate::encode::encoder::{Open, Place};
use crate::encode::flat::{NotedLeaf, encode_each, encode_item, note_leaves, shape_of};
use crate::schema::{Field, View};
use crate::template::Shape;
use crate::{Lexical, QName};
use deltasoap_xml::lexical::Image;
use deltasoap_xml::{Buffer, Escape};
use memchr::memmem;
use std::sync::Arc;

/// Lists of fewer flat items than a chunk has bytes, divided by this, are written element by element.
const RUN: usize = 128;
/// How many siblings ahead an element is looked for.
const AHEAD: usize = 8;
/// How many entries ahead.
const ENTRIES_AHEAD: usize = 128;

/// Start tags.
impl Encoder {
    /// Steps into an element of the template, and gives true; or makes ready to write its start tag, as a new element's or to be
    /// compared.
    pub(in crate::encode) fn start_against(&mut self, name: &QName, has_bindings: bool) -> bool {
        if self.is_in_new() || !self.align(name) {
            self.make_way();
            return false;
        }
        let current = self.current();
        let (entry, value) = (current.entry, current.value);
        let is_plain = current.next().is_some_and(|entry| entry.has(PLAIN));
        current.step();
        self.template().pending = Some(Pending { entry, value, stamp: None, outer: None });
        if !is_plain || has_bindings {
            self.divert();
            return false;
        }
        self.open.push(Open { name: (0, 0), declared: self.declared.len(), role: Role::Followed });
        self.in_tag = true;
        true
    }

    /// Notes the start tag just begun.
    pub(in crate::encode) fn note_start(&mut self, name: &QName) {
        let entry = self.template().entries.len();
        let is_followed = self.template().pending.is_some();
        let role = if is_followed { Role::Followed } else { Role::New { entry, is_saved: false } };
        let begin = self.open.last_mut().map_or(0, |open| {
            open.role = role;
            open.name.0 - 1
        });
        if !is_followed {
            let number = self.template().number(name);
            self.template().entries.push(Entry::new(Kind::Start, begin, number, 0));
        }
    }

    /// Makes sure that the open start tag is written somewhere, for what is to be added to it.
    pub(in crate::encode) fn need_tag(&mut self) {
        let Some(against) = &self.against else { return };
        let Some(Pending { entry, outer: None, .. }) = against.pending else { return };
        let number = self.current().tape().entries[entry].name;
        let name = self.template().names.get(number).cloned().unwrap_or_default();
        self.divert();
        self.out.push(b"<");
        self.push_name(&name.namespace, &name.local, Place::Element);
        let end = self.out.len();
        if let Some(open) = self.open.last_mut() {
            open.name = (1, end);
        }
    }

    /// Ends the open start tag of an element with content.
    pub(in crate::encode) fn open_end_against(&mut self) {
        if self.finish_tag(true) == Tag::Written {
            self.out.push(b">");
        }
    }

    /// True where nothing of the template stands: in new elements, and before there is a template.
    fn is_in_new(&self) -> bool {
        match self.open.last() {
            Some(open) => open.role != Role::Followed,
            None => !self.follows(),
        }
    }

    /// Makes ready to write something new.
    fn make_way(&mut self) {
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

    /// Brings the template to an element's start tag, if it stands next or a little later among its siblings; what is in
    /// front of it then goes away.
    fn align(&mut self, name: &QName) -> bool {
        match self.peek() {
            Some(entry) if entry.kind == Kind::Start && self.template().names.is(entry.name, name) => true,
            Some(entry) if entry.kind != Kind::End => match self.siblings_until(name) {
                Some(count) => {
                    (0..count).for_each(|_| self.drop_next());
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// How many siblings stand in front of one with a name.
    fn siblings_until(&mut self, name: &QName) -> Option<usize> {
        let against = self.template();
        let current = against.current.as_ref()?;
        let (mut depth, mut siblings) = (0usize, 0);
        for entry in current.tape().entries[current.entry..].iter().take(ENTRIES_AHEAD) {
            match entry.kind {
                Kind::Start if depth == 0 && against.names.is(entry.name, name) => return Some(siblings),
                Kind::Start => depth += 1,
                Kind::End if depth == 0 => return None,
                Kind::End => depth -= 1,
                Kind::Leaf => {}
                Kind::Run => return None,
            }
            siblings += usize::from(depth == 0);
            if siblings > AHEAD {
                return None;
            }
        }
        None
    }

    /// Lets the start tag be written into a buffer of its own.
    fn divert(&mut self) {
        let mut tag = std::mem::take(&mut self.template().tag);
        tag.clear();
        let outer = std::mem::replace(&mut self.out, tag);
        if let Some(pending) = &mut self.template().pending {
            pending.outer = Some(outer);
        }
    }

    /// Takes the diverted start tag back.
    fn undivert(&mut self, outer: Option<Buffer>) -> Option<Buffer> {
        let tag = std::mem::replace(&mut self.out, outer?);
        self.template().has_failed |= tag.has_replaced();
        Some(tag)
    }
}

/// What became of a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// It stands in the template, with what ends it.
    Followed,
    /// It was written, but for what ends it.
    Written,
    /// It stands in the template, and the element that was there is left out behind it: it is empty now.
    Emptied,
}

impl Encoder {
    /// Ends the open start tag, but for `>` or `/>` where it says so.
    fn finish_tag(&mut self, has_content: bool) -> Tag {
        self.in_tag = false;
        let Some(pending) = self.template().pending.take() else { return self.finish_new_tag(has_content) };
        let Pending { entry, value, stamp, outer } = pending;
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

    /// Notes what is to be known of a new start tag.
    fn finish_new_tag(&mut self, has_content: bool) -> Tag {
        let end = self.out.len();
        if let Some(Open { role: Role::New { entry, .. }, name, .. }) = self.open.last().copied()
            && let Some(start) = self.template().entries.get_mut(entry)
        {
            start.set(if name.1 == end { PLAIN } else { 0 } | if has_content { 0 } else { EMPTY });
        }
        Tag::Written
    }

    /// Writes an element anew whose tag declares other things than it did.
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
        against.values.extend(stamp.iter().flat_map(|stamp| [stamp.identity, stamp.epoch]));
        if let Some(open) = self.open.last_mut() {
            open.name = (open.name.0 + base, open.name.1 + base);
            open.role = Role::New { entry: index, is_saved: false };
        }
        Tag::Written
    }

    /// Writes a start tag in place of the old one, whose declarations are the same. `at` is the old tag's end, and its entry.
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
        let behind = Mark { byte: at.byte, entry: at.entry + 1, value: values.end };
        self.skip_to(behind);
        match (has_content, old.has(EMPTY)) {
            (true, true) => self.reopen(behind, index, tag),
            (false, false) => self.empty(behind),
            _ => Tag::Followed,
        }
    }

    /// An empty element gets content.
    fn reopen(&mut self, behind: Mark, index: usize, tag: &Buffer) -> Tag {
        self.skip_to(Mark { byte: behind.byte + 2, entry: behind.entry + 1, ..behind });
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

    /// An element with content loses it.
    fn empty(&mut self, behind: Mark) -> Tag {
        self.skip_to(Mark { byte: behind.byte + 1, ..behind });
        // At once, so that both ends of the tag are in one chunk.
        self.note_end(b"/>");
        self.drop_rest();
        let mark = self.current().mark();
        self.break_at(mark);
        self.current().step();
        let behind = self.current().mark();
        self.skip_to(behind);
        Tag::Emptied
    }

    /// Old bytes, to be written again.
    fn copied(&mut self, start: usize, end: usize) -> Buffer {
        let mut tag = std::mem::take(&mut self.template().tag);
        tag.clear();
        tag.push(&self.current().tape().bytes[start..end]);
        tag
    }

    /// Writes over old bytes, in place.
    fn patch(&mut self, start: usize, bytes: &[u8]) {
        self.template().stats.written += bytes.len() as u64;
        if let Some(tape) = self.own_tape() {
            tape.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// The chunk at hand, to change.
    fn own_tape(&mut self) -> Option<&mut TapeChunk> {
        let against = self.template();
        match unshare(&mut against.current.as_mut()?.chunk, &mut against.stats) {
            Chunk::Tape(tape) => Some(tape),
            Chunk::Run(_) => None,
        }
    }

    fn note_leaf(&mut self, kind: MatchKind) {
        let against = self.template();
        against.stats.leaves += 1;
        against.note(kind);
    }
}

/// A start tag's entry, and where the tag ends but for its `>` or `/>`.
fn tag_at(tape: &TapeChunk, entry: usize) -> (Entry, usize) {
    let start = tape.entries[entry];
    let next = tape.entries.get(entry + 1).map_or(tape.bytes.len(), |next| next.pos());
    (start, if start.has(EMPTY) { next } else { next - 1 })
}

/// True if a tag may declare a namespace.
fn declares(tag: &[u8]) -> bool {
    memmem::find(tag, b"xmlns").is_some()
}

/// End tags.
impl Encoder {
    pub(in crate::encode) fn end_against(&mut self) {
        if self.in_tag {
            match self.finish_tag(false) {
                Tag::Written => self.note_end(b"/>"),
                Tag::Followed => self.current().step(),
                Tag::Emptied => {}
            }
        } else if self.is_in_new() {
            self.end_new();
        } else {
            self.drop_rest();
            self.pass_end();
        }
        if let Some(open) = self.open.pop() {
            self.declared.truncate(open.declared);
        }
    }

    fn note_end(&mut self, bytes: &[u8]) {
        let pos = self.out.len();
        self.template().entries.push(Entry::new(Kind::End, pos, 0, 0));
        self.out.push(bytes);
    }

    /// Writes an end tag, and the slack of a leaf's field behind it.
    fn end_new(&mut self) {
        let Some(&Open { name, role: Role::New { is_saved, .. }, .. }) = self.open.last() else { return };
        let room = std::mem::take(&mut self.template().room);
        let len = self.template().entries.last().filter(|last| last.kind == Kind::Leaf).map(|leaf| leaf.pos());
        let slack = len.map_or(0, |start| room.saturating_sub(self.out.len() - start));
        self.note_end(b"</");
        if let Some(against) = self.against.as_mut().filter(|_| is_saved) {
            self.out.push(&against.open_names[name.0..name.1]);
            against.open_names.truncate(name.0);
        } else {
            self.out.push_within(name.0, name.1);
        }
        self.out.push(b">");
        run::push_spaces(&mut self.out, slack);
    }

    /// Steps over an old end tag.
    fn pass_end(&mut self) {
        if self.peek().is_none() {
            return;
        }
        let against = self.template();
        let (grown, owed) = (std::mem::take(&mut against.grown), against.owed);
        let tag = self.current().mark();
        self.current().step();
        if grown != 0 || owed > 0 {
            self.resize_slack(tag, grown);
        }
    }

    /// Makes the slack behind an end tag less or more, so that what follows need not move, or not so far.
    fn resize_slack(&mut self, tag: Mark, grown: isize) {
        let behind = self.current().mark();
        let bytes = &self.current().tape().bytes[tag.byte..behind.byte];
        let end = memchr::memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1);
        let slack = (bytes.len() - end) as isize;
        let left = slack - grown;
        let against = self.template();
        let fits = left >= 0;
        against.owed += left.min(0).unsigned_abs();
        let stolen = if grown == 0 { against.owed.min(left.max(0) as usize) } else { 0 };
        against.owed -= stolen;
        against.stats.steals += u64::from(stolen > 0);
        if grown != 0 {
            against.stats.tag_moves += u64::from(fits);
            against.stats.shifts += u64::from(!fits);
            against.note(if fits { MatchKind::PerfectStructural } else { MatchKind::PartialStructural });
        }
        let new = left.max(0) as usize - stolen;
        if new as isize != slack {
            self.break_at(Mark { byte: tag.byte + end, ..behind });
            run::push_spaces(&mut self.out, new);
            self.skip_to(behind);
        }
    }
}

/// Leaves.
impl Encoder {
    pub(in crate::encode) fn leaf_against<T: Lexical>(&mut self, value: &T) {
        self.write_leaf(&Typed(value));
    }

    pub(in crate::encode) fn text_against(&mut self, text: &str) {
        self.write_leaf(&TreeText(text));
    }

    #[inline]
    fn write_leaf<L: Leaf>(&mut self, leaf: &L) {
        if self.is_in_new() {
            return self.new_leaf(leaf);
        }
        match self.peek() {
            Some(entry) if entry.kind == Kind::Leaf => self.follow_leaf(entry, leaf),
            _ => {
                self.make_way();
                self.new_leaf(leaf);
            }
        }
    }

    fn new_leaf<L: Leaf>(&mut self, leaf: &L) {
        self.note_text(leaf);
        leaf.format(&mut self.out);
        let width = self.template().options.width;
        self.template().room = leaf.room(width).unwrap_or(0);
    }

    fn note_text<L: Leaf>(&mut self, leaf: &L) {
        let pos = self.out.len();
        let has_bits = L::IMAGE.is_some();
        let against = self.template();
        against.entries.push(Entry::new(Kind::Leaf, pos, L::IMAGE.code(), if has_bits { BITS } else { 0 }));
        against.values.extend(has_bits.then(|| leaf.bits()));
    }

    #[inline]
    fn follow_leaf<L: Leaf>(&mut self, old: Entry, leaf: &L) {
        let against = self.template();
        let Some(current) = &mut against.current else { return };
        let tape = current.tape();
        let is_of_type = old.name == L::IMAGE.code();
        let start = old.pos();
        let end = tape.entries.get(current.entry + 1).map_or(tape.bytes.len(), |next| next.pos());
        let is_same = is_of_type
            && if old.has(BITS) {
                tape.values[current.value] == leaf.bits()
            } else {
                leaf.is_text(&tape.bytes[start..end], &mut against.text)
            };
        if is_same {
            current.step();
        } else {
            self.change_leaf(old, end - start, is_of_type, leaf);
        }
    }

    /// Writes a leaf's text in place of the old one.
    fn change_leaf<L: Leaf>(&mut self, old: Entry, len: usize, is_of_type: bool, leaf: &L) {
        let against = self.template();
        let mut text = std::mem::take(&mut against.text);
        text.clear();
        leaf.format(&mut text);
        against.has_failed |= text.has_replaced();
        self.note_leaf(MatchKind::PerfectStructural);
        let value = self.current().value;
        if text.len() == len && is_of_type && !self.current().is_rebuilt {
            self.patch(old.pos(), text.as_slice());
            if let Some(tape) = self.own_tape().filter(|_| old.has(BITS)) {
                tape.values[value] = leaf.bits();
            }
            self.current().step();
        } else {
            let mark = self.current().mark();
            self.break_at(mark);
            self.note_text(leaf);
            self.out.push(text.as_slice());
            self.current().step();
            let behind = self.current().mark();
            self.skip_to(behind);
            let has_slack = leaf.room(self.template().options.width).is_some();
            self.note_growth(text.len() as isize - len as isize, has_slack);
        }
        self.template().text = text;
    }

    fn note_growth(&mut self, grown: isize, has_slack: bool) {
        let against = self.template();
        if has_slack {
            against.grown = grown;
        } else if grown != 0 {
            against.stats.shifts += 1;
            against.note(MatchKind::PartialStructural);
        }
    }
}

/// A text to be written.
trait Leaf {
    const IMAGE: Image;

    fn bits(&self) -> u64;

    /// The width that its field has at least; `None` if there may be no slack behind its element.
    fn room(&self, width: Width) -> Option<usize>;

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool;

    fn format(&self, out: &mut Buffer);
}

/// A value of a simple type.
struct Typed<'a, T>(&'a T);

impl<T: Lexical> Leaf for Typed<'_, T> {
    const IMAGE: Image = T::IMAGE;

    #[inline(always)]
    fn bits(&self) -> u64 {
        u64::from_le_bytes(self.0.image())
    }

    fn room(&self, width: Width) -> Option<usize> {
        (width != Width::Exact).then(|| run::room(width, T::MAX_WIDTH))
    }

    #[inline(always)]
    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        self.0.is_text(text, scratch)
    }

    #[inline(always)]
    fn format(&self, out: &mut Buffer) {
        self.0.format(out, Escape::Text);
    }
}

/// Text of a tree. No white space is put behind its element, which may stand between texts.
struct TreeText<'a>(&'a str);

impl Leaf for TreeText<'_> {
    const IMAGE: Image = Image::NONE;

    fn bits(&self) -> u64 {
        0
    }

    fn room(&self, _: Width) -> Option<usize> {
        None
    }

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        scratch.clear();
        scratch.push_text(self.0, Escape::Text);
        scratch.as_slice() == text
    }

    fn format(&self, out: &mut Buffer) {
        out.push_text(self.0, Escape::Text);
    }
}

/// Tracked values and runs.
impl Encoder {
    /// Steps over the content of a tracked value that is in the state it had when it was written; else gives false.
    pub(in crate::encode) fn pass_tracked(&mut self, stamp: Stamp) -> bool {
        if !self.in_tag {
            return false;
        }
        if self.template().pending.is_none() {
            self.note_stamp(stamp);
            return false;
        }
        let (entry, value) = self.template().pending.as_ref().map_or((0, 0), |pending| (pending.entry, pending.value));
        let tape = self.current().tape();
        if !tape.entries[entry].has(TRACKED) {
            return false;
        }
        if tape.values[value..value + 2] == [stamp.identity, stamp.epoch] {
            self.pass_content();
            return true;
        }
        if let Some(tape) = self.own_tape() {
            tape.values[value..value + 2].copy_from_slice(&[stamp.identity, stamp.epoch]);
        }
        if let Some(pending) = &mut self.template().pending {
            pending.stamp = Some(stamp);
        }
        false
    }

    /// Notes a new element's content as tracked.
    fn note_stamp(&mut self, stamp: Stamp) {
        let Some(&Open { role: Role::New { entry, .. }, .. }) = self.open.last() else { return };
        let against = self.template();
        if let Some(start) = against.entries.get_mut(entry).filter(|start| !start.has(TRACKED)) {
            start.set(TRACKED);
            against.values.extend([stamp.identity, stamp.epoch]);
        }
    }

    /// Steps over what is left of the element whose start tag is open.
    fn pass_content(&mut self) {
        let pending = self.template().pending.take();
        if let Some(tag) = self.undivert(pending.and_then(|pending| pending.outer)) {
            self.template().tag = tag;
        }
        self.in_tag = false;
        self.type_written = true;
        self.pass_rest();
    }

    /// Writes a list of flat items, all written alike.
    pub(in crate::encode) fn run<T: Content>(
        &mut self,
        items: &[T],
        changes: Option<Changes<'_>>,
        field: &Field,
        view: View<'_>,
    ) {
        self.open_end();
        let is_run = !self.is_in_new() && self.stands_at_run(&field.name);
        if !is_run && items.len() < self.template().options.chunk / RUN {
            return if self.is_in_new() {
                encode_each(items, self, field, view)
            } else {
                self.follow_each(items, field, view)
            };
        }
        let Some((shape, leaves)) = self.learn(items, field, view) else {
            return encode_each(items, self, field, view);
        };
        if is_run {
            self.follow_run(items, changes, shape, &leaves, view);
        } else {
            self.make_way();
            let number = self.template().number(&field.name);
            self.new_run(number, items, changes, shape, &leaves, view);
        }
    }

    fn stands_at_run(&mut self, name: &QName) -> bool {
        let next = self.peek();
        next.is_some_and(|entry| entry.kind == Kind::Run && self.template().names.is(entry.name, name))
    }

    /// The markup of the first item, written plainly beside the message.
    fn learn<T: Content>(&mut self, items: &[T], field: &Field, view: View<'_>) -> Option<(Shape, Vec<NotedLeaf>)> {
        let mut against = self.against.take();
        let mut beside = against.as_mut().map(|against| std::mem::take(&mut against.tag)).unwrap_or_default();
        beside.clear();
        let outer = std::mem::replace(&mut self.out, beside);
        let leaves = note_leaves(self, |encoder| encode_item(&items[0], encoder, field, view));
        let shape = shape_of(self.out.as_slice(), 0, &leaves, T::flat_leaves(view));
        let beside = std::mem::replace(&mut self.out, outer);
        self.against = against;
        self.template().tag = beside;
        Some((shape?, leaves))
    }

    fn new_run<T: Content>(
        &mut self,
        name: u16,
        items: &[T],
        changes: Option<Changes<'_>>,
        shape: Shape,
        leaves: &[NotedLeaf],
        view: View<'_>,
    ) {
        let pos = self.out.len();
        let against = self.template();
        against.entries.push(Entry::new(Kind::Run, pos, name, 0));
        against.values.extend(stamp_values(changes));
        self.close();
        let chunks = self.write_run(items, shape, leaves, view);
        self.template().done.extend(chunks);
    }

    fn write_run<T: Content>(
        &mut self,
        items: &[T],
        shape: Shape,
        leaves: &[NotedLeaf],
        view: View<'_>,
    ) -> Vec<Arc<Chunk>> {
        let against = self.template();
        let mut form = Form::new(shape, leaves, &against.options);
        run::learn(items, &mut form, &against.options, view);
        let chunks = run::build(items, &Arc::new(form), &against.options, &mut against.has_failed, view);
        against.stats.written += chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum::<u64>();
        chunks.into_iter().map(|chunk| Arc::new(Chunk::Run(chunk))).collect()
    }

    fn follow_run<T: Content>(
        &mut self,
        items: &[T],
        changes: Option<Changes<'_>>,
        shape: Shape,
        leaves: &[NotedLeaf],
        view: View<'_>,
    ) {
        let value = self.current().value;
        let values = [self.current().tape().values[value], self.current().tape().values[value + 1]];
        let now = stamp_values(changes);
        if values != now
            && let Some(tape) = self.own_tape()
        {
            tape.values[value..value + 2].copy_from_slice(&now);
        }
        self.current().step();
        self.finish_current();
        let old = self.template().take_run();
        let chunks = if values == now && changes.is_some() {
            old
        } else {
            let before = Stamp { identity: values[0], epoch: values[1] };
            let dirty = changes.filter(|changes| changes.stamp.follows(before)).map(|changes| changes.dirty);
            self.update_run(old, Items { items, dirty, view }, shape, leaves)
        };
        self.template().done.extend(chunks);
        self.template().load();
    }

    fn update_run<T: Content>(
        &mut self,
        old: Vec<Arc<Chunk>>,
        items: Items<'_, T>,
        shape: Shape,
        leaves: &[NotedLeaf],
    ) -> Vec<Arc<Chunk>> {
        let form = old.first().and_then(|chunk| chunk.run()).map(|run| Arc::clone(&run.form));
        let Some(form) = form.filter(|form| form.is_of(&shape, leaves)) else {
            self.note_elements(1);
            return self.write_run(items.items, shape, leaves, items.view);
        };
        let against = self.template();
        let mut kind = *against.kind_mut();
        let mut work = Work {
            options: &against.options,
            stats: &mut against.stats,
            text: &mut against.text,
            spare: &mut against.spare,
            changed: &mut against.changed,
            kind: &mut kind,
            replaced: &mut against.has_failed,
        };
        let chunks = run::update(old, &form, items, &mut work);
        against.note(kind);
        chunks
    }
}

/// What a run's entry keeps of the list's state.
fn stamp_values(changes: Option<Changes<'_>>) -> [u64; 2] {
    changes.map_or([0; 2], |changes| [changes.stamp.identity, changes.stamp.epoch])
}
