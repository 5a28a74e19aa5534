//! The decoder's stacks as checkpoints see them: from the operation on.

use super::Hooks;
use crate::Limits;
use crate::decode::simple::TEXT;
use crate::decode::state::{MatchingStack, TreeCounts};
use crate::decode::{Cursor, Frame, State};
use crate::schema::{Bindings, Identity};
use deltasoap_xml::lexical::Partial;
use deltasoap_xml::{Bound, NameId, OpenElement, ScopeId};

/// Maximum number of declarations, made within the operation and in scope at one place, that a
/// checkpoint keeps.
const BOUND: usize = 64;

/// The state of the frame below an operation's content once fast mode has passed its end.
pub(crate) const PASSED: u8 = 1;

/// The state in which an operation begins: checkpoints of the previous message are valid only if it
/// is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// Level of the frame of the operation's content.
    frames: usize,
    /// Number of open elements, including the operation's own.
    depth: usize,
    seen: usize,
    declared: usize,
    /// The operation's element.
    open: Option<OpenElement>,
    attributes: Vec<(NameId, String)>,
    taken: TreeCounts,
    trees: Option<ScopeId>,
    /// True if SOAP encoding is in force: trees follow references.
    is_encoded: bool,
    /// The epoch of the reader in which the ids are valid.
    epoch: (u64, u64),
    schema: Identity,
    limits: Limits,
}

impl Base {
    /// Returns the base of the operation whose start tag was just read.
    pub(crate) fn new(cursor: &mut Cursor<'_>, schema: Identity, frames: usize) -> Self {
        let reader = cursor.reader();
        let attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
        let attributes = attributes.map(|(name, text)| (name, text.to_owned())).collect();
        let (depth, epoch) = (reader.depth(), reader.epoch());
        let (open, declared) = (reader.open_elements().last().copied(), reader.declarations_in_scope());
        let state = cursor.state();
        let (seen, taken, limits) = (state.stack.seen.len(), state.trees.taken, state.limits);
        let is_encoded = state.references.is_encoded;
        let trees = state.trees.bindings.as_ref().map(|(scope, _)| *scope);
        Base { frames, depth, seen, declared, open, attributes, taken, trees, is_encoded, epoch, schema, limits }
    }

    /// Returns the level of the frame of the operation's content.
    pub fn level(&self) -> usize {
        self.frames
    }

    /// Returns the number of open elements around the operation's.
    fn outside(&self) -> usize {
        self.depth - 1
    }
}

/// The part of each stack that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Below {
    /// Number of frames.
    pub frames: usize,
    /// Number of open elements.
    pub open: usize,
    /// Number of words of fields seen.
    pub seen: usize,
}

/// The stacks, or their upper parts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stacks {
    /// The matching stack. Positions in it are counted backwards from the current place, plus one;
    /// 0 is none.
    pub frames: Vec<Frame>,
    /// The open elements.
    pub open: Vec<OpenElement>,
    /// The declarations of these elements.
    pub bound: Vec<Bound>,
    /// The log of fields seen.
    pub seen: Vec<u64>,
}

/// State that seldom differs between two checkpoints of a message.
#[derive(Debug, Clone, Default)]
pub struct Rare {
    /// The partial state of an unfinished text.
    pub partial: Partial,
    /// The counts for trees so far.
    pub trees: TreeCounts,
    /// The bindings that trees last took over, and their scope.
    pub bindings: Option<(ScopeId, Bindings)>,
}

impl Rare {
    /// Returns the scope of the bindings that trees last took over.
    pub fn scope(&self) -> Option<ScopeId> {
        self.bindings.as_ref().map(|(scope, _)| *scope)
    }
}

impl PartialEq for Rare {
    fn eq(&self, other: &Rare) -> bool {
        (self.partial, self.trees, self.scope()) == (other.partial, other.trees, other.scope())
    }
}

/// The state, and the current position of the routines.
#[derive(Debug)]
pub struct Live<'a> {
    state: &'a mut State,
    base: &'a Base,
    offset: u64,
}

impl<'a> Live<'a> {
    /// Creates a view of the state of routines at position `offset`, in the operation that began
    /// with this base.
    pub fn new(base: &'a Base, state: &'a mut State, offset: u64) -> Self {
        Live { state, base, offset }
    }

