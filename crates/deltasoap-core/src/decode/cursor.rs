//! The cursor: a window of bytes, the reader's state, and the matching stack.

use super::array::{Gaps, Next};
use super::differential::leaf::{AnyOrder, Descent, Session, StartTag};
use super::differential::policy::Hooks;
use super::flat::{Hinting, Learned};
use super::opening::Opening;
use super::predicted::Predicted;
use super::references::References;
use super::{DecodeOptions, Differential, Frame, Step, Stop};
use crate::node::{Bindings, SharedNames, Tags, owned};
use crate::{Error, ErrorKind, QName, Stats};
use deltasoap_xml::lexical::{Base64, Partial};
use deltasoap_xml::{Encoding, Event, Instructions, Limits, NameId, Names, Reader, ScopeId, Stop as XmlStop, Window};

/// Everything a decode keeps from one window to the next.
#[derive(Debug)]
pub struct State {
    pub(crate) reader: Reader,
    /// The matching stack.
    pub(in crate::decode) stack: Vec<Frame>,
    /// Frames entered since the last re-descent; `level <= stack.len()`.
    pub(in crate::decode) level: usize,
    /// Frames of this many levels are *over an old value*: see [`Cursor::is_over`].
    pub(crate) over: usize,
    /// Bits of fields seen, for elements whose fields come in any order: an append-only log cut back as frames leave.
    pub(crate) seen: Vec<u64>,
    /// Text of the leaf being read, where it did not come in one piece. One leaf is open at a time.
    pub(crate) scratch: String,
    /// What a streamed leaf keeps between two pieces.
    pub(crate) partial: Partial,
    /// Bytes of the binary leaf being read, so far.
    pub(crate) binary: Base64,
    /// The declarations of an element whose text is a name: they are out of scope when the text is whole.
    declarations: Vec<(String, String)>,
    /// Markup learned for flat items.
    pub(crate) learned: Learned,
    /// Markup learned for all other elements.
    pub(in crate::decode) predicted: Predicted,
    /// What was sent, if this message may hold the same.
    pub(in crate::decode) hinting: Option<Hinting>,
    /// Set by a parent for the routine it calls next: the start tag just read is of a field, not of the container.
    pub(in crate::decode) inline: bool,
    /// Set by the routine for a group: the tag that ended it, for the routine around it.
    pub(in crate::decode) held: Option<Tag>,
    /// Set by the routine for simple content: the attributes of the start tag just read are dealt with.
    pub(in crate::decode) attributes_read: bool,
    /// Bindings that trees have taken over from the elements around them.
    pub(crate) inherited: usize,
    /// What they took over last, and where.
    pub(in crate::decode) bindings: Option<(ScopeId, Bindings)>,
    /// The names of trees.
    pub(crate) shared_names: SharedNames,
    /// Markup learned for trees.
    pub(crate) tags: Tags,
    /// The elements that others refer to.
    pub(crate) references: References,
    /// Places of arrays that were passed over and may yet be filled.
    pub(in crate::decode) gaps: Gaps,
    /// Set for the routine called next: its array has no element.
    pub(in crate::decode) next_in_row: Option<Box<Next>>,
    /// How the last message began.
    pub(in crate::decode) opening: Opening,
    pub(crate) stats: Stats,
    pub(crate) limits: Limits,
    /// The comparison with the message before.
    pub(crate) session: Session,
    pub(crate) differential: Differential,
    /// The checkpoint policy at work, if it is one of another crate.
    pub(crate) hooks: Hooks,
}

/// The state of a routine, in a frame that stays, on the way to where regular mode goes on.
pub(crate) const SEEK: u8 = 8;
/// The state of a routine whose flat items are read again in place.
pub(crate) const PATCH: u8 = 9;

/// Bytes joined at first for a start tag that lies in two parts of a message.
const SEAM: usize = 512;
/// Bytes of scratch text kept from one message to the next.
const SCRATCH_KEPT: usize = 64 << 10;

