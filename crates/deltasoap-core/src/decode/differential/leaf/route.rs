//! From a difference to regular mode: finds the last element before the difference, and the path to
//! it.
//!
//! A place is a path in the old table. The routines are led along it ([`Session::descend`]), each
//! into the element that the next one reads; those on the common part of the last path and this one
//! stay as they are.
//!
//! *Aim* finds the last node or item that begins before the difference. *Seek* leads regular mode
//! there: the frames and the reader's open elements are cut back to where the old path and the new
//! one part. Then each routine asks for its next step ([`Descent`]): into a field and occurrence,
//! by reading the old start tag again (its bytes are in the new message too), or stop here. So a
//! seek costs as many start tags as the paths differ in, usually none.

use super::edits::{OpenEdit, state_before};
use super::image::Image;
use super::protocol::{Descent, Mode, Patched};
use super::session::Session;
use super::table::{NONE, NodePosition};
use crate::decode::state::{SEEK, TreeCounts};
use crate::decode::{State, Step};
use deltasoap_xml::{Stop as XmlStop, Window};

/// Number of bytes joined at first for a start tag that spans two parts of a message.
const SEAM: usize = 512;

/// The path to where regular mode continues.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// Old nodes of the elements of the routines over the old value, outermost first.
    pub(super) path: Vec<u32>,
    /// Levels of the frames of these routines: one more than `path`, for the operation's own.
    pub(super) levels: Vec<u32>,
    /// Number of routines on the path that have continued.
    pub(super) arrived: usize,
    /// Scratch space: a path in reverse order.
    upward: Vec<u32>,
    target: Target,
    /// The start tag at which fast mode was entered, if its array's size differs from the old
    /// one's.
    pub(super) sized: Option<SizedTag>,
}

impl Route {
    pub(super) fn forget(&mut self) {
        self.path.clear();
        self.levels.clear();
        self.sized = None;
    }
}

/// The place where regular mode continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Target {
    pub(super) place: Option<NodePosition>,
    /// Position in the message.
    pub(super) new: u64,
    /// The distance by which the message has moved.
    pub(super) by: i64,
    /// True if the element at the place is known to differ within.
    pub(super) differs: bool,
    /// The difference's position in the old message.
    pub(super) difference: u64,
}

/// A start tag that equals the old one except for an array's size. The length of the size's text
/// may differ, so the distance between the two messages changes there.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizedTag {
    /// Its start in the old message.
    pub(super) old: u64,
    /// The distance by which the message has moved there.
    pub(super) by: i64,
}

impl SizedTag {
    /// Returns a place at an old position, moved by the tag's own distance if it is the tag.
    fn moved(self, target: Target, old: u64) -> Target {
        let is_tag = old == self.old;
        if is_tag { Target { new: old.wrapping_add_signed(self.by), by: self.by, ..target } } else { target }
    }
}

impl Session {
    /// Finds the last place before a difference, and the path to it.
    pub(super) fn aim(&mut self, old: u64, new: u64, image: &Image) -> u64 {
        let by = new as i64 - old as i64;
        self.shifting.found = None;
        let (target, parent) = self.locate(old, by);
        let (target, parent) = self.find_shift(target, image).unwrap_or((target, parent));
        self.route.target = target;
        self.forget_moves(target);
        self.stats.to_regular += 1;
        self.judge(new);
        self.stats.fast_bytes = self.stats.fast_bytes.saturating_sub(new.saturating_sub(target.new));
        let common = self.set_path(parent);
        self.bounds.charge_switch(self.route.path.len());
        self.route.levels.truncate(common + 1);
        self.route.arrived = common;
        self.edits.open = None;
        self.recorder.forget_open();
        self.recorder.is_on = false;
        self.mode = Mode::Seek;
        target.new
    }

