//! What the routines do for a policy: pause where a checkpoint may lie, hold back what is cut, note where children begin. Each is a
//! test of one word while there is no policy.

use super::Policy;
use crate::decode::{Cursor, Frame, State, Step, Stop};

/// The policy at work, and what it wants of the routines.
#[derive(Debug, Default)]
pub struct Hooks {
    pub(crate) policy: Option<Box<dyn Policy>>,
    /// Where routines are to pause.
    pub watch: Option<Watch>,
    /// Whether routines are to note where children begin.
    pub notes_locations: bool,
    /// The location information stack: an entry for each frame.
    locations: Vec<Option<Location>>,
    /// The lowest level that the matching stack has come down to since this was last set.
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
    /// Bindings taken over by trees before it.
    pub inherited: usize,
}

impl Cursor<'_> {
    /// At a switching point of the routine whose frame is `me`: pauses if a checkpoint may lie here.
    #[inline]
    pub(crate) fn pause_at_watch(&mut self, me: usize) -> Step {
        match self.state().hooks.watch {
            Some(watch) => self.check_watch(me, watch),
            None => Ok(()),
        }
    }

    #[cold]
    fn check_watch(&mut self, me: usize, watch: Watch) -> Step {
        let state = self.state();
        if is_due(state, me, watch) && state.reader.is_between_tokens() { Err(Stop::Switch) } else { Ok(()) }
    }

    /// In front of a text that the window cuts: pauses if the cut is an interrupt's, so that the text can be read in one
    /// piece, and so that a checkpoint made now stands in front of it.
    #[inline]
    pub(crate) fn hold_back(&mut self) -> Step {
        let most = self.state().hooks.held_back;
        if most == 0 || self.is_last() || self.reader().tag_is_empty() || self.rest().len() > most {
            return Ok(());
        }
        let rest = self.rest();
        match memchr::memchr(b'<', rest) {
            Some(end) if end + 1 < rest.len() => Ok(()),
            _ => Err(Stop::Pending),
        }
    }

    /// A routine with children was entered.
    #[inline]
    pub(crate) fn begin_children(&mut self, me: usize) {
        self.frame(me).has_children = true;
        let hooks = &mut self.state().hooks;
        if hooks.notes_locations {
            hooks.locations.truncate(me);
        }
    }

    /// Notes the child whose start tag was just read, before the routine's frame says so.
    #[inline]
    pub(crate) fn note_location(&mut self, me: usize) {
        if self.state().hooks.notes_locations && self.frame(me).has_children {
            let (offset, mut before) = (self.reader().tag_offset(), *self.frame(me));
            before.state = 0;
            let state = self.state();
            let inherited = state.trees.inherited;
            state.hooks.note(me, Location { offset, before, inherited });
        }
    }

    /// Says that the calling routine keeps progress elsewhere than in its frame, or reads what must not be met half-way.
    pub(crate) fn keep_elsewhere(&mut self) {
        let state = self.state();
        if let Some(frame) = state.stack.level.checked_sub(1).and_then(|level| state.stack.frames.get_mut(level)) {
            frame.is_opaque = true;
        }
    }

    /// Where a routine is entered for an element that stands in the place of one of the message before: true if it goes
    /// on over the old value, so that checkpoints within it can be met.
    #[inline]
    pub(crate) fn go_over(&mut self, me: usize) -> bool {
        let state = self.state();
        let is_over = state.hooks.policy.is_some() && state.stack.over == me;
        if is_over {
            state.stack.over = me + 1;
        }
        is_over
    }

    /// True if the caller of the routine is over an old value.
    #[inline]
    pub(crate) fn is_within_old(&self, me: usize) -> bool {
        me.checked_sub(1).is_some_and(|caller| self.is_over(caller))
    }
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
        let frame = self.stack.caller();
        if watch.level + 1 != self.stack.level || watch.field != frame.field {
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

fn is_due(state: &State, me: usize, watch: Watch) -> bool {
    let progress = |level: usize| state.stack.frames.get(level).map(|frame| (frame.field, frame.count));
    let aim = Some((watch.field, watch.count));
    if me == watch.level {
        progress(me) >= aim
    } else {
        me < watch.level || (watch.is_inside && me == watch.level + 1 && progress(watch.level) == aim)
    }
}

impl Hooks {
    /// Where the child begins that the routine at a level reads, if that was noted.
    pub fn location(&self, level: usize) -> Option<Location> {
        *self.locations.get(level)?
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

    fn note(&mut self, level: usize, location: Location) {
        self.locations.resize(level + 1, None);
        self.locations[level] = Some(location);
    }
}
