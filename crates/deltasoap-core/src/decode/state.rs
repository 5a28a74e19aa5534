//! Everything a decoder keeps from one window to the next, in parts: each has one owner and says
//! what holds of it.

use super::array::{Gaps, Next};
use super::differential::leaf::Session;
use super::differential::policy::Hooks;
use super::flat::{Hinting, Learned};
use super::opening::Opening;
use super::predicted::Predicted;
use super::references::References;
use super::tolerance::Tolerated;
use super::{DecodeOptions, Differential, Frame, Tag};
use crate::Stats;
use crate::node::{SharedNames, Tags};
use crate::schema::Bindings;
use deltasoap_xml::lexical::{Base64, Partial};
use deltasoap_xml::{Instructions, Limits, NameId, Reader, ScopeId};

/// Everything a decode keeps from one window to the next.
#[derive(Debug)]
pub struct State {
    pub(crate) reader: Reader,
    /// Where the routines are.
    pub(crate) stack: MatchingStack,
    /// The leaf being read.
    pub(crate) text: OpenText,
    /// What one routine leaves for the next.
    pub(crate) handover: Handover,
    /// What trees have taken.
    pub(crate) trees: Trees,
    /// The elements that others refer to.
    pub(crate) references: References,
    /// Places of arrays that were passed over and may yet be filled.
    pub(in crate::decode) gaps: Gaps,
    /// The types that arrays around the place being read name for their items: an array's frame,
    /// and the type's place in the items' description.
    pub(crate) item_types: Vec<(usize, usize)>,
    /// Markup that was met before and is expected again.
    pub(crate) expected: Expected,
    /// What was sent, if this message may hold the same.
    pub(in crate::decode) hinting: Option<Hinting>,
    pub(crate) limits: Limits,
    /// Items of lists are taken out of the value while the message is read.
    pub(crate) is_streamed: bool,
    /// A list was left and come back to: several grow by turns.
    pub(crate) comes_back: bool,
    /// What was accepted beyond the schema.
    pub(crate) tolerated: Tolerated,
    pub(crate) differential: Differential,
    /// Leaf checkpoints: the comparison with the message before.
    pub(crate) session: Session,
    /// The checkpoint policy at work, if it is one of another crate.
    pub(crate) hooks: Hooks,
    pub(crate) stats: Stats,
}

/// The matching stack: the path from the root of the message to the place being read, a frame a
/// routine.
#[derive(Debug, Default)]
pub(crate) struct MatchingStack {
    pub(crate) frames: Vec<Frame>,
    /// Frames entered since the last re-descent; `level <= frames.len()`.
    pub(crate) level: usize,
    /// Frames of this many levels are *over an old value*: see
    /// [`Cursor::is_over`](super::Cursor::is_over). At most `frames.len()`.
    pub(crate) over: usize,
    /// Bits of fields seen, for elements whose fields come in any order: an append-only log. A
    /// frame tells where its part begins.
    pub(crate) seen: Vec<u64>,
}

/// The leaf being read. One is open at a time.
#[derive(Debug, Default)]
pub(crate) struct OpenText {
    /// Its text, where it did not come in one piece.
    pub(crate) scratch: String,
    /// What a streamed leaf keeps between two pieces.
    pub(crate) partial: Partial,
    /// Bytes of a binary leaf so far.
    pub(crate) binary: Base64,
    /// The declarations of an element whose text is a name: they are out of scope when the text is
    /// whole.
    pub(crate) declarations: Vec<(String, String)>,
}

/// What one routine leaves for the one that goes on after it. All of it is taken at once: nothing
/// is left between two tokens.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// By a parent: the start tag just read is of a field, not of the container.
    pub(crate) inline: bool,
    /// By the routine for a group: the tag that ended it, for the routine around it.
    pub(crate) held: Option<Tag>,
    /// By the routine for simple content: the attributes of the start tag just read are dealt with.
    pub(crate) attributes_read: bool,
    /// By an array: the next routine's array has no element.
    pub(crate) next_in_row: Option<Box<Next>>,
}

/// What a message's trees have taken so far.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    pub(crate) taken: TreeCounts,
    /// The bindings that they took over last from the elements around them, and where.
    pub(crate) bindings: Option<(ScopeId, Bindings)>,
    /// Those of the last tree that was read elsewhere, and the same without a default namespace
    /// from around it.
    pub(crate) hidden: Option<(Bindings, Bindings)>,
}

/// What limits bound of a message's trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeCounts {
    /// Bindings that they took over from the elements around them: [`Limits::inherited_bindings`].
    pub inherited: usize,
    /// Their elements, attributes and declarations, in the header, or in the body:
    /// [`Limits::tree_nodes`].
    pub nodes: usize,
}

/// Markup that was met before and is expected again. It never decides a result: what deviates is
/// read by the general routines.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Of flat items.
    pub(crate) flat: Learned,
    /// Of all other elements.
    pub(in crate::decode) shapes: Predicted,
    /// Of trees.
    pub(crate) tags: Tags,
    /// The names of trees.
    pub(crate) names: SharedNames,
    /// How the last message began.
    pub(in crate::decode) opening: Opening,
}

