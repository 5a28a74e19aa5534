//! The state machine of the papers: regular and fast mode, switching between them, and the list of
//! checkpoints.
//!
//! ```text
//!            an operation begins, as the one before did
//!                               |
//!   +------------------------>  v
//!   |  met a checkpoint    +---------+   sums equal: skip the portion, pass its checkpoint
//!   |  +-----------------> |  fast   | --+
//!   |  |                   +---------+ <-+
//!   |  |                        | a sum differs: restore the last checkpoint passed, if any
//!   |  |                        v
//!   |  |                   +---------+   every N bytes: an interrupt, a checkpoint
//!   |  +------------------ | regular | --+
//!   |                      +---------+ <-+
//!   |                           | the operation's end
//!   +---------------------------+
//! ```
//!
//! It follows *Differential Deserialization*, section 3, with these differences:
//!
//! - An interrupt is a window that ends early: the routines pause as they do when input runs out.
//!   The checkpoint is made at their position, always before a token or inside long text. What lies
//!   between that and the interrupt is its partially processed content.
//! - The paper's four switching points are positions of two kinds here:
//!
//!   - just after a tag: the same
//!   - just before a start tag, just before an end tag: just after the previous tag; white space
//!     between the two is read with the later one
//!   - just before an end tag, after character data: none, as text and its end tag are read in one
//!     step
//!   - just before character data: just after a leaf's start tag, if it has no attributes; inside
//!     long text
//! - The operation's start tag must be unchanged, including its attributes, since fast mode does
//!   not read it. The first checkpoint, just after it, is the machine's [`Base`]; its state needs
//!   no copy.
//! - Memory blocks are the `Vec`s of the value. An array that grows or shrinks is the paper's
//!   reallocated block: routines continue *over the old value*, replace what they read, and cut off
//!   what they pass over; see [`Cursor::is_over`](deltasoap_core::decode::Cursor::is_over). Blocks
//!   of stale checkpoints are freed when an array is cut. Where a routine would have to begin with
//!   a vacant value, there is no switch within it.
//! - New checkpoints enter the list as soon as they are made, after the one restored last. The
//!   paper merges them when regular mode ends. Stale ones are removed immediately.
//! - A checkpoint that is met less than half a portion after a new one replaces it. Otherwise, each
//!   message whose values differ in length would add short portions, and the list would grow
//!   without bound.
//! - When a checkpoint is met, the portion after it is compared first. If it differs, the machine
//!   never leaves regular mode. Such an attempt is counted as *futile*, not as a switch; the
//!   paper's switches include both. The checkpoint is then dropped in favor of the one made at the
//!   next interrupt, unless it lies exactly there. Otherwise, checkpoints that happen to lie in
//!   markup would accumulate where everything changes, and futile attempts with them. Lightweight
//!   checkpoints all lie in markup: they are dropped only if a new one lies less than a portion
//!   before.
//! - After an invalid message, the sum of the portion where it failed is unknown: this is the
//!   paper's flag that forces regular mode. Checkpoints ahead of it are dropped, because the
//!   message may have cut off their values before it failed.

mod fast;
mod life;
mod list;
mod probe;
mod regular;
mod size;
mod tuning;

use super::Portions;
use super::checkpoint::Form;
use super::matcher::PortionMatcher;
use deltasoap_core::DifferentialStats;
use deltasoap_core::decode::State;
use deltasoap_core::decode::differential::policy::{Base, Live, Rare};
use list::List;
use probe::{Probe, Probes};
use size::Size;
use tuning::{Backoff, Tuning};

pub(crate) use life::make;

/// A checkpoint: a position in the message, and its portion, which lies between the previous
/// checkpoint and this one.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint<K, S> {
    /// The size of its portion.
    size: Size,
    sum: S,
    kept: K,
}

/// Maximum length of a portion.
const MAX_PORTION: usize = 1 << 20;

/// The current mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `first`: no portion was compared since the switch, so the routines are where it was made.
    Fast { first: bool },
    /// `due`: the position of the routines was not compared with the checkpoint ahead yet.
    Regular { due: bool },
}

/// The last portion, and the end of the operation.
#[derive(Debug)]
struct Ending<S> {
    size: Size,
    sum: S,
    /// Length of the end tag in bytes.
    tag: u64,
    rare: Rare,
}