impl State {
    /// A state for one message at a time.
    pub fn new(options: DecodeOptions) -> Self {
        let DecodeOptions { limits, differential } = options;
        State {
            reader: Reader::new(limits, Instructions::Refuse),
            stack: Vec::new(),
            level: 0,
            over: 0,
            seen: Vec::new(),
            scratch: String::new(),
            partial: Partial::default(),
            binary: Base64::default(),
            declarations: Vec::new(),
            learned: Learned::default(),
            predicted: Predicted::default(),
            hinting: None,
            inline: false,
            held: None,
            attributes_read: false,
            inherited: 0,
            bindings: None,
            shared_names: SharedNames::default(),
            tags: Tags::default(),
            references: References::default(),
            gaps: Gaps::default(),
            next_in_row: None,
            opening: Opening::default(),
            stats: Stats::default(),
            limits,
            session: Session::default(),
            differential,
            hooks: Hooks::default(),
        }
    }

    /// See [`Decoder::without_shortcuts`](super::Decoder::without_shortcuts).
    pub(crate) fn without_shortcuts(&mut self) {
        self.learned.switch_off();
        self.predicted.switch_off();
        self.tags.switch_off();
    }

    /// Makes ready for another message.
    pub fn reset(&mut self) {
        self.reader.reset();
        self.stack.clear();
        self.level = 0;
        self.over = 0;
        self.seen.clear();
        self.scratch.clear();
        self.scratch.shrink_to(SCRATCH_KEPT);
        self.binary = Base64::default();
        self.learned.reset(self.reader.epoch());
        self.predicted.reset(self.reader.epoch());
        self.inline = false;
        self.held = None;
        self.attributes_read = false;
        self.inherited = 0;
        self.bindings = None;
        self.shared_names.reset(self.reader.epoch());
        self.tags.reset(self.reader.epoch());
        self.references.reset();
        self.gaps.clear();
        self.next_in_row = None;
        self.session.reset();
        self.hooks = Hooks::default();
    }

    /// The counters so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What a checkpoint policy wants of the routines.
    pub fn hooks(&mut self) -> &mut Hooks {
        &mut self.hooks
    }

    /// The frame of the routine that called the one at work, which has none of its own.
    #[inline]
    pub(crate) fn caller(&self) -> Frame {
        self.stack[self.level - 1]
    }

    /// Goes back to the innermost routine that stays on the way to where regular mode goes on.
    pub(crate) fn cut(&mut self) {
        let level = self.session.staying();
        let keep = level.map_or(self.session.base, |level| level + 1);
        if let Some(frame) = self.stack.get(keep) {
            self.seen.truncate(frame.log as usize);
        }
        self.stack.truncate(keep);
        self.inline = false;
        self.held = None;
        self.attributes_read = false;
        match level {
            Some(level) => {
                self.stack[level].state = SEEK;
                self.over = level + 1;
                self.reader.cut(self.stack[level].depth as usize);
            }
            None => {
                self.over = 0;
                if self.session.begins_again() {
                    // While messages are compared ids are not noted. An item with one must not be taken for a known one now.
                    self.learned.clear();
                }
                self.inherited = self.session.inherited.before;
                self.bindings.clone_from(&self.session.inherited.last);
                self.reader.cut(self.session.depth);
            }
        }
    }

    /// Reads a start tag of the message before, which stands in this one as well.
    fn open_old(&mut self, window: &Window<'_>, old: u64) -> Step {
        let State { reader, session, limits, .. } = self;
        let Some(image) = session.old.as_ref().and_then(|template| template.image()) else { return Ok(()) };
        let tag = Window { bytes: image.at(old), pos: 0, base: old, last: false, ..*window };
        if reader.next(&mut Window { ..tag }) != Err(XmlStop::Pending) {
            return Ok(());
        }
        let mut len = SEAM;
        loop {
            let joined = image.read(old, len);
            match reader.next(&mut Window { bytes: &joined, ..tag }) {
                Err(XmlStop::Pending) if joined.len() == len && len < limits.markup => len = len.saturating_mul(8),
                result => return Ok(result.map(|_| ())?),
            }
        }
    }