/// The state of a routine, in a frame that stays, on the way to where regular mode goes on.
pub(crate) const SEEK: u8 = 8;
/// The state of a routine whose flat items are read again in place.
pub(crate) const PATCH: u8 = 9;

/// Bytes of scratch text kept from one message to the next.
const SCRATCH_KEPT: usize = 64 << 10;

impl State {
    /// A state for one message at a time.
    pub fn new(options: DecodeOptions) -> Self {
        let DecodeOptions { limits, tolerance, differential } = options;
        State {
            reader: Reader::new(limits, Instructions::Refuse),
            stack: MatchingStack::default(),
            text: OpenText::default(),
            handover: Handover::default(),
            trees: Trees::default(),
            references: References::default(),
            gaps: Gaps::default(),
            item_types: Vec::new(),
            expected: Expected::default(),
            hinting: None,
            limits,
            is_streamed: false,
            comes_back: false,
            tolerated: Tolerated::new(tolerance),
            differential,
            session: Session::default(),
            hooks: Hooks::default(),
            stats: Stats::default(),
        }
    }

    /// See [`Decoder::without_shortcuts`](super::Decoder::without_shortcuts).
    pub(crate) fn without_shortcuts(&mut self) {
        self.expected.flat.switch_off();
        self.expected.shapes.switch_off();
        self.expected.tags.switch_off();
        self.expected.opening.switch_off();
    }

    /// Makes ready for another message.
    pub(crate) fn reset(&mut self) {
        self.reader.reset();
        self.stack.reset();
        self.text.reset();
        self.handover = Handover::default();
        self.trees = Trees::default();
        self.references.reset();
        self.gaps.clear();
        self.item_types.clear();
        (self.is_streamed, self.comes_back) = (false, false);
        self.tolerated.reset();
        self.expected.reset(&self.reader);
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

    /// The position that the innermost routine may have to name later: only leaves note one.
    pub(crate) fn mark(&self) -> Option<u64> {
        self.stack.frames.last().map(|frame| frame.mark).filter(|&mark| mark > 0)
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
    pub(in crate::decode) fn closed_path(&self) -> String {
        let mut path = self.path();
        self.push_step(&mut path, self.reader.depth(), self.reader.closed_name());
        path
    }

    /// The path of this many of the open elements, without their places in lists.
    pub(in crate::decode) fn names_path(&self, levels: usize) -> String {
        let names = (0..levels).map(|level| self.reader.names().local(self.reader.open_name_id(level)));
        names.flat_map(|name| ["/", name]).collect()
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
        let frame = self.stack.frames.iter().rev().find(|frame| frame.depth as usize == level && frame.count > 0)?;
        frame.is_repeated.then_some(frame.count)
    }
}

impl MatchingStack {
    fn reset(&mut self) {
        self.frames.clear();
        self.seen.clear();
        (self.level, self.over) = (0, 0);
    }

    /// Enters a routine in so many open elements: its frame's index, and whether it is entered for
    /// the first time (else it resumes).
    #[inline]
    pub(in crate::decode) fn enter(&mut self, depth: usize) -> (usize, bool) {
        let index = self.level;
        self.level += 1;
        let is_fresh = index == self.frames.len();
        if is_fresh {
            let log = self.seen.len() as u32;
            self.frames.push(Frame { depth: depth as u32, log, ..Frame::default() });
        }
        (index, is_fresh)
    }

    /// Leaves a routine that is done.
    #[inline]
    pub(in crate::decode) fn leave(&mut self, index: usize) {
        self.seen.truncate(self.frames[index].log as usize);
        self.frames.truncate(index);
        self.level = index;
        self.over = self.over.min(index);
    }

    /// Keeps so many frames.
    pub(in crate::decode) fn cut(&mut self, keep: usize) {
        if let Some(frame) = self.frames.get(keep) {
            self.seen.truncate(frame.log as usize);
        }
        self.frames.truncate(keep);
    }

    /// The fields that a frame's routine has seen, a bit each, if it notes them: the first 64.
    pub(crate) fn fields_seen(&self, frame: &Frame) -> Option<u64> {
        self.seen.get(frame.log as usize).copied().filter(|_| frame.notes_fields)
    }

    /// The frame of the routine that called the one at work, which has none of its own.
    #[inline]
    pub(crate) fn caller(&self) -> Frame {
        self.frames[self.level - 1]
    }

    /// Where in a list of `len` the calling routine's next occurrence goes: after the others,
    /// unless it replaces one of an old value.
    #[inline]
    pub(crate) fn next_place(&self, len: usize) -> usize {
        let caller = self.level - 1;
        if caller < self.over { (self.frames[caller].count as usize).min(len) } else { len }
    }
}

impl Handover {
    /// The routines go on elsewhere: what was left was for those that do not.
    pub(in crate::decode) fn forget(&mut self) {
        (self.inline, self.held, self.attributes_read) = (false, None, false);
    }
}

impl OpenText {
    fn reset(&mut self) {
        self.scratch.clear();
        self.scratch.shrink_to(SCRATCH_KEPT);
        self.binary = Base64::default();
    }
}

impl Expected {
    fn reset(&mut self, reader: &Reader) {
        self.flat.reset(reader.epoch());
        self.shapes.reset(reader.epoch());
        self.names.reset(reader.epoch());
        self.tags.reset(reader.epoch());
    }
}
