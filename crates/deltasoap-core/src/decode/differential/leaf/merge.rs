//! Builds the table of a message from that of the previous one and the elements that were reread.
//!
//! All other positions have only moved. If each reread part has the same shape as the old one, even
//! its nodes stay in place.

use super::table::{NONE, Node, NodePosition, Run, Table, Touched};

/// Elements that were replaced by others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    /// The node of their parent.
    pub(crate) parent: u32,
    /// The first place that is replaced.
    pub(crate) from: NodePosition,
    /// The place after the last one.
    pub(crate) to: NodePosition,
    /// The nodes that were read: a range of the new nodes.
    pub(crate) fresh: (u32, u32),
    /// Field and count of the routine after them.
    pub(crate) state: (u32, u32),
}

/// The distance by which content has moved, from a position in the old message on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub(crate) from: u64,
    pub(crate) by: i64,
}

/// Updates a table to a new message.
pub(crate) fn merge(old: Table, fresh: Table, edits: &[Edit], moves: &[Move]) -> Table {
    let mut old = old;
    if edits.iter().all(|edit| edit.has_same_shape(&old, &fresh)) {
        edits.iter().for_each(|edit| edit.overwrite(&mut old, &fresh));
        return moved(old, moves, edits);
    }
    let mut merge = Merge { old, fresh, moves, by: 0, settled: NONE, out: Table::default(), open: Vec::new() };
    merge.out.nodes.reserve(merge.old.nodes.len() + merge.fresh.nodes.len());
    let mut at = NodePosition::before(0);
    for edit in edits {
        merge.keep(at, edit.from);
        merge.insert(edit);
        at = edit.to;
    }
    merge.keep(at, NodePosition::before(merge.old.nodes.len() as u32));
    merge.close(|_| true);
    merge.out
}

impl Edit {
    /// Returns true if each new element replaces exactly one old element, and none of them is a
    /// run.
    fn has_same_shape(&self, old: &Table, fresh: &Table) -> bool {
        let (from, to) = (self.from.node as usize, self.to.node as usize);
        let (first, last) = (self.fresh.0 as usize, self.fresh.1 as usize);
        let is_whole = self.from.item == 0 && self.to.item == 0 && to - from == last - first;
        is_whole
            && old.nodes[from..to].iter().zip(&fresh.nodes[first..last]).all(|(old, fresh)| {
                let parent = if fresh.parent == NONE { self.parent } else { self.moved(fresh.parent) };
                let is_plain = old.run == NONE && fresh.run == NONE;
                is_plain && old.parent == parent && old.end == self.moved(fresh.end) && old.field == fresh.field
            })
    }

    /// Returns the index of a new node among the old ones.
    fn moved(&self, fresh: u32) -> u32 {
        fresh - self.fresh.0 + self.from.node
    }

    /// Replaces the old elements' positions with those of the new ones.
    fn overwrite(&self, old: &mut Table, fresh: &Table) {
        let replaced = &mut old.nodes[self.from.node as usize..self.to.node as usize];
        for (old, fresh) in replaced.iter_mut().zip(&fresh.nodes[self.fresh.0 as usize..]) {
            (old.pos, old.count) = (fresh.pos, fresh.count);
        }
    }
}

/// Moves the positions of a table's elements; those that were reread are already correct.
fn moved(mut table: Table, mut moves: &[Move], mut edits: &[Edit]) -> Table {
    let mut by = 0;
    let is_still = moves.iter().all(|moved| moved.by == 0);
    for (index, node) in table.nodes.iter_mut().enumerate().filter(|(_, node)| !is_still || node.run != NONE) {
        while let [edit, rest @ ..] = edits
            && edit.to.node as usize <= index
        {
            edits = rest;
        }
        if edits.first().is_some_and(|edit| edit.from.node as usize <= index) {
            continue;
        }
        by = step(&mut moves, u64::from(node.pos), by);
        node.pos = node.pos.wrapping_add(by as u32);
        if let Some(run) = table.runs.get_mut(node.run as usize) {
            settle(run, by);
            // White space before the first item may have changed.
            node.pos = run.positions.first().map_or(node.pos, |first| run.base.wrapping_add(*first));
        }
    }
    table
}

