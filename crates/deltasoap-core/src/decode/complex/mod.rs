//! Complex elements: fields in sequence, in any order, or one of several.
//!
//! The routine goes from child tag to child tag: `select` determines which field a tag opens, the
//! field's own routine reads it, and at the end tag `select` determines whether anything is
//! missing.
//!
//! A group has no tags of its own. It begins with the start tag of its first element, and ends with
//! the first tag that none of its next fields takes. That tag is left to the routine around it
//! (`Cursor::hold`), which continues as if it had just been read.

mod attributes;
mod follow;
mod select;
mod tolerate;

#[cfg(feature = "values")]
pub(crate) use attributes::is_content;
pub(crate) use attributes::read_attributes;
use follow::Followed;

use super::cursor::Tag;
use super::differential::leaf::Descent;
use super::flat::{Patch, Run};
use super::state::{PATCH, SEEK};
use super::{Cursor, Frame, Leaf, Step, Stop, Tolerance, expect_end, nil_attribute, report_beside_nil, skip_element};
use crate::content::APPENDED;
use crate::schema::{ComplexElement, Compositor, Field, QName, View};
use deltasoap_xml::lexical::LexicalError;

/// A value with fields, as the routine for complex elements sees it. Implemented by the derive
/// macro and by dynamic records.
pub trait DecodeFields {
    /// Makes room for an occurrence of a field; see [`Occurs::open`](crate::Occurs::open).
    fn open(&mut self, field: usize, place: usize, view: View<'_>) -> usize;

    /// Removes occurrences of a field and inserts vacant ones; see
    /// [`Occurs::splice`](crate::Occurs::splice).
    fn splice(&mut self, field: usize, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        let _ = (field, place, removed, inserted, view);
        0
    }

    /// Keeps the first `count` occurrences of a field; see [`Occurs::keep`](crate::Occurs::keep).
    fn keep(&mut self, field: usize, count: usize, view: View<'_>);

    /// Returns true if a field is absent; `None` for fields that are not absent if their element is
    /// nil: they distinguish nil, or refuse it. Called only for [nillable](Field::nillable) fields.
    fn is_absent(&self, field: usize) -> Option<bool> {
        let _ = field;
        None
    }

    /// Reads the content of the occurrence last opened.
    ///
    /// # Errors
    /// See [`Content::decode`](crate::Content::decode).
    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Reads as many flat items of a repeated field as the window holds.
    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        let _ = (field, cursor, decl, view);
        Run::Items(0)
    }

    /// Rereads flat items that differ from those of the previous message; see
    /// [`ListShortcuts::patch`](crate::content::ListShortcuts::patch).
    fn patch(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        let _ = (field, cursor, view);
        Patch::Other { field: 0, count: 0 }
    }

    /// Returns the number of leaves of one occurrence of a repeated field, if flat.
    fn item_leaves(&self, field: usize, view: View<'_>) -> Option<usize> {
        let _ = (field, view);
        None
    }

    /// Reads a leaf as the next occurrence of a field; `None` if its text is not plain. See
    /// [`ListShortcuts::scan_leaf`](crate::content::ListShortcuts::scan_leaf).
    #[inline]
    fn scan_leaf(&mut self, field: usize, leaf: &mut Leaf<'_>, view: View<'_>) -> Option<()> {
        let _ = (field, leaf, view);
        None
    }

    /// Notes that a required field is missing, which is tolerated. Nothing of it was read.
    fn note_missing(&mut self, field: usize) {
        let _ = field;
    }

    /// Makes all fields and attributes absent.
    fn vacate(&mut self, view: View<'_>);

    /// Makes all attributes absent.
    fn vacate_attributes(&mut self) {}

    /// Takes an attribute that the schema does not name, for types that allow any.
    fn other_attribute(&mut self, name: QName, text: &str) {
        let _ = (name, text);
    }

    /// Takes an attribute's value. `names` resolves names in the text.
    ///
    /// # Errors
    /// When the text is not valid for the attribute's type.
    fn attribute(&mut self, index: usize, text: &str, names: Names<'_>) -> Result<(), LexicalError> {
        let _ = (index, text, names);
        Ok(())
    }
}

/// Resolves a text as a name; `None` if it is not a name, or its prefix is not declared.
pub type Names<'n> = &'n dyn Fn(&str) -> Option<QName>;

/// Between two fields.
const BETWEEN: u8 = 0;
/// Inside a field, whose own routine has a frame above.
const INSIDE: u8 = 1;
/// Inside an element that the schema does not name.
const SKIPPING: u8 = 2;
/// Inside the single field of a choice that has no element of its own.
const INLINE: u8 = 3;
/// Flag combined with one of the other states: in a group.
const GROUP: u8 = 1 << 6;
/// Flag combined with one of the other states: the fields of a sequence are read in any order; see
/// [`Tolerance::AnyOrder`](super::Tolerance::AnyOrder).
const LOOSE: u8 = 1 << 5;
/// Flag combined with one of the other states: an element was skipped that may be the reason why a
/// required field will be missing.
const NAMESAKES: u8 = 1 << 4;
/// The flags.
const FLAGS: u8 = GROUP | LOOSE | NAMESAKES;

/// Reads the fields of an element, up to and including its end tag.
///
/// # Errors
/// When a field is missing, unexpected, out of order, or invalid itself.
pub fn decode<T: DecodeFields + ?Sized>(target: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let Some(complex) = view.complex() else { unreachable!("a complex routine with another schema class") };
    let (me, fresh) = cursor.enter();
    let notes = complex.notes_fields()
        || (complex.compositor == Compositor::Sequence && cursor.tolerance() == Tolerance::AnyOrder);
    let mut routine = Routine { cursor, complex, view, me, notes };
    if fresh {
        routine.begin(target)?;
    }
    while !routine.step(target)? {}
    routine.end();
    Ok(())
}

/// The active routine: its cursor, its schema, and its frame.
struct Routine<'r, 'c, 's> {
    cursor: &'r mut Cursor<'c>,
    complex: &'s ComplexElement,
    view: View<'s>,
    me: usize,
    /// True if the fields seen are recorded: where the schema needs it, and where a sequence may
    /// turn out to be in another order.
    notes: bool,
}

impl<'s> Routine<'_, '_, 's> {
    fn frame(&mut self) -> &mut Frame {
        self.cursor.frame(self.me)
    }

