//! Full checkpoints (FCP): complete copies of every stack.

use super::{Form, Part, Progress, Snapshot, Spot, progress};
use crate::Portions;
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::differential::policy::Live;

/// The form that keeps the whole state with each checkpoint.
#[derive(Debug)]
pub(crate) struct Full;

/// A checkpoint. It has no snapshot only while it fills the gap of a list.
#[derive(Debug, Default)]
pub(crate) struct Kept(Option<Box<Snapshot>>);

impl Kept {
    fn snapshot(&self) -> &Snapshot {
        match &self.0 {
            Some(snapshot) => snapshot,
            None => unreachable!("a gap in a list is no checkpoint"),
        }
    }
}

impl Form for Full {
    type Kept = Kept;

    fn new(_: &Portions) -> Self {
        Full
    }

    fn checkpoint<M: PortionMatcher>(&mut self, live: &mut Live<'_>, spot: &Spot<'_, M>) -> Option<(Kept, u64)> {
        let snapshot = Snapshot::of(live, Part::new(spot))?;
        Some((Kept(Some(Box::new(snapshot))), spot.position))
    }

    fn part_len(&self, kept: &Kept) -> usize {
        kept.snapshot().part.len as usize
    }

    fn part_matches<M: PortionMatcher>(&self, kept: &Kept, matcher: &M, bytes: &[u8]) -> bool {
        kept.snapshot().part.matches(matcher, bytes)
    }

    fn progress(&mut self, kept: &Kept, live: &Live<'_>) -> Progress {
        progress::compare(&kept.snapshot().stacks.frames, 0, live)
    }

    fn has_state(&self, kept: &Kept, live: &Live<'_>) -> bool {
        kept.snapshot().is_state_of(live)
    }

    fn switched(&mut self, _: &Kept, _: &mut Live<'_>) {}

    fn restore(&mut self, kept: &Kept, live: &mut Live<'_>) {
        kept.snapshot().restore(live);
    }

    fn held(&self, kept: &Kept) -> usize {
        kept.snapshot().bytes()
    }
}
