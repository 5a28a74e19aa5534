//! The decoder's own stacks, as checkpoints see them: from the operation on.

use super::{Rare, Stacks};
use crate::Limits;
use crate::decode::simple::TEXT;
use crate::decode::{Cursor, Frame, State};
use crate::schema::Identity;
use deltasoap_xml::{NameId, OpenElement, ScopeId};

/// Most declarations made within the operation, in scope at one place, that a checkpoint keeps.
const BOUND: usize = 64;

/// The state of the frame below an operation's content once fast mode has passed its end.
pub(crate) const PASSED: u8 = 1;

/// What an operation begins with: checkpoints of the message before mean something if it is the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Base {
    /// Level of the frame of the operation's content.
    pub(crate) frames: usize,
    /// Open elements, the operation's own included.
    pub(crate) depth: usize,
    seen: usize,
    declared: usize,
    /// The operation's element.
    open: Option<OpenElement>,
    attributes: Vec<(NameId, String)>,
    inherited: usize,
    trees: Option<ScopeId>,
    /// SOAP encoding is in force: trees follow references.
    is_encoded: bool,
    /// The reader, whose ids these are.
    epoch: (u64, u64),
    schema: Identity,
    limits: Limits,
}

impl Base {
    /// Of the operation whose start tag was just read.
    pub(crate) fn of(cursor: &mut Cursor<'_>, schema: Identity, frames: usize) -> Self {
        let reader = cursor.reader();
        let attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
        let attributes = attributes.map(|(name, text)| (name, text.to_owned())).collect();
        let (depth, epoch) = (reader.depth(), reader.epoch());
        let (open, declared) = (reader.open_elements().last().copied(), reader.declarations_in_scope());
        let state = cursor.state();
        let (seen, inherited, limits) = (state.seen.len(), state.inherited, state.limits);
        let is_encoded = state.references.is_encoded;
        let trees = state.bindings.as_ref().map(|(scope, _)| *scope);
        Base { frames, depth, seen, declared, open, attributes, inherited, trees, is_encoded, epoch, schema, limits }
    }

    /// Open elements in front of the operation's.
    fn outside(&self) -> usize {
        self.depth - 1
    }
}

/// How much of each stack stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Below {
    pub(super) frames: usize,
    pub(super) open: usize,
    pub(super) seen: usize,
}

/// The state, and the place where the routines stand.
#[derive(Debug)]
pub(crate) struct Live<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) base: &'a Base,
    /// Position of the place.
    pub(crate) offset: u64,
}

