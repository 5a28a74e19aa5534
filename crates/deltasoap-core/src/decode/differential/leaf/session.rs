//! One message, compared with the one before it.
//!
//! Fast mode ends at a difference; regular mode then reads the element around it. [`Progress`] sees to it that this comes to an
//! end, whatever the messages are.

use super::image::Image;
use super::inherited::{Inherited, Taken};
use super::mend::Mending;
use super::merge::{Edit, Move, merge};
use super::progress::Progress;
use super::recorder::Recorder;
use super::shift::{Shift, Streak};
use super::table::{NONE, Place, Touched};
use super::template::{Prologue, Same, Template};
use super::words::{Advance, AnyOrder, Descent, Mode, Patched, StartTag};
use super::work::Work;
use crate::decode::differential::DifferentialStats;
use crate::decode::differential::clock::Clock;
use std::sync::{Arc, OnceLock};

/// What the decoder keeps while it reads an operation.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) mode: Mode,
    pub(crate) recorder: Recorder,
    /// The message before.
    pub(crate) old: Option<Box<Template>>,
    /// Whether comparing may be given up within a message.
    pub(crate) is_adaptive: bool,
    /// How a message that is noted began.
    prologue: Option<Prologue>,
    /// The position behind the operation's start tag.
    start: u64,
    /// Where the message's bytes go when it was read to its end.
    cell: Option<Arc<OnceLock<Image>>>,
    /// The bytes of the message before, whose memory can be used again.
    pub(crate) spare: Option<Image>,
    /// Level of the frame of the operation's content.
    pub(crate) base: usize,
    /// Open elements just behind the operation's start tag.
    pub(crate) depth: usize,
    /// Old nodes of the elements that the routines over the old value stand in, outermost first.
    path: Vec<u32>,
    /// Levels of the frames of these routines: one more than `path`, for the operation's own.
    levels: Vec<u32>,
    /// How many of the routines on the way to `target` have gone on.
    arrived: usize,
    /// Scratch: a path from its end.
    upward: Vec<u32>,
    target: Target,
    /// The start tag that fast mode was entered by, if its array's size differs from the old one's.
    sized: Option<SizedTag>,
    /// The edit being made.
    pub(super) edit: Option<OpenEdit>,
    edits: Vec<Edit>,
    moves: Vec<Move>,
    /// No more ways back to fast mode: the message has ended.
    pub(crate) is_ending: bool,
    /// Whether the rest is read in regular mode and not noted, for too little is equal.
    pub(crate) is_hopeless: bool,
    /// The value is to be made vacant, for the message is read from its start again.
    is_vacated: bool,
    pub(crate) inherited: Inherited,
    pub(crate) clock: Clock,
    /// Items of a list that differ, one after the other.
    pub(super) streak: Streak,
    /// The places that are wrong in the list that regular mode goes on in.
    pub(super) shift: Option<Shift>,
    /// Items that were given another place in their list, each time counted.
    pub(super) slid: usize,
    /// Bytes of items that were moved for it, each time counted.
    pub(super) moved_bytes: u64,
    /// Bytes compared in search of items that were inserted or removed.
    pub(crate) searched: u64,
    work: Work,
    progress: Progress,
    /// Flat items that were moved for others, each time counted.
    pub(crate) moved: usize,
    pub(crate) stats: DifferentialStats,
}

/// Where regular mode goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Target {
    pub(super) place: Option<Place>,
    /// Position in the message.
    pub(super) new: u64,
    /// How far the message has moved.
    pub(super) by: i64,
    /// Whether the element at the place is known to differ within.
    pub(super) differs: bool,
    /// The difference's position in the old message.
    pub(super) difference: u64,
}

/// A start tag that equals the old one except for an array's size. The size's text may have another length, so the distance
/// between the two messages changes there.
#[derive(Debug, Clone, Copy)]
struct SizedTag {
    /// Where it begins in the old message.
    old: u64,
    /// How far the message has moved there.
    by: i64,
}

