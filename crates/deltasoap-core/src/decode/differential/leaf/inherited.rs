//! Bindings that trees take over from the elements around them, which the limit
//! [`inherited_bindings`](crate::Limits::inherited_bindings) bounds.
//!
//! Regular mode adds them up, tree by tree; trees in one scope that follow each other share them and count once. Of the trees
//! that fast mode skips only the sum is known, so the sum kept is an upper bound. Where it is beyond the limit, the message
//! is read in regular mode, which alone can tell.

use crate::schema::Bindings;
use deltasoap_xml::ScopeId;

/// What the trees of an operation have taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// All of them, at most.
    pub(crate) sum: usize,
    /// One of them, at most.
    pub(crate) most: usize,
}

/// The count while a message is read.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    /// Of trees before the operation.
    pub(crate) before: usize,
    /// Those of the last tree before the operation.
    pub(crate) last: Option<(ScopeId, Bindings)>,
    /// Of one tree of the operation, at most.
    pub(super) most: usize,
    /// Trees of the operation that were read.
    trees: usize,
    /// Those of the first tree of the operation, if it shares them with one before it: they have been counted there.
    shared: usize,
}

impl Inherited {
    /// A tree of the operation takes over so many, and shares them with the last one or not.
    pub(crate) fn note(&mut self, bindings: usize, is_shared: bool) {
        if self.trees == 0 && is_shared {
            self.shared = bindings;
        }
        self.most = self.most.max(bindings);
        self.trees += 1;
    }

    /// The operation is read from its start again.
    pub(super) fn forget_trees(&mut self) {
        (self.most, self.trees, self.shared) = (0, 0, 0);
    }

    /// Bindings of the operation's trees that are in no sum, for the message counted them before the operation. The next one may not.
    pub(super) fn of_others(&self) -> usize {
        self.shared
    }

    /// Of trees that may be skipped, at most: one that shared its bindings with the tree before it does so no more where
    /// another one is put between.
    pub(super) fn of_skipped(&self, old: Taken) -> usize {
        old.sum.saturating_add(self.trees.saturating_mul(old.most))
    }
}
