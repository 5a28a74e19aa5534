//! Copies of the reader's stacks, for checkpoints.
//!
//! A copy consists of interned ids, so it is valid only for the same reader in the same
//! [`epoch`](Reader::epoch).

use super::tag::Open;
use super::{DocumentPart, OpenToken, Reader};
use crate::name::NsId;
use crate::reader::scope::PrefixId;

/// A prefix and its binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub(super) prefix: PrefixId,
    pub(super) namespace: NsId,
}

impl Open {
    /// Returns the number of declarations that the elements around it have made.
    pub fn declared(&self) -> usize {
        self.bindings
    }
}

impl Reader {
    /// Returns an id of the reader, unique in the process, and the number of times that it forgot
    /// names.
    pub fn epoch(&self) -> (u64, u64) {
        (self.id, self.forgotten)
    }

    /// Returns the open elements, the root first.
    pub fn open_elements(&self) -> &[Open] {
        &self.open
    }

    /// Returns the declarations that the open elements from `level` on have made, oldest first;
    /// `None` if there are more than `most`.
    pub fn bound_from(&self, level: usize, most: usize) -> Option<Vec<Bound>> {
        let from = self.open.get(level).map_or(self.scopes.mark(), |open| open.bindings);
        if self.scopes.mark() - from > most {
            return None;
        }
        Some(self.scopes.bound_from(from))
    }

    /// Returns the number of declarations that the open elements from `level` on have made.
    pub fn declarations_above(&self, level: usize) -> usize {
        self.open.get(level).map_or(0, |open| self.scopes.mark() - open.bindings)
    }

    /// Returns to a place where the open elements were the first `keep` of the current ones, then
    /// `open`, which made the declarations `bound`. The reader is then between two tokens in the
    /// content of the innermost one.
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
        self.place = DocumentPart::Content;
        self.inside = OpenToken::Nothing;
        self.empty = false;
        self.resume = None;
    }

    /// Closes the innermost open element, whose end tag at `tag_offset` was skipped.
    pub fn close(&mut self, tag_offset: u64) {
        self.tag_offset = tag_offset;
        self.resume = None;
        let _ = self.end();
    }
}
