//! The state that tracked values report.

/// The state of a tracked value: its identity and its epoch. An epoch ends when the value is
/// written into a message; the next change begins another. So a template that holds the same stamp
/// holds the same value. A template that holds the previous epoch differs exactly in what the value
/// has marked as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Unique among the tracked values of a process. Never 0.
    pub identity: u64,
    /// Increases by one with the first change after the value was written.
    pub epoch: u64,
}

impl Stamp {
    /// Returns the stamp as stored in a template.
    pub(crate) fn values(self) -> [u64; 2] {
        [self.identity, self.epoch]
    }

    /// Returns true if a value with this stamp has marked all its changes since `other`.
    pub(crate) fn follows(self, other: Stamp) -> bool {
        self.identity == other.identity && self.epoch == other.epoch.wrapping_add(1)
    }
}

/// The items of a tracked list that changed in its epoch.
#[derive(Debug, Clone, Copy)]
pub struct Changes<'a> {
    /// The state of the list.
    pub stamp: Stamp,
    /// One bit per item, the lowest first; items after the last bit have not changed. New items are
    /// marked. After a list got longer or shorter, the positions that hold another item than before
    /// are marked too.
    pub dirty: &'a [u64],
}
