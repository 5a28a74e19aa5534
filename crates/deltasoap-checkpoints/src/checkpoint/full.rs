//! Full checkpoints (FCP): complete copies of every stack.

use super::{Form, Interrupt, Part, Progress, Snapshot, progress};
use crate::Portions;
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::differential::policy::Live;

/// The form that keeps the whole state with each checkpoint.
#[derive(Debug)]
pub(crate) struct Full;

/// A checkpoint. It has no snapshot only while it fills the gap of a list.
#[derive(Debug, Default)]
pub(crate) struct Saved(Option<Box<Snapshot>>);

impl Saved {
    fn snapshot(&self) -> &Snapshot {
        match &self.0 {
            Some(snapshot) => snapshot,
            None => unreachable!("a gap in a list is no checkpoint"),
        }
    }
}

impl Form for Full {
    type Saved = Saved;

    fn new(_: &Portions) -> Self {
        Full
    }

    fn checkpoint<M: PortionMatcher>(
        &mut self,
        live: &mut Live<'_>,
        interrupt: &Interrupt<'_, M>,
    ) -> Option<(Saved, u64)> {
        let snapshot = Snapshot::capture(live, Part::new(interrupt))?;
        Some((Saved(Some(Box::new(snapshot))), interrupt.position))
    }

    fn part_len(&self, kept: &Saved) -> usize {
        kept.snapshot().part.len as usize
    }

    fn part_matches<M: PortionMatcher>(&self, kept: &Saved, matcher: &M, bytes: &[u8]) -> bool {
        kept.snapshot().part.matches(matcher, bytes)
    }

    fn progress(&mut self, kept: &Saved, live: &Live<'_>) -> Progress {
        progress::compare(&kept.snapshot().stacks.frames, 0, live)
    }

    fn has_state(&self, kept: &Saved, live: &Live<'_>) -> bool {
        kept.snapshot().is_state_of(live)
    }

    fn switched(&mut self, _: &Saved, _: &mut Live<'_>) {}

    fn restore(&mut self, kept: &Saved, live: &mut Live<'_>) {
        kept.snapshot().restore(live);
    }

    fn held(&self, kept: &Saved) -> usize {
        kept.snapshot().bytes()
    }
}
