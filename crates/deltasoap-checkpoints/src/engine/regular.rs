//! Regular mode: processing interrupts, new checkpoints, and progressive matching.

use super::fast::Portion;
use super::{Audited, Checkpoint, Engine, MAX_PORTION, Mode, Probe, Size};
use crate::checkpoint::{Form, Interrupt, Progress};
use crate::matcher::PortionMatcher;
use deltasoap_core::decode::State;
use deltasoap_xml::Window;

/// The data kept for a portion that was read.
#[derive(Debug)]
pub(super) struct PortionData<S> {
    pub(super) size: Size,
    pub(super) sum: S,
    pub(super) probe: Probe,
    /// The bytes themselves, if they are kept.
    pub(super) bytes: Vec<u8>,
}

/// The result of comparing the routines with the checkpoint ahead.
enum Comparison {
    /// They can no longer meet.
    Not,
    /// They have met, but the portion after it differs.
    Futile,
    /// They have met. Holds the comparison of the portion after it.
    Worthwhile(Portion),
    /// More bytes are needed.
    Cut,
}

impl<F: Form, M: PortionMatcher> Engine<F, M> {
    /// Returns the end of the routines' window.
    pub(super) fn cut_at_interrupt(&mut self, window: &Window<'_>) -> usize {
        let from = window.base + window.pos as u64;
        while self.interrupt <= from {
            self.interrupt += self.tuning.portion();
        }
        usize::try_from(self.interrupt - window.base).map_or(window.bytes.len(), |cut| cut.min(window.bytes.len()))
    }

    /// Handles a processing interrupt: makes a checkpoint if the form requests one.
    pub(super) fn interrupted(&mut self, state: &mut State, window: &Window<'_>, cut: usize) {
        self.interrupt += self.tuning.portion();
        let (Some(base), part) = (&self.base, &window.bytes[window.pos..cut]) else { return };
        if part.len() > (2 * self.tuning.portion() as usize).max(128) {
            return;
        }
        let position = window.base + cut as u64;
        let at_hand = if self.is_lost { window.base } else { self.at };
        let interrupt = Interrupt { position, before: self.at, at_hand, part, matcher: &self.matcher };
        let mut live = Self::live(base, state, window.base + window.pos as u64);
        let Some((kept, position)) = self.form.checkpoint(&mut live, &interrupt) else { return };
        let before = self.at;
        let PortionData { size, sum, probe, bytes } = self.portion_to(window, position);
        self.without_last = size.bytes().map(|_| before);
        self.list.insert(Checkpoint { size, sum, kept });
        if let Some(probes) = &mut self.probes {
            probes.portions.insert(probe);
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.insert(Audited { portion: bytes, part: part.to_vec() });
        }
        self.stats.checkpoints += 1;
    }

    /// Ends the portion at a position.
    pub(super) fn portion_to(&mut self, window: &Window<'_>, position: u64) -> PortionData<M::Sum> {
        let len = (position - self.at) as usize;
        self.stats.regular_bytes += len as u64;
        self.hold(window, position);
        let before = (self.at - self.held_from()) as usize;
        let bytes = match self.at.checked_sub(window.base) {
            _ if self.is_lost => None,
            Some(start) => window.bytes.get(start as usize..start as usize + len),
            None => self.held.get(before..before + len),
        };
        let (size, sum) =
            bytes.map_or((Size::UNKNOWN, M::Sum::default()), |bytes| (Size::new(len), self.matcher.sum(bytes)));
        let probe = bytes.map(Probe::new).unwrap_or_default();
        let bytes = bytes.filter(|_| self.audit.is_some()).map(<[u8]>::to_vec).unwrap_or_default();
        self.held.drain(..before.min(self.held.len()));
        self.is_lost = false;
        self.at = position;
        PortionData { size, sum, probe, bytes }
    }

    /// Returns the position of the first held byte.
    fn held_from(&self) -> u64 {
        self.without_last.unwrap_or(self.at)
    }

    /// Holds the portion's bytes up to a position, if some of them are no longer in a window.
    fn hold(&mut self, window: &Window<'_>, position: u64) {
        if self.held_from() < window.base && !self.is_lost {
            self.keep(window, position);
        }
    }

    /// Keeps the window's bytes of the portion before the window goes, and those of the previous
    /// portion if it may become part of it.
    pub(super) fn keep(&mut self, window: &Window<'_>, position: u64) {
        if position.saturating_sub(self.held_from()) > MAX_PORTION as u64 {
            self.keep_portion_alone();
        }
        let from = (self.held_from() + self.held.len() as u64).saturating_sub(window.base) as usize;
        let to = position.saturating_sub(window.base) as usize;
        if self.held.len() + to.saturating_sub(from) > MAX_PORTION {
            (self.is_lost, self.held) = (true, Vec::new());
        }
        if !self.is_lost && from < to {
            self.held.extend_from_slice(&window.bytes[from..to]);
        }
    }

    /// Keeps what would be the portion of the checkpoint ahead, before the window goes and while
    /// that checkpoint may be met. What comes after it is in the next window too.
    pub(super) fn await_checkpoint(&mut self, window: &Window<'_>) {
        let part = self.list.next().map_or(0, |next| self.form.part_len(&next.kept));
        let end = window.bytes.len().min(window.pos + part);
        self.keep(window, window.base + end as u64);
    }

