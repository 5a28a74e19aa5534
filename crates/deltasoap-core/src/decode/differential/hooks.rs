//! The interface between the routines and whatever compares a message with the one before: leaf
//! checkpoints, or a [policy](super::policy). Flat lists note their runs of items with the leaf
//! session directly.
//!
//! | when | call |
//! |---|---|
//! | the operation begins, or ends | [`Memory`](super::Memory) |
//! | before a token, and before a text | `at_markup`, `at_text`: a policy may want to pause |
//! | an element with children begins | `begin_children`; over an old value, `go_over` |
//! | a child begins, and ends | `at_child`, then `begin_child`; `end_child`: its place is noted |
//! | a difference was met: the way to the element | `is_seeking`, `descend` |
//! | a child begins over an old value | `take_shift`, then `resync`: fast mode may go on |
//! | a list has other items than before, and they are too many or too few | `read_again`: regular mode says so |
//! | an element ends over an old value | `leave_old_element` |
//! | what comes is not told by fields and counts | `note_nothing` to `note_again`, `keep_elsewhere` |
//! | a tree takes nodes, or declarations in scope | `note_bindings`, `check_skipped_trees`, `tree_nodes_left` |
//! | references are met | `is_compared`, `drop_policy`, `leave_differential`, `compare_nothing` |
//!
//! Leaf checkpoints are called directly, for they work at every element. A policy works at windows,
//! through a trait: here it costs a test of one word while there is none.

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

    /// Before a text that the window cuts: pauses if the cut is an interrupt's, so that the text
    /// can be read in one piece, and so that a checkpoint made now stands before it.
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

    /// A routine with children was entered.
    #[inline]
    pub(crate) fn begin_children(&mut self, me: usize) {
        self.frame(me).has_children = true;
        let hooks = &mut self.state().hooks;
        if hooks.notes_locations {
            hooks.locations.truncate(me);
        }
    }

    /// At a child whose start tag was just read, before the routine's frame says so. The field is
    /// among those seen already.
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

    /// A child begins, whose start tag was just read.
    #[inline]
    pub(crate) fn begin_child(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.recorder.open(position, field, count);
    }

    /// The child that began last has ended.
    #[inline]
    pub(crate) fn end_child(&mut self) {
        self.state.session.recorder.close();
    }

    /// A predicted leaf was read, whose start tag was the last one.
    #[inline]
    pub(crate) fn note_leaf(&mut self, field: u32, count: u32) {
        let position = self.state.reader.tag_offset();
        self.state.session.note_leaf(position, field, count);
    }

    /// Notes nothing until the matching [`note_again`](Self::note_again): the children of an
    /// element are not told by their fields.
    pub(crate) fn note_nothing(&mut self) {
        self.state().session.recorder.mute();
    }

    /// See [`note_nothing`](Self::note_nothing).
    pub(crate) fn note_again(&mut self) {
        self.state().session.recorder.unmute();
    }

    /// Says that the calling routine keeps progress elsewhere than in its frame, or reads what must
    /// not be met half-way.
    pub(crate) fn keep_elsewhere(&mut self) {
        let state = self.state();
        if let Some(frame) = state.stack.level.checked_sub(1).and_then(|level| state.stack.frames.get_mut(level)) {
            frame.is_opaque = true;
        }
    }

    /// Where a routine is entered for an element that stands in the place of one of the message
    /// before: true if it goes on over the old value, so that checkpoints within it can be met.
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

    /// True while routines are on the way to a place in the middle of a message, in a value that is
    /// whole already: they enter fresh, and must leave the value as it is.
    #[inline]
    pub fn is_seeking(&self) -> bool {
        self.state.session.is_seeking()
    }

    /// True once where an operation that was compared is read from its start after all: its start
    /// tag was just read again.
    ///
    /// # Errors
    /// None, as the tag has been read before.
    pub(crate) fn begins_again(&mut self) -> Step<bool> {
        let begins_again = self.state.session.take_vacated();
        if begins_again {
            self.state.stats.deviations = self.state.tolerated.go_back();
            self.state.reopen_operation(&self.window)?;
        }
        Ok(begins_again)
    }

    /// The next step on that way, for the routine whose frame this is.
    pub(crate) fn descend(&mut self, index: usize) -> Step<Descent> {
        let step = self.state.session.descend(index);
        match step {
            Descent::Into { old, .. } => self.state.open_old(&self.window, old)?,
            Descent::Here { .. } => self.state.stack.over = index + 1,
        }
        Ok(step)
    }

    /// In an element whose fields come in any order, the fields before the place that routines are
    /// on the way to, as bits.
    pub(crate) fn fields_passed(&mut self) -> u64 {
        self.state().session.fields_passed()
    }

    /// Regular mode goes on among flat items.
    pub(crate) fn charge_flat(&mut self) {
        self.state().session.bounds.charge_flat();
    }

    /// What the list at hand lacks to be in line with the message, if anything: the field, and the
    /// items.
    pub(crate) fn take_shift(&mut self) -> Option<(u32, Shift)> {
        self.state().session.take_shift()
    }

    /// How many items the list has that was patched last, if that changed.
    pub(crate) fn take_resized(&mut self) -> Option<usize> {
        self.state().session.resized.take()
    }

    /// What is compared with the message before cannot be right: it is read again from its start.
    ///
    /// # Errors
    /// [`Stop::Switch`] while the message is compared.
    pub(crate) fn read_again(&mut self) -> Step {
        if self.state().session.read_again() { Err(Stop::Switch) } else { Ok(()) }
    }

    /// True while the message is compared with the one before.
    pub(crate) fn is_compared(&self) -> bool {
        self.state.session.is_compared()
    }

    /// The policy of another crate, if any, has no part in this message any more.
    pub(crate) fn drop_policy(&mut self) {
        if let Some(mut policy) = self.state().hooks.release() {
            policy.fail();
        }
    }

    /// The message is compared with others as a whole alone, if at all.
    ///
    /// # Errors
    /// [`Stop::Switch`] if it is being compared: it is read again from its start.
    pub(crate) fn leave_differential(&mut self) -> Step {
        self.read_again()?;
        self.state().session.keep_whole();
        self.drop_policy();
        Ok(())
    }

    /// No memory that reads a part of this message from here on compares it with an earlier one:
    /// for roots whose parts have memories of their own, and may refer to each other.
    pub fn compare_nothing(&mut self) {
        self.state().session.bar();
    }

    /// A tree took over so many declarations in scope.
    pub(crate) fn note_bindings(&mut self, count: usize) {
        self.state().session.trees.note(count);
    }

    /// The trees that were read and those that were skipped may have taken more than the limits
    /// allow: regular mode decides. Where only nodes were added, `tree_nodes_left` says the same.
    ///
    /// # Errors
    /// As [`read_again`](Self::read_again), which this is then.
    pub(crate) fn check_skipped_trees(&mut self) -> Step {
        let State { trees, limits, session, .. } = &*self.state;
        let (taken, skipped) = (trees.taken, session.of_skipped_trees());
        let is_within = taken.inherited.saturating_add(skipped.inherited) <= limits.inherited_bindings
            && taken.nodes.saturating_add(skipped.nodes) <= limits.tree_nodes;
        if is_within { Ok(()) } else { self.read_again() }
    }

    /// How many elements, attributes and declarations trees may have in all but for those that were
    /// skipped.
    pub(crate) fn tree_nodes_left(&self) -> usize {
        self.state.limits.tree_nodes.saturating_sub(self.state.session.of_skipped_trees().nodes)
    }

    /// Bytes of a list's items were moved to bring it in line.
    pub(crate) fn charge_moved(&mut self, bytes: usize) {
        self.state().session.bounds.charge_moved(bytes);
    }

    /// Whether the element whose start tag was just read stood here in the message before; only
    /// over an old value.
    pub(crate) fn resync(&mut self, index: usize, field: u32, count: u32, is_array: bool) -> bool {
        let (before, tag) = self.what_was_read(index, is_array);
        self.state.session.resync(field, count, before, tag)
    }

    /// As [`resync`](Self::resync), where fields come in any order. Gives the fields that do not
    /// come any more.
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

    /// The state before the start tag that was just read, and that tag.
    fn what_was_read(&mut self, index: usize, is_array: bool) -> ((u32, u32), StartTag<'c>) {
        let before = (self.frame(index).field, self.frame(index).count);
        let position = self.reader().tag_offset();
        let start = (position - self.window.base) as usize;
        let len = self.window.pos - start;
        (before, StartTag { window: self.window.bytes, start, len, position, is_array })
    }

    /// True if a routine over an old value may still meet elements of the message before.
    pub(crate) fn can_resync(&self, index: usize) -> bool {
        self.is_over(index) && self.state.session.can_resync()
    }

    /// A routine over the old value has come to the end of its element.
    pub(crate) fn leave_old_element(&mut self) {
        self.state().session.leave();
    }
}
