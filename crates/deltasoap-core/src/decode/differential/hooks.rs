//! The interface between the routines and the code that compares a message with the previous one:
//! leaf checkpoints, or a [policy](super::policy). Flat lists note their runs of items directly
//! with the leaf session.
//!
//! | when | call |
//! |---|---|
//! | the operation begins, or ends | [`Memory`](super::Memory) |
//! | before a token, and before a text | `at_markup`, `at_text`: a policy may request a pause |
//! | an element with children begins | `begin_children`; over an old value, `go_over` |
//! | a child begins, and ends | `at_child`, then `begin_child`; `end_child`: its place is noted |
//! | a difference was found: the way to the element | `is_seeking`, `descend` |
//! | a child begins over an old value | `take_shift`, then `resync`: fast mode may continue |
//! | a list has too many other items, or too few | `read_again`: regular mode reports it |
//! | an element ends over an old value | `leave_old_element` |
//! | fields and counts do not identify content | `note_nothing` to `note_again`, `keep_elsewhere` |
//! | a tree takes nodes or bindings | `note_bindings`, `check_skipped_trees`, `tree_nodes_left` |
//! | references are found | `is_compared`, `drop_policy`, `leave_differential`, `compare_nothing` |
//!
//! Leaf checkpoints are called directly, because they act at every element. A policy acts on
//! windows, through a trait: here it costs a test of one word while there is none.
//!
//! Besides these calls, `driver` tells the leaf session when chunks come and go, and `memory` when
//! a message begins and ends. `State` resets the session.

use super::leaf::{AnyOrder, Descent, Shift, StartTag};
use super::policy::{Location, Watch};
use crate::decode::{Cursor, State, Step, Stop};

impl<'c> Cursor<'c> {
    /// At a switching point of the routine whose frame is `me`: pauses if a checkpoint may lie
    /// here.
    #[inline]
    pub(crate) fn at_markup(&mut self, me: usize) -> Step {
        match self.state().hooks.watch {
            Some(watch) => self.check_watch(me, watch),
            None => Ok(()),
        }
    }

    #[cold]
    fn check_watch(&mut self, me: usize, watch: Watch) -> Step {
        let state = self.state();
        if watch.is_due(&state.stack, me) && state.reader.is_between_tokens() { Err(Stop::Switch) } else { Ok(()) }
    }

