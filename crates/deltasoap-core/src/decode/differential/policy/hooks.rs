//! Requests of a policy to the routines: to pause where a checkpoint may lie, to hold back texts
//! that are cut, to note where children begin.

use super::Policy;
use crate::decode::state::{MatchingStack, TreeCounts};
use crate::decode::{Frame, State};

/// The active policy, and its requests to the routines.
#[derive(Debug, Default)]
pub struct Hooks {
    pub(crate) policy: Option<Box<dyn Policy>>,
    /// Where routines must pause.
    pub watch: Option<Watch>,
    /// True if routines must note where children begin.
    pub notes_locations: bool,
    /// The location information stack: an entry for each frame.
    pub(in crate::decode::differential) locations: Vec<Option<Locations>>,
    /// The lowest level of the matching stack since this was last set; initially `usize::MAX`.
    pub low: usize,
    /// Maximum number of bytes of a cut text that are held back; 0 for none.
    pub held_back: usize,
}

/// The place at which a routine must pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// The level of its frame.
    pub level: usize,
    /// The field that it must reach.
    pub field: u32,
    /// The number of occurrences of the field that it must reach.
    pub count: u32,
    /// True if it must be inside the last of them.
    pub is_inside: bool,
}

impl Watch {
    /// Returns true if a routine between two children, whose frame is `me`, must pause.
    pub(in crate::decode::differential) fn is_due(self, stack: &MatchingStack, me: usize) -> bool {
        let progress = |level: usize| stack.frames.get(level).map(|frame| (frame.field, frame.count));
        let aim = Some((self.field, self.count));
        if me == self.level {
            progress(me) >= aim
        } else {
            me < self.level || (self.is_inside && me == self.level + 1 && progress(self.level) == aim)
        }
    }

    /// Returns the number of occurrences of the field that can be read without checking the watch.
    fn items(&self) -> u32 {
        self.count - u32::from(self.is_inside && self.count > 0)
    }
}

/// The start of a child.
#[derive(Debug, Clone, Copy)]
pub struct Location {
    /// Position of its start tag.
    pub offset: u64,
    /// The progress before it.
    pub before: Frame,
    /// The fields seen before it, one bit each, if the routine notes them.
    pub seen: Option<u64>,
    /// The counts for trees before it.
    pub trees: TreeCounts,
}

/// The starts of a routine's children.
#[derive(Debug, Clone, Copy)]
pub(in crate::decode::differential) struct Locations {
    /// The first one since locations were last cleared.
    first: Location,
    last: Location,
}

impl State {
    /// Returns the number of flat items that the calling routine may read before it must check the
    /// watch.
    #[inline]
    pub(crate) fn items_to_watch(&self) -> usize {
        match self.hooks.watch {
            Some(watch) => self.items_to(watch),
            None => usize::MAX,
        }
    }

    #[cold]
    fn items_to(&self, watch: Watch) -> usize {
        let (frame, me) = (self.stack.caller(), self.stack.level.saturating_sub(1));
        if me != watch.level {
            return if watch.is_due(&self.stack, me) { 0 } else { usize::MAX };
        }
        if watch.field != frame.field {
            return usize::MAX;
        }
        let items = watch.items() as usize;
        match items.checked_sub(frame.count as usize) {
            // Inside the first item of such a watch, the general routines must be used.
            Some(0) if watch.is_inside => 0,
            Some(left) => left,
            None => {
                if watch.is_inside {
                    usize::MAX
                } else {
                    0
                }
            }
        }
    }
}

impl Hooks {
    /// Returns the start of the child that the routine at `level` reads, if it was noted.
    pub fn location(&self, level: usize) -> Option<Location> {
        Some((*self.locations.get(level)?)?.last)
    }

    /// Returns the start of the first noted child of the routine at `level`.
    pub fn first_location(&self, level: usize) -> Option<Location> {
        Some((*self.locations.get(level)?)?.first)
    }

    /// Forgets where children begin, because the routines are elsewhere now.
    pub fn forget_locations(&mut self) {
        self.locations.clear();
    }

    /// Returns true while a policy is active.
    pub(crate) fn is_busy(&self) -> bool {
        self.policy.is_some()
    }

    /// Takes the policy, and drops its requests to the routines.
    pub(crate) fn release(&mut self) -> Option<Box<dyn Policy>> {
        std::mem::take(self).policy
    }

    pub(in crate::decode::differential) fn note(&mut self, level: usize, location: Location) {
        self.locations.resize(level + 1, None);
        match &mut self.locations[level] {
            Some(locations) => locations.last = location,
            none => *none = Some(Locations { first: location, last: location }),
        }
    }
}
