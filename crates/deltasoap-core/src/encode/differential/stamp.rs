//! What tracked values tell about themselves.

/// The state that a tracked value is in: which value it is, and its epoch. An epoch ends when the
/// value is written into a message; the next change begins another. So a template that holds the
/// same stamp holds the same value, and one that holds the epoch before differs in just what the
/// value has marked as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// No two tracked values of a process have the same. Not 0.
    pub identity: u64,
    /// Grows by one with the first change after the value was written.
    pub epoch: u64,
}

impl Stamp {
    /// As a template stores it.
    pub(crate) fn values(self) -> [u64; 2] {
        [self.identity, self.epoch]
    }

    /// Returns true if a value with this stamp has all its changes since `other` marked.
    pub(crate) fn follows(self, other: Stamp) -> bool {
        self.identity == other.identity && self.epoch == other.epoch.wrapping_add(1)
    }
}

/// The items of a tracked list that changed in its epoch.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The list's state.
    pub stamp: Stamp,
    /// A bit an item, the lowest first; items after the last bit have not changed. Items that came
    /// are marked; after a list got longer or shorter, those whose place holds another item than
    /// before are marked too.
    pub dirty: &'a [u64],
}