    /// Reads the operation's start tag once more: the reader has gone on to other elements, and their attributes.
    fn reopen_operation(&mut self, window: &Window<'_>) -> Step {
        let State { reader, session, .. } = self;
        let Some((position, tag)) = session.start_tag() else { return Ok(()) };
        reader.cut(reader.depth() - 1);
        reader.next(&mut Window { bytes: tag, pos: 0, base: position, last: false, ..*window })?;
        Ok(())
    }

    /// Where in a list of `len` the calling routine's next occurrence goes: behind the others, unless it replaces one of
    /// an old value.
    #[inline]
    pub(crate) fn next_place(&self, len: usize) -> usize {
        let caller = self.level - 1;
        if caller < self.over { (self.stack[caller].count as usize).min(len) } else { len }
    }

    /// The position that the innermost routine may have to name later: only leaves note one.
    pub(crate) fn mark(&self) -> Option<u64> {
        self.stack.last().map(|frame| frame.mark).filter(|&mark| mark > 0)
    }

    /// The path of the element being read, as in `/Envelope/Body/sendInts/item[17]`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for level in 0..self.reader.depth() {
            self.push_step(&mut path, level, self.reader.open_name_id(level));
        }
        path
    }

    /// The path of the element that was just closed.
    fn closed_path(&self) -> String {
        let mut path = self.path();
        self.push_step(&mut path, self.reader.depth(), self.reader.closed_name());
        path
    }

    fn push_step(&self, path: &mut String, level: usize, name: NameId) {
        path.push('/');
        path.push_str(self.reader.names().local(name));
        if let Some(count) = self.occurrence(level) {
            path.push_str(&format!("[{count}]"));
        }
    }

    /// Which occurrence the open element at `level` is in its parent, where it can be repeated.
    fn occurrence(&self, level: usize) -> Option<u32> {
        let frame = self.stack.iter().rev().find(|frame| frame.depth as usize == level && frame.count > 0)?;
        frame.is_repeated.then_some(frame.count)
    }
}

/// A place in a message: what routines read from.
#[derive(Debug)]
pub struct Cursor<'c> {
    pub(in crate::decode) window: Window<'c>,
    pub(in crate::decode) state: &'c mut State,
}

impl<'c> Cursor<'c> {
    /// A cursor at the outermost routine, with the bytes of `window` at hand.
    pub fn new(window: Window<'c>, state: &'c mut State) -> Self {
        state.level = 0;
        state.learned.forget_positions();
        Cursor { window, state }
    }

    /// Position in the window behind the last byte used.
    pub fn pos(&self) -> usize {
        self.window.pos
    }

    /// Position in the document (UTF-8) behind the last byte used.
    pub fn offset(&self) -> u64 {
        self.window.base + self.window.pos as u64
    }

