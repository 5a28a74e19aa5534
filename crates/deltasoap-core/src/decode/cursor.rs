//! The cursor that routines read from: a window of bytes, and the decoder's state.

use super::{Frame, State, Step, Stop};
use crate::schema::{Bindings, owned};
use crate::{Error, ErrorKind, QName};
use deltasoap_xml::{Encoding, Event, Limits, NameId, Names, Reader, Window};

/// A position in a message, from which routines read.
#[derive(Debug)]
pub struct Cursor<'c> {
    pub(in crate::decode) window: Window<'c>,
    pub(in crate::decode) state: &'c mut State,
}

impl<'c> Cursor<'c> {
    /// Creates a cursor at the outermost routine, with the bytes of `window`.
    pub fn new(window: Window<'c>, state: &'c mut State) -> Self {
        state.stack.level = 0;
        state.expected.flat.forget_positions();
        Cursor { window, state }
    }

    /// Returns the position in the window after the last byte used.
    pub fn pos(&self) -> usize {
        self.window.pos
    }

    /// Returns the position in the document (UTF-8) after the last byte used.
    pub fn offset(&self) -> u64 {
        self.window.base + self.window.pos as u64
    }

    /// Returns the unread bytes of the window.
    #[inline]
    pub fn rest(&self) -> &'c [u8] {
        &self.window.bytes[self.window.pos..]
    }

    /// Returns all bytes of the window.
    #[inline]
    pub fn bytes(&self) -> &'c [u8] {
        self.window.bytes
    }

    /// Returns true if the document arrived in UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.window.encoding.encoding == Encoding::Utf8
    }

    /// Returns true if no bytes follow the window.
    pub fn is_last(&self) -> bool {
        self.window.last
    }

    /// Moves the position. The bytes in between must leave the reader's state unchanged.
    #[inline]
    pub(crate) fn set_pos(&mut self, pos: usize) {
        self.window.pos = pos;
    }

    /// Returns window and state separately, for routines that need both at once.
    pub(crate) fn parts(&mut self) -> (&mut Window<'c>, &mut State) {
        (&mut self.window, self.state)
    }

    pub(crate) fn state(&mut self) -> &mut State {
        self.state
    }

    /// Returns the XML reader: name and attributes of the start tag just read.
    pub fn reader(&self) -> &Reader {
        &self.state.reader
    }

    /// Returns the limits on the message.
    pub fn limits(&self) -> &Limits {
        &self.state.limits
    }

    /// Creates an error at the tag just read, which exceeds one of the [`limits`](Self::limits).
    #[cold]
    pub(crate) fn limit_error(&self, name: &'static str, limit: usize) -> Stop {
        self.error_at_tag(ErrorKind::Limit { name, limit: limit as u64 })
    }

    /// Returns the table of names.
    pub fn names(&self) -> &Names {
        self.state.reader.names()
    }

    /// Returns a name of the table, for a value to keep.
    #[inline]
    pub(crate) fn shared_name(&mut self, id: NameId) -> QName {
        let State { expected, reader, .. } = &mut *self.state;
        expected.names.get(reader.names(), id)
    }

    /// Returns the name of the element whose start tag was just read.
    pub fn name(&self) -> NameId {
        self.state.reader.name()
    }

    /// Enters a routine. Returns its frame's index, and true if it is entered for the first time,
    /// false if it resumes.
    #[inline]
    pub fn enter(&mut self) -> (usize, bool) {
        let State { stack, reader, .. } = &mut *self.state;
        stack.enter(reader.depth())
    }

    /// Returns true if the routine called next reads an element from its start tag, which was just
    /// read.
    #[cfg(feature = "values")]
    pub(crate) fn is_entering(&self) -> bool {
        self.state.stack.level == self.state.stack.frames.len() && !self.is_seeking()
    }

    /// Returns true in a decoder that takes no shortcuts: its lists consist of separate values.
    #[cfg(feature = "values")]
    pub(crate) fn takes_no_shortcuts(&self) -> bool {
        self.state.expected.flat.is_off()
    }

    /// Leaves a routine that is done.
    #[inline]
    pub fn leave(&mut self, index: usize) {
        self.state.stack.leave(index);
        self.state.hooks.low = self.state.hooks.low.min(index);
    }

    /// Returns true if a frame is *over an old value*: its routine continues within a complete
    /// value, that of the previous message. What it reads replaces the old content. Old content
    /// that it passes over, or does not reach before the element's end, is cut off. Old content
    /// after the place where reading stops stays unchanged.
    #[inline]
    pub fn is_over(&self, index: usize) -> bool {
        index < self.state.stack.over
    }

    /// Makes the routine continue as if its value had been vacant when it was entered: nothing of
    /// an old value is left in it.
    pub(crate) fn leave_old(&mut self, index: usize) {
        self.state.stack.over = self.state.stack.over.min(index);
    }

    /// Declares that items of lists will be [taken out](super::take_finished) between windows,
    /// while the message is read. Must be called before the routine that reads them, which must not
    /// compare with an earlier message. Arrays that specify the positions of their items are then
    /// rejected anywhere in the message.
    pub fn stream_items(&mut self) {
        self.state.is_streamed = true;
    }

    /// Returns the index in its list of the occurrence that the calling routine has opened, for the
    /// list that reads it.
    #[inline]
    pub fn place(&self) -> usize {
        self.state.stack.frames[self.state.stack.level - 1].place as usize
    }

    /// Returns a routine's frame.
    #[inline]
    pub fn frame(&mut self, index: usize) -> &mut Frame {
        &mut self.state.stack.frames[index]
    }

    /// Returns the index of the type that the array around names for its items, for the routine of
    /// an item that was just entered. If the item's value may be shared, there are two more frames.
    pub(crate) fn named_by_array(&self) -> Option<usize> {
        let &(array, place) = self.state.item_types.last()?;
        let level = self.state.stack.level;
        (level == array + 2 || level == array + 4).then_some(place)
    }

    /// Tells the routine called next that the start tag just read belongs to one of its fields.
    pub(crate) fn set_inline(&mut self) {
        self.state.handover.inline = true;
    }

    /// Returns true if [`set_inline`](Self::set_inline) was called for the routine being entered.
    #[cfg(feature = "values")]
    pub(crate) fn is_inline(&self) -> bool {
        self.state.handover.inline
    }

    /// Returns true if the routine being entered is for an array without an element: the start tag
    /// just read is that of its next item.
    #[inline]
    pub(crate) fn is_next_in_row(&self) -> bool {
        self.state.handover.next_in_row.is_some()
    }

    /// Takes the flag set by [`set_inline`](Self::set_inline).
    pub(crate) fn take_inline(&mut self) -> bool {
        std::mem::take(&mut self.state.handover.inline)
    }

    /// Leaves the tag just read to the routine around the current one.
    pub(crate) fn hold(&mut self, tag: Tag) {
        self.state.handover.held = Some(tag);
    }

    /// Takes the tag left by [`hold`](Self::hold).
    #[inline]
    pub(crate) fn take_held(&mut self) -> Option<Tag> {
        self.state.handover.held.take()
    }

    /// Keeps the declarations of the element just opened, for [`resolve_kept`](Self::resolve_kept).
    pub(crate) fn keep_declarations(&mut self) {
        let State { reader, text, .. } = &mut *self.state;
        text.declarations.clear();
        text.declarations.extend(reader.declarations().map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())));
    }

    /// Resolves a name in the text of the element just closed: by its own declarations, then by
    /// those around it.
    pub(crate) fn resolve_kept(&self, text: &str) -> Option<QName> {
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let own = self.state.text.declarations.iter().find(|(own, _)| own == prefix);
        let namespace = own.map(|(_, uri)| uri.as_str()).or_else(|| self.reader().namespace_of(prefix))?;
        Some(QName::owned(namespace, local))
    }

    /// Tells the routine called next that the attributes of the start tag just read are already
    /// handled.
    pub(crate) fn set_attributes_read(&mut self) {
        self.state.handover.attributes_read = true;
    }

    /// Takes the flag set by [`set_attributes_read`](Self::set_attributes_read).
    #[inline]
    pub(crate) fn take_attributes_read(&mut self) -> bool {
        std::mem::take(&mut self.state.handover.attributes_read)
    }

    /// Returns the prefixes in scope, sorted, for a tree that takes them over; `None` if trees have
    /// taken over more than [`Limits::inherited_bindings`] in total. Trees in the same scope share
    /// them, and count once.
    pub(crate) fn bindings(&mut self) -> Step<Option<Bindings>> {
        let State { reader, trees, .. } = &mut *self.state;
        let scope = reader.scope();
        if let Some((known, bindings)) = &trees.bindings
            && *known == scope
        {
            let bindings = bindings.clone();
            self.note_bindings(bindings.len());
            return Ok(Some(bindings));
        }
        let mut here: Vec<_> = reader.bindings().map(owned).collect();
        // The reader's own order reveals what it has read before.
        here.sort_unstable();
        let here = Bindings::from(here);
        trees.taken.inherited = trees.taken.inherited.saturating_add(here.len());
        trees.bindings = Some((scope, here.clone()));
        self.note_bindings(here.len());
        self.check_skipped_trees()?;
        let State { trees, limits, .. } = &*self.state;
        Ok((trees.taken.inherited <= limits.inherited_bindings).then_some(here))
    }

    /// Counts the elements, attributes and declarations of a tree.
    ///
    /// # Errors
    /// When the trees have more than [`Limits::tree_nodes`] in total.
    pub(crate) fn count_in_tree(&mut self, nodes: usize) -> Step {
        let trees = &mut self.state.trees;
        trees.taken.nodes = trees.taken.nodes.saturating_add(nodes);
        self.check_skipped_trees()?;
        let State { trees, limits, .. } = &*self.state;
        match trees.taken.nodes <= limits.tree_nodes {
            true => Ok(()),
            false => Err(self.limit_error("tree_nodes", self.limits().tree_nodes)),
        }
    }

    /// Restarts the count at the body, whose trees count separately.
    pub(crate) fn count_trees_anew(&mut self) {
        self.state.trees.taken.nodes = 0;
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// `Stop::Pending` at the window's end, else the error found.
    #[inline]
    pub fn event(&mut self) -> Step<Event<'c>> {
        Ok(self.state.reader.next(&mut self.window)?)
    }

    /// Reads up to the next start or end tag. Only white space may stand before it; it counts
    /// against no limit except that of the message.
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

    /// Returns the position where the reference just read begins.
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

    /// Creates an error at a position.
    #[cold]
    pub fn error_at(&self, kind: ErrorKind, offset: u64) -> Stop {
        Stop::Error(Error::at(kind, offset))
    }

    /// Creates an error at the tag just read.
    #[cold]
    pub fn error_at_tag(&self, kind: ErrorKind) -> Stop {
        self.error_at(kind, self.state.reader.tag_offset())
    }

    /// Creates an error in the element that was just closed, at a position.
    #[cold]
    pub fn error_in_closed(&self, kind: ErrorKind, offset: u64) -> Stop {
        let mut error = Error::at(kind, offset);
        error.set_path(self.state.closed_path());
        Stop::Error(error)
    }

    /// Creates an error in the element that was just closed, at its end tag.
    #[cold]
    pub fn error_at_end(&self, kind: ErrorKind) -> Stop {
        self.error_in_closed(kind, self.state.reader.tag_offset())
    }

    /// Returns the name just read, for error messages: with its namespace only if it has one.
    #[cold]
    pub(crate) fn found_name(&self) -> String {
        let (names, name) = (self.names(), self.name());
        QName::owned(names.namespace(name), names.local(name)).to_string()
    }
}

/// The result of [`Cursor::next_tag`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// A start tag.
    Start,
    /// An end tag.
    End,
    /// The end of the document.
    Done,
}