    fn keep_portion_alone(&mut self) {
        let before = (self.at - self.held_from()) as usize;
        self.held.drain(..before.min(self.held.len()));
        self.without_last = None;
    }

    /// Compares the position of the routines with the checkpoints ahead, and switches to fast mode
    /// at one of them. Removes stale ones. Returns false if more bytes are needed.
    pub(super) fn consider(&mut self, state: &mut State, window: &Window<'_>) -> bool {
        let offset = window.base + window.pos as u64;
        self.mode = Mode::Regular { due: false };
        loop {
            state.hooks().watch = None;
            let (Some(base), Some(next)) = (&self.base, self.list.next()) else { return true };
            let live = Self::live(base, state, offset);
            match self.form.progress(&next.kept, &live) {
                Progress::Ahead(watch) => {
                    state.hooks().watch = Some(watch);
                    return true;
                }
                Progress::Passed => {}
                Progress::Here => match self.met(state, window) {
                    Comparison::Worthwhile(first) => {
                        self.try_fast(state, window, first);
                        return true;
                    }
                    Comparison::Futile => self.stats.futile += 1,
                    Comparison::Not => {}
                    Comparison::Cut => {
                        self.mode = Mode::Regular { due: true };
                        return false;
                    }
                },
            }
            self.remove();
        }
    }

    /// Checks whether the checkpoint ahead, whose frames equal those of the routines, is met and
    /// kept.
    fn met(&mut self, state: &mut State, window: &Window<'_>) -> Comparison {
        match self.fits(state, window) {
            Some(true) => {}
            Some(false) => return Comparison::Not,
            None => return Comparison::Cut,
        }
        let Some(len) = self.list.next().map(|next| self.form.part_len(&next.kept)) else { return Comparison::Not };
        let position = window.base + (window.pos + len) as u64;
        match self.check(1, position, window) {
            Portion::Cut => Comparison::Cut,
            Portion::Other if self.is_replaceable(position) => Comparison::Futile,
            first => Comparison::Worthwhile(first),
        }
    }

    /// Returns true if the checkpoint ahead, at this position, is dropped when the portion after it
    /// differs. If all checkpoints lie in markup, it is dropped if a new one was made less than a
    /// portion before; otherwise, if it does not lie at the next interrupt.
    fn is_replaceable(&self, position: u64) -> bool {
        if F::IN_MARKUP {
            return self.without_last.is_some() && position - self.at < self.tuning.portion();
        }
        position != self.interrupt
    }

    /// Returns true if the checkpoint ahead, whose frames equal those of the routines, is met: its
    /// partially processed content comes next, and the namespace declarations and the rest of the
    /// state are equal. Returns `None` if more bytes are needed to decide.
    fn fits(&mut self, state: &mut State, window: &Window<'_>) -> Option<bool> {
        let (Some(base), Some(next)) = (&self.base, self.list.next()) else { return Some(false) };
        let len = self.form.part_len(&next.kept);
        if window.base + ((window.pos + len) as u64) < self.at {
            return Some(false);
        }
        let Some(part) = window.bytes.get(window.pos..window.pos + len) else {
            return window.last.then_some(false);
        };
        let live = Self::live(base, state, window.base + window.pos as u64);
        let fits = self.form.part_matches(&next.kept, &self.matcher, part) && self.form.has_state(&next.kept, &live);
        Some(fits && !self.is_false_part(part))
    }

    /// Returns true if the partially processed content is known to differ from these bytes.
    fn is_false_part(&mut self, part: &[u8]) -> bool {
        let Some(next) = self.audit.as_ref().and_then(|audit| audit.portions.next()) else { return false };
        let is_false = !part.is_empty() && next.part != part;
        self.stats.false_matches += u64::from(is_false);
        is_false
    }

    /// Tries fast mode at the checkpoint ahead. What was read becomes its portion.
    fn try_fast(&mut self, state: &mut State, window: &Window<'_>, first: Portion) {
        let Some(len) = self.list.next().map(|next| self.form.part_len(&next.kept)) else { return };
        let offset = window.base + window.pos as u64;
        self.drop_fragment(offset + len as u64);
        let PortionData { size, sum, probe, bytes } = self.portion_to(window, offset + len as u64);
        if let (Some(next), Some(base)) = (self.list.next_mut(), &self.base) {
            (next.size, next.sum) = (size, sum);
            self.form.switched(&next.kept, &mut Self::live(base, state, offset));
        }
        if let Some(next) = self.probes.as_mut().and_then(|probes| probes.portions.next_mut()) {
            *next = probe;
        }
        if let Some(next) = self.audit.as_mut().and_then(|audit| audit.portions.next_mut()) {
            next.portion = bytes;
        }
        self.pass();
        self.forget_held();
        state.hooks().notes_locations = false;
        state.hooks().held_back = 0;
        (self.mode, self.first) = (Mode::Fast { first: true }, Some(first));
    }

    /// Drops the last checkpoint if it is new and lies less than half a portion before `position`,
    /// where there is another one.
    fn drop_fragment(&mut self, position: u64) {
        let is_short = 2 * (position - self.at) < self.tuning.portion();
        if let Some(before) = self.without_last.filter(|_| is_short && !self.is_lost) {
            self.stats.regular_bytes -= self.at - before;
            (self.at, self.without_last) = (before, None);
            self.remove_last();
        }
    }
}