impl SizedTag {
    /// A place at an old position, moved by its own distance if it is the tag's.
    fn moved(self, target: Target, old: u64) -> Target {
        let is_tag = old == self.old;
        if is_tag { Target { new: old.wrapping_add_signed(self.by), by: self.by, ..target } } else { target }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenEdit {
    pub(super) parent: u32,
    pub(super) from: Place,
    /// The first old place that what is read next can be.
    pub(super) scan: Place,
    fresh: u32,
    /// The place that must be read, for it differs.
    differing: Option<Place>,
    /// Where it differs: a position in the old message.
    difference: u64,
}

/// Bytes of an operation after which it is known whether comparing is worth while.
const JUDGED: u64 = 8 << 10;
/// It is if at least one byte in so many is equal.
const LEAST_EQUAL: u64 = 8;

impl Session {
    /// True while the received bytes are to be kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.mode != Mode::Idle
    }

    /// True from the operation's start on, if its bytes are to be kept.
    pub(crate) fn has_begun(&self) -> bool {
        self.cell.is_some()
    }

    /// The message was read to its end: its bytes go to where the operation's positions are.
    pub(crate) fn keep(&mut self, image: &mut Image) {
        if let Some(cell) = self.cell.take() {
            // Each message has a cell of its own.
            let _ = cell.set(std::mem::take(image));
        }
    }

    /// True while routines are on the way to the place where regular mode goes on.
    #[inline]
    pub(crate) fn is_seeking(&self) -> bool {
        self.mode == Mode::Seek
    }

    pub(crate) fn reset(&mut self) {
        self.mode = Mode::Idle;
        self.recorder.clear();
        self.old = None;
        self.cell = None;
        self.prologue = None;
        self.forget_path();
        self.edit = None;
        self.edits.clear();
        self.moves.clear();
        self.is_ending = false;
        self.is_hopeless = false;
        self.is_vacated = false;
        self.inherited = Inherited::default();
        self.clock = Clock::Off;
        self.streak = Streak::default();
        self.shift = None;
        self.slid = 0;
        self.moved_bytes = 0;
        self.searched = 0;
        self.work = Work::default();
        self.progress = Progress::default();
        self.sized = None;
        self.moved = 0;
        self.stats = DifferentialStats::default();
    }

    fn forget_path(&mut self) {
        self.path.clear();
        self.levels.clear();
    }

    /// Begins to note an operation's elements.
    pub(crate) fn record(&mut self, prologue: Prologue, start: u64) {
        self.mode = Mode::Record;
        self.prologue = Some(prologue);
        self.start = start;
        self.cell = Some(Arc::default());
        self.recorder.is_on = true;
    }

    /// Begins to compare an operation with that of the message before; `new` is the position behind its start tag.
    pub(crate) fn compare(&mut self, old: Box<Template>, new: u64) {
        let from = old.start;
        self.old = Some(old);
        self.start = new;
        self.cell = Some(Arc::default());
        self.stats.compared += 1;
        self.enter_fast(from, new);
    }

    /// Begins to mend the value of the message before; `new` is the position behind the operation's start tag.
    pub(crate) fn mend(&mut self, old: Box<Template>, new: u64) {
        self.old = Some(old);
        self.start = new;
        self.cell = Some(Arc::default());
        self.mode = Mode::Over;
    }

    /// The value has been mended.
    pub(crate) fn mended(&mut self, mending: &Mending) {
        let Some(old) = &self.old else { return };
        self.stats.mended += 1;
        self.stats.compared += 1;
        self.stats.leaves += mending.count() as u64;
        self.stats.fast_bytes += mending.equal() as u64;
        self.moves.extend(mending.moves(old.start, self.start));
    }

    /// The value could not be mended: it is read in regular mode.
    pub(crate) fn give_up_mending(&mut self) {
        if let Some(old) = self.old.take() {
            self.record_anew(old, self.start);
        }
    }

    /// Notes an operation's elements, where it begins as in the message before, which is not needed any more.
    pub(crate) fn record_anew(&mut self, old: Box<Template>, start: u64) {
        self.spare = Arc::into_inner(old.image).and_then(OnceLock::into_inner);
        self.record(old.prologue, start);
    }

    pub(crate) fn enter_fast(&mut self, old: u64, new: u64) {
        self.recorder.is_on = false;
        self.sized = None;
        self.mode = Mode::Fast { old, new };
        debug_assert!(self.moves.last().is_none_or(|last| last.from <= old), "moves in order");
        self.moves.push(Move { from: old, by: new as i64 - old as i64 });
    }

    /// Compares what was received, up to the most bytes that a message may have.
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
        let is_made = self.progress.is_made_at(new + equal);
        debug_assert!(is_made || self.is_ending, "no progress at {}", new + equal);
        if !is_made {
            return Advance::Seek(self.start_again());
        }
        let position = self.aim(at, new + equal, image);
        if self.work.is_beyond(position.saturating_sub(self.start)) {
            return Advance::Seek(self.start_again());
        }
        Advance::Seek(position)
    }