    /// Forgets moves after the place where regular mode continues: they will be entered again,
    /// possibly elsewhere.
    fn forget_moves(&mut self, target: Target) {
        let old = target.new.wrapping_add_signed(target.by.wrapping_neg());
        while self.edits.moves.pop_if(|entered| entered.from > old).is_some() {}
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
            return (at(NodePosition::before(table.nodes.len() as u32), template.end, false), NONE);
        }
        let Some(index) = table.find(old) else { return (at(NodePosition::before(0), template.start, false), NONE) };
        let node = table.node(index);
        let Some(run) = table.run_of(index) else {
            let position = u64::from(node.pos);
            let target = at(NodePosition::before(index), position, old > position);
            return (self.route.sized.map_or(target, |sized| sized.moved(target, position)), node.parent);
        };
        let first = run.touched.map_or(0, |touched| touched.items);
        let end = run.position(run.positions.len());
        if old >= end {
            return (at(NodePosition::before(index + 1), end, false), node.parent);
        }
        let item = run.find(first, old);
        (at(NodePosition { node: index, item: item as u32 }, run.position(item), true), node.parent)
    }

    /// Makes the path lead to the children of `parent`. Returns the length of the part that stays.
    fn set_path(&mut self, parent: u32) -> usize {
        let Some(template) = &self.old else { return 0 };
        let mut upward = std::mem::take(&mut self.route.upward);
        upward.clear();
        let mut at = parent;
        while at != NONE {
            upward.push(at);
            at = template.table.node(at).parent;
        }
        let common = upward.iter().rev().zip(&self.route.path).take_while(|(new, old)| new == old).count();
        self.route.path.truncate(common);
        self.route.path.extend(upward.iter().rev().skip(common));
        self.route.upward = upward;
        common.min(self.route.levels.len().saturating_sub(1))
    }

    /// Returns the level of the innermost routine that stays; `None` if all start again.
    pub(crate) fn staying(&self) -> Option<usize> {
        self.route.levels.last().map(|&level| level as usize)
    }

    /// Returns the next step of the routine at a level.
    pub(crate) fn descend(&mut self, level: usize) -> Descent {
        self.route.levels.truncate(self.route.arrived);
        self.route.levels.push(level as u32);
        let Some(template) = &self.old else { unreachable!("seeking without a previous message") };
        if let Some(&index) = self.route.path.get(self.route.arrived) {
            let node = template.table.node(index);
            self.route.arrived += 1;
            return Descent::Into { old: u64::from(node.pos), field: node.field, count: node.count };
        }
        self.arrive()
    }

    fn arrive(&mut self) -> Descent {
        let parent = self.route.path.last().copied().unwrap_or(NONE);
        let (Some(template), Some(place)) = (&mut self.old, self.route.target.place) else {
            unreachable!("seeking without a target")
        };
        self.mode = Mode::Over;
        self.recorder.is_on = !self.bounds.is_hopeless();
        let differing = Some(place).filter(|_| self.route.target.differs);
        let fresh = self.recorder.table.nodes.len() as u32;
        let (field, count) = state_before(template, &self.edits.done, parent, place);
        let run = template.table.nodes.get(place.node as usize).map_or(NONE, |node| node.run);
        let patch = self.route.target.differs && run != NONE && !self.bounds.is_hopeless();
        let difference = self.route.target.difference;
        self.edits.open = Some(OpenEdit { parent, from: place, scan: place, fresh, differing, difference });
        if patch {
            let node = *template.table.node(place.node);
            template.table.runs[run as usize].touch(place.item as usize, self.route.target.by);
            return Descent::Here { field: node.field, count: node.count + place.item, patch };
        }
        Descent::Here { field, count, patch }
    }

    /// Returns the state before the item that could not be read in place: field and count.
    pub(crate) fn give_up_patch(&mut self, item: usize) -> (u32, u32) {
        let (Some(template), Some(edit)) = (&self.old, &mut self.edits.open) else { return (0, 0) };
        let place = NodePosition { node: edit.from.node, item: item as u32 };
        (edit.from, edit.scan, edit.differing) = (place, place, Some(place));
        state_before(template, &self.edits.done, edit.parent, place)
    }

    /// Returns the items to be read in place.
    pub(crate) fn patched(&self) -> Option<Patched> {
        let (template, edit) = (self.old.as_ref()?, self.edits.open.as_ref()?);
        let node = template.table.node(edit.from.node);
        Some(Patched { run: node.run as usize, first: node.count as usize, item: edit.from.item as usize })
    }

    /// Called when items were inserted or removed in the current run: updates the places of those
    /// after it in their list.
    pub(crate) fn slide(&mut self, by: i64) {
        let (Some(template), Some(edit)) = (&mut self.old, &self.edits.open) else { return };
        if by != 0 {
            let (end, parent) = (template.table.node(edit.from.node).end, edit.parent);
            let field = template.table.node(edit.from.node).field;
            self.bounds.charge_slides(template.table.slide(parent, field, end, by).0);
        }
    }

    /// Records that items up to this one were read in place.
    pub(crate) fn patched_to(&mut self, item: usize) {
        if let Some(edit) = &mut self.edits.open {
            edit.from.item = item as u32;
        }
    }
}

impl State {
    /// Goes back to the innermost routine that stays on the way to where regular mode continues.
    pub(in crate::decode) fn go_back(&mut self) {
        let level = self.session.staying();
        self.stack.cut(level.map_or(self.session.origin.level, |level| level + 1));
        self.handover.forget();
        match level {
            Some(level) => {
                let frame = &mut self.stack.frames[level];
                frame.state = SEEK;
                self.stack.over = level + 1;
                self.reader.cut(frame.depth as usize);
            }
            None => {
                self.stack.over = 0;
                if self.session.begins_again() {
                    // Ids are not noted while messages are compared. An item with an id must not be
                    // taken for a known one now.
                    self.expected.flat.clear();
                }
                (self.trees.taken, self.trees.bindings) = (TreeCounts::default(), None);
                // The error may appear only at the operation's end tag: then its element is already
                // closed.
                self.reader.cut(self.session.origin.depth.min(self.reader.depth()));
            }
        }
    }

    /// Reads a start tag of the previous message that also occurs in this one.
    pub(in crate::decode) fn open_old(&mut self, window: &Window<'_>, old: u64) -> Step {
        let State { reader, session, limits, .. } = self;
        let Some(image) = session.old.as_ref().and_then(|template| template.image()) else { return Ok(()) };
        let tag = Window { bytes: image.at(old), pos: 0, base: old, last: false, ..*window };
        if reader.next(&mut Window { ..tag }) != Err(XmlStop::Pending) {
            return Ok(());
        }
        let mut len = SEAM;
        loop {
            let joined = image.read(old, len);
            match reader.next(&mut Window { bytes: &joined, ..tag }) {
                Err(XmlStop::Pending) if joined.len() == len && len < limits.markup => len = len.saturating_mul(8),
                result => return Ok(result.map(|_| ())?),
            }
        }
    }

    /// Rereads the operation's start tag: the reader has moved on to other elements and their
    /// attributes.
    pub(in crate::decode) fn reopen_operation(&mut self, window: &Window<'_>) -> Step {
        let State { reader, session, .. } = self;
        let Some((position, tag)) = session.start_tag() else { return Ok(()) };
        reader.cut(session.origin.depth - 1);
        reader.next(&mut Window { bytes: tag, pos: 0, base: position, last: false, ..*window })?;
        Ok(())
    }
}
