//! Flat items of a message that differs slightly from the previous one: reread in place.
//!
//! ```text
//! read the item that differs over its old value
//! loop:
//!     compare what follows with the old message
//!     the item in which they differ: move the positions of those skipped, read it over its old value
//! at the end of the items, or of the window: back to fast mode
//! ```
//!
//! The cost of a change does not depend on where it is, and runs of changed items are read as fast
//! as in regular mode: the markup is that of the run.
//!
//! After 8, 64, 512, ... items in a row that differ, the current item is looked for among the old
//! ones nearby. If it is one of them, items were inserted or removed: the value and the positions
//! are realigned, which moves the rest once.

use super::{Image, Patched, Run, Session, Touched};
use crate::decode::Cursor;
use crate::decode::flat::{CARRY, FlatItems, FlatScan, Known};
use crate::schema::View;
use deltasoap_xml::Window;
use deltasoap_xml::scan::{first_mismatch, skip_white};
use std::sync::Arc;

/// The result of rereading flat items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patch {
    /// Fast mode continues.
    Fast,
    /// The window ends within an item.
    Short,
    /// The content here is not an item like the others: the general routines continue, with this
    /// progress.
    Other {
        /// The field being read.
        field: u32,
        /// Its occurrences so far.
        count: u32,
    },
}

/// Rereads the items that differ from the previous message.
pub(crate) fn patch<L: FlatItems>(items: &mut L, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
    if L::COMPACT {
        return Patch::Other { field: 0, count: 0 };
    }
    let (window, state) = cursor.parts();
    let text_limit = state.limits.text;
    let session = &mut state.session;
    let (Some(Patched { run, first, item }), Some(mut template)) = (session.patched(), session.old.take()) else {
        return Patch::Other { field: 0, count: 0 };
    };
    let mut slid = 0;
    let (outcome, item) = match (template.image.get(), template.table.runs.get_mut(run)) {
        (Some(image), Some(run)) => {
            let known = Arc::clone(&run.known);
            let mut patching = Patching::new((window, session), &known, image, run, text_limit, (first, item));
            let outcome = patching.run(items, view);
            patching.take_back(items, view);
            slid = patching.inserted - patching.removed;
            patching.conclude();
            (outcome, patching.item)
        }
        _ => (Outcome::Other, item),
    };
    session.old = Some(template);
    session.slide(slid);
    session.resized = (slid != 0).then_some(items.len());
    match outcome {
        Outcome::Fast { old, new } => {
            session.enter_fast(old, new);
            Patch::Fast
        }
        Outcome::Short => {
            session.patched_to(item);
            Patch::Short
        }
        Outcome::Other => {
            let (field, count) = session.give_up_patch(item);
            Patch::Other { field, count }
        }
    }
}

enum Outcome {
    Fast { old: u64, new: u64 },
    Short,
    Other,
}

struct Patching<'p, 'w> {
    window: &'p mut Window<'w>,
    session: &'p mut Session,
    known: &'p Known,
    image: &'p Image,
    /// The image's part that was used last, and its start.
    part: &'p [u8],
    part_start: u64,
    run: &'p mut Run,
    text_limit: usize,
    /// Index of the run's first item in its list.
    first: usize,
    /// The item to be read next.
    item: usize,
    /// The base of new positions.
    base: u32,
    /// The distance of items from their old position, in addition to the difference of `base`.
    shift: u32,
    /// Number of items read.
    read: u64,
    /// Number of bytes skipped.
    skipped: u64,
    /// Number of items that must be read even if they are equal.
    forced: usize,
    /// Old start positions of the items read since the last one that was skipped.
    before: Vec<u32>,
    inserted: i64,
    removed: i64,
}

/// Number of items in a row that must differ before it is checked whether comparing is worthwhile.
const HOPELESS: usize = 512;

