//! The state that a decoder keeps from one window to the next, in parts: each has one owner and
//! documents its own invariants.

use super::array::{Gaps, Next};
use super::differential::leaf::Session;
use super::differential::policy::Hooks;
use super::flat::{Hinting, Learned};
use super::opening::Opening;
use super::predicted::Predicted;
use super::references::References;
use super::tolerance::DeviationLog;
use super::{DecodeOptions, Differential, Frame, Tag};
use crate::Stats;
use crate::node::{SharedNames, Tags};
use crate::schema::Bindings;
use deltasoap_xml::lexical::{Base64, Partial};
use deltasoap_xml::{Instructions, Limits, NameId, Reader, ScopeId};

/// The state that a decoder keeps from one window to the next.
#[derive(Debug)]
pub struct State {
    pub(crate) reader: Reader,
    /// The position of the routines.
    pub(crate) stack: MatchingStack,
    /// The leaf being read.
    pub(crate) text: OpenText,
    /// Data that one routine leaves for the next.
    pub(crate) handover: Handover,
    /// The counts for trees.
    pub(crate) trees: Trees,
    /// The elements that others refer to.
    pub(crate) references: References,
    /// Positions in arrays that were passed over and may still be filled.
    pub(in crate::decode) gaps: Gaps,
    /// The types that the arrays around the current position name for their items: an array's
    /// frame, and the index of the type in the items' schema.
    pub(crate) item_types: Vec<(usize, usize)>,
    /// Markup that was seen before and is expected again.
    pub(crate) expected: Expected,
    /// The lists that were sent, if this message may repeat them.
    pub(in crate::decode) hinting: Option<Hinting>,
    pub(crate) limits: Limits,
    /// True if items of lists are taken out of the value while the message is read.
    pub(crate) is_streamed: bool,
    /// True if a list was left and come back to: several lists grow in turn.
    pub(crate) comes_back: bool,
    /// The deviations from the schema that were accepted.
    pub(crate) tolerated: DeviationLog,
    pub(crate) differential: Differential,
    /// Leaf checkpoints: the comparison with the previous message.
    pub(crate) session: Session,
    /// The active checkpoint policy, if another crate provides it.
    pub(crate) hooks: Hooks,
    pub(crate) stats: Stats,
}

/// The matching stack: the path from the root of the message to the current position, one frame per
/// routine.
#[derive(Debug, Default)]
pub(crate) struct MatchingStack {
    pub(crate) frames: Vec<Frame>,
    /// Number of frames entered since the last re-descent; `level <= frames.len()`.
    pub(crate) level: usize,
    /// Number of frames that are *over an old value*: see
    /// [`Cursor::is_over`](super::Cursor::is_over). At most `frames.len()`.
    pub(crate) over: usize,
    /// Bits of the fields seen, for elements whose fields come in any order: an append-only log.
    /// Each frame stores where its part begins.
    pub(crate) seen: Vec<u64>,
}

/// The leaf being read. Only one is open at a time.
#[derive(Debug, Default)]
pub(crate) struct OpenText {
    /// Its text, if it did not arrive in one piece.
    pub(crate) scratch: String,
    /// The state of a streamed leaf between two pieces.
    pub(crate) partial: Partial,
    /// Bytes of a binary leaf so far.
    pub(crate) binary: Base64,
    /// The declarations of an element whose text is a name: they are out of scope when the text is
    /// complete.
    pub(crate) declarations: Vec<(String, String)>,
}

/// Data that one routine leaves for the one that continues after it. All of it is taken at once:
/// nothing is left between two tokens.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// Set by a parent: the start tag just read belongs to a field, not to the container.
    pub(crate) inline: bool,
    /// Set by the routine for a group, for the routine around it: the tag that ended the group.
    pub(crate) held: Option<Tag>,
    /// Set by the routine for simple content: the attributes of the start tag just read are already
    /// handled.
    pub(crate) attributes_read: bool,
    /// Set by an array: the next routine's array has no element.
    pub(crate) next_in_row: Option<Box<Next>>,
}