    /// The unread bytes at hand.
    #[inline]
    pub fn rest(&self) -> &'c [u8] {
        &self.window.bytes[self.window.pos..]
    }

    /// All bytes of the window.
    #[inline]
    pub fn bytes(&self) -> &'c [u8] {
        self.window.bytes
    }

    /// True if the document came in UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.window.encoding.encoding == Encoding::Utf8
    }

    /// True if no bytes follow those at hand.
    pub fn is_last(&self) -> bool {
        self.window.last
    }

    /// Moves the position; the bytes between must leave the reader in the state it is in.
    #[inline]
    pub(crate) fn set_pos(&mut self, pos: usize) {
        self.window.pos = pos;
    }

    /// Window and state apart, for routines that need both at once.
    pub(crate) fn parts(&mut self) -> (&mut Window<'c>, &mut State) {
        (&mut self.window, self.state)
    }

    pub(crate) fn state(&mut self) -> &mut State {
        self.state
    }

    /// The XML reader: name and attributes of the start tag just read.
    pub fn reader(&self) -> &Reader {
        &self.state.reader
    }

    /// The bounds on the message.
    pub fn limits(&self) -> &Limits {
        &self.state.limits
    }

    /// An error at the tag just read: beyond one of the [`limits`](Self::limits).
    #[cold]
    pub(crate) fn beyond(&self, name: &'static str, limit: usize) -> Stop {
        self.error_at_tag(ErrorKind::Limit { name, limit: limit as u64 })
    }

    /// The table of names.
    pub fn names(&self) -> &Names {
        self.state.reader.names()
    }

    /// A name of the table, for a value to keep.
    #[inline]
    pub(crate) fn shared_name(&mut self, id: NameId) -> QName {
        let State { shared_names, reader, .. } = &mut *self.state;
        shared_names.get(reader.names(), id)
    }

    /// Name of the element whose start tag was just read.
    pub fn name(&self) -> NameId {
        self.state.reader.name()
    }

    /// Enters a routine: its frame's index, and whether it is entered for the first time (else it resumes).
    #[inline]
    pub fn enter(&mut self) -> (usize, bool) {
        let index = self.state.level;
        self.state.level += 1;
        let fresh = index == self.state.stack.len();
        if fresh {
            let depth = self.state.reader.depth() as u32;
            let log = self.state.seen.len() as u32;
            self.state.stack.push(Frame { depth, log, ..Frame::default() });
        }
        (index, fresh)
    }

    /// Leaves a routine that is done.
    #[inline]
    pub fn leave(&mut self, index: usize) {
        self.state.seen.truncate(self.state.stack[index].log as usize);
        self.state.stack.truncate(index);
        self.state.level = index;
        self.state.over = self.state.over.min(index);
        self.state.hooks.low = self.state.hooks.low.min(index);
    }

    /// True if a frame is *over an old value*: its routine goes on within a value that is whole already, that of the
    /// message before. What it reads replaces what is there; what it passes over or does not reach before the element's
    /// end is cut off; and what comes behind the place where reading stops stays as it was.
    #[inline]
    pub fn is_over(&self, index: usize) -> bool {
        index < self.state.over
    }

    /// The routine goes on as if its value had been vacant when it was entered: nothing of an old value is left in it.
    pub(crate) fn leave_old(&mut self, index: usize) {
        self.state.over = self.state.over.min(index);
    }

    /// Where in its list the occurrence stands that the calling routine has opened: for a list that is asked to read it.
    #[inline]
    pub fn place(&self) -> usize {
        self.state.stack[self.state.level - 1].place as usize
    }

    /// A routine's frame.
    #[inline]
    pub fn frame(&mut self, index: usize) -> &mut Frame {
        &mut self.state.stack[index]
    }

    /// True while routines are on the way to a place in the middle of a message, in a value that is whole already: they
    /// enter fresh, and must leave the value as it is.
    #[inline]
    pub fn is_seeking(&self) -> bool {
        self.state.session.is_seeking()
    }

    /// True once where an operation that was compared is read from its start after all: its start tag was just read again.
    ///
    /// # Errors
    /// None, as the tag has been read before.
    pub(crate) fn begins_again(&mut self) -> Step<bool> {
        let begins_again = self.state.session.take_vacated();
        if begins_again {
            self.state.reopen_operation(&self.window)?;
        }
        Ok(begins_again)
    }

    /// The next step on that way, for the routine whose frame this is.
    pub(crate) fn descend(&mut self, index: usize) -> Step<Descent> {
        let step = self.state.session.descend(index);
        match step {
            Descent::Into { old, .. } => self.state.open_old(&self.window, old)?,
            Descent::Here { .. } => self.state.over = index + 1,
        }
        Ok(step)
    }

    /// Whether the element whose start tag was just read stood here in the message before; only over an old value.
    pub(crate) fn resync(&mut self, index: usize, field: u32, count: u32, is_array: bool) -> bool {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync(field, count, before, tag)
    }

    /// As [`resync`](Self::resync), where fields come in any order. Gives the fields that do not come any more.
    pub(crate) fn resync_in_any_order(
        &mut self,
        index: usize,
        field: u32,
        fields: AnyOrder,
        is_array: bool,
    ) -> Option<u64> {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync_in_any_order(field, fields, before, tag)
    }

    /// The state before the start tag that was just read, and that tag.
    fn what_was_read(&mut self, index: usize, is_array: bool) -> ((u32, u32), StartTag<'c>) {
        let before = (self.frame(index).field, self.frame(index).count);
        let position = self.reader().tag_offset();
        let start = (position - self.window.base) as usize;
        let len = self.window.pos - start;
        (before, StartTag { window: self.window.bytes, start, len, position, is_array })
    }

    /// True if a routine over an old value may still meet elements of the message before.
    pub(crate) fn can_resync(&self, index: usize) -> bool {
        self.is_over(index) && self.state.session.can_resync()
    }

    /// Notes an element whose start tag was just read.
    #[inline]
    pub(crate) fn note_open(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.recorder.open(position, field, count);
    }

    /// Notes the end of the element that was noted last.
    #[inline]
    pub(crate) fn note_close(&mut self) {
        self.state.session.recorder.close();
    }

    /// Tells the routine called next that the start tag just read is of one of its fields.
    pub(crate) fn set_inline(&mut self) {
        self.state.inline = true;
    }

    /// True if [`set_inline`](Self::set_inline) was called for the routine being entered.
    pub(crate) fn is_inline(&self) -> bool {
        self.state.inline
    }

    /// True if the routine being entered is of an array without an element: the start tag just read is that of its next item.
    #[inline]
    pub(crate) fn is_next_in_row(&self) -> bool {
        self.state.next_in_row.is_some()
    }

    /// Takes what [`set_inline`](Self::set_inline) left.
    pub(crate) fn take_inline(&mut self) -> bool {
        std::mem::take(&mut self.state.inline)
    }

    /// Leaves the tag just read to the routine around the one at work.
    pub(crate) fn hold(&mut self, tag: Tag) {
        self.state.held = Some(tag);
    }

    /// Takes what [`hold`](Self::hold) left.
    #[inline]
    pub(crate) fn take_held(&mut self) -> Option<Tag> {
        self.state.held.take()
    }

    /// Keeps the declarations of the element just opened, for [`resolve_kept`](Self::resolve_kept).
    pub(crate) fn keep_declarations(&mut self) {
        let State { reader, declarations, .. } = &mut *self.state;
        declarations.clear();
        declarations.extend(reader.declarations().map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())));
    }

    /// Resolves a name in the text of the element just closed: by its own declarations, then by those around it.
    pub(crate) fn resolve_kept(&self, text: &str) -> Option<QName> {
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let own = self.state.declarations.iter().find(|(own, _)| own == prefix);
        let namespace = own.map(|(_, uri)| uri.as_str()).or_else(|| self.reader().namespace_of(prefix))?;
        Some(QName::owned(namespace, local))
    }

    /// Tells the routine called next that the attributes of the start tag just read are dealt with.
    pub(crate) fn set_attributes_read(&mut self) {
        self.state.attributes_read = true;
    }

    /// Takes what [`set_attributes_read`](Self::set_attributes_read) left.
    #[inline]
    pub(crate) fn take_attributes_read(&mut self) -> bool {
        std::mem::take(&mut self.state.attributes_read)
    }

    /// The prefixes in scope, sorted, for a tree that takes them over; `None` if such trees have taken over more than
    /// [`Limits::inherited_bindings`] in all. Trees in the same scope share them, and count once.
    pub(crate) fn bindings(&mut self) -> Step<Option<Bindings>> {
        let State { reader, bindings, inherited, limits, session, .. } = &mut *self.state;
        let scope = reader.scope();
        if let Some((known, bindings)) = bindings
            && *known == scope
        {
            session.inherited.note(bindings.len());
            return Ok(Some(bindings.clone()));
        }
        let mut here: Vec<_> = reader.bindings().map(owned).collect();
        // The reader's own order tells what it has read before.
        here.sort_unstable();
        let here = Bindings::from(here);
        *inherited = inherited.saturating_add(here.len());
        *bindings = Some((scope, here.clone()));
        session.inherited.note(here.len());
        let before = session.inherited_before();
        if inherited.saturating_add(before) > limits.inherited_bindings && session.read_again() {
            return Err(Stop::Switch);
        }
        Ok((*inherited <= limits.inherited_bindings).then_some(here))
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// `Stop::Pending` at the window's end, else the fault found.
    #[inline]
    pub fn event(&mut self) -> Step<Event<'c>> {
        Ok(self.state.reader.next(&mut self.window)?)
    }

    /// Reads on to the next start or end tag; only white space may stand before it, which counts against no limit but
    /// the message's.
    ///
    /// # Errors
    /// As [`event`](Self::event), and for character data.
    pub fn next_tag(&mut self) -> Step<Tag> {
        loop {
            match self.event()? {
                Event::Start => return Ok(Tag::Start),
                Event::End => return Ok(Tag::End),
                Event::Text(text) => self.expect_space(text)?,
                Event::Char(c) if c.is_ascii_whitespace() => {}
                Event::Char(_) => return Err(self.error_at(ErrorKind::UnexpectedText, self.reference_offset())),
                Event::Done => return Ok(Tag::Done),
            }
            self.state.reader.forget_text();
        }
    }

    /// Where the reference just read begins.
    #[cold]
    fn reference_offset(&self) -> u64 {
        let read = &self.window.bytes[..self.window.pos];
        let start = read.iter().rposition(|&byte| byte == b'&').unwrap_or(self.window.pos);
        self.window.base + start as u64
    }

    fn expect_space(&self, text: &str) -> Step {
        match text.bytes().position(|byte| !byte.is_ascii_whitespace()) {
            None => Ok(()),
            Some(at) => Err(self.error_at(ErrorKind::UnexpectedText, self.offset() - (text.len() - at) as u64)),
        }
    }

    /// An error at a position.
    #[cold]
    pub fn error_at(&self, kind: ErrorKind, offset: u64) -> Stop {
        Stop::Error(Error::at(kind, offset))
    }

    /// An error at the tag just read.
    #[cold]
    pub fn error_at_tag(&self, kind: ErrorKind) -> Stop {
        self.error_at(kind, self.state.reader.tag_offset())
    }

    /// An error in the element that was just closed, at a position.
    #[cold]
    pub fn error_in_closed(&self, kind: ErrorKind, offset: u64) -> Stop {
        let mut error = Error::at(kind, offset);
        error.set_path(self.state.closed_path());
        Stop::Error(error)
    }

    /// An error in the element that was just closed, at its end tag.
    #[cold]
    pub fn error_at_end(&self, kind: ErrorKind) -> Stop {
        self.error_in_closed(kind, self.state.reader.tag_offset())
    }

    /// The name just read, for error messages: with its namespace only where it has one.
    #[cold]
    pub(crate) fn found_name(&self) -> String {
        let (names, name) = (self.names(), self.name());
        QName::owned(names.namespace(name), names.local(name)).to_string()
    }
}

/// What [`Cursor::next_tag`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// A start tag.
    Start,
    /// An end tag.
    End,
    /// The end of the document.
    Done,
}
