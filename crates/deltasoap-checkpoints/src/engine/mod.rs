//! The machine of the papers: regular and fast mode, switching between them, and the list of
//! checkpoints.
//!
//! ```text
//!            an operation begins, as the one before did
//!                               |
//!   +------------------------>  v
//!   |  met a checkpoint    +---------+   sums equal: skip the portion, pass its checkpoint
//!   |  +-----------------> |  fast   | --+
//!   |  |                   +---------+ <-+
//!   |  |                        | a sum differs: restore the last checkpoint passed, unless it was the first sum
//!   |  |                        v
//!   |  |                   +---------+   every N bytes: an interrupt, a checkpoint
//!   |  +------------------ | regular | --+
//!   |                      +---------+ <-+
//!   |                           | the operation's end
//!   +---------------------------+
//! ```
//!
//! *Differential Deserialization*, section 3, with these differences:
//!
//! - An interrupt is a window that ends early: the routines pause as they do where bytes run out. A
//!   checkpoint is made where they stand, always before a token or inside a long text, and what
//!   lies between that and the interrupt is its partially processed content.
//! - The paper's four switching points are places of two kinds here:
//!
//!   | the paper's | here |
//!   |---|---|
//!   | just after a tag | the same |
//!   | just before a start tag, just before an end tag | just after the tag before it; white space between the two is read with the later one |
//!   | just before an end tag, after character data | none: a text and its end tag are read in one go |
//!   | just before character data | just after a leaf's start tag, if it has no attributes; inside long texts |
//! - The start tag of the operation must be as it was, attributes included, for it is not read in
//!   fast mode. The first checkpoint, just after it, is the machine's [`Base`]; its state needs no
//!   copy.
//! - Memory blocks are the `Vec`s of the value. An array that grows or shrinks is the paper's
//!   reallocated block: routines go on *over the old value*, replace what they read, and cut off
//!   what they pass over; see [`Cursor::is_over`](deltasoap_core::decode::Cursor::is_over). Blocks
//!   of stale checkpoints go when an array is cut. Where a routine would have to begin with a
//!   vacant value, no switch is made within it.
//! - New checkpoints stand in the list as soon as they are made, after the one restored last, where
//!   the paper merges them when regular mode ends. Stale ones are removed at once.
//! - A checkpoint that is met less than half a portion after a new one replaces it. Else, with each
//!   message whose values have other lengths, short portions would be added, and the list would
//!   grow without end.
//! - The portion after a checkpoint that is met is compared before anything else is done. If it
//!   differs, the machine has never left regular mode; such an attempt is counted as *futile*, not
//!   as a switch. The paper's switches are both together. The checkpoint is then dropped, unless it
//!   is at an interrupt, for the one to be made there: else those that happen to lie in markup
//!   would gather where all is changed, and with them futile attempts. Lightweight ones all lie in
//!   markup: they are dropped only if a new one lies less than a portion before.
//! - After a bad message, no sum is known of the portion where it failed: the paper's flag that
//!   forces regular mode. Checkpoints ahead of it are dropped, for what the message cut off before
//!   it failed may be theirs.

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
use tuning::{Attention, Tuning};

pub(crate) use life::make;

/// A checkpoint: a place in the message, and what lies between the one before and this.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint<K, S> {
    /// Of its portion.
    size: Size,
    sum: S,
    kept: K,
}

/// Longest portion.
const PORTION: usize = 1 << 20;

/// Which mode the machine is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `first`: no portion was checked since the switch, so the routines stand where it was made.
    Fast { first: bool },
    /// `due`: the routines stand at a place that was not compared with the checkpoint ahead yet.
    Regular { due: bool },
}

/// The last portion, and how the operation ends.
#[derive(Debug)]
struct Ending<S> {
    size: Size,
    sum: S,
    /// Bytes of the end tag.
    tag: u64,
    rare: Rare,
}

/// The machine, with a form and a matcher.
#[derive(Debug)]
struct Engine<F: Form, M: PortionMatcher> {
    portions: Portions,
    is_adaptive: bool,
    form: F,
    matcher: M,
    base: Option<Base>,
    list: List<Checkpoint<F::Kept, M::Sum>>,
    ending: Option<Ending<M::Sum>>,
    mode: Mode,
    /// What the comparison has shown that a switch to fast mode begins with.
    first: Option<fast::Portion>,
    /// Position of the last checkpoint: where the portion begins.
    at: u64,
    /// Position of the checkpoint before that one, if that one is new: where the portion begins if
    /// it is dropped.
    without_last: Option<u64>,
    /// The bytes from `without_last` on, else those of the portion, as far as they are in no window
    /// any more.
    held: Vec<u8>,
    /// True if the portion has grown too long to be held.
    is_lost: bool,
    /// Position of the next interrupt.
    interrupt: u64,
    tuning: Tuning,
    attention: Attention,
    /// What is compared of portions before their sums are made, if anything.
    probes: Option<Box<Probes>>,
    audit: Option<Box<Audit>>,
    stats: DifferentialStats,
    bytes: usize,
}

/// The bytes of every portion, in tests: only portions with equal sums and unequal bytes may give
/// another result.
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
            attention: Attention::default(),
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

    /// Begins regular mode after a checkpoint.
    fn go_regular(&mut self, state: &mut State, due: bool) {
        self.mode = Mode::Regular { due };
        self.interrupt = self.at + self.tuning.portion();
        self.forget_held();
        state.hooks().notes_locations = F::NOTES_LOCATIONS;
        state.hooks().held_back = (self.tuning.portion() as usize).max(64);
    }

    /// The bytes read so far are those of no portion.
    fn forget_held(&mut self) {
        self.held.clear();
        (self.without_last, self.is_lost) = (None, false);
    }

    fn live<'a>(base: &'a Base, state: &'a mut State, offset: u64) -> Live<'a> {
        Live::new(base, state, offset)
    }

    /// Counts what is held.
    fn count_bytes(&mut self) {
        let held =
            |checkpoint: &Checkpoint<F::Kept, M::Sum>| self.form.held(&checkpoint.kept) + M::held(&checkpoint.sum);
        let each: usize = self.list.as_slice().iter().map(held).sum();
        let probes = self.probes.as_ref().map_or(0, |probes| size_of::<Probes>() + probes.portions.bytes());
        self.bytes = self.list.bytes() + probes + each + self.form.bytes() + self.held.capacity() + size_of::<Self>();
    }
}