    /// Before a text that the window cuts: pauses if the cut comes from an interrupt, so that the
    /// text can be read in one piece, and so that a checkpoint created now lies before it.
    #[inline]
    pub(crate) fn at_text(&mut self) -> Step {
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

    /// Called when a routine with children was entered.
    #[inline]
    pub(crate) fn begin_children(&mut self, me: usize) {
        self.frame(me).has_children = true;
        let hooks = &mut self.state().hooks;
        if hooks.notes_locations {
            hooks.locations.truncate(me);
        }
    }

    /// Called at a child whose start tag was just read, before the routine's frame is updated. The
    /// field is already among those seen.
    #[inline]
    pub(crate) fn at_child(&mut self, me: usize, field: u32) {
        if self.state().hooks.notes_locations && self.frame(me).has_children {
            self.note_child(me, field);
        }
    }

    fn note_child(&mut self, me: usize, field: u32) {
        let (offset, mut before) = (self.reader().tag_offset(), *self.frame(me));
        before.state = 0;
        let is_first = before.field != field || before.count == 0;
        let state = self.state();
        let (trees, seen) = (state.trees.taken, state.stack.fields_seen(&before));
        let seen = seen.map(|seen| if is_first { seen & !(1 << field) } else { seen });
        state.hooks.note(me, Location { offset, before, seen, trees });
    }

    /// Called when a child begins, whose start tag was just read.
    #[inline]
    pub(crate) fn begin_child(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.recorder.open(position, field, count);
    }

    /// Called when the child that began last has ended.
    #[inline]
    pub(crate) fn end_child(&mut self) {
        self.state.session.recorder.close();
    }

    /// Called when a predicted leaf was read, whose start tag was the last one.
    #[inline]
    pub(crate) fn note_leaf(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.note_leaf(position, field, count);
    }

    /// Notes nothing until the matching [`note_again`](Self::note_again): the children of the
    /// element are not identified by their fields.
    pub(crate) fn note_nothing(&mut self) {
        self.state().session.recorder.mute();
    }

    /// See [`note_nothing`](Self::note_nothing).
    pub(crate) fn note_again(&mut self) {
        self.state().session.recorder.unmute();
    }

    /// Declares that the calling routine keeps progress outside its frame, or that checkpoints must
    /// not lie within what it reads.
    pub(crate) fn keep_elsewhere(&mut self) {
        let state = self.state();
        if let Some(frame) = state.stack.level.checked_sub(1).and_then(|level| state.stack.frames.get_mut(level)) {
            frame.is_opaque = true;
        }
    }

    /// Called when a routine is entered for an element that replaces one of the previous message.
    /// Returns true if it continues over the old value, so that checkpoints within it can be
    /// reached.
    #[inline]
    pub(crate) fn go_over(&mut self, me: usize) -> bool {
        let state = self.state();
        let is_over = state.hooks.policy.is_some() && state.stack.over == me;
        if is_over {
            state.stack.over = me + 1;
        }
        is_over
    }

    /// Returns true if the caller of the routine is over an old value.
    #[inline]
    pub(crate) fn is_within_old(&self, me: usize) -> bool {
        me.checked_sub(1).is_some_and(|caller| self.is_over(caller))
    }

    /// Returns true while routines are on the way to a place in the middle of a message, in a value
    /// that is already complete: they enter fresh, and must leave the value as it is.
    #[inline]
    pub fn is_seeking(&self) -> bool {
        self.state.session.is_seeking()
    }

    /// Returns true once if an operation that was compared is read from its start after all: its
    /// start tag was just reread.
    ///
    /// # Errors
    /// None, because the tag has been read before.
    pub(crate) fn begins_again(&mut self) -> Step<bool> {
        let begins_again = self.state.session.take_vacated();
        if begins_again {
            self.state.stats.deviations = self.state.tolerated.go_back();
            self.state.reopen_operation(&self.window)?;
        }
        Ok(begins_again)
    }

    /// Returns the next step on the way to that place, for the routine whose frame this is.
    pub(crate) fn descend(&mut self, index: usize) -> Step<Descent> {
        let step = self.state.session.descend(index);
        match step {
            Descent::Into { old, .. } => self.state.open_old(&self.window, old)?,
            Descent::Here { .. } => self.state.stack.over = index + 1,
        }
        Ok(step)
    }

    /// Returns the fields before the place that routines are on the way to, as bits, in an element
    /// whose fields come in any order.
    pub(crate) fn fields_passed(&mut self) -> u64 {
        self.state().session.fields_passed()
    }

    /// Called when regular mode continues among flat items.
    pub(crate) fn charge_flat(&mut self) {
        self.state().session.bounds.charge_flat();
    }

    /// Returns the shift that the current list needs to be aligned with the message, if any: the
    /// field, and the items.
    pub(crate) fn take_shift(&mut self) -> Option<(u32, Shift)> {
        self.state().session.take_shift()
    }

    /// Returns the number of items of the list that was patched last, if it changed.
    pub(crate) fn take_resized(&mut self) -> Option<usize> {
        self.state().session.resized.take()
    }

    /// Rereads the message from its start, because the comparison with the previous one cannot be
    /// right.
    ///
    /// # Errors
    /// [`Stop::Switch`] while the message is compared.
    pub(crate) fn read_again(&mut self) -> Step {
        if self.state().session.read_again() { Err(Stop::Switch) } else { Ok(()) }
    }

    /// Returns true while the message is compared with the previous one.
    pub(crate) fn is_compared(&self) -> bool {
        self.state.session.is_compared()
    }

    /// Removes the policy of another crate, if any, from this message.
    pub(crate) fn drop_policy(&mut self) {
        if let Some(mut policy) = self.state().hooks.release() {
            policy.fail();
        }
    }

    /// Allows the message to be compared only as a whole, if at all.
    ///
    /// # Errors
    /// [`Stop::Switch`] if it is being compared: it is reread from its start.
    pub(crate) fn leave_differential(&mut self) -> Step {
        self.read_again()?;
        self.state().session.keep_whole();
        self.drop_policy();
        Ok(())
    }

    /// Prevents memories that read a part of this message from here on from comparing it with an
    /// earlier one: for roots whose parts have memories of their own, and may refer to each other.
    pub fn compare_nothing(&mut self) {
        self.state().session.bar();
    }

    /// Called when a tree took over `count` declarations in scope.
    pub(crate) fn note_bindings(&mut self, count: usize) {
        self.state().session.trees.note(count);
    }

    /// Checks the limits on trees, including those that were skipped. If they may be exceeded,
    /// regular mode decides. Where only nodes were added, `tree_nodes_left` is an equivalent check.
    ///
    /// # Errors
    /// See [`read_again`](Self::read_again), which is called if limits may be exceeded.
    pub(crate) fn check_skipped_trees(&mut self) -> Step {
        let State { trees, limits, session, .. } = &*self.state;
        let (taken, skipped) = (trees.taken, session.skipped_tree_counts());
        let is_within = taken.inherited.saturating_add(skipped.inherited) <= limits.inherited_bindings
            && taken.nodes.saturating_add(skipped.nodes) <= limits.tree_nodes;
        if is_within { Ok(()) } else { self.read_again() }
    }

    /// Returns the number of elements, attributes and declarations that trees may have in total,
    /// minus those that were skipped.
    pub(crate) fn tree_nodes_left(&self) -> usize {
        self.state.limits.tree_nodes.saturating_sub(self.state.session.skipped_tree_counts().nodes)
    }

    /// Called when bytes of a list's items were moved to align it.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.state().session.bounds.charge_moved(bytes);
    }

    /// Returns true if the element whose start tag was just read was at this place in the previous
    /// message; only over an old value.
    pub(crate) fn resync(&mut self, index: usize, field: u32, count: u32, is_array: bool) -> bool {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync(field, count, before, tag)
    }

    /// Like [`resync`](Self::resync), for fields in any order. Returns the fields that no longer
    /// occur.
    pub(crate) fn resync_in_any_order(
        &mut self,
        index: usize,
        field: u32,
        fields: AnyOrder,
        is_array: bool,
    ) -> Option<u64> {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync_in_any_order(field, fields, before, tag)
    }

    /// Returns the state before the start tag that was just read, and that tag.
    fn what_was_read(&mut self, index: usize, is_array: bool) -> ((u32, u32), StartTag<'c>) {
        let before = (self.frame(index).field, self.frame(index).count);
        let position = self.reader().tag_offset();
        let start = (position - self.window.base) as usize;
        let len = self.window.pos - start;
        (before, StartTag { window: self.window.bytes, start, len, position, is_array })
    }

    /// Returns true if a routine over an old value may still find elements of the previous message.
    pub(crate) fn can_resync(&self, index: usize) -> bool {
        self.is_over(index) && self.state.session.can_resync()
    }

    /// Called when a routine over the old value has reached the end of its element.
    pub(crate) fn leave_old_element(&mut self) {
        self.state().session.leave();
    }
}
