//! What the trees of an operation take, which the limits [`inherited_bindings`](crate::Limits::inherited_bindings) and
//! [`tree_nodes`](crate::Limits::tree_nodes) bound: bindings from the elements around them, and nodes.
//!
//! Regular mode adds them up, tree by tree; trees in one scope that follow each other share their bindings, which count once. Of the trees
//! that fast mode skips only the sum is known, so the sum kept is an upper bound. Where it is beyond a limit, the message
//! is read in regular mode, which alone can tell.

use crate::decode::state::TreeCounts;
use crate::schema::Bindings;
use deltasoap_xml::ScopeId;

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
    /// Of trees before the operation.
    pub(crate) before: TreeCounts,
    /// The bindings of the last tree before the operation.
    pub(crate) last: Option<(ScopeId, Bindings)>,
    /// The bindings of one tree of the operation, at most.
    most: usize,
    /// Trees of the operation that were read.
    trees: usize,
    /// The bindings of the first tree of the operation, if it shares them with one before it: they have been counted there.
    shared: usize,
}

impl Counting {
    /// A tree of the operation takes over so many, and shares them with the last one or not.
    pub(crate) fn note(&mut self, bindings: usize, is_shared: bool) {
        if self.trees == 0 && is_shared {
            self.shared = bindings;
        }
        self.most = self.most.max(bindings);
        self.trees += 1;
    }

    /// The operation is read from its start again.
    pub(super) fn forget(&mut self) {
        (self.most, self.trees, self.shared) = (0, 0, 0);
    }

    /// Of trees that may be skipped, at most: one that shared its bindings with the tree before it does so no more where
    /// another one is put between.
    pub(super) fn of_skipped(&self, old: Taken) -> TreeCounts {
        let shared = self.trees.saturating_mul(old.most);
        TreeCounts { inherited: old.sum.inherited.saturating_add(shared), nodes: old.sum.nodes }
    }

    /// What the operation's trees have taken in a message that has taken so much in all.
    pub(super) fn finish(&self, all: TreeCounts, old: Option<Taken>) -> Taken {
        let skipped = old.map(|old| self.of_skipped(old)).unwrap_or_default();
        // Bindings that the message counted before the operation are in no sum. The next message may not.
        let inherited = all.inherited.saturating_sub(self.before.inherited).saturating_add(self.shared);
        let nodes = all.nodes.saturating_sub(self.before.nodes);
        let sum = TreeCounts {
            inherited: inherited.saturating_add(skipped.inherited),
            nodes: nodes.saturating_add(skipped.nodes),
        };
        Taken { sum, most: old.map_or(0, |old| old.most).max(self.most) }
    }
}