    /// True if no more is to be spent in search of items that were inserted or removed; `new` is how far the message has
    /// been read.
    pub(crate) fn has_searched_enough(&self, new: u64) -> bool {
        self.searched > new.saturating_sub(self.start)
    }

    /// Regular mode goes on among items that it would read very fast.
    pub(crate) fn charge_flat(&mut self) {
        self.work.add_flat();
    }

    /// Bytes of a list's items were moved for others that were inserted or removed.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.moved_bytes = self.moved_bytes.saturating_add(bytes as u64);
    }

    /// Gives up comparing where next to nothing is equal; `new` is how far the message has been read.
    pub(crate) fn judge(&mut self, new: u64) {
        let read = new.saturating_sub(self.start);
        if self.is_adaptive && read >= JUDGED && self.stats.fast_bytes < read / LEAST_EQUAL {
            self.is_hopeless = true;
        }
    }

    /// Bindings that trees which are skipped may have taken over; see [`Inherited`].
    pub(crate) fn inherited_before(&self) -> usize {
        self.old.as_ref().map_or(0, |template| self.inherited.of_skipped(template.inherited))
    }

    /// Gives up comparing; false if the message is not compared.
    pub(crate) fn read_again(&mut self) -> bool {
        let is_compared = self.mode == Mode::Over;
        if is_compared {
            self.mode = Mode::Again;
        }
        is_compared
    }

    /// True while the message is compared with the one before.
    pub(crate) fn is_compared(&self) -> bool {
        self.mode == Mode::Over
    }

    /// The message is to be read to its end and to leave nothing behind.
    pub(crate) fn spoil(&mut self) {
        self.is_hopeless = true;
        self.recorder.is_on = false;
    }

    /// Begins anew, in regular mode and from a vacant value; gives the position behind the operation's start tag.
    fn start_again(&mut self) -> u64 {
        self.recorder.clear();
        self.recorder.is_on = true;
        self.prologue = self.old.take().map(|template| template.prologue);
        self.forget_path();
        self.inherited.forget_trees();
        self.edit = None;
        self.edits.clear();
        self.moves.clear();
        self.stats.fast_bytes = 0;
        self.stats.restarted += 1;
        self.mode = Mode::Record;
        self.is_vacated = true;
        self.start
    }

    /// True if the message is to be read from its start, for it is not compared any more.
    pub(crate) fn begins_again(&self) -> bool {
        self.is_vacated
    }

    /// True once, if the value must be vacant for regular mode.
    pub(crate) fn take_vacated(&mut self) -> bool {
        std::mem::take(&mut self.is_vacated)
    }

    /// The operation's start tag, and its position.
    pub(crate) fn start_tag(&self) -> Option<(u64, &[u8])> {
        let tag = self.prologue.as_ref()?.tag();
        Some((self.start - tag.len() as u64, tag))
    }

    /// Finds the last place in front of a difference, and the path to it.
    fn aim(&mut self, old: u64, new: u64, image: &Image) -> u64 {
        let by = new as i64 - old as i64;
        self.shift = None;
        let (target, parent) = self.locate(old, by);
        let (target, parent) = self.find_shift(target, image).unwrap_or((target, parent));
        self.target = target;
        self.forget_moves(target);
        self.stats.to_regular += 1;
        self.judge(new);
        self.stats.fast_bytes = self.stats.fast_bytes.saturating_sub(new.saturating_sub(target.new));
        let common = self.set_path(parent);
        self.work.add(self.path.len());
        self.levels.truncate(common + 1);
        self.arrived = common;
        self.edit = None;
        self.recorder.forget_open();
        self.recorder.is_on = false;
        self.mode = Mode::Seek;
        target.new
    }

    /// What was entered behind the place where regular mode goes on will be entered again, perhaps elsewhere.
    fn forget_moves(&mut self, target: Target) {
        let old = target.new.wrapping_add_signed(target.by.wrapping_neg());
        while self.moves.pop_if(|entered| entered.from > old).is_some() {}
    }

    fn locate(&self, old: u64, by: i64) -> (Target, u32) {
        let Some(template) = &self.old else { return (Target::default(), NONE) };
        let table = &template.table;
        let at = |place, position: u64, differs| Target {
            place: Some(place),
            new: position.wrapping_add_signed(by),
            by,
            differs,
            difference: old,
        };
        if old >= template.end {
            return (at(Place::before(table.nodes.len() as u32), template.end, false), NONE);
        }
        let Some(index) = table.find(old) else { return (at(Place::before(0), template.start, false), NONE) };
        let node = table.node(index);
        let Some(run) = table.run_of(index) else {
            let position = u64::from(node.pos);
            let target = at(Place::before(index), position, old > position);
            return (self.sized.map_or(target, |sized| sized.moved(target, position)), node.parent);
        };
        let first = run.touched.map_or(0, |touched| touched.items);
        let end = run.position(run.positions.len());
        if old >= end {
            return (at(Place::before(index + 1), end, false), node.parent);
        }
        let item = run.find(first, old);
        (at(Place { node: index, item: item as u32 }, run.position(item), true), node.parent)
    }

    /// Makes the path lead to the children of `parent`; gives how much of it stays.
    fn set_path(&mut self, parent: u32) -> usize {
        let Some(template) = &self.old else { return 0 };
        let mut upward = std::mem::take(&mut self.upward);
        upward.clear();
        let mut at = parent;
        while at != NONE {
            upward.push(at);
            at = template.table.node(at).parent;
        }
        let common = upward.iter().rev().zip(&self.path).take_while(|(new, old)| new == old).count();
        self.path.truncate(common);
        self.path.extend(upward.iter().rev().skip(common));
        self.upward = upward;
        common.min(self.levels.len().saturating_sub(1))
    }

    /// The level of the innermost routine that stays where it is; `None` if all begin anew.
    pub(crate) fn staying(&self) -> Option<usize> {
        self.levels.last().map(|&level| level as usize)
    }

    /// The next step of the routine at a level.
    pub(crate) fn descend(&mut self, level: usize) -> Descent {
        self.levels.truncate(self.arrived);
        self.levels.push(level as u32);
        let Some(template) = &self.old else { unreachable!("a way to go without a message before") };
        if let Some(&index) = self.path.get(self.arrived) {
            let node = template.table.node(index);
            self.arrived += 1;
            return Descent::Into { old: u64::from(node.pos), field: node.field, count: node.count };
        }
        self.arrive()
    }

    fn arrive(&mut self) -> Descent {
        let parent = self.path.last().copied().unwrap_or(NONE);
        let (Some(template), Some(place)) = (&mut self.old, self.target.place) else {
            unreachable!("a way to go without an aim")
        };
        self.mode = Mode::Over;
        self.recorder.is_on = !self.is_hopeless;
        let differing = Some(place).filter(|_| self.target.differs);
        let fresh = self.recorder.table.nodes.len() as u32;
        let (field, count) = state_before(template, &self.edits, parent, place);
        let run = template.table.nodes.get(place.node as usize).map_or(NONE, |node| node.run);
        let patch = self.target.differs && run != NONE && !self.is_hopeless;
        let difference = self.target.difference;
        self.edit = Some(OpenEdit { parent, from: place, scan: place, fresh, differing, difference });
        if patch {
            let node = *template.table.node(place.node);
            template.table.runs[run as usize].touch(place.item as usize, self.target.by);
            return Descent::Here { field: node.field, count: node.count + place.item, patch };
        }
        Descent::Here { field, count, patch }
    }

    /// The state in front of the item that could not be read in place: field and count.
    pub(crate) fn give_up_patch(&mut self, item: usize) -> (u32, u32) {
        let (Some(template), Some(edit)) = (&self.old, &mut self.edit) else { return (0, 0) };
        let place = Place { node: edit.from.node, item: item as u32 };
        (edit.from, edit.scan, edit.differing) = (place, place, Some(place));
        state_before(template, &self.edits, edit.parent, place)
    }

    /// The items to be read in place.
    pub(crate) fn patched(&self) -> Option<Patched> {
        let (template, edit) = (self.old.as_ref()?, self.edit.as_ref()?);
        let node = template.table.node(edit.from.node);
        Some(Patched { run: node.run as usize, first: node.count as usize, item: edit.from.item as usize })
    }

    /// Items were inserted or removed in the run at hand: those behind it in their list have other places.
    pub(crate) fn slide(&mut self, by: i64) {
        let (Some(template), Some(edit)) = (&mut self.old, &self.edit) else { return };
        if by != 0 {
            let (end, parent) = (template.table.node(edit.from.node).end, edit.parent);
            let field = template.table.node(edit.from.node).field;
            self.slid += template.table.slide(parent, field, end, by);
        }
    }

    /// Items up to this one were read in place.
    pub(crate) fn patched_to(&mut self, item: usize) {
        if let Some(edit) = &mut self.edit {
            edit.from.item = item as u32;
        }
    }

    /// Whether the element whose start tag was just read is the one that stood there in the message before, with the same
    /// bytes. If so, fast mode is entered behind the tag. `before` is the state in front of it: field and count.
    pub(crate) fn resync(&mut self, field: u32, count: u32, before: (u32, u32), tag: StartTag<'_>) -> bool {
        if self.is_ending || self.is_hopeless {
            return false;
        }
        self.candidate(field, count).is_some_and(|place| self.resync_at(place, before, tag))
    }

    /// As [`resync`](Self::resync), for an element whose fields come in any order. Gives the fields that the message before has and this
    /// one has not.
    ///
    /// The old children that follow are skipped unread. So the element must be valid with them: no field may come again, and none may
    /// be missing.
    pub(crate) fn resync_in_any_order(
        &mut self,
        field: u32,
        AnyOrder { seen, required }: AnyOrder,
        before: (u32, u32),
        tag: StartTag<'_>,
    ) -> Option<u64> {
        if self.is_ending || self.is_hopeless {
            return None;
        }
        let (template, edit) = (self.old.as_ref()?, self.edit.as_ref()?);
        let mut children = template.table.children(edit.parent, edit.from.node);
        let mut replaced = 0;
        let place = children.find(|&child| {
            let at = template.table.node(child).field;
            replaced |= if at == field { 0 } else { 1 << at };
            at == field
        })?;
        let rest = children.fold(0, |rest, child| rest | 1 << template.table.node(child).field);
        let gone = replaced & !(seen | rest);
        let is_valid = rest & seen == 0 && gone & required == 0;
        (is_valid && self.resync_at(Place::before(place), before, tag)).then_some(gone)
    }

    /// The fields that were passed on the way to where regular mode goes on, a bit each: in the message being read, in the element
    /// that [`descend`](Self::descend) has led into last.
    pub(crate) fn fields_passed(&self) -> u64 {
        let Some(template) = &self.old else { return 0 };
        let table = &template.table;
        let (parent, place, own) = match (self.is_seeking(), &self.edit) {
            (false, Some(edit)) => (edit.parent, edit.from.node, 0),
            _ => {
                let child = self.path[self.arrived - 1];
                (table.node(child).parent, child, 1 << table.node(child).field)
            }
        };
        let (mut at, mut fields) = (table.first_child(parent), own);
        let keep = |from: u32, to: u32| {
            let kept = table.children(parent, from).take_while(|&child| child < to);
            kept.fold(0, |fields, child| fields | 1 << table.node(child).field)
        };
        // Edits come in the order of the document: those before the element need no look.
        let first = if parent == NONE { 0 } else { self.edits.partition_point(|edit| edit.from.node <= parent) };
        for edit in self.edits[first..].iter().filter(|edit| edit.parent == parent) {
            fields |= keep(at, edit.from.node);
            let fresh = &self.recorder.table.nodes[edit.fresh.0 as usize..edit.fresh.1 as usize];
            let fresh = fresh.iter().filter(|node| node.parent == NONE);
            fields |= fresh.fold(0, |fields, node| fields | 1 << node.field);
            at = edit.to.node;
        }
        fields | keep(at, place)
    }

    /// Enters fast mode if the element at an old place begins with the start tag that was just read.
    fn resync_at(&mut self, place: Place, before: (u32, u32), tag: StartTag<'_>) -> bool {
        let (Some(template), Some(edit)) = (&mut self.old, &self.edit) else { return false };
        let Some(Same { old, len, is_exact }) = template.compare(place, tag) else { return false };
        // Where only an array's size differs, what follows does not.
        if edit.differing == Some(place) && (is_exact || edit.difference >= old + len as u64) {
            return false;
        }
        let edit = *edit;
        self.close_edit(edit, place, before);
        if let Some(template) = &mut self.old {
            template.touch(place, tag.position as i64 - old as i64);
        }
        self.stats.to_fast += 1;
        self.enter_fast(old, tag.position);
        if !is_exact {
            self.enter_fast(old + len as u64, tag.position + tag.len as u64);
            self.sized = Some(SizedTag { old, by: tag.position as i64 - old as i64 });
        }
        self.mode = Mode::Fast { old: old + len as u64, new: tag.position + tag.len as u64 };
        self.stats.fast_bytes += tag.len as u64;
        true
    }

    /// True if not all old children of the element being read were passed.
    pub(crate) fn can_resync(&self) -> bool {
        let (Some(template), Some(edit)) = (&self.old, &self.edit) else { return false };
        !self.is_ending && !self.is_hopeless && edit.scan.node < template.table.end_of(edit.parent)
    }

    /// The old place with a field and an occurrence, among those not passed yet.
    fn candidate(&mut self, field: u32, count: u32) -> Option<Place> {
        let (template, edit) = (self.old.as_ref()?, self.edit.as_mut()?);
        let end = template.table.end_of(edit.parent);
        while edit.scan.node < end {
            let node = template.table.node(edit.scan.node);
            let (first, last) = match template.table.run_of(edit.scan.node) {
                Some(run) => (node.count + 1, node.count + run.positions.len() as u32),
                None => (node.count, node.count),
            };
            if node.field > field || (node.field == field && first > count) {
                return None;
            }
            if node.field == field && count <= last {
                let item = if node.run == NONE { 0 } else { count - first };
                return Some(Place { node: edit.scan.node, item }).filter(|place| *place >= edit.from);
            }
            edit.scan = Place::before(node.end);
        }
        None
    }

    fn close_edit(&mut self, edit: OpenEdit, to: Place, state: (u32, u32)) {
        let fresh = (edit.fresh, self.recorder.table.nodes.len() as u32);
        self.edit = None;
        if edit.from != to || fresh.0 != fresh.1 {
            self.edits.push(Edit { parent: edit.parent, from: edit.from, to, fresh, state });
        }
    }

    /// A routine over the old value has come to the end of its element.
    pub(crate) fn leave(&mut self) {
        let (Some(edit), Some(template)) = (self.edit, &self.old) else { return };
        let Some(left) = self.path.pop() else { return };
        self.levels.pop();
        self.shift = None;
        let (end, parent) = (template.table.end_of(left), template.table.node(left).parent);
        self.close_edit(edit, Place::before(end), (0, 0));
        let (from, fresh) = (Place::before(end), self.recorder.table.nodes.len() as u32);
        self.edit = Some(OpenEdit { parent, from, scan: from, fresh, differing: None, difference: 0 });
    }

    /// Ends the operation, whose end tag is at a position: what the next message is compared with.
    pub(crate) fn finish(&mut self, end: u64, inherited: usize) -> Option<Box<Template>> {
        let sum = inherited.saturating_sub(self.inherited.before).saturating_add(self.inherited_before());
        let most = self.old.as_ref().map_or(0, |template| template.inherited.most).max(self.inherited.most);
        let inherited = Taken { sum, most };
        let mode = std::mem::take(&mut self.mode);
        self.stats.regular_bytes += (end - self.start).saturating_sub(self.stats.fast_bytes);
        if let Some(edit) = self.edit
            && let Some(template) = &self.old
        {
            let end = Place::before(template.table.nodes.len() as u32);
            self.close_edit(edit, end, (0, 0));
        }
        let fresh = std::mem::take(&mut self.recorder.table);
        self.stats.checkpoints += fresh.positions() as u64 + self.stats.leaves;
        if self.is_hopeless || self.recorder.has_overflown || end >= u64::from(NONE) {
            return None;
        }
        let (image, start) = (Arc::clone(self.cell.as_ref()?), self.start);
        if mode == Mode::Record {
            let prologue = self.prologue.take()?;
            return Some(Box::new(Template { table: fresh, image, prologue, start, end, inherited }));
        }
        let mut template = self.old.take().filter(|_| mode == Mode::Over)?;
        template.table = merge(std::mem::take(&mut template.table), fresh, &self.edits, &self.moves);
        let before = std::mem::replace(&mut template.image, image);
        self.spare = Arc::into_inner(before).and_then(OnceLock::into_inner);
        (template.start, template.end) = (start, end);
        template.inherited = inherited;
        Some(template)
    }
}

/// Field and count of the routine for `parent` in front of a place among its children: in the message being read, so that
/// what was read right before it counts.
fn state_before(template: &Template, edits: &[Edit], parent: u32, place: Place) -> (u32, u32) {
    match edits.last() {
        Some(edit) if edit.to == place && edit.parent == parent => edit.state,
        _ => template.table.state_before(parent, place),
    }
}

impl super::table::Run {
    /// From an item on, fast mode has entered the run, `by` bytes further on than in the old message.
    pub(crate) fn touch(&mut self, item: usize, by: i64) {
        let by = by as u32;
        let touched = match self.touched {
            None => Touched { base: self.base.wrapping_add(by), items: item, shift: 0 },
            Some(Touched { base, items, shift }) => {
                if shift != 0 && items < item {
                    self.positions[items..item]
                        .iter_mut()
                        .for_each(|position| *position = position.wrapping_add(shift));
                }
                Touched { base, items: item, shift: self.base.wrapping_add(by).wrapping_sub(base) }
            }
        };
        self.touched = Some(touched);
    }
}