/// Returns true after 8, 64, 512, ... items in a row that differ: then the message is searched for
/// items that were inserted or removed.
#[inline(always)]
fn is_probe(count: usize) -> bool {
    count.is_power_of_two() && count.trailing_zeros().is_multiple_of(3) && count > 1
}

/// Number of bytes that are compared at once, first of all.
const FIRST: usize = 16;

impl<'p, 'w> Patching<'p, 'w> {
    fn new(
        (window, session): (&'p mut Window<'w>, &'p mut Session),
        known: &'p Known,
        image: &'p Image,
        run: &'p mut Run,
        text_limit: usize,
        (first, item): (usize, usize),
    ) -> Self {
        let (base, shift) = run.touched.map_or((run.base, 0), |touched| (touched.base, touched.shift));
        let part_start = run.position(item);
        let part = image.at(part_start);
        Patching {
            window,
            session,
            known,
            image,
            part,
            part_start,
            run,
            text_limit,
            first,
            item,
            base,
            shift,
            read: 0,
            skipped: 0,
            forced: 0,
            before: Vec::new(),
            inserted: 0,
            removed: 0,
        }
    }

    fn conclude(&mut self) {
        let stats = &mut self.session.stats;
        self.run.touched = Some(Touched { base: self.base, items: self.item, shift: self.shift });
        stats.leaves += self.read;
        stats.shifted += (self.inserted + self.removed) as u64;
        stats.realigned += u64::from(self.inserted + self.removed > 0);
        stats.fast_bytes += self.skipped;
    }

    /// Reads the current item and all others that differ, up to the end of the window or of the
    /// run.
    fn run<L: FlatItems>(&mut self, items: &mut L, view: View<'_>) -> Outcome {
        loop {
            self.window.pos = skip_white(self.window.bytes, self.window.pos);
            let text = self.known.markup.open.end(self.window.bytes, self.window.pos);
            if !text.is_some_and(|text| self.read_on(items, text, view)) {
                return self.stuck();
            }
            if self.forced > 0 || self.realign(items, view) {
                continue;
            }
            if self.is_hopeless() {
                return Outcome::Other;
            }
            if let Some(outcome) = self.skip() {
                return outcome;
            }
        }
    }

    /// Returns the position up to which the message has been read.
    fn read_to(&self) -> u64 {
        self.window.base + self.window.pos as u64
    }

    /// Returns true if so little was equal so far that the rest is better read in regular mode.
    fn is_hopeless(&mut self) -> bool {
        let is_long = self.before.len() >= HOPELESS;
        if is_long {
            self.session.stats.fast_bytes += std::mem::take(&mut self.skipped);
            self.session.judge(self.read_to());
        }
        is_long && self.session.bounds.is_hopeless()
    }

    /// Reads an item whose text begins at `text`, and those after it as long as they have the same
    /// markup and differ from the old ones in the first bytes. Returns false if the last of them
    /// could not be read.
    #[inline]
    fn read_on<L: FlatItems>(&mut self, items: &mut L, text: usize, view: View<'_>) -> bool {
        // The list may continue after the run. If places for further items were taken back, its
        // last item was already read.
        let end = items.len().saturating_sub(self.first).min(self.run.positions.len());
        let markup = &self.known.markup;
        let bytes = self.window.bytes;
        let offset = (self.window.base as u32).wrapping_sub(self.base);
        let mut start = self.window.pos;
        let first = self.item;
        let mut scan = FlatScan::new(bytes, self.known, text, self.text_limit);
        let is_read = loop {
            if self.item >= end || items.scan_over(self.first + self.item, &mut scan, view).is_none() {
                break false;
            }
            let Some(next) = markup.next(bytes, scan.pos()) else { break false };
            let position = &mut self.run.positions[self.item];
            self.before.push(*position);
            *position = offset.wrapping_add(start as u32);
            start = next.start;
            self.item += 1;
            self.forced = self.forced.saturating_sub(1);
            let Some(text) = next.text else { break true };
            let is_next_read = self.forced > 0 || self.differs_at_once(&bytes[text..], text - start);
            if !is_next_read || is_probe(self.before.len()) {
                break true;
            }
            scan = scan.at(text);
        };
        self.window.pos = start;
        self.read += (self.item - first) as u64;
        is_read
    }

    /// Returns true if the next item's text differs from the old one's within the first bytes.
    #[inline(always)]
    fn differs_at_once(&self, text: &[u8], open: usize) -> bool {
        let Some(&position) = self.run.positions.get(self.item) else { return false };
        let end = self.run.positions.get(self.item + 1).copied().unwrap_or(self.run.end);
        let old = u64::from(self.run.base.wrapping_add(position)).wrapping_sub(self.part_start) as usize + open;
        let (Some(new), Some(old)) = (text.first_chunk::<FIRST>(), self.part.get(old..).and_then(<[u8]>::first_chunk))
        else {
            return false;
        };
        let difference = u128::from_le_bytes(*new) ^ u128::from_le_bytes(*old);
        let equal = difference.trailing_zeros() as usize / 8;
        equal < FIRST && equal + open < end.wrapping_sub(position) as usize
    }

    /// Skips items that equal the old ones, starting with the current one.
    fn skip(&mut self) -> Option<Outcome> {
        let new = self.window.base + self.window.pos as u64;
        if self.item == self.run.positions.len() {
            return Some(Outcome::Fast { old: self.close_run(), new });
        }
        let next = self.measure_shift();
        let old = u64::from(self.run.base.wrapping_add(next));
        let limit = self.run.position(self.run.positions.len()).saturating_sub(old);
        let (ours, theirs) = (&self.window.bytes[self.window.pos..], self.image.at(old));
        (self.part, self.part_start) = (theirs, old);
        let len = ours.len().min(theirs.len());
        let equal = first_mismatch(&ours[..len], &theirs[..len]);
        if equal == len || equal as u64 >= limit {
            let equal = (equal as u64).min(limit);
            self.skipped += equal;
            return Some(Outcome::Fast { old: old + equal, new: new + equal });
        }
        let differing = self.find(next.wrapping_add(equal as u32));
        if differing > self.item {
            let skipped = self.run.position(differing) - old;
            self.before.clear();
            self.shift_positions(differing);
            self.item = differing;
            self.window.pos += skipped as usize;
            self.skipped += skipped;
        }
        None
    }

    /// Returns the old position after the run's last item and all white space that follows it.
    ///
    /// If a chunk ended within that white space, the recorded run ends there too. The rest of the
    /// white space also belongs to the last item, so the run is extended over it: the end of the
    /// old run and the position reached in the new message then correspond, and a later difference
    /// is mapped between the two by their distance.
    fn close_run(&mut self) -> u64 {
        let end = self.run.position(self.run.positions.len());
        let after = self.image.skip_white(end);
        self.run.end = self.run.end.wrapping_add((after - end) as u32);
        after
    }

    /// After a number of items that all differ: checks whether the current item is slightly earlier
    /// or later in the old message, because items were inserted or removed. If so, realigns the
    /// items. Returns true if inserted items must now be read.
    fn realign<L: FlatItems>(&mut self, items: &mut L, view: View<'_>) -> bool {
        let is_expensive = self.session.bounds.has_moved_items_enough(self.run.positions.len())
            || self.session.has_searched_enough(self.read_to());
        if !is_probe(self.before.len()) || is_expensive {
            return false;
        }
        let reach = (self.before.len() / 2).max(8);
        let Some(distance) = (1..=reach).find_map(|distance| self.is_shifted(distance)) else { return false };
        let at = self.first + self.item;
        self.session.bounds.charge_moved_items(items.len() - at);
        match usize::try_from(distance) {
            Ok(removed) => {
                items.splice(at, removed, 0, view);
                self.run.positions.drain(self.item..self.item + removed);
                self.removed += distance as i64;
            }
            Err(_) => {
                let inserted = distance.unsigned_abs();
                items.splice(at, 0, inserted, view);
                let back = self.before.len() - inserted;
                self.run.positions.splice(self.item..self.item, self.before[back..].iter().copied());
                self.forced = inserted;
                self.inserted += inserted as i64;
            }
        }
        self.before.clear();
        self.forced > 0
    }

    /// Takes back places made for items that were not read, and records where the next item is.
    fn take_back<L: FlatItems>(&mut self, items: &mut L, view: View<'_>) {
        let (at, unread) = (self.first + self.item, std::mem::take(&mut self.forced));
        if unread > 0 {
            items.splice(at, unread, 0, view);
            self.run.positions.drain(self.item..self.item + unread);
            self.inserted -= unread as i64;
        }
        self.measure_shift();
    }

    /// Returns the old distance of the current item, if it is `distance` items from here: negative
    /// if earlier.
    fn is_shifted(&mut self, distance: usize) -> Option<isize> {
        if self.is_like(self.item_at(self.item + distance)) {
            return Some(distance as isize);
        }
        let earlier = self.before.len().checked_sub(distance)?;
        let next = self.before.get(earlier + 1).copied().or_else(|| self.run.positions.get(self.item).copied());
        self.is_like(Some((self.before[earlier], next.unwrap_or(self.run.end)))).then_some(-(distance as isize))
    }

    /// Returns start and end of an old item that was not passed yet.
    fn item_at(&self, item: usize) -> Option<(u32, u32)> {
        let position = *self.run.positions.get(item)?;
        Some((position, self.run.positions.get(item + 1).copied().unwrap_or(self.run.end)))
    }

    /// Returns true if an old item equals the current item, up to and including its end tag.
    fn is_like(&mut self, item: Option<(u32, u32)>) -> bool {
        let Some((start, end)) = item else { return false };
        let len = end.wrapping_sub(start) as usize;
        let theirs = self.image.at(u64::from(self.run.base.wrapping_add(start))).get(..len);
        let ours = self.window.bytes.get(self.window.pos..self.window.pos + len);
        let text = self.known.markup.indent();
        let first = |item: &'_ [u8]| item.get(text..).and_then(<[u8]>::first_chunk::<8>).copied();
        match ours.zip(theirs) {
            Some((ours, theirs)) if first(ours) == first(theirs) => {
                let equal = first_mismatch(ours, theirs);
                self.session.bounds.charge_search(equal as u64);
                equal == len
            }
            _ => false,
        }
    }

    /// Moves the positions of the items before `end`.
    fn shift_positions(&mut self, end: usize) {
        if self.shift != 0 {
            let positions = &mut self.run.positions[self.item..end];
            positions.iter_mut().for_each(|position| *position = position.wrapping_add(self.shift));
        }
    }

    /// Records how far the current item has moved. Returns its old position.
    fn measure_shift(&mut self) -> u32 {
        let next = self.run.positions.get(self.item).copied().unwrap_or(self.run.end);
        let new = (self.window.base as u32).wrapping_add(self.window.pos as u32);
        self.shift = new.wrapping_sub(self.base).wrapping_sub(next);
        next
    }

    /// Finds the item that contains a byte, from the current one on: usually one of the next.
    fn find(&self, at: u32) -> usize {
        let positions = &self.run.positions[self.item..];
        let (mut low, mut step) = (0, 1);
        while low + step < positions.len() && positions[low + step] <= at {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(positions.len());
        self.item + low + positions[low..high].partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// Returns the reason why the item could not be read: missing bytes, or other content.
    fn stuck(&self) -> Outcome {
        let rest = &self.window.bytes[self.window.pos..];
        let may_go_on = !self.window.last && rest.len() < CARRY;
        if may_go_on && self.known.markup.lacks_end(rest) { Outcome::Short } else { Outcome::Other }
    }
}
