//! The list of checkpoints: those that the current message has passed, and those of the previous
//! message that lie ahead.
//!
//! It is one vector with a gap between the two parts. Passing a checkpoint moves it across the gap,
//! which costs nothing while there is none. Removing one widens the gap; adding one fills it. This
//! is the papers' linked list without the links.

/// A list in two parts.
#[derive(Debug)]
pub(super) struct List<T> {
    /// Items and, in the gap, `T::default()`.
    items: Vec<T>,
    /// Number of items before the gap; `passed <= ahead`.
    passed: usize,
    /// Index of the first item after the gap; `ahead <= items.len()`.
    ahead: usize,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Vec::new(), passed: 0, ahead: 0 }
    }
}

impl<T: Default> List<T> {
    /// Returns the last item passed.
    pub(super) fn last(&self) -> Option<&T> {
        self.items[..self.passed].last()
    }

    /// Returns the next item.
    pub(super) fn next(&self) -> Option<&T> {
        self.nth(0)
    }

    /// Returns the next item after `skipped` others.
    pub(super) fn nth(&self, skipped: usize) -> Option<&T> {
        self.items.get(self.ahead + skipped)
    }

    pub(super) fn next_mut(&mut self) -> Option<&mut T> {
        self.items.get_mut(self.ahead)
    }

    /// Passes the next item.
    pub(super) fn pass(&mut self) {
        if self.ahead == self.items.len() {
            return;
        }
        self.items.swap(self.passed, self.ahead);
        self.passed += 1;
        self.ahead += 1;
    }

    /// Removes the last item passed.
    pub(super) fn remove_last(&mut self) -> Option<T> {
        self.passed = self.passed.checked_sub(1)?;
        Some(std::mem::take(&mut self.items[self.passed]))
    }

    /// Removes the next item.
    pub(super) fn remove(&mut self) -> Option<T> {
        let item = std::mem::take(self.items.get_mut(self.ahead)?);
        self.ahead += 1;
        Some(item)
    }

    /// Adds an item after the last one passed.
    pub(super) fn insert(&mut self, item: T) {
        if self.passed == self.items.len() {
            self.items.push(item);
            (self.passed, self.ahead) = (self.passed + 1, self.ahead + 1);
            return;
        }
        if self.passed == self.ahead {
            self.widen();
        }
        self.items[self.passed] = item;
        self.passed += 1;
    }

    /// Widens the gap in proportion to the items that have to move.
    fn widen(&mut self) {
        let gap = 8 + (self.items.len() - self.ahead) / 4;
        self.items.splice(self.ahead..self.ahead, std::iter::repeat_with(T::default).take(gap));
        self.ahead += gap;
    }

    /// Moves all items ahead again and closes the gap.
    pub(super) fn rewind(&mut self) {
        self.items.drain(self.passed..self.ahead);
        (self.passed, self.ahead) = (0, 0);
        if self.items.capacity() > self.items.len() + self.items.len() / 16 + 8 {
            self.items.shrink_to_fit();
        }
    }

    /// Returns all items, provided that there is no gap.
    pub(super) fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Returns the bytes of the list itself, without what the items hold.
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_two_lists(operations in prop::collection::vec(0_u8..6, 0..200)) {
            let (mut list, mut passed, mut ahead) = (List::default(), Vec::new(), Vec::new());
            for (number, operation) in operations.into_iter().enumerate() {
                match operation {
                    0 | 1 => {
                        list.insert(number + 1);
                        passed.push(number + 1);
                    }
                    2 => {
                        list.pass();
                        passed.extend((!ahead.is_empty()).then(|| ahead.remove(0)));
                    }
                    3 => prop_assert_eq!(list.remove(), (!ahead.is_empty()).then(|| ahead.remove(0))),
                    4 => prop_assert_eq!(list.remove_last(), passed.pop()),
                    _ => {
                        list.rewind();
                        passed.append(&mut ahead);
                        ahead = std::mem::take(&mut passed);
                        prop_assert_eq!(list.as_slice(), &ahead);
                    }
                }
                prop_assert_eq!((list.last(), list.next(), list.nth(1)), (passed.last(), ahead.first(), ahead.get(1)));
            }
        }
    }
}
