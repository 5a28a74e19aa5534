//! The comparison of one message with the previous one, from the operation's start tag to its end
//! tag.
//!
//! Fast mode ends at a difference ([`Session::advance`]); regular mode then reads the element
//! around it (`route`), until an element equals an old one again (`resync`). [`Bounds`] ensures
//! that this terminates for any messages.

use super::bounds::Bounds;
use super::edits::Edits;
use super::image::Image;
use super::mend::Mending;
use super::merge::{Move, merge};
use super::protocol::{Advance, Mode};
use super::recorder::Recorder;
use super::route::Route;
use super::shift::Shifting;
use super::table::{NONE, NodePosition, Table};
use super::template::{Prologue, Template};
use super::trees::TreeCounter;
use crate::decode::differential::DifferentialStats;
use crate::decode::differential::clock::Clock;
use crate::decode::state::TreeCounts;
use std::sync::{Arc, OnceLock};

/// The state that the decoder keeps while it reads an operation.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) mode: Mode,
    pub(crate) recorder: Recorder,
    /// The previous message.
    pub(crate) old: Option<Box<Template>>,
    /// The start of the operation.
    pub(super) origin: Origin,
    /// The path to where regular mode continues.
    pub(super) route: Route,
    /// The elements that were reread.
    pub(super) edits: Edits,
    /// The search for a shift of the current list.
    pub(super) shifting: Shifting,
    /// Number of items of the current list, if flat ones were inserted or removed when it was last
    /// patched.
    pub(crate) resized: Option<usize>,
    /// The cost of the comparison.
    pub(crate) bounds: Bounds,
    /// The counts for trees.
    pub(crate) trees: TreeCounter,
    pub(crate) clock: Clock,
    /// The bytes of the previous message, whose memory can be reused.
    pub(crate) spare: Option<Image>,
    /// True if fast mode is not entered again, because the message has ended.
    pub(crate) is_ending: bool,
    /// True if the message may only be compared as a whole; see [`Template::is_whole`].
    is_whole: bool,
    /// True if nothing of the message may be compared.
    is_barred: bool,
    /// True if the value must be made vacant, because the message is reread from its start.
    is_vacated: bool,
    pub(crate) stats: DifferentialStats,
}

/// The start of an operation, in the message and on the stacks.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// The prologue of a message that is noted.
    prologue: Option<Prologue>,
    /// The position after the operation's start tag.
    pub(super) start: u64,
    /// Receives the message's bytes when it was read to its end; set from the operation's start on.
    cell: Option<Arc<OnceLock<Image>>>,
    /// Level of the frame of the operation's content.
    pub(super) level: usize,
    /// Number of open elements, including the operation's own.
    pub(super) depth: usize,
}

