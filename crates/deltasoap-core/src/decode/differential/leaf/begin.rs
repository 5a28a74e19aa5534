//! After an operation's start tag: decides if it is compared with the previous message, mended, or
//! only noted.

use super::mend::Mending;
use super::template::{Prologue, Rules, Template};
use crate::decode::Cursor;
use crate::decode::differential::Checkpoints;
use crate::decode::differential::adaptive::Plan;
use crate::decode::nil::{IsNil, nil_attribute};
use crate::schema::Identity;
use deltasoap_xml::Encoding;

/// How an operation is read.
#[derive(Debug)]
pub(crate) enum Begin {
    /// In fast mode, over the old value.
    Compare,
    /// Not read at all: the old value is to be mended.
    Mend(Mending),
    /// In regular mode, from a vacant value.
    Read,
}

impl Cursor<'_> {
    /// Begins an operation whose start tag was just read and whose content gets the frame at level
    /// `base`. A message may have several operations with separate memories: the first one that is
    /// not read plainly is noted or compared; the others are read.
    pub(crate) fn begin_operation(
        &mut self,
        old: Option<Box<Template>>,
        (schema, base): (Identity, usize),
        plan: Plan,
    ) -> Begin {
        let (new, tolerance) = (self.offset(), self.tolerance());
        let (window, state) = self.parts();
        // The session has one table, one image and one list of moves for each message.
        if state.session.has_begun() {
            return Begin::Read;
        }
        let start = state.reader.tag_offset().checked_sub(window.base);
        let Some(tag) = start.and_then(|start| window.bytes.get(start as usize..window.pos)) else {
            return Begin::Read;
        };
        state.session.origin.level = base;
        state.session.origin.depth = state.reader.depth();
        state.session.trees.forget();
        let rules = Rules { is_encoded: state.references.is_encoded, limits: state.limits, tolerance };
        let fits = |old: &mut Box<Template>| {
            old.trees.sum.inherited <= state.limits.inherited_bindings
                && old.trees.sum.nodes <= state.limits.tree_nodes
                && old.image().is_some()
                && old.prologue.fits(&state.reader, tag, rules, schema)
        };
        let Some(old) = old.and_then(|mut old| fits(&mut old).then_some(old)) else {
            let prologue = Prologue::new(&state.reader, tag, rules, schema);
            state.session.record(prologue, new);
            return Begin::Read;
        };
        debug_assert!(old.is_sound(), "a position is not the start of an element");
        if plan != Plan::Mend && !old.is_whole {
            state.session.compare(old, new, state.differential.adaptive);
            state.tolerated.mark(state.stats.deviations);
            return Begin::Compare;
        }
        let rest = &window.bytes[window.pos..];
        let mending = match old.is_whole {
            true => old.repeated_by(rest).map(Mending::nothing),
            false => Mending::find(&old, rest, &state.limits),
        };
        match mending {
            Some(mending) => {
                state.session.mend(old, new);
                Begin::Mend(mending)
            }
            None => {
                state.session.record_anew(old, new);
                Begin::Read
            }
        }
    }

    /// Returns true if the operation can be compared. Only content of UTF-8 messages can: positions
    /// in others are not those of the received bytes. A nil operation has no content, and its value
    /// has no shape that the routines could descend into.
    pub(crate) fn can_be_compared(&mut self) -> bool {
        let (window, state) = self.parts();
        state.differential.checkpoints == Checkpoints::Leaf
            && !state.session.is_barred()
            && window.encoding.encoding == Encoding::Utf8
            && !state.references.is_keeping()
            && !state.reader.tag_is_empty()
            && matches!(nil_attribute(self), Ok(IsNil(false)))
    }
}
