//! Checkpoints: the decoder's state at a position in a message, in the three forms of the papers.
//!
//! *Differential Deserialization*, Table 1, lists what a checkpoint holds. Here it is
//!
//! | the paper's | here |
//! |---|---|
//! | program stack | nothing: routines re-descend along the matching stack |
//! | matching stack | [`Frame`]s, starting at the operation's |
//! | strings stack | nothing: begun text is in the value already, and its length in the frame |
//! | namespace aliases stack | the open elements, with their interned scopes and declarations |
//! | memory blocks | nothing: a block is a `Vec` of the value; see [`engine`](super::engine) |
//! | pointers | positions that errors may have to name, relative to the checkpoint |
//! | size, checksum | [`Checkpoint`](super::engine::Checkpoint) |
//!
//! and the log of fields seen. A [`Snapshot`] is all of that for one position. *Partially processed
//! content* is what lies between the position of the routines, always before a token, and the
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

/// A form in which checkpoints are kept; it also decides where they are made.
pub(crate) trait Form: Debug + Send + Sync + 'static {
    /// The data kept for a state.
    type Saved: Debug + Default + Send + Sync;
    /// True if the routines have to note where children begin.
    const NOTES_LOCATIONS: bool = false;
    /// True if all checkpoints lie between tags, so that changed text makes none of them stale.
    const IN_MARKUP: bool = false;

    /// Creates an empty form.
    fn new(portions: &Portions) -> Self;

    /// Handles a processing interrupt: returns a checkpoint and its position, or `None` to make
    /// none.
    fn checkpoint<M: PortionMatcher>(
        &mut self,
        live: &mut Live<'_>,
        interrupt: &Interrupt<'_, M>,
    ) -> Option<(Self::Saved, u64)>;

    /// Returns the length of the partially processed content before a checkpoint, in bytes.
    fn part_len(&self, kept: &Self::Saved) -> usize;

    /// Returns true if bytes match a checkpoint's partially processed content.
    fn part_matches<M: PortionMatcher>(&self, kept: &Self::Saved, matcher: &M, bytes: &[u8]) -> bool;

    /// Returns the position of the routines relative to a checkpoint.
    fn progress(&mut self, kept: &Self::Saved, live: &Live<'_>) -> Progress;

    /// Returns true if the rest of the state equals a checkpoint whose frames are equal.
    fn has_state(&self, kept: &Self::Saved, live: &Live<'_>) -> bool;

    /// Notes that fast mode begins at a checkpoint.
    fn switched(&mut self, kept: &Self::Saved, live: &mut Live<'_>);

    /// Restores a checkpoint's state. `live.offset` is the position of the routines then.
    fn restore(&mut self, kept: &Self::Saved, live: &mut Live<'_>);

    /// Begins a message.
    fn begin(&mut self) {}

    /// Discards a checkpoint.
    fn discard(&mut self, kept: Self::Saved) {
        drop(kept);
    }

    /// Returns the bytes that a checkpoint holds on the heap; shared memory is divided among its
    /// owners.
    fn held(&self, kept: &Self::Saved) -> usize;

    /// Returns the bytes held by the form itself.
    fn bytes(&self) -> usize {
        0
    }
}

/// A processing interrupt.
#[derive(Debug)]
pub(crate) struct Interrupt<'a, M> {
    /// The position of the interrupt.
    pub(crate) position: u64,
    /// The position of the previous checkpoint.
    pub(crate) before: u64,
    /// The first position whose bytes are still available.
    pub(crate) at_hand: u64,
    /// The bytes between the position of the routines and the interrupt.
    pub(crate) part: &'a [u8],
    pub(crate) matcher: &'a M,
}

/// Partially processed content: its length and its sum.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Part {
    len: u32,
    sum: Compact,
}

impl Part {
    pub(crate) fn new<M: PortionMatcher>(interrupt: &Interrupt<'_, M>) -> Self {
        let mut sum = Vec::new();
        if !interrupt.part.is_empty() {
            M::write(&interrupt.matcher.sum(interrupt.part), &mut sum);
        }
        Part { len: interrupt.part.len() as u32, sum: Compact::new(&sum) }
    }

    fn matches<M: PortionMatcher>(&self, matcher: &M, bytes: &[u8]) -> bool {
        self.len == 0 || matcher.matches_written(&self.sum, bytes)
    }
}

/// The whole state at a position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) stacks: Stacks,
    pub(crate) rare: Rare,
    pub(crate) part: Part,
}

impl Snapshot {
    /// Copies the state of the routines; `None` where they cannot resume from a copy.
    fn capture(live: &Live<'_>, part: Part) -> Option<Self> {
        let stacks = live.stacks_above(Below::default())?;
        Some(Snapshot { stacks, rare: live.rare(), part })
    }

    /// Returns true if the live state equals this one, provided that the frames are equal.
    fn is_state_of(&self, live: &Live<'_>) -> bool {
        self.is_state_with(&[], live)
    }

    /// Like [`is_state_of`](Self::is_state_of), with `last` at the end of the log of fields seen.
    fn is_state_with(&self, last: &[u64], live: &Live<'_>) -> bool {
        let Stacks { open, seen, .. } = &self.stacks;
        let before = &seen[..seen.len().saturating_sub(last.len())];
        live.has_above(Below::default(), [open.as_slice(), &[]], [before, last]) && live.rare() == self.rare
    }

    fn restore(&self, live: &mut Live<'_>) {
        live.put(Below::default(), &self.stacks, &self.rare);
    }

    /// Returns the bytes held, including its own.
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
