//! Behind an operation's start tag: is it compared with the message before, or only noted?

use super::template::{Prologue, Template};
use crate::decode::Cursor;
use crate::decode::differential::Checkpoints;
use deltasoap_xml::Encoding;

/// How an operation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// In fast mode, over the old value.
    Compare,
    /// In regular mode, from a vacant value.
    Read,
}

impl Cursor<'_> {
    /// Begins an operation whose start tag was just read and whose content gets the frame at level `base`.
    pub(crate) fn begin_operation(&mut self, old: Option<Box<Template>>, schema: usize, base: usize) -> Begin {
        let new = self.offset();
        let (window, state) = self.parts();
        let start = state.reader.tag_offset().checked_sub(window.base);
        let Some(tag) = start.and_then(|start| window.bytes.get(start as usize..window.pos)) else {
            return Begin::Read;
        };
        state.session.base = base;
        state.session.is_adaptive = state.differential.adaptive;
        state.session.depth = state.reader.depth();
        state.session.inherited.before = state.inherited;
        state.session.inherited.last = state.bindings.clone();
        let fits = |old: &mut Box<Template>| {
            let inherited = state.inherited.saturating_add(old.inherited.sum);
            inherited <= state.limits.inherited_bindings
                && old.image().is_some()
                && old.prologue.fits(&state.reader, tag, &state.limits, schema)
        };
        match old.and_then(|mut old| fits(&mut old).then_some(old)) {
            Some(old) => {
                debug_assert!(old.is_sound(), "positions that are none of elements");
                state.session.compare(old, new);
                Begin::Compare
            }
            None => {
                let prologue = Prologue::new(&state.reader, tag, state.limits, schema);
                state.session.record(prologue, new);
                Begin::Read
            }
        }
    }

    /// Only content of UTF-8 messages is: positions in others are not those of the received bytes.
    pub(crate) fn can_be_compared(&mut self) -> bool {
        let (window, state) = self.parts();
        state.differential.checkpoints == Checkpoints::Leaf
            && window.encoding.encoding == Encoding::Utf8
            && !state.references.is_keeping()
            && !state.reader.tag_is_empty()
    }
}