impl Session {
    /// Returns true while the received bytes must be kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.mode != Mode::Idle
    }

    /// Returns true from the operation's start on, if its bytes must be kept.
    pub(crate) fn has_begun(&self) -> bool {
        self.origin.cell.is_some()
    }

    /// Called when the message was read to its end: stores its bytes together with the operation's
    /// positions.
    pub(crate) fn keep(&mut self, image: &mut Image) {
        if let Some(cell) = self.origin.cell.take() {
            // Each message has its own cell.
            let _ = cell.set(std::mem::take(image));
        }
    }

    /// Returns true while routines are on the way to the place where regular mode continues.
    #[inline]
    pub(crate) fn is_seeking(&self) -> bool {
        self.mode == Mode::Seek
    }

    pub(crate) fn reset(&mut self) {
        self.mode = Mode::Idle;
        self.recorder.clear();
        self.old = None;
        self.origin = Origin::default();
        self.route.forget();
        self.edits.clear();
        self.shifting = Shifting::default();
        self.resized = None;
        self.bounds = Bounds::default();
        self.trees = TreeCounter::default();
        self.clock = Clock::Off;
        (self.is_ending, self.is_whole, self.is_barred, self.is_vacated) = (false, false, false, false);
        self.stats = DifferentialStats::default();
    }

    /// Starts recording an operation's elements.
    pub(crate) fn record(&mut self, prologue: Prologue, start: u64) {
        self.mode = Mode::Record;
        self.origin.prologue = Some(prologue);
        self.origin.start = start;
        self.origin.cell = Some(Arc::default());
        self.recorder.is_on = true;
    }

    /// Starts comparing an operation with that of the previous message; `new` is the position after
    /// its start tag.
    pub(crate) fn compare(&mut self, old: Box<Template>, new: u64, is_adaptive: bool) {
        let from = old.start;
        self.bounds = Bounds::new(is_adaptive, old.end - old.start);
        self.old = Some(old);
        self.origin.start = new;
        self.origin.cell = Some(Arc::default());
        self.stats.compared += 1;
        self.enter_fast(from, new);
    }

    /// Starts mending the value of the previous message; `new` is the position after the
    /// operation's start tag.
    pub(crate) fn mend(&mut self, old: Box<Template>, new: u64) {
        self.old = Some(old);
        self.origin.start = new;
        self.origin.cell = Some(Arc::default());
        self.mode = Mode::Over;
    }

    /// Called when the value has been mended.
    pub(crate) fn mended(&mut self, mending: &Mending) {
        let Some(old) = &self.old else { return };
        self.stats.mended += u64::from(!old.is_whole);
        self.stats.compared += 1;
        self.stats.leaves += mending.count() as u64;
        self.stats.fast_bytes += mending.equal() as u64;
        self.edits.moves.extend(mending.moves(old.start, self.origin.start));
    }

    /// Called when the value could not be mended: it is read in regular mode.
    pub(crate) fn give_up_mending(&mut self) {
        if let Some(old) = self.old.take() {
            self.record_anew(old, self.origin.start);
        }
    }

    /// Records an operation that begins as in the previous message, which is no longer needed.
    pub(crate) fn record_anew(&mut self, old: Box<Template>, start: u64) {
        self.spare = Arc::into_inner(old.image).and_then(OnceLock::into_inner);
        self.record(old.prologue, start);
    }

    pub(crate) fn enter_fast(&mut self, old: u64, new: u64) {
        self.recorder.is_on = false;
        self.route.sized = None;
        self.mode = Mode::Fast { old, new };
        debug_assert!(self.edits.moves.last().is_none_or(|last| last.from <= old), "moves are not in order");
        self.edits.moves.push(Move { from: old, by: new as i64 - old as i64 });
    }

    /// Compares the received bytes, up to the maximum length of a message.
    pub(crate) fn advance(&mut self, image: &Image, most: u64) -> Advance {
        if self.mode == Mode::Again {
            return Advance::Seek(self.start_again());
        }
        let Mode::Fast { old, new } = self.mode else { return Advance::Wait };
        let Some(template) = &self.old else { return Advance::Wait };
        let Some(before) = template.image() else { return Advance::Wait };
        let equal = before.equal(old, image, new).min(template.end.saturating_sub(old)).min(most.saturating_sub(new));
        let at = old + equal;
        self.stats.fast_bytes += equal;
        self.mode = Mode::Fast { old: at, new: new + equal };
        if at < template.end && new + equal == image.end() && !self.is_ending {
            return Advance::Wait;
        }
        // White space that is cut by a chunk's end can be taken for that of another place until the
        // rest arrives.
        if !self.bounds.is_progress(new + equal) {
            return Advance::Seek(self.start_again());
        }
        let position = self.aim(at, new + equal, image);
        if self.bounds.is_expensive(position.saturating_sub(self.origin.start)) {
            return Advance::Seek(self.start_again());
        }
        Advance::Seek(position)
    }

    /// Gives up comparing if almost nothing is equal; `new` is the position up to which the message
    /// has been read.
    pub(crate) fn judge(&mut self, new: u64) {
        self.bounds.judge(new.saturating_sub(self.origin.start), self.stats.fast_bytes);
    }

    /// Returns true if no more may be spent in search of items that were inserted or removed; `new`
    /// is the position up to which the message has been read.
    pub(crate) fn has_searched_enough(&self, new: u64) -> bool {
        self.bounds.has_searched_enough(new.saturating_sub(self.origin.start))
    }

    /// Returns an upper bound of the counts for trees that are skipped; see [`TreeCounter`].
    pub(crate) fn skipped_tree_counts(&self) -> TreeCounts {
        self.old.as_ref().map_or_else(TreeCounts::default, |template| self.trees.skipped_counts(template.trees))
    }

    /// Gives up comparing. Returns false if the message is not compared.
    pub(crate) fn read_again(&mut self) -> bool {
        let is_compared = matches!(self.mode, Mode::Over | Mode::Fast { .. });
        if is_compared {
            self.mode = Mode::Again;
        }
        is_compared
    }

    /// Returns true while the message is compared with the previous one.
    pub(crate) fn is_compared(&self) -> bool {
        self.mode == Mode::Over
    }

    /// Prevents comparison of anything from here on.
    pub(crate) fn bar(&mut self) {
        self.is_barred = true;
    }

    pub(crate) fn is_barred(&self) -> bool {
        self.is_barred
    }

    /// Allows the next message to be compared with this one only as a whole.
    pub(crate) fn keep_whole(&mut self) {
        self.is_whole = true;
        self.recorder.is_on = false;
    }

    /// Starts again, in regular mode and from a vacant value. Returns the position after the
    /// operation's start tag.
    fn start_again(&mut self) -> u64 {
        self.recorder.clear();
        self.recorder.is_on = true;
        self.origin.prologue = self.old.take().map(|template| template.prologue);
        self.route.forget();
        self.trees.forget();
        self.edits.clear();
        self.stats.fast_bytes = 0;
        self.stats.restarted += 1;
        self.mode = Mode::Record;
        self.is_vacated = true;
        self.origin.start
    }

    /// Returns true if the message must be reread from its start, because it is no longer compared.
    pub(crate) fn begins_again(&self) -> bool {
        self.is_vacated
    }

    /// Returns true once, if the value must be vacant for regular mode.
    pub(crate) fn take_vacated(&mut self) -> bool {
        std::mem::take(&mut self.is_vacated)
    }

    /// Returns the operation's start tag, and its position.
    pub(crate) fn start_tag(&self) -> Option<(u64, &[u8])> {
        let tag = self.origin.prologue.as_ref()?.tag();
        Some((self.origin.start - tag.len() as u64, tag))
    }

    /// Ends the operation, whose end tag is at `end`. Returns the template for the next message.
    pub(crate) fn finish(&mut self, end: u64, trees: TreeCounts) -> Option<Box<Template>> {
        let trees = self.trees.finish(trees, self.old.as_ref().map(|template| template.trees));
        let mode = std::mem::take(&mut self.mode);
        self.stats.regular_bytes += (end - self.origin.start).saturating_sub(self.stats.fast_bytes);
        if let Some(edit) = self.edits.open
            && let Some(template) = &self.old
        {
            let end = NodePosition::before(template.table.nodes.len() as u32);
            self.close_edit(edit, end, (0, 0));
        }
        let fresh = std::mem::take(&mut self.recorder.table);
        self.stats.checkpoints += fresh.positions() as u64 + self.stats.leaves;
        if self.bounds.is_hopeless() || self.recorder.has_overflown || end >= u64::from(NONE) {
            return None;
        }
        let (image, start) = (Arc::clone(self.origin.cell.as_ref()?), self.origin.start);
        if mode == Mode::Record {
            let prologue = self.origin.prologue.take()?;
            let table = if self.is_whole { Table::default() } else { fresh };
            let is_whole = self.is_whole;
            return Some(Box::new(Template { table, image, prologue, start, end, trees, is_whole }));
        }
        let mut template = self.old.take().filter(|_| mode == Mode::Over)?;
        template.table = merge(std::mem::take(&mut template.table), fresh, &self.edits.done, &self.edits.moves);
        let before = std::mem::replace(&mut template.image, image);
        self.spare = Arc::into_inner(before).and_then(OnceLock::into_inner);
        (template.start, template.end) = (start, end);
        template.trees = trees;
        Some(template)
    }

    /// Records a leaf that was read as a whole.
    #[inline]
    pub(crate) fn note_leaf(&mut self, position: u64, field: u32, count: u32) {
        self.recorder.open(position, field, count);
        self.recorder.close();
    }
}
