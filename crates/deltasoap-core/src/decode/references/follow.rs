//! The routines' side of references: handling start tags that may refer to another element.

use super::References;
use super::index::Unresolved;
use super::marks::{is_id, marks, marks_of};
use crate::decode::{Cursor, State, Step, Stop, Tag};
use crate::schema::{Element, View};
use crate::{ErrorKind, Shared};
use deltasoap_xml::{Detour, Event, NameId};

/// An active detour.
#[derive(Debug)]
pub(crate) struct ActiveDetour {
    /// The element that is read.
    target: usize,
    /// The position after the reference, among the kept bytes, where reading continues.
    back: usize,
    /// The name of the element that refers, and its depth.
    name: NameId,
    depth: usize,
}

/// The way back from a detour.
#[derive(Debug)]
#[must_use = "reading must continue after the reference"]
pub(crate) struct Return(Detour);

/// How an element relates to a value that can be shared.
#[derive(Debug)]
pub(crate) enum Sharing<T: 'static> {
    /// It has a value of its own.
    Alone,
    /// It has the value of an element with an id, to which others may refer.
    Target {
        /// The number of the element with the id.
        target: usize,
        /// True if that is a different element.
        is_elsewhere: bool,
        /// The value, if it has been requested before.
        shared: Option<Shared<T>>,
    },
}

/// Bytes counted for each declaration that a detour puts in scope.
const DECLARATION: u64 = 16;

impl<'c> Cursor<'c> {
    /// Calls a child's routine. If the start tag just read refers to another element, the routine
    /// reads that element instead, on a detour. Must be used for every call, including those that
    /// resume the routine.
    ///
    /// # Errors
    /// Those of the routine; [`Stop::Pending`] if the message must be complete first; and for
    /// references to a missing element or to one that is being read.
    pub(crate) fn visit(&mut self, view: View<'_>, read: impl FnOnce(&mut Self) -> Step) -> Step {
        let has_begun = self.state.stack.level < self.state.stack.frames.len();
        if self.reader().attribute_count() == 0 || has_begun || self.is_seeking() {
            return read(self);
        }
        if self.state.expected.shapes.is_unmarked(self.reader().tag_offset()) {
            return read(self);
        }
        let back = self.visit_marked(view)?;
        read(self)?;
        self.come_back(back);
        Ok(())
    }

    fn visit_marked(&mut self, view: View<'_>) -> Step<Option<Return>> {
        if let Element::Open(open) = view.element {
            // The type decides which attributes are references.
            return match open.content_of(self, view)? {
                Some(content) => self.visit_marked(view.follow(content)),
                None => self.visit_in_tree(),
            };
        }
        let marks = marks(self, view);
        match (marks.reference, marks.id, view.element) {
            (.., Element::Shared(_)) => Ok(None),
            (Some(_), _, Element::Any) => self.visit_in_tree(),
            (Some(id), ..) => {
                let id = id.to_owned();
                let target = self.find(&id)?;
                if self.is_being_read(target) {
                    let what = format!("#{id}: the element is within the one that it refers to");
                    return Err(self.error_at_tag(ErrorKind::Reference(what)));
                }
                self.go(target).map(Some)
            }
            (None, Some(_), _) => self.note_id().map(|()| None),
            (None, None, _) => Ok(None),
        }
    }