/// The state machine, generic over a form and a matcher.
#[derive(Debug)]
struct Engine<F: Form, M: PortionMatcher> {
    portions: Portions,
    is_adaptive: bool,
    form: F,
    matcher: M,
    base: Option<Base>,
    list: List<Checkpoint<F::Saved, M::Sum>>,
    ending: Option<Ending<M::Sum>>,
    mode: Mode,
    /// Result of the comparison that led to the switch to fast mode.
    first: Option<fast::Portion>,
    /// Position of the last checkpoint, where the portion begins.
    at: u64,
    /// Position of the second-last checkpoint, if the last one is new. The portion begins here if
    /// the last one is dropped.
    without_last: Option<u64>,
    /// The bytes from `without_last` on, or else those of the portion, that are no longer in a
    /// window.
    held: Vec<u8>,
    /// True if the portion has become too long to hold.
    is_lost: bool,
    /// Position of the next interrupt.
    interrupt: u64,
    tuning: Tuning,
    backoff: Backoff,
    /// Bytes of portions that are compared before sums are computed, if enabled.
    probes: Option<Box<Probes>>,
    audit: Option<Box<Audit>>,
    stats: DifferentialStats,
    bytes: usize,
}

/// The bytes of every portion, for tests: the result may differ only for portions with equal sums
/// and unequal bytes.
#[derive(Debug, Default)]
struct Audit {
    portions: List<Audited>,
    ending: Vec<u8>,
}

/// The bytes of a checkpoint's portion, and of its partially processed content.
#[derive(Debug, Default)]
struct Audited {
    portion: Vec<u8>,
    part: Vec<u8>,
}

impl<F: Form, M: PortionMatcher> Engine<F, M> {
    fn new(portions: Portions, is_adaptive: bool) -> Self {
        Engine {
            portions,
            is_adaptive,
            form: F::new(&portions),
            matcher: M::default(),
            base: None,
            list: List::default(),
            ending: None,
            mode: Mode::Regular { due: false },
            first: None,
            at: 0,
            without_last: None,
            held: Vec::new(),
            is_lost: false,
            interrupt: 0,
            tuning: Tuning::new(&portions),
            backoff: Backoff::default(),
            probes: portions.probe.then(Box::default),
            audit: portions.audit.then(Box::default),
            stats: DifferentialStats::default(),
            bytes: 0,
        }
    }

    /// Forgets all checkpoints.
    fn clear(&mut self) {
        (self.list, self.ending, self.base) = (List::default(), None, None);
        (self.form, self.bytes) = (F::new(&self.portions), 0);
        self.probes = self.portions.probe.then(Box::default);
        self.audit = self.audit.as_ref().map(|_| Box::default());
    }

    /// Removes the last checkpoint passed.
    fn remove_last(&mut self) {
        let Some(checkpoint) = self.list.remove_last() else { return };
        self.form.discard(checkpoint.kept);
        if let Some(probes) = &mut self.probes {
            probes.portions.remove_last();
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.remove_last();
        }
    }

    /// Removes the checkpoint ahead.
    fn remove(&mut self) -> bool {
        let Some(checkpoint) = self.list.remove() else { return false };
        self.form.discard(checkpoint.kept);
        if let Some(probes) = &mut self.probes {
            probes.portions.remove();
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.remove();
        }
        true
    }

    fn pass(&mut self) {
        self.list.pass();
        if let Some(probes) = &mut self.probes {
            probes.portions.pass();
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.pass();
        }
    }

    /// Switches to regular mode after a checkpoint.
    fn go_regular(&mut self, state: &mut State, due: bool) {
        self.mode = Mode::Regular { due };
        self.interrupt = self.at + self.tuning.portion();
        self.forget_held();
        state.hooks().notes_locations = F::NOTES_LOCATIONS;
        state.hooks().held_back = (self.tuning.portion() as usize).max(64);
    }

    /// Forgets the held bytes: they belong to no portion.
    fn forget_held(&mut self) {
        self.held.clear();
        (self.without_last, self.is_lost) = (None, false);
    }

    fn live<'a>(base: &'a Base, state: &'a mut State, offset: u64) -> Live<'a> {
        Live::new(base, state, offset)
    }

    /// Updates the count of held bytes.
    fn count_bytes(&mut self) {
        let held =
            |checkpoint: &Checkpoint<F::Saved, M::Sum>| self.form.held(&checkpoint.kept) + M::held(&checkpoint.sum);
        let each: usize = self.list.as_slice().iter().map(held).sum();
        let probes = self.probes.as_ref().map_or(0, |probes| size_of::<Probes>() + probes.portions.bytes());
        self.bytes = self.list.bytes() + probes + each + self.form.bytes() + self.held.capacity() + size_of::<Self>();
    }
}