    /// Returns the state in which the operation began.
    pub fn base(&self) -> &'a Base {
        self.base
    }

    /// Returns the current position.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the requests to the routines.
    pub fn hooks(&mut self) -> &mut Hooks {
        &mut self.state.hooks
    }

    /// Returns what the routines have noted.
    pub fn noted(&self) -> &Hooks {
        &self.state.hooks
    }

    /// Returns the counts for trees so far.
    pub fn trees(&self) -> TreeCounts {
        self.state.trees.taken
    }

    /// Returns the innermost frame.
    pub fn innermost(&mut self) -> Option<&mut Frame> {
        self.state.stack.frames.last_mut()
    }

    /// Returns the fields that the routine at `level` has seen, one bit each, if it notes them.
    pub fn fields_seen(&self, level: usize) -> Option<u64> {
        self.state.stack.fields_seen(self.frames().get(level)?)
    }

    /// Replaces the fields that the innermost routine has seen, if it notes them.
    pub fn set_fields_seen(&mut self, seen: u64) {
        let MatchingStack { frames, seen: log, .. } = &mut self.state.stack;
        if let Some(word) = frames.last().and_then(|frame| log.get_mut(frame.log as usize)) {
            *word = seen;
        }
    }

    /// Returns the level above the innermost frame.
    pub fn top(&self) -> usize {
        self.state.stack.frames.len()
    }

    /// Returns the frames from the operation's on.
    pub fn frames(&self) -> &[Frame] {
        self.state.stack.frames.get(self.base.frames..).unwrap_or_default()
    }

    /// Returns a frame with positions counted backwards.
    pub fn frame(&self, level: usize) -> Option<Frame> {
        let frame = *self.frames().get(level)?;
        let mark = if frame.mark == 0 { 0 } else { self.offset.saturating_sub(frame.mark) + 1 };
        Some(Frame { mark, ..frame })
    }

    /// Returns the number of frames over an old value.
    pub fn over(&self) -> usize {
        self.state.stack.over.saturating_sub(self.base.frames)
    }

    /// Returns true if the routines can continue from a copy of the stacks.
    pub fn can_be_copied(&self) -> bool {
        self.state.reader.is_between_tokens() && !self.frames().iter().any(|frame| frame.is_opaque)
    }

    /// Returns the number of open elements that contain the first `level` frames.
    pub fn open_below(&self, level: usize) -> usize {
        let below = level.checked_sub(1).and_then(|level| self.frames().get(level));
        below.map_or(0, |frame| frame.depth as usize - self.base.outside())
    }

    /// Returns the number of words of fields seen that belong to the first `level` frames.
    pub fn seen_below(&self, level: usize) -> usize {
        let end = self.frames().get(level).map_or(self.state.stack.seen.len(), |frame| frame.log as usize);
        end - self.base.seen
    }

    /// Returns what lies below a frame that stays: the frame itself may change, and its element
    /// stays open. If the element has no children, the element itself is not included, since the
    /// text read so far is counted there and changes too. Frames below may belong to the same
    /// element.
    pub fn below(&self, level: usize) -> Below {
        let within = |frame: &Frame| (frame.depth as usize - self.base.outside()) - usize::from(!frame.has_children);
        let open = self.frames().get(level).map_or_else(|| self.open_below(level), within);
        Below { frames: level, open, seen: self.seen_below(level) }
    }

    /// Returns the stacks above `below`.
    pub fn stacks_above(&self, below: Below) -> Option<Stacks> {
        if !self.can_be_copied() {
            return None;
        }
        let (outside, reader) = (self.base.outside() + below.open, &self.state.reader);
        let bound = reader.bound_from(outside, BOUND)?;
        let frames = (below.frames..self.frames().len()).filter_map(|level| self.frame(level)).collect();
        let open = reader.open_elements()[outside..].to_vec();
        let seen = self.state.stack.seen[self.base.seen + below.seen..].to_vec();
        Some(Stacks { frames, open, bound, seen })
    }

    /// Returns the stacks, without frames, of the first `level` frames, between two children of the
    /// last of them.
    pub fn stacks_below(&self, level: usize) -> Option<Stacks> {
        let (outside, to) = (self.base.outside(), self.base.outside() + self.open_below(level));
        let reader = &self.state.reader;
        let mut bound = reader.bound_from(outside, BOUND)?;
        let above = reader.declarations_above(to);
        bound.truncate(bound.len().checked_sub(above)?);
        let open = reader.open_elements()[outside..to].to_vec();
        let seen = self.state.stack.seen[self.base.seen..self.base.seen + self.seen_below(level)].to_vec();
        Some(Stacks { frames: Vec::new(), open, bound, seen })
    }

    /// Drops what lies above the frame at `level`, and replaces that frame.
    pub fn cut_to(&mut self, level: usize, own: &[Frame], rare: &Rare) {
        let (open, seen) = (self.open_below(level + 1), self.seen_below(level + 1));
        let (state, base) = (&mut *self.state, self.base);
        state.stack.frames.truncate(base.frames + level);
        state.stack.frames.extend_from_slice(own);
        state.stack.seen.truncate(base.seen + seen);
        state.reader.restore(base.outside() + open, &[], &[]);
        state.trees.taken = rare.trees;
        state.trees.bindings = rare.bindings.clone();
    }

    /// Returns the state that seldom differs.
    pub fn rare(&self) -> Rare {
        let state = &self.state;
        let in_text = self.frames().last().is_some_and(|frame| frame.mark > 0 && frame.state == TEXT);
        let partial = if in_text { state.text.partial } else { Default::default() };
        Rare { partial, trees: state.trees.taken, bindings: state.trees.bindings.clone() }
    }

    /// Returns true if these are the open elements and the fields seen above `below`, each in two
    /// consecutive parts.
    pub fn has_above(&self, below: Below, open: [&[OpenElement]; 2], seen: [&[u64]; 2]) -> bool {
        let all_open = self.state.reader.open_elements().get(self.base.outside() + below.open..);
        let all_seen = self.state.stack.seen.get(self.base.seen + below.seen..);
        all_open.is_some_and(|all| is_made_of(all, open)) && all_seen.is_some_and(|all| is_made_of(all, seen))
    }

    /// Puts stacks on top of what stays, and restores the rest of a state.
    pub fn put(&mut self, below: Below, top: &Stacks, rare: &Rare) {
        let Below { frames: keep, open, seen } = below;
        let (state, base, offset) = (&mut *self.state, self.base, self.offset);
        state.stack.frames.truncate(base.frames + keep);
        let absolute = |frame: &Frame| match frame.mark {
            0 => *frame,
            back => Frame { mark: offset + 1 - back, ..*frame },
        };
        state.stack.frames.extend(top.frames.iter().map(absolute));
        state.stack.seen.truncate(base.seen + seen);
        state.stack.seen.extend_from_slice(&top.seen);
        state.reader.restore(base.outside() + open, &top.open, &top.bound);
        state.text.partial = rare.partial;
        state.trees.taken = rare.trees;
        state.trees.bindings = rare.bindings.clone();
        self.settle();
    }

    /// Makes the present frames the active ones, over the old value.
    pub fn settle(&mut self) {
        let state = &mut *self.state;
        state.stack.over = state.stack.frames.len();
        state.handover.forget();
    }

    /// Goes to the end of the operation, whose end tag at `tag` was skipped: the routines must be
    /// called next, and end it.
    pub fn close(&mut self, tag: u64, rare: &Rare) {
        let (state, base) = (&mut *self.state, self.base);
        state.stack.frames.truncate(base.frames);
        if let Some(frame) = state.stack.frames.last_mut() {
            frame.state = PASSED;
        }
        state.stack.seen.truncate(base.seen);
        state.stack.over = 0;
        state.reader.restore(base.depth, &[], &[]);
        state.reader.close(tag);
        state.trees.taken = rare.trees;
        state.trees.bindings = rare.bindings.clone();
    }
}

fn is_made_of<T: PartialEq>(whole: &[T], [first, second]: [&[T]; 2]) -> bool {
    whole.len() == first.len() + second.len() && whole.starts_with(first) && whole.ends_with(second)
}