    /// Returns the index of the field being read, or next to be read.
    fn current(&mut self) -> usize {
        self.frame().field as usize
    }

    fn content(&self, field: usize) -> View<'s> {
        self.view.follow(self.complex.fields[field].element)
    }

    /// Handles the start tag of the element itself, or of a field of a choice or group that has no
    /// element.
    fn begin<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        match self.cursor.take_inline() {
            true if self.complex.compositor == Compositor::Choice => return self.begin_choice(target),
            true => return self.begin_group(target),
            false if self.cursor.is_seeking() => return self.descend(target),
            false => {}
        }
        let shape = self.cursor.shape(self.view, self.complex);
        self.frame().shape = shape;
        let is_plain = shape.is_some() && self.complex.compositor == Compositor::Sequence;
        let is_whole = !is_plain && self.complex.is_read_whole(self.view);
        if is_whole {
            self.cursor.note_nothing();
        }
        // In this order: most elements are not read whole, and `comes_back` examines every field.
        let comes_back = is_whole && self.comes_back();
        self.prepare_value(target, comes_back);
        if !is_whole && self.has_children() {
            self.cursor.begin_children(self.me);
        }
        self.frame().is_opaque = comes_back;
        read_attributes(target, self.cursor, self.complex, self.view)?;
        self.reserve_seen();
        Ok(())
    }

    /// Returns true if checkpoints may lie before each of the element's children: between two
    /// children its progress is in its frame, and in one word of fields seen.
    fn has_children(&self) -> bool {
        let is_choice = self.complex.compositor == Compositor::Choice;
        !is_choice && (!self.notes || self.complex.fields.len() <= u64::BITS as usize)
    }

    /// Handles the start tag of the field of a choice.
    fn begin_choice<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        let Some(index) = self.find(0) else { return Err(self.unexpected(0)) };
        if self.cursor.is_seeking() {
            self.enter_occurrence(index, 1);
        } else {
            let comes_back = self.comes_back();
            self.prepare_value(target, comes_back);
            (index + 1..self.complex.fields.len()).for_each(|other| self.cut_off(target, other));
            self.open_occurrence(target, index);
        }
        self.frame().state = INLINE;
        Ok(())
    }

    /// Handles the start tag of a group's first element. The value is new: the element around a
    /// group is read whole.
    fn begin_group<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        self.frame().state = GROUP;
        self.reserve_seen();
        let Some(index) = self.select()? else { return Err(self.unexpected(0)) };
        self.open_selected(target, index, None);
        Ok(())
    }

    /// Prepares the value to be replaced, as it may be that of the previous message.
    fn prepare_value<T: DecodeFields + ?Sized>(&mut self, target: &mut T, comes_back: bool) {
        if !comes_back && self.cursor.go_over(self.me) {
            target.vacate_attributes();
        } else if self.cursor.is_within_old(self.me) {
            target.vacate(self.view);
        }
    }

    /// Over an old value: makes a field absent that another one replaces.
    fn cut_off<T: DecodeFields + ?Sized>(&mut self, target: &mut T, field: usize) {
        if self.cursor.is_over(self.me) {
            self.keep(target, field, 0);
        }
    }

    /// Returns true if a list field can be left and come back to, because its progress is then not
    /// in the frame; and if what is read decides which fields of an old value may stay. Both kinds
    /// are read from the beginning, into a new value.
    fn comes_back(&self) -> bool {
        let can_leave =
            self.complex.compositor == Compositor::All && self.complex.fields.iter().any(Field::is_repeated);
        can_leave || !self.complex.choices.is_empty() || self.complex.has_groups(self.view)
    }

    /// Returns the routine's own state.
    fn state(&mut self) -> u8 {
        self.frame().state & !FLAGS
    }

    fn set_state(&mut self, state: u8) {
        let frame = self.frame();
        frame.state = state | (frame.state & FLAGS);
    }

    fn is_in_group(&mut self) -> bool {
        self.frame().state & GROUP != 0
    }

    /// Descends to where regular mode continues in the value of the previous message.
    fn descend<T: DecodeFields + ?Sized>(&mut self, target: &T) -> Step {
        let descent = self.cursor.descend(self.me)?;
        if self.notes {
            self.restore_seen();
        }
        match descent {
            Descent::Into { field, count, .. } => self.enter_occurrence(field as usize, count),
            Descent::Here { field, count, patch } => {
                let is_repeated = self.is_repeated(field);
                let frame = self.frame();
                (frame.field, frame.count, frame.is_repeated) = (field, count, is_repeated);
                frame.state = if patch { PATCH } else { BETWEEN };
                if is_repeated && target.item_leaves(field as usize, self.content(field as usize)).is_some() {
                    self.cursor.charge_flat();
                }
            }
        }
        Ok(())
    }

    fn is_repeated(&self, field: u32) -> bool {
        self.complex.fields.get(field as usize).is_some_and(Field::is_repeated)
    }

    /// Enters an existing occurrence.
    fn enter_occurrence(&mut self, index: usize, count: u32) {
        let field = &self.complex.fields[index];
        if field.inline {
            self.cursor.set_inline();
        }
        let frame = self.frame();
        (frame.field, frame.count, frame.place) = (index as u32, count, count - 1);
        frame.is_repeated = field.is_repeated();
        frame.state = INSIDE;
    }

    /// Rereads flat items that differ from those of the previous message.
    fn patch<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        let field = self.current();
        let patch = target.patch(field, self.cursor, self.content(field));
        if let Some(length) = self.cursor.take_resized() {
            // A list with a maximum length makes no run.
            self.check_length(field, length, length)?;
        }
        match patch {
            Patch::Fast => Err(Stop::Switch),
            Patch::Short => Err(Stop::Pending),
            Patch::Other { field, count } => {
                let is_repeated = self.is_repeated(field);
                let frame = self.frame();
                (frame.field, frame.count, frame.state) = (field, count, BETWEEN);
                frame.is_repeated = is_repeated;
                Ok(())
            }
        }
    }

    /// Ends the routine after the end tag.
    fn end(&mut self) {
        if self.state() != INLINE && !self.is_in_group() {
            if !self.frame().has_children && self.complex.is_read_whole(self.view) {
                self.cursor.note_again();
            }
            if self.cursor.is_over(self.me) {
                self.cursor.leave_old_element();
            }
        }
        self.cursor.leave(self.me);
    }

    /// Reads up to and including the next child, or the end. Returns true at the end.
    // It has one caller, and a call for each child would cost 2 % of all instructions.
    #[inline(always)]
    fn step<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step<bool> {
        match self.state() {
            INSIDE => self.close_field(target)?,
            SKIPPING => {
                skip_element(self.cursor)?;
                self.set_state(BETWEEN);
            }
            INLINE => {
                let field = self.current();
                self.read_field(target, field, self.content(field))?;
                return Ok(true);
            }
            SEEK => {
                self.descend(target)?;
                return Ok(false);
            }
            PATCH => self.patch(target)?,
            _ => {}
        }
        let (tag, start) = match self.cursor.take_held() {
            Some(tag) => (tag, None),
            None => {
                self.run_flat(target)?;
                match self.follow(target) {
                    Some(Followed::Child) => return Ok(false),
                    Some(Followed::End) => return Ok(true),
                    Some(Followed::Leaf) | None => {}
                }
                self.cursor.at_markup(self.me)?;
                let start = self.cursor.item_start();
                (self.cursor.next_tag()?, start)
            }
        };
        match tag {
            Tag::Start if self.is_in_group() => self.go_on_in_group(target, start),
            Tag::Start => self.open_field(target, start).map(|()| false),
            Tag::End | Tag::Done => {
                if let Some(lacking) = self.check_complete()? {
                    lacking.into_iter().for_each(|field| target.note_missing(field));
                }
                if self.is_in_group() {
                    self.cursor.hold(tag);
                } else if self.cursor.is_over(self.me) {
                    self.pass_on(target, usize::MAX);
                } else {
                    self.learn_end();
                }
                Ok(true)
            }
        }
    }

    /// Handles a start tag in a group. Returns true if the tag belongs not to the group, but to an
    /// element after it.
    fn go_on_in_group<T: DecodeFields + ?Sized>(&mut self, target: &mut T, start: Option<usize>) -> Step<bool> {
        match self.select_in_group()? {
            Some(index) => self.open_selected(target, index, start),
            None => self.cursor.hold(Tag::Start),
        }
        Ok(self.state() != INSIDE)
    }

    /// Takes the shortcut for flat items whose markup is known.
    fn run_flat<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        let index = self.current();
        let Some(field) = self.complex.fields.get(index) else { return Ok(()) };
        if self.frame().count == 0 || field.max.is_some() || field.inline || self.cursor.can_resync(self.me) {
            return Ok(());
        }
        let (items, short) = match target.run(index, self.cursor, field, self.content(index)) {
            Run::Items(items) => (items, false),
            Run::Short(items) => (items, true),
        };
        let frame = self.frame();
        frame.count = frame.count.saturating_add(items);
        if short { Err(Stop::Pending) } else { Ok(()) }
    }

    /// Handles a child's start tag. `start` is the start of an item's markup that may be learned.
    fn open_field<T: DecodeFields + ?Sized>(&mut self, target: &mut T, start: Option<usize>) -> Step {
        let index = match self.select() {
            Ok(Some(index)) => index,
            other => match self.tolerate(other)? {
                Some(index) => index,
                None => return Ok(()),
            },
        };
        if self.cursor.is_over(self.me) {
            self.apply_shift(target)?;
        }
        if self.cursor.is_over(self.me) && self.resync(target, index) {
            return Err(Stop::Switch);
        }
        self.learn_tag(index);
        self.open_selected(target, index, start);
        Ok(())
    }

    fn open_selected<T: DecodeFields + ?Sized>(&mut self, target: &mut T, index: usize, start: Option<usize>) {
        self.cursor.at_child(self.me, index as u32);
        self.open_occurrence(target, index);
        let (field, count) = (self.frame().field, self.frame().count);
        self.cursor.begin_child(field, count);
        if self.item_leaves(target, index).is_some() {
            self.cursor.learn_from(start);
        }
    }

    /// Returns the number of leaves of one occurrence of a repeated field, if flat.
    fn item_leaves<T: DecodeFields + ?Sized>(&self, target: &T, index: usize) -> Option<usize> {
        let field = &self.complex.fields[index];
        if field.is_repeated() && !field.inline { target.item_leaves(index, self.content(index)) } else { None }
    }

    /// Cuts old items out of the list of the element just opened, or makes room for new ones, where
    /// some were found to be removed or inserted.
    fn apply_shift<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        let Some((field, shift)) = self.cursor.take_shift() else { return Ok(()) };
        let field = field as usize;
        self.check_length(field, (shift.length + shift.removed).saturating_sub(shift.inserted), shift.length)?;
        let moved = target.splice(field, shift.place, shift.removed, shift.inserted, self.content(field));
        self.cursor.charge_moved(moved);
        Ok(())
    }

    /// Checks the length of a list into which items were inserted, or from which items were
    /// removed. The items after them may be skipped unread, so nothing else counts them. A list
    /// that was full and is no longer full takes elements that came after it, if others have its
    /// name.
    fn check_length(&mut self, field: usize, before: usize, length: usize) -> Step {
        let Field { min, max, .. } = self.complex.fields[field];
        let is_allowed = length >= min as usize && max.is_none_or(|max| length <= max as usize);
        let was_full = max.is_some_and(|max| before >= max as usize && length < max as usize);
        if is_allowed && !(was_full && self.may_come_later(field)) { Ok(()) } else { self.cursor.read_again() }
    }

    /// Returns true if an element of this field, once the field is full, may be taken by another
    /// field or skipped.
    fn may_come_later(&self, field: usize) -> bool {
        let (field, later) = (&self.complex.fields[field], &self.complex.fields[field + 1..]);
        self.complex.open || field.inline || later.iter().any(|it| it.inline || it.name == field.name)
    }

    /// Returns true if the element just opened was at this place in the previous message; then fast
    /// mode continues after its start tag.
    fn resync<T: DecodeFields + ?Sized>(&mut self, target: &mut T, index: usize) -> bool {
        let is_array = self.content(index).array().is_some();
        if self.complex.notes_fields() {
            return self.resync_in_any_order(target, index, is_array);
        }
        let before = if self.current() == index { self.frame().count } else { 0 };
        let is_same = self.cursor.resync(self.me, index as u32, before.saturating_add(1), is_array);
        if is_same {
            self.pass_on(target, index);
        }
        is_same
    }

    fn open_occurrence<T: DecodeFields + ?Sized>(&mut self, target: &mut T, index: usize) {
        let field = &self.complex.fields[index];
        let before = if self.current() == index { self.frame().count } else { 0 };
        let place = if self.cursor.is_over(self.me) {
            self.pass_on(target, index);
            before as usize
        } else {
            APPENDED
        };
        let place = target.open(index, place, self.content(index));
        if field.inline {
            self.cursor.set_inline();
        }
        let frame = self.frame();
        frame.place = place as u32;
        frame.count = before.saturating_add(1);
        frame.field = index as u32;
        frame.is_repeated = field.is_repeated();
        self.set_state(INSIDE);
    }

    /// Over an old value: cuts the current field to the occurrences read, and cuts off the fields
    /// between it and `next`.
    fn pass_on<T: DecodeFields + ?Sized>(&mut self, target: &mut T, next: usize) {
        let (current, count) = (self.current(), self.frame().count as usize);
        if self.complex.notes_fields() {
            return self.keep_seen(target, next);
        }
        if next != current {
            self.keep(target, current, count);
        }
        (current + 1..next.min(self.complex.fields.len())).for_each(|field| self.keep(target, field, 0));
    }

    fn keep<T: DecodeFields + ?Sized>(&self, target: &mut T, field: usize, count: usize) {
        if field < self.complex.fields.len() {
            target.keep(field, count, self.content(field));
        }
    }

    /// Reads a field, or the element that it refers to.
    #[inline]
    fn read_field<T: DecodeFields + ?Sized>(&mut self, target: &mut T, index: usize, content: View<'_>) -> Step {
        if self.complex.fields[index].nillable && target.is_absent(index).is_some() {
            return self.cursor.visit(content, |cursor| read_unless_nil(target, index, cursor, content));
        }
        // Without attributes there is no reference.
        if self.cursor.reader().attribute_count() == 0 || self.complex.fields[index].inline {
            return target.decode_field(index, self.cursor, content);
        }
        self.cursor.visit(content, |cursor| target.decode_field(index, cursor, content))
    }

    /// Reads the open field to its end.
    fn close_field<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Step {
        let index = self.current();
        let (field, content) = (&self.complex.fields[index], self.content(index));
        self.read_field(target, index, content)?;
        // The field's routine may have made the frame opaque while it was active.
        let is_opaque = !self.frame().has_children && self.comes_back();
        self.frame().is_opaque = is_opaque;
        self.set_state(BETWEEN);
        self.cursor.end_child();
        if let Some(leaves) = self.item_leaves(target, index) {
            self.cursor.learn_item(std::ptr::from_ref(field).addr(), leaves, self.view);
        }
        Ok(())
    }
}

/// Reads a field that is absent if its element is nil. In contrast to
/// [`Nillable`](crate::Nillable), the value has no place for nil.
fn read_unless_nil<T: DecodeFields + ?Sized>(
    target: &mut T,
    index: usize,
    cursor: &mut Cursor<'_>,
    content: View<'_>,
) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh && !cursor.is_seeking() {
        if nil_attribute(cursor)?.0 {
            target.keep(index, 0, content);
            report_beside_nil(cursor);
        } else if !cursor.go_over(me) && cursor.is_within_old(me) {
            target.keep(index, 0, content);
            target.open(index, APPENDED, content);
        }
    }
    match target.is_absent(index) {
        Some(true) => expect_end(cursor)?,
        _ => target.decode_field(index, cursor, content)?,
    }
    cursor.leave(me);
    Ok(())
}
