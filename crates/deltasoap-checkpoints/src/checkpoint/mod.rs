//! Checkpoints: the decoder's state at a place in a message, and the three forms in which the
//! papers keep it.
//!
//! *Differential Deserialization*, Table 1, lists what a checkpoint holds. Here it is
//!
//! | the paper's | here |
//! |---|---|
//! | program stack | nothing: routines re-descend along the matching stack |
//! | matching stack | [`Frame`]s from the operation's on |
//! | strings stack | nothing: a text that was begun is in the value already, and the frame tells how much of it |
//! | namespace aliases stack | the open elements, with their interned scopes, and what they have declared |
//! | memory blocks | nothing: a block is a `Vec` of the value, which is there already; see [`engine`](super::engine) |
//! | pointers | positions that errors may have to name, relative to the checkpoint |
//! | size, checksum | [`Checkpoint`](super::engine::Checkpoint) |
//!
//! and the log of fields seen. A [`Snapshot`] is all of that for one place. *Partially processed
//! content* is what lies between the place where the routines stand, always before a token, and the
//! checkpoint itself.

mod compact;
mod differential;
mod full;
mod lightweight;
mod progress;

pub(crate) use differential::Differential;
pub(crate) use full::Full;
pub(crate) use lightweight::Lightweight;
pub(crate) use progress::Progress;

use super::Portions;
use super::matcher::PortionMatcher;
use compact::Compact;
use deltasoap_core::decode::differential::policy::{Below, Live, Rare, Stacks};
use std::fmt::Debug;

/// How checkpoints are kept, and where they are made.
pub(crate) trait Form: Debug + Send + Sync + 'static {
    /// What is kept of a state.
    type Kept: Debug + Default + Send + Sync;
    /// Whether the routines are to note where children begin.
    const NOTES_LOCATIONS: bool = false;
    /// Whether all lie between tags, so that a change of texts makes none of them stale.
    const IN_MARKUP: bool = false;

    /// With nothing kept.
    fn new(portions: &Portions) -> Self;

    /// At a processing interrupt: a checkpoint and its position, if there is to be one.
    fn checkpoint<M: PortionMatcher>(&mut self, live: &mut Live<'_>, spot: &Spot<'_, M>) -> Option<(Self::Kept, u64)>;

    /// Bytes of partially processed content before a checkpoint.
    fn part_len(&self, kept: &Self::Kept) -> usize;

    /// True if bytes fit a checkpoint's partially processed content.
    fn part_matches<M: PortionMatcher>(&self, kept: &Self::Kept, matcher: &M, bytes: &[u8]) -> bool;

    /// Where the routines stand in relation to a checkpoint.
    fn progress(&mut self, kept: &Self::Kept, live: &Live<'_>) -> Progress;

    /// True if the rest of the state is that of a checkpoint as well, whose frames are equal.
    fn has_state(&self, kept: &Self::Kept, live: &Live<'_>) -> bool;

    /// Fast mode begins at a checkpoint.
    fn switched(&mut self, kept: &Self::Kept, live: &mut Live<'_>);

    /// Puts a checkpoint's state back. `live.offset` is where the routines stand then.
    fn restore(&mut self, kept: &Self::Kept, live: &mut Live<'_>);

    /// A message begins.
    fn begin(&mut self) {}

    /// A checkpoint is gone.
    fn discard(&mut self, kept: Self::Kept) {
        drop(kept);
    }

    /// Bytes held by a checkpoint beside itself; what several share, in parts.
    fn held(&self, kept: &Self::Kept) -> usize;

    /// Bytes held by the policy itself.
    fn bytes(&self) -> usize {
        0
    }
}

/// A processing interrupt.
#[derive(Debug)]
pub(crate) struct Spot<'a, M> {
    /// Its position.
    pub(crate) position: u64,
    /// The position of the checkpoint before.
    pub(crate) before: u64,
    /// The first position whose bytes are still at hand.
    pub(crate) at_hand: u64,
    /// The bytes between the place where the routines stand and the interrupt.
    pub(crate) part: &'a [u8],
    pub(crate) matcher: &'a M,
}

/// Partially processed content: its length, and a sum of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Part {
    len: u32,
    sum: Compact,
}

impl Part {
    pub(crate) fn new<M: PortionMatcher>(spot: &Spot<'_, M>) -> Self {
        let mut sum = Vec::new();
        if !spot.part.is_empty() {
            M::write(&spot.matcher.sum(spot.part), &mut sum);
        }
        Part { len: spot.part.len() as u32, sum: Compact::new(&sum) }
    }

    fn matches<M: PortionMatcher>(&self, matcher: &M, bytes: &[u8]) -> bool {
        self.len == 0 || matcher.matches_written(&self.sum, bytes)
    }
}

/// The whole state at a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) stacks: Stacks,
    pub(crate) rare: Rare,
    pub(crate) part: Part,
}

impl Snapshot {
    /// The state of the routines; `None` where they cannot go on from a copy.
    fn of(live: &Live<'_>, part: Part) -> Option<Self> {
        let stacks = live.stacks_above(Below::default())?;
        Some(Snapshot { stacks, rare: live.rare(), part })
    }

    /// True if the live state has frames as these and all else is equal.
    fn is_state_of(&self, live: &Live<'_>) -> bool {
        self.is_state_with(&[], live)
    }

    /// The same, with other words at the end of the log of fields seen.
    fn is_state_with(&self, last: &[u64], live: &Live<'_>) -> bool {
        let Stacks { open, seen, .. } = &self.stacks;
        let before = &seen[..seen.len().saturating_sub(last.len())];
        live.has_above(Below::default(), [open.as_slice(), &[]], [before, last]) && live.rare() == self.rare
    }

    fn restore(&self, live: &mut Live<'_>) {
        live.put(Below::default(), &self.stacks, &self.rare);
    }

    /// Bytes held, its own included.
    fn bytes(&self) -> usize {
        let Stacks { frames, open, bound, seen } = &self.stacks;
        size_of_val(self)
            + size_of_val(frames.as_slice())
            + size_of_val(open.as_slice())
            + size_of_val(bound.as_slice())
            + size_of_val(seen.as_slice())
            + self.part.sum.held()
    }
}