    /// Like [`visit`](Self::visit), in a tree: references stay as they are if they lead to a
    /// missing element or to one that is being read, and where SOAP encoding is not in force.
    pub(crate) fn visit_in_tree(&mut self) -> Step<Option<Return>> {
        if !self.state.references.is_encoded || self.reader().attribute_count() == 0 {
            return Ok(None);
        }
        let marks = marks_of(self.reader(), |_| true);
        let Some(id) = marks.reference.map(str::to_owned) else {
            return if marks.id.is_some() { self.note_id().map(|()| None) } else { Ok(None) };
        };
        self.wait_for_end()?;
        match self.state.references.index.as_mut().map(|index| index.find(&id)) {
            Some(Ok(target)) if !self.is_being_read(target) => self.go(target).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the standing of the element just opened, for types that can be shared.
    ///
    /// # Errors
    /// See [`visit`](Self::visit).
    pub(crate) fn sharing<T: Send + Sync + 'static>(&mut self, view: View<'_>) -> Step<Sharing<T>> {
        let marks = marks_of(self.reader(), |_| true);
        let Some(id) = marks.reference.or(marks.id).map(str::to_owned) else { return Ok(Sharing::Alone) };
        let is_elsewhere = marks.reference.is_some();
        let target = self.find(&id)?;
        let shared = self.state.references.shared::<T>(target, view);
        // A value that is not set yet is being read: there is a cycle.
        let shared = shared.map(|shared| if shared.get().is_none() { shared.weak() } else { shared.clone() });
        Ok(Sharing::Target { target, is_elsewhere, shared })
    }

    /// Keeps the value of an element with an id while the message is read.
    pub(crate) fn share<T: Send + Sync + 'static>(&mut self, target: usize, view: View<'_>, shared: Shared<T>) {
        self.state.references.share(target, view, shared);
    }

    /// Records that the element just opened has an id: its bytes may be needed.
    fn note_id(&mut self) -> Step {
        let references = &self.state.references;
        if references.first.is_some() || references.index.is_some() || self.is_compared() {
            return Ok(());
        }
        self.drop_policy();
        let State { references, reader, .. } = &mut *self.state;
        references.begin(&self.window, reader.tag_offset(), reader.bookmark());
        Ok(())
    }

    /// Like [`note_id`](Self::note_id), if the element just opened has an id and SOAP encoding is
    /// in force.
    #[inline]
    pub(crate) fn note_if_id(&mut self) -> Step {
        if !self.state.references.is_encoded || self.reader().attribute_count() == 0 {
            return Ok(());
        }
        let has_id = marks_of(self.reader(), |_| true).id.is_some();
        if has_id { self.note_id() } else { Ok(()) }
    }

    /// Declares that SOAP encoding is in force from here on.
    pub(crate) fn set_encoded(&mut self) {
        self.state.references.is_encoded = true;
    }

    /// Handles the start tag of a body's child: it can have an id, and a fault's details can refer
    /// to other elements (faults do not declare that they are encoded).
    pub(crate) fn note_entry(&mut self) -> Step {
        if self.names().local(self.name()) == "Fault" {
            self.set_encoded();
        }
        if self.reader().attribute_count() > 0 && self.has_id() { self.note_id() } else { Ok(()) }
    }

    /// Returns true if the element just opened has an id.
    pub(crate) fn has_id(&self) -> bool {
        marks_of(self.reader(), |_| true).id.is_some()
    }

    /// At the start tag of a skipped element: continues at its end tag if the index has read
    /// everything in between and found no error. Not if the element's text may exceed the limit,
    /// which the index does not check.
    pub(crate) fn pass_over(&mut self) {
        let References { index: Some(index), base, .. } = &self.state.references else { return };
        let Some(start) = self.state.reader.tag_offset().checked_sub(*base) else { return };
        let close = index
            .end_tag_of(start as usize)
            .filter(|close| close.saturating_sub(self.window.pos) <= self.limits().text);
        self.window.pos = close.unwrap_or_default().max(self.window.pos);
    }

    /// Continues only once the message is complete.
    fn wait_for_end(&mut self) -> Step {
        if self.state.references.index.is_some() {
            return Ok(());
        }
        self.leave_differential()?;
        self.note_id()?;
        let bookmark = self.state.reader.bookmark();
        self.state.references.waiting = Some(Box::new((bookmark, self.offset())));
        Err(Stop::Pending)
    }

    /// Returns the element that an id leads to.
    fn find(&mut self, id: &str) -> Step<usize> {
        self.wait_for_end()?;
        let Some(index) = &mut self.state.references.index else {
            return Err(self.unresolved(Unresolved::Unknown, id));
        };
        match index.find(id) {
            Ok(target) => Ok(target),
            Err(reason) => Err(self.unresolved(reason, id)),
        }
    }