/// Returns the distance by which the content at a position has moved.
fn step(moves: &mut &[Move], position: u64, mut by: i64) -> i64 {
    while let [first, rest @ ..] = moves
        && first.from <= position
    {
        by = first.by;
        *moves = rest;
    }
    by
}

/// Completes the update of a run.
fn settle(run: &mut Run, by: i64) {
    match run.touched.take() {
        None => run.base = run.base.wrapping_add(by as u32),
        Some(Touched { base, items, shift }) => {
            run.base = base;
            if shift != 0 {
                run.positions[items..].iter_mut().for_each(|position| *position = position.wrapping_add(shift));
                run.end = run.end.wrapping_add(shift);
            }
        }
    }
}

struct Merge<'m> {
    old: Table,
    fresh: Table,
    moves: &'m [Move],
    /// The distance by which the content being kept has moved.
    by: i64,
    /// The last run that was updated to the new message.
    settled: u32,
    out: Table,
    open: Vec<Open>,
}

/// An old node whose children are being kept.
struct Open {
    old: u32,
    end: u32,
    new: u32,
}

impl Merge<'_> {
    /// Keeps the nodes between two places.
    fn keep(&mut self, from: NodePosition, to: NodePosition) {
        let mut at = from;
        while at < to {
            let node = at.node;
            let items = if to.node == node { Some(to.item) } else { None };
            self.keep_node(node, at.item, items);
            at = NodePosition::before(if items.is_some() { to.node + 1 } else { node + 1 });
        }
    }

    /// Keeps a node; of a run, the items from `from` up to `to`.
    fn keep_node(&mut self, index: u32, from: u32, to: Option<u32>) {
        self.close(|open| open.end <= index);
        let mut node = self.old.nodes[index as usize];
        self.by = step(&mut self.moves, u64::from(node.pos), self.by);
        let (old, end) = (index, node.end);
        node.pos = node.pos.wrapping_add(self.by as u32);
        if node.run != NONE {
            return self.keep_run(node, from, to);
        }
        let new = self.push(node);
        if end > index + 1 {
            self.open.push(Open { old, end, new });
        }
    }

    fn keep_run(&mut self, mut node: Node, from: u32, to: Option<u32>) {
        let run = &mut self.old.runs[node.run as usize];
        if self.settled != node.run {
            settle(run, self.by);
            self.settled = node.run;
        }
        let to = to.unwrap_or(run.positions.len() as u32);
        if from >= to {
            return;
        }
        let end = run.positions.get(to as usize).copied().unwrap_or(run.end);
        let positions = if from == 0 && to as usize == run.positions.len() {
            std::mem::take(&mut run.positions)
        } else {
            run.positions[from as usize..to as usize].to_vec()
        };
        let part = Run { known: run.known.clone(), base: run.base, end, positions, touched: None };
        node.count += from;
        node.pos = part.base.wrapping_add(part.positions[0]);
        node.run = self.out.runs.len() as u32;
        self.out.runs.push(part);
        self.push(node);
    }

    /// Inserts the nodes of an edit.
    fn insert(&mut self, edit: &Edit) {
        self.close(|open| open.old != edit.parent);
        let (first, offset) = (edit.fresh.0, self.out.nodes.len() as u32);
        let parent = self.parent();
        for index in edit.fresh.0..edit.fresh.1 {
            let mut node = self.fresh.nodes[index as usize];
            node.parent = if node.parent == NONE { parent } else { node.parent - first + offset };
            node.end = node.end - first + offset;
            if let Some(run) = self.fresh.runs.get_mut(node.run as usize) {
                node.run = self.out.runs.len() as u32;
                let positions = std::mem::take(&mut run.positions);
                self.out.runs.push(Run { positions, ..run.clone() });
            }
            self.out.nodes.push(node);
        }
    }

    fn parent(&self) -> u32 {
        self.open.last().map_or(NONE, |open| open.new)
    }

    fn push(&mut self, mut node: Node) -> u32 {
        let new = self.out.nodes.len() as u32;
        node.parent = self.parent();
        node.end = new + 1;
        self.out.nodes.push(node);
        new
    }

    /// Ends old nodes, the innermost first, as long as they are at their end.
    fn close(&mut self, is_at_end: impl Fn(&Open) -> bool) {
        while let Some(open) = self.open.pop_if(|open| is_at_end(open)) {
            self.out.nodes[open.new as usize].end = self.out.nodes.len() as u32;
        }
    }
}
