//! Simple elements: text to value. Binary elements may contain a reference to a part of the
//! message's package instead of text.

use super::state::OpenText;
use super::{Cursor, Step, nil_attribute, other_attribute, skip_element};
use crate::schema::{Element, View};
use crate::types::PartUri;
use crate::{ErrorKind, ns};
use deltasoap_xml::Event;
use deltasoap_xml::lexical::{Lexical, LexicalError, Partial, WhiteSpace};
use deltasoap_xml::{Buffer, Escape};

/// Before the text.
const START: u8 = 0;
/// The value is complete; the end tag follows.
const SCANNED: u8 = 1;
/// Collecting text.
pub(in crate::decode) const TEXT: u8 = 2;
/// About to collect text; there has been none so far.
const EMPTY: u8 = 3;
/// Inside `xop:Include`.
const INCLUDE: u8 = 4;
/// After a reference to a part: only white space may follow.
const REFERRED: u8 = 5;

/// Reads an element's text as a value, up to and including its end tag. An element without any text
/// takes the [default](crate::schema::Element::default_text) of its schema, if there is one.
///
/// # Errors
/// When the text is not valid for the type, or when the element contains anything but text.
pub fn decode<T: Lexical>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    decode_text(&mut Typed(value), cursor, view)
}

/// Like [`decode`], for a value that may be in a separate part: an `xop:Include` is accepted
/// instead of text (XOP 1.0, section 2.1), and an `href` to another part on the element (SOAP
/// Messages with Attachments, section 3).
///
/// # Errors
/// As [`decode`], and when a reference names no part, or does not stand alone.
pub(crate) fn decode_binary<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    decode_text(value, cursor, view)
}

/// Like [`decode`], compiled once for all values that are read from their whole text: not for
/// [streamed](Lexical::STREAMED) types.
///
/// # Errors
/// See [`decode`].
pub fn decode_whole(value: &mut dyn WholeText, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    decode_text(&mut Whole(value), cursor, view)
}

/// A value that is read from its whole text: the required part of [`Lexical`], as a trait object.
pub trait WholeText {
    /// See [`Lexical::scan_into`].
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize>;

    /// See [`Lexical::parse`].
    ///
    /// # Errors
    /// When the text is not valid for the type.
    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError>;
}

/// The operations that the routine needs of a value. The defaults are for values that are read from
/// their whole text.
pub(crate) trait Target {
    /// True if the text is taken piece by piece.
    const STREAMED: bool = false;
    /// True if the value itself holds the pieces.
    const KEEPS: bool = Self::STREAMED;
    /// True if a reference to a part may replace the text.
    const REFERS: bool = false;

    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize>;

    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError>;

    fn vacate(&mut self, text: &mut OpenText) {
        let _ = text;
    }

    fn append(&mut self, piece: &str, text: &mut OpenText) -> Result<(), LexicalError> {
        let _ = (piece, text);
        Ok(())
    }

    fn finish(&mut self, text: &mut OpenText) -> Result<(), LexicalError> {
        let _ = text;
        Ok(())
    }

    /// Takes a reference; only for values that [may be one](Self::REFERS).
    fn refer(&mut self, uri: PartUri) {
        let _ = uri;
    }

    /// Returns true if no text has been consumed so far.
    fn is_vacant(&self, text: &OpenText) -> bool {
        let _ = text;
        self.progress() == 0
    }

    fn progress(&self) -> usize {
        0
    }

    fn keep(&mut self, progress: usize) {
        let _ = progress;
    }
}

struct Whole<'v>(&'v mut dyn WholeText);

impl Target for Whole<'_> {
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        self.0.scan_into(bytes)
    }

    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError> {
        self.0.parse_into(text)
    }
}

/// A [`WholeText`] as a leaf of flat items: its text is only scanned.
pub(super) struct WholeLeaf<'v>(pub(super) Option<&'v mut dyn WholeText>);

impl Lexical for WholeLeaf<'_> {
    const XSD_NAME: &'static str = "string";
    const WHITE_SPACE: WhiteSpace = WhiteSpace::Preserve;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        WholeLeaf(None)
    }

    fn parse(_: &str) -> Result<Self, LexicalError> {
        Err(LexicalError { expected: Self::XSD_NAME, reason: "only scanned" })
    }

    fn scan(_: &[u8]) -> Option<(Self, usize)> {
        None
    }

    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        self.0.as_mut()?.scan_into(bytes)
    }

    fn format(&self, _: &mut Buffer, _: Escape) {}
}

