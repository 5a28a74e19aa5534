//! Reads [`predicted`](crate::decode::predicted) children, as long as the prediction holds.

use super::{DecodeFields, Routine};
use crate::decode::flat::Run;
use crate::decode::nil::IsNil;
use crate::decode::predicted::Leaf;
use crate::decode::{State, nil_attribute};
use crate::schema::{Compositor, Element, Field};
use crate::{AnySimple, Typed};
use deltasoap_xml::scan::skip_white;

/// Content that matched the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// A leaf. It has been read.
    Leaf,
    /// Another child. Its start tag has been read; its own routine reads the rest.
    Child,
    /// The end tag of the element, which is complete.
    End,
}

impl Routine<'_, '_, '_> {
    /// Reads predicted leaves, then the start tag of another predicted child or the end tag.
    /// Returns `None` if the prediction fails.
    #[inline]
    pub(super) fn follow<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Option<Followed> {
        if !self.frame().shape.is_some() || self.cursor.is_over(self.me) {
            return None;
        }
        loop {
            match self.follow_one(target) {
                Some(Followed::Leaf) => {}
                other => return other,
            }
        }
    }

    #[inline(always)]
    fn follow_one<T: DecodeFields + ?Sized>(&mut self, target: &mut T) -> Option<Followed> {
        let frame = *self.frame();
        let after = self.after()?;
        let (window, State { reader, expected, limits, stack, .. }) = self.cursor.parts();
        if !reader.is_between_tokens() || reader.depth() >= limits.depth {
            return None;
        }
        let at = match window.bytes.get(window.pos) {
            Some(b'<') => window.pos,
            _ => skip_white(window.bytes, window.pos),
        };
        // The previous field has occurred often enough for another field, or the end, to follow.
        let is_enough = || frame.count == 0 || frame.count >= self.complex.fields[frame.field as usize].min;
        let Some((index, tag, text)) = expected.shapes.find(frame.shape, after, window.bytes, at) else {
            let is_end = expected.shapes.may_end(frame.shape, after) && is_enough() && reader.end_known(window, at);
            return is_end.then_some(Followed::End);
        };
        let field = &self.complex.fields[index];
        let before = if frame.field as usize == index { frame.count } else { 0 };
        let may_follow = match self.complex.compositor {
            Compositor::All => {
                field.is_repeated() || stack.seen[frame.log as usize + index / 64] & (1 << (index % 64)) == 0
            }
            _ if before > 0 => field.max.is_none_or(|max| before < max),
            _ => is_enough(),
        };
        if !may_follow {
            return None;
        }
        let is_list = field.is_repeated() && field.max.is_none() && !field.inline;
        if is_list && before == 0 && expected.flat.has(std::ptr::from_ref(field).addr(), reader.scope(), reader.depth())
        {
            return self.follow_list(target, index);
        }
        if !tag.is_leaf {
            let start = window.pos;
            let is_unmarked = tag.is_unmarked;
            reader.open_known(&tag.known, window, at);
            expected.shapes.open(frame.shape, index, reader.tag_offset(), is_unmarked);
            self.note_predicted(index);
            self.open_selected(target, index, Some(start));
            return Some(Followed::Child);
        }
        let mut leaf = Leaf::new(window.bytes, text, &tag.known, limits.text);
        if target.scan_leaf(index, &mut leaf, self.view.follow(field.element)).is_none() {
            // Text that is cut by the window's end does not count as a miss.
            if window.bytes[text..].contains(&b'<') {
                expected.shapes.miss(frame.shape, index);
            }
            return None;
        }
        let (text_end, end) = (leaf.text_end(), leaf.end);
        reader.pass_known(&tag.known, window, at, end);
        expected.flat.note_leaf(text, text_end);
        self.cursor.note_leaf(index as u32, before + 1);
        let frame = &mut self.cursor.state().stack.frames[self.me];
        (frame.field, frame.count, frame.place) = (index as u32, before + 1, 0);
        frame.is_repeated = field.is_repeated();
        self.note_predicted(index);
        Some(Followed::Leaf)
    }

    /// Reads flat items from the first one on: their markup is known.
    fn follow_list<T: DecodeFields + ?Sized>(&mut self, target: &mut T, index: usize) -> Option<Followed> {
        let before = *self.frame();
        (self.frame().field, self.frame().count, self.frame().is_repeated) = (index as u32, 0, true);
        let field = &self.complex.fields[index];
        let (Run::Items(items) | Run::Short(items)) = target.run(index, self.cursor, field, self.content(index));
        if items == 0 {
            *self.frame() = before;
            return None;
        }
        self.frame().count = items;
        self.note_predicted(index);
        Some(Followed::Leaf)
    }

    fn note_predicted(&mut self, index: usize) {
        if self.notes {
            self.set_seen(index);
        }
    }

    /// Returns the index of the previous field plus one; 0 at the start.
    fn after(&mut self) -> Option<usize> {
        let (current, count) = (self.current(), self.frame().count);
        match (current, count) {
            (0, 0) => Some(0),
            (_, 0) => None,
            _ => Some(current + 1),
        }
    }

    /// Learns the start tag that was just read, and the field that it opens.
    pub(super) fn learn_tag(&mut self, index: usize) {
        let shape = self.frame().shape;
        let after = self.after().filter(|_| shape.is_some() && !self.cursor.is_over(self.me));
        if let Some(after) = after {
            let is_leaf = self.is_leaf(&self.complex.fields[index]) && !self.is_nil(index);
            self.cursor.learn_tag(shape, after, index, self.complex, is_leaf);
        }
    }

    /// Learns that the element can end after the last field.
    pub(super) fn learn_end(&mut self) {
        let shape = self.frame().shape;
        let after = self.after().filter(|_| shape.is_some() && self.complex.compositor == Compositor::Sequence);
        if let Some(after) = after {
            self.cursor.state().expected.shapes.learn_end(shape, after);
        }
    }

    /// Returns true if the tag just read says that a nillable field is nil.
    fn is_nil(&self, index: usize) -> bool {
        self.complex.fields[index].nillable && !matches!(nil_attribute(self.cursor), Ok(IsNil(false)))
    }

    /// Returns true if a field's value depends on its text alone. Unbounded lists of such fields
    /// have their own loop.
    fn is_leaf(&self, field: &Field) -> bool {
        let is_plain = match self.view.follow(field.element).element {
            // For `xs:anySimpleType` the tag names the type.
            Element::Simple(simple) => simple.default.is_none() && simple.name != AnySimple::TYPE_NAME,
            _ => false,
        };
        is_plain && !(field.is_repeated() && field.max.is_none())
    }
}
