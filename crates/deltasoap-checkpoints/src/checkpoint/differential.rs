//! Differential checkpoints (DCP; *Lightweight Checkpointing*, section 3): partial copies of the stacks over a base copy.
//!
//! The stacks have one *base copy*, and a *tracking pointer* that splits them: what lies below has not been touched since
//! the base copy was made. A checkpoint keeps what lies above, and a reference to the base copy. All stacks are split at
//! the same frame, for each frame tells how much of the others lies below it. A routine changes its own frame only while
//! it is the innermost one, so the lowest level that the matching stack has come down to tells what was touched.
//!
//! When less lies below the pointer than above, a new base copy is made (the paper's threshold). Base copies are counted
//! by reference and go with the last checkpoint over them. A checkpoint over the base copy that the stacks have is
//! compared and restored above the lower of the two pointers only.

use super::compact::{Compact, read, write};
use super::{Form, Part, Progress, Snapshot, Spot, progress};
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::Frame;
use deltasoap_core::decode::differential::policy::{Below, Live, Stacks};
use deltasoap_xml::{Bound, OpenElement};
use std::sync::Arc;

/// Keeps differences.
#[derive(Debug, Default)]
pub(crate) struct Differential {
    /// The base copy that the stacks have.
    base: Option<Arc<Snapshot>>,
    /// The tracking pointer: frames that are as in the base copy, if none of them was touched since.
    tracking: usize,
}

/// One checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    base: Option<Arc<Snapshot>>,
    top: Compact,
}

impl Form for Differential {
    type Kept = Kept;

    fn checkpoint<M: PortionMatcher>(&mut self, live: &mut Live<'_>, spot: &Spot<'_, M>) -> Option<(Kept, u64)> {
        if !self.has_base_for(live) {
            let snapshot = Snapshot::of(live, Part::default())?;
            self.base = Some(Arc::new(snapshot));
            self.track(live.frames().len(), live);
        }
        let level = self.tracked(live);
        let stacks = live.stacks_above(live.below(level))?;
        let mut top = Vec::new();
        write(&mut top, spot.part.len() as u64);
        if !spot.part.is_empty() {
            M::write(&spot.matcher.sum(spot.part), &mut top);
        }
        // After the sum, whose length is not written: from the end.
        top.append(&mut Top { level, stacks }.encoded()?);
        Some((Kept { base: self.base.clone(), top: Compact::new(&top) }, spot.position))
    }

    fn part_len(&self, kept: &Kept) -> usize {
        read(&mut &*kept.top) as usize
    }

    fn part_matches<M: PortionMatcher>(&self, kept: &Kept, matcher: &M, bytes: &[u8]) -> bool {
        let mut rest = &*kept.top;
        read(&mut rest);
        bytes.is_empty() || matcher.matches_written(rest, bytes)
    }

    fn progress(&mut self, kept: &Kept, live: &Live<'_>) -> Progress {
        let Some((base, top)) = kept.parts() else { return Progress::Passed };
        let known = if self.is_over(base) { self.tracked(live).min(top.level) } else { 0 };
        let frames = [&base.stacks.frames[known..top.level], &top.stacks.frames].concat();
        progress::compare(&frames, known, live)
    }

    /// The matching stacks are equal, so they stand in equally many elements below the same frames. What both pointers are above of is as in
    /// the base copy.
    fn has_state(&self, kept: &Kept, live: &Live<'_>) -> bool {
        let Some((base, top)) = kept.parts() else { return false };
        let has_from = |from: Below| {
            let to = live.below(top.level);
            let (open, seen) = (base.stacks.open.get(from.open..to.open), base.stacks.seen.get(from.seen..to.seen));
            let (Some(open), Some(seen)) = (open, seen) else { return false };
            live.has_above(from, [open, &top.stacks.open], [seen, &top.stacks.seen])
        };
        let known = if self.is_over(base) { live.below(self.tracked(live).min(top.level)) } else { Below::default() };
        let is_equal = has_from(known);
        debug_assert_eq!(is_equal, has_from(Below::default()), "what lies below the pointers is as in the base copy");
        is_equal && live.rare() == base.rare
    }

