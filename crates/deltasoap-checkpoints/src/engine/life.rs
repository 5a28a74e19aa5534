//! The engine's lifecycle, from one message to the next.

use super::regular::PortionData;
use super::{Ending, Engine, Mode};
use crate::checkpoint::{Differential, Form, Full, Lightweight};
use crate::matcher::{Adler32, Compare, Crc32, Keyed, PortionMatcher, Xor};
use crate::{Matcher, Portions, State as Saved};
use deltasoap_core::DifferentialStats;
use deltasoap_core::decode::State;
use deltasoap_core::decode::differential::policy::{Base, Begin, Live, Policy};
use deltasoap_xml::Window;

/// Creates the engine for these options.
pub(crate) fn make(portions: Portions, is_adaptive: bool) -> Box<dyn Policy> {
    match portions.state {
        Saved::Full => with::<Full>(portions, is_adaptive),
        Saved::Differential => with::<Differential>(portions, is_adaptive),
        Saved::Lightweight => with::<Lightweight>(portions, is_adaptive),
    }
}

fn with<F: Form>(portions: Portions, is_adaptive: bool) -> Box<dyn Policy> {
    match portions.matcher {
        Matcher::Compare => Box::new(Engine::<F, Compare>::new(portions, is_adaptive)),
        Matcher::Xor => Box::new(Engine::<F, Xor>::new(portions, is_adaptive)),
        Matcher::Adler32 => Box::new(Engine::<F, Adler32>::new(portions, is_adaptive)),
        Matcher::Crc32 => Box::new(Engine::<F, Crc32>::new(portions, is_adaptive)),
        Matcher::Keyed => Box::new(Engine::<F, Keyed>::new(portions, is_adaptive)),
    }
}

impl<F: Form, M: PortionMatcher> Policy for Engine<F, M> {
    fn begin(&mut self, base: Base, offset: u64, state: &mut State) -> Begin {
        self.stats = DifferentialStats::default();
        if self.is_adaptive && self.backoff.rests() {
            self.clear();
            return Begin::Read;
        }
        let is_known = self.base.as_ref() == Some(&base);
        if !is_known {
            self.clear();
        }
        self.base = Some(base);
        self.form.begin();
        self.at = offset;
        state.hooks().low = usize::MAX;
        state.hooks().forget_locations();
        if !is_known {
            self.go_regular(state, true);
            return Begin::Record;
        }
        self.stats.compared = 1;
        self.mode = Mode::Fast { first: true };
        Begin::Compare
    }

    fn advance(&mut self, state: &mut State, window: &mut Window<'_>) -> bool {
        match self.mode {
            Mode::Regular { due: false } => return true,
            Mode::Regular { due: true } => {
                if !self.consider(state, window) {
                    self.await_checkpoint(window);
                    return false;
                }
            }
            Mode::Fast { .. } => {}
        }
        self.settle(state, window)
    }

    fn cut(&mut self, window: &Window<'_>) -> usize {
        match self.mode {
            Mode::Regular { .. } => self.cut_at_interrupt(window),
            Mode::Fast { .. } => window.bytes.len(),
        }
    }

    fn paused(&mut self, state: &mut State, window: &Window<'_>, cut: usize, at_watch: bool) -> bool {
        if at_watch {
            if let Mode::Regular { due } = &mut self.mode {
                *due = true;
            }
            return true;
        }
        if cut as u64 + window.base == self.interrupt {
            self.interrupted(state, window, cut);
        }
        let is_whole = cut == window.bytes.len();
        if is_whole {
            self.keep(window, window.base + window.bytes.len() as u64);
        }
        !is_whole
    }

    fn end(&mut self, state: &mut State, window: &Window<'_>, tag: u64) {
        let offset = window.base + window.pos as u64;
        if offset < self.at {
            self.clear();
        } else if let Mode::Regular { .. } = self.mode {
            while self.remove() {}
            let PortionData { size, sum, probe, bytes } = self.portion_to(window, offset);
            let rare = self.base.as_ref().map(|base| Live::new(base, state, offset).rare()).unwrap_or_default();
            self.ending = Some(Ending { size, sum, tag: offset - tag, rare });
            if let Some(probes) = &mut self.probes {
                probes.ending = probe;
            }
            if let Some(audit) = &mut self.audit {
                audit.ending = bytes;
            }
        }
        self.finish();
    }

    fn fail(&mut self) {
        while self.remove() {}
        self.ending = None;
        self.finish();
    }

    fn stats(&self) -> DifferentialStats {
        self.stats
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<F: Form, M: PortionMatcher> Engine<F, M> {
    /// Alternates between the modes until the routines or more bytes are needed.
    fn settle(&mut self, state: &mut State, window: &mut Window<'_>) -> bool {
        loop {
            let Mode::Fast { .. } = self.mode else { return true };
            if !self.skip(state, window) {
                return false;
            }
            let Mode::Regular { due: true } = self.mode else { return true };
            if !self.consider(state, window) {
                self.await_checkpoint(window);
                return false;
            }
        }
    }

    /// Ends the message: all checkpoints lie ahead of the next one.
    fn finish(&mut self) {
        self.list.rewind();
        if let Some(probes) = &mut self.probes {
            probes.portions.rewind();
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.rewind();
        }
        self.forget_held();
        self.held = Vec::new();
        self.tuning.learn(&self.stats);
        self.backoff.learn(&self.stats);
        if self.stats.regular_bytes > 0 {
            self.count_bytes();
        }
    }
}