impl Live<'_> {
    /// Frames from the operation's on.
    pub(crate) fn frames(&self) -> &[Frame] {
        self.state.stack.get(self.base.frames..).unwrap_or_default()
    }

    /// A frame with positions counted backwards.
    pub(super) fn frame(&self, level: usize) -> Option<Frame> {
        let frame = *self.frames().get(level)?;
        let mark = if frame.mark == 0 { 0 } else { self.offset.saturating_sub(frame.mark) + 1 };
        Some(Frame { mark, ..frame })
    }

    /// Frames over an old value.
    pub(super) fn over(&self) -> usize {
        self.state.over.saturating_sub(self.base.frames)
    }

    /// True if the routines can go on from a copy of the stacks.
    pub(super) fn can_be_copied(&self) -> bool {
        self.state.reader.is_between_tokens() && !self.frames().iter().any(|frame| frame.is_opaque)
    }

    /// How many open elements the first `level` frames stand in.
    pub(super) fn open_below(&self, level: usize) -> usize {
        let below = level.checked_sub(1).and_then(|level| self.frames().get(level));
        below.map_or(0, |frame| frame.depth as usize - self.base.outside())
    }

    /// How many words of fields seen are those of the first `level` frames.
    pub(super) fn seen_below(&self, level: usize) -> usize {
        let end = self.frames().get(level).map_or(self.state.seen.len(), |frame| frame.log as usize);
        end - self.base.seen
    }

    /// What lies below a frame that stays: the frame itself may change, and the element that it stands in stays open. Of an element
    /// without children the text that was read so far is counted, which changes too. Frames below may stand in the same element.
    pub(super) fn below(&self, level: usize) -> Below {
        let within = |frame: &Frame| (frame.depth as usize - self.base.outside()) - usize::from(!frame.has_children);
        let open = self.frames().get(level).map_or_else(|| self.open_below(level), within);
        Below { frames: level, open, seen: self.seen_below(level) }
    }

    /// The stacks above.
    pub(super) fn stacks_above(&self, below: Below) -> Option<Stacks> {
        if !self.can_be_copied() {
            return None;
        }
        let (outside, reader) = (self.base.outside() + below.open, &self.state.reader);
        let bound = reader.bound_from(outside, BOUND)?;
        let frames = (below.frames..self.frames().len()).filter_map(|level| self.frame(level)).collect();
        let open = reader.open_elements()[outside..].to_vec();
        let seen = self.state.seen[self.base.seen + below.seen..].to_vec();
        Some(Stacks { frames, open, bound, seen })
    }

    /// The other stacks of the first `level` frames, between two children of the last of them.
    pub(super) fn stacks_below(&self, level: usize) -> Option<Stacks> {
        let (outside, to) = (self.base.outside(), self.base.outside() + self.open_below(level));
        let reader = &self.state.reader;
        let mut bound = reader.bound_from(outside, BOUND)?;
        let above = reader.declarations_above(to);
        bound.truncate(bound.len().checked_sub(above)?);
        let open = reader.open_elements()[outside..to].to_vec();
        let seen = self.state.seen[self.base.seen..self.base.seen + self.seen_below(level)].to_vec();
        Some(Stacks { frames: Vec::new(), open, bound, seen })
    }

    /// Drops what lies above the frame at a level, and replaces that.
    pub(super) fn cut_to(&mut self, level: usize, own: &[Frame], rare: &Rare) {
        let (open, seen) = (self.open_below(level + 1), self.seen_below(level + 1));
        let (state, base) = (&mut *self.state, self.base);
        state.stack.truncate(base.frames + level);
        state.stack.extend_from_slice(own);
        state.seen.truncate(base.seen + seen);
        state.reader.restore(base.outside() + open, &[], &[]);
        state.inherited = rare.inherited;
        state.bindings = rare.bindings.clone();
    }

    /// What seldom differs.
    pub(crate) fn rare(&self) -> Rare {
        let state = &self.state;
        let in_text = self.frames().last().is_some_and(|frame| frame.mark > 0 && frame.state == TEXT);
        let partial = if in_text { state.partial } else { Default::default() };
        Rare { partial, inherited: state.inherited, bindings: state.bindings.clone() }
    }

    /// True if these are the open elements from the operation's on.
    pub(super) fn has_open(&self, open: &[OpenElement]) -> bool {
        self.state.reader.open_elements()[self.base.outside()..] == *open
    }

    /// True if these are the fields seen.
    pub(super) fn has_seen(&self, seen: &[u64]) -> bool {
        self.state.seen[self.base.seen..] == *seen
    }

    /// Puts stacks on top of what stays, and the rest of a state.
    pub(super) fn put(&mut self, below: Below, top: &Stacks, rare: &Rare) {
        let Below { frames: keep, open, seen } = below;
        let (state, base, offset) = (&mut *self.state, self.base, self.offset);
        state.stack.truncate(base.frames + keep);
        let absolute = |frame: &Frame| match frame.mark {
            0 => *frame,
            back => Frame { mark: offset + 1 - back, ..*frame },
        };
        state.stack.extend(top.frames.iter().map(absolute));
        state.seen.truncate(base.seen + seen);
        state.seen.extend_from_slice(&top.seen);
        state.reader.restore(base.outside() + open, &top.open, &top.bound);
        state.partial = rare.partial;
        state.inherited = rare.inherited;
        state.bindings = rare.bindings.clone();
        self.settle();
    }

    /// Makes the frames that there are the ones at work, over the old value.
    pub(super) fn settle(&mut self) {
        let state = &mut *self.state;
        state.over = state.stack.len();
        state.inline = false;
        state.held = None;
        state.attributes_read = false;
    }

    /// Goes to the end of the operation, whose end tag at `tag` was passed over.
    pub(crate) fn close(&mut self, tag: u64, rare: &Rare) {
        let (state, base) = (&mut *self.state, self.base);
        state.stack.truncate(base.frames);
        if let Some(frame) = state.stack.last_mut() {
            frame.state = PASSED;
        }
        state.seen.truncate(base.seen);
        state.over = 0;
        state.reader.restore(base.depth, &[], &[]);
        state.reader.close(tag);
        state.inherited = rare.inherited;
        state.bindings = rare.bindings.clone();
    }
}