struct Typed<'v, T>(&'v mut T);

impl<T: Lexical> Target for Typed<'_, T> {
    const STREAMED: bool = T::STREAMED;

    #[inline(always)]
    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        T::scan_into(self.0, bytes)
    }

    #[inline]
    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError> {
        *self.0 = T::parse(text)?;
        Ok(())
    }

    fn vacate(&mut self, _: &mut OpenText) {
        *self.0 = T::vacant();
    }

    fn append(&mut self, piece: &str, text: &mut OpenText) -> Result<(), LexicalError> {
        self.0.append(piece, &mut text.partial)
    }

    fn finish(&mut self, text: &mut OpenText) -> Result<(), LexicalError> {
        self.0.finish(&mut text.partial)
    }

    fn progress(&self) -> usize {
        self.0.progress()
    }

    fn keep(&mut self, progress: usize) {
        self.0.keep(progress);
    }
}

fn decode_text<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh {
        open(value, cursor, me)?;
        cursor.frame(me).mark = cursor.offset();
        cursor.at_markup(me)?;
    }
    let state = cursor.frame(me).state;
    match state {
        START => begin(value, cursor, me, view)?,
        TEXT | EMPTY if T::STREAMED && cursor.is_over(me) => value.keep(cursor.frame(me).count as usize),
        INCLUDE if T::REFERS => pass_include(cursor, me)?,
        _ => {}
    }
    if cursor.frame(me).state != SCANNED {
        cursor.stop_learning();
    }
    loop {
        match cursor.event()? {
            Event::Text(text) => take(value, cursor, me, text)?,
            Event::Char(c) => take(value, cursor, me, c.encode_utf8(&mut [0; 4]))?,
            Event::Start if T::REFERS => refer(value, cursor, me)?,
            Event::Start => return Err(unexpected_child(cursor, "text")),
            Event::End | Event::Done => break,
        }
    }
    match (cursor.frame(me).state, view.element.default_text()) {
        (SCANNED | REFERRED, _) => {}
        (EMPTY, Some(text)) => take_default(value, cursor, me, text)?,
        _ => finish(value, cursor, me, view)?,
    }
    cursor.leave(me);
    Ok(())
}

/// Checks the start tag's attributes, unless the routine for simple content did.
fn open<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize) -> Step {
    if cursor.take_attributes_read() || cursor.reader().attribute_count() == 0 {
        return Ok(());
    }
    nil_attribute(cursor)?.reject(cursor)?;
    let href = if T::REFERS { part_attribute(cursor) } else { None };
    for index in (0..cursor.reader().attribute_count()).filter(|index| Some(*index) != href) {
        other_attribute(cursor, index)?;
    }
    if let Some(href) = href {
        value.refer(PartUri::new(cursor.reader().attribute(href).1.trim_ascii()));
        let frame = cursor.frame(me);
        (frame.state, frame.is_opaque) = (REFERRED, true);
    }
    Ok(())
}

/// Returns the `href` that does not point into the envelope, if there is one.
fn part_attribute(cursor: &Cursor<'_>) -> Option<usize> {
    (0..cursor.reader().attribute_count()).find(|&index| {
        let (name, text) = cursor.reader().attribute(index);
        let text = text.trim_ascii();
        cursor.names().is(name, "", "href") && !text.is_empty() && !text.starts_with('#')
    })
}

/// Handles the start tag of a child, which may be an `xop:Include`.
#[cold]
fn refer<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize) -> Step {
    let is_include = cursor.names().is(cursor.name(), ns::XOP, "Include");
    let state = cursor.frame(me).state;
    let text = &cursor.state().text;
    let is_first = state != REFERRED && text.partial == Partial::default() && value.is_vacant(text);
    if !is_include || !is_first {
        return Err(unexpected_child(cursor, "text, or one xop:Include"));
    }
    value.refer(included(cursor)?);
    let frame = cursor.frame(me);
    (frame.state, frame.is_opaque) = (INCLUDE, true);
    pass_include(cursor, me)
}

/// Returns the target of an `xop:Include` (XOP 1.0, section 2.1).
fn included(cursor: &Cursor<'_>) -> Step<PartUri> {
    let (reader, names) = (cursor.reader(), cursor.names());
    let mut attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
    let Some((_, href)) = attributes.find(|(name, _)| names.is(*name, "", "href")) else {
        return Err(cursor.error_at_tag(ErrorKind::MissingAttribute { expected: "href".to_owned() }));
    };
    let uri = PartUri::new(href.trim_ascii());
    if uri.content_id().is_none() {
        let (found, expected) = (href.to_owned(), "a cid: URL; no other URL is resolved".to_owned());
        return Err(cursor.error_at_tag(ErrorKind::UnexpectedValue { found, expected }));
    }
    Ok(uri)
}

