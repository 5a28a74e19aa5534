//! Items that were inserted into a list, or removed from it: found by the items after them.
//!
//! When several items in a row differ, the current item is compared with those slightly earlier and
//! later in the old list. If it is one of them, the list is realigned: removed items are cut out of
//! the old value, and room is made for inserted ones. This is for items that the general routines
//! read; flat items are handled in `patch`.

use super::image::Image;
use super::route::Target;
use super::session::Session;
use super::table::{NONE, NodePosition, Table};
use super::template::Template;

/// The search state of the current list.
#[derive(Debug, Default)]
pub(super) struct Shifting {
    /// Consecutive items that differ.
    pub(super) streak: Streak,
    /// The shift of its items that was found.
    pub(super) found: Option<Shift>,
}

/// Consecutive items of a list that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Streak {
    /// The last of them.
    last: u32,
    count: u32,
}

/// The change that aligns a list with the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    /// The place before which items were inserted, or from which on they were removed.
    pub(crate) place: usize,
    /// Number of old items that are gone.
    pub(crate) removed: usize,
    /// Number of new items, to be read.
    pub(crate) inserted: usize,
    /// Number of items in the list afterwards.
    pub(crate) length: usize,
}

/// Number of items in a row that must differ before the first search.
const FIRST: u32 = 3;
/// Minimum distance that is searched.
const REACH: u32 = 8;

impl Streak {
    /// Adds an item that differs. Returns true if it is time to search.
    fn add(&mut self, table: &Table, item: u32) -> bool {
        if self.count > 0 && self.last == item {
            return false;
        }
        let goes_on = self.count > 0 && table.next_in_list(self.last) == Some(item);
        *self = Streak { last: item, count: if goes_on { self.count + 1 } else { 1 } };
        self.count >= FIRST && (self.count / FIRST).is_power_of_two() && self.count.is_multiple_of(FIRST)
    }
}

impl Session {
    /// If the message differs because items were inserted or removed, returns the place of the
    /// first of them.
    pub(super) fn find_shift(&mut self, target: Target, image: &Image) -> Option<(Target, u32)> {
        let (template, place) = (self.old.as_ref()?, target.place?);
        let table = &template.table;
        let item = item_of(table, place.node)?;
        let is_expensive = self.bounds.has_moved_enough(table.nodes.len(), template.end - template.start);
        if !self.shifting.streak.add(table, item) || is_expensive {
            return None;
        }
        let new = u64::from(table.node(item).pos).checked_add_signed(target.by)?;
        if self.has_searched_enough(new) {
            return None;
        }
        let mut search = Search { template, image, new, searched: 0 };
        let found = search.find((self.shifting.streak.count / 2).max(REACH), item);
        self.bounds.charge_search(search.searched);
        let (like, distance) = found?;
        let (parent, at) = (table.node(item).parent, table.node(item).count as usize - 1);
        let (removed, inserted) = if like > item { (distance, 0) } else { (0, distance) };
        let shift = Shift { place: at, removed: removed as usize, inserted: inserted as usize, length: 0 };
        self.shifting = Shifting { found: Some(shift), ..Shifting::default() };
        Some((Target { place: Some(NodePosition::before(item)), new, differs: false, ..target }, parent))
    }

    /// Takes the shift that the current list needs before its next item, together with its field.
    /// Realigns the old table.
    pub(crate) fn take_shift(&mut self) -> Option<(u32, Shift)> {
        let shift = self.shifting.found.take()?;
        let (template, edit) = (self.old.as_mut()?, self.edits.open.as_mut()?);
        let (field, mut from) = (template.table.node(edit.from.node).field, edit.from.node);
        for _ in 0..shift.removed {
            from = template.table.node(from).end;
        }
        edit.scan = NodePosition::before(from);
        let by = shift.inserted as i64 - shift.removed as i64;
        let (moved, length) = template.table.slide(edit.parent, field, from, by);
        self.bounds.charge_slides(moved);
        self.stats.shifted += (shift.inserted + shift.removed) as u64;
        Some((field, Shift { length, ..shift }))
    }
}

/// Returns the innermost list item that is, or contains, a node.
fn item_of(table: &Table, mut index: u32) -> Option<u32> {
    table.nodes.get(index as usize)?;
    loop {
        let node = table.node(index);
        let is_item = node.run == NONE && (node.count > 1 || table.next_in_list(index).is_some());
        if is_item {
            return Some(index);
        }
        index = Some(node.parent).filter(|&parent| parent != NONE)?;
    }
}

/// A search for the old item that is at a position of the message.
struct Search<'s> {
    template: &'s Template,
    image: &'s Image,
    new: u64,
    /// Number of bytes compared.
    searched: u64,
}

impl Search<'_> {
    /// Returns the match nearest to `item`, and its distance in items.
    fn find(&mut self, reach: u32, item: u32) -> Option<(u32, u32)> {
        let table = &self.template.table;
        let (mut later, mut earlier) = (Some(item), Some(item));
        for distance in 1..=reach {
            later = later.and_then(|index| table.next_in_list(index)).filter(|&index| table.node(index).run == NONE);
            earlier =
                earlier.and_then(|index| table.previous_in_list(index)).filter(|&index| table.node(index).run == NONE);
            let mut found = [later, earlier].into_iter().flatten();
            if let Some(like) = found.find(|&index| self.is_like(index)) {
                return Some((like, distance));
            }
        }
        None
    }

    /// Returns true if a whole old item is there, and some of what follows it.
    fn is_like(&mut self, index: u32) -> bool {
        let (template, node) = (self.template, self.template.table.node(index));
        let end = template.table.nodes.get(node.end as usize).map_or(template.end, |next| u64::from(next.pos));
        let old = u64::from(node.pos);
        let equal = template.image().map_or(0, |before| before.equal(old, self.image, self.new));
        self.searched += equal.min(end - old);
        equal > end - old
    }
}
