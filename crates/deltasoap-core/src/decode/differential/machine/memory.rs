//! A machine's life from one message to the next.

use super::regular::Portion;
use super::{Begin, Ending, Engine, Machine, Mode};
use crate::decode::differential::checkpoint::Differential as DifferentialCheckpoints;
use crate::decode::differential::checkpoint::{Base, Full, Lightweight, Live, Policy};
use crate::decode::differential::matcher::{Adler32, Compare, Crc32, Keyed, PortionMatcher, Xor};
use crate::decode::differential::{Checkpoints, Differential, DifferentialStats, Matcher};
use crate::decode::{Cursor, State};
use deltasoap_xml::Window;

/// The machine for some options; `None` for those of another kind.
pub(crate) fn machine_for(options: Differential) -> Option<Box<dyn Machine>> {
    match options.checkpoints {
        Checkpoints::Full => Some(machine::<Full>(options)),
        Checkpoints::Differential => Some(machine::<DifferentialCheckpoints>(options)),
        Checkpoints::Lightweight => Some(machine::<Lightweight>(options)),
        Checkpoints::Off | Checkpoints::Leaf => None,
    }
}

fn machine<P: Policy>(options: Differential) -> Box<dyn Machine> {
    match options.matcher {
        Matcher::Compare => Box::new(Engine::<P, Compare>::new(options)),
        Matcher::Xor => Box::new(Engine::<P, Xor>::new(options)),
        Matcher::Adler32 => Box::new(Engine::<P, Adler32>::new(options)),
        Matcher::Crc32 => Box::new(Engine::<P, Crc32>::new(options)),
        Matcher::Keyed => Box::new(Engine::<P, Keyed>::new(options)),
    }
}

impl<P: Policy, M: PortionMatcher> Machine for Engine<P, M> {
    fn options(&self) -> &Differential {
        &self.options
    }

    fn begin(&mut self, base: Base, offset: u64, state: &mut State) -> Begin {
        self.stats = DifferentialStats::default();
        if self.options.adaptive && self.attention.rests() {
            self.clear();
            return Begin::Read;
        }
        let is_known = self.base.as_ref() == Some(&base);
        if !is_known {
            self.clear();
        }
        let level = base.frames;
        self.base = Some(base);
        self.policy.begin();
        if state.papers.keeps_bytes {
            self.audit.get_or_insert_default();
        }
        self.at = offset;
        state.papers.low = usize::MAX;
        if !is_known {
            self.go_regular(state, true);
            return Begin::Record;
        }
        self.stats.compared = 1;
        self.mode = Mode::Fast { first: true };
        state.over = level;
        Begin::Compare
    }

    fn advance(&mut self, state: &mut State, window: &mut Window<'_>) -> bool {
        match self.mode {
            Mode::Regular { due: false } => return true,
            Mode::Regular { due: true } => {
                if !self.consider(state, window) {
                    self.keep(window, window.base + window.bytes.len() as u64);
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

    fn end(&mut self, cursor: &mut Cursor<'_>) {
        let (offset, tag_offset) = (cursor.offset(), cursor.reader().tag_offset());
        let (window, state) = cursor.parts();
        if offset < self.at {
            self.clear();
        } else if let Mode::Regular { .. } = self.mode {
            while self.remove() {}
            let Portion { size, sum, probe, bytes } = self.portion_to(window, offset);
            let rare = self.base.as_ref().map(|base| Live { state, base, offset }.rare()).unwrap_or_default();
            self.ending = Some(Ending { size, sum, tag: offset - tag_offset, rare });
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

impl<P: Policy, M: PortionMatcher> Engine<P, M> {
    /// Goes back and forth between the modes until the routines are needed, or bytes.
    fn settle(&mut self, state: &mut State, window: &mut Window<'_>) -> bool {
        loop {
            let Mode::Fast { .. } = self.mode else { return true };
            if !self.skip(state, window) {
                return false;
            }
            let Mode::Regular { due: true } = self.mode else { return true };
            if !self.consider(state, window) {
                self.keep(window, window.base + window.bytes.len() as u64);
                return false;
            }
        }
    }

    /// The message is over: all checkpoints lie ahead of the next.
    fn finish(&mut self) {
        self.list.rewind();
        if let Some(probes) = &mut self.probes {
            probes.portions.rewind();
        }
        if let Some(audit) = &mut self.audit {
            audit.portions.rewind();
        }
        (self.held, self.is_lost) = (Vec::new(), false);
        self.tuning.learn(&self.stats);
        self.attention.learn(&self.stats);
        if self.stats.regular_bytes > 0 {
            self.count_bytes();
        }
    }
}