/// Counts and bindings of a message's trees so far.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    pub(crate) taken: TreeCounts,
    /// The bindings that trees last took over from the elements around them, and the scope of these
    /// bindings.
    pub(crate) bindings: Option<(ScopeId, Bindings)>,
    /// The bindings of the last tree that was read elsewhere, and the same bindings without a
    /// default namespace from around it.
    pub(crate) hidden: Option<(Bindings, Bindings)>,
}

/// Counts of a message's trees that are limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeCounts {
    /// Bindings taken over from the elements around the trees: [`Limits::inherited_bindings`].
    pub inherited: usize,
    /// Elements, attributes and declarations, in the header or in the body: [`Limits::tree_nodes`].
    pub nodes: usize,
}

/// Markup that was seen before and is expected again. It never decides a result: the general
/// routines read whatever deviates.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Markup of flat items.
    pub(crate) flat: Learned,
    /// Markup of all other elements.
    pub(in crate::decode) shapes: Predicted,
    /// Markup of trees.
    pub(crate) tags: Tags,
    /// Names of trees.
    pub(crate) names: SharedNames,
    /// How the last message began.
    pub(in crate::decode) opening: Opening,
}

/// The state of a routine whose frame stays, on the way to where regular mode continues.
pub(crate) const SEEK: u8 = 8;
/// The state of a routine whose flat items are read again in place.
pub(crate) const PATCH: u8 = 9;

/// Maximum scratch text, in bytes, kept from one message to the next.
const SCRATCH_KEPT: usize = 64 << 10;

impl State {
    /// Creates a state for one message at a time.
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
            tolerated: DeviationLog::new(tolerance),
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

    /// Prepares for another message.
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

    /// Returns the counters so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns what a checkpoint policy requests from the routines.
    pub fn hooks(&mut self) -> &mut Hooks {
        &mut self.hooks
    }

    /// Returns the position that the innermost routine may have to report later: only leaves set
    /// one.
    pub(crate) fn mark(&self) -> Option<u64> {
        self.stack.frames.last().map(|frame| frame.mark).filter(|&mark| mark > 0)
    }

    /// Returns the path of the element being read, as in `/Envelope/Body/sendInts/item[17]`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for level in 0..self.reader.depth() {
            self.push_step(&mut path, level, self.reader.open_name_id(level));
        }
        path
    }

    /// Returns the path of the element that was just closed.
    pub(in crate::decode) fn closed_path(&self) -> String {
        let mut path = self.path();
        self.push_step(&mut path, self.reader.depth(), self.reader.closed_name());
        path
    }

    /// Returns the path of the first `levels` open elements, without their list indices.
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

    /// Returns the occurrence number of the open element at `level` in its parent, if it can be
    /// repeated.
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

    /// Enters a routine inside `depth` open elements. Returns its frame's index, and true if it is
    /// entered for the first time, false if it resumes.
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

    /// Keeps the first `keep` frames.
    pub(in crate::decode) fn cut(&mut self, keep: usize) {
        if let Some(frame) = self.frames.get(keep) {
            self.seen.truncate(frame.log as usize);
        }
        self.frames.truncate(keep);
    }

    /// Returns the fields that a frame's routine has seen, one bit each, if it notes them: only the
    /// first 64.
    pub(crate) fn fields_seen(&self, frame: &Frame) -> Option<u64> {
        self.seen.get(frame.log as usize).copied().filter(|_| frame.notes_fields)
    }

    /// Returns the frame of the caller of the current routine, which has none of its own.
    #[inline]
    pub(crate) fn caller(&self) -> Frame {
        self.frames[self.level - 1]
    }

    /// Returns the index in a list of `len` for the calling routine's next occurrence: after the
    /// others, unless it replaces one of an old value.
    #[inline]
    pub(crate) fn next_place(&self, len: usize) -> usize {
        let caller = self.level - 1;
        if caller < self.over { (self.frames[caller].count as usize).min(len) } else { len }
    }
}

impl Handover {
    /// Drops everything, because the routines continue elsewhere: it was left for routines that do
    /// not continue.
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
