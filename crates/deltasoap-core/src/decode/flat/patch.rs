//! Flat items of a message that differs a little from the one before: read again in place.
//!
//! ```text
//! read the item that differs over its old value
//! loop:
//!     compare what follows with the old message
//!     the item in which they differ: move the positions of those skipped, read it over its old value
//! at the end of the items, or of the window: back to fast mode
//! ```
//!
//! The cost of a change does not depend on where it lies, and runs of changed items are read as fast as in regular mode:
//! the markup is that of the run.

use super::{CARRY, FlatScan, Known};
use crate::content::Content;
use crate::decode::Cursor;
use crate::decode::differential::leaf::{Image, Patched, Run, Session};
use crate::schema::View;
use deltasoap_xml::Window;
use deltasoap_xml::scan::first_mismatch;
use std::sync::Arc;

/// What [`patch`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patch {
    /// Fast mode goes on.
    Fast,
    /// The window ends within an item.
    Short,
    /// Something but an item like the others stands here: the general routines go on, with so much read.
    Other {
        /// The field being read.
        field: u32,
        /// Its occurrences so far.
        count: u32,
    },
}

/// Reads the items again that differ from the message before.
pub fn patch<T: Content>(items: &mut [T], cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
    let (window, state) = cursor.parts();
    let text_limit = state.limits.text;
    let session = &mut state.session;
    let (Some(Patched { run, first, item }), Some(mut template)) = (session.patched(), session.old.take()) else {
        return Patch::Other { field: 0, count: 0 };
    };
    let outcome = match (template.image.get(), template.table.runs.get_mut(run)) {
        (Some(image), Some(run)) => {
            let known = Arc::clone(&run.known);
            let items = items.get_mut(first..).unwrap_or_default();
            let mut patching = Patching { window, known: &known, image, run, text_limit, item, leaves: 0 };
            let outcome = patching.run(items, view);
            session.stats.leaves += patching.leaves;
            (outcome, patching.item)
        }
        _ => (Outcome::Other, item),
    };
    session.old = Some(template);
    conclude(session, outcome)
}

fn conclude(session: &mut Session, (outcome, item): (Outcome, usize)) -> Patch {
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
    known: &'p Known,
    image: &'p Image,
    run: &'p mut Run,
    text_limit: usize,
    /// The item that is read next.
    item: usize,
    /// Items read.
    leaves: u64,
}

/// How many bytes are compared at once before anything else is.
const FIRST: usize = 16;

impl Patching<'_, '_> {
    fn run<T: Content>(&mut self, items: &mut [T], view: View<'_>) -> Outcome {
        loop {
            let Some(outcome) = self.step(items, view) else { continue };
            if let Some(touched) = &mut self.run.touched {
                touched.items = self.item;
            }
            return outcome;
        }
    }

    /// Reads an item and goes on to the next one that differs.
    #[inline(always)]
    fn step<T: Content>(&mut self, items: &mut [T], view: View<'_>) -> Option<Outcome> {
        let start = self.window.pos;
        let Some(end) = items.get_mut(self.item).and_then(|item| self.read(item, view)) else {
            return Some(self.stuck());
        };
        let base = self.run.touched.map_or(self.run.base, |touched| touched.base);
        self.run.positions[self.item] = self.relative(start, base);
        self.window.pos = end;
        self.item += 1;
        self.leaves += 1;
        let next = self.run.positions.get(self.item).copied().unwrap_or(self.run.end);
        let shift = self.relative(end, base).wrapping_sub(next);
        if let Some(touched) = &mut self.run.touched {
            touched.shift = shift;
        }
        self.skip(u64::from(self.run.base.wrapping_add(next)), shift)
    }

    fn relative(&self, at: usize, base: u32) -> u32 {
        (self.window.base as u32).wrapping_add(at as u32).wrapping_sub(base)
    }

    /// Skips items that equal the old ones, the first of which is at `old`.
    #[inline(always)]
    fn skip(&mut self, old: u64, shift: u32) -> Option<Outcome> {
        let limit = self.run.position(self.run.positions.len()) - old;
        let (ours, theirs) = (&self.window.bytes[self.window.pos..], self.image.at(old));
        let equal = equal_bytes(ours, theirs).min(limit as usize);
        let is_different = equal < ours.len().min(theirs.len()) && (equal as u64) < limit;
        let differing = if is_different { self.find(old, equal) } else { self.item };
        if !is_different {
            let new = self.window.base + self.window.pos as u64;
            return Some(Outcome::Fast { old: old + equal as u64, new: new + equal as u64 });
        }
        if differing > self.item {
            let skipped = self.run.position(differing) - old;
            if shift != 0 {
                let positions = &mut self.run.positions[self.item..differing];
                positions.iter_mut().for_each(|position| *position = position.wrapping_add(shift));
            }
            self.item = differing;
            self.window.pos += skipped as usize;
        }
        None
    }

    /// The item in which the byte `equal` behind `old` lies.
    #[inline(always)]
    fn find(&self, old: u64, equal: usize) -> usize {
        let next = self.run.positions.get(self.item + 1).copied().unwrap_or(self.run.end);
        let at = (old as u32).wrapping_sub(self.run.base).wrapping_add(equal as u32);
        if at < next {
            return self.item;
        }
        self.gallop(at)
    }

    /// The item that holds a position, known to be a later one: most often one of the next.
    fn gallop(&self, at: u32) -> usize {
        let positions = &self.run.positions;
        let (mut low, mut step) = (self.item + 1, 1);
        while low + step < positions.len() && positions[low + step] <= at {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(positions.len());
        low + positions[low..high].partition_point(|&start| start <= at) - 1
    }

    /// Reads an item over its old value; gives its end in the window.
    #[inline(always)]
    fn read<T: Content>(&self, item: &mut T, view: View<'_>) -> Option<usize> {
        let Known { shape, types, .. } = self.known;
        let bytes = self.window.bytes;
        let start = self.window.pos;
        if !shape.open.matches(&bytes[start..]) {
            return None;
        }
        let (pos, between) = (start + shape.open.len(), shape.between.iter());
        let mut scan = FlatScan { bytes, pos, between, types: types.iter(), text_limit: self.text_limit };
        item.scan_flat(&mut scan, view)?;
        shape.close.matches(&bytes[scan.pos..]).then_some(scan.pos + shape.close.len())
    }

    /// The item could not be read: for want of bytes, or because it is another.
    fn stuck(&self) -> Outcome {
        let rest = &self.window.bytes[self.window.pos..];
        let open = &self.known.shape.open;
        let has_begun = open.matches(rest) || open.as_slice().starts_with(rest);
        let close = self.known.shape.close.as_slice();
        let may_go_on = !self.window.last && rest.len() < CARRY;
        let is_cut = has_begun && may_go_on && !rest.windows(close.len()).any(|bytes| bytes == close);
        if is_cut { Outcome::Short } else { Outcome::Other }
    }
}

/// How many bytes are equal: at once if they differ among the first.
#[inline(always)]
fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    if let (Some(first), Some(second)) = (a.first_chunk::<FIRST>(), b.first_chunk::<FIRST>()) {
        let difference = u128::from_le_bytes(*first) ^ u128::from_le_bytes(*second);
        if difference != 0 {
            return difference.trailing_zeros() as usize / 8;
        }
    }
    let len = a.len().min(b.len());
    first_mismatch(&a[..len], &b[..len])
}
