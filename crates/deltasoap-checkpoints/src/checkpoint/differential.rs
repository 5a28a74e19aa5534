//! Differential checkpoints (DCP; *Lightweight Checkpointing*, section 3): partial copies of the
//! stacks on top of a base copy.
//!
//! The stacks have one *base copy* and a *tracking pointer* that splits them: what lies below the
//! pointer has not changed since the base copy was made. A checkpoint keeps what lies above it, and
//! a reference to the base copy. All stacks are split at the same frame, since each frame records
//! how much of the other stacks lies below it. A routine changes its own frame only while it is the
//! innermost one, so the lowest level that the matching stack has reached shows what was changed.
//!
//! When less lies below the pointer than above, a new base copy is made (the paper's threshold).
//! Base copies are reference-counted and freed with the last checkpoint that uses them. If a
//! checkpoint has the same base copy as the stacks, it is compared and restored only above the
//! lower of the two pointers.

#[cfg(test)]
mod pointers;

use super::{Form, Interrupt, Part, Progress, Snapshot, progress};
use crate::Portions;
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::Frame;
use deltasoap_core::decode::differential::policy::{Below, Live, Stacks};
use deltasoap_xml::{Bound, OpenElement};
use std::sync::Arc;

/// The form that keeps differences from a base copy.
#[derive(Debug, Default)]
pub(crate) struct Differential {
    /// The current base copy of the stacks.
    base: Option<Arc<Snapshot>>,
    /// The tracking pointer: number of frames that equal the base copy, unless they were changed
    /// since.
    tracking: usize,
}

/// A checkpoint. It has no base only while it fills the gap of a list.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    base: Option<Arc<Snapshot>>,
    top: Top,
    part: Part,
}

/// The part of the stacks above the first `level` frames.
#[derive(Debug, Default)]
struct Top {
    level: usize,
    frames: Box<[Frame]>,
    others: Option<Box<Others>>,
}

/// The part of the other stacks above the same frame; usually empty.
#[derive(Debug, Default)]
struct Others {
    open: Box<[OpenElement]>,
    bound: Box<[Bound]>,
    seen: Box<[u64]>,
}

impl Form for Differential {
    type Saved = Saved;

    fn new(_: &Portions) -> Self {
        Differential::default()
    }

    fn checkpoint<M: PortionMatcher>(
        &mut self,
        live: &mut Live<'_>,
        interrupt: &Interrupt<'_, M>,
    ) -> Option<(Saved, u64)> {
        if !self.has_base_for(live) {
            let snapshot = Snapshot::capture(live, Part::default())?;
            self.base = Some(Arc::new(snapshot));
            self.track(live.frames().len(), live);
        }
        let level = self.tracked(live);
        let top = Top::new(level, live.stacks_above(live.below(level))?);
        #[cfg(test)]
        self.base.iter().for_each(|base| pointers::count(base, &top, live));
        Some((Saved { base: self.base.clone(), top, part: Part::new(interrupt) }, interrupt.position))
    }

    fn part_len(&self, kept: &Saved) -> usize {
        kept.part.len as usize
    }

    fn part_matches<M: PortionMatcher>(&self, kept: &Saved, matcher: &M, bytes: &[u8]) -> bool {
        kept.part.matches(matcher, bytes)
    }

    fn progress(&mut self, kept: &Saved, live: &Live<'_>) -> Progress {
        let Saved { base: Some(base), top, .. } = kept else { return Progress::Passed };
        let known = if self.is_over(base) { self.tracked(live).min(top.level) } else { 0 };
        let frames = [&base.stacks.frames[known..top.level], &top.frames].concat();
        progress::compare(&frames, known, live)
    }

    /// The matching stacks are equal, so both have the same number of elements below the same
    /// frames. What lies below both pointers equals the base copy.
    fn has_state(&self, kept: &Saved, live: &Live<'_>) -> bool {
        let Saved { base: Some(base), top, .. } = kept else { return false };
        let (top_open, _, top_seen) = top.others();
        let has_from = |from: Below| {
            let to = live.below(top.level);
            let (open, seen) = (base.stacks.open.get(from.open..to.open), base.stacks.seen.get(from.seen..to.seen));
            let (Some(open), Some(seen)) = (open, seen) else { return false };
            live.has_above(from, [open, top_open], [seen, top_seen])
        };
        let known = if self.is_over(base) { live.below(self.tracked(live).min(top.level)) } else { Below::default() };
        let is_equal = has_from(known);
        debug_assert_eq!(is_equal, has_from(Below::default()), "everything below the pointers equals the base copy");
        is_equal && live.rare() == base.rare
    }

