//! Children that come as predicted: see [`predicted`](crate::decode::predicted).

use super::{DecodeFields, Routine};
use crate::decode::State;
use crate::decode::predicted::Leaf;
use crate::schema::{Compositor, Element, Field};
use crate::{AnySimple, Typed};
use deltasoap_xml::scan::skip_white;

impl Routine<'_, '_, '_> {
    /// Reads leaves as long as they come as predicted, and opens another child that does. True if there is such a child, whose own
    /// routine is to read it.
    #[inline]
    pub(super) fn follow<T: DecodeFields>(&mut self, target: &mut T) -> bool {
        if !self.frame().shape.is_some() || self.cursor.is_over(self.me) {
            return false;
        }
        while let Some(is_leaf) = self.follow_one(target) {
            if !is_leaf {
                return true;
            }
        }
        false
    }

    /// Reads the next child if it is a leaf, or opens it; `None` if it is none that was predicted. True for a leaf.
    #[inline(always)]
    fn follow_one<T: DecodeFields>(&mut self, target: &mut T) -> Option<bool> {
        let frame = *self.frame();
        let after = self.after()?;
        let (window, State { reader, predicted, session, learned, limits, stack, seen, .. }) = self.cursor.parts();
        if !reader.is_between_tokens() || reader.depth() >= limits.depth {
            return None;
        }
        let at = skip_white(window.bytes, window.pos);
        let (index, tag, text) = predicted.find(frame.shape, after, window.bytes, at)?;
        let field = &self.complex.fields[index];
        let before = if frame.field as usize == index { frame.count } else { 0 };
        let may_follow = match self.complex.compositor {
            Compositor::All => field.is_repeated() || seen[frame.log as usize + index / 64] & (1 << (index % 64)) == 0,
            _ if before > 0 => field.max.is_none_or(|max| before < max),
            _ => frame.count == 0 || frame.count >= self.complex.fields[frame.field as usize].min,
        };
        if !may_follow {
            return None;
        }
        if !tag.is_leaf {
            let start = window.pos;
            reader.open_known(&tag.known, window, at);
            predicted.open(frame.shape, index);
            self.note_predicted(index);
            self.open_selected(target, index, Some(start));
            return Some(false);
        }
        let mut leaf = Leaf::new(window.bytes, text, &tag.known, limits.text);
        if target.scan_leaf(index, &mut leaf, self.view.follow(field.element)).is_none() {
            predicted.miss(frame.shape, index);
            return None;
        }
        let (text_end, end) = (leaf.text_end(), leaf.end);
        reader.pass_known(&tag.known, window, at, end);
        session.recorder.open(reader.tag_offset(), index as u32, before + 1);
        session.recorder.close();
        learned.note_leaf(text, text_end);
        let frame = &mut stack[self.me];
        (frame.field, frame.count, frame.place) = (index as u32, before + 1, 0);
        frame.is_repeated = field.is_repeated();
        self.note_predicted(index);
        Some(true)
    }

    fn note_predicted(&mut self, index: usize) {
        if self.complex.compositor == Compositor::All {
            self.set_seen(index);
        }
    }

    /// The place of the field before, one on; 0 for none.
    fn after(&mut self) -> Option<usize> {
        let (current, count) = (self.current(), self.frame().count);
        match (current, count) {
            (0, 0) => Some(0),
            (_, 0) => None,
            _ => Some(current + 1),
        }
    }

    /// Notes which field the start tag just read opens.
    pub(super) fn learn_tag(&mut self, index: usize) {
        let shape = self.frame().shape;
        let after = self.after().filter(|_| shape.is_some() && !self.cursor.is_over(self.me));
        if let Some(after) = after {
            let is_leaf = self.is_leaf(&self.complex.fields[index]);
            self.cursor.learn_tag(shape, after, index, self.complex, is_leaf);
        }
    }

    /// True if a field's content is text that tells its value. Lists of such have their own loop.
    fn is_leaf(&self, field: &Field) -> bool {
        let is_plain = match self.view.follow(field.element).element {
            // Of any simple type, the tag names the type.
            Element::Simple(simple) => simple.default.is_none() && simple.name != AnySimple::TYPE_NAME,
            _ => false,
        };
        is_plain && !(field.is_repeated() && field.max.is_none())
    }
}
