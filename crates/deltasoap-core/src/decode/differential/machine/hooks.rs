//! What the routines do for the machine: pause where a checkpoint may lie, hold back what is cut, note where children
//! begin. Each is a test of one word while there is no machine.

use super::{Machine, Papers};
use crate::decode::differential::checkpoint::{Location, Watch};
use crate::decode::{Cursor, State, Step, Stop};

impl Cursor<'_> {
    /// At a switching point of the routine whose frame is `me`: pauses if a checkpoint may lie here.
    #[inline]
    pub(crate) fn pause_at_watch(&mut self, me: usize) -> Step {
        match self.state().papers.watch {
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
        let most = self.state().papers.held_back;
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
        let locations = &mut self.state().papers.locations;
        if locations.is_on {
            locations.enter(me);
        }
    }

    /// Notes the child whose start tag was just read, before the routine's frame says so.
    #[inline]
    pub(crate) fn note_location(&mut self, me: usize) {
        if self.state().papers.locations.is_on && self.frame(me).has_children {
            let (offset, mut before) = (self.reader().tag_offset(), *self.frame(me));
            before.state = 0;
            let state = self.state();
            let inherited = state.inherited;
            state.papers.locations.set(me, Location { offset, before, inherited });
        }
    }

    /// Says that the calling routine keeps progress elsewhere than in its frame, or reads what must not be met half-way.
    pub(crate) fn keep_elsewhere(&mut self) {
        let state = self.state();
        if let Some(frame) = state.level.checked_sub(1).and_then(|level| state.stack.get_mut(level)) {
            frame.is_opaque = true;
        }
    }

    /// Where a routine is entered for an element that stands in the place of one of the message before: true if it goes
    /// on over the old value, so that checkpoints within it can be met.
    #[inline]
    pub(crate) fn go_over(&mut self, me: usize) -> bool {
        let state = self.state();
        let is_over = state.papers.machine.is_some() && state.over == me;
        if is_over {
            state.over = me + 1;
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
        match self.papers.watch {
            Some(watch) => self.items_to(watch),
            None => usize::MAX,
        }
    }

    #[cold]
    fn items_to(&self, watch: Watch) -> usize {
        let frame = self.caller();
        if watch.level + 1 != self.level || watch.field != frame.field {
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
    let progress = |level: usize| state.stack.get(level).map(|frame| (frame.field, frame.count));
    let aim = Some((watch.field, watch.count));
    if me == watch.level {
        progress(me) >= aim
    } else {
        me < watch.level || (watch.is_inside && me == watch.level + 1 && progress(watch.level) == aim)
    }
}

impl Papers {
    /// The machine, which wants nothing of the routines any more.
    pub(crate) fn release(&mut self) -> Option<Box<dyn Machine>> {
        let machine = self.machine.take();
        if machine.is_some() {
            self.reset();
        }
        machine
    }

    /// Makes ready for another message.
    pub(crate) fn reset(&mut self) {
        let keeps_bytes = self.keeps_bytes;
        *self = Papers { keeps_bytes, ..Papers::default() };
    }
}