    fn switched(&mut self, _: &Saved, _: &mut Live<'_>) {}

    fn restore(&mut self, kept: &Saved, live: &mut Live<'_>) {
        let Saved { base: Some(base), top, .. } = kept else { return };
        let level = top.level;
        if self.is_over(base) {
            let keep = self.tracked(live).min(level);
            live.put(live.below(keep), &top.onto(base, Split::below(&base.stacks, keep)), &base.rare);
        } else {
            live.put(Below::default(), &top.onto(base, Split::default()), &base.rare);
        }
        self.base = kept.base.clone();
        self.track(level, live);
    }

    fn begin(&mut self) {
        self.base = None;
        self.tracking = 0;
    }

    fn held(&self, kept: &Saved) -> usize {
        let shared = kept.base.as_ref().map_or(0, |base| base.bytes().div_ceil(Arc::strong_count(base)));
        shared + kept.top.held() + kept.part.sum.held()
    }
}

impl Differential {
    /// Sets the tracking pointer.
    fn track(&mut self, level: usize, live: &mut Live<'_>) {
        self.tracking = level;
        live.hooks().low = live.top();
    }

    /// Returns the number of frames unchanged since the base copy was made or restored.
    fn tracked(&self, live: &Live<'_>) -> usize {
        let lowest = live.noted().low.saturating_sub(1).saturating_sub(live.base().level());
        self.tracking.min(lowest)
    }

    fn is_over(&self, base: &Arc<Snapshot>) -> bool {
        self.base.as_ref().is_some_and(|own| Arc::ptr_eq(own, base))
    }

    fn has_base_for(&self, live: &Live<'_>) -> bool {
        let Some(base) = &self.base else { return false };
        let below = self.tracked(live);
        live.rare() == base.rare && 2 * below >= live.frames().len().saturating_sub(1)
    }
}

impl Top {
    fn new(level: usize, Stacks { frames, open, bound, seen }: Stacks) -> Self {
        let has_others = !(open.is_empty() && bound.is_empty() && seen.is_empty());
        let others = || Box::new(Others { open: open.into(), bound: bound.into(), seen: seen.into() });
        Top { level, frames: frames.into(), others: has_others.then(others) }
    }

    fn others(&self) -> (&[OpenElement], &[Bound], &[u64]) {
        self.others.as_ref().map_or((&[], &[], &[]), |others| (&others.open, &others.bound, &others.seen))
    }

    /// Returns the stacks above `from`, completed with the base copy's entries.
    fn onto(&self, base: &Snapshot, from: Split) -> Stacks {
        let (below, to) = (&base.stacks, Split::below(&base.stacks, self.level));
        let (open, bound, seen) = self.others();
        Stacks {
            frames: [&below.frames[from.frames..to.frames], &self.frames].concat(),
            open: [&below.open[from.open..to.open], open].concat(),
            bound: [&below.bound[from.bound..to.bound], bound].concat(),
            seen: [&below.seen[from.seen..to.seen], seen].concat(),
        }
    }

    /// Returns the number of bytes held on the heap.
    fn held(&self) -> usize {
        let (open, bound, seen) = self.others();
        let others = if self.others.is_some() { size_of::<Others>() } else { 0 };
        size_of_val(&*self.frames) + others + size_of_val(open) + size_of_val(bound) + size_of_val(seen)
    }
}

/// A position in each stack of a base copy.
#[derive(Debug, Clone, Copy, Default)]
struct Split {
    frames: usize,
    open: usize,
    bound: usize,
    seen: usize,
}

impl Split {
    /// Returns what lies below a frame that stays, like [`Live::below`].
    fn below(stacks: &Stacks, level: usize) -> Self {
        let depth = |level: usize| stacks.frames.get(level).map(|frame| frame.depth);
        let own = stacks.frames.get(level).map(|frame| frame.depth - u32::from(!frame.has_children));
        let within = own.or_else(|| level.checked_sub(1).and_then(depth));
        let open = within.zip(depth(0)).map_or(0, |(within, first)| (within + 1 - first) as usize);
        let start = stacks.open.first().map_or(0, OpenElement::declared);
        let bound = stacks.open.get(open).map_or(stacks.bound.len(), |open| open.declared() - start);
        let log = |level: usize| stacks.frames.get(level).map(|frame| frame.log);
        let seen = log(level).zip(log(0)).map_or(stacks.seen.len(), |(log, first)| (log - first) as usize);
        Split { frames: level, open, bound, seen }
    }
}
