//! The identity and epoch of a tracked value.

use crate::encode::differential::Stamp;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The identity of the next tracked value. Identities are unique until 64 bits overflow. None is 0,
/// which marks untracked values in a template's notes.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The state of a tracked value. Writing needs no exclusive access to a value, but changing it
/// does. So the next change sees every write, and no ordering among threads is needed beyond that
/// of `&mut`.
#[derive(Debug)]
pub(super) struct Epoch {
    stamp: Stamp,
    /// True if the value was written in this epoch: the next change begins a new epoch.
    is_sealed: AtomicBool,
}

impl Epoch {
    /// Creates the state of a value that no template holds.
    pub(super) fn new() -> Self {
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        Epoch { stamp: Stamp { identity, epoch: 0 }, is_sealed: AtomicBool::new(false) }
    }

    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Notes that the value was written: a template may hold its current state.
    pub(super) fn seal(&self) {
        // One store is enough; a load leaves the cache line shared.
        if !self.is_sealed.load(Ordering::Relaxed) {
            self.is_sealed.store(true, Ordering::Relaxed);
        }
    }

    /// Notes a change. Returns true if it is the first of an epoch.
    pub(super) fn change(&mut self) -> bool {
        let begins = std::mem::replace(self.is_sealed.get_mut(), false);
        self.stamp.epoch += u64::from(begins);
        begins
    }

    /// Returns true if no template can hold the value, in this or another epoch. Changes then need
    /// no note.
    pub(super) fn is_new(&self) -> bool {
        self.stamp.epoch == 0 && !self.is_sealed.load(Ordering::Relaxed)
    }

    /// Gives the value a new identity, which no template holds.
    pub(super) fn renew(&mut self) {
        if !self.is_new() {
            *self = Epoch::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_begins_with_the_first_change_after_writing() {
        let mut epoch = Epoch::new();
        let first = epoch.stamp();
        assert!(!epoch.change() && epoch.is_new());
        assert_eq!(epoch.stamp(), first);
        epoch.seal();
        epoch.seal();
        assert!(!epoch.is_new());
        assert_eq!(epoch.stamp(), first);
        assert!(epoch.change());
        assert!(!epoch.change());
        assert!(epoch.stamp().follows(first) && !epoch.is_new());
        epoch.seal();
        assert!(epoch.change());
        assert!(!epoch.stamp().follows(first));
    }

    #[test]
    fn identities_differ() {
        let mut epoch = Epoch::new();
        let first = epoch.stamp();
        epoch.renew();
        assert_eq!(epoch.stamp(), first, "nobody can hold it");
        epoch.seal();
        epoch.renew();
        assert_ne!(epoch.stamp().identity, first.identity);
        assert_ne!(Epoch::new().stamp().identity, Epoch::new().stamp().identity);
    }
}
