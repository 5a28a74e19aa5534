//! The values of a memory: that of the last message, and those of messages of other kinds, which
//! wait in slots.
//!
//! All decisions are made independently of their type ([`AnyValues`]), so that they are compiled
//! once instead of for each type.

use super::leaf::Mend;
use crate::Content;
use crate::decode::{Cursor, Step};
use crate::schema::View;

#[derive(Debug)]
pub(crate) struct Values<T> {
    /// The value of the last message.
    pub(crate) value: T,
    aside: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Values<T> {
    pub(crate) fn new(value: T) -> Self {
        Values { value, aside: Vec::new(), free: Vec::new() }
    }

    /// Drops all values except the last message's.
    pub(crate) fn forget_others(&mut self) {
        (self.aside, self.free) = Default::default();
    }

    /// Returns the size of the slots in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.aside.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<usize>()
    }
}

/// [`Values`] of any type.
pub(crate) trait AnyValues {
    /// See [`Shortcuts::DYNAMIC`](crate::content::Shortcuts::DYNAMIC).
    fn are_dynamic(&self) -> bool;

    /// See [`Content::decode`].
    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// See [`Shortcuts::mend`](crate::content::Shortcuts::mend).
    fn mend(&mut self, view: View<'_>, mend: &Mend<'_>) -> Option<()>;

    /// Replaces the value with a vacant one.
    fn vacate(&mut self, view: View<'_>);

    /// Moves the value to a slot and returns the slot's number; a vacant value takes its place.
    fn set_aside(&mut self, view: View<'_>) -> usize;

    /// Replaces the value with that of a slot, which becomes free.
    fn restore(&mut self, slot: usize);

    /// Drops the value of a slot.
    fn free(&mut self, slot: usize);

    /// Drops the values of all slots.
    fn free_all(&mut self);
}

impl<T: Content> AnyValues for Values<T> {
    fn are_dynamic(&self) -> bool {
        T::DYNAMIC
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.value.decode(cursor, view)
    }

    fn mend(&mut self, view: View<'_>, mend: &Mend<'_>) -> Option<()> {
        self.value.mend(view, mend)
    }

    fn vacate(&mut self, view: View<'_>) {
        self.value = T::vacant(view);
    }

    fn set_aside(&mut self, view: View<'_>) -> usize {
        let value = Some(std::mem::replace(&mut self.value, T::vacant(view)));
        match self.free.pop() {
            Some(slot) => {
                self.aside[slot] = value;
                slot
            }
            None => {
                self.aside.push(value);
                self.aside.len() - 1
            }
        }
    }

    fn restore(&mut self, slot: usize) {
        debug_assert!(self.aside[slot].is_some(), "a kept message has no value");
        if let Some(value) = self.aside[slot].take() {
            self.value = value;
            self.free.push(slot);
        }
    }

    fn free(&mut self, slot: usize) {
        if self.aside[slot].take().is_some() {
            self.free.push(slot);
        }
    }

    fn free_all(&mut self) {
        self.forget_others();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Typed;

    #[test]
    fn values_wait_in_slots() {
        let (mut values, view) = (Values::new(1), i32::view());
        let first = values.set_aside(view);
        assert_eq!(values.value, 0);
        values.value = 2;
        let second = values.set_aside(view);
        values.restore(first);
        assert_eq!(values.value, 1);
        // Its slot is reused.
        assert_eq!(values.set_aside(view), first);
        values.free(first);
        values.restore(second);
        assert_eq!(values.value, 2);
        values.vacate(view);
        assert_eq!((values.value, values.aside.iter().flatten().count()), (0, 0));
    }
}
