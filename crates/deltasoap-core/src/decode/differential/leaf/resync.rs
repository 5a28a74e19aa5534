//! From regular mode back to fast mode: checks whether the element whose start tag was just read is
//! one of the previous message.
//!
//! Where fields come in any order (`xs:all`, all structs of SOAP encoding), a field's place does
//! not show which fields came before it. The table does: it has the old siblings that are still
//! there, and those reread. Fast mode skips the old siblings that follow, so it is entered only if
//! the element is valid with them.

use super::edits::OpenEdit;
use super::merge::Edit;
use super::protocol::{AnyOrder, Mode, StartTag};
use super::route::SizedTag;
use super::session::Session;
use super::table::{NONE, NodePosition};
use super::template::Same;

impl Session {
    /// Returns true if the element whose start tag was just read is the one at this place in the
    /// previous message, with the same bytes. If so, fast mode is entered after the tag. `before`
    /// is the state before it: field and count.
    pub(crate) fn resync(&mut self, field: u32, count: u32, before: (u32, u32), tag: StartTag<'_>) -> bool {
        if self.is_ending || self.bounds.is_hopeless() {
            return false;
        }
        self.candidate(field, count).is_some_and(|place| self.resync_at(place, before, tag))
    }

    /// Like [`resync`](Self::resync), for an element whose fields come in any order. Returns the
    /// fields that the previous message has and this one does not.
    ///
    /// The old children that follow are skipped unread. So the element must be valid with them: no
    /// field may come again, and none may be missing.
    pub(crate) fn resync_in_any_order(
        &mut self,
        field: u32,
        AnyOrder { seen, required }: AnyOrder,
        before: (u32, u32),
        tag: StartTag<'_>,
    ) -> Option<u64> {
        if self.is_ending || self.bounds.is_hopeless() {
            return None;
        }
        let (template, edit) = (self.old.as_ref()?, self.edits.open.as_ref()?);
        let mut children = template.table.children(edit.parent, edit.from.node);
        let mut replaced = 0;
        let place = children.find(|&child| {
            let at = template.table.node(child).field;
            replaced |= if at == field { 0 } else { 1 << at };
            at == field
        })?;
        let rest = children.fold(0, |rest, child| rest | 1 << template.table.node(child).field);
        let gone = replaced & !(seen | rest);
        let is_valid = rest & seen == 0 && gone & required == 0;
        (is_valid && self.resync_at(NodePosition::before(place), before, tag)).then_some(gone)
    }

    /// Returns the fields that were passed on the way to where regular mode continues, one bit
    /// each: in the message being read, in the element that [`descend`](Self::descend) entered
    /// last.
    pub(crate) fn fields_passed(&self) -> u64 {
        let Some(template) = &self.old else { return 0 };
        let table = &template.table;
        let (parent, place, own) = match (self.is_seeking(), &self.edits.open) {
            (false, Some(edit)) => (edit.parent, edit.from.node, 0),
            _ => {
                let child = self.route.path[self.route.arrived - 1];
                (table.node(child).parent, child, 1 << table.node(child).field)
            }
        };
        let (mut at, mut fields) = (table.first_child(parent), own);
        let keep = |from: u32, to: u32| {
            let kept = table.children(parent, from).take_while(|&child| child < to);
            kept.fold(0, |fields, child| fields | 1 << table.node(child).field)
        };
        // Edits are in document order: those before the element need not be checked.
        let first = if parent == NONE { 0 } else { self.edits.done.partition_point(|edit| edit.from.node <= parent) };
        for edit in self.edits.done[first..].iter().filter(|edit| edit.parent == parent) {
            fields |= keep(at, edit.from.node);
            let fresh = &self.recorder.table.nodes[edit.fresh.0 as usize..edit.fresh.1 as usize];
            let fresh = fresh.iter().filter(|node| node.parent == NONE);
            fields |= fresh.fold(0, |fields, node| fields | 1 << node.field);
            at = edit.to.node;
        }
        fields | keep(at, place)
    }

    /// Enters fast mode if the element at an old place begins with the start tag that was just
    /// read.
    fn resync_at(&mut self, place: NodePosition, before: (u32, u32), tag: StartTag<'_>) -> bool {
        let (Some(template), Some(edit)) = (&mut self.old, &self.edits.open) else { return false };
        let Some(Same { old, len, is_exact }) = template.compare(place, tag) else { return false };
        // If only an array's size differs, what follows does not.
        if edit.differing == Some(place) && (is_exact || edit.difference >= old + len as u64) {
            return false;
        }
        let edit = *edit;
        self.close_edit(edit, place, before);
        if let Some(template) = &mut self.old {
            template.touch(place, tag.position as i64 - old as i64);
        }
        self.stats.to_fast += 1;
        self.enter_fast(old, tag.position);
        if !is_exact {
            self.enter_fast(old + len as u64, tag.position + tag.len as u64);
            self.route.sized = Some(SizedTag { old, by: tag.position as i64 - old as i64 });
        }
        self.mode = Mode::Fast { old: old + len as u64, new: tag.position + tag.len as u64 };
        self.stats.fast_bytes += tag.len as u64;
        true
    }

    /// Returns true if some old children of the current element were not passed yet.
    pub(crate) fn can_resync(&self) -> bool {
        let (Some(template), Some(edit)) = (&self.old, &self.edits.open) else { return false };
        !self.is_ending && !self.bounds.is_hopeless() && edit.scan.node < template.table.end_of(edit.parent)
    }

    /// Returns the old place with this field and occurrence, among those not passed yet.
    fn candidate(&mut self, field: u32, count: u32) -> Option<NodePosition> {
        let (template, edit) = (self.old.as_ref()?, self.edits.open.as_mut()?);
        let end = template.table.end_of(edit.parent);
        while edit.scan.node < end {
            let node = template.table.node(edit.scan.node);
            let (first, last) = match template.table.run_of(edit.scan.node) {
                Some(run) => (node.count + 1, node.count + run.positions.len() as u32),
                None => (node.count, node.count),
            };
            if node.field > field || (node.field == field && first > count) {
                return None;
            }
            if node.field == field && count <= last {
                let item = if node.run == NONE { 0 } else { count - first };
                return Some(NodePosition { node: edit.scan.node, item }).filter(|place| *place >= edit.from);
            }
            edit.scan = NodePosition::before(node.end);
        }
        None
    }

    pub(super) fn close_edit(&mut self, edit: OpenEdit, to: NodePosition, state: (u32, u32)) {
        let fresh = (edit.fresh, self.recorder.table.nodes.len() as u32);
        self.edits.open = None;
        if edit.from != to || fresh.0 != fresh.1 {
            self.edits.done.push(Edit { parent: edit.parent, from: edit.from, to, fresh, state });
        }
    }

    /// Called when a routine over the old value has reached the end of its element.
    pub(crate) fn leave(&mut self) {
        let (Some(edit), Some(template)) = (self.edits.open, &self.old) else { return };
        let Some(left) = self.route.path.pop() else { return };
        self.route.levels.pop();
        self.shifting.found = None;
        let (end, parent) = (template.table.end_of(left), template.table.node(left).parent);
        self.close_edit(edit, NodePosition::before(end), (0, 0));
        let (from, fresh) = (NodePosition::before(end), self.recorder.table.nodes.len() as u32);
        self.edits.open = Some(OpenEdit { parent, from, scan: from, fresh, differing: None, difference: 0 });
    }
}
