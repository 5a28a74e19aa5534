//! Checkpoint policies of other crates: what the decoder asks of one, and what it shows it of its
//! own state.
//!
//! Leaf checkpoints live in the routines, since they work at every element. A [`Policy`] works at
//! windows: the decoder asks it before and after the routines run, and it says where their window
//! is to end ([`cut`](Policy::cut)) and where they are to pause ([`Hooks`]). What it needs of the
//! decoder's state it reads, saves and puts back through [`Live`].
//!
//! ```text
//! begin ──> advance ──> cut ──> the routines run ──> paused ──┐
//!              ^                                              │
//!              └──────────────────────────────────────────────┘──> end, or fail
//! ```
//!
//! The crate `deltasoap-checkpoints` has the policies of the papers.

mod hooks;
mod live;

pub use crate::decode::state::TreeCounts;
pub use hooks::{Hooks, Location, Watch};
pub(crate) use live::PASSED;
pub use live::{Base, Below, Live, Rare, Stacks};

use super::DifferentialStats;
use crate::decode::State;
use deltasoap_xml::Window;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// A checkpoint policy at work for one stream of messages.
pub trait Policy: Debug + Send + Sync {
    /// An operation begins at a position. The base is the same as that of an earlier operation if
    /// states saved in that one can be put back in this.
    fn begin(&mut self, base: Base, offset: u64, state: &mut State) -> Begin;

    /// Before the routines are called: passes over what is equal, and goes to a checkpoint that is
    /// met. False if that takes more bytes.
    fn advance(&mut self, state: &mut State, window: &mut Window<'_>) -> bool;

    /// Where the routines' window ends: from its position on, and at most at the end of the bytes
    /// at hand; other places count as the nearest of these.
    fn cut(&mut self, window: &Window<'_>) -> usize;

    /// The routines have paused: at the watch, or at the end of their window at `cut`. False if
    /// they cannot go on without more bytes.
    fn paused(&mut self, state: &mut State, window: &Window<'_>, cut: usize, at_watch: bool) -> bool;

    /// The operation has ended, and its end tag, which begins at `tag`, was read or passed over.
    fn end(&mut self, state: &mut State, window: &Window<'_>, tag: u64);

    /// The message was bad, or is one that must not be compared.
    fn fail(&mut self);

    /// What was done since the operation began.
    fn stats(&self) -> DifferentialStats;

    /// Bytes held.
    fn bytes(&self) -> usize;
}

/// How an operation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Compared with the message before, over its value.
    Compare,
    /// Read and noted.
    Record,
    /// Read in regular mode alone. The value becomes that of this message, so that states saved in
    /// the last one mean nothing any more.
    Read,
}

/// How a policy is made: options that are plain data, so that they can be copied and compared.
#[derive(Debug, Clone, Copy)]
pub struct Custom {
    make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>,
    setting: u64,
}

impl Custom {
    /// A policy made by a function. The setting is for the function alone to understand.
    pub fn new(make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>, setting: u64) -> Self {
        Custom { make, setting }
    }

    /// The setting, if the policy is made by this function.
    pub fn setting_for(self, make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>) -> Option<u64> {
        std::ptr::fn_addr_eq(self.make, make).then_some(self.setting)
    }

    /// A new one.
    pub(super) fn make(self, is_adaptive: bool) -> Box<dyn Policy> {
        (self.make)(self.setting, is_adaptive)
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        self.setting == other.setting && std::ptr::fn_addr_eq(self.make, other.make)
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.setting.hash(hasher);
    }
}
