//! The reader's stacks, copied out and put back: for checkpoints.
//!
//! What is copied out means something to the same reader in the same [`epoch`](Reader::epoch)
//! alone, for it consists of interned ids.

use super::tag::Open;
use super::{Inside, Place, Reader};
use crate::name::NsId;
use crate::reader::scope::PrefixId;

/// A prefix and what it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub(super) prefix: PrefixId,
    pub(super) namespace: NsId,
}

impl Open {
    /// How many declarations the elements around it have made.
    pub fn declared(&self) -> usize {
        self.bindings
    }
}

impl Reader {
    /// Tells the reader from all others, and the time before it forgot names from the time behind.
    pub fn epoch(&self) -> (u64, u64) {
        (self.id, self.forgotten)
    }

    /// The open elements, the root first.
    pub fn open_elements(&self) -> &[Open] {
        &self.open
    }

    /// The declarations that the open elements from `level` on have made, oldest first; `None` if
    /// there are more than `most`.
    pub fn bound_from(&self, level: usize, most: usize) -> Option<Vec<Bound>> {
        let from = self.open.get(level).map_or(self.scopes.mark(), |open| open.bindings);
        if self.scopes.mark() - from > most {
            return None;
        }
        Some(self.scopes.bound_from(from))
    }

    /// How many declarations the open elements from `level` on have made.
    pub fn declarations_above(&self, level: usize) -> usize {
        self.open.get(level).map_or(0, |open| self.scopes.mark() - open.bindings)
    }

    /// Goes back to a place where the open elements were the first `keep` of those now open and
    /// then `open`, which have made the declarations `bound`; between two tokens in the innermost
    /// one's content.
    ///
    /// # Panics
    /// If fewer than `keep` elements are open.
    pub fn restore(&mut self, keep: usize, open: &[Open], bound: &[Bound]) {
        assert!(keep <= self.open.len(), "no such open element");
        while self.open.len() > keep {
            self.leave();
        }
        self.open.extend_from_slice(open);
        bound.iter().for_each(|bound| self.scopes.rebind(*bound));
        self.place = Place::Content;
        self.inside = Inside::Nothing;
        self.empty = false;
        self.resume = None;
    }

    /// Closes the innermost open element, whose end tag at `tag_offset` was passed over.
    pub fn close(&mut self, tag_offset: u64) {
        self.tag_offset = tag_offset;
        self.resume = None;
        let _ = self.end();
    }
}
