//! Counts for the trees of an operation, which the limits
//! [`inherited_bindings`](crate::Limits::inherited_bindings) and
//! [`tree_nodes`](crate::Limits::tree_nodes) bound: bindings from the elements around them, and
//! nodes.
//!
//! Regular mode adds them up, tree by tree. Consecutive trees in one scope share their bindings,
//! which count once. For the trees that fast mode skips, only the sum is known, so the kept sum is
//! an upper bound. If it exceeds a limit, the message is read in regular mode, which alone can
//! decide.

use crate::decode::state::TreeCounts;

/// The counts for the trees of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OperationTrees {
    /// Upper bound for all of them.
    pub(crate) sum: TreeCounts,
    /// Maximum number of bindings of one of them.
    max_bindings: usize,
}

/// The counts while a message is read.
#[derive(Debug, Default)]
pub(crate) struct TreeCounter {
    /// Maximum number of bindings of one tree of the operation.
    max_bindings: usize,
    /// Number of trees of the operation that were read.
    trees: usize,
}

impl TreeCounter {
    /// Records a tree of the operation that takes over `bindings` bindings.
    pub(crate) fn note(&mut self, bindings: usize) {
        self.max_bindings = self.max_bindings.max(bindings);
        self.trees += 1;
    }

    /// Clears the counts, because the operation is reread from its start.
    pub(super) fn forget(&mut self) {
        *self = TreeCounter::default();
    }

    /// Returns an upper bound for the trees that may be skipped: a tree that shared its bindings
    /// with the one before no longer does so if another tree is inserted between them.
    pub(super) fn skipped_counts(&self, old: OperationTrees) -> TreeCounts {
        let shared = self.trees.saturating_mul(old.max_bindings);
        TreeCounts { inherited: old.sum.inherited.saturating_add(shared), nodes: old.sum.nodes }
    }

    /// Returns the counts for the operation's trees, of which `read` is the part that was read.
    pub(super) fn finish(&self, read: TreeCounts, old: Option<OperationTrees>) -> OperationTrees {
        let skipped = old.map(|old| self.skipped_counts(old)).unwrap_or_default();
        let sum = TreeCounts {
            inherited: read.inherited.saturating_add(skipped.inherited),
            nodes: read.nodes.saturating_add(skipped.nodes),
        };
        OperationTrees { sum, max_bindings: old.map_or(0, |old| old.max_bindings).max(self.max_bindings) }
    }
}