    fn switched(&mut self, _: &Kept, _: &mut Live<'_>) {}

    fn restore(&mut self, kept: &Kept, live: &mut Live<'_>) {
        let Some((base, top)) = kept.parts() else { return };
        let level = top.level;
        if self.is_over(base) {
            let keep = self.tracked(live).min(level);
            live.put(live.below(keep), &top.onto(base, Split::of(&base.stacks, keep)), &base.rare);
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

    fn held(&self, kept: &Kept) -> usize {
        let shared = kept.base.as_ref().map_or(0, |base| base.bytes().div_ceil(Arc::strong_count(base)));
        shared + kept.top.held()
    }
}

impl Differential {
    /// Sets the tracking pointer.
    fn track(&mut self, level: usize, live: &mut Live<'_>) {
        self.tracking = level;
        live.hooks().low = live.top();
    }

    /// Frames that were not touched since the base copy was made or restored.
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

impl Kept {
    fn parts(&self) -> Option<(&Arc<Snapshot>, Top)> {
        let base = self.base.as_ref()?;
        Some((base, Top::decoded(&self.top)?))
    }
}

/// What lies above the first `level` frames.
struct Top {
    level: usize,
    stacks: Stacks,
}

/// Which stacks have something above the tracking pointer.
const HAS_OPEN: u8 = 1;
const HAS_BOUND: u8 = 2;
const HAS_SEEN: u8 = 4;

impl Top {
    /// The stacks as bytes, the number of which stands after them; `None` if there are more than that can say.
    fn encoded(&self) -> Option<Vec<u8>> {
        let Stacks { frames, open, bound, seen } = &self.stacks;
        let mut out = Vec::new();
        let has = |is: bool, flag: u8| if is { flag } else { 0 };
        out.push(has(!open.is_empty(), HAS_OPEN) | has(!bound.is_empty(), HAS_BOUND) | has(!seen.is_empty(), HAS_SEEN));
        write(&mut out, self.level as u64);
        list(&mut out, frames, write_frame);
        if !open.is_empty() {
            list(&mut out, open, |out, open| open.words().iter().for_each(|&word| write(out, word)));
        }
        if !bound.is_empty() {
            list(&mut out, bound, |out, bound| bound.words().iter().for_each(|&word| write(out, word)));
        }
        if !seen.is_empty() {
            list(&mut out, seen, |out, &word| write(out, word));
        }
        let len = u16::try_from(out.len()).ok()?;
        out.extend(len.to_be_bytes());
        Some(out)
    }

    /// The stacks from the end of `bytes`.
    fn decoded(bytes: &[u8]) -> Option<Self> {
        let (rest, len) = bytes.split_last_chunk::<2>()?;
        let start = rest.len().checked_sub(usize::from(u16::from_be_bytes(*len)))?;
        let (&flags, mut rest) = rest[start..].split_first()?;
        let level = read(&mut rest) as usize;
        let frames = read_list(&mut rest, read_frame);
        let mut stacks = Stacks { frames, ..Stacks::default() };
        if flags & HAS_OPEN != 0 {
            stacks.open = read_list(&mut rest, |rest| OpenElement::from_words([(); 5].map(|()| read(rest))));
        }
        if flags & HAS_BOUND != 0 {
            stacks.bound = read_list(&mut rest, |rest| Bound::from_words([(); 2].map(|()| read(rest))));
        }
        if flags & HAS_SEEN != 0 {
            stacks.seen = read_list(&mut rest, read);
        }
        Some(Top { level, stacks })
    }

    /// The stacks above a place below, with what the base copy has of them.
    fn onto(self, base: &Snapshot, from: Split) -> Stacks {
        let (below, to) = (&base.stacks, Split::of(&base.stacks, self.level));
        let Stacks { frames, open, bound, seen } = self.stacks;
        Stacks {
            frames: [&below.frames[from.frames..to.frames], &frames].concat(),
            open: [&below.open[from.open..to.open], &open].concat(),
            bound: [&below.bound[from.bound..to.bound], &bound].concat(),
            seen: [&below.seen[from.seen..to.seen], &seen].concat(),
        }
    }
}

/// A place in every stack of a base copy.
#[derive(Debug, Clone, Copy, Default)]
struct Split {
    frames: usize,
    open: usize,
    bound: usize,
    seen: usize,
}

impl Split {
    /// What lies below a frame that stays; as [`Live::below`].
    fn of(stacks: &Stacks, level: usize) -> Self {
        let depth = |level: usize| stacks.frames.get(level).map(|frame| frame.depth);
        let own = stacks.frames.get(level).map(|frame| frame.depth - u32::from(!frame.has_children));
        let within = own.or_else(|| level.checked_sub(1).and_then(depth));
        let open = within.zip(depth(0)).map_or(0, |(within, first)| (within + 1 - first) as usize);
        let start = stacks.open.first().map_or(0, |open| open.words()[3]);
        let bound = stacks.open.get(open).map_or(stacks.bound.len(), |open| (open.words()[3] - start) as usize);
        let log = |level: usize| stacks.frames.get(level).map(|frame| frame.log);
        let seen = log(level).zip(log(0)).map_or(stacks.seen.len(), |(log, first)| (log - first) as usize);
        Split { frames: level, open, bound, seen }
    }
}

/// Writes how many there are, and each.
fn list<T>(out: &mut Vec<u8>, items: &[T], item: impl Fn(&mut Vec<u8>, &T)) {
    write(out, items.len() as u64);
    items.iter().for_each(|each| item(out, each));
}

fn read_list<T>(rest: &mut &[u8], item: impl Fn(&mut &[u8]) -> T) -> Vec<T> {
    let len = read(rest);
    (0..len).map(|_| item(rest)).collect()
}

const IS_REPEATED: u8 = 0x10;
const HAS_CHILDREN: u8 = 0x20;
/// The place is that of the last occurrence counted.
const IS_LAST: u8 = 0x40;
/// There are a log and a mark.
const HAS_MORE: u8 = 0x80;

/// Opaque frames are not kept, and states are below 16.
fn write_frame(out: &mut Vec<u8>, frame: &Frame) {
    let last = frame.count.saturating_sub(1);
    let has = |is: bool, flag: u8| if is { flag } else { 0 };
    let has_more = frame.log != 0 || frame.mark != 0;
    let is_last = frame.place == last || frame.state == 0;
    out.push(
        frame.state
            | has(frame.is_repeated, IS_REPEATED)
            | has(frame.has_children, HAS_CHILDREN)
            | has(is_last, IS_LAST)
            | has(has_more, HAS_MORE),
    );
    [frame.field, frame.count, frame.depth].iter().for_each(|&number| write(out, number.into()));
    if !is_last {
        write(out, frame.place.into());
    }
    if has_more {
        write(out, frame.log.into());
        write(out, frame.mark);
    }
}

fn read_frame(rest: &mut &[u8]) -> Frame {
    let flags = read_byte(rest);
    let has = |flag: u8| flags & flag != 0;
    let [field, count, depth] = [(); 3].map(|()| read(rest) as u32);
    let place = if has(IS_LAST) { count.saturating_sub(1) } else { read(rest) as u32 };
    let (log, mark) = if has(HAS_MORE) { (read(rest) as u32, read(rest)) } else { (0, 0) };
    let (is_repeated, has_children) = (has(IS_REPEATED), has(HAS_CHILDREN));
    let (state, is_opaque) = (flags & 0xF, false);
    Frame {
        state,
        field,
        count,
        place,
        is_repeated,
        is_opaque,
        has_children,
        shape: Default::default(),
        depth,
        log,
        mark,
    }
}

fn read_byte(rest: &mut &[u8]) -> u8 {
    let Some((&byte, behind)) = rest.split_first() else { return 0 };
    *rest = behind;
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tops_are_read_as_written() {
        let frame = |state, place, mark| Frame {
            shape: Default::default(),
            state,
            field: 3,
            count: 200,
            place,
            is_repeated: true,
            is_opaque: false,
            has_children: mark == 0,
            depth: 5,
            log: 1,
            mark,
        };
        let frames = vec![frame(1, 199, 0), frame(1, 7, 0), frame(2, 0, 900)];
        let open = vec![OpenElement::from_words([1, 2, 3, 4, 5]); 2];
        let bound = vec![Bound::from_words([6, 7])];
        let stacks = Stacks { frames, open, bound, seen: vec![u64::MAX] };
        let encoded = Top { level: 4, stacks: stacks.clone() }.encoded().expect("short");
        let decoded = Top::decoded(&encoded).expect("a top");
        assert_eq!((decoded.level, decoded.stacks), (4, stacks));
    }

    #[test]
    fn a_checkpoint_is_small() {
        assert_eq!(size_of::<Kept>(), 32);
    }
}
