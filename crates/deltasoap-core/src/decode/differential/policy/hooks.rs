//! What a policy wants of the routines: to pause where a checkpoint may lie, to hold back what is
//! cut, to note where children begin.

use super::Policy;
use crate::decode::state::{MatchingStack, TreeCounts};
use crate::decode::{Frame, State};

/// The policy at work, and what it wants of the routines.
#[derive(Debug, Default)]
pub struct Hooks {
    pub(crate) policy: Option<Box<dyn Policy>>,
    /// Where routines are to pause.
    pub watch: Option<Watch>,
    /// Whether routines are to note where children begin.
    pub notes_locations: bool,
    /// The location information stack: an entry for each frame.
    pub(in crate::decode::differential) locations: Vec<Option<Locations>>,
    /// The lowest level that the matching stack has come down to since this was last set, to
    /// `usize::MAX` at first.
    pub low: usize,
    /// Most bytes of a cut text that are held back; 0 for none.
    pub held_back: usize,
}

/// What a routine is to pause at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// The level of its frame.
    pub level: usize,
    /// The field that it is to come to.
    pub field: u32,
    /// The number of the field's occurrences that it is to come to.
    pub count: u32,
    /// True if it is to be inside the last of them.
    pub is_inside: bool,
}

impl Watch {
    /// True if a routine between two children, whose frame is `me`, is to pause.
    pub(in crate::decode::differential) fn is_due(self, stack: &MatchingStack, me: usize) -> bool {
        let progress = |level: usize| stack.frames.get(level).map(|frame| (frame.field, frame.count));
        let aim = Some((self.field, self.count));
        if me == self.level {
            progress(me) >= aim
        } else {
            me < self.level || (self.is_inside && me == self.level + 1 && progress(self.level) == aim)
        }
    }

    /// Occurrences of the field that can be read without a look at the watch.
    fn items(&self) -> u32 {
        self.count - u32::from(self.is_inside && self.count > 0)
    }
}

/// Where a child begins.
#[derive(Debug, Clone, Copy)]
pub struct Location {
    /// Position of its start tag.
    pub offset: u64,
    /// The progress before it.
    pub before: Frame,
    /// The fields seen before it, a bit each, if the routine notes them.
    pub seen: Option<u64>,
    /// What trees before it have taken.
    pub trees: TreeCounts,
}

/// Where a routine's children begin.
#[derive(Debug, Clone, Copy)]
pub(in crate::decode::differential) struct Locations {
    /// The first one since locations were last forgotten.
    first: Location,
    last: Location,
}

impl State {
    /// How many flat items the calling routine may read before it must look at the watch.
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
            // In the first item of a watch inside it, the general routines must go.
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
    /// Where the child begins that the routine at a level reads, if that was noted.
    pub fn location(&self, level: usize) -> Option<Location> {
        Some((*self.locations.get(level)?)?.last)
    }

    /// Where the first child began of the routine at a level, of those that were noted.
    pub fn first_location(&self, level: usize) -> Option<Location> {
        Some((*self.locations.get(level)?)?.first)
    }

    /// Forgets where children begin: the routines stand elsewhere now.
    pub fn forget_locations(&mut self) {
        self.locations.clear();
    }

    /// True while a policy is at work.
    pub(crate) fn is_busy(&self) -> bool {
        self.policy.is_some()
    }

    /// The policy, which wants nothing of the routines any more.
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
