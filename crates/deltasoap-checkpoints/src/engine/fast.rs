//! Fast mode: portions are summed and skipped.

use super::{Engine, Mode};
use crate::checkpoint::Form;
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::State;
use deltasoap_xml::Window;

/// The result of comparing a portion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Portion {
    Equal,
    /// It differs, or the message ends within it.
    Other,
    /// It is not available as a whole yet.
    Cut,
}

impl<F: Form, M: PortionMatcher> Engine<F, M> {
    /// Skips portions as long as they are equal. Returns false if more bytes are needed.
    pub(super) fn skip(&mut self, state: &mut State, window: &mut Window<'_>) -> bool {
        loop {
            let known = self.first.take();
            match known.unwrap_or_else(|| self.check(0, self.at, window)) {
                Portion::Cut => return false,
                Portion::Other => {
                    self.leave(state, window);
                    return true;
                }
                Portion::Equal if self.list.next().is_none() => {
                    self.arrive(state, window);
                    return true;
                }
                Portion::Equal => self.skip_one(window),
            }
        }
    }

    /// Compares the portion ahead, after `skipped` others, with the bytes at position `at`.
    pub(super) fn check(&mut self, skipped: usize, at: u64, window: &Window<'_>) -> Portion {
        let next = self.list.nth(skipped).map(|next| (next.size, &next.sum));
        let Some((size, sum)) = next.or_else(|| self.ending.as_ref().map(|ending| (ending.size, &ending.sum))) else {
            return Portion::Other;
        };
        let Some(size) = size.bytes() else { return Portion::Other };
        let from = (at - window.base) as usize;
        let bytes = match window.bytes.get(from..from + size as usize) {
            Some(bytes) => bytes,
            None if window.last => return Portion::Other,
            None => return Portion::Cut,
        };
        if self.probes.as_ref().is_some_and(|probes| probes.refute(skipped, bytes)) || !self.matcher.matches(sum, bytes)
        {
            return Portion::Other;
        }
        if self.is_false_match(skipped, bytes) { Portion::Other } else { Portion::Equal }
    }

    /// Returns true if the portion ahead is known to differ from these bytes.
    fn is_false_match(&mut self, skipped: usize, bytes: &[u8]) -> bool {
        let Some(audit) = &self.audit else { return false };
        let is_false = *audit.portions.nth(skipped).map_or(&audit.ending, |next| &next.portion) != bytes;
        self.stats.false_matches += u64::from(is_false);
        is_false
    }

    /// Skips the portion ahead.
    fn skip_one(&mut self, window: &mut Window<'_>) {
        let Some(next) = self.list.next() else { return };
        let (Some(size), part) = (next.size.bytes(), self.form.part_len(&next.kept)) else { return };
        self.count_skipped(size);
        window.pos = (self.at - window.base) as usize - part;
        self.pass();
    }

    /// Counts a skipped portion. The first one after a checkpoint that was met completes a switch
    /// to fast mode.
    fn count_skipped(&mut self, size: u32) {
        let is_back = self.mode == (Mode::Fast { first: true }) && self.stats.regular_bytes > 0;
        self.stats.to_fast += u64::from(is_back);
        self.stats.fast_bytes += u64::from(size);
        self.at += u64::from(size);
        self.mode = Mode::Fast { first: false };
    }

    /// Skips the last portion and ends the operation.
    fn arrive(&mut self, state: &mut State, window: &mut Window<'_>) {
        let Some(size) = self.ending.as_ref().and_then(|ending| ending.size.bytes()) else { return };
        self.count_skipped(size);
        window.pos = (self.at - window.base) as usize;
        let (Some(ending), Some(base)) = (&self.ending, &self.base) else { return };
        Self::live(base, state, self.at).close(self.at - ending.tag, &ending.rare);
    }

    /// Switches to regular mode. Restores the last checkpoint passed, unless nothing was skipped
    /// and the routines are there already.
    fn leave(&mut self, state: &mut State, window: &Window<'_>) {
        let offset = window.base + window.pos as u64;
        if self.mode == (Mode::Fast { first: true }) {
            self.stats.futile += 1;
        } else {
            self.stats.to_regular += 1;
            if let (Some(last), Some(base)) = (self.list.last(), &self.base) {
                self.stats.restored += 1;
                self.form.restore(&last.kept, &mut Self::live(base, state, offset));
            }
        }
        self.go_regular(state, true);
    }
}