fn pass_include(cursor: &mut Cursor<'_>, me: usize) -> Step {
    skip_element(cursor)?;
    cursor.frame(me).state = REFERRED;
    Ok(())
}

/// Tries to read the whole text from a window that also contains the end tag.
fn scan<T: Target>(value: &mut T, cursor: &mut Cursor<'_>) -> bool {
    if cursor.reader().tag_is_empty() {
        return false;
    }
    let rest = cursor.rest();
    let Some(used) = value.scan_into(rest) else { return false };
    if rest.get(used..used + 2) != Some(b"</") || used > cursor.limits().text {
        return false;
    }
    let start = cursor.pos();
    cursor.set_pos(start + used);
    cursor.learn_leaf(start, start + used);
    true
}

/// Reads the whole text, or begins to collect it.
fn begin<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize, view: View<'_>) -> Step {
    let is_default = view.element.default_text().is_some() && cursor.rest().first() == Some(&b'<');
    if !is_default && scan(value, cursor) {
        cursor.frame(me).state = SCANNED;
        return Ok(());
    }
    cursor.at_text()?;
    begin_text(value, cursor);
    let frame = cursor.frame(me);
    (frame.state, frame.is_opaque) = (EMPTY, !T::KEEPS);
    Ok(())
}

fn begin_text<T: Target>(value: &mut T, cursor: &mut Cursor<'_>) {
    let state = cursor.state();
    state.text.scratch.clear();
    state.text.partial = Partial::default();
    if T::STREAMED {
        value.vacate(&mut state.text);
    }
}

fn take<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize, text: &str) -> Step {
    if text.is_empty() {
        return Ok(());
    }
    if T::REFERS && cursor.frame(me).state == REFERRED {
        return take_after(cursor, me, text);
    }
    cursor.frame(me).state = TEXT;
    if !T::STREAMED {
        cursor.state().text.scratch.push_str(text);
        return Ok(());
    }
    let result = value.append(text, &mut cursor.state().text);
    let frame = cursor.frame(me);
    frame.count = value.progress() as u32;
    let start = frame.mark;
    result.map_err(|error| cursor.error_at(ErrorKind::Lexical(error), start))
}

/// Checks text after a reference.
#[cold]
fn take_after(cursor: &mut Cursor<'_>, me: usize, text: &str) -> Step {
    let is_space = text.bytes().all(|byte| byte.is_ascii_whitespace());
    let start = cursor.frame(me).mark;
    if is_space { Ok(()) } else { Err(cursor.error_at(ErrorKind::UnexpectedText, start)) }
}

fn finish<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize, view: View<'_>) -> Step {
    let state = cursor.state();
    let result = if T::STREAMED { value.finish(&mut state.text) } else { value.parse_into(&state.text.scratch) };
    let start = cursor.frame(me).mark;
    result.map_err(|error| {
        // The text of streamed values is not kept.
        let kind = match T::STREAMED {
            true => ErrorKind::Lexical(error),
            false => fault(view.element, &cursor.state().text.scratch, error),
        };
        cursor.error_in_closed(kind, start)
    })
}

/// Returns the error for an invalid text: for an enumeration, that it is none of the values.
#[cold]
pub(in crate::decode) fn fault(element: &Element, text: &str, error: LexicalError) -> ErrorKind {
    match element {
        Element::Simple(simple) if !simple.enumeration.is_empty() => {
            ErrorKind::UnexpectedValue { found: text.trim_ascii().to_owned(), expected: simple.expected() }
        }
        _ => ErrorKind::Lexical(error),
    }
}

/// Takes the default instead of the missing text.
fn take_default<T: Target>(value: &mut T, cursor: &mut Cursor<'_>, me: usize, text: &str) -> Step {
    let start = cursor.frame(me).mark;
    value.parse_into(text).map_err(|error| cursor.error_in_closed(ErrorKind::Lexical(error), start))
}

#[cold]
fn unexpected_child(cursor: &Cursor<'_>, expected: &str) -> super::Stop {
    let (found, expected) = (cursor.found_name(), expected.to_owned());
    cursor.error_at_tag(ErrorKind::UnexpectedElement { found, expected })
}
