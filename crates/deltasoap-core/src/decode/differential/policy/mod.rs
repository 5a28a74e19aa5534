//! Checkpoint policies of other crates: the calls that the decoder makes to a policy, and the state
//! that it exposes.
//!
//! Leaf checkpoints are built into the routines, since they act at every element, where a call
//! through a trait object is not free: with such calls in place of five of the direct ones, regular
//! mode took 3.9 % more instructions for a nested message of 183 KB that is compared with nothing.
//! A [`Policy`] acts on windows: the decoder calls it before and after the routines run, and the
//! policy returns where their window must end ([`cut`](Policy::cut)) and where they must pause
//! ([`Hooks`]). It reads, saves and restores the decoder's state through [`Live`].
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

/// An active checkpoint policy for one stream of messages.
pub trait Policy: Debug + Send + Sync {
    /// Begins an operation at a position. `base` equals that of an earlier operation if states
    /// saved in that operation can be restored in this one.
    fn begin(&mut self, base: Base, offset: u64, state: &mut State) -> Begin;

    /// Called before the routines: skips what is equal, and restores a checkpoint that is reached.
    /// Returns false if that requires more bytes.
    fn advance(&mut self, state: &mut State, window: &mut Window<'_>) -> bool;

    /// Returns the end of the routines' window. It is clamped between the window's position and the
    /// end of the available bytes.
    fn cut(&mut self, window: &Window<'_>) -> usize;

    /// Called when the routines have paused: at the watch, or at the end of their window at `cut`.
    /// Returns false if they cannot continue without more bytes.
    fn paused(&mut self, state: &mut State, window: &Window<'_>, cut: usize, at_watch: bool) -> bool;

    /// Called when the operation has ended: its end tag, which begins at `tag`, was read or
    /// skipped.
    fn end(&mut self, state: &mut State, window: &Window<'_>, tag: u64);

    /// Called when the message is invalid, or must not be compared.
    fn fail(&mut self);

    /// Returns the counters since the operation began.
    fn stats(&self) -> DifferentialStats;

    /// Returns the number of bytes held.
    fn bytes(&self) -> usize;
}

/// How an operation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Compared with the previous message, over its value.
    Compare,
    /// Read and noted.
    Record,
    /// Read only in regular mode. The value becomes that of this message, so that states saved in
    /// the last one are invalid.
    Read,
}

/// The constructor of a policy: options as plain data, so that they can be copied and compared.
#[derive(Debug, Clone, Copy)]
pub struct Custom {
    make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>,
    setting: u64,
}

impl Custom {
    /// Creates a policy option from a function. Only the function interprets the setting.
    pub fn new(make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>, setting: u64) -> Self {
        Custom { make, setting }
    }

    /// Returns the setting, if this function makes the policy.
    pub fn setting_for(self, make: fn(setting: u64, is_adaptive: bool) -> Box<dyn Policy>) -> Option<u64> {
        std::ptr::fn_addr_eq(self.make, make).then_some(self.setting)
    }

    /// Creates a new policy.
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
