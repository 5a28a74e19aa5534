//! What the trees of an operation take, which the limits
//! [`inherited_bindings`](crate::Limits::inherited_bindings) and
//! [`tree_nodes`](crate::Limits::tree_nodes) bound: bindings from the elements around them, and
//! nodes.
//!
//! Regular mode adds them up, tree by tree; trees in one scope that follow each other share their
//! bindings, which count once. Of the trees that fast mode skips only the sum is known, so the sum
//! kept is an upper bound. Where it is beyond a limit, the message is read in regular mode, which
//! alone can tell.

use crate::decode::state::TreeCounts;

/// What the trees of an operation have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// All of them, at most.
    pub(crate) sum: TreeCounts,
    /// The bindings of one of them, at most.
    most: usize,
}

/// The count while a message is read.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// The bindings of one tree of the operation, at most.
    most: usize,
    /// Trees of the operation that were read.
    trees: usize,
}

impl Counting {
    /// A tree of the operation takes over so many bindings.
    pub(crate) fn note(&mut self, bindings: usize) {
        self.most = self.most.max(bindings);
        self.trees += 1;
    }

    /// The operation is read from its start again.
    pub(super) fn forget(&mut self) {
        *self = Counting::default();
    }

    /// Of trees that may be skipped, at most: one that shared its bindings with the tree before it
    /// does so no more where another one is put between.
    pub(super) fn of_skipped(&self, old: Taken) -> TreeCounts {
        let shared = self.trees.saturating_mul(old.most);
        TreeCounts { inherited: old.sum.inherited.saturating_add(shared), nodes: old.sum.nodes }
    }

    /// What the operation's trees have taken, of which so much was read.
    pub(super) fn finish(&self, read: TreeCounts, old: Option<Taken>) -> Taken {
        let skipped = old.map(|old| self.of_skipped(old)).unwrap_or_default();
        let sum = TreeCounts {
            inherited: read.inherited.saturating_add(skipped.inherited),
            nodes: read.nodes.saturating_add(skipped.nodes),
        };
        Taken { sum, most: old.map_or(0, |old| old.most).max(self.most) }
    }
}
