//! Records where elements begin while the general routines read them.

use super::super::super::flat::Known;
use super::table::{NONE, Node, Run, Table};
use std::sync::Arc;

/// Builds a table, or the part of a table that replaces another.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// True while elements are to be recorded.
    pub(crate) is_on: bool,
    /// Number of open elements whose children are not identified by their field alone: nothing is
    /// recorded within them.
    muted: u32,
    pub(crate) table: Table,
    /// Nodes of open elements.
    open: Vec<u32>,
    /// True if a position did not fit.
    pub(crate) has_overflown: bool,
}

impl Recorder {
    pub(crate) fn clear(&mut self) {
        self.is_on = false;
        self.has_overflown = false;
        self.forget_open();
        self.table.nodes.clear();
        self.table.runs.clear();
    }

    /// Forgets which elements are open; recorded elements stay.
    pub(crate) fn forget_open(&mut self) {
        self.muted = 0;
        self.open.clear();
    }

    #[inline]
    fn is_noting(&self) -> bool {
        self.is_on && self.muted == 0
    }

    /// Records nothing until the matching [`unmute`](Self::unmute).
    pub(crate) fn mute(&mut self) {
        self.muted += u32::from(self.is_on);
    }

    pub(crate) fn unmute(&mut self) {
        self.muted = self.muted.saturating_sub(1);
    }

    /// Records an element whose start tag was just read.
    #[inline]
    pub(crate) fn open(&mut self, position: u64, field: u32, count: u32) {
        if self.is_noting() {
            let index = self.push(position, field, count, NONE);
            self.open.push(index);
        }
    }

    /// Records the end of the element that was opened last.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.is_noting()
            && let Some(index) = self.open.pop()
        {
            self.table.nodes[index as usize].end = self.table.nodes.len() as u32;
        }
    }

    /// Returns the run that continues after white space, or begins, with the item at a position.
    /// The two positions are those before and after the white space.
    pub(crate) fn run(
        &mut self,
        known: &Arc<Known>,
        (before, position): (u64, u64),
        field: u32,
        count: u32,
    ) -> Option<&mut Run> {
        if !self.is_noting() {
            return None;
        }
        if !self.goes_on(known, before) {
            let base = u32::try_from(position).unwrap_or(NONE);
            let run = Run { known: Arc::clone(known), base, positions: Vec::new(), end: 0, touched: None };
            self.push(position, field, count, self.table.runs.len() as u32);
            self.table.runs.push(run);
        }
        self.table.runs.last_mut()
    }

    fn goes_on(&self, known: &Arc<Known>, position: u64) -> bool {
        let is_last = self.table.nodes.last().is_some_and(|node| node.run != NONE && node.parent == self.parent());
        is_last
            && self.table.runs.last().is_some_and(|run| {
                Arc::ptr_eq(&run.known, known) && u64::from(run.base) + u64::from(run.end) == position
            })
    }

    /// Ends a run after its last item, or removes it if it has none.
    pub(crate) fn end_run(&mut self, position: u64) {
        if self.is_noting()
            && let Some(run) = self.table.runs.last_mut()
        {
            run.end = (position as u32).wrapping_sub(run.base);
            self.has_overflown |= position >= u64::from(NONE);
            if run.positions.is_empty() {
                self.table.runs.pop();
                self.table.nodes.pop();
            }
        }
    }

    fn parent(&self) -> u32 {
        self.open.last().copied().unwrap_or(NONE)
    }

    fn push(&mut self, position: u64, field: u32, count: u32, run: u32) -> u32 {
        let index = self.table.nodes.len() as u32;
        self.has_overflown |= position >= u64::from(NONE) || index >= NONE - 1;
        let node = Node { pos: position as u32, parent: self.parent(), end: index + 1, field, count, run };
        self.table.nodes.push(node);
        index
    }
}