    /// Returns the error for a reference; or the error that ended the message, if the element may
    /// have been after that.
    #[cold]
    fn unresolved(&self, reason: Unresolved, id: &str) -> Stop {
        let fault = self.state.references.index.as_ref().and_then(|index| index.fault());
        match fault {
            Some(fault) if reason == Unresolved::Unknown => Stop::Error(fault.clone()),
            _ => self.error_at_tag(reason.kind(id)),
        }
    }

    /// Goes to another element, which replaces the one whose start tag was just read.
    pub(crate) fn go(&mut self, target: usize) -> Step<Return> {
        self.stop_learning();
        self.charge(target)?;
        let (name, depth) = (self.name(), self.reader().depth());
        self.expect_nothing()?;
        let limit = self.limits().bindings_in_scope;
        let place = self.state.references.index.as_ref().map(|index| index.target(target));
        let Some((start, enclosing)) = place.and_then(|it| Some((it.start, it.enclosing.clone()?))) else {
            return Err(self.limit_error("bindings_in_scope", limit));
        };
        let detour = self.state.reader.detour(&enclosing);
        self.state.references.detours.push(ActiveDetour { target, back: self.window.pos, name, depth });
        self.window.pos = start;
        match self.event()? {
            Event::Start => Ok(Return(detour)),
            _ => unreachable!("an element begins with its start tag"),
        }
    }

    /// Returns from the end of the referenced element to the place of the reference.
    pub(crate) fn come_back(&mut self, back: Option<Return>) {
        let Some(Return(detour)) = back else { return };
        self.state.reader.end_detour(detour);
        if let Some(level) = self.state.references.detours.pop() {
            self.window.pos = level.back;
        }
        self.stop_learning();
    }

    /// Counts the bytes read on detours: the limit is `referred` plus the size of the kept bytes.
    fn charge(&mut self, target: usize) -> Step {
        let (all, limit) = (self.window.bytes.len() as u64, self.limits().referred);
        let references = &mut self.state.references;
        let Some(target) = references.index.as_ref().map(|index| index.target(target)) else { return Ok(()) };
        let bytes = target.end.saturating_sub(target.start) as u64;
        let declarations = target.enclosing.as_ref().map_or(0, |it| it.declarations() as u64);
        references.read =
            references.read.saturating_add(bytes + declarations.saturating_sub(DECLARATION) * DECLARATION);
        if references.read > limit.saturating_add(all) {
            return Err(self.error_at_tag(ErrorKind::Limit { name: "referred", limit }));
        }
        Ok(())
    }

    /// Reads the end tag of an element that refers to another. Only white space may stand before
    /// it.
    pub(crate) fn expect_nothing(&mut self) -> Step {
        match self.next_tag()? {
            Tag::Start => {
                Err(self.error_at_tag(ErrorKind::Reference("content in an element that refers to another".to_owned())))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the current position is within the element, on the path that led here.
    fn is_being_read(&self, target: usize) -> bool {
        let references = &self.state.references;
        let Some(index) = &references.index else { return false };
        let target = index.target(target);
        let holds = |position: usize| target.start < position && position < target.end;
        let mut around = 0..usize::MAX;
        let places = references.detours.iter().map(|level| (level.back, Some(level.target)));
        for (position, next) in places.chain([(self.window.pos, None)]) {
            if around.start <= target.start && target.end <= around.end && holds(position) {
                return true;
            }
            if let Some(next) = next {
                let next = index.target(next);
                around = next.start..next.end;
            }
        }
        false
    }

    /// Returns the name of the element just opened, or of the one that referred to it.
    pub(crate) fn accessor_name(&self) -> NameId {
        match self.state.references.detours.last() {
            Some(level) if level.depth == self.reader().depth() => level.name,
            _ => self.name(),
        }
    }

    /// Returns true if an attribute is an id that another copy of the element already has in a
    /// tree: ids stay unique.
    pub(crate) fn is_known_id(&mut self, attribute: usize) -> bool {
        let State { reader, references, .. } = &mut *self.state;
        let (name, text) = reader.attribute(attribute);
        let Some(index) = references.index.as_mut().filter(|_| is_id(reader.names(), name)) else { return false };
        let target = index.with_id(text.trim_ascii());
        target.is_some_and(|target| std::mem::replace(&mut target.is_in_tree, true))
    }
}
